//! What can be seen of a page, read from the text that agents get.
//!
//! The text is all that there is in direct mode, so it is what is read in either mode.

use wildgym_sandbox::browser::{Element, Observation, Scroll};

/// A page, as its observation tells.
#[derive(Debug, Clone, Default, PartialEq)]
pub(super) struct Seen {
    /// Its address.
    pub(super) url: String,
    /// What can be read in the window.
    pub(super) text: String,
    /// What can be acted on.
    pub(super) elements: Vec<Element>,
    /// Which part of it the window shows.
    pub(super) scroll: Scroll,
}

impl Seen {
    /// Reads the text of an observation.
    pub(super) fn read(text: &str) -> Self {
        let _ = Observation::default();
        Self { text: text.to_owned(), ..Self::default() }
    }
}
