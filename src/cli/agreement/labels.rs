//! Labels that people gave to the trials of a run.
//!
//! Every fault of a file of labels is reported with its line, and a file with a fault is
//! not used: a label that was skipped in silence would move the figures.

use std::collections::BTreeMap;

use camino::Utf8Path;

use super::{Code, Failure, data, pairs, text_of};
use crate::cli::judging::BAD_LINE;
use crate::cli::report::check_judge;
use crate::cli::{LEFT_OUT, say, say_damaged};
use crate::judge::exact;
use crate::metrics::State;
use crate::record::{Outcome, TrialId};
use crate::report::{AgreementView, ItemKind, LabelledItem};
use crate::runner;
use crate::store::{Index, LastVerdicts, RunConfig, Store, TaskData};
use crate::verdict::Verdict;
use wildgym_tasks::{Answer, AnswerKind};

/// Most faults that are told at once.
const MOST_FAULTS: usize = 20;

/// What a file says of one trial.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Row {
    line: u64,
    trial: String,
    passes: bool,
}

/// The labels of a file.
#[derive(Debug, Default, PartialEq, Eq)]
struct Labels {
    rows: Vec<Row>,
    unlabelled: usize,
}

/// Sets labels beside the verdicts of a stored judge.
pub(super) fn compare(
    run: &Utf8Path,
    labels: &Utf8Path,
    judge: Option<&str>,
) -> Result<AgreementView, Failure> {
    let store = Store::open(run)?;
    let config = store.config()?;
    if let Some(name) = judge {
        check_judge(&store, name)?;
    }
    let judge = judge.unwrap_or(&config.judge.name);
    let tasks = config.tasks(&store.blobs())?;
    let planned = Planned::of(&config, &tasks);
    let (read, mut faults) = parse(&text_of(labels)?);
    check(&read, &planned, &mut faults);
    refuse(&faults, labels, run)?;
    if read.rows.is_empty() {
        return Err(Failure::usage(format!("`{labels}` has no label")).hint(
            "write `pass` or `fail` into the column `label`; rows without a label are left out",
        ));
    }
    let index = store.survey()?;
    say_damaged(&index.damaged, LEFT_OUT);
    let (verdicts, bad_lines) = store.last_verdicts(judge)?;
    say_damaged(&bad_lines, BAD_LINE);
    let by_model = judge != exact::NAME;
    let verdict_of = |row: &Row| {
        let id = planned.get(&row.trial)?;
        let stored = index.trials.get(id)?.counted()?;
        verdicts.get(&(id.clone(), stored.attempt))
    };
    let decided =
        read.rows.iter().filter_map(verdict_of).filter(|verdict| verdict.votes.is_empty());
    let without_model = by_model.then(|| decided.count());
    let items = read
        .rows
        .iter()
        .filter_map(|row| {
            let id = planned.get(&row.trial)?;
            let mut item = item(row, id, tasks.get(&id.task)?, &index, &verdicts);
            if let Some(verdict) = verdict_of(row).filter(|_| by_model) {
                item.groups.push(("way", pairs::way(!verdict.votes.is_empty())));
            }
            Some(item)
        })
        .collect();
    Ok(AgreementView {
        kind: ItemKind::Trial,
        judge: judge.to_owned(),
        source: format!("{labels}, of trials in {run}"),
        items,
        unlabelled: read.unlabelled,
        without_model,
    })
}

/// The trials of a run, by the names that labels may give them.
struct Planned {
    trials: BTreeMap<String, TrialId>,
    /// The one condition, which names may leave out; none where there are several.
    only: Option<String>,
}

impl Planned {
    fn of(config: &RunConfig, tasks: &BTreeMap<String, TaskData>) -> Self {
        let trials =
            runner::Trials::of(config, tasks).iter().map(|id| (id.to_string(), id)).collect();
        let mut conditions = config.conditions.keys().cloned();
        let only = conditions.next().filter(|_| conditions.next().is_none());
        Self { trials, only }
    }

    /// Finds a trial by condition/task/variant/k, or without the condition.
    fn get(&self, name: &str) -> Option<&TrialId> {
        let whole = |condition: &String| self.trials.get(&format!("{condition}/{name}"));
        self.trials.get(name).or_else(|| self.only.as_ref().and_then(whole))
    }
}

