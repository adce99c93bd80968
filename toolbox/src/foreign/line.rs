//! A line of a stream that somebody else writes: read with a bound, and what it is about.
//!
//! A message is a line, and may have 16 MiB: what is allowed over HTTP too. Of a longer one
//! both ends are held and nothing else; they mostly tell which request it is about. One that
//! has not ended after 64 MiB is none: whoever reads it ends the connection.

use rmcp::model::RequestId;

/// Most bytes of a message.
pub const LARGEST: usize = 16 << 20;

/// Most bytes of a line that is passed over; whoever writes a longer one writes without end.
pub const ENDLESS: usize = 4 * LARGEST;

/// How much of both ends of a longer line is looked at for the request that it is about.
const ENDS: usize = 4 << 10;

/// A line as far as it was read.
#[derive(Debug, Default)]
pub struct Line {
    /// The whole of it, or its beginning where it is too long.
    bytes: Vec<u8>,
    /// Its end, where it is too long.
    tail: Vec<u8>,
    /// How long it is, where it is too long.
    length: usize,
}

/// A line that has ended.
#[derive(Debug, PartialEq, Eq)]
pub enum Ended {
    /// The whole of it.
    Whole(Vec<u8>),
    /// One that is too long.
    TooLong {
        /// How it begins.
        head: Vec<u8>,
        /// How it ends.
        tail: Vec<u8>,
        /// How many bytes it has.
        length: usize,
    },
}

impl Line {
    /// Adds what was read of it; no newline is among that.
    pub fn add(&mut self, more: &[u8]) {
        if self.length == 0 && self.bytes.len() + more.len() <= LARGEST {
            return self.bytes.extend_from_slice(more);
        }
        if self.length == 0 {
            self.length = self.bytes.len();
            self.tail = self.bytes[self.bytes.len().saturating_sub(ENDS)..].to_vec();
            self.bytes.truncate(ENDS);
            self.bytes.shrink_to_fit();
        }
        self.length += more.len();
        self.tail.extend_from_slice(&more[more.len().saturating_sub(ENDS)..]);
        let old = self.tail.len().saturating_sub(ENDS);
        self.tail.drain(..old);
    }

    /// Returns whether nothing of it was read.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.bytes.is_empty() && self.length == 0
    }

    /// Returns whether it is so long that no end of it is waited for.
    #[must_use]
    pub fn is_endless(&self) -> bool {
        self.length > ENDLESS
    }

    /// Ends it, and begins the next one.
    pub fn end(&mut self) -> Ended {
        let Self { bytes, tail, length } = std::mem::take(self);
        if length == 0 { Ended::Whole(bytes) } else { Ended::TooLong { head: bytes, tail, length } }
    }
}

/// Finds the request that a line asks or answers without reading the line: before its long part
/// begins, or as the last thing in it.
#[must_use]
pub fn id_of(head: &[u8], tail: &[u8]) -> Option<RequestId> {
    if head.first() != Some(&b'{') {
        return None;
    }
    let head = String::from_utf8_lossy(&head[..head.len().min(ENDS)]);
    let keys = ["\"result\"", "\"error\"", "\"params\""];
    let before = keys.iter().filter_map(|key| head.find(key)).min();
    let before = &head[..before.unwrap_or(head.len())];
    if let Some((id, _)) = before.find("\"id\"").and_then(|at| value(&before[at + 4..])) {
        return Some(id);
    }
    let tail = String::from_utf8_lossy(&tail[tail.len().saturating_sub(ENDS)..]);
    let (id, rest) = tail.rfind("\"id\"").and_then(|at| value(&tail[at + 4..]))?;
    let rest: String = rest.chars().filter(|c| !c.is_whitespace()).collect();
    matches!(rest.as_str(), "}" | ",\"jsonrpc\":\"2.0\"}").then_some(id)
}

/// Reads the number or the plain text after a key, and returns what follows.
fn value(text: &str) -> Option<(RequestId, &str)> {
    let text = text.trim_start().strip_prefix(':')?.trim_start();
    if let Some(text) = text.strip_prefix('"') {
        let end = text.find(['"', '\\']).filter(|end| text[*end..].starts_with('"'))?;
        return Some((RequestId::String(text[..end].into()), &text[end + 1..]));
    }
    let end = text.find(|c: char| !c.is_ascii_digit()).unwrap_or(text.len());
    Some((RequestId::Number(text[..end].parse().ok()?), &text[end..]))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn a_line_that_is_too_long_takes_no_room_and_is_known_by_its_ends() {
        let number = RequestId::Number(8);
        let table = [
            (r#"{"jsonrpc":"2.0","id":8,"result":""#, r#""}"#, Some(number.clone()), "a reply"),
            (r#"{"result":""#, r#"","id":8}"#, Some(number.clone()), "its number last"),
            (r#"{"result":""#, r#"","id":8,"jsonrpc":"2.0"}"#, Some(number.clone()), "nearly last"),
            (r#"{"method":"m","params":{"id":9,"x":""#, r#""},"id":8}"#, Some(number), "a request"),
            (r#"{"id":"a-1","params":""#, r#""}"#, Some(RequestId::String("a-1".into())), "a text"),
            (r#"{"id":"a\"1","params":""#, r#""}"#, None, "a text that is not plain"),
            (r#"{"params":{"id":9,"x":""#, r#""}}"#, None, "the number of something else"),
            ("x", "", None, "no message"),
        ];
        for (head, tail, want, why) in table {
            let mut line = Line::default();
            line.add(head.as_bytes());
            for _ in 0..50 {
                line.add(&vec![b'x'; 1 << 20]);
            }
            line.add(tail.as_bytes());
            assert!(line.bytes.capacity() + line.tail.capacity() < 1 << 20, "it is not held");
            assert!(!line.is_endless());
            let Ended::TooLong { head, tail, length } = line.end() else { panic!("{why}") };
            assert_eq!((id_of(&head, &tail), length >> 20), (want, 50), "{why}");
            assert!(line.is_empty(), "the next one begins");
        }
    }

    #[test]
    fn a_line_without_end_is_given_up() {
        let mut line = Line::default();
        for _ in 0..65 {
            assert!(!line.is_endless());
            line.add(&vec![b'x'; 1 << 20]);
        }
        assert!(line.is_endless());
    }

    proptest! {
        #[test]
        fn a_line_is_whole_however_it_is_cut(
            parts in prop::collection::vec(prop::collection::vec(any::<u8>(), 0..50), 0..20),
        ) {
            let mut line = Line::default();
            for part in &parts {
                line.add(part);
            }
            prop_assert_eq!(line.end(), Ended::Whole(parts.concat()));
        }

        #[test]
        fn no_line_panics(head: Vec<u8>, tail: Vec<u8>) {
            let _ = id_of(&head, &tail);
        }
    }
}
