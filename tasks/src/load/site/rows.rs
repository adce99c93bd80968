//! Checks `[tables]`, and `[route.row]` and `[route.list]` against them.

use std::collections::BTreeMap;

use camino::Utf8Path;

use super::routes::{Checked, Place};
use crate::environment::table::Table;
use crate::environment::{Filter, Site};
use crate::fault::{Fault, Notes};
use crate::load::document::Source;
use crate::load::text;
use crate::load::tree::Tree;

/// Reads the tables of a site; those that are none are noted and missing.
pub(super) fn read_tables<'a>(
    tree: &Tree,
    folder: &Utf8Path,
    site: &'a Site,
    source: &Source,
    notes: &mut Notes,
) -> BTreeMap<&'a str, Table> {
    let mut tables = BTreeMap::new();
    for (name, path) in &site.meta.tables {
        let field = format!("tables.{name}");
        if !text::is_name(name) {
            source.fault(notes, &field, "expected a name of letters, digits and `_`");
        }
        if source.is_faulty(&field) {
            continue;
        }
        let file = folder.join(path);
        if !tree.has_file(&file) {
            let problem = format!("there is no file `{path}` in the site's folder");
            source.fault(notes, &field, problem);
            continue;
        }
        let Some(bytes) = tree.bytes(&file, notes) else { continue };
        match Table::read(path.as_str(), &bytes) {
            Ok(table) => {
                tables.insert(name.as_str(), table);
            }
            Err(error) => {
                notes.push(Fault { file, line: error.line, field: None, problem: error.problem });
            }
        }
    }
    tables
}

/// Checks what a route shows of tables.
pub(super) fn check(checked: &Checked<'_>, place: &Place<'_>, notes: &mut Notes) {
    let mut note = |field: String, problem: String| {
        checked.source.fault(notes, &place.field(&field), problem);
    };
    if let Some(row) = &place.route.row {
        check_table(checked, &row.table, &[("column".to_owned(), &row.column)], "row", &mut note);
        let parameter = row.parameter.as_ref().unwrap_or(&row.column);
        if !place.takes(parameter) {
            let field = if row.parameter.is_some() { "row.parameter" } else { "row.column" };
            note(field.to_owned(), unknown_parameter(place, parameter));
        }
    }
    let Some(list) = &place.route.list else { return };
    let bare = |name: &'_ String| name.strip_prefix('-').unwrap_or(name).to_owned();
    let mut columns: Vec<(String, String)> = Vec::new();
    for (at, name) in list.sort.iter().enumerate() {
        columns.push((format!("sort[{at}]"), bare(name)));
    }
    columns.extend(list.order.iter().map(|name| ("order".to_owned(), bare(name))));
    for (at, filter) in list.filters.iter().enumerate() {
        for (column, name) in filter.columns.iter().enumerate() {
            columns.push((format!("filter[{at}].columns[{column}]"), name.clone()));
        }
        if let (true, Some(name)) = (filter.columns.is_empty(), &filter.parameter) {
            columns.push((format!("filter[{at}].parameter"), name.clone()));
        }
        check_filter(place, at, filter, &mut note);
    }
    let columns: Vec<_> = columns.iter().map(|(field, name)| (field.clone(), name)).collect();
    check_table(checked, &list.table, &columns, "list", &mut note);
    if list.page_size.is_none() && !list.page_sizes.is_empty() {
        note("list.page_sizes".to_owned(), "needs a `page_size` to begin with".to_owned());
    }
}

fn check_filter(
    place: &Place<'_>,
    at: usize,
    filter: &Filter,
    note: &mut impl FnMut(String, String),
) {
    let field = format!("list.filter[{at}]");
    match (&filter.parameter, &filter.value) {
        (Some(name), None) if !place.takes(name) => {
            note(format!("{field}.parameter"), unknown_parameter(place, name));
        }
        (Some(_), None) => {}
        (None, Some(_)) if filter.columns.is_empty() => {
            note(format!("{field}.columns"), "missing; expected the columns to compare".to_owned());
        }
        (None, Some(_)) => {}
        (Some(_), Some(_)) | (None, None) => {
            note(field, "expected exactly one of `parameter`, `value`".to_owned());
        }
    }
}

fn unknown_parameter(place: &Place<'_>, name: &str) -> String {
    let what = "query parameter or part of the path";
    format!("`{name}`: {}", text::unknown(what, name, &place.parameters()))
}

/// Checks that there is the table, and that it has the columns.
fn check_table(
    checked: &Checked<'_>,
    table: &str,
    columns: &[(String, &String)],
    part: &str,
    note: &mut impl FnMut(String, String),
) {
    if !checked.site.meta.tables.contains_key(table) {
        let known: Vec<&str> = checked.site.meta.tables.keys().map(String::as_str).collect();
        let problem = format!("`{table}`: {}", text::unknown("table of `[tables]`", table, &known));
        return note(format!("{part}.table"), problem);
    }
    // A table that could not be read has its own fault.
    let Some(table) = checked.tables.get(table) else { return };
    for (field, name) in columns {
        if !table.columns.contains(name) {
            let problem = text::unknown("column of the table", name, &table.columns);
            note(format!("{part}.{field}"), format!("`{name}`: {problem}"));
        }
    }
}
