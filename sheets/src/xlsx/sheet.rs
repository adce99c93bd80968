//! One sheet, in one pass over its part.
//!
//! A cell is a few attributes and a text; everything else of the part (merged ranges,
//! links, rules) stands before or after the cells and is listed.

use std::collections::HashMap;
use std::ops::ControlFlow;
use std::time::{Duration, Instant};

use quick_xml::events::BytesStart;

use crate::areas::{Areas, listed};
use crate::cell::{Cell, Context, Value};
use crate::date::{self, SYSTEM_1904};
use crate::error::{Error, brief};
use crate::formats::Form;
use crate::formulas::{Formulas, shifted};
use crate::gather::{Budget, Gather};
use crate::model::Sheet;
use crate::place::{self, Area};
use crate::strings::unescaped;
use crate::xlsx::package::Package;
use crate::xlsx::styles::Styles;
use crate::xml::{Flow, Node, ON, attribute, flag, number, walk};

/// The most bytes that a sheet unpacks to.
const SHEET: u64 = 4 << 30;

/// Time after which no further rows are read: what was read is worth more than the
/// worker's end.
const TIME: Duration = Duration::from_secs(50);

/// The most bytes of a single value.
const VALUE: usize = 16 << 20;

/// The most entries of a list.
const LISTED: usize = 500;

/// What all sheets of a workbook have in common.
#[derive(Debug)]
pub(crate) struct Shared<'a> {
    pub context: &'a Context,
    pub styles: &'a Styles,
    /// The names of those who wrote comments, by number.
    pub people: HashMap<String, String>,
    /// Whether dates count from 1904.
    pub counts_from_1904: bool,
    /// The only cells that are read.
    pub area: Option<Area>,
    /// When the reading began.
    pub begin: Instant,
}

impl Shared<'_> {
    /// Whether a range has anything to do with the cells that are read.
    pub(crate) fn concerns(&self, range: &str) -> bool {
        self.area.is_none_or(|area| {
            range.split_whitespace().filter_map(Area::parse).any(|other| other.meets(&area))
        })
    }
}

/// Reads the cells of a sheet and what its part says beside them.
pub(crate) fn read(
    package: &mut Package<'_>,
    path: &str,
    shared: &Shared<'_>,
    budget: &mut Budget,
    sheet: &mut Sheet,
) -> Result<(), Error> {
    let links: HashMap<String, String> =
        package.relations(path).into_iter().map(|it| (it.id, it.target)).collect();
    let Some(source) = package.stream(path, SHEET)? else {
        sheet.notes.push("its part is missing".to_owned());
        return Ok(());
    };
    let gather = Gather::new(shared.context, shared.area, budget);
    let mut reading = Reading::new(shared, gather, links);
    if let Err(error) = walk(source, |node| reading.node(&node)) {
        let reason = brief(&error);
        sheet.notes.push(format!("the sheet could not be read to its end: {reason}"));
    }
    reading.finish(sheet, budget);
    Ok(())
}

/// The type of a cell, as its part names it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Type {
    Number,
    Shared,
    Text,
    Bool,
    Error,
    Iso,
}

/// Which text is being read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Field {
    None,
    Value,
    Formula,
    Inline,
    Rule,
    Range,
}

/// How the formula of a cell is meant.
#[derive(Debug, Clone, PartialEq, Eq)]
enum Meant {
    Alone,
    Shared(u32),
    Array(String),
}

/// A cell while it is read.
#[derive(Debug)]
struct Open {
    column: u32,
    format: u32,
    kind: Type,
    value: String,
    inline: String,
    formula: Option<Meant>,
    text: String,
}

/// A rule for the cells of a range while it is read.
#[derive(Debug, Default)]
struct Rule {
    /// Whether it is for the looks of cells, not for what may be entered.
    is_condition: bool,
    ranges: String,
    words: String,
    formulas: Vec<String>,
}

