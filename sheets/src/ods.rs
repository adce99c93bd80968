//! `OpenDocument` spreadsheets, in one pass over their content.
//!
//! Sheets end in thousands of repeated empty rows and cells; those cost nothing. A row of
//! values that is repeated is read as often as a sheet has rows, and no further.

use std::collections::HashMap;
use std::ops::ControlFlow;
use std::time::{Duration, Instant};

use quick_xml::events::BytesStart;

use crate::areas::{Areas, listed};
use crate::cell::{Cell, Context, Value};
use crate::date;
use crate::error::Error;
use crate::formats::Form;
use crate::formulas::Formulas;
use crate::gather::{Budget, Gather};
use crate::model::{Detail, Part, Sheet, Visibility, Workbook};
use crate::place::{Area, COLUMNS, ROWS};
use crate::read::chosen;
use crate::xlsx::package::Package;
use crate::xml::{Flow, Node, ON, attribute, number, walk};

/// The most bytes that the content unpacks to.
const CONTENT: u64 = 4 << 30;

/// Time after which no further rows are read.
const TIME: Duration = Duration::from_secs(50);

/// The most entries of a list.
const LISTED: usize = 1_000;

/// The longest text of a cell, in bytes.
const LONGEST: usize = 16 << 20;

/// The most cells of all sheets that repeat another.
const REPEATED: u64 = 5_000_000;

/// The most decimals of a percentage.
const DECIMALS: usize = 15;

/// Reads the sheets that are asked for.
pub(crate) fn read(bytes: &[u8], part: &Part) -> Result<Workbook, Error> {
    let begin = Instant::now();
    let mut package = Package::open(bytes)?;
    let mut is_encrypted = false;
    package.walk("META-INF/manifest.xml", |node| {
        is_encrypted |= matches!(node, Node::Open("encryption-data", _));
        ON
    });
    if is_encrypted {
        return Err(Error::Encrypted);
    }
    let mut styles = Styles::default();
    package.walk("styles.xml", |node| styles.node(&node));
    package.walk("content.xml", |node| match node {
        Node::Open("body", _) => ControlFlow::Break(()),
        node @ (Node::Open(..) | Node::Close(_) | Node::Text(_)) => styles.node(&node),
    });
    let mut names = Vec::new();
    let missing = || Error::Damaged("its content is missing".to_owned());
    let context = Context { forms: forms(), ..Context::default() };
    // Names come first only in a pass of their own; it is needed where a part is asked for.
    if *part != Part::default() {
        package.walk("content.xml", |node| {
            if let Node::Open("table", tag) = node {
                names.extend(attribute(tag, "name"));
            }
            ON
        });
    }
    let wanted = match part {
        Part { sheet: None, area: None } => None,
        part => chosen(&names, part)?.first().and_then(|at| names.get(*at).cloned()),
    };
    let source = package.stream("content.xml", CONTENT)?.ok_or_else(missing)?;
    let mut reading = Reading::new(&context, &styles, part.area, wanted, begin);
    let walked = walk(source, |node| reading.node(&node));
    if let Err(error) = walked {
        if reading.sheets.is_empty() && reading.open.is_none() {
            return Err(Error::damaged(&error));
        }
        let reason = crate::error::brief(&error);
        reading.notes.push(format!("it could not be read to its end: {reason}"));
    }
    Ok(reading.finish())
}

/// How numbers of each format are shown: plain, then percentages by their decimals.
fn forms() -> Vec<Form> {
    std::iter::once(Form::Plain).chain((0..=DECIMALS).map(Form::Percent)).collect()
}

/// The looks that styles give to cells and tables.
#[derive(Debug, Default)]
struct Styles {
    /// Of each style: number of the font's name and of the fill's.
    cells: HashMap<String, [u32; 2]>,
    hidden: HashMap<String, bool>,
    names: Vec<String>,
    open: Option<String>,
}

