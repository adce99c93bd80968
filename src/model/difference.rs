//! What differs between a recorded request and the one that is to be sent.
//!
//! For people who ask why a replay stopped: settings and tools by name, and the first
//! message that differs with an excerpt of both around the first differing character.
//! Everything is short, whatever the requests hold.

use std::collections::BTreeMap;

use serde_json::{Map, Value};

use super::message::Message;

/// A request in parts: settings as a JSON object, tools as a JSON list, messages.
type Parts<'a> = (&'a str, &'a str, &'a [Message]);

/// Most settings, and most tools, that are named.
const MOST: usize = 3;

/// Characters of an excerpt in front of the difference and from it on.
const AROUND: (usize, usize) = (24, 48);

/// Says what differs.
pub(super) fn describe(recorded: Parts<'_>, now: Parts<'_>) -> String {
    let mut said = settings(recorded.0, now.0);
    said.extend(tools(recorded.1, now.1));
    said.extend(first_message(recorded.2, now.2));
    if said.is_empty() {
        return "the request has another digest, though no part of it differs: the cassette is \
                damaged, or another version of wildgym recorded it"
            .to_owned();
    }
    said.join("; ")
}

fn settings(recorded: &str, now: &str) -> Vec<String> {
    let read = |text| serde_json::from_str::<Map<String, Value>>(text).unwrap_or_default();
    let (recorded, now) = (read(recorded), read(now));
    let mut said = Vec::new();
    for (name, old) in &recorded {
        match now.get(name) {
            Some(new) if new == old => {}
            Some(new) => {
                let (old, new) = excerpts(&old.to_string(), &new.to_string());
                said.push(format!("setting `{name}` was `{old}` and is `{new}`"));
            }
            None => said.push(format!("setting `{name}` is missing")),
        }
    }
    let added = now.keys().filter(|name| !recorded.contains_key(*name));
    said.extend(added.map(|name| format!("setting `{name}` is new")));
    shortened(said, "settings")
}

fn tools(recorded: &str, now: &str) -> Vec<String> {
    if recorded == now {
        return Vec::new();
    }
    let (Some(recorded), Some(now)) = (by_name(recorded), by_name(now)) else {
        return vec!["other tools are offered; the recorded ones cannot be read".to_owned()];
    };
    let mut said = Vec::new();
    for (name, old) in &recorded {
        match now.get(name) {
            Some(new) if new == old => {}
            Some(new) => {
                let (old, new) = excerpts(old, new);
                said.push(format!("tool `{name}` was described as `{old}` and is as `{new}`"));
            }
            None => said.push(format!("tool `{name}` is missing")),
        }
    }
    let added = now.keys().filter(|name| !recorded.contains_key(*name));
    said.extend(added.map(|name| format!("tool `{name}` is new")));
    if said.is_empty() {
        said.push("the tools stand in another order".to_owned());
    }
    shortened(said, "tools")
}

/// Returns the definitions in a list of tools by their names.
fn by_name(list: &str) -> Option<BTreeMap<String, String>> {
    let list: Vec<Value> = serde_json::from_str(list).ok()?;
    let named = list.iter().enumerate().map(|(index, tool)| {
        let name = tool.pointer("/function/name").and_then(Value::as_str);
        let name = name.map_or_else(|| format!("#{}", index + 1), str::to_owned);
        (name, tool.to_string())
    });
    Some(named.collect())
}

fn shortened(mut said: Vec<String>, what: &str) -> Vec<String> {
    if said.len() > MOST {
        let more = said.len() - MOST;
        said.truncate(MOST);
        said.push(format!("{more} more {what} differ"));
    }
    said
}

fn first_message(recorded: &[Message], now: &[Message]) -> Option<String> {
    let same = recorded.iter().zip(now).take_while(|(old, new)| old == new).count();
    let number = same + 1;
    match (recorded.get(same), now.get(same)) {
        (None, None) => None,
        (Some(old), None) => {
            let (role, text) = shown(old);
            Some(format!("message {number} ({role}) is missing: `{}`", excerpts(&text, "").0))
        }
        (None, Some(new)) => {
            let (role, text) = shown(new);
            Some(format!("message {number} ({role}) is new: `{}`", excerpts(&text, "").0))
        }
        (Some(old), Some(new)) => Some(changed(number, old, new)),
    }
}

/// Says how two messages differ: by role, else in the first field that does.
fn changed(number: usize, old: &Message, new: &Message) -> String {
    let (was, is) = (fields(old), fields(new));
    let (role, other) = (text(was.get("role")), text(is.get("role")));
    if role != other {
        return format!("message {number} was of role `{role}` and is of role `{other}`");
    }
    let names = was.keys().chain(is.keys());
    let field = names.into_iter().find(|name| was.get(*name) != is.get(*name));
    let field = field.map_or("content", String::as_str);
    let (old, new) = excerpts(&text(was.get(field)), &text(is.get(field)));
    let place = if field == "content" { String::new() } else { format!(", `{field}`") };
    format!("message {number} ({role}{place}) was `{old}` and is `{new}`")
}

