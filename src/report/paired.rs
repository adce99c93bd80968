//! Trials of two sides, matched one by one.
//!
//! A side is a variant or a run. Trials match when they are at the same task and of the
//! same number among the k. A pair counts when both of its trials have a verdict; others
//! are left out of both scores, and counted. This module knows nothing of what the sides
//! are; `ablation` and `compare` say that.

use std::collections::BTreeMap;

use super::figures::number;
use super::sanitize::one_line;
use super::view::TrialView;
use crate::metrics::{Flip, Paired, Pairs, State};

/// The matched trials of a task (in one variant, where the sides have several).
pub(super) struct Contrast<'a> {
    /// The trials, first and second side.
    pub(super) trials: Vec<[&'a TrialView; 2]>,
    /// Those with a verdict on both sides.
    pub(super) pairs: Pairs,
}

/// Two sides, as far as they match.
pub(super) struct Matched<'a> {
    /// What matches, in the order of the keys.
    pub(super) contrasts: Vec<Contrast<'a>>,
    /// Trials of each side that have no match on the other.
    pub(super) alone: [usize; 2],
}

impl<'a> Matched<'a> {
    /// Matches the trials of two sides whose `key` and number among the k are the same.
    pub(super) fn of<K: Ord>(
        sides: [Vec<&'a TrialView>; 2],
        key: impl Fn(&'a TrialView) -> K,
    ) -> Self {
        let [first, second] = sides;
        let planned = [first.len(), second.len()];
        let place = |trial: &'a TrialView| (key(trial), trial.id.k);
        let mut left: BTreeMap<(K, u32), &TrialView> =
            second.into_iter().map(|trial| (place(trial), trial)).collect();
        let mut contrasts: BTreeMap<K, Contrast<'a>> = BTreeMap::new();
        let mut matched = 0;
        for trial in first {
            let Some(other) = left.remove(&place(trial)) else { continue };
            matched += 1;
            let contrast = contrasts
                .entry(key(trial))
                .or_insert_with(|| Contrast { trials: Vec::new(), pairs: Pairs::default() });
            contrast.trials.push([trial, other]);
            if trial.state().is_judged() && other.state().is_judged() {
                contrast.pairs.add(trial.state() == State::Pass, other.state() == State::Pass);
            }
        }
        let contrasts = contrasts.into_values().collect();
        Self { contrasts, alone: planned.map(|planned| planned - matched) }
    }

    /// Returns all pairs together.
    pub(super) fn pairs(&self) -> Pairs {
        self.contrasts.iter().fold(Pairs::default(), |mut all, contrast| {
            all.merge(contrast.pairs);
            all
        })
    }

    /// Returns the scores and their difference, with the task as the unit.
    pub(super) fn paired(&self) -> Paired {
        let mut tasks: BTreeMap<&str, Pairs> = BTreeMap::new();
        for contrast in &self.contrasts {
            if let Some([trial, _]) = contrast.trials.first() {
                tasks.entry(&trial.id.task).or_default().merge(contrast.pairs);
            }
        }
        Paired::of(&tasks.into_values().collect::<Vec<_>>())
    }

    /// Returns what changed in one way.
    pub(super) fn flips(&self, way: Flip) -> Vec<&Contrast<'a>> {
        self.contrasts.iter().filter(|contrast| contrast.pairs.flip() == Some(way)).collect()
    }

    /// Returns the number of matched trials that lack a verdict on a side.
    pub(super) fn left_out(&self) -> usize {
        let matched: usize = self.contrasts.iter().map(|contrast| contrast.trials.len()).sum();
        matched - self.pairs().total() as usize
    }

    /// Returns the matched trials of one side: 0 or 1.
    pub(super) fn side(&self, side: usize) -> impl Iterator<Item = &'a TrialView> + '_ {
        self.contrasts.iter().flat_map(move |contrast| contrast.trials.iter().map(move |t| t[side]))
    }
}

impl Contrast<'_> {
    /// Returns the task's id, safe to print.
    pub(super) fn task(&self) -> String {
        self.trials.first().map(|[trial, _]| one_line(&trial.id.task, 120)).unwrap_or_default()
    }
}

/// Returns a share in percent: `58.3`.
pub(super) fn percent(share: Option<f64>) -> String {
    share.map_or_else(|| "–".to_owned(), |share| format!("{:.1}", share * 100.0))
}

/// Returns a difference in percentage points with its interval: `+17.1 [+3.2 to +31.0]`.
pub(super) fn points(paired: &Paired) -> String {
    let Some(difference) = paired.difference else { return "–".to_owned() };
    let signed = |value: f64| {
        let rounded = (value * 1000.0).round() / 10.0;
        // Zero has no sign.
        if rounded == 0.0 { "0.0".to_owned() } else { format!("{rounded:+.1}") }
    };
    match paired.ci95 {
        Some((low, high)) => {
            format!("{} [{} to {}]", signed(difference), signed(low), signed(high))
        }
        None => signed(difference),
    }
}

/// Returns a count of passes and what it is of: `2/9`.
pub(super) fn fraction(passed: u32, of: u32) -> String {
    format!("{}/{}", number(passed), number(of))
}
