//! Computes the arguments of a call and the final answer.

use camino::Utf8Path;
use minijinja::value::ValueKind;
use serde_json::{Map, Value};

use super::expression::{ExpressionError, Syntax, evaluate};
use super::results::Results;
use super::{SolutionAnswer, SolutionCall};

/// An argument that is not taken as it stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Directive<'a> {
    /// `$expr` or `$template`.
    Source(Syntax, &'a str),
    /// `$file`.
    File(&'a str),
}

/// Returns the directive that a table spells, nothing if it is plain data, or what is
/// wrong with it.
fn directive(table: &Map<String, Value>) -> Result<Option<Directive<'_>>, String> {
    let Some(key) = table.keys().find(|key| key.starts_with('$')) else { return Ok(None) };
    if table.len() > 1 {
        return Err(format!("expected `{key}` to stand alone in its table"));
    }
    let Some(source) = table[key].as_str() else {
        return Err(format!("expected text after `{key}`"));
    };
    match key.as_str() {
        "$expr" => Ok(Some(Directive::Source(Syntax::Expression, source))),
        "$template" => Ok(Some(Directive::Source(Syntax::Template, source))),
        "$file" => Ok(Some(Directive::File(source))),
        _ => Err(format!("expected `$expr`, `$template` or `$file`, found `{key}`")),
    }
}

