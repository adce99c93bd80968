//! Lines of `name: value`, as records of WARC and messages of HTTP begin with.
//!
//! Lenient as readers have to be: a bare LF ends a line, a line that starts with a space goes
//! on with the one before, bytes that are not UTF-8 are read as Latin-1, a line without a
//! colon is left out. Strict about size.

use std::io::{self, BufRead, Read};

/// The first line and the fields that follow it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Head {
    /// The first line: `WARC/1.1`, `HTTP/1.1 200 OK`, …
    pub(super) first: String,
    /// Names as written, values without white space around them.
    pub(super) fields: Vec<(String, String)>,
}

impl Head {
    /// Reads a head of at most `most` bytes, with the empty line that ends it.
    pub(super) fn read(reader: &mut dyn BufRead, most: u64) -> io::Result<Self> {
        let mut left = most;
        let first = line(reader, &mut left)?;
        Ok(Self { first, fields: fields(reader, &mut left)? })
    }

    /// Returns the first field of that name, in whatever case.
    pub(super) fn get(&self, name: &str) -> Option<&str> {
        let field = self.fields.iter().find(|(key, _)| key.eq_ignore_ascii_case(name));
        field.map(|(_, value)| value.as_str())
    }

    /// Returns the fields of that name, in whatever case.
    pub(super) fn all<'a>(&'a self, name: &'a str) -> impl Iterator<Item = &'a str> {
        let fields = self.fields.iter().filter(move |(key, _)| key.eq_ignore_ascii_case(name));
        fields.map(|(_, value)| value.as_str())
    }
}

/// Reads fields up to an empty line.
pub(super) fn fields(
    reader: &mut dyn BufRead,
    left: &mut u64,
) -> io::Result<Vec<(String, String)>> {
    let mut fields: Vec<(String, String)> = Vec::new();
    loop {
        let line = line(reader, left)?;
        if line.is_empty() {
            return Ok(fields);
        }
        if line.starts_with([' ', '\t'])
            && let Some((_, value)) = fields.last_mut()
        {
            value.push(' ');
            value.push_str(line.trim());
        } else if let Some((name, value)) = line.split_once(':') {
            fields.push((name.trim().to_owned(), value.trim().to_owned()));
        }
    }
}

/// Reads a line without its end, and takes its bytes from what is left.
fn line(mut reader: &mut dyn BufRead, left: &mut u64) -> io::Result<String> {
    let mut line = Vec::new();
    let read = Read::take(&mut reader, *left).read_until(b'\n', &mut line)?;
    *left -= read as u64;
    if line.pop_if(|byte| *byte == b'\n').is_none() {
        return Err(if *left == 0 {
            invalid("the head is too long")
        } else {
            io::ErrorKind::UnexpectedEof.into()
        });
    }
    let _ = line.pop_if(|byte| *byte == b'\r');
    Ok(String::from_utf8(line)
        .unwrap_or_else(|error| error.as_bytes().iter().map(|byte| char::from(*byte)).collect()))
}

/// Returns the error for bytes that are not what they should be.
pub(super) fn invalid(reason: &str) -> io::Error {
    io::Error::new(io::ErrorKind::InvalidData, reason)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sloppy_heads_are_read() {
        let text =
            b"WARC/1.0\nContent-Type:text/plain\r\nA: 1\r\n  2\r\nnothing\r\na: \xe9\n\nrest";
        let mut reader = &text[..];
        let head = Head::read(&mut reader, 1 << 10).unwrap();
        assert_eq!(head.first, "WARC/1.0");
        assert_eq!(head.get("content-TYPE"), Some("text/plain"), "no space, any case");
        assert_eq!(head.all("A").collect::<Vec<_>>(), ["1 2", "é"], "folded; Latin-1");
        assert_eq!(reader, b"rest", "read to the empty line and no further");
    }

    #[test]
    fn a_head_without_end_is_refused() {
        let endless = "a".repeat(100);
        let error = Head::read(&mut endless.as_bytes(), 50).unwrap_err();
        assert_eq!(error.kind(), io::ErrorKind::InvalidData);
        let error = Head::read(&mut endless.as_bytes(), 500).unwrap_err();
        assert_eq!(error.kind(), io::ErrorKind::UnexpectedEof, "cut off, not too long");
    }
}
