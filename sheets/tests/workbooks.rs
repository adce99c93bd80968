//! Workbooks made by code: what an agent is told of each, and what becomes of damaged ones.

#![expect(clippy::unwrap_used, reason = "the makers of test files are not tests themselves")]

use std::io::{Cursor, Write};

use proptest::prelude::*;
use wildgym_sheets::{Area, Error, Format, Part, Workbook, read};
use zip::ZipWriter;
use zip::write::SimpleFileOptions;

const MAIN: &str = "xmlns=\"http://schemas.openxmlformats.org/spreadsheetml/2006/main\" \
    xmlns:r=\"http://schemas.openxmlformats.org/officeDocument/2006/relationships\"";

const TYPES: &str = "http://schemas.openxmlformats.org/officeDocument/2006/relationships";

fn archive(members: &[(&str, String)]) -> Vec<u8> {
    let mut zip = ZipWriter::new(Cursor::new(Vec::new()));
    for (name, text) in members {
        zip.start_file(*name, SimpleFileOptions::default()).unwrap();
        zip.write_all(text.as_bytes()).unwrap();
    }
    zip.finish().unwrap().into_inner()
}

/// The list of what a part refers to: number, type, target.
fn relations(list: &[(&str, &str, &str)]) -> String {
    let items: Vec<String> = list
        .iter()
        .map(|(id, kind, target)| {
            let mode = if target.contains("://") { " TargetMode=\"External\"" } else { "" };
            let kind = format!("{TYPES}/{kind}");
            format!("<Relationship Id=\"{id}\" Type=\"{kind}\" Target=\"{target}\"{mode}/>")
        })
        .collect();
    format!("<Relationships>{}</Relationships>", items.concat())
}

/// A workbook with this workbook part and these further members.
fn xlsx(book: &str, links: &[(&str, &str, &str)], more: &[(&str, String)]) -> Vec<u8> {
    let mut members = vec![
        ("_rels/.rels", relations(&[("rId1", "officeDocument", "xl/workbook.xml")])),
        ("xl/workbook.xml", format!("<workbook {MAIN}>{book}</workbook>")),
        ("xl/_rels/workbook.xml.rels", relations(links)),
    ];
    members.extend_from_slice(more);
    archive(&members)
}

fn sheet(parts: &str) -> String {
    format!("<worksheet {MAIN}>{parts}</worksheet>")
}

/// A workbook of a single sheet.
fn single(parts: &str) -> Vec<u8> {
    xlsx(
        "<sheets><sheet name=\"S\" sheetId=\"1\" r:id=\"r1\"/></sheets>",
        &[("r1", "worksheet", "worksheets/sheet1.xml")],
        &[("xl/worksheets/sheet1.xml", sheet(parts))],
    )
}

fn shown(bytes: Vec<u8>) -> String {
    part(bytes, &Part::default()).unwrap().to_markdown()
}

fn part(bytes: Vec<u8>, part: &Part) -> Result<Workbook, Error> {
    read(Format::Xlsx, bytes, part)
}

fn all_in(text: &str, wanted: &[&str]) {
    for want in wanted {
        assert!(text.contains(want), "{want:?} is missing in:\n{text}");
    }
}