fn fields(message: &Message) -> Map<String, Value> {
    serde_json::from_str(message.as_json()).unwrap_or_default()
}

/// Returns the role of a message and its content.
fn shown(message: &Message) -> (String, String) {
    let fields = fields(message);
    (text(fields.get("role")), text(fields.get("content")))
}

fn text(value: Option<&Value>) -> String {
    match value {
        None => String::new(),
        Some(Value::String(text)) => text.clone(),
        Some(
            other @ (Value::Null
            | Value::Bool(_)
            | Value::Number(_)
            | Value::Array(_)
            | Value::Object(_)),
        ) => other.to_string(),
    }
}

/// Cuts two texts to what lies around the first character that differs.
fn excerpts(old: &str, new: &str) -> (String, String) {
    let same = old.chars().zip(new.chars()).take_while(|(a, b)| a == b).count();
    let from = same.saturating_sub(AROUND.0);
    let cut = |text: &str| {
        let shown = text.chars().skip(from).take(same - from + AROUND.1);
        let mut cut: String = shown.map(|c| if c.is_control() { ' ' } else { c }).collect();
        if from > 0 {
            cut.insert(0, '…');
        }
        if text.chars().nth(same + AROUND.1).is_some() {
            cut.push('…');
        }
        cut
    };
    (cut(old), cut(new))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use serde_json::json;

    use super::*;

    fn tool(name: &str, description: &str) -> Value {
        json!({"type": "function", "function": {"name": name, "description": description}})
    }

    #[test]
    fn what_differs_is_named() {
        let one = json!([tool("scrape", "Read a page"), tool("now", "Tell the time")]).to_string();
        let other = json!([tool("scrape", "Read a site"), tool("later", "?")]).to_string();
        let turned = json!([tool("now", "Tell the time"), tool("scrape", "Read a page")]);
        let turned = turned.to_string();
        let long = "x".repeat(5000);
        let base = [Message::system("s"), Message::user("How high is the tide?")];
        let asked = |text: &str| vec![base[0].clone(), Message::user(text)];
        let settings = r#"{"temperature":0.6,"seed":1}"#;
        let table: Vec<(Parts<'_>, Parts<'_>, Vec<&str>, &str)> = vec![
            (
                (settings, "[]", &[]),
                (r#"{"temperature":0.7,"top_p":1}"#, "[]", &[]),
                vec![
                    "setting `temperature` was `0.6` and is `0.7`",
                    "setting `seed` is missing",
                    "setting `top_p` is new",
                ],
                "settings",
            ),
            (
                ("{}", &one, &[]),
                ("{}", &other, &[]),
                vec![
                    "tool `now` is missing",
                    "tool `scrape` was described",
                    "page",
                    "site",
                    "tool `later` is new",
                ],
                "tools",
            ),
            (("{}", &one, &[]), ("{}", &turned, &[]), vec!["another order"], "order of tools"),
            (("{}", &one, &[]), ("{}", "", &[]), vec!["cannot be read"], "damaged tools"),
            (
                ("{}", "[]", &base),
                ("{}", "[]", &base[..1]),
                vec!["message 2 (user) is missing"],
                "fewer",
            ),
            (
                ("{}", "[]", &base[..1]),
                ("{}", "[]", &base),
                vec!["message 2 (user) is new: `How high"],
                "more",
            ),
            (("{}", "[]", &base), ("{}", "[]", &base), vec!["the cassette is damaged"], "nothing"),
        ];
        for (recorded, now, words, why) in table {
            let said = describe(recorded, now);
            for word in words {
                assert!(said.contains(word), "{why}: `{word}` in {said}");
            }
        }
        let (was, is) = (asked(&format!("{long}a{long}")), asked(&format!("{long}b{long}")));
        let said = describe(("{}", "[]", &was), ("{}", "[]", &is));
        assert!(said.starts_with("message 2 (user) was `…xxx") && said.len() < 300, "{said}");
        let other = [base[0].clone(), Message::tool("c1", "ok")];
        let said = describe(("{}", "[]", &base), ("{}", "[]", &other));
        assert_eq!(said, "message 2 was of role `user` and is of role `tool`");
        let (was, is) = ([Message::tool("c1", "ok")], [Message::tool("c2", "ok")]);
        let said = describe(("{}", "[]", &was), ("{}", "[]", &is));
        assert_eq!(said, "message 1 (tool, `tool_call_id`) was `c1` and is `c2`");
    }

    proptest! {
        #[test]
        fn any_two_texts_have_short_excerpts(old in r"\PC{0,200}", new in r"\PC{0,200}") {
            let (old, new) = excerpts(&old, &new);
            let most = AROUND.0 + AROUND.1 + 2;
            prop_assert!(old.chars().count() <= most && new.chars().count() <= most);
        }
    }
}
