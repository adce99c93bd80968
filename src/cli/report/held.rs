//! What a report makes of a run that a server kept.
//!
//! Whoever acts from outside begins episodes with any seed, and several with one: a group. A
//! score needs trials that were planned, one attempt each, so of each planned trial the first
//! episode that was not lost counts, as `wildgym export` and `show` name it, and how many are
//! left out stands on the label. Nothing that came later changes what counts.

use std::collections::{BTreeSet, HashMap};

use crate::record::TrialId;
use crate::report::Episodes;
use crate::store::{Index, Judged, RunConfig};

/// Leaves of every trial what counts, and returns how much there is beside that; none where no
/// server kept the run.
pub(super) fn reduce(
    config: &RunConfig,
    planned: &[TrialId],
    index: &mut Index,
    verdicts: &mut HashMap<TrialId, Vec<Judged>>,
) -> Option<Episodes> {
    if !config.conditions.values().any(crate::store::Condition::is_held) {
        return None;
    }
    let kept = index.trials.values().map(|trial| trial.attempts.len()).sum();
    let begun =
        |id: &&TrialId| index.trials.get(id).is_some_and(|trial| !trial.attempts.is_empty());
    let counted = planned.iter().filter(begun).count();
    let forgotten = verdicts.iter().map(|(id, judged)| {
        let here = index.trials.get(id).map_or(&[][..], |trial| &trial.attempts);
        let here: BTreeSet<u32> = here.iter().map(|stored| stored.attempt).collect();
        let judged: BTreeSet<u32> = judged.iter().map(|verdict| verdict.attempt).collect();
        judged.difference(&here).count()
    });
    let forgotten = forgotten.sum();
    for (id, trial) in &mut index.trials {
        let Some(last) = trial.counted().map(|stored| stored.attempt) else { continue };
        trial.attempts.retain(|stored| stored.attempt <= last);
        if let Some(judged) = verdicts.get_mut(id) {
            judged.retain(|verdict| verdict.attempt <= last);
        }
    }
    Some(Episodes { kept, counted, forgotten })
}
