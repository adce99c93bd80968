//! The whole life of a worker process.

use std::fs::File;
use std::io;
use std::thread;

use super::frame::{self, Request};
use super::{Answer, Job, contain};
use crate::documents;

/// The largest request, in bytes: the largest document and some.
pub(super) const REQUEST: u64 = 72 << 20;

/// Stack of the thread that parses, in bytes: enough for nesting that occurs, and what
/// overflows it ends the worker only.
const STACK: usize = 64 << 20;

/// Serves jobs until standard input ends: the whole life of a worker process.
///
/// To be called first thing in `main`, before there is another thread: what a worker
/// gives up, it gives up for its main thread and those started later.
pub fn serve() -> io::Result<()> {
    // Answers go to a copy of standard output, so that a parser that prints cannot
    // speak for the worker. Its panics say nothing either; the host words the error.
    let mut output = File::from(rustix::io::dup(rustix::stdio::stdout())?);
    rustix::stdio::dup2_stdout(File::options().write(true).open("/dev/null")?)?;
    std::panic::set_hook(Box::new(|_| {}));
    contain::contain();
    let mut input = io::stdin().lock();
    while let Some((request, body)) = frame::read::<Request>(&mut input, REQUEST)? {
        if !is_child_of(request.host) {
            break;
        }
        frame::write(&mut output, &answer(request.job, body), &[])?;
    }
    Ok(())
}

/// Whether the host that asks is still our parent.
fn is_child_of(host: u32) -> bool {
    let parent = rustix::process::getppid().map(|pid| pid.as_raw_nonzero().get().unsigned_abs());
    parent == Some(host)
}

/// Does a job in a thread of its own, whose end by panic is an answer too.
fn answer(job: Job, body: Vec<u8>) -> Answer {
    let work = thread::Builder::new().stack_size(STACK).spawn(move || run(&job, body));
    match work.map(thread::JoinHandle::join) {
        Ok(Ok(answer)) => answer,
        Ok(Err(_)) => Answer::Unreadable(
            "its parser failed; the file is damaged or uses what is not supported".into(),
        ),
        Err(_) => Answer::Unreadable("there was no memory left to read it".into()),
    }
}

fn run(job: &Job, body: Vec<u8>) -> Answer {
    match job {
        Job::Document { name, media_type, page } => {
            match documents::document(name, media_type.as_deref(), *page, body) {
                Ok(document) => Answer::Document(document),
                Err(reason) => Answer::Unreadable(reason.to_string()),
            }
        }
        Job::Workbook { name, part } => match documents::workbook(name, body, part) {
            Ok(workbook) => Answer::Workbook(workbook),
            Err(reason) => Answer::Unreadable(reason.to_string()),
        },
        Job::Member { name, path } => match documents::take(name, body, path) {
            Ok(bytes) => Answer::Member(data_encoding::BASE64.encode(&bytes)),
            Err(reason) => Answer::Unreadable(reason.to_string()),
        },
        Job::Picture { aim, turn } => match wildgym_pictures::prepare(&body, *aim, *turn) {
            Ok(picture) => Answer::Picture(picture),
            Err(reason) => Answer::Unreadable(reason.to_string()),
        },
        Job::Probe => Answer::Probe(contain::probe()),
    }
}
