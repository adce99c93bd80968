//! Views that are no part of a state: a world makes them when a statement needs them.
//!
//! A connection reads its whole schema before its first statement, and large views are most
//! of one. Those of `views.sql` are temporary instead: whatever names one in its text finds
//! it there, together with those that it names itself. A name counts wherever it stands; one
//! too many costs microseconds and changes no answer.

use std::collections::BTreeMap;

use rusqlite::Connection;
use wildgym_tasks::world::{Fault, Operation, Script, World};

use super::script::{Piece, pieces};

/// A view of `views.sql`.
#[derive(Debug)]
pub(super) struct View {
    /// Its name, in small letters.
    pub(super) name: String,
    /// The statement that makes it.
    pub(super) sql: String,
    /// The line of the script on which it starts, from 1.
    pub(super) line: usize,
}

/// The views of a world, and which of them its operations need.
#[derive(Debug, Default)]
pub(super) struct Views {
    all: Vec<View>,
    operations: BTreeMap<String, Vec<usize>>,
}

impl Views {
    /// Reads the views of a world. Nothing but views may stand in their file.
    pub(super) fn read(world: &World) -> Result<Self, Fault> {
        let Some(script) = &world.views else { return Ok(Self::default()) };
        let mut views = Self::default();
        for (index, piece) in pieces(&script.text).iter().enumerate() {
            let name = name(piece).ok_or_else(|| wrong(script, index, piece))?;
            let sql = piece.text.to_owned();
            views.all.push(View { name, sql, line: piece.line });
        }
        let needed = |operation: &Operation| views.needed(&texts(operation));
        views.operations = world
            .operations
            .values()
            .map(|operation| (operation.name.clone(), needed(operation)))
            .collect();
        Ok(views)
    }

    /// Returns the views in the order of their file.
    pub(super) fn iter(&self) -> impl Iterator<Item = &View> {
        self.all.iter()
    }

    /// Returns a view by its place.
    pub(super) fn get(&self, place: usize) -> Option<&View> {
        self.all.get(place)
    }

    /// Returns the places of the views that an operation needs.
    pub(super) fn of_operation(&self, operation: &str) -> &[usize] {
        self.operations.get(operation).map(Vec::as_slice).unwrap_or_default()
    }

    /// Returns the places of the views that texts name, and of those that these name.
    pub(super) fn needed(&self, texts: &[&str]) -> Vec<usize> {
        let mut found: Vec<usize> = Vec::new();
        let mut open: Vec<String> = texts.iter().map(|text| text.to_ascii_lowercase()).collect();
        while let Some(text) = open.pop() {
            for (place, view) in self.all.iter().enumerate() {
                if !found.contains(&place) && mentions(&text, &view.name) {
                    found.push(place);
                    open.push(view.sql.to_ascii_lowercase());
                }
            }
        }
        found.sort_unstable();
        found
    }

    /// Makes all views in a connection.
    pub(super) fn make_all(&self, connection: &Connection) -> rusqlite::Result<()> {
        self.all.iter().try_for_each(|view| connection.execute_batch(&view.sql))
    }
}

/// Returns the statements of an operation.
fn texts(operation: &Operation) -> Vec<&str> {
    let conditions = operation.preconditions.iter().map(|precondition| precondition.sql.as_str());
    let effects = operation.effects.iter().map(String::as_str);
    conditions.chain(effects).chain(operation.result.as_deref()).collect()
}

/// Returns the name in `CREATE TEMP VIEW name AS …`.
fn name(piece: &Piece<'_>) -> Option<String> {
    let mut words = piece.text.split_whitespace();
    for expected in ["create", "temp", "view"] {
        words.next().filter(|word| word.eq_ignore_ascii_case(expected))?;
    }
    let name = words.next()?.to_ascii_lowercase();
    words.next().filter(|word| word.eq_ignore_ascii_case("as"))?;
    let plain = !name.is_empty() && name.bytes().all(is_word);
    plain.then_some(name)
}

fn wrong(script: &Script, index: usize, piece: &Piece<'_>) -> Fault {
    let problem = format!(
        "statement {} (`{}`): expected `CREATE TEMP VIEW name AS SELECT …`; tables and lasting \
         views belong into schema.sql",
        index + 1,
        piece.beginning()
    );
    Fault { file: script.file.clone(), line: Some(piece.line), field: None, problem }
}

/// Returns whether a word stands in a text; both in small letters.
fn mentions(text: &str, word: &str) -> bool {
    let is_end = |byte: Option<&u8>| byte.is_none_or(|byte| !is_word(*byte));
    text.match_indices(word).any(|(at, _)| {
        let before = at.checked_sub(1).and_then(|at| text.as_bytes().get(at));
        is_end(before) && is_end(text.as_bytes().get(at + word.len()))
    })
}

fn is_word(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || byte == b'_'
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_counts_where_it_stands_alone() {
        let table = [
            ("select * from records", true, "at the end"),
            ("select * from \"records\" where 1", true, "in quotes"),
            ("select * from old_records", false, "a part of a longer name"),
            ("select records2 from t", false, "a longer name"),
            ("select records2, records.id", true, "the second time"),
            ("", false, "nothing"),
        ];
        for (text, want, why) in table {
            assert_eq!(mentions(text, "records"), want, "{why}");
        }
    }

    #[test]
    fn only_temporary_views_are_views() {
        let table = [
            ("CREATE TEMP VIEW a AS SELECT 1", Some("a"), "as told"),
            ("create temp view A_1\nas select 1", Some("a_1"), "in any case, over lines"),
            ("CREATE VIEW a AS SELECT 1", None, "one that would last"),
            ("CREATE TEMP TABLE a AS SELECT 1", None, "a table"),
            ("CREATE TEMP VIEW main.a AS SELECT 1", None, "a place of its own"),
            ("CREATE TEMP VIEW a (b) AS SELECT 1", None, "names of columns"),
        ];
        for (text, want, why) in table {
            let found = name(&Piece { text, line: 1 });
            assert_eq!(found.as_deref(), want, "{why}");
        }
    }
}
