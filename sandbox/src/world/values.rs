//! Between JSON and the values of a table.

use rusqlite::Statement;
use rusqlite::types::{Value as Sql, ValueRef};
use serde_json::{Map, Number, Value};

/// A row as the caller sees it.
pub(super) type Row = Map<String, Value>;

/// What the parameters of a statement stand for.
#[derive(Debug, Clone)]
pub(super) struct Scope<'s> {
    /// What `:name` stands for.
    pub(super) arguments: &'s Map<String, Value>,
    /// What `@name` stands for.
    pub(super) context: &'s Map<String, Value>,
    /// The time as tables hold it, `$now`; its first ten characters are `$today`.
    pub(super) now: String,
}

impl Scope<'_> {
    fn value(&self, parameter: &str) -> Sql {
        let Some((kind, name)) = parameter.split_at_checked(1) else { return Sql::Null };
        match (kind, name) {
            (":", name) => self.arguments.get(name).map_or(Sql::Null, to_sql),
            ("@", name) => self.context.get(name).map_or(Sql::Null, to_sql),
            ("$", "now") => Sql::Text(self.now.clone()),
            ("$", "today") => Sql::Text(self.now.chars().take(10).collect()),
            _ => Sql::Null,
        }
    }
}

/// Returns whether a parameter of a statement will have something to stand for.
pub(super) fn is_known(parameter: &str, arguments: &[&str], context: &Map<String, Value>) -> bool {
    match parameter.split_at_checked(1) {
        Some((":", name)) => arguments.contains(&name),
        Some(("@", name)) => context.contains_key(name),
        Some(("$", name)) => ["now", "today"].contains(&name),
        _ => false,
    }
}

/// Binds every parameter of a statement; one that the scope does not know is `NULL`.
pub(super) fn bind(statement: &mut Statement<'_>, scope: &Scope<'_>) -> rusqlite::Result<()> {
    for index in 1..=statement.parameter_count() {
        let value = statement.parameter_name(index).map_or(Sql::Null, |name| scope.value(name));
        statement.raw_bind_parameter(index, value)?;
    }
    Ok(())
}

/// Returns a JSON value as a table holds it: truth values as 1 and 0, lists and objects as
/// JSON text.
pub(super) fn to_sql(value: &Value) -> Sql {
    match value {
        Value::Null => Sql::Null,
        Value::Bool(truth) => Sql::Integer(i64::from(*truth)),
        Value::Number(number) => number
            .as_i64()
            .map(Sql::Integer)
            .or_else(|| number.as_f64().map(Sql::Real))
            .unwrap_or(Sql::Null),
        Value::String(text) => Sql::Text(text.clone()),
        Value::Array(_) | Value::Object(_) => Sql::Text(value.to_string()),
    }
}

/// Returns a value of a table as JSON; bytes come as hexadecimal digits.
pub(super) fn to_json(value: ValueRef<'_>) -> Value {
    match value {
        ValueRef::Null => Value::Null,
        ValueRef::Integer(number) => Value::from(number),
        ValueRef::Real(number) => Number::from_f64(number).map_or(Value::Null, Value::Number),
        ValueRef::Text(text) => Value::from(String::from_utf8_lossy(text).into_owned()),
        ValueRef::Blob(bytes) => Value::from(data_encoding::HEXLOWER.encode(bytes)),
    }
}

/// Returns whether a value counts as true where a condition is asked for.
pub(super) fn is_true(value: ValueRef<'_>) -> bool {
    match value {
        ValueRef::Integer(number) => number != 0,
        ValueRef::Real(number) => number != 0.0,
        ValueRef::Null | ValueRef::Text(_) | ValueRef::Blob(_) => false,
    }
}

/// What the rows of a statement came to.
pub(super) enum Rows {
    /// All of them.
    All(Vec<Row>),
    /// More than were asked for.
    TooMany,
}

/// Runs a bound statement and reads its rows. A column `x:json` is read as JSON, a column
/// `x:bool` as a truth value.
pub(super) fn rows(statement: &mut Statement<'_>, most: u64) -> rusqlite::Result<Rows> {
    let names: Vec<String> = statement.column_names().map(ToOwned::to_owned).collect();
    let mut rows = statement.raw_query();
    let mut found = Vec::new();
    while let Some(row) = rows.next()? {
        if found.len() as u64 == most {
            return Ok(Rows::TooMany);
        }
        let mut fields = Row::new();
        for (index, name) in names.iter().enumerate() {
            let (name, value) = field(name, row.get_ref(index)?);
            fields.insert(name.to_owned(), value);
        }
        found.push(fields);
    }
    Ok(Rows::All(found))
}

fn field<'n>(name: &'n str, value: ValueRef<'_>) -> (&'n str, Value) {
    if let Some(name) = name.strip_suffix(":json") {
        let parsed = value.as_str().ok().and_then(|text| serde_json::from_str(text).ok());
        return (name, parsed.unwrap_or_else(|| to_json(value)));
    }
    if let Some(name) = name.strip_suffix(":bool") {
        let truth = match value {
            ValueRef::Null => Value::Null,
            ValueRef::Integer(_) | ValueRef::Real(_) | ValueRef::Text(_) | ValueRef::Blob(_) => {
                Value::from(is_true(value))
            }
        };
        return (name, truth);
    }
    (name, to_json(value))
}
