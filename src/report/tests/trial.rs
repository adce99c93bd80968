//! Whole transcripts and exports of trials, as snapshots.

use std::collections::BTreeSet;

use insta::{assert_json_snapshot, assert_snapshot};
use jiff::Timestamp;
use proptest::prelude::*;
use serde_json::{Value, json};
use wildgym_sandbox::web::Access;
use wildgym_tasks::Variant;

use crate::record::{
    AttemptRecord, Body, CallRecord, FORMAT, FileRecord, Limit, MessageRecord, ModelRecord,
    Outcome, OutcomeRecord, Record, Retry, Times, TrialId, Usage,
};
use crate::report::{TranscriptOptions, messages, transcript};
use crate::verdict::{Verdict, VerdictRecord};

const BLOB: &str = "b10b";

fn id() -> TrialId {
    TrialId { condition: "base".into(), task: "ds-ferry".into(), variant: Variant::default(), k: 2 }
}

fn inline(text: &str) -> Body {
    Body::Inline(text.to_owned())
}

fn resolve(digest: &str) -> Option<Vec<u8>> {
    let rows = (1..=40).map(|row| format!("row {row}")).collect::<Vec<_>>().join("\n") + "\n";
    (digest == BLOB).then(|| rows.into_bytes())
}

fn attempt() -> Record {
    Record::Attempt(AttemptRecord {
        format: FORMAT,
        trial: id(),
        attempt: 1,
        seed: "5eed".repeat(16),
        now: Timestamp::UNIX_EPOCH,
        tools: vec!["execute_code".into(), "search_serper".into()],
        t: Times::default(),
    })
}

fn message(role: &str, why: &str, content: &str) -> Record {
    Record::Message(MessageRecord {
        role: role.into(),
        content: inline(content),
        why: why.into(),
        pictures: Vec::new(),
    })
}

fn model(round: u32, message: impl Into<Value>, finish: &str) -> Record {
    let message = message.into();
    let reply = json!({"choices": [{"message": message, "finish_reason": finish}]});
    Record::Model(ModelRecord {
        round,
        role: "agent".into(),
        call: None,
        purpose: None,
        asked: None,
        request: "0".repeat(64),
        reply: inline(&reply.to_string()),
        status: 200,
        usage: Usage { input: 1200, output: 80, cached: 0, reasoning: 0 },
        peculiar: Vec::new(),
        t: Times { at_ms: 5, took_ms: 1500, ..Times::default() },
    })
}

fn call(
    round: u32,
    ingress: &str,
    id: &str,
    tool: &str,
    arguments: &str,
    result: Body,
) -> CallRecord {
    CallRecord {
        round,
        ingress: ingress.into(),
        id: id.into(),
        tool: tool.into(),
        arguments: inline(arguments),
        result,
        error: None,
        full: None,
        clock: Timestamp::UNIX_EPOCH,
        cost_ms: 100,
        web: Vec::new(),
        notes: Vec::new(),
        t: Times { took_ms: 12, ..Times::default() },
    }
}

fn outcome(outcome: Outcome, answer: Option<&str>) -> Record {
    Record::Outcome(OutcomeRecord {
        outcome,
        answer: answer.map(inline),
        detail: None,
        rounds: 2,
        calls: 4,
        usage: Usage { input: 2400, output: 160, cached: 0, reasoning: 0 },
        tool_usage: Usage::default(),
        user_usage: Usage::default(),
        state: None,
        web_misses: 0,
        clock: Timestamp::UNIX_EPOCH,
        files: vec![FileRecord { path: "out/table.csv".into(), bytes: 321, blob: None }],
        t: Times { took_ms: 3200, ..Times::default() },
    })
}

fn tool_call(id: &str, name: &str, arguments: &str) -> Value {
    json!({"id": id, "type": "function", "function": {"name": name, "arguments": arguments}, "signature": "kept"})
}

/// An access that got so many bytes, or why it got none.
fn access(method: &str, url: &str, ended: Result<u64, &str>) -> Access {
    Access {
        method: method.into(),
        url: url.into(),
        status: ended.is_ok().then_some(200),
        bytes: ended.unwrap_or(0),
        time: None,
        error: ended.err().map(ToOwned::to_owned),
        took_ms: None,
    }
}

