//! What a file is, told by its bytes.

use regex::bytes::Regex;

use super::archive::Archive;
use super::packed::Packing;
use super::workbook::Format;
use super::{Unreadable, mail, office, reason};
use crate::encoding;

/// The kinds that have a reader each.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Kind {
    /// Portable Document Format.
    Pdf,
    /// A document of an office program, or a book.
    Office(office::Format),
    /// Messages.
    Mail(mail::Format),
    /// A workbook.
    Book(Format),
    /// An archive of files.
    Packed(Packing),
    /// Anything that decodes as text; which kind of text, `plain` finds out.
    Text,
}

impl Kind {
    /// What it is called.
    pub(super) fn name(self) -> &'static str {
        match self {
            Self::Pdf => "a PDF",
            Self::Office(format) => format.name(),
            Self::Mail(format) => format.name(),
            Self::Book(_) => "a workbook",
            Self::Packed(_) => "an archive",
            Self::Text => "a text",
        }
    }
}

/// How far into a file its marks are looked for.
const START: usize = 1024;

/// Beginnings of what is not read, with its name and what to try instead.
const FOREIGN: &[(&[u8], &str)] = &[
    (b"\x89PNG\r\n\x1a\n", IMAGE),
    (b"\xff\xd8\xff", IMAGE),
    (b"GIF8", IMAGE),
    (b"BM", "a bitmap image, which holds no text"),
    (b"II*\0", IMAGE),
    (b"MM\0*", IMAGE),
    (b"ID3", AUDIO),
    (b"\xff\xfb", AUDIO),
    (b"fLaC", AUDIO),
    (b"OggS", AUDIO),
    (b"\x28\xb5\x2f\xfd", "a Zstandard archive, which cannot be unpacked"),
    (b"Rar!", "a RAR archive, which cannot be unpacked"),
    (b"\x7fELF", "a program"),
    (b"MZ", "a program"),
    (b"\0asm", "a WebAssembly module"),
    (b"SQLite format 3\0", "an SQLite database; query it with `execute_code` (module `sqlite3`)"),
    (b"PAR1", "a Parquet file"),
    (b"%!PS", "a PostScript document, which is not supported"),
    (b"\x1a\x45\xdf\xa3", VIDEO),
];

const IMAGE: &str = "an image, not a document; it holds no text to extract";
const AUDIO: &str = "an audio file, not a document";
const VIDEO: &str = "a video, not a document";

/// Tells what a file is, or why it is not read.
pub(super) fn detect(
    name: &str,
    media_type: Option<&str>,
    bytes: &[u8],
) -> Result<Kind, Unreadable> {
    if bytes.is_empty() {
        return Err(Unreadable::Empty);
    }
    let start = &bytes[..bytes.len().min(START)];
    if start.windows(5).any(|window| window == b"%PDF-") {
        return Ok(Kind::Pdf);
    }
    match Packing::of(bytes) {
        Some(Packing::Zip) => return container(bytes),
        Some(packing) => return Ok(Kind::Packed(packing)),
        None => {}
    }
    if bytes.starts_with(b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1") {
        return compound(bytes);
    }
    if bytes.starts_with(b"{\\rtf") {
        return Ok(Kind::Office(office::Format::Rtf));
    }
    if let Some(format) = mail::detect(name, media_type, bytes) {
        return Ok(Kind::Mail(format));
    }
    if let Some(what) = foreign(bytes) {
        return Err(Unreadable::Unsupported(what.to_owned()));
    }
    if encoding::is_text(bytes) {
        return Ok(Kind::Text);
    }
    let claimed = media_type.map(|media_type| format!(" (declared as `{media_type}`)"));
    let mut what = format!(
        "binary data of an unknown kind{}; {} bytes",
        claimed.unwrap_or_default(),
        bytes.len()
    );
    if let Some(suffix) = suffix(name)
        && READ.contains(&suffix.as_str())
    {
        what = format!("{what}, though its name ends in `.{suffix}`");
    }
    Err(Unreadable::Unsupported(what))
}

