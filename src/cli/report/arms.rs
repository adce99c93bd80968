//! What sets the conditions of a run apart, and the tables of a campaign as files.

use std::collections::BTreeMap;

use camino::{Utf8Path, Utf8PathBuf};

use super::Failure;
use crate::report::{self, ConditionLabel, OFF, RunView};
use crate::store::{Condition, Offering, RunConfig};

/// Returns what a report says of each condition.
pub(super) fn labels(config: &RunConfig) -> BTreeMap<String, ConditionLabel> {
    config.conditions.iter().map(|(name, one)| (name.clone(), label(name, one))).collect()
}

fn label(name: &str, condition: &Condition) -> ConditionLabel {
    // A name is who acts, then the faults, then what varies the tools, each behind a mark.
    let base = Offering::base(name);
    let arm = condition.offering.as_ref().map_or_else(|| base.to_owned(), |one| one.name(base));
    let faults = match &condition.faults {
        None => OFF.to_owned(),
        Some(faults) if faults.seed == 0 => faults.profile.clone(),
        Some(faults) => format!("{}:{}", faults.profile, faults.seed),
    };
    let model = condition.model.as_ref().map(|model| model.name.clone());
    ConditionLabel { arm, agent: condition.agent.clone(), model, faults }
}

/// Writes the tables that are asked for into their files.
pub(super) fn write(
    view: &RunView,
    conditions: Option<&Utf8PathBuf>,
    trials: Option<&Utf8PathBuf>,
) -> Result<(), Failure> {
    let none = |flag: &str| {
        let run = &view.label.run;
        Failure::usage(format!("`{run}` has no conditions with faults beside one without"))
            .hint(format!("begin one by `wildgym campaign FILE`, or leave out `{flag}`"))
    };
    if let Some(path) = conditions {
        put(path, &report::cells_csv(view).ok_or_else(|| none("--csv"))?)?;
    }
    if let Some(path) = trials {
        put(path, &report::trials_csv(view).ok_or_else(|| none("--trials-csv"))?)?;
    }
    Ok(())
}

fn put(path: &Utf8Path, text: &str) -> Result<(), Failure> {
    std::fs::write(path, text)
        .map_err(|error| Failure::usage(format!("cannot write `{path}`: {error}")))
}
