//! `--record-models` and `--replay-models`: the flags of every command that asks models.

use std::sync::Arc;

use camino::Utf8PathBuf;
use clap::Args;

use super::{Failure, say};
use crate::model::{Cassette, CassetteError, Met};
use crate::store::{CassetteRef, Condition, JudgeConfig, RunConfig};

/// Where exchanges with models are kept, or come from.
#[derive(Debug, Args)]
#[command(next_help_heading = "Cassettes")]
pub(super) struct CassetteArgs {
    /// Keep every exchange with a model in DIR, which then replays without an endpoint
    #[arg(long, value_name = "DIR", conflicts_with = "replay_models")]
    record_models: Option<Utf8PathBuf>,

    /// Take every reply from the exchanges kept in DIR: no endpoint is asked, no key needed
    #[arg(long, value_name = "DIR")]
    replay_models: Option<Utf8PathBuf>,
}

impl CassetteArgs {
    /// Opens the cassette that is named, where one is.
    pub(super) fn open(&self) -> Result<Option<Arc<Cassette>>, Failure> {
        let opened = match (&self.record_models, &self.replay_models) {
            (Some(folder), _) => Cassette::record(folder),
            (None, Some(folder)) => Cassette::replay(folder),
            (None, None) => return Ok(None),
        };
        Ok(Some(Arc::new(opened?)))
    }

    /// Refuses a cassette where no model is asked: there would be nothing in it.
    pub(super) fn refuse_unused<'a>(
        &self,
        conditions: impl IntoIterator<Item = &'a Condition>,
        judge: &JudgeConfig,
    ) -> Result<(), Failure> {
        let flag = match (&self.record_models, &self.replay_models) {
            (Some(_), _) => "--record-models",
            (None, Some(_)) => "--replay-models",
            (None, None) => return Ok(()),
        };
        let mut agent = "";
        for condition in conditions {
            if condition.models().next().is_some() {
                return Ok(());
            }
            agent = &condition.agent;
        }
        if !judge.models.is_empty() {
            return Ok(());
        }
        let judge = &judge.name;
        let says = match agent {
            "" => format!("judge `{judge}` uses no model"),
            _ => format!("agent `{agent}` uses no model, nor does judge `{judge}`"),
        };
        Err(Failure::usage(says).hint(format!(
            "leave out `{flag}`, or name a model with `--model NAME` or `--judge-model NAME`"
        )))
    }
}

/// Tells whether replies come from a cassette.
pub(super) fn replays(cassette: Option<&Arc<Cassette>>) -> bool {
    cassette.is_some_and(|cassette| cassette.is_replayed())
}

/// Returns what a run remembers of the cassette that it replays.
pub(super) fn reference(cassette: Option<&Arc<Cassette>>) -> Option<CassetteRef> {
    let digest = cassette?.digest()?.to_owned();
    Some(CassetteRef { digest })
}

/// Refuses to go on with a run on other replies than it began with: those of an endpoint
/// and those of a cassette do not mix, nor do those of two cassettes.
pub(super) fn check_same(
    config: &RunConfig,
    run: &camino::Utf8Path,
    cassette: Option<&Arc<Cassette>>,
) -> Result<(), Failure> {
    match (&config.cassette, reference(cassette)) {
        (None, None) => Ok(()),
        (Some(begun), Some(now)) if *begun == now => Ok(()),
        (None, Some(_)) => Err(Failure::usage(format!("`{run}` asks its models and replays none"))
            .hint("replay into a run of its own, by `wildgym run` with `--replay-models`")),
        (Some(_), None) => Err(Failure::usage(format!("`{run}` replays its models"))
            .hint("name its cassette with `--replay-models DIR`")),
        (Some(begun), Some(now)) => Err(Failure::usage(format!(
            "`{run}` began with another cassette: its digest was {}, and this one's is {}",
            begun.digest, now.digest
        ))
        .hint("name the same cassette, or begin a new run")),
    }
}

/// Says after a command what a cassette lacked, and what helps.
pub(super) fn report(cassette: Option<&Arc<Cassette>>) {
    let Some(cassette) = cassette else { return };
    let Met { served, missing, diverged, unreadable } = cassette.met();
    if missing > 0 && served == 0 {
        say(
            "\nnothing that was asked is in the cassette: name the model, the tasks and the variants \
             that were recorded",
        );
    } else if missing > 0 {
        say(&format!(
            "\n{} not in the cassette: those attempts were cut off when they were recorded, or the \
             recording is unfinished; finish it by `wildgym resume` of the recorded run, or \
             `wildgym rejudge` for its verdicts, with `--record-models`",
            counted(missing, "exchange is", "exchanges are")
        ));
    }
    if diverged > 0 {
        say(&format!(
            "\n{} diverged from the cassette: replay with the suite, the settings and the version of \
             wildgym that it was recorded with, or record anew",
            counted(diverged, "attempt", "attempts")
        ));
    }
    if unreadable > 0 {
        let files = counted(unreadable, "file", "files");
        say(&format!("\n{files} of the cassette could not be read"));
    }
}

/// Writes a number and what there is of it.
fn counted(number: usize, one: &str, many: &str) -> String {
    format!("{number} {}", if number == 1 { one } else { many })
}

impl From<CassetteError> for Failure {
    fn from(error: CassetteError) -> Self {
        let hint = match &error {
            CassetteError::NoCassette(_) => {
                Some("make one by `wildgym run SUITE --model M --record-models DIR`")
            }
            CassetteError::NotEmpty(_) | CassetteError::Taken(_) => {
                Some("record into a new directory")
            }
            CassetteError::Busy(_) => Some("wait for that process, or record into a new directory"),
            CassetteError::Irregular(_) => Some("put what it names in its place, or take it out"),
            CassetteError::Unknown { known, .. } if known.is_empty() => {
                Some("record into it first, with `--record-models`")
            }
            CassetteError::Unknown { .. } => {
                Some("name the agent and the model that were recorded, with `--model NAME`")
            }
            CassetteError::Newer { .. } => Some("use the version of wildgym that recorded it"),
            CassetteError::Io { .. } => Some("name a directory that you may read and write"),
            CassetteError::Corrupt { .. }
            | CassetteError::Missing { .. }
            | CassetteError::Diverged { .. }
            | CassetteError::CutOff
            | CassetteError::LeftBehind
            | CassetteError::Unreadable(_)
            | CassetteError::Unscoped => None,
        };
        let failure = Self::usage(error.to_string());
        match hint {
            Some(hint) => failure.hint(hint),
            None => failure,
        }
    }
}
