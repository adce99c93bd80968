//! A picture as a whole, and what holds of every picture.

use std::collections::BTreeMap;

use insta::assert_snapshot;
use jiff::Timestamp;
use proptest::prelude::*;
use quick_xml::Reader;
use quick_xml::events::Event;
use serde_json::{Value, json};
use wildgym_tasks::scenario_file::Flaw;

use super::*;
use crate::judge::{CallFault, Finding, Owed};
use crate::record::{
    Body, CallRecord, EventRecord, MessageRecord, Outcome, OutcomeRecord, Times, TrialId,
};
use crate::verdict::Verdict;

fn inline(text: &str) -> Body {
    Body::Inline(text.to_owned())
}

fn told(why: &str, content: &str) -> Record {
    let (role, why) = ("user".to_owned(), why.to_owned());
    Record::Message(MessageRecord { role, content: inline(content), why, pictures: Vec::new() })
}

fn call(round: u32, ingress: &str, tool: &str, arguments: &str, result: &str) -> CallRecord {
    CallRecord {
        round,
        ingress: ingress.to_owned(),
        id: "c".to_owned(),
        tool: tool.to_owned(),
        arguments: inline(arguments),
        result: inline(result),
        error: None,
        full: None,
        clock: Timestamp::UNIX_EPOCH,
        cost_ms: 0,
        web: Vec::new(),
        notes: Vec::new(),
        t: Times::default(),
    }
}

fn asked(round: u32, ingress: &str, tool: &str, arguments: &Value, result: &Value) -> CallRecord {
    call(round, ingress, tool, &arguments.to_string(), &result.to_string())
}

fn failed(call: CallRecord, error: &str) -> CallRecord {
    CallRecord { error: Some(error.to_owned()), ..call }
}

fn end(outcome: Outcome, answer: &str) -> Record {
    let end = OutcomeRecord::unbegun(outcome, String::new());
    Record::Outcome(OutcomeRecord { answer: Some(inline(answer)), detail: None, ..end })
}

fn verdict(verdict: Verdict, reasons: &[&str]) -> (String, VerdictRecord) {
    let trial: TrialId = serde_json::from_value(json!({"condition": "react-m", "task": "t2-007",
        "variant": "full", "k": 1}))
    .unwrap();
    let line = VerdictRecord {
        format: 1,
        trial,
        attempt: 1,
        verdict,
        reasons: reasons.iter().map(|&reason| reason.to_owned()).collect(),
        milestones: BTreeMap::new(),
        steps: BTreeMap::new(),
        discovered: BTreeMap::new(),
        conduct: None,
        rubric: None,
        votes: Vec::new(),
        t: Times::default(),
    };
    ("exact".to_owned(), line)
}

fn finding(expected: Option<usize>, writes: bool, faults: &[(CallFault, &str)]) -> Finding {
    let faults = faults.iter().map(|(fault, why)| (*fault, (*why).to_owned())).collect();
    Finding { expected, writes, known: true, faults }
}

