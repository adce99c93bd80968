//! The rows of one sheet as they arrive: all kept while the sheet is small, else the first
//! and the last, with a summary of each column over all of them.

use std::collections::VecDeque;

use crate::cell::{Cell, Context, Line, Stat, Value, stat};
use crate::columns::{self, Tallies};
use crate::model::{Gap, Row, Sheet};
use crate::place::{Area, COLUMNS};

/// A sheet of at most so many rows is kept whole.
const ROWS: usize = 10_000;

/// And of at most so many cells.
const CELLS: usize = 200_000;

/// What all sheets of a workbook that are kept whole may show together, in bytes.
const BYTES: usize = 12 << 20;

/// How many first rows of a larger sheet are kept.
const HEAD: usize = 100;

/// How many last rows.
const TAIL: usize = 20;

/// The most cells that the first and the last rows of a larger sheet may have.
const EDGE: usize = 20_000;

/// The longest value that is shown of a larger sheet, in bytes.
const EDGE_VALUE: usize = 500;

/// A sheet of more rows than this has a summary.
const SUMMARISED: u64 = 200;

/// What the sheets of a workbook may still show, in bytes.
#[derive(Debug)]
pub(crate) struct Budget(usize);

impl Default for Budget {
    fn default() -> Self {
        Self(BYTES)
    }
}

/// The rows of a sheet.
#[derive(Debug)]
pub(crate) struct Gather<'a> {
    context: &'a Context,
    area: Option<Area>,
    budget: usize,
    bytes: usize,
    first: Option<Line>,
    head: Vec<Line>,
    cells: usize,
    tail: VecDeque<Line>,
    is_large: bool,
    rows: u64,
    beyond: u64,
    bounds: Option<Area>,
    tallies: Tallies,
}

impl<'a> Gather<'a> {
    /// Prepares to take the rows of a sheet, or those cells of them that lie in an area.
    pub(crate) fn new(context: &'a Context, area: Option<Area>, budget: &Budget) -> Self {
        Self {
            context,
            area,
            budget: budget.0,
            bytes: 0,
            first: None,
            head: Vec::new(),
            cells: 0,
            tail: VecDeque::new(),
            is_large: false,
            rows: 0,
            beyond: 0,
            bounds: None,
            tallies: Tallies::default(),
        }
    }

    /// Takes a row. Cells that show nothing are dropped, and so is a row without others.
    pub(crate) fn add(&mut self, row: u32, cells: &mut Vec<Cell>) {
        let (area, context) = (self.area, self.context);
        if area.is_some_and(|area| !area.has_row(row)) {
            cells.clear();
            return;
        }
        let before = cells.len();
        cells.retain(|cell| cell.column < COLUMNS);
        self.beyond += (before - cells.len()) as u64;
        cells.retain(|cell| {
            area.is_none_or(|area| area.has_column(cell.column)) && !context.is_blank(&cell.value)
        });
        if cells.is_empty() {
            return;
        }
        if !cells.is_sorted_by_key(|cell| cell.column) {
            cells.sort_by_key(|cell| cell.column);
        }
        cells.dedup_by_key(|cell| cell.column);
        self.widen(row, cells);
        self.rows += 1;
        if self.rows == 1 {
            self.first = Some(Line { row, cells: cells.clone() });
        } else {
            self.tallies.add(context, cells);
        }
        self.keep(Line { row, cells: std::mem::take(cells) });
    }

    fn widen(&mut self, row: u32, cells: &[Cell]) {
        let (Some(first), Some(last)) = (cells.first(), cells.last()) else { return };
        let area = Area { top: row, left: first.column, bottom: row, right: last.column };
        let bounds = self.bounds.get_or_insert(area);
        bounds.top = bounds.top.min(row);
        bounds.bottom = bounds.bottom.max(row);
        bounds.left = bounds.left.min(area.left);
        bounds.right = bounds.right.max(area.right);
    }

    fn keep(&mut self, line: Line) {
        if self.is_large {
            self.tail.push_back(line);
            self.bound_tail();
            return;
        }
        self.cells += line.cells.len();
        self.bytes += line.cells.iter().map(|cell| self.weight(cell)).sum::<usize>();
        self.head.push(line);
        if self.head.len() > ROWS || self.cells > CELLS || self.bytes > self.budget {
            self.is_large = true;
            let mut left = EDGE;
            let mut count = 0;
            for line in self.head.iter().take(HEAD) {
                let Some(rest) = left.checked_sub(line.cells.len()) else { break };
                left = rest;
                count += 1;
            }
            self.tail = self.head.split_off(count.max(1)).into();
            self.bound_tail();
        }
    }

    fn bound_tail(&mut self) {
        let wide = |tail: &VecDeque<Line>| tail.iter().map(|line| line.cells.len()).sum::<usize>();
        while self.tail.len() > TAIL || self.tail.len() > 1 && wide(&self.tail) > EDGE {
            self.tail.pop_front();
        }
    }

    /// Returns about how many bytes a cell shows.
    fn weight(&self, cell: &Cell) -> usize {
        match &cell.value {
            Value::Shared(number) => self.context.strings.get(*number).map_or(0, str::len) + 4,
            Value::Text(text) | Value::Field(text) | Value::Error(text) => text.len() + 4,
            Value::Number(_) | Value::Moment(_) | Value::Span(_) | Value::Bool(_) => 16,
        }
    }

    /// Whether the area that was asked for lies above this row, so no more rows are needed.
    pub(crate) fn is_past(&self, row: u32) -> bool {
        self.area.is_some_and(|area| row > area.bottom)
    }

