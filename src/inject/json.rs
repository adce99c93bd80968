//! Looking into JSON without writing it anew.
//!
//! Every value is told by its place in the text, so that what is not changed keeps its bytes:
//! numbers of any length, escapes, spaces. Where a name stands twice in an object, the last
//! one counts, as in most parsers.

use std::fmt;
use std::ops::Range;

use serde::de::{MapAccess, SeqAccess, Visitor};
use serde::{Deserialize, Deserializer};
use serde_json::value::RawValue;

/// The fields of an object and where their values are.
#[derive(Debug, Default)]
pub(super) struct Object {
    fields: Vec<(String, Range<usize>)>,
}

impl Object {
    /// Reads an object; none where the text is something else.
    pub(super) fn read(text: &str) -> Option<Self> {
        let Fields(found) = serde_json::from_str(text).ok()?;
        let place = |(name, value): (String, &RawValue)| (name, place(text, value));
        Some(Self { fields: found.into_iter().map(place).collect() })
    }

    /// Returns where the value of a field is.
    pub(super) fn place(&self, name: &str) -> Option<Range<usize>> {
        self.fields.iter().rev().find(|(own, _)| own == name).map(|(_, place)| place.clone())
    }

    /// Returns the value of a field, out of the text that was read.
    pub(super) fn get<'a>(&self, text: &'a str, name: &str) -> Option<&'a str> {
        self.place(name).and_then(|place| text.get(place))
    }

    /// Returns the fields with their values, as JSON, out of the text that was read.
    pub(super) fn values(&self, text: &str) -> Vec<(String, String)> {
        let value = |place: &Range<usize>| text.get(place.clone()).unwrap_or("null").to_owned();
        self.fields.iter().map(|(name, place)| (name.clone(), value(place))).collect()
    }
}

/// Returns where the items of an array are; none where the text is something else.
pub(super) fn items(text: &str) -> Option<Vec<Range<usize>>> {
    let Items(found) = serde_json::from_str(text).ok()?;
    Some(found.into_iter().map(|value| place(text, value)).collect())
}

/// Reads a text value.
pub(super) fn string(raw: &str) -> Option<String> {
    serde_json::from_str(raw).ok()
}

/// Makes changes, which do not overlap.
pub(super) fn edited(text: &str, mut edits: Vec<(Range<usize>, String)>) -> String {
    edits.sort_by_key(|(place, _)| place.start);
    let mut out = String::with_capacity(text.len() + 256);
    let mut at = 0;
    for (place, new) in edits {
        out.push_str(text.get(at..place.start).unwrap_or_default());
        out.push_str(&new);
        at = place.end;
    }
    out.push_str(text.get(at..).unwrap_or_default());
    out
}

/// Returns where a part of a text is, which was borrowed from it.
fn place(text: &str, part: &RawValue) -> Range<usize> {
    let part = part.get();
    let start = part.as_ptr().addr().saturating_sub(text.as_ptr().addr());
    start..start + part.len()
}

/// The fields of an object as they stand.
struct Fields<'a>(Vec<(String, &'a RawValue)>);

impl<'de> Deserialize<'de> for Fields<'de> {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        struct All;
        impl<'de> Visitor<'de> for All {
            type Value = Fields<'de>;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("an object")
            }

            fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Self::Value, A::Error> {
                let mut fields = Vec::new();
                while let Some(field) = map.next_entry()? {
                    fields.push(field);
                }
                Ok(Fields(fields))
            }
        }
        from.deserialize_map(All)
    }
}

/// The items of an array as they stand.
struct Items<'a>(Vec<&'a RawValue>);

impl<'de> Deserialize<'de> for Items<'de> {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        struct All;
        impl<'de> Visitor<'de> for All {
            type Value = Items<'de>;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("an array")
            }

            fn visit_seq<A: SeqAccess<'de>>(self, mut seq: A) -> Result<Self::Value, A::Error> {
                let mut items = Vec::new();
                while let Some(item) = seq.next_element()? {
                    items.push(item);
                }
                Ok(Items(items))
            }
        }
        from.deserialize_seq(All)
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn values_keep_their_bytes() {
        let text = " {\"a\" : 1.50e+2, \"b\":[ 1,  \"\\u0041\" ],\"a\":12345678901234567890123} ";
        let object = Object::read(text).unwrap();
        assert_eq!(object.get(text, "a"), Some("12345678901234567890123"), "the last one counts");
        let list = object.get(text, "b").unwrap();
        assert_eq!(list, "[ 1,  \"\\u0041\" ]");
        let of_list: Vec<&str> = items(list).unwrap().into_iter().map(|at| &list[at]).collect();
        assert_eq!(of_list, ["1", "\"\\u0041\""]);
        assert_eq!(string(of_list[1]).as_deref(), Some("A"));
        for none in ["", "7", "[1]", "{", "{\"a\":}", "{} {}"] {
            assert!(Object::read(none).is_none(), "{none}");
        }
    }

    proptest! {
        #[test]
        fn no_text_is_too_strange(text in any::<String>()) {
            let _ = (Object::read(&text), items(&text), string(&text));
        }

        #[test]
        fn places_are_those_of_the_values(names in prop::collection::vec(".{0,6}", 0..5)) {
            let map: serde_json::Map<String, serde_json::Value> =
                names.iter().map(|name| (name.clone(), serde_json::json!([name]))).collect();
            let text = serde_json::to_string_pretty(&map).unwrap();
            let object = Object::read(&text).unwrap();
            for (name, value) in &map {
                let raw = object.get(&text, name).unwrap();
                prop_assert_eq!(&serde_json::from_str::<serde_json::Value>(raw).unwrap(), value);
            }
        }
    }
}
