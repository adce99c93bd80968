//! Paragraphs, lists and tables of a Word document.

use super::numbering::Label;
use super::{Collection, Reader};
use crate::documents::office::marks::{Blocks, Inline, inner_table, table};
use crate::documents::office::xml::Element;
use crate::documents::office::{math, page};

/// The most comments that are on the same text.
const OPEN: usize = 20;

/// The most columns that a cell spans.
const SPAN: usize = 200;

impl Reader<'_, '_> {
    /// Reads all blocks of an element.
    pub(super) fn blocks(&mut self, parent: Element<'_>, blocks: &mut Blocks) {
        for child in parent.children() {
            match child.name() {
                "w:p" => self.paragraph(child, blocks),
                "w:tbl" => self.table(child, blocks),
                "w:ins" | "w:moveTo" | "w:customXml" | "w:smartTag" | "w:sdtContent" => {
                    self.blocks(child, blocks);
                }
                "w:sdt" => {
                    if let Some(content) = child.child("w:sdtContent") {
                        self.blocks(content, blocks);
                    }
                }
                "w:del" | "w:moveFrom" => self.seen.deleted += 1,
                "mc:AlternateContent" => {
                    if let Some(choice) = chosen(child) {
                        self.blocks(choice, blocks);
                    }
                }
                "m:oMathPara" | "m:oMath" => blocks.push(&math::equation(child)),
                "w:sectPr" => self.section(child),
                "w:commentRangeStart" | "w:commentRangeEnd" => self.comment_range(child),
                "w:altChunk" => self.chunk(child, blocks),
                _ => {}
            }
        }
        if let Some(carried) = self.carried.take() {
            blocks.push(&carried.finish());
        }
    }

    /// Remembers the headers and footers of a section.
    fn section(&mut self, section: Element<'_>) {
        for reference in section.children() {
            let footer = match reference.name() {
                "w:headerReference" => false,
                "w:footerReference" => true,
                _ => continue,
            };
            let target = reference.attr("r:id").and_then(|id| self.relations.get(id));
            if let Some(target) = target.filter(|target| !target.external) {
                self.margins.insert((footer, target.target.clone()));
            }
        }
    }

    /// Shows a foreign text that the document takes in.
    fn chunk(&mut self, chunk: Element<'_>, blocks: &mut Blocks) {
        let target = chunk.attr("r:id").and_then(|id| self.relations.get(id));
        let Some(path) = target.filter(|it| !it.external).map(|it| it.target.clone()) else {
            return;
        };
        let bytes = self.package.part(&path).unwrap_or_default();
        let text = crate::encoding::decode(&bytes, None).text;
        if text.contains("<html") || text.contains("<body") || text.contains("<p") {
            blocks.push(&page(&text));
        } else if crate::encoding::is_text(&bytes) {
            blocks.push(&text);
        } else {
            blocks.push(&format!("(a part that is taken in and not shown: {path})"));
        }
    }

    fn paragraph(&mut self, paragraph: Element<'_>, blocks: &mut Blocks) {
        let properties = paragraph.child("w:pPr");
        let style = properties.and_then(|it| it.value("w:pStyle"));
        if let Some(section) = properties.and_then(|it| it.child("w:sectPr")) {
            self.section(section);
        }
        // Open fields go on here from the beginning of the paragraph.
        for field in &mut self.fields {
            field.place = (0, 0);
        }
        let mut inline = self.carried.take().unwrap_or_default();
        self.inline(paragraph, &mut inline);
        let mark = properties.and_then(|it| it.child("w:rPr"));
        if mark.is_some_and(|it| it.child("w:del").is_some() || it.child("w:moveFrom").is_some()) {
            // A deleted mark of a paragraph joins it with the next.
            self.carried = Some(inline);
            return;
        }
        let blank = inline.is_blank();
        let label = if blank { None } else { self.label(properties, style) };
        let heading = self.heading(properties, style).filter(|_| !blank);
        match (heading, label) {
            (Some(level), label) => {
                let text = inline.plain();
                match label {
                    Some((_, Label::Number(number))) => {
                        blocks.heading(level, &format!("{number} {text}"));
                    }
                    _ => blocks.heading(level, &text),
                }
            }
            (None, Some((level, label))) => {
                let label = match label {
                    Label::Bullet => "-".to_owned(),
                    Label::Number(number) => number.trim().to_owned(),
                    Label::Bare => String::new(),
                };
                if label.is_empty() {
                    blocks.push(&inline.finish());
                } else {
                    blocks.item(level, &label, &inline.finish());
                }
            }
            (None, None) => blocks.push(&inline.finish()),
        }
        for after in std::mem::take(&mut self.after) {
            blocks.push(&after);
        }
    }

