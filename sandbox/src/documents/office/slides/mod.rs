//! Presentations (pptx) as Markdown: a heading per slide, in the order of the show.
//!
//! Each slide has its title, its shapes in reading order, its speaker notes and comments.
//! Hidden slides are shown and marked. Pictures are named, never embedded; what a slide
//! takes from its layout (a date, a logo) is no content of it.

mod layout;
mod shapes;

use std::collections::HashMap;
use std::rc::Rc;

use super::Begun;
use super::marks::{Blocks, quoted};
use super::package::{Package, Relations};
use super::xml::{Element, Tree};
use crate::documents::{Document, Unreadable};
use layout::Layout;
use shapes::Shapes;

/// What the kind is called.
const KIND: &str = "PowerPoint presentation";

/// The most slides.
const SLIDES: usize = 5000;

/// The most bytes of text.
const TEXT: usize = crate::documents::TEXT_LIMIT;

/// Extracts the text of a presentation.
pub(super) fn read(bytes: &[u8]) -> Result<Document, Unreadable> {
    let mut package = Package::open(bytes, KIND)?;
    let main = package.main("ppt/presentation.xml");
    let tree = package.needed(&main)?;
    let relations = package.relations(&main);
    let authors = authors(&mut package, &relations);
    let paths: Vec<Option<String>> = tree
        .root()
        .child("p:sldIdLst")
        .into_iter()
        .flat_map(|list| list.all("p:sldId"))
        .take(SLIDES)
        .map(|slide| Some(relations.get(slide.attr("r:id")?)?.target.clone()))
        .collect();
    let height = tree.root().child("p:sldSz").and_then(|size| size.attr("cy")?.parse().ok());
    let mut deck = Deck {
        package: &mut package,
        authors,
        layouts: HashMap::new(),
        height: height.unwrap_or(6_858_000),
        seen: Seen::default(),
    };
    let mut blocks = Blocks::default();
    let begun = Begun::now();
    for (index, path) in paths.iter().enumerate() {
        if blocks.len() > TEXT || begun.is_late() {
            deck.seen.left_out = paths.len() - index;
            break;
        }
        deck.slide(index + 1, path.as_deref(), &mut blocks);
    }
    let mut notes = vec![format!("slides: {}", paths.len())];
    notes.extend(deck.seen.notes());
    if paths.is_empty() {
        notes.push("the presentation holds no slides".to_owned());
    }
    Ok(Document { kind: KIND.into(), text: blocks.finish(), notes })
}

/// What was met and is told in the notes.
#[derive(Debug, Default)]
struct Seen {
    hidden: Vec<usize>,
    failed: Vec<usize>,
    pictures: usize,
    left_out: usize,
}

impl Seen {
    fn notes(&self) -> Vec<String> {
        let listed = |slides: &[usize]| {
            slides.iter().take(20).map(ToString::to_string).collect::<Vec<_>>().join(", ")
        };
        let mut notes = Vec::new();
        if !self.hidden.is_empty() {
            notes.push(format!("hidden slides, not shown in the show: {}", listed(&self.hidden)));
        }
        if !self.failed.is_empty() {
            notes.push(format!("slides that could not be read: {}", listed(&self.failed)));
        }
        if self.pictures > 0 {
            notes.push(format!("pictures, named and not shown: {}", self.pictures));
        }
        if self.left_out > 0 {
            notes.push(format!(
                "slides at the end left out, as reading them would take too long: {}",
                self.left_out
            ));
        }
        notes
    }
}

/// A presentation that is being read.
struct Deck<'a, 'b> {
    package: &'b mut Package<'a>,
    /// Names of those who comment, by their ids.
    authors: Vec<(String, String)>,
    /// The layouts that were met, by their paths.
    layouts: HashMap<String, Rc<Layout>>,
    /// Height of a slide, in EMU.
    height: i64,
    seen: Seen,
}