#[test]
fn sheets_of_every_kind_are_named() {
    let book = "<workbookPr/><sheets>\
        <sheet name=\"Open\" sheetId=\"1\" r:id=\"r1\"/>\
        <sheet name=\"Shut\" sheetId=\"2\" state=\"hidden\" r:id=\"r2\"/>\
        <sheet name=\"Locked\" sheetId=\"3\" state=\"veryHidden\" r:id=\"r3\"/>\
        <sheet name=\"Curve\" sheetId=\"4\" r:id=\"r4\"/>\
        <sheet name=\"Lost\" sheetId=\"5\" r:id=\"r9\"/></sheets>\
        <definedNames><definedName name=\"rate\">Open!$A$1</definedName>\
        <definedName name=\"_xlnm.Print_Area\" localSheetId=\"1\">Shut!$A$1:$B$2</definedName>\
        <definedName name=\"_xlnm._FilterDatabase\" localSheetId=\"0\">Open!$A$1</definedName>\
        </definedNames>";
    let cell = "<sheetData><row r=\"1\"><c r=\"A1\"><v>7</v></c></row></sheetData>";
    let chart = "<c:chartSpace><c:chart><c:title><c:tx><a:t>Tides</a:t></c:tx></c:title>\
        <c:plotArea><c:lineChart><c:ser><c:val><c:numRef><c:f>Open!$A$1:$A$9</c:f></c:numRef>\
        </c:val></c:ser></c:lineChart></c:plotArea></c:chart></c:chartSpace>";
    let bytes = xlsx(
        book,
        &[
            ("r1", "worksheet", "worksheets/sheet1.xml"),
            ("r2", "worksheet", "/xl/worksheets/sheet2.xml"),
            ("r3", "worksheet", "worksheets/sheet3.xml"),
            ("r4", "chartsheet", "chartsheets/sheet1.xml"),
        ],
        &[
            ("xl/worksheets/sheet1.xml", sheet(cell)),
            ("xl/worksheets/sheet2.xml", sheet(cell)),
            ("xl/worksheets/sheet3.xml", sheet(cell)),
            ("xl/chartsheets/sheet1.xml", format!("<chartsheet {MAIN}/>")),
            (
                "xl/chartsheets/_rels/sheet1.xml.rels",
                relations(&[("rId1", "drawing", "../drawings/drawing1.xml")]),
            ),
            (
                "xl/drawings/_rels/drawing1.xml.rels",
                relations(&[("rId1", "chart", "../charts/chart1.xml")]),
            ),
            ("xl/charts/chart1.xml", chart.to_owned()),
        ],
    );
    let text = shown(bytes.clone());
    all_in(
        &text,
        &[
            "## Sheet `Open`: A1:A1, 1 rows × 1 columns\n\n| | A |\n|---|---|\n| 1 | 7 |",
            "## Sheet `Shut` (hidden)",
            "## Sheet `Locked` (very hidden)",
            "## Sheet `Curve`: no cells\n\nNote: it is a chart, which holds no cells",
            "- `Tides` (lineChart) of Open!$A$1:$A$9",
            "## Sheet `Lost`: no cells\n\nNote: its part is missing",
            "Defined names:\n\n- rate: `=Open!$A$1`",
            "- Print_Area (of sheet `Shut`): `=Shut!$A$1:$B$2`",
        ],
    );
    assert!(!text.contains("FilterDatabase"), "{text}");
    let locked = Part { sheet: Some(" locked".into()), area: None };
    let book = part(bytes.clone(), &locked).unwrap();
    assert_eq!((book.names.len(), book.sheets.len(), &*book.sheets[0].name), (5, 1, "Locked"));
    let error = part(bytes, &Part { sheet: Some("Q3".into()), area: None }).unwrap_err();
    let want = "it has no sheet `Q3`; its sheets are `Open`, `Shut`, `Locked`, `Curve`, `Lost`";
    assert_eq!(error.to_string(), want);
}

/// Fonts, fills and number formats in the part for styles; 0 is the default cell.
fn styles() -> String {
    format!(
        "<styleSheet {MAIN}><numFmts count=\"1\"><numFmt numFmtId=\"164\" \
         formatCode=\"[$€-407] #,##0.00\"/></numFmts>\
         <fonts><font><color theme=\"1\"/></font><font><b/><color rgb=\"FFFF0000\"/></font></fonts>\
         <fills><fill><patternFill patternType=\"none\"/></fill>\
         <fill><patternFill patternType=\"gray125\"/></fill>\
         <fill><patternFill patternType=\"solid\"><fgColor rgb=\"FFFFFF00\"/></patternFill></fill>\
         <fill><patternFill patternType=\"solid\"><fgColor theme=\"4\"/></patternFill></fill>\
         <fill><patternFill patternType=\"solid\"><fgColor indexed=\"10\"/></patternFill></fill></fills>\
         <cellXfs><xf/><xf fontId=\"1\"/><xf fillId=\"2\"/><xf fillId=\"3\"/><xf fillId=\"4\"/>\
         <xf numFmtId=\"9\"/><xf numFmtId=\"164\"/><xf numFmtId=\"14\"/><xf numFmtId=\"46\"/></cellXfs>\
         <dxfs><dxf><font><color rgb=\"FF123456\"/></font></dxf></dxfs></styleSheet>"
    )
}

