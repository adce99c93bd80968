//! What is said of a call: the text that any agent reads, and the same as data.

use data_encoding::BASE64;
use rmcp::model::{CallToolResult, ContentBlock};
use serde_json::{Value, json};
use wildgym_toolbox::Reply;

use super::acts::Told;

/// Returns what a client gets of a reply. The text is what every agent reads; where it is
/// whole and tells of something with a structure (a page, the result of an operation of a
/// world), that stands beside it as data.
pub(super) fn of(reply: &Reply) -> CallToolResult {
    let text = vec![ContentBlock::text(&*reply.text)];
    if reply.error.is_some() {
        return CallToolResult::error(text);
    }
    let mut said = CallToolResult::success(text);
    said.structured_content = structured(reply);
    said
}

fn structured(reply: &Reply) -> Option<Value> {
    if reply.full.is_some() {
        return None;
    }
    if let Some(page) = &reply.page {
        return serde_json::to_value(page.as_ref()).ok();
    }
    let text = reply.text.trim_start();
    let is_object = text.starts_with('{');
    is_object.then(|| serde_json::from_str(text).ok()).flatten()
}

/// Returns a task with its pictures.
pub(super) fn task(told: &Told) -> CallToolResult {
    let mut content = vec![ContentBlock::text(&*told.text)];
    for (path, media_type, bytes) in &told.pictures {
        content.push(ContentBlock::text(format!("{path}:")));
        content.push(ContentBlock::image(BASE64.encode(bytes), &**media_type));
    }
    let pictures: Vec<&String> = told.pictures.iter().map(|(path, ..)| path).collect();
    let mut said = CallToolResult::success(content);
    said.structured_content = Some(json!({
        "instruction": told.instruction,
        "attachments": told.attachments,
        "pictures": pictures,
    }));
    said
}

/// Says in words that something went well.
pub(super) fn well(text: &str) -> CallToolResult {
    CallToolResult::success(vec![ContentBlock::text(text)])
}

/// Says why something did not.
pub(super) fn failed(text: &str) -> CallToolResult {
    CallToolResult::error(vec![ContentBlock::text(format!("error: {text}"))])
}
