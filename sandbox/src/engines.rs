//! What of this machine reads media without a model.
//!
//! Asked by those who decide whether a task can be tried here; it runs nothing.

use wildgym_tasks::environment::Need;

use crate::programs::{Program, Programs};

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
    /// Returns which engines these programs make. Speech needs what opens recordings, too.
    #[must_use]
    pub fn of(programs: &Programs) -> Self {
        let has = |program| programs.has(program);
        let video = has(Program::Ffmpeg) && has(Program::Ffprobe);
        Self {
            speech: has(Program::Speech) && video,
            text_recognition: has(Program::Tesseract),
            video,
        }
    }

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
