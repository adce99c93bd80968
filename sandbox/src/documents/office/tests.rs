//! What documents of each kind become; their files are made here, from XML.

use std::io::{Cursor, Write};

use proptest::prelude::*;
use zip::ZipWriter;
use zip::write::SimpleFileOptions;

use crate::documents::{Document, document};

const W: &str = r#"xmlns:w="http://schemas.openxmlformats.org/wordprocessingml/2006/main" xmlns:r="http://schemas.openxmlformats.org/officeDocument/2006/relationships" xmlns:m="http://schemas.openxmlformats.org/officeDocument/2006/math" xmlns:mc="http://schemas.openxmlformats.org/markup-compatibility/2006" xmlns:wp="http://schemas.openxmlformats.org/drawingml/2006/wordprocessingDrawing" xmlns:a="http://schemas.openxmlformats.org/drawingml/2006/main" xmlns:v="urn:schemas-microsoft-com:vml""#;

const P: &str = r#"xmlns:p="http://schemas.openxmlformats.org/presentationml/2006/main" xmlns:a="http://schemas.openxmlformats.org/drawingml/2006/main" xmlns:r="http://schemas.openxmlformats.org/officeDocument/2006/relationships""#;

fn package(members: &[(&str, String)]) -> Vec<u8> {
    let mut zip = ZipWriter::new(Cursor::new(Vec::new()));
    for (name, text) in members {
        zip.start_file(*name, SimpleFileOptions::default()).unwrap();
        zip.write_all(text.as_bytes()).unwrap();
    }
    zip.finish().unwrap().into_inner()
}