/// Calls `visit` for each directive and each plain text in `value`, with its field.
pub(crate) fn directives<'a>(
    value: &'a Value,
    field: &str,
    visit: &mut impl FnMut(&str, Result<Directive<'a>, String>),
    plain: &mut impl FnMut(&str, &'a Value),
) {
    match value {
        Value::Object(table) => match directive(table) {
            Ok(Some(found)) => visit(field, Ok(found)),
            Err(problem) => visit(field, Err(problem)),
            Ok(None) => {
                for (name, value) in table {
                    directives(value, &format!("{field}.{name}"), visit, plain);
                }
            }
        },
        Value::Array(items) => {
            for (index, item) in items.iter().enumerate() {
                directives(item, &format!("{field}[{index}]"), visit, plain);
            }
        }
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => plain(field, value),
    }
}

impl SolutionCall {
    /// Computes the arguments from the results of earlier calls.
    ///
    /// `reference` is the folder that `$file` reads from. `$expr` keeps the type of its
    /// value, `$template` and `$file` give text.
    pub fn arguments(
        &self,
        results: &Results,
        reference: &Utf8Path,
    ) -> Result<Map<String, Value>, ExpressionError> {
        let mut computed = Map::new();
        for (name, value) in &self.arguments {
            let place = format!("{}.arguments.{name}", self.name);
            computed.insert(name.clone(), compute(value, results, reference, &place)?);
        }
        Ok(computed)
    }
}

fn compute(
    value: &Value,
    results: &Results,
    reference: &Utf8Path,
    place: &str,
) -> Result<Value, ExpressionError> {
    let fail = |problem| ExpressionError { place: place.to_owned(), problem };
    match value {
        Value::Object(table) => match directive(table).map_err(fail)? {
            Some(Directive::Source(syntax, source)) => {
                let value = evaluate(syntax, source, results).map_err(fail)?;
                serde_json::to_value(value).map_err(|error| fail(error.to_string()))
            }
            Some(Directive::File(path)) => {
                if !crate::load::text::is_path(path) {
                    return Err(fail(format!("`{path}` is not a path below `reference/`")));
                }
                let text = std::fs::read_to_string(reference.join(path))
                    .map_err(|error| fail(format!("cannot read `reference/{path}`: {error}")))?;
                Ok(Value::String(text))
            }
            None => {
                let fields = table.iter().map(|(name, value)| {
                    let place = format!("{place}.{name}");
                    Ok((name.clone(), compute(value, results, reference, &place)?))
                });
                fields.collect::<Result<_, _>>().map(Value::Object)
            }
        },
        Value::Array(items) => {
            let items = items.iter().enumerate().map(|(index, item)| {
                compute(item, results, reference, &format!("{place}[{index}]"))
            });
            items.collect::<Result<_, _>>().map(Value::Array)
        }
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => Ok(value.clone()),
    }
}

impl SolutionCall {
    /// Returns the arguments with a text in place of each value that is computed or read
    /// from a file, and the JSON pointers of those: what can be checked without running.
    /// The texts differ, as the values of a list of unique items do.
    #[must_use]
    pub fn literals(&self) -> (Value, Vec<String>) {
        let mut arguments = Value::Object(self.arguments.clone());
        let mut computed = Vec::new();
        if let Some(table) = arguments.as_object_mut() {
            for (name, value) in table {
                mask(value, &pointer("", name), &mut computed);
            }
        }
        (arguments, computed)
    }
}

fn pointer(above: &str, name: &str) -> String {
    format!("{above}/{}", name.replace('~', "~0").replace('/', "~1"))
}

fn mask(value: &mut Value, place: &str, computed: &mut Vec<String>) {
    match value {
        Value::Object(table) if table.keys().any(|key| key.starts_with('$')) => {
            computed.push(place.to_owned());
            *value = Value::String(format!("computed {}", computed.len()));
        }
        Value::Object(table) => {
            for (name, value) in table {
                mask(value, &pointer(place, name), computed);
            }
        }
        Value::Array(items) => {
            for (index, value) in items.iter_mut().enumerate() {
                mask(value, &format!("{place}/{index}"), computed);
            }
        }
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => {}
    }
}

impl SolutionAnswer {
    /// Computes the final answer from the results of all calls, as text.
    ///
    /// The items of a sequence are put on lines of their own. A value that is empty,
    /// missing or a table is an error.
    pub fn evaluate(&self, results: &Results) -> Result<String, ExpressionError> {
        evaluate(Syntax::Expression, &self.expression, results)
            .and_then(|value| answer_text(&value))
            .map_err(|problem| ExpressionError { place: "answer".to_owned(), problem })
    }
}

fn answer_text(value: &minijinja::Value) -> Result<String, String> {
    let kind = value.kind();
    if matches!(kind, ValueKind::Undefined | ValueKind::None) {
        return Err("it has no value".to_owned());
    }
    if kind == ValueKind::Map {
        return Err("a table is no answer".to_owned());
    }
    let text = if matches!(kind, ValueKind::Seq | ValueKind::Iterable) {
        let items = value.try_iter().map_err(|error| error.to_string())?;
        items.map(|item| answer_text(&item)).collect::<Result<Vec<_>, _>>()?.join("\n")
    } else {
        value.to_string().trim().to_owned()
    };
    if text.is_empty() { Err("it is empty".to_owned()) } else { Ok(text) }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn results() -> Results {
        let mut results = Results::default();
        results.succeeded("page", "Fare: 1,482.50 EUR\nSeats: 12");
        results.succeeded("rows", r#"{"count": 2, "rows": [{"port": "Lund"}, {"port": "Moss"}]}"#);
        results.failed("down");
        results
    }

    #[test]
    fn answers_follow_from_results() {
        let table: [(&str, Result<&str, &str>, &str); 21] = [
            ("page | regex('Fare: ([0-9.,]+)')", Ok("1,482.50"), "the first group"),
            ("page | regex('[0-9]{2}$')", Ok("12"), "no group: the whole match"),
            ("(page.text | upper)[:4]", Ok("FARE"), "`.text` is a real string"),
            ("page.text", Ok("Fare: 1,482.50 EUR\nSeats: 12"), "the text itself"),
            ("page | regex('[\\d,.]+') | number * 2", Ok("2965.0"), "separators are read"),
            ("page | regex('[\\d,.]+') | number | fixed(1)", Ok("1482.5"), "fixed places"),
            ("(page | fromjson).x", Err("is not JSON"), "no JSON"),
            ("(rows | fromjson).rows | map(attribute='port')", Ok("Lund\nMoss"), "lines of a list"),
            ("(rows | fromjson).rows | length", Ok("2"), "builtins work"),
            ("(rows | fromjson).nothing", Err("it has no value"), "a missing field is no answer"),
            ("(rows | fromjson).a.b", Err("undefined value"), "strictly undefined"),
            ("page | lines | last", Ok("Seats: 12"), "lines"),
            ("page | regex('x(y)z')", Err("matches nothing in"), "no match is an error"),
            ("page | regex('(')", Err("is no regular expression"), "bad pattern"),
            ("down", Err("call `down` failed"), "errors cannot be read"),
            ("'x' if down is defined else 'y'", Err("call `down` failed"), "not even asked about"),
            ("later", Err("call `later` has not been made"), "unknown"),
            ("rows | fromjson", Err("a table is no answer"), "a table"),
            ("'12 345' | number + (page|length if false else 0)", Ok("12345"), "spaces"),
            ("'1,2' | number", Err("is not a number"), "a comma that separates no thousands"),
            ("page page", Err("syntax error"), "syntax"),
        ];
        for (expression, want, why) in table {
            let got = SolutionAnswer { expression: expression.to_owned() }.evaluate(&results());
            match (got, want) {
                (Ok(got), Ok(want)) => assert_eq!(got, want, "{why}: {expression}"),
                (Err(got), Err(want)) => {
                    assert!(got.to_string().contains(want), "{why}: {expression}: {got}");
                }
                (got, _) => panic!("{why}: {expression}: {got:?}"),
            }
        }
    }

    #[test]
    fn arguments_keep_their_types() {
        let folder = tempfile::tempdir().unwrap();
        let folder = Utf8Path::from_path(folder.path()).unwrap();
        std::fs::write(folder.join("clean.py"), "print('{{ page }}')\n").unwrap();
        let call = |arguments: Value| SolutionCall {
            name: "c".to_owned(),
            tool: "t".to_owned(),
            arguments: arguments.as_object().unwrap().clone(),
            navigate: Vec::new(),
        };
        let given = json!({
            "n": {"$expr": "(rows|fromjson).count"},
            "rows": [{"deep": {"$expr": "(rows|fromjson).rows"}}],
            "text": {"$template": "ports: {{ (rows|fromjson).rows[0].port }}\n"},
            "code": {"$file": "clean.py"},
            "plain": [1, "{{ page }}", null],
        });
        let want = json!({
            "n": 2,
            "rows": [{"deep": [{"port": "Lund"}, {"port": "Moss"}]}],
            "text": "ports: Lund\n",
            "code": "print('{{ page }}')\n",
            "plain": [1, "{{ page }}", null],
        });
        let (literals, mut computed) = call(given.clone()).literals();
        computed.sort();
        assert_eq!(computed, ["/code", "/n", "/rows/0/deep", "/text"]);
        assert_eq!(literals["plain"], want["plain"], "what is written stays");
        assert_eq!(Value::Object(call(given).arguments(&results(), folder).unwrap()), want);
        let table = [
            (
                json!({"a": {"$expr": "down"}}),
                "c.arguments.a: call `down` failed, so it has no result",
            ),
            (
                json!({"a": [{"$file": "../x"}]}),
                "c.arguments.a[0]: `../x` is not a path below `reference/`",
            ),
            (
                json!({"a": {"$eval": "1"}}),
                "c.arguments.a: expected `$expr`, `$template` or `$file`, found `$eval`",
            ),
            (
                json!({"a": {"$expr": "1", "b": 2}}),
                "c.arguments.a: expected `$expr` to stand alone in its table",
            ),
            (json!({"a": {"$expr": 1}}), "c.arguments.a: expected text after `$expr`"),
        ];
        for (arguments, want) in table {
            let error = call(arguments).arguments(&results(), folder).unwrap_err();
            assert_eq!(error.to_string(), want);
        }
    }

    #[test]
    fn work_is_limited() {
        for expression in [
            "range(1000000000) | list",
            "('x' * 1000000000) | length",
            "('x' * 100000 * 100000) | length",
            "range(100000) | map('string') | join * 100000",
        ] {
            let got = SolutionAnswer { expression: expression.to_owned() }.evaluate(&results());
            assert!(got.is_err(), "{expression} must be stopped: {:?}", got.map(|got| got.len()));
        }
    }
}