/// A sheet while it is read.
struct Reading<'a> {
    shared: &'a Shared<'a>,
    gather: Gather<'a>,
    links: HashMap<String, String>,
    row: u32,
    next_row: u32,
    next_column: u32,
    rows: u64,
    cell: Open,
    field: Field,
    /// Whether a text says how another is pronounced.
    in_ruby: bool,
    cells: Vec<Cell>,
    formulas: Formulas,
    masters: HashMap<u32, (u32, u32, String)>,
    looks: [Areas; 3],
    hidden_rows: Areas,
    hidden_columns: Vec<String>,
    painted: Vec<(u32, String)>,
    merged: Vec<String>,
    hyperlinks: Vec<String>,
    validations: Vec<String>,
    conditions: Vec<String>,
    filters: Vec<String>,
    ranges: String,
    rule: Option<Rule>,
    notes: Vec<String>,
}

impl<'a> Reading<'a> {
    fn new(shared: &'a Shared<'a>, gather: Gather<'a>, links: HashMap<String, String>) -> Self {
        Self {
            shared,
            gather,
            links,
            row: 0,
            next_row: 0,
            next_column: 0,
            rows: 0,
            cell: Open {
                column: 0,
                format: 0,
                kind: Type::Number,
                value: String::new(),
                inline: String::new(),
                formula: None,
                text: String::new(),
            },
            field: Field::None,
            in_ruby: false,
            cells: Vec::new(),
            formulas: Formulas::default(),
            masters: HashMap::new(),
            looks: Default::default(),
            hidden_rows: Areas::default(),
            hidden_columns: Vec::new(),
            painted: Vec::new(),
            merged: Vec::new(),
            hyperlinks: Vec::new(),
            validations: Vec::new(),
            conditions: Vec::new(),
            filters: Vec::new(),
            ranges: String::new(),
            rule: None,
            notes: Vec::new(),
        }
    }

    fn node(&mut self, node: &Node<'_>) -> Flow {
        match node {
            Node::Text(text) => self.text(text),
            Node::Open("c", tag) => self.open_cell(tag),
            Node::Open("v", _) => self.field = Field::Value,
            Node::Close("v" | "f" | "t" | "formula" | "formula1" | "formula2" | "sqref") => {
                self.field = Field::None;
            }
            Node::Close("c") => self.close_cell(),
            Node::Open("row", tag) => return self.open_row(tag),
            Node::Close("row") => self.close_row(),
            Node::Open("f", tag) if self.rule.is_none() => self.open_formula(tag),
            Node::Open("f", _) => self.field = Field::Rule,
            Node::Open("t", _) if !self.in_ruby => self.field = Field::Inline,
            Node::Open("rPh", _) => self.in_ruby = true,
            Node::Close("rPh") => self.in_ruby = false,
            Node::Open(name, tag) => self.open(name, tag),
            Node::Close("dataValidation" | "cfRule") => self.close_rule(),
            Node::Close(_) => {}
        }
        ON
    }

    fn text(&mut self, text: &str) {
        let to = match self.field {
            Field::None => return,
            Field::Value => &mut self.cell.value,
            Field::Formula => &mut self.cell.text,
            Field::Inline => &mut self.cell.inline,
            Field::Rule => match &mut self.rule {
                Some(rule) => {
                    if rule.formulas.is_empty() {
                        rule.formulas.push(String::new());
                    }
                    match rule.formulas.last_mut() {
                        Some(formula) => formula,
                        None => return,
                    }
                }
                None => return,
            },
            Field::Range => match &mut self.rule {
                Some(rule) => &mut rule.ranges,
                None => &mut self.ranges,
            },
        };
        if to.len() + text.len() <= VALUE {
            to.push_str(text);
        }
    }