/// References of a part: id, kind, target, whether it leads out.
fn relations(list: &[(&str, &str, &str)]) -> String {
    let one = |(id, kind, target): &(&str, &str, &str)| {
        let mode = if target.contains("://") { r#" TargetMode="External""# } else { "" };
        format!(
            r#"<Relationship Id="{id}" Type="http://schemas.openxmlformats.org/officeDocument/2006/relationships/{kind}" Target="{target}"{mode}/>"#
        )
    };
    let list: String = list.iter().map(one).collect();
    format!(
        r#"<Relationships xmlns="http://schemas.openxmlformats.org/package/2006/relationships">{list}</Relationships>"#
    )
}

fn read(name: &str, bytes: Vec<u8>) -> Document {
    document(name, None, 1, bytes).unwrap()
}

/// A Word document with this body, these other parts, and references to them.
fn docx(body: &str, parts: &[(&str, String)], links: &[(&str, &str, &str)]) -> Vec<u8> {
    let mut members = vec![
        ("word/document.xml", format!("<w:document {W}><w:body>{body}</w:body></w:document>")),
        ("word/_rels/document.xml.rels", relations(links)),
    ];
    members.extend(parts.iter().map(|(name, text)| (*name, text.clone())));
    package(&members)
}

fn p(text: &str) -> String {
    format!("<w:p>{}</w:p>", r(text))
}

fn r(text: &str) -> String {
    format!("<w:r><w:t>{text}</w:t></w:r>")
}

#[test]
fn headings_and_lists_come_from_styles() {
    let styles = format!(
        r#"<w:styles {W}><w:style w:styleId="1"><w:name w:val="heading 1"/></w:style><w:style w:styleId="Own"><w:name w:val="Chapter"/><w:basedOn w:val="1"/></w:style><w:style w:styleId="Deep"><w:name w:val="X"/><w:pPr><w:outlineLvl w:val="2"/></w:pPr></w:style><w:style w:styleId="LB"><w:name w:val="List Bullet"/><w:pPr><w:numPr><w:numId w:val="2"/></w:numPr></w:pPr></w:style></w:styles>"#
    );
    let numbering = format!(
        r#"<w:numbering {W}><w:abstractNum w:abstractNumId="0"><w:lvl w:ilvl="0"><w:start w:val="1"/><w:numFmt w:val="decimal"/><w:lvlText w:val="%1."/></w:lvl><w:lvl w:ilvl="1"><w:start w:val="1"/><w:numFmt w:val="lowerLetter"/><w:lvlText w:val="(%2)"/></w:lvl></w:abstractNum><w:abstractNum w:abstractNumId="1"><w:lvl w:ilvl="0"><w:numFmt w:val="bullet"/><w:lvlText w:val="·"/></w:lvl></w:abstractNum><w:abstractNum w:abstractNumId="2"><w:lvl w:ilvl="0"><w:start w:val="1"/><w:numFmt w:val="chineseCounting"/><w:lvlText w:val="第%1章"/></w:lvl></w:abstractNum><w:num w:numId="1"><w:abstractNumId w:val="0"/></w:num><w:num w:numId="2"><w:abstractNumId w:val="1"/></w:num><w:num w:numId="3"><w:abstractNumId w:val="2"/></w:num></w:numbering>"#
    );
    let item = |style: &str, list: &str, text: &str| {
        let list = match list.split_once(':') {
            Some((id, level)) => {
                format!(r#"<w:numPr><w:ilvl w:val="{level}"/><w:numId w:val="{id}"/></w:numPr>"#)
            }
            None => String::new(),
        };
        format!(r#"<w:p><w:pPr><w:pStyle w:val="{style}"/>{list}</w:pPr>{}</w:p>"#, r(text))
    };
    let body = [
        item("1", "3:0", "Harbour"),
        item("Own", "3:0", "Fees"),
        item("Deep", "", "Small craft"),
        item("", "1:0", "first"),
        item("", "1:1", "inner"),
        item("", "1:0", "second"),
        p("between"),
        item("LB", "", "by its style"),
    ]
    .concat();
    let links = [("s", "styles", "styles.xml"), ("n", "numbering", "numbering.xml")];
    let parts = [("word/styles.xml", styles), ("word/numbering.xml", numbering)];
    let want = "# 第一章 Harbour\n\n# 第二章 Fees\n\n### Small craft\n\n1. first\n  (a) inner\n2. second\n\nbetween\n\n- by its style";
    assert_eq!(read("a.docx", docx(&body, &parts, &links)).text, want);
}

#[test]
fn notes_comments_links_and_margins() {
    let links = [
        ("l", "hyperlink", "https://a.example/fees"),
        ("f", "footnotes", "footnotes.xml"),
        ("e", "endnotes", "endnotes.xml"),
        ("c", "comments", "comments.xml"),
        ("h", "header", "header1.xml"),
    ];
    let parts = [
        (
            "word/footnotes.xml",
            format!(
                r#"<w:footnotes {W}><w:footnote w:id="2"><w:p><w:r><w:footnoteRef/></w:r>{}</w:p></w:footnote></w:footnotes>"#,
                r("of 2025")
            ),
        ),
        (
            "word/endnotes.xml",
            format!(
                r#"<w:endnotes {W}><w:endnote w:id="5">{}</w:endnote></w:endnotes>"#,
                p("the end")
            ),
        ),
        (
            "word/comments.xml",
            format!(
                r#"<w:comments {W}><w:comment w:id="0" w:author="Ann Lee" w:date="2026-01-05T08:00:00Z">{}</w:comment></w:comments>"#,
                p("Sure?")
            ),
        ),
        ("word/header1.xml", format!("<w:hdr {W}>{}</w:hdr>", p("Port of Kelmouth"))),
    ];
    let body = format!(
        r#"<w:p>{}<w:hyperlink r:id="l">{}</w:hyperlink><w:r><w:footnoteReference w:id="2"/></w:r>{}<w:commentRangeStart w:id="0"/>{}<w:commentRangeEnd w:id="0"/><w:r><w:commentReference w:id="0"/></w:r><w:r><w:endnoteReference w:id="5"/></w:r></w:p><w:p><w:r><w:fldChar w:fldCharType="begin"/></w:r><w:r><w:instrText> HYPERLINK "https://b.example/" </w:instrText></w:r><w:r><w:fldChar w:fldCharType="separate"/></w:r>{}<w:r><w:fldChar w:fldCharType="end"/></w:r></w:p><w:sectPr><w:headerReference r:id="h"/></w:sectPr>"#,
        r("See "),
        r("the fees"),
        r(" and "),
        r("12 pounds"),
        r("field")
    );
    let got = read("a.docx", docx(&body, &parts, &links));
    let want = "See [the fees](https://a.example/fees)[^1] and 12 pounds[^c1][^e1]\n\n[field](https://b.example/)\n\n[^1]: of 2025\n\n[^c1]: comment by Ann Lee, 2026-01-05, on “12 pounds”: Sure?\n\n[^e1]: the end\n\n> **Header:** Port of Kelmouth";
    assert_eq!(got.text, want);
    assert_eq!(got.notes, ["comments, at the end as `[^c1]` and so on: 1"]);
}

#[test]
fn changes_are_accepted_and_hidden_text_is_counted() {
    let body = format!(
        r"<w:p>{}<w:del><w:r><w:delText>old</w:delText></w:r></w:del><w:ins>{}</w:ins><w:r><w:rPr><w:vanish/></w:rPr><w:t>secret</w:t></w:r></w:p><w:p><w:pPr><w:rPr><w:del/></w:rPr></w:pPr>{}</w:p>{}",
        r("fee is "),
        r("new"),
        r("joined "),
        p("with this")
    );
    let got = read("a.docx", docx(&body, &[], &[]));
    assert_eq!(got.text, "fee is new\n\njoined with this");
    let want = [
        "tracked changes are shown as accepted (insertions: 1, deletions left out: 1)",
        "runs of hidden text left out: 1",
    ];
    assert_eq!(got.notes, want);
}

#[test]
fn tables_pictures_boxes_and_equations() {
    let cell = |properties: &str, text: &str| {
        format!("<w:tc><w:tcPr>{properties}</w:tcPr>{}</w:tc>", p(text))
    };
    let bold = |text: &str| {
        format!("<w:r><w:rPr><w:b/></w:rPr><w:t xml:space='preserve'>{text}</w:t></w:r>")
    };
    let body = [
        format!(
            "<w:tbl><w:tr>{}{}</w:tr><w:tr>{}{}{}</w:tr><w:tr>{}{}{}</w:tr></w:tbl>",
            cell(r#"<w:gridSpan w:val="2"/>"#, "Port"),
            cell("", "Fee"),
            cell(r#"<w:vMerge w:val="restart"/>"#, "北港"),
            cell("", "a|b"),
            cell("", "12"),
            cell("<w:vMerge/>", "never shown"),
            cell("", "c"),
            cell("", "13"),
        ),
        format!(
            r#"<w:p>{}{}<w:r><w:drawing><wp:inline><wp:docPr descr="A ferry at dawn"/><a:graphic><a:graphicData><a:blip r:embed="i"/></a:graphicData></a:graphic></wp:inline></w:drawing></w:r></w:p>"#,
            bold("All "),
            bold("ports")
        ),
        format!(
            r#"<w:p>{}<w:r><mc:AlternateContent><mc:Choice Requires="wps"><w:drawing><w:txbxContent>{}</w:txbxContent></w:drawing></mc:Choice><mc:Fallback><w:pict><v:textbox><w:txbxContent>{}</w:txbxContent></v:textbox></w:pict></mc:Fallback></mc:AlternateContent></w:r></w:p>"#,
            r("beside"),
            p("in the box"),
            p("in the box")
        ),
        "<w:p><m:oMathPara><m:oMath><m:f><m:num><m:r><m:t>a</m:t></m:r></m:num><m:den><m:r><m:t>2</m:t></m:r></m:den></m:f></m:oMath></m:oMathPara></w:p>".into(),
    ]
    .concat();
    let got = read("a.docx", docx(&body, &[], &[("i", "image", "media/image1.png")]));
    let want = "| Port |  | Fee |\n| --- | --- | --- |\n| 北港 | a\\|b | 12 |\n|  | c | 13 |\n\n**All ports**![A ferry at dawn](image1.png)\n\nbeside\n\nin the box\n\n$$\\frac{a}{2}$$";
    assert_eq!(got.text, want);
}

#[test]
fn a_table_in_a_cell_is_lines_of_it() {
    let row = |cells: &str| format!("<w:tbl><w:tr>{cells}</w:tr></w:tbl>");
    let c = |inner: &str| format!("<w:tc>{inner}</w:tc>");
    let inner = row(&[c(&p("1")), c(&p("2"))].concat());
    let body = row(&[c(&p("a")), c(&(p("b") + &inner))].concat());
    assert_eq!(read("a.docx", docx(&body, &[], &[])).text, "| a | b<br>1; 2 |\n| --- | --- |");
}

fn shape(name: &str, holder: &str, place: (i64, i64), paragraphs: &str) -> String {
    format!(
        r#"<p:sp><p:nvSpPr><p:cNvPr id="2" name="{name}"/><p:cNvSpPr/><p:nvPr>{holder}</p:nvPr></p:nvSpPr><p:spPr><a:xfrm><a:off x="{}" y="{}"/></a:xfrm></p:spPr><p:txBody>{paragraphs}</p:txBody></p:sp>"#,
        place.1, place.0
    )
}

fn a(level: u32, text: &str) -> String {
    format!(r#"<a:p><a:pPr lvl="{level}"/><a:r><a:t>{text}</a:t></a:r></a:p>"#)
}

/// A presentation of these slides, each with its references.
fn pptx(slides: &[(String, String)], parts: &[(&str, String)]) -> Vec<u8> {
    let ids: Vec<String> =
        (1..=slides.len()).map(|at| format!(r#"<p:sldId r:id="s{at}"/>"#)).collect();
    let ids = ids.concat();
    let paths: Vec<(String, String)> =
        (1..=slides.len()).map(|at| (format!("s{at}"), format!("slides/slide{at}.xml"))).collect();
    let links: Vec<(&str, &str, &str)> =
        paths.iter().map(|(id, path)| (id.as_str(), "slide", path.as_str())).collect();
    let names: Vec<(String, String)> = (1..=slides.len())
        .map(|at| {
            (format!("ppt/slides/slide{at}.xml"), format!("ppt/slides/_rels/slide{at}.xml.rels"))
        })
        .collect();
    let mut members = vec![
        (
            "ppt/presentation.xml",
            format!(
                r#"<p:presentation {P}><p:sldIdLst>{ids}</p:sldIdLst><p:sldSz cx="9144000" cy="6858000"/></p:presentation>"#
            ),
        ),
        ("ppt/_rels/presentation.xml.rels", relations(&links)),
    ];
    for ((name, links), (slide, own)) in names.iter().zip(slides) {
        members.push((name, slide.clone()));
        members.push((links, own.clone()));
    }
    members.extend(parts.iter().map(|(name, text)| (*name, text.clone())));
    package(&members)
}

fn slide(attributes: &str, shapes: &str) -> String {
    format!("<p:sld {P} {attributes}><p:cSld><p:spTree>{shapes}</p:spTree></p:cSld></p:sld>")
}

#[test]
fn slides_in_the_order_of_the_show_and_of_reading() {
    let title = shape("Title 1", r#"<p:ph type="title"/>"#, (100_000, 0), &a(0, "Fees 收费"));
    let body = shape(
        "Body",
        r#"<p:ph type="body" idx="1"/>"#,
        (1_000_000, 0),
        &(a(0, "Point") + &a(1, "Deeper")),
    );
    let left = shape("Left", "", (4_000_000, 10), &a(0, "left"));
    let right = shape("Right", "", (3_950_000, 5_000_000), &a(0, "right"));
    let picture = r#"<p:pic><p:nvPicPr><p:cNvPr id="4" name="Picture 4" descr="A crane"/><p:nvPr/></p:nvPicPr><p:blipFill><a:blip r:embed="i"/></p:blipFill><p:spPr><a:xfrm><a:off x="0" y="5000000"/></a:xfrm></p:spPr></p:pic>"#;
    let master = format!(
        r#"<p:sldMaster {P}><p:txStyles><p:bodyStyle><a:lvl1pPr><a:buChar char="•"/></a:lvl1pPr><a:lvl2pPr><a:buChar char="–"/></a:lvl2pPr></p:bodyStyle></p:txStyles></p:sldMaster>"#
    );
    let notes = format!(
        "<p:notes {P}><p:cSld><p:spTree>{}{}</p:spTree></p:cSld></p:notes>",
        shape("Notes", r#"<p:ph type="body" idx="1"/>"#, (0, 0), &a(0, "Say it slowly")),
        shape("Number", r#"<p:ph type="sldNum"/>"#, (0, 0), &a(0, "1"))
    );
    let comments =
        format!(r#"<p:cmLst {P}><p:cm authorId="0"><p:text>Check this</p:text></p:cm></p:cmLst>"#);
    let links = relations(&[
        ("l", "slideLayout", "../slideLayouts/slideLayout1.xml"),
        ("n", "notesSlide", "../notesSlides/notesSlide1.xml"),
        ("c", "comments", "../comments/comment1.xml"),
        ("i", "image", "../media/image7.jpeg"),
    ]);
    let parts = [
        ("ppt/slideLayouts/slideLayout1.xml", format!("<p:sldLayout {P}/>")),
        ("ppt/slideLayouts/_rels/slideLayout1.xml.rels", relations(&[("m", "slideMaster", "../slideMasters/slideMaster1.xml")])),
        ("ppt/slideMasters/slideMaster1.xml", master),
        ("ppt/notesSlides/notesSlide1.xml", notes),
        ("ppt/comments/comment1.xml", comments),
        // A workbook of a chart does not make a workbook of the presentation.
        ("[Content_Types].xml", r#"<Types><Default Extension="xlsx" ContentType="application/vnd.openxmlformats-officedocument.spreadsheetml.sheet"/></Types>"#.into()),
    ];
    let slides = [
        (slide("", &[picture, &right, &left, &body, &title].concat()), links),
        (
            slide(r#"show="0""#, &shape("T", r#"<p:ph type="ctrTitle"/>"#, (0, 0), &a(0, "Spare"))),
            relations(&[]),
        ),
    ];
    let got = read("a.pptx", pptx(&slides, &parts));
    let want = "## Slide 1: Fees 收费\n\n- Point\n  - Deeper\n\nleft\n\nright\n\n![A crane](Picture4.jpg)\n\n> **Speaker notes:** Say it slowly\n\n> **Comment by unknown:** Check this\n\n## Slide 2 (hidden): Spare";
    assert_eq!(got.text, want);
    assert_eq!(
        got.notes,
        [
            "slides: 2",
            "hidden slides, not shown in the show: 2",
            "pictures, named and not shown: 1"
        ]
    );
}

#[test]
fn tables_and_charts_of_slides() {
    let c = |text: &str| format!("<a:tc><a:txBody>{}</a:txBody></a:tc>", a(0, text));
    let frames = format!(
        r#"<p:graphicFrame><a:graphic><a:graphicData><a:tbl><a:tr>{}<a:tc hMerge="1"/></a:tr><a:tr>{}{}</a:tr></a:tbl></a:graphicData></a:graphic></p:graphicFrame><p:graphicFrame><a:graphic><a:graphicData><c:chart xmlns:c="http://schemas.openxmlformats.org/drawingml/2006/chart" r:id="c"/></a:graphicData></a:graphic></p:graphicFrame>"#,
        c("Both"),
        c("1"),
        c("2")
    );
    let series = |name: &str, values: [&str; 2]| {
        format!(
            r#"<c:ser><c:tx><c:strRef><c:strCache><c:pt idx="0"><c:v>{name}</c:v></c:pt></c:strCache></c:strRef></c:tx><c:cat><c:strRef><c:strCache><c:pt idx="0"><c:v>East</c:v></c:pt><c:pt idx="1"><c:v>West</c:v></c:pt></c:strCache></c:strRef></c:cat><c:val><c:numRef><c:numCache><c:pt idx="0"><c:v>{}</c:v></c:pt><c:pt idx="1"><c:v>{}</c:v></c:pt></c:numCache></c:numRef></c:val></c:ser>"#,
            values[0], values[1]
        )
    };
    let chart = format!(
        r#"<c:chartSpace xmlns:c="http://schemas.openxmlformats.org/drawingml/2006/chart" xmlns:a="http://schemas.openxmlformats.org/drawingml/2006/main"><c:chart><c:title><c:tx><c:rich><a:p><a:r><a:t>Landings</a:t></a:r></a:p></c:rich></c:tx></c:title><c:plotArea><c:barChart>{}{}</c:barChart><c:valAx><c:title><c:tx><c:rich><a:p><a:r><a:t>tonnes</a:t></a:r></a:p></c:rich></c:tx></c:title></c:valAx></c:plotArea></c:chart></c:chartSpace>"#,
        series("2024", ["1", "2"]),
        series("2025", ["3", "4.5"])
    );
    let slides = [(slide("", &frames), relations(&[("c", "chart", "../charts/chart1.xml")]))];
    let got = read("a.pptx", pptx(&slides, &[("ppt/charts/chart1.xml", chart)]));
    let want = "## Slide 1\n\n| Both |  |\n| --- | --- |\n| 1 | 2 |\n\n**Chart: Landings** (bar)\nAxis of values: tonnes\n\n| Category | 2024 | 2025 |\n| --- | --- | --- |\n| East | 1 | 3 |\n| West | 2 | 4.5 |";
    assert_eq!(got.text, want);
}

const O: &str = r#"xmlns:office="urn:oasis:names:tc:opendocument:xmlns:office:1.0" xmlns:text="urn:oasis:names:tc:opendocument:xmlns:text:1.0" xmlns:table="urn:oasis:names:tc:opendocument:xmlns:table:1.0" xmlns:style="urn:oasis:names:tc:opendocument:xmlns:style:1.0" xmlns:draw="urn:oasis:names:tc:opendocument:xmlns:drawing:1.0" xmlns:presentation="urn:oasis:names:tc:opendocument:xmlns:presentation:1.0" xmlns:svg="urn:oasis:names:tc:opendocument:xmlns:svg-compatible:1.0" xmlns:fo="urn:oasis:names:tc:opendocument:xmlns:xsl-fo-compatible:1.0" xmlns:xlink="http://www.w3.org/1999/xlink" xmlns:dc="http://purl.org/dc/elements/1.1/""#;

fn open(kind: &str, styles: &str, body: &str, parts: &[(&str, String)]) -> Vec<u8> {
    let mut members = vec![
        ("mimetype", format!("application/vnd.oasis.opendocument.{kind}")),
        (
            "content.xml",
            format!(
                "<office:document-content {O}><office:automatic-styles>{styles}</office:automatic-styles><office:body>{body}</office:body></office:document-content>"
            ),
        ),
    ];
    members.extend(parts.iter().map(|(name, text)| (*name, text.clone())));
    package(&members)
}

#[test]
fn open_texts_with_lists_notes_and_tables() {
    let styles = r#"<style:style style:name="B"><style:text-properties fo:font-weight="bold"/></style:style><style:style style:name="H"><style:text-properties text:display="none"/></style:style><text:list-style style:name="L"><text:list-level-style-number text:level="1" style:num-format="1" style:num-suffix=")"/><text:list-level-style-bullet text:level="2"/></text:list-style>"#;
    let body = r#"<office:text><text:tracked-changes><text:p>deleted</text:p></text:tracked-changes><text:h text:outline-level="2">Fees</text:h><text:p>A  <text:span text:style-name="B">bold</text:span> <text:a xlink:href="https://a.example/">link</text:a><text:note text:note-class="footnote"><text:note-body><text:p>of 2025</text:p></text:note-body></text:note><text:s text:c="2"/>x<office:annotation><dc:creator>Ann</dc:creator><dc:date>2026-01-05T00:00:00</dc:date><text:p>Sure?</text:p></office:annotation><text:span text:style-name="H">secret</text:span></text:p><text:list text:style-name="L"><text:list-item><text:p>one</text:p><text:list><text:list-item><text:p>deep</text:p></text:list-item></text:list></text:list-item><text:list-item><text:p>two</text:p></text:list-item></text:list><table:table><table:table-row><table:table-cell table:number-columns-spanned="2"><text:p>Port</text:p></table:table-cell><table:covered-table-cell/></table:table-row><table:table-row><table:table-cell><text:p>北港</text:p></table:table-cell><table:table-cell><text:p>12</text:p></table:table-cell></table:table-row></table:table><text:p><draw:frame><draw:image xlink:href="Pictures/a.png"/><svg:desc>A crane</svg:desc></draw:frame><draw:frame><draw:object xlink:href="./Object 1"/></draw:frame></text:p></office:text>"#;
    let formula = r#"<math xmlns="http://www.w3.org/1998/Math/MathML"><mfrac><mi>a</mi><mn>2</mn></mfrac></math>"#;
    let parts = [("Object 1/content.xml", formula.to_owned())];
    let got = read("a.odt", open("text", styles, body, &parts));
    let want = "## Fees\n\nA **bold** [link](https://a.example/)[^1]  x[^c1]\n\n1) one\n  - deep\n2) two\n\n| Port |  |\n| --- | --- |\n| 北港 | 12 |\n\n![A crane](a.png)$\\frac{a}{2}$\n\n[^1]: of 2025\n\n[^c1]: comment by Ann, 2026-01-05: Sure?";
    assert_eq!(got.text, want);
    assert_eq!(got.kind, "OpenDocument text");
}

#[test]
fn open_presentations_with_notes_and_hidden_slides() {
    let styles = r#"<style:style style:name="D"><style:drawing-page-properties presentation:visibility="hidden"/></style:style>"#;
    let frame = |class: &str, top: &str, text: &str| {
        format!(
            r#"<draw:frame presentation:class="{class}" svg:x="1cm" svg:y="{top}"><draw:text-box><text:p>{text}</text:p></draw:text-box></draw:frame>"#
        )
    };
    let body = format!(
        r#"<office:presentation><draw:page>{}{}<presentation:notes>{}</presentation:notes></draw:page><draw:page draw:style-name="D">{}</draw:page></office:presentation>"#,
        frame("outline", "5cm", "below"),
        frame("title", "1cm", "Fees"),
        frame("notes", "1cm", "Say it"),
        frame("title", "1cm", "Spare"),
    );
    let got = read("a.odp", open("presentation", styles, &body, &[]));
    assert_eq!(
        got.text,
        "## Slide 1: Fees\n\nbelow\n\n> **Speaker notes:** Say it\n\n## Slide 2 (hidden): Spare"
    );
}

#[test]
fn rich_text_with_tables_links_and_code_pages() {
    let table = [
        (r"{\rtf1\ansi\ansicpg1252 caf\'e9 \u8364 ? \emdash  x\par}", "café € — x", "western"),
        (
            r"{\rtf1\ansi{\fonttbl{\f0\fcharset134 SimSun;}}\f0 \'b8\'db\'bf\'da}",
            "港口",
            "Chinese by the font",
        ),
        (r"{\rtf1\ansi\ansicpg936 \'b8\'db\'bf\'da}", "港口", "Chinese by the code page"),
        (r"{\rtf1\uc2 \u28207\'b8\'db\u21475\'bf\'da!}", "港口!", "two letters stand in"),
        (r"{\rtf1 \u-10179?\u-8694?}", "😊", "a pair"),
        (
            r"{\rtf1{\stylesheet{\s1 heading 1;}}\pard\s1 Fees\par\pard\plain text\b  bold\b0 .\par}",
            "# Fees\n\ntext **bold**.",
            "headings",
        ),
        (
            r#"{\rtf1{\field{\*\fldinst{HYPERLINK "https://a.example/"}}{\fldrslt{the link}}} after}"#,
            "[the link](https://a.example/) after",
            "links",
        ),
        (
            r"{\rtf1\trowd\cellx100\cellx200\pard\intbl a\cell b\cell\row\trowd\cellx200\intbl both\cell\row\pard after\par}",
            "| a | b |\n| --- | --- |\n| both |  |\n\nafter",
            "tables",
        ),
        (
            r"{\rtf1 word{\footnote{\*\x skipped} note}.\par}",
            "word[^1].\n\n[^1]: note",
            "footnotes",
        ),
        (r"{\rtf1{\listtext\'b7\tab}one\par{\listtext 2.\tab}two\par}", "- one\n2. two", "lists"),
        (
            r"{\rtf1{\*\unknown no}{\pict ffd8}{\object{\*\objdata 00}{\result shown}}{\v hidden}{\deleted gone}}",
            "shown",
            "what is no text",
        ),
        (
            r"{\rtf1\fromhtml1 {\*\htmltag64 <p>}a {\*\htmltag84 <b>}\htmlrtf {\b \htmlrtf0 bold\htmlrtf }\htmlrtf0{\*\htmltag92 </b>}}",
            "a **bold**",
            "a page of Outlook",
        ),
    ];
    for (rtf, want, why) in table {
        assert_eq!(read("a.rtf", rtf.into()).text, want, "{why}");
    }
    let broken = read("a.rtf", br"{\rtf1 {\b half".to_vec());
    assert_eq!((broken.text.as_str(), broken.notes.len()), ("**half**", 1), "breaks off");
    let deep = format!("{{\\rtf1 {}", "{".repeat(100_000)).into_bytes();
    assert!(document("a.rtf", None, 1, deep).unwrap_err().to_string().contains("nest"));
}

#[test]
fn books_in_the_order_of_their_spine() {
    let opf = r#"<package xmlns="http://www.idpf.org/2007/opf"><metadata xmlns:dc="http://purl.org/dc/elements/1.1/"><dc:title>Tides</dc:title><dc:creator>A. Moor</dc:creator><dc:creator>B. Quay</dc:creator></metadata><manifest><item id="n" href="nav.xhtml" properties="nav"/><item id="b" href="text/two.xhtml"/><item id="a" href="text/one%20x.xhtml"/></manifest><spine><itemref idref="n"/><itemref idref="a"/><itemref idref="b"/></spine></package>"#;
    let nav = r#"<html xmlns="http://www.w3.org/1999/xhtml"><body><nav><ol><li><a href="text/two.xhtml#x">The second</a></li></ol></nav></body></html>"#;
    let chapter = |body: &str| {
        format!(
            r#"<?xml version="1.0"?><html xmlns="http://www.w3.org/1999/xhtml"><head><title/></head><body>{body}</body></html>"#
        )
    };
    let members = [
        ("mimetype", "application/epub+zip".to_owned()),
        ("META-INF/container.xml", r#"<container xmlns="urn:oasis:names:tc:opendocument:xmlns:container"><rootfiles><rootfile full-path="OEBPS/book.opf"/></rootfiles></container>"#.to_owned()),
        ("OEBPS/book.opf", opf.to_owned()),
        ("OEBPS/nav.xhtml", nav.to_owned()),
        ("OEBPS/text/one x.xhtml", chapter("<h1>The first</h1><p>High <b>water</b></p>")),
        ("OEBPS/text/two.xhtml", chapter("<p>低水位</p>")),
    ];
    let got = read("a.epub", package(&members));
    assert_eq!(
        got.text,
        "**Title:** Tides\n**Authors:** A. Moor, B. Quay\n\n# The first\n\nHigh **water**\n\n# The second\n\n低水位"
    );
    assert_eq!(got.notes, ["chapters: 2"]);
}

#[test]
fn what_is_protected_or_damaged_has_a_reason() {
    let manifest = r#"<manifest:manifest xmlns:manifest="urn:oasis:names:tc:opendocument:xmlns:manifest:1.0"><manifest:file-entry><manifest:encryption-data/></manifest:file-entry></manifest:manifest>"#;
    let protected = open("text", "", "", &[("META-INF/manifest.xml", manifest.into())]);
    let epub = package(&[
        ("mimetype", "application/epub+zip".into()),
        ("META-INF/encryption.xml", r#"<encryption><EncryptionMethod Algorithm="http://www.w3.org/2001/04/xmlenc#aes128-cbc"/></encryption>"#.into()),
    ]);
    let deep = docx(&"<w:tbl><w:tr><w:tc>".repeat(1000), &[], &[]);
    let cases = [
        ("a.odt", protected, "protected by a password"),
        ("a.epub", epub, "protected by a password"),
        (
            "b.epub",
            package(&[("mimetype", "application/epub+zip".into())]),
            "damaged EPUB book: its part `META-INF/container.xml` is missing",
        ),
        ("a.docx", package(&[("word/document.xml", "no xml".into())]), "damaged Word document"),
        ("b.docx", deep, "nest more than 200 deep"),
        (
            "a.pptx",
            package(&[("ppt/presentation.xml", String::new())]),
            "damaged PowerPoint presentation",
        ),
        (
            "a.odt",
            package(&[("mimetype", "application/vnd.oasis.opendocument.text".into())]),
            "`content.xml` is missing",
        ),
    ];
    for (name, bytes, want) in cases {
        let reason = document(name, None, 1, bytes).unwrap_err().to_string();
        assert!(reason.contains(want), "{name}: {reason}");
    }
    let half = docx(&p("kept"), &[], &[]);
    assert!(document("half.docx", None, 1, half[..half.len() / 2].to_vec()).is_err());
    let broken = package(&[(
        "word/document.xml",
        format!("<w:document {W}><w:body>{}<w:p><w:r><w:t>cut", p("kept")),
    )]);
    let got = read("a.docx", broken);
    assert_eq!(got.text, "kept\n\ncut");
    assert!(got.notes[0].contains("breaks off"), "{:?}", got.notes);
    let gone = pptx(&[(String::new(), relations(&[]))], &[]);
    assert!(read("a.pptx", gone).notes[1].contains("could not be read: 1"));
}

/// Pieces of which bodies are made that no program would write.
const PIECES: &str = "(<w:p>|</w:p>|<w:r>|</w:r>|<w:t>|</w:t>|<w:tbl>|<w:tr>|<w:tc>|</w:tc>|<w:vMerge/>|<w:gridSpan w:val=\"9\"/>|<w:fldChar w:fldCharType=\"(begin|separate|end)\"/>|<w:instrText>HYPERLINK x</w:instrText>|<w:hyperlink>|</w:hyperlink>|<w:del>|</w:del>|<w:footnoteReference w:id=\"1\"/>|<w:commentRangeStart w:id=\"1\"/>|<w:txbxContent>|<m:oMath>|<m:f>|<m:num>|潮|a| |<|&){0,40}";

proptest! {
    #[test]
    fn any_body_is_read_or_refused(body in PIECES) {
        let _ = document("a.docx", None, 1, docx(&body, &[], &[]));
        let slides = [(slide("", &body.replace("w:", "a:")), relations(&[]))];
        let _ = document("a.pptx", None, 1, pptx(&slides, &[]));
        let body = body.replace("w:tbl", "table:table").replace("w:", "text:");
        let _ = document("a.odt", None, 1, open("text", "", &body, &[]));
    }

    #[test]
    fn any_rich_text_is_read(body in r"(\\\{|\\\}|\\par|\\cell|\\row|\\trowd|\\cellx[0-9]{1,4}|\\intbl|\\pard|\\u-?[0-9]{1,5}|\\'[0-9a-g]{2}|\\field|\\fldrslt|\\\*|\\fldinst|\\footnote|\\shptxt|\\listtext|\\fromhtml1|\\htmltag|\{|\}| |a|港){0,60}") {
        let _ = document("a.rtf", None, 1, format!("{{\\rtf1 {body}").into_bytes());
    }
}
