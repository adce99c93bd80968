//! Workbooks through `calamine`.
//!
//! Where the format allows (xlsx, xlsb), cells are read as they come and kept sparsely,
//! so that a sheet costs what it holds, whatever dimensions it claims. The old binary
//! format cannot claim much; what an `OpenDocument` sheet claims is bounded by the
//! worker's memory.

use std::collections::BTreeMap;
use std::fmt::Display;
use std::io::Cursor;

use calamine::{Data, DataRef, DataType, Dimensions, Ods, Reader, SheetType, SheetVisible};
use calamine::{Xls, Xlsb, XlsbError, Xlsx, XlsxError};

use super::model::address;
use super::{Formula, Row, Sheet, Visibility, Workbook};
use crate::documents::Unreadable;
use crate::documents::reason::brief;

/// The most cells of all sheets together.
const CELLS: usize = 1_000_000;

/// The most bytes of all values together: beyond, the text could not be shown anyway.
const BYTES: usize = 24 << 20;

/// The most sheets.
const SHEETS: usize = 2_000;

type Source = Cursor<Vec<u8>>;

/// The formats of workbooks.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in crate::documents) enum Format {
    Xlsx,
    Xlsb,
    Xls,
    Ods,
}

impl Format {
    /// What it is called.
    pub(in crate::documents) fn name(self) -> &'static str {
        match self {
            Self::Xlsx => "Excel workbook (xlsx)",
            Self::Xlsb => "Excel workbook (xlsb)",
            Self::Xls => "Excel workbook (xls)",
            Self::Ods => "OpenDocument spreadsheet (ods)",
        }
    }

    fn refuse(self, error: &impl Display) -> Unreadable {
        let text = error.to_string();
        if text.contains("password protected") {
            return Unreadable::Encrypted("workbook");
        }
        Unreadable::damaged(self.name(), &text)
    }
}

/// Reads all sheets.
pub(in crate::documents) fn read(format: Format, bytes: Vec<u8>) -> Result<Workbook, Unreadable> {
    let source = Cursor::new(bytes);
    let mut budget = Budget::default();
    let sheets = match format {
        Format::Xlsx => xlsx(source, &mut budget),
        Format::Xlsb => xlsb(source, &mut budget),
        Format::Xls => xls(source, &mut budget),
        Format::Ods => ods(source, &mut budget),
    }?;
    if sheets.is_empty() {
        let reason = "it has no sheets".to_owned();
        return Err(Unreadable::Damaged { kind: format.name(), reason });
    }
    Ok(Workbook { kind: format.name().to_owned(), sheets })
}

fn xlsx(source: Source, budget: &mut Budget) -> Result<Vec<Sheet>, Unreadable> {
    let mut book = Xlsx::new(source).map_err(|error| Format::Xlsx.refuse(&error))?;
    filled(outlines(&book)?, budget, |name, cells| {
        match book.worksheet_cells_reader(name) {
            Ok(mut reader) => sparse(cells, || {
                let cell = reader.next_cell_with_formula()?;
                Ok::<_, XlsxError>(cell.map(|it| (it.pos, shown_ref(&it.value), it.formula)))
            })?,
            Err(error) => cells.broken(&error),
        }
        if let Ok(merged) = book.merge_cells_by_sheet_name(name) {
            cells.merge(&merged);
        }
        Ok(())
    })
}

fn xlsb(source: Source, budget: &mut Budget) -> Result<Vec<Sheet>, Unreadable> {
    let mut book = Xlsb::new(source).map_err(|error| Format::Xlsb.refuse(&error))?;
    filled(outlines(&book)?, budget, |name, cells| {
        match book.worksheet_cells_reader(name) {
            Ok(mut reader) => sparse(cells, || {
                let cell = reader.next_cell()?;
                Ok::<_, XlsbError>(
                    cell.map(|it| (it.get_position(), shown_ref(it.get_value()), None)),
                )
            })?,
            Err(error) => cells.broken(&error),
        }
        // Formulas are a second pass here; without them the values remain.
        if let Ok(mut reader) = book.worksheet_cells_reader(name) {
            while let Ok(Some(cell)) = reader.next_formula() {
                let formula = Some(cell.get_value().clone());
                cells.add(cell.get_position(), String::new(), formula)?;
            }
        }
        Ok(())
    })
}

fn xls(source: Source, budget: &mut Budget) -> Result<Vec<Sheet>, Unreadable> {
    let mut book = Xls::new(source).map_err(|error| Format::Xls.refuse(&error))?;
    filled(outlines(&book)?, budget, |name, cells| {
        dense(&mut book, name, cells)?;
        cells.merge(&book.merge_cells_by_sheet_name(name).unwrap_or_default());
        Ok(())
    })
}

fn ods(source: Source, budget: &mut Budget) -> Result<Vec<Sheet>, Unreadable> {
    let mut book = Ods::new(source).map_err(|error| Format::Ods.refuse(&error))?;
    filled(outlines(&book)?, budget, |name, cells| dense(&mut book, name, cells))
}

