//! The actions on pages, as they are asked for.
//!
//! A model writes an action as a call, `click_id(12)` or `fill_input_id(7, "Ellery")`.
//! It is parsed here and never evaluated: anything that is not exactly one known
//! action with its arguments is refused with what was expected.

use serde::{Deserialize, Serialize};

/// One action on a page.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "action", rename_all = "snake_case", deny_unknown_fields)]
pub enum Action {
    /// Puts `text` into an input in place of what it holds: types into a text field,
    /// chooses an option, sets a date, checks or unchecks (`true`, `false`), or attaches
    /// a file of the workspace, as the element needs.
    FillInputId {
        /// The element's id.
        id: u32,
        /// What to put in.
        text: String,
    },
    /// Clicks an element.
    ClickId {
        /// The element's id.
        id: u32,
    },
    /// Moves the pointer over an element.
    HoverId {
        /// The element's id.
        id: u32,
    },
    /// Clicks an element that downloads, and puts the file into the workspace.
    DownloadFileId {
        /// The element's id.
        id: u32,
    },
    /// Scrolls to the top of the page.
    ScrollToTop,
    /// Scrolls to its bottom; a page that grows is followed once.
    ScrollToBottom,
    /// Scrolls one screen up.
    ScrollUp,
    /// Scrolls one screen down.
    ScrollDown,
    /// Goes back in the history.
    Back,
    /// Ends browsing.
    Stop,
    /// Tells the address of the page.
    GetUrl,
    /// Scrolls to the next place where the page has that text.
    FindTextOnPage {
        /// What to look for; case and runs of spaces do not matter.
        text: String,
    },
    /// Opens an address.
    VisitPage {
        /// The address.
        url: String,
    },
    /// Clicks beside all elements, which closes menus and pop-ups.
    ClickBlankArea,
    /// Asks about the video of the page.
    AskQuestionAboutVideo {
        /// The question.
        question: String,
    },
}

/// Why a text is no action. The message is read by the model.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct ActionError(pub String);
