//! How many world steps a second the HTTP environment makes, and how long one waits.
//!
//! `cargo bench --bench http` starts the real server with the suite `enterprise`, in a
//! process of its own on the same cores, and steps it over keep-alive connections: first 32
//! sessions for ten seconds, as fast as replies come; then 500 sessions all at once, again
//! and again; then 500 in one batch. A step is one call of a world's operation, recorded as
//! in a run. It prints figures, and fails where a bar is missed.

#![expect(clippy::print_stdout, reason = "a bench reports on standard output")]

use std::error::Error;
use std::io::{BufRead, BufReader};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use futures::future::try_join_all;
use serde_json::{Value, json};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;

/// Sessions that are stepped as fast as they can be.
const BUSY: usize = 32;

/// Sessions that are stepped at once.
const CROWD: usize = 500;

/// For how long.
const TIME: Duration = Duration::from_secs(10);

/// World steps a second that there must be, on two cores.
const LEAST: f64 = 1500.0;

/// Largest 99th percentile of a step of the crowd.
const LONGEST: Duration = Duration::from_millis(100);

type Done<T> = Result<T, Box<dyn Error + Send + Sync>>;

/// The server; it ends when dropped.
struct Server {
    child: Child,
    address: String,
    token: String,
    _place: tempfile::TempDir,
}

impl Drop for Server {
    fn drop(&mut self) {
        let _gone = self.child.kill();
        let _gone = self.child.wait();
    }
}

/// A connection to it.
struct Connection {
    stream: TcpStream,
    buffer: Vec<u8>,
    head: String,
}

fn main() -> Done<()> {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
    runtime.block_on(measure())
}

async fn measure() -> Done<()> {
    let server = start()?;
    let rate = busy(&server).await?;
    let mut times = Vec::new();
    let mut sessions = open(&server, CROWD).await?;
    step_all(&mut sessions).await?;
    for _ in 0..20 {
        times.extend(step_all(&mut sessions).await?);
    }
    times.sort();
    let at = |share: usize| times[(times.len() * share / 1000).min(times.len() - 1)];
    let (median, most) = (at(500), at(990));
    println!(
        "{CROWD} sessions stepped at once: median {median:?}, p99 {most:?}, longest {:?}",
        at(1000)
    );
    let memory = resident(&server)?;
    println!("memory with {CROWD} episodes that go on: {memory} MiB");
    let batched = batched(&server, &sessions).await?;
    println!("{CROWD} sessions stepped in two batches: {batched:?}");
    if rate < LEAST || most > LONGEST {
        return Err(format!("the bars are {LEAST} steps a second and p99 {LONGEST:?}").into());
    }
    Ok(())
}

fn start() -> Done<Server> {
    let place = tempfile::tempdir()?;
    let mut child = Command::new(env!("CARGO_BIN_EXE_wildgym"))
        .args(["serve", "http", "enterprise", "--tasks", "t1-0*", "--listen", "127.0.0.1:0"])
        .args(["--json", "--rounds", "1000000"])
        .current_dir(place.path())
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn()?;
    let out = child.stdout.take().ok_or("the server has no output")?;
    let mut line = String::new();
    BufReader::new(out).read_line(&mut line)?;
    let told: Value = serde_json::from_str(&line)?;
    let text = |name: &str| told[name].as_str().unwrap_or_default().to_owned();
    let address = text("url").trim_start_matches("http://").to_owned();
    Ok(Server { child, address, token: text("token"), _place: place })
}

/// Opens sessions, each with a connection of its own.
async fn open(server: &Server, count: usize) -> Done<Vec<(String, Connection)>> {
    let mut one = Connection::open(server).await?;
    let mut ids = Vec::new();
    while ids.len() < count {
        let asked =
            json!({ "count": (count - ids.len()).min(256), "episode": { "task": "t1-001" } });
        let opened = one.post("/v1/sessions", &asked.to_string()).await?;
        let sessions = opened["sessions"].as_array().ok_or("no sessions")?;
        ids.extend(sessions.iter().filter_map(|one| one["session"].as_str().map(str::to_owned)));
    }
    let held = ids.into_iter().map(|id| async move { Ok((id, Connection::open(server).await?)) });
    try_join_all(held).await
}

