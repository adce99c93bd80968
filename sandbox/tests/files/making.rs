//! Small files of every kind, made by code.

use std::io::{Cursor, Write};

use data_encoding::BASE64;
use flate2::Compression;
use flate2::write::GzEncoder;
use zip::ZipWriter;
use zip::write::SimpleFileOptions;

/// A ZIP container.
pub(crate) fn zipped(members: &[(&str, &[u8])]) -> Vec<u8> {
    let mut zip = ZipWriter::new(Cursor::new(Vec::new()));
    for (name, bytes) in members {
        zip.start_file(*name, SimpleFileOptions::default()).unwrap();
        zip.write_all(bytes).unwrap();
    }
    zip.finish().unwrap().into_inner()
}

/// A tar archive.
pub(crate) fn tarred(members: &[(&str, &[u8])]) -> Vec<u8> {
    let mut tar = tar::Builder::new(Vec::new());
    for (name, bytes) in members {
        let mut header = tar::Header::new_gnu();
        // Written by hand: the builder refuses names that climb.
        header.as_mut_bytes()[..name.len()].copy_from_slice(name.as_bytes());
        header.set_size(bytes.len() as u64);
        header.set_mode(0o644);
        header.set_mtime(1_770_000_000);
        header.set_cksum();
        tar.append(&header, *bytes).unwrap();
    }
    tar.into_inner().unwrap()
}

/// A gzip of it.
pub(crate) fn gzipped(bytes: &[u8]) -> Vec<u8> {
    let mut gzip = GzEncoder::new(Vec::new(), Compression::default());
    gzip.write_all(bytes).unwrap();
    gzip.finish().unwrap()
}

/// A bzip2 of it.
pub(crate) fn bzipped(bytes: &[u8]) -> Vec<u8> {
    let mut bzip = bzip2::write::BzEncoder::new(Vec::new(), bzip2::Compression::fast());
    bzip.write_all(bytes).unwrap();
    bzip.finish().unwrap()
}

fn decoded(text: &str) -> Vec<u8> {
    BASE64.decode(text.as_bytes()).unwrap()
}

/// A 7z archive of `fees.csv` and `notes/tides.txt`; nothing here packs that format.
pub(crate) fn seven() -> Vec<u8> {
    decoded(SEVEN)
}

/// A 7z archive of `fees.csv` behind a password.
pub(crate) fn seven_locked() -> Vec<u8> {
    decoded(SEVEN_LOCKED)
}

/// An xz of the two rows of `fees.csv`.
pub(crate) fn xzipped() -> Vec<u8> {
    decoded(XZ)
}

const SEVEN: &str = "N3q8ryccAAR0KSITlQAAAAAAAAAVAAAAAAAAAL9E7EcBABxmZWUsYmVydGgKMTIsMwpTcHJpbmcgdGlkZXMuCgDgAIIAbF0AAIEzB64P0B3SfJ8/R0ErhkqO9SshTdjEsO3sZbXlF0nNclpzSBSf9SQRyr0jWsxoUTWT/U5+7YsQgyKfMy6LGBqjFfIGVh/BK3rzEipG0A5Bdo232R7J6pfvyzZ/vqSRT2Jav/4UnTAX4AAAABcGIQEJdAAHCwEAASEhARgMgIMAAA==";
const SEVEN_LOCKED: &str = "N3q8ryccAASWexRzkQAAAAAAAAAUAAAAAAAAAGtMLTgFpxnui85XtIs/iBiD+62+4z2fVIxOw8PNHPYVNCCdZOAAagBpXQAAgTMHrg/QDv4Rh4L694o09BZ/lvdHTeeJkHztovNUdo3D/Hq3jqVbt9gLhMcTGmAC7dnHH5mWalnL+nrnHmcptJIXWBiM8U/kLQIFZZ4bUVy1PT0GEE88fEuJUbFrCVGWmfyEIUAAAAAAFwYgAQlxAAcLAQABISEBGAxrAAA=";
const XZ: &str = "/Td6WFoAAATm1rRGAgAhARYAAAB0L+WjAQAOZmVlLGJlcnRoCjEyLDMKAAC6Ry1aRElJUQABJw/fGvxqH7bzfQEAAAAABFla";

/// A Word document with these paragraphs.
pub(crate) fn docx(paragraphs: &[&str]) -> Vec<u8> {
    let types = r#"<Types xmlns="http://schemas.openxmlformats.org/package/2006/content-types"><Override PartName="/word/document.xml" ContentType="application/vnd.openxmlformats-officedocument.wordprocessingml.document.main+xml"/></Types>"#;
    let links = r#"<Relationships xmlns="http://schemas.openxmlformats.org/package/2006/relationships"><Relationship Id="rId1" Type="http://schemas.openxmlformats.org/officeDocument/2006/relationships/officeDocument" Target="word/document.xml"/></Relationships>"#;
    let paragraphs: String = paragraphs
        .iter()
        .map(|text| ["<w:p><w:r><w:t>", text, "</w:t></w:r></w:p>"].concat())
        .collect();
    let body = format!(
        r#"<w:document xmlns:w="http://schemas.openxmlformats.org/wordprocessingml/2006/main"><w:body>{paragraphs}<w:tbl><w:tr><w:tc><w:p><w:r><w:t>cell</w:t></w:r></w:p></w:tc></w:tr></w:tbl></w:body></w:document>"#
    );
    zipped(&[
        ("[Content_Types].xml", types.as_bytes()),
        ("_rels/.rels", links.as_bytes()),
        ("word/document.xml", body.as_bytes()),
    ])
}

