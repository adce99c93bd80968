//! A transcript for people: `wildgym show RUN TRIAL`.
//!
//! It shows what the agent was told, said, called and got back, in that order. Long
//! texts are cut, and each cut says how much is gone. A transcript that breaks off, or
//! whose blobs are missing, is shown as far as it goes.

use std::fmt::Write as _;

use serde_json::Value;

use super::Resolve;
use super::figures::{counted, duration, number};
use super::resilience::{Faulted, aftermath, fault_note};
use super::sanitize::{lines, one_line};
use crate::metrics::resilience::Class;
use crate::record::{
    Annotation, AttemptRecord, Body, CallRecord, EventRecord, MessageRecord, ModelRecord,
    OutcomeRecord, PictureRecord, Record,
};
use crate::verdict::{Rubric, Scores, Verdict, VerdictRecord, Vote};

/// How much of a transcript is shown.
#[derive(Debug, Clone, PartialEq)]
pub struct TranscriptOptions {
    /// Most lines of a result, of a message or of a reply.
    pub lines: usize,
    /// Most lines of reasoning.
    pub reasoning: usize,
    /// Most characters of a line.
    pub wide: usize,
    /// Whether times are shown; without them, two transcripts of one seed look the same.
    pub times: bool,
    /// The verdicts on this attempt, one per judge: the judge's name and its line.
    pub verdicts: Vec<(String, VerdictRecord)>,
    /// What models say went wrong: the model's name and what it says.
    pub annotations: Vec<(String, Annotation)>,
    /// What the attempt met of faults and events, and how the trial ended.
    pub faulted: Option<(Faulted, Option<Class>)>,
}

impl Default for TranscriptOptions {
    fn default() -> Self {
        Self {
            lines: 16,
            reasoning: 6,
            wide: 400,
            times: true,
            verdicts: Vec::new(),
            annotations: Vec::new(),
            faulted: None,
        }
    }
}

/// Returns the readable form of an attempt's records.
#[must_use]
pub fn transcript(
    records: &[Record],
    resolve: &Resolve<'_>,
    options: &TranscriptOptions,
) -> String {
    let mut page = Page { out: String::new(), resolve, options, round: 0, asked: Vec::new() };
    // Calls made from executed code stand before the call that made them, and are shown in it.
    let mut children: Vec<&CallRecord> = Vec::new();
    for record in records {
        match record {
            Record::Attempt(attempt) => page.attempt(attempt),
            Record::Message(message) => page.message(message),
            // So do exchanges of tools with models.
            Record::Model(model) if model.call.is_some() => page.asked.push(model),
            Record::Model(model) => page.model(model),
            Record::Event(event) => page.event(event),
            Record::Call(call) if call.ingress.contains('.') => children.push(call),
            Record::Call(call) => {
                page.call(call, &children, 1);
                let own = format!("{}.", call.ingress);
                children.retain(|child| !child.ingress.starts_with(&own));
            }
            Record::Outcome(outcome) => page.outcome(outcome),
        }
    }
    for orphan in children {
        page.call(orphan, &[], 1);
    }
    for orphan in std::mem::take(&mut page.asked) {
        page.model(orphan);
    }
    if !matches!(records.last(), Some(Record::Outcome(_))) {
        page.out.push_str("\n(the transcript ends here: the attempt was killed or still runs)\n");
    }
    page.aftermath();
    page.verdicts();
    page.annotations();
    page.out
}

struct Page<'a> {
    out: String,
    resolve: &'a Resolve<'a>,
    options: &'a TranscriptOptions,
    round: u32,
    /// Exchanges of tools with models whose call is not shown yet.
    asked: Vec<&'a ModelRecord>,
}

