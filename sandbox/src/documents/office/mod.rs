//! Documents of office programs and their kin, each as Markdown.
//!
//! One reader a kind. All of them bound what they build: trees of XML by nodes and depth,
//! tables by columns, texts by the bytes that come in. None opens anything but the bytes
//! that it was given.

mod book;
mod chart;
mod legacy;
mod marks;
mod math;
mod open;
mod package;
mod rtf;
mod slides;
mod word;
mod xml;

use std::sync::LazyLock;
use std::time::{Duration, Instant};

use regex::Regex;

use super::{Document, Unreadable};

pub(super) use rtf::read as rich_text;

/// The kinds of office documents.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Format {
    /// Word 2007 and later.
    Docx,
    /// Word 6 to 2003.
    Doc,
    /// `PowerPoint` 2007 and later.
    Pptx,
    /// `PowerPoint` 97 to 2003.
    Ppt,
    /// `OpenDocument` text.
    Odt,
    /// `OpenDocument` presentation.
    Odp,
    /// Rich Text Format.
    Rtf,
    /// EPUB book.
    Epub,
}

impl Format {
    /// What it is called.
    pub(super) fn name(self) -> &'static str {
        match self {
            Self::Docx | Self::Doc => "a Word document",
            Self::Pptx | Self::Ppt => "a PowerPoint presentation",
            Self::Odt => "an OpenDocument text",
            Self::Odp => "an OpenDocument presentation",
            Self::Rtf => "an RTF document",
            Self::Epub => "an EPUB book",
        }
    }
}

/// Extracts the text of an office document.
pub(super) fn read(format: Format, bytes: Vec<u8>) -> Result<Document, Unreadable> {
    match format {
        Format::Docx => word::read(&bytes),
        Format::Doc => legacy::word(bytes),
        Format::Pptx => slides::read(&bytes),
        Format::Ppt => legacy::slides(bytes),
        Format::Odt | Format::Odp => open::read(&bytes),
        Format::Rtf => rtf::read(&bytes),
        Format::Epub => book::read(&bytes),
    }
}

/// Time after which no further slide, chapter or message is begun: what was read is worth
/// more than the worker's end.
const TIME: Duration = Duration::from_secs(7);

/// When reading began.
pub(super) struct Begun(Instant);

impl Begun {
    pub(super) fn now() -> Self {
        Self(Instant::now())
    }

    /// Whether no further part is to be begun.
    pub(super) fn is_late(&self) -> bool {
        self.0.elapsed() > TIME
    }
}

static EMBEDDED: LazyLock<Option<Regex>> = LazyLock::new(|| Regex::new(r"\]\(<?data:[^)\s]*").ok());

/// Converts a page that a document holds; pictures whose bytes stand in it are only named.
pub(super) fn page(html: &str) -> String {
    let text = crate::html::to_markdown(html).unwrap_or_else(|| crate::html::without_tags(html));
    match EMBEDDED.as_ref() {
        Some(embedded) if text.contains("data:") => {
            embedded.replace_all(&text, "](embedded").into_owned()
        }
        _ => text,
    }
}

#[cfg(test)]
mod tests;
