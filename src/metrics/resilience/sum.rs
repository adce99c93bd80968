//! What agents did about faults, over many trials.

use std::collections::BTreeMap;

use serde::Serialize;

use super::{Aftermath, Class, EventSum, Mix, Reactions};
use crate::metrics::State;

/// A trial, for [`Resilience`].
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Tried<'a> {
    /// What became of it.
    pub state: State,
    /// Its class; none without a verdict.
    pub class: Option<Class>,
    /// Whether it fabricated success.
    pub fabricated: bool,
    /// What it met.
    pub met: &'a Aftermath,
}

/// Trials that were to meet faults, added up. Trials without a verdict count in `dose`, `mix`
/// and `reactions`, and in no class.
#[derive(Debug, Clone, Default, PartialEq, Serialize)]
pub struct Resilience {
    /// Trials.
    pub trials: u32,
    /// Those that no fault acted on.
    pub zero_dose: u32,
    /// Calls that faults acted on, of all trials together.
    pub dose: u64,
    /// Calls.
    pub calls: u64,
    /// Passed trials of those that a fault acted on.
    pub passed: u32,
    /// Passed trials of those that none acted on.
    pub zero_dose_passed: u32,
    /// Trials that a fault acted on, by class.
    pub classes: BTreeMap<Class, u32>,
    /// Trials that none acted on, by class.
    pub zero_dose_classes: BTreeMap<Class, u32>,
    /// What came next after faulted calls.
    pub reactions: Reactions,
    /// Trials with a retry loop.
    pub looped: u32,
    /// Rounds of the longest retry loop.
    pub longest_loop: u32,
    /// Trials that fabricated success.
    pub fabricated: u32,
    /// Faults that fired.
    pub mix: Mix,
    /// Events of worlds.
    pub events: EventSum,
}

impl Resilience {
    /// Adds up trials.
    pub fn of<'a>(trials: impl IntoIterator<Item = Tried<'a>>) -> Self {
        let mut sum = Self::default();
        trials.into_iter().for_each(|trial| sum.add(trial));
        sum
    }

    /// Adds one trial.
    pub fn add(&mut self, trial: Tried<'_>) {
        let Tried { state, class, fabricated, met } = trial;
        let passed = state == State::Pass;
        self.trials += 1;
        self.calls += u64::from(met.calls);
        self.dose += u64::from(met.dose);
        let (classes, right) = if met.is_zero_dose() {
            self.zero_dose += 1;
            (&mut self.zero_dose_classes, &mut self.zero_dose_passed)
        } else {
            (&mut self.classes, &mut self.passed)
        };
        *right += u32::from(passed);
        if let Some(class) = class {
            *classes.entry(class).or_default() += 1;
        }
        self.reactions.merge(met.reactions);
        self.looped += u32::from(met.loops > 0);
        self.longest_loop = self.longest_loop.max(met.longest_loop);
        self.fabricated += u32::from(fabricated);
        self.mix.merge(&met.mix);
        for event in &met.events {
            self.events.add(event.felt, passed);
        }
    }

    /// Returns the trials that a fault acted on.
    #[must_use]
    pub fn dosed(&self) -> u32 {
        self.trials - self.zero_dose
    }

    /// Returns the number of trials in a class, whatever their dose.
    #[must_use]
    pub fn class(&self, class: Class) -> u32 {
        let of = |classes: &BTreeMap<Class, u32>| classes.get(&class).copied().unwrap_or_default();
        of(&self.classes) + of(&self.zero_dose_classes)
    }

    /// Returns the mean number of calls that faults acted on, of a trial that met any; none
    /// where none did.
    #[must_use]
    #[expect(clippy::cast_precision_loss, reason = "no run has so many calls")]
    pub fn mean_dose(&self) -> Option<f64> {
        (self.dosed() > 0).then(|| self.dose as f64 / f64::from(self.dosed()))
    }

    /// Returns the share of trials with a class that came to an answer to what was asked, in
    /// `0..=1`; none without any.
    #[must_use]
    pub fn completion(&self) -> Option<f64> {
        let count = |wanted: fn(Class) -> bool| -> u32 {
            Class::ALL.into_iter().filter(|class| wanted(*class)).map(|it| self.class(it)).sum()
        };
        let all = count(|_| true);
        (all > 0).then(|| f64::from(count(Class::is_completed)) / f64::from(all))
    }
}
