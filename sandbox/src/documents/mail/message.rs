//! Messages in MIME (RFC 5322, RFC 2045), and mailboxes of them (RFC 4155).

use mail_parser::{Address, Message, MessageParser, MessagePart, MimeHeaders, PartType};

use super::{Attachment, Content, LEVELS, Letter};
use crate::documents::office::{Begun, page};
use crate::documents::{Document, TEXT_LIMIT, Unreadable};

/// What the kind is called.
const KIND: &str = "email message";

/// The most messages of a mailbox that are shown.
const MESSAGES: usize = 2000;

/// Reads a message.
pub(super) fn read(bytes: &[u8], level: u8) -> Result<Document, Unreadable> {
    let message = MessageParser::default()
        .parse(bytes)
        .ok_or_else(|| Unreadable::Damaged { kind: KIND, reason: "it has no headers".into() })?;
    Ok(taken_apart(&message, level).write("Email message", "Email Message", level))
}

/// Reads all messages of a mailbox, each under a heading with its number.
pub(super) fn mailbox(bytes: &[u8], level: u8) -> Result<Document, Unreadable> {
    let (mut text, mut count, mut failed, mut left_out) = (String::new(), 0, 0, 0);
    let begun = Begun::now();
    for one in messages(bytes) {
        count += 1;
        if count > MESSAGES || text.len() > TEXT_LIMIT || begun.is_late() {
            left_out += 1;
            continue;
        }
        let Some(message) = MessageParser::default().parse(&one) else {
            failed += 1;
            continue;
        };
        let title = format!("Message {count}");
        if !text.is_empty() {
            text.push_str("\n\n");
        }
        text.push_str(&taken_apart(&message, level).write(KIND, &title, level).text);
    }
    if count == failed {
        let reason = "none of its messages could be read".into();
        return Err(Unreadable::Damaged { kind: "mailbox", reason });
    }
    let mut notes = vec![format!("messages: {count}")];
    if failed > 0 {
        notes.push(format!("messages that could not be read: {failed}"));
    }
    if left_out > 0 {
        notes
            .push(format!("messages at the end left out, as they would take too long: {left_out}"));
    }
    Ok(Document { kind: "Mailbox".into(), text, notes })
}

/// Cuts a mailbox at the lines that begin with `From `, and takes the quoting of others off.
fn messages(bytes: &[u8]) -> impl Iterator<Item = Vec<u8>> {
    let mut lines = bytes.split_inclusive(|byte| *byte == b'\n').peekable();
    std::iter::from_fn(move || {
        lines.next()?;
        let mut message = Vec::new();
        while let Some(line) = lines.next_if(|line| !line.starts_with(b"From ")) {
            let marks = line.iter().take_while(|byte| **byte == b'>').count();
            let quoted = marks > 0 && line[marks..].starts_with(b"From ");
            message.extend_from_slice(&line[usize::from(quoted)..]);
        }
        Some(message)
    })
}

fn taken_apart(message: &Message<'_>, level: u8) -> Letter {
    let mut letter = Letter::default();
    let people = |address: Option<&Address<'_>>| address.map(people).unwrap_or_default();
    letter.header("From", people(message.from()));
    letter.header("To", people(message.to()));
    letter.header("Cc", people(message.cc()));
    letter.header("Bcc", people(message.bcc()));
    letter.header("Reply-To", people(message.reply_to()));
    letter
        .header("Date", message.date().map(mail_parser::DateTime::to_rfc3339).unwrap_or_default());
    letter.header("Subject", message.subject().unwrap_or_default());
    letter.header("Message-ID", message.message_id().unwrap_or_default());
    letter.body = body(message);
    for part in message.attachments() {
        letter.attachments.push(attachment(part, level));
    }
    letter
}

/// Lists people by name and address.
fn people(address: &Address<'_>) -> String {
    let people = address.iter().map(|person| {
        match (person.name.as_deref().map(str::trim), person.address.as_deref()) {
            (Some(name), Some(address)) if !name.is_empty() && name != address => {
                format!("{address} ({name})")
            }
            (name, address) => address.or(name).unwrap_or_default().to_owned(),
        }
    });
    people.collect::<Vec<_>>().join(", ")
}

/// Returns the text: the plain version where there is one.
fn body(message: &Message<'_>) -> String {
    let parts = message.text_bodies().map(|part| match &part.body {
        PartType::Html(html) => page(html),
        PartType::Text(text) => text.to_string(),
        PartType::Binary(_)
        | PartType::InlineBinary(_)
        | PartType::Message(_)
        | PartType::Multipart(_) => String::new(),
    });
    parts.filter(|part| !part.trim().is_empty()).collect::<Vec<_>>().join("\n\n")
}

fn attachment(part: &MessagePart<'_>, level: u8) -> Attachment {
    let media_type = part.content_type().map(|it| match it.subtype() {
        Some(subtype) => format!("{}/{subtype}", it.ctype()),
        None => it.ctype().to_owned(),
    });
    let mut media_type = media_type.unwrap_or_default().to_ascii_lowercase();
    let name = part.attachment_name().map(str::to_owned);
    let content = match &part.body {
        PartType::Message(inner) if level < LEVELS => {
            let letter = taken_apart(inner, level + 1);
            Content::Read(Box::new(letter.write("email message", "Email Message", level + 1)))
        }
        PartType::Message(inner) => Content::Bytes(inner.raw_message.to_vec()),
        // These were decoded, whatever their encoding was.
        PartType::Text(text) | PartType::Html(text) => {
            media_type = media_type.split(';').next().unwrap_or_default().to_owned();
            Content::Bytes(text.as_bytes().to_vec())
        }
        PartType::Binary(_) | PartType::InlineBinary(_) | PartType::Multipart(_) => {
            Content::Bytes(part.contents().to_vec())
        }
    };
    let name = name.unwrap_or_else(|| match (&part.body, media_type.as_str()) {
        (PartType::Message(inner), _) => inner.subject().unwrap_or("message").to_owned() + ".eml",
        (_, "text/html") => "part.html".to_owned(),
        _ => "part".to_owned(),
    });
    Attachment { name, media_type, content }
}
