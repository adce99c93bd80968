//! The episodes that a server kept, as `wildgym show` lists them and finds one.
//!
//! Whoever acts from outside begins episodes with any seed, and several with one, so a plan
//! says nothing of what there is: here is what is stored. Of an episode whose server was told
//! to forget, the verdict is all that is left, and it is listed all the same. Nothing here
//! decides what counts; that is the report's.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::{Value, json};

use super::super::{Failure, LEFT_OUT, data, say, say_damaged};
use super::ShowArgs;
use crate::metrics::State;
use crate::record::TrialId;
use crate::store::{Blobs, Condition, Store, StoreError, Stored};
use crate::verdict::{Verdict, VerdictRecord};

/// What there is of an episode.
type Known<'a> = (Option<&'a Stored>, Option<&'a VerdictRecord>);

/// Returns whether whoever acted came from outside, and so might begin episodes beyond the
/// plan: with other seeds, and again.
pub(in crate::cli) fn is_served(store: &Store) -> Result<bool, StoreError> {
    Ok(store.config()?.conditions.values().any(Condition::is_held))
}

/// Lists every episode of which anything is left, in the order of trials and attempts.
pub(super) fn list(args: &ShowArgs, store: &Store) -> Result<(), Failure> {
    let config = store.config()?;
    let judge = args.judge.as_deref().unwrap_or(&config.judge.name);
    let (verdicts, _) = store.last_verdicts(judge)?;
    let running = store.is_being_written();
    let index = store.survey()?;
    say_damaged(&index.damaged, LEFT_OUT);
    let mut all: BTreeMap<(&TrialId, u32), Known<'_>> = BTreeMap::new();
    for (trial, known) in &index.trials {
        for stored in &known.attempts {
            all.insert((trial, stored.attempt), (Some(stored), None));
        }
    }
    for ((trial, attempt), line) in &verdicts {
        all.entry((trial, *attempt)).or_default().1 = Some(line);
    }
    if all.is_empty() {
        say("no episode was begun");
        return Ok(());
    }
    let (mut shown, blobs) = (0, store.blobs());
    for ((trial, attempt), (stored, verdict)) in all {
        let goes_on =
            running && stored.is_some_and(|stored| stored.end.is_none() && stored.damage.is_none());
        let state = match (stored, verdict) {
            (None, Some(line)) => forgotten(line.verdict),
            (stored, line) => {
                let outcome = stored.filter(|_| !goes_on).map(Stored::outcome);
                State::of(outcome.as_ref(), line.map(|line| line.verdict))
            }
        };
        if !args.state.is_empty() && !args.state.contains(&state) {
            continue;
        }
        shown += 1;
        let named = format!("{trial} --attempt {attempt}");
        if args.json {
            let line = object((trial, attempt, state), (stored, verdict), goes_on, &blobs);
            data(&line.to_string());
        } else {
            data(&format!("{:<9} {named}  {}", state.name(), became(stored, verdict, goes_on)));
        }
    }
    if shown == 0 {
        let names: Vec<&str> = args.state.iter().map(|state| state.name()).collect();
        say(&format!("no episode is {}", names.join(" or ")));
    }
    Ok(())
}

/// Returns the state of an episode of which only the verdict is left.
fn forgotten(verdict: Verdict) -> State {
    match verdict {
        Verdict::Pass => State::Pass,
        Verdict::Degraded => State::Degraded,
        Verdict::Fail => State::Fail,
        Verdict::Unjudged => State::Unjudged,
    }
}

/// Says what became of an episode, and why.
fn became(stored: Option<&Stored>, verdict: Option<&VerdictRecord>, goes_on: bool) -> String {
    let Some(stored) = stored else { return "judged and not kept".to_owned() };
    if goes_on {
        return "goes on".to_owned();
    }
    let detail = stored.end.as_ref().and_then(|end| end.detail.as_ref()).or(stored.damage.as_ref());
    let reason = verdict.and_then(|line| line.reasons.first()).or(detail);
    match reason.and_then(|reason| reason.lines().next()) {
        Some(line) => format!("{} ({})", stored.outcome(), crate::report::visible(line)),
        None => stored.outcome().to_string(),
    }
}

/// Returns an episode for programs.
fn object(
    (trial, attempt, state): (&TrialId, u32, State),
    (stored, verdict): Known<'_>,
    goes_on: bool,
    blobs: &Blobs,
) -> Value {
    let end = stored.and_then(|stored| stored.end.as_ref());
    let answer = end.and_then(|end| end.answer.as_ref());
    let answer = answer.and_then(|answer| blobs.text(answer).ok());
    json!({
        "trial": trial.to_string(),
        "attempt": attempt,
        "state": state,
        "kept": stored.is_some(),
        "outcome": stored.filter(|_| !goes_on).map(Stored::outcome),
        "detail": end.and_then(|end| end.detail.as_ref()),
        "answer": answer,
        "verdict": verdict.map(|line| line.verdict),
        "reasons": verdict.map(|line| &line.reasons),
    })
}

/// Returns the trials that are stored, or of which a verdict is left.
pub(super) fn trials(store: &Store) -> Result<BTreeSet<TrialId>, StoreError> {
    let (verdicts, _) = store.last_verdicts(&store.config()?.judge.name)?;
    let stored = store.survey()?.trials.into_keys();
    Ok(stored.chain(verdicts.into_keys().map(|(trial, _)| trial)).collect())
}

/// Says why an episode that was asked for cannot be shown.
pub(super) fn nothing_of(store: &Store, trial: &TrialId) -> Result<Failure, StoreError> {
    let (verdicts, _) = store.last_verdicts(&store.config()?.judge.name)?;
    let judged = verdicts.keys().any(|(one, _)| one == trial);
    let list = format!("see what there is with `wildgym show {}`", store.root());
    let problem = if judged {
        format!("of `{trial}` only the verdict was kept")
    } else {
        format!("no episode of `{trial}` was begun")
    };
    Ok(Failure::usage(problem).hint(list))
}
