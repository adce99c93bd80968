//! The pictures that belong to a request, as a model that sees is shown them.
//!
//! They are made in a worker, as the tools for pictures make theirs, so what is sent is
//! small, upright and of a format that endpoints take; the files in the workspace stay as
//! they are. One that cannot be shown is told by its path alone.

use camino::Utf8Path;
use data_encoding::BASE64;
use serde_json::json;
use wildgym_sandbox::media::{Aim, Picture, Turn};

use wildgym_toolbox::Toolbox;

use super::Request;
use crate::model::Message;

/// The largest file that is shown, in bytes; the loader takes none that is larger.
const LARGEST: u64 = 20 << 20;

/// A picture of the request.
#[derive(Debug, Clone)]
pub struct Shown {
    /// Its path in the workspace.
    pub path: String,
    /// What is sent.
    pub picture: Picture,
}

/// Makes the pictures of a request ready to be shown; their files lie in the workspace of
/// `toolbox`.
pub async fn shown(toolbox: &Toolbox, request: &Request) -> Vec<Shown> {
    let sandbox = toolbox.sandbox();
    let mut shown = Vec::new();
    for path in &request.pictures {
        let Ok(bytes) = sandbox.workspace.read(Utf8Path::new(path), LARGEST) else { continue };
        let made = sandbox.host.workers.picture(path, bytes, Aim::Look, Turn::AsSaid).await;
        if let Ok(picture) = made {
            shown.push(Shown { path: path.clone(), picture });
        }
    }
    shown
}

/// Returns the message that shows pictures with a text, each below its path.
pub(super) fn message(text: &str, shown: &[Shown]) -> Message {
    if shown.is_empty() {
        return Message::user(text);
    }
    let mut parts = vec![json!({ "type": "text", "text": text })];
    for Shown { path, picture } in shown {
        let url = format!("data:{};base64,{}", picture.media_type(), BASE64.encode(&picture.bytes));
        parts.push(json!({ "type": "text", "text": format!("{path}:") }));
        parts.push(json!({ "type": "image_url", "image_url": { "url": url } }));
    }
    Message::user_parts(&parts)
}
