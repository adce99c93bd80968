//! A foreign server that does on request what no server should: for the tests of the client.
//!
//! ```text
//! wildgym-hostile-server [--http] [--modern] [--late-ms N] [--mute] [--exit N] [--noise] [--pages]
//!                        [--endless] [--names A,B] [--schema JSON] [--count FILE [--drift] [--once]]
//! ```
//!
//! It speaks on its standard input and output; with `--http` it listens on loopback and prints
//! its URL; with `--modern` it knows no beginning (protocol 2026-07-28). Every tool is a misdeed
//! of that name, see `TOOLS`; `echo` and a few others behave. `--schema` gives all of them that
//! schema. `--count` appends a line with its process number to a file at every start, `--drift` lists
//! another tool from the second start on, `--once` ends at once from the second start on.

use std::fs::{self, OpenOptions};
use std::io::{BufRead, BufReader, Read, Write};
use std::net::{TcpListener, TcpStream};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use serde_json::{Value, json};

/// Tools with what they do.
const TOOLS: [(&str, &str); 26] = [
    ("echo", "returns `text`"),
    ("count", "counts its calls and returns the number"),
    ("order", "waits `ms`, notes `text` and returns all that was noted"),
    ("look", "waits `ms`; changes nothing, and says so"),
    ("env", "returns its environment"),
    ("read", "returns the file at `path`"),
    ("write", "writes `text` to `path`"),
    ("connect", "connects to `port` of this machine"),
    ("spawn", "starts a process of `seconds` that outlives it, where it can"),
    ("lost", "never answers"),
    ("die", "ends with status 3 instead of an answer"),
    ("wedge", "stops reading and answering for `ms`, or for ever"),
    ("gush", "writes without end, and never a line"),
    ("big", "returns a text of `bytes` bytes in one line"),
    ("malformed", "answers with a result that is none"),
    ("empty", "answers with neither a result nor an error"),
    ("badjson", "answers with what is no JSON"),
    ("stranger", "answers another request before this one"),
    ("error", "answers with an error of the protocol"),
    ("fails", "returns that it failed"),
    ("picture", "returns a picture"),
    ("structured", "returns structured content"),
    (
        "ask",
        "asks the client for a model, folders, a person and a sign of life; returns the answers",
    ),
    ("change", "lists other tools from now on, and says so"),
    ("flood", "asks for signs of life without end"),
    ("chatter", "writes much to its standard error, and answers"),
];

#[derive(Default)]
#[expect(clippy::struct_excessive_bools, reason = "each is a flag")]
struct Settings {
    http: bool,
    late: u64,
    mute: bool,
    modern: bool,
    exit: Option<i32>,
    noise: bool,
    pages: bool,
    endless: bool,
    names: Vec<String>,
    schema: Option<Value>,
    count: Option<String>,
    drift: bool,
    once: bool,
}

fn settings() -> Result<Settings, String> {
    let mut read = Settings::default();
    let mut given = std::env::args().skip(1);
    while let Some(name) = given.next() {
        let mut value = || given.next().ok_or_else(|| format!("`{name}` needs a value"));
        let number = |text: String| text.parse().map_err(|_| format!("`{text}` is no number"));
        match name.as_str() {
            "--http" => read.http = true,
            "--late-ms" => read.late = number(value()?)?,
            "--mute" => read.mute = true,
            "--modern" => read.modern = true,
            "--exit" => read.exit = Some(value()?.parse().unwrap_or(1)),
            "--noise" => read.noise = true,
            "--pages" => read.pages = true,
            "--endless" => read.endless = true,
            "--names" => read.names = value()?.split(',').map(str::to_owned).collect(),
            "--schema" => read.schema = serde_json::from_str(&value()?).ok(),
            "--count" => read.count = Some(value()?),
            "--drift" => read.drift = true,
            "--once" => read.once = true,
            _ => return Err(format!("unknown argument `{name}`")),
        }
    }
    Ok(read)
}

/// What a server remembers.
struct Server {
    settings: Settings,
    /// How often one was started before.
    before: usize,
    calls: AtomicU64,
    noted: Mutex<Vec<String>>,
    changed: AtomicU64,
    /// Answers to what it asked the client.
    answers: Mutex<Vec<Value>>,
    out: Mutex<Box<dyn Write + Send>>,
}

/// What becomes of a request.
enum Fate {
    Result(Value),
    Error(Value),
    Raw(String),
    Nothing,
}

