//! Streams of events, in which single events are changed and every other byte passes.
//!
//! An event ends with an empty line, whichever of the three line ends it is written with (WHATWG
//! HTML, "Server-sent events"). What is changed is its data; its other lines stay, its number
//! above all, by which a client takes the stream up again.

use super::LARGEST;

/// Takes a stream apart into events.
#[derive(Debug, Default)]
pub(super) struct Events {
    /// What of the present event was read.
    held: Vec<u8>,
    /// Whether the present line has nothing in it yet.
    is_empty_line: bool,
    /// Whether the last byte was a carriage return, which a line feed may belong to.
    after_return: bool,
}

/// A part of a stream.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Piece {
    /// A whole event, with the empty line at its end.
    Event(Vec<u8>),
    /// Bytes that are no event, or one that is too long to be looked into.
    Bytes(Vec<u8>),
}

impl Events {
    /// Begins a stream.
    pub(super) fn new() -> Self {
        Self { held: Vec::new(), is_empty_line: true, after_return: false }
    }

    /// Takes more of the stream and returns what is complete.
    pub(super) fn take(&mut self, more: &[u8]) -> Vec<Piece> {
        let mut pieces = Vec::new();
        for &byte in more {
            let second = byte == b'\n' && std::mem::take(&mut self.after_return);
            if second {
                // The other half of a line end that was counted already.
                match pieces.last_mut() {
                    Some(Piece::Event(last) | Piece::Bytes(last)) if self.held.is_empty() => {
                        last.push(byte);
                    }
                    Some(_) | None if self.held.is_empty() => pieces.push(Piece::Bytes(vec![byte])),
                    Some(_) | None => self.held.push(byte),
                }
                continue;
            }
            self.after_return = byte == b'\r';
            self.held.push(byte);
            if byte != b'\r' && byte != b'\n' {
                self.is_empty_line = false;
            } else if self.is_empty_line {
                pieces.push(Piece::Event(std::mem::take(&mut self.held)));
            } else {
                self.is_empty_line = true;
            }
        }
        if self.held.len() > LARGEST {
            pieces.push(Piece::Bytes(std::mem::take(&mut self.held)));
        }
        pieces
    }

    /// Returns what is left where a stream ends.
    pub(super) fn rest(&mut self) -> Vec<u8> {
        std::mem::take(&mut self.held)
    }
}

/// Splits an event into its lines, each with its end.
fn lines(event: &str) -> Vec<&str> {
    let mut lines = Vec::new();
    let mut rest = event;
    while let Some(at) = rest.find(['\r', '\n']) {
        let end = if rest[at..].starts_with("\r\n") { at + 2 } else { at + 1 };
        lines.push(&rest[..end]);
        rest = &rest[end..];
    }
    if !rest.is_empty() {
        lines.push(rest);
    }
    lines
}

/// Returns the value of a line of that field.
fn value<'a>(line: &'a str, field: &str) -> Option<&'a str> {
    let line = line.trim_end_matches(['\r', '\n']).trim_start_matches('\u{feff}');
    let rest = line.strip_prefix(field)?;
    if rest.is_empty() {
        return Some(rest);
    }
    let rest = rest.strip_prefix(':')?;
    Some(rest.strip_prefix(' ').unwrap_or(rest))
}

/// Returns the data of an event, and its number where it has one.
pub(super) fn read(event: &str) -> (Option<String>, Option<&str>) {
    let lines = lines(event);
    let data: Vec<&str> = lines.iter().filter_map(|line| value(line, "data")).collect();
    let id = lines.iter().rev().find_map(|line| value(line, "id"));
    ((!data.is_empty()).then(|| data.join("\n")), id)
}

/// Writes an event with other data.
pub(super) fn with_data(event: &str, data: &str) -> String {
    let mut out = String::with_capacity(event.len() + data.len());
    let mut written = false;
    for line in lines(event) {
        if value(line, "data").is_none() {
            out.push_str(line);
        } else if !written {
            written = true;
            let end = &line[line.trim_end_matches(['\r', '\n']).len()..];
            for part in data.split('\n') {
                out.push_str("data: ");
                out.push_str(part.trim_end_matches('\r'));
                out.push_str(end);
            }
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn pieces(stream: &[u8], size: usize) -> (Vec<Vec<u8>>, Vec<u8>) {
        let mut events = Events::new();
        let (mut found, mut all) = (Vec::new(), Vec::new());
        for chunk in stream.chunks(size) {
            for piece in events.take(chunk) {
                match piece {
                    Piece::Event(event) => {
                        all.extend_from_slice(&event);
                        found.push(event);
                    }
                    Piece::Bytes(bytes) => all.extend_from_slice(&bytes),
                }
            }
        }
        all.extend(events.rest());
        (found, all)
    }

    #[test]
    fn events_are_found_with_any_line_end_and_in_any_pieces() {
        for end in ["\n", "\r", "\r\n"] {
            let text =
                "id: 1~data: {\"a\":~data: 1}~~: ping~~event: message~data:x~~".replace('~', end);
            for size in 1..=text.len() {
                let (events, all) = pieces(text.as_bytes(), size);
                assert_eq!(all, text.as_bytes(), "{end:?} in pieces of {size}");
                let said: Vec<(Option<String>, Option<String>)> = events
                    .iter()
                    .map(|event| {
                        let event = std::str::from_utf8(event).unwrap();
                        let (data, id) = read(event);
                        (data, id.map(str::to_owned))
                    })
                    .collect();
                let want = [
                    (Some("{\"a\":\n1}".to_owned()), Some("1".to_owned())),
                    (None, None),
                    (Some("x".to_owned()), None),
                ];
                assert_eq!(said, want, "{end:?} in pieces of {size}");
            }
        }
    }

    #[test]
    fn other_data_keeps_the_other_lines() {
        let event = "id: 7\r\ndata: {\r\nretry: 5\r\ndata: }\r\n\r\n";
        assert_eq!(with_data(event, "new"), "id: 7\r\ndata: new\r\nretry: 5\r\n\r\n");
        assert_eq!(with_data("data: a\n\n", "b\nc"), "data: b\ndata: c\n\n");
    }

    proptest! {
        #[test]
        fn no_byte_is_lost(stream in prop::collection::vec(prop::sample::select(b"a:\r\n d".to_vec()), 0..60), size in 1usize..9) {
            let (_, all) = pieces(&stream, size);
            prop_assert_eq!(all, stream);
        }
    }
}
