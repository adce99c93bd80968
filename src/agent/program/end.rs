//! How a program ended, and what its answer is where it handed none in.

use std::io::Read;
use std::process::ChildStdout;

use wildgym_sandbox::guest::Left;

use super::super::Ending;
use super::super::react::final_answer;
use super::post::Post;
use crate::record::Outcome;

/// The largest answer that is taken from a file or from standard output, in bytes.
const LARGEST: usize = 256 << 10;

/// How much of a program's last words is told, in bytes.
const LAST_WORDS: usize = 600;

/// The standard output of a program: its beginning, as far as an answer may be long, and how
/// long the whole is.
pub(super) struct Output(tokio::task::JoinHandle<(Vec<u8>, usize)>);

impl Output {
    /// Reads all of it, so that a program that says much is not held up.
    pub(super) fn read(mut output: ChildStdout) -> Self {
        Self(tokio::task::spawn_blocking(move || {
            let (mut kept, mut length) = (Vec::new(), 0);
            let mut piece = vec![0; 64 << 10];
            while let Ok(read) = output.read(&mut piece) {
                if read == 0 {
                    break;
                }
                length += read;
                let room = LARGEST.saturating_sub(kept.len());
                kept.extend_from_slice(&piece[..read.min(room)]);
            }
            (kept, length)
        }))
    }
}

/// Returns how an attempt ends whose program ended before it handed in an answer.
pub(super) async fn of(post: &Post, left: std::io::Result<Left>, output: Output) -> Ending {
    if let Some(answer) = post.answer(LARGEST) {
        return Ending::answered(answer);
    }
    let status = left.ok().and_then(|left| left.status);
    let (said, length) = output.0.await.unwrap_or_default();
    let text = String::from_utf8_lossy(&said);
    let words = post.last_words(LAST_WORDS);
    if status != Some(0) {
        let status = status.map_or("an unknown status".to_owned(), |code| format!("status {code}"));
        let detail = format!("the program ended with {status} and no answer; {words}");
        return Ending::without(Outcome::NoAnswer, detail);
    }
    if length > LARGEST {
        let detail = format!("the program wrote {length} bytes to standard output, and no answer");
        return Ending::without(Outcome::NoAnswer, detail);
    }
    match final_answer(&text).unwrap_or_else(|| text.trim().to_owned()) {
        answer if answer.is_empty() => {
            let detail = format!("the program ended without an answer; {words}");
            Ending::without(Outcome::NoAnswer, detail)
        }
        answer => Ending::answered(answer),
    }
}

/// Stands for the end of an episode that did not hear of its program's.
pub(super) fn unheard() -> Ending {
    Ending::without(Outcome::NoAnswer, "the program ended")
}
