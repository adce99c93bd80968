//! What messages become; their files are made here.

use std::fmt::Write as _;
use std::io::{Cursor, Write};

use cfb::CompoundFile;
use proptest::prelude::*;

use super::*;
use crate::documents::document;

const PLAIN: &str = "From: Ann Lee <ann@a.example>\r\nTo: bob@b.example\r\nSubject: \
    =?UTF-8?B?5riv5Y+j?= fees\r\nDate: Mon, 5 Jan 2026 08:00:00 +0100\r\nMIME-Version: 1.0\r\n";

fn mime(headers: &str, body: &str) -> Vec<u8> {
    format!("{headers}{body}").into_bytes()
}

#[test]
fn a_message_with_its_headers_decoded() {
    let body = "Content-Type: text/plain; charset=gbk\r\nContent-Transfer-Encoding: base64\r\n\r\nuNu/2iAxMg==\r\n";
    let got = document("a.eml", None, 1, mime(PLAIN, body)).unwrap();
    let want = "# Email Message\n\n**From:** ann@a.example (Ann Lee)\n**To:** bob@b.example\n**Date:** 2026-01-05T08:00:00+01:00\n**Subject:** 港口 fees\n\n## Content\n\n港口 12";
    assert_eq!(got.text, want);
    assert_eq!((got.kind.as_str(), got.notes.len()), ("Email message", 0));
}

#[test]
fn the_plain_version_is_preferred_and_pages_become_markdown() {
    let both = "Content-Type: multipart/alternative; boundary=b\r\n\r\n--b\r\nContent-Type: text/plain\r\n\r\nplain\r\n--b\r\nContent-Type: text/html\r\n\r\n<p>page</p>\r\n--b--\r\n";
    let page = "Content-Type: text/html\r\n\r\n<h1>Fees</h1><p>see <a href='https://a.example/'>here</a></p><img alt='x' src='data:image/png;base64,iVBORw0KGgo='>";
    for (body, want) in [
        (both, "## Content\n\nplain"),
        (page, "# Fees\n\nsee [here](https://a.example/)\n\n![x](embedded)"),
    ] {
        let text = document("a.eml", None, 1, mime(PLAIN, body)).unwrap().text;
        assert!(text.ends_with(want), "{text}");
    }
}

#[test]
fn attachments_are_listed_and_read() {
    let inner = "From: c@c.example\r\nSubject: inner\r\nMessage-ID: <1@c>\r\n\r\nbelow";
    let body = format!(
        "Content-Type: multipart/mixed; boundary=b\r\n\r\n--b\r\nContent-Type: text/plain\r\n\r\nsee attached\r\n\
         --b\r\nContent-Type: text/csv; name=\"q.csv\"\r\nContent-Disposition: attachment; filename=\"q.csv\"\r\n\r\na,b\n1,2\n\r\n\
         --b\r\nContent-Type: image/png\r\nContent-Disposition: attachment; filename=\"p.png\"\r\nContent-Transfer-Encoding: base64\r\n\r\niVBORw0KGgo=\r\n\
         --b\r\nContent-Type: message/rfc822\r\nContent-Disposition: attachment\r\n\r\n{inner}\r\n--b--\r\n"
    );
    let got = document("a.eml", None, 1, mime(PLAIN, &body)).unwrap();
    for want in [
        "## Content\n\nsee attached\n\n## Attachments\n\n- `q.csv`: text/csv, 8 bytes (see below)\n- `p.png`: image/png, 8 bytes (not read: it is ",
        "## Attachment `q.csv` (CSV)\n\na,b\n1,2",
        "`inner.eml`: message/rfc822 (see below)",
        "**Subject:** inner",
        "below",
    ] {
        assert!(got.text.contains(want), "{want} is missing in {}", got.text);
    }
    assert!(!got.text.contains("iVBOR"), "{}", got.text);
    assert_eq!(got.notes, ["attachments: 3"]);
}

#[test]
fn messages_in_messages_end() {
    let mut message = "Subject: last\r\nMIME-Version: 1.0\r\n\r\nbottom".to_owned();
    for level in 0..40 {
        let mut outer = String::new();
        let _ = write!(
            outer,
            "From: a@a.example\r\nSubject: level {level}\r\nMIME-Version: 1.0\r\nContent-Type: multipart/mixed; boundary=b{level}\r\n\r\n--b{level}\r\nContent-Type: message/rfc822\r\n\r\n{message}\r\n--b{level}--\r\n"
        );
        message = outer;
    }
    let text = document("a.eml", None, 1, message.into_bytes()).unwrap().text;
    assert!(text.contains("level 39") && text.contains("level 36"), "{text}");
    assert!(!text.contains("bottom"), "{text}");
}

#[test]
fn a_mailbox_is_cut_at_its_messages() {
    let mailbox = "From ann@a.example Mon Jan  5 08:00:00 2026\nFrom: ann@a.example\nSubject: one\nDate: Mon, 5 Jan 2026 08:00:00 +0000\n\nfirst\n>From here\n\nFrom bob@b.example Mon Jan  5 09:00:00 2026\nFrom: bob@b.example\nSubject: two\n\nsecond\n";
    let got = document("box", None, 1, mailbox.into()).unwrap();
    assert_eq!((got.kind.as_str(), got.notes[0].as_str()), ("Mailbox", "messages: 2"));
    for want in ["# Message 1\n", "first\nFrom here", "# Message 2\n", "**Subject:** two", "second"]
    {
        assert!(got.text.contains(want), "{want} is missing in {}", got.text);
    }
}

