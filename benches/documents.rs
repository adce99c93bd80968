//! How fast documents are read, and in how much memory.
//!
//! `cargo bench --bench documents` makes two workbooks (50,000 and 1,000,000 rows of seven
//! columns) and two PDFs (100 and 2,000 pages), reads each in a worker process as a tool
//! call does, and prints the median time, the bytes a second and the peak memory of the
//! worker. It fails where a worker needs more than 512 MiB or leaves pages or rows out.
//! `cargo bench --bench documents -- DIR` keeps the files there; `documents_peers.py DIR`
//! reads the same ones with openpyxl and pdfminer.six.

#![expect(clippy::print_stdout, reason = "a bench reports on standard output")]

use std::error::Error;
use std::fmt::Write as _;
use std::fs;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use wildgym_sandbox::documents::{Part, Workbook};
use wildgym_sandbox::worker::Workers;
use zip::write::SimpleFileOptions;
use zip::{CompressionMethod, ZipWriter};

/// What a worker may need at most, in bytes.
const MEMORY: u64 = 512 << 20;

type Done<T = ()> = Result<T, Box<dyn Error>>;

#[tokio::main]
async fn main() -> Done {
    let words: Vec<String> = std::env::args().skip(1).filter(|word| word != "--bench").collect();
    let scratch = tempfile::tempdir()?;
    let folder = words.first().map_or_else(|| scratch.path().to_owned(), PathBuf::from);
    fs::create_dir_all(&folder)?;
    for (name, rows, runs) in [("sales-50k.xlsx", 50_000, 7), ("sales-1m.xlsx", 1_000_000, 3)] {
        let bytes = made(&folder, name, |file| workbook(file, rows))?;
        measure(name, &bytes, runs, async |workers, bytes| {
            let book = workers.workbook(name, bytes, Part::default()).await?;
            let read = counted(&book);
            if read == u64::from(rows) { Ok(()) } else { Err(format!("{read} rows").into()) }
        })
        .await?;
    }
    for (name, pages, runs) in [("report-100.pdf", 100, 7), ("report-2000.pdf", 2_000, 3)] {
        let bytes = made(&folder, name, |file| pdf(file, pages))?;
        measure(name, &bytes, runs, async |workers, bytes| {
            let document = workers.document(name, None, bytes).await?;
            let last = format!("End of page {pages}.");
            if document.text.contains(&last) { Ok(()) } else { Err("pages are left out".into()) }
        })
        .await?;
    }
    Ok(())
}

/// Returns a file of the folder, made where it is not there yet.
fn made(folder: &Path, name: &str, make: impl FnOnce(&mut dyn Write) -> Done) -> Done<Vec<u8>> {
    let path = folder.join(name);
    if !path.exists() {
        let mut bytes = Vec::new();
        make(&mut bytes)?;
        fs::write(&path, bytes)?;
    }
    Ok(fs::read(path)?)
}

/// Reads a file so many times in one worker and prints what that took.
async fn measure(
    name: &str,
    bytes: &[u8],
    runs: usize,
    read: impl AsyncFn(&Workers, Vec<u8>) -> Done,
) -> Done {
    let workers = Workers::new(PathBuf::from(env!("CARGO_BIN_EXE_wildgym")), 1);
    let (mut took, mut peak) = (Vec::new(), 0);
    for _ in 0..runs {
        let copy = bytes.to_vec();
        let begin = Instant::now();
        let mut reading = std::pin::pin!(read(&workers, copy));
        // The pool may end a worker with its job, so it is looked at while it works.
        let read = loop {
            tokio::select! {
                read = &mut reading => break read,
                () = tokio::time::sleep(Duration::from_millis(10)) => peak = peak.max(most()),
            }
        };
        read.map_err(|error| format!("{name}: {error}"))?;
        took.push(begin.elapsed());
    }
    took.sort();
    let median = took[took.len() / 2];
    println!(
        "{name:<16} {:6.1} MB  median {median:9.3?}  {:7.2} MB/s  peak memory {:4} MiB",
        megabytes(bytes.len()),
        megabytes(bytes.len()) / median.max(Duration::from_nanos(1)).as_secs_f64(),
        peak >> 20
    );
    if peak == 0 || peak > MEMORY {
        Err(format!("{name}: not known to need less than {} MiB", MEMORY >> 20).into())
    } else {
        Ok(())
    }
}

#[expect(clippy::cast_precision_loss, reason = "files are far smaller than 2^52 bytes")]
fn megabytes(bytes: usize) -> f64 {
    bytes as f64 / 1e6
}

