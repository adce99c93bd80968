//! What is attached to a sheet: comments, tables, charts and pictures.

use std::collections::{HashMap, HashSet};

use crate::model::Sheet;
use crate::xlsx::package::Package;
use crate::xlsx::sheet::Shared;
use crate::xml::{Node, ON, attribute, number};

/// The most entries of a list.
const LISTED: usize = 1_000;

/// The longest text of a comment, in bytes.
const LONGEST: usize = 8_000;

/// Reads the names of those who wrote comments, by their numbers.
pub(crate) fn people(package: &mut Package<'_>, path: &str) -> HashMap<String, String> {
    let mut people = HashMap::new();
    package.walk(path, |node| {
        if let Node::Open("person", tag) = node
            && let (Some(id), Some(name)) = (attribute(tag, "id"), attribute(tag, "displayName"))
        {
            people.insert(id, name);
        }
        ON
    });
    people
}

/// Lists what is attached to a sheet.
pub(crate) fn attach(
    package: &mut Package<'_>,
    path: &str,
    shared: &Shared<'_>,
    sheet: &mut Sheet,
) {
    let relations = package.relations(path);
    let of = |kind: &str| -> Vec<String> {
        relations.iter().filter(|it| it.kind == kind).map(|it| it.target.clone()).collect()
    };
    let mut comments = Vec::new();
    for path in of("threadedComment") {
        threads(package, &path, shared, &mut comments);
    }
    // A thread leaves a note for programs that know no threads; it says nothing more.
    let threaded: HashSet<String> = comments.iter().map(|comment| comment.place.clone()).collect();
    for path in of("comments") {
        notes(package, &path, shared, &threaded, &mut comments);
    }
    sheet.detail("Comments", comments.into_iter().map(Comment::line).collect());
    let tables = of("table").iter().filter_map(|path| table(package, path)).collect();
    sheet.detail("Tables", tables);
    let (mut charts, mut pictures) = (Vec::new(), 0);
    for path in of("drawing") {
        for relation in package.relations(&path) {
            match relation.kind.as_str() {
                "chart" | "chartEx" if charts.len() < LISTED => {
                    charts.push(chart(package, &relation.target));
                }
                "image" => pictures += 1,
                _ => {}
            }
        }
    }
    sheet.detail("Charts", charts);
    if pictures > 0 {
        sheet.notes.push(format!("it holds {pictures} pictures, which are not shown"));
    }
}

/// A comment while it is read.
#[derive(Debug, Default)]
struct Comment {
    place: String,
    author: String,
    text: String,
    is_reply: bool,
}

impl Comment {
    fn line(self) -> String {
        let author =
            if self.author.is_empty() { String::new() } else { format!(" ({})", self.author) };
        let reply = if self.is_reply { ", reply" } else { "" };
        let text = self.text.trim();
        // Programs put the author before the text, as its first line.
        let text = text
            .strip_prefix(&self.author)
            .and_then(|rest| rest.strip_prefix(':'))
            .filter(|_| !self.author.is_empty())
            .unwrap_or(text);
        let words: Vec<&str> = text.split_whitespace().collect();
        format!("{}{author}{reply}: {}", self.place, words.join(" "))
    }

    fn push(&mut self, text: &str) {
        if self.text.len() + text.len() <= LONGEST {
            self.text.push_str(text);
        }
    }
}

/// Reads comments that form threads.
fn threads(
    package: &mut Package<'_>,
    path: &str,
    shared: &Shared<'_>,
    comments: &mut Vec<Comment>,
) {
    let mut open: Option<Comment> = None;
    let mut inside = false;
    package.walk(path, |node| {
        match node {
            Node::Open("threadedComment", tag) => {
                let get = |name| attribute(tag, name).unwrap_or_default();
                let author = shared.people.get(&get("personId")).cloned().unwrap_or_default();
                let is_reply = attribute(tag, "parentId").is_some();
                open = Some(Comment { place: get("ref"), author, is_reply, text: String::new() });
            }
            Node::Open("text", _) => inside = true,
            Node::Close("text") => inside = false,
            Node::Text(text) if inside => {
                if let Some(comment) = &mut open {
                    comment.push(text);
                }
            }
            Node::Close("threadedComment") => keep(shared, comments, open.take()),
            Node::Open(..) | Node::Close(_) | Node::Text(_) => {}
        }
        ON
    });
}