/// A workbook of one sheet with a text, a number and a formula.
pub(crate) fn xlsx() -> Vec<u8> {
    let types = r#"<Types xmlns="http://schemas.openxmlformats.org/package/2006/content-types"><Default Extension="xml" ContentType="application/vnd.openxmlformats-officedocument.spreadsheetml.sheet.main+xml"/></Types>"#;
    let root = r#"<Relationships xmlns="http://schemas.openxmlformats.org/package/2006/relationships"><Relationship Id="rId1" Type="http://schemas.openxmlformats.org/officeDocument/2006/relationships/officeDocument" Target="xl/workbook.xml"/></Relationships>"#;
    let book = r#"<workbook xmlns="http://schemas.openxmlformats.org/spreadsheetml/2006/main" xmlns:r="http://schemas.openxmlformats.org/officeDocument/2006/relationships"><sheets><sheet name="Fees" sheetId="1" r:id="rId1"/></sheets></workbook>"#;
    let links = r#"<Relationships xmlns="http://schemas.openxmlformats.org/package/2006/relationships"><Relationship Id="rId1" Type="http://schemas.openxmlformats.org/officeDocument/2006/relationships/worksheet" Target="worksheets/sheet1.xml"/><Relationship Id="rId2" Type="http://schemas.openxmlformats.org/officeDocument/2006/relationships/sharedStrings" Target="sharedStrings.xml"/></Relationships>"#;
    let sheet = r#"<worksheet xmlns="http://schemas.openxmlformats.org/spreadsheetml/2006/main"><dimension ref="A1:C2"/><sheetData><row r="1"><c r="A1" t="s"><v>0</v></c><c r="B1"><v>12.5</v></c></row><row r="2"><c r="B2"><f>SUM(B1:B1)</f><v>12.5</v></c></row></sheetData><mergeCells count="1"><mergeCell ref="A1:A2"/></mergeCells></worksheet>"#;
    let strings = r#"<sst xmlns="http://schemas.openxmlformats.org/spreadsheetml/2006/main" count="1" uniqueCount="1"><si><t>berth</t></si></sst>"#;
    zipped(&[
        ("[Content_Types].xml", types.as_bytes()),
        ("_rels/.rels", root.as_bytes()),
        ("xl/workbook.xml", book.as_bytes()),
        ("xl/_rels/workbook.xml.rels", links.as_bytes()),
        ("xl/worksheets/sheet1.xml", sheet.as_bytes()),
        ("xl/sharedStrings.xml", strings.as_bytes()),
    ])
}

/// A PDF with these pages of content, a title, contents and a link on the first page.
pub(crate) fn pdf(pages: &[String]) -> Vec<u8> {
    let kids: Vec<String> = (0..pages.len()).map(|page| format!("{} 0 R", 10 + page * 2)).collect();
    let mut objects = vec![
        (1, "<</Type/Catalog/Pages 2 0 R/Outlines 5 0 R>>".to_owned()),
        (2, format!("<</Type/Pages/Kids[{}]/Count {}>>", kids.join(" "), kids.len())),
        (3, "<</Type/Font/Subtype/Type1/BaseFont/Helvetica/Encoding/WinAnsiEncoding>>".to_owned()),
        (4, "<</Title(Harbour report)/Author(Ana)>>".to_owned()),
        (5, "<</Type/Outlines/First 6 0 R/Last 6 0 R/Count 1>>".to_owned()),
        (6, "<</Title(Tides)/Parent 5 0 R/Dest[10 0 R/Fit]>>".to_owned()),
        (
            7,
            "<</Type/Annot/Subtype/Link/Rect[90 690 160 712]/A<</S/URI/URI(https://a.test/t)>>>>"
                .to_owned(),
        ),
        (8, "<</Type/Annot/Subtype/Text/Rect[0 0 9 9]/Contents(Check this)/T(Ben)>>".to_owned()),
    ];
    for (page, content) in pages.iter().enumerate() {
        let at = 10 + page * 2;
        let notes = if page == 0 { "/Annots[7 0 R 8 0 R]" } else { "" };
        objects.push((at, format!("<</Type/Page/Parent 2 0 R/MediaBox[0 0 600 800]{notes}/Resources<</Font<</F 3 0 R>>>>/Contents {} 0 R>>", at + 1)));
        objects
            .push((at + 1, format!("<</Length {}>>\nstream\n{content}\nendstream", content.len())));
    }
    written(&objects)
}

