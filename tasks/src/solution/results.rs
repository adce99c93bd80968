//! What the calls of a solution returned so far.

use std::collections::BTreeMap;
use std::fmt;
use std::sync::Arc;

use minijinja::Value;
use minijinja::value::{Object, ObjectRepr};

/// The results of calls by their names in the solution.
#[derive(Debug, Clone, Default)]
pub struct Results(BTreeMap<String, Option<Arc<str>>>);

impl Results {
    /// Notes that a call succeeded and what it returned.
    pub fn succeeded(&mut self, name: impl Into<String>, text: impl Into<Arc<str>>) {
        self.0.insert(name.into(), Some(text.into()));
    }

    /// Notes that a call returned an error; expressions cannot read it.
    pub fn failed(&mut self, name: impl Into<String>) {
        self.0.insert(name.into(), None);
    }

    /// Returns what the call returned, if it was made and succeeded.
    #[must_use]
    pub fn text(&self, name: &str) -> Option<&str> {
        self.0.get(name)?.as_deref()
    }

    /// Returns whether the call was made and failed.
    #[must_use]
    pub fn has_failed(&self, name: &str) -> bool {
        matches!(self.0.get(name), Some(None))
    }

    /// Returns the successful ones as variables of an expression.
    pub(super) fn context(&self) -> Value {
        let texts = self.0.iter().filter_map(|(name, text)| Some((name.clone(), text.clone()?)));
        Value::from_pairs(texts.map(|(name, text)| (name, Value::from_object(ResultText(text)))))
    }
}

/// A result in an expression: prints as its text, which is also its field `text`.
#[derive(Debug)]
struct ResultText(Arc<str>);

impl Object for ResultText {
    fn repr(self: &Arc<Self>) -> ObjectRepr {
        ObjectRepr::Plain
    }

    fn get_value(self: &Arc<Self>, key: &Value) -> Option<Value> {
        (key.as_str() == Some("text")).then(|| Value::from(Arc::clone(&self.0)))
    }

    fn render(self: &Arc<Self>, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}
