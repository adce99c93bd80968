//! An archive as a document: a table of its members, then the text of each that has one.

use std::fmt::Write;
use std::io::Read;
use std::panic::{AssertUnwindSafe, catch_unwind};

use super::stream;
use super::take::SEPARATOR;
use super::walk::{Holds, Member, Next, Packing};
use crate::documents::reading::Reading;
use crate::documents::{Document, TEXT_LIMIT, Unreadable};

/// The most archives in archives that are opened.
const DEEPEST: usize = 3;

/// The most rows of the table of members.
const ROWS: usize = 2_000;

/// Parts of names of what systems leave in archives; listed, and not read.
const LITTER: [&str; 3] = ["__MACOSX/", ".DS_Store", "Thumbs.db"];

/// Reads an archive, with all archives in it.
pub(in crate::documents) fn read(
    packing: Packing,
    name: &str,
    bytes: &[u8],
    reading: &mut Reading,
) -> Result<Document, Unreadable> {
    if reading.depth > DEEPEST {
        return Err(Unreadable::TooMuch("archives nest too deep".to_owned()));
    }
    if let Some((name, inner)) = sole(packing, name, bytes)? {
        let mut document = reading.nested(|reading| super::super::within(&name, inner, reading))?;
        let _ = write!(document.kind, " in a {}", packing.name());
        return Ok(document);
    }
    let mut list = List::default();
    list.add(packing, name, bytes, reading)?;
    Ok(list.document(packing))
}

/// Unpacks the file of an archive that holds a single one and no names, with the name
/// that it goes by; nothing where there may be several.
pub(in crate::documents) fn sole(
    packing: Packing,
    name: &str,
    bytes: &[u8],
) -> Result<Option<(String, Vec<u8>)>, Unreadable> {
    if !stream::is_single(packing, bytes) {
        return Ok(None);
    }
    let allowance = super::walk::Allowance::default().share(bytes.len());
    let mut found = None;
    packing.walk(name, bytes, &mut |member, reader: Option<&mut dyn Read>| {
        let inner = reader.map(|reader| allowance.unpack(None, reader));
        found = inner.map(|inner| inner.map(|inner| (member.name, inner)));
        Next::Stop
    })?;
    match found {
        Some(Err(why)) if why.starts_with("it unpacks to more") => Err(Unreadable::Bomb(why)),
        Some(Err(why)) => Err(packing.damaged(&why)),
        Some(Ok(found)) => Ok(Some(found)),
        None => Ok(None),
    }
}

/// What was found so far.
#[derive(Debug, Default)]
struct List {
    /// The path of the archive whose members are being added, with its separator.
    prefix: String,
    rows: String,
    texts: String,
    members: usize,
    /// Files that gave no text.
    unread: usize,
    bytes: u64,
}

impl List {
    fn add(
        &mut self,
        packing: Packing,
        name: &str,
        bytes: &[u8],
        reading: &mut Reading,
    ) -> Result<(), Unreadable> {
        let allowance = reading.allowance;
        reading.allowance = allowance.share(bytes.len());
        let result = packing.walk(name, bytes, &mut |member, reader| {
            self.member(&member, reader, reading);
            Next::Go
        });
        reading.allowance = allowance.after(reading.allowance, bytes.len());
        result
    }

    fn member(&mut self, member: &Member, reader: Option<&mut dyn Read>, reading: &mut Reading) {
        self.members += 1;
        self.bytes = self.bytes.saturating_add(member.size.unwrap_or(0));
        let path = format!("{}{}", self.prefix, member.name);
        let what = match (&member.holds, reader) {
            (Holds::Folder, _) => "folder".to_owned(),
            (Holds::Link(target), _) => format!("link to `{target}`, not followed"),
            (Holds::Locked, _) => self.not_read("it is protected by a password"),
            (Holds::Unread(why), _) => self.not_read(why),
            (Holds::File, None) => self.not_read("it holds nothing"),
            (Holds::File, Some(reader)) => return self.file(&path, member, reader, reading),
        };
        self.row(&path, member, &what);
    }