/// Looks up what a judge says of a labelled trial.
fn item(
    row: &Row,
    id: &TrialId,
    task: &TaskData,
    index: &Index,
    verdicts: &LastVerdicts,
) -> LabelledItem {
    let known = index.trials.get(id);
    let last = known.and_then(|known| known.counted().or(known.attempts.last()));
    let verdict = last.and_then(|stored| verdicts.get(&(id.clone(), stored.attempt)));
    let outcome = last.map(crate::store::Stored::outcome);
    let said = verdict.map(|verdict| verdict.verdict);
    let state = State::of(outcome.as_ref(), said);
    let reason = verdict.and_then(|verdict| verdict.reasons.first().cloned());
    LabelledItem {
        id: id.to_string(),
        unit: id.task.clone(),
        groups: vec![
            ("scenario", task.scenario.to_string()),
            ("language", task.language.name().to_owned()),
        ],
        label: row.passes,
        verdict: said.filter(|_| state.is_judged()).or(Some(Verdict::Unjudged)),
        reason: reason.unwrap_or_else(|| match state {
            State::Pending => "not tried yet".to_owned(),
            State::Pass | State::Degraded | State::Fail => String::new(),
            State::Unjudged => "no verdict of this judge".to_owned(),
            State::Lost | State::Skipped => state.name().to_owned(),
        }),
        why: String::new(),
    }
}

/// Reads a file of labels; faults have their line in front.
fn parse(text: &str) -> (Labels, Vec<String>) {
    let mut reader =
        csv::ReaderBuilder::new().flexible(true).trim(csv::Trim::All).from_reader(text.as_bytes());
    let mut labels = Labels::default();
    let mut faults = Vec::new();
    let mut lines = Lines { text, at: 0, line: 1 };
    let header = match reader.headers() {
        Ok(header) => header.clone(),
        Err(error) => return (labels, vec![format!("line 1: {error}")]),
    };
    let first = lines.of(header.position());
    let column = |name: &str| header.iter().position(|cell| cell.eq_ignore_ascii_case(name));
    let (Some(trial), Some(label)) = (column("trial"), column("label")) else {
        let missing = if column("trial").is_none() { "trial" } else { "label" };
        let found: Vec<&str> = header.iter().collect();
        let found = found.join("`, `");
        let fault = format!("line {first}: there is no column `{missing}`, only `{found}`");
        return (labels, vec![fault]);
    };
    for record in reader.records() {
        let record = match record {
            Ok(record) => record,
            Err(error) => {
                faults.push(error.to_string());
                continue;
            }
        };
        let line = lines.of(record.position());
        if record.iter().all(str::is_empty) {
            continue;
        }
        if record.len() != header.len() {
            let (has, wants) = (record.len(), header.len());
            faults.push(format!("line {line}: {has} fields, where line {first} has {wants}"));
            continue;
        }
        let (trial, label) = (&record[trial], &record[label]);
        match (trial, passes(label)) {
            ("", _) => faults.push(format!("line {line}: no trial")),
            (_, _) if label.is_empty() => labels.unlabelled += 1,
            (_, Some(passes)) => labels.rows.push(Row { line, trial: trial.to_owned(), passes }),
            (_, None) => {
                faults.push(format!("line {line}: `{label}` is no label; write `pass` or `fail`"));
            }
        }
    }
    (labels, faults)
}

/// Counts the lines of a text as an editor shows them. The reader of CSV counts otherwise:
/// to it a record begins with the empty lines in front of it, or with half an end of line.
struct Lines<'a> {
    text: &'a str,
    at: usize,
    line: u64,
}

impl Lines<'_> {
    /// Returns the line, from 1, in which a record begins; positions must not go back.
    fn of(&mut self, position: Option<&csv::Position>) -> u64 {
        let bytes = self.text.as_bytes();
        let from = position.map_or(0, csv::Position::byte);
        let from = usize::try_from(from).unwrap_or(usize::MAX);
        while let Some(&byte) = bytes.get(self.at) {
            let ends = byte == b'\n' || (byte == b'\r' && bytes.get(self.at + 1) != Some(&b'\n'));
            if self.at >= from && !matches!(byte, b'\n' | b'\r') {
                break;
            }
            self.line += u64::from(ends);
            self.at += 1;
        }
        self.line
    }
}

