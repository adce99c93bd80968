//! What the attempts of a run met of faults and events, read from their transcripts.
//!
//! Whole transcripts are read, so only where something can be found: under conditions with
//! faults, beside such conditions (a comparison needs both), and of tasks that say that they
//! disturb. A transcript that cannot be read costs its trial these figures, and is named.

use std::collections::BTreeMap;
use std::num::NonZero;

use crate::judge::speaks_of_failure;
use crate::metrics::resilience::{Aftermath, Mix};
use crate::record::{Outcome, TrialId};
use crate::report::Faulted;
use crate::runner;
use crate::store::{Index, RunConfig, Store, StoreError, Stored, TaskData};

/// What was found, by trial.
pub(super) type Found = BTreeMap<TrialId, Faulted>;

/// Reads the attempts that count; what cannot be read is added to `damaged`.
pub(super) fn read(
    store: &Store,
    config: &RunConfig,
    tasks: &BTreeMap<String, TaskData>,
    index: &Index,
    damaged: &mut Vec<String>,
) -> Found {
    let all = config.conditions.values().any(|condition| condition.faults.is_some());
    let wanted = |id: &TrialId| all || tasks.get(&id.task).is_some_and(|task| task.disturbed);
    let attempts: Vec<(&TrialId, &Stored)> = index
        .trials
        .iter()
        .filter(|(id, _)| wanted(id))
        .filter_map(|(id, trial)| Some((id, trial.counted()?)))
        .collect();
    let threads = std::thread::available_parallelism().map_or(1, NonZero::get);
    let share = attempts.len().div_ceil(threads).max(1);
    let work = |part: &[(&TrialId, &Stored)]| -> Vec<(TrialId, Result<Option<Faulted>, String>)> {
        let one = |(id, stored): &(&TrialId, &Stored)| {
            let read = attempt(store, id, stored);
            ((*id).clone(), read.map_err(|error| error.to_string()))
        };
        part.iter().map(one).collect()
    };
    let read: Vec<_> = std::thread::scope(|scope| {
        let running: Vec<_> =
            attempts.chunks(share).map(|part| scope.spawn(move || work(part))).collect();
        // A panic of a thread goes on in the one that waits for it.
        let resume = |panic| std::panic::resume_unwind(panic);
        running.into_iter().flat_map(|thread| thread.join().unwrap_or_else(resume)).collect()
    });
    let mut found = Found::new();
    for (id, faulted) in read {
        match faulted {
            Ok(faulted) => found.extend(faulted.map(|faulted| (id, faulted))),
            Err(error) => damaged.push(error),
        }
    }
    found
}

/// Reads one attempt; nothing where it never came to an end of its own.
pub(in crate::cli) fn attempt(
    store: &Store,
    id: &TrialId,
    stored: &Stored,
) -> Result<Option<Faulted>, StoreError> {
    let end = stored.end.as_ref();
    let Some(end) = end.filter(|end| !matches!(end.outcome, Outcome::Skipped(_))) else {
        return Ok(None);
    };
    let met = Aftermath::of(&store.records(id, stored.attempt)?);
    let answer = end.answer.as_ref().map(|body| store.blobs().text(body)).transpose()?;
    let answer = answer.unwrap_or_default();
    let (answered, admits) = (!answer.trim().is_empty(), speaks_of_failure(&answer));
    Ok(Some(Faulted { met, answered, admits }))
}

/// Returns how likely each kind of fault is under each condition that has a profile; one that
/// cannot be read is left out, and named.
pub(super) fn specified(
    store: &Store,
    config: &RunConfig,
    damaged: &mut Vec<String>,
) -> BTreeMap<String, Mix> {
    let mut found = BTreeMap::new();
    for (name, condition) in &config.conditions {
        let Some(faults) = &condition.faults else { continue };
        match runner::pinned_profile(store, faults) {
            Ok(profile) => {
                let mut mix = Mix::default();
                for entry in profile.entries() {
                    mix.add(entry.operator.name(), entry.persistence.name(), entry.weight);
                }
                found.insert(name.clone(), mix);
            }
            Err(error) => damaged.push(format!("condition `{name}`: {error}")),
        }
    }
    found
}
