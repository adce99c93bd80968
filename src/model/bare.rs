//! Calls that a model wrote into its content instead of `tool_calls`.
//!
//! Small models, and endpoints without a parser for their model's format, answer with
//! bare JSON: alone, in a code fence, in `<tool_call>` tags, one object or a list. Only
//! an object that names an offered tool and has arguments counts, so that JSON that is
//! part of an answer stays text.

use serde_json::Value;

use super::message::Offered;
use super::reply::arguments;

/// Calls, as name and arguments, and the text around them.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Found {
    pub(super) calls: Vec<(String, String)>,
    pub(super) rest: String,
}

/// Marks that stand around a call and mean nothing once it is found.
const OPENING: [&str; 7] =
    ["<tool_call>", "[TOOL_CALLS]", "<|python_tag|>", "```json", "```tool_call", "```", ","];
const CLOSING: [&str; 3] = ["</tool_call>", "```", ","];

/// Finds the calls in `content`; none where there is no call.
pub(super) fn find(content: &str, tools: &Offered) -> Option<Found> {
    let (mut calls, mut rest) = (Vec::new(), String::new());
    let thought = thought(content)?;
    // Where the line begins, where the search goes on, and up to where text was kept.
    let (mut line, mut next, mut kept) = (thought, thought, 0);
    while let Some(step) = content[next..].find(['{', '[']) {
        let start = next + step;
        line = content[next..start].rfind('\n').map_or(line, |end| next + end + 1);
        next = start + 1;
        let before = content[line.max(kept)..start].trim();
        if !may_precede(before) {
            continue;
        }
        let mut values = serde_json::Deserializer::from_str(&content[start..]).into_iter::<Value>();
        let Some(Ok(value)) = values.next() else { continue };
        next = start + values.byte_offset();
        let Some(found) = as_calls(&value, tools) else { continue };
        calls.extend(found);
        let doubled = before.ends_with('{');
        keep(&mut rest, &content[kept..start - usize::from(doubled)], kept > 0, true);
        kept = next + usize::from(doubled && content[next..].starts_with('}'));
        next = kept;
    }
    keep(&mut rest, &content[kept..], kept > 0, false);
    (!calls.is_empty()).then_some(Found { calls, rest })
}

/// Returns where inline reasoning ends: a call in it was only thought of. None where the
/// reasoning was cut off.
fn thought(content: &str) -> Option<usize> {
    const END: &str = "</think>";
    match content.rfind(END) {
        Some(end) => Some(end + END.len()),
        None => (!content.trim_start().starts_with("<think>")).then_some(0),
    }
}

/// Tells whether a call may begin after this text of the same line: nothing, a tag or a
/// fence, or the brace that a faulty chat template doubles.
fn may_precede(before: &str) -> bool {
    before.is_empty() || before == "{" || OPENING.iter().any(|mark| before.ends_with(mark))
}

/// Returns the calls that a text holds, as name and arguments; none where there is none.
#[must_use]
pub fn calls_in(content: &str, tools: &Offered) -> Option<Vec<(String, String)>> {
    find(content, tools).map(|found| found.calls)
}

fn as_calls(value: &Value, tools: &Offered) -> Option<Vec<(String, String)>> {
    match value.as_array() {
        Some(items) if items.is_empty() => None,
        Some(items) => items.iter().map(|item| as_call(item, tools)).collect(),
        None => as_call(value, tools).map(|call| vec![call]),
    }
}

fn as_call(value: &Value, tools: &Offered) -> Option<(String, String)> {
    let function = value.get("function").filter(|function| function.is_object()).unwrap_or(value);
    let name = ["name", "function", "tool"].iter().find_map(|key| function.get(key)?.as_str())?;
    let given = ["arguments", "parameters", "args"].iter().find_map(|key| function.get(key))?;
    tools.has(name).then(|| (name.to_owned(), arguments(given)))
}