    /// Writes what was gathered into the sheet.
    pub(crate) fn finish(mut self, sheet: &mut Sheet, budget: &mut Budget) {
        budget.0 -= if self.is_large { 0 } else { self.bytes.min(budget.0) };
        if self.beyond > 0 {
            sheet.notes.push(format!("{} cells beyond column XFD are not read", self.beyond));
        }
        if self.rows > SUMMARISED || self.is_large {
            self.summarise(sheet);
        }
        let longest = if self.is_large { EDGE_VALUE } else { usize::MAX };
        let shown =
            |lines: &[Line]| lines.iter().map(|line| row(self.context, line, longest)).collect();
        sheet.bounds = self.bounds;
        sheet.rows = shown(&self.head);
        let tail: Vec<Row> = shown(self.tail.make_contiguous());
        let left = self.rows - (sheet.rows.len() + tail.len()) as u64;
        sheet.gap = self.is_large.then_some(Gap { rows: left, tail });
        if !self.is_large {
            sheet.rows.sort_by_key(|row| row.number);
        }
    }

    fn summarise(&mut self, sheet: &mut Sheet) {
        let mut tallies = std::mem::take(&mut self.tallies);
        let first = self.first.take().unwrap_or_default();
        sheet.headed = is_header(self.context, &tallies, &first.cells);
        if !sheet.headed {
            tallies.add(self.context, &first.cells);
        }
        let header = sheet.headed.then_some(&first.cells[..]);
        sheet.columns = tallies.finish(self.context, header);
        let right = self.bounds.map_or(0, |bounds| bounds.right);
        if usize::try_from(right).is_ok_and(|right| right >= columns::COLUMNS) {
            sheet.notes.push(format!("only the first {} columns are summarised", columns::COLUMNS));
        }
    }
}

/// Writes a row; values longer than `longest` bytes are cut.
fn row(context: &Context, line: &Line, longest: usize) -> Row {
    let cut = |mut value: String| {
        if value.len() > longest {
            value.truncate(value.floor_char_boundary(longest));
            value.push('…');
        }
        value
    };
    let cells = line.cells.iter().map(|cell| (cell.column, cut(context.show(cell)))).collect();
    Row { number: line.row.saturating_add(1), cells }
}

/// Whether the first row names the columns: texts only, all different, and either some
/// column holds other things than text, or none of the names occurs again below its own.
fn is_header(context: &Context, tallies: &Tallies, cells: &[Cell]) -> bool {
    let texts = cells.iter().all(|cell| stat(&cell.value) == Stat::Text);
    let mut keys: Vec<u64> = cells.iter().map(|cell| context.key(&cell.value)).collect();
    keys.sort_unstable();
    let unique = keys.windows(2).all(|pair| pair[0] != pair[1]);
    let fresh = || cells.iter().all(|cell| tallies.count_of(context, cell) == 0);
    texts && unique && (tallies.has_other_than_text() || cells.len() > 1 && fresh())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn gathered(rows: u32, area: Option<Area>) -> Sheet {
        let context = Context::default();
        let mut budget = Budget::default();
        let mut gather = Gather::new(&context, area, &budget);
        let text = |column, text: &str| Cell { column, format: 0, value: Value::Text(text.into()) };
        gather.add(0, &mut vec![text(0, "port"), text(1, "fare")]);
        for row in 1..=rows {
            let fare = Cell { column: 1, format: 0, value: Value::Number(f64::from(row % 7)) };
            gather.add(row, &mut vec![text(0, if row % 2 == 0 { "Ely" } else { "Wick" }), fare]);
        }
        let mut sheet = Sheet::default();
        gather.finish(&mut sheet, &mut budget);
        sheet
    }

    #[test]
    fn a_small_sheet_is_whole_and_a_large_one_has_edges_and_a_summary() {
        let small = gathered(150, None);
        assert_eq!((small.rows.len(), small.gap, small.columns.len()), (151, None, 0));
        let long = gathered(5_000, None);
        assert_eq!((long.rows.len(), long.gap, long.columns.len()), (5_001, None, 2));
        let large = gathered(100_000, None);
        let gap = large.gap.unwrap();
        assert_eq!((large.rows.len(), gap.rows, gap.tail.len()), (100, 99_881, 20));
        assert_eq!(gap.tail[19].number, 100_001);
        assert_eq!(large.bounds.unwrap().to_string(), "A1:B100001");
        assert!(large.headed);
        let fare = &large.columns[1];
        assert_eq!(fare.header.as_deref(), Some("fare"));
        assert_eq!((fare.filled, fare.blank, fare.distinct, fare.more), (100_000, 0, 7, false));
        assert_eq!((fare.least.as_deref(), fare.greatest.as_deref()), (Some("0"), Some("6")));
        assert_eq!(fare.mean.as_deref(), Some("3"));
        assert_eq!(
            large.columns[0].frequent,
            [("Ely".to_owned(), 50_000), ("Wick".into(), 50_000)]
        );
    }

    #[test]
    fn an_area_of_a_large_sheet_is_whole() {
        let part = gathered(100_000, Area::parse("B50000:B50002"));
        let numbers: Vec<u32> = part.rows.iter().map(|row| row.number).collect();
        assert_eq!(numbers, [50_000, 50_001, 50_002]);
        assert!(part.rows.iter().all(|row| row.cells.len() == 1 && row.cells[0].0 == 1));
        assert_eq!(part.gap, None);
    }
}
