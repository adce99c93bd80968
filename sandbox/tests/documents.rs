//! Documents through real worker processes: the well-formed, and those made to harm.
//!
//! After every hostile file the same pool must read a good one.

#![expect(clippy::unwrap_used, reason = "the makers of test files are not tests themselves")]

use std::io::{Cursor, Write};
use std::os::unix::fs::PermissionsExt;
use std::path::PathBuf;
use std::time::Duration;

use wildgym_sandbox::documents::{Area, Document, Part};
use wildgym_sandbox::worker::{Limits, WorkerError, Workers};
use zip::write::SimpleFileOptions;
use zip::{CompressionMethod, ZipWriter};

fn workers() -> Workers {
    Workers::new(PathBuf::from(env!("CARGO_BIN_EXE_wildgym-sandbox-worker")), 2)
}

async fn read(workers: &Workers, name: &str, bytes: &[u8]) -> Result<Document, String> {
    workers.document(name, None, bytes.to_vec()).await.map_err(|error| error.to_string())
}

/// A hostile or broken file: its name, its bytes, and what the result must say.
type Case = (&'static str, Vec<u8>, &'static str);

/// Reads each case; what it must say may stand in the reason, the text or the notes. An
/// empty expectation accepts any clear end.
async fn all_contained(cases: Vec<Case>) {
    let workers = workers();
    for (name, bytes, want) in cases {
        let said = match read(&workers, name, &bytes).await {
            Ok(document) => format!("{document:?}"),
            Err(reason) => {
                assert!(reason.contains(name), "{name}: the reason names the file: {reason}");
                reason
            }
        };
        let start: String = said.chars().take(600).collect();
        assert!(said.contains(want), "{name}: wanted {want:?}, got {start}");
        let good = read(&workers, "good.csv", b"a,b\n1,2\n").await.unwrap();
        assert_eq!(good.kind, "CSV", "the pool works after {name}");
    }
}

fn archive(members: &[(&str, &[u8])]) -> Vec<u8> {
    let mut zip = ZipWriter::new(Cursor::new(Vec::new()));
    let options = SimpleFileOptions::default().compression_method(CompressionMethod::Deflated);
    for (name, bytes) in members {
        zip.start_file(*name, options).unwrap();
        zip.write_all(bytes).unwrap();
    }
    zip.finish().unwrap().into_inner()
}

/// A workbook whose single sheet holds this XML, with these shared strings.
fn xlsx(sheet: &str, strings: &str, extra: &[(&str, &[u8])]) -> Vec<u8> {
    let types = r#"<Types xmlns="http://schemas.openxmlformats.org/package/2006/content-types"><Default Extension="xml" ContentType="application/vnd.openxmlformats-officedocument.spreadsheetml.sheet.main+xml"/></Types>"#;
    let root = r#"<Relationships xmlns="http://schemas.openxmlformats.org/package/2006/relationships"><Relationship Id="rId1" Type="http://schemas.openxmlformats.org/officeDocument/2006/relationships/officeDocument" Target="xl/workbook.xml"/></Relationships>"#;
    let book = r#"<workbook xmlns="http://schemas.openxmlformats.org/spreadsheetml/2006/main" xmlns:r="http://schemas.openxmlformats.org/officeDocument/2006/relationships"><sheets><sheet name="S" sheetId="1" r:id="rId1"/></sheets></workbook>"#;
    let links = r#"<Relationships xmlns="http://schemas.openxmlformats.org/package/2006/relationships"><Relationship Id="rId1" Type="http://schemas.openxmlformats.org/officeDocument/2006/relationships/worksheet" Target="worksheets/sheet1.xml"/><Relationship Id="rId2" Type="http://schemas.openxmlformats.org/officeDocument/2006/relationships/sharedStrings" Target="sharedStrings.xml"/></Relationships>"#;
    let mut members: Vec<(&str, &[u8])> = vec![
        ("[Content_Types].xml", types.as_bytes()),
        ("_rels/.rels", root.as_bytes()),
        ("xl/workbook.xml", book.as_bytes()),
        ("xl/_rels/workbook.xml.rels", links.as_bytes()),
        ("xl/worksheets/sheet1.xml", sheet.as_bytes()),
        ("xl/sharedStrings.xml", strings.as_bytes()),
    ];
    members.extend(extra);
    archive(&members)
}

