//! The names of what a verdict can find wrong.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// What a verdict can find wrong with a trial.
#[derive(
    Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, JsonSchema,
)]
#[serde(rename_all = "kebab-case")]
pub enum Flaw {
    /// There is no final text.
    NoAnswer,
    /// An expected call was not made.
    MissingCall,
    /// It was made and failed.
    FailedCall,
    /// It was made with another value of an argument.
    WrongArgument,
    /// It was made with an argument that must be absent.
    ForbiddenArgument,
    /// An argument is none of what the earlier call returned.
    NotFromPrior,
    /// It was made in the wrong order.
    WrongOrder,
    /// Something was changed that nothing asked for.
    ExtraWrite,
    /// More calls were made than `max_calls`.
    TooManyCalls,
    /// Something does not hold of the world at the end.
    WrongState,
    /// The final text does not say what it must, or says what it must not.
    WrongAnswer,
    /// Where it is right to refuse, a change was attempted.
    NotRefused,
    /// The confident hallucinated id: an id that nobody told.
    HallucinatedId,
    /// Silent success: a needed call failed, and the final text speaks of success.
    SilentSuccess,
    /// The eager guesser: a change before the question that it needed.
    EagerGuess,
    /// A call of an operation that is easily taken for the right one.
    NearMiss,
    /// A value that was told once was changed on the way.
    ParameterDrift,
}

impl Flaw {
    /// Returns the name used in files.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::NoAnswer => "no-answer",
            Self::MissingCall => "missing-call",
            Self::FailedCall => "failed-call",
            Self::WrongArgument => "wrong-argument",
            Self::ForbiddenArgument => "forbidden-argument",
            Self::NotFromPrior => "not-from-prior",
            Self::WrongOrder => "wrong-order",
            Self::ExtraWrite => "extra-write",
            Self::TooManyCalls => "too-many-calls",
            Self::WrongState => "wrong-state",
            Self::WrongAnswer => "wrong-answer",
            Self::NotRefused => "not-refused",
            Self::HallucinatedId => "hallucinated-id",
            Self::SilentSuccess => "silent-success",
            Self::EagerGuess => "eager-guess",
            Self::NearMiss => "near-miss",
            Self::ParameterDrift => "parameter-drift",
        }
    }
}
