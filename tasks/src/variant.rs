//! A task with some of its factors taken away.

use std::collections::BTreeSet;
use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};

use crate::factor::{Factor, UnknownFactor};

/// The set of factors that are idealised, that is, removed.
///
/// The empty set is the task as it stands in the wild and is named `full`; others
/// are named `ideal-<factor>+<factor>`, in the order of [`Factor::ALL`], which is
/// also the name of their folder in a run.
#[derive(Debug, Clone, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct Variant(BTreeSet<Factor>);

impl Variant {
    /// Returns the variant that idealises `factors`.
    pub fn ideal(factors: impl IntoIterator<Item = Factor>) -> Self {
        Self(factors.into_iter().collect())
    }

    /// Returns whether nothing is idealised.
    #[must_use]
    pub fn is_full(&self) -> bool {
        self.0.is_empty()
    }

    /// Returns the idealised factors in the order of [`Factor::ALL`].
    pub fn factors(&self) -> impl Iterator<Item = Factor> + '_ {
        self.0.iter().copied()
    }

    /// Returns whether `factor` is idealised.
    #[must_use]
    pub fn idealises(&self, factor: Factor) -> bool {
        self.0.contains(&factor)
    }

    /// Returns every variant of a task with `factors`: all subsets, the full one first.
    #[must_use]
    pub fn all_of(factors: &BTreeSet<Factor>) -> Vec<Self> {
        let mut variants = vec![Self::default()];
        for factor in factors {
            for index in 0..variants.len() {
                let mut more = variants[index].clone();
                more.0.insert(*factor);
                variants.push(more);
            }
        }
        variants
    }
}

impl fmt::Display for Variant {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.is_full() {
            return f.write_str("full");
        }
        let names: Vec<_> = self.0.iter().map(|factor| factor.name()).collect();
        write!(f, "ideal-{}", names.join("+"))
    }
}

impl FromStr for Variant {
    type Err = UnknownFactor;

    fn from_str(name: &str) -> Result<Self, Self::Err> {
        if name == "full" {
            return Ok(Self::default());
        }
        let names = name.strip_prefix("ideal-").ok_or_else(|| UnknownFactor(name.to_owned()))?;
        names.split('+').map(str::parse).collect::<Result<_, _>>().map(Self)
    }
}

impl TryFrom<String> for Variant {
    type Error = UnknownFactor;

    fn try_from(name: String) -> Result<Self, Self::Error> {
        name.parse()
    }
}

impl From<Variant> for String {
    fn from(variant: Variant) -> Self {
        variant.to_string()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn all_subsets_have_distinct_names_that_parse_back() {
        let factors = BTreeSet::from([Factor::Bias, Factor::Ambiguity, Factor::Distractors]);
        let variants = Variant::all_of(&factors);
        let names: BTreeSet<_> = variants.iter().map(ToString::to_string).collect();
        assert_eq!(names.len(), 8);
        assert!(names.contains("full") && names.contains("ideal-ambiguity+bias+distractors"));
        for variant in variants {
            assert_eq!(variant.to_string().parse(), Ok(variant));
        }
    }
}