/// A trial with a bit of everything.
fn story() -> (Vec<Record>, GraphOptions) {
    let search = asked(
        1,
        "1",
        "crm_search_contacts",
        &json!({"query": "Smith", "limit": 5}),
        &json!({"items": [{"id": "CON-w6tm4hdq", "company_id": "CMP-9fxc4hbm"}]}),
    );
    let users = asked(1, "2", "admin_search_users", &json!({"query": "Smith"}), &json!([]));
    let mut limited = failed(
        asked(
            2,
            "3",
            "crm_create_contact",
            &json!({"name": "John Smith", "company_id": "CMP-9fxc4hbm"}),
            &json!("429 too many requests; nothing was changed, try again shortly"),
        ),
        "failed",
    );
    limited.notes = vec![json!({"injected": "rate_limit"})];
    let again = asked(
        3,
        "4",
        "crm_create_contact",
        &json!({"name": "John Smith", "company_id": "CMP-9fxc4hbm", "email": "j@a.example"}),
        &json!({"id": "CON-9kxt4wmb"}),
    );
    let question = call(3, "5", "ask_user", r#"{"question": "哪一个约翰？"}"#, "Acme 的那一位。");
    let log = failed(
        asked(
            4,
            "6",
            "crm_log_activity",
            &json!({"contact_id": "contact_12345", "type": "call", "notes": "<b>renewal</b>"}),
            &json!("no contact has the id `contact_12345`"),
        ),
        "not-found",
    );
    let event = Record::Event(EventRecord {
        event: "stock_falls".to_owned(),
        occurrence: 0,
        before: Some("6".to_owned()),
        after_calls: 5,
        clock: Timestamp::UNIX_EPOCH,
        failed: None,
    });
    let records = vec![
        told("prompt", "You work with tools."),
        told("task", "Create a contact for John Smith at Acme, then log a call with him."),
        Record::Call(search),
        Record::Call(users),
        Record::Call(limited),
        Record::Call(again),
        Record::Call(question),
        event,
        Record::Call(log),
        end(Outcome::Answered, "Done: CON-9kxt4wmb is there, and the call is logged."),
    ];
    let reasons = ["forbidden-argument: expected call 0: call 4 has `email`", "silent-success"];
    let options = GraphOptions {
        title: "react-m/t2-007/full/1".to_owned(),
        verdict: Some(verdict(Verdict::Fail, &reasons)),
        findings: Some(found()),
    };
    (records, options)
}

/// What is found of its calls.
fn found() -> Findings {
    let flaw = CallFault::Flaw;
    Findings {
        calls: vec![
            finding(None, false, &[]),
            finding(None, false, &[]),
            finding(None, true, &[]),
            finding(Some(0), true, &[(flaw(Flaw::ForbiddenArgument), "nobody asked for `email`")]),
            finding(None, false, &[]),
            finding(
                None,
                true,
                &[
                    (CallFault::Dependency, "refused: not-found"),
                    (flaw(Flaw::HallucinatedId), "nobody had told `contact_12345`"),
                ],
            ),
        ],
        open: vec![(1, "crm_log_activity".to_owned())],
        owed: vec![Owed {
            from: 3,
            to: 5,
            source: "id".to_owned(),
            argument: "contact_id".to_owned(),
        }],
    }
}

fn nothing(_: &str) -> Option<Vec<u8>> {
    None
}

/// Reads a document to its end and returns the names of its elements.
fn elements(svg: &str) -> BTreeMap<String, usize> {
    let mut reader = Reader::from_str(svg);
    reader.config_mut().check_end_names = true;
    let mut found = BTreeMap::new();
    let mut open = 0_i32;
    loop {
        match reader.read_event() {
            Ok(Event::Start(start)) => {
                open += 1;
                let name = start.name().as_ref().to_owned();
                assert!(start.attributes().all(|one| one.is_ok()), "attributes of {name}");
                *found.entry(name).or_default() += 1;
            }
            Ok(Event::Empty(start)) => {
                let name = start.name().as_ref().to_owned();
                assert!(start.attributes().all(|one| one.is_ok()), "attributes of {name}");
                *found.entry(name).or_default() += 1;
            }
            Ok(Event::End(_)) => open -= 1,
            Ok(Event::Eof) => break,
            Ok(_) => {}
            Err(error) => panic!("not well-formed: {error}"),
        }
    }
    assert_eq!(open, 0, "every element is closed");
    let legal = |c: char| matches!(c, '\t' | '\n' | '\r' | ' '..='\u{fffd}' | '\u{10000}'..);
    assert!(svg.chars().all(legal), "XML has no place for some character");
    found
}

#[test]
fn a_picture_as_a_whole() {
    let (records, options) = story();
    let svg = graph(&records, &nothing, &options);
    elements(&svg);
    assert_snapshot!(svg);
}

#[test]
fn without_expected_calls_nothing_is_matched() {
    let (records, options) = story();
    let svg = graph(&records, &nothing, &GraphOptions { findings: None, ..options });
    elements(&svg);
    assert!(!svg.contains("= expected") && !svg.contains("extra:"), "{svg}");
    assert!(svg.contains("call that failed") && svg.contains("rate_limit"), "{svg}");
}

#[test]
fn a_transcript_that_breaks_off_is_drawn_as_far_as_it_goes() {
    let (records, _) = story();
    for length in 0..records.len() {
        let svg = graph(&records[..length], &nothing, &GraphOptions::default());
        elements(&svg);
        assert!(svg.contains("killed, or still running") && svg.contains("not judged"), "{length}");
    }
}

/// Whatever an agent writes: it changes no markup, and the picture stays small.
#[test]
fn hostile_texts_stay_texts() {
    let hostile =
        "</text></svg><script>alert(1)</script><![CDATA[\u{0}\u{1b}[2J]]>&x;\"'\u{202e}\u{ffff}";
    let long = "長".repeat(400_000);
    let arguments = json!({"a\"<b>": hostile, "long": long, hostile: [hostile]}).to_string();
    let mut records = vec![told("task", &long)];
    for round in 1..=3 {
        let one = call(round, "1", hostile, &arguments, &format!("{hostile} {long}"));
        records.push(Record::Call(failed(one, hostile)));
        records.push(Record::Call(call(round, "2", "x", hostile, &long)));
    }
    records.push(end(Outcome::Answered, &format!("{hostile}{long}")));
    let options = GraphOptions {
        title: hostile.repeat(9),
        verdict: Some(verdict(Verdict::Fail, &[hostile, &long])),
        findings: None,
    };
    let svg = graph(&records, &nothing, &options);
    let found = elements(&svg);
    assert!(!found.contains_key("script") && found["style"] == 1, "{found:?}");
    assert!(svg.len() < 200_000, "{} bytes", svg.len());
    assert!(!svg.contains('\u{202e}'), "nothing turns text around");
}

/// The longest trial that the usual limits allow still fits a picture.
#[test]
fn a_long_trial_is_folded() {
    let mut records = vec![told("task", "Go on.")];
    let mut number = 0;
    for round in 1..=100 {
        for _ in 0..20 {
            number += 1;
            let arguments = json!({"id": format!("ROW-{:05}", number.max(20) - 19)});
            let result = json!({"id": format!("ROW-{number:05}")});
            let one = asked(round, &number.to_string(), "crm_get_contact", &arguments, &result);
            let one = if number % 7 == 0 { failed(one, "not-found") } else { one };
            records.push(Record::Call(one));
        }
    }
    records.push(end(Outcome::Answered, "ROW-02000"));
    let svg = graph(&records, &nothing, &GraphOptions::default());
    let found = elements(&svg);
    assert!(svg.len() < 600_000, "{} bytes", svg.len());
    let attribute = |name: &str| -> usize {
        let value = svg.split(&format!(" {name}=\"")).nth(1).unwrap();
        value.split('"').next().unwrap().parse().unwrap()
    };
    assert!(attribute("width") < 9_000 && attribute("height") < 2_400, "{found:?}");
    assert!(svg.contains("more call"), "what is folded is counted");
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]
    #[test]
    fn every_picture_is_well_formed(
        texts in prop::collection::vec(any::<String>(), 1..6),
        calls in prop::collection::vec(
            (1_u32..40, 0_usize..6, 0_usize..6, 0_usize..6, any::<bool>()), 0..60),
        matched in any::<bool>(),
    ) {
        let text = |index: usize| texts[index % texts.len()].as_str();
        let mut records = vec![told("task", text(0))];
        let mut findings = Findings::default();
        let mut sorted = calls.clone();
        sorted.sort_unstable();
        for (index, (round, tool, name, value, fails)) in sorted.into_iter().enumerate() {
            let arguments = json!({ text(name): text(value), "id": format!("ID-{index:05}") });
            let result = json!({ "id": format!("ID-{:05}", index + 1), text(name): text(value) });
            let ingress = if fails { format!("{index}.1") } else { index.to_string() };
            let one = asked(round, &ingress, text(tool), &arguments, &result);
            records.push(Record::Call(if fails { failed(one, text(value)) } else { one }));
            let fault = CallFault::Flaw(Flaw::ExtraWrite);
            let faults = if fails { vec![(fault, text(value))] } else { Vec::new() };
            findings.calls.push(finding((!fails).then_some(index), fails, &faults));
        }
        records.push(end(Outcome::Answered, text(1)));
        let options = GraphOptions {
            title: text(2).to_owned(),
            verdict: Some(verdict(Verdict::Degraded, &[text(3)])),
            findings: matched.then_some(findings),
        };
        elements(&graph(&records, &nothing, &options));
    }
}