/// Reads notes, save those that stand for a thread.
fn notes(
    package: &mut Package<'_>,
    path: &str,
    shared: &Shared<'_>,
    threaded: &HashSet<String>,
    comments: &mut Vec<Comment>,
) {
    let mut authors: Vec<String> = Vec::new();
    let mut open: Option<Comment> = None;
    let (mut in_author, mut in_text, mut reading) = (false, false, false);
    package.walk(path, |node| {
        match node {
            Node::Open("author", _) => {
                authors.push(String::new());
                in_author = true;
            }
            Node::Close("author") => in_author = false,
            Node::Open("comment", tag) => {
                let author = number(tag, "authorId").and_then(|at| usize::try_from(at).ok());
                let author = author.and_then(|at| authors.get(at)).cloned().unwrap_or_default();
                let place = attribute(tag, "ref").unwrap_or_default();
                open = Some(Comment { place, author, ..Comment::default() });
            }
            Node::Open("rPh", _) => reading = true,
            Node::Close("rPh") => reading = false,
            Node::Open("t", _) => in_text = !reading,
            Node::Close("t") => in_text = false,
            Node::Text(text) if in_author => {
                if let Some(author) = authors.last_mut() {
                    author.push_str(text);
                }
            }
            Node::Text(text) if in_text => {
                if let Some(comment) = &mut open {
                    comment.push(text);
                }
            }
            Node::Close("comment") => {
                let comment = open.take().filter(|comment| !threaded.contains(&comment.place));
                keep(shared, comments, comment);
            }
            Node::Open(..) | Node::Close(_) | Node::Text(_) => {}
        }
        ON
    });
}

fn keep(shared: &Shared<'_>, comments: &mut Vec<Comment>, comment: Option<Comment>) {
    let asked = comment.filter(|comment| shared.concerns(&comment.place));
    comments.extend(asked.filter(|_| comments.len() < LISTED));
}

/// Describes a table of the sheet.
fn table(package: &mut Package<'_>, path: &str) -> Option<String> {
    let (mut name, mut range, mut totals) = (None, String::new(), false);
    let mut columns: Vec<String> = Vec::new();
    package.walk(path, |node| {
        match node {
            Node::Open("table", tag) => {
                name = attribute(tag, "displayName").or_else(|| attribute(tag, "name"));
                range = attribute(tag, "ref").unwrap_or_default();
                totals = number(tag, "totalsRowCount").is_some_and(|count| count > 0);
            }
            Node::Open("tableColumn", tag) if columns.len() < LISTED => {
                columns.extend(attribute(tag, "name"));
            }
            Node::Open(..) | Node::Close(_) | Node::Text(_) => {}
        }
        ON
    });
    let totals = if totals { ", with a row of totals" } else { "" };
    Some(format!("`{}` {range}{totals}: {}", name?, columns.join(", ")))
}

/// Describes a chart: its title, its type and where its data are.
fn chart(package: &mut Package<'_>, path: &str) -> String {
    let (mut title, mut kind, mut data) = (String::new(), String::new(), Vec::<String>::new());
    let (mut in_title, mut in_text, mut in_place) = (0_u32, false, false);
    package.walk(path, |node| {
        match node {
            Node::Open("title", _) => in_title += 1,
            Node::Close("title") => in_title = in_title.saturating_sub(1),
            Node::Open("t", _) => in_text = in_title > 0,
            Node::Close("t") => in_text = false,
            Node::Open("f", _) => {
                in_place = in_title == 0 && data.len() < LISTED;
                if in_place {
                    data.push(String::new());
                }
            }
            Node::Close("f") => in_place = false,
            Node::Open(name, _) if kind.is_empty() && name.ends_with("Chart") => {
                name.clone_into(&mut kind);
            }
            Node::Text(text) if in_text && title.len() < LONGEST => title.push_str(text),
            Node::Text(text) if in_place => {
                if let Some(place) = data.last_mut() {
                    place.push_str(text);
                }
            }
            Node::Open(..) | Node::Close(_) | Node::Text(_) => {}
        }
        ON
    });
    data.dedup();
    let title = if title.is_empty() { "without title".to_owned() } else { format!("`{title}`") };
    format!("{title} ({kind}) of {}", data.join(", "))
}
