//! Paragraphs, lists, tables and shapes of an `OpenDocument` file.

use super::Reader;
use crate::documents::office::marks::{Blocks, Face, Inline, inner_table, picture, table};
use crate::documents::office::math;
use crate::documents::office::package::base;
use crate::documents::office::xml::{Element, Piece};

/// The most columns or rows that one element stands for.
const REPEATED: usize = 200;

/// The most spaces that one element stands for.
const SPACES: usize = 100;

impl Reader<'_, '_> {
    /// Reads all blocks of an element.
    pub(super) fn blocks(&mut self, parent: Element<'_>, blocks: &mut Blocks) {
        for child in parent.children() {
            match child.name() {
                "text:h" => self.heading(child, blocks),
                "text:p" => self.paragraph(child, blocks),
                "text:list" => self.list(child, 0, None, blocks),
                "table:table" => self.table(child, blocks),
                "text:tracked-changes" => self.seen.changes = true,
                "text:section" if child.attr("text:display") == Some("none") => {
                    self.seen.hidden += 1;
                }
                "text:section"
                | "text:index-body"
                | "text:index-title"
                | "text:numbered-paragraph"
                | "text:table-of-content"
                | "text:alphabetical-index"
                | "text:illustration-index"
                | "text:table-index"
                | "text:bibliography"
                | "text:user-index" => {
                    self.blocks(child, blocks);
                }
                name if name.starts_with("draw:") => self.shape(child, blocks),
                _ => {}
            }
        }
    }

    fn heading(&mut self, heading: Element<'_>, blocks: &mut Blocks) {
        let level = heading.attr("text:outline-level").and_then(|it| it.parse::<usize>().ok());
        let level = level.unwrap_or(1).clamp(1, self.headings.len()) - 1;
        let text = self.inline(heading).plain();
        if text.trim().is_empty() {
            self.put_after(blocks);
            return;
        }
        self.headings[level] += 1;
        self.headings[level + 1..].fill(0);
        let number = self
            .styles
            .outline(level)
            .filter(|_| heading.attr("text:is-list-header") != Some("true"));
        let label = number.map(|it| it.label(&self.headings[..=level])).unwrap_or_default();
        blocks.heading(level + 1, &format!("{label} {text}"));
        self.put_after(blocks);
    }

    fn paragraph(&mut self, paragraph: Element<'_>, blocks: &mut Blocks) {
        let style = paragraph.attr("text:style-name").unwrap_or_default();
        let inline = self.inline(paragraph);
        if self.styles.is_title(style) {
            blocks.heading(1, &inline.plain());
        } else {
            blocks.push(&inline.finish());
        }
        self.put_after(blocks);
    }

    fn put_after(&mut self, blocks: &mut Blocks) {
        for after in std::mem::take(&mut self.after) {
            blocks.push(&after);
        }
    }

    /// Reads a list; an inner one follows the style of the outer.
    fn list(&mut self, list: Element<'_>, level: usize, style: Option<&str>, blocks: &mut Blocks) {
        let own = list.attr("text:style-name").or(style).map(str::to_owned);
        let goes_on = list.attr("text:continue-numbering") == Some("true")
            || list.attr("text:continue-list").is_some();
        let name = own.clone().unwrap_or_default();
        if !goes_on {
            self.lists.remove(&(name.clone(), level));
        }
        for item in list.children() {
            let numbered = item.name() == "text:list-item";
            if !numbered && item.name() != "text:list-header" {
                continue;
            }
            let mut first = numbered;
            for child in item.children() {
                match child.name() {
                    "text:list" => self.list(child, level + 1, own.as_deref(), blocks),
                    "text:h" => self.heading(child, blocks),
                    "text:p" => {
                        let text = self.inline(child).finish();
                        if text.trim().is_empty() {
                            self.put_after(blocks);
                            continue;
                        }
                        let label = if std::mem::take(&mut first) {
                            let of_style = child
                                .attr("text:style-name")
                                .and_then(|it| self.styles.list_of(it));
                            let list = own.as_deref().or(of_style).unwrap_or_default();
                            self.label(list, level, item.attr("text:start-value"))
                        } else {
                            String::new()
                        };
                        if label.is_empty() {
                            let indent = "  ".repeat(level + 1);
                            blocks.push(&format!("{indent}{text}"));
                        } else {
                            blocks.item(level, &label, &text);
                        }
                        self.put_after(blocks);
                    }
                    "table:table" => self.table(child, blocks),
                    name if name.starts_with("draw:") => self.shape(child, blocks),
                    _ => {}
                }
            }
        }
    }

