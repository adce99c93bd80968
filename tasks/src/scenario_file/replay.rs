//! Turns the calls of a reference or a wrong solution into a [`Solution`], which the
//! reference agent replays.
//!
//! Call `i` is named `c<i>`; `$.calls[i].result.x` becomes an expression over it, so what a
//! call that failed would have returned can be read by none.

use serde_json::{Map, Value, json};

use super::path::{Segment, Source};
use super::{Replayed, ReplayedCall};
use crate::solution::{Solution, SolutionAnswer, SolutionCall, SolutionRound, Syntax, names_in};

/// Returns the solution that replays these rounds, or what is wrong with them as pairs of
/// field and problem.
pub fn solution(replayed: &Replayed) -> Result<Solution, Vec<(String, String)>> {
    let mut faults = Vec::new();
    let (mut rounds, mut known) = (Vec::new(), 0);
    for (r, round) in replayed.rounds.iter().enumerate() {
        let mut calls = Vec::new();
        for (c, call) in round.iter().enumerate() {
            let place = format!("rounds[{r}][{c}].args");
            let number = known + c;
            calls.push(one(call, number, known, &place, &mut faults));
        }
        known += round.len();
        rounds.push(SolutionRound { calls });
    }
    let expression = match filled(&replayed.answer, known) {
        Ok(expression) => expression.unwrap_or_else(|| quoted(&replayed.answer)),
        Err(problem) => {
            faults.push(("answer".to_owned(), problem));
            String::new()
        }
    };
    let answer = SolutionAnswer { expression };
    if faults.is_empty() { Ok(Solution { format: 1, rounds, answer }) } else { Err(faults) }
}

fn one(
    call: &ReplayedCall,
    number: usize,
    known: usize,
    place: &str,
    faults: &mut Vec<(String, String)>,
) -> SolutionCall {
    let mut arguments = Map::new();
    for (name, value) in &call.args {
        let value = computed(value, known, &format!("{place}.{name}"), faults);
        arguments.insert(name.clone(), value);
    }
    let (name, tool) = (format!("c{number}"), call.tool.clone());
    SolutionCall { name, tool, arguments, navigate: Vec::new() }
}

/// Puts expressions in place of what stands for results of the first `known` calls.
fn computed(value: &Value, known: usize, place: &str, faults: &mut Vec<(String, String)>) -> Value {
    match value {
        Value::String(text) => {
            let expression = match Source::parse(text) {
                Ok(source) => reading(&source, known).map(Some),
                Err(_) => filled(text, known),
            };
            match expression {
                Ok(Some(expression)) => json!({ "$expr": expression }),
                Ok(None) => value.clone(),
                Err(problem) => {
                    faults.push((place.to_owned(), problem));
                    Value::Null
                }
            }
        }
        Value::Array(items) => items
            .iter()
            .enumerate()
            .map(|(index, item)| computed(item, known, &format!("{place}[{index}]"), faults))
            .collect(),
        Value::Object(fields) => {
            if let Some(name) = fields.keys().find(|name| name.starts_with('$')) {
                let problem = format!("`{name}` has no meaning in the calls of a solution");
                faults.push((place.to_owned(), problem));
            }
            let fields = fields.iter().map(|(name, value)| {
                (name.clone(), computed(value, known, &format!("{place}.{name}"), faults))
            });
            Value::Object(fields.collect())
        }
        Value::Null | Value::Bool(_) | Value::Number(_) => value.clone(),
    }
}

/// Returns the expression for a text with `{{ … }}` in it; none where there is none.
fn filled(text: &str, known: usize) -> Result<Option<String>, String> {
    if !text.contains("{{") {
        let stray = text.contains("$.calls[");
        let problem = "a path inside of a text stands in `{{ … }}`";
        return if stray { Err(problem.to_owned()) } else { Ok(None) };
    }
    let (mut parts, mut rest) = (Vec::new(), text);
    while let Some((before, after)) = rest.split_once("{{") {
        if !before.is_empty() {
            parts.push(quoted(before));
        }
        let Some((inner, after)) = after.split_once("}}") else {
            return Err("`{{` has no `}}`".to_owned());
        };
        parts.push(format!("({})", expression(inner, known)?));
        rest = after;
    }
    if !rest.is_empty() {
        parts.push(quoted(rest));
    }
    // A text stays one, also where it is a single number.
    Ok(Some(format!("\"\" ~ {}", parts.join(" ~ "))))
}

/// Returns what stands between `{{` and `}}` with names of results in place of paths.
fn expression(source: &str, known: usize) -> Result<String, String> {
    let (mut out, mut rest) = (String::new(), source.trim());
    while let Some(start) = rest.find("$.calls[") {
        out.push_str(&rest[..start]);
        let Some((source, after)) = Source::prefix(&rest[start..]) else {
            return Err(format!("`{}` is no path such as `$.calls[0].result.id`", &rest[start..]));
        };
        out.push_str(&reading(&source, known)?);
        rest = after;
    }
    out.push_str(rest);
    names_in(Syntax::Expression, &out)?;
    Ok(out)
}

/// Returns the expression that reads a value.
fn reading(source: &Source, known: usize) -> Result<String, String> {
    let Source { call, of_arguments, path } = source;
    if *of_arguments {
        return Err("a solution knows its own arguments; expected `.result`".to_owned());
    }
    if *call >= known {
        return Err(format!(
            "call {call} is not made in an earlier round; {known} calls are, counted from 0"
        ));
    }
    if path.0.is_empty() {
        return Ok(format!("c{call}.text"));
    }
    let mut out = format!("(c{call} | fromjson)");
    for segment in &path.0 {
        match segment {
            Segment::Key(name) => out.extend(["[", &quoted(name), "]"]),
            Segment::Index(index) => out.extend(["[", &index.to_string(), "]"]),
            Segment::Any => return Err("`[*]` names no one value; name an item".to_owned()),
        }
    }
    Ok(out)
}

/// Writes a text as a literal of the expressions' language, which escapes as JSON does.
fn quoted(text: &str) -> String {
    Value::from(text).to_string()
}
