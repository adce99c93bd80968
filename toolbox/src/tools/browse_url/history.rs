//! What was done so far, for the navigator: the last rounds when it acts, all of them when
//! it plans anew or sums up.

use std::fmt::Write as _;

/// Rounds that a navigator sees when it acts.
pub(super) const WINDOW: usize = 5;

/// Most characters of one part of a round.
const MOST: usize = 1500;

/// One round.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Item {
    /// Its number, from 1.
    pub(super) round: u32,
    /// Where it began.
    pub(super) url: String,
    /// What the navigator saw, in its words; empty where its reply could not be read.
    pub(super) observation: String,
    /// The action, as written; empty where there was none.
    pub(super) action: String,
    /// What came of it.
    pub(super) outcome: String,
}

/// Writes rounds, oldest first.
pub(super) fn written(items: &[Item]) -> String {
    let mut text = String::new();
    for item in items {
        let _ = writeln!(text, "Round {}, at {}", item.round, item.url);
        for (name, part) in
            [("saw", &item.observation), ("did", &item.action), ("then", &item.outcome)]
        {
            if !part.trim().is_empty() {
                let _ = writeln!(text, "  {name}: {}", cut(part));
            }
        }
    }
    if text.is_empty() { "nothing yet\n".to_owned() } else { text }
}

/// Returns the last rounds that a navigator sees.
pub(super) fn window(items: &[Item]) -> &[Item] {
    &items[items.len().saturating_sub(WINDOW)..]
}

/// Puts a text on one line and cuts it.
pub(super) fn cut(text: &str) -> String {
    let line = text.split_whitespace().collect::<Vec<_>>().join(" ");
    match line.char_indices().nth(MOST) {
        Some((end, _)) => format!("{}…", &line[..end]),
        None => line,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_last_rounds_are_shown_and_long_parts_cut() {
        let item = |round| Item {
            round,
            url: "https://port.test/".to_owned(),
            observation: "x".repeat(MOST + 1),
            action: "scroll_down()".to_owned(),
            outcome: "scrolled\ndown".to_owned(),
        };
        let items: Vec<Item> = (1..=7).map(item).collect();
        let shown = written(window(&items));
        assert!(shown.starts_with("Round 3, at https://port.test/\n  saw: xxx"), "{shown}");
        assert!(shown.ends_with("  did: scroll_down()\n  then: scrolled down\n"), "{shown}");
        assert_eq!(shown.matches('…').count(), WINDOW);
        assert_eq!(written(&[]), "nothing yet\n");
    }
}
