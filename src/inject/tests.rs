//! The same calls are decided the same way here and in process.

use std::sync::Arc;

use proptest::prelude::*;
use serde_json::json;
use wildgym_sandbox::Seed;
use wildgym_toolbox::door::Ingress;
use wildgym_toolbox::{Call, Incoming};

use super::desk::{Course, Desk};
use super::message::{Message, read};
use crate::fault::{Fault, Injector, Profile, names};

/// A profile whose entries look at tools and arguments.
const PICKY: &str = r#"
format = 1
name = "picky"
version = "1"
description = "Faults of some tools and some arguments"
rate = 0.7
scope = "tool"

[[entry]]
operator = "delay"
persistence = "intermittent"
activation = 0.6
weight = 2
match.tool = "read_*"

[[entry]]
operator = "explicit-error"
persistence = "transient"
weight = 1
match.arguments = { path = "a" }

[[entry]]
operator = "schema-drift"
persistence = "permanent"
weight = 1
match.server = "fi*"
match.tool = "write"
"#;

fn profiles() -> Vec<Arc<Profile>> {
    let built_in = names().into_iter().map(|name| Profile::open_builtin(name).unwrap());
    built_in.chain([Profile::parse("picky", PICKY).unwrap()]).map(Arc::new).collect()
}

/// Decides about a call at the door of a toolbox.
fn in_process(injector: &Injector, number: usize, tool: &str, arguments: &str) -> Option<Fault> {
    let ingress = Ingress(number.to_string());
    let name = format!("files__{tool}");
    let call = Call { id: "c".to_owned(), name, arguments: arguments.to_owned() };
    let seed = Seed::of_run(0);
    injector.decide(&Incoming {
        ingress: &ingress,
        call: &call,
        origin: Some(("files", tool)),
        seed,
    })
}

/// Decides about a call that a client sends.
fn by_proxy(desk: &Desk, number: usize, tool: &str, arguments: &str) -> Option<Fault> {
    let tool = json!(tool);
    let line = format!(
        "{{\"jsonrpc\":\"2.0\",\"id\":{number},\"method\":\"tools/call\",\"params\":\
         {{\"name\":{tool},\"arguments\":{arguments}}}}}\n"
    );
    let Message::Call(call) = read(line.as_bytes()) else { panic!("no call: {line}") };
    let ruling = desk.rule(&call);
    let passes = matches!(ruling.course, Course::Pass);
    assert_eq!(passes, ruling.fault.is_none(), "what is decided is done: {ruling:?}");
    ruling.fault
}

/// Arguments as agents send them: good ones, and what fits no schema at all.
fn arguments() -> impl Strategy<Value = String> {
    prop_oneof![
        "[ab/.]{0,4}".prop_map(|path| json!({ "path": path }).to_string()),
        any::<i32>().prop_map(|path| json!({ "path": path, "more": [null] }).to_string()),
        Just("{}".to_owned()),
        Just("null".to_owned()),
        Just("[\"path\", \"a\"]".to_owned()),
        Just("\"path=a\"".to_owned()),
        Just("{\"path\":\"b\",\"path\":\"a\"}".to_owned()),
        ".{0,8}".prop_map(|text| json!(text).to_string()),
    ]
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(96))]

    #[test]
    fn one_sequence_of_calls_is_decided_the_same_in_process_and_by_the_proxy(
        seed in any::<u64>(),
        calls in prop::collection::vec((prop::sample::select(vec!["read_file", "read_all", "write", "list"]), arguments()), 1..30),
    ) {
        for profile in profiles() {
            let root = Seed::of_run(seed);
            let injector = Injector::new(Arc::clone(&profile), root);
            let desk = Desk::new("files".to_owned(), Arc::clone(&profile), root);
            for (index, (tool, arguments)) in calls.iter().enumerate() {
                let here = in_process(&injector, index + 1, tool, arguments);
                let there = by_proxy(&desk, index + 1, tool, arguments);
                prop_assert_eq!(here.filter(|fault| fault.fired), there, "{}", profile.name());
            }
            prop_assert_eq!(desk.arrived(), calls.len() as u64);
        }
    }
}

/// What a desk does to a reply, for the tests of both transports' common part.
#[test]
fn a_reply_is_found_by_its_id_however_that_is_written() {
    let profile = Arc::new(Profile::open_builtin("incorrect-output").unwrap());
    let text = |id: &str| {
        format!(
            "{{\"result\":{{\"content\":[{{\"type\":\"text\",\"text\":\"41 apples\"}}]}},\"id\":{id}}}"
        )
    };
    //     sent     came back   changed   why
    let table = [
        ("7", "7", true, "the same"),
        ("7", "7.0", true, "the same number"),
        ("7", "\"7\"", false, "a text is no number"),
        ("\"\\u0078\"", "\"x\"", true, "an escape"),
        ("\"x\"", "\"y\"", false, "another call"),
        ("null", "null", true, "no id to speak of"),
    ];
    for (sent, came, want, why) in table {
        let desk = Desk::new("s".to_owned(), Arc::clone(&profile), Seed::of_run(1));
        let line =
            format!("{{\"id\":{sent},\"method\":\"tools/call\",\"params\":{{\"name\":\"a\"}}}}");
        let Message::Call(call) = read(line.as_bytes()) else { panic!("{line}") };
        let Course::Watch(pending) = desk.rule(&call).course else { panic!("it changes content") };
        let pending = Arc::new(pending);
        for reply in [text(came), format!(" [{{\"id\":5,\"result\":{{}}}}, {}]\r\n", text(came))] {
            let mut find = |key: &str| (key == call.key).then(|| Arc::clone(&pending));
            let settled = desk.settle(&reply, &mut find);
            assert_eq!(settled.text.is_some(), want, "{why}");
            if let Some(new) = settled.text {
                assert!(!new.contains("41 apples"), "{why}: {new}");
                let end = |text: &str| text.len() - text.trim_end().len();
                assert_eq!(end(&new), end(&reply), "{why}: the end of the line stays");
                serde_json::from_str::<serde_json::Value>(&new).unwrap();
            }
        }
    }
}