/// A trial with a bit of everything.
fn eventful() -> Vec<Record> {
    let search = r#"{"query": "ferry timetable 渡轮", "num": 5}"#;
    let code = json!({"code": "import wild\nprint(wild.fetch('http://a.example'))"}).to_string();
    let first = json!({
        "role": "assistant",
        "content": "I look for the timetable.",
        "reasoning_content": "one\ntwo\nthree\nfour\nfive\nsix\nseven\neight",
        "tool_calls": [
            tool_call("c", "search_serper", search),
            tool_call("c", "execute_code", &code),
            tool_call("never-ran", "execute_code", "{}"),
        ],
    });
    let mut searched =
        call(1, "1", "c", "search_serper", search, inline("1. Ferries\u{1b}[2J\r\n2. Boats"));
    searched.web = vec![
        access("POST", "http://search.example/search", Ok(812)),
        access("GET", "http://gone.example/", Err("the host is unknown")),
    ];
    searched.notes = vec![json!({"fault": "delay", "ms": 200})];
    let child = call(1, "2.1", "", "fetch", r#"{"url": "http://a.example"}"#, inline("hello"));
    let grandchild = call(1, "2.1.1", "", "redirect", "{}", inline("there"));
    let mut ran =
        call(1, "2", "c#2", "execute_code", &code, Body::Blob { blob: BLOB.into(), bytes: 400 });
    ran.full = Some("tool-results/2.txt".into());
    let mut failed = call(2, "3", "d", "look_up", "not json", inline("no tool is named `look_up`"));
    failed.error = Some("unknown-tool".into());
    let missing =
        call(2, "4", "e", "execute_code", "{}", Body::Blob { blob: "gone".into(), bytes: 9000 });
    let mut last = model(
        3,
        json!({"role": "assistant", "content": "<final_answer>42 €\u{202e}</final_answer>"}),
        "length",
    );
    if let Record::Model(model) = &mut last {
        model.peculiar = vec!["bare-json-call".into()];
        model.t.retries = vec![Retry { reason: "429 from the endpoint".into(), backoff_ms: 1000 }];
    }
    let mut asked = model(1, json!({"content": "a ferry"}), "stop");
    if let Record::Model(model) = &mut asked {
        model.role = "image_to_text".into();
    }
    let mut refused = model(2, Value::Null, "stop");
    if let Record::Model(model) = &mut refused {
        model.status = 500;
        model.reply = inline("model runner has crashed");
    }
    let calls = json!({"role": "assistant", "content": null, "tool_calls": [tool_call("d", "look_up", "not json"), tool_call("e", "execute_code", "{}")]});
    vec![
        attempt(),
        message("system", "prompt", "You work with tools."),
        message("user", "task", "When does the last ferry leave?\nAnswer with a time."),
        model(1, first, "tool_calls"),
        Record::Call(searched),
        asked,
        Record::Call(grandchild),
        Record::Call(child),
        Record::Call(ran),
        refused,
        model(2, calls, "tool_calls"),
        Record::Call(failed),
        Record::Call(missing),
        message("user", "reminder", "Go on, or answer."),
        last,
        outcome(Outcome::Answered, Some("42 €\u{202e}")),
    ]
}

/// A trial of an agent without a model.
fn scripted() -> Vec<Record> {
    vec![
        attempt(),
        message("user", "task", "When does the last ferry leave?"),
        Record::Call(call(
            1,
            "1",
            "call-1",
            "search_serper",
            r#"{"query": "ferry"}"#,
            inline("21:40"),
        )),
        Record::Call(call(
            1,
            "2",
            "call-2",
            "search_serper",
            r#"{"query": "boat"}"#,
            inline("none"),
        )),
        Record::Call(call(2, "3", "call-3", "execute_code", "{}", inline("21:40"))),
        outcome(Outcome::Answered, Some("21:40")),
    ]
}

fn tools() -> Vec<Value> {
    ["execute_code", "scrape", "search_serper"]
        .map(|name| json!({"type": "function", "function": {"name": name}}))
        .to_vec()
}

#[test]
fn a_transcript_reads_from_top_to_bottom() {
    let verdict = VerdictRecord {
        format: 1,
        trial: id(),
        attempt: 1,
        verdict: Verdict::Fail,
        reasons: vec!["the answer is not just a number with its unit".into()],
        milestones: std::collections::BTreeMap::new(),
        steps: std::collections::BTreeMap::new(),
        discovered: std::collections::BTreeMap::new(),
        conduct: None,
        rubric: None,
        votes: Vec::new(),
        t: Times::default(),
    };
    let verdicts = vec![("exact".to_owned(), verdict)];
    let options = TranscriptOptions { verdicts, ..TranscriptOptions::default() };
    assert_snapshot!("eventful", transcript(&eventful(), &resolve, &options));
    let options = TranscriptOptions { lines: 2, times: false, ..TranscriptOptions::default() };
    assert_snapshot!("scripted", transcript(&scripted(), &resolve, &options));
}

#[test]
fn a_transcript_that_breaks_off_says_so() {
    let mut records = scripted();
    records.truncate(3);
    records.push(Record::Call(call(1, "2.1", "", "fetch", "{}", inline("orphan"))));
    let text = transcript(&records, &resolve, &TranscriptOptions::default());
    assert!(text.contains("[2.1] fetch") && text.contains("orphan"), "{text}");
    assert!(text.ends_with("(the transcript ends here: the attempt was killed or still runs)\n"));
    assert!(transcript(&[], &resolve, &TranscriptOptions::default()).contains("ends here"));
}

#[test]
fn nothing_in_a_transcript_speaks_to_the_terminal() {
    let text = transcript(&eventful(), &resolve, &TranscriptOptions::default());
    let bad = |letter: char| (letter.is_control() && letter != '\n') || letter == '\u{202e}';
    assert_eq!(text.chars().filter(|letter| bad(*letter)).count(), 0, "{text}");
}

#[test]
fn messages_hold_what_a_trainer_needs() {
    assert_json_snapshot!(
        "messages",
        messages(&eventful(), Some(Verdict::Fail), &resolve, &tools())
    );
    assert_json_snapshot!(
        "messages_scripted",
        messages(&scripted(), Some(Verdict::Pass), &resolve, &tools())
    );
}

#[test]
fn a_bare_json_call_moves_into_tool_calls() {
    let bare = json!({"content": r#"{"name": "scrape", "arguments": {}}"#, "extra": 1});
    let records = [
        attempt(),
        model(1, bare, "stop"),
        Record::Call(call(1, "1", "", "scrape", "{}", inline("page"))),
        outcome(Outcome::Limit(Limit::Rounds), None),
    ];
    let chat = messages(&records, None, &resolve, &[]);
    let function = json!({"name": "scrape", "arguments": "{}"});
    let want = json!([
        {
            "content": null,
            "extra": 1,
            "role": "assistant",
            "tool_calls": [{"id": "call-1", "type": "function", "function": function}],
        },
        {"role": "tool", "tool_call_id": "call-1", "content": "page"},
    ]);
    assert_eq!(chat["messages"], want);
    assert_eq!((&chat["outcome"], &chat["answer"]), (&json!("limit:rounds"), &Value::Null));
}

fn any_record() -> impl Strategy<Value = Record> {
    let id = prop_oneof!["", "c[12]", "\\PC{0,8}"];
    let tool = prop_oneof!["scrape", "execute_code", "\\PC{0,8}"];
    let asked = prop::collection::vec((id.clone(), tool.clone()), 0..4);
    prop_oneof![
        (1u32..4, asked, prop::option::of(".{0,12}")).prop_map(|(round, asked, content)| {
            let calls: Vec<Value> =
                asked.iter().map(|(id, tool)| tool_call(id, tool, "{}")).collect();
            model(round, json!({"content": content, "tool_calls": calls}), "tool_calls")
        }),
        (1u32..4, prop_oneof!["[1-9]", "[1-9]\\.[1-9]"], id, tool, ".{0,30}").prop_map(
            |(round, ingress, id, tool, text)| {
                Record::Call(call(round, &ingress, &id, &tool, &text, inline(&text)))
            }
        ),
        ".{0,20}".prop_map(|text| message("user", "reminder", &text)),
        (1u32..4, any::<u16>(), any::<String>()).prop_map(|(round, status, body)| {
            let mut record = model(round, Value::Null, "stop");
            if let Record::Model(model) = &mut record {
                model.status = status;
                model.reply = inline(&body);
            }
            record
        }),
        prop::option::of(".{0,20}").prop_map(|text| outcome(Outcome::Answered, text.as_deref())),
        Just(attempt()),
    ]
}

proptest! {
    /// What chat endpoints insist on, for any sequence of records.
    #[test]
    fn every_tool_message_answers_one_call(records in prop::collection::vec(any_record(), 0..20)) {
        let chat = messages(&records, None, &resolve, &tools());
        let mut open: BTreeSet<String> = BTreeSet::new();
        for message in chat["messages"].as_array().unwrap() {
            if message["role"] == "tool" {
                let id = message["tool_call_id"].as_str().unwrap();
                prop_assert!(!id.is_empty() && open.remove(id), "{id:?} answers nothing");
                continue;
            }
            prop_assert!(open.is_empty(), "unanswered: {open:?}");
            let calls = message["tool_calls"].as_array().cloned().unwrap_or_default();
            prop_assert!(message.get("tool_calls").is_none() || !calls.is_empty());
            let count = calls.len();
            open = calls.iter().map(|call| call["id"].as_str().unwrap().to_owned()).collect();
            prop_assert_eq!(open.len(), count, "an id twice in one message");
        }
        prop_assert!(open.is_empty(), "unanswered: {open:?}");
    }

    #[test]
    fn any_records_can_be_shown(records in prop::collection::vec(any_record(), 0..20)) {
        let text = transcript(&records, &resolve, &TranscriptOptions::default());
        prop_assert!(text.chars().all(|letter| letter == '\n' || letter == '\t' || !letter.is_control()));
    }
}
