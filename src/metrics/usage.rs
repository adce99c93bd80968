//! What trials took: rounds, calls, tokens, time, and what that cost.
//!
//! Sums only; means are made where they are shown. The judge's part is apart from the
//! agent's throughout, since another judge would cost another amount and change nothing
//! about the agent.

use std::collections::BTreeMap;
use std::ops::RangeInclusive;

use serde::Serialize;

use super::{Prices, State};
use crate::record::Usage;

/// Sums over attempts.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Work {
    /// Number of attempts, lost ones included.
    pub attempts: u64,
    /// Those of them that were killed: nobody summed up what they took, and they are in no
    /// sum below.
    pub unfinished: u64,
    /// Their rounds.
    pub rounds: u64,
    /// Their tool calls, those from executed code included.
    pub calls: u64,
    /// Their tokens.
    pub usage: Usage,
    /// Their working time in milliseconds.
    pub working_ms: u64,
    /// The part of it that went into waiting for the model, in milliseconds.
    pub model_ms: u64,
    /// The part of it that went into rounds of calls, in milliseconds.
    pub tools_ms: u64,
}

impl Work {
    /// Returns the number of attempts that the sums are of.
    #[must_use]
    pub fn finished(&self) -> u64 {
        self.attempts.saturating_sub(self.unfinished)
    }

    /// Adds other sums.
    pub fn add(&mut self, other: &Self) {
        self.attempts += other.attempts;
        self.unfinished += other.unfinished;
        self.rounds += other.rounds;
        self.calls += other.calls;
        self.usage.add(other.usage);
        self.working_ms = self.working_ms.saturating_add(other.working_ms);
        self.model_ms = self.model_ms.saturating_add(other.model_ms);
        self.tools_ms = self.tools_ms.saturating_add(other.tools_ms);
    }
}

/// What judging took, of one verdict or of many.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Judging {
    /// Number of verdicts.
    pub verdicts: u64,
    /// Time in milliseconds.
    pub took_ms: u64,
    /// By model, the number of calls and their tokens. A vote takes a second call where
    /// the reply to the first could not be read.
    pub calls: BTreeMap<String, (u64, Usage)>,
}

impl Judging {
    /// Adds a call.
    pub fn call(&mut self, model: &str, usage: Usage) {
        let (calls, sum) = match self.calls.get_mut(model) {
            Some(known) => known,
            None => self.calls.entry(model.to_owned()).or_default(),
        };
        *calls += 1;
        sum.add(usage);
    }

    /// Adds other judging.
    pub fn add(&mut self, other: &Self) {
        self.verdicts += other.verdicts;
        self.took_ms = self.took_ms.saturating_add(other.took_ms);
        for (model, (calls, usage)) in &other.calls {
            let (known, sum) = self.calls.entry(model.clone()).or_default();
            *known += calls;
            sum.add(*usage);
        }
    }

    /// Returns the number of calls of all models and their tokens.
    #[must_use]
    pub fn all_calls(&self) -> (u64, Usage) {
        self.calls.values().fold((0, Usage::default()), |(calls, mut sum), (count, usage)| {
            sum.add(*usage);
            (calls + count, sum)
        })
    }
}

/// A sum of costs that knows what it lacks.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Bill {
    /// What is known, in the currency of the prices.
    known: f64,
    /// Models without a price.
    pub unpriced: BTreeMap<String, u64>,
    /// Attempts, or calls of a judge, whose endpoint did not count tokens.
    pub uncounted: u64,
    /// Attempts that broke off before their tokens were summed up; their cost is not in it.
    pub unfinished: u64,
}

impl Bill {
    /// Adds `times` attempts or calls of a model that used `usage` together. `used` says
    /// that a model replied: then no tokens at all means that nobody counted them.
    pub fn charge(&mut self, prices: &Prices, model: &str, usage: Usage, used: bool, times: u64) {
        if usage.total() == 0 {
            self.uncounted += if used { times } else { 0 };
            return;
        }
        match prices.of(model) {
            Some(price) => self.known += price.of(usage),
            None => *self.unpriced.entry(model.to_owned()).or_default() += times,
        }
    }

    /// Adds another bill.
    pub fn add(&mut self, other: &Self) {
        self.known += other.known;
        for (model, times) in &other.unpriced {
            *self.unpriced.entry(model.clone()).or_default() += times;
        }
        self.uncounted += other.uncounted;
        self.unfinished += other.unfinished;
    }