fn sheet(cells: &str) -> String {
    format!(
        r#"<worksheet xmlns="http://schemas.openxmlformats.org/spreadsheetml/2006/main"><dimension ref="A1:XFD1048576"/><sheetData>{cells}</sheetData></worksheet>"#
    )
}

const NO_STRINGS: &str =
    r#"<sst xmlns="http://schemas.openxmlformats.org/spreadsheetml/2006/main"></sst>"#;

fn docx(body: &str, extra: &[(&str, &[u8])]) -> Vec<u8> {
    let types = r#"<Types xmlns="http://schemas.openxmlformats.org/package/2006/content-types"><Override PartName="/word/document.xml" ContentType="application/vnd.openxmlformats-officedocument.wordprocessingml.document.main+xml"/></Types>"#;
    let links = r#"<Relationships xmlns="http://schemas.openxmlformats.org/package/2006/relationships"><Relationship Id="rId1" Type="http://schemas.openxmlformats.org/officeDocument/2006/relationships/officeDocument" Target="word/document.xml"/></Relationships>"#;
    let mut members: Vec<(&str, &[u8])> = vec![
        ("[Content_Types].xml", types.as_bytes()),
        ("_rels/.rels", links.as_bytes()),
        ("word/document.xml", body.as_bytes()),
    ];
    members.extend(extra);
    archive(&members)
}

fn body(text: &str) -> String {
    format!(
        r#"<w:document xmlns:w="http://schemas.openxmlformats.org/wordprocessingml/2006/main"><w:body><w:p><w:r><w:t>{text}</w:t></w:r></w:p></w:body></w:document>"#
    )
}

/// A PDF of these objects, numbered from 1; object 1 is the catalog.
fn pdf(objects: &[String]) -> Vec<u8> {
    let mut out = b"%PDF-1.4\n".to_vec();
    let mut places = Vec::new();
    for (index, object) in objects.iter().enumerate() {
        places.push(out.len());
        out.extend(format!("{} 0 obj\n{object}\nendobj\n", index + 1).as_bytes());
    }
    let xref = out.len();
    out.extend(format!("xref\n0 {}\n0000000000 65535 f \n", objects.len() + 1).as_bytes());
    for place in places {
        out.extend(format!("{place:010} 00000 n \n").as_bytes());
    }
    let size = objects.len() + 1;
    let end = format!("trailer\n<</Size {size}/Root 1 0 R>>\nstartxref\n{xref}\n%%EOF\n");
    out.extend(end.as_bytes());
    out
}

/// A PDF of one page with this font and content.
fn page(font: &str, content: &str) -> Vec<u8> {
    let o = |text: &str| text.to_owned();
    pdf(&[
        o("<</Type/Catalog/Pages 2 0 R>>"),
        o("<</Type/Pages/Kids[3 0 R]/Count 1>>"),
        o(
            "<</Type/Page/Parent 2 0 R/MediaBox[0 0 600 800]/Resources<</Font<</F 4 0 R>>>>/Contents 5 0 R>>",
        ),
        o(font),
        format!("<</Length {}>>\nstream\n{content}\nendstream", content.len()),
    ])
}

const HELVETICA: &str = "<</Type/Font/Subtype/Type1/BaseFont/Helvetica>>";

#[tokio::test]
async fn a_worker_has_no_files_network_or_programs() {
    let containment = workers().containment().await.unwrap();
    assert!(containment.is_full(), "{containment:?}");
}

