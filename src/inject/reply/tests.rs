//! What clients get to see of each kind of result.

use std::sync::Arc;

use proptest::prelude::*;

use super::*;
use crate::fault::{Observed, Profile, Schedule};

/// Returns a fault of the built-in profile that is named after its operator.
fn fault(operator: Operator, seed: u64) -> Fault {
    let profile = Arc::new(Profile::open_builtin(operator.name()).unwrap());
    let mut schedule = Schedule::new(profile, Seed::of_run(seed));
    let call = Observed { ingress: "1", server: "s", tool: "t", arguments: "{}" };
    schedule.decide(&call).unwrap()
}

fn spoilt(operator: Operator, seed: u64, result: &Value) -> (Option<Value>, String) {
    let reply = format!("{{\"jsonrpc\":\"2.0\", \"id\":1.0,\"result\":{result} }}");
    let fields = Object::read(&reply).unwrap();
    let mark = json!({ "operator": operator });
    let Spoilt { reply: new, what } = spoil(&reply, &fields, &fault(operator, seed), Some(&mark));
    let new = new.map(|new| {
        assert!(new.starts_with("{\"jsonrpc\":\"2.0\", \"id\":1.0,"), "the rest stays: {new}");
        let new: Value = serde_json::from_str(&new).unwrap();
        assert_eq!(new["result"]["_meta"][MARK], mark, "{new}");
        new["result"].clone()
    });
    (new, what)
}

const CONTENT: [Operator; 6] = [
    Operator::MinorMistake,
    Operator::IncorrectOutput,
    Operator::InvalidOutput,
    Operator::SchemaDrift,
    Operator::TruncatedPayload,
    Operator::PartialResult,
];

fn text(said: impl Into<Value>) -> Value {
    json!({ "type": "text", "text": said.into() })
}

/// A client that reads the text and one that reads the structured content are told the same.
#[test]
fn text_and_structured_content_stay_the_same_thing() {
    let value = json!({ "ferries": [
        { "name": "Harbour line", "leaves": "2026-03-01", "seats": 120 },
        { "name": "Island line", "leaves": "2026-03-02", "seats": 64 },
        { "name": "Northern line", "leaves": "2026-03-05", "seats": 18 },
    ] });
    let result = json!({ "content": [text(value.to_string())], "structuredContent": value });
    for operator in CONTENT {
        for seed in 0..20 {
            let (new, what) = spoilt(operator, seed, &result);
            let new = new.unwrap_or_else(|| panic!("{operator} {seed}: {what}"));
            let said = new["content"][0]["text"].as_str().unwrap();
            assert_ne!(said, result["content"][0]["text"], "{operator} {seed}");
            match serde_json::from_str::<Value>(said) {
                Ok(object @ Value::Object(_)) => {
                    assert_eq!(new["structuredContent"], object, "{operator} {seed}");
                }
                Ok(_) | Err(_) => {
                    assert!(new.get("structuredContent").is_none(), "{operator}: {new}");
                }
            }
        }
    }
}

#[test]
fn what_wraps_a_text_goes_on_wrapping_it() {
    let said = "There are 120 seats on the ferry of 2026-03-01.\nIt leaves at noon.\n";
    let result = json!({ "content": [text(said)], "structuredContent": { "result": said } });
    for operator in CONTENT {
        let (new, what) = spoilt(operator, 1, &result);
        let Some(new) = new else { continue };
        let text = &new["content"][0]["text"];
        assert_eq!(&new["structuredContent"]["result"], text, "{operator}: {what}");
    }
}

#[test]
fn of_several_texts_some_change_or_go() {
    let parts: Vec<Value> = (0..6).map(|at| text(format!("Ferry {at} has {at}20 seats"))).collect();
    let picture = json!({ "type": "image", "data": "AAAA", "mimeType": "image/png" });
    let content = [std::slice::from_ref(&picture), &parts[..]].concat();
    let result = json!({ "content": content });
    for operator in CONTENT {
        let (new, what) = spoilt(operator, 3, &result);
        let new = new.unwrap_or_else(|| panic!("{operator}: {what}"));
        let content = new["content"].as_array().unwrap();
        assert_eq!(content[0], picture, "{operator}: what is no text stays");
        let gone = 7 - content.len();
        let most = match operator {
            Operator::TruncatedPayload => 3..=3,
            Operator::InvalidOutput => 5..=5,
            Operator::PartialResult => 1..=5,
            Operator::Null
            | Operator::MinorMistake
            | Operator::IncorrectOutput
            | Operator::ExplicitError
            | Operator::Delay
            | Operator::SilentDrop
            | Operator::SchemaDrift => 0..=0,
        };
        assert!(most.contains(&gone), "{operator}: {new}");
        assert!(content.len() > 1, "{operator}: something stays");
        assert_ne!(new["content"], result["content"], "{operator}");
    }
}

