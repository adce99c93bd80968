//! Summaries of columns: what kinds of values, how many differ, which are frequent.
//!
//! Every value is counted; memory is bounded by how many different values are told apart,
//! per column and in all columns together. Values met after that bound are counted as
//! filled cells, not as values, and the summary says `more`.

use std::collections::HashMap;

use crate::cell::{Cell, Context, Stat, stat};
use crate::date;
use crate::model::Column;

/// The most different values of a column that are told apart.
const DISTINCT: usize = 20_000;

/// The most different values of all columns together.
const ALL: usize = 1_000_000;

/// The most columns that are summarised.
pub(crate) const COLUMNS: usize = 200;

/// How many frequent values are shown.
const FREQUENT: usize = 5;

/// The longest value that is shown, in bytes.
const SHOWN: usize = 60;

/// What was counted of the columns of a sheet.
#[derive(Debug, Default)]
pub(crate) struct Tallies {
    columns: Vec<Tally>,
    values: usize,
    rows: u64,
}

/// What was counted of a column.
#[derive(Debug, Default)]
struct Tally {
    kinds: [u64; 6],
    numbers: Spread,
    moments: Spread,
    values: HashMap<u64, (u64, String)>,
    more: bool,
}

/// The names of the kinds, in the order of [`slot`].
const KINDS: [&str; 6] = ["text", "number", "date", "duration", "true or false", "error"];

fn slot(stat: Stat) -> usize {
    match stat {
        Stat::Text => 0,
        Stat::Number(_) => 1,
        Stat::Moment(_) => 2,
        Stat::Span(_) => 3,
        Stat::Bool => 4,
        Stat::Error => 5,
    }
}

/// Least, greatest and sum of numbers.
#[derive(Debug)]
struct Spread {
    least: f64,
    greatest: f64,
    sum: f64,
    /// What the sum lost to rounding (Neumaier, "Rundungsfehleranalyse einiger Verfahren zur
    /// Summation endlicher Summen", 1974).
    lost: f64,
    count: u32,
}

impl Default for Spread {
    fn default() -> Self {
        Self { least: f64::INFINITY, greatest: f64::NEG_INFINITY, sum: 0.0, lost: 0.0, count: 0 }
    }
}

impl Spread {
    fn add(&mut self, number: f64) {
        self.least = self.least.min(number);
        self.greatest = self.greatest.max(number);
        let sum = self.sum + number;
        self.lost += if self.sum.abs() >= number.abs() {
            (self.sum - sum) + number
        } else {
            (number - sum) + self.sum
        };
        self.sum = sum;
        self.count += 1;
    }

    fn mean(&self) -> Option<f64> {
        (self.count > 0).then(|| (self.sum + self.lost) / f64::from(self.count))
    }
}

impl Tallies {
    /// Counts a row.
    pub(crate) fn add(&mut self, context: &Context, cells: &[Cell]) {
        self.rows += 1;
        for cell in cells {
            let at = usize::try_from(cell.column).unwrap_or(usize::MAX);
            if at >= COLUMNS {
                break;
            }
            if at >= self.columns.len() {
                self.columns.resize_with(at + 1, Tally::default);
            }
            let tally = &mut self.columns[at];
            let stat = stat(&cell.value);
            tally.kinds[slot(stat)] += 1;
            match stat {
                Stat::Number(number) | Stat::Span(number) => tally.numbers.add(number),
                Stat::Moment(serial) => tally.moments.add(serial),
                Stat::Text | Stat::Bool | Stat::Error => {}
            }
            let key = context.key(&cell.value);
            if let Some((count, _)) = tally.values.get_mut(&key) {
                *count += 1;
            } else if tally.values.len() < DISTINCT && self.values < ALL {
                self.values += 1;
                tally.values.insert(key, (1, short(context.show(cell))));
            } else {
                tally.more = true;
            }
        }
    }

    /// Whether some column holds values that are no text.
    pub(crate) fn has_other_than_text(&self) -> bool {
        self.columns.iter().any(|tally| tally.kinds[1..].iter().any(|count| *count > 0))
    }

    /// How often the value of a cell occurs in its column.
    pub(crate) fn count_of(&self, context: &Context, cell: &Cell) -> u64 {
        let at = usize::try_from(cell.column).unwrap_or(usize::MAX);
        let tally = self.columns.get(at);
        tally.and_then(|tally| tally.values.get(&context.key(&cell.value))).map_or(0, |it| it.0)
    }

    /// Returns the summaries; `header` is the first row, where it was not counted.
    pub(crate) fn finish(self, context: &Context, header: Option<&[Cell]>) -> Vec<Column> {
        let rows = self.rows;
        let names: HashMap<u32, String> = header
            .unwrap_or_default()
            .iter()
            .map(|cell| (cell.column, short(context.show(cell))))
            .collect();
        (0..)
            .zip(self.columns)
            .map(|(column, tally)| tally.finish(column, names.get(&column).cloned(), rows))
            .filter(|column| column.filled > 0 || column.header.is_some())
            .collect()
    }
}

impl Tally {
    fn finish(self, column: u32, header: Option<String>, rows: u64) -> Column {
        let filled = self.kinds.iter().sum();
        let spans = self.kinds[3] > 0 && self.kinds[1] == 0;
        let write = |number: f64| if spans { date::duration(number) } else { rounded(number) };
        let (least, greatest) = if self.numbers.count > 0 {
            (Some(write(self.numbers.least)), Some(write(self.numbers.greatest)))
        } else if self.moments.count > 0 {
            let [least, greatest] = [self.moments.least, self.moments.greatest].map(date::moment);
            (Some(least), Some(greatest))
        } else {
            (None, None)
        };
        let mean = match self.numbers.mean() {
            Some(mean) => Some(write(mean)),
            None => {
                self.moments.mean().map(|mean| date::moment(mean.floor().max(self.moments.least)))
            }
        };
        Column {
            column,
            header,
            kind: kind(&self.kinds),
            filled,
            blank: rows.saturating_sub(filled),
            distinct: self.values.len() as u64,
            more: self.more,
            least,
            greatest,
            mean,
            frequent: frequent(self.values),
        }
    }
}

/// Returns the values that occur more than once, the most frequent first.
fn frequent(values: HashMap<u64, (u64, String)>) -> Vec<(String, u64)> {
    let mut values: Vec<(u64, String)> =
        values.into_values().filter(|(count, _)| *count > 1).collect();
    values.sort_unstable_by(|a, b| b.0.cmp(&a.0).then_with(|| a.1.cmp(&b.1)));
    values.truncate(FREQUENT);
    values.into_iter().map(|(count, value)| (value, count)).collect()
}

/// Names the kinds of values, with counts where they are mixed.
fn kind(kinds: &[u64; 6]) -> String {
    let mut found: Vec<(&str, u64)> =
        KINDS.into_iter().zip(*kinds).filter(|(_, count)| *count > 0).collect();
    found.sort_by_key(|(_, count)| std::cmp::Reverse(*count));
    match found[..] {
        [(name, _)] => name.to_owned(),
        _ => found
            .iter()
            .map(|(name, count)| format!("{name} {count}"))
            .collect::<Vec<_>>()
            .join(", "),
    }
}

/// Writes a number of a summary: to twelve digits, since sums are no more exact.
fn rounded(number: f64) -> String {
    let short = format!("{number:.11e}").parse().unwrap_or(number);
    date::number(short)
}

fn short(mut text: String) -> String {
    if text.len() > SHOWN {
        text.truncate(text.floor_char_boundary(SHOWN));
        text.push('…');
    }
    text
}
