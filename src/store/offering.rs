//! How tools are offered under a condition: how many, in which words, in which order.
//!
//! These are what the 43-tool harness found to move scores: selection degrades with the
//! number of tools, and success with how they are described. Each is an [`Axis`]; what a
//! condition does not set is as tasks and tools say it themselves. The names of conditions
//! are made here: what is varied stands in them behind `+`, which no other part of a name has.

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};

/// What names the texts of tools as they are.
pub const ORIGINAL: &str = "original";

/// What stands in front of each part of a condition's name that says what is varied.
const MARK: char = '+';

/// How tools are offered under a condition.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Offering {
    /// Operations beside those that a task needs.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub distractors: Option<Distractors>,
    /// The words in which tools are told of.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tool_text: Option<ToolText>,
    /// The order in which they are told of.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tool_order: Option<ToolOrder>,
    /// Blob with the schemas of all tools in `OpenAI` form, in these words and this order; the
    /// digest pins them.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub schemas: String,
    /// Blob with the names of the tools that each task is offered (by task, as JSON); the
    /// digest pins what was drawn.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub offers: String,
}

/// How many operations are offered that a task does not need.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub enum Distractors {
    /// So many, or all where there are no more.
    Number(u32),
    /// All.
    All,
}

/// Words in which tools are told of.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ToolText {
    /// Name of the wording.
    pub name: String,
    /// Blob with the texts that replace others, as JSON; none where none is replaced.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub texts: Option<String>,
}

/// The order in which tools are told of.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub enum ToolOrder {
    /// As they are declared.
    Listed,
    /// Shuffled by this seed, which is not the run's.
    Seed(u32),
}

/// One of the three things that can be varied.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Axis {
    /// How many operations are offered that a task does not need.
    Distractors,
    /// The words in which tools are told of.
    ToolText,
    /// The order in which they are told of.
    ToolOrder,
}

/// A value on an axis. Values of one axis are in the order of reports: few distractors
/// first, then the texts and the order that are nobody's choice.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub enum Setting {
    /// On [`Axis::Distractors`].
    Distractors(Distractors),
    /// On [`Axis::ToolText`].
    ToolText {
        /// Whether texts are replaced.
        replaced: bool,
        /// Name of the wording.
        name: String,
    },
    /// On [`Axis::ToolOrder`].
    ToolOrder(ToolOrder),
}

impl Axis {
    /// All of them, in the order of reports.
    pub const ALL: [Self; 3] = [Self::Distractors, Self::ToolText, Self::ToolOrder];

    /// Returns the name used on the command line.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Distractors => "distractors",
            Self::ToolText => "tool-text",
            Self::ToolOrder => "tool-order",
        }
    }
}

impl Offering {
    /// Returns the value on an axis: the usual one where it is not set.
    #[must_use]
    pub fn setting(&self, axis: Axis) -> Setting {
        match axis {
            Axis::Distractors => Setting::Distractors(self.distractors.unwrap_or(Distractors::All)),
            Axis::ToolText => match &self.tool_text {
                Some(text) => {
                    Setting::ToolText { replaced: text.texts.is_some(), name: text.name.clone() }
                }
                None => Setting::ToolText { replaced: false, name: ORIGINAL.to_owned() },
            },
            Axis::ToolOrder => Setting::ToolOrder(self.tool_order.unwrap_or(ToolOrder::Listed)),
        }
    }

    /// Returns the name of a condition that is `base` with these tools.
    #[must_use]
    pub fn name(&self, base: &str) -> String {
        let mut name = base.to_owned();
        let parts = [
            self.distractors.map(|number| format!("distractors-{number}")),
            self.tool_text.as_ref().map(|text| format!("text-{}", text.name)),
            self.tool_order.map(|order| format!("order-{order}")),
        ];
        for part in parts.into_iter().flatten() {
            name.push(MARK);
            name.push_str(&part);
        }
        name
    }

    /// Returns the part of a condition's name that says nothing of tools.
    #[must_use]
    pub fn base(condition: &str) -> &str {
        condition.split(MARK).next().unwrap_or(condition)
    }
}

impl fmt::Display for Distractors {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Number(number) => write!(f, "{number}"),
            Self::All => f.write_str("all"),
        }
    }
}

impl FromStr for Distractors {
    type Err = &'static str;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        if text == "all" {
            return Ok(Self::All);
        }
        number(text).map(Self::Number).ok_or("expected a whole number from 0 on, or `all`")
    }
}

