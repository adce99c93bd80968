//! Fault profiles: which faults there are, how likely each is, and where it applies.
//!
//! A profile is a TOML file with a version; a run keeps its text by digest, so what a run
//! met can be told from the run alone. A file that says something impossible is refused as a
//! whole, with the entry and the field.

use std::collections::BTreeMap;
use std::fs;

use camino::{Utf8Path, Utf8PathBuf};
use serde::Deserialize;

use super::matcher::{Matcher, Observed};
use super::{ErrorShape, Operator, Persistence, builtin};

/// The version of the format that this program reads.
const FORMAT: u32 = 1;

/// How long a delay is where a profile says nothing, in seconds (MCP-Injector, appendix A).
const DELAY_SECONDS: u64 = 30;

/// The longest delay that a profile may ask for, in seconds.
const LONGEST_DELAY: u64 = 86_400;

/// The largest profile that is read, in bytes.
const LARGEST: u64 = 1 << 20;

/// How likely a held intermittent entry is released, where a profile says nothing
/// (MCP-Injector, appendix A: d = 0.3).
const RELEASE: f64 = 0.3;

/// A fault profile, checked.
#[derive(Debug, Clone)]
pub struct Profile {
    head: Head,
    rules: Vec<Rule>,
    text: String,
}

/// An entry with its matcher.
#[derive(Debug, Clone)]
struct Rule {
    entry: Entry,
    matcher: Matcher,
}

/// What a profile says beside its entries.
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
struct Head {
    format: u32,
    name: String,
    version: String,
    description: String,
    /// Where its numbers come from.
    #[serde(default)]
    source: String,
    #[serde(default = "one")]
    rate: f64,
    #[serde(default)]
    scope: Scope,
    #[serde(default, rename = "entry")]
    entries: Vec<Entry>,
}

/// Over which calls one fault is held.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Scope {
    /// All calls of an attempt, as MCP-Injector does: one entry is held at a time.
    #[default]
    Attempt,
    /// The calls of one tool: each tool fails for itself.
    Tool,
}

/// One fault of a profile: an operator with a persistence, and how likely it is.
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Entry {
    /// What it does.
    pub operator: Operator,
    /// How long it lasts.
    pub persistence: Persistence,
    /// How likely it is drawn, relative to the other entries that fit a call; at least 0.
    /// Counts do as well as fractions.
    pub weight: f64,
    /// Of an intermittent one: how likely it fires on a call while it is held, 0 to 1.
    #[serde(default)]
    activation: Option<f64>,
    /// Of an intermittent one: how likely it is released after each held call but the first,
    /// 0 to 1.
    #[serde(default)]
    release: Option<f64>,
    /// Part of the words (OP1), values (OP2) or items (partial results) that it hits.
    #[serde(default)]
    share: Option<f64>,
    /// Of OP2: what `share` counts.
    #[serde(default)]
    per: Option<Per>,
    /// Of OP5: how late the result comes, in seconds.
    #[serde(default)]
    seconds: Option<u64>,
    /// Of OP4: the errors that it chooses from; all where none is named.
    #[serde(default)]
    errors: Option<Vec<ErrorShape>>,
    /// The calls that it fits; all where nothing is said.
    #[serde(default, rename = "match")]
    when: When,
}

/// What the "one third" of OP2 counts. The paper can be read both ways.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Per {
    /// Each value of a result is wrong with that probability, and at least one is.
    #[default]
    Value,
    /// Each call has a wrong result with that probability; then half of its values are.
    Call,
}

/// The calls that an entry fits.
#[derive(Debug, Clone, Default, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct When {
    /// Glob over the server's name; `wildgym` for tools of its own.
    #[serde(default)]
    pub server: Option<String>,
    /// Glob over the tool's name.
    #[serde(default)]
    pub tool: Option<String>,
    /// Regular expressions that arguments of these names must match; what is not a text is
    /// matched as JSON.
    #[serde(default)]
    pub arguments: BTreeMap<String, String>,
}

/// Why a profile cannot be used.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum ProfileError {
    /// Neither a built-in profile nor a file.
    #[error("there is no fault profile `{name}`; built in are `{known}`")]
    Unknown {
        /// What was asked for.
        name: String,
        /// The built-in ones.
        known: String,
    },
    /// The file cannot be read.
    #[error("cannot read fault profile `{path}`: {reason}")]
    Unreadable {
        /// The file.
        path: Utf8PathBuf,
        /// What the system said.
        reason: String,
    },
    /// It does not say what a profile says.
    #[error("fault profile `{name}`{}: {problem}", place(*.line))]
    Wrong {
        /// The profile, or its file.
        name: String,
        /// The line, from 1; 0 where none is to blame.
        line: usize,
        /// The field, and what was expected there.
        problem: String,
    },
}

