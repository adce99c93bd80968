//! How a program ended, and what its answer is where it handed none in.

use std::io::Read;
use std::process::ChildStdout;

use wildgym_sandbox::guest::Left;

use super::super::react::final_answer;
use super::super::{Broken, Ending};
use super::post::Post;
use crate::record::{Lost, Outcome};

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

/// The exit status of a program that a relay or a shell cannot start, and that of a bubblewrap
/// which cannot build its walls.
const NOT_STARTED: [i32; 2] = [127, 1];

/// The exit status after the signal for a file that grew beyond what it may (`SIGXFSZ`).
const TOO_LARGE: i32 = 128 + 25;

/// Returns how an attempt ends whose program ended before it handed in an answer. Where it was
/// never started, no score can be made of it: the attempt is lost.
pub(super) async fn of(
    post: &Post,
    left: std::io::Result<Left>,
    output: Output,
) -> Result<Ending, Broken> {
    match post.answer(LARGEST) {
        Some((_, length)) if length > LARGEST as u64 => {
            return Ok(without(format!("the program wrote {length} bytes as its answer; {MOST}")));
        }
        Some((answer, _)) => return Ok(Ending::answered(answer)),
        None => {}
    }
    let words = post.last_words(LAST_WORDS);
    let Left { status, failed } =
        left.unwrap_or_else(|error| Left { status: None, failed: Some(error.to_string()) });
    if let Some(failed) = failed {
        return Err(lost(&failed));
    }
    if !post.was_started() && status.is_some_and(|status| NOT_STARTED.contains(&status)) {
        return Err(lost(&words));
    }
    let (said, length) = output.0.await.unwrap_or_default();
    let text = String::from_utf8_lossy(&said);
    if status != Some(0) {
        let status = match status {
            None => "an unknown status".to_owned(),
            Some(TOO_LARGE) => format!("status {TOO_LARGE} (a file grew beyond what it may)"),
            Some(code) => format!("status {code}"),
        };
        return Ok(without(format!("the program ended with {status} and no answer; {words}")));
    }
    if length > LARGEST {
        let said = format!("the program wrote {length} bytes to standard output; {MOST}");
        return Ok(without(said));
    }
    Ok(match final_answer(&text).unwrap_or_else(|| text.trim().to_owned()) {
        answer if answer.is_empty() => {
            without(format!("the program ended without an answer; {words}"))
        }
        answer => Ending::answered(answer),
    })
}

/// What is said of an answer that is too long.
const MOST: &str = "an answer has 256 KiB at most";

fn without(detail: String) -> Ending {
    Ending::without(Outcome::NoAnswer, detail)
}

fn lost(why: &str) -> Broken {
    Broken { lost: Lost::Harness, detail: format!("the program could not be started: {why}") }
}
