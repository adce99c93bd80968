//! XML as it stands: structure and attributes included, no entity expanded.
//!
//! Only an XML whose lines are too long to read gets line breaks and indentation,
//! between its tags and nowhere else.

use quick_xml::Reader;
use quick_xml::events::Event;

use super::Document;
use super::reason::brief;

/// A line longer than this is broken, in bytes.
const LONG: usize = 2000;

/// Levels beyond which white space would outgrow the text.
const LEVELS: usize = 40;

/// Reads an XML; one that is not well formed is shown as it is.
pub(super) fn read(text: String) -> Document {
    let mut notes = Vec::new();
    let text = match spread(&text) {
        Ok(spread) if text.lines().any(|line| line.len() > LONG) => spread,
        Ok(_) => text,
        Err(why) => {
            notes.push(format!("not well formed ({why}); shown as it is"));
            text
        }
    };
    if text.contains("<!ENTITY") {
        notes.push("entities that it defines are not expanded".to_owned());
    }
    Document { kind: "XML".into(), text, notes }
}

/// Gives every tag that stands beside another a line of its own.
fn spread(xml: &str) -> Result<String, String> {
    let mut reader = Reader::from_str(xml);
    let mut out = String::with_capacity(xml.len() + xml.len() / 4);
    let (mut level, mut begin, mut before) = (0_usize, 0, Before::Nothing);
    loop {
        let event = reader.read_event().map_err(|error| brief(&error))?;
        let end = usize::try_from(reader.buffer_position()).unwrap_or(xml.len());
        let raw = xml.get(begin..end).unwrap_or_default();
        begin = end;
        match event {
            Event::Eof if level > 0 => return Err("it breaks off".to_owned()),
            Event::Eof => return Ok(out),
            // Line ends between tags are layout; a mere space may separate words.
            Event::Text(_) if raw.trim().is_empty() && raw.contains('\n') => continue,
            Event::Text(_) | Event::CData(_) | Event::GeneralRef(_) => before = Before::Text,
            Event::Start(_) => {
                before.line(&mut out, level);
                level += 1;
                before = Before::Start;
            }
            Event::End(_) => {
                level = level.saturating_sub(1);
                // An element without content keeps its tags side by side.
                if before != Before::Start {
                    before.line(&mut out, level);
                }
                before = Before::Tag;
            }
            Event::Empty(_)
            | Event::Comment(_)
            | Event::Decl(_)
            | Event::PI(_)
            | Event::DocType(_) => {
                before.line(&mut out, level);
                before = Before::Tag;
            }
        }
        out.push_str(raw);
    }
}

/// What stands before a tag.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Before {
    Nothing,
    Text,
    Start,
    Tag,
}

impl Before {
    /// Begins a line where that changes no text.
    fn line(self, out: &mut String, level: usize) {
        if matches!(self, Self::Start | Self::Tag) {
            out.push('\n');
            out.extend(std::iter::repeat_n("  ", level.min(LEVELS)));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_long_lines_are_broken_and_nothing_is_lost() {
        let short = "<a><b k='1'/></a>";
        assert_eq!(read(short.into()).text, short);
        let spread = spread("<?xml version='1.0'?><a><b k='1'/><c>t <i>u</i> &e;</c><d></d></a>");
        let want =
            "<?xml version='1.0'?>\n<a>\n  <b k='1'/>\n  <c>t <i>u</i> &e;</c>\n  <d></d>\n</a>";
        assert_eq!(spread.as_deref(), Ok(want));
        let open = read("<a><b></a>".into());
        assert!(open.notes[0].starts_with("not well formed"), "{:?}", open.notes);
        assert_eq!(open.text, "<a><b></a>");
    }
}
