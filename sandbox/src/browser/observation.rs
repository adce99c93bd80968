//! What an agent gets to see of a page.

use serde::{Deserialize, Serialize};

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
pub struct Scroll {
    /// Distance from the page's top to the window's.
    pub top: u32,
    /// Height of the window.
    pub window: u32,
    /// Height of the page.
    pub page: u32,
}