/// Reads a label.
fn passes(label: &str) -> Option<bool> {
    match label.to_lowercase().as_str() {
        "pass" | "correct" => Some(true),
        "fail" | "incorrect" => Some(false),
        _ => None,
    }
}

/// Adds trials that the run does not have, and those that are labelled twice.
fn check(labels: &Labels, planned: &Planned, faults: &mut Vec<String>) {
    let mut seen: BTreeMap<&TrialId, u64> = BTreeMap::new();
    for Row { line, trial, .. } in &labels.rows {
        let Some(id) = planned.get(trial) else {
            faults.push(format!("line {line}: the run has no trial `{trial}`"));
            continue;
        };
        if let Some(first) = seen.insert(id, *line) {
            faults.push(format!("line {line}: `{trial}` is labelled in line {first} already"));
        }
    }
}

fn refuse(faults: &[String], labels: &Utf8Path, run: &Utf8Path) -> Result<(), Failure> {
    if faults.is_empty() {
        return Ok(());
    }
    let shown: Vec<String> = faults
        .iter()
        .take(MOST_FAULTS)
        .map(|fault| format!("  {}", crate::report::visible(fault)))
        .collect();
    let more = match faults.len().saturating_sub(MOST_FAULTS) {
        0 => String::new(),
        more => format!("\n  and {more} more"),
    };
    Err(Failure::usage(format!("`{labels}` cannot be used:\n{}{more}", shown.join("\n"))).hint(
        format!("`wildgym agreement {run} --template` prints a file that only lacks the labels"),
    ))
}

/// Prints a file to fill in: what a person needs to judge each answer, and no verdict.
pub(super) fn template(run: &Utf8Path) -> Result<Code, Failure> {
    let store = Store::open(run)?;
    let config = store.config()?;
    let tasks = config.tasks(&store.blobs())?;
    let index = store.survey()?;
    say_damaged(&index.damaged, LEFT_OUT);
    let mut writer = csv::Writer::from_writer(Vec::new());
    let failed = |error: &dyn std::error::Error| Failure::usage(format!("cannot write: {error}"));
    let header = ["trial", "question", "reference", "answer", "label"];
    writer.write_record(header).map_err(|error| failed(&error))?;
    let mut left_out = 0_usize;
    for id in sorted(&config, &tasks) {
        let end = index.trials.get(&id).and_then(|known| known.counted()?.end.as_ref());
        let answered = end.filter(|end| end.outcome == Outcome::Answered);
        let (Some(task), Some(end)) = (tasks.get(&id.task), answered) else {
            left_out += 1;
            continue;
        };
        let answer = end.answer.as_ref().map(|body| store.blobs().text(body)).transpose()?;
        let question = task.questions.get(&id.variant.to_string()).unwrap_or(&task.title);
        let (reference, answer) = (written(&task.answer), answer.unwrap_or_default());
        let cells = [id.to_string(), cell(question), cell(&reference), cell(&answer)];
        let record = cells.iter().map(String::as_str).chain([""]);
        writer.write_record(record).map_err(|error| failed(&error))?;
    }
    let bytes = writer.into_inner().map_err(|error| failed(&error))?;
    data(&String::from_utf8_lossy(&bytes));
    if left_out > 0 {
        say(&format!("{left_out} trials without an answer are left out"));
    }
    Ok(Code::Done)
}

/// Returns the trials of a run, those of one task side by side.
fn sorted(config: &RunConfig, tasks: &BTreeMap<String, TaskData>) -> Vec<TrialId> {
    let mut planned: Vec<TrialId> = runner::Trials::of(config, tasks).iter().collect();
    planned.sort_by(|a, b| {
        (&a.task, &a.variant, &a.condition, a.k).cmp(&(&b.task, &b.variant, &b.condition, b.k))
    });
    planned
}

/// Writes a reference with all that decides whether an answer equals it.
fn written(answer: &Answer) -> String {
    let mut text = match &answer.kind {
        AnswerKind::Text { value } => value.clone(),
        AnswerKind::Number { value, tolerance, unit } => {
            let unit = unit.as_ref().map(|unit| format!(" {unit}")).unwrap_or_default();
            let tolerance =
                if *tolerance > 0.0 { format!(" (± {tolerance})") } else { String::new() };
            format!("{value}{unit}{tolerance}")
        }
        AnswerKind::Date { value } => value.to_string(),
        AnswerKind::List { value, ordered } => {
            let order = if *ordered { " (in this order)" } else { "" };
            format!("{}{order}", value.join("; "))
        }
    };
    for form in &answer.accept {
        text.push_str(" | ");
        text.push_str(form);
    }
    text
}

