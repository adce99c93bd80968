//! `OpenDocument` texts and presentations (odt, odp) as Markdown.
//!
//! Deleted text of tracked changes is left out. Notes and annotations stand at the end of
//! a text; slides have theirs below them. Encrypted files are refused.

mod styles;
mod text;

use super::marks::{Blocks, quoted};
use super::package::Package;
use super::xml::{Element, Tree};
use crate::documents::{Document, Unreadable};
use styles::Styles;

/// What the kind is called.
const KIND: &str = "OpenDocument file";

/// The most bytes of text.
const TEXT: usize = crate::documents::TEXT_LIMIT;

/// The most cells that are added for those that stand for several.
const SPARE: usize = 100_000;

/// What was met and is told in the notes.
#[derive(Debug, Default)]
struct Seen {
    pictures: usize,
    hidden: usize,
    changes: bool,
}

/// The state of reading.
struct Reader<'a, 'b> {
    package: &'b mut Package<'a>,
    styles: Styles<'b>,
    /// Notes and annotations, with their labels.
    notes: Vec<(String, String)>,
    /// Counts of notes of the foot, of the end, and of annotations.
    counts: [usize; 3],
    /// Counts of headings that have numbers, by level.
    headings: [u32; 10],
    /// How far lists were counted, by their style and level.
    lists: std::collections::HashMap<(String, usize), u32>,
    /// How many cells of tables are open.
    cells: usize,
    /// How many cells may still be added for those that stand for several.
    spare: usize,
    /// What stands below the paragraph at hand.
    after: Vec<String>,
    seen: Seen,
}

/// Extracts the text of a document.
pub(super) fn read(bytes: &[u8]) -> Result<Document, Unreadable> {
    let mut package = Package::open(bytes, KIND)?;
    let manifest = package.tree("META-INF/manifest.xml");
    let encrypted = |tree: &Tree| tree.root().find("manifest:encryption-data").is_some();
    if manifest.as_ref().is_some_and(encrypted) {
        return Err(Unreadable::Encrypted(KIND));
    }
    let content = package.needed("content.xml")?;
    let common = package.tree("styles.xml");
    let styles = Styles::read([common.as_ref(), Some(&content)].into_iter().flatten());
    let body = content.root().child("office:body");
    let text = body.and_then(|it| it.child("office:text"));
    let show =
        body.and_then(|it| it.child("office:presentation").or_else(|| it.child("office:drawing")));
    let mut reader = Reader {
        package: &mut package,
        styles,
        notes: Vec::new(),
        counts: [0; 3],
        headings: [0; 10],
        lists: std::collections::HashMap::new(),
        cells: 0,
        spare: SPARE,
        after: Vec::new(),
        seen: Seen::default(),
    };
    let mut blocks = Blocks::default();
    let mut notes = Vec::new();
    let kind = if let Some(show) = show {
        let count = reader.slides(show, &mut blocks);
        notes.push(format!("slides: {count}"));
        "OpenDocument presentation"
    } else {
        reader.blocks(text.unwrap_or(content.root()), &mut blocks);
        reader.put_notes(&mut blocks);
        if let Some(common) = &common {
            reader.margins(common.root(), &mut blocks);
        }
        "OpenDocument text"
    };
    notes.extend(reader.seen.notes());
    if let Some(broken) = &content.broken {
        notes.push(format!("the text breaks off, since its part is damaged: {broken}"));
    }
    let text = blocks.finish();
    if text.trim().is_empty() {
        notes.insert(0, "the document holds no text".to_owned());
    }
    Ok(Document { kind: kind.into(), text, notes })
}

impl Seen {
    fn notes(&self) -> Vec<String> {
        let mut notes = Vec::new();
        if self.changes {
            notes
                .push("tracked changes are shown as accepted; deleted text is left out".to_owned());
        }
        if self.hidden > 0 {
            notes.push(format!("hidden parts left out: {}", self.hidden));
        }
        if self.pictures > 0 {
            notes.push(format!("pictures, named and not shown: {}", self.pictures));
        }
        notes
    }
}

