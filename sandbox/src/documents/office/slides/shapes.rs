//! The shapes of a slide: text, tables, pictures, charts, diagrams, groups.

use super::layout::{Bullet, Bullets, Layout, bullets, own_bullet, place};
use crate::documents::office::marks::{Blocks, Face, Inline, picture, table};
use crate::documents::office::package::{Package, Relations};
use crate::documents::office::word::number;
use crate::documents::office::xml::Element;
use crate::documents::office::{chart, math};

/// Shapes whose tops differ by less than this part of the height stand in one row.
const ROW: i64 = 25;

/// The most columns that a cell spans.
const SPAN: usize = 200;

/// What a slide shows.
#[derive(Debug, Default)]
pub(super) struct Content {
    pub(super) title: String,
    pub(super) blocks: Blocks,
    pub(super) pictures: usize,
}

/// Reads the shapes of a slide.
pub(super) struct Shapes<'a, 'b> {
    package: &'b mut Package<'a>,
    relations: &'b Relations,
    layout: &'b Layout,
    height: i64,
    content: Content,
    /// How far numbered paragraphs were counted, by level.
    counts: [u32; 10],
}

impl<'a, 'b> Shapes<'a, 'b> {
    pub(super) fn new(
        package: &'b mut Package<'a>,
        relations: &'b Relations,
        layout: &'b Layout,
        height: i64,
    ) -> Self {
        let content = Content::default();
        Self { package, relations, layout, height, content, counts: [0; 10] }
    }

    /// Reads all shapes of a slide, in reading order.
    pub(super) fn read(&mut self, tree: Element<'_>) -> Content {
        self.group(tree);
        std::mem::take(&mut self.content)
    }

    /// Reads the text of a page of notes.
    pub(super) fn notes(&mut self, tree: Element<'_>) -> String {
        for shape in tree.descendants().filter(|it| it.name() == "p:sp") {
            // Other placeholders repeat the slide, its number and the date.
            if holder(shape).is_some_and(|(kind, _)| kind == "body")
                && let Some(body) = shape.child("p:txBody")
            {
                self.text(body, None, &Bullets::default());
            }
        }
        std::mem::take(&mut self.content).blocks.finish()
    }

