//! What an agent gets to see of a page.

use std::fmt::Write as _;

use serde::{Deserialize, Serialize};

use super::page::text::fold;

/// As many characters of the text in the window are repeated.
const TEXT: usize = 16_000;

/// As many elements outside of the window are listed.
const OUTSIDE: usize = 60;

/// As many tabs are listed.
const TABS: usize = 8;

/// A page after an action.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Observation {
    /// What the action did, for the agent: `clicked [12] button "Search"`.
    pub feedback: String,
    /// Address of the page.
    pub url: String,
    /// Its title.
    pub title: String,
    /// What can be read in the window, top to bottom.
    pub text: String,
    /// What can be acted on, in reading order: the whole page's, not only the window's.
    pub elements: Vec<Element>,
    /// Which part of the page the window shows.
    pub scroll: Scroll,
    /// Addresses of all open tabs, the shown one first.
    pub tabs: Vec<String>,
    /// What happened beside the action, for the agent: dialogs that opened and how they
    /// were answered, tabs that opened, files that came into the workspace.
    pub notices: Vec<String>,
    /// Paths of the files that came into the workspace.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub downloads: Vec<String>,
}

impl Observation {
    /// Returns the page as text for a model: what the action did, notices, title and
    /// address, which part the window shows, the text in the window with marks of what
    /// can be acted on (`[12] button "Search"`), then the elements outside of it.
    ///
    /// The format is stable; a part that has nothing to say is left out. At most 16,000
    /// characters of the window's text and 60 elements outside of it are shown; cuts are
    /// said, with what shows more.
    ///
    /// A page cannot imitate the rest of it. Outside of the text in the window, whatever
    /// comes from a page stays in its line, without control characters and such as turn the
    /// direction of a text. In marks, `"` and `\` of names, values and options are written
    /// `\"` and `\\`. In the text, what a page itself writes like the begin of a mark is
    /// written `\[12]`; so a `[12]` at the begin of a word is always a mark.
    #[must_use]
    pub fn to_text(&self) -> String {
        let mut out = String::new();
        if !self.feedback.is_empty() {
            line(&mut out, &fold(&self.feedback));
        }
        for notice in &self.notices {
            line(&mut out, &format!("note: {}", fold(notice)));
        }
        let title = fold(&self.title);
        let title = if title.is_empty() { "(no title)" } else { &title };
        line(&mut out, &format!("page: {title}"));
        line(&mut out, &format!("url: {}", fold(&self.url)));
        if self.tabs.len() > 1 {
            let others: Vec<String> =
                self.tabs.iter().skip(1).take(TABS).map(|url| fold(url)).collect();
            line(&mut out, &format!("other tabs: {}", others.join(" ")));
        }
        line(&mut out, &self.scroll.to_text());
        out.push_str("---\n");
        if self.text.is_empty() {
            line(&mut out, "(there is no text in the window)");
        } else if let Some((end, _)) = self.text.char_indices().nth(TEXT) {
            line(&mut out, self.text[..end].trim_end());
            line(
                &mut out,
                "… (the rest of the window was cut; `find_text_on_page` goes to a text in it)",
            );
        } else {
            line(&mut out, &self.text);
        }
        self.outside(&mut out);
        out
    }

    /// Lists what can be acted on outside of the window.
    fn outside(&self, out: &mut String) {
        let hidden: Vec<&Element> = self.elements.iter().filter(|element| !element.shown).collect();
        if hidden.is_empty() {
            return;
        }
        line(out, "---");
        line(out, "outside of the window:");
        for element in hidden.iter().take(OUTSIDE) {
            line(out, &element.to_text());
        }
        if hidden.len() > OUTSIDE {
            line(out, &format!("… and {} more; scroll to see them", hidden.len() - OUTSIDE));
        }
    }
}

fn line(out: &mut String, text: &str) {
    out.push_str(text);
    out.push('\n');
}

/// Writes a text of a page as it stands between quotes.
fn quoted(text: &str) -> String {
    fold(text).replace('\\', "\\\\").replace('"', "\\\"")
}

impl Element {
    /// Returns the element in one line: `[7] textbox "Name" = "Ann" (required)`.
    #[must_use]
    pub fn to_text(&self) -> String {
        let mut out = format!("[{}] {}", self.id, self.role);
        if !self.name.is_empty() {
            let _ = write!(out, " \"{}\"", quoted(&self.name));
        }
        if let Some(value) = self.value.as_ref().filter(|value| **value != self.name) {
            let _ = if self.role == "link" {
                write!(out, " → {}", fold(value).replace(' ', "%20"))
            } else {
                write!(out, " = \"{}\"", quoted(value))
            };
        }
        if !self.states.is_empty() {
            let _ = write!(out, " ({})", self.states.join(", "));
        }
        if let Some(frame) = &self.frame {
            let _ = write!(out, " in the frame {}", fold(frame));
        }
        out
    }
}

impl Scroll {
    /// Says which part of the page the window shows, and what shows the rest.
    fn to_text(self) -> String {
        let end = (self.top + self.window).min(self.page);
        let above = self.top > 0;
        let below = end < self.page;
        let more = match (above, below) {
            (false, false) => return "window: the whole page".into(),
            (true, true) => "`scroll_up` and `scroll_down` show more",
            (true, false) => "`scroll_up` shows more",
            (false, true) => "`scroll_down` shows more",
        };
        format!("window: {} to {end} of {} px; {more}", self.top, self.page)
    }
}

/// Something on a page that can be acted on.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Element {
    /// Its id: the same as long as the element lives, never given again on this page.
    pub id: u32,
    /// Its role: `button`, `link`, `textbox`, `combobox`, `checkbox`, …
    pub role: String,
    /// Its accessible name; empty where it has none.
    pub name: String,
    /// What it holds or where it leads, where that says something.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub value: Option<String>,
    /// Options that can be chosen.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub options: Vec<String>,
    /// `disabled`, `checked`, `expanded`, `required`, `password`, …
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub states: Vec<String>,
    /// Whether it is in the window now.
    pub shown: bool,
    /// Name or address of the frame it lies in, where that is not the page itself.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub frame: Option<String>,
}

/// Which part of a page the window shows, in CSS pixels.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Scroll {
    /// Distance from the page's top to the window's.
    pub top: u32,
    /// Height of the window.
    pub window: u32,
    /// Height of the page.
    pub page: u32,
}