#[tokio::test]
async fn documents_of_every_kind_become_text() {
    let cjk = "<</Type/Font/Subtype/Type0/BaseFont/STSong-Light/Encoding/UniGB-UCS2-H/DescendantFonts[<</Type/Font/Subtype/CIDFontType0/BaseFont/STSong-Light/CIDSystemInfo<</Registry(Adobe)/Ordering(GB1)/Supplement 2>>>>]>>";
    let good = xlsx(
        &sheet(
            r#"<row r="1"><c r="A1" t="s"><v>0</v></c></row><row r="1048576"><c r="XFD1048576"><f>SUM(A1)</f><v>7</v></c></row>"#,
        ),
        r#"<sst xmlns="http://schemas.openxmlformats.org/spreadsheetml/2006/main"><si><t>corner</t></si></sst>"#,
        &[],
    );
    let cases: Vec<Case> = vec![
        ("a.pdf", page(HELVETICA, "BT /F 20 Tf 50 700 Td (Harbour fees) Tj ET"), "Harbour fees"),
        ("c.pdf", page(cjk, "BT /F 20 Tf 50 700 Td <6E2F53E3> Tj ET"), "港口"),
        ("blank.pdf", page(HELVETICA, ""), "probably scanned"),
        ("a.docx", docx(&body("Ferry notes"), &[]), "Ferry notes"),
        ("wide.xlsx", good, "XFD1048576: 7"),
        ("a.html", b"<html><body><h1>Times</h1></body></html>".into(), "# Times"),
        ("a.md", b"# Title\n".into(), "# Title"),
        ("a.json", b"{\"a\":1}".into(), "JSON"),
        ("big5.csv", encoding_rs::BIG5.encode("編號,商品名稱\n1,東北大米\n").0.into(), "東北大米"),
    ];
    all_contained(cases).await;
}

