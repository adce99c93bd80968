//! A JSON file as a value that knows its lines: the twin of what [`super::document`] does
//! for TOML.
//!
//! The text is read by the usual parser first; the lines are then found by a walk over a
//! text that is known to be JSON. A name that stands twice in an object is a fault, since
//! one of the two would be lost in silence.

use std::collections::BTreeMap;

use camino::Utf8Path;
use serde_json::Value;

use crate::fault::Notes;

/// What a walk finds.
pub(super) struct Walked {
    /// The line of each field.
    pub(super) lines: BTreeMap<String, usize>,
    /// Fields that stand twice, each with what is wrong.
    pub(super) twice: Vec<(String, String)>,
}

/// Reads a text; nothing where it is not JSON.
pub(super) fn parse(file: &Utf8Path, text: &str, notes: &mut Notes) -> Option<(Value, Walked)> {
    match serde_json::from_str::<Value>(text) {
        Ok(value) => {
            let mut walk = Walk { bytes: text.as_bytes(), at: 0, line: 1, found: empty() };
            walk.value("");
            Some((value, walk.found))
        }
        Err(error) => {
            let said = error.to_string();
            let said = said.split(" at line ").next().unwrap_or_default();
            notes.at_line(file, Some(error.line()), format!("not JSON: {said}"));
            None
        }
    }
}

fn empty() -> Walked {
    Walked { lines: BTreeMap::new(), twice: Vec::new() }
}

/// A walk over valid JSON.
struct Walk<'t> {
    bytes: &'t [u8],
    at: usize,
    line: usize,
    found: Walked,
}

impl Walk<'_> {
    fn peek(&self) -> u8 {
        self.bytes.get(self.at).copied().unwrap_or_default()
    }

    /// Goes over space and the separators between items.
    fn space(&mut self) {
        while matches!(self.peek(), b' ' | b'\t' | b'\r' | b'\n' | b',' | b':') {
            if self.peek() == b'\n' {
                self.line += 1;
            }
            self.at += 1;
        }
    }

    fn value(&mut self, field: &str) {
        self.space();
        match self.peek() {
            b'{' => self.object(field),
            b'[' => self.array(field),
            b'"' => {
                self.text();
            }
            _ => {
                while !matches!(self.peek(), b',' | b'}' | b']' | b' ' | b'\n' | b'\r' | b'\t' | 0)
                {
                    self.at += 1;
                }
            }
        }
    }

    fn object(&mut self, path: &str) {
        self.at += 1;
        loop {
            self.space();
            if self.peek() != b'"' {
                self.at += 1;
                return;
            }
            let line = self.line;
            let name = self.text();
            let field = if path.is_empty() { name.clone() } else { format!("{path}.{name}") };
            if self.found.lines.insert(field.clone(), line).is_some() {
                self.found.twice.push((field.clone(), format!("`{name}` stands here twice")));
            }
            self.value(&field);
        }
    }

    fn array(&mut self, path: &str) {
        self.at += 1;
        for index in 0.. {
            self.space();
            if matches!(self.peek(), b']' | 0) {
                break;
            }
            let field = format!("{path}[{index}]");
            self.found.lines.insert(field.clone(), self.line);
            self.value(&field);
        }
        self.at += 1;
    }

    /// Goes over a text and returns what it spells.
    fn text(&mut self) -> String {
        let start = self.at;
        self.at += 1;
        while !matches!(self.peek(), b'"' | 0) {
            self.at += if self.peek() == b'\\' { 2 } else { 1 };
        }
        self.at = (self.at + 1).min(self.bytes.len());
        serde_json::from_slice(&self.bytes[start..self.at]).unwrap_or_default()
    }
}
