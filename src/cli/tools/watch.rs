//! `wildgym tools call --show`: a browser in a window, and what is done in it, line by line.

use std::sync::Arc;

use serde_json::Value;
use wildgym_toolbox::door::Watch;

use super::super::{Failure, environment, say};
use crate::report::visible;

/// Returns the variables that name the display of this session, or says that there is none.
pub(super) fn display() -> Result<Vec<(String, String)>, Failure> {
    let set = |name: &&str| Some(((*name).to_owned(), environment::get(name)?));
    let found: Vec<_> = environment::DISPLAY.iter().filter_map(set).collect();
    if found.iter().any(|(name, _)| environment::SCREENS.contains(&name.as_str())) {
        return Ok(found);
    }
    Err(Failure::usage("`--show` needs a display, and neither `DISPLAY` nor `WAYLAND_DISPLAY` is set")
        .hint("run it in a graphical session, or under `xvfb-run`; without `--show` the browser has no window"))
}

/// Returns what writes the rounds of a navigator to standard error as they happen.
pub(super) fn watch() -> Arc<Watch> {
    Arc::new(|_, note: &Value| {
        for line in lines(note) {
            say(&visible(&line));
        }
    })
}

/// Writes a note: of a round what was seen, done, and what came of it.
fn lines(note: &Value) -> Vec<String> {
    let part = |name: &str| note[name].as_str().filter(|text| !text.is_empty());
    let Some(round) = note["round"].as_u64() else {
        return vec![format!(
            "note: {}",
            part("note").map_or_else(|| note.to_string(), str::to_owned)
        )];
    };
    let head = format!("round {round}: {}", part("action").unwrap_or("no action"));
    let mut lines = vec![head];
    lines.extend(part("url").map(|url| format!("  at {url}")));
    lines.extend(part("saw").map(|saw| format!("  saw: {saw}")));
    lines.extend(part("then").map(|then| format!("  then: {then}")));
    lines
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn a_round_says_what_was_done_and_what_came_of_it() {
        let note = json!({ "round": 2, "url": "https://port.test/", "action": "click_id(12)",
            "saw": "a menu", "then": "clicked [12] link \"Fares\"" });
        let want = "round 2: click_id(12)\n  at https://port.test/\n  saw: a menu\n  \
                    then: clicked [12] link \"Fares\"";
        assert_eq!(lines(&note).join("\n"), want);
        assert_eq!(lines(&json!({ "round": 1, "action": "" })), ["round 1: no action"]);
        assert_eq!(lines(&json!({ "note": "text only" })), ["note: text only"]);
    }
}
