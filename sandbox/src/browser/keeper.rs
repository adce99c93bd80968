//! The keeper: ends a browser and all below it when the gym is gone.
//!
//! A browser is a tree of processes, some of them without a parent for a moment, and
//! nothing in it notices that the gym was killed. The keeper is this same program in a
//! small mode of its own: it adopts every orphan below it, starts the browser, and
//! waits for the first of two ends, the browser's or the gym's. Then it kills what is
//! still there and ends itself.
//!
//! Its standard input and output are the browser's remote control, passed on as
//! descriptors 3 and 4. Its standard error is written to only where the keeper itself fails:
//! it is the pipe whose other end only the gym holds, so that its closing tells the gym's
//! end, however that came.
//!
//! Other guests of the gym are kept in the same way, with their own standard input and
//! output.

use std::ffi::{OsStr, OsString};
use std::fs::File;
use std::io;
use std::os::fd::AsFd;
use std::os::unix::process::ExitStatusExt;
use std::path::Path;
use std::process::{Child, Command};
use std::time::{Duration, Instant};

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::io::Errno;
use rustix::process::{
    Pid, PidfdFlags, Resource, Rlimit, Signal, WaitOptions, getpid, kill_process, pidfd_open,
    set_child_subreaper, setrlimit, wait,
};

use super::tree;
use crate::guest::filtered;

/// What is between the keeper's descriptors and the browser's.
const REMOTE_CONTROL: &str = "exec \"$0\" \"$@\" 3<&0 4>&1 </dev/null >/dev/null";

/// How often adopted processes that ended are buried, in seconds.
const ROUND: i64 = 1;

/// How long the killed may take to end.
const ENDING: Duration = Duration::from_secs(10);

/// Keeps a program until it or the one who started this process ends: the whole life of
/// a keeper. What the program says goes to the file `errors`.
pub fn keep(errors: &Path, program: &OsStr, arguments: &[OsString]) -> io::Result<()> {
    set_child_subreaper(Some(getpid()))?;
    let child = Command::new("/bin/sh")
        .args([OsStr::new("-c"), OsStr::new(REMOTE_CONTROL), program])
        .args(arguments)
        .stderr(File::create(errors)?)
        .spawn()?;
    let pid = Pid::from_raw(child.id().cast_signed());
    let ended = pid.map(wait_for_either);
    end_all()?;
    ended.unwrap_or(Ok(()))
}

/// Size of any file that foreign programs write, in bytes.
const FILE: u64 = 1 << 30;

/// Memory that each process of a guest may fill, in bytes: an agent may be larger than a
/// server.
const MEMORY: u64 = 8 << 30;

/// Limits what this process and all that it starts may take: memory of each process, size of
/// each file; and nothing is dumped.
pub(crate) fn limit(memory: u64) {
    for (resource, value) in
        [(Resource::Core, 0), (Resource::Fsize, FILE), (Resource::Data, memory)]
    {
        // A limit that is lower already stays.
        let _ = setrlimit(resource, Rlimit { current: Some(value), maximum: Some(value) });
    }
}

/// Keeps a guest that has the keeper's standard input and output, until it or the one who
/// started this process ends. Returns its exit status: 128 and the signal where one ended
/// it, none where the gym ended first.
pub fn keep_guest(
    errors: &Path,
    program: &OsStr,
    arguments: &[OsString],
) -> io::Result<Option<i32>> {
    set_child_subreaper(Some(getpid()))?;
    limit(MEMORY);
    let (arguments, filter) = filtered(program, arguments)?;
    let started = Command::new(program).args(arguments).stderr(File::create(errors)?).spawn();
    let mut child = started.map_err(|error| {
        let program = program.to_string_lossy();
        io::Error::other(format!("`{program}` cannot be started: {error}"))
    })?;
    drop(filter);
    let ended = Pid::from_raw(child.id().cast_signed()).map_or(Ok(()), wait_for_either);
    let status = child.try_wait();
    end_all()?;
    ended?;
    // Where an orphan's burial took the status, it is unknown.
    let status = status.ok().flatten();
    Ok(status.and_then(|status| status.code().or(status.signal().map(|signal| 128 + signal))))
}

/// Sees a keeper off whose lifeline is cut: waits until it has ended, and everything below it
/// with it, and kills it where that takes too long.
pub(crate) fn see_off(keeper: &mut Child) {
    let begin = Instant::now();
    while matches!(keeper.try_wait(), Ok(None)) && begin.elapsed() < ENDING {
        std::thread::sleep(Duration::from_millis(2));
    }
    let _ = keeper.kill();
    let _ = keeper.wait();
}

/// Waits until the child has ended, or nobody holds the other end of standard error.
fn wait_for_either(pid: Pid) -> io::Result<()> {
    let child = pidfd_open(pid, PidfdFlags::empty())?;
    let lifeline = rustix::stdio::stderr();
    loop {
        let mut ends = [
            PollFd::new(&child, PollFlags::IN),
            // A closed reader is reported unasked.
            PollFd::from_borrowed_fd(lifeline.as_fd(), PollFlags::empty()),
        ];
        let round = Timespec { tv_sec: ROUND, tv_nsec: 0 };
        match poll(&mut ends, Some(&round)) {
            Ok(0) => bury(),
            Ok(_) => return Ok(()),
            Err(Errno::INTR) => {}
            Err(error) => return Err(error.into()),
        }
    }
}

/// Takes note of adopted processes that ended. The browser itself, should it be among
/// them, shows in its descriptor all the same.
fn bury() {
    while let Ok(Some(_)) = wait(WaitOptions::NOHANG) {}
}

/// Kills everything below until nothing is.
pub(crate) fn end_all() -> io::Result<()> {
    let begin = Instant::now();
    loop {
        for pid in tree::below(std::process::id()) {
            if let Some(pid) = Pid::from_raw(pid.cast_signed()) {
                let _ = kill_process(pid, Signal::KILL);
            }
        }
        loop {
            match wait(WaitOptions::NOHANG) {
                Ok(Some(_)) => {}
                Ok(None) => break,
                Err(Errno::CHILD) => return Ok(()),
                Err(error) => return Err(error.into()),
            }
        }
        if begin.elapsed() > ENDING {
            return Err(io::Error::other("some processes do not end"));
        }
        std::thread::sleep(Duration::from_millis(2));
    }
}