    /// Reads the shapes of a group from top to bottom, and those side by side from the left.
    fn group(&mut self, group: Element<'_>) {
        let mut shapes: Vec<(i64, i64, Element<'_>)> = Vec::new();
        for child in group.children() {
            let child = match child.name() {
                "mc:AlternateContent" => alternative(child),
                _ => Some(child),
            };
            let Some(child) = child else { continue };
            if !matches!(child.name(), "p:sp" | "p:grpSp" | "p:graphicFrame" | "p:pic" | "p:cxnSp")
            {
                continue;
            }
            let own = place(child).or_else(|| {
                let (kind, index) = holder(child)?;
                self.layout.place(kind, index)
            });
            let (top, left) = own.unwrap_or((0, 0));
            shapes.push((top, left, child));
        }
        shapes.sort_by_key(|(top, left, _)| (*top, *left));
        let mut row = i64::MIN;
        for (top, ..) in &mut shapes {
            if row == i64::MIN || top.saturating_sub(row) > self.height / ROW {
                row = *top;
            }
            *top = row;
        }
        shapes.sort_by_key(|(top, left, _)| (*top, *left));
        for (.., shape) in shapes {
            self.shape(shape);
        }
    }

    fn shape(&mut self, shape: Element<'_>) {
        match shape.name() {
            "p:grpSp" => self.group(shape),
            "p:pic" => self.picture(shape),
            "p:graphicFrame" => self.frame(shape),
            _ => {
                let Some(body) = shape.child("p:txBody") else { return };
                let holder = holder(shape);
                match holder {
                    Some(("title" | "ctrTitle", _)) => {
                        let text: Vec<String> =
                            body.all("a:p").map(|it| self.inline(it).plain()).collect();
                        let text = text.join(" ");
                        if self.content.title.is_empty() {
                            self.content.title = text;
                        } else {
                            self.content.blocks.push(&text);
                        }
                    }
                    Some(("sldNum" | "dt" | "ftr" | "hdr", _)) => {}
                    holder => {
                        let own = body.child("a:lstStyle").map(bullets).unwrap_or_default();
                        self.text(body, holder, &own);
                    }
                }
            }
        }
    }

    /// Reads the paragraphs of a text.
    fn text(&mut self, body: Element<'_>, holder: Option<(&str, Option<&str>)>, own: &Bullets) {
        self.counts = [0; 10];
        for paragraph in body.all("a:p") {
            let text = self.inline(paragraph).finish();
            if text.trim().is_empty() {
                continue;
            }
            let properties = paragraph.child("a:pPr");
            let level =
                properties.and_then(|it| it.attr("lvl")?.parse().ok()).unwrap_or(0_usize).min(8);
            let bullet = properties
                .and_then(own_bullet)
                .or_else(|| own[level].clone())
                .or_else(|| holder.and_then(|(kind, index)| self.layout.bullet(kind, index, level)))
                .unwrap_or(if level > 0 { Bullet::Sign } else { Bullet::None });
            for deeper in &mut self.counts[level + 1..] {
                *deeper = 0;
            }
            match bullet {
                Bullet::Number(format, start) => {
                    let count = start.saturating_add(self.counts[level]);
                    self.counts[level] += 1;
                    self.content.blocks.item(level, &numbered(count, &format), &text);
                }
                Bullet::Sign => {
                    self.counts[level] = 0;
                    self.content.blocks.item(level, "-", &text);
                }
                Bullet::None => {
                    self.counts[level] = 0;
                    self.content.blocks.push(&text);
                }
            }
        }
    }

    /// Reads the runs of a paragraph.
    fn inline(&mut self, paragraph: Element<'_>) -> Inline {
        let mut inline = Inline::default();
        self.runs(paragraph, &mut inline);
        inline
    }

    fn runs(&mut self, parent: Element<'_>, inline: &mut Inline) {
        for run in parent.children() {
            match run.name() {
                "a:r" | "a:fld" => {
                    let properties = run.child("a:rPr");
                    let on = |name: &str, off: &str| {
                        properties
                            .and_then(|it| it.attr(name))
                            .is_some_and(|it| it != "0" && it != off && it != "false")
                    };
                    let face = Face {
                        bold: on("b", "0"),
                        italic: on("i", "0"),
                        struck: on("strike", "noStrike"),
                    };
                    let place = inline.place();
                    inline.push(&run.child("a:t").map(Element::text).unwrap_or_default(), face);
                    let link = properties.and_then(|it| it.child("a:hlinkClick")?.attr("r:id"));
                    let target =
                        link.and_then(|id| self.relations.get(id)).filter(|it| it.external);
                    if let Some(target) = target {
                        inline.link(place, &target.target);
                    }
                }
                "a:br" => inline.mark("\n"),
                "m:oMath" | "m:oMathPara" => inline.mark(&math::equation(run)),
                "mc:AlternateContent" => {
                    if let Some(choice) =
                        run.child("mc:Choice").or_else(|| run.child("mc:Fallback"))
                    {
                        self.runs(choice, inline);
                    }
                }
                "a14:m" => self.runs(run, inline),
                _ => {}
            }
        }
    }

    /// Names a picture, by its description and the name of its shape.
    fn picture(&mut self, shape: Element<'_>) {
        let Some(shown) = shape.path("p:nvPicPr/p:cNvPr") else { return };
        let link =
            shape.path("p:blipFill/a:blip").and_then(|it| it.attr("r:embed").or(it.attr("r:link")));
        let target = link.and_then(|id| self.relations.get(id)).map_or("", |it| it.target.as_str());
        let name: String = shown
            .attr("name")
            .unwrap_or("picture")
            .chars()
            .filter(|it| it.is_alphanumeric() || *it == '_')
            .collect();
        let suffix = target.rsplit_once('.').map_or("", |(_, suffix)| suffix).to_ascii_lowercase();
        let suffix = if suffix == "jpeg" || suffix.is_empty() { "jpg" } else { &suffix };
        let alt = shown.attr("descr").filter(|it| !it.trim().is_empty());
        let alt = alt.or(shown.attr("title")).or(shown.attr("name")).unwrap_or_default();
        self.content.pictures += 1;
        self.content.blocks.push(&picture(alt, &format!("{name}.{suffix}")));
    }

    /// Reads a table, a chart, a diagram or what else stands in a frame.
    fn frame(&mut self, frame: Element<'_>) {
        let Some(data) = frame.path("a:graphic/a:graphicData") else { return };
        for child in data.children() {
            let id = |name: &str| {
                child.attr(name).and_then(|id| self.relations.get(id)).map(|it| it.target.clone())
            };
            match child.name() {
                "a:tbl" => self.table(child),
                "c:chart" | "cx:chart" => {
                    let text = id("r:id").and_then(|path| chart::chart(self.package, &path));
                    self.content.blocks.push(&text.unwrap_or_default());
                }
                "dgm:relIds" => {
                    let text = id("r:dm").and_then(|path| chart::diagram(self.package, &path));
                    self.content.blocks.push(&text.unwrap_or_default());
                }
                "mc:AlternateContent" => {
                    for picture in child.descendants().filter(|it| it.name() == "p:pic").take(1) {
                        self.picture(picture);
                    }
                }
                "p:oleObj" => {
                    let program = child.attr("progId").unwrap_or("object");
                    self.content.blocks.push(&format!("[embedded: {program}]"));
                }
                _ => {}
            }
        }
    }

    fn table(&mut self, element: Element<'_>) {
        let mut rows = Vec::new();
        for row in element.all("a:tr") {
            let mut cells = Vec::new();
            for cell in row.all("a:tc").take(SPAN) {
                // The text of merged cells stands in the first of them.
                let merged = cell.attr("hMerge").or(cell.attr("vMerge"));
                if merged.is_some_and(|it| it != "0" && it != "false") {
                    cells.push(String::new());
                    continue;
                }
                let lines: Vec<String> = cell
                    .child("a:txBody")
                    .into_iter()
                    .flat_map(|body| body.all("a:p"))
                    .map(|paragraph| self.inline(paragraph).finish())
                    .collect();
                cells.push(lines.join("\n"));
            }
            rows.push(cells);
        }
        self.content.blocks.push(&table(&rows));
    }
}

/// Returns the kind and index of a placeholder.
fn holder(shape: Element<'_>) -> Option<(&str, Option<&str>)> {
    let holder = shape.children().find(|it| it.name().starts_with("p:nv"))?.path("p:nvPr/p:ph")?;
    Some((holder.attr("type").unwrap_or("obj"), holder.attr("idx")))
}

/// Returns a shape that there are several versions of.
fn alternative(content: Element<'_>) -> Option<Element<'_>> {
    let shape = |it: Element<'_>| it.name().starts_with("p:");
    let of = |name: &str| content.child(name).and_then(|it| it.children().find(|it| shape(*it)));
    of("mc:Choice").or_else(|| of("mc:Fallback"))
}

/// Writes a number as a format of a presentation has it (ECMA-376 part 1, 20.1.10.61).
fn numbered(count: u32, format: &str) -> String {
    let kind = if format.starts_with("alphaLc") {
        "lowerLetter"
    } else if format.starts_with("alphaUc") {
        "upperLetter"
    } else if format.starts_with("romanLc") {
        "lowerRoman"
    } else if format.starts_with("romanUc") {
        "upperRoman"
    } else if format.starts_with("ea1Chs")
        || format.starts_with("ea1Cht")
        || format.starts_with("ea1Jpn")
    {
        "chineseCounting"
    } else if format.starts_with("circleNum") {
        "decimalEnclosedCircle"
    } else {
        "decimal"
    };
    let text = number(count, kind);
    if format.ends_with("ParenBoth") {
        format!("({text})")
    } else if format.ends_with("ParenR") {
        format!("{text})")
    } else if format.ends_with("Plain") && kind != "decimal" {
        text
    } else {
        format!("{text}.")
    }
}
