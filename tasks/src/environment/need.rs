//! What a machine must have beside the gym for a task to be tried there.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// An engine that a task needs. Where neither the machine nor a model of the run can do
/// what it is for, the task is skipped and not failed.
#[derive(
    Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, JsonSchema,
)]
#[serde(rename_all = "kebab-case")]
pub enum Need {
    /// What is said in a recording can be written down.
    Speech,
    /// The letters in a picture can be read.
    TextRecognition,
    /// A video file can be taken apart into pictures and sound.
    Video,
}

impl Need {
    /// Returns the name by which files know it.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Speech => "speech",
            Self::TextRecognition => "text-recognition",
            Self::Video => "video",
        }
    }
}

impl std::fmt::Display for Need {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(self.name())
    }
}
