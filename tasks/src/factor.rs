//! The ways in which a task can be de-idealised.

use std::fmt;
use std::str::FromStr;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// One way in which a task departs from the ideal.
///
/// Every factor that a task names has an overlay in `ideal/<factor>/` which takes
/// it away; the reference answer stays the same. The order of the variants is the
/// order in which overlays are applied.
#[derive(
    Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, JsonSchema,
)]
#[serde(rename_all = "kebab-case")]
pub enum Factor {
    /// What the task needs lies inside a file and not in the request.
    HiddenInformation,
    /// The needed tool or service has to be found first.
    ToolDiscovery,
    /// The request leaves open what it means.
    Ambiguity,
    /// The request contains something that is not true.
    Bias,
    /// The data has errors that must be found and repaired.
    DirtyData,
    /// There is material that looks relevant and is not.
    Distractors,
    /// Calls fail.
    Faults,
    /// The world changes while the agent acts.
    Events,
}

impl Factor {
    /// All factors, in the order in which overlays are applied.
    pub const ALL: [Self; 8] = [
        Self::HiddenInformation,
        Self::ToolDiscovery,
        Self::Ambiguity,
        Self::Bias,
        Self::DirtyData,
        Self::Distractors,
        Self::Faults,
        Self::Events,
    ];

    /// Returns the name used in files and on the command line.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::HiddenInformation => "hidden-information",
            Self::ToolDiscovery => "tool-discovery",
            Self::Ambiguity => "ambiguity",
            Self::Bias => "bias",
            Self::DirtyData => "dirty-data",
            Self::Distractors => "distractors",
            Self::Faults => "faults",
            Self::Events => "events",
        }
    }
}

impl fmt::Display for Factor {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

impl FromStr for Factor {
    type Err = UnknownFactor;

    fn from_str(name: &str) -> Result<Self, Self::Err> {
        Self::ALL
            .into_iter()
            .find(|factor| factor.name() == name)
            .ok_or_else(|| UnknownFactor(name.to_owned()))
    }
}

/// A name that is no factor.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("`{0}` is no factor; expected one of {names}", names = Factor::ALL.map(Factor::name).join(", "))]
pub struct UnknownFactor(pub String);

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_agree_in_files_and_on_the_command_line() {
        for factor in Factor::ALL {
            assert_eq!(factor.name().parse(), Ok(factor));
            assert_eq!(serde_json::to_value(factor).unwrap(), factor.name());
        }
        let message = "haste".parse::<Factor>().unwrap_err().to_string();
        assert!(message.starts_with("`haste` is no factor; expected one of hidden-information,"));
    }
}
