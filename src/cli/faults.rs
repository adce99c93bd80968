//! `wildgym faults`, and `--faults`: the faults that the calls of a run meet.

use std::str::FromStr;

use clap::Args;
use serde_json::json;

use super::host::Opened;
use super::{Code, Failure, data};
use crate::fault::{Profile, ProfileError, names};
use crate::store::FaultsConfig;

/// List fault profiles, or print one
///
/// `wildgym run SUITE --faults NAME` has calls meet the faults of a profile. Any TOML file in the
/// same form is one too: print one into a file and change it.
#[derive(Debug, Args)]
pub(super) struct FaultsArgs {
    /// Profile to print: a built-in one, or a TOML file, which is checked
    profile: Option<String>,

    /// Print JSON: a line for each profile
    #[arg(long, conflicts_with = "profile")]
    json: bool,
}

pub(super) fn run(args: &FaultsArgs) -> Result<Code, Failure> {
    if let Some(name) = &args.profile {
        data(Profile::open(name).map_err(|error| failure(&error))?.text());
        return Ok(Code::Done);
    }
    for name in names() {
        let profile = Profile::open_builtin(name).map_err(|error| failure(&error))?;
        let (version, about) = (profile.version(), profile.description());
        if args.json {
            let (source, entries) = (profile.source(), profile.entries().len());
            let line = json!({
                "name": name, "version": version, "description": about, "source": source,
                "entries": entries,
            });
            data(&line.to_string());
        } else {
            data(&format!("{name:<18} {version}  {about}"));
        }
    }
    Ok(Code::Done)
}

fn failure(error: &ProfileError) -> Failure {
    Failure::usage(error.to_string()).hint("list the profiles with `wildgym faults`")
}

/// Refuses tasks whose own fault profile this program does not know, before anything is made.
pub(super) fn check_tasks(opened: &Opened, tasks: &[String]) -> Result<(), Failure> {
    for task in tasks.iter().filter_map(|id| opened.suite.tasks.get(id)) {
        if let Some(faults) = &task.meta.faults {
            Profile::open_builtin(&faults.profile).map_err(|error| {
                Failure::usage(format!("task `{}`: {error}", task.meta.id))
                    .hint(format!("see all faults with `wildgym tasks check {}`", opened.source))
            })?;
        }
    }
    Ok(())
}

/// A profile with the number that its chances follow from.
#[derive(Debug, Clone)]
pub(super) struct Chosen {
    /// The profile.
    pub(super) profile: Profile,
    /// Tells runs with the same profile apart.
    pub(super) seed: u64,
}

impl FromStr for Chosen {
    type Err = String;

    /// Reads `PROFILE` or `PROFILE:SEED`. A file whose name ends like a seed needs one.
    fn from_str(text: &str) -> Result<Self, String> {
        let (name, seed) = match text.rsplit_once(':') {
            Some((name, seed)) => {
                let seed = seed.parse().map_err(|_| {
                    format!("`{seed}` is no seed; expected a whole number, as in `published:7`")
                })?;
                (name, seed)
            }
            None => (text, 0),
        };
        let profile = Profile::open(name).map_err(|error| error.to_string())?;
        Ok(Self { profile, seed })
    }
}

impl Chosen {
    /// Returns what a run pins; the text itself goes into a blob of that digest.
    pub(super) fn config(&self) -> FaultsConfig {
        FaultsConfig {
            profile: self.profile.name().to_owned(),
            version: self.profile.version().to_owned(),
            digest: blake3::hash(self.profile.text().as_bytes()).to_hex().to_string(),
            seed: self.seed,
        }
    }

    /// Returns how a condition is named that has these faults: `react-m+published-7`.
    pub(super) fn label(&self, agent: &str) -> String {
        match self.seed {
            0 => format!("{agent}+{}", self.profile.name()),
            seed => format!("{agent}+{}-{seed}", self.profile.name()),
        }
    }
}