fn main() -> Result<(), String> {
    let settings = settings()?;
    let mut before = 0;
    if let Some(path) = &settings.count {
        before = fs::read_to_string(path).unwrap_or_default().lines().count();
        let file = OpenOptions::new().create(true).append(true).open(path);
        let mut file = file.map_err(|error| format!("`{path}`: {error}"))?;
        writeln!(file, "{}", std::process::id()).map_err(|error| error.to_string())?;
    }
    if let Some(code) = settings.exit.or_else(|| (settings.once && before > 0).then_some(4)) {
        let _ = writeln!(std::io::stderr(), "\u{1b}[31mcannot go on:\u{1b}[0m no licence");
        std::process::exit(code);
    }
    let http = settings.http;
    let server = Arc::new(Server {
        settings,
        before,
        calls: AtomicU64::new(0),
        noted: Mutex::default(),
        changed: AtomicU64::new(0),
        answers: Mutex::default(),
        out: Mutex::new(Box::new(std::io::stdout())),
    });
    if http { server.listen() } else { server.talk() }
}

impl Server {
    /// Speaks on standard input and output.
    fn talk(self: &Arc<Self>) -> Result<(), String> {
        if self.settings.noise {
            self.say("Server started on stdio");
            self.say("{\"level\": \"info\", \"said\": [1, 2]}");
        }
        for line in std::io::stdin().lock().lines() {
            let line = line.map_err(|error| error.to_string())?;
            let Ok(message) = serde_json::from_str::<Value>(&line) else { continue };
            if message.get("method").is_none() {
                self.answers.lock().unwrap_or_else(PoisonError::into_inner).push(message);
                continue;
            }
            if message["params"]["name"] == "wedge" {
                let ms = message["params"]["arguments"]["ms"].as_u64();
                std::thread::sleep(Duration::from_millis(ms.unwrap_or(100_000_000)));
            }
            let server = Arc::clone(self);
            std::thread::spawn(move || {
                if let Some(answer) = server.answer(&message) {
                    server.say(&answer);
                }
            });
        }
        Ok(())
    }

    fn say(&self, line: &str) {
        let mut out = self.out.lock().unwrap_or_else(PoisonError::into_inner);
        let _ = out.write_all(line.as_bytes()).and_then(|()| out.write_all(b"\n"));
        let _ = out.flush();
    }

    /// Listens on a port of loopback.
    fn listen(self: &Arc<Self>) -> Result<(), String> {
        let listener = TcpListener::bind("127.0.0.1:0").map_err(|error| error.to_string())?;
        let address = listener.local_addr().map_err(|error| error.to_string())?;
        self.say(&format!("http://{address}/mcp"));
        for stream in listener.incoming().flatten() {
            let server = Arc::clone(self);
            std::thread::spawn(move || server.serve(stream));
        }
        Ok(())
    }

    /// Answers one request of HTTP.
    fn serve(&self, mut stream: TcpStream) -> Option<()> {
        let mut reader = BufReader::new(stream.try_clone().ok()?);
        let (mut first, mut length) = (String::new(), 0);
        reader.read_line(&mut first).ok()?;
        loop {
            let mut line = String::new();
            reader.read_line(&mut line).ok()?;
            let line = line.trim().to_ascii_lowercase();
            if line.is_empty() {
                break;
            }
            if let Some(value) = line.strip_prefix("content-length:") {
                length = value.trim().parse().ok()?;
            }
        }
        let mut reply = |status: &str, kind: &str, body: &str| {
            let size = body.len();
            let head = format!(
                "HTTP/1.1 {status}\r\ncontent-type: {kind}\r\ncontent-length: {size}\r\n\
                 connection: close\r\n\r\n"
            );
            stream.write_all(head.as_bytes()).and_then(|()| stream.write_all(body.as_bytes())).ok()
        };
        if !first.starts_with("POST") {
            return reply("405 Method Not Allowed", "text/plain", "");
        }
        let mut body = vec![0; length];
        reader.read_exact(&mut body).ok()?;
        let message: Value = serde_json::from_slice(&body).ok()?;
        if message.get("id").is_none() || message.get("method").is_none() {
            return reply("202 Accepted", "text/plain", "");
        }
        match self.answer(&message) {
            // A stream that ends before it says anything.
            None if message["params"]["name"] == "empty" => {
                reply("200 OK", "text/event-stream", "")
            }
            None => {
                std::thread::sleep(Duration::from_secs(100_000));
                None
            }
            Some(answer) => reply("200 OK", "application/json", &answer),
        }
    }

