//! Whether a task can be tried where the run is.
//!
//! A task says which engines it needs. What the machine cannot do a model may be able to:
//! who looks at pictures reads what stands in them. A task that nobody here can do is
//! skipped before anything is started, since a failure would say nothing about the agent.

use std::collections::BTreeSet;

use wildgym_sandbox::Engines;
use wildgym_tasks::environment::Need;
use wildgym_toolbox::Ask;

/// Something that a task needs and that is not there.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Lacking(pub Need);

impl Lacking {
    /// Returns what is missing in a few words, the same for every trial that lacks it.
    #[must_use]
    pub fn reason(self) -> &'static str {
        match self.0 {
            Need::Speech => "no speech engine",
            Need::TextRecognition => "no text recognition",
            Need::Video => "no video engine",
        }
    }

    /// Returns what to do about it.
    #[must_use]
    pub fn remedy(self) -> &'static str {
        match self.0 {
            Need::Speech => {
                "recordings cannot be written down here: `wildgym setup --speech` installs an \
                 engine, or name a model that does it with `--speech-model NAME` (either needs \
                 ffmpeg); then go on with `wildgym resume`"
            }
            Need::TextRecognition => {
                "pictures cannot be read here: install `tesseract` (package tesseract-ocr) or \
                 have a model that takes pictures answer tools (`--tool-model NAME`), then go on \
                 with `wildgym resume`"
            }
            Need::Video => {
                "videos cannot be taken apart here: install `ffmpeg` (package ffmpeg), then go on \
                 with `wildgym resume`"
            }
        }
    }
}

/// Returns the first of `needs` that neither the machine's engines nor whoever answers
/// tools can meet.
#[must_use]
pub fn lacking(
    needs: &BTreeSet<Need>,
    engines: Engines,
    answers: Option<&dyn Ask>,
) -> Option<Lacking> {
    let model = |need: Need| match need {
        Need::TextRecognition => answers.is_some_and(Ask::sees),
        // Recordings are opened here before a model gets to hear them.
        Need::Speech => {
            engines.video && answers.is_some_and(|ask| ask.hears() || ask.transcriber().is_some())
        }
        Need::Video => false,
    };
    needs.iter().copied().find(|need| !engines.meet(*need) && !model(*need)).map(Lacking)
}

#[cfg(test)]
mod tests {
    use futures::future::{BoxFuture, ready};
    use wildgym_sandbox::work::Working;
    use wildgym_toolbox::door::Ingress;
    use wildgym_toolbox::{Answer, AskError, Question};

    use super::*;

    /// Answers nothing, but says whether it would look or listen.
    #[derive(Debug)]
    struct Senses {
        sees: bool,
        hears: bool,
    }

    impl Ask for Senses {
        fn sees(&self) -> bool {
            self.sees
        }

        fn hears(&self) -> bool {
            self.hears
        }

        fn ask<'a>(
            &'a self,
            _: &'a Ingress,
            _: &'a Question<'a>,
            _: &'a mut Working,
        ) -> BoxFuture<'a, Result<Answer, AskError>> {
            Box::pin(ready(Err(AskError::NoModel)))
        }
    }

    #[test]
    fn a_need_is_met_by_the_machine_or_by_a_model() {
        type Row<'a> = (&'a [Need], Engines, Option<&'a dyn Ask>, Option<Need>, &'a str);
        let none = Engines::default();
        let all = Engines { speech: true, text_recognition: true, video: true };
        let opens = Engines { video: true, ..none };
        let seeing = Senses { sees: true, hears: false };
        let hearing = Senses { sees: false, hears: true };
        let (see, hear): (Option<&dyn Ask>, Option<&dyn Ask>) = (Some(&seeing), Some(&hearing));
        let (speech, text, video) = (Need::Speech, Need::TextRecognition, Need::Video);
        let table: [Row<'_>; 9] = [
            (&[], none, None, None, "nothing is needed"),
            (&[speech, text, video], all, None, None, "all is there"),
            (&[text], none, None, Some(text), "nobody reads"),
            (&[text], none, see, None, "a model reads"),
            (&[text], none, hear, Some(text), "a blind one does not"),
            (&[speech], opens, see, Some(speech), "eyes do not hear"),
            (&[speech], opens, hear, None, "ears do"),
            (&[speech], none, hear, Some(speech), "nothing opens the recording"),
            (&[video, speech], Engines { speech: true, ..none }, None, Some(video), "one of two"),
        ];
        for (needs, engines, answers, want, why) in table {
            let got = lacking(&needs.iter().copied().collect(), engines, answers);
            assert_eq!(got, want.map(Lacking), "{why}");
        }
    }
}
