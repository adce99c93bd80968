//! What stands in the boxes.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::Value;
use wildgym_tasks::scenario_file::ASK_USER;

use super::{Boxed, Kind, Row};
use crate::report::figures::counted;
use crate::report::graph::mark::Mark;
use crate::report::graph::scene::{Call, Scene};
use crate::report::graph::text::{head, line, wrapped};
use crate::report::sanitize::visible;
use crate::verdict::Verdict;

/// Most arguments that a box shows.
const ARGUMENTS: usize = 5;

/// Most lines of the request.
const REQUEST: usize = 14;

/// Most lines of the answer.
const ANSWER: usize = 10;

/// Most reasons of a verdict, and most lines of each.
const REASONS: (usize, usize) = (5, 3);

/// Most characters of arguments, and of a result, that are told where somebody points.
const TOLD: usize = 1_200;

fn row(class: &'static str, text: impl Into<String>) -> Row {
    Row { class, text: text.into(), ..Row::default() }
}

fn rows(class: &'static str, lines: Vec<String>) -> Vec<Row> {
    lines.into_iter().map(|line| row(class, line)).collect()
}

/// Returns the box of the request.
pub(super) fn request(scene: &Scene, letters: usize) -> Boxed {
    let lines = wrapped(&scene.request, letters, REQUEST);
    let mut all = vec![row("name", "request")];
    all.extend(rows("text", lines));
    Boxed { tip: told(&scene.request), ..Boxed::new(Kind::Request, all) }
}

/// Returns the box of a call.
pub(super) fn call(scene: &Scene, place: usize, letters: usize) -> Boxed {
    let call = &scene.calls[place];
    let mut all = vec![row("name", line(&format!("{} {}", call.number, call.tool), letters))];
    let class = if call.expected().is_some() { "match" } else { "part" };
    all.extend(place_of(call, scene).map(|text| row(class, line(&text, letters))));
    let mut arguments = Vec::new();
    for (name, value) in shown_arguments(scene, place) {
        let (name, rest) = (line(&name, letters / 2), letters);
        let value = line(&value, rest.saturating_sub(name.chars().count() + 2));
        arguments.push((name.clone(), all.len()));
        all.push(Row { class: "argument", name, text: value, mark: None });
    }
    if let Some(fault) = &call.injected {
        all.push(row("injected", line(&format!("⚡ injected fault: {fault}"), letters)));
    }
    let result = all.len();
    match &call.error {
        None => all.push(row("result", format!("→ {}", line(&call.text, letters - 2)))),
        Some(kind) => {
            let text = format!("✗ {kind}: {}", head(&call.text, 4096));
            all.extend(rows("error", wrapped(&text, letters, 2)));
        }
    }
    let marks = call.marks();
    all.extend(marks.keys().map(|mark| Row {
        class: "mark",
        text: mark.name().to_owned(),
        mark: Some(*mark),
        ..Row::default()
    }));
    let kind = match call {
        Call { tool, error: None, .. } if tool == ASK_USER => Kind::Question,
        one if one.expected().is_some() => Kind::Expected,
        Call { error: Some(_), .. } => Kind::Failed,
        _ => Kind::Other,
    };
    Boxed {
        calls: vec![place],
        writes: call.writes(),
        injected: call.injected.is_some(),
        marks: marks.keys().copied().collect(),
        tip: tip(call, &marks),
        arguments,
        result,
        ..Boxed::new(kind, all)
    }
}

/// Says what a call is in the trial.
fn place_of(call: &Call, scene: &Scene) -> Option<String> {
    if call.is_child() {
        let (parent, _) = call.ingress.split_once('.')?;
        let parent = scene.calls.iter().find(|other| other.ingress == parent);
        return Some(match parent {
            Some(parent) => format!("made by the code of call {}", parent.number),
            None => "made by executed code".to_owned(),
        });
    }
    let finding = call.finding.as_ref()?;
    Some(match finding.expected {
        Some(index) => format!("= expected call {index}"),
        None if call.tool == ASK_USER => "question to the user".to_owned(),
        None if finding.writes && !call.worked() => "extra: a change that failed".to_owned(),
        None if finding.writes => "extra: a change".to_owned(),
        None if finding.known => "extra: it only looks".to_owned(),
        None => "extra".to_owned(),
    })
}