    /// Returns the line that answers a message; none where nothing does.
    fn answer(&self, message: &Value) -> Option<String> {
        let id = message.get("id")?.clone();
        if self.settings.mute {
            return None;
        }
        let fate = match message["method"].as_str().unwrap_or_default() {
            "server/discover" if self.settings.modern => Fate::Result(json!({
                "resultType": "complete",
                "supportedVersions": ["2026-07-28"],
                "capabilities": {"tools": {}},
                "ttlMs": 0,
                "cacheScope": "private",
            })),
            "initialize" if !self.settings.modern => {
                std::thread::sleep(Duration::from_millis(self.settings.late));
                Fate::Result(json!({
                    "protocolVersion": message["params"]["protocolVersion"],
                    "capabilities": {"tools": {"listChanged": true}},
                    "serverInfo": {"name": "hostile", "version": "1"},
                }))
            }
            "ping" => Fate::Result(json!({})),
            "tools/list" => Fate::Result(self.list(&message["params"])),
            "tools/call" => self.call(&message["params"], &id),
            _ => Fate::Error(json!({"code": -32601, "message": "no such method"})),
        };
        let whole = match fate {
            Fate::Result(result) => json!({"jsonrpc": "2.0", "id": id, "result": result}),
            Fate::Error(error) => json!({"jsonrpc": "2.0", "id": id, "error": error}),
            Fate::Raw(line) => return Some(line),
            Fate::Nothing => return None,
        };
        Some(whole.to_string())
    }

    fn list(&self, params: &Value) -> Value {
        let mut names: Vec<&str> = TOOLS.iter().map(|(name, _)| *name).collect();
        if !self.settings.names.is_empty() {
            names = self.settings.names.iter().map(String::as_str).collect();
        }
        if (self.settings.drift && self.before > 0) || self.changed.load(Ordering::Relaxed) > 0 {
            names = vec!["other"];
        }
        let tool = |name: &&str| {
            let about =
                TOOLS.iter().find(|(one, _)| one == name).map_or("echoes", |(_, what)| what);
            let schema = json!({"type": "object", "properties": {"text": {"type": "string"}}});
            json!({
                "name": name,
                "description": about,
                "inputSchema": self.settings.schema.as_ref().unwrap_or(&schema),
                "annotations": {"readOnlyHint": *name == "look"},
            })
        };
        if self.settings.endless {
            return json!({"tools": [], "nextCursor": "again"});
        }
        if !self.settings.pages {
            return json!({"tools": names.iter().map(tool).collect::<Vec<_>>()});
        }
        let at: usize = params["cursor"].as_str().and_then(|at| at.parse().ok()).unwrap_or(0);
        let page: Vec<Value> = names.iter().skip(at).take(1).map(tool).collect();
        if at + 1 < names.len() {
            json!({"tools": page, "nextCursor": (at + 1).to_string()})
        } else {
            json!({"tools": page})
        }
    }

