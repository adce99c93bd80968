//! Word and PowerPoint files of the years before 2007 (doc, ppt).
//!
//! `undoc` parses them; what it yields is written here as the newer formats are.

use undoc::doc::DocParser;
use undoc::model::{Block, Paragraph, Section};
use undoc::ppt::PptParser;
use undoc::render::{RenderOptions, to_markdown};

use super::marks::{Blocks, Inline, quoted};
use crate::documents::{Document, Unreadable};

/// Extracts the text of a Word 6 to 2003 document.
pub(super) fn word(bytes: Vec<u8>) -> Result<Document, Unreadable> {
    const KIND: &str = "Word 97-2003 document";
    let document = DocParser::from_bytes(bytes)
        .and_then(|mut parser| parser.parse())
        .map_err(|error| refuse(KIND, &error))?;
    let mut options = RenderOptions::new().with_images(false).with_include_headers_footers(true);
    options.escape_special_chars = false;
    let text = to_markdown(&document, &options).map_err(|error| refuse(KIND, &error))?;
    let mut notes = Vec::new();
    if text.trim().is_empty() {
        notes.push("the document holds no text".to_owned());
    }
    if !document.resources.is_empty() {
        notes.push(format!("{} pictures are not shown", document.resources.len()));
    }
    notes.push("comments and text boxes of this old format are not read".to_owned());
    Ok(Document { kind: KIND.into(), text, notes })
}

/// Extracts the text of a PowerPoint 97 to 2003 presentation.
pub(super) fn slides(bytes: Vec<u8>) -> Result<Document, Unreadable> {
    const KIND: &str = "PowerPoint 97-2003 presentation";
    let document = PptParser::from_bytes(bytes)
        .and_then(|mut parser| parser.parse())
        .map_err(|error| refuse(KIND, &error))?;
    let mut blocks = Blocks::default();
    for (number, section) in (1..).zip(&document.sections) {
        slide(number, section, &mut blocks);
    }
    let notes = vec![
        format!("{} slides", document.sections.len()),
        "tables, charts and pictures of this old format are not read".to_owned(),
    ];
    Ok(Document { kind: KIND.into(), text: blocks.finish(), notes })
}

fn refuse(kind: &'static str, error: &undoc::Error) -> Unreadable {
    if matches!(error, undoc::Error::Encrypted) {
        Unreadable::Encrypted(kind)
    } else {
        Unreadable::damaged(kind, error)
    }
}

fn slide(number: usize, section: &Section, blocks: &mut Blocks) {
    let paragraphs = section.content.iter().filter_map(|block| match block {
        Block::Paragraph(paragraph) => Some(paragraph),
        Block::Table(_)
        | Block::PageBreak
        | Block::SectionBreak
        | Block::Note { .. }
        | Block::Image { .. } => None,
    });
    let (titles, rest): (Vec<_>, Vec<_>) = paragraphs.partition(|it| it.heading.level() == 1);
    let title: Vec<String> = titles.iter().map(|it| words(it)).collect();
    let colon = if title.is_empty() { "" } else { ": " };
    blocks.heading(2, &format!("Slide {number}{colon}{}", title.join(" ")));
    for paragraph in rest {
        blocks.push(&words(paragraph));
    }
    let notes: Vec<String> = section.notes.iter().flatten().map(words).collect();
    if !notes.is_empty() {
        blocks.push(&quoted("Speaker notes", &notes.join("\n")));
    }
}

fn words(paragraph: &Paragraph) -> String {
    let mut inline = Inline::default();
    for run in &paragraph.runs {
        let place = inline.place();
        inline.mark(&run.text);
        if let Some(address) = &run.hyperlink {
            inline.link(place, address);
        }
        if run.line_break {
            inline.mark("\n");
        }
    }
    inline.finish()
}
