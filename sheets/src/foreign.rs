//! The binary formats (xls, xlsb), through `calamine`.
//!
//! It gives values, formulas, merged ranges and defined names; looks, comments and hidden
//! rows it does not, and the workbook says so. The old binary format cannot claim much;
//! what a sheet claims beyond is bounded by the worker's memory.

use std::fmt::Display;
use std::io::Cursor;

use calamine::{Data, DataRef, DataType, Dimensions, Reader, SheetType, SheetVisible, Xls, Xlsb};

use crate::cell::{Cell, Context, Value};
use crate::date;
use crate::error::{Error, brief};
use crate::formulas::Formulas;
use crate::gather::{Budget, Gather};
use crate::model::{Detail, Part, Sheet, Visibility, Workbook};
use crate::place::Area;
use crate::read::{Format, chosen};

type Source = Cursor<Vec<u8>>;

/// Reads the sheets that are asked for.
pub(crate) fn read(format: Format, bytes: Vec<u8>, part: &Part) -> Result<Workbook, Error> {
    let source = Cursor::new(bytes);
    if format == Format::Xlsb {
        let mut book = Xlsb::new(source).map_err(|error| Error::damaged(&error))?;
        sheets(&mut book, part, |book, sheet, filling| {
            match book.worksheet_cells_reader(&sheet.name) {
                Ok(mut cells) => loop {
                    match cells.next_cell() {
                        Ok(Some(cell)) => {
                            filling.value(cell.get_position(), value_ref(cell.get_value()));
                        }
                        Ok(None) => break,
                        Err(error) => return broken(sheet, &error),
                    }
                },
                Err(error) => return broken(sheet, &error),
            }
            // Formulas are a second pass here; without them the values remain.
            if let Ok(mut cells) = book.worksheet_cells_reader(&sheet.name) {
                while let Ok(Some(cell)) = cells.next_formula() {
                    filling.formula(cell.get_position(), cell.get_value());
                }
            }
        })
    } else {
        let mut book = Xls::new(source).map_err(|error| Error::damaged(&error))?;
        sheets(&mut book, part, |book, sheet, filling| {
            dense(book, sheet, filling);
            merge(sheet, &book.merge_cells_by_sheet_name(&sheet.name).unwrap_or_default());
        })
    }
}

/// Fills those sheets that are asked for and are tables.
fn sheets<B: Reader<Source>>(
    book: &mut B,
    part: &Part,
    mut fill: impl FnMut(&mut B, &mut Sheet, &mut Filling<'_>),
) -> Result<Workbook, Error> {
    let outlines = outlines(book);
    let names: Vec<String> = outlines.iter().map(|(sheet, _)| sheet.name.clone()).collect();
    let (context, mut budget) = (Context::default(), Budget::default());
    let mut read = Vec::new();
    for at in chosen(&names, part)? {
        let (mut sheet, is_table) = outlines[at].clone();
        if is_table {
            let mut filling = Filling::new(Gather::new(&context, part.area, &budget), part.area);
            fill(book, &mut sheet, &mut filling);
            filling.finish(&mut sheet, &mut budget);
        }
        read.push(sheet);
    }
    let lines: Vec<String> = book
        .defined_names()
        .iter()
        .map(|(name, text)| format!("{name}: `={}`", text.trim_start_matches('=')))
        .collect();
    let details = Some(Detail { title: "Defined names".into(), lines });
    Ok(Workbook {
        kind: String::new(),
        names,
        sheets: read,
        details: details.into_iter().filter(|detail| !detail.lines.is_empty()).collect(),
        notes: vec![
            "of this format fonts, fills, number formats, comments, links and hidden rows \
                     are not read"
                .to_owned(),
        ],
    })
}

/// Reads a sheet whose parser only gives whole ranges.
fn dense(book: &mut Xls<Source>, sheet: &mut Sheet, filling: &mut Filling<'_>) {
    let values = match book.worksheet_range(&sheet.name) {
        Ok(range) => {
            let start = range.start().unwrap_or_default();
            for (row, column, value) in range.used_cells() {
                filling.value(place(start, row, column), self::value(value));
            }
            Some(range)
        }
        Err(error) => {
            broken(sheet, &error);
            None
        }
    };
    if let Ok(range) = book.worksheet_formula(&sheet.name) {
        let start = range.start().unwrap_or_default();
        for (row, column, formula) in range.used_cells() {
            let at = place(start, row, column);
            filling.formula(at, formula);
            let value = values.as_ref().and_then(|values| values.get_value(at));
            if value.is_none_or(|value| *value == Data::Empty) {
                filling.formulas.add_uncalculated(at.0, at.1);
            }
        }
    }
}

fn place((top, left): (u32, u32), row: usize, column: usize) -> (u32, u32) {
    let narrow = |number| u32::try_from(number).unwrap_or(u32::MAX);
    (top.saturating_add(narrow(row)), left.saturating_add(narrow(column)))
}

/// Notes that a sheet breaks off.
fn broken(sheet: &mut Sheet, error: &impl Display) {
    sheet.notes.push(format!("the sheet could not be read to its end: {}", brief(error)));
}

fn merge(sheet: &mut Sheet, merged: &[Dimensions]) {
    let areas = merged.iter().map(|range| Area {
        top: range.start.0,
        left: range.start.1,
        bottom: range.end.0,
        right: range.end.1,
    });
    sheet.merged = areas.map(|area| area.to_string()).collect();
}

/// Returns each sheet without its cells, and whether it has any.
fn outlines<B: Reader<Source>>(book: &B) -> Vec<(Sheet, bool)> {
    let outline = |sheet: &calamine::Sheet| {
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
        let notes = note.map(str::to_owned).into_iter().collect();
        (Sheet { name: sheet.name.clone(), visibility, notes, ..Sheet::default() }, is_table)
    };
    book.sheets_metadata().iter().map(outline).collect()
}

/// A sheet while its cells arrive, by rows.
pub(crate) struct Filling<'a> {
    gather: Gather<'a>,
    area: Option<Area>,
    row: u32,
    cells: Vec<Cell>,
    pub formulas: Formulas,
}

