//! The way out of a cage: carries connections from the cage's loopback to one socket.
//!
//! It is a program of its own and has nothing of wildgym in it, since whoever sits in the cage
//! can read it: the gym's own program carries its suites with their solutions. It starts the
//! program that it is told, passes its streams on, and ends with its exit status; the cage
//! ends with it.
//!
//! `wildgym-relay SOCKET PORT BYTES PROGRAM [ARGUMENT…]`, where BYTES is the most that a file
//! may grow to. Once the program runs, the gym is told so by a request for `/started`: a
//! program that could not be started is not one that failed.

use std::ffi::OsString;
use std::io::{self, Read, Write};
use std::net::{Ipv4Addr, Shutdown, TcpListener, TcpStream};
use std::os::unix::net::UnixStream;
use std::os::unix::process::ExitStatusExt;
use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode};
use std::thread;

use rustix::process::{DumpableBehavior, Resource, Rlimit, set_dumpable_behavior, setrlimit};

/// The exit status where the program cannot be started, as a shell has it.
const NOT_STARTED: u8 = 127;

/// What tells the gym that the program runs.
const STARTED: &[u8] =
    b"POST /started HTTP/1.1\r\nhost: localhost\r\ncontent-length: 0\r\nconnection: close\r\n\r\n";

/// What is to be done.
struct Order {
    socket: PathBuf,
    port: u16,
    largest: u64,
    program: OsString,
    arguments: Vec<OsString>,
}

fn main() -> ExitCode {
    let done = order(std::env::args_os().skip(1)).and_then(|order| run(&order));
    match done {
        Ok(status) => ExitCode::from(status),
        Err(error) => {
            let _closed = writeln!(io::stderr(), "wildgym-relay: {error}");
            ExitCode::from(NOT_STARTED)
        }
    }
}

fn order(mut words: impl Iterator<Item = OsString>) -> io::Result<Order> {
    let usage = || io::Error::other("usage: wildgym-relay SOCKET PORT BYTES PROGRAM [ARGUMENT…]");
    let mut next = || words.next().ok_or_else(usage);
    let number = |word: OsString| word.to_string_lossy().parse::<u64>().map_err(|_| usage());
    let socket = PathBuf::from(next()?);
    let port = u16::try_from(number(next()?)?).map_err(|_| usage())?;
    let largest = number(next()?)?;
    let program = next()?;
    Ok(Order { socket, port, largest, program, arguments: words.collect() })
}

fn run(order: &Order) -> io::Result<u8> {
    let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, order.port))?;
    let socket = order.socket.clone();
    thread::spawn(move || {
        for stream in listener.incoming().flatten() {
            let socket = socket.clone();
            thread::spawn(move || carry(&stream, &socket));
        }
    });
    // The program must not be able to keep this one from saying that it runs.
    set_dumpable_behavior(DumpableBehavior::NotDumpable)?;
    let mut gym = UnixStream::connect(&order.socket)?;
    let most = Some(order.largest);
    setrlimit(Resource::Fsize, Rlimit { current: most, maximum: most })?;
    let started = Command::new(&order.program).args(&order.arguments).spawn();
    let mut child = started.map_err(|error| {
        let program = order.program.to_string_lossy();
        io::Error::other(format!("`{program}` cannot be started: {error}"))
    })?;
    gym.write_all(STARTED)?;
    let status = child.wait()?;
    // A program that is over at once must not be over before the gym knows that it ran.
    let _heard = gym.read(&mut [0; 64]);
    let code = status.code().or(status.signal().map(|signal| 128 + signal)).unwrap_or(255);
    Ok(u8::try_from(code & 0xff).unwrap_or(u8::MAX))
}

/// Carries both directions of a connection until both have ended.
fn carry(stream: &TcpStream, socket: &Path) -> io::Result<()> {
    let out = UnixStream::connect(socket)?;
    // Small messages must not wait for each other.
    stream.set_nodelay(true)?;
    let (mut from, mut to) = (stream.try_clone()?, out.try_clone()?);
    let back = thread::spawn(move || {
        let _ended = io::copy(&mut from, &mut to);
        let _gone = to.shutdown(Shutdown::Write);
    });
    let (mut from, mut to) = (out, stream.try_clone()?);
    let _ended = io::copy(&mut from, &mut to);
    let _gone = to.shutdown(Shutdown::Write);
    let _joined = back.join();
    Ok(())
}