    fn file(&mut self, path: &str, member: &Member, reader: &mut dyn Read, reading: &mut Reading) {
        if LITTER.iter().any(|litter| member.name.contains(litter)) {
            return self.row(path, member, "left by a system, not read");
        }
        if reading.is_late() || self.texts.len() > TEXT_LIMIT {
            let what = self.not_read("there is too much in the archive; ask for it alone");
            return self.row(path, member, &what);
        }
        let bytes = match reading.allowance.unpack(member.size, reader) {
            Ok(bytes) => bytes,
            Err(why) => {
                let what = self.not_read(&why);
                return self.row(path, member, &what);
            }
        };
        reading.allowance.spend(bytes.len());
        let size = bytes.len() as u64;
        let member = Member { size: Some(size), ..member.clone() };
        match Packing::of(&bytes).filter(|packing| is_plain_archive(*packing, &bytes)) {
            Some(packing) => self.archive(packing, path, &member, &bytes, reading),
            None => self.document_in(path, &member, bytes, reading),
        }
    }

    /// Opens an archive in the archive.
    fn archive(
        &mut self,
        packing: Packing,
        path: &str,
        member: &Member,
        bytes: &[u8],
        reading: &mut Reading,
    ) {
        if reading.depth >= DEEPEST {
            let what = self.not_read("archives nest too deep here; ask for it alone");
            return self.row(path, member, &what);
        }
        self.row(path, member, packing.name());
        let outer = std::mem::replace(&mut self.prefix, format!("{path}{SEPARATOR}"));
        reading.depth += 1;
        let result = self.add(packing, &member.name, bytes, reading);
        reading.depth -= 1;
        self.prefix = outer;
        if let Err(why) = result {
            self.unread += 1;
            self.row(&format!("{path}{SEPARATOR}"), member, &format!("not read: {why}"));
        }
    }

    fn document_in(&mut self, path: &str, member: &Member, bytes: Vec<u8>, reading: &mut Reading) {
        // A parser that panics over one member must not lose the others.
        let read = catch_unwind(AssertUnwindSafe(|| {
            reading.nested(|reading| super::super::within(&member.name, bytes, reading))
        }));
        let what = match read {
            Ok(Ok(document)) => {
                self.text(path, &document);
                document.kind
            }
            Ok(Err(why)) => self.not_read(&why.to_string()),
            Err(_) => self.not_read("its parser failed"),
        };
        self.row(path, member, &what);
    }

    fn text(&mut self, path: &str, document: &Document) {
        let _ = write!(self.texts, "\n\n## Member `{path}`: {}", document.kind);
        for (index, note) in document.notes.iter().enumerate() {
            let _ = write!(self.texts, "{}- {note}", if index == 0 { "\n\n" } else { "\n" });
        }
        let _ = write!(self.texts, "\n\n{}", document.text.trim());
    }

    fn not_read(&mut self, why: &str) -> String {
        self.unread += 1;
        format!("not read: {why}")
    }

    fn row(&mut self, path: &str, member: &Member, what: &str) {
        if self.members > ROWS {
            return;
        }
        let size = member.size.map(|size| size.to_string()).unwrap_or_default();
        let date = member.date.as_deref().unwrap_or_default();
        let cell = |text: &str| text.replace('|', "\\|");
        let _ = write!(self.rows, "\n| `{}` | {size} | {date} | {} |", cell(path), cell(what));
    }

    fn document(self, packing: Packing) -> Document {
        let mut notes = vec![format!("{} members, {} bytes unpacked", self.members, self.bytes)];
        if self.unread > 0 {
            notes.push(format!("{} files are not read; the table says why", self.unread));
        }
        if self.members > ROWS {
            notes.push(format!("the table shows the first {ROWS} members"));
        }
        let example = format!("`document_path` followed by `{SEPARATOR}` and its name");
        notes.push(format!("one member alone: {example}"));
        let head = "| member | bytes | changed | content |\n| --- | ---: | --- | --- |";
        let text = format!("{head}{}{}", self.rows, self.texts);
        Document { kind: packing.name().to_owned(), text, notes }
    }
}

/// Whether an archive is nothing else besides: many formats of documents are ZIP.
fn is_plain_archive(packing: Packing, bytes: &[u8]) -> bool {
    packing != Packing::Zip || super::super::kind::is_plain_zip(bytes)
}
