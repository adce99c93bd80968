//! Checks templates: that they can be parsed, and that they name only what there is.
//!
//! What a template may name depends on who renders it, so each is checked once for
//! every route that reaches it, also through `extends` and `include`.

use std::collections::{BTreeMap, BTreeSet};

use minijinja::Environment;

use super::routes::{Checked, Place, all_names};
use crate::environment::templates::{FILTERS, INLINE, language, named_in, problem};
use crate::fault::{Fault, Notes};
use crate::load::text;
use crate::solution::{Syntax, misuses_in};

/// Names that the language itself brings along.
const LANGUAGE: [&str; 7] = ["range", "dict", "namespace", "super", "caller", "loop", "self"];

/// Names that every template of a site knows.
const ALWAYS: [&str; 13] = [
    "path",
    "query",
    "form",
    "errors",
    "tables",
    "cookies",
    "user",
    "csrf_token",
    "now",
    "today",
    "site",
    "here",
    "here_with",
];

/// What a template may name, beyond [`ALWAYS`].
struct Scope<'a> {
    /// Who renders it, for messages.
    by: String,
    parts: Vec<&'a str>,
    /// Table of `row`.
    row: Option<&'a str>,
    list: bool,
    more: &'static [&'static str],
}

/// Checks all templates of a site.
pub(super) fn check(checked: &Checked<'_>, places: &[Place<'_>], notes: &mut Notes) {
    let mut language = language(&checked.site.host);
    let sources = read(checked, &mut language, notes);
    let mut used = BTreeSet::new();
    let mut told = BTreeSet::new();
    for (scope, names) in scopes(checked, places) {
        for name in reach(&names, &sources) {
            for (variable, problem) in unknown_names(checked, &language, &name, &scope) {
                let (file, text) = &sources[&name];
                if told.insert((name.clone(), variable.clone())) {
                    let line = text.lines().position(|line| line.contains(&variable));
                    let line = line.map(|line| line + 1);
                    let problem = format!("{problem} (rendered by {})", scope.by);
                    notes.push(Fault { file: file.clone(), line, field: None, problem });
                }
            }
            used.insert(name);
        }
    }
    for (name, (file, _)) in &sources {
        if !used.contains(name) {
            notes.of_file(file, "used by no route");
        }
    }
    for place in places {
        check_inline(checked, &mut language, place, notes);
    }
}

/// The file of a template, and its text.
type Sources = BTreeMap<String, (camino::Utf8PathBuf, String)>;

/// Reads the templates and notes those that are none.
fn read(checked: &Checked<'_>, language: &mut Environment<'_>, notes: &mut Notes) -> Sources {
    let mut sources = Sources::new();
    for name in checked.site.templates.keys() {
        let file =
            camino::Utf8Path::new("sites").join(&checked.site.host).join("templates").join(name);
        let Some(source) = checked.tree.text(&file, notes) else { continue };
        if let Err(error) = language.add_template_owned(name.clone(), source.clone()) {
            notes.at_line(&file, error.line(), problem(&error));
        }
        for misuse in misuses_in(language, &FILTERS, Syntax::Template, &source) {
            notes.of_file(&file, misuse);
        }
        for named in named_in(&source) {
            if !checked.site.templates.contains_key(&named) {
                let known: Vec<&str> = checked.site.templates.keys().map(String::as_str).collect();
                let line = source.lines().position(|line| line.contains(&named)).map(|at| at + 1);
                let problem = text::unknown("template", &named, &known);
                notes.at_line(&file, line, format!("`{named}`: {problem}"));
            }
        }
        sources.insert(name.clone(), (file, source));
    }
    sources
}

/// Returns who renders which templates.
fn scopes<'a>(checked: &'a Checked<'_>, places: &'a [Place<'_>]) -> Vec<(Scope<'a>, Vec<&'a str>)> {
    let mut scopes = Vec::new();
    for place in places {
        let mut names = Vec::new();
        if let crate::environment::Answer::Template(file) = &place.route.answer {
            names.push(file.as_str());
        }
        names.extend(place.route.invalid.iter().map(|file| file.as_str()));
        scopes.push((of_place(place), names));
    }
    let whole = |by: &str, more| Scope {
        by: by.to_owned(),
        parts: Vec::new(),
        row: None,
        list: false,
        more,
    };
    let meta = &checked.site.meta;
    if let Some(login) = &meta.login {
        scopes.push((whole("`login`", &["next", "failed"]), vec![login.template.as_str()]));
    }
    if let Some(file) = &meta.error_page {
        let scope = whole("`error_page`", &["status", "title", "message"]);
        scopes.push((scope, vec![file.as_str()]));
    }
    scopes
}

