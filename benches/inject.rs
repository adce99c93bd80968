//! What `wildgym inject` adds to a call, over standard input and output and over HTTP.
//!
//! `cargo bench --bench inject` (or with `--profile dev`) asks a server that does nothing, once
//! directly and once through the proxy, in turns, so that whatever else the machine does hits
//! both. It prints medians and fails where the proxy adds more than 0.3 ms to the median call.
//! The server is this program itself: `inject --serve` answers on its standard output.

#![expect(clippy::print_stdout, reason = "a bench reports on standard output")]

use std::error::Error;
use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpStream;
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};
use std::time::{Duration, Instant};

/// Calls of one turn.
const TURN: usize = 200;

/// Turns of each way.
const TURNS: usize = 25;

/// What a proxy may add to the median call.
const MOST: Duration = Duration::from_micros(300);

type Done<T> = Result<T, Box<dyn Error>>;

fn main() -> Done<()> {
    match std::env::args().nth(1).as_deref() {
        Some("--serve") => return serve_pipes(),
        Some("--listen") => return serve_http(),
        Some(_) | None => {}
    }
    let own = std::env::current_exe()?.to_string_lossy().into_owned();
    let mut missed = false;
    for profile in ["null", "published"] {
        let wildgym = env!("CARGO_BIN_EXE_wildgym");
        let mut direct = Pipes::start(&own, &["--serve"])?;
        let mut proxied =
            Pipes::start(wildgym, &["inject", "--profile", profile, "--", &own, "--serve"])?;
        let added = compare(&mut direct, &mut proxied, "pipes", profile)?;
        missed |= profile == "null" && added > MOST;
        let mut server = Listening::start(&own, &["--listen"])?;
        let upstream = format!("http://{}/mcp", server.address);
        let flags = ["inject", "--profile", profile, "--upstream", &upstream];
        let mut proxy =
            Listening::start(wildgym, &[&flags[..], &["--listen", "127.0.0.1:0"]].concat())?;
        let (mut direct, mut proxied) = (Http::open(&server.address)?, Http::open(&proxy.address)?);
        let added = compare(&mut direct, &mut proxied, "HTTP", profile)?;
        missed |= profile == "null" && added > MOST;
        proxy.end();
        server.end();
    }
    if missed { Err(format!("the bar is {MOST:?} added to the median").into()) } else { Ok(()) }
}

/// A way to make calls.
trait Asks {
    fn ask(&mut self, message: &str) -> Done<()>;
}

/// Measures two ways in turns, prints their medians, and returns what the second one adds.
fn compare<'a>(
    direct: &'a mut dyn Asks,
    proxied: &'a mut dyn Asks,
    way: &str,
    profile: &str,
) -> Done<Duration> {
    // What the profile drops or delays would only measure the profile.
    let message = match profile {
        "null" => {
            r#"{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"echo","arguments":{"text":"The harbour ferry has 120 seats."}}}"#
        }
        _ => r#"{"jsonrpc":"2.0","id":1,"method":"ping"}"#,
    };
    let mut times = [Vec::new(), Vec::new()];
    for turn in 0..TURNS {
        for (which, asks) in [&mut *direct, &mut *proxied].into_iter().enumerate() {
            for _ in 0..TURN {
                let begun = Instant::now();
                asks.ask(message)?;
                // The first turn warms both up.
                if turn > 0 {
                    times[which].push(begun.elapsed());
                }
            }
        }
    }
    let [direct, proxied] = times.map(|mut all| {
        all.sort();
        (all[all.len() / 2], all[all.len() * 99 / 100])
    });
    let added = proxied.0.saturating_sub(direct.0);
    println!(
        "{way}, profile {profile}: median {:?} directly, {:?} through the proxy: {added:?} more \
         (p99 {:?}, {:?})",
        direct.0, proxied.0, direct.1, proxied.1
    );
    Ok(added)
}

/// A server over pipes; it ends when dropped.
struct Pipes {
    child: Child,
    input: ChildStdin,
    output: BufReader<ChildStdout>,
}