/// Writes the place in a file.
fn place(line: usize) -> String {
    if line == 0 { String::new() } else { format!(" line {line}") }
}

fn one() -> f64 {
    1.0
}

impl Profile {
    /// Opens a built-in profile.
    pub fn open_builtin(name: &str) -> Result<Self, ProfileError> {
        let unknown = || {
            let known = builtin::names().join("`, `");
            ProfileError::Unknown { name: name.to_owned(), known }
        };
        Self::parse(name, builtin::text(name).ok_or_else(unknown)?)
    }

    /// Opens a profile by the name of a built-in one, or by its file.
    pub fn open(named: &str) -> Result<Self, ProfileError> {
        let path = Utf8Path::new(named);
        if builtin::text(named).is_some() || !path.is_file() {
            return Self::open_builtin(named);
        }
        let unreadable = |reason: String| ProfileError::Unreadable { path: path.into(), reason };
        let size = fs::metadata(path).map_err(|error| unreadable(error.to_string()))?.len();
        if size > LARGEST {
            return Err(unreadable(format!("it has {size} bytes; at most {LARGEST} are read")));
        }
        let text = fs::read_to_string(path).map_err(|error| unreadable(error.to_string()))?;
        Self::parse(named, &text)
    }

    /// Reads a profile; `name` is how errors call it.
    pub fn parse(name: &str, text: &str) -> Result<Self, ProfileError> {
        let wrong = |line, problem| ProfileError::Wrong { name: name.to_owned(), line, problem };
        let head: Head = toml::from_str(text).map_err(|error| {
            let line = error.span().map_or(0, |span| {
                text.get(..span.start).unwrap_or_default().matches('\n').count() + 1
            });
            wrong(line, error.message().to_owned())
        })?;
        head.check().map_err(|problem| wrong(0, problem))?;
        let rule = |(index, entry): (usize, &Entry)| {
            let of_entry = |problem| wrong(0, format!("entry[{index}]: {problem}"));
            entry.check().map_err(of_entry)?;
            let matcher = Matcher::of(&entry.when).map_err(of_entry)?;
            Ok::<_, ProfileError>(Rule { entry: entry.clone(), matcher })
        };
        let rules =
            head.entries.iter().enumerate().map(rule).collect::<Result<_, ProfileError>>()?;
        Ok(Self { head, rules, text: text.to_owned() })
    }

    /// Returns its name.
    #[must_use]
    pub fn name(&self) -> &str {
        &self.head.name
    }

    /// Returns its version.
    #[must_use]
    pub fn version(&self) -> &str {
        &self.head.version
    }

    /// Returns what it is for, in one line.
    #[must_use]
    pub fn description(&self) -> &str {
        &self.head.description
    }

    /// Returns where its numbers come from; empty where it says nothing.
    #[must_use]
    pub fn source(&self) -> &str {
        &self.head.source
    }

    /// Returns the file's text, from which it can be read again.
    #[must_use]
    pub fn text(&self) -> &str {
        &self.text
    }

    /// Returns over which calls one fault is held.
    #[must_use]
    pub fn scope(&self) -> Scope {
        self.head.scope
    }

    /// Returns how likely a call with nothing held draws an entry, 0 to 1.
    #[must_use]
    pub fn rate(&self) -> f64 {
        self.head.rate
    }

    /// Returns its entries, in order.
    #[must_use]
    pub fn entries(&self) -> impl ExactSizeIterator<Item = &Entry> {
        self.rules.iter().map(|rule| &rule.entry)
    }

    /// Returns the entry at a place, from 0.
    #[must_use]
    pub fn entry(&self, index: usize) -> Option<&Entry> {
        self.rules.get(index).map(|rule| &rule.entry)
    }

    /// Returns whether the entry at a place fits a call.
    #[must_use]
    pub fn fits(&self, index: usize, call: &Observed<'_>) -> bool {
        self.rules.get(index).is_some_and(|rule| rule.matcher.fits(call))
    }

    /// Returns the entry that `chance`, from 0 up to 1, draws of those that fit a call; none
    /// where none fits.
    #[must_use]
    pub fn draw(&self, call: &Observed<'_>, chance: f64) -> Option<usize> {
        let fitting: Vec<(usize, f64)> = (0..self.rules.len())
            .filter(|index| self.fits(*index, call))
            .filter_map(|index| Some((index, self.entry(index)?.weight)))
            .filter(|(_, weight)| *weight > 0.0)
            .collect();
        let mut left = chance * fitting.iter().map(|(_, weight)| weight).sum::<f64>();
        for (index, weight) in &fitting {
            left -= weight;
            if left < 0.0 {
                return Some(*index);
            }
        }
        // Rounding may leave a sliver, which belongs to the last.
        fitting.last().map(|(index, _)| *index)
    }
}