fn of_place<'a>(place: &'a Place<'_>) -> Scope<'a> {
    Scope {
        by: format!("`{}`", place.at),
        parts: place.parts(),
        row: place.route.row.as_ref().map(|row| row.table.as_str()),
        list: place.route.list.is_some(),
        more: &[],
    }
}

/// Returns the templates that are rendered when one of `names` is.
fn reach(names: &[&str], sources: &Sources) -> BTreeSet<String> {
    let mut open: Vec<String> = names.iter().map(ToString::to_string).collect();
    let mut reached = BTreeSet::new();
    while let Some(name) = open.pop() {
        if let Some((_, source)) = sources.get(&name)
            && reached.insert(name)
        {
            open.extend(named_in(source));
        }
    }
    reached
}

/// Returns the names in a template that nothing gives a value, each with what is wrong.
fn unknown_names(
    checked: &Checked<'_>,
    language: &Environment<'_>,
    template: &str,
    scope: &Scope<'_>,
) -> Vec<(String, String)> {
    let Ok(template) = language.get_template(template) else { return Vec::new() };
    let names: BTreeSet<String> = template.undeclared_variables(true).into_iter().collect();
    let unknown = |name: String| Some((name.clone(), unknown_name(checked, &name, scope)?));
    names.into_iter().filter_map(unknown).collect()
}

fn unknown_name(checked: &Checked<'_>, name: &str, scope: &Scope<'_>) -> Option<String> {
    let mut pieces = name.split('.');
    let first = pieces.next().unwrap_or_default();
    let mut known: Vec<&str> = ALWAYS.to_vec();
    known.extend(scope.more);
    known.extend(scope.row.map(|_| "row"));
    known.extend(scope.list.then_some("list"));
    if LANGUAGE.contains(&first) {
        return None;
    }
    if !known.contains(&first) {
        return Some(format!("`{first}`: {}", text::unknown("name", first, &known)));
    }
    let second = pieces.next()?;
    let known = members(checked, first, scope)?;
    let missing = !known.iter().any(|one| one == second);
    missing.then(|| format!("`{first}.{second}`: {}", text::unknown("name", second, &known)))
}

/// Returns the names below a name; `None` where they are not known.
fn members(checked: &Checked<'_>, of: &str, scope: &Scope<'_>) -> Option<Vec<String>> {
    let (site, meta) = (checked.site, &checked.site.meta);
    let owned = |names: &[&str]| Some(names.iter().map(ToString::to_string).collect());
    let listed = |names: BTreeSet<&str>| Some(names.into_iter().map(ToOwned::to_owned).collect());
    match of {
        "path" => owned(&scope.parts),
        "query" => {
            let mut names = all_names(site, |route| &route.query);
            names.extend(["page", "page_size", "sort"]);
            listed(names)
        }
        "form" => {
            let mut names = all_names(site, |route| &route.form);
            let login = meta.login.iter();
            names.extend(login.flat_map(|it| [it.user_field.as_str(), it.password_field.as_str()]));
            listed(names)
        }
        "errors" => {
            let mut names = all_names(site, |route| &route.query);
            names.extend(all_names(site, |route| &route.form));
            listed(names)
        }
        "tables" => Some(meta.tables.keys().cloned().collect()),
        "cookies" => Some(meta.cookies.iter().map(|cookie| cookie.name.clone()).collect()),
        "site" => owned(&["host", "title", "language"]),
        "list" => owned(&[
            "rows",
            "total",
            "page",
            "pages",
            "numbers",
            "previous",
            "next",
            "page_size",
            "sort",
        ]),
        "row" => Some(checked.tables.get(scope.row?)?.columns.clone()),
        "user" => {
            let users = meta.login.iter().flat_map(|login| &login.users);
            let mut names: BTreeSet<&str> =
                users.flat_map(|user| user.data.keys()).map(String::as_str).collect();
            names.insert("name");
            listed(names)
        }
        _ => None,
    }
}

/// Checks the templates that stand in `site.toml` itself.
fn check_inline(
    checked: &Checked<'_>,
    language: &mut Environment<'_>,
    place: &Place<'_>,
    notes: &mut Notes,
) {
    let scope = of_place(place);
    for (field, source) in place.route.inline() {
        let field = place.field(&field);
        let name = format!("{INLINE}{field}");
        let mut note = |problem: String| checked.source.fault(notes, &field, problem);
        if let Err(error) = language.add_template_owned(name.clone(), source.to_owned()) {
            note(problem(&error));
            continue;
        }
        for misuse in misuses_in(language, &FILTERS, Syntax::Template, source) {
            note(misuse);
        }
        for (_, problem) in unknown_names(checked, language, &name, &scope) {
            note(problem);
        }
    }
}
