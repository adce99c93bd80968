//! A transcript retold for a reader with a limited memory.
//!
//! Every text is cut in its middle, and where all of them are still too long the middle
//! of the attempt is left out; each cut says how much is gone. Control characters are
//! taken out. Beside what is shown stands all that a quotation may come from, whole.

use serde_json::{Map, Value};

use crate::record::{Body, Outcome, Record};

/// Most characters of all that is shown.
const MOST: usize = 48_000;

/// Most characters of what the agent says in a round.
const SAID: usize = 2000;

/// Most characters of a call's arguments, or of its result.
const PART: usize = 1200;

/// A transcript, retold.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Told {
    /// The bounded text.
    pub shown: String,
    /// Everything that was said, called and returned, with single spaces for white space.
    pub whole: String,
    /// Short texts that say something as a whole: the final answer, a limit that was reached.
    pub complete: Vec<String>,
}

/// Wording of the gym's own, which shows nothing about an attempt: tags, and the labels
/// in front of steps.
const OWN: [&str; 7] = [
    "<final_answer>",
    "</final_answer>",
    "final_answer",
    "final answer",
    "the agent is told",
    "the agent thinks",
    "the agent says",
];

/// How much a passage must weigh that is to show something: 12 letters, or 4 Chinese ones.
const LEAST: usize = 12;

impl Told {
    /// Returns whether a passage is long enough to be found by more than chance, beside
    /// wording of the gym's own; the whole of an answer or of a limit always is.
    #[must_use]
    pub fn tells(&self, passage: &str) -> bool {
        let mut text = spaced(passage);
        if self.complete.contains(&text) {
            return true;
        }
        for own in OWN {
            text = text.replace(own, " ");
        }
        let wide = |c: char| matches!(c, '\u{3040}'..='\u{30ff}' | '\u{3400}'..='\u{9fff}' | '\u{ac00}'..='\u{d7a3}' | '\u{f900}'..='\u{faff}' | '\u{20000}'..='\u{3ffff}');
        let weight: usize =
            spaced(&text).chars().map(|c| if wide(c) { LEAST / 4 } else { 1 }).sum();
        weight >= LEAST
    }

    /// Returns whether the transcript holds a passage, but for its white space.
    #[must_use]
    pub fn holds(&self, passage: &str) -> bool {
        self.whole.contains(&spaced(passage))
    }
}

/// Retells a transcript; `resolve` returns the text of a body, or says why it cannot.
///
/// The system's prompt is left out: it is the same in every attempt.
pub fn tell<E>(
    records: &[Record],
    resolve: impl Fn(&Body) -> Result<String, E>,
) -> Result<Told, E> {
    let mut teller = Teller::default();
    for record in records {
        match record {
            Record::Attempt(_) => {}
            Record::Message(message) if message.role == "system" => {}
            Record::Message(message) => {
                let text = resolve(&message.content)?;
                if message.why == "task" {
                    teller.quotable(&text);
                } else {
                    // A reminder is the same in every attempt.
                    teller.shown(&format!("[the agent is told] ({})", message.why), &text, SAID);
                }
            }
            // What a tool asks a model is in the call's notes and result.
            Record::Model(model) if model.role != "agent" => {}
            Record::Model(model) => {
                let body = resolve(&model.reply)?;
                let head = format!("[round {}] the agent", model.round);
                for (how, text) in said(&body) {
                    teller.step(&format!("{head} {how}:"), &text, SAID);
                }
            }
            Record::Event(event) => {
                let name = &event.event;
                teller.shown("[in the world, unseen by the agent]", &format!("`{name}`"), SAID);
            }
            Record::Call(call) => {
                let arguments = resolve(&call.arguments)?;
                teller.quotable(&arguments);
                let head = format!("[round {}, call {}] `{}`", call.round, call.ingress, call.tool);
                teller.step(&format!("{head} with:"), &plain(&arguments), PART);
                let result = resolve(&call.result)?;
                let how = match &call.error {
                    Some(kind) => format!("[call {}] failed ({kind}):", call.ingress),
                    None => format!("[call {}] returned:", call.ingress),
                };
                teller.step(&how, &result, PART);
            }
            Record::Outcome(end) => {
                let detail = end.detail.clone().unwrap_or_default();
                teller.step(&format!("[end] {}", end.outcome), &detail, SAID);
                if let Outcome::Limit(_) = &end.outcome {
                    teller.complete(&end.outcome.to_string());
                }
                if let Some(answer) = &end.answer {
                    let answer = resolve(answer)?;
                    teller.complete(&answer);
                    teller.step("[end] final answer:", &answer, SAID);
                }
            }
        }
    }
    Ok(teller.told())
}