/// Makes a text safe to open in a spreadsheet, which would compute a cell that begins with
/// a sign of a formula: such a cell gets an apostrophe in front. A number with a sign stays
/// a number.
fn cell(text: &str) -> String {
    let text = crate::report::visible(text);
    let computed = text.starts_with(['=', '@', '\t'])
        || (text.starts_with(['+', '-'])
            && !text[1..].starts_with(|letter: char| letter.is_ascii_digit() || letter == ' '));
    if computed { format!("'{text}") } else { text }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn labels_are_read_or_refused_with_their_line() {
        let table = [
            ("trial,label\na,pass\nb,FAIL\n", 2, 0, "", "plain, in any case"),
            ("label,answer,trial\ncorrect,x,a\nincorrect,\"y\nz\",b\n", 2, 0, "", "other columns"),
            (
                "trial,label
a,
b,pass
,,

",
                1,
                1,
                "",
                "an empty row of any length",
            ),
            ("trial,label\na,\nb,pass\n,\n\n", 1, 1, "", "not labelled yet, and an empty row"),
            ("trial;label\na;pass\n", 0, 0, "line 1: there is no column `trial`", "semicolons"),
            ("trial,verdict\na,pass\n", 0, 0, "line 1: there is no column `label`", "no label"),
            ("", 0, 0, "line 1: there is no column `trial`", "an empty file"),
            ("trial,label\na,\"x\ny\"\nb,maybe\n", 0, 0, "line 4: `maybe` is no label", "no label"),
            ("trial,label\na,pass,more\n", 0, 0, "line 2: 3 fields", "a field too many"),
            ("trial,label\n,pass\n", 0, 0, "line 2: no trial", "nothing labelled"),
        ];
        for (text, rows, unlabelled, fault, why) in table {
            let (labels, faults) = parse(text);
            let faults = faults.join("; ");
            assert_eq!((labels.rows.len(), labels.unlabelled), (rows, unlabelled), "{why}");
            assert!(faults.contains(fault), "{why}: {faults}");
            assert_eq!(fault.is_empty(), faults.is_empty(), "{why}: {faults}");
        }
    }

    #[test]
    fn lines_are_those_that_an_editor_shows() {
        let table = [
            ("trial,label\nx,pass\nx,?\n", 3, "plain"),
            ("trial,label\r\nx,pass\r\nx,?\r\n", 3, "as Windows ends lines"),
            ("trial,label\rx,pass\rx,?\r", 3, "as old machines ended them"),
            ("trial,label\n\n\nx,pass\n\nx,?", 6, "empty lines"),
            ("trial,label\r\n\r\nx,pass\r\n\r\nx,?", 5, "both"),
            ("trial,label,note\r\nx,pass,\"a\r\n\r\nb\"\r\nx,?,\r\n", 5, "lines within a cell"),
            ("\n\ntrial,label\nx,?", 4, "empty lines at the start"),
            ("trial,label\nx,pass\n ,\nx,?", 4, "an empty row"),
            ("trial,label\n涨潮,pass\n\"x\",?", 3, "Chinese, and a cell in quotes"),
        ];
        for (text, line, why) in table {
            let (_, faults) = parse(text);
            assert_eq!(
                faults,
                [format!("line {line}: `?` is no label; write `pass` or `fail`")],
                "{why}"
            );
        }
    }

    #[test]
    fn no_cell_is_a_formula() {
        let table = [
            ("=HYPERLINK(\"x\")", "'=HYPERLINK(\"x\")"),
            ("@SUM(1)", "'@SUM(1)"),
            ("-2+cmd", "-2+cmd"),
            ("-cmd|x", "'-cmd|x"),
            ("-3.2 %", "-3.2 %"),
            ("- a list", "- a list"),
            ("+", "'+"),
            ("plain\u{202e}", "plain\\u{202e}"),
        ];
        for (text, want) in table {
            assert_eq!(cell(text), want);
        }
    }
}