impl Styles {
    fn node(&mut self, node: &Node<'_>) -> Flow {
        let Node::Open(name, tag) = node else { return ON };
        match *name {
            "style" | "default-style" => {
                self.open = attribute(tag, "name");
                let parent = attribute(tag, "parent-style-name");
                let looks = parent.and_then(|parent| self.cells.get(&parent)).copied();
                if let (Some(name), Some(looks)) = (&self.open, looks) {
                    self.cells.insert(name.clone(), looks);
                }
            }
            "table-cell-properties" => {
                let fill = attribute(tag, "background-color").filter(|it| it != "transparent");
                self.set(1, fill.map(|fill| fill.to_uppercase()));
            }
            "text-properties" => {
                let is = |name, value| attribute(tag, name).is_some_and(|it| it == value);
                let mut words = Vec::new();
                if is("font-weight", "bold") {
                    words.push("bold".to_owned());
                }
                if is("font-style", "italic") {
                    words.push("italic".to_owned());
                }
                if attribute(tag, "text-line-through-style").is_some_and(|it| it != "none") {
                    words.push("struck out".to_owned());
                }
                let colour = attribute(tag, "color").map(|colour| colour.to_uppercase());
                words.extend(colour.filter(|colour| colour != "#000000"));
                self.set(0, Some(words.join(" ")));
            }
            "table-properties" => {
                let is_hidden = attribute(tag, "display").is_some_and(|it| it == "false");
                self.hidden.extend(self.open.clone().map(|name| (name, is_hidden)));
            }
            _ => {}
        }
        ON
    }

    fn set(&mut self, at: usize, name: Option<String>) {
        let (Some(style), Some(name)) = (&self.open, name) else { return };
        let look = if name.is_empty() { 0 } else { look(&mut self.names, name) };
        self.cells.entry(style.clone()).or_default()[at] = look;
    }

    fn name(&self, look: u32) -> &str {
        let at = usize::try_from(look).ok().and_then(|at| at.checked_sub(1));
        at.and_then(|at| self.names.get(at)).map_or("", String::as_str)
    }
}

/// Returns the number of a name, from 1.
fn look(names: &mut Vec<String>, name: String) -> u32 {
    let at = names.iter().position(|other| *other == name).unwrap_or_else(|| {
        names.push(name);
        names.len() - 1
    });
    u32::try_from(at + 1).unwrap_or(0)
}

/// A cell while it is read.
#[derive(Debug, Default)]
struct Open {
    kind: String,
    value: String,
    currency: Option<String>,
    formula: Option<String>,
    style: [u32; 2],
    repeated: u32,
    spans: (u32, u32),
    text: String,
    has_text: bool,
    comment: Option<[String; 2]>,
    links: Vec<String>,
}

/// Which text is being read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Field {
    None,
    Cell,
    Comment,
    Author,
}

/// A sheet while it is read.
struct Filling<'a> {
    gather: Gather<'a>,
    outline: Sheet,
    row: u32,
    column: u32,
    next_column: u32,
    repeated: u32,
    cells: Vec<Cell>,
    runs: Vec<(u32, u32, [u32; 3])>,
    formulas: Formulas,
    looks: [Areas; 3],
    hidden_rows: Vec<String>,
    hidden_columns: Vec<String>,
    comments: Vec<String>,
    links: Vec<String>,
}

/// The content while it is read.
struct Reading<'a> {
    context: &'a Context,
    styles: &'a Styles,
    area: Option<Area>,
    wanted: Option<String>,
    begin: Instant,
    budget: Budget,
    names: Vec<String>,
    sheets: Vec<Sheet>,
    /// How many tables are open: one within another belongs to a cell and is not read.
    depth: u32,
    open: Option<Filling<'a>>,
    cell: Option<Open>,
    in_comment: bool,
    field: Field,
    defined: Vec<String>,
    /// The names of number formats.
    kinds: Vec<String>,
    /// How many cells may still repeat another.
    repeats: u64,
    notes: Vec<String>,
}

impl<'a> Reading<'a> {
    fn new(
        context: &'a Context,
        styles: &'a Styles,
        area: Option<Area>,
        wanted: Option<String>,
        begin: Instant,
    ) -> Self {
        Self {
            context,
            styles,
            area,
            wanted,
            begin,
            budget: Budget::default(),
            names: Vec::new(),
            sheets: Vec::new(),
            depth: 0,
            open: None,
            cell: None,
            in_comment: false,
            field: Field::None,
            defined: Vec::new(),
            kinds: Vec::new(),
            repeats: REPEATED,
            notes: Vec::new(),
        }
    }

