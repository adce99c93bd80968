//! What the tools that ask the search engine share: one request in Serper's protocol.
//!
//! The live service and its imitations differ in what they leave out and in what they
//! answer when something is wrong, so nothing is taken for granted: any reply that is no
//! JSON object with status 200 becomes an error that says what came instead.

use jiff::Timestamp;
use serde_json::{Map, Value};
use wildgym_sandbox::web::{AccessLog, Request, Web};

use crate::error::ToolError;

/// How much of a reply that is no JSON is shown, in characters.
const SHOWN: usize = 200;

/// Asks the search engine at `path` (`search`, `news`, `scholar`).
pub(crate) async fn ask(
    web: &Web,
    now: Timestamp,
    log: &AccessLog,
    path: &str,
    body: &Value,
) -> Result<Map<String, Value>, ToolError> {
    let url = web.endpoints().search.join(path).map_err(|error| {
        ToolError::Failed(format!("the search engine has no usable address: {error}"))
    })?;
    let headers = vec![("content-type".to_owned(), "application/json".to_owned())];
    let body = body.to_string().into();
    let request = Request { method: http::Method::POST, url, headers, body };
    let response = web.send(request, now, log).await?;
    read(response.status, response.header("retry-after"), &response.body)
}

/// Reads a reply.
fn read(status: u16, retry: Option<&str>, body: &[u8]) -> Result<Map<String, Value>, ToolError> {
    let reply = serde_json::from_slice::<Value>(body);
    let hint = match status {
        401 | 403 => "; the key is missing or wrong, so other tools have to do",
        429 => "; it is asked too often, so wait or ask less",
        500.. => "; try again",
        _ => "",
    };
    let wait = retry.map(|wait| format!(" (it says to wait {wait} s)")).unwrap_or_default();
    let failed = |what: &str| {
        Err(ToolError::Failed(format!("the search engine answered {status}{wait}: {what}{hint}")))
    };
    match reply {
        Ok(Value::Object(reply)) if status == 200 => Ok(reply),
        Ok(Value::Object(reply)) => {
            let message = ["message", "error"].iter().find_map(|name| reply.get(*name)?.as_str());
            failed(message.unwrap_or("no reason given"))
        }
        Ok(_) => failed("its JSON is no object"),
        Err(_) => {
            let text = String::from_utf8_lossy(body);
            let text = text.split_whitespace().collect::<Vec<_>>().join(" ");
            let shown: String = text.chars().take(SHOWN).collect();
            failed(&if shown.is_empty() {
                "nothing".to_owned()
            } else {
                format!("no JSON, but `{shown}`")
            })
        }
    }
}

/// Returns a field as text, whether it is text, a number, or an object that has the text
/// or number under one of `inner`; none where it is empty.
pub(crate) fn text(hit: &Value, name: &str, inner: &[&str]) -> Option<String> {
    let plain = |value: &Value| match value {
        Value::String(text) => Some(text.split_whitespace().collect::<Vec<_>>().join(" ")),
        Value::Number(number) => Some(number.to_string()),
        Value::Null | Value::Bool(_) | Value::Array(_) | Value::Object(_) => None,
    };
    let value = hit.get(name)?;
    let found = plain(value).or_else(|| inner.iter().find_map(|inner| plain(value.get(inner)?)));
    found.filter(|text| !text.is_empty())
}

/// Returns the objects of a list; none where there is no list.
pub(crate) fn list<'a>(reply: &'a Map<String, Value>, name: &str) -> Vec<&'a Value> {
    let all = reply.get(name).and_then(Value::as_array);
    all.map(|all| all.iter().filter(|one| one.is_object()).collect()).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn what_comes_instead_of_results_is_told() {
        let table: [(u16, &str, &str); 8] = [
            (200, "<html><b>Sign in</b></html>", "answered 200: no JSON, but `<html><b>Sign in"),
            (200, "", "answered 200: nothing"),
            (200, "[1, 2]", "its JSON is no object"),
            (403, r#"{"message": "Unauthorized."}"#, "Unauthorized.; the key is missing"),
            (400, r#"{"message": "Not enough credits", "statusCode": 400}"#, "Not enough credits"),
            (429, r#"{"error": "slow down"}"#, "429: slow down; it is asked too often"),
            (502, "<html>Bad Gateway", "`<html>Bad Gateway`; try again"),
            (500, "{}", "no reason given; try again"),
        ];
        for (status, body, want) in table {
            let error = read(status, None, body.as_bytes()).unwrap_err().to_string();
            assert!(error.contains(want), "{status} {body}: {error}");
        }
        let error = read(429, Some("30"), b"{}").unwrap_err().to_string();
        assert!(error.contains("wait 30 s"), "{error}");
        assert!(read(200, None, b"{}").is_ok(), "an empty object is a reply without results");
    }

    #[test]
    fn fields_are_read_in_every_shape() {
        let hit = json!({"a": " x  y ", "b": 7, "c": {"summary": "z"}, "d": {"total": 3}, "e": null,
            "f": "", "g": [1]});
        let got = ["a", "b", "c", "d", "e", "f", "g", "h"]
            .map(|name| text(&hit, name, &["summary", "total"]));
        let want = [Some("x y"), Some("7"), Some("z"), Some("3"), None, None, None, None];
        assert_eq!(got, want.map(|text| text.map(str::to_owned)));
    }
}
