//! Markdown, written from runs, paragraphs, lists and tables.
//!
//! Letters stay as they are: nothing is escaped but what would leave its cell of a table.
//! Pictures are named, never embedded.

/// How a run looks.
#[derive(Debug, Default, Clone, Copy, PartialEq, Eq)]
pub(in crate::documents) struct Face {
    pub(in crate::documents) bold: bool,
    pub(in crate::documents) italic: bool,
    pub(in crate::documents) struck: bool,
}

/// The most columns of a table.
const COLUMNS: usize = 1000;

/// The most cells of a table whose rows are all made as long as the longest.
const PADDED: usize = 500_000;

/// The most levels of indentation of a list.
const LEVELS: usize = 12;

/// The runs of a paragraph.
#[derive(Debug, Default)]
pub(in crate::documents) struct Inline {
    runs: Vec<(Face, String)>,
}

impl Inline {
    /// Adds a run; runs that look alike become one.
    pub(in crate::documents) fn push(&mut self, text: &str, face: Face) {
        if text.is_empty() {
            return;
        }
        match self.runs.last_mut() {
            Some((last, run)) if *last == face || text.trim().is_empty() => run.push_str(text),
            _ => self.runs.push((face, text.to_owned())),
        }
    }

    /// Adds what is Markdown already.
    pub(in crate::documents) fn mark(&mut self, markdown: &str) {
        self.push(markdown, Face::default());
    }

    /// Returns a place, to make a link of what follows it.
    pub(in crate::documents) fn place(&self) -> (usize, usize) {
        self.runs.last().map_or((0, 0), |(_, run)| (self.runs.len() - 1, run.len()))
    }

    /// Makes a link of what was added since a place.
    pub(in crate::documents) fn link(&mut self, (index, length): (usize, usize), address: &str) {
        let mut since = Inline::default();
        for (at, (face, run)) in
            self.runs.drain(index.min(self.runs.len())..).enumerate().collect::<Vec<_>>()
        {
            let (kept, new) = if at == 0 {
                run.split_at_checked(length).unwrap_or((&run, ""))
            } else {
                ("", run.as_str())
            };
            if !kept.is_empty() {
                self.runs.push((face, kept.to_owned()));
            }
            since.push(new, face);
        }
        let label = since.finish();
        self.push(&link(&label, address), Face::default());
    }

    /// Whether nothing but white space was added.
    pub(in crate::documents) fn is_blank(&self) -> bool {
        self.runs.iter().all(|(_, run)| run.trim().is_empty())
    }

    /// Returns the text without emphasis, for headings.
    pub(in crate::documents) fn plain(self) -> String {
        self.runs.into_iter().map(|(_, run)| run).collect()
    }

    /// Returns the text as Markdown.
    pub(in crate::documents) fn finish(self) -> String {
        let mut text = String::new();
        for (face, run) in self.runs {
            let core = run.trim();
            if core.is_empty() || face == Face::default() {
                text.push_str(&run);
                continue;
            }
            // White space inside of the marks would undo them.
            let lead = run.len() - run.trim_start().len();
            let marks = [(face.struck, "~~"), (face.bold, "**"), (face.italic, "*")];
            let marks: Vec<&str> =
                marks.iter().filter(|(on, _)| *on).map(|(_, mark)| *mark).collect();
            text.push_str(&run[..lead]);
            text.extend(marks.iter().copied());
            text.push_str(core);
            text.extend(marks.iter().rev().copied());
            text.push_str(&run[lead + core.len()..]);
        }
        text
    }
}

/// Writes a link; without a label the address alone.
pub(in crate::documents) fn link(label: &str, address: &str) -> String {
    let core = label.trim();
    let address = address.trim();
    if core.is_empty() || core == address {
        return if address.starts_with('#') { label.to_owned() } else { address.to_owned() };
    }
    if address.is_empty() {
        return label.to_owned();
    }
    let lead = &label[..label.len() - label.trim_start().len()];
    let trail = &label[label.trim_end().len()..];
    format!("{lead}[{core}]({}){trail}", address.replace(' ', "%20").replace(')', "%29"))
}

/// Writes a picture: what it shows, and its name.
pub(in crate::documents) fn picture(shows: &str, name: &str) -> String {
    let shows = shows.split_whitespace().collect::<Vec<_>>().join(" ");
    format!("![{}]({})", shows.replace(']', ")"), name.replace(' ', "%20"))
}

/// Blocks of Markdown, one below the other.
#[derive(Debug, Default)]
pub(in crate::documents) struct Blocks {
    text: String,
    in_list: bool,
}

impl Blocks {
    /// Adds a block; a blank one is none.
    pub(in crate::documents) fn push(&mut self, block: &str) {
        let block = block.trim_matches(['\n', '\r']).trim_end();
        if block.trim().is_empty() {
            return;
        }
        self.part(false);
        self.text.push_str(block);
    }

    /// Adds a heading of level 1 to 6.
    pub(in crate::documents) fn heading(&mut self, level: usize, text: &str) {
        let text = text.split_whitespace().collect::<Vec<_>>().join(" ");
        if !text.is_empty() {
            self.push(&format!("{} {text}", "#".repeat(level.clamp(1, 6))));
        }
    }

    /// Adds an item of a list, of a level from 0.
    pub(in crate::documents) fn item(&mut self, level: usize, label: &str, text: &str) {
        let text = text.trim();
        if text.is_empty() {
            return;
        }
        self.part(true);
        let indent = "  ".repeat(level.min(LEVELS));
        let next = format!("\n{indent}  ");
        let label = if label.is_empty() { "-" } else { label };
        self.text.extend([&indent, label, " ", &text.replace('\n', &next)]);
    }

