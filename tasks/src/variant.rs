//! A task with some of its factors taken away.

use std::collections::BTreeSet;
use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};

use crate::factor::Factor;

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
    type Err = UnknownVariant;

    fn from_str(name: &str) -> Result<Self, Self::Err> {
        if name == "full" {
            return Ok(Self::default());
        }
        let unknown = |why: Option<String>| UnknownVariant { name: name.to_owned(), why };
        let names = name.strip_prefix("ideal-").ok_or_else(|| unknown(None))?;
        let factors = names.split('+').map(str::parse::<Factor>).collect::<Result<_, _>>();
        factors.map(Self).map_err(|error| unknown(Some(error.to_string())))
    }
}

/// A name that is no variant.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("`{name}` names no variant; expected `full` or `ideal-<factor>+<factor>`{}", .why.as_ref().map(|why| format!(" ({why})")).unwrap_or_default())]
pub struct UnknownVariant {
    /// The name.
    pub name: String,
    /// What is wrong with a part of it.
    why: Option<String>,
}

impl TryFrom<String> for Variant {
    type Error = UnknownVariant;

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
        let error = |name: &str| name.parse::<Variant>().unwrap_err().to_string();
        let form = "`bias` names no variant; expected `full` or `ideal-<factor>+<factor>`";
        assert_eq!(error("bias"), form, "nothing that contradicts itself");
        assert!(error("ideal-haste").contains("`haste` is no factor"), "{}", error("ideal-haste"));
    }
}