impl Reader<'_, '_> {
    /// Writes all slides, and returns how many there are.
    fn slides(&mut self, show: Element<'_>, blocks: &mut Blocks) -> usize {
        let pages: Vec<Element<'_>> = show.all("draw:page").collect();
        for (number, page) in (1..).zip(&pages) {
            if blocks.len() > TEXT {
                break;
            }
            self.slide(number, *page, blocks);
        }
        pages.len()
    }

    fn slide(&mut self, number: usize, page: Element<'_>, blocks: &mut Blocks) {
        let hidden = page.attr("draw:style-name").is_some_and(|style| self.styles.hides(style));
        let mut titles = Vec::new();
        let mut body = Blocks::default();
        for shape in in_order(page) {
            if shape.attr("presentation:class") == Some("title") && titles.is_empty() {
                let mut title = Blocks::default();
                self.shape(shape, &mut title);
                titles.push(title.finish().split_whitespace().collect::<Vec<_>>().join(" "));
            } else if matches!(
                shape.attr("presentation:class"),
                Some("page-number" | "date-time" | "footer" | "header")
            ) {
                // What every slide repeats.
            } else {
                self.shape(shape, &mut body);
            }
        }
        let title = titles.concat();
        let title = title.trim_start_matches('#').trim();
        let mark = if hidden { " (hidden)" } else { "" };
        let colon = if title.is_empty() { "" } else { ": " };
        blocks.heading(2, &format!("Slide {number}{mark}{colon}{title}"));
        blocks.extend(&body);
        if let Some(notes) = page.child("presentation:notes") {
            let mut text = Blocks::default();
            let shapes =
                notes.children().filter(|it| it.attr("presentation:class") == Some("notes"));
            for shape in shapes {
                self.shape(shape, &mut text);
            }
            let text = text.finish();
            if !text.trim().is_empty() {
                blocks.push(&quoted("Speaker notes", &text));
            }
        }
        for annotation in page.all("office:annotation") {
            let (head, text) = self.annotation(annotation);
            blocks.push(&quoted(&head, &text));
        }
        self.put_notes(blocks);
    }

    /// Writes the notes that were met since the last time.
    fn put_notes(&mut self, blocks: &mut Blocks) {
        for (label, text) in std::mem::take(&mut self.notes) {
            blocks.push(&format!("{label}: {}", text.trim().replace('\n', "\n    ")));
        }
    }

    /// Writes the headers and footers of the pages, each text once.
    fn margins(&mut self, styles: Element<'_>, blocks: &mut Blocks) {
        let mut shown = Vec::new();
        let Some(masters) = styles.child("office:master-styles") else { return };
        for part in masters.all("style:master-page").flat_map(Element::children) {
            let name = match part.name() {
                "style:header" | "style:header-first" | "style:header-left" => "Header",
                "style:footer" | "style:footer-first" | "style:footer-left" => "Footer",
                _ => continue,
            };
            let mut inner = Blocks::default();
            self.blocks(part, &mut inner);
            let text = inner.finish();
            if !text.trim().is_empty() && !shown.contains(&(name, text.clone())) {
                blocks.push(&quoted(name, &text));
                shown.push((name, text));
            }
        }
    }
}

/// Returns the shapes of a page from top to bottom, and those side by side from the left.
fn in_order(page: Element<'_>) -> Vec<Element<'_>> {
    let mut shapes: Vec<_> = page
        .children()
        .filter(|it| it.name().starts_with("draw:"))
        .map(|it| (length(it.attr("svg:y")), length(it.attr("svg:x")), it))
        .collect();
    shapes.sort_by_key(|(top, left, _)| (*top, *left));
    shapes.into_iter().map(|(.., shape)| shape).collect()
}

/// Reads a length such as `2.5cm`, in hundredths of a millimetre.
fn length(value: Option<&str>) -> i64 {
    let value = value.unwrap_or_default().trim();
    let digits =
        value.trim_end_matches(|letter: char| letter.is_ascii_alphabetic() || letter == '%');
    let unit = match &value[digits.len()..] {
        "mm" => 100.0,
        "in" => 2540.0,
        "pt" => 35.28,
        "px" => 26.46,
        _ => 1000.0,
    };
    #[expect(
        clippy::cast_possible_truncation,
        reason = "a place on a page; what is larger saturates"
    )]
    let length = (digits.parse::<f64>().unwrap_or(0.0) * unit) as i64;
    length
}