    fn node(&mut self, node: &Node<'_>) -> Flow {
        match node {
            Node::Open("table", tag) => self.open_table(tag),
            Node::Close("table") => self.close_table(),
            Node::Open("named-range", tag) => self.define(tag, "cell-range-address"),
            Node::Open("named-expression", tag) => self.define(tag, "expression"),
            _ if self.depth != 1 || self.open.is_none() => {}
            Node::Open("table-column", tag) => self.open_column(tag),
            Node::Open("table-row", tag) => self.open_row(tag),
            Node::Close("table-row") => return self.close_row(),
            Node::Open("table-cell" | "covered-table-cell", tag) => self.open_cell(tag),
            Node::Close("table-cell" | "covered-table-cell") => self.close_cell(),
            Node::Open("annotation", _) => {
                self.in_comment = true;
                if let Some(cell) = &mut self.cell {
                    cell.comment = Some(Default::default());
                }
            }
            Node::Close("annotation") => self.in_comment = false,
            Node::Open(name, tag) => self.open_text(name, tag),
            Node::Close("p" | "creator") => self.field = Field::None,
            Node::Text(text) => self.push(text),
            Node::Close(_) => {}
        }
        ON
    }

    fn open_table(&mut self, tag: &BytesStart<'_>) {
        self.depth += 1;
        if self.depth > 1 {
            return;
        }
        let name = attribute(tag, "name").unwrap_or_default();
        self.names.push(name.clone());
        if self.wanted.as_ref().is_some_and(|wanted| *wanted != name) {
            return;
        }
        let style = attribute(tag, "style-name").unwrap_or_default();
        let is_hidden = self.styles.hidden.get(&style).copied().unwrap_or(false);
        let visibility = if is_hidden { Visibility::Hidden } else { Visibility::Visible };
        self.open = Some(Filling {
            gather: Gather::new(self.context, self.area, &self.budget),
            outline: Sheet { name, visibility, ..Sheet::default() },
            row: 0,
            column: 0,
            next_column: 0,
            repeated: 1,
            cells: Vec::new(),
            runs: Vec::new(),
            formulas: Formulas::default(),
            looks: Default::default(),
            hidden_rows: Vec::new(),
            hidden_columns: Vec::new(),
            comments: Vec::new(),
            links: Vec::new(),
        });
    }

    fn close_table(&mut self) {
        self.depth = self.depth.saturating_sub(1);
        if self.depth > 0 {
            return;
        }
        if let Some(filling) = self.open.take() {
            let mut budget = std::mem::take(&mut self.budget);
            let sheet = filling.finish(&mut budget, self.styles, &self.kinds);
            self.budget = budget;
            self.sheets.push(sheet);
        }
    }

    fn define(&mut self, tag: &BytesStart<'_>, meaning: &str) {
        if let (Some(name), Some(meaning)) = (attribute(tag, "name"), attribute(tag, meaning))
            && self.defined.len() < LISTED
        {
            self.defined.push(format!("{name}: `={}`", plain_formula(&meaning)));
        }
    }

    fn open_column(&mut self, tag: &BytesStart<'_>) {
        let Some(open) = &mut self.open else { return };
        let count = number(tag, "number-columns-repeated").unwrap_or(1).min(COLUMNS);
        let first = open.next_column.min(COLUMNS);
        open.next_column = (first + count).min(COLUMNS);
        let is_hidden = attribute(tag, "visibility").is_some_and(|it| it != "visible");
        if is_hidden && count > 0 && open.hidden_columns.len() < LISTED {
            let last = open.next_column.saturating_sub(1);
            open.hidden_columns
                .push(Area { top: 0, left: first, bottom: ROWS - 1, right: last }.to_string());
        }
    }

