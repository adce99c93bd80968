//! XML parts as opening tags, closing tags and texts, read as they come.
//!
//! Names are without their prefixes. Entities of a document type are never expanded: a
//! reference that is not one of XML's own five or a number stands as it is written.

use std::borrow::Cow;
use std::io::BufRead;
use std::ops::ControlFlow;

use quick_xml::Reader;
use quick_xml::escape::unescape;
use quick_xml::events::{BytesStart, Event};

/// What a part is made of.
#[derive(Debug)]
pub(crate) enum Node<'a> {
    /// A tag opens.
    Open(&'a str, &'a BytesStart<'a>),
    /// A tag closes.
    Close(&'a str),
    /// A text, or a piece of one.
    Text(&'a str),
}

/// Whether a part is read further.
pub(crate) type Flow = ControlFlow<()>;

/// Go on.
pub(crate) const ON: Flow = ControlFlow::Continue(());

/// Reads a part to its end, or until the visitor breaks off; the error is what the parser
/// found.
pub(crate) fn walk(
    source: impl BufRead,
    mut visit: impl FnMut(Node<'_>) -> Flow,
) -> Result<(), String> {
    let mut reader = Reader::from_reader(source);
    let config = reader.config_mut();
    config.check_end_names = false;
    config.allow_unmatched_ends = true;
    config.allow_dangling_amp = true;
    let mut buffer = Vec::with_capacity(4096);
    let mut depth = 0_i64;
    loop {
        buffer.clear();
        let flow = match reader.read_event_into(&mut buffer).map_err(|error| error.to_string())? {
            Event::Start(tag) => {
                depth += 1;
                visit(Node::Open(tag.local_name().into_inner(), &tag))
            }
            Event::Empty(tag) => {
                let name = tag.local_name().into_inner();
                match visit(Node::Open(name, &tag)) {
                    ControlFlow::Continue(()) => visit(Node::Close(name)),
                    broken @ ControlFlow::Break(()) => broken,
                }
            }
            Event::End(tag) => {
                depth -= 1;
                visit(Node::Close(tag.local_name().into_inner()))
            }
            Event::Text(text) => visit(Node::Text(&text.xml10_content())),
            Event::CData(text) => visit(Node::Text(&text.xml10_content())),
            Event::GeneralRef(reference) => {
                let whole = format!("&{};", &*reference.xml10_content());
                visit(Node::Text(&unescape(&whole).unwrap_or(Cow::Borrowed(&whole))))
            }
            Event::Eof if depth > 0 => return Err("it ends within a tag".to_owned()),
            Event::Eof => return Ok(()),
            Event::Comment(_) | Event::Decl(_) | Event::PI(_) | Event::DocType(_) => ON,
        };
        if flow.is_break() {
            return Ok(());
        }
    }
}

/// Returns an attribute, by its name without prefix.
pub(crate) fn attribute(tag: &BytesStart<'_>, name: &str) -> Option<String> {
    let mut attributes = tag.attributes();
    let found = attributes
        .with_checks(false)
        .flatten()
        .find(|attribute| attribute.key.local_name().into_inner() == name)?;
    let value = found.value;
    Some(unescape(&value).map_or_else(|_| value.to_string(), Cow::into_owned))
}

/// Returns an attribute that is a number.
pub(crate) fn number(tag: &BytesStart<'_>, name: &str) -> Option<u32> {
    attribute(tag, name)?.trim().parse().ok()
}

/// Whether an attribute is set; `missing` where it is not there.
pub(crate) fn flag(tag: &BytesStart<'_>, name: &str, missing: bool) -> bool {
    attribute(tag, name).map_or(missing, |value| matches!(value.trim(), "1" | "true" | "on"))
}
