//! Finds in a source what fails only when it is evaluated: filters and tests that do not
//! exist, and regular expressions that are none.
//!
//! A walk over the text, not a parser: the language itself has already accepted the
//! source. Literals of text are passed over, and of a template only what stands between
//! `{{ … }}` and `{% … %}` is read.

use minijinja::{Environment, ErrorKind};

use super::expression::{Syntax, environment};
use super::filters;

/// Returns what is wrong with the filters, tests and literal patterns of a source.
pub(crate) fn misuses(syntax: Syntax, source: &str) -> Vec<String> {
    misuses_in(&environment(), &filters::NAMES, syntax, source)
}

/// The same in another language; `names` are its filters, for messages.
pub(crate) fn misuses_in(
    environment: &Environment<'_>,
    names: &[&str],
    syntax: Syntax,
    source: &str,
) -> Vec<String> {
    let mut problems = Vec::new();
    let language = Language { environment, names };
    match syntax {
        Syntax::Expression => expression(&language, source, &mut problems),
        Syntax::Template => {
            for (open, close) in [("{{", "}}"), ("{%", "%}")] {
                for piece in source.split(open).skip(1) {
                    let inside = piece.split(close).next().unwrap_or_default();
                    expression(&language, inside, &mut problems);
                }
            }
        }
    }
    problems.dedup();
    problems
}

/// A language, and the filters that messages name.
struct Language<'l> {
    environment: &'l Environment<'l>,
    names: &'l [&'l str],
}

fn expression(language: &Language<'_>, source: &str, problems: &mut Vec<String>) {
    let mut rest = source;
    while let Some(c) = rest.chars().next() {
        if let Some((_, after)) = literal(rest) {
            rest = after;
        } else if let Some(after) = rest.strip_prefix('|') {
            let (name, after) = word(after.trim_start());
            filter(language, name, after, problems);
            rest = after;
        } else if is_word(c) {
            let (name, after) = word(rest);
            rest = after;
            if name == "is" {
                let after = after.trim_start();
                let after = after.strip_prefix("not ").unwrap_or(after).trim_start();
                test(language.environment, word(after).0, problems);
            }
        } else {
            rest = &rest[c.len_utf8()..];
        }
    }
}

/// Checks a filter and, where its first argument is a literal, what that names.
fn filter(language: &Language<'_>, name: &str, after: &str, problems: &mut Vec<String>) {
    if name.is_empty() {
        return;
    }
    by_name(language, name, problems);
    let argument = after.trim_start().strip_prefix('(').map(str::trim_start).and_then(literal);
    let Some((argument, _)) = argument else { return };
    let environment = language.environment;
    let text = environment.compile_expression(argument).and_then(|literal| literal.eval(()));
    let Ok(text) = text.map(|text| text.to_string()) else { return };
    let is_name = !text.is_empty() && text.chars().all(is_word);
    match name {
        "regex" | "regex_all" => problems.extend(filters::fault_of(&text)),
        "map" if is_name => by_name(language, &text, problems),
        "select" | "reject" if is_name => test(environment, &text, problems),
        _ => {}
    }
}

fn test(environment: &Environment<'_>, name: &str, problems: &mut Vec<String>) {
    if !name.is_empty() && is_missing(environment, &format!("'' is {name}"), ErrorKind::UnknownTest)
    {
        problems.push(format!("unknown test `{name}`"));
    }
}

fn by_name(language: &Language<'_>, name: &str, problems: &mut Vec<String>) {
    if is_missing(language.environment, &format!("'' | {name}"), ErrorKind::UnknownFilter) {
        let problem = crate::load::text::unknown("filter", name, language.names);
        problems.push(format!("filter `{name}`: {problem}"));
    }
}

/// Asks the language itself, which tells a missing name from a wrong use of it.
fn is_missing(environment: &Environment<'_>, source: &str, kind: ErrorKind) -> bool {
    let tried = environment.compile_expression(source).and_then(|compiled| compiled.eval(()));
    tried.is_err_and(|error| error.kind() == kind)
}

fn is_word(c: char) -> bool {
    c.is_alphanumeric() || c == '_'
}

/// Splits the word off that a text begins with; it may be empty.
fn word(text: &str) -> (&str, &str) {
    text.split_at(text.find(|c| !is_word(c)).unwrap_or(text.len()))
}

/// Splits the literal of text off, quotes included, that a text begins with.
fn literal(text: &str) -> Option<(&str, &str)> {
    let quote = text.chars().next().filter(|c| matches!(c, '"' | '\''))?;
    let mut escaped = false;
    for (at, c) in text.char_indices().skip(1) {
        match c {
            _ if escaped => escaped = false,
            '\\' => escaped = true,
            _ if c == quote => return Some(text.split_at(at + c.len_utf8())),
            _ => {}
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_cannot_work_is_found_before_it_runs() {
        use Syntax::{Expression, Template};
        let table: [(Syntax, &str, &[&str], &str); 14] = [
            (Expression, "page | regex('a(b)') | number", &[], "sound"),
            (Expression, "page|lines|first|upper|default('x')|round(2)", &[], "of the language"),
            (Expression, "page | nummber", &["did you mean `number`"], "misspelt"),
            (Expression, "page | nowhere", &["filter `nowhere`: unknown filter; expected"], "far"),
            (Expression, "page | regex('(')", &["`(` is no regular expression"], "pattern"),
            (Expression, "page | regex_all(\"[\\\\d\")", &["is no regular expression"], "escaped"),
            (Expression, "page | regex('a | b | nope')", &[], "a bar inside a literal"),
            (Expression, "'it\\'s | nope' ~ page", &[], "an escaped quote"),
            (Expression, "rows | map('nope') | list", &["filter `nope`"], "by name"),
            (Expression, "rows | map(attribute='port') | select('odd') | list", &[], "attribute"),
            (Expression, "rows | select('nope')", &["unknown test `nope`"], "test by name"),
            (Expression, "page is not nope", &["unknown test `nope`"], "test"),
            (Template, "a | b {{ page | regex('x') }} | c", &[], "bars of the text"),
            (Template, "{{ page | nope }}{% if page | huh %}{% endif %}", &["nope", "huh"], "both"),
        ];
        for (syntax, source, want, why) in table {
            let got = misuses(syntax, source);
            assert_eq!(got.len(), want.len(), "{why}: {source}: {got:?}");
            for (got, want) in got.iter().zip(want) {
                assert!(got.contains(want), "{why}: {source}: {got}");
            }
        }
    }
}
