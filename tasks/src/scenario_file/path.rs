//! Paths to values: `lines[0].sku` in arguments, `$.calls[0].result.items[-1].id` in what
//! an earlier call returned.
//!
//! `[n]` counts from 0, `[-1]` is the last item, `[*]` any of them; a name that is no word
//! stands in brackets and quotes (`["unit price"]`). A path finds values or none; it never
//! fails.

use std::fmt;

use serde_json::Value;

/// A step of a path.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Segment {
    /// A field.
    Key(String),
    /// An item; negative places count from the end.
    Index(i64),
    /// Any item.
    Any,
}

/// A path to a value in arguments.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Locator(pub Vec<Segment>);

/// A value in the result or the arguments of a call.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Source {
    /// The call, counted from 0.
    pub call: usize,
    /// Whether its arguments are meant, and not its result.
    pub of_arguments: bool,
    /// Where the value is.
    pub path: Locator,
}

impl Locator {
    /// Reads a path such as `lines[0].sku`, or says what is wrong with it.
    pub fn parse(text: &str) -> Result<Self, String> {
        let (segments, rest) = segments(text, true);
        if !rest.is_empty() || segments.is_empty() {
            return Err(format!(
                "expected a path such as `contact_id` or `lines[0].sku`, found `{text}`"
            ));
        }
        Ok(Self(segments))
    }

    /// Returns the values at the path.
    #[must_use]
    pub fn find<'v>(&self, value: &'v Value) -> Vec<&'v Value> {
        let mut found = vec![value];
        for segment in &self.0 {
            found = found.into_iter().flat_map(|value| step(value, segment)).collect();
        }
        found
    }
}

/// Returns what one step leads to.
fn step<'v>(value: &'v Value, segment: &Segment) -> Vec<&'v Value> {
    match (segment, value) {
        (Segment::Key(name), Value::Object(fields)) => fields.get(name).into_iter().collect(),
        (Segment::Index(index), Value::Array(items)) => {
            let place = usize::try_from(*index)
                .ok()
                .or_else(|| items.len().checked_sub(usize::try_from(index.unsigned_abs()).ok()?));
            place.and_then(|place| items.get(place)).into_iter().collect()
        }
        (Segment::Any, Value::Array(items)) => items.iter().collect(),
        (Segment::Key(_) | Segment::Index(_) | Segment::Any, _) => Vec::new(),
    }
}

impl Source {
    /// Reads `$.calls[0].result.id` from the start of a text; returns the rest of it too.
    #[must_use]
    pub fn prefix(text: &str) -> Option<(Self, &str)> {
        let rest = text.strip_prefix("$.calls[")?;
        let (number, rest) = rest.split_once(']')?;
        let call = number.parse().ok()?;
        let (of_arguments, rest) = match rest.strip_prefix(".result") {
            Some(rest) => (false, rest),
            None => (true, rest.strip_prefix(".args")?),
        };
        if rest.starts_with(|c: char| c.is_alphanumeric() || c == '_') {
            return None;
        }
        let (segments, rest) = segments(rest, false);
        Some((Self { call, of_arguments, path: Locator(segments) }, rest))
    }

    /// Reads a text that is such a path and nothing else.
    pub fn parse(text: &str) -> Result<Self, String> {
        match Self::prefix(text) {
            Some((source, "")) => Ok(source),
            Some(_) | None => {
                Err(format!("expected a path such as `$.calls[0].result.id`, found `{text}`"))
            }
        }
    }
}

/// Reads steps as far as they go; `first` says whether a bare name may begin them.
fn segments(text: &str, first: bool) -> (Vec<Segment>, &str) {
    let (mut found, mut rest, mut bare) = (Vec::new(), text, first);
    loop {
        let next = if let Some(after) = rest.strip_prefix('[') {
            bracket(after)
        } else if let Some(after) = rest.strip_prefix('.') {
            word(after)
        } else if bare {
            word(rest)
        } else {
            None
        };
        bare = false;
        let Some((segment, after)) = next else { return (found, rest) };
        found.push(segment);
        rest = after;
    }
}

fn word(text: &str) -> Option<(Segment, &str)> {
    let end = text.find(|c: char| !c.is_alphanumeric() && c != '_').unwrap_or(text.len());
    let (name, rest) = text.split_at(end);
    let starts_well = name.starts_with(|c: char| c.is_alphabetic() || c == '_');
    starts_well.then(|| (Segment::Key(name.to_owned()), rest))
}

fn bracket(text: &str) -> Option<(Segment, &str)> {
    if let Some(rest) = text.strip_prefix('"') {
        let (name, rest) = rest.split_once("\"]")?;
        return Some((Segment::Key(name.to_owned()), rest));
    }
    let (inner, rest) = text.split_once(']')?;
    let segment = match inner {
        "*" => Segment::Any,
        number => Segment::Index(number.parse().ok()?),
    };
    Some((segment, rest))
}

/// Returns whether a name can stand without brackets and quotes.
fn is_word(name: &str) -> bool {
    matches!(word(name), Some((_, "")))
}

impl fmt::Display for Locator {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (place, segment) in self.0.iter().enumerate() {
            match segment {
                Segment::Key(name) if !is_word(name) => write!(f, "[\"{name}\"]")?,
                Segment::Key(name) if place == 0 => f.write_str(name)?,
                Segment::Key(name) => write!(f, ".{name}")?,
                Segment::Index(index) => write!(f, "[{index}]")?,
                Segment::Any => f.write_str("[*]")?,
            }
        }
        Ok(())
    }
}
