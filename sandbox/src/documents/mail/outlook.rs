//! Messages of Outlook ([MS-OXMSG]): properties in streams of a compound file.

use std::io::{Cursor, Read};

use cfb::CompoundFile;
use encoding_rs::Encoding;
use jiff::Timestamp;

use super::compressed::unpack;
use super::{Attachment, Content, LEVELS, Letter};
use crate::documents::office::{page, rich_text};
use crate::documents::{Document, Unreadable};
use crate::encoding;

/// What the kind is called.
const KIND: &str = "Outlook message";

/// The most bytes of a property.
const PROPERTY: u64 = 64 << 20;

/// The most people or attachments.
const MANY: usize = 1000;

/// Properties ([MS-OXPROPS]).
const SUBJECT: u16 = 0x0037;
const SUBMITTED: u16 = 0x0039;
const DELIVERED: u16 = 0x0e06;
const BODY: u16 = 0x1000;
const BODY_RTF: u16 = 0x1009;
const BODY_HTML: u16 = 0x1013;
const MESSAGE_ID: u16 = 0x1035;
const DISPLAY: [(u16, &str); 3] = [(0x0e04, "To"), (0x0e03, "Cc"), (0x0e02, "Bcc")];

/// Reads a message.
pub(super) fn read(bytes: &[u8], level: u8) -> Result<Document, Unreadable> {
    let file = CompoundFile::open(Cursor::new(bytes))
        .map_err(|error| Unreadable::damaged(KIND, &error))?;
    let mut store = Store { file, page: encoding_rs::WINDOWS_1252 };
    store.page = store.code_page().unwrap_or(store.page);
    let letter = store.letter("/", 32, level);
    if letter.headers.is_empty() && letter.body.trim().is_empty() && letter.attachments.is_empty() {
        let reason = "it holds no subject, no people, no text".into();
        return Err(Unreadable::Damaged { kind: KIND, reason });
    }
    Ok(letter.write(KIND, "Email Message", level))
}

struct Store<'a> {
    file: CompoundFile<Cursor<&'a [u8]>>,
    /// Encoding of texts that are not in UTF-16.
    page: &'static Encoding,
}

