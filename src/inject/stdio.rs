//! Between the pipes of a client and those of a program that it would have started itself.
//!
//! One message a line, and a line is written whole or not at all. Threads that block do the
//! work: one for each direction, which cost a call no more than two turns of the scheduler,
//! and one that writes what comes late or instead of a reply. Nothing waits in a queue without
//! bound but replies that are late by the fault itself.

use std::cmp::Reverse;
use std::collections::{BinaryHeap, HashMap, VecDeque};
use std::io::{self, BufRead, BufReader, ErrorKind, Read, Write};
use std::os::fd::AsFd;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, channel};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

use rustix::event::{PollFd, PollFlags, Timespec, poll};

use super::LARGEST;
use super::desk::{Course, Desk, Pending, Settled};
use super::message::{Call, Message, Part, read};

/// How often it is looked whether a client that says no more is still there.
const ROUND: Duration = Duration::from_millis(200);

/// How long a server may take to end once its client is gone.
const GRACE: Duration = Duration::from_secs(2);

/// The ends of the four pipes.
#[derive(Debug)]
pub struct Ends<Said, Heard, In, Out> {
    /// What the client says.
    pub client: Said,
    /// What the client hears.
    pub answers: Heard,
    /// What the server hears.
    pub server: In,
    /// What the server says.
    pub replies: Out,
}

/// Who ended it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Ended {
    /// The server closed its output; the client was still there or had said all it had to say.
    Server {
        /// Whether the client had closed its end before.
        client_done: bool,
    },
    /// The client is gone.
    Client,
}

/// Stands between a client and a server until one of them is gone. What is late still comes
/// after the server's end, as long as the client is there.
pub fn around<Said, Heard, In, Out>(desk: Arc<Desk>, ends: Ends<Said, Heard, In, Out>) -> Ended
where
    Said: Read + Send + 'static,
    Heard: Write + AsFd + Send + 'static,
    In: Write + Send + 'static,
    Out: Read + Send + 'static,
{
    let Ends { client, answers, server, replies } = ends;
    let wire = Arc::new(Wire {
        desk,
        output: Mutex::new(answers),
        waited: Mutex::default(),
        count: AtomicUsize::new(0),
        late: Late::default(),
    });
    let (tell, told) = channel();
    start(&wire, &tell, move |wire| {
        if wire.up(client, server) { Event::ClientDone } else { Event::ServerDeaf }
    });
    start(
        &wire,
        &tell,
        move |wire| {
            if wire.down(replies) { Event::ServerDone } else { Event::ClientGone }
        },
    );
    start(&wire, &tell, |wire| if wire.deliver() { Event::Delivered } else { Event::ClientGone });
    watch(&wire, &told)
}

/// What a thread tells when it is done.
enum Event {
    /// The client closed its output.
    ClientDone,
    /// The server closed its input.
    ServerDeaf,
    /// The server closed its output.
    ServerDone,
    /// All that is late was written.
    Delivered,
    /// The client closed its input.
    ClientGone,
}

fn start<W: Send + Sync + 'static>(
    wire: &Arc<W>,
    tell: &Sender<Event>,
    work: impl FnOnce(&W) -> Event + Send + 'static,
) {
    let (wire, tell) = (Arc::clone(wire), tell.clone());
    // Nobody listens any more once all is over.
    thread::spawn(move || drop(tell.send(work(&wire))));
}

/// Waits for the end.
fn watch<Heard: Write + AsFd>(wire: &Wire<Heard>, told: &Receiver<Event>) -> Ended {
    let mut client_done = false;
    let mut leaving: Option<Instant> = None;
    let mut server_done = false;
    loop {
        match told.recv_timeout(ROUND) {
            Ok(Event::ClientDone) => client_done = true,
            Ok(Event::ServerDone) => {
                server_done = true;
                wire.late.close();
            }
            Ok(Event::Delivered) => return Ended::Server { client_done },
            // Its output is what counts.
            Ok(Event::ServerDeaf) | Err(RecvTimeoutError::Timeout) => {}
            Ok(Event::ClientGone) => leaving = leaving.or(Some(Instant::now())),
            Err(RecvTimeoutError::Disconnected) => return Ended::Server { client_done },
        }
        if leaving.is_none() && client_done && wire.is_deserted() {
            leaving = Some(Instant::now());
        }
        if leaving.is_some_and(|since| server_done || since.elapsed() >= GRACE) {
            return Ended::Client;
        }
    }
}

