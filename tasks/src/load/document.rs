//! A TOML file as a value that knows its lines.
//!
//! A document is read in two steps: the text into a JSON value and a map from field
//! to line, recovering from syntax errors so that all of them are reported; then the
//! value against the schema of its type ([`super::shape`]). What is wrong there is
//! noted and replaced by a harmless value, so that the checks that follow still run
//! and find the other faults of the same file. A check that meets a replaced field
//! stays silent: [`Source::fault`] sees to that.

use std::collections::{BTreeMap, BTreeSet};

use camino::{Utf8Path, Utf8PathBuf};
use schemars::JsonSchema;
use serde::de::DeserializeOwned;
use serde_json::{Map, Number, Value};
use toml::Spanned;
use toml::de::{DeTable, DeValue};

use super::{json, shape};
use crate::fault::{Fault, Notes};

/// Where the fields of a file are, for faults that are found later.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Source {
    /// The file, relative to the suite.
    pub(crate) file: Utf8PathBuf,
    lines: BTreeMap<String, usize>,
    faulty: BTreeSet<String>,
}

impl Source {
    /// Notes a fault of a field, unless that field, one inside it or one around it
    /// was already found faulty: what stands there now is not what the author wrote.
    pub(crate) fn fault(&self, notes: &mut Notes, field: &str, problem: impl Into<String>) {
        if !self.is_faulty(field) {
            notes.push(Fault {
                file: self.file.clone(),
                line: self.line(field),
                field: Some(field.to_owned()),
                problem: problem.into(),
            });
        }
    }

    /// Returns whether the field or a part of it was replaced.
    pub(crate) fn is_faulty(&self, field: &str) -> bool {
        self.faulty.iter().any(|other| within(other, field) || within(field, other))
    }

    /// Returns the line of a field, or that of the nearest one around it.
    pub(crate) fn line(&self, field: &str) -> Option<usize> {
        let mut field = field;
        loop {
            if let Some(line) = self.lines.get(field) {
                return Some(*line);
            }
            field = &field[..field.rfind(['.', '['])?];
        }
    }
}

/// Returns whether the field `inner` is `outer` or lies in it.
fn within(inner: &str, outer: &str) -> bool {
    inner.strip_prefix(outer).is_some_and(|rest| rest.is_empty() || rest.starts_with(['.', '[']))
}

/// Reads the text of a TOML file into its type, noting all that is wrong with it.
///
/// `first_line` is the line of the file at which `text` starts. Returns nothing when
/// the text is not TOML at all.
pub(crate) fn read<T: JsonSchema + DeserializeOwned>(
    file: &Utf8Path,
    text: &str,
    first_line: usize,
    notes: &mut Notes,
) -> Option<(T, Source)> {
    let mut reader = Reader { text, first_line, lines: BTreeMap::new(), found: Vec::new() };
    let (table, errors) = DeTable::parse_recoverable(text);
    if !errors.is_empty() {
        for error in errors {
            let line = error.span().map(|span| reader.line_at(span.start));
            notes.at_line(file, line, syntax(error.message()));
        }
        return None;
    }
    let value = reader.table(table.get_ref(), "");
    let found = std::mem::take(&mut reader.found);
    fit(file, value, reader.lines, found, notes)
}

/// Reads the text of a JSON file into its type, as [`read`] does for TOML. `prepare` may
/// first bring the value into the shape of the type.
pub(crate) fn read_json<T: JsonSchema + DeserializeOwned>(
    file: &Utf8Path,
    text: &str,
    notes: &mut Notes,
    prepare: impl FnOnce(&mut Value),
) -> Option<(T, Source)> {
    let (mut value, walked) = json::parse(file, text, notes)?;
    prepare(&mut value);
    fit(file, value, walked.lines, walked.twice, notes)
}

/// Checks a value against the schema of its type, notes what was found, and reads it.
fn fit<T: JsonSchema + DeserializeOwned>(
    file: &Utf8Path,
    mut value: Value,
    lines: BTreeMap<String, usize>,
    mut found: shape::Found,
    notes: &mut Notes,
) -> Option<(T, Source)> {
    shape::check(&crate::schema::of::<T>(), &mut value, "", &mut found);
    let mut source = Source { file: file.to_owned(), lines, faulty: BTreeSet::new() };
    for (field, problem) in &found {
        source.fault(notes, field, problem);
    }
    source.faulty = found.into_iter().map(|(field, _)| field).collect();
    match serde_json::from_value(value) {
        Ok(value) => Some((value, source)),
        Err(error) => {
            notes.of_file(file, error.to_string());
            None
        }
    }
}

/// Words the parser's message as the others are.
fn syntax(message: &str) -> String {
    format!("not TOML: {}", message.trim_end().replace('\n', "; "))
}

/// Turns parsed TOML into JSON and notes the lines.
struct Reader<'t> {
    text: &'t str,
    first_line: usize,
    lines: BTreeMap<String, usize>,
    found: Vec<(String, String)>,
}

impl Reader<'_> {
    fn line_at(&self, offset: usize) -> usize {
        let before = &self.text.as_bytes()[..offset.min(self.text.len())];
        self.first_line + before.split(|byte| *byte == b'\n').count() - 1
    }

    fn table(&mut self, table: &DeTable<'_>, path: &str) -> Value {
        let mut fields = Map::new();
        for (key, value) in table {
            let name = key.get_ref().as_ref();
            let field = if path.is_empty() { name.to_owned() } else { format!("{path}.{name}") };
            self.lines.insert(field.clone(), self.line_at(key.span().start));
            let value = self.value(value.get_ref(), &field);
            fields.insert(name.to_owned(), value);
        }
        Value::Object(fields)
    }

    fn array(&mut self, items: &[Spanned<DeValue<'_>>], path: &str) -> Value {
        let items = items.iter().enumerate().map(|(index, item)| {
            let field = format!("{path}[{index}]");
            self.lines.insert(field.clone(), self.line_at(item.span().start));
            self.value(item.get_ref(), &field)
        });
        Value::Array(items.collect())
    }

    fn value(&mut self, value: &DeValue<'_>, field: &str) -> Value {
        match value {
            DeValue::String(text) => Value::String(text.clone().into_owned()),
            DeValue::Boolean(truth) => Value::Bool(*truth),
            DeValue::Datetime(time) => Value::String(time.to_string()),
            DeValue::Table(table) => self.table(table, field),
            DeValue::Array(items) => self.array(items, field),
            DeValue::Integer(number) => {
                let parsed = i64::from_str_radix(number.as_str(), number.radix()).ok();
                self.number(parsed.map(Number::from), number.as_str(), field)
            }
            DeValue::Float(number) => {
                let parsed = number.as_str().parse().ok().and_then(Number::from_f64);
                self.number(parsed, number.as_str(), field)
            }
        }
    }

    fn number(&mut self, number: Option<Number>, written: &str, field: &str) -> Value {
        Value::Number(number.unwrap_or_else(|| {
            let problem = format!("expected a finite number of usual size, found {written}");
            self.found.push((field.to_owned(), problem));
            Number::from(1)
        }))
    }
}