fn styled(from_1904: bool, cells: &str) -> Vec<u8> {
    let theme = "<a:theme><a:themeElements><a:clrScheme>\
        <a:dk1><a:sysClr val=\"windowText\" lastClr=\"000000\"/></a:dk1>\
        <a:lt1><a:sysClr val=\"window\" lastClr=\"FFFFFF\"/></a:lt1>\
        <a:dk2><a:srgbClr val=\"44546A\"/></a:dk2><a:lt2><a:srgbClr val=\"E7E6E6\"/></a:lt2>\
        <a:accent1><a:srgbClr val=\"4472C4\"/></a:accent1></a:clrScheme></a:themeElements></a:theme>";
    let late = if from_1904 { "<workbookPr date1904=\"1\"/>" } else { "" };
    xlsx(
        &format!("{late}<sheets><sheet name=\"S\" sheetId=\"1\" r:id=\"r1\"/></sheets>"),
        &[
            ("r1", "worksheet", "worksheets/sheet1.xml"),
            ("r2", "styles", "styles.xml"),
            ("r3", "theme", "theme/theme1.xml"),
        ],
        &[
            ("xl/worksheets/sheet1.xml", sheet(cells)),
            ("xl/styles.xml", styles()),
            ("xl/theme/theme1.xml", theme.to_owned()),
        ],
    )
}

#[test]
fn looks_that_differ_from_the_default_are_listed_once() {
    let text = shown(styled(
        false,
        "<cols><col min=\"2\" max=\"3\" hidden=\"1\"/><col min=\"6\" max=\"6\" style=\"4\"/></cols>\
         <sheetData>\
         <row r=\"1\"><c r=\"A1\" s=\"1\"><v>1</v></c><c r=\"B1\" s=\"2\"/><c r=\"C1\" s=\"2\"/></row>\
         <row r=\"2\" hidden=\"1\"><c r=\"A2\" s=\"1\"/><c r=\"B2\" s=\"2\"/><c r=\"C2\" s=\"2\"/></row>\
         <row r=\"3\" hidden=\"1\"><c r=\"A3\" s=\"3\"><v>5</v></c></row>\
         <row r=\"4\"><c r=\"A4\" s=\"5\"><v>0.5</v></c><c r=\"B4\" s=\"6\"><v>1234.5</v></c></row>\
         </sheetData>",
    ));
    all_in(
        &text,
        &[
            "| 4 | 50% | € 1,234.50 |",
            "Number formats:\n\n- `0%`: A4\n- `[$€-407] #,##0.00`: B4",
            "Fonts:\n\n- `bold #FF0000`: A1",
            "Fills:\n\n- `#FFFF00`: B1:C2\n- `#4472C4`: A3\n- `#FF0000`: F:F",
            "Hidden rows:\n\n- 2:3",
            "Hidden columns:\n\n- B:C",
        ],
    );
    assert!(!text.contains("A1:A2") && !text.contains("123456"), "{text}");
}

#[test]
fn dates_count_from_either_year() {
    let cells = "<sheetData><row r=\"1\"><c r=\"A1\" s=\"7\"><v>43890.75</v></c>\
        <c r=\"B1\" s=\"8\"><v>1.25</v></c><c r=\"C1\" t=\"d\"><v>2024-03-01T18:00:00</v></c>\
        <c r=\"D1\"><v>43890</v></c><c r=\"E1\" s=\"7\"><v>0.5</v></c></row></sheetData>";
    let table = [
        (false, "| 1 | 2020-02-29T18:00:00 | 30:00:00 | 2024-03-01T18:00:00 | 43890 | 12:00:00 |"),
        (true, "| 1 | 2024-03-01T18:00:00 | 30:00:00 | 2024-03-01T18:00:00 | 43890 | 12:00:00 |"),
    ];
    for (from_1904, want) in table {
        all_in(&shown(styled(from_1904, cells)), &[want]);
    }
}