/// What the threads share.
struct Wire<Heard> {
    desk: Arc<Desk>,
    output: Mutex<Heard>,
    /// Calls whose replies something is done to, by the keys of their ids.
    waited: Mutex<HashMap<String, VecDeque<Arc<Pending>>>>,
    /// How many they are; replies are not looked into while there are none.
    count: AtomicUsize,
    late: Late,
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

impl<Heard: Write + AsFd> Wire<Heard> {
    /// Passes what the client says until it says no more; returns whether that was why it
    /// ended, and not that nobody hears it.
    fn up(&self, client: impl Read, mut server: impl Write) -> bool {
        let mut lines = Lines::new(client);
        while let Some((line, is_whole)) = lines.next() {
            let passed = match is_whole.then(|| read(line)) {
                Some(Message::Call(call)) => self.call(&call, line, &mut server),
                Some(Message::Batch(parts)) => self.batch(&parts, line, &mut server),
                Some(Message::Cancels(_) | Message::Other) | None => write(&mut server, line),
            };
            if passed.is_err() {
                return false;
            }
        }
        true
    }

    /// Decides about a call, and answers it or has it watched. Returns whether it goes on.
    fn admit(&self, call: &Call<'_>) -> bool {
        match self.desk.rule(call).course {
            Course::Pass => true,
            Course::Watch(pending) => {
                // Before the server can have it: no reply comes first.
                let mut waited = lock(&self.waited);
                waited.entry(call.key.clone()).or_default().push_back(Arc::new(pending));
                self.count.fetch_add(1, Ordering::Relaxed);
                true
            }
            Course::Answer(reply) => {
                self.late.add(Duration::ZERO, format!("{reply}\n").into_bytes());
                false
            }
            Course::Lose => false,
        }
    }

    fn call(&self, call: &Call<'_>, line: &[u8], server: &mut impl Write) -> io::Result<()> {
        if self.admit(call) { write(server, line) } else { Ok(()) }
    }

    fn batch(&self, parts: &[Part<'_>], line: &[u8], server: &mut impl Write) -> io::Result<()> {
        let goes = |part: &Part<'_>| match part {
            Part::Call(call, _) => self.admit(call),
            Part::Other(_) => true,
        };
        let going: Vec<&str> = parts.iter().filter(|part| goes(part)).map(Part::raw).collect();
        match going.len() {
            0 => Ok(()),
            count if count == parts.len() => write(server, line),
            _ => write(server, format!("[{}]\n", going.join(",")).as_bytes()),
        }
    }

    /// Passes what the server says until it says no more; returns whether that was why it
    /// ended, and not that nobody hears it.
    fn down(&self, server: impl Read) -> bool {
        let mut lines = Lines::new(server);
        // Kept while a line that is too long is written in pieces.
        let mut held: Option<MutexGuard<'_, Heard>> = None;
        while let Some((line, is_whole)) = lines.next() {
            let is_plain = held.is_some() || !is_whole || self.count.load(Ordering::Relaxed) == 0;
            let settled = if is_plain { Settled::default() } else { self.settle(line) };
            let line = settled.text.as_ref().map_or(line, String::as_bytes);
            if !settled.delay.is_zero() {
                self.late.add(settled.delay, line.to_vec());
                continue;
            }
            let mut output = held.take().unwrap_or_else(|| lock(&self.output));
            if write(&mut *output, line).is_err() {
                return false;
            }
            if !line.ends_with(b"\n") {
                held = Some(output);
            }
        }
        true
    }

    fn settle(&self, line: &[u8]) -> Settled {
        let Ok(text) = std::str::from_utf8(line) else { return Settled::default() };
        self.desk.settle(text, &mut |key| {
            let mut waited = lock(&self.waited);
            let queue = waited.get_mut(key)?;
            let pending = queue.pop_front();
            if queue.is_empty() {
                waited.remove(key);
            }
            self.count.fetch_sub(usize::from(pending.is_some()), Ordering::Relaxed);
            pending
        })
    }

    /// Writes what is late, each when it is due, until there will be no more. Returns false
    /// where nobody hears it.
    fn deliver(&self) -> bool {
        while let Some(line) = self.late.next() {
            if write(&mut *lock(&self.output), &line).is_err() {
                return false;
            }
        }
        true
    }

    /// Returns whether nobody reads what the client would hear. A line that is being written
    /// has a reader.
    fn is_deserted(&self) -> bool {
        let Ok(output) = self.output.try_lock() else { return false };
        // A reader that is gone is reported unasked.
        let mut ends = [PollFd::new(&*output, PollFlags::empty())];
        let at_once = Timespec { tv_sec: 0, tv_nsec: 0 };
        poll(&mut ends, Some(&at_once)).is_ok()
            && ends[0].revents().intersects(PollFlags::ERR | PollFlags::HUP)
    }
}

/// Writes all of it, also to a pipe that does not block.
fn write(to: &mut impl Write, mut bytes: &[u8]) -> io::Result<()> {
    while !bytes.is_empty() {
        match to.write(bytes) {
            Ok(0) => return Err(ErrorKind::WriteZero.into()),
            Ok(count) => bytes = &bytes[count..],
            Err(error) if error.kind() == ErrorKind::Interrupted => {}
            Err(error) if error.kind() == ErrorKind::WouldBlock => {
                thread::sleep(Duration::from_millis(1));
            }
            Err(error) => return Err(error),
        }
    }
    to.flush()
}

/// Lines of a pipe.
struct Lines<R> {
    from: BufReader<R>,
    line: Vec<u8>,
    /// Whether what comes next belongs to a line of which a part was given out.
    goes_on: bool,
}

impl<R: Read> Lines<R> {
    fn new(from: R) -> Self {
        Self { from: BufReader::with_capacity(64 << 10, from), line: Vec::new(), goes_on: false }
    }

