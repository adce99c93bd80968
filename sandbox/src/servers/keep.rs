//! The keeper of a server: ends it and all below it when the gym is gone.
//!
//! This same program in a small mode of its own. It adopts every orphan below it, starts the
//! server, which inherits its standard input, output and error, and waits for the first of two
//! ends. The gym's end shows in standard input, whose other end only the gym holds: it is the
//! server's own input, so a server that is polite sees the same and gets a moment to end by
//! itself. Then everything below is killed. The keeper ends with the server's status.
//!
//! A program that only stands between a server and somebody else is told by its end alone: what
//! goes through it may be over long before the server has answered everything. Such a server has
//! no limits but those that its user gave it.

use std::ffi::{OsStr, OsString};
use std::io;
use std::os::fd::{AsFd, OwnedFd};
use std::process::Command;
use std::time::{Duration, Instant};

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::io::Errno;
use rustix::process::{
    Pid, PidfdFlags, WaitOptions, getpid, getppid, pidfd_open, set_child_subreaper, wait,
};

use crate::browser::{end_all, limit};

/// How often adopted processes that ended are buried.
const ROUND: Duration = Duration::from_secs(1);

/// How long a server may take to end once its input is closed.
const GRACE: Duration = Duration::from_millis(300);

/// Memory that each of its processes may fill, in bytes.
const MEMORY: u64 = 4 << 30;

/// Status where the program could not be started, as shells have it.
const NOT_STARTED: i32 = 127;

/// Keeps a server until it or the one who started this process ends: the whole life of a
/// keeper. Returns the status with which to end: the server's, or 128 and the signal that
/// ended it.
pub fn keep(program: &OsStr, arguments: &[OsString]) -> io::Result<i32> {
    limit(MEMORY);
    keep_while(None, program, arguments)
}

/// Keeps a server until it ends or the process that started this one, whose number is `of`. The
/// server is as free as that process.
pub fn keep_beside(of: u32, program: &OsStr, arguments: &[OsString]) -> io::Result<i32> {
    let of = Pid::from_raw(of.cast_signed()).ok_or(io::ErrorKind::InvalidInput)?;
    let parent = pidfd_open(of, PidfdFlags::empty())?;
    if getppid() != Some(of) {
        return Err(io::Error::other("whoever started it is gone"));
    }
    keep_while(Some(parent), program, arguments)
}

/// Keeps a server while `parent` lives; where none is given, while somebody holds the other end
/// of standard input.
fn keep_while(parent: Option<OwnedFd>, program: &OsStr, arguments: &[OsString]) -> io::Result<i32> {
    set_child_subreaper(Some(getpid()))?;
    let child = match Command::new(program).args(arguments).spawn() {
        Ok(child) => child,
        Err(error) => {
            use std::io::Write;
            let name = program.to_string_lossy();
            let _ = writeln!(io::stderr().lock(), "cannot start `{name}`: {error}");
            return Ok(NOT_STARTED);
        }
    };
    let Some(pid) = Pid::from_raw(child.id().cast_signed()) else { return Ok(NOT_STARTED) };
    let mut watch = Watch { pid, parent, status: None };
    let ended = watch.until_either();
    end_all()?;
    ended.map(|()| watch.status.unwrap_or(0))
}

/// A server that is waited for.
struct Watch {
    pid: Pid,
    /// Whoever it is kept for, where that does not show in standard input.
    parent: Option<OwnedFd>,
    /// Its status, once it ended.
    status: Option<i32>,
}

impl Watch {
    /// Waits until the server has ended, or nobody is left whom it is kept for.
    fn until_either(&mut self) -> io::Result<()> {
        let server = pidfd_open(self.pid, PidfdFlags::empty())?;
        let input = rustix::stdio::stdin();
        let mut alone: Option<Instant> = None;
        loop {
            let left = alone.map_or(ROUND, |since| GRACE.saturating_sub(since.elapsed()));
            let mut ends = vec![PollFd::new(&server, PollFlags::IN)];
            if alone.is_none() {
                ends.push(match &self.parent {
                    Some(parent) => PollFd::new(parent, PollFlags::IN),
                    // A closed writer is reported unasked.
                    None => PollFd::from_borrowed_fd(input.as_fd(), PollFlags::empty()),
                });
            }
            let round = Timespec {
                tv_sec: left.as_secs().cast_signed(),
                tv_nsec: left.subsec_nanos().into(),
            };
            match poll(&mut ends, Some(&round)) {
                Ok(_) => {}
                Err(Errno::INTR) => continue,
                Err(error) => return Err(error.into()),
            }
            let closed = ends.get(1).is_some_and(|end| !end.revents().is_empty());
            self.bury();
            if self.status.is_some() || alone.is_some_and(|since| since.elapsed() >= GRACE) {
                return Ok(());
            }
            if closed {
                alone = Some(Instant::now());
            }
        }
    }

    /// Takes note of processes that ended, the server among them.
    fn bury(&mut self) {
        while let Ok(Some((pid, status))) = wait(WaitOptions::NOHANG) {
            if pid == self.pid {
                let signal = status.terminating_signal().map(|signal| 128 + signal);
                self.status = status.exit_status().or(signal).or(Some(0));
            }
        }
    }
}