    /// Adds a table, whose first row counts as its head.
    pub(in crate::documents) fn table(&mut self, rows: &[Vec<String>]) {
        self.push(&table(rows));
    }

    /// Adds the blocks of another.
    pub(in crate::documents) fn extend(&mut self, other: &Blocks) {
        if !other.text.is_empty() {
            self.push(&other.text);
            self.in_list = other.in_list;
        }
    }

    fn part(&mut self, item: bool) {
        if !self.text.is_empty() {
            self.text.push_str(if item && self.in_list { "\n" } else { "\n\n" });
        }
        self.in_list = item;
    }

    /// How many bytes were written.
    pub(in crate::documents) fn len(&self) -> usize {
        self.text.len()
    }

    /// Returns the text.
    pub(in crate::documents) fn finish(self) -> String {
        self.text
    }
}

/// Writes a table; one of a single cell is its content, and one without text is nothing.
pub(in crate::documents) fn table(rows: &[Vec<String>]) -> String {
    let columns = rows.iter().map(Vec::len).max().unwrap_or(0).min(COLUMNS);
    if rows.iter().flatten().all(|cell| cell.trim().is_empty()) {
        return String::new();
    }
    if let ([row], 1) = (rows, columns) {
        return row.concat();
    }
    let mut text = String::new();
    let whole = rows.len().saturating_mul(columns) <= PADDED;
    for (index, row) in rows.iter().enumerate() {
        text.push('|');
        for column in 0..if whole || index == 0 { columns } else { row.len().min(columns) } {
            text.push(' ');
            if let Some(cell) = row.get(column) {
                text.push_str(&fitted(cell));
            }
            text.push_str(" |");
        }
        text.push('\n');
        if index == 0 {
            text.push('|');
            text.push_str(&" --- |".repeat(columns));
            text.push('\n');
        }
    }
    text
}

/// Writes a table that stands in a cell of another: a line for each row.
pub(in crate::documents) fn inner_table(rows: &[Vec<String>]) -> String {
    let rows = rows.iter().map(|row| {
        let cells = row.iter().map(|cell| cell.trim()).filter(|cell| !cell.is_empty());
        cells.collect::<Vec<_>>().join("; ").replace('\n', " ")
    });
    rows.filter(|row| !row.is_empty()).collect::<Vec<_>>().join("\n")
}

/// Keeps a text within its cell.
fn fitted(cell: &str) -> String {
    let cell = cell.trim();
    if !cell.contains(['|', '\n', '\r']) {
        return cell.to_owned();
    }
    let lines = cell.lines().map(str::trim).filter(|line| !line.is_empty());
    lines.collect::<Vec<_>>().join("<br>").replace('|', "\\|")
}

/// Sets a text apart as a quotation with a title.
pub(in crate::documents) fn quoted(title: &str, text: &str) -> String {
    let text = format!("**{title}:** {}", text.trim());
    text.lines()
        .map(|line| format!("> {line}").trim_end().to_owned())
        .collect::<Vec<_>>()
        .join("\n")
}

/// Signs of the fonts Symbol and Wingdings that occur in texts.
const SIGNS: &[(u32, char)] = &[
    (0x6c, '●'),
    (0x6e, '■'),
    (0x6f, '☐'),
    (0x71, '❑'),
    (0x76, '❖'),
    (0xa7, '▪'),
    (0xa8, '☐'),
    (0xb7, '•'),
    (0xd8, '➢'),
    (0xe0, '→'),
    (0xfb, '✗'),
    (0xfc, '✓'),
    (0xfd, '☒'),
    (0xfe, '☑'),
];

/// Returns the sign of a symbol font's letter, if it has one of its own.
pub(in crate::documents) fn symbol(code: u32) -> Option<char> {
    if (0xf000..=0xf0ff).contains(&code) {
        return SIGNS.iter().find(|(at, _)| *at == code & 0xff).map(|(_, sign)| *sign);
    }
    char::from_u32(code).filter(|letter| !('\u{e000}'..='\u{f8ff}').contains(letter))
}

#[cfg(test)]
mod tests {
    use super::*;

    const BOLD: Face = Face { bold: true, italic: false, struck: false };

    #[test]
    fn runs_that_look_alike_are_one() {
        let mut inline = Inline::default();
        for (text, face) in [("Har", BOLD), ("bour ", BOLD), ("fees", Face::default())] {
            inline.push(text, face);
        }
        assert_eq!(inline.finish(), "**Harbour** fees");
    }

    #[test]
    fn a_link_takes_what_came_since() {
        let mut inline = Inline::default();
        inline.mark("see ");
        let place = inline.place();
        inline.mark("the ");
        inline.push("rules", BOLD);
        inline.link(place, "https://a.example/x y");
        inline.mark(".");
        assert_eq!(inline.finish(), "see [the **rules**](https://a.example/x%20y).");
    }

    #[test]
    fn tables_keep_their_cells() {
        let rows = [vec!["a|b".to_owned(), "x\ny".to_owned()], vec!["1".to_owned()]];
        assert_eq!(table(&rows), "| a\\|b | x<br>y |\n| --- | --- |\n| 1 |  |\n");
        assert_eq!(table(&[vec!["alone".to_owned()]]), "alone");
        assert_eq!(table(&[vec![" ".to_owned()]]), "");
    }

    #[test]
    fn items_stand_together_and_paragraphs_apart() {
        let mut blocks = Blocks::default();
        blocks.push("before");
        blocks.item(0, "1.", "one");
        blocks.item(1, "", "deep");
        blocks.push("after");
        assert_eq!(blocks.finish(), "before\n\n1. one\n  - deep\n\nafter");
    }
}