    /// Returns the next line with its end, and whether it is a whole one: one that is too long
    /// comes in pieces. What comes without an end before the pipe is closed is the last.
    fn next(&mut self) -> Option<(&[u8], bool)> {
        self.line.clear();
        while self.line.len() < LARGEST {
            let more = match self.from.fill_buf() {
                Ok([]) => break,
                Ok(more) => more,
                Err(error) if error.kind() == ErrorKind::Interrupted => continue,
                Err(error) if error.kind() == ErrorKind::WouldBlock => {
                    thread::sleep(Duration::from_millis(1));
                    continue;
                }
                Err(_) => break,
            };
            let end = more.iter().position(|byte| *byte == b'\n').map(|at| at + 1);
            let count = end.unwrap_or(more.len());
            self.line.extend_from_slice(&more[..count]);
            self.from.consume(count);
            if end.is_some() {
                return Some((&self.line, !std::mem::take(&mut self.goes_on)));
            }
        }
        if self.line.is_empty() {
            return None;
        }
        let is_whole = !self.goes_on && self.line.len() < LARGEST;
        self.goes_on = true;
        Some((&self.line, is_whole))
    }
}

/// What comes late, or instead of a reply.
#[derive(Default)]
struct Late {
    state: Mutex<Waiting>,
    moved: Condvar,
}

#[derive(Default)]
struct Waiting {
    /// By when they are due, then in the order in which they came.
    lines: BinaryHeap<Reverse<(Instant, u64, Vec<u8>)>>,
    number: u64,
    is_closed: bool,
}

impl Late {
    fn add(&self, delay: Duration, line: Vec<u8>) {
        let mut state = lock(&self.state);
        state.number += 1;
        let number = state.number;
        state.lines.push(Reverse((Instant::now() + delay, number, line)));
        self.moved.notify_all();
    }

    /// No more will come.
    fn close(&self) {
        lock(&self.state).is_closed = true;
        self.moved.notify_all();
    }

    /// Waits for the next line that is due; none once no more will come.
    fn next(&self) -> Option<Vec<u8>> {
        let mut state = lock(&self.state);
        loop {
            let now = Instant::now();
            let due = state.lines.peek().map(|Reverse((due, ..))| *due);
            state = match due {
                Some(due) if due <= now => return state.lines.pop().map(|Reverse((.., it))| it),
                Some(due) => {
                    let waited = self.moved.wait_timeout(state, due - now);
                    waited.unwrap_or_else(PoisonError::into_inner).0
                }
                None if state.is_closed => return None,
                None => self.moved.wait(state).unwrap_or_else(PoisonError::into_inner),
            };
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_come_whole_and_the_last_one_as_it_is() {
        let mut lines = Lines::new(&b"a\n\r\nlast"[..]);
        let mut found = Vec::new();
        while let Some((line, is_whole)) = lines.next() {
            found.push((line.to_vec(), is_whole));
        }
        let want = [(&b"a\n"[..], true), (b"\r\n", true), (b"last", true)];
        assert_eq!(found, want.map(|(line, is_whole)| (line.to_vec(), is_whole)));
    }

    #[test]
    fn a_line_that_is_too_long_comes_in_pieces_without_loss() {
        let long = vec![b'x'; LARGEST + (70 << 10)];
        let stream = [&long[..], b"\nnext\n"].concat();
        let mut lines = Lines::new(&stream[..]);
        let (mut all, mut whole) = (Vec::new(), Vec::new());
        while let Some((line, is_whole)) = lines.next() {
            all.extend_from_slice(line);
            whole.push(is_whole);
        }
        assert_eq!(whole, [false, false, true]);
        assert!(all == stream);
    }

    #[test]
    fn what_is_late_comes_when_it_is_due() {
        let late = Late::default();
        late.add(Duration::from_millis(30), b"second".to_vec());
        late.add(Duration::ZERO, b"first".to_vec());
        late.close();
        assert_eq!(late.next().as_deref(), Some(&b"first"[..]));
        assert_eq!(late.next().as_deref(), Some(&b"second"[..]));
        assert_eq!(late.next(), None);
    }
}