#[test]
fn comments_links_tables_and_rules_are_told() {
    let cells = "<sheetData><row r=\"1\"><c r=\"A1\" t=\"inlineStr\"><is><r><t>fare </t></r>\
        <r><t>&amp; toll</t></r><rPh><t>reading</t></rPh></is></c></row></sheetData>\
        <autoFilter ref=\"A1:B9\"/><mergeCells><mergeCell ref=\"A1:B1\"/></mergeCells>\
        <conditionalFormatting sqref=\"C2:C9\"><cfRule type=\"cellIs\" operator=\"lessThan\">\
        <formula>5</formula></cfRule></conditionalFormatting>\
        <dataValidations><dataValidation type=\"list\" sqref=\"B2:B9\"><formula1>\"a,b\"</formula1>\
        </dataValidation></dataValidations>\
        <hyperlinks><hyperlink ref=\"A1\" r:id=\"h1\"/><hyperlink ref=\"A2\" location=\"S!B2\"/></hyperlinks>";
    let notes = "<comments><authors><author>Ann</author></authors><commentList>\
        <comment ref=\"A1\" authorId=\"0\"><text><r><t>Ann:</t></r><r><t>\ncheck this</t></r></text></comment>\
        <comment ref=\"B2\" authorId=\"0\"><text><t>[Threaded comment]</t></text></comment>\
        </commentList></comments>";
    let threads = "<ThreadedComments><threadedComment ref=\"B2\" personId=\"p1\" id=\"t1\"><text>why 5?</text>\
        </threadedComment><threadedComment ref=\"B2\" personId=\"p2\" id=\"t2\" parentId=\"t1\">\
        <text>as agreed</text></threadedComment></ThreadedComments>";
    let bytes = xlsx(
        "<sheets><sheet name=\"S\" sheetId=\"1\" r:id=\"r1\"/></sheets>",
        &[("r1", "worksheet", "worksheets/sheet1.xml"), ("r2", "person", "persons/person.xml")],
        &[
            ("xl/worksheets/sheet1.xml", sheet(cells)),
            (
                "xl/worksheets/_rels/sheet1.xml.rels",
                relations(&[
                    ("h1", "hyperlink", "https://ferries.example/fares"),
                    ("c1", "comments", "../comments1.xml"),
                    ("c2", "threadedComment", "../threadedComments/t1.xml"),
                    ("t1", "table", "../tables/table1.xml"),
                    ("d1", "drawing", "../drawings/d1.xml"),
                ]),
            ),
            ("xl/drawings/_rels/d1.xml.rels", relations(&[("i", "image", "../media/a.png")])),
            ("xl/comments1.xml", notes.to_owned()),
            ("xl/threadedComments/t1.xml", threads.to_owned()),
            (
                "xl/persons/person.xml",
                "<personList><person displayName=\"Ben\" id=\"p1\"/>\
                 <person displayName=\"Cho\" id=\"p2\"/></personList>"
                    .to_owned(),
            ),
            (
                "xl/tables/table1.xml",
                "<table displayName=\"Fares\" ref=\"A1:B9\" totalsRowCount=\"1\"><tableColumns>\
                 <tableColumn name=\"fare\"/><tableColumn name=\"toll\"/></tableColumns></table>"
                    .to_owned(),
            ),
        ],
    );
    let text = shown(bytes.clone());
    all_in(
        &text,
        &[
            "| 1 | fare & toll |",
            "Merged cells: A1:B1",
            "- B2 (Ben): why 5?\n- B2 (Cho), reply: as agreed\n- A1 (Ann): check this",
            "Links:\n\n- A1: https://ferries.example/fares\n- A2: #S!B2",
            "Tables:\n\n- `Fares` A1:B9, with a row of totals: fare, toll",
            "Filters:\n\n- A1:B9",
            "Rules for input:\n\n- B2:B9: list `\"a,b\"`",
            "Conditional formatting:\n\n- C2:C9: cellIs lessThan `5`",
            "it holds 1 pictures, which are not shown",
        ],
    );
    assert!(!text.contains("Threaded comment") && !text.contains("reading"), "{text}");
    let area = Area::parse("B2:C3");
    let text = part(bytes, &Part { sheet: None, area }).unwrap().to_markdown();
    all_in(&text, &["- B2 (Ben): why 5?", "- C2:C9: cellIs"]);
    assert!(
        !text.contains("check this") && !text.contains("A1:B1"),
        "only what was asked for: {text}"
    );
}

