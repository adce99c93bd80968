//! What of this machine reads media without a model.
//!
//! Found once when the host is opened, and asked by those who decide whether a task can be
//! tried here. It runs nothing and looks for nothing itself.

use wildgym_tasks::environment::Need;

/// Which engines the machine has.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Engines {
    /// Something writes down what is said.
    pub speech: bool,
    /// Something reads the letters in a picture.
    pub text_recognition: bool,
    /// Something takes videos apart.
    pub video: bool,
}

impl Engines {
    /// Returns whether the machine can do by itself what a task needs.
    #[must_use]
    pub fn meet(self, need: Need) -> bool {
        match need {
            Need::Speech => self.speech,
            Need::TextRecognition => self.text_recognition,
            Need::Video => self.video,
        }
    }
}
