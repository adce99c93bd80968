//! The workbook: which sheets there are, which names are defined, which texts are shared.

use std::ops::ControlFlow;
use std::time::Instant;

use crate::cell::Context;
use crate::error::{Error, brief};
use crate::gather::Budget;
use crate::model::{Detail, Part, Sheet, Visibility, Workbook};
use crate::read::chosen;
use crate::strings::{Strings, unescaped};
use crate::xlsx::extras;
use crate::xlsx::package::{Package, Relation};
use crate::xlsx::sheet::{self, Shared};
use crate::xlsx::styles::Styles;
use crate::xml::{Node, ON, attribute, flag, number, walk};

/// The most bytes that the part for shared texts unpacks to.
const TEXTS: u64 = 1 << 30;

/// The most defined names that are kept.
const NAMES: usize = 1_000;

/// What the workbook part says.
#[derive(Debug, Default)]
struct Book {
    sheets: Vec<(Sheet, String)>,
    names: Vec<(String, Option<u32>, String)>,
    counts_from_1904: bool,
}

/// Reads the sheets that are asked for.
pub(crate) fn read(bytes: &[u8], part: &Part) -> Result<Workbook, Error> {
    let begin = Instant::now();
    let mut package = Package::open(bytes)?;
    let path = package
        .relations("")
        .into_iter()
        .find(|relation| relation.kind == "officeDocument" && package.has(&relation.target))
        .map_or_else(|| "xl/workbook.xml".to_owned(), |relation| relation.target);
    let book = book(&mut package, &path)?;
    let names: Vec<String> = book.sheets.iter().map(|(sheet, _)| sheet.name.clone()).collect();
    let picked = chosen(&names, part)?;
    let relations = package.relations(&path);
    let target = |kind: &str| {
        relations.iter().find(|it| it.kind == kind).map(|relation| relation.target.clone())
    };
    let theme = target("theme");
    let mut styles = target("styles")
        .map(|styles| Styles::read(&mut package, &styles, theme.as_deref()))
        .unwrap_or_default();
    let strings = match target("sharedStrings") {
        Some(path) => strings(&mut package, &path)?,
        None => (Strings::default(), None),
    };
    let (strings, note) = strings;
    let context = Context { strings, forms: std::mem::take(&mut styles.forms) };
    let people = target("person").map(|path| extras::people(&mut package, &path));
    let shared = Shared {
        context: &context,
        styles: &styles,
        people: people.unwrap_or_default(),
        counts_from_1904: book.counts_from_1904,
        area: part.area,
        begin,
    };
    let mut budget = Budget::default();
    let mut sheets = Vec::new();
    for at in picked {
        let (mut outline, id) = book.sheets[at].clone();
        fill(&mut package, &relations, &id, &shared, &mut budget, &mut outline)?;
        sheets.push(outline);
    }
    let details = defined(&book, &names);
    Ok(Workbook { kind: String::new(), names, sheets, details, notes: note.into_iter().collect() })
}

/// Reads what is behind a sheet of the workbook.
fn fill(
    package: &mut Package<'_>,
    relations: &[Relation],
    id: &str,
    shared: &Shared<'_>,
    budget: &mut Budget,
    outline: &mut Sheet,
) -> Result<(), Error> {
    let Some(relation) = relations.iter().find(|relation| relation.id == id) else {
        outline.notes.push("its part is missing".to_owned());
        return Ok(());
    };
    let note = match relation.kind.as_str() {
        "chartsheet" => Some("it is a chart, which holds no cells"),
        "dialogsheet" => Some("it is a dialog, which holds no cells"),
        "xlMacrosheet" | "xlIntlMacrosheet" => Some("it holds macros, which are not shown"),
        _ => None,
    };
    outline.notes.extend(note.map(str::to_owned));
    if note.is_none() {
        sheet::read(package, &relation.target, shared, budget, outline)?;
    }
    extras::attach(package, &relation.target, shared, outline);
    Ok(())
}

/// Reads the workbook part.
fn book(package: &mut Package<'_>, path: &str) -> Result<Book, Error> {
    let Some(source) = package.stream(path, 64 << 20)? else {
        return Err(Error::Damaged("its workbook part is missing".to_owned()));
    };
    let mut book = Book::default();
    let mut name: Option<(String, Option<u32>, String)> = None;
    walk(source, |node| {
        match node {
            Node::Open("workbookPr", tag) => book.counts_from_1904 = flag(tag, "date1904", false),
            Node::Open("sheet", tag) => {
                let visibility = match attribute(tag, "state").as_deref() {
                    Some("hidden") => Visibility::Hidden,
                    Some("veryHidden") => Visibility::VeryHidden,
                    _ => Visibility::Visible,
                };
                let name = attribute(tag, "name").unwrap_or_default();
                let id = attribute(tag, "id").unwrap_or_default();
                book.sheets.push((Sheet { name, visibility, ..Sheet::default() }, id));
            }
            Node::Open("definedName", tag) => {
                let title = attribute(tag, "name").unwrap_or_default();
                name = Some((title, number(tag, "localSheetId"), String::new()));
            }
            Node::Text(text) => {
                if let Some((.., meaning)) = &mut name {
                    meaning.push_str(text);
                }
            }
            Node::Close("definedName") => {
                book.names.extend(name.take().filter(|_| book.names.len() < NAMES));
            }
            Node::Open(..) | Node::Close(_) => {}
        }
        ON
    })
    .map_err(|error| Error::damaged(&error))?;
    Ok(book)
}

/// Lists the defined names, without those that the program makes for its filters.
fn defined(book: &Book, sheets: &[String]) -> Vec<Detail> {
    let lines: Vec<String> = book
        .names
        .iter()
        .filter(|(name, ..)| name != "_xlnm._FilterDatabase")
        .map(|(name, sheet, meaning)| {
            let sheet = sheet.and_then(|at| sheets.get(usize::try_from(at).ok()?));
            let of = sheet.map(|sheet| format!(" (of sheet `{sheet}`)")).unwrap_or_default();
            format!("{}{of}: `={}`", name.trim_start_matches("_xlnm."), meaning.trim())
        })
        .collect();
    let detail = Detail { title: "Defined names".into(), lines };
    Some(detail).filter(|detail| !detail.lines.is_empty()).into_iter().collect()
}

/// Reads the texts that cells share, and says where they break off; readings for
/// pronunciation are no part of them.
fn strings(package: &mut Package<'_>, path: &str) -> Result<(Strings, Option<String>), Error> {
    let mut strings = Strings::default();
    let Some(source) = package.stream(path, TEXTS)? else { return Ok((strings, None)) };
    let (mut text, mut inside, mut reading) = (String::new(), false, false);
    let mut full = None;
    let walked = walk(source, |node| {
        match node {
            Node::Open("si", _) => text.clear(),
            Node::Open("rPh", _) => reading = true,
            Node::Close("rPh") => reading = false,
            Node::Open("t", _) => inside = !reading,
            Node::Close("t") => inside = false,
            Node::Text(piece) if inside => text.push_str(piece),
            Node::Close("si") => {
                let pushed = if text.contains("_x") {
                    strings.push(&unescaped(&text))
                } else {
                    strings.push(&text)
                };
                if let Err(error) = pushed {
                    full = Some(error);
                    return ControlFlow::Break(());
                }
            }
            Node::Open(..) | Node::Close(_) | Node::Text(_) => {}
        }
        ON
    });
    if let Some(error) = full {
        return Err(error);
    }
    let broken = |error| format!("the shared texts break off: {}", brief(&error));
    Ok((strings, walked.err().map(broken)))
}