/// Writes numbered objects with the table of their places.
fn written(objects: &[(usize, String)]) -> Vec<u8> {
    let mut out = b"%PDF-1.4\n".to_vec();
    let size = objects.iter().map(|(number, _)| number + 1).max().unwrap_or(1);
    let mut places = vec![0; size];
    for (number, object) in objects {
        places[*number] = out.len();
        out.extend(format!("{number} 0 obj\n{object}\nendobj\n").as_bytes());
    }
    let xref = out.len();
    out.extend(format!("xref\n0 {size}\n").as_bytes());
    for (number, place) in places.iter().enumerate() {
        let (generation, state) = if number == 0 || *place == 0 { (65535, 'f') } else { (0, 'n') };
        out.extend(format!("{place:010} {generation:05} {state} \n").as_bytes());
    }
    let end =
        format!("trailer\n<</Size {size}/Root 1 0 R/Info 4 0 R>>\nstartxref\n{xref}\n%%EOF\n");
    out.extend(end.as_bytes());
    out
}

/// Content that writes a text in this size at this place.
pub(crate) fn drawn(size: u32, x: u32, y: u32, text: &str) -> String {
    format!("BT /F {size} Tf {x} {y} Td ({text}) Tj ET\n")
}

/// A notebook with a picture and an error.
pub(crate) fn notebook() -> Vec<u8> {
    let picture = "iVBOR".repeat(100);
    format!(
        r##"{{"nbformat":4,"nbformat_minor":5,"metadata":{{"kernelspec":{{"display_name":"Python 3","language":"python"}}}},"cells":[{{"cell_type":"markdown","source":["# Tides\n","of the north"]}},{{"cell_type":"code","execution_count":1,"source":"1/0","outputs":[{{"output_type":"display_data","data":{{"image/png":"{picture}"}}}},{{"output_type":"error","ename":"ZeroDivisionError","evalue":"division by zero","traceback":["\u001b[31mbad\u001b[0m"]}}]}}]}}"##
    )
    .into_bytes()
}

/// A feed of two entries.
pub(crate) const FEED: &str = "<?xml version='1.0'?><rss version='2.0'><channel><title>Harbour</title>\
    <item><title>Flood</title><link>https://a.test/1</link><pubDate>Tue, 03 Feb 2026</pubDate>\
    <description><![CDATA[<p>High <b>wet</b></p>]]></description></item>\
    <item><title>Ebb</title></item></channel></rss>";

/// A drawing with texts.
pub(crate) const DRAWING: &str = "<svg xmlns='http://www.w3.org/2000/svg'><title>Fares</title>\
    <g transform='translate(0 10)'><text x='5' y='50'>below</text></g><text x='5' y='5'>above</text></svg>";

/// One small file of each kind that is read as a document, by name.
pub(crate) fn all() -> Vec<(String, Vec<u8>)> {
    let csv: &[u8] = b"fee,berth\n12,3\n7,4\n";
    let page =
        drawn(24, 50, 740, "Harbour report") + &drawn(11, 50, 700, "Spring tides reach 4 m.");
    let inner = zipped(&[("deep.txt", b"deep down"), ("fees.csv", csv)]);
    let files: Vec<(&str, Vec<u8>)> = vec![
        ("a.docx", docx(&["Ferry notes", "of March"])),
        ("a.xlsx", xlsx()),
        ("a.pdf", pdf(&[page.clone(), page])),
        ("a.zip", zipped(&[("a.csv", csv), ("b/n.ipynb", &notebook()), ("in.zip", &inner)])),
        ("a.tar", tarred(&[("a.csv", csv), ("../up.txt", b"climbs")])),
        ("a.tar.gz", gzipped(&tarred(&[("a.csv", csv), ("f.xml", FEED.as_bytes())]))),
        ("a.csv.gz", gzipped(csv)),
        ("a.csv.bz2", bzipped(csv)),
        ("a.csv.xz", xzipped()),
        ("a.7z", seven()),
        ("a.ipynb", notebook()),
        ("a.rss", FEED.into()),
        ("a.svg", DRAWING.into()),
        ("a.xml", b"<a><b k='1'>x</b><b>y &amp; z</b></a>".into()),
        (
            "a.html",
            b"<html><body><h1>Times</h1><table><tr><td>1</td></tr></table></body></html>".into(),
        ),
        ("a.json", b"{\"a\": [1, {\"b\": null}]}".into()),
        ("a.jsonl", b"{\"a\": 1}\n{\"a\": 2}\n".into()),
        ("a.srt", b"1\n00:00:01,000 --> 00:00:02,000\nMind the gap\n".into()),
        ("a.vtt", b"WEBVTT\n\n00:01.000 --> 00:02.000\n<v Ana>Hello\n".into()),
        ("a.yaml", b"port: Ellery\nfees: [12, 7]\n".into()),
        ("a.toml", b"port = 'Ellery'\n[fees]\nberth = 12\n".into()),
        ("a.log", b"2026-02-03 10:00 started\n2026-02-03 10:01 stopped\n".into()),
        ("a.csv", csv.into()),
        ("a.txt", "港口 notes\n".into()),
    ];
    files.into_iter().map(|(name, bytes)| (name.to_owned(), bytes)).collect()
}
