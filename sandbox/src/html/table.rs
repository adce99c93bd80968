//! Tables of pages as Markdown: a grid in which merged cells keep their columns.
//!
//! No cell is lost, whether it heads a column, a row or nothing. A table that only lays
//! a page out (one row, one column, or tables in its cells) is written as what it holds.

use std::rc::Rc;

use htmd::element_handler::{HandlerResult, Handlers};
use htmd::{Element, Node};
use markup5ever_rcdom::NodeData;

/// The most columns that one cell spans, and that a table has; further cells join the last.
const COLUMNS: usize = 200;

/// The most rows that one cell spans, as HTML has it.
const ROWS: usize = 65_534;

/// A row of the page, before it is laid into the grid.
struct Row {
    cells: Vec<Rc<Node>>,
    /// Whether it stands in the table's head.
    heads: bool,
}

/// Writes a table.
pub(super) fn write(handlers: &dyn Handlers, element: Element<'_>) -> Option<HandlerResult> {
    let (rows, captions) = parts(element.node);
    let several = |row: &Row| row.cells.len() > 1;
    if rows.len() < 2 || !rows.iter().any(several) || holds_table(&rows) {
        let inner = handlers.walk_children(element.node).content;
        let inner = inner.trim_matches('\n');
        return (!inner.is_empty()).then(|| format!("\n\n{inner}\n\n").into());
    }
    let headless = rows.iter().all(|row| !row.heads && row.cells.iter().all(|it| !is(it, "th")));
    let headed = rows
        .first()
        .is_some_and(|row| row.heads || headless || row.cells.iter().all(|it| is(it, "th")));
    let mut grid = grid(handlers, &rows);
    if !headed {
        grid.insert(0, Vec::new());
    }
    let mut text = String::from("\n\n");
    for caption in captions {
        if let Some(caption) = handlers.handle(&caption) {
            text.push_str(caption.content.trim());
            text.push_str("\n\n");
        }
    }
    text.push_str(&drawn(&grid));
    text.push('\n');
    Some(text.into())
}

/// The rows of a table in reading order, and its captions.
fn parts(table: &Rc<Node>) -> (Vec<Row>, Vec<Rc<Node>>) {
    let (mut rows, mut captions) = (Vec::new(), Vec::new());
    for child in table.children.borrow().iter() {
        if is(child, "caption") {
            captions.push(Rc::clone(child));
        } else if is(child, "tr") {
            rows.push(row(child, false));
        } else if ["thead", "tbody", "tfoot"].iter().any(|part| is(child, part)) {
            let heads = is(child, "thead");
            let within = child.children.borrow();
            rows.extend(within.iter().filter(|it| is(it, "tr")).map(|it| row(it, heads)));
        }
    }
    rows.retain(|row| !row.cells.is_empty());
    (rows, captions)
}

fn row(node: &Node, heads: bool) -> Row {
    let children = node.children.borrow();
    let cells = children.iter().filter(|it| is(it, "td") || is(it, "th"));
    Row { cells: cells.cloned().collect(), heads }
}

fn is(node: &Node, tag: &str) -> bool {
    matches!(&node.data, NodeData::Element { name, .. } if name.local.as_ref() == tag)
}

/// Whether a cell holds a table of its own. Walks without recursion.
fn holds_table(rows: &[Row]) -> bool {
    let mut open: Vec<Rc<Node>> = rows.iter().flat_map(|row| row.cells.clone()).collect();
    while let Some(node) = open.pop() {
        if is(&node, "table") {
            return true;
        }
        open.extend(node.children.borrow().iter().cloned());
    }
    false
}

/// How many rows or columns a cell says that it spans; nothing readable is one.
fn span(cell: &Node, attribute: &str, most: usize) -> usize {
    let NodeData::Element { attrs, .. } = &cell.data else { return 1 };
    let attrs = attrs.borrow();
    let found = attrs.iter().find(|it| it.name.local.as_ref() == attribute);
    let value = found.and_then(|it| it.value.trim().parse::<usize>().ok());
    match value {
        // To the end of its part of the table.
        Some(0) if attribute == "rowspan" => most,
        value => value.unwrap_or(1).clamp(1, most),
    }
}

/// Lays the cells out as a browser does; what a cell spans beside its first place is empty.
fn grid(handlers: &dyn Handlers, rows: &[Row]) -> Vec<Vec<String>> {
    // For each column, how many rows a cell from above still covers.
    let mut covered: Vec<usize> = Vec::new();
    let mut grid = Vec::new();
    for row in rows {
        let mut line: Vec<String> = Vec::new();
        for cell in &row.cells {
            while covered.get(line.len()).is_some_and(|rows| *rows > 0) {
                line.push(String::new());
            }
            let text = handlers.handle(cell).map_or_else(String::new, |it| one_line(&it.content));
            let start = line.len();
            if start >= COLUMNS {
                if let Some(last) = line.last_mut().filter(|_| !text.is_empty()) {
                    last.push(' ');
                    last.push_str(&text);
                }
                continue;
            }
            let wide = span(cell, "colspan", COLUMNS).min(COLUMNS - start);
            let high = span(cell, "rowspan", ROWS);
            line.push(text);
            line.resize(start + wide, String::new());
            covered.resize(covered.len().max(line.len()), 0);
            covered[start..start + wide].fill(high);
        }
        covered.iter_mut().for_each(|rows| *rows = rows.saturating_sub(1));
        grid.push(line);
    }
    // Columns that no cell begins in say nothing, as those of a cell over all of a row.
    let wide = grid.iter().map(|line| used(line)).max().unwrap_or(0);
    grid.iter_mut().for_each(|line| line.truncate(wide));
    grid
}