    fn open_row(&mut self, tag: &BytesStart<'_>) {
        let Some(open) = &mut self.open else { return };
        open.column = 0;
        open.repeated = number(tag, "number-rows-repeated").unwrap_or(1);
        let is_hidden = attribute(tag, "visibility").is_some_and(|it| it != "visible");
        if is_hidden && open.hidden_rows.len() < LISTED {
            let (first, last) =
                (u64::from(open.row) + 1, u64::from(open.row) + u64::from(open.repeated));
            open.hidden_rows.push(format!("{first}:{last}"));
        }
    }

    fn close_row(&mut self) -> Flow {
        let Some(open) = &mut self.open else { return ON };
        let left = ROWS.saturating_sub(open.row);
        let mut count = open.repeated.min(left);
        if open.cells.is_empty() && open.runs.is_empty() {
            open.looks.iter_mut().for_each(Areas::end_row);
            open.row = open.row.saturating_add(count);
            count = 0;
        }
        for done in 0..count {
            let is_last = done + 1 == count;
            let mut cells =
                if is_last { std::mem::take(&mut open.cells) } else { open.cells.clone() };
            let spent = if is_last { 0 } else { cells.len() as u64 };
            if spent > self.repeats {
                self.notes.push(format!(
                    "row {} is repeated too often to be read so many times",
                    u64::from(open.row) + 1
                ));
                open.row = open.row.saturating_add(count - done);
                break;
            }
            self.repeats -= spent;
            open.gather.add(open.row, &mut cells);
            for (first, last, looks) in &open.runs {
                for (areas, look) in open.looks.iter_mut().zip(looks) {
                    areas.add_run(open.row, *first, *last, *look);
                }
            }
            open.looks.iter_mut().for_each(Areas::end_row);
            open.row += 1;
            if open.row.is_multiple_of(256) && self.begin.elapsed() > TIME {
                self.notes.push("not all rows were read; the rest would take too long".to_owned());
                return ControlFlow::Break(());
            }
        }
        open.cells.clear();
        open.runs.clear();
        ON
    }

    fn open_cell(&mut self, tag: &BytesStart<'_>) {
        let get = |name| attribute(tag, name);
        let kind = get("value-type").unwrap_or_default();
        let value = match kind.as_str() {
            "float" | "percentage" | "currency" => get("value"),
            "date" => get("date-value"),
            "time" => get("time-value"),
            "boolean" => get("boolean-value"),
            "string" => get("string-value"),
            _ => None,
        };
        let style = get("style-name").and_then(|style| self.styles.cells.get(&style));
        self.field = Field::None;
        self.in_comment = false;
        self.cell = Some(Open {
            value: value.unwrap_or_default(),
            currency: get("currency"),
            formula: get("formula"),
            style: style.copied().unwrap_or_default(),
            repeated: number(tag, "number-columns-repeated").unwrap_or(1).min(COLUMNS),
            spans: (
                number(tag, "number-rows-spanned").unwrap_or(1),
                number(tag, "number-columns-spanned").unwrap_or(1),
            ),
            kind,
            ..Open::default()
        });
    }

    fn open_text(&mut self, name: &str, tag: &BytesStart<'_>) {
        let Some(cell) = &mut self.cell else { return };
        match name {
            "p" if self.in_comment => {
                self.field = Field::Comment;
                self.push(" ");
            }
            "p" => {
                let again = cell.has_text;
                cell.has_text = true;
                self.field = Field::Cell;
                if again {
                    self.push("\n");
                }
            }
            "creator" if self.in_comment => self.field = Field::Author,
            "s" => self.push(&" ".repeat(number(tag, "c").unwrap_or(1).min(1_000) as usize)),
            "tab" => self.push("\t"),
            "line-break" => self.push("\n"),
            "a" => cell.links.extend(attribute(tag, "href").filter(|_| cell.links.len() < 8)),
            _ => {}
        }
    }

    fn push(&mut self, text: &str) {
        let Some(cell) = &mut self.cell else { return };
        let to = match (self.field, &mut cell.comment) {
            (Field::Cell, _) => &mut cell.text,
            (Field::Comment, Some([_, text])) => text,
            (Field::Author, Some([author, _])) => author,
            (Field::None | Field::Comment | Field::Author, _) => return,
        };
        if to.len() + text.len() <= LONGEST {
            to.push_str(text);
        }
    }