impl Page<'_> {
    fn line(&mut self, text: &str) {
        self.out.push_str(text.trim_end());
        self.out.push('\n');
    }

    /// Writes a text with `margin` in front of each line.
    fn block(&mut self, margin: &str, text: &str, most: usize) {
        for line in lines(text, most, self.options.wide) {
            self.line(&format!("{margin}{line}"));
        }
    }

    fn text(&self, body: &Body) -> String {
        match body {
            Body::Inline(text) => text.clone(),
            Body::Blob { blob, bytes } => match (self.resolve)(blob) {
                Some(bytes) => String::from_utf8_lossy(&bytes).into_owned(),
                None => format!("(blob {blob} of {} is missing)", counted(*bytes, "byte")),
            },
        }
    }

    fn attempt(&mut self, attempt: &AttemptRecord) {
        self.line(&one_line(&format!("{} · attempt {}", attempt.trial, attempt.attempt), 300));
        self.line(&format!("seed {} · clock {}", one_line(&attempt.seed, 64), attempt.now));
        let tools =
            if attempt.tools.is_empty() { "none".to_owned() } else { attempt.tools.join(", ") };
        self.line(&one_line(&format!("tools {tools}"), 2000));
    }

    fn message(&mut self, message: &MessageRecord) {
        let title = one_line(&format!("{} ({})", message.role, message.why), 80);
        self.line(&format!("\n── {title}"));
        let text = self.text(&message.content);
        self.block("   ", &text, self.options.lines);
        for picture in &message.pictures {
            let PictureRecord { path, media_type, blob, bytes } = picture;
            let line = format!("   shown: {path} ({media_type}, {bytes} bytes, blob {blob})");
            self.line(&one_line(&line, self.options.wide.max(160)));
        }
    }

    /// Begins a round, once.
    fn enter(&mut self, round: u32) {
        if self.round != round {
            self.round = round;
            self.line(&format!("\n── round {round}"));
        }
    }

    fn model(&mut self, model: &ModelRecord) {
        self.enter(model.round);
        let agent = model.role == "agent";
        let margin = if agent { "   " } else { "     │ " };
        let usage = model.usage;
        let mut note = format!("{} + {} tokens", number(usage.input), number(usage.output));
        if self.options.times {
            let _ = write!(note, " · {}", duration(model.t.took_ms));
        }
        for peculiar in &model.peculiar {
            let _ = write!(note, " · {peculiar}");
        }
        let purpose = model.purpose.as_ref().map(|it| format!(" ({it})")).unwrap_or_default();
        let who = format!("model, for {}{purpose}", model.role);
        let who = if agent { "model".to_owned() } else { who };
        self.line(&format!("{margin}{}", one_line(&format!("{who} · {note}"), 300)));
        if self.options.times {
            for retry in &model.t.retries {
                let reason = one_line(&retry.reason, 200);
                self.line(&format!(
                    "{margin}retried after {}: {reason}",
                    duration(retry.backoff_ms)
                ));
            }
        }
        let reply = self.text(&model.reply);
        let parsed: Option<Value> = serde_json::from_str(&reply).ok();
        let choice =
            parsed.as_ref().filter(|_| model.status == 200).and_then(|body| body["choices"].get(0));
        if let Some(choice) = choice {
            self.reply(choice, margin);
        } else {
            self.line(&format!("{margin}error, status {}", model.status));
            self.block(&format!("{margin}! "), &reply, self.options.lines);
        }
    }

    /// Writes what a model said; its calls have records of their own.
    fn reply(&mut self, choice: &Value, margin: &str) {
        let message = &choice["message"];
        for (key, mark, most) in [
            ("reasoning_content", "~ ", self.options.reasoning),
            ("reasoning", "~ ", self.options.reasoning),
            ("content", "> ", self.options.lines),
            ("refusal", "! ", self.options.lines),
        ] {
            if let Some(text) = message[key].as_str().filter(|text| !text.trim().is_empty()) {
                self.block(&format!("{margin}{mark}"), text, most);
            }
        }
        match choice["finish_reason"].as_str() {
            Some("stop" | "tool_calls") | None => {}
            Some(reason) => self.line(&format!("{margin}ended by {}", one_line(reason, 80))),
        }
    }

    fn call(&mut self, call: &CallRecord, children: &[&CallRecord], depth: usize) {
        self.enter(call.round);
        let margin = "   ".repeat(depth);
        let mut title = format!("[{}] {}", call.ingress, call.tool);
        if self.options.times {
            let _ = write!(title, " · {}", duration(call.t.took_ms));
        }
        self.line(&format!("{margin}{}", one_line(&title, 200)));
        let inner = format!("{margin}   ");
        let arguments = self.text(&call.arguments);
        self.arguments(&inner, &arguments);
        let own = format!("{}.", call.ingress);
        let mine: Vec<&CallRecord> =
            children.iter().copied().filter(|child| child.ingress.starts_with(&own)).collect();
        for child in &mine {
            if !child.ingress[own.len()..].contains('.') {
                self.call(child, &mine, depth + 1);
            }
        }
        for access in &call.web {
            let answer = match (&access.status, &access.error) {
                (Some(status), _) => format!("{status}, {}", counted(access.bytes, "byte")),
                (None, Some(error)) => error.clone(),
                (None, None) => "no answer".to_owned(),
            };
            let line = format!("web {} {} → {answer}", access.method, access.url);
            self.line(&format!("{inner}{}", one_line(&line, self.options.wide)));
        }
        self.notes(call, &inner);
        let mark = match &call.error {
            Some(kind) => {
                self.line(&format!("{inner}error: {}", one_line(kind, 80)));
                "! "
            }
            None => "= ",
        };
        let result = self.text(&call.result);
        self.block(&format!("{inner}{mark}"), &result, self.options.lines);
        if let Some(full) = &call.full {
            self.line(&format!("{inner}full text in {}", one_line(full, 200)));
        }
    }

    /// Writes what was noted of a call and what it asked models, round by round where it
    /// browsed.
    fn notes(&mut self, call: &CallRecord, margin: &str) {
        let mine = |asked: &&ModelRecord| asked.call.as_ref() == Some(&call.ingress);
        let (asked, others): (Vec<_>, Vec<_>) =
            std::mem::take(&mut self.asked).into_iter().partition(mine);
        self.asked = others;
        for exchange in &asked {
            self.model(exchange);
        }
        for note in &call.notes {
            if let Some(round) = note["round"].as_u64() {
                self.browsed(round, note, margin);
                continue;
            }
            let said = note["note"].as_str().map(str::to_owned).or_else(|| fault_note(note));
            let note = said.unwrap_or_else(|| note.to_string());
            let line = one_line(&note, self.options.wide);
            self.line(&format!("{margin}note {line}"));
        }
    }

    /// Writes one round of a navigator.
    fn browsed(&mut self, round: u64, note: &Value, margin: &str) {
        let part = |name: &str| note[name].as_str().unwrap_or_default();
        let action = if part("action").is_empty() { "no action" } else { part("action") };
        let line = format!("({round}) {action} at {}", part("url"));
        self.line(&format!("{margin}{}", one_line(&line, self.options.wide)));
        for (name, mark) in [("saw", "saw"), ("then", "then")] {
            if !part(name).is_empty() {
                let line = one_line(&format!("{mark}: {}", part(name)), self.options.wide);
                self.line(&format!("{margin}    {line}"));
            }
        }
    }

    /// Writes arguments one to a line; those that are no JSON object as they stand.
    fn arguments(&mut self, margin: &str, arguments: &str) {
        let Ok(Value::Object(object)) = serde_json::from_str(arguments) else {
            self.block(margin, arguments, self.options.lines);
            return;
        };
        for (name, value) in object {
            let name = one_line(&name, 80);
            match value.as_str() {
                Some(text) if text.contains('\n') => {
                    self.line(&format!("{margin}{name}:"));
                    self.block(&format!("{margin}  "), text, self.options.lines);
                }
                Some(text) => self.block(&format!("{margin}{name}: "), text, 1),
                None => self.block(&format!("{margin}{name}: "), &value.to_string(), 1),
            }
        }
    }

    fn event(&mut self, event: &EventRecord) {
        let mut line = format!("world: `{}` happened", event.event);
        if self.options.times {
            let _ = write!(line, " at {}", event.clock);
        }
        if let Some(why) = &event.failed {
            let _ = write!(line, ", without effect: {why}");
        }
        self.line(&format!("   {}", one_line(&line, 300)));
    }

    fn outcome(&mut self, outcome: &OutcomeRecord) {
        self.line("\n── outcome");
        let mut line = format!(
            "{} · {} · {} · {}",
            outcome.outcome,
            counted(u64::from(outcome.rounds), "round"),
            counted(u64::from(outcome.calls), "call"),
            counted(outcome.usage.total(), "token"),
        );
        if self.options.times {
            let _ = write!(line, " · {} of work", duration(outcome.t.took_ms));
        }
        self.line(&format!("   {}", one_line(&line, 300)));
        if let Some(detail) = &outcome.detail {
            self.block("   ", detail, self.options.lines);
        }
        if let Some(answer) = &outcome.answer {
            let answer = self.text(answer);
            self.block("   answer: ", &answer, self.options.lines);
        }
        for file in &outcome.files {
            let line = format!("file {} · {}", file.path, counted(file.bytes, "byte"));
            self.line(&format!("   {}", one_line(&line, 300)));
        }
    }

    fn aftermath(&mut self) {
        let Some((faulted, class)) = &self.options.faulted else { return };
        let told = aftermath(&faulted.met, *class);
        if !told.is_empty() {
            self.line("\n── faults and events");
        }
        for line in told {
            self.line(&format!("   {}", one_line(&line, 300)));
        }
    }

    fn verdicts(&mut self) {
        for (judge, verdict) in &self.options.verdicts {
            let name = serde_json::to_value(verdict.verdict).unwrap_or_default();
            let name = name.as_str().unwrap_or_default();
            self.line(&format!("\n── verdict of {}: {name}", one_line(judge, 80)));
            for reason in &verdict.reasons {
                self.block("   ", reason, self.options.lines);
            }
            if let Some(rubric) = &verdict.rubric {
                self.rubric(rubric);
            }
            for vote in &verdict.votes {
                self.vote(vote);
            }
        }
    }

    fn annotations(&mut self) {
        for (model, annotation) in &self.options.annotations {
            let kind = annotation.error_type.name();
            self.line(&format!("\n── annotation of {}: {kind}", one_line(model, 80)));
            self.block("   ", &annotation.reason, self.options.lines);
            self.block("   evidence: ", &annotation.evidence, self.options.lines);
        }
    }

    /// Writes the scores of a rubric judge.
    fn rubric(&mut self, rubric: &Rubric) {
        if !rubric.completed {
            return self.line("   rubric: 0 throughout, for there is no answer");
        }
        let votes = counted(u64::from(rubric.votes), "vote");
        self.line(&format!("   rubric, medians of {votes} from 0 to 10:"));
        for (name, score) in Scores::NAMES.iter().zip(rubric.all()) {
            self.line(&format!("     {name} {score}"));
        }
    }

    /// Writes one call of a judge model.
    fn vote(&mut self, vote: &Vote) {
        let said = match vote.verdict {
            Some(Verdict::Pass) => "correct",
            Some(Verdict::Fail) => "incorrect",
            Some(Verdict::Degraded | Verdict::Unjudged) | None if vote.rates => {
                if vote.scores.is_some() { "scores" } else { "no scores" }
            }
            Some(Verdict::Degraded | Verdict::Unjudged) | None => "no verdict",
        };
        let (input, output) = (number(vote.usage.input), number(vote.usage.output));
        let title = format!("vote {} · {} · {input} + {output} tokens", vote.number, vote.model);
        self.line(&format!("   {}", one_line(&format!("{title} · {said}: {}", vote.reason), 300)));
    }
}