/// How many columns of a row hold something.
fn used(line: &[String]) -> usize {
    line.iter().rposition(|cell| !cell.is_empty()).map_or(0, |at| at + 1)
}

fn one_line(cell: &str) -> String {
    let words: Vec<&str> = cell.lines().map(str::trim).filter(|it| !it.is_empty()).collect();
    words.join(" ").replace('|', "&#124;")
}

/// Draws the grid, its first row as the head.
fn drawn(grid: &[Vec<String>]) -> String {
    let columns = grid.iter().map(Vec::len).max().unwrap_or(0);
    let mut widths = vec![1; columns];
    for line in grid {
        for (width, cell) in widths.iter_mut().zip(line) {
            *width = cell.chars().count().max(*width);
        }
    }
    let mut text = String::new();
    for (index, line) in grid.iter().enumerate() {
        text.push('|');
        for (at, width) in widths.iter().enumerate() {
            let cell = line.get(at).map_or("", String::as_str);
            let gap = width - cell.chars().count();
            text.extend([" ", cell, &" ".repeat(gap), " |"]);
        }
        text.push('\n');
        if index == 0 {
            text.push('|');
            for width in &widths {
                text.extend([" ", &"-".repeat(*width), " |"]);
            }
            text.push('\n');
        }
    }
    text
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::super::to_markdown;

    fn shown(html: &str) -> String {
        to_markdown(html).unwrap_or_default().trim().to_owned()
    }

    #[test]
    fn no_cell_of_a_table_is_lost() {
        let table = [
            (
                "<table><tr><td>Dock</td><td>Load</td></tr><tr><td>A</td><td>12</td></tr></table>",
                "| Dock | Load |\n| ---- | ---- |\n| A    | 12   |",
                "a table without heads",
            ),
            (
                "<table><tr><th>a</th><th>b</th></tr><tr><th>x</th><td>1</td></tr></table>",
                "| a | b |\n| - | - |\n| x | 1 |",
                "heads of rows",
            ),
            (
                "<table><tr><th>Port</th><td>Sund</td></tr><tr><th>Docks</th><td>4</td></tr></table>",
                "|       |      |\n| ----- | ---- |\n| Port  | Sund |\n| Docks | 4    |",
                "names and values",
            ),
            (
                "<table><thead><tr><th colspan=2>Both</th><th>c</th></tr><tr><th>a</th><th>b</th>\
                 <th>d</th></tr></thead><tbody><tr><td rowspan=2>1</td><td>2</td><td>3</td></tr>\
                 <tr><td>4</td><td>5</td></tr></tbody></table>",
                "| Both |   | c |\n| ---- | - | - |\n| a    | b | d |\n| 1    | 2 | 3 |\n|      | 4 | 5 |",
                "merged cells, and two rows of heads",
            ),
            (
                "<table><caption>Loads</caption><tr><td>a|b</td><td>c<br>d</td></tr><tr><td>1</td></tr>\
                 </table>",
                "Loads\n\n| a&#124;b | c d |\n| -------- | --- |\n| 1        |     |",
                "what is no row, and a short row",
            ),
            (
                "<table><tr><td><table><tr><td>x</td></tr></table></td><td>y</td></tr><tr><td>z</td></tr>\
                 </table>",
                "x\n\ny\n\nz",
                "a table that lays out",
            ),
        ];
        for (html, want, why) in table {
            assert_eq!(shown(html), want, "{why}");
        }
    }

    #[test]
    fn a_span_without_end_is_bounded() {
        let html = "<table><tr><td colspan=99999 rowspan=99999>a</td><td>b</td></tr>\
            <tr><td>c</td><td>d</td></tr></table>";
        let text = shown(html);
        assert!(text.len() < 10_000, "{}", text.len());
        assert!(["a", "b", "c", "d"].iter().all(|cell| text.contains(cell)), "{text}");
    }

    proptest! {
        #[test]
        fn every_word_of_any_table_is_shown(
            html in r#"(</?(tr|td|th|thead|tbody|caption|table)( (col|row)span="[0-9]{1,3}")?>|潮){0,60}"#
        ) {
            let words = html.matches('潮').count();
            let text = to_markdown(&format!("<table>{html}</table>")).unwrap_or_default();
            prop_assert_eq!(text.matches('潮').count(), words, "{}", text);
        }
    }
}
