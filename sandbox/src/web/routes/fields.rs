//! Sorts what a request brings by the declared fields, and says what is wrong with it.

use std::collections::BTreeMap;

use jiff::civil::Date;
use minijinja::Value;
use wildgym_tasks::environment::{Field, Given};
use wildgym_tasks::scenario::Language;

use super::body::Fields;
use super::render::{Lenient, given};

/// The declared fields of one request.
#[derive(Debug, Default)]
pub(super) struct Filled {
    values: BTreeMap<String, Value>,
    /// Texts that are not blank, for filters and rows.
    pub(super) texts: BTreeMap<String, Vec<String>>,
    /// What is wrong, by field.
    pub(super) errors: BTreeMap<String, String>,
}

impl Filled {
    /// Sorts and checks.
    pub(super) fn of(declared: &[Field], sent: &Fields, today: Date, language: Language) -> Self {
        let mut filled = Self::default();
        for field in declared {
            let own: Vec<&Given> =
                sent.iter().filter(|(name, _)| *name == field.name).map(|(_, it)| it).collect();
            let owned: Vec<Given> = own.iter().map(|given| (*given).clone()).collect();
            if let Some(problem) = field.wrong(&owned, today, language) {
                filled.errors.insert(field.name.clone(), problem);
            }
            let texts = own.iter().filter_map(|given| match given {
                Given::Text(text) => Some(text.trim().to_owned()).filter(|it| !it.is_empty()),
                Given::File { .. } => None,
            });
            filled.texts.insert(field.name.clone(), texts.collect());
            filled.values.insert(field.name.clone(), given(&own, field.many));
        }
        filled
    }

    /// Returns the values as templates see them.
    pub(super) fn value(&self) -> Value {
        Lenient::of(self.values.clone())
    }
}
