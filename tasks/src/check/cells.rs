//! Takes texts that are tables or JSON apart into their values.
//!
//! In `1,482,3` a reader of prose sees one number and a reader of CSV three. What looks
//! like data is therefore searched value by value as well. Prose is never taken apart:
//! a text counts as a table only where nearly all of its lines have as many cells.

use serde_json::Value;

/// What may separate cells.
const MARKS: [char; 3] = [',', ';', '\t'];

/// Returns the values of a text that looks like JSON, JSON lines, CSV or TSV, or nothing.
pub(super) fn cells(text: &str) -> Vec<String> {
    let text = text.trim_start_matches('\u{feff}');
    if let Some(values) = json(text) {
        let mut cells = Vec::new();
        for value in &values {
            flatten(value, &mut cells);
        }
        return cells;
    }
    MARKS.iter().find_map(|mark| table(text, *mark)).unwrap_or_default()
}

/// Reads one value, or one a line.
fn json(text: &str) -> Option<Vec<Value>> {
    if !text.trim_start().starts_with(['{', '[']) {
        return None;
    }
    if let Ok(value) = serde_json::from_str(text) {
        return Some(vec![value]);
    }
    let lines = text.lines().filter(|line| !line.trim().is_empty());
    lines.map(|line| serde_json::from_str(line).ok()).collect()
}

fn flatten(value: &Value, cells: &mut Vec<String>) {
    match value {
        Value::Null | Value::Bool(_) => {}
        Value::Number(number) => cells.push(number.to_string()),
        Value::String(text) => cells.push(text.clone()),
        Value::Array(items) => items.iter().for_each(|item| flatten(item, cells)),
        Value::Object(fields) => {
            for (name, value) in fields {
                cells.push(name.clone());
                flatten(value, cells);
            }
        }
    }
}

/// Returns the cells, if four of five lines have the same number of them, two at least.
fn table(text: &str, mark: char) -> Option<Vec<String>> {
    let rows: Vec<Vec<String>> =
        text.lines().filter(|line| !line.trim().is_empty()).map(|line| row(line, mark)).collect();
    let mut counts = std::collections::BTreeMap::new();
    for row in &rows {
        *counts.entry(row.len()).or_insert(0usize) += 1;
    }
    let (width, most) = counts.into_iter().max_by_key(|(_, lines)| *lines)?;
    let is_table = rows.len() >= 2 && width >= 2 && most * 5 >= rows.len() * 4;
    is_table.then(|| rows.into_iter().flatten().collect())
}

/// Splits a line at a mark, except inside double quotes.
fn row(line: &str, mark: char) -> Vec<String> {
    let mut cells = vec![String::new()];
    let mut quoted = false;
    for c in line.chars() {
        if c == '"' {
            quoted = !quoted;
        } else if c == mark && !quoted {
            cells.push(String::new());
        } else if let Some(cell) = cells.last_mut() {
            cell.push(c);
        }
    }
    cells
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn data_is_taken_apart_and_prose_is_not() {
        let table: [(&str, &[&str], &str); 8] = [
            ("a,b\n1,482\n", &["a", "b", "1", "482"], "CSV"),
            ("a\tb\n1\t482\n", &["a", "b", "1", "482"], "TSV"),
            ("a,b\n\"1,482\",x\n", &["a", "b", "1,482", "x"], "quoted"),
            ("[1,482,{\"k\":\"v\"}]", &["1", "482", "k", "v"], "JSON"),
            ("{\"a\":1}\n{\"a\":482}\n", &["a", "1", "a", "482"], "JSON lines"),
            ("Sold 1,482 crates.", &[], "one line is no table"),
            ("Sold 1,482 crates.\nNone left.\nBuy, sell, go.\n", &[], "prose"),
            ("", &[], "nothing"),
        ];
        for (text, want, why) in table {
            assert_eq!(cells(text), want, "{why}: {text:?}");
        }
    }
}