    fn close_cell(&mut self) {
        let (Some(cell), Some(open)) = (self.cell.take(), &mut self.open) else { return };
        let (row, column) = (open.row, open.column);
        open.column = column.saturating_add(cell.repeated);
        if column >= COLUMNS || cell.repeated == 0 {
            return;
        }
        let asked = self.area.is_none_or(|area| area.has_row(row) && area.has_column(column));
        let kind = match (cell.kind.as_str(), &cell.currency) {
            ("currency", Some(currency)) => look(&mut self.kinds, format!("currency {currency}")),
            ("percentage", _) => look(&mut self.kinds, "percentage".to_owned()),
            _ => 0,
        };
        let value = value(&cell);
        let is_filled = value.is_some();
        let last = (column + cell.repeated - 1).min(COLUMNS - 1);
        let [font, fill] = cell.style;
        let looks = if is_filled { [kind, font, fill] } else { [0, 0, fill] };
        if asked && looks != [0; 3] {
            open.runs.push((column, last, looks));
        }
        if let Some((value, format)) = value {
            for column in column..=last {
                open.cells.push(Cell { column, format, value: value.clone() });
            }
        }
        if asked {
            open.attach(row, column, cell, is_filled);
        }
    }

    fn finish(mut self) -> Workbook {
        self.depth = 1;
        self.close_table();
        let lines = self.defined;
        let details = Some(Detail { title: "Defined names".into(), lines });
        Workbook {
            kind: String::new(),
            names: self.names,
            sheets: self.sheets,
            details: details.filter(|detail| !detail.lines.is_empty()).into_iter().collect(),
            notes: self.notes,
        }
    }
}

impl Filling<'_> {
    /// Lists what a cell has beside its value.
    fn attach(&mut self, row: u32, column: u32, cell: Open, is_filled: bool) {
        let here = crate::place::address(row, column);
        if let Some(formula) = cell.formula {
            self.formulas.add(row, column, plain_formula(&formula));
            if !is_filled {
                self.formulas.add_uncalculated(row, column);
            }
        }
        if let Some([author, text]) = cell.comment
            && self.comments.len() < LISTED
        {
            let words: Vec<&str> = text.split_whitespace().collect();
            let author = if author.is_empty() { author } else { format!(" ({author})") };
            self.comments.push(format!("{here}{author}: {}", words.join(" ")));
        }
        if self.links.len() < LISTED {
            self.links.extend(cell.links.into_iter().map(|link| format!("{here}: {link}")));
        }
        let (down, right) = cell.spans;
        if (down > 1 || right > 1) && self.outline.merged.len() < LISTED * 10 {
            let area = Area {
                top: row,
                left: column,
                bottom: row.saturating_add(down.saturating_sub(1)),
                right: column.saturating_add(right.saturating_sub(1)),
            };
            self.outline.merged.push(area.to_string());
        }
    }

    fn finish(self, budget: &mut Budget, styles: &Styles, kinds: &[String]) -> Sheet {
        let mut sheet = self.outline;
        self.gather.finish(&mut sheet, budget);
        let (formulas, notes) = self.formulas.finish();
        sheet.formulas = formulas;
        sheet.notes.extend(notes);
        let joined = |list: Vec<String>| {
            Some(list.join(", ")).filter(|text| !text.is_empty()).into_iter().collect()
        };
        sheet.detail("Hidden rows", joined(self.hidden_rows));
        sheet.detail("Hidden columns", joined(self.hidden_columns));
        for (at, (areas, title)) in
            self.looks.into_iter().zip(["Number formats", "Fonts", "Fills"]).enumerate()
        {
            let name = |look: u32| match at {
                0 => usize::try_from(look)
                    .ok()
                    .and_then(|look| kinds.get(look.checked_sub(1)?))
                    .map_or("", String::as_str),
                _ => styles.name(look),
            };
            let areas = areas.finish();
            let lines = areas.iter().take(LISTED);
            let lines = lines.map(|(look, areas)| format!("`{}`: {}", name(*look), listed(areas)));
            sheet.detail(title, lines.collect());
        }
        sheet.detail("Comments", self.comments);
        sheet.detail("Links", self.links);
        sheet
    }
}