#[derive(Default)]
struct Teller {
    steps: Vec<String>,
    whole: String,
    complete: Vec<String>,
}

impl Teller {
    fn quotable(&mut self, text: &str) {
        self.whole.push_str(&spaced(text));
        self.whole.push(' ');
    }

    /// Lets a text be quoted as a whole, however short it is.
    fn complete(&mut self, text: &str) {
        self.quotable(text);
        self.complete.push(spaced(text));
    }

    fn step(&mut self, head: &str, text: &str, most: usize) {
        self.quotable(text);
        self.shown(head, text, most);
    }

    fn shown(&mut self, head: &str, text: &str, most: usize) {
        self.steps.push(format!("{head} {}", shortened(text.trim(), most)));
    }

    fn told(self) -> Told {
        let lengths: Vec<usize> = self.steps.iter().map(|step| step.chars().count() + 1).collect();
        let fits = |steps: &mut dyn Iterator<Item = &usize>, most: usize| {
            let mut used = 0;
            steps
                .take_while(|length| {
                    used += **length;
                    used <= most
                })
                .count()
        };
        let shown = if lengths.iter().sum::<usize>() <= MOST {
            self.steps.join("\n")
        } else {
            // How it ended tells more than how it began.
            let first = fits(&mut lengths.iter(), MOST / 3);
            let last = fits(&mut lengths.iter().skip(first).rev(), MOST - MOST / 3);
            let gone = self.steps.len() - first - last;
            let (head, tail) = (&self.steps[..first], &self.steps[first + gone..]);
            format!("{}\n[… {gone} steps left out …]\n{}", head.join("\n"), tail.join("\n"))
        };
        Told { shown, whole: self.whole, complete: self.complete }
    }
}

/// Returns what a reply's body says: reasoning and text; the body itself where it is none.
fn said(body: &str) -> Vec<(&'static str, String)> {
    let reply: Option<Value> = serde_json::from_str(body).ok();
    let Some(message) = reply.as_ref().and_then(|reply| reply.pointer("/choices/0/message")) else {
        return vec![("got no reply, but", body.to_owned())];
    };
    let text = |name: &str| match message.get(name) {
        Some(Value::String(text)) => text.clone(),
        Some(Value::Array(parts)) => {
            let parts: Vec<&str> =
                parts.iter().filter_map(|part| part.get("text")?.as_str()).collect();
            parts.join("\n")
        }
        Some(Value::Null | Value::Bool(_) | Value::Number(_) | Value::Object(_)) | None => {
            String::new()
        }
    };
    let names = [("reasoning_content", "thinks"), ("reasoning", "thinks"), ("content", "says")];
    let parts = names.into_iter().map(|(name, how)| (how, text(name)));
    parts.filter(|(_, text)| !text.trim().is_empty()).collect()
}

/// Writes arguments as lines of name and value, so that texts in them read as texts.
fn plain(arguments: &str) -> String {
    let Ok(fields) = serde_json::from_str::<Map<String, Value>>(arguments) else {
        return arguments.to_owned();
    };
    let lines = fields.iter().map(|(name, value)| match value {
        Value::String(text) => format!("{name}: {text}"),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::Array(_) | Value::Object(_) => {
            format!("{name}: {value}")
        }
    });
    lines.collect::<Vec<_>>().join("\n")
}