impl Head {
    fn check(&self) -> Result<(), String> {
        if self.format != FORMAT {
            return Err(format!("`format`: expected {FORMAT}, found {}", self.format));
        }
        let plain = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '-';
        if self.name.is_empty() || !self.name.chars().all(plain) {
            let found = &self.name;
            return Err(format!("`name`: expected small letters, digits and `-`, found {found:?}"));
        }
        for (field, text) in [("version", &self.version), ("description", &self.description)] {
            if text.trim().is_empty() || text.contains(char::is_control) {
                return Err(format!("`{field}`: expected one line of text"));
            }
        }
        probability("rate", self.rate)
    }
}

fn probability(field: &str, value: f64) -> Result<(), String> {
    let fits = (0.0..=1.0).contains(&value);
    fits.then_some(()).ok_or_else(|| format!("`{field}`: expected 0 to 1, found {value}"))
}

impl Entry {
    /// Returns how likely it fires on a call while it is held.
    #[must_use]
    pub fn activation(&self) -> f64 {
        self.activation.unwrap_or(1.0)
    }

    /// Returns how likely it is released after a held call that is not the first.
    #[must_use]
    pub fn release(&self) -> f64 {
        self.release.unwrap_or(RELEASE)
    }

    /// Returns the part of words, values or items that it hits; 1 where it has none.
    #[must_use]
    pub fn share(&self) -> f64 {
        // Of a call that has a wrong result, half of the values are wrong.
        match self.per() {
            Per::Call => 0.5,
            Per::Value => self.share.or(self.operator.default_share()).unwrap_or(1.0),
        }
    }

    /// Returns the part of the calls on which it would fire that it really does.
    #[must_use]
    pub fn calls(&self) -> f64 {
        match self.per() {
            Per::Call => self.share.or(self.operator.default_share()).unwrap_or(1.0),
            Per::Value => 1.0,
        }
    }

    /// Returns what its share counts.
    #[must_use]
    pub fn per(&self) -> Per {
        self.per.unwrap_or_default()
    }

    /// Returns how late the result comes, in seconds.
    #[must_use]
    pub fn seconds(&self) -> u64 {
        self.seconds.unwrap_or(DELAY_SECONDS)
    }

    /// Returns the errors that it chooses from; never empty.
    #[must_use]
    pub fn errors(&self) -> &[ErrorShape] {
        self.errors.as_deref().unwrap_or(&ErrorShape::ALL)
    }

    fn check(&self) -> Result<(), String> {
        if !(self.weight.is_finite() && self.weight >= 0.0) {
            return Err(format!("`weight`: expected a number ≥ 0, found {}", self.weight));
        }
        let operator = self.operator;
        let intermittent = self.persistence == Persistence::Intermittent;
        let persistence = format!("is for `persistence = \"{}\"`", Persistence::Intermittent);
        let of = |operator: Operator| format!("is for `operator = \"{operator}\"`");
        let shares = operator.default_share().is_some();
        let belongs = [
            ("activation", self.activation.is_some(), intermittent, persistence.clone()),
            ("release", self.release.is_some(), intermittent, persistence),
            ("share", self.share.is_some(), shares, format!("means nothing to `{operator}`")),
            (
                "per",
                self.per.is_some(),
                operator == Operator::IncorrectOutput,
                of(Operator::IncorrectOutput),
            ),
            ("seconds", self.seconds.is_some(), operator == Operator::Delay, of(Operator::Delay)),
            (
                "errors",
                self.errors.is_some(),
                operator == Operator::ExplicitError,
                of(Operator::ExplicitError),
            ),
        ];
        if let Some((field, _, _, why)) = belongs.iter().find(|(_, given, fits, _)| *given && !fits)
        {
            return Err(format!("`{field}` {why}"));
        }
        self.check_values()
    }

    fn check_values(&self) -> Result<(), String> {
        if self.errors().is_empty() {
            let known = ErrorShape::ALL.map(ErrorShape::name).join("`, `");
            return Err(format!("`errors`: expected some of `{known}`"));
        }
        if !(1..=LONGEST_DELAY).contains(&self.seconds()) {
            let found = self.seconds();
            return Err(format!("`seconds`: expected 1 to {LONGEST_DELAY}, found {found}"));
        }
        let parts =
            [("activation", self.activation), ("release", self.release), ("share", self.share)];
        parts
            .iter()
            .try_for_each(|(field, value)| value.map_or(Ok(()), |it| probability(field, it)))
    }
}

#[cfg(test)]
mod tests;
