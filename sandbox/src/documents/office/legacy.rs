//! Word and `PowerPoint` files of the years before 2007 (doc, ppt).
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
        notes.push(format!("pictures, not shown: {}", document.resources.len()));
    }
    notes.push("comments and text boxes of this old format are not read".to_owned());
    Ok(Document { kind: KIND.into(), text, notes })
}

/// Extracts the text of a `PowerPoint` 97 to 2003 presentation.
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
        format!("slides: {}", document.sections.len()),
        "texts of tables show as paragraphs; charts, pictures and which slides are hidden are not read".to_owned(),
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

#[cfg(test)]
mod tests {
    use std::io::{Cursor, Write};

    use cfb::CompoundFile;

    use crate::documents::document;

    fn compound(streams: &[(&str, Vec<u8>)]) -> Vec<u8> {
        let mut file = CompoundFile::create(Cursor::new(Vec::new())).unwrap();
        for (name, bytes) in streams {
            file.create_stream(format!("/{name}")).unwrap().write_all(bytes).unwrap();
        }
        file.into_inner().into_inner()
    }

    fn put(bytes: &mut [u8], at: usize, value: u32) {
        bytes[at..at + 4].copy_from_slice(&value.to_le_bytes());
    }

    /// A Word 97 document of one piece of text in UTF-16 ([MS-DOC] 2.5, 2.8.35).
    fn doc(text: &str, flags: u8) -> Vec<u8> {
        let units: Vec<u8> = text.encode_utf16().flat_map(u16::to_le_bytes).collect();
        let count = u32::try_from(units.len() / 2).unwrap();
        let mut main = vec![0; 1024];
        put(&mut main, 0, 0x00c1_a5ec);
        main[0x0b] = 0x02 | flags;
        main[32] = 14;
        main[62] = 22;
        put(&mut main, 64 + 3 * 4, count);
        main[152] = 93;
        put(&mut main, 154 + 33 * 8 + 4, 21);
        main.extend(units);
        let mut table = vec![0; 21];
        table[0] = 2;
        put(&mut table, 1, 16);
        put(&mut table, 9, count);
        put(&mut table, 15, 1024);
        compound(&[("WordDocument", main), ("1Table", table)])
    }

    fn record(kind: u16, container: bool, data: &[u8]) -> Vec<u8> {
        let version: u16 = if container { 0xf } else { 0 };
        let length = u32::try_from(data.len()).unwrap();
        [&version.to_le_bytes()[..], &kind.to_le_bytes(), &length.to_le_bytes(), data].concat()
    }

    fn words(list: &[u32]) -> Vec<u8> {
        list.iter().flat_map(|word| word.to_le_bytes()).collect()
    }

    /// A presentation of one slide, by its outline ([MS-PPT] 2.4.1, 2.4.14).
    fn ppt(title: &str, body: &str) -> Vec<u8> {
        let text = |kind: u32, text: &str| {
            let units: Vec<u8> = text.encode_utf16().flat_map(u16::to_le_bytes).collect();
            [record(0x0f9f, false, &words(&[kind])), record(0x0fa0, false, &units)].concat()
        };
        let slide = record(0x03f3, false, &words(&[2, 0, 2, 256, 0]));
        let list = [slide, text(0, title), text(1, body)].concat();
        let document = record(0x03e8, true, &record(0x0ff0, true, &list));
        let place = u32::try_from(document.len()).unwrap();
        let directory = record(0x1772, false, &words(&[1 << 20 | 1, 0]));
        let edit = u32::try_from(document.len() + directory.len()).unwrap();
        let user = record(0x0ff5, false, &words(&[256, 0, 0, place, 1, 2, 0]));
        let current = record(0x0ff6, false, &words(&[20, 0xe391_c05f, edit, 0]));
        let stream = [document, directory, user].concat();
        compound(&[("Current User", current), ("PowerPoint Document", stream)])
    }

    #[test]
    fn old_documents_and_presentations() {
        let got = document("a.doc", None, 1, doc("Harbour fees\rfür 北港\r", 0)).unwrap();
        assert_eq!(got.text.trim(), "Harbour fees\n\nfür 北港");
        let got = document("a.ppt", None, 1, ppt("Fees 收费", "one\rtwo")).unwrap();
        assert_eq!(got.text, "## Slide 1: Fees 收费\n\none\n\ntwo");
    }

    #[test]
    fn old_files_that_are_protected_or_damaged() {
        let empty = compound(&[("WordDocument", vec![0; 10])]);
        let mut half = ppt("x", "y");
        half.truncate(half.len() / 2);
        let cases = [
            ("a.doc", doc("x", 1), "protected by a password"),
            ("b.doc", empty, "damaged Word 97-2003 document"),
            ("c.doc", compound(&[("Other", vec![1])]), "holds no workbook, document or message"),
            ("a.ppt", half, "damaged"),
        ];
        for (name, bytes, want) in cases {
            let reason = document(name, None, 1, bytes).unwrap_err().to_string();
            assert!(reason.contains(want), "{name}: {reason}");
        }
    }
}
