//! Word documents (docx) as Markdown.
//!
//! The text is that of the document with all tracked changes accepted. Notes and comments
//! stand at the end, with marks where they belong; pictures show as their description and
//! name. What is left out (deleted and hidden text) is counted in the notes.

mod body;
mod numbering;
mod runs;
mod styles;

use std::collections::{BTreeSet, HashMap};

use super::marks::Blocks;
use super::package::{Package, Relations};
use super::xml::{Element, Tree};
use crate::documents::{Document, Unreadable};
use numbering::Numbering;
use styles::Styles;

pub(in crate::documents) use numbering::number;

/// What the kind is called.
const KIND: &str = "Word document";

/// The most empty cells that are added for merged ones.
const SPARE: usize = 200_000;

/// The parts that a document's text refers to.
struct Parts {
    footnotes: Option<(Tree, Relations)>,
    endnotes: Option<(Tree, Relations)>,
    comments: Option<(Tree, Relations)>,
}

/// Extracts the text of a document.
pub(super) fn read(bytes: &[u8]) -> Result<Document, Unreadable> {
    let mut package = Package::open(bytes, KIND)?;
    let main = package.main("word/document.xml");
    let tree = package.needed(&main)?;
    let relations = package.relations(&main);
    let mut part = |kind: &str| {
        let path = relations.first(kind)?.to_owned();
        Some((package.tree(&path)?, package.relations(&path)))
    };
    let parts = Parts {
        footnotes: part("footnotes"),
        endnotes: part("endnotes"),
        comments: part("comments"),
    };
    let styles = part("styles").map(|(tree, _)| tree);
    let numbering = part("numbering").map(|(tree, _)| tree);
    let mut reader = Reader {
        relations: &relations,
        parts: &parts,
        styles: Styles::read(styles.as_ref()),
        numbering: Numbering::read(numbering.as_ref()),
        package: &mut package,
        fields: Vec::new(),
        noted: Vec::new(),
        commented: HashMap::new(),
        open: Vec::new(),
        margins: BTreeSet::new(),
        carried: None,
        cells: 0,
        spare: SPARE,
        after: Vec::new(),
        seen: Seen::default(),
    };
    let body = tree.root().child("w:body").unwrap_or(tree.root());
    let mut blocks = Blocks::default();
    reader.blocks(body, &mut blocks);
    reader.notes(&mut blocks);
    reader.margins(&mut blocks);
    let mut notes = reader.seen.notes();
    if let Some(broken) = &tree.broken {
        notes.push(format!("the text breaks off, since its part is damaged: {broken}"));
    }
    let text = blocks.finish();
    if text.trim().is_empty() {
        notes.insert(0, "the document holds no text".to_owned());
    }
    Ok(Document { kind: KIND.into(), text, notes })
}

/// What was met and is told in the notes.
#[derive(Debug, Default)]
struct Seen {
    deleted: usize,
    inserted: usize,
    hidden: usize,
    pictures: usize,
    comments: usize,
    objects: usize,
}

impl Seen {
    fn notes(&self) -> Vec<String> {
        let mut notes = Vec::new();
        if self.deleted + self.inserted > 0 {
            notes.push(format!(
                "tracked changes are shown as accepted (insertions: {}, deletions left out: {})",
                self.inserted, self.deleted
            ));
        }
        let counts = [
            (self.comments, "comments, at the end as `[^c1]` and so on"),
            (self.hidden, "runs of hidden text left out"),
            (self.pictures, "pictures, named and not shown"),
            (self.objects, "embedded objects, named and not shown"),
        ];
        let counts = counts.iter().filter(|(count, _)| *count > 0);
        notes.extend(counts.map(|(count, what)| format!("{what}: {count}")));
        notes
    }
}

/// Which collection a note is of.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Collection {
    Foot,
    End,
    Comment,
}

impl Collection {
    /// What its labels begin with.
    fn prefix(self) -> &'static str {
        match self {
            Self::Foot => "",
            Self::End => "e",
            Self::Comment => "c",
        }
    }
}

/// A field that is open.
#[derive(Debug, Default)]
struct Field {
    instruction: String,
    in_result: bool,
    place: (usize, usize),
}

