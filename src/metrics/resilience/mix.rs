//! Which faults there were: by operator and persistence, specified and realised.

use std::collections::BTreeMap;

use serde::ser::SerializeSeq;
use serde::{Serialize, Serializer};
use serde_json::json;

/// An operator with a persistence, by their names in profiles and transcripts.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Kind {
    /// Such as `explicit-error`.
    pub operator: String,
    /// Such as `permanent`.
    pub persistence: String,
}

/// How much there is of each kind: counts of fired faults, or the weights of a profile.
///
/// Only shares of it mean something across the two. Weights are finite and not negative;
/// others are taken for nothing.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Mix(BTreeMap<Kind, f64>);

impl Mix {
    /// Adds an amount of a kind.
    pub fn add(&mut self, operator: &str, persistence: &str, amount: f64) {
        if amount.is_finite() && amount > 0.0 {
            let kind = Kind { operator: operator.to_owned(), persistence: persistence.to_owned() };
            *self.0.entry(kind).or_default() += amount;
        }
    }

    /// Adds another mix.
    pub fn merge(&mut self, other: &Self) {
        for (kind, amount) in &other.0 {
            *self.0.entry(kind.clone()).or_default() += amount;
        }
    }

    /// Returns whether there is nothing of any kind.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Returns all of all kinds together.
    #[must_use]
    pub fn total(&self) -> f64 {
        self.0.values().sum()
    }

    /// Returns the kinds with their amounts, in the order of their names.
    pub fn iter(&self) -> impl Iterator<Item = (&Kind, f64)> {
        self.0.iter().map(|(kind, amount)| (kind, *amount))
    }

    /// Returns the share of a kind in `0..=1`; none of nothing.
    #[must_use]
    pub fn share(&self, kind: &Kind) -> Option<f64> {
        self.share_of(|one| one == kind)
    }

    /// Returns the share of all kinds that `wanted` chooses, in `0..=1`; none of nothing.
    #[must_use]
    pub fn share_of(&self, wanted: impl Fn(&Kind) -> bool) -> Option<f64> {
        let total = self.total();
        let chosen = self.0.iter().filter(|(kind, _)| wanted(kind)).map(|(_, amount)| amount);
        (total > 0.0).then(|| (chosen.sum::<f64>() / total).clamp(0.0, 1.0))
    }

    /// Returns how far two mixes are apart: the total variation distance of their shares, half
    /// the sum of absolute differences, in `0..=1`; none where one is empty.
    #[must_use]
    pub fn distance(&self, other: &Self) -> Option<f64> {
        let (own, others) = (self.total(), other.total());
        if own <= 0.0 || others <= 0.0 {
            return None;
        }
        let kinds = self.0.keys().chain(other.0.keys().filter(|kind| !self.0.contains_key(kind)));
        let of = |mix: &Self, kind: &Kind| mix.0.get(kind).copied().unwrap_or_default();
        let apart = kinds.map(|kind| (of(self, kind) / own - of(other, kind) / others).abs());
        Some((apart.sum::<f64>() / 2.0).clamp(0.0, 1.0))
    }
}

impl Serialize for Mix {
    /// Writes a list of `operator`, `persistence`, `amount` and `share`.
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut list = serializer.serialize_seq(Some(self.0.len()))?;
        for (kind, amount) in self.iter() {
            list.serialize_element(&json!({
                "operator": kind.operator,
                "persistence": kind.persistence,
                "amount": amount,
                "share": self.share(kind),
            }))?;
        }
        list.end()
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn mix(amounts: &[(u8, f64)]) -> Mix {
        let mut mix = Mix::default();
        for (kind, amount) in amounts {
            mix.add(&format!("op-{}", kind % 4), "permanent", *amount);
        }
        mix
    }

    #[test]
    fn shares_and_distances_match_hand_counts() {
        let (a, b) = (mix(&[(0, 3.0), (1, 1.0)]), mix(&[(0, 30.0), (2, 30.0)]));
        let first = Kind { operator: "op-0".into(), persistence: "permanent".into() };
        assert_eq!((a.share(&first), b.share(&first)), (Some(0.75), Some(0.5)));
        // |0.75 − 0.5| + |0.25 − 0| + |0 − 0.5|, halved.
        assert_eq!(a.distance(&b), Some(0.5));
        assert_eq!(a.distance(&Mix::default()), None, "nothing is at no distance");
        assert_eq!(mix(&[(0, f64::NAN), (1, -1.0)]), Mix::default(), "no amounts");
        assert_eq!(Mix::default().share(&first), None);
    }

    proptest! {
        #[test]
        fn a_distance_is_one(
            a in prop::collection::vec((any::<u8>(), 0.0..100.0), 0..9),
            b in prop::collection::vec((any::<u8>(), 0.0..100.0), 0..9),
        ) {
            let (a, b) = (mix(&a), mix(&b));
            let (there, back) = (a.distance(&b), b.distance(&a));
            prop_assert_eq!(there.is_some(), !a.is_empty() && !b.is_empty());
            if let (Some(there), Some(back)) = (there, back) {
                prop_assert!((0.0..=1.0).contains(&there) && (there - back).abs() < 1e-9);
            }
            if let Some(own) = a.distance(&a) {
                prop_assert!(own < 1e-9, "{}", own);
            }
        }
    }
}
