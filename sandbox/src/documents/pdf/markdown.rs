//! The rows of a page as Markdown: headings, paragraphs, lists, tables.
//!
//! Headings are what is set larger than the text, tables what stands in columns over
//! several rows. Words are never changed, but for a hyphen at the end of a line.

use super::layout::{Row, Segment};

/// How much larger than the text the headings of each level are set, at least.
const HEADINGS: [(f32, &str); 3] = [(1.6, "# "), (1.3, "## "), (1.13, "### ")];

/// The longest heading, in characters.
const LONGEST: usize = 200;

/// A gap between rows as high as this part of their height parts paragraphs.
const PARAGRAPH: f32 = 0.65;

/// Marks of lists that are only drawn.
const BULLETS: [char; 10] = ['•', '◦', '▪', '‣', '●', '○', '■', '\u{7f}', '\u{f0b7}', '\u{f0a7}'];

/// Writes the groups of a page; `body` is the size of the document's text.
pub(super) fn write(groups: &[Vec<Row>], body: f32) -> String {
    let mut page = Page { body, text: String::new(), last: Last::Nothing };
    for rows in groups {
        let rows: Vec<Row> = rows.iter().map(with_marks).collect();
        let mut at = 0;
        while at < rows.len() {
            let end = at + table(&rows[at..]);
            if end > at {
                page.table(&rows[at..end]);
                at = end;
            } else {
                page.row(&rows[at]);
                at += 1;
            }
        }
        page.last = Last::Nothing;
    }
    page.text.trim().to_owned()
}

/// Joins the mark of a list with what it marks.
fn with_marks(row: &Row) -> Row {
    let mut row = row.clone();
    if row.segments.len() > 1 && is_mark(&row.segments[0].text) {
        let mark = row.segments.remove(0);
        row.segments[0].text = format!("{} {}", mark.text, row.segments[0].text);
        row.segments[0].left = mark.left;
    }
    row
}

/// Whether a text is the number of a list, such as `1.`, `.2` or `(b)`, or a bullet.
fn is_mark(text: &str) -> bool {
    let inner = text.trim_matches(['.', ')', '(']);
    let is_bullet = text.chars().all(|letter| BULLETS.contains(&letter) || letter == '-');
    let is_number = text.len() > inner.len()
        && (1..=3).contains(&inner.chars().count())
        && inner.chars().all(|letter| letter.is_ascii_alphanumeric() || letter == '.');
    is_bullet || is_number
}

/// Returns how many rows from the first on make a table.
fn table(rows: &[Row]) -> usize {
    let mut columns: Vec<(f32, f32)> = Vec::new();
    let (mut end, mut full) = (0, 0);
    for (index, row) in rows.iter().enumerate() {
        if index > 0 && rows[index - 1].bottom - row.top > 3.0 * (row.top - row.bottom) {
            break;
        }
        if !fits(row, &mut columns) || (row.segments.len() < 2 && columns.len() < 3) {
            break;
        }
        if row.segments.len() > 1 {
            full += 1;
            end = index + 1;
        } else if index == 0 {
            break;
        }
    }
    let enough = if columns.len() > 2 { 2 } else { 3 };
    if full >= enough { end } else { 0 }
}

/// Whether each segment of a row stands in a column of its own; widens and adds columns.
fn fits(row: &Row, columns: &mut Vec<(f32, f32)>) -> bool {
    let mut wider = columns.clone();
    let mut used = Vec::new();
    for segment in &row.segments {
        let over = |(left, right): &(f32, f32)| segment.left < *right && segment.right > *left;
        let mut met = columns.iter().enumerate().filter(|(_, column)| over(column));
        match (met.next(), met.next()) {
            (Some((at, _)), None) if !used.contains(&at) => {
                used.push(at);
                wider[at].0 = wider[at].0.min(segment.left);
                wider[at].1 = wider[at].1.max(segment.right);
            }
            (None, _) if row.segments.len() > 1 => wider.push((segment.left, segment.right)),
            _ => return false,
        }
    }
    wider.sort_by(|a, b| a.0.total_cmp(&b.0));
    // Columns that grew into each other are none.
    if wider.windows(2).any(|pair| pair[0].1 > pair[1].0) {
        return false;
    }
    *columns = wider;
    true
}

