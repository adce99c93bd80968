//! Verdicts, as far as a report needs them.
//!
//! A verdict of a judge model holds requests and replies that are many times as long as
//! the verdict. They are passed over while reading, so the verdicts of a long run cost
//! little time and hardly any memory.

use std::collections::BTreeMap;

use camino::Utf8PathBuf;
use serde::Deserialize;

use super::{Damaged, Store, StoreError, lines};
use crate::record::{TrialId, Usage};
use crate::verdict::{Conduct, Rubric, Verdict};

/// A verdict without the texts of its votes; see [`crate::verdict::VerdictRecord`].
#[derive(Debug, Clone, PartialEq, Deserialize)]
pub struct Judged {
    /// The trial.
    pub trial: TrialId,
    /// The attempt that was judged.
    pub attempt: u32,
    /// The verdict.
    pub verdict: Verdict,
    /// Why, for people.
    pub reasons: Vec<String>,
    /// Whether each milestone of the task was reached, by id.
    #[serde(default)]
    pub milestones: BTreeMap<String, bool>,
    /// Whether each host whose finding counts was visited.
    #[serde(default)]
    pub discovered: BTreeMap<String, bool>,
    /// What the calls were like, where the task says what is expected of them.
    #[serde(default)]
    pub conduct: Option<Conduct>,
    /// What a rubric judge gives the attempt.
    #[serde(default)]
    pub rubric: Option<Rubric>,
    /// What each vote cost.
    #[serde(default)]
    pub votes: Vec<JudgedVote>,
    t: Took,
}

/// A call of a judge model, without its texts.
#[derive(Debug, Clone, PartialEq, Deserialize)]
pub struct JudgedVote {
    /// The model's name.
    pub model: String,
    /// Tokens, as the endpoint counted them.
    pub usage: Usage,
}

#[derive(Debug, Clone, Copy, PartialEq, Deserialize)]
struct Took {
    #[serde(default)]
    took_ms: u64,
}

impl Judged {
    /// Returns what judging took, in milliseconds.
    #[must_use]
    pub fn took_ms(&self) -> u64 {
        self.t.took_ms
    }
}

impl Store {
    /// Reads the verdicts of a judge, in the order written, and which of the lines cannot
    /// be read; none where it has not judged yet.
    pub fn judged(&self, judge: &str) -> Result<(Vec<Judged>, Vec<Damaged>), StoreError> {
        let path: Utf8PathBuf = self.root().join("verdicts").join(format!("{judge}.jsonl"));
        let (mut judged, mut damaged) = (Vec::new(), Vec::new());
        if path.exists() {
            lines::each(&path, |line, bytes| match serde_json::from_slice(bytes) {
                Ok(verdict) => judged.push(verdict),
                Err(error) => {
                    let (path, reason) = (path.clone(), error.to_string());
                    let error = StoreError::Corrupt { path: path.clone(), line, reason };
                    damaged.push(Damaged { path, error });
                }
            })?;
        }
        Ok((judged, damaged))
    }
}
