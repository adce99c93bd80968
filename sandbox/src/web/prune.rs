//! Takes hits for blocked pages out of what a search engine answered.
//!
//! The engine of the hermetic web does not find them; that of the open web knows of no
//! block list, and a snippet may hold the answer that the page was blocked for. Only the
//! JSON of such a reply is read; what is none stays as it is.

use serde_json::Value;

use super::block::BlockList;
use super::reply::Reply;

/// The fields in which an entry names where it is from.
const PLACES: [&str; 6] = ["link", "website", "descriptionLink", "source", "pdfUrl", "htmlUrl"];

/// Removes entries whose address is blocked, wherever they stand.
pub(super) fn hits(reply: &mut Reply, blocked: &BlockList) {
    let Ok(mut body) = serde_json::from_slice::<Value>(&reply.body) else { return };
    if !prune(&mut body, blocked) {
        return;
    }
    reply.body = body.to_string().into();
    let length = reply.body.len().to_string();
    for (name, value) in &mut reply.headers {
        if name == "content-length" {
            value.clone_from(&length);
        }
    }
}

/// Returns whether something was removed.
fn prune(value: &mut Value, blocked: &BlockList) -> bool {
    match value {
        Value::Array(items) => {
            let before = items.len();
            items.retain(|item| !is_blocked(item, blocked));
            let removed = items.len() < before;
            items.iter_mut().fold(removed, |any, item| prune(item, blocked) || any)
        }
        Value::Object(fields) => {
            let before = fields.len();
            fields.retain(|_, field| !is_blocked(field, blocked));
            let removed = fields.len() < before;
            fields.values_mut().fold(removed, |any, field| prune(field, blocked) || any)
        }
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => false,
    }
}

fn is_blocked(entry: &Value, blocked: &BlockList) -> bool {
    PLACES.iter().filter_map(|name| entry.get(name)?.as_str()).any(|url| blocked.covers_text(url))
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn blocked_pages_are_in_no_part_of_an_answer() {
        let blocked = BlockList::new(&["a.test/key/*".to_owned(), "b.test".to_owned()]);
        let body = json!({
            "searchParameters": {"q": "x"},
            "answerBox": {"snippet": "secret", "link": "https://b.test/"},
            "knowledgeGraph": {"description": "secret", "descriptionLink": "https://www.b.test/x"},
            "organic": [
                {"title": "kept", "link": "https://a.test/"},
                {"title": "secret", "link": "http://A.test/%6Bey/1"},
                {"title": "kept", "link": "https://c.test/", "sitelinks": [
                    {"title": "secret", "link": "https://b.test/y"}
                ]},
            ],
        });
        let mut reply = Reply::json(200, &body).with("content-length", "999");
        hits(&mut reply, &blocked);
        let text = String::from_utf8(reply.body.to_vec()).unwrap();
        assert!(!text.contains("secret"), "{text}");
        assert_eq!(text.matches("kept").count(), 2, "{text}");
        assert_eq!(reply.header("content-length"), Some(text.len().to_string().as_str()));
        for odd in ["", "not JSON", "[1, null, \"b.test\"]", "{\"link\": 5}"] {
            let mut reply = Reply::new(200, "application/json", odd.to_owned());
            hits(&mut reply, &blocked);
            assert_eq!(reply.body, odd, "stays as it is");
        }
    }
}