    /// Counts an item and returns what stands before it.
    fn label(&mut self, list: &str, level: usize, start: Option<&str>) -> String {
        let Some(style) = self.styles.level(list, level) else {
            return "-".to_owned();
        };
        if style.format.is_none() {
            return "-".to_owned();
        }
        let start = start.and_then(|it| it.parse().ok());
        let before = self.lists.get(&(list.to_owned(), level)).copied();
        let count = start.unwrap_or_else(|| before.map_or(style.start, |it| it.saturating_add(1)));
        self.lists.insert((list.to_owned(), level), count);
        let outer =
            (0..=level).map(|at| self.lists.get(&(list.to_owned(), at)).copied().unwrap_or(1));
        style.label(&outer.collect::<Vec<_>>())
    }

    fn table(&mut self, element: Element<'_>, blocks: &mut Blocks) {
        let mut rows = Vec::new();
        self.rows(element, &mut rows);
        blocks.push(&if self.cells > 0 { inner_table(&rows) } else { table(&rows) });
    }

    fn rows(&mut self, parent: Element<'_>, rows: &mut Vec<Vec<String>>) {
        for child in parent.children() {
            match child.name() {
                "table:table-row" => {
                    let row = self.row(child);
                    let size: usize = row.iter().map(String::len).sum();
                    let often = (1..=REPEATED).contains(&size);
                    let times =
                        if often { repeated(child, "table:number-rows-repeated") } else { 1 };
                    let times = self.spared(times, row.len());
                    rows.extend(std::iter::repeat_n(row, times));
                }
                "table:table-header-rows" | "table:table-rows" | "table:table-row-group" => {
                    self.rows(child, rows);
                }
                _ => {}
            }
        }
    }

    fn row(&mut self, element: Element<'_>) -> Vec<String> {
        let mut row = Vec::new();
        for cell in element.children() {
            let text = match cell.name() {
                "table:table-cell" => {
                    let mut inner = Blocks::default();
                    self.cells += 1;
                    self.blocks(cell, &mut inner);
                    self.cells -= 1;
                    inner.finish()
                }
                "table:covered-table-cell" => String::new(),
                _ => continue,
            };
            // Long texts are not multiplied.
            let short = text.len() <= REPEATED;
            let times = if short { repeated(cell, "table:number-columns-repeated") } else { 1 };
            let times = self.spared(times, 1);
            row.extend(std::iter::repeat_n(text, times));
        }
        row
    }

    /// Bounds how often so many cells are repeated, by what may still be added.
    fn spared(&mut self, times: usize, cells: usize) -> usize {
        let more = (times - 1).min(self.spare / cells.max(1));
        self.spare -= more * cells;
        more + 1
    }

    /// Reads the runs of a paragraph.
    fn inline(&mut self, paragraph: Element<'_>) -> Inline {
        let mut inline = Inline::default();
        self.runs(paragraph, Face::default(), &mut inline);
        inline
    }

    fn runs(&mut self, parent: Element<'_>, face: Face, inline: &mut Inline) {
        for piece in parent.pieces() {
            match piece {
                Piece::Text(text) => inline.push(&collapsed(text), face),
                Piece::Element(element) => self.run(element, face, inline),
            }
        }
    }

    fn run(&mut self, element: Element<'_>, face: Face, inline: &mut Inline) {
        match element.name() {
            "text:span" => {
                let style = element.attr("text:style-name").unwrap_or_default();
                if self.styles.is_hidden(style) {
                    self.seen.hidden += 1;
                    return;
                }
                let own = self.styles.face(style);
                let face = Face {
                    bold: face.bold || own.bold,
                    italic: face.italic || own.italic,
                    struck: face.struck || own.struck,
                };
                self.runs(element, face, inline);
            }
            "text:a" => {
                let place = inline.place();
                self.runs(element, face, inline);
                let address = element.attr("xlink:href").unwrap_or_default();
                // Links within the document lead nowhere in a text.
                if !address.is_empty() && !address.starts_with('#') {
                    inline.link(place, address);
                }
            }
            "text:s" => {
                let count = element.attr("text:c").and_then(|it| it.parse().ok()).unwrap_or(1);
                inline.push(&" ".repeat(count.min(SPACES)), face);
            }
            "text:tab" => inline.push("\t", face),
            "text:line-break" => inline.push("\n", face),
            "text:note" => self.note(element, inline),
            "office:annotation" => {
                let (head, text) = self.annotation(element);
                self.counts[2] += 1;
                let label = format!("[^c{}]", self.counts[2]);
                inline.mark(&label);
                self.notes.push((label, format!("{head}: {text}")));
            }
            "text:ruby" => {
                if let Some(base) = element.child("text:ruby-base") {
                    self.runs(base, face, inline);
                }
                let above = element.child("text:ruby-text").map(Element::text).unwrap_or_default();
                if !above.is_empty() {
                    inline.push(&format!("({above})"), face);
                }
            }
            "text:hidden-text" | "text:hidden-paragraph" => self.seen.hidden += 1,
            "office:annotation-end" => {}
            name if name.starts_with("draw:") => {
                let mut blocks = Blocks::default();
                if let Some(mark) = self.frame(element, &mut blocks) {
                    inline.mark(&mark);
                }
                let text = blocks.finish();
                if !text.is_empty() {
                    self.after.push(text);
                }
            }
            _ => self.runs(element, face, inline),
        }
    }