/// Returns the most memory that a worker has had, in bytes.
fn most() -> u64 {
    let mut most = 0;
    for task in fs::read_dir("/proc/self/task").into_iter().flatten().flatten() {
        let children = fs::read_to_string(task.path().join("children")).unwrap_or_default();
        for child in children.split_whitespace() {
            let status = fs::read_to_string(format!("/proc/{child}/status")).unwrap_or_default();
            let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:"));
            let kib: u64 =
                line.and_then(|it| it.split_whitespace().next()?.parse().ok()).unwrap_or(0);
            most = most.max(kib << 10);
        }
    }
    most
}

/// How many rows below the header a summary counted, or the table has.
fn counted(book: &Workbook) -> u64 {
    let sheet = &book.sheets[0];
    sheet.columns.first().map_or(sheet.rows.len() as u64 - 1, |column| column.filled)
}

/// A workbook of sales: number, day, shop, code, amount, share, paid.
fn workbook(file: &mut dyn Write, rows: u32) -> Done {
    let mut zip = ZipWriter::new(std::io::Cursor::new(Vec::new()));
    let options = SimpleFileOptions::default()
        .compression_method(CompressionMethod::Deflated)
        .large_file(true);
    for (name, text) in PARTS {
        zip.start_file(*name, options)?;
        zip.write_all(text.as_bytes())?;
    }
    zip.start_file("xl/sharedStrings.xml", options)?;
    let mut text = format!("<sst xmlns=\"{MAIN}\">");
    for title in ["number", "day", "shop", "code", "amount", "share", "paid"] {
        write!(text, "<si><t>{title}</t></si>")?;
    }
    for shop in 0..40 {
        write!(text, "<si><t>Shop of the harbour {shop}</t></si>")?;
    }
    for code in 0..rows / 10 {
        write!(text, "<si><t>code-{:08x}</t></si>", code.wrapping_mul(2_654_435_761))?;
    }
    text.push_str("</sst>");
    zip.write_all(text.as_bytes())?;
    zip.start_file("xl/worksheets/sheet1.xml", options)?;
    zip.write_all(format!("<worksheet xmlns=\"{MAIN}\"><sheetData><row r=\"1\">").as_bytes())?;
    for (at, column) in ["A", "B", "C", "D", "E", "F", "G"].into_iter().enumerate() {
        write!(zip, "<c r=\"{column}1\" t=\"s\"><v>{at}</v></c>")?;
    }
    write!(zip, "</row>")?;
    for row in 2..=rows + 1 {
        row_of(&mut text, row, rows)?;
        zip.write_all(text.as_bytes())?;
    }
    write!(zip, "</sheetData></worksheet>")?;
    file.write_all(&zip.finish()?.into_inner())?;
    Ok(())
}

fn row_of(text: &mut String, row: u32, rows: u32) -> Done {
    text.clear();
    let mixed = row.wrapping_mul(2_654_435_761);
    write!(
        text,
        "<row r=\"{row}\"><c r=\"A{row}\"><v>{row}</v></c><c r=\"B{row}\" s=\"1\"><v>{}</v></c>\
         <c r=\"C{row}\" t=\"s\"><v>{}</v></c><c r=\"D{row}\" t=\"s\"><v>{}</v></c>\
         <c r=\"E{row}\" s=\"2\"><v>{}.{:02}</v></c><c r=\"F{row}\" s=\"3\"><v>0.{:03}</v></c>\
         <c r=\"G{row}\" t=\"b\"><v>{}</v></c></row>",
        45_000 + row % 700,
        7 + mixed % 40,
        47 + row % (rows / 10).max(1),
        mixed % 9_000,
        mixed % 100,
        mixed % 1_000,
        mixed % 2
    )?;
    Ok(())
}

const MAIN: &str = "http://schemas.openxmlformats.org/spreadsheetml/2006/main";