/// Returns what a cell holds and how it is shown.
fn value(cell: &Open) -> Option<(Value, u32)> {
    let text = || (!cell.text.is_empty()).then(|| Value::Text(cell.text.as_str().into()));
    let number = || cell.value.parse().ok().map(Value::Number).or_else(text);
    match cell.kind.as_str() {
        "float" | "currency" => Some((number()?, 0)),
        "percentage" => {
            let decimals =
                cell.text.rsplit(['.', ',']).next().filter(|_| cell.text.contains(['.', ',']));
            let decimals = decimals
                .map_or(0, |rest| rest.bytes().filter(u8::is_ascii_digit).count().min(DECIMALS));
            Some((number()?, u32::try_from(decimals + 1).unwrap_or(0)))
        }
        "date" => {
            let moment = date::iso(&cell.value).map(Value::Moment).or_else(text);
            Some((moment.or_else(|| Some(Value::Text(cell.value.as_str().into())))?, 0))
        }
        "time" => Some((duration(&cell.value).map(Value::Span).or_else(text)?, 0)),
        "boolean" => Some((Value::Bool(cell.value == "true"), 0)),
        _ if cell.text.is_empty() && !cell.value.is_empty() => {
            Some((Value::Text(cell.value.as_str().into()), 0))
        }
        _ => {
            let is_error = cell.formula.is_some() && cell.text.starts_with(['#']);
            if is_error {
                return Some((Value::Error(cell.text.as_str().into()), 0));
            }
            Some((text()?, 0))
        }
    }
}

/// Reads `PT18H30M00S` as days.
fn duration(text: &str) -> Option<f64> {
    let (sign, text) = text.strip_prefix('-').map_or((1.0, text), |rest| (-1.0, rest));
    let mut rest = text.strip_prefix("PT")?;
    let mut seconds = 0.0;
    for (unit, size) in [('H', 3600.0), ('M', 60.0), ('S', 1.0)] {
        if let Some((count, after)) = rest.split_once(unit) {
            seconds += count.replace(',', ".").parse::<f64>().ok()? * size;
            rest = after;
        }
    }
    rest.is_empty().then_some(sign * seconds / 86_400.0)
}

/// Writes a formula without what only this format has: `of:=SUM([.A1:.B2])` as `SUM(A1:B2)`.
fn plain_formula(text: &str) -> String {
    let start = text
        .find('=')
        .filter(|at| text[..*at].bytes().all(|b| b.is_ascii_lowercase() || b == b':'));
    let text = start.map_or(text, |at| &text[at + 1..]);
    let (mut out, mut quoted, mut fresh) = (String::with_capacity(text.len()), false, true);
    for letter in text.chars() {
        match letter {
            '"' => {
                quoted = !quoted;
                out.push(letter);
            }
            _ if quoted => out.push(letter),
            '[' | ']' => {}
            '.' if fresh => {}
            letter => out.push(letter),
        }
        fresh = matches!(letter, '[' | ':');
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn formulas_lose_their_brackets() {
        let table = [
            ("of:=SUM([.A1:.B2])", "SUM(A1:B2)"),
            ("of:=[$Tab.A1]*0.5", "$Tab.A1*0.5"),
            ("oooc:=\"[.A1]\"&[.A1]", "\"[.A1]\"&A1"),
            ("$Tab.$A$1:.$B$2", "$Tab.$A$1:$B$2"),
            ("A1=B1", "A1=B1"),
        ];
        for (text, want) in table {
            assert_eq!(plain_formula(text), want, "{text}");
        }
    }

    #[test]
    fn durations_are_read() {
        let table = [
            ("PT18H30M00S", Some("18:30:00")),
            ("-PT1H", Some("-1:00:00")),
            ("PT30H00M01,5S", Some("30:00:02")),
            ("P1D", None),
            ("PTxH", None),
        ];
        for (text, want) in table {
            assert_eq!(duration(text).map(date::duration).as_deref(), want, "{text}");
        }
    }
}
