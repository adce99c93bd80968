//! EPUB books as Markdown: what they are, then their chapters in reading order.
//!
//! Chapters are pages; they are converted as other pages are. Books that are protected are
//! refused.

use std::collections::HashSet;
use std::sync::LazyLock;

use regex::{Captures, Regex};

use super::marks::Blocks;
use super::package::{Package, resolve};
use super::xml::{Element, Tree};
use super::{Begun, page};
use crate::documents::{Document, TEXT_LIMIT, Unreadable};
use crate::encoding;

/// What the kind is called.
const KIND: &str = "EPUB book";

/// The most chapters.
const CHAPTERS: usize = 5000;

/// What is told of a book, and how it is called.
const ABOUT: [(&str, &str); 7] = [
    ("dc:title", "Title"),
    ("dc:creator", "Authors"),
    ("dc:language", "Language"),
    ("dc:publisher", "Publisher"),
    ("dc:date", "Date"),
    ("dc:subject", "Subjects"),
    ("dc:description", "Description"),
];

/// Ways to hide fonts from copying, which leave the text readable.
const FONTS: [&str; 2] = ["http://www.idpf.org/2008/embedding", "http://ns.adobe.com/pdf/enc#RC"];

/// Elements that are empty in pages too; others must not end in their first tag.
const EMPTY: [&str; 8] = ["br", "hr", "img", "meta", "link", "input", "col", "area"];

static CLOSED: LazyLock<Option<Regex>> =
    LazyLock::new(|| Regex::new(r"<([A-Za-z][\w:.-]*)((?:\s[^<>]*?)?)/>").ok());

/// Extracts the text of a book.
pub(super) fn read(bytes: &[u8]) -> Result<Document, Unreadable> {
    let mut package = Package::open(bytes, KIND)?;
    if is_protected(&mut package) {
        return Err(Unreadable::Encrypted(KIND));
    }
    let container = package.needed("META-INF/container.xml")?;
    let path = container.root().find("rootfile").and_then(|it| it.attr("full-path"));
    let path = resolve("", path.unwrap_or("content.opf"));
    let book = package.needed(&path)?;
    let folder = path.rsplit_once('/').map_or("", |(folder, _)| folder).to_owned();
    let mut blocks = Blocks::default();
    about(book.root(), &mut blocks);
    let items: Vec<Item<'_>> = items(book.root(), &folder);
    let titles = titles(&mut package, &items, book.root());
    let order: Vec<&Item<'_>> = book
        .root()
        .child("spine")
        .into_iter()
        .flat_map(|spine| spine.all("itemref"))
        .filter_map(|reference| items.iter().find(|item| Some(item.id) == reference.attr("idref")))
        .take(CHAPTERS)
        .collect();
    let mut notes = Vec::new();
    let (mut count, mut failed) = (0, Vec::new());
    let begun = Begun::now();
    let mut shown = HashSet::new();
    for item in order {
        // The list of contents repeats the headings.
        if item.is_contents || !shown.insert(item.id) {
            continue;
        }
        if blocks.len() > TEXT_LIMIT || begun.is_late() {
            notes.push("the last chapters are left out; they would take too long".to_owned());
            break;
        }
        count += 1;
        let Some(bytes) = package.part(&item.path) else {
            failed.push(item.path.clone());
            continue;
        };
        let title =
            titles.iter().find(|(path, _)| *path == item.path).map(|(_, title)| title.as_str());
        chapter(&bytes, title, &mut blocks);
    }
    notes.insert(0, format!("chapters: {count}"));
    if !failed.is_empty() {
        failed.truncate(8);
        notes.push(format!("chapters that could not be read: {}", failed.join(", ")));
    }
    Ok(Document { kind: KIND.into(), text: blocks.finish(), notes })
}

fn is_protected(package: &mut Package<'_>) -> bool {
    let tree = package.tree("META-INF/encryption.xml");
    tree.is_some_and(|tree| {
        tree.root().descendants().any(|it| {
            it.name().ends_with("EncryptionMethod")
                && it.attr("Algorithm").is_some_and(|algorithm| !FONTS.contains(&algorithm))
        })
    })
}