/// The state of reading.
struct Reader<'a, 'b> {
    package: &'b mut Package<'a>,
    relations: &'b Relations,
    parts: &'b Parts,
    styles: Styles,
    numbering: Numbering,
    fields: Vec<Field>,
    /// Notes that were referred to, in that order.
    noted: Vec<(Collection, String)>,
    /// The text that a comment is on, by its id.
    commented: HashMap<String, String>,
    /// Comments whose text goes on.
    open: Vec<String>,
    /// Parts of headers and footers.
    margins: BTreeSet<(bool, String)>,
    /// What a paragraph without an end carries into the next.
    carried: Option<super::marks::Inline>,
    /// How many cells of tables are open.
    cells: usize,
    /// How many empty cells may still be added for those that are merged.
    spare: usize,
    /// What stands below the paragraph at hand: text boxes, charts.
    after: Vec<String>,
    seen: Seen,
}

impl Reader<'_, '_> {
    /// Returns the mark of a note, and remembers that it is to be shown.
    fn note(&mut self, collection: Collection, id: &str) -> String {
        let same = |noted: &&(Collection, String)| noted.0 == collection;
        let known = self.noted.iter().filter(same).position(|noted| noted.1 == id);
        let at = known.unwrap_or_else(|| {
            self.noted.push((collection, id.to_owned()));
            self.noted.iter().filter(same).count() - 1
        });
        format!("[^{}{}]", collection.prefix(), at + 1)
    }

    /// Writes the notes and comments that were referred to.
    fn notes(&mut self, blocks: &mut Blocks) {
        let mut at = 0;
        // Notes may refer to notes.
        while let Some((collection, id)) = self.noted.get(at).cloned() {
            at += 1;
            let label = self.note(collection, &id);
            let parts = self.parts;
            let (part, name) = match collection {
                Collection::Foot => (&parts.footnotes, "w:footnote"),
                Collection::End => (&parts.endnotes, "w:endnote"),
                Collection::Comment => (&parts.comments, "w:comment"),
            };
            let Some((tree, relations)) = part else { continue };
            let Some(note) = tree.root().all(name).find(|it| it.attr("w:id") == Some(&id)) else {
                continue;
            };
            let text = self.elsewhere(relations, note);
            let head = if collection == Collection::Comment {
                self.seen.comments += 1;
                self.comment_head(note, &id)
            } else {
                String::new()
            };
            let text = text.trim().replace('\n', "\n    ");
            blocks.push(&format!("{label}: {head}{text}"));
        }
    }

    fn comment_head(&self, comment: Element<'_>, id: &str) -> String {
        let author = comment.attr("w:author").unwrap_or("unknown");
        let mut head = format!("comment by {author}");
        if let Some(date) = comment.attr("w:date").and_then(|date| date.get(..10)) {
            head.extend([", ", date]);
        }
        if let Some(on) = self.commented.get(id).filter(|on| !on.trim().is_empty()) {
            head.extend([", on “", on.trim(), "”"]);
        }
        head + ": "
    }

    /// Reads blocks of another part, with its references.
    fn elsewhere(&mut self, relations: &Relations, element: Element<'_>) -> String {
        let fields = std::mem::take(&mut self.fields);
        let mut inner = Reader {
            package: &mut *self.package,
            relations,
            parts: self.parts,
            styles: std::mem::take(&mut self.styles),
            numbering: std::mem::take(&mut self.numbering),
            fields: Vec::new(),
            noted: std::mem::take(&mut self.noted),
            commented: HashMap::new(),
            open: Vec::new(),
            margins: BTreeSet::new(),
            carried: None,
            cells: 0,
            spare: self.spare,
            after: Vec::new(),
            seen: std::mem::take(&mut self.seen),
        };
        let mut blocks = Blocks::default();
        inner.blocks(element, &mut blocks);
        let Reader { styles, numbering, noted, seen, .. } = inner;
        (self.styles, self.numbering, self.noted, self.seen) = (styles, numbering, noted, seen);
        self.fields = fields;
        blocks.finish()
    }

    /// Writes headers and footers, each text once.
    fn margins(&mut self, blocks: &mut Blocks) {
        let mut shown = BTreeSet::new();
        for (footer, path) in std::mem::take(&mut self.margins) {
            let Some(tree) = self.package.tree(&path) else { continue };
            let relations = self.package.relations(&path);
            let text = self.elsewhere(&relations, tree.root());
            let name = if footer { "Footer" } else { "Header" };
            if !text.trim().is_empty() && shown.insert((footer, text.clone())) {
                blocks.push(&super::marks::quoted(name, &text));
            }
        }
    }
}
