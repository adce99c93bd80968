//! Messages: MIME (eml), mailboxes (mbox), and those of Outlook (msg), as Markdown.
//!
//! Headers, the text, the attachments by name, type and size. What is attached and can be
//! read is read below, by the same readers, so many levels down and no further. Nothing of
//! a message is fetched.

mod compressed;
mod message;
mod outlook;

use super::office::Begun;
use super::{Document, Unreadable, kind};

/// Levels below the outermost message at which attachments are read.
const LEVELS: u8 = 3;

/// The most attachments that are read.
const ATTACHMENTS: usize = 50;

/// The most bytes of text that is shown of an attachment.
const SHOWN: usize = 256 << 10;

/// The most bytes of text of all attachments.
const ALL_SHOWN: usize = 2 << 20;

/// The kinds of messages.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Format {
    /// A message in MIME.
    Mime,
    /// Many messages, one after the other.
    Mailbox,
    /// A message of Outlook.
    Outlook,
}

impl Format {
    /// What it is called.
    pub(super) fn name(self) -> &'static str {
        match self {
            Self::Mime => "an email message",
            Self::Mailbox => "a mailbox",
            Self::Outlook => "an Outlook message",
        }
    }
}

/// Headers that messages have.
const KNOWN: [&str; 16] = [
    "from",
    "to",
    "cc",
    "subject",
    "date",
    "received",
    "message-id",
    "mime-version",
    "return-path",
    "delivered-to",
    "content-type",
    "reply-to",
    "sender",
    "content-transfer-encoding",
    "dkim-signature",
    "x-mailer",
];

/// Headers that a text which only looks like a message has not.
const STRONG: [&str; 6] =
    ["received", "message-id", "mime-version", "return-path", "delivered-to", "dkim-signature"];

/// How much of a file is looked at to tell a message, in bytes.
const LOOKED: usize = 16 << 10;

/// Tells whether a file is a message, and of which kind, by its first lines.
pub(super) fn detect(name: &str, media_type: Option<&str>, bytes: &[u8]) -> Option<Format> {
    let start = &bytes[..bytes.len().min(LOOKED)];
    let start = start.strip_prefix(b"\xef\xbb\xbf").unwrap_or(start);
    if let Some(rest) = start.strip_prefix(b"From ") {
        let line = rest.iter().position(|byte| *byte == b'\n')?;
        let (known, _) = headers(&rest[line + 1..]);
        return (known >= 2).then_some(Format::Mailbox);
    }
    let (known, strong) = headers(start);
    let suffix = kind::suffix(name);
    let named = matches!(suffix.as_deref(), Some("eml" | "mht" | "mhtml"))
        || media_type.is_some_and(|it| it.starts_with("message/rfc822"));
    ((named && known >= 1) || (known >= 3 && strong >= 1)).then_some(Format::Mime)
}

/// Counts the known headers that a text begins with, and those that only messages have.
fn headers(text: &[u8]) -> (usize, usize) {
    let (mut known, mut strong) = (0, 0);
    for (index, line) in text.split(|byte| *byte == b'\n').enumerate() {
        let line = line.strip_suffix(b"\r").unwrap_or(line);
        if line.is_empty() {
            break;
        }
        if index > 0 && line.starts_with(b" ") || line.starts_with(b"\t") {
            continue;
        }
        let Some(colon) = line.iter().position(|byte| *byte == b':') else {
            // The last line may be cut.
            break;
        };
        let name = String::from_utf8_lossy(&line[..colon]).to_ascii_lowercase();
        if name.is_empty() || name.contains(|letter: char| !letter.is_ascii_graphic()) {
            return (0, 0);
        }
        known += usize::from(KNOWN.contains(&name.as_str()));
        strong += usize::from(STRONG.contains(&name.as_str()));
    }
    (known, strong)
}

/// Reads messages; `level` tells how many others these are in.
pub(super) fn read(format: Format, bytes: &[u8], level: u8) -> Result<Document, Unreadable> {
    match format {
        Format::Mime => message::read(bytes, level),
        Format::Mailbox => message::mailbox(bytes, level),
        Format::Outlook => outlook::read(bytes, level),
    }
}

/// What hangs on a message.
struct Attachment {
    name: String,
    media_type: String,
    content: Content,
}

/// What an attachment holds.
enum Content {
    Bytes(Vec<u8>),
    /// A message that was read already.
    Read(Box<Document>),
}

/// A message that was taken apart.
#[derive(Default)]
struct Letter {
    headers: Vec<(&'static str, String)>,
    body: String,
    attachments: Vec<Attachment>,
}

impl Letter {
    fn header(&mut self, name: &'static str, value: impl AsRef<str>) {
        let value = value.as_ref().split_whitespace().collect::<Vec<_>>().join(" ");
        if !value.is_empty() {
            self.headers.push((name, value));
        }
    }

    /// Writes the message under a heading.
    fn write(self, kind: &str, title: &str, level: u8) -> Document {
        let mut text = format!("# {title}\n");
        for (name, value) in &self.headers {
            text.extend(["\n**", name, ":** ", value]);
        }
        text.push_str("\n\n## Content\n\n");
        let body = self.body.trim();
        text.push_str(if body.is_empty() { "(no text)" } else { body });
        let mut notes = Vec::new();
        if !self.attachments.is_empty() {
            notes.push(format!("attachments: {}", self.attachments.len()));
            text.push_str("\n\n## Attachments\n");
            let mut below = String::new();
            let begun = Begun::now();
            for (index, attachment) in self.attachments.into_iter().enumerate() {
                let whole = index < ATTACHMENTS
                    && level < LEVELS
                    && below.len() < ALL_SHOWN
                    && !begun.is_late();
                attachment.write(whole, level, &mut text, &mut below);
            }
            text.push_str(&below);
        }
        Document { kind: kind.to_owned(), text, notes }
    }
}

impl Attachment {
    /// Writes the line of the list, and below what could be read.
    fn write(self, read: bool, level: u8, list: &mut String, below: &mut String) {
        let Self { name, media_type, content } = self;
        let (size, document) = match content {
            Content::Bytes(bytes) => {
                let size = format!(", {} bytes", bytes.len());
                let media_type = Some(media_type.as_str()).filter(|it| !it.is_empty());
                let document = read.then(|| super::read_at(&name, media_type, bytes, level + 1));
                (size, document)
            }
            Content::Read(document) => (String::new(), Some(Ok(*document))),
        };
        let media_type = if media_type.is_empty() { "unknown type" } else { &media_type };
        list.extend(["\n- `", &name, "`: ", media_type, &size]);
        match document {
            None => list.push_str(" (not read)"),
            Some(Err(reason)) => list.extend([" (not read: ", &reason.to_string(), ")"]),
            Some(Ok(mut document)) => {
                list.push_str(" (see below)");
                let whole = document.text.len();
                document.text.truncate(document.text.floor_char_boundary(SHOWN));
                below.extend(["\n\n## Attachment `", &name, "` (", &document.kind, ")\n\n"]);
                below.push_str(document.text.trim());
                if whole > document.text.len() {
                    below.push_str("\n\n(the rest is left out; it is too long)");
                }
            }
        }
    }
}

#[cfg(test)]
mod tests;