/// Returns the arguments that are shown, those that lines lead to first, in their order.
fn shown_arguments(scene: &Scene, place: usize) -> Vec<(String, String)> {
    let call = &scene.calls[place];
    let fields = match &call.arguments {
        Value::Null => return Vec::new(),
        Value::Object(fields) => fields,
        Value::Bool(_) | Value::Number(_) | Value::String(_) | Value::Array(_) => {
            return vec![("arguments".to_owned(), plain(&call.arguments))];
        }
    };
    let root = |path: &str| path.split(['.', '[']).next().unwrap_or_default().to_owned();
    let flows = scene.flows.iter().filter(|flow| flow.to == Some(place));
    let mut wanted: BTreeSet<String> = flows.map(|flow| root(&flow.argument)).collect();
    let owed = scene.owed.iter().filter(|owed| owed.to == place);
    wanted.extend(owed.map(|owed| root(&owed.argument)));
    let mut shown: Vec<&String> = fields.keys().filter(|name| wanted.contains(*name)).collect();
    shown.extend(fields.keys().filter(|name| !wanted.contains(*name)));
    let many = shown.len() > ARGUMENTS;
    shown.truncate(if many { ARGUMENTS - 1 } else { ARGUMENTS });
    let of = |(name, value): (&String, &Value)| (name.clone(), plain(value));
    let mut all: Vec<(String, String)> =
        fields.iter().filter(|(name, _)| shown.contains(name)).map(of).collect();
    if many {
        all.push(("…".to_owned(), format!("{} more", fields.len() - shown.len())));
    }
    all
}

/// Writes a value: a text as it is, everything else as JSON.
fn plain(value: &Value) -> String {
    match value {
        Value::String(text) => text.clone(),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::Array(_) | Value::Object(_) => {
            value.to_string()
        }
    }
}

/// Returns the box of calls that are counted.
pub(super) fn many(scene: &Scene, places: &[usize], letters: usize) -> Boxed {
    let calls = places.iter().map(|&place| &scene.calls[place]);
    let mut tools: BTreeMap<&str, usize> = BTreeMap::new();
    let (mut failed, mut marks) = (0, BTreeMap::<Mark, usize>::new());
    for call in calls.clone() {
        *tools.entry(&call.tool).or_default() += 1;
        failed += u64::from(!call.worked());
        for mark in call.marks().keys() {
            *marks.entry(*mark).or_default() += 1;
        }
    }
    let mut by_count: Vec<(&str, usize)> = tools.into_iter().collect();
    by_count.sort_by_key(|(name, count)| (std::cmp::Reverse(*count), *name));
    let mut all = vec![row("name", counted(places.len() as u64, "more call"))];
    if calls.clone().all(|call| call.weight() == 0) {
        all.push(row("part", "with nothing to be seen"));
    }
    for (tool, count) in by_count.iter().take(ARGUMENTS) {
        all.push(row("text", line(&format!("{count} × {tool}"), letters)));
    }
    if by_count.len() > ARGUMENTS {
        let more = by_count.len() - ARGUMENTS;
        all.push(row("text", format!("… {}", counted(more as u64, "more tool"))));
    }
    if failed > 0 {
        all.push(row("error", format!("✗ {failed} failed")));
    }
    all.extend(marks.iter().map(|(mark, count)| Row {
        class: "mark",
        text: format!("{count} × {}", mark.name()),
        mark: Some(*mark),
        ..Row::default()
    }));
    let tip: Vec<String> =
        by_count.iter().map(|(tool, count)| format!("{count} × {tool}")).collect();
    Boxed {
        calls: places.to_vec(),
        writes: calls.clone().any(Call::writes),
        injected: calls.clone().any(|call| call.injected.is_some()),
        marks: marks.into_keys().collect(),
        tip: told(&tip.join("\n")),
        ..Boxed::new(Kind::Many, all)
    }
}