/// The small parts of a workbook.
const PARTS: &[(&str, &str)] = &[
    (
        "[Content_Types].xml",
        r#"<Types xmlns="http://schemas.openxmlformats.org/package/2006/content-types"><Default Extension="rels" ContentType="application/vnd.openxmlformats-package.relationships+xml"/><Override PartName="/xl/workbook.xml" ContentType="application/vnd.openxmlformats-officedocument.spreadsheetml.sheet.main+xml"/><Override PartName="/xl/worksheets/sheet1.xml" ContentType="application/vnd.openxmlformats-officedocument.spreadsheetml.worksheet+xml"/><Override PartName="/xl/sharedStrings.xml" ContentType="application/vnd.openxmlformats-officedocument.spreadsheetml.sharedStrings+xml"/><Override PartName="/xl/styles.xml" ContentType="application/vnd.openxmlformats-officedocument.spreadsheetml.styles+xml"/></Types>"#,
    ),
    (
        "_rels/.rels",
        r#"<Relationships xmlns="http://schemas.openxmlformats.org/package/2006/relationships"><Relationship Id="rId1" Type="http://schemas.openxmlformats.org/officeDocument/2006/relationships/officeDocument" Target="xl/workbook.xml"/></Relationships>"#,
    ),
    (
        "xl/workbook.xml",
        r#"<workbook xmlns="http://schemas.openxmlformats.org/spreadsheetml/2006/main" xmlns:r="http://schemas.openxmlformats.org/officeDocument/2006/relationships"><sheets><sheet name="Sales" sheetId="1" r:id="rId1"/></sheets></workbook>"#,
    ),
    (
        "xl/_rels/workbook.xml.rels",
        r#"<Relationships xmlns="http://schemas.openxmlformats.org/package/2006/relationships"><Relationship Id="rId1" Type="http://schemas.openxmlformats.org/officeDocument/2006/relationships/worksheet" Target="worksheets/sheet1.xml"/><Relationship Id="rId2" Type="http://schemas.openxmlformats.org/officeDocument/2006/relationships/sharedStrings" Target="sharedStrings.xml"/><Relationship Id="rId3" Type="http://schemas.openxmlformats.org/officeDocument/2006/relationships/styles" Target="styles.xml"/></Relationships>"#,
    ),
    (
        "xl/styles.xml",
        r#"<styleSheet xmlns="http://schemas.openxmlformats.org/spreadsheetml/2006/main"><fonts count="1"><font><sz val="11"/></font></fonts><fills count="1"><fill><patternFill patternType="none"/></fill></fills><borders count="1"><border/></borders><cellStyleXfs count="1"><xf/></cellStyleXfs><cellXfs count="4"><xf numFmtId="0"/><xf numFmtId="14"/><xf numFmtId="7"/><xf numFmtId="10"/></cellXfs></styleSheet>"#,
    ),
];

/// A report: pages of forty lines in Helvetica.
fn pdf(file: &mut dyn Write, pages: u32) -> Done {
    let kids: Vec<String> = (0..pages).map(|page| format!("{} 0 R", 4 + 2 * page)).collect();
    let mut objects = vec![
        "<</Type/Catalog/Pages 2 0 R>>".to_owned(),
        format!("<</Type/Pages/Kids[{}]/Count {pages}>>", kids.join(" ")),
        "<</Type/Font/Subtype/Type1/BaseFont/Helvetica/Encoding/WinAnsiEncoding>>".to_owned(),
    ];
    for page in 1..=pages {
        let content = 3 + 2 * page;
        objects.push(format!(
            "<</Type/Page/Parent 2 0 R/MediaBox[0 0 595 842]/Resources<</Font<</F 3 0 R>>>>\
             /Contents {content} 0 R>>"
        ));
        let mut text = String::from("BT /F 11 Tf 14 TL 60 780 Td\n");
        for line in 0..40_u32 {
            let tide = page.wrapping_mul(2_654_435_761).wrapping_add(line * 40_503) % 700;
            writeln!(
                text,
                "(Line {line} of page {page}: the tide at the harbour gauge stood {tide} cm above \
                 the datum.) Tj T*"
            )?;
        }
        writeln!(text, "(End of page {page}.) Tj ET")?;
        objects.push(format!("<</Length {}>>\nstream\n{text}endstream", text.len()));
    }
    let mut out = b"%PDF-1.4\n".to_vec();
    let mut places = Vec::new();
    for (index, object) in objects.iter().enumerate() {
        places.push(out.len());
        writeln!(out, "{} 0 obj\n{object}\nendobj", index + 1)?;
    }
    let start = out.len();
    writeln!(out, "xref\n0 {}\n0000000000 65535 f ", objects.len() + 1)?;
    for place in places {
        writeln!(out, "{place:010} 00000 n ")?;
    }
    let size = objects.len() + 1;
    writeln!(out, "trailer\n<</Size {size}/Root 1 0 R>>\nstartxref\n{start}\n%%EOF")?;
    file.write_all(&out)?;
    Ok(())
}
