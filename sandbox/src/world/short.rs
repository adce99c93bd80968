//! The short form of assertions as SQL.
//!
//! A condition becomes one expression over two databases: `main`, the final state, and
//! `start`. Names are quoted and literals written as SQL literals, so nothing in an
//! assertion can become anything else.

use wildgym_tasks::world::assertion::{
    Access, Comparison, Literal, Operator, Path, Summary, Term, Truth,
};

use super::query::quoted;

/// Writes a condition as an expression that is 1 or 0.
pub(super) fn truth(condition: &Truth) -> String {
    let joined = |parts: &[Truth], word: &str| {
        let parts: Vec<String> = parts.iter().map(truth).collect();
        format!("({})", parts.join(word))
    };
    match condition {
        Truth::Not(inner) => format!("(NOT {})", truth(inner)),
        Truth::All(parts) => joined(parts, " AND "),
        Truth::Any(parts) => joined(parts, " OR "),
        Truth::Compare(left, comparison, right) => {
            let (left, right) = sides(left, right);
            compare(&left, *comparison, &right)
        }
        Truth::OneOf(left, list) => {
            let left = term(left, false, "NULL");
            let equal = |item: &Literal| format!("{left} IS {}", literal(item));
            let parts: Vec<String> = list.iter().map(equal).collect();
            format!("({})", parts.join(" OR "))
        }
    }
}

/// Writes both sides of a comparison; `baseline` on the right is the left at the start.
pub(super) fn sides(left: &Term, right: &Term) -> (String, String) {
    let baseline = term(left, true, "NULL");
    (term(left, false, "NULL"), term(right, false, &baseline))
}

fn compare(left: &str, comparison: Comparison, right: &str) -> String {
    match comparison {
        Comparison::Equal => format!("({left} IS {right})"),
        Comparison::Different => format!("({left} IS NOT {right})"),
        Comparison::Less => format!("coalesce({left} < {right}, 0)"),
        Comparison::AtMost => format!("coalesce({left} <= {right}, 0)"),
        Comparison::More => format!("coalesce({left} > {right}, 0)"),
        Comparison::AtLeast => format!("coalesce({left} >= {right}, 0)"),
        Comparison::Contains => format!("coalesce(instr({left}, {right}) > 0, 0)"),
    }
}

/// Writes a value; with `at_start` every path in it is taken at the start.
fn term(value: &Term, at_start: bool, baseline: &str) -> String {
    match value {
        Term::Literal(value) => literal(value),
        Term::Baseline => baseline.to_owned(),
        Term::Column(name) => quoted(name),
        Term::Path(path) => path_value(path, at_start),
        Term::Negative(inner) => format!("(- {})", term(inner, at_start, baseline)),
        Term::Calculation(left, operator, right) => {
            let (left, right) = (term(left, at_start, baseline), term(right, at_start, baseline));
            match operator {
                Operator::Plus => format!("({left} + {right})"),
                Operator::Minus => format!("({left} - {right})"),
                Operator::Times => format!("({left} * {right})"),
                // Whole numbers would lose their rest.
                Operator::Over => format!("(1.0 * {left} / {right})"),
            }
        }
    }
}

fn path_value(path: &Path, at_start: bool) -> String {
    let rows = rows(path, at_start);
    match &path.access {
        Access::Count => format!("(SELECT count(*) {rows})"),
        Access::Row(index, column) => {
            format!("(SELECT {} {rows} {})", quoted(column), place(*index))
        }
        Access::Total(summary, column) => {
            let column = quoted(column);
            match summary {
                Summary::Sum => format!("(SELECT coalesce(sum({column}), 0) {rows})"),
                Summary::Min => format!("(SELECT min({column}) {rows})"),
                Summary::Max => format!("(SELECT max({column}) {rows})"),
            }
        }
    }
}

fn rows(path: &Path, at_start: bool) -> String {
    let database = if path.at_start || at_start { "start" } else { "main" };
    let filter = path.filter.as_ref().map(|filter| format!(" WHERE {}", truth(filter)));
    format!("FROM {database}.{}{}", quoted(&path.table), filter.unwrap_or_default())
}

fn place(index: i64) -> String {
    let order = if index < 0 { "DESC" } else { "ASC" };
    let offset = if index < 0 { -(index + 1) } else { index };
    format!("ORDER BY rowid {order} LIMIT 1 OFFSET {offset}")
}

fn literal(value: &Literal) -> String {
    match value {
        Literal::Whole(number) => number.to_string(),
        Literal::Number(number) => format!("{number:?}"),
        Literal::Text(text) => format!("'{}'", text.replace('\'', "''")),
        Literal::Truth(truth) => i64::from(*truth).to_string(),
        Literal::Null => "NULL".to_owned(),
    }
}

/// Returns the rows that a condition names and that have to be there: a query for each,
/// and how the assertion writes it.
pub(super) fn needed(condition: &Truth) -> Vec<(String, String)> {
    let mut found = Vec::new();
    match condition {
        Truth::Not(inner) => found.extend(needed(inner)),
        Truth::All(parts) | Truth::Any(parts) => found.extend(parts.iter().flat_map(needed)),
        Truth::Compare(left, _, right) => {
            of_term(left, false, &mut found);
            of_term(right, false, &mut found);
            if has_baseline(right) {
                of_term(left, true, &mut found);
            }
        }
        Truth::OneOf(left, _) => of_term(left, false, &mut found),
    }
    found
}

fn of_term(value: &Term, at_start: bool, found: &mut Vec<(String, String)>) {
    match value {
        Term::Literal(_) | Term::Baseline | Term::Column(_) => {}
        Term::Negative(inner) => of_term(inner, at_start, found),
        Term::Calculation(left, _, right) => {
            of_term(left, at_start, found);
            of_term(right, at_start, found);
        }
        Term::Path(path) => {
            if let Access::Row(index, _) = &path.access {
                let sql = format!("SELECT 1 {} {}", rows(path, at_start), place(*index));
                let when = if at_start && !path.at_start { "at the start, " } else { "" };
                found.push((sql, format!("{when}`{path}`")));
            }
        }
    }
}

fn has_baseline(value: &Term) -> bool {
    match value {
        Term::Baseline => true,
        Term::Literal(_) | Term::Column(_) | Term::Path(_) => false,
        Term::Negative(inner) => has_baseline(inner),
        Term::Calculation(left, _, right) => has_baseline(left) || has_baseline(right),
    }
}
