//! Cells while they are counted, and how their values are shown.

use std::hash::{DefaultHasher, Hash, Hasher};

use crate::date;
use crate::formats::Form;
use crate::strings::Strings;

/// What a cell holds.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Value {
    /// A text that cells share, by number.
    Shared(u32),
    /// A text.
    Text(Box<str>),
    /// A field of a delimited table: what it is, its letters say.
    Field(Box<str>),
    /// A number.
    Number(f64),
    /// A moment, as a serial number of the 1900 system.
    Moment(f64),
    /// A duration in days.
    Span(f64),
    /// A truth value.
    Bool(bool),
    /// An error, as the spreadsheet program shows it.
    Error(Box<str>),
}

/// A cell that holds something.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Cell {
    /// Its column, from 0.
    pub column: u32,
    /// Its format, as a number in [`Context::forms`].
    pub format: u32,
    /// What it holds.
    pub value: Value,
}

/// A row that holds something.
#[derive(Debug, Clone, Default, PartialEq)]
pub(crate) struct Line {
    /// Its number, from 0.
    pub row: u32,
    /// Its cells, by column.
    pub cells: Vec<Cell>,
}

/// What values mean in a workbook.
#[derive(Debug, Default)]
pub(crate) struct Context {
    /// The texts that cells share.
    pub strings: Strings,
    /// How numbers of each format are shown.
    pub forms: Vec<Form>,
}

/// What a value is to a summary.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) enum Stat {
    Text,
    Number(f64),
    Moment(f64),
    Span(f64),
    Bool,
    Error,
}

impl Context {
    /// Writes a value: numbers with the percent sign or currency that they are shown with,
    /// dates in ISO 8601, truth values and errors as the spreadsheet program shows them.
    pub(crate) fn show(&self, cell: &Cell) -> String {
        match &cell.value {
            Value::Shared(number) => self.strings.get(*number).unwrap_or_default().to_owned(),
            Value::Text(text) | Value::Field(text) | Value::Error(text) => text.to_string(),
            Value::Number(number) => {
                let form = usize::try_from(cell.format).ok().and_then(|at| self.forms.get(at));
                form.map_or_else(|| date::number(*number), |form| form.show(*number))
            }
            Value::Moment(serial) => date::moment(*serial),
            Value::Span(days) => date::duration(*days),
            Value::Bool(true) => "TRUE".to_owned(),
            Value::Bool(false) => "FALSE".to_owned(),
        }
    }

    /// Whether a cell shows nothing.
    pub(crate) fn is_blank(&self, value: &Value) -> bool {
        match value {
            Value::Shared(number) => self.strings.get(*number).is_none_or(str::is_empty),
            Value::Text(text) | Value::Field(text) | Value::Error(text) => text.is_empty(),
            Value::Number(_) | Value::Moment(_) | Value::Span(_) | Value::Bool(_) => false,
        }
    }

    /// Returns a number that values have in common only if they are the same.
    pub(crate) fn key(&self, value: &Value) -> u64 {
        let mut hasher = DefaultHasher::new();
        match value {
            Value::Shared(number) => self.strings.get(*number).hash(&mut hasher),
            Value::Text(text) | Value::Field(text) => Some(&**text).hash(&mut hasher),
            Value::Number(number) | Value::Moment(number) | Value::Span(number) => {
                (1_u8, (number + 0.0).to_bits()).hash(&mut hasher);
            }
            Value::Bool(value) => (2_u8, value).hash(&mut hasher),
            Value::Error(text) => (3_u8, text).hash(&mut hasher),
        }
        hasher.finish()
    }
}

/// Tells what a value is.
pub(crate) fn stat(value: &Value) -> Stat {
    match value {
        Value::Shared(_) | Value::Text(_) => Stat::Text,
        Value::Field(text) => field(text),
        Value::Number(number) => Stat::Number(*number),
        Value::Moment(serial) => Stat::Moment(*serial),
        Value::Span(days) => Stat::Span(*days),
        Value::Bool(_) => Stat::Bool,
        Value::Error(_) => Stat::Error,
    }
}

/// Tells what a field of a delimited table is: a number (with a decimal comma too), an ISO
/// date, else a text. Leading zeros make a text: such fields are codes.
fn field(text: &str) -> Stat {
    let text = text.trim();
    let Some(first) = text.bytes().next() else { return Stat::Text };
    if !first.is_ascii_digit() && !matches!(first, b'-' | b'+' | b'.') {
        return Stat::Text;
    }
    let digits = text.trim_start_matches(['-', '+']);
    let coded = digits.len() > 1
        && digits.starts_with('0')
        && digits.as_bytes().get(1).is_some_and(u8::is_ascii_digit);
    if let Some(serial) = date::iso(text) {
        return Stat::Moment(serial);
    }
    if coded
        || digits
            .bytes()
            .any(|b| !matches!(b, b'0'..=b'9' | b'.' | b',' | b'e' | b'E' | b'-' | b'+'))
    {
        return Stat::Text;
    }
    match number(text) {
        Some(number) if number.is_finite() => Stat::Number(number),
        _ => Stat::Text,
    }
}

/// Reads `1234.5`, `1234,5` and `1,234,567.8`.
fn number(text: &str) -> Option<f64> {
    if !text.contains(',') {
        return text.parse().ok();
    }
    let grouped = |text: &str| {
        let mut groups = text.trim_start_matches(['-', '+']).split(',');
        groups.next().is_some_and(|first| (1..=3).contains(&first.len()))
            && groups.all(|group| group.len() == 3)
    };
    let whole = text.split('.').next().unwrap_or(text);
    if text.contains('.') || text.matches(',').count() > 1 {
        return grouped(whole).then(|| text.replace(',', "").parse().ok())?;
    }
    text.replace(',', ".").parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fields_say_what_they_are() {
        let table = [
            ("12", Stat::Number(12.0), "a number"),
            ("-1.5e3", Stat::Number(-1500.0), "in powers of ten"),
            ("3,5", Stat::Number(3.5), "a decimal comma"),
            ("1,234,567.5", Stat::Number(1_234_567.5), "grouped"),
            ("12,34,5", Stat::Text, "no grouping"),
            ("007", Stat::Text, "a code"),
            ("0.7", Stat::Number(0.7), "no code"),
            ("2024-03-01", Stat::Moment(45_352.0), "a date"),
            ("2024-03", Stat::Text, "no date"),
            ("-", Stat::Text, "a dash"),
            ("1e999", Stat::Text, "beyond numbers"),
            ("inf", Stat::Text, "a word"),
            ("", Stat::Text, "nothing"),
        ];
        for (text, want, why) in table {
            assert_eq!(field(text), want, "{text}: {why}");
        }
    }

    #[test]
    fn the_same_text_has_one_key_however_it_is_kept() {
        let mut context = Context::default();
        context.strings.push("tide").unwrap();
        let keys = [Value::Shared(0), Value::Text("tide".into()), Value::Field("tide".into())]
            .map(|value| context.key(&value));
        assert!(keys.iter().all(|key| *key == keys[0]));
        assert_ne!(context.key(&Value::Number(1.0)), context.key(&Value::Bool(true)));
    }
}