    fn open_row(&mut self, tag: &BytesStart<'_>) -> Flow {
        let (mut row, mut hidden, mut format, mut own) = (self.next_row, false, 0, false);
        for attribute in tag.attributes().with_checks(false).flatten() {
            let value = &*attribute.value;
            match attribute.key.local_name().into_inner() {
                "r" => {
                    let given: Option<u32> = value.parse().ok();
                    row = given.and_then(|row| row.checked_sub(1)).unwrap_or(row);
                }
                "hidden" => hidden = matches!(value, "1" | "true"),
                "s" => format = value.parse().unwrap_or(0),
                "customFormat" => own = matches!(value, "1" | "true"),
                _ => {}
            }
        }
        self.row = row;
        self.next_row = row.saturating_add(1);
        self.next_column = 0;
        self.rows += 1;
        if self.gather.is_past(row) {
            // What stands after the cells is needed still, so the part is read on.
            return ON;
        }
        if hidden {
            self.hidden_rows.add(row, 0, 1);
        }
        let [.., fill] = self.shared.styles.look(format);
        if own && fill != 0 && self.painted.len() < LISTED {
            let row = u64::from(row) + 1;
            self.painted.push((fill, format!("{row}:{row}")));
        }
        if self.rows.is_multiple_of(4096) && self.shared.begin.elapsed() > TIME {
            self.notes
                .push(format!("only the rows up to {row} were read; the rest would take too long"));
            return ControlFlow::Break(());
        }
        ON
    }

    fn close_row(&mut self) {
        self.gather.add(self.row, &mut self.cells);
        self.looks.iter_mut().for_each(Areas::end_row);
        self.hidden_rows.end_row();
    }

    fn open_cell(&mut self, tag: &BytesStart<'_>) {
        let cell = &mut self.cell;
        (cell.column, cell.format, cell.kind) = (self.next_column, 0, Type::Number);
        cell.value.clear();
        cell.inline.clear();
        cell.text.clear();
        cell.formula = None;
        self.field = Field::None;
        for attribute in tag.attributes().with_checks(false).flatten() {
            let value = &*attribute.value;
            match attribute.key.into_inner() {
                "r" => {
                    if let Some((row, column)) = place::cell(value) {
                        cell.column = column;
                        if self.cells.is_empty() {
                            self.row = row;
                            self.next_row = row.saturating_add(1);
                        }
                    }
                }
                "s" => cell.format = value.parse().unwrap_or(0),
                "t" => {
                    cell.kind = match value {
                        "s" => Type::Shared,
                        "str" | "inlineStr" => Type::Text,
                        "b" => Type::Bool,
                        "e" => Type::Error,
                        "d" => Type::Iso,
                        _ => Type::Number,
                    }
                }
                _ => {}
            }
        }
        self.next_column = cell.column.saturating_add(1);
    }

    fn open_formula(&mut self, tag: &BytesStart<'_>) {
        self.field = Field::Formula;
        let range = || attribute(tag, "ref").unwrap_or_default();
        self.cell.formula = Some(match attribute(tag, "t").as_deref() {
            Some("shared") => number(tag, "si").map_or(Meant::Alone, Meant::Shared),
            Some("array") => Meant::Array(range()),
            _ => Meant::Alone,
        });
    }

    fn close_cell(&mut self) {
        self.field = Field::None;
        let (row, column) = (self.row, self.cell.column);
        if self.shared.area.is_some_and(|area| !area.has_row(row) || !area.has_column(column)) {
            self.keep_master(row, column);
            return;
        }
        let value = self.value();
        self.close_formula(row, column, value.is_none());
        let [code, font, fill] = self.shared.styles.look(self.cell.format);
        let seen = |look| if value.is_some() { look } else { 0 };
        let looks = [seen(code), seen(font), fill];
        for (areas, look) in self.looks.iter_mut().zip(looks) {
            areas.add(row, column, look);
        }
        self.cells.extend(value.map(|value| Cell { column, format: self.cell.format, value }));
    }

    /// Keeps a formula that later cells may share, though its own cell is not asked for.
    fn keep_master(&mut self, row: u32, column: u32) {
        if let Some(Meant::Shared(number)) = self.cell.formula
            && !self.cell.text.is_empty()
        {
            self.masters.insert(number, (row, column, self.cell.text.clone()));
        }
    }