#[test]
fn formulas_are_told_once_for_what_they_fill() {
    let rows = (2..60)
        .map(|row| {
            let shared = if row == 2 {
                "<f t=\"shared\" ref=\"D2:D59\" si=\"0\">A2*$B$1</f>".to_owned()
            } else {
                "<f t=\"shared\" si=\"0\"/>".to_owned()
            };
            format!(
                "<row r=\"{row}\"><c r=\"C{row}\"><f>A{row}+B{row}</f><v>1</v></c>\
                 <c r=\"D{row}\">{shared}<v>2</v></c></row>"
            )
        })
        .collect::<Vec<String>>()
        .concat();
    let text = shown(single(&format!(
        "<sheetData>{rows}<row r=\"90\"><c r=\"C90\"><f>NOW()</f></c>\
         <c r=\"D90\"><f t=\"array\" ref=\"D90:D91\">TRANSPOSE(A1:B1)</f><v>4</v></c></row></sheetData>"
    )));
    all_in(
        &text,
        &[
            "Formulas (of a range, that of its first cell):\n\n- C2:C59: `=A2+B2`\n\
             - D2:D59: `=A2*$B$1`\n- C90: `=NOW()`\n- D90:D91: `{=TRANSPOSE(A1:B1)}`",
            "never calculated, so their cells look empty: C90",
        ],
    );
    let book = part(
        single(&format!("<sheetData>{rows}</sheetData>")),
        &Part { sheet: None, area: Area::parse("D40:D41") },
    );
    all_in(&book.unwrap().to_markdown(), &["- D40:D41: `=A40*$B$1`"]);
}

#[test]
fn a_large_sheet_shows_its_edges_and_a_summary() {
    let rows = (1..=30_000)
        .map(|row| {
            if row == 1 {
                return "<row r=\"1\"><c t=\"str\"><v>port</v></c><c t=\"str\"><v>fare</v></c></row>"
                    .to_owned();
            }
            let port = ["Ely", "Wick", "Thurso"][row % 3];
            format!("<row><c t=\"str\"><v>{port}</v></c><c><v>{}.5</v></c></row>", row % 100)
        })
        .collect::<Vec<String>>()
        .concat();
    let bytes = single(&format!("<sheetData>{rows}</sheetData>"));
    let text = shown(bytes.clone());
    all_in(
        &text,
        &[
            "A1:B30000, 30000 rows × 2 columns",
            "over all rows below the first, which names them",
            "| A | port | text | 29999 | 0 | 3 |  |  |  | Ely (10000), Thurso (10000), Wick (9999) |",
            "| B | fare | number | 29999 | 0 | 100 | 0.5 | 99.5 |",
            "| 100 | Wick | 0.5 |",
            "… 29880 rows are left out here.",
            "such as `A101:B600`",
            "| 29981 |",
            "| 30000 | Ely | 0.5 |",
        ],
    );
    assert!(text.len() < 10_000, "{} bytes", text.len());
    let area = Area::parse("B15000:B15001");
    let text = part(bytes, &Part { sheet: Some("S".into()), area }).unwrap().to_markdown();
    all_in(&text, &["B15000:B15001, 2 rows × 1 columns", "| 15000 | 0.5 |\n| 15001 | 1.5 |"]);
}

#[test]
fn other_spellings_of_the_format_are_read() {
    let prefixed =
        "<x:worksheet xmlns:x=\"http://purl.oclc.org/ooxml/spreadsheetml/main\"><x:sheetData>\
         <x:row><x:c t=\"str\"><x:v><![CDATA[a<b]]>&#x6F6E;&lt;_x000D_</x:v></x:c>\
         <x:c t=\"b\"><x:v>1</x:v></x:c><x:c t=\"e\"><x:v>#N/A</x:v></x:c><x:c s=\"\"/></x:row>\
         </x:sheetData></x:worksheet>"
            .to_owned();
    let bytes = xlsx(
        "<sheets><sheet name=\"S\" sheetId=\"1\" r:id=\"r1\"/></sheets>",
        &[("r1", "worksheet", "worksheets\\Sheet1.XML")],
        &[("xl/worksheets/sheet1.xml", prefixed)],
    );
    all_in(&shown(bytes), &["| 1 | a<b潮< | TRUE | #N/A |"]);
}

