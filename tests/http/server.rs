//! The real server in a directory of its own, and requests to it.

use std::io::{BufRead, BufReader, Read};
use std::path::PathBuf;
use std::process::{Child, Stdio};
use std::sync::Mutex;
use std::time::Duration;

use serde_json::{Value, json};

use super::common::Place;

/// A task of the suite `enterprise` that one look-up passes, and its look-up and answer.
pub(crate) const TASK: &str = "t1-001";

/// A running server; it ends when dropped.
pub(crate) struct Server {
    pub(crate) place: Place,
    child: Mutex<Child>,
    pub(crate) url: String,
    pub(crate) token: String,
    pub(crate) agent: String,
    pub(crate) client: reqwest::Client,
}

/// What came back.
#[derive(Debug, Clone)]
pub(crate) struct Answer {
    pub(crate) status: u16,
    pub(crate) body: Value,
    pub(crate) retry_after: Option<String>,
}

impl Answer {
    /// Returns the code of the refusal.
    pub(crate) fn code(&self) -> &str {
        self.body["error"]["code"].as_str().unwrap_or_default()
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        let mut child = self.child.lock().unwrap();
        let _gone = child.kill();
        let _gone = child.wait();
    }
}

impl Server {
    /// Serves the suite `enterprise`, and waits until it listens.
    pub(crate) fn start(more: &[&str]) -> Self {
        Self::of("enterprise", more)
    }

    /// Serves a suite, and waits until it listens.
    pub(crate) fn of(suite: &str, more: &[&str]) -> Self {
        let place = Place::new();
        let base = ["serve", "http", suite, "--listen", "127.0.0.1:0", "--json", "--name", "r"];
        let mut command = place.command(&[&base, more].concat());
        std::fs::create_dir_all(place.path().join("tmp")).unwrap();
        command.env("TMPDIR", place.path().join("tmp"));
        command.env_remove("WILDGYM_TOKEN").env_remove("WILDGYM_AGENT_TOKEN");
        let mut child = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
        let mut line = String::new();
        BufReader::new(child.stdout.take().unwrap()).read_line(&mut line).unwrap();
        let Ok(told) = serde_json::from_str::<Value>(&line) else {
            let mut said = String::new();
            child.stderr.take().unwrap().read_to_string(&mut said).unwrap();
            panic!("the server did not start: {said}");
        };
        let text = |name: &str| told[name].as_str().unwrap().to_owned();
        // A client wants a provider of cryptography, though nothing is encrypted here.
        let _known = rustls::crypto::ring::default_provider().install_default();
        let client = reqwest::Client::builder()
            .no_proxy()
            .pool_max_idle_per_host(1024)
            .timeout(Duration::from_mins(2))
            .build()
            .unwrap();
        let (url, token, agent) = (text("url"), text("token"), text("agent_token"));
        Self { place, child: Mutex::new(child), url, token, agent, client }
    }

    /// Returns the process.
    pub(crate) fn pid(&self) -> u32 {
        self.child.lock().unwrap().id()
    }

    /// Asks the server to end, and waits until it has.
    pub(crate) fn stop(&self) -> Option<i32> {
        self.interrupt();
        self.ended()
    }

    /// Asks the server to end.
    pub(crate) fn interrupt(&self) {
        let pid = i32::try_from(self.pid()).unwrap();
        let pid = rustix::process::Pid::from_raw(pid).unwrap();
        rustix::process::kill_process(pid, rustix::process::Signal::TERM).unwrap();
    }

    /// Waits until the server has ended.
    pub(crate) fn ended(&self) -> Option<i32> {
        self.child.lock().unwrap().wait().unwrap().code()
    }

    /// Returns the run's directory.
    pub(crate) fn run(&self) -> PathBuf {
        self.place.path().join("runs/r")
    }

    /// Sends a request as somebody, with any body.
    pub(crate) async fn send(
        &self,
        (method, path): (&str, &str),
        token: Option<&str>,
        body: Vec<u8>,
    ) -> Answer {
        let method: reqwest::Method = method.parse().unwrap();
        let mut request = self.client.request(method, format!("{}{path}", self.url)).body(body);
        if let Some(token) = token {
            request = request.bearer_auth(token);
        }
        let response = request.send().await.unwrap();
        let status = response.status().as_u16();
        let header = response.headers().get("retry-after");
        let retry_after = header.map(|value| value.to_str().unwrap().to_owned());
        let text = response.text().await.unwrap();
        let body = serde_json::from_str(&text)
            .unwrap_or_else(|_| panic!("{status} and no JSON: {text:?}"));
        Answer { status, body, retry_after }
    }

    /// Sends JSON as the trainer.
    pub(crate) async fn ask(&self, method: &str, path: &str, body: &Value) -> Answer {
        let body = if body.is_null() { Vec::new() } else { body.to_string().into_bytes() };
        self.send((method, path), Some(&self.token), body).await
    }

    /// Does the same, and wants it done.
    pub(crate) async fn done(&self, method: &str, path: &str, body: &Value) -> Value {
        let answer = self.ask(method, path, body).await;
        assert_eq!(answer.status, 200, "{method} {path}: {}", answer.body);
        answer.body
    }

    /// Opens sessions with an episode of a task.
    pub(crate) async fn open(&self, task: &str, count: usize, seed: Option<u32>) -> Vec<String> {
        let mut episode = json!({ "task": task });
        if let Some(seed) = seed {
            episode["seed"] = json!(seed);
        }
        let asked = json!({ "count": count, "episode": episode });
        let opened = self.done("POST", "/v1/sessions", &asked).await;
        let sessions = opened["sessions"].as_array().unwrap();
        sessions.iter().map(|one| one["session"].as_str().unwrap().to_owned()).collect()
    }

    /// Makes a step.
    pub(crate) async fn step(&self, session: &str, step: &Value) -> Answer {
        self.ask("POST", &format!("/v1/sessions/{session}/step"), step).await
    }

    /// Does something in a session, and wants it done.
    pub(crate) async fn act(&self, session: &str, what: &str) -> Value {
        self.done("POST", &format!("/v1/sessions/{session}/{what}"), &Value::Null).await
    }
}

/// A step that looks a contact up.
pub(crate) fn look_up() -> Value {
    let arguments = json!({ "query": "Priya Raman" });
    json!({ "calls": [{ "name": "crm_search_contacts", "arguments": arguments }] })
}

/// A step that gives the right answer of [`TASK`].
pub(crate) fn right() -> Value {
    json!({ "answer": "Priya Raman: priya.raman@acme-corp.example, +1 614 5550121." })
}