impl fmt::Display for ToolOrder {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Listed => f.write_str("listed"),
            Self::Seed(seed) => write!(f, "{seed}"),
        }
    }
}

impl FromStr for ToolOrder {
    type Err = &'static str;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        if text == "listed" {
            return Ok(Self::Listed);
        }
        number(text).map(Self::Seed).ok_or("expected a seed from 0 to 4294967295, or `listed`")
    }
}

impl fmt::Display for Setting {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Distractors(number) => write!(f, "{number}"),
            Self::ToolText { name, .. } => f.write_str(name),
            Self::ToolOrder(order) => write!(f, "{order}"),
        }
    }
}

/// Reads digits and nothing else: signs, spaces and points are slips.
fn number(text: &str) -> Option<u32> {
    text.bytes().all(|byte| byte.is_ascii_digit()).then(|| text.parse().ok()).flatten()
}

/// Has serde write and read a value as its text.
macro_rules! as_text {
    ($type:ty) => {
        impl From<$type> for String {
            fn from(value: $type) -> Self {
                value.to_string()
            }
        }

        impl TryFrom<String> for $type {
            type Error = &'static str;

            fn try_from(text: String) -> Result<Self, Self::Error> {
                text.parse()
            }
        }
    };
}

as_text!(Distractors);
as_text!(ToolOrder);

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_read_or_refused() {
        let table = [
            ("0", Ok(Distractors::Number(0)), "none at all"),
            ("10", Ok(Distractors::Number(10)), "a number"),
            ("all", Ok(Distractors::All), "the word"),
            ("-1", Err(()), "fewer than none"),
            ("+1", Err(()), "a sign"),
            ("1.5", Err(()), "half a tool"),
            ("4294967296", Err(()), "beyond any world"),
            ("ALL", Err(()), "another word"),
            ("", Err(()), "nothing"),
        ];
        for (text, want, why) in table {
            assert_eq!(text.parse::<Distractors>().map_err(drop), want, "{why}");
        }
        assert_eq!("listed".parse::<ToolOrder>(), Ok(ToolOrder::Listed));
        assert_eq!("7".parse::<ToolOrder>(), Ok(ToolOrder::Seed(7)));
        assert!("-7".parse::<ToolOrder>().is_err());
    }

    #[test]
    fn conditions_are_named_by_what_is_varied() {
        let text = |name: &str| Some(ToolText { name: name.to_owned(), texts: None });
        let table = [
            (Offering::default(), "react-m"),
            (
                Offering { distractors: Some(Distractors::Number(10)), ..Offering::default() },
                "react-m+distractors-10",
            ),
            (
                Offering {
                    distractors: Some(Distractors::All),
                    tool_text: text("terse"),
                    tool_order: Some(ToolOrder::Seed(7)),
                    ..Offering::default()
                },
                "react-m+distractors-all+text-terse+order-7",
            ),
        ];
        for (offering, want) in table {
            assert_eq!(offering.name("react-m"), want);
            assert_eq!(Offering::base(want), "react-m");
        }
    }

    #[test]
    fn values_are_in_the_order_of_reports() {
        let offering = |number| Offering { distractors: Some(number), ..Offering::default() };
        let numbers = [2, 10].map(Distractors::Number).into_iter().chain([Distractors::All]);
        let values: Vec<Setting> =
            numbers.map(|number| offering(number).setting(Axis::Distractors)).collect();
        assert!(values.is_sorted(), "{values:?}");
        assert_eq!(Offering::default().setting(Axis::Distractors).to_string(), "all");
        let text = |name: &str, replaced| Setting::ToolText { replaced, name: name.to_owned() };
        assert!(text("original", false) < text("brief", true), "what is usual comes first");
        assert!(Setting::ToolOrder(ToolOrder::Listed) < Setting::ToolOrder(ToolOrder::Seed(0)));
    }

    #[test]
    fn what_is_stored_comes_back() {
        let offering = Offering {
            distractors: Some(Distractors::Number(10)),
            tool_text: Some(ToolText { name: "terse".to_owned(), texts: Some("ab".repeat(32)) }),
            tool_order: Some(ToolOrder::Listed),
            schemas: "cd".repeat(32),
            offers: String::new(),
        };
        let text = toml::to_string(&offering).unwrap();
        assert!(text.contains("distractors = \"10\"") && text.contains("\"listed\""), "{text}");
        assert_eq!(toml::from_str::<Offering>(&text).unwrap(), offering);
        assert!(toml::from_str::<Offering>("distractors = \"ten\"").is_err());
    }
}