fn look_up() -> Value {
    json!({ "calls": [{ "name": "crm_search_contacts", "arguments": { "query": "stone" } }] })
}

/// Steps some sessions as fast as replies come; returns the steps a second.
async fn busy(server: &Server) -> Done<f64> {
    let mut sessions = open(server, BUSY).await?;
    step_all(&mut sessions).await?;
    let (body, began) = (look_up().to_string(), Instant::now());
    let running = sessions.iter_mut().map(|(id, connection)| {
        let (body, path) = (&body, format!("/v1/sessions/{id}/step"));
        async move {
            let mut steps = 0_u32;
            while began.elapsed() < TIME {
                done(&connection.post(&path, body).await?)?;
                steps += 1;
            }
            Done::Ok(steps)
        }
    });
    let steps: u32 = try_join_all(running).await?.into_iter().sum();
    let rate = f64::from(steps) / began.elapsed().as_secs_f64();
    println!("{BUSY} sessions stepped as fast as they can be: {rate:.0} world steps a second");
    Ok(rate)
}

/// Steps all sessions at once; returns how long each waited.
async fn step_all(sessions: &mut [(String, Connection)]) -> Done<Vec<Duration>> {
    let body = look_up().to_string();
    let steps = sessions.iter_mut().map(|(id, connection)| {
        let (body, path) = (&body, format!("/v1/sessions/{id}/step"));
        async move {
            let began = Instant::now();
            done(&connection.post(&path, body).await?)?;
            Done::Ok(began.elapsed())
        }
    });
    try_join_all(steps).await
}

async fn batched(server: &Server, sessions: &[(String, Connection)]) -> Done<Duration> {
    let mut one = Connection::open(server).await?;
    let began = Instant::now();
    for half in sessions.chunks(CROWD / 2) {
        let item = |(id, _): &(String, Connection)| json!({ "session": id, "op": "step", "body": look_up() });
        let asked = json!({ "requests": half.iter().map(item).collect::<Vec<_>>() });
        let replies = one.post("/v1/batch", &asked.to_string()).await?;
        for reply in replies["replies"].as_array().ok_or("no replies")? {
            done(&reply["observation"])?;
        }
    }
    Ok(began.elapsed())
}

/// Sees that a step was made.
fn done(seen: &Value) -> Done<()> {
    let made = seen["results"][0]["content"].is_string() && seen["results"][0]["error"].is_null();
    if made { Ok(()) } else { Err(format!("no step was made: {seen}").into()) }
}

fn resident(server: &Server) -> Done<u64> {
    let status = std::fs::read_to_string(format!("/proc/{}/status", server.child.id()))?;
    let line = status.lines().find(|line| line.starts_with("RssAnon:")).ok_or("no figure")?;
    Ok(line.split_whitespace().nth(1).ok_or("no figure")?.parse::<u64>()? / 1024)
}

impl Connection {
    async fn open(server: &Server) -> Done<Self> {
        let stream = TcpStream::connect(&server.address).await?;
        stream.set_nodelay(true)?;
        let head =
            format!("host: {}\r\nauthorization: Bearer {}\r\n", server.address, server.token);
        Ok(Self { stream, buffer: Vec::new(), head })
    }

    /// Sends a request and reads the JSON of the response, which says its length.
    async fn post(&mut self, path: &str, body: &str) -> Done<Value> {
        let Self { stream, buffer, head } = self;
        let length = body.len();
        let request =
            format!("POST {path} HTTP/1.1\r\n{head}content-length: {length}\r\n\r\n{body}");
        stream.write_all(request.as_bytes()).await?;
        buffer.clear();
        loop {
            if stream.read_buf(buffer).await? == 0 {
                return Err("the server closed the connection".into());
            }
            let Some(end) = buffer.windows(4).position(|four| four == b"\r\n\r\n") else {
                continue;
            };
            let head = std::str::from_utf8(&buffer[..end])?.to_ascii_lowercase();
            let length = head.lines().find_map(|line| line.strip_prefix("content-length: "));
            let length: usize = length.ok_or("a response without a length")?.trim().parse()?;
            if buffer.len() >= end + 4 + length {
                return Ok(serde_json::from_slice(&buffer[end + 4..end + 4 + length])?);
            }
        }
    }
}
