//! The parts of a ZIP package, and how they refer to each other.
//!
//! Targets are paths within the package only; nothing outside is ever opened. The members
//! were counted and unpacked once before (`archive`), so a part is of bounded size.

use std::collections::HashMap;
use std::io::{Cursor, Read};

use zip::ZipArchive;

use super::xml::Tree;
use crate::documents::Unreadable;

/// The most bytes of a part that is parsed.
const PART: u64 = 96 << 20;

/// The most bytes of all parts that are read; each is read once, as a rule.
const ALL: u64 = 384 << 20;

/// A package of XML parts.
pub(in crate::documents) struct Package<'a> {
    archive: ZipArchive<Cursor<&'a [u8]>>,
    /// Places of the members by their names in lower case.
    members: HashMap<String, usize>,
    /// How many bytes may still be unpacked.
    left: u64,
    kind: &'static str,
}

impl<'a> Package<'a> {
    /// Opens a package; `kind` names it in reasons.
    pub(in crate::documents) fn open(
        bytes: &'a [u8],
        kind: &'static str,
    ) -> Result<Self, Unreadable> {
        let archive = ZipArchive::new(Cursor::new(bytes))
            .map_err(|error| Unreadable::damaged(kind, &error))?;
        let members = archive
            .file_names()
            .enumerate()
            .filter_map(|(index, name)| {
                let name = name.ok()?.replace('\\', "/").to_ascii_lowercase();
                Some((name.trim_start_matches('/').to_owned(), index))
            })
            .collect();
        Ok(Self { archive, members, left: ALL, kind })
    }

    /// Whether there is such a part.
    pub(in crate::documents) fn has(&self, path: &str) -> bool {
        self.members.contains_key(&path.to_ascii_lowercase())
    }

    /// Returns the bytes of a part, or nothing where it is missing or cannot be unpacked.
    pub(in crate::documents) fn part(&mut self, path: &str) -> Option<Vec<u8>> {
        let index = *self.members.get(&path.to_ascii_lowercase())?;
        let mut bytes = Vec::new();
        let member = self.archive.by_index(index).ok()?;
        // What a damaged member yields before it breaks off is worth reading.
        let _ = member.take(PART.min(self.left)).read_to_end(&mut bytes);
        self.left = self.left.saturating_sub(bytes.len() as u64);
        (!bytes.is_empty()).then_some(bytes)
    }

    /// Parses a part that the document can do without.
    pub(in crate::documents) fn tree(&mut self, path: &str) -> Option<Tree> {
        Tree::parse(&self.part(path)?, self.kind).ok()
    }

    /// Parses a part that the document cannot do without.
    pub(in crate::documents) fn needed(&mut self, path: &str) -> Result<Tree, Unreadable> {
        let bytes = self.part(path).ok_or_else(|| Unreadable::Damaged {
            kind: self.kind,
            reason: format!("its part `{path}` is missing or cannot be unpacked"),
        })?;
        Tree::parse(&bytes, self.kind)
    }

    /// Returns what a part refers to, by the references' ids.
    pub(in crate::documents) fn relations(&mut self, path: &str) -> Relations {
        let (folder, name) = path.rsplit_once('/').unwrap_or(("", path));
        let slash = if folder.is_empty() { "" } else { "/" };
        let tree = self.tree(&format!("{folder}{slash}_rels/{name}.rels"));
        let mut relations = Relations::default();
        for relation in tree.iter().flat_map(|tree| tree.root().children()) {
            let (Some(id), Some(target)) = (relation.attr("Id"), relation.attr("Target")) else {
                continue;
            };
            let external = relation.attr("TargetMode") == Some("External");
            let kind = relation.attr("Type").unwrap_or_default();
            relations.index.entry(id.to_owned()).or_insert(relations.list.len());
            relations.list.push(Relation {
                kind: kind.rsplit('/').next().unwrap_or_default().to_owned(),
                target: if external { target.to_owned() } else { resolve(folder, target) },
                external,
            });
        }
        relations
    }

    /// Returns the path of the main part.
    pub(in crate::documents) fn main(&mut self, usual: &str) -> String {
        let relations = self.relations("");
        let main = relations.of_kind("officeDocument").find(|main| self.has(&main.target));
        main.map_or_else(|| usual.to_owned(), |main| main.target.clone())
    }
}

/// A reference of a part.
pub(in crate::documents) struct Relation {
    /// The last part of its type, such as `hyperlink`.
    pub(in crate::documents) kind: String,
    /// A path in the package, or an address.
    pub(in crate::documents) target: String,
    /// Whether it leads out of the package.
    pub(in crate::documents) external: bool,
}

/// The references of a part.
#[derive(Default)]
pub(in crate::documents) struct Relations {
    list: Vec<Relation>,
    /// Places in the list by the ids.
    index: HashMap<String, usize>,
}

impl Relations {
    /// Returns a reference by its id.
    pub(in crate::documents) fn get(&self, id: &str) -> Option<&Relation> {
        self.list.get(*self.index.get(id)?)
    }

    /// Returns the references of a kind.
    pub(in crate::documents) fn of_kind(&self, kind: &str) -> impl Iterator<Item = &Relation> {
        self.list.iter().filter(move |relation| relation.kind == kind)
    }

    /// Returns the path of the first part of a kind.
    pub(in crate::documents) fn first(&self, kind: &str) -> Option<&str> {
        self.of_kind(kind).find(|relation| !relation.external).map(|it| it.target.as_str())
    }
}

/// Resolves a target against the folder of the part that names it.
pub(in crate::documents) fn resolve(folder: &str, target: &str) -> String {
    let target = target.replace('\\', "/");
    let whole = match target.strip_prefix('/') {
        Some(absolute) => absolute.to_owned(),
        None => format!("{folder}/{target}"),
    };
    let mut parts: Vec<&str> = Vec::new();
    for part in whole.split('/') {
        match part {
            "" | "." => {}
            ".." => {
                parts.pop();
            }
            part => parts.push(part),
        }
    }
    parts.join("/")
}

/// Returns the last part of a path.
pub(in crate::documents) fn base(path: &str) -> &str {
    path.rsplit(['/', '\\']).next().unwrap_or(path)
}

#[cfg(test)]
mod tests {
    use super::resolve;

    #[test]
    fn targets_stay_in_the_package() {
        let table = [
            ("word", "media/a.png", "word/media/a.png"),
            ("ppt/slides", "../charts/chart1.xml", "ppt/charts/chart1.xml"),
            ("word", "/word/document.xml", "word/document.xml"),
            ("", "../../etc/passwd", "etc/passwd"),
            ("OEBPS", "./text\\a.xhtml", "OEBPS/text/a.xhtml"),
        ];
        for (folder, target, want) in table {
            assert_eq!(resolve(folder, target), want);
        }
    }
}