/// Appends a stretch of text without the marks that belong to the calls beside it.
fn keep(rest: &mut String, text: &str, after_call: bool, before_call: bool) {
    let mut text = text.trim();
    while let Some(shorter) =
        OPENING.iter().filter(|_| before_call).find_map(|mark| text.strip_suffix(mark))
    {
        text = shorter.trim_end();
    }
    while let Some(shorter) =
        CLOSING.iter().filter(|_| after_call).find_map(|mark| text.strip_prefix(mark))
    {
        text = shorter.trim_start();
    }
    if !text.is_empty() {
        if !rest.is_empty() {
            rest.push('\n');
        }
        rest.push_str(text);
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use serde_json::json;

    use super::*;

    /// What is written, the calls in it, the text that remains.
    type Row<'a> = (&'a str, &'a [(&'a str, &'a str)], &'a str);

    fn tools() -> Offered {
        Offered::new(&["scrape", "now"].map(|name| json!({"function": {"name": name}})))
    }

    #[test]
    fn calls_are_found_in_the_forms_that_models_write() {
        let a = ("scrape", r#"{"url":"a"}"#);
        let b = ("now", "{}");
        let table: [Row<'_>; 17] = [
            ("[TOOL_CALLS] [{\"name\":\"now\",\"arguments\":{}}]", &[b], ""),
            ("<|python_tag|>{\"name\":\"now\",\"parameters\":{}}", &[b], ""),
            ("<think>Hm.</think>\n{\"name\":\"now\",\"arguments\":{}}", &[b], "<think>Hm.</think>"),
            (r#"{"name": "scrape", "arguments": {"url": "a"}}"#, &[a], ""),
            ("```json\n{\"name\": \"scrape\", \"arguments\": {\"url\": \"a\"}}\n```", &[a], ""),
            ("``` {\"name\": \"now\", \"parameters\": {}} ```", &[b], ""),
            (
                r#"[{"name":"scrape","arguments":{"url":"a"}},{"name":"now","arguments":null}]"#,
                &[a, b],
                "",
            ),
            (
                "{\"name\":\"now\",\"arguments\":{}}\n{\"name\":\"now\",\"arguments\":\"\"}",
                &[b, ("now", "")],
                "",
            ),
            (
                "I look.\n<tool_call>\n{\"name\":\"now\",\"arguments\":{}}\n</tool_call>",
                &[b],
                "I look.",
            ),
            (
                r#"Go: <tool_call>{"name":"now","arguments":{}}</tool_call><tool_call>{"name":"now","arguments":{}}</tool_call>"#,
                &[b, b],
                "Go:",
            ),
            (r#"<tool_call>{"name":"now","arguments":{}}"#, &[b], ""),
            (r#"{{"name": "scrape", "arguments": {"url": "a"}}}"#, &[a], ""),
            (r#"{"type":"function","function":{"name":"now","arguments":"{}"}}"#, &[b], ""),
            (r#"{"function": "now", "args": {}}"#, &[b], ""),
            ("One.\n```json\n{\"name\":\"now\",\"arguments\":{}}\n```\nTwo.", &[b], "One.\nTwo."),
            (r#"{"name":"scrape","arguments":"not json"}"#, &[("scrape", "not json")], ""),
            ("{broken\n{\"name\":\"now\",\"arguments\":{}}", &[b], "{broken"),
        ];
        for (content, calls, rest) in table {
            let found = find(content, &tools()).unwrap_or_else(|| panic!("nothing in {content}"));
            let got: Vec<_> = found.calls.iter().map(|(n, a)| (n.as_str(), a.as_str())).collect();
            assert_eq!((got.as_slice(), found.rest.as_str()), (calls, rest), "{content}");
        }
    }

    #[test]
    fn other_json_stays_text() {
        let table = [
            ("", "empty"),
            ("no braces", "prose"),
            (r#"{"name":"rm","arguments":{}}"#, "not an offered tool"),
            (r#"{"name":"scrape"}"#, "no arguments: a list of tools, say"),
            (r#"[{"name":"now","arguments":{}},{"city":"Oslo"}]"#, "a list of other things too"),
            (r#"The call {"name":"now","arguments":{}} is an example."#, "within a sentence"),
            (r#"{"result":{"name":"now","arguments":{}}}"#, "within another object"),
            (r#"{"name":"now","arguments":{"#, "cut off"),
            ("[]", "an empty list"),
            ("<think>\n{\"name\":\"now\",\"arguments\":{}}\n</think>\nNo.", "only thought of"),
            ("<think>\n{\"name\":\"now\",\"arguments\":{}}", "thinking was cut off"),
        ];
        for (content, why) in table {
            assert_eq!(find(content, &tools()), None, "{why}");
        }
    }

    proptest! {
        #[test]
        fn no_text_is_too_strange(content in r#"([\[{}\]"é,:\n`]|name|now|arguments|<tool_call>|\PC){0,80}"#) {
            find(&content, &tools());
        }
    }
}