/// Writes what is known of the book.
fn about(book: Element<'_>, blocks: &mut Blocks) {
    let Some(metadata) = book.child("metadata") else { return };
    let mut lines = Vec::new();
    for (name, called) in ABOUT {
        let values = metadata.descendants().filter(|it| it.name() == name).map(Element::text);
        let values: Vec<String> = values
            .map(|value| page(&value).split_whitespace().collect::<Vec<_>>().join(" "))
            .filter(|value| !value.is_empty())
            .collect();
        if !values.is_empty() {
            lines.push(format!("**{called}:** {}", values.join(", ")));
        }
    }
    blocks.push(&lines.join("\n"));
}

/// A file of the book.
struct Item<'a> {
    id: &'a str,
    path: String,
    is_contents: bool,
    is_index: bool,
}

fn items<'a>(book: Element<'a>, folder: &str) -> Vec<Item<'a>> {
    let list = book.child("manifest").into_iter().flat_map(|list| list.all("item"));
    list.filter_map(|item| {
        let properties = item.attr("properties").unwrap_or_default();
        Some(Item {
            id: item.attr("id")?,
            path: resolve(folder, &decoded(item.attr("href")?)),
            is_contents: properties.split(' ').any(|it| it == "nav"),
            is_index: item.attr("media-type") == Some("application/x-dtbncx+xml"),
        })
    })
    .collect()
}

fn decoded(path: &str) -> String {
    let path = path.split('#').next().unwrap_or(path);
    percent_encoding::percent_decode_str(path).decode_utf8_lossy().into_owned()
}

/// Returns what the lists of contents call the chapters, by their paths.
fn titles(
    package: &mut Package<'_>,
    items: &[Item<'_>],
    book: Element<'_>,
) -> Vec<(String, String)> {
    let named = book.child("spine").and_then(|spine| spine.attr("toc"));
    let lists = items.iter().filter(|it| it.is_contents || it.is_index || Some(it.id) == named);
    let mut titles: Vec<(String, String)> = Vec::new();
    for item in lists {
        let Some(tree) = package.tree(&item.path) else { continue };
        let folder = item.path.rsplit_once('/').map_or("", |(folder, _)| folder);
        for (address, title) in entries(&tree) {
            let path = resolve(folder, &decoded(&address));
            if !title.is_empty() && !titles.iter().any(|(known, _)| *known == path) {
                titles.push((path, title));
            }
        }
    }
    titles
}

fn entries(tree: &Tree) -> Vec<(String, String)> {
    let words = |text: String| text.split_whitespace().collect::<Vec<_>>().join(" ");
    let list = tree.root().descendants().take(CHAPTERS * 10).filter_map(|it| match it.name() {
        "a" => Some((it.attr("href")?.to_owned(), words(it.text()))),
        "navPoint" => {
            let address = it.child("content")?.attr("src")?.to_owned();
            Some((address, words(it.path("navLabel/text")?.text())))
        }
        _ => None,
    });
    list.collect()
}

/// Writes a chapter; one without a heading gets that of the list of contents.
fn chapter(bytes: &[u8], title: Option<&str>, blocks: &mut Blocks) {
    let text = page(&opened(&encoding::decode(bytes, None).text));
    let text = text.trim();
    let has_heading = text.lines().any(|line| line.starts_with('#'));
    if let Some(title) = title.filter(|_| !has_heading && !text.is_empty()) {
        blocks.heading(1, title);
    }
    blocks.push(text);
}

/// Gives elements that end in their first tag, as XML lets them, an end of their own.
fn opened(page: &str) -> String {
    let Some(closed) = CLOSED.as_ref() else {
        return page.to_owned();
    };
    let opened = closed.replace_all(page, |found: &Captures<'_>| {
        let name = &found[1];
        if EMPTY.iter().any(|empty| name.eq_ignore_ascii_case(empty)) {
            found[0].to_owned()
        } else {
            format!("<{name}{}></{name}>", &found[2])
        }
    });
    opened.into_owned()
}
