//! What a trial shows: its calls and what lies between them, read out of its records.

use std::collections::BTreeMap;

use serde_json::Value;

use super::GraphOptions;
use super::flow::{Flow, flows};
use super::mark::Mark;
use super::text::head;
use crate::judge::{Finding, Owed};
use crate::record::{Body, CallRecord, OutcomeRecord, Record};
use crate::report::Resolve;
use crate::verdict::Verdict;

/// Bytes of a text that are read for the picture.
const READ: usize = 4 << 20;

/// A call.
#[derive(Debug, Clone, Default)]
pub(super) struct Call {
    /// Its number among all, from 1, as verdicts count.
    pub(super) number: usize,
    /// Its ingress number.
    pub(super) ingress: String,
    /// Round of the agent.
    pub(super) round: u32,
    /// The tool.
    pub(super) tool: String,
    /// The arguments; a text where they are not JSON.
    pub(super) arguments: Value,
    /// What the agent got to read, as a value.
    pub(super) result: Value,
    /// The same as it was.
    pub(super) text: String,
    /// Kind of the error, where it failed.
    pub(super) error: Option<String>,
    /// Name of the fault that the task made it fail with.
    pub(super) injected: Option<String>,
    /// What was found of it; none where the task expects no calls.
    pub(super) finding: Option<Finding>,
}

/// A trial.
#[derive(Debug, Default)]
pub(super) struct Scene {
    pub(super) title: String,
    /// The request, as the agent read it.
    pub(super) request: String,
    /// The calls, in the order of their records.
    pub(super) calls: Vec<Call>,
    /// What happened in the world in each round, before its calls.
    pub(super) events: BTreeMap<u32, Vec<String>>,
    /// Values that went from results into later calls and into the answer.
    pub(super) flows: Vec<Flow>,
    /// Values that should have, and did not.
    pub(super) owed: Vec<Owed>,
    /// Required calls that were not made.
    pub(super) open: Vec<(usize, String)>,
    /// How the agent's part ended; none where the transcript breaks off.
    pub(super) outcome: Option<String>,
    /// What explains it.
    pub(super) detail: Option<String>,
    /// The answer, where there is one.
    pub(super) answer: Option<String>,
    /// Judge, verdict, reasons.
    pub(super) verdict: Option<(String, Verdict, Vec<String>)>,
    /// Whether calls were held against what is expected.
    pub(super) is_matched: bool,
}

impl Call {
    /// Returns whether it had a result.
    pub(super) fn worked(&self) -> bool {
        self.error.is_none()
    }

    /// Returns whether its tool can change the world.
    pub(super) fn writes(&self) -> bool {
        self.finding.as_ref().is_some_and(|finding| finding.writes)
    }

    /// Returns the expected call that it was taken for.
    pub(super) fn expected(&self) -> Option<usize> {
        self.finding.as_ref().and_then(|finding| finding.expected)
    }

    /// Returns what is wrong with it, each once, with a sentence.
    pub(super) fn marks(&self) -> BTreeMap<Mark, &str> {
        let mut marks = BTreeMap::new();
        for (fault, why) in self.finding.iter().flat_map(|finding| &finding.faults) {
            if let Some(mark) = Mark::of(*fault) {
                marks.entry(mark).or_insert(why.as_str());
            }
        }
        marks
    }

    /// Returns how much there is to be seen in it: 0 where it can be folded away.
    pub(super) fn weight(&self) -> u8 {
        match (self.marks().is_empty(), self.expected(), self.worked()) {
            (false, _, _) => 4,
            (true, Some(_), _) => 3,
            (true, None, false) => 2,
            (true, None, true) => u8::from(self.writes()),
        }
    }

    /// Returns whether it was made by executed code.
    pub(super) fn is_child(&self) -> bool {
        self.ingress.contains('.')
    }
}

impl Scene {
    /// Reads the records of an attempt.
    pub(super) fn of(records: &[Record], resolve: &Resolve<'_>, options: &GraphOptions) -> Self {
        let verdict = options.verdict.as_ref();
        let verdict =
            verdict.map(|(judge, line)| (judge.clone(), line.verdict, line.reasons.clone()));
        let mut scene = Self {
            title: options.title.clone(),
            is_matched: options.findings.is_some(),
            verdict,
            ..Self::default()
        };
        let mut told = String::new();
        let mut events = Vec::new();
        for record in records {
            match record {
                Record::Message(message) => {
                    let text = read(&message.content, resolve);
                    if message.why == "task" {
                        scene.request.clone_from(&text);
                    }
                    told.push_str(&text);
                    told.push('\n');
                }
                Record::Call(call) => {
                    let number = scene.calls.len() + 1;
                    scene.events.entry(call.round).or_default().append(&mut events);
                    scene.calls.push(made(call, number, resolve));
                }
                Record::Event(event) => events.push(event.event.clone()),
                Record::Outcome(outcome) => scene.end(outcome, resolve),
                Record::Attempt(_) | Record::Model(_) => {}
            }
        }
        scene.events.retain(|_, names| !names.is_empty());
        if let Some(findings) = &options.findings {
            for (call, finding) in scene.calls.iter_mut().zip(&findings.calls) {
                call.finding = Some(finding.clone());
            }
            scene.owed.clone_from(&findings.owed);
            scene.open.clone_from(&findings.open);
        }
        scene.flows = flows(&scene.calls, &told, scene.answer.as_deref());
        scene
    }

    fn end(&mut self, outcome: &OutcomeRecord, resolve: &Resolve<'_>) {
        self.outcome = Some(outcome.outcome.to_string());
        self.detail.clone_from(&outcome.detail);
        self.answer = outcome.answer.as_ref().map(|answer| read(answer, resolve));
    }
}

fn made(call: &CallRecord, number: usize, resolve: &Resolve<'_>) -> Call {
    let written = read(&call.arguments, resolve);
    let arguments = match written.trim() {
        "" => Value::Null,
        written => serde_json::from_str(written).unwrap_or_else(|_| Value::from(written)),
    };
    let text = read(&call.result, resolve);
    let result = serde_json::from_str(&text).unwrap_or_else(|_| Value::from(text.as_str()));
    let injected =
        call.notes.iter().find_map(|note| Some(note.get("injected")?.as_str()?.to_owned()));
    Call {
        number,
        ingress: call.ingress.clone(),
        round: call.round,
        tool: call.tool.clone(),
        arguments,
        result,
        text,
        error: call.error.clone(),
        injected,
        finding: None,
    }
}

/// Returns a stored text, of a very long one the beginning.
fn read(body: &Body, resolve: &Resolve<'_>) -> String {
    match body {
        Body::Inline(text) => text.clone(),
        Body::Blob { blob, bytes } => match resolve(blob) {
            Some(bytes) => {
                let text = String::from_utf8_lossy(&bytes);
                head(&text, READ).to_owned()
            }
            None => format!("(blob {blob} of {bytes} bytes is missing)"),
        },
    }
}
