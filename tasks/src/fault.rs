//! What is wrong with a suite: every fault of every file, in one go.
//!
//! A fault says where it is (file, line, field) and what was expected there. Lines
//! count from 1; a fault of a whole file or folder has none. Items of an array are
//! counted from 0: `milestone[0].id`.

use std::fmt;

use camino::{Utf8Path, Utf8PathBuf};

/// One thing that is wrong in a suite.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct Fault {
    /// The file or folder, relative to the suite.
    pub file: Utf8PathBuf,
    /// The line, from 1.
    pub line: Option<usize>,
    /// The field, such as `answer.tolerance`.
    pub field: Option<String>,
    /// What was expected, and what was found.
    pub problem: String,
}

impl fmt::Display for Fault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", self.file)?;
        if let Some(line) = self.line {
            write!(f, ":{line}")?;
        }
        if let Some(field) = &self.field {
            write!(f, ": {field}")?;
        }
        write!(f, ": {}", self.problem)
    }
}

/// All faults of a suite, sorted by file and line; never empty.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{}", lines(.0))]
pub struct Faults(pub Vec<Fault>);

impl Faults {
    /// Returns them as faults of a folder in which the files lie.
    #[must_use]
    pub fn below(self, folder: &Utf8Path) -> Self {
        let moved = |fault: Fault| {
            let inside = !fault.file.as_str().is_empty();
            let file = if inside { folder.join(fault.file) } else { folder.to_owned() };
            Fault { file, ..fault }
        };
        Self(self.0.into_iter().map(moved).collect())
    }
}

fn lines(faults: &[Fault]) -> String {
    faults.iter().map(Fault::to_string).collect::<Vec<_>>().join("\n")
}

/// Where the parts of the loader put what they find.
#[derive(Debug, Default)]
pub(crate) struct Notes(Vec<Fault>);

impl Notes {
    /// Notes a fault of a whole file or folder.
    pub(crate) fn of_file(&mut self, file: &Utf8Path, problem: impl Into<String>) {
        self.at_line(file, None, problem);
    }

    /// Notes a fault at a line of a file that has no fields.
    pub(crate) fn at_line(
        &mut self,
        file: &Utf8Path,
        line: Option<usize>,
        problem: impl Into<String>,
    ) {
        self.push(Fault { file: file.to_owned(), line, field: None, problem: problem.into() });
    }

    /// Notes a fault.
    pub(crate) fn push(&mut self, fault: Fault) {
        self.0.push(fault);
    }

    /// Returns whether nothing was noted.
    pub(crate) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Returns all that was noted, sorted and without repetition, or nothing.
    pub(crate) fn finish(mut self) -> Option<Faults> {
        self.0.sort();
        self.0.dedup();
        (!self.0.is_empty()).then_some(Faults(self.0))
    }
}