#[test]
fn results_that_failed_or_say_nothing_are_left_alone() {
    let failed = json!({ "content": [text("no such file 7")], "isError": true });
    let picture =
        json!({ "content": [{ "type": "image", "data": "AA==", "mimeType": "image/png" }] });
    let asks = json!({ "resultType": "input_required", "inputRequests": {} });
    for operator in CONTENT {
        assert_eq!(spoilt(operator, 1, &failed), (None, FAILED.to_owned()), "{operator}");
        let (new, what) = spoilt(operator, 1, &picture);
        if operator == Operator::InvalidOutput {
            let content = new.unwrap()["content"].clone();
            assert_eq!(content.as_array().map(Vec::len), Some(1), "{what}");
            assert_eq!(content[0]["type"], "text");
        } else {
            assert_eq!((new, what.as_str()), (None, NOTHING), "{operator}");
        }
        assert_eq!(spoilt(operator, 1, &asks), (None, NOTHING.to_owned()), "{operator}");
        let reply = r#"{"id":1,"error":{"code":-32602,"message":"no tool 7"}}"#;
        let fields = Object::read(reply).unwrap();
        let left = spoil(reply, &fields, &fault(operator, 1), None);
        assert_eq!(left, Spoilt { reply: None, what: FAILED.to_owned() }, "{operator}");
    }
}

#[test]
fn an_error_is_a_result_of_the_tool_with_the_id_as_it_came() {
    let call = Call {
        id: "\"\\u0078\"",
        key: "text x".to_owned(),
        tool: "t".to_owned(),
        arguments: "{}",
        says_kind: true,
    };
    let fault = fault(Operator::ExplicitError, 1);
    let reply = refusal(&call, &fault, Some(&json!(1)));
    assert!(reply.starts_with("{\"jsonrpc\":\"2.0\",\"id\":\"\\u0078\",\"result\":{"), "{reply}");
    let reply: Value = serde_json::from_str(&reply).unwrap();
    assert_eq!(reply["result"]["isError"], true);
    assert_eq!(reply["result"]["resultType"], "complete");
    assert_eq!(reply["result"]["_meta"][MARK], 1);
    let plain = refusal(&Call { says_kind: false, ..call }, &fault, None);
    let plain: Value = serde_json::from_str(&plain).unwrap();
    let fields: Vec<&String> = plain["result"].as_object().unwrap().keys().collect();
    assert_eq!(fields, ["content", "isError"], "nothing that older clients do not know");
}

proptest! {
    /// Whatever a server says, what comes is a reply to the same call, and its text is not what
    /// it was.
    #[test]
    fn a_changed_reply_is_a_reply(
        seed in any::<u64>(),
        texts in prop::collection::vec("[a-z0-9 .\n\"\\\\é]{0,40}", 0..5),
        structured in prop::option::of("[a-z0-9]{0,9}"),
    ) {
        let content: Vec<Value> = texts.iter().map(|said| text(said.clone())).collect();
        let mut result = json!({ "content": content, "_meta": { "own": 1 } });
        if let Some(said) = structured {
            result["structuredContent"] = json!({ "said": said, "number": 7 });
        }
        for operator in CONTENT {
            let (new, what) = spoilt(operator, seed, &result);
            prop_assert!(!what.is_empty());
            if let Some(new) = new {
                prop_assert_eq!(&new["_meta"]["own"], 1);
                prop_assert!(new["content"].is_array());
                let same = new["content"] == result["content"]
                    && new.get("structuredContent") == result.get("structuredContent");
                prop_assert!(!same, "{}: {}", operator, new);
            }
        }
    }
}