impl Deck<'_, '_> {
    fn slide(&mut self, number: usize, path: Option<&str>, blocks: &mut Blocks) {
        let Some((path, tree)) = path.and_then(|path| Some((path, self.package.tree(path)?)))
        else {
            self.seen.failed.push(number);
            blocks.push(&format!("## Slide {number}\n\n(this slide could not be read)"));
            return;
        };
        let relations = self.package.relations(path);
        let root = tree.root();
        let hidden = matches!(root.attr("show"), Some("0" | "false"));
        if hidden {
            self.seen.hidden.push(number);
        }
        let layout = relations.first("slideLayout").map(|path| {
            let known = self.layouts.get(path).cloned();
            known.unwrap_or_else(|| {
                let layout = Rc::new(Layout::read(self.package, path));
                self.layouts.insert(path.to_owned(), Rc::clone(&layout));
                layout
            })
        });
        let layout = layout.unwrap_or_default();
        let mut shapes = Shapes::new(self.package, &relations, &layout, self.height);
        let content = root.path("p:cSld/p:spTree").map(|it| shapes.read(it)).unwrap_or_default();
        self.seen.pictures += content.pictures;
        let mark = if hidden { " (hidden)" } else { "" };
        let title = content.title.split_whitespace().collect::<Vec<_>>().join(" ");
        let colon = if title.is_empty() { "" } else { ": " };
        blocks.heading(2, &format!("Slide {number}{mark}{colon}{title}"));
        blocks.extend(&content.blocks);
        self.notes(&relations, blocks);
        self.comments(&relations, blocks);
    }

    /// Writes what the speaker notes.
    fn notes(&mut self, relations: &Relations, blocks: &mut Blocks) {
        let Some(path) = relations.first("notesSlide") else { return };
        let Some(tree) = self.package.tree(path) else { return };
        let relations = self.package.relations(path);
        let layout = Layout::default();
        let mut shapes = Shapes::new(self.package, &relations, &layout, self.height);
        let text = tree.root().path("p:cSld/p:spTree").map(|it| shapes.notes(it));
        let text = text.filter(|text| !text.trim().is_empty());
        blocks.push(&text.map(|text| quoted("Speaker notes", &text)).unwrap_or_default());
    }

    /// Writes comments of the old and the new kind.
    fn comments(&mut self, relations: &Relations, blocks: &mut Blocks) {
        let paths: Vec<String> =
            relations.of_kind("comments").map(|relation| relation.target.clone()).collect();
        for path in paths {
            let Some(tree) = self.package.tree(&path) else { continue };
            for comment in tree.root().descendants() {
                let text = match comment.name() {
                    "p:cm" => comment.child("p:text").map(Element::text),
                    "p188:cm" | "p188:reply" => comment.child("p188:txBody").map(words),
                    _ => None,
                };
                let Some(text) = text.filter(|text| !text.trim().is_empty()) else { continue };
                let author = comment.attr("authorId").unwrap_or_default();
                let name = self.authors.iter().find(|(id, _)| id == author);
                let name = name.map_or("unknown", |(_, name)| name.as_str());
                blocks.push(&quoted(&format!("Comment by {name}"), &text));
            }
        }
    }
}

/// Returns the words of a text body.
fn words(body: Element<'_>) -> String {
    let lines = body.all("a:p").map(|paragraph| {
        paragraph
            .descendants()
            .filter(|it| it.name() == "a:t")
            .map(Element::text)
            .collect::<String>()
    });
    lines.collect::<Vec<_>>().join("\n")
}

fn authors(package: &mut Package<'_>, relations: &Relations) -> Vec<(String, String)> {
    let mut list = Vec::new();
    for kind in ["commentAuthors", "authors"] {
        let tree = relations.first(kind).and_then(|path| package.tree(path));
        for author in tree.iter().map(Tree::root).flat_map(Element::children) {
            if let (Some(id), Some(name)) = (author.attr("id"), author.attr("name")) {
                list.push((id.to_owned(), name.to_owned()));
            }
        }
    }
    list
}