/// Suffixes of what is read.
const READ: &[&str] = &[
    "pdf", "docx", "doc", "pptx", "ppt", "odt", "odp", "rtf", "epub", "eml", "mbox", "msg", "xlsx",
    "xlsm", "xlsb", "xls", "ods", "csv", "tsv", "html", "json", "txt", "md", "ipynb", "xml", "rss",
    "svg", "yaml", "yml", "toml", "log", "srt", "vtt", "zip", "tar", "gz", "tgz", "bz2", "xz",
    "7z",
];

fn foreign(bytes: &[u8]) -> Option<&'static str> {
    let at =
        |offset: usize, mark: &[u8]| bytes.get(offset..).is_some_and(|rest| rest.starts_with(mark));
    if at(0, b"RIFF") && at(8, b"WEBP") {
        return Some(IMAGE);
    }
    if at(0, b"RIFF") {
        return Some(AUDIO);
    }
    if at(4, b"ftyp") {
        return Some(VIDEO);
    }
    let text = encoding::is_text(bytes);
    FOREIGN
        .iter()
        // Marks of letters only also start texts.
        .filter(|(mark, _)| {
            !(text
                && matches!(
                    *mark,
                    b"BM" | b"MZ" | b"PAR1" | b"ID3" | b"GIF8" | b"OggS" | b"fLaC" | b"Rar!"
                ))
        })
        .find(|(mark, _)| bytes.starts_with(mark))
        .map(|(_, what)| *what)
}

/// Tells ZIP containers apart by their members.
fn container(bytes: &[u8]) -> Result<Kind, Unreadable> {
    let mut archive = Archive::open(bytes)?;
    let types = archive.peek("[Content_Types].xml").unwrap_or_default();
    let media_type = archive.peek("mimetype").unwrap_or_default();
    let holds = |mark: &str, member: &str| types.contains(mark) || archive.has(member);
    let kind = if media_type.contains("opendocument.spreadsheet") {
        Kind::Book(Format::Ods)
    } else if holds("sheet.binary", "xl/workbook.bin") {
        Kind::Book(Format::Xlsb)
    // Documents and slides may hold workbooks, so their own part comes first.
    } else if holds("wordprocessingml.document.main", "word/document.xml") {
        Kind::Office(office::Format::Docx)
    } else if holds("presentationml.presentation.main", "ppt/presentation.xml") {
        Kind::Office(office::Format::Pptx)
    } else if holds("spreadsheetml", "xl/workbook.xml") {
        Kind::Book(Format::Xlsx)
    } else if media_type.contains("epub") || archive.has("META-INF/container.xml") {
        Kind::Office(office::Format::Epub)
    } else if media_type.contains("opendocument.text") {
        Kind::Office(office::Format::Odt)
    } else if media_type.contains("opendocument.presentation") {
        Kind::Office(office::Format::Odp)
    } else {
        let what = if media_type.contains("opendocument") {
            "an OpenDocument file other than a text, a spreadsheet or a presentation"
        } else {
            return Ok(Kind::Packed(Packing::Zip));
        };
        return Err(Unreadable::Unsupported(what.to_owned()));
    };
    archive.check(match kind {
        Kind::Book(Format::Xlsx) => {
            |name| name.contains("worksheets/") || name.ends_with("sharedstrings.xml")
        }
        Kind::Book(Format::Ods) => |name| name == "content.xml",
        Kind::Book(Format::Xls | Format::Xlsb)
        | Kind::Pdf
        | Kind::Office(_)
        | Kind::Mail(_)
        | Kind::Packed(_)
        | Kind::Text => |_| false,
    })?;
    Ok(kind)
}

/// Whether a ZIP container is no document of its own.
pub(super) fn is_plain_zip(bytes: &[u8]) -> bool {
    container(bytes) == Ok(Kind::Packed(Packing::Zip))
}