    fn call(&self, params: &Value, id: &Value) -> Fate {
        let given = &params["arguments"];
        let text = given["text"].as_str().unwrap_or_default();
        let wait = || {
            std::thread::sleep(Duration::from_millis(given["ms"].as_u64().unwrap_or(0)));
        };
        let said =
            |text: String| Fate::Result(json!({"content": [{"type": "text", "text": text}]}));
        match params["name"].as_str().unwrap_or_default() {
            "count" => said((self.calls.fetch_add(1, Ordering::Relaxed) + 1).to_string()),
            "order" => {
                wait();
                let mut noted = self.noted.lock().unwrap_or_else(PoisonError::into_inner);
                noted.push(text.to_owned());
                said(noted.join(","))
            }
            "look" => {
                wait();
                said("looked".to_owned())
            }
            "lost" => Fate::Nothing,
            "big" => {
                let bytes = given["bytes"].as_u64().and_then(|n| usize::try_from(n).ok());
                said("x".repeat(bytes.unwrap_or(0)))
            }
            "malformed" => Fate::Result(json!({"content": "not a list", "tools": 3})),
            "empty" if self.settings.http => Fate::Nothing,
            "empty" => Fate::Raw(json!({"jsonrpc": "2.0", "id": id}).to_string()),
            "badjson" => {
                Fate::Raw(format!("{{\"jsonrpc\":\"2.0\",\"id\":{id},\"result\":{{NaN}}}}"))
            }
            "stranger" => {
                self.say(&json!({"jsonrpc": "2.0", "id": 99_999, "result": {}}).to_string());
                said("mine".to_owned())
            }
            "error" => Fate::Error(json!({"code": -32000, "message": "out of paper"})),
            "fails" => Fate::Result(
                json!({"isError": true, "content": [{"type": "text", "text": "no such order"}]}),
            ),
            "picture" => Fate::Result(json!({"content": [
                {"type": "text", "text": "a dot"},
                {"type": "image", "mimeType": "image/png", "data": DOT},
            ]})),
            "structured" => Fate::Result(json!({"content": [], "structuredContent": {"n": 7}})),
            "ask" => said(self.ask()),
            "change" => {
                self.changed.fetch_add(1, Ordering::Relaxed);
                let note = "notifications/tools/list_changed";
                self.say(&json!({"jsonrpc": "2.0", "method": note}).to_string());
                said("changed".to_owned())
            }
            "flood" => loop {
                let ping = json!({"jsonrpc": "2.0", "id": "p", "method": "ping"});
                self.say(&ping.to_string());
            },
            "gush" => {
                let mut out = self.out.lock().unwrap_or_else(PoisonError::into_inner);
                let more = vec![b'x'; 1 << 16];
                while out.write_all(&more).is_ok() {}
                Fate::Nothing
            }
            other => reach(other, given, text).map_or_else(|| said(text.to_owned()), said),
        }
    }

    /// Asks the client for what it does not have, and returns what it says.
    fn ask(&self) -> String {
        let asked = [
            ("sampling/createMessage", json!({"messages": [], "maxTokens": 9})),
            ("roots/list", json!({})),
            (
                "elicitation/create",
                json!({
                    "message": "Who?",
                    "requestedSchema": {"type": "object", "properties": {}},
                }),
            ),
            ("ping", json!({})),
            ("nothing/known", json!({})),
        ];
        for (number, (method, params)) in asked.iter().enumerate() {
            let id = format!("q{number}");
            let ask = json!({"jsonrpc": "2.0", "id": id, "method": method, "params": params});
            self.say(&ask.to_string());
        }
        let answers = || self.answers.lock().unwrap_or_else(PoisonError::into_inner).clone();
        for _ in 0..2000 {
            if answers().len() >= asked.len() {
                break;
            }
            std::thread::sleep(Duration::from_millis(5));
        }
        let mut answers = answers();
        answers.sort_by_key(|answer| answer["id"].to_string());
        Value::Array(answers).to_string()
    }
}

/// Tries what a server may not be able to.
#[expect(clippy::exit, reason = "to end at once is the misdeed")]
fn reach(tool: &str, given: &Value, text: &str) -> Option<String> {
    let path = given["path"].as_str().unwrap_or_default();
    let told = |done: Result<String, std::io::Error>| {
        Some(done.unwrap_or_else(|error| format!("refused: {error}")))
    };
    match tool {
        "env" => {
            let all: Vec<String> =
                std::env::vars().map(|(name, value)| format!("{name}={value}")).collect();
            Some(all.join("\n"))
        }
        "read" => told(fs::read_to_string(path)),
        "write" => told(fs::write(path, text).map(|()| "written".to_owned())),
        "connect" => {
            let port = given["port"].as_u64().and_then(|port| u16::try_from(port).ok());
            told(
                TcpStream::connect(("127.0.0.1", port.unwrap_or(9)))
                    .map(|_| "connected".to_owned()),
            )
        }
        "spawn" => {
            let seconds = given["seconds"].as_u64().unwrap_or(1000);
            let script = format!("setsid sleep {seconds} >/dev/null 2>&1 & echo $!");
            let shell = std::process::Command::new("sh").args(["-c", &script]).output();
            told(shell.map(|ran| String::from_utf8_lossy(&ran.stdout).trim().to_owned()))
        }
        "die" => {
            let _ = writeln!(std::io::stderr(), "fatal: the disk is on fire");
            std::process::exit(3);
        }
        "chatter" => {
            let line = "all is well ".repeat(1000);
            for _ in 0..200 {
                let _ = writeln!(std::io::stderr(), "{line}");
            }
            Some("said much".to_owned())
        }
        _ => None,
    }
}

/// A picture of one dot (PNG).
const DOT: &str = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==";