    fn heading(&self, properties: Option<Element<'_>>, style: Option<&str>) -> Option<usize> {
        let own = properties.and_then(|it| it.value("w:outlineLvl")?.parse::<usize>().ok());
        let own = own.filter(|level| *level < 9).map(|level| level + 1);
        own.or_else(|| self.styles.heading(style?))
    }

    /// Counts the paragraph in its list.
    fn label(
        &mut self,
        properties: Option<Element<'_>>,
        style: Option<&str>,
    ) -> Option<(usize, Label)> {
        let own = properties.and_then(|it| it.child("w:numPr"));
        let inherited = style.map(|style| self.styles.number(style)).unwrap_or_default();
        let list = own.and_then(|it| it.value("w:numId")).or(inherited.0)?.to_owned();
        let level =
            own.and_then(|it| it.value("w:ilvl")?.parse().ok()).or(inherited.1).unwrap_or(0);
        if list == "0" {
            return None;
        }
        let label = self.numbering.label(&list, level).unwrap_or(Label::Bullet);
        Some((level, label))
    }

    fn table(&mut self, element: Element<'_>, blocks: &mut Blocks) {
        let mut rows = Vec::new();
        self.rows(element, &mut rows);
        blocks.push(&if self.cells > 0 { inner_table(&rows) } else { table(&rows) });
    }

    fn rows(&mut self, parent: Element<'_>, rows: &mut Vec<Vec<String>>) {
        for child in parent.children() {
            match child.name() {
                "w:tr" => {
                    let properties = child.child("w:trPr");
                    if properties.is_some_and(|it| it.child("w:del").is_some()) {
                        self.seen.deleted += 1;
                        continue;
                    }
                    let skipped = properties.and_then(|it| it.value("w:gridBefore"));
                    let skipped = skipped.and_then(|it| it.parse().ok()).unwrap_or(0);
                    let skipped = skipped.min(SPAN).min(self.spare);
                    self.spare -= skipped;
                    let mut row = vec![String::new(); skipped];
                    self.cells(child, &mut row);
                    rows.push(row);
                }
                "w:sdt" | "w:sdtContent" | "w:ins" | "w:customXml" => self.rows(child, rows),
                _ => {}
            }
        }
    }

    fn cells(&mut self, parent: Element<'_>, row: &mut Vec<String>) {
        for child in parent.children() {
            match child.name() {
                "w:tc" => {
                    let properties = child.child("w:tcPr");
                    let goes_on = |name| {
                        properties.and_then(|it| it.child(name)).is_some_and(
                            |merge: Element<'_>| {
                                merge.attr("w:val").is_none_or(|value| value == "continue")
                            },
                        )
                    };
                    let mut cell = Blocks::default();
                    // The text of merged cells stands in the first of them.
                    if !goes_on("w:vMerge") && !goes_on("w:hMerge") {
                        self.cells += 1;
                        self.blocks(child, &mut cell);
                        self.cells -= 1;
                    }
                    row.push(cell.finish());
                    let span = properties.and_then(|it| it.value("w:gridSpan"));
                    let span = span.and_then(|it| it.parse().ok()).unwrap_or(1).clamp(1, SPAN);
                    let empty = (span - 1).min(self.spare);
                    self.spare -= empty;
                    row.extend(std::iter::repeat_n(String::new(), empty));
                }
                "w:sdt" | "w:sdtContent" | "w:ins" | "w:customXml" => self.cells(child, row),
                _ => {}
            }
        }
    }

    /// Begins or ends the text that a comment is on.
    pub(super) fn comment_range(&mut self, range: Element<'_>) {
        let Some(id) = range.attr("w:id") else { return };
        if range.name() == "w:commentRangeEnd" {
            self.open.retain(|open| open != id);
        } else if self.open.len() < OPEN {
            self.open.push(id.to_owned());
        }
    }

    /// Marks a comment.
    pub(super) fn comment(&mut self, reference: Element<'_>, inline: &mut Inline) {
        if let Some(id) = reference.attr("w:id") {
            inline.mark(&self.note(Collection::Comment, id));
        }
    }
}

/// Returns the version of a content that has several: the newest that is there.
pub(super) fn chosen(alternatives: Element<'_>) -> Option<Element<'_>> {
    let choice = alternatives.child("mc:Choice").filter(|it| it.children().next().is_some());
    choice.or_else(|| alternatives.child("mc:Fallback"))
}