#[tokio::test]
async fn damaged_and_foreign_files_have_a_reason() {
    let book = xlsx(&sheet(r#"<row r="1"><c r="A1"><v>1</v></c></row>"#), NO_STRINGS, &[]);
    let word = docx(&body("x"), &[]);
    let print = page(HELVETICA, "BT /F 20 Tf 50 700 Td (Hi) Tj ET");
    let noise: Vec<u8> =
        (0..4096_u32).map(|n| (n.wrapping_mul(2_654_435_761) >> 13).to_le_bytes()[0]).collect();
    let cases: Vec<Case> = vec![
        ("empty.pdf", Vec::new(), "empty"),
        ("empty.xlsx", Vec::new(), "empty"),
        ("blank.txt", b" \n\n".into(), "blank"),
        ("noise.bin", noise.clone(), "binary data"),
        ("noise.xlsx", noise, "though its name ends in"),
        ("half.xlsx", book[..book.len() / 2].into(), "damaged ZIP"),
        ("half.docx", word[..word.len() / 2].into(), "damaged ZIP"),
        ("half.pdf", print[..print.len() / 2].into(), ""),
        ("mark.pdf", b"%PDF-1.7\n".into(), "damaged PDF"),
        ("half.json", b"{\"a\": [1, 2".into(), "not valid JSON"),
        ("image.pdf", b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR".into(), "an image"),
        ("plain.zip", archive(&[("a.txt", b"x")]), "| `a.txt` | 1 |"),
        ("wrong.xlsx", b"a,b\n1,2\n".into(), "but the content is"),
        ("bad.txt", b"caf\xe9 \xff\xfe\x80".into(), ""),
        ("no-sheets.xlsx", archive(&[("xl/workbook.xml", b"<workbook/>")]), "damaged Excel"),
        ("no-body.docx", archive(&[("word/document.xml", b"")]), ""),
    ];
    all_contained(cases).await;
}

#[tokio::test]
async fn archives_that_bloat_or_climb() {
    let zeros = vec![0; 300 << 20];
    let climbing = xlsx(
        &sheet(r#"<row r="1"><c r="A1"><v>41</v></c></row>"#),
        NO_STRINGS,
        &[("../../../../tmp/wildgym-climbed", b"x"), ("/etc/wildgym-climbed", b"x")],
    );
    let bomb = xlsx(&sheet(""), NO_STRINGS, &[("xl/media/x.bin", &zeros)]);
    let nested = archive(&[("bomb.xlsx", &bomb)]);
    let mut lying = bomb.clone();
    // The central directory claims one byte where 300 MiB come out.
    let size = (300_u32 << 20).to_le_bytes();
    while let Some(at) = lying.windows(4).position(|window| window == size) {
        lying[at..at + 4].copy_from_slice(&1_u32.to_le_bytes());
    }
    let many: Vec<String> = (0..20_001).map(|n| format!("m{n}")).collect();
    let many: Vec<(&str, &[u8])> = many.iter().map(|name| (name.as_str(), &b""[..])).collect();
    let cases: Vec<Case> = vec![
        ("climb.xlsx", climbing, "| 1 | 41 |"),
        ("climb.docx", docx(&body("in"), &[("../../x", b"y")]), "in"),
        ("bomb.xlsx", bomb, "decompression bomb"),
        ("nested.zip", nested, "decompression bomb"),
        ("lying.xlsx", lying, ""),
        ("bomb.docx", docx(&body("x"), &[("word/media/x", &zeros)]), "decompression bomb"),
        ("many.docx", archive(&many), "20001 members"),
    ];
    all_contained(cases).await;
    assert!(!std::path::Path::new("/tmp/wildgym-climbed").exists());
}

#[tokio::test]
async fn office_files_and_messages_that_claim_too_much() {
    let w = r#"xmlns:w="http://schemas.openxmlformats.org/wordprocessingml/2006/main""#;
    let cell = r#"<w:tc><w:tcPr><w:gridSpan w:val="63"/></w:tcPr><w:p/></w:tc>"#;
    let row = format!(
        "<w:tr>{}<w:tc><w:p><w:r><w:t>end</w:t></w:r></w:p></w:tc></w:tr>",
        cell.repeat(15)
    );
    let spans = format!(
        "<w:document {w}><w:body><w:tbl>{}</w:tbl></w:body></w:document>",
        row.repeat(20_000)
    );
    let nodes =
        format!("<w:document {w}><w:body>{}</w:body></w:document>", "<w:p/>".repeat(4_000_000));
    let odt = |body: &str| {
        let content = format!(
            r#"<office:document-content xmlns:office="urn:oasis:names:tc:opendocument:xmlns:office:1.0" xmlns:text="urn:oasis:names:tc:opendocument:xmlns:text:1.0" xmlns:table="urn:oasis:names:tc:opendocument:xmlns:table:1.0"><office:body><office:text>{body}</office:text></office:body></office:document-content>"#
        );
        archive(&[
            ("mimetype", b"application/vnd.oasis.opendocument.text"),
            ("content.xml", content.as_bytes()),
        ])
    };
    let repeated = r#"<table:table><table:table-row table:number-rows-repeated="1048576"><table:table-cell table:number-columns-repeated="16384"><text:p>x</text:p></table:table-cell></table:table-row></table:table>"#;
    let book = |spine: &str| {
        let opf = format!(
            r#"<package><manifest><item id="a" href="a.xhtml"/></manifest><spine>{spine}</spine></package>"#
        );
        archive(&[
            ("mimetype", b"application/epub+zip"),
            (
                "META-INF/container.xml",
                br#"<container><rootfiles><rootfile full-path="b.opf"/></rootfiles></container>"#,
            ),
            ("b.opf", opf.as_bytes()),
            ("a.xhtml", format!("<html>{}deep", "<div>".repeat(100_000)).as_bytes()),
        ])
    };
    let mut parts = String::from(
        "From: a@a.example\r\nSubject: x\r\nMIME-Version: 1.0\r\nContent-Type: multipart/mixed; boundary=b\r\n\r\n",
    );
    for _ in 0..20_000 {
        parts.push_str(
            "--b\r\nContent-Disposition: attachment; filename=\"a.txt\"\r\n\r\nsmall\r\n",
        );
    }
    let mut nested = String::from("From: a@a.example\r\nSubject: x\r\nMIME-Version: 1.0\r\n");
    for level in 0..5_000_u32 {
        let mark = level.to_string();
        let head = "Content-Type: multipart/mixed; boundary=b";
        nested.extend([head, &mark, "\r\n\r\n--b", &mark, "\r\n"]);
    }
    let msg =
        [&b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1"[..], &[0xff; 4096], "_\0_\0p\0r\0o\0p\0".as_bytes()]
            .concat();
    let cases: Vec<Case> = vec![
        ("spans.docx", docx(&spans, &[]), "end"),
        ("nodes.docx", docx(&nodes, &[]), "more than 3000000 nodes"),
        ("repeated.odt", odt(repeated), "| x |"),
        ("deep.odt", odt(&"<text:section>".repeat(100_000)), "nest"),
        ("groups.rtf", format!("{{\\rtf1{}", "{".repeat(1_000_000)).into(), "nest"),
        ("binary.rtf", b"{\\rtf1 a\\bin2147483647 x".to_vec(), "a"),
        (
            "rows.rtf",
            format!("{{\\rtf1{}", "\\trowd\\cellx1\\cellx9\\intbl x\\cell\\row ".repeat(100_000))
                .into(),
            "| x |",
        ),
        ("spine.epub", book(&r#"<itemref idref="a"/>"#.repeat(20_000)), ""),
        ("parts.eml", parts.into(), "attachments: 20000"),
        ("nested.eml", nested.into(), ""),
        ("noise.msg", msg, "damaged"),
    ];
    all_contained(cases).await;
}

#[tokio::test]
async fn xml_that_expands_or_reaches_out() {
    let mut laughs = String::from("<!DOCTYPE lolz [<!ENTITY l0 \"lol\">");
    for level in 1..12 {
        let inner = format!("&l{};", level - 1).repeat(10);
        laughs += &["<!ENTITY l", &level.to_string(), " \"", &inner, "\">"].concat();
    }
    laughs.push_str("]>");
    let outside = "<!DOCTYPE x [<!ENTITY e SYSTEM \"file:///etc/passwd\">]>";
    let deep = "<w:tbl><w:tr><w:tc>".repeat(50_000);
    let strings: String = "<si><t>abcdefghij</t></si>".repeat(3_000_000);
    let strings = format!(
        r#"<sst xmlns="http://schemas.openxmlformats.org/spreadsheetml/2006/main" count="4294967295" uniqueCount="4294967295">{strings}</sst>"#
    );
    let cells: String = (1..60_000)
        .map(|row| format!("<row r=\"{row}\">{}</row>", "<c><v>1</v></c>".repeat(20)))
        .collect::<Vec<_>>()
        .concat();
    let cases: Vec<Case> = vec![
        ("laughs.docx", docx(&format!("{laughs}{}", body("&l11;")), &[]), ""),
        ("laughs.xlsx", xlsx(&sheet(""), &format!("{laughs}{NO_STRINGS}"), &[]), ""),
        ("outside.docx", docx(&format!("{outside}{}", body("&e;")), &[]), ""),
        ("laughs.xml", format!("{laughs}<x>&l11;</x>").into(), "&l11;"),
        ("deep.docx", docx(&body("x").replace("<w:p>", &format!("{deep}<w:p>")), &[]), ""),
        ("strings.xlsx", xlsx(&sheet(""), &strings, &[]), ""),
        ("cells.xlsx", xlsx(&sheet(&cells), NO_STRINGS, &[]), "59879 rows are left out"),
    ];
    all_contained(cases).await;
}

/// More rows than a worker could hold as text, and a part of them.
#[tokio::test]
async fn a_million_rows_are_summed_up_and_read_in_parts() {
    let rows = (1..=1_000_000)
        .map(|row| format!("<row><c><v>{row}</v></c><c t=\"str\"><v>k{}</v></c></row>", row % 9))
        .collect::<Vec<String>>()
        .concat();
    let book = xlsx(&sheet(&rows), NO_STRINGS, &[]);
    let workers = workers();
    let whole = workers.workbook("m.xlsx", book.clone(), Part::default()).await.unwrap();
    let text = whole.to_markdown();
    for want in [
        "A1:B1000000, 1000000 rows × 2 columns",
        "| A |  | number | 1000000 | 0 | more than 20000 | 1 | 1000000 | 500000.5 |",
        "| 1000000 | 1000000 | k1 |",
    ] {
        assert!(text.contains(want), "{want:?} is missing in {text}");
    }
    let part = Part { sheet: None, area: Area::parse("A700000:B700001") };
    let text = workers.workbook("m.xlsx", book.clone(), part).await.unwrap().to_markdown();
    assert!(text.contains("| 700000 | 700000 | k7 |\n| 700001 | 700001 | k8 |"), "{text}");
    let part = Part { sheet: Some("T".into()), area: None };
    let error = workers.workbook("m.xlsx", book, part).await.unwrap_err().to_string();
    assert_eq!(error, "cannot read `m.xlsx`: it has no sheet `T`; its sheets are `S`");
}

#[tokio::test]
async fn pdfs_that_loop() {
    let o = |text: &str| text.to_owned();
    let catalog = o("<</Type/Catalog/Pages 2 0 R>>");
    let mut xref_loop = page(HELVETICA, "BT /F 20 Tf 50 700 Td (Hi) Tj ET");
    let text = String::from_utf8(xref_loop.clone()).unwrap();
    let xref = text.rfind("xref\n0").unwrap();
    let end = format!("/Root 1 0 R/Prev {xref}>>");
    xref_loop = text.replace("/Root 1 0 R>>", &end).into_bytes();
    let cases: Vec<Case> = vec![
        ("tree.pdf", pdf(&[catalog.clone(), o("<</Type/Pages/Kids[2 0 R 2 0 R]/Count 2>>")]), ""),
        ("huge.pdf", pdf(&[catalog.clone(), o("<</Type/Pages/Kids[]/Count 2147483647>>")]), ""),
        ("xref.pdf", xref_loop, ""),
        ("self.pdf", pdf(&[o("1 0 R")]), ""),
        ("deep.pdf", pdf(&[catalog.clone(), "[".repeat(200_000)]), ""),
        ("length.pdf", pdf(&[catalog, o("<</Length 99999999999>>\nstream\nx\nendstream")]), ""),
        ("operators.pdf", page(HELVETICA, &"q ".repeat(500_000)), ""),
    ];
    all_contained(cases).await;
}

#[tokio::test]
async fn texts_without_measure() {
    let line = "x".repeat(50 << 20);
    let columns = "1,".repeat(1_000_000);
    let tags = format!("<html>{}deep{}", "<div>".repeat(100_000), "</div>".repeat(100_000));
    let json = format!("{}1{}", "[".repeat(100_000), "]".repeat(100_000));
    let cases: Vec<Case> = vec![
        ("line.csv", line.into(), "is cut after"),
        ("columns.csv", columns.into(), "1000001 columns"),
        ("quote.csv", format!("\"{}", "a,b\n".repeat(1_000_000)).into(), "1 rows"),
        ("tags.html", tags.into(), "shown as bare text"),
        ("open.html", format!("<html>{}", "<b><i><table>".repeat(50_000)).into(), ""),
        ("less.html", format!("<html>{}", "<".repeat(1_000_000)).into(), ""),
        ("deep.json", json.into(), "kind: \"JSON\""),
        ("nul.txt", b"a\0\0\0\0b".into(), "binary data"),
    ];
    all_contained(cases).await;
    let too_large = read(&workers(), "huge.txt", &vec![b'x'; 80 << 20]).await.unwrap_err();
    assert!(too_large.contains("more than 71 MiB"), "{too_large}");
}

/// A pool whose program is this shell script.
fn scripted(script: &str) -> (tempfile::TempDir, Workers) {
    let folder = tempfile::tempdir().unwrap();
    let program = folder.path().join("worker");
    std::fs::write(&program, format!("#!/bin/sh\n{script}\n")).unwrap();
    std::fs::set_permissions(&program, std::fs::Permissions::from_mode(0o755)).unwrap();
    let limits = Limits { wall: Duration::from_secs(1), answer: 1 << 20 };
    (folder, Workers::with_limits(program, 1, limits))
}

#[tokio::test]
async fn workers_that_misbehave() {
    let head = r"printf 'WGF1\377\377\377\377\377\377\377\377\377\377\377\377'; exec sleep 60";
    let table = [
        ("exec sleep 60", "was stopped after 1 s", "hangs"),
        ("exec cat /dev/zero", "its parser crashed", "floods with what is no frame"),
        (head, "larger than 1 MiB", "claims an endless answer"),
        ("kill -9 $$", "its parser crashed", "is killed"),
        ("exit 0", "its parser crashed", "ends without an answer"),
        ("while :; do echo noise >&2; done", "was stopped after 1 s", "floods its error output"),
    ];
    for (script, want, why) in table {
        let (_folder, workers) = scripted(script);
        for round in 0..2 {
            let error = read(&workers, "a.txt", b"x").await.unwrap_err();
            assert!(error.contains(want), "{why}, round {round}: {error}");
        }
    }
    let missing = Workers::new(PathBuf::from("/nonexistent/program"), 1);
    let error = missing.document("a", None, vec![1]).await.unwrap_err();
    assert!(matches!(&error, WorkerError::Ended(text) if text.contains("could be started")));
}

#[tokio::test]
async fn a_call_that_is_dropped_frees_its_slot() {
    let (_folder, workers) = scripted("exec sleep 60");
    for _ in 0..3 {
        let call = workers.document("a.txt", None, b"x".to_vec());
        assert!(tokio::time::timeout(Duration::from_millis(20), call).await.is_err());
    }
    let error = read(&workers, "a.txt", b"x").await.unwrap_err();
    assert!(error.contains("was stopped"), "the slot was free: {error}");
}