impl Store<'_> {
    fn stream(&mut self, path: &str) -> Option<Vec<u8>> {
        let mut bytes = Vec::new();
        let stream = self.file.open_stream(path).ok()?;
        // A stream that breaks off is still worth its beginning.
        let _ = stream.take(PROPERTY).read_to_end(&mut bytes);
        Some(bytes)
    }

    /// Returns a property of text.
    fn text(&mut self, folder: &str, id: u16) -> Option<String> {
        if let Some(bytes) = self.stream(&format!("{folder}__substg1.0_{id:04X}001F")) {
            let text = encoding_rs::UTF_16LE.decode_without_bom_handling(&bytes).0;
            return Some(text.trim_end_matches('\0').to_owned());
        }
        let bytes = self.stream(&format!("{folder}__substg1.0_{id:04X}001E"))?;
        let text = self.page.decode_without_bom_handling(&bytes).0;
        Some(text.trim_end_matches('\0').to_owned())
    }

    fn binary(&mut self, folder: &str, id: u16) -> Option<Vec<u8>> {
        self.stream(&format!("{folder}__substg1.0_{id:04X}0102"))
    }

    /// Returns a property of fixed size; `head` bytes come before the first of them.
    fn fixed(&mut self, folder: &str, head: usize, id: u16) -> Option<u64> {
        let bytes = self.stream(&format!("{folder}__properties_version1.0"))?;
        let entries = bytes.get(head..)?.as_chunks::<16>().0;
        let entry = entries.iter().find(|it| it[2..4] == id.to_le_bytes())?;
        Some(u64::from_le_bytes(entry[8..16].try_into().ok()?))
    }

    /// Returns the encoding that the message names for its texts.
    fn code_page(&mut self) -> Option<&'static Encoding> {
        let number = self.fixed("/", 32, 0x3ffd).or_else(|| self.fixed("/", 32, 0x3fde))?;
        let number = u32::try_from(number & 0xffff).ok()?;
        let label = match number {
            65001 => "utf-8".to_owned(),
            936 => "gbk".to_owned(),
            950 => "big5".to_owned(),
            932 => "shift_jis".to_owned(),
            949 => "euc-kr".to_owned(),
            number => format!("windows-{number}"),
        };
        Encoding::for_label(label.as_bytes())
    }

    /// Returns the names of storages in a folder that begin with a text.
    fn storages(&self, folder: &str, start: &str) -> Vec<String> {
        let entries = self.file.read_storage(folder).into_iter().flatten();
        let names = entries.filter(cfb::Entry::is_storage).map(|entry| entry.name().to_owned());
        names.filter(|name| name.starts_with(start)).take(MANY).collect()
    }

    /// Takes a message apart.
    fn letter(&mut self, folder: &str, head: usize, level: u8) -> Letter {
        let mut letter = Letter::default();
        let sender = self.person(folder, [0x0c1a, 0x0042], [0x5d01, 0x5d02, 0x0c1f, 0x0065]);
        letter.header("From", sender);
        let people = self.people(folder);
        for (index, (display, name)) in (1..).zip(DISPLAY) {
            let listed: Vec<&str> = people
                .iter()
                .filter(|(kind, _)| *kind == index)
                .map(|(_, it)| it.as_str())
                .collect();
            let shown = self.text(folder, display).unwrap_or_default();
            letter.header(name, if listed.is_empty() { shown } else { listed.join(", ") });
        }
        let date =
            self.fixed(folder, head, SUBMITTED).or_else(|| self.fixed(folder, head, DELIVERED));
        letter.header("Date", date.and_then(time).unwrap_or_default());
        letter.header("Subject", self.text(folder, SUBJECT).unwrap_or_default());
        letter.header("Message-ID", self.text(folder, MESSAGE_ID).unwrap_or_default());
        letter.body = self.body(folder);
        letter.attachments = self.attachments(folder, level);
        letter
    }

    /// Returns name and address of a person, by the first properties that are there.
    fn person(&mut self, folder: &str, names: [u16; 2], addresses: [u16; 4]) -> String {
        let mut first = |ids: &[u16]| {
            ids.iter().find_map(|id| self.text(folder, *id).filter(|it| !it.trim().is_empty()))
        };
        let name = first(&names).unwrap_or_default();
        // Addresses within an organisation are paths, and tell nobody anything.
        let address =
            first(&addresses).filter(|it| !it.starts_with("/O=") && !it.starts_with("/o="));
        match address {
            Some(address) if name.is_empty() || name == address => address,
            Some(address) => format!("{address} ({name})"),
            None => name,
        }
    }

    /// Returns the recipients: 1 for to, 2 for copies, 3 for blind copies.
    fn people(&mut self, folder: &str) -> Vec<(u64, String)> {
        let mut people = Vec::new();
        for name in self.storages(folder, "__recip_version1.0_") {
            let folder = format!("{folder}{name}/");
            let kind = self.fixed(&folder, 8, 0x0c15).unwrap_or(1) & 0xf;
            let person = self.person(&folder, [0x3001, 0x5ff6], [0x39fe, 0x3003, 0x5ff7, 0x403e]);
            if !person.is_empty() {
                people.push((kind, person));
            }
        }
        people
    }

    /// Returns the text: plain, else of the page, else of the compressed RTF.
    fn body(&mut self, folder: &str) -> String {
        if let Some(text) = self.text(folder, BODY).filter(|text| !text.trim().is_empty()) {
            return text.replace("\r\n", "\n");
        }
        let html = match self.binary(folder, BODY_HTML) {
            Some(bytes) => Some(encoding::decode(&bytes, None).text),
            None => self.text(folder, BODY_HTML),
        };
        if let Some(html) = html.filter(|html| !html.trim().is_empty()) {
            return page(&html);
        }
        let packed = self.binary(folder, BODY_RTF).unwrap_or_default();
        let text = unpack(&packed).and_then(|rtf| rich_text(&rtf).ok());
        text.map(|document| document.text).unwrap_or_default()
    }

    fn attachments(&mut self, folder: &str, level: u8) -> Vec<Attachment> {
        let mut attachments = Vec::new();
        for name in self.storages(folder, "__attach_version1.0_") {
            let folder = format!("{folder}{name}/");
            let names = [0x3707, 0x3704, 0x3001];
            let name =
                names.iter().find_map(|id| self.text(&folder, *id).filter(|it| !it.is_empty()));
            let mut media_type = self.text(&folder, 0x370e).unwrap_or_default();
            let inner = format!("{folder}__substg1.0_3701000D/");
            let message = self.file.exists(format!("{inner}__properties_version1.0"));
            let content = if message {
                "message/rfc822".clone_into(&mut media_type);
                if level < LEVELS {
                    let letter = self.letter(&inner, 24, level + 1);
                    Content::Read(Box::new(letter.write(KIND, "Email Message", level + 1)))
                } else {
                    Content::Bytes(Vec::new())
                }
            } else {
                Content::Bytes(self.binary(&folder, 0x3701).unwrap_or_default())
            };
            let name = name.unwrap_or_else(|| "part".to_owned());
            attachments.push(Attachment { name, media_type, content });
        }
        attachments
    }
}

/// Reads a time that counts tenths of a microsecond since 1601 ([MS-DTYP] 2.3.3).
fn time(ticks: u64) -> Option<String> {
    let seconds = i64::try_from(ticks / 10_000_000).ok()? - 11_644_473_600;
    Some(Timestamp::from_second(seconds).ok()?.to_string()).filter(|_| ticks > 0)
}
