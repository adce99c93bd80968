//! A scripted navigator of `browse_url`: acts by what a page shows, since ids differ.
//!
//! An act is written as an action with a mark in place of the id: `click_id(button "Sign
//! in")`, `fill_input_id(textbox "Name", "Ann")`, `scroll_down()`, `stop(the result)`. The
//! n-th act answers the n-th round, which the request says; the last one all that follow.

use serde_json::json;

use crate::{Request, Response, says};

/// Answers a question of a navigator, plans and summaries with a word.
///
/// What cannot be answered, since the page does not show the mark, is said in the reply,
/// which is then no action.
#[must_use]
pub fn navigates(request: &Request, acts: &[&str]) -> Response {
    let page = text(request);
    let Some(round) = round(&page) else { return says("as scripted") };
    let Some(act) = acts.get(round.min(acts.len()).saturating_sub(1)) else {
        return says("nothing is scripted");
    };
    let (name, inside) = act.split_once('(').unwrap_or((act, ")"));
    let inside = inside.strip_suffix(')').unwrap_or(inside);
    if name == "stop" {
        return reply("stop()", inside);
    }
    match with_id(inside, &page) {
        Ok(inside) => reply(&format!("{name}({inside})"), ""),
        Err(mark) => says(&format!("there is no {mark} on this page")),
    }
}

/// Returns the text of the last message.
#[must_use]
pub fn text(request: &Request) -> String {
    let content = request.messages().last().map(|message| &message["content"]);
    let parts = content.and_then(|content| content.as_array());
    match parts {
        Some(parts) => parts.iter().filter_map(|part| part["text"].as_str()).collect(),
        None => content.and_then(|content| content.as_str()).unwrap_or_default().to_owned(),
    }
}

/// Returns the id of what is marked so in the text of a page.
#[must_use]
pub fn id(page: &str, mark: &str) -> Option<u32> {
    let at = page.find(&format!("] {mark}"))?;
    page[page[..at].rfind('[')? + 1..at].parse().ok()
}

/// Returns the round that a question is about; none where it is about no round.
fn round(page: &str) -> Option<usize> {
    page.rsplit_once("# Round ")?.1.split(' ').next()?.parse().ok()
}

/// Puts the id in place of a mark, where the arguments begin with one.
fn with_id(inside: &str, page: &str) -> Result<String, String> {
    let role = inside.split(' ').next().unwrap_or_default();
    let marked = !role.is_empty() && role.chars().all(|c| c.is_ascii_lowercase());
    let rest = inside.strip_prefix(role).and_then(|rest| rest.strip_prefix(" \""));
    let Some(rest) = rest.filter(|_| marked) else { return Ok(inside.to_owned()) };
    let (name, rest) = rest.split_once('"').unwrap_or((rest, ""));
    let mark = format!("{role} \"{name}\"");
    let id = id(page, &mark).ok_or(mark)?;
    Ok(format!("{id}{rest}"))
}

fn reply(action: &str, result: &str) -> Response {
    let fields = json!({ "observation": "", "reasoning": "", "action": action, "result": result });
    says(&fields.to_string())
}