    /// Returns the cost; none where a part of it is unknown. With unfinished attempts it
    /// is a lower bound.
    #[must_use]
    pub fn amount(&self) -> Option<f64> {
        (self.unpriced.is_empty() && self.uncounted == 0).then_some(self.known)
    }
}

/// Judged trials with so many rounds.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Rounds {
    /// The smallest number of rounds.
    pub from: u32,
    /// The largest; none where there is no upper end.
    pub to: Option<u32>,
    /// Judged trials.
    pub judged: u32,
    /// Those that passed.
    pub passed: u32,
}

impl Rounds {
    /// Where bins begin. They are the same for every run, so that runs can be compared;
    /// each is about twice as wide as the one before it, for so differ rounds.
    const BEGIN: [u32; 7] = [0, 1, 6, 11, 21, 41, 101];

    /// Returns the bin of a number of rounds.
    #[must_use]
    pub fn bin(rounds: u32) -> usize {
        Self::BEGIN.iter().rposition(|from| *from <= rounds).unwrap_or(0)
    }

    /// Returns the bounds of a bin.
    #[must_use]
    pub fn bounds(bin: usize) -> RangeInclusive<u32> {
        let from = Self::BEGIN.get(bin).copied().unwrap_or(u32::MAX);
        let to = Self::BEGIN.get(bin + 1).map_or(u32::MAX, |next| next - 1);
        from..=to
    }

    /// Sorts judged trials into bins by their rounds; bins without any are left out.
    pub fn of(trials: impl IntoIterator<Item = (u32, State)>) -> Vec<Self> {
        let mut bins = vec![(0, 0); Self::BEGIN.len()];
        for (rounds, state) in trials.into_iter().filter(|(_, state)| state.is_judged()) {
            if let Some((judged, passed)) = bins.get_mut(Self::bin(rounds)) {
                *judged += 1;
                *passed += u32::from(state == State::Pass);
            }
        }
        let bins = bins.into_iter().enumerate().filter(|(_, (judged, _))| *judged > 0);
        bins.map(|(bin, (judged, passed))| {
            let bounds = Self::bounds(bin);
            let to = (*bounds.end() < u32::MAX).then_some(*bounds.end());
            Self { from: *bounds.start(), to, judged, passed }
        })
        .collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn prices() -> Prices {
        let text = "currency = \"USD\"\n[[model]]\nname = \"known\"\ninput = 1\noutput = 2\n";
        Prices::parse(text).unwrap()
    }

    #[test]
    fn a_bill_never_takes_unknown_for_nothing() {
        let million = Usage { input: 1_000_000, output: 1_000_000, ..Usage::default() };
        let none = Usage::default();
        //         model     usage     used   amount     why
        let table = [
            ("known", million, true, Some(3.0), "a price"),
            ("other", million, true, None, "no price"),
            ("known", none, true, None, "the endpoint counted nothing"),
            ("other", none, false, Some(0.0), "never replied: nothing to pay"),
        ];
        for (model, usage, used, want, why) in table {
            let mut bill = Bill::default();
            bill.charge(&prices(), model, usage, used, 1);
            assert_eq!(bill.amount(), want, "{why}");
        }
        let mut sum = Bill::default();
        for model in ["known", "other", "other"] {
            let mut bill = Bill::default();
            bill.charge(&prices(), model, million, true, 1);
            sum.add(&bill);
        }
        assert_eq!(sum.amount(), None, "a part that is unknown makes the whole unknown");
        assert_eq!(sum.unpriced, BTreeMap::from([("other".to_owned(), 2)]));
    }

    #[test]
    fn every_number_of_rounds_has_one_bin() {
        for rounds in (0..300).chain([u32::MAX]) {
            assert!(Rounds::bounds(Rounds::bin(rounds)).contains(&rounds), "{rounds}");
        }
        let trials = [(1, State::Pass), (5, State::Fail), (6, State::Degraded), (500, State::Lost)];
        let bins = Rounds::of(trials);
        let want = [
            Rounds { from: 1, to: Some(5), judged: 2, passed: 1 },
            Rounds { from: 6, to: Some(10), judged: 1, passed: 0 },
        ];
        assert_eq!(bins, want, "only judged ones; degraded is not passed");
        assert_eq!(Rounds::of([(150, State::Pass)])[0].to, None, "the last bin has no end");
    }
}
