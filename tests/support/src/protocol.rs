//! What a strict endpoint demands of a request.

use serde_json::Value;

const ROLES: [&str; 4] = ["system", "user", "assistant", "tool"];

/// Returns what is wrong with the body of a chat-completions request.
#[must_use]
pub fn violations(body: &Value) -> Vec<String> {
    let mut wrong = Vec::new();
    if body["model"].as_str().is_none_or(str::is_empty) {
        wrong.push("`model` is not a name".into());
    }
    for field in ["temperature", "top_p", "max_tokens", "max_completion_tokens", "seed"] {
        if body.get(field).is_some_and(|value| !value.is_number()) {
            wrong.push(format!("`{field}` is not a number"));
        }
    }
    if body.get("stream").is_some_and(|stream| stream != &Value::Bool(false)) {
        wrong.push("`stream` is not false".into());
    }
    if let Some(tools) = body.get("tools") {
        check_tools(tools, &mut wrong);
    }
    match body["messages"].as_array().filter(|messages| !messages.is_empty()) {
        Some(messages) => check_messages(messages, &mut wrong),
        None => wrong.push("`messages` is not a list, or empty".into()),
    }
    wrong
}

fn check_tools(tools: &Value, wrong: &mut Vec<String>) {
    let Some(tools) = tools.as_array().filter(|tools| !tools.is_empty()) else {
        wrong.push("`tools` is not a list, or empty".into());
        return;
    };
    let mut names = Vec::new();
    for (index, tool) in tools.iter().enumerate() {
        let function = &tool["function"];
        let name = function["name"].as_str().unwrap_or_default();
        if tool["type"] != "function" || !is_name(name) {
            wrong.push(format!("tool {index} is no function with a valid name"));
        }
        if names.contains(&name) {
            wrong.push(format!("tool `{name}` is there twice"));
        }
        names.push(name);
        if !function["description"].is_string() {
            wrong.push(format!("tool `{name}` has no description"));
        }
        let parameters = &function["parameters"];
        if parameters["type"] != "object" || !parameters["properties"].is_object() {
            wrong.push(format!("the parameters of tool `{name}` are no schema of an object"));
        }
    }
}

fn is_name(name: &str) -> bool {
    let plain = |c: char| c.is_ascii_alphanumeric() || matches!(c, '_' | '-');
    (1..=64).contains(&name.len()) && name.chars().all(plain)
}

/// Each call must be answered once, in order, right after the message that made it.
fn check_messages(messages: &[Value], wrong: &mut Vec<String>) {
    let mut open: Vec<&str> = Vec::new();
    for (index, message) in messages.iter().enumerate() {
        let role = message["role"].as_str().unwrap_or_default();
        if !ROLES.contains(&role) {
            wrong.push(format!("message {index} has no valid role"));
        }
        let content = &message["content"];
        let parts = role == "user" && content.is_array();
        if !content.is_string() && !parts {
            wrong.push(format!("the content of message {index} ({role}) is not text"));
        }
        if role == "tool" {
            let id = message["tool_call_id"].as_str().unwrap_or_default();
            if open.first() == Some(&id) {
                open.remove(0);
            } else {
                wrong.push(format!("message {index} answers `{id}`, expected one of {open:?}"));
            }
            continue;
        }
        if !open.is_empty() {
            wrong.push(format!("message {index} ({role}) comes before {open:?} were answered"));
        }
        open = check_calls(index, message, wrong);
    }
    if !open.is_empty() {
        wrong.push(format!("calls without an answer: {open:?}"));
    }
}

fn check_calls<'a>(index: usize, message: &'a Value, wrong: &mut Vec<String>) -> Vec<&'a str> {
    let mut ids = Vec::new();
    let Some(calls) = message.get("tool_calls") else { return ids };
    if message["role"] != "assistant" || calls.as_array().is_none_or(Vec::is_empty) {
        wrong.push(format!("`tool_calls` of message {index} is out of place, or empty"));
    }
    for call in calls.as_array().into_iter().flatten() {
        let id = call["id"].as_str().unwrap_or_default();
        if !(1..=64).contains(&id.len()) || ids.contains(&id) {
            wrong.push(format!("call id `{id}` of message {index} is empty, long or there twice"));
        }
        ids.push(id);
        let function = &call["function"];
        if call["type"] != "function" || !is_name(function["name"].as_str().unwrap_or_default()) {
            wrong.push(format!("call `{id}` is no function with a valid name"));
        }
        let arguments = function["arguments"].as_str().unwrap_or_default();
        if !serde_json::from_str::<Value>(arguments).is_ok_and(|value| value.is_object()) {
            wrong.push(format!("the arguments of call `{id}` are no JSON object in a string"));
        }
    }
    ids
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn request(messages: &Value) -> Value {
        json!({ "model": "m", "messages": messages })
    }

    fn call(id: &str) -> Value {
        json!({ "id": id, "type": "function", "function": { "name": "now", "arguments": "{}" } })
    }

    #[test]
    fn a_sound_request_has_no_violations() {
        let mut body = request(&json!([
            { "role": "system", "content": "s" },
            { "role": "user", "content": [{ "type": "text", "text": "u" }] },
            { "role": "assistant", "content": "", "tool_calls": [call("a"), call("b")] },
            { "role": "tool", "tool_call_id": "a", "content": "1" },
            { "role": "tool", "tool_call_id": "b", "content": "2" },
            { "role": "user", "content": "go on" },
        ]));
        let schema = json!({ "type": "object", "properties": {} });
        let function = json!({ "name": "now", "description": "d", "parameters": schema });
        body["tools"] = json!([{ "type": "function", "function": function }]);
        assert_eq!(violations(&body), Vec::<String>::new());
    }

    #[test]
    fn each_fault_is_noticed() {
        let user = json!({ "role": "user", "content": "u" });
        let asks =
            |calls: Value| json!({ "role": "assistant", "content": "", "tool_calls": calls });
        let answers = |id: &str| json!({ "role": "tool", "tool_call_id": id, "content": "r" });
        let odd = json!({ "id": "a", "type": "function", "function": { "name": "a b", "arguments": "x" } });
        let table = [
            (request(&json!([])), "no messages"),
            (json!({ "model": "", "messages": [user] }), "no model"),
            (json!({ "model": "m", "messages": [user], "temperature": "1" }), "text for a number"),
            (json!({ "model": "m", "messages": [user], "tools": [] }), "empty tools"),
            (json!({ "model": "m", "messages": [user], "tools": [{}] }), "tool without a function"),
            (request(&json!([{ "role": "robot", "content": "" }])), "unknown role"),
            (request(&json!([{ "role": "assistant", "content": null }])), "content is null"),
            (request(&json!([user, answers("a")])), "orphan result"),
            (request(&json!([asks(json!([call("a")]))])), "call without a result"),
            (request(&json!([asks(json!([call("a")])), user])), "user before the result"),
            (
                request(&json!([asks(json!([call("a"), call("b")])), answers("b"), answers("a")])),
                "order",
            ),
            (
                request(&json!([asks(json!([call("a")])), answers("a"), answers("a")])),
                "answered twice",
            ),
            (
                request(&json!([asks(json!([call("a"), call("a")])), answers("a"), answers("a")])),
                "id twice",
            ),
            (request(&json!([asks(json!([odd])), answers("a")])), "name and arguments"),
            (request(&json!([asks(json!([]))])), "empty calls"),
        ];
        for (body, why) in table {
            assert!(!violations(&body).is_empty(), "{why}: {body}");
        }
    }
}