impl<'a> Filling<'a> {
    fn new(gather: Gather<'a>, area: Option<Area>) -> Self {
        Self { gather, area, row: 0, cells: Vec::new(), formulas: Formulas::default() }
    }

    fn value(&mut self, (row, column): (u32, u32), value: Option<Value>) {
        if row != self.row {
            self.gather.add(self.row, &mut self.cells);
            self.row = row;
        }
        self.cells.extend(value.map(|value| Cell { column, format: 0, value }));
    }

    fn formula(&mut self, (row, column): (u32, u32), text: &str) {
        let asked = self.area.is_none_or(|area| area.has_row(row) && area.has_column(column));
        if asked && !text.is_empty() {
            self.formulas.add(row, column, text.trim_start_matches('=').to_owned());
        }
    }

    fn finish(mut self, sheet: &mut Sheet, budget: &mut Budget) {
        self.gather.add(self.row, &mut self.cells);
        self.gather.finish(sheet, budget);
        let (formulas, notes) = self.formulas.finish();
        sheet.formulas = formulas;
        sheet.notes.extend(notes);
    }
}

fn value_ref(value: &DataRef<'_>) -> Option<Value> {
    match value {
        DataRef::SharedString(text) => Some(Value::Text((*text).into())),
        DataRef::Int(_)
        | DataRef::Float(_)
        | DataRef::String(_)
        | DataRef::Bool(_)
        | DataRef::DateTime(_)
        | DataRef::DateTimeIso(_)
        | DataRef::DurationIso(_)
        | DataRef::Error(_)
        | DataRef::Empty => self::value(&Data::from(value.clone())),
    }
}

fn value(value: &Data) -> Option<Value> {
    Some(match value {
        #[expect(clippy::cast_precision_loss, reason = "the format holds numbers as floats")]
        Data::Int(number) => Value::Number(*number as f64),
        Data::Float(number) => Value::Number(*number),
        Data::String(text) | Data::DurationIso(text) => Value::Text(text.as_str().into()),
        Data::DateTimeIso(text) => {
            date::iso(text).map_or_else(|| Value::Text(text.as_str().into()), Value::Moment)
        }
        Data::Bool(value) => Value::Bool(*value),
        Data::Error(error) => Value::Error(error.to_string().into()),
        Data::Empty => return None,
        Data::DateTime(serial) if serial.is_duration() => Value::Span(serial.as_f64()),
        Data::DateTime(serial) if serial.as_f64() < 1.0 => Value::Moment(serial.as_f64()),
        // Which of the two systems counts, the parser knows.
        Data::DateTime(serial) => {
            let millis = value.as_datetime().map(|moment| moment.and_utc().timestamp_millis());
            let read = millis.map(date::of_millis);
            read.map_or(Value::Number(serial.as_f64()), Value::Moment)
        }
    })
}

#[cfg(test)]
mod tests {
    use calamine::{CellErrorType, ExcelDateTime, ExcelDateTimeType};

    use super::*;

    #[test]
    fn values_of_the_parser_are_kept() {
        let date = |value, kind, late| Data::DateTime(ExcelDateTime::new(value, kind, late));
        let (moment, span) = (ExcelDateTimeType::DateTime, ExcelDateTimeType::TimeDelta);
        let table = [
            (Data::Float(3.0), "3", "a whole number has no fraction"),
            (Data::Bool(true), "TRUE", ""),
            (Data::Error(CellErrorType::Div0), "#DIV/0!", ""),
            (date(45_352.75, moment, false), "2024-03-01T18:00:00", "with a time"),
            (date(43_890.0, moment, true), "2024-03-01", "counted from 1904"),
            (date(0.5, moment, false), "12:00:00", "a time alone"),
            (date(1.25, span, false), "30:00:00", "a duration"),
            (Data::DateTimeIso("2024-03-01".into()), "2024-03-01", "in ISO 8601"),
        ];
        for (data, want, why) in table {
            let cell = Cell { column: 0, format: 0, value: value(&data).unwrap() };
            assert_eq!(Context::default().show(&cell), want, "{data:?} {why}");
        }
    }
}