#[test]
fn messages_are_told_from_texts() {
    let table: [(&str, &str, Option<Format>, &str); 8] = [
        ("a.eml", "From: a\nSubject: b\n\nx", Some(Format::Mime), "by its name"),
        ("a.txt", "From: a\nTo: b\nSubject: c\n\nx", None, "a text about a message"),
        (
            "download",
            "Return-Path: <a>\nReceived: by x;\n\tMon\nFrom: a\n\nx",
            Some(Format::Mime),
            "by its headers",
        ),
        ("a.txt", "From the harbour:\nTo: all\n", None, "prose"),
        ("a.yml", "from: a\nto: b\nversion: 1\n", None, "settings"),
        ("a.eml", "no headers at all", None, "a name that lies"),
        ("box", "From a Mon\nFrom: a\nSubject: x\n\n", Some(Format::Mailbox), "a mailbox"),
        ("a.txt", "From a friend\nof ours", None, "a text that begins so"),
    ];
    for (name, text, want, why) in table {
        assert_eq!(detect(name, None, text.as_bytes()), want, "{why}");
    }
}

fn msg(streams: &[(&str, Vec<u8>)]) -> Vec<u8> {
    let mut file = CompoundFile::create(Cursor::new(Vec::new())).unwrap();
    for (path, bytes) in streams {
        let path = format!("/{path}");
        if let Some((folder, _)) = path.rsplit_once('/').filter(|(folder, _)| !folder.is_empty()) {
            file.create_storage_all(folder).unwrap();
        }
        file.create_stream(&path).unwrap().write_all(bytes).unwrap();
    }
    file.into_inner().into_inner()
}

fn wide(text: &str) -> Vec<u8> {
    text.encode_utf16().flat_map(u16::to_le_bytes).collect()
}

/// Properties of fixed size, after a head of so many bytes.
fn fixed(head: usize, list: &[(u32, u64)]) -> Vec<u8> {
    let mut bytes = vec![0; head];
    for (tag, value) in list {
        bytes.extend(tag.to_le_bytes());
        bytes.extend([0; 4]);
        bytes.extend(value.to_le_bytes());
    }
    bytes
}

#[test]
fn messages_of_outlook() {
    let recipient = "__recip_version1.0_#00000000";
    let attachment = "__attach_version1.0_#00000000";
    let inner = "__attach_version1.0_#00000001/__substg1.0_3701000D";
    let path = |folder: &str, name: &str| format!("{folder}/{name}");
    let (kind, name, address) = (
        path(recipient, "__properties_version1.0"),
        path(recipient, "__substg1.0_3001001F"),
        path(recipient, "__substg1.0_39FE001F"),
    );
    let (file, data) =
        (path(attachment, "__substg1.0_3707001F"), path(attachment, "__substg1.0_37010102"));
    let (properties, subject, body) = (
        path(inner, "__properties_version1.0"),
        path(inner, "__substg1.0_0037001F"),
        path(inner, "__substg1.0_1000001F"),
    );
    let got = document(
        "a.msg",
        None,
        1,
        msg(&[
            // 5 January 2026, 08:00 UTC.
            (
                "__properties_version1.0",
                fixed(32, &[(0x0039_0040, 134_120_736_000_000_000), (0x3ffd_0003, 936)]),
            ),
            ("__substg1.0_0037001E", b"\xb8\xdb\xbf\xda".to_vec()),
            ("__substg1.0_0C1A001F", wide("Ann Lee")),
            ("__substg1.0_5D01001F", wide("ann@a.example")),
            ("__substg1.0_10130102", b"<p>See <b>this</b></p>".to_vec()),
            (&kind, fixed(8, &[(0x0c15_0003, 2)])),
            (&name, wide("Bob")),
            (&address, wide("bob@b.example")),
            (&file, wide("note.txt")),
            (&data, b"attached words".to_vec()),
            (&properties, fixed(24, &[])),
            (&subject, wide("inner")),
            (&body, wide("inner words")),
        ]),
    )
    .unwrap();
    let want = "# Email Message\n\n**From:** ann@a.example (Ann Lee)\n**Cc:** bob@b.example (Bob)\n**Date:** 2026-01-05T08:00:00Z\n**Subject:** 港口\n\n## Content\n\nSee **this**\n\n## Attachments\n\n- `note.txt`: unknown type, 14 bytes (see below)\n- `part`: message/rfc822 (see below)\n\n## Attachment `note.txt` (text)\n\nattached words\n\n## Attachment `part` (Outlook message)\n\n# Email Message\n\n**Subject:** inner\n\n## Content\n\ninner words";
    assert_eq!(got.text, want);
}

#[test]
fn a_body_of_compressed_rich_text_is_read() {
    let rtf = b"{\\rtf1\\ansi plain \\b words\\b0 }";
    let size = u32::try_from(rtf.len()).unwrap();
    let mut packed =
        [&(size + 12).to_le_bytes()[..], &size.to_le_bytes(), b"MELA", &[0; 4]].concat();
    packed.extend(rtf);
    let streams = [("__properties_version1.0", fixed(32, &[])), ("__substg1.0_10090102", packed)];
    let text = document("a.msg", None, 1, msg(&streams)).unwrap().text;
    assert!(text.ends_with("plain **words**"), "{text}");
    let empty = msg(&[("__properties_version1.0", fixed(32, &[]))]);
    let reason = document("a.msg", None, 1, empty).unwrap_err().to_string();
    assert!(reason.contains("damaged Outlook message"), "{reason}");
}

proptest! {
    #[test]
    fn any_message_is_read_or_refused(body in "(--b|\r\n|\n|Content-Type: |multipart/mixed; boundary=b|message/rfc822|text/html|=\\?|\\?=|\"|;|a|港|: ){0,60}") {
        let _ = document("a.eml", None, 1, mime(PLAIN, &body));
        let _ = document("a.mbox", None, 1, format!("From x\n{PLAIN}{body}").into_bytes());
    }
}
