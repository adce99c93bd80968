//! The gate as tables: for a terminal, and in Markdown for a pull request.

use std::fmt::Write as _;

use super::{Compared, GateView, Gated};
use crate::metrics::Drop;
use crate::report::figures::counted;
use crate::report::layout::Page;
use crate::report::paired::fraction;
use crate::report::sanitize::one_line;

/// Most tasks that a list names.
const NAMED: usize = 20;

/// Returns the comparison for a terminal of `width` columns; `usize::MAX` is for what is no
/// terminal.
#[must_use]
pub fn terminal(view: &GateView, width: usize, colour: bool) -> String {
    let (page, gated) = (Page::new(width, colour), view.gate());
    let word = if gated.is_blocked() { "BLOCKED" } else { "pass" };
    let mut out = page.entry("gate", &[page.bold(word), heading(view)]);
    for reason in &gated.reasons {
        out.push_str(&page.entry("", &[one_line(reason, 300)]));
    }
    for note in gated.remarks.iter().chain(&view.notes) {
        out.push_str(&page.entry("note", &[one_line(note, 300)]));
    }
    out.push('\n');
    for line in page.table(&rows(view, &gated)) {
        let _ = writeln!(out, "{line}");
    }
    let lists = lists(&gated);
    if !lists.is_empty() {
        out.push('\n');
    }
    for (name, parts) in lists {
        out.push_str(&page.entry(name, &parts));
    }
    out
}

/// Returns the comparison in Markdown.
#[must_use]
pub fn markdown(view: &GateView) -> String {
    let gated = view.gate();
    let word = if gated.is_blocked() { "blocked" } else { "passes" };
    let mut out = format!("### wildgym gate: {word}\n\n{}\n\n", plain(&heading(view)));
    for line in gated.reasons.iter().chain(&gated.remarks).chain(&view.notes) {
        let _ = writeln!(out, "- {}", plain(&one_line(line, 300)));
    }
    if [&gated.reasons, &gated.remarks, &view.notes].iter().any(|lines| !lines.is_empty()) {
        out.push('\n');
    }
    for (index, row) in rows(view, &gated).iter().enumerate() {
        let cells: Vec<String> = row.iter().map(|cell| plain(cell)).collect();
        let _ = writeln!(out, "| {} |", cells.join(" | "));
        if index == 0 {
            out.push_str("|---|---:|---:|---:|---:|---:|\n");
        }
    }
    for (name, parts) in lists(&gated) {
        let parts: Vec<String> = parts.iter().map(|part| plain(part)).collect();
        let _ = write!(out, "\n**{name}**: {}\n", parts.join(", "));
    }
    out
}

/// Takes from a text what Markdown would read in it.
fn plain(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for letter in text.chars() {
        if matches!(letter, '|' | '<' | '>' | '*' | '_' | '[' | ']' | '\\' | '#') {
            out.push('\\');
        }
        out.push(letter);
    }
    out
}

/// Says what is compared with what.
fn heading(view: &GateView) -> String {
    let days: Vec<String> =
        view.baseline.iter().map(|line| line.created.strftime("%Y-%m-%d").to_string()).collect();
    let when = match (days.first(), days.last()) {
        (Some(first), Some(last)) if first == last => format!(" of {first}"),
        (Some(first), Some(last)) => format!(" of {first} to {last}"),
        (None, _) | (_, None) => String::new(),
    };
    let runs = counted(days.len() as u64, "run");
    let only = view.only.as_ref().map(|(name, _)| format!(", subset {name}")).unwrap_or_default();
    one_line(&format!("{} against {runs}{when} ({}){only}", view.run.run, view.source), 300)
}

/// The rows of the table, the heads first.
fn rows(view: &GateView, gated: &Gated) -> Vec<Vec<String>> {
    let row = |name: &str, drop: &Drop, tolerated: String| {
        let points = |share: f64| format!("{:.1}", share * 100.0);
        let size = -drop.size() * 100.0;
        // Zero has no sign.
        let change = if size.abs() < 0.05 { "0.0".to_owned() } else { format!("{size:+.1}") };
        let name = one_line(name, 60);
        let tasks = drop.tasks.to_string();
        vec![name, tasks, points(drop.baseline), points(drop.run), change, tolerated]
    };
    let heads = ["", "tasks", "baseline", "run", "change", "tolerated"].map(str::to_owned);
    let mut rows = vec![heads.to_vec()];
    if let Some(overall) = &gated.overall {
        rows.push(row("all", overall, format!("-{}", view.tolerance)));
    }
    for (name, drop) in &gated.subsets {
        let none = view.strict.contains(name);
        rows.push(row(name, drop, if none { "none".to_owned() } else { String::new() }));
    }
    rows
}

/// Lists of tasks that are worth a look, with their passes in the baseline and in the run.
fn lists(gated: &Gated) -> Vec<(&'static str, Vec<String>)> {
    let task = |task: &&Compared| {
        let share = |cell: crate::metrics::Cell| fraction(cell.passed, cell.judged);
        let (before, now) = (share(task.sides.baseline), share(task.sides.run));
        format!("{} {before} then {now}", one_line(&task.task, 120))
    };
    let tasks = |list: Vec<&Compared>| bounded(list.iter().map(task).collect());
    let names = |list: &[String]| bounded(list.iter().map(|name| one_line(name, 120)).collect());
    [
        ("new", tasks(gated.newly_failing())),
        ("flaky", tasks(gated.flaky())),
        ("untried", names(&gated.alone[0])),
        ("unknown", names(&gated.alone[1])),
    ]
    .into_iter()
    .filter(|(_, parts)| !parts.is_empty())
    .collect()
}

/// Cuts a list, and says by how much.
fn bounded(mut parts: Vec<String>) -> Vec<String> {
    let more = parts.len().saturating_sub(NAMED);
    if more > 0 {
        parts.truncate(NAMED);
        parts.push(format!("… {more} more"));
    }
    parts
}