impl Pipes {
    fn start(program: &str, args: &[&str]) -> Done<Self> {
        let mut child = Command::new(program)
            .args(args)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()?;
        let input = child.stdin.take().ok_or("no input")?;
        let output = BufReader::new(child.stdout.take().ok_or("no output")?);
        Ok(Self { child, input, output })
    }
}

impl Drop for Pipes {
    fn drop(&mut self) {
        let _gone = self.child.kill();
        let _gone = self.child.wait();
    }
}

impl Asks for Pipes {
    fn ask(&mut self, message: &str) -> Done<()> {
        self.input.write_all(format!("{message}\n").as_bytes())?;
        let mut line = String::new();
        self.output.read_line(&mut line)?;
        if line.is_empty() { Err("the server is gone".into()) } else { Ok(()) }
    }
}

/// A program that listens.
struct Listening {
    child: Child,
    address: String,
}

impl Listening {
    fn start(program: &str, args: &[&str]) -> Done<Self> {
        let mut child = Command::new(program)
            .args(args)
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()?;
        let mut line = String::new();
        BufReader::new(child.stdout.take().ok_or("no output")?).read_line(&mut line)?;
        let address = line.trim().trim_start_matches("http://").trim_end_matches("/mcp").to_owned();
        Ok(Self { child, address })
    }

    fn end(&mut self) {
        let _gone = self.child.kill();
        let _gone = self.child.wait();
    }
}

/// A connection that is kept.
struct Http {
    stream: BufReader<TcpStream>,
    address: String,
}

impl Http {
    fn open(address: &str) -> Done<Self> {
        let stream = TcpStream::connect(address)?;
        stream.set_nodelay(true)?;
        Ok(Self { stream: BufReader::new(stream), address: address.to_owned() })
    }
}

impl Asks for Http {
    fn ask(&mut self, message: &str) -> Done<()> {
        let head = format!(
            "POST /mcp HTTP/1.1\r\nhost: {}\r\ncontent-type: application/json\r\naccept: \
             application/json\r\ncontent-length: {}\r\n\r\n",
            self.address,
            message.len()
        );
        self.stream.get_mut().write_all((head + message).as_bytes())?;
        read_message(&mut self.stream).map(drop)
    }
}

/// Reads a message of HTTP and returns its body.
fn read_message(stream: &mut BufReader<TcpStream>) -> Done<Vec<u8>> {
    let (mut length, mut line) = (0, String::new());
    loop {
        line.clear();
        if stream.read_line(&mut line)? == 0 {
            return Err("the connection was closed".into());
        }
        let lower = line.trim().to_ascii_lowercase();
        if lower.is_empty() {
            break;
        }
        if let Some(value) = lower.strip_prefix("content-length:") {
            length = value.trim().parse()?;
        }
    }
    let mut body = vec![0; length];
    stream.read_exact(&mut body)?;
    Ok(body)
}

/// The reply that the servers of this bench give to everything.
const REPLY: &str = r#"{"jsonrpc":"2.0","id":1,"result":{"content":[{"type":"text","text":"The harbour ferry has 120 seats."}]}}"#;

fn serve_pipes() -> Done<()> {
    let mut out = std::io::stdout();
    for line in std::io::stdin().lock().lines() {
        line?;
        out.write_all(format!("{REPLY}\n").as_bytes())?;
        out.flush()?;
    }
    Ok(())
}

fn serve_http() -> Done<()> {
    let listener = std::net::TcpListener::bind("127.0.0.1:0")?;
    println!("http://{}/mcp", listener.local_addr()?);
    for stream in listener.incoming() {
        let stream = stream?;
        stream.set_nodelay(true)?;
        std::thread::spawn(move || {
            let mut stream = BufReader::new(stream);
            let reply = format!(
                "HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncontent-length: {}\r\n\r\n{REPLY}",
                REPLY.len()
            );
            while read_message(&mut stream).is_ok() {
                if stream.get_mut().write_all(reply.as_bytes()).is_err() {
                    return;
                }
            }
        });
    }
    Ok(())
}
