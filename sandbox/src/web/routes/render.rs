//! Renders templates: what they see, and how much they may write.

use std::collections::BTreeMap;
use std::io;
use std::sync::Arc;

use minijinja::value::{Enumerator, Kwargs, Object, ObjectExt, Serde};
use minijinja::{Environment, Error, Value};
use wildgym_tasks::environment::Given;
use wildgym_tasks::environment::path::escaped;
use wildgym_tasks::environment::templates::problem;

/// Most bytes that a template may write.
const LONGEST: usize = 4 << 20;

/// What a template sees, by name.
pub(super) type Context = BTreeMap<&'static str, Value>;

/// A template that cannot be rendered: its author's fault, not the visitor's.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("template `{template}`{}: {problem}", .line.map(|line| format!(", line {line}")).unwrap_or_default())]
pub(crate) struct Fault {
    /// The template's name; one that stands in `site.toml` begins with that.
    pub(crate) template: String,
    /// The line, from 1.
    pub(crate) line: Option<usize>,
    /// What is wrong.
    pub(crate) problem: String,
}

/// Renders a template of the language.
pub(super) fn render(
    language: &Environment<'_>,
    name: &str,
    context: &Context,
) -> Result<String, Fault> {
    let fault = |error: &Error| Fault {
        // An error inside an included template names that.
        template: error.name().unwrap_or(name).to_owned(),
        line: error.line(),
        problem: problem(error),
    };
    let mut out = Bounded(Vec::new());
    let values = Value::from_pairs(context.iter().map(|(name, value)| (*name, value.clone())));
    let rendered = language
        .get_template(name)
        .and_then(|template| template.render_captured_to(values, &mut out).map(drop));
    if out.0.len() >= LONGEST {
        let problem = format!("it writes more than {LONGEST} bytes");
        return Err(Fault { template: name.to_owned(), line: None, problem });
    }
    rendered.map_err(|error| fault(&error))?;
    String::from_utf8(out.0).map_err(|error| Fault {
        template: name.to_owned(),
        line: None,
        problem: error.to_string(),
    })
}

/// Takes so many bytes and no more.
struct Bounded(Vec<u8>);

impl io::Write for Bounded {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let room = LONGEST - self.0.len();
        let taken = bytes.get(..room.min(bytes.len())).unwrap_or_default();
        self.0.extend_from_slice(taken);
        if taken.len() < bytes.len() {
            return Err(io::Error::other("too long"));
        }
        Ok(taken.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

/// Values by name, where a name that is not there is empty: a page with a form is also
/// shown before anybody filled it in. That a template names no field that nobody
/// declares is checked when the suite is loaded.
#[derive(Debug, Default)]
pub(super) struct Lenient(BTreeMap<String, Value>);

impl Lenient {
    /// Makes the value of all entries that hold something.
    pub(super) fn of(entries: impl IntoIterator<Item = (String, Value)>) -> Value {
        Value::from_object(Self(entries.into_iter().collect()))
    }
}

impl Object for Lenient {
    fn get_value(self: &Arc<Self>, key: &Value) -> Option<Value> {
        let found = key.as_str().and_then(|key| self.0.get(key).cloned());
        Some(found.unwrap_or_else(|| Value::from("")))
    }

    fn enumerate(self: &Arc<Self>) -> Enumerator {
        self.mapped_enumerator(|this| Box::new(this.0.keys().map(|key| Value::from(key.as_str()))))
    }
}

/// Makes `form.<name>` or `query.<name>` of what was given: a text, a file, or a list.
pub(super) fn given(values: &[&Given], many: bool) -> Value {
    let one = |given: &Given| match given {
        Given::Text(text) => Value::from(text.as_str()),
        Given::File { name, size, text } => Value::from_pairs([
            ("name", Value::from(name.as_str())),
            ("size", Value::from(*size)),
            ("text", Value::from(text.as_deref().unwrap_or_default())),
        ]),
    };
    if many {
        return Value::from(values.iter().map(|given| one(given)).collect::<Vec<_>>());
    }
    values.last().map_or_else(|| Value::from(""), |given| one(given))
}

/// Makes a value of JSON.
pub(super) fn json(value: &serde_json::Value) -> Value {
    Value::from(Serde(value))
}

/// Makes `here_with(page=3)`: the path and query of a request with other parameters; an
/// empty one is taken away.
pub(super) fn here_with(path: &str, query: Vec<(String, String)>) -> Value {
    let path = path.to_owned();
    Value::from_function(move |changes: Kwargs| -> Result<String, Error> {
        let mut pairs = query.clone();
        for name in changes.args() {
            let value: Value = changes.peek(name)?;
            pairs.retain(|(other, _)| other != name);
            if !value.is_none() && !value.to_string().is_empty() {
                pairs.push((name.to_owned(), value.to_string()));
            }
        }
        changes.assert_all_used().ok();
        let pairs: Vec<String> = pairs
            .iter()
            .map(|(name, value)| format!("{}={}", escaped(name), escaped(value)))
            .collect();
        let mark = if pairs.is_empty() { "" } else { "?" };
        Ok(format!("{path}{mark}{}", pairs.join("&")))
    })
}

#[cfg(test)]
mod tests {
    use wildgym_tasks::environment::templates::language;

    use super::*;

    fn show(source: &str) -> Result<String, Fault> {
        let mut language = language("tides.test");
        language.add_template_owned("a.html".to_owned(), source.to_owned()).unwrap();
        let pairs = vec![("q".to_owned(), "a b".to_owned()), ("page".to_owned(), "2".to_owned())];
        let context = Context::from([
            ("form", Lenient::of([("a".to_owned(), Value::from("<x>"))])),
            ("errors", Lenient::of([])),
            ("user", Value::from(())),
            ("here_with", here_with("/t", pairs)),
        ]);
        render(&language, "a.html", &context)
    }

    #[test]
    fn templates_see_what_was_sent() {
        let table = [
            ("{{ form.a }}{{ form.nobody }}", "&lt;x&gt;", "typed, and not"),
            ("{{ 'bad' if errors }}{% for one in form %}{{ one }}{% endfor %}", "a", "no errors"),
            ("{{ user }}{{ 'in' if user else 'out' }}", "out", "nothing is written as nothing"),
            ("{{ here_with(page=3) }}", "&#x2f;t?q=a%20b&amp;page=3", "another page"),
            ("{{ here_with(q='', page=none) }}", "&#x2f;t", "none left"),
        ];
        for (source, want, why) in table {
            assert_eq!(show(source).unwrap(), want, "{why}");
        }
    }

    #[test]
    fn templates_have_limits() {
        let long = "{% for a in range(9000) %}".to_owned() + &"x".repeat(1000) + "{% endfor %}";
        let error = show(&long).unwrap_err();
        assert_eq!(error.problem, "it writes more than 4194304 bytes");
        let error = show("line\n{{ nobody }}").unwrap_err().to_string();
        assert_eq!(error, "template `a.html`, line 2: undefined value: `nobody` is undefined");
    }
}
