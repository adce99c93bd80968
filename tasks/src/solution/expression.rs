//! Evaluates expressions over results, with strict rules and a limit on work.

use std::collections::BTreeSet;

use minijinja::syntax::SyntaxConfig;
use minijinja::{Environment, Error, UndefinedBehavior, Value};

use super::filters;
use super::results::Results;

/// Steps of the expression machine that one expression may take.
const FUEL: u64 = 1_000_000;

/// Why an argument or the answer of a solution could not be computed.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{place}: {problem}")]
pub struct ExpressionError {
    /// The call and argument, such as `tides.arguments.code`, or `answer`.
    pub place: String,
    /// What went wrong.
    pub problem: String,
}

/// What a source text is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Syntax {
    /// One expression, with a value of any type.
    Expression,
    /// Text with `{{ … }}` filled in.
    Template,
}

/// Makes the language: strict, limited, with the filters of solutions.
pub(super) fn environment<'s>() -> Environment<'s> {
    let mut environment = Environment::new();
    environment.set_undefined_behavior(UndefinedBehavior::Strict);
    environment.set_fuel(Some(FUEL));
    // Only delimiters that clash are refused, and these are the default ones.
    if let Ok(syntax) = SyntaxConfig::builder().keep_trailing_newline(true).build() {
        environment.set_syntax(syntax);
    }
    environment.remove_global("debug");
    environment.remove_global("namespace");
    filters::add_to(&mut environment);
    environment
}

/// Words an error of the language in one line.
fn words(error: &Error) -> String {
    let kind = error.kind().to_string();
    error.detail().map_or(kind.clone(), |detail| format!("{kind}: {}", detail.replace('\n', " ")))
}

/// Returns the names that a source reads and does not itself define, or why it is no
/// such source.
pub(crate) fn names_in(syntax: Syntax, source: &str) -> Result<BTreeSet<String>, String> {
    let environment = environment();
    let names = match syntax {
        Syntax::Expression => {
            let compiled = environment.compile_expression(source).map_err(|e| words(&e))?;
            compiled.undeclared_variables(false)
        }
        Syntax::Template => {
            let template = environment.template_from_str(source).map_err(|e| words(&e))?;
            template.undeclared_variables(false)
        }
    };
    let global: BTreeSet<&str> = environment.globals().map(|(name, _)| name).collect();
    Ok(names.into_iter().filter(|name| !global.contains(name.as_str())).collect())
}

/// Evaluates a source over results; a name that it reads must be of a call that succeeded.
pub(super) fn evaluate(syntax: Syntax, source: &str, results: &Results) -> Result<Value, String> {
    for name in names_in(syntax, source)? {
        if results.has_failed(&name) {
            return Err(format!("call `{name}` failed, so it has no result"));
        }
        if results.text(&name).is_none() {
            return Err(format!("call `{name}` has not been made, so it has no result"));
        }
    }
    let environment = environment();
    match syntax {
        Syntax::Expression => environment
            .compile_expression(source)
            .and_then(|compiled| compiled.eval(results.context()))
            .map_err(|e| words(&e)),
        Syntax::Template => environment
            .render_str(source, results.context())
            .map(Value::from)
            .map_err(|e| words(&e)),
    }
}
