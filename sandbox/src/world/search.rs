//! The function by which operations search: `has_words(query, text, …)`.
//!
//! It is 1 where each word of the query (what stands between spaces) is a part of at least
//! one of the texts, 0 where one is not, and `NULL` where the query is. Case does not
//! matter, in any script; `%`, `_` and quotes stand for themselves. Numbers are read as
//! they are written; a text that is `NULL` holds no word. `LIKE` can do the same only with
//! a loop over the words and with escapes in each of them, and takes longer.

use std::borrow::Cow;

use memchr::memchr2_iter;
use rusqlite::functions::{Context, FunctionFlags};
use rusqlite::types::ValueRef;
use rusqlite::{Connection, Error, Result};

/// Gives a connection the function.
pub(super) fn register_words(connection: &Connection) -> Result<()> {
    let flags = FunctionFlags::SQLITE_UTF8
        | FunctionFlags::SQLITE_DETERMINISTIC
        | FunctionFlags::SQLITE_INNOCUOUS;
    connection.create_scalar_function("has_words", -1, flags, |context| has_words(context))
}

fn has_words(context: &Context<'_>) -> Result<Option<bool>> {
    if context.len() < 2 {
        let problem = "has_words() takes a query and at least one text";
        return Err(Error::UserFunctionError(problem.into()));
    }
    // SQLite keeps the words from row to row where the query is the same for all.
    let words = context.get_or_create_aux(0, |query| Ok::<_, Error>(Words::of(query)))?;
    let Words(Some(words)) = &*words else { return Ok(None) };
    let texts = || (1..context.len()).filter_map(|index| text(context.get_raw(index)));
    Ok(Some(words.iter().all(|word| texts().any(|text| word.is_part_of(&text)))))
}

/// What is looked for; nothing where the query is `NULL`.
struct Words(Option<Vec<Word>>);

impl Words {
    fn of(query: ValueRef<'_>) -> Self {
        let words = |query: Cow<'_, [u8]>| {
            let query = String::from_utf8_lossy(&query).to_lowercase();
            query.split_whitespace().map(|word| Word(word.to_owned())).collect()
        };
        Self(text(query).map(words))
    }
}

/// A word in small letters.
struct Word(String);

impl Word {
    fn is_part_of(&self, text: &[u8]) -> bool {
        if !self.0.is_ascii() {
            return String::from_utf8_lossy(text).to_lowercase().contains(&self.0);
        }
        let Some((first, rest)) = self.0.as_bytes().split_first() else { return true };
        memchr2_iter(*first, first.to_ascii_uppercase(), text).any(|at| {
            let there = text.get(at + 1..at + 1 + rest.len());
            there.is_some_and(|there| there.eq_ignore_ascii_case(rest))
        })
    }
}

/// Returns a value as text; nothing where it is none.
fn text(value: ValueRef<'_>) -> Option<Cow<'_, [u8]>> {
    match value {
        ValueRef::Null | ValueRef::Blob(_) => None,
        ValueRef::Integer(number) => Some(number.to_string().into_bytes().into()),
        ValueRef::Real(number) => Some(number.to_string().into_bytes().into()),
        ValueRef::Text(text) => Some(text.into()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Each case: the arguments as SQL, and what is expected.
    #[test]
    fn words_are_found_in_any_text() {
        let connection = Connection::open_in_memory().unwrap();
        register_words(&connection).unwrap();
        let table = [
            ("'stone', 'Flintstone Ltd'", Some(true)),
            ("'STONE ann', 'Flintstone Ltd', 'Ann'", Some(true)),
            ("'stone ann', 'Flintstone Ltd', NULL", Some(false)),
            ("'ann stone', 'Ann', 'Stone'", Some(true)),
            ("'annstone', 'Ann', 'Stone'", Some(false)),
            ("'a%e', 'alone'", Some(false)),
            ("'a_e', 'ape'", Some(false)),
            ("'a_e \"', 'a_e', 'x\"y'", Some(true)),
            ("'MÜLLER', 'Fred Müller'", Some(true)),
            ("'fred MÜLLER', 'Fred', 'müller'", Some(true)),
            ("'ll', 'hall', 'Müller'", Some(true)),
            ("'ster', 'sstester'", Some(true)),
            ("'end', 'en'", Some(false)),
            ("'end', 'the end'", Some(true)),
            ("'  ', 'anything'", Some(true)),
            ("'', NULL", Some(true)),
            ("NULL, 'anything'", None),
            ("42, 1423", Some(true)),
            ("'4.5', 24.5", Some(true)),
            ("'42', x'3432'", Some(false)),
        ];
        for (arguments, want) in table {
            let sql = format!("SELECT has_words({arguments})");
            let got = connection.query_row(&sql, [], |row| row.get::<_, Option<bool>>(0)).unwrap();
            assert_eq!(got, want, "{arguments}");
        }
        let error = connection.query_row("SELECT has_words('x')", [], |_| Ok(())).unwrap_err();
        assert!(error.to_string().contains("at least one text"), "{error}");
    }

    /// The query may be another one for each row.
    #[test]
    fn a_query_may_come_from_a_row() {
        let connection = Connection::open_in_memory().unwrap();
        register_words(&connection).unwrap();
        let sql = "SELECT group_concat(has_words(column1, column2), ' ') \
                   FROM (VALUES ('a', 'abc'), ('d', 'abc'), ('c b', 'abc'))";
        let got: String = connection.query_row(sql, [], |row| row.get(0)).unwrap();
        assert_eq!(got, "1 0 1");
    }
}
