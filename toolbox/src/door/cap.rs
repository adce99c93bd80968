//! The cap on what an agent reads of one result.

use camino::Utf8PathBuf;
use wildgym_sandbox::Workspace;

use super::{Bounds, Ingress};

/// Folder of the workspace that takes full texts.
const FOLDER: &str = ".results";

/// A result that may have been cut.
pub(super) struct Capped {
    /// What the agent reads.
    pub(super) text: String,
    /// Workspace path of the full text, where it was cut and could be kept.
    pub(super) full: Option<String>,
}

/// Cuts a text that is too long to its head and tail and keeps the whole in the
/// workspace. Nothing is cut silently: the gap says how much is missing and where the
/// rest is, or why it could not be kept.
pub(super) fn apply(
    text: String,
    ingress: &Ingress,
    workspace: &Workspace,
    bounds: Bounds,
) -> Capped {
    if text.len() <= bounds.text {
        return Capped { text, full: None };
    }
    let head = floor(&text, bounds.text / 4 * 3);
    let tail = ceil(&text, text.len() - bounds.text / 4);
    let path = Utf8PathBuf::from(format!("{FOLDER}/{ingress}.txt"));
    let kept = workspace.write(&path, text.as_bytes());
    let rest = match &kept {
        Ok(()) => format!("the full text is in `{path}`"),
        Err(error) => format!("the full text could not be kept: {error}"),
    };
    let gap = format!("\n[… {} of {} bytes cut; {rest} …]\n", tail - head, text.len());
    let text = [&text[..head], &gap, &text[tail..]].concat();
    Capped { text, full: kept.is_ok().then(|| path.into_string()) }
}

/// Largest character boundary that is not above `index`.
fn floor(text: &str, mut index: usize) -> usize {
    while !text.is_char_boundary(index) {
        index -= 1;
    }
    index
}

/// Smallest character boundary that is not below `index`.
fn ceil(text: &str, mut index: usize) -> usize {
    while !text.is_char_boundary(index) {
        index += 1;
    }
    index
}