/// Cuts a text in its middle to `most` characters, and takes control characters out.
pub(super) fn shortened(text: &str, most: usize) -> String {
    let keep = |c: char| match c {
        '\n' | '\t' => Some(c),
        c if c.is_control() => Some(' '),
        c => Some(c),
    };
    let letters: Vec<char> = text.chars().filter_map(keep).collect();
    if letters.len() <= most {
        return letters.into_iter().collect();
    }
    let (head, tail) = (most * 2 / 3, most / 3);
    let gone = letters.len() - head - tail;
    let first: String = letters[..head].iter().collect();
    let last: String = letters[letters.len() - tail..].iter().collect();
    format!("{first} [… {gone} characters left out …] {last}")
}

/// Returns a text with single spaces for white space and control characters.
pub(super) fn spaced(text: &str) -> String {
    let words = text.split(|c: char| c.is_whitespace() || c.is_control());
    words.filter(|word| !word.is_empty()).collect::<Vec<_>>().join(" ")
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use serde_json::json;

    use super::*;

    fn inline(body: &Body) -> Result<String, &'static str> {
        match body {
            Body::Inline(text) => Ok(text.clone()),
            Body::Blob { .. } => Err("a blob"),
        }
    }

    fn call(round: u32, arguments: &str, result: &str) -> Record {
        let call = json!({
            "record": "call", "round": round, "ingress": round.to_string(), "id": "c",
            "tool": "execute_code", "arguments": arguments, "result": result,
            "clock": "2026-03-01T09:00:00Z", "cost_ms": 0, "t": { "at_ms": 0 },
        });
        serde_json::from_value(call).unwrap()
    }

    fn reply(content: &Value) -> Record {
        let body = json!({ "choices": [{ "message": content }] }).to_string();
        let model = json!({
            "record": "model", "round": 1, "role": "agent", "request": "", "reply": body,
            "status": 200, "usage": { "input": 0, "output": 0 }, "t": { "at_ms": 0 },
        });
        serde_json::from_value(model).unwrap()
    }

    #[test]
    fn what_was_done_is_retold_and_can_be_quoted() {
        let records = [
            reply(&json!({ "reasoning": "Hm.", "content": [{ "text": "I look\nat it." }] })),
            call(1, r#"{"code":"a = 1\nprint(a)","n":2}"#, "1\u{1b}[31m\r\n2"),
        ];
        let told = tell(&records, inline).unwrap();
        for part in ["agent thinks: Hm.", "says: I look\nat it.", "code: a = 1\nprint(a)", "n: 2"] {
            assert!(told.shown.contains(part), "`{part}` in {}", told.shown);
        }
        assert!(!told.shown.contains('\u{1b}'));
        let table = [
            ("I look at it.", true, "said, on one line"),
            ("a = 1 print(a)", true, "code, on one line"),
            (r"a = 1\nprint(a)", true, "arguments as they were written"),
            ("[31m 2", true, "white space is all one"),
            ("a = 2", false, "never said"),
            ("A = 1", false, "in other letters"),
        ];
        for (passage, holds, why) in table {
            assert_eq!(told.holds(passage), holds, "{why}");
        }
    }

    #[test]
    fn however_long_it_was_the_telling_is_bounded_and_the_end_is_kept() {
        let long = "x".repeat(9000);
        let records: Vec<Record> = (1..=400)
            .map(|round| call(round, &format!("{{\"code\":\"{round}\"}}"), &long))
            .collect();
        let told = tell(&records, inline).unwrap();
        assert!(told.shown.chars().count() <= MOST + 100);
        assert!(told.shown.contains("call 1]") && told.shown.contains("call 400]"));
        assert!(
            told.shown.contains("steps left out") && told.shown.contains("characters left out")
        );
        assert!(told.holds(&long), "what is cut may still be quoted");
    }

    proptest! {
        #[test]
        fn cuts_keep_to_their_length(text in any::<String>(), most in 3_usize..60) {
            let cut = shortened(&text, most);
            prop_assert!(cut.chars().count() <= most + 50);
        }
    }
}