/// An `OpenDocument` spreadsheet with this content.
fn ods(content: &str) -> Vec<u8> {
    let styles = "<office:automatic-styles>\
        <style:style style:name=\"hid\" style:family=\"table\"><style:table-properties table:display=\"false\"/></style:style>\
        <style:style style:name=\"red\" style:family=\"table-cell\"><style:table-cell-properties fo:background-color=\"#ff0000\"/>\
        <style:text-properties fo:color=\"#0000ff\" fo:font-weight=\"bold\"/></style:style></office:automatic-styles>";
    archive(&[(
        "content.xml",
        format!(
            "<office:document-content>{styles}<office:body><office:spreadsheet>{content}\
             </office:spreadsheet></office:body></office:document-content>"
        ),
    )])
}

#[test]
fn open_document_sheets_are_told_as_well() {
    let bytes = ods(
        "<table:table table:name=\"Open\"><table:table-column table:number-columns-repeated=\"2\"/>\
         <table:table-column table:visibility=\"collapse\"/>\
         <table:table-row><table:table-cell office:value-type=\"string\" table:number-columns-spanned=\"2\">\
         <office:annotation><dc:creator>Ann</dc:creator><text:p>check</text:p></office:annotation>\
         <text:p>a<text:s text:c=\"2\"/>b</text:p><text:p><text:a xlink:href=\"https://x.example\">c</text:a></text:p>\
         </table:table-cell><table:covered-table-cell/></table:table-row>\
         <table:table-row table:visibility=\"collapse\"><table:table-cell table:style-name=\"red\" \
         office:value-type=\"percentage\" office:value=\"0.125\"><text:p>12,5%</text:p></table:table-cell>\
         <table:table-cell office:value-type=\"currency\" office:currency=\"EUR\" office:value=\"9.5\"/>\
         <table:table-cell office:value-type=\"date\" office:date-value=\"2024-03-01\"/>\
         <table:table-cell office:value-type=\"time\" office:time-value=\"PT30H00M00S\"/>\
         <table:table-cell office:value-type=\"boolean\" office:boolean-value=\"true\"/>\
         <table:table-cell table:formula=\"of:=SUM([.A1:.B2])\" office:value-type=\"float\" office:value=\"3\"/>\
         </table:table-row><table:table-row table:number-rows-repeated=\"1048000\">\
         <table:table-cell table:number-columns-repeated=\"16384\"/></table:table-row></table:table>\
         <table:table table:name=\"Shut\" table:style-name=\"hid\"><table:table-row table:number-rows-repeated=\"3\">\
         <table:table-cell office:value-type=\"float\" office:value=\"1\" table:number-columns-repeated=\"2\"/>\
         </table:table-row></table:table>\
         <table:named-expressions><table:named-range table:name=\"rate\" table:cell-range-address=\"$Open.$A$1\"/>\
         </table:named-expressions>",
    );
    let text = read(Format::Ods, bytes.clone(), &Part::default()).unwrap().to_markdown();
    all_in(
        &text,
        &[
            "## Sheet `Open`: A1:F2",
            "Merged cells: A1:B1",
            "| 1 | a  b<br>c |",
            "| 2 | 12.5% | 9.5 | 2024-03-01 | 30:00:00 | TRUE | 3 |",
            "- F2: `=SUM(A1:B2)`",
            "Hidden rows:\n\n- 2:2",
            "Hidden columns:\n\n- C:C",
            "- `percentage`: A2\n- `currency EUR`: B2",
            "Fonts:\n\n- `bold #0000FF`: A2",
            "Fills:\n\n- `#FF0000`: A2",
            "- A1 (Ann): check",
            "- A1: https://x.example",
            "## Sheet `Shut` (hidden): A1:B3",
            "| 3 | 1 | 1 |",
            "- rate: `=$Open.$A$1`",
        ],
    );
    let shut = Part { sheet: Some("Shut".into()), area: Area::parse("B2:B9") };
    let book = read(Format::Ods, bytes.clone(), &shut).unwrap();
    assert_eq!((book.names.len(), book.sheets.len(), book.sheets[0].rows.len()), (2, 1, 2));
    let missing = Part { sheet: Some("Q".into()), area: None };
    let error = read(Format::Ods, bytes, &missing).unwrap_err().to_string();
    assert_eq!(error, "it has no sheet `Q`; its sheets are `Open`, `Shut`");
}