    fn close_formula(&mut self, row: u32, column: u32, is_empty: bool) {
        let Some(meant) = self.cell.formula.take() else { return };
        let text = std::mem::take(&mut self.cell.text);
        match meant {
            Meant::Array(range) if !text.is_empty() => self.formulas.add_array(&range, &text),
            Meant::Shared(number) if text.is_empty() => {
                let Some((top, left, text)) = self.masters.get(&number) else { return };
                let moved = |to: u32, from: u32| i64::from(to) - i64::from(from);
                let text = shifted(text, moved(row, *top), moved(column, *left));
                self.formulas.add(row, column, text);
            }
            Meant::Shared(number) => {
                self.masters.insert(number, (row, column, text.clone()));
                self.formulas.add(row, column, text);
            }
            Meant::Alone if !text.is_empty() => self.formulas.add(row, column, text),
            Meant::Alone | Meant::Array(_) => return,
        }
        if is_empty {
            self.formulas.add_uncalculated(row, column);
        }
    }

    /// Returns what the cell that was read holds.
    fn value(&mut self) -> Option<Value> {
        let cell = &self.cell;
        let text = if cell.inline.is_empty() { &cell.value } else { &cell.inline };
        if text.is_empty() {
            return None;
        }
        Some(match cell.kind {
            Type::Shared => match text.trim().parse() {
                Ok(number) => Value::Shared(number),
                Err(_) => Value::Text(text.as_str().into()),
            },
            Type::Text => Value::Text(unescaped(text).into()),
            Type::Bool => Value::Bool(matches!(text.trim(), "1" | "true")),
            Type::Error => Value::Error(text.as_str().into()),
            Type::Iso => {
                date::iso(text).map_or_else(|| Value::Text(text.as_str().into()), Value::Moment)
            }
            Type::Number => match text.trim().parse::<f64>() {
                Ok(number) => self.dated(number),
                Err(_) => Value::Text(unescaped(text).into()),
            },
        })
    }

    /// Tells numbers from dates by their format.
    fn dated(&self, number: f64) -> Value {
        let forms = &self.shared.context.forms;
        let form = usize::try_from(self.cell.format).ok().and_then(|at| forms.get(at));
        match form {
            Some(Form::Moment) if self.shared.counts_from_1904 && number >= 1.0 => {
                Value::Moment(number + SYSTEM_1904)
            }
            Some(Form::Moment) => Value::Moment(number),
            Some(Form::Span) => Value::Span(number),
            Some(Form::Plain | Form::Percent(_) | Form::Money(_)) | None => Value::Number(number),
        }
    }

    /// Reads what stands beside the cells.
    fn open(&mut self, name: &str, tag: &BytesStart<'_>) {
        let get = |name| attribute(tag, name);
        match name {
            "col" => self.open_columns(tag),
            "mergeCell" => {
                let range = get("ref").filter(|range| self.shared.concerns(range));
                self.merged.extend(range);
            }
            "hyperlink" => self.open_link(tag),
            "autoFilter" => self.filters.extend(get("ref")),
            "conditionalFormatting" => self.ranges = get("sqref").unwrap_or_default(),
            "cfRule" => {
                let words: Vec<String> = ["type", "operator", "text", "rank", "timePeriod"]
                    .into_iter()
                    .filter_map(get)
                    .collect();
                self.rule = Some(Rule {
                    is_condition: true,
                    ranges: self.ranges.clone(),
                    words: words.join(" "),
                    formulas: Vec::new(),
                });
            }
            "dataValidation" => {
                let words: Vec<String> = ["type", "operator"].into_iter().filter_map(get).collect();
                let ranges = get("sqref").unwrap_or_default();
                self.rule = Some(Rule { ranges, words: words.join(" "), ..Rule::default() });
            }
            "formula" | "formula1" | "formula2" => {
                if let Some(rule) = &mut self.rule {
                    rule.formulas.push(String::new());
                    self.field = Field::Rule;
                }
            }
            "sqref" => self.field = Field::Range,
            _ => {}
        }
    }