    fn note(&mut self, note: Element<'_>, inline: &mut Inline) {
        let end = note.attr("text:note-class") == Some("endnote");
        self.counts[usize::from(end)] += 1;
        let label =
            if end { format!("[^e{}]", self.counts[1]) } else { format!("[^{}]", self.counts[0]) };
        inline.mark(&label);
        let at = self.notes.len();
        self.notes.push((label, String::new()));
        if let Some(body) = note.child("text:note-body") {
            let after = std::mem::take(&mut self.after);
            let mut blocks = Blocks::default();
            self.blocks(body, &mut blocks);
            self.after = after;
            self.notes[at].1 = blocks.finish();
        }
    }

    /// Returns who annotated and when, and the text.
    pub(super) fn annotation(&mut self, annotation: Element<'_>) -> (String, String) {
        let author = annotation.child("dc:creator").map(Element::text).unwrap_or_default();
        let author = if author.trim().is_empty() { "unknown".to_owned() } else { author };
        let date = annotation.child("dc:date").map(Element::text).unwrap_or_default();
        let date = date.get(..10).map(|date| format!(", {date}")).unwrap_or_default();
        let mut blocks = Blocks::default();
        self.blocks(annotation, &mut blocks);
        (format!("comment by {author}{date}"), blocks.finish())
    }

    /// Reads a shape of its own: its picture, table, text.
    pub(super) fn shape(&mut self, shape: Element<'_>, blocks: &mut Blocks) {
        let mut inner = Blocks::default();
        let mark = self.frame(shape, &mut inner);
        blocks.push(&mark.unwrap_or_default());
        blocks.extend(&inner);
    }

    /// Reads a frame; returns the mark of its picture or equation.
    fn frame(&mut self, frame: Element<'_>, blocks: &mut Blocks) -> Option<String> {
        let described =
            |name: &str| frame.child(name).map(Element::text).filter(|it| !it.trim().is_empty());
        let alt = described("svg:desc").or_else(|| described("svg:title")).unwrap_or_default();
        let mut mark = None;
        let mut object = false;
        for child in frame.children() {
            match child.name() {
                // A picture beside an object or a table is what it looks like.
                "draw:image"
                    if !object && frame.child("table:table").is_none() && mark.is_none() =>
                {
                    self.seen.pictures += 1;
                    let name = child.attr("xlink:href").map_or("", base);
                    mark = Some(picture(&alt, name));
                }
                "draw:object" => {
                    let path = child.attr("xlink:href").unwrap_or_default();
                    let path = path.trim_start_matches("./").to_owned();
                    if let Some(shown) = self.object(&path, blocks) {
                        object = true;
                        mark = Some(shown).filter(|it| !it.is_empty());
                    }
                }
                "draw:text-box" => self.blocks(child, blocks),
                "text:p" => self.paragraph(child, blocks),
                "text:list" => self.list(child, 0, None, blocks),
                "table:table" => self.table(child, blocks),
                "draw:g" | "draw:frame" | "draw:a" => self.shape(child, blocks),
                _ => {}
            }
        }
        mark
    }

    /// Reads an equation or a chart, which are documents of their own.
    fn object(&mut self, path: &str, blocks: &mut Blocks) -> Option<String> {
        let tree = self.package.tree(&format!("{path}/content.xml"))?;
        let root = tree.root();
        if root.name() == "math:math" || root.name() == "math" {
            return Some(math::mathml(root));
        }
        let chart = root.find("chart:chart")?;
        let title = chart.child("chart:title").map(Element::text).unwrap_or_default();
        let colon = if title.trim().is_empty() { "" } else { ": " };
        let kind = chart.attr("chart:class").unwrap_or_default().trim_start_matches("chart:");
        blocks.push(&format!("**Chart{colon}{}** ({kind})", title.trim()));
        for inner in chart.all("table:table") {
            let mut rows = Vec::new();
            self.rows(inner, &mut rows);
            blocks.table(&rows);
        }
        Some(String::new())
    }
}

fn repeated(element: Element<'_>, name: &str) -> usize {
    element.attr(name).and_then(|it| it.parse().ok()).unwrap_or(1).clamp(1, REPEATED)
}

/// Joins white space, which means nothing in this format.
fn collapsed(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    let mut space = false;
    for letter in text.chars() {
        let white = matches!(letter, ' ' | '\t' | '\n' | '\r');
        if !white {
            out.push(letter);
        } else if !space {
            out.push(' ');
        }
        space = white;
    }
    out
}