/// Tells OLE compound files apart by the names of their streams.
fn compound(bytes: &[u8]) -> Result<Kind, Unreadable> {
    let has = |name: &str| {
        let wide = name.chars().map(|letter| format!("{letter}\\x00")).collect::<Vec<_>>().concat();
        Regex::new(&format!("(?i-u){wide}\\x00\\x00")).is_ok_and(|mark| mark.is_match(bytes))
    };
    if has("EncryptedPackage") {
        return Err(Unreadable::Encrypted("Office document"));
    }
    // What a message has attached may be a workbook.
    if has("__properties_version1.0") {
        Ok(Kind::Mail(mail::Format::Outlook))
    } else if has("Workbook") || has("Book") {
        Ok(Kind::Book(Format::Xls))
    } else if has("PowerPoint Document") {
        Ok(Kind::Office(office::Format::Ppt))
    } else if has("WordDocument") {
        Ok(Kind::Office(office::Format::Doc))
    } else {
        Err(reason::Unreadable::Damaged {
            kind: "compound file",
            reason: "it holds no workbook, document or message".into(),
        })
    }
}

/// Returns the suffix of a name, in lower case, without the dot.
pub(super) fn suffix(name: &str) -> Option<String> {
    let base = name.rsplit(['/', '\\']).next()?;
    let (stem, suffix) = base.rsplit_once('.')?;
    (!stem.is_empty()).then(|| suffix.to_ascii_lowercase())
}

/// Notes a name that promises another kind.
pub(super) fn mismatch(name: &str, kind: &str) -> Option<String> {
    let suffix = suffix(name)?;
    let fits: &[&str] = match suffix.as_str() {
        "pdf" => &["PDF"],
        "docx" | "doc" => &["Word"],
        "pptx" | "ppt" => &["PowerPoint"],
        "odt" | "odp" => &["OpenDocument"],
        "rtf" => &["RTF"],
        "epub" => &["EPUB"],
        "eml" => &["Email"],
        "mbox" => &["Mailbox"],
        "msg" => &["Outlook"],
        "xlsx" | "xlsm" | "xlsb" | "xls" | "ods" => &["Excel", "OpenDocument"],
        "csv" | "tsv" => &["CSV", "TSV"],
        "html" | "htm" => &["HTML"],
        "zip" => &["ZIP"],
        "7z" => &["7z"],
        "tar" => &["tar"],
        "ipynb" => &["Jupyter"],
        "svg" => &["SVG"],
        _ => return None,
    };
    (!fits.iter().any(|start| kind.starts_with(start)))
        .then(|| format!("the name ends in `.{suffix}`, but the content is {kind}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_suffix_needs_a_dot() {
        let table = [
            ("a.CSV", Some("csv"), "case does not matter"),
            ("happy", None, "ends like a suffix, but is none"),
            ("dir.d/file", None, "the dot is in the directory"),
            (".profile", None, "a hidden file"),
            ("a.tar.gz", Some("gz"), "the last one"),
        ];
        for (name, want, why) in table {
            assert_eq!(suffix(name).as_deref(), want, "{name}: {why}");
        }
    }

    #[test]
    fn bytes_decide_and_reasons_name_the_kind() {
        let table: &[(&str, &[u8], &str)] = &[
            ("a.pdf", b"\x89PNG\r\n\x1a\n....", "it is an image"),
            ("a.zst", b"\x28\xb5\x2f\xfd\0\0", "it is a Zstandard"),
            ("a.docx", b"PK\x03\x04 broken", "it is a damaged ZIP container"),
            ("a.xls", b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1", "it is a damaged compound file"),
            ("a.xlsx", b"\x01\x02\x03\x04\0\0\0\0", "it is binary data of an unknown kind"),
            ("a.mp4", b"\0\0\0\x18ftypmp42\0\0", "it is a video"),
            ("a.csv", b"", "the file is empty"),
        ];
        for (name, bytes, want) in table {
            let reason = detect(name, None, bytes).unwrap_err().to_string();
            assert!(reason.starts_with(want), "{name}: {reason}");
        }
        assert_eq!(detect("a.bin", None, b"x\n%PDF-1.7"), Ok(Kind::Pdf), "junk before the mark");
        assert_eq!(detect("a.txt", None, b"MZ is a TLD"), Ok(Kind::Text), "letters are text");
    }
}