#[test]
fn what_claims_to_be_endless_ends() {
    let cell = "<table:table-cell table:number-columns-repeated=\"999999999\" \
        office:value-type=\"string\"><text:p>X</text:p></table:table-cell>";
    let row = "<table:table-row table:number-rows-repeated=\"999999999\">";
    let bytes =
        ods(&format!("<table:table table:name=\"T\">{row}{cell}</table:table-row></table:table>"));
    let text = read(Format::Ods, bytes, &Part::default()).unwrap().to_markdown();
    all_in(&text, &["is repeated too often", "columns are summarised"]);
    let wide: String =
        (0..20_000).map(|_| "<c t=\"str\"><v>x</v></c>").collect::<Vec<_>>().concat();
    let text = shown(single(&format!("<sheetData><row>{wide}</row></sheetData>")));
    all_in(
        &text,
        &["A1:XFD1, 1 rows × 16384 columns", "3616 cells beyond column XFD are not read"],
    );
    let laughs = "<!DOCTYPE x [<!ENTITY a \"lol\"><!ENTITY b \"&a;&a;&a;\">]>";
    let bytes = xlsx(
        "<sheets><sheet name=\"S\" sheetId=\"1\" r:id=\"r1\"/></sheets>",
        &[("r1", "worksheet", "worksheets/sheet1.xml")],
        &[(
            "xl/worksheets/sheet1.xml",
            format!(
                "{laughs}<worksheet><sheetData><row><c t=\"str\"><v>&b;</v></c></row></sheetData></worksheet>"
            ),
        )],
    );
    all_in(&shown(bytes), &["| 1 | &b; |"]);
}

#[test]
fn damage_has_a_reason_and_what_came_before_it_is_kept() {
    let broken =
        "<sheetData><row r=\"1\"><c r=\"A1\"><v>1</v></c></row><row r=\"2\"><c r=\"A2\"><v";
    let text = shown(single(broken));
    all_in(&text, &["could not be read to its end", "| 1 | 1 |"]);
    let table: [(Vec<u8>, Format, &str); 6] = [
        (b"PK\x03\x04".to_vec(), Format::Xlsx, "invalid Zip"),
        (archive(&[("a", String::new())]), Format::Xlsx, "its workbook part is missing"),
        (xlsx("", &[], &[]), Format::Xlsx, "it has no sheets"),
        (archive(&[("a", String::new())]), Format::Ods, "its content is missing"),
        (ods(""), Format::Ods, "it has no sheets"),
        (b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1".to_vec(), Format::Xls, ""),
    ];
    for (bytes, format, want) in table {
        let error = read(format, bytes, &Part::default()).unwrap_err();
        let Error::Damaged(reason) = &error else { panic!("{error:?}") };
        assert!(reason.contains(want), "{want:?}: {reason}");
    }
    let locked = archive(&[
        ("META-INF/manifest.xml", "<manifest:encryption-data/>".to_owned()),
        ("content.xml", String::new()),
    ]);
    assert_eq!(read(Format::Ods, locked, &Part::default()), Err(Error::Encrypted));
}

proptest! {
    /// Parts that were tampered with are read or refused, whatever they say.
    #[test]
    fn any_part_is_read_or_refused(
        pieces in prop::collection::vec(
            prop::sample::select(&[
                "<row r=\"9\" hidden=\"1\">", "<row>", "</row>", "<c r=\"B2\" s=\"9\" t=\"s\">", "<c>", "<c r=\"XFD1048576\">",
                "<c r=\"\" t=\"d\">", "</c>", "<v>1e400</v>", "<v>-1</v>", "<v>", "</v>", "<f>A1</f>", "<f t=\"shared\" si=\"0\"/>",
                "<f t=\"shared\" si=\"0\" ref=\"A1\">A1&amp;\"</f>", "<is><t>潮</t></is>", "<mergeCell ref=\"x\"/>",
                "<hyperlink ref=\"A1\" r:id=\"q\"/>", "<cfRule>", "<formula>", "<col min=\"0\" max=\"9\" hidden=\"1\"/>", "&x;", "&#0;", "]]>", "<!--", "<",
            ][..]),
            0..40,
        ),
        area in prop::option::of(prop::sample::select(&["A1", "B2:C9", "A:A"][..])),
    ) {
        let bytes = single(&format!("<sheetData>{}", pieces.concat()));
        let area = area.and_then(Area::parse);
        let book = part(bytes, &Part { sheet: None, area });
        prop_assert!(book.is_err() || !book.unwrap().to_markdown().is_empty());
    }
}