/// Fills the outlines of those sheets that are tables.
fn filled(
    outlines: Vec<(Sheet, bool)>,
    budget: &mut Budget,
    mut fill: impl FnMut(&str, &mut Cells<'_>) -> Result<(), Unreadable>,
) -> Result<Vec<Sheet>, Unreadable> {
    outlines
        .into_iter()
        .map(|(outline, is_table)| {
            let name = outline.name.clone();
            let mut cells = Cells::new(outline, budget);
            if is_table {
                fill(&name, &mut cells)?;
            }
            Ok(cells.finish())
        })
        .collect()
}

/// Takes cells as they come; a sheet that breaks off keeps what came before.
fn sparse<E: Display>(
    cells: &mut Cells<'_>,
    mut next: impl FnMut() -> Result<Option<((u32, u32), String, Option<String>)>, E>,
) -> Result<(), Unreadable> {
    loop {
        match next() {
            Ok(Some((place, value, formula))) => cells.add(place, value, formula)?,
            Ok(None) => return Ok(()),
            Err(error) => {
                cells.broken(&error);
                return Ok(());
            }
        }
    }
}

/// Reads a sheet of a format whose parser only gives whole ranges.
fn dense<B>(book: &mut B, name: &str, cells: &mut Cells<'_>) -> Result<(), Unreadable>
where
    B: Reader<Source>,
    B::Error: Display,
{
    match book.worksheet_range(name) {
        Ok(range) => {
            let (top, left) = range.start().unwrap_or_default();
            for (row, column, value) in range.used_cells() {
                cells.add(place(top, left, row, column), shown(value), None)?;
            }
        }
        Err(error) => cells.broken(&error),
    }
    if let Ok(range) = book.worksheet_formula(name) {
        let (top, left) = range.start().unwrap_or_default();
        for (row, column, formula) in range.used_cells() {
            cells.add(place(top, left, row, column), String::new(), Some(formula.clone()))?;
        }
    }
    Ok(())
}

fn place(top: u32, left: u32, row: usize, column: usize) -> (u32, u32) {
    let narrow = |number| u32::try_from(number).unwrap_or(u32::MAX);
    (top.saturating_add(narrow(row)), left.saturating_add(narrow(column)))
}

/// Returns each sheet without its cells, and whether it has any.
fn outlines<B: Reader<Source>>(book: &B) -> Result<Vec<(Sheet, bool)>, Unreadable> {
    let sheets = book.sheets_metadata();
    if sheets.len() > SHEETS {
        return Err(Unreadable::TooMuch(format!("{} sheets", sheets.len())));
    }
    Ok(sheets
        .iter()
        .map(|sheet| {
            let (is_table, note) = match sheet.typ {
                SheetType::WorkSheet => (true, None),
                SheetType::ChartSheet => (false, Some("it is a chart, which holds no cells")),
                SheetType::DialogSheet => (false, Some("it is a dialog, which holds no cells")),
                SheetType::MacroSheet => (false, Some("it holds macros, which are not shown")),
                SheetType::Vba => (false, Some("it is a program, which is not shown")),
            };
            let visibility = match sheet.visible {
                SheetVisible::Visible => Visibility::Visible,
                SheetVisible::Hidden => Visibility::Hidden,
                SheetVisible::VeryHidden => Visibility::VeryHidden,
            };
            let outline = Sheet {
                name: sheet.name.clone(),
                visibility,
                rows: Vec::new(),
                formulas: Vec::new(),
                merged: Vec::new(),
                notes: note.map(str::to_owned).into_iter().collect(),
            };
            (outline, is_table)
        })
        .collect())
}

/// What all sheets of a workbook may hold together.
#[derive(Debug, Default)]
struct Budget {
    cells: usize,
    bytes: usize,
}

/// A sheet while its cells arrive.
struct Cells<'a> {
    outline: Sheet,
    rows: BTreeMap<u32, BTreeMap<u32, String>>,
    formulas: BTreeMap<(u32, u32), String>,
    budget: &'a mut Budget,
}

impl<'a> Cells<'a> {
    fn new(outline: Sheet, budget: &'a mut Budget) -> Self {
        Self { outline, rows: BTreeMap::new(), formulas: BTreeMap::new(), budget }
    }

    /// Adds what a cell holds; an empty value without a formula is nothing.
    fn add(
        &mut self,
        (row, column): (u32, u32),
        value: String,
        formula: Option<String>,
    ) -> Result<(), Unreadable> {
        let formula = formula.filter(|formula| !formula.is_empty());
        self.budget.cells += 1;
        self.budget.bytes += value.len() + formula.as_ref().map_or(0, String::len);
        if self.budget.cells > CELLS || self.budget.bytes > BYTES {
            return Err(Unreadable::TooMuch(format!(
                "more than {CELLS} cells or {} MiB of values; read it with `execute_code`",
                BYTES >> 20
            )));
        }
        if let Some(formula) = formula {
            self.formulas.insert((row, column), formula);
        }
        if !value.is_empty() {
            self.rows.entry(row).or_default().insert(column, value);
        }
        Ok(())
    }

    fn merge(&mut self, merged: &[Dimensions]) {
        self.outline.merged = merged
            .iter()
            .map(|range| {
                format!(
                    "{}:{}",
                    address(range.start.0, range.start.1),
                    address(range.end.0, range.end.1)
                )
            })
            .collect();
    }

    /// Notes that the sheet breaks off.
    fn broken(&mut self, error: &impl Display) {
        let reason = brief(error);
        self.outline.notes.push(format!("the sheet could not be read to its end: {reason}"));
    }

    fn finish(mut self) -> Sheet {
        let without: Vec<String> = self
            .formulas
            .keys()
            .filter(|(row, column)| {
                !self.rows.get(row).is_some_and(|cells| cells.contains_key(column))
            })
            .take(20)
            .map(|(row, column)| address(*row, *column))
            .collect();
        if !without.is_empty() {
            self.outline.notes.push(format!(
                "formulas whose values were never calculated, so their cells look empty: {}",
                without.join(", ")
            ));
        }
        self.outline.formulas = self
            .formulas
            .into_iter()
            .map(|((row, column), text)| Formula {
                cell: address(row, column),
                text: format!("={}", text.trim_start_matches('=')),
            })
            .collect();
        self.outline.rows = self
            .rows
            .into_iter()
            .map(|(row, cells)| Row {
                number: row.saturating_add(1),
                cells: cells.into_iter().collect(),
            })
            .collect();
        self.outline
    }
}

fn shown_ref(value: &DataRef<'_>) -> String {
    match value {
        DataRef::SharedString(text) => (*text).to_owned(),
        DataRef::Int(_)
        | DataRef::Float(_)
        | DataRef::String(_)
        | DataRef::Bool(_)
        | DataRef::DateTime(_)
        | DataRef::DateTimeIso(_)
        | DataRef::DurationIso(_)
        | DataRef::Error(_)
        | DataRef::Empty => shown(&Data::from(value.clone())),
    }
}

/// Writes a value: numbers as they are stored, dates in ISO 8601, booleans and errors as
/// the spreadsheet program shows them.
fn shown(value: &Data) -> String {
    match value {
        Data::Int(number) => number.to_string(),
        Data::Float(number) => number.to_string(),
        Data::String(text) | Data::DateTimeIso(text) | Data::DurationIso(text) => text.clone(),
        Data::Bool(true) => "TRUE".to_owned(),
        Data::Bool(false) => "FALSE".to_owned(),
        Data::Error(error) => error.to_string(),
        Data::Empty => String::new(),
        Data::DateTime(serial) if serial.is_duration() => duration(serial.as_f64()),
        Data::DateTime(serial) => match value.as_datetime() {
            Some(moment) if serial.as_f64().abs() < 1.0 => moment.format("%H:%M:%S").to_string(),
            Some(moment) if serial.as_f64().fract() == 0.0 => moment.format("%Y-%m-%d").to_string(),
            Some(moment) => moment.format("%Y-%m-%dT%H:%M:%S").to_string(),
            None => serial.as_f64().to_string(),
        },
    }
}

/// Writes a duration given in days as `h:mm:ss`.
fn duration(days: f64) -> String {
    let seconds = (days.abs() * 86_400.0).round();
    if !(0.0..1e15).contains(&seconds) {
        return days.to_string();
    }
    let whole = format!("{seconds:.0}").parse::<u64>().unwrap_or(0);
    let sign = if days < 0.0 { "-" } else { "" };
    format!("{sign}{}:{:02}:{:02}", whole / 3600, whole / 60 % 60, whole % 60)
}

#[cfg(test)]
mod tests {
    use calamine::{CellErrorType, ExcelDateTime, ExcelDateTimeType};

    use super::*;

    #[test]
    fn values_as_text() {
        let date = |value, kind| Data::DateTime(ExcelDateTime::new(value, kind, false));
        let (moment, span) = (ExcelDateTimeType::DateTime, ExcelDateTimeType::TimeDelta);
        let table = [
            (Data::Float(3.0), "3", "a whole number has no fraction"),
            (Data::Float(0.1), "0.1", "the shortest digits that round-trip"),
            (Data::Bool(true), "TRUE", ""),
            (Data::Error(CellErrorType::Div0), "#DIV/0!", ""),
            (date(45_352.0, moment), "2024-03-01", "a date"),
            (date(45_352.75, moment), "2024-03-01T18:00:00", "with a time"),
            (date(0.5, moment), "12:00:00", "a time alone"),
            (date(1.25, span), "30:00:00", "a duration"),
            (date(1e300, span), &format!("{}", 1e300), "no duration that anyone means"),
        ];
        for (value, want, why) in table {
            assert_eq!(shown(&value), want, "{value:?} {why}");
        }
    }
}