    fn open_columns(&mut self, tag: &BytesStart<'_>) {
        let (Some(first), Some(last)) = (number(tag, "min"), number(tag, "max")) else { return };
        let (Some(first), Some(last)) = (first.checked_sub(1), last.checked_sub(1)) else { return };
        let columns = format!("{}:{}", place::letters(first), place::letters(last));
        let [.., fill] = self.shared.styles.look(number(tag, "style").unwrap_or(0));
        if fill != 0 && self.painted.len() < LISTED {
            self.painted.push((fill, columns.clone()));
        }
        if flag(tag, "hidden", false) && self.hidden_columns.len() < LISTED {
            self.hidden_columns.push(columns);
        }
    }

    fn open_link(&mut self, tag: &BytesStart<'_>) {
        let get = |name| attribute(tag, name).filter(|value| !value.is_empty());
        let (Some(range), true) = (get("ref"), self.hyperlinks.len() < LISTED) else { return };
        if !self.shared.concerns(&range) {
            return;
        }
        let target = get("id").and_then(|id| self.links.get(&id)).cloned().unwrap_or_default();
        let inside = get("location").map(|place| format!("#{place}")).unwrap_or_default();
        self.hyperlinks.push(format!("{range}: {target}{inside}"));
    }

    fn close_rule(&mut self) {
        let Some(rule) = self.rule.take() else { return };
        if !self.shared.concerns(&rule.ranges) {
            return;
        }
        let formulas: Vec<String> = rule
            .formulas
            .iter()
            .filter(|formula| !formula.is_empty())
            .map(|formula| format!("`{formula}`"))
            .collect();
        let line = format!("{}: {} {}", rule.ranges.trim(), rule.words, formulas.join(" and "));
        let list = if rule.is_condition { &mut self.conditions } else { &mut self.validations };
        if list.len() < LISTED {
            list.push(line.trim_end().to_owned());
        }
    }

    fn finish(mut self, sheet: &mut Sheet, budget: &mut Budget) {
        self.close_row();
        self.gather.finish(sheet, budget);
        let (formulas, notes) = self.formulas.finish();
        sheet.formulas = formulas;
        sheet.notes.extend(notes);
        sheet.notes.extend(self.notes);
        sheet.merged = self.merged;
        let hidden = self.hidden_rows.finish();
        let rows: Vec<String> = hidden.get(&1).map(rows_of).into_iter().collect();
        sheet.detail("Hidden rows", rows);
        let columns: Vec<String> = Some(self.hidden_columns.join(", "))
            .filter(|columns| !columns.is_empty())
            .into_iter()
            .collect();
        sheet.detail("Hidden columns", columns);
        let titles = ["Number formats", "Fonts", "Fills"];
        for ((areas, names), title) in
            self.looks.into_iter().zip(&self.shared.styles.names).zip(titles)
        {
            let mut lines: Vec<String> = areas
                .finish()
                .iter()
                .map(|(look, areas)| format!("`{}`: {}", names.of(*look), listed(areas)))
                .collect();
            if title == "Fills" {
                let whole = self.painted.iter();
                lines.extend(whole.map(|(fill, range)| format!("`{}`: {range}", names.of(*fill))));
            }
            lines.truncate(LISTED);
            sheet.detail(title, lines);
        }
        sheet.detail("Links", self.hyperlinks);
        sheet.detail("Filters", self.filters);
        sheet.detail("Rules for input", self.validations);
        sheet.detail("Conditional formatting", self.conditions);
    }
}

/// Writes rows that follow one another: `3:5, 9:9`.
fn rows_of((areas, more): &(Vec<Area>, u64)) -> String {
    let ranges: Vec<String> = areas
        .iter()
        .map(|area| format!("{}:{}", u64::from(area.top) + 1, u64::from(area.bottom) + 1))
        .collect();
    let rest = if *more > 0 { format!(" and {more} more") } else { String::new() };
    format!("{}{rest}", ranges.join(", "))
}
