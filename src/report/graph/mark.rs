//! What is wrong with calls, as the legend names it.

use wildgym_tasks::scenario_file::Flaw;

use crate::judge::CallFault;

/// A kind of violation with a colour of its own.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Mark {
    /// Refused, because what it needs was not there.
    Dependency,
    /// An argument that must be absent.
    Forbidden,
    /// A change that nothing asked for.
    Write,
    /// A change where it is right to refuse.
    Refusal,
    /// A change before the question that it needed.
    Guess,
    /// An id that nobody had told.
    Invented,
    /// A value that is not the one it had to be.
    Value,
    /// Arguments that do not fit the schema.
    Arguments,
    /// A tool that is easily taken for the right one.
    Near,
    /// A call too early.
    Order,
    /// A call that failed where it had to work, or the other way round.
    Failed,
    /// A call for nothing.
    Redundant,
    /// A call beyond what is allowed.
    Budget,
}

impl Mark {
    /// All of them, in the order of the legend.
    pub(super) const ALL: [Self; 13] = [
        Self::Dependency,
        Self::Forbidden,
        Self::Write,
        Self::Refusal,
        Self::Guess,
        Self::Invented,
        Self::Value,
        Self::Arguments,
        Self::Near,
        Self::Order,
        Self::Failed,
        Self::Redundant,
        Self::Budget,
    ];

    /// Returns the mark of a fault; none for what is no fault of a single call.
    pub(super) fn of(fault: CallFault) -> Option<Self> {
        Some(match fault {
            CallFault::Dependency => Self::Dependency,
            CallFault::Redundant => Self::Redundant,
            CallFault::Arguments => Self::Arguments,
            CallFault::Flaw(flaw) => match flaw {
                Flaw::ForbiddenArgument => Self::Forbidden,
                Flaw::ExtraWrite => Self::Write,
                Flaw::NotRefused => Self::Refusal,
                Flaw::EagerGuess => Self::Guess,
                Flaw::HallucinatedId => Self::Invented,
                Flaw::ParameterDrift | Flaw::NotFromPrior | Flaw::WrongArgument => Self::Value,
                Flaw::NearMiss => Self::Near,
                Flaw::WrongOrder => Self::Order,
                Flaw::FailedCall => Self::Failed,
                Flaw::TooManyCalls => Self::Budget,
                Flaw::NoAnswer
                | Flaw::MissingCall
                | Flaw::WrongState
                | Flaw::WrongAnswer
                | Flaw::SilentSuccess => return None,
            },
        })
    }

    /// Returns what the legend and the boxes call it.
    pub(super) fn name(self) -> &'static str {
        match self {
            Self::Dependency => "dependency violation",
            Self::Forbidden => "forbidden argument",
            Self::Write => "unexpected write",
            Self::Refusal => "change instead of refusal",
            Self::Guess => "change before the question",
            Self::Invented => "hallucinated id",
            Self::Value => "wrong or drifted value",
            Self::Arguments => "arguments that do not fit",
            Self::Near => "near-miss tool",
            Self::Order => "wrong order",
            Self::Failed => "failed where it had to work",
            Self::Redundant => "redundant call",
            Self::Budget => "over the budget",
        }
    }

    /// Returns the class of its colour in the style sheet.
    pub(super) fn class(self) -> &'static str {
        match self {
            Self::Dependency => "v-dependency",
            Self::Forbidden => "v-forbidden",
            Self::Write => "v-write",
            Self::Refusal => "v-refusal",
            Self::Guess => "v-guess",
            Self::Invented => "v-invented",
            Self::Value => "v-value",
            Self::Arguments => "v-arguments",
            Self::Near => "v-near",
            Self::Order => "v-order",
            Self::Failed => "v-failed",
            Self::Redundant => "v-redundant",
            Self::Budget => "v-budget",
        }
    }
}
