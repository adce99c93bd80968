//! The filters that expressions have beyond those of the language.
//!
//! Each takes a result or any text. None returns a default for what it did not find:
//! that would let a solution go on with a result that says something else.

use minijinja::value::Serde;
use minijinja::{Environment, Error, ErrorKind, Value};
use regex::{Captures, Regex, RegexBuilder};

/// The filters that solutions use, for messages: those of this file and usual ones.
pub(super) const NAMES: [&str; 20] = [
    "fixed",
    "fromjson",
    "lines",
    "number",
    "regex",
    "regex_all",
    "urlencode",
    "first",
    "join",
    "last",
    "length",
    "map",
    "replace",
    "round",
    "select",
    "sort",
    "split",
    "sum",
    "tojson",
    "trim",
];

/// Adds every filter to `environment`; a new filter is one line here.
pub(crate) fn add_to(environment: &mut Environment<'_>) {
    environment.add_filter("fixed", fixed);
    environment.add_filter("fromjson", fromjson);
    environment.add_filter("lines", lines);
    environment.add_filter("number", number);
    environment.add_filter("regex", regex_first);
    environment.add_filter("regex_all", regex_all);
    environment.add_filter("urlencode", urlencode);
}

fn refuse(problem: String) -> Error {
    Error::new(ErrorKind::InvalidOperation, problem)
}

/// Returns the text of a value; what is not there has none.
fn text_of(value: &Value) -> Result<String, Error> {
    if value.is_undefined() || value.is_none() {
        return Err(Error::from(ErrorKind::UndefinedError));
    }
    Ok(value.to_string())
}

/// Cuts a text for a message.
fn short(text: &str) -> String {
    crate::load::text::quoted(text)
}

fn compile(pattern: &str) -> Result<Regex, Error> {
    RegexBuilder::new(pattern).size_limit(1 << 20).build().map_err(|error| {
        // The lines above the last one draw a picture of the pattern.
        let error = error.to_string();
        let why = error.lines().last().unwrap_or_default().trim_start_matches("error: ");
        refuse(format!("`{pattern}` is no regular expression: {why}"))
    })
}

/// Returns what is wrong with a pattern.
pub(super) fn fault_of(pattern: &str) -> Option<String> {
    let error = compile(pattern).err()?;
    Some(error.detail().unwrap_or_default().replace('\n', " "))
}

/// Returns the first group of a match, or the whole match where there is no group.
fn taken(captures: &Captures<'_>) -> String {
    let whole = captures.get(0);
    let found = if captures.len() > 1 { captures.get(1) } else { whole };
    found.map(|found| found.as_str().to_owned()).unwrap_or_default()
}

/// `text | regex(pattern)`: the first match.
fn regex_first(text: &Value, pattern: &str) -> Result<String, Error> {
    let text = text_of(text)?;
    let captures = compile(pattern)?.captures(&text).map(|captures| taken(&captures));
    captures.ok_or_else(|| refuse(format!("`{pattern}` matches nothing in {}", short(&text))))
}

/// `text | regex_all(pattern)`: every match, in order.
fn regex_all(text: &Value, pattern: &str) -> Result<Vec<String>, Error> {
    let text = text_of(text)?;
    Ok(compile(pattern)?.captures_iter(&text).map(|captures| taken(&captures)).collect())
}

/// `text | fromjson`: the value that the text spells in JSON.
fn fromjson(text: &Value) -> Result<Value, Error> {
    let text = text_of(text)?;
    let value: serde_json::Value = serde_json::from_str(&text)
        .map_err(|error| refuse(format!("{} is not JSON: {error}", short(&text))))?;
    Ok(Value::from(Serde(&value)))
}

/// `text | number`: the number that the text spells, with or without separators of
/// thousands (`,`, `_`, `'`, spaces) and spaces around it.
fn number(value: &Value) -> Result<Value, Error> {
    if value.is_number() {
        return Ok(value.clone());
    }
    let text = text_of(value)?;
    let fail = || refuse(format!("{} is not a number", short(&text)));
    let separator = |c: char| matches!(c, ',' | '_' | '\'' | '’') || c.is_whitespace();
    let trimmed = text.trim().replace('−', "-");
    let first_group = trimmed.split(separator).next().unwrap_or_default();
    let groups = trimmed.split(['.', 'e', 'E']).next().unwrap_or_default().split(separator).skip(1);
    let grouped = groups.clone().all(|group| group.len() == 3);
    if !grouped || (groups.count() > 0 && first_group.trim_start_matches(['-', '+']).len() > 3) {
        return Err(fail());
    }
    let plain: String = trimmed.chars().filter(|c| !separator(*c)).collect();
    if !plain.contains(|c: char| c.is_ascii_digit()) {
        return Err(fail());
    }
    if let Ok(whole) = plain.parse::<i64>() {
        return Ok(Value::from(whole));
    }
    let number = plain.parse::<f64>().ok().filter(|number| number.is_finite());
    number.map(Value::from).ok_or_else(fail)
}

/// `text | lines`: its lines without their ends.
fn lines(text: &Value) -> Result<Vec<String>, Error> {
    Ok(text_of(text)?.lines().map(ToOwned::to_owned).collect())
}

/// `number | fixed(places)`: text with exactly that many decimal places.
fn fixed(value: &Value, places: u8) -> Result<String, Error> {
    let value = number(value)?;
    let number = f64::try_from(value).map_err(|error| refuse(error.to_string()))?;
    Ok(format!("{number:.*}", usize::from(places.min(20))))
}

/// `text | urlencode`: spelled so that it can stand in a query of a URL.
fn urlencode(text: &Value) -> Result<String, Error> {
    Ok(url::form_urlencoded::byte_serialize(text_of(text)?.as_bytes()).collect())
}
