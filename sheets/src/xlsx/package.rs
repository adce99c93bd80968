//! The container of a workbook: its members by name, and how they refer to one another.

use std::collections::HashMap;
use std::io::{BufRead, BufReader, Cursor, Read};

use zip::ZipArchive;
use zip::result::ZipError;

use crate::error::Error;
use crate::xml::{Flow, Node, ON, attribute, walk};

/// The most bytes that a part other than a sheet unpacks to.
const PART: u64 = 256 << 20;

/// A container whose members are listed.
pub(crate) struct Package<'a> {
    archive: ZipArchive<Cursor<&'a [u8]>>,
    members: HashMap<String, usize>,
}

/// A reference from one part to another.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Relation {
    pub id: String,
    /// The last word of its type, such as `worksheet`.
    pub kind: String,
    /// A member, or an address outside.
    pub target: String,
}

impl<'a> Package<'a> {
    pub(crate) fn open(bytes: &'a [u8]) -> Result<Self, Error> {
        let archive =
            ZipArchive::new(Cursor::new(bytes)).map_err(|error| Error::damaged(&error))?;
        let members = archive
            .file_names()
            .enumerate()
            .filter_map(|(at, name)| Some((plain(&name.ok()?), at)))
            .collect();
        Ok(Self { archive, members })
    }

    /// Whether there is such a member.
    pub(crate) fn has(&self, path: &str) -> bool {
        self.members.contains_key(&plain(path))
    }

    /// Opens a member for reading; it yields at most so many bytes.
    pub(crate) fn stream(&mut self, path: &str, most: u64) -> Result<Option<impl BufRead>, Error> {
        let Some(at) = self.members.get(&plain(path)) else { return Ok(None) };
        match self.archive.by_index(*at) {
            Ok(member) => Ok(Some(BufReader::with_capacity(64 << 10, member.take(most)))),
            Err(ZipError::UnsupportedArchive(ZipError::PASSWORD_REQUIRED)) => Err(Error::Encrypted),
            Err(error) => Err(Error::damaged(&error)),
        }
    }

    /// Reads a part that describes something; one that is missing or damaged describes less.
    pub(crate) fn walk(&mut self, path: &str, visit: impl FnMut(Node<'_>) -> Flow) -> bool {
        match self.stream(path, PART) {
            Ok(Some(source)) => walk(source, visit).is_ok(),
            Ok(None) | Err(_) => false,
        }
    }

    /// Returns what a part refers to; the empty path is the container itself.
    pub(crate) fn relations(&mut self, path: &str) -> Vec<Relation> {
        let (folder, name) = path.rsplit_once('/').unwrap_or(("", path));
        let list = if folder.is_empty() {
            format!("_rels/{name}.rels")
        } else {
            format!("{folder}/_rels/{name}.rels")
        };
        let mut found = Vec::new();
        self.walk(&list, |node| {
            if let Node::Open("Relationship", tag) = node {
                let get = |name| attribute(tag, name).unwrap_or_default();
                let kind = get("Type");
                let outside = get("TargetMode").eq_ignore_ascii_case("external");
                let target = get("Target");
                found.push(Relation {
                    id: get("Id"),
                    kind: kind.rsplit('/').next().unwrap_or_default().to_owned(),
                    target: if outside { target } else { resolved(folder, &target) },
                });
            }
            ON
        });
        found
    }
}

fn plain(path: &str) -> String {
    path.replace('\\', "/").trim_start_matches('/').to_lowercase()
}

/// Returns the member that a reference from a folder means.
fn resolved(folder: &str, target: &str) -> String {
    let target = target.replace('\\', "/");
    let mut parts: Vec<&str> =
        if target.starts_with('/') { Vec::new() } else { folder.split('/').collect() };
    for part in target.split('/') {
        match part {
            "" | "." => {}
            ".." => {
                parts.pop();
            }
            part => parts.push(part),
        }
    }
    parts.retain(|part| !part.is_empty());
    parts.join("/")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn references_stay_in_the_container() {
        let table = [
            ("xl", "worksheets/sheet1.xml", "xl/worksheets/sheet1.xml", "below"),
            ("xl/worksheets", "../comments1.xml", "xl/comments1.xml", "beside"),
            ("xl", "/xl/sheet.xml", "xl/sheet.xml", "from the top"),
            ("", "xl/workbook.xml", "xl/workbook.xml", "from the container"),
            ("xl", "../../../etc/passwd", "etc/passwd", "above the top is the top"),
            ("xl", "media\\a.png", "xl/media/a.png", "with the other slash"),
        ];
        for (folder, target, want, why) in table {
            assert_eq!(resolved(folder, target), want, "{why}");
        }
    }
}