/// What was written last.
#[derive(Debug, Clone, Copy, PartialEq)]
enum Last {
    Nothing,
    /// A row of text of this size that ends at this height.
    Text {
        size: f32,
        bottom: f32,
    },
}

struct Page {
    body: f32,
    text: String,
    last: Last,
}

impl Page {
    fn row(&mut self, row: &Row) {
        let Some(first) = row.segments.first() else { return };
        let single = row.segments.len() == 1;
        if let Some(level) = self.level(first).filter(|_| single) {
            return self.heading(level, &first.text);
        }
        let texts: Vec<&str> = row.segments.iter().map(|it| it.text.as_str()).collect();
        let text = texts.join("  ");
        let (item, text) = match text.strip_prefix(BULLETS) {
            Some(rest) => (true, format!("- {}", rest.trim_start())),
            None => (text.split(' ').next().is_some_and(is_mark), text),
        };
        let height = row.top - row.bottom;
        match self.last {
            Last::Text { bottom, .. } if item && bottom - row.top < 2.0 * height => {
                self.text.push('\n');
            }
            Last::Text { size, bottom }
                if !item
                    && (first.size - size).abs() < 0.1 * size
                    && bottom - row.top < PARAGRAPH * height
                    && bottom >= row.bottom =>
            {
                self.join(&text);
                self.last = Last::Text { size: first.size, bottom: row.bottom };
                return;
            }
            Last::Nothing | Last::Text { .. } => self.part(),
        }
        let loud = single && first.bold && !item && text.chars().count() < 80;
        if loud {
            self.text.extend(["**", &text, "**"]);
        } else {
            self.text.push_str(&text);
        }
        let size = if loud { -1.0 } else { first.size };
        self.last = Last::Text { size, bottom: row.bottom };
    }

    /// Goes on with a paragraph; a word that was parted at the end of a line is joined.
    fn join(&mut self, text: &str) {
        let mut end = self.text.chars().rev();
        let parted = end.next() == Some('-')
            && end.next().is_some_and(char::is_lowercase)
            && text.starts_with(char::is_lowercase);
        if parted {
            self.text.pop();
        } else {
            self.text.push('\n');
        }
        self.text.push_str(text);
    }

    fn part(&mut self) {
        if !self.text.is_empty() {
            self.text.push_str("\n\n");
        }
    }

    /// The level of a heading, as an index of [`HEADINGS`].
    fn level(&self, segment: &Segment) -> Option<usize> {
        let ratio = segment.size / self.body;
        let level = HEADINGS.iter().position(|(least, _)| ratio >= *least)?;
        let is_item = segment.text.starts_with(BULLETS);
        let letters = segment.text.chars().filter(|letter| letter.is_alphanumeric()).count();
        (letters > 1 && !is_item && segment.text.chars().count() <= LONGEST).then_some(level)
    }

    fn heading(&mut self, level: usize, text: &str) {
        self.part();
        self.text.extend([HEADINGS[level].1, text]);
        self.last = Last::Nothing;
    }

    fn table(&mut self, rows: &[Row]) {
        let mut columns = Vec::new();
        for row in rows {
            fits(row, &mut columns);
        }
        self.part();
        for (index, row) in rows.iter().enumerate() {
            self.text.push('|');
            for (left, right) in &columns {
                let cell = row.segments.iter().find(|it| it.left < *right && it.right > *left);
                let text = cell.map(|cell| cell.text.replace('|', "\\|")).unwrap_or_default();
                self.text.extend([" ", &text, " |"]);
            }
            if index == 0 {
                self.text.push_str("\n|");
                self.text.push_str(&" --- |".repeat(columns.len()));
            }
            if index + 1 < rows.len() {
                self.text.push('\n');
            }
        }
        self.last = Last::Nothing;
    }
}