/// Returns the boxes of expected calls that were not made.
pub(super) fn missing(scene: &Scene, letters: usize) -> Vec<Boxed> {
    let boxed = |(index, tool): &(usize, String)| {
        let name = line(&format!("not made: {tool}"), letters);
        let all = vec![row("name", name), row("part", format!("expected call {index}"))];
        let tip = format!("expected call {index} (`{tool}`) has none that was taken for it");
        Boxed { tip, ..Boxed::new(Kind::Missing, all) }
    };
    scene.open.iter().take(crate::report::graph::fold::MOST_BOXES).map(boxed).collect()
}

/// Returns the box of the answer.
pub(super) fn answer(scene: &Scene, letters: usize) -> Boxed {
    let outcome = scene.outcome.as_deref().unwrap_or("killed, or still running");
    let mut all = vec![row("name", line(outcome, letters))];
    let detail = scene.detail.as_deref().unwrap_or_default();
    all.extend(rows("part", wrapped(detail, letters, 2)));
    match scene.answer.as_deref().map(str::trim) {
        Some("") => all.push(row("part", "the answer is empty")),
        Some(text) => all.extend(rows("text", wrapped(text, letters, ANSWER))),
        None if scene.outcome.is_some() => all.push(row("part", "no answer")),
        None => {}
    }
    let tip = told(scene.answer.as_deref().unwrap_or_default());
    Boxed { tip, ..Boxed::new(Kind::Answer, all) }
}

/// Returns the box of the verdict.
pub(super) fn verdict(scene: &Scene, letters: usize) -> Boxed {
    let Some((judge, verdict, reasons)) = &scene.verdict else {
        return Boxed::new(Kind::Unjudged, vec![row("name", "not judged")]);
    };
    let (kind, name) = match verdict {
        Verdict::Pass => (Kind::Passed, "pass"),
        Verdict::Degraded => (Kind::Degraded, "degraded"),
        Verdict::Fail => (Kind::Wrong, "fail"),
        Verdict::Unjudged => (Kind::Unjudged, "unjudged"),
    };
    let mut all = vec![row("verdict", name), row("part", line(&format!("judge {judge}"), letters))];
    for reason in reasons.iter().take(REASONS.0) {
        let mut lines = wrapped(reason, letters - 2, REASONS.1).into_iter();
        all.extend(lines.next().map(|first| row("text", format!("• {first}"))));
        // A space that does not break keeps the margin where spaces are folded.
        all.extend(lines.map(|line| row("text", format!("\u{a0}\u{a0}{line}"))));
    }
    if reasons.len() > REASONS.0 {
        let more = (reasons.len() - REASONS.0) as u64;
        all.push(row("part", format!("… {}", counted(more, "more reason"))));
    }
    Boxed { tip: told(&reasons.join("\n")), ..Boxed::new(kind, all) }
}

/// Says all of a call that there is room for.
fn tip(call: &Call, marks: &BTreeMap<Mark, &str>) -> String {
    let mut out = format!("call {} (ingress {}): {}\n", call.number, call.ingress, call.tool);
    out.push_str(&told(&call.arguments.to_string()));
    out.push_str("\n→ ");
    if let Some(error) = &call.error {
        out.push_str(error);
        out.push_str(": ");
    }
    out.push_str(&told(&call.text));
    for (mark, why) in marks {
        out.push('\n');
        out.push_str(&visible(&format!("{}: {}", mark.name(), head(why, TOLD))));
    }
    visible(&out)
}

/// Cuts a foreign text to what is told where somebody points.
fn told(text: &str) -> String {
    let cut = head(text, TOLD);
    let more = if cut.len() < text.len() { "…" } else { "" };
    visible(cut.trim()) + more
}
