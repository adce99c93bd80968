//! Where text of RTF goes: paragraphs, lists, and tables, of the body or of a note.

use std::collections::HashMap;

use crate::documents::office::marks::{Blocks, Face, Inline};

/// The most cells of a row.
const CELLS: usize = 1000;

/// The most cells of a table that are put into common columns.
const PLACED: usize = 200_000;

/// How the paragraph at hand is set.
#[derive(Debug, Default, Clone)]
pub(super) struct Setting {
    pub(super) in_table: bool,
    pub(super) style: Option<i32>,
    pub(super) outline: Option<i32>,
    pub(super) list: bool,
    pub(super) level: usize,
}

/// Levels of headings by the styles' numbers.
pub(super) type Headings = HashMap<i32, usize>;

/// One text: the body, a note, a header.
#[derive(Debug, Default)]
pub(super) struct Flow {
    blocks: Blocks,
    pub(super) inline: Inline,
    /// The label of a list's item.
    pub(super) label: Option<String>,
    /// Rows, with the right edges of their cells in twips.
    rows: Vec<(Vec<i32>, Vec<String>)>,
    row: Vec<String>,
    edges: Vec<i32>,
    cell: Blocks,
    /// How many paragraphs have ended.
    pub(super) ended: usize,
}

impl Flow {
    /// Ends a paragraph.
    pub(super) fn paragraph(&mut self, setting: &Setting, headings: &Headings) {
        if !setting.in_table {
            self.end_table();
        }
        let inline = std::mem::take(&mut self.inline);
        self.ended += 1;
        let label = self.label.take();
        if inline.is_blank() {
            return;
        }
        let target = if setting.in_table { &mut self.cell } else { &mut self.blocks };
        let styled = setting.style.and_then(|style| headings.get(&style).copied());
        let outline = setting.outline.filter(|level| (0..9).contains(level));
        let outline = outline.and_then(|level| usize::try_from(level + 1).ok());
        let label = label.map(|label| marked(label.trim())).filter(|label| !label.is_empty());
        if let Some(level) = outline.or(styled).filter(|_| !setting.in_table) {
            let label = label.filter(|label| label != "-").unwrap_or_default();
            target.heading(level, &format!("{label} {}", inline.plain()));
        } else if let Some(label) = label.or_else(|| setting.list.then(|| "-".to_owned())) {
            target.item(setting.level, &label, &inline.finish());
        } else {
            target.push(&inline.finish());
        }
    }

    /// Ends a cell.
    pub(super) fn cell(&mut self, setting: &Setting, headings: &Headings) {
        self.paragraph(&Setting { in_table: true, ..setting.clone() }, headings);
        let cell = std::mem::take(&mut self.cell).finish();
        if self.row.len() < CELLS {
            self.row.push(cell);
        }
    }

    /// Begins the definition of a row.
    pub(super) fn begin_row(&mut self) {
        self.edges.clear();
    }

    /// Takes the right edge of the next cell.
    pub(super) fn edge(&mut self, edge: i32) {
        if self.edges.len() < CELLS {
            self.edges.push(edge);
        }
    }

    /// Ends a row.
    pub(super) fn row(&mut self) {
        if !self.row.is_empty() {
            self.rows.push((self.edges.clone(), std::mem::take(&mut self.row)));
        }
    }

    fn end_table(&mut self) {
        self.row();
        if !self.rows.is_empty() {
            self.blocks.table(&placed(std::mem::take(&mut self.rows)));
        }
        let rest = std::mem::take(&mut self.cell);
        self.blocks.extend(&rest);
    }

    /// Adds a run.
    pub(super) fn push(&mut self, text: &str, face: Face) {
        self.inline.push(text, face);
    }

    /// Adds a block of its own.
    pub(super) fn block(&mut self, text: &str) {
        self.end_table();
        self.blocks.push(text);
    }

    /// Ends the text.
    pub(super) fn finish(mut self, setting: &Setting, headings: &Headings) -> String {
        self.paragraph(setting, headings);
        self.end_table();
        self.blocks.finish()
    }
}

/// Puts the cells of all rows into common columns, which their edges tell: a cell that is
/// merged with others stands in the first of their columns.
fn placed(rows: Vec<(Vec<i32>, Vec<String>)>) -> Vec<Vec<String>> {
    let mut all: Vec<i32> = rows.iter().flat_map(|(edges, _)| edges.iter().copied()).collect();
    all.sort_unstable();
    all.dedup();
    let fits = |edges: &[i32], cells: &[String]| edges.len() == cells.len() && edges.is_sorted();
    let wide = all.len().saturating_mul(rows.len()) > PLACED;
    if wide || !rows.iter().all(|(edges, cells)| fits(edges, cells)) {
        return rows.into_iter().map(|(_, cells)| cells).collect();
    }
    let place = |(edges, cells): (Vec<i32>, Vec<String>)| {
        let mut row = Vec::new();
        for (edge, cell) in edges.iter().zip(cells) {
            row.push(cell);
            let columns = all.partition_point(|it| it <= edge);
            row.resize(columns.max(row.len()), String::new());
        }
        row
    };
    rows.into_iter().map(place).collect()
}

/// Returns the label of an item: a bullet, whatever it looks like, or a number.
fn marked(label: &str) -> String {
    if label.chars().any(char::is_alphanumeric) || label.is_empty() {
        label.to_owned()
    } else {
        "-".to_owned()
    }
}
