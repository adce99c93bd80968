//! Before an address, over streamable HTTP.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use axum::Router;
use axum::body::{Body, to_bytes};
use axum::extract::{Request, State};
use axum::http::{HeaderMap, Method, StatusCode};
use axum::response::{IntoResponse, Response};
use futures::StreamExt;
use serde_json::{Value, json};
use tokio::net::TcpListener;

use crate::common::Place;
use crate::stage::{Listening, SAID, call, decided, log, profile, wait_until};

/// A server that says what it was asked, and remembers what it was sent.
#[derive(Clone, Default)]
pub(crate) struct Upstream {
    /// Method, path with query, headers and body of each request.
    pub(crate) seen: Arc<Mutex<Vec<Seen>>>,
}

pub(crate) type Seen = (Method, String, HeaderMap, Vec<u8>);

impl Upstream {
    /// Starts it and returns the address of its endpoint.
    pub(crate) async fn start(&self) -> String {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let url = format!("http://{}/mcp", listener.local_addr().unwrap());
        let routes = Router::new().fallback(answer).with_state(self.clone());
        tokio::spawn(async move { axum::serve(listener, routes).await });
        url
    }

    fn seen(&self) -> Vec<Seen> {
        self.seen.lock().unwrap().clone()
    }
}

fn result(id: &Value, text: &str) -> Value {
    json!({ "jsonrpc": "2.0", "id": id, "result": { "content": [{ "type": "text", "text": text }] } })
}

/// Answers calls by the name of the tool: `echo` as JSON, `stream` as events with progress
/// before the result, `broken` as a stream that ends before it, `silent` never.
async fn answer(State(upstream): State<Upstream>, request: Request) -> Response {
    let (parts, body) = request.into_parts();
    let body = to_bytes(body, usize::MAX).await.unwrap_or_default().to_vec();
    let path = parts.uri.path_and_query().unwrap().to_string();
    let seen = (parts.method.clone(), path, parts.headers.clone(), body.clone());
    upstream.seen.lock().unwrap().push(seen);
    let events = [("content-type", "text/event-stream")];
    if let Some(id) = parts.headers.get("last-event-id") {
        let id: Value = serde_json::from_str(id.to_str().unwrap()).unwrap();
        let text = format!(": again\n\nid: last\ndata: {}\n\n", result(&id, SAID));
        return (events, text).into_response();
    }
    let Ok(message) = serde_json::from_slice::<Value>(&body) else {
        return (StatusCode::BAD_REQUEST, [("x-odd", "yes")], body).into_response();
    };
    if message.is_array() {
        let ids = message.as_array().unwrap().iter().map(|one| &one["id"]);
        let all: Vec<Value> = ids.filter(|id| !id.is_null()).map(|id| result(id, SAID)).collect();
        return axum::Json(Value::Array(all)).into_response();
    }
    let id = &message["id"];
    match message["params"]["name"].as_str() {
        Some("stream") => {
            let note =
                json!({ "jsonrpc": "2.0", "method": "notifications/progress", "params": {} });
            let text = format!(
                ": begun\r\n\r\nevent: message\ndata: {note}\n\nid: {id}\ndata: {}\n\n",
                result(id, SAID)
            );
            let bytes: Vec<_> = text
                .into_bytes()
                .chunks(7)
                .map(|part| Ok::<_, std::io::Error>(part.to_vec()))
                .collect();
            (events, Body::from_stream(futures::stream::iter(bytes))).into_response()
        }
        Some("broken") => (events, format!("id: {id}\ndata: \n\n")).into_response(),
        Some("silent") => {
            tokio::time::sleep(Duration::from_mins(10)).await;
            StatusCode::OK.into_response()
        }
        _ => {
            let head = [("mcp-session-id", "s-1"), ("content-type", "application/json")];
            (head, result(id, SAID).to_string()).into_response()
        }
    }
}

pub(crate) fn client() -> reqwest::Client {
    // An error means that another story was first.
    drop(rustls::crypto::ring::default_provider().install_default());
    reqwest::Client::builder().no_proxy().build().unwrap()
}

async fn post(client: &reqwest::Client, url: &str, message: &Value) -> reqwest::Response {
    let takes = "application/json, text/event-stream";
    let request = client.post(url).header("accept", takes);
    request
        .header("content-type", "application/json")
        .body(message.to_string())
        .send()
        .await
        .unwrap()
}

/// Returns the result that a response carries, in either form.
async fn read(response: reqwest::Response) -> Value {
    let text = response.text().await.unwrap();
    let mut data = text.lines().filter_map(|line| line.strip_prefix("data: "));
    let last = data.rfind(|data| data.contains("\"result\""));
    serde_json::from_str(last.unwrap_or(&text)).unwrap()
}

#[tokio::test(flavor = "multi_thread")]
async fn without_faults_requests_and_responses_are_the_same() {
    let upstream = Upstream::default();
    let url = upstream.start().await;
    let place = Place::new();
    let proxy = Listening::start(&place, &[], &url);
    assert!(proxy.url.ends_with("/mcp"), "the same path: {}", proxy.url);
    let client = client();
    let strange = "{ \"id\" : 1.0, \"method\":\"tools\\/call\",\"params\":{\"name\":\"stream\"}}";
    let bodies = ["no JSON \u{e9}", strange, "", "[{\"id\":7,\"method\":\"ping\"}]"];
    let mut all = Vec::new();
    for base in [&url, &proxy.url] {
        let mut responses = Vec::new();
        for (method, body) in bodies.iter().map(|body| (Method::POST, *body)).chain([
            (Method::GET, ""),
            (Method::DELETE, ""),
            (Method::POST, strange),
        ]) {
            let request = client.request(method, format!("{base}/more?a=%20b&c")).body(body);
            let request = request.header("x-own", "1").header("mcp-protocol-version", "2025-11-25");
            let response = request.send().await.unwrap();
            let mut headers: BTreeMap<String, String> = response
                .headers()
                .iter()
                .map(|(name, value)| (name.to_string(), value.to_str().unwrap().to_owned()))
                .collect();
            headers.remove("date");
            let status = response.status();
            responses.push((status, headers, response.bytes().await.unwrap()));
        }
        all.push(responses);
    }
    assert_eq!(all[0], all[1]);
    let seen = upstream.seen();
    let (direct, proxied) = seen.split_at(seen.len() / 2);
    for (one, other) in direct.iter().zip(proxied) {
        assert_eq!((&one.0, &one.1, &one.3), (&other.0, &other.1, &other.3));
        let named = |headers: &HeaderMap| {
            let mut headers = headers.clone();
            headers.remove("content-length");
            headers.remove("transfer-encoding");
            headers
        };
        assert_eq!(named(&one.2), named(&other.2), "the server is spoken to by its own name");
    }
}

/// Every operator, to a reply as a document and to one as an event.
#[tokio::test(flavor = "multi_thread")]
async fn each_operator_acts_on_documents_and_on_events() {
    let upstream = Upstream::default();
    let url = upstream.start().await;
    let (place, client) = (Place::new(), client());
    let table = [
        ("minor-mistake", false),
        ("incorrect-output", false),
        ("invalid-output", false),
        ("explicit-error", false),
        ("delay", true),
        ("schema-drift", false),
        ("truncated-payload", false),
        ("partial-result", false),
    ];
    for (operator, is_true) in table {
        let more = if operator == "delay" { "seconds = 1" } else { "" };
        let entry = format!("operator = \"{operator}\"\npersistence = \"permanent\"\n{more}");
        let path = profile(&place, operator, &entry, "");
        let proxy = Listening::start(&place, &["--profile", &path], &url);
        for tool in ["echo", "stream"] {
            let begun = Instant::now();
            let before = upstream.seen().len();
            let response = post(&client, &proxy.url, &call(1, tool, json!({}))).await;
            let mark = response.headers().get("wildgym-fault").unwrap().to_str().unwrap();
            assert_eq!(mark, format!("{operator}/permanent"), "{tool}");
            let reply = read(response).await;
            assert_eq!(reply["id"], 1, "{operator} {tool}: {reply}");
            let told = reply["result"]["content"][0]["text"] == SAID;
            assert_eq!(told, is_true, "{operator} {tool}: {reply}");
            let late = begun.elapsed() >= Duration::from_secs(1);
            assert!(late || operator != "delay", "{tool}");
            let reached = upstream.seen().len() > before;
            assert_eq!(reached, operator != "explicit-error", "{operator} {tool}");
        }
    }
}

/// A dropped call has a response that says nothing, until its client leaves or takes it back;
/// and the server never hears of it.
#[tokio::test(flavor = "multi_thread")]
async fn a_dropped_call_is_never_answered() {
    let upstream = Upstream::default();
    let url = upstream.start().await;
    let (place, client) = (Place::new(), client());
    let proxy = Listening::start(&place, &["--profile", "silent-drop"], &url);
    let response = post(&client, &proxy.url, &call("x", "echo", json!({}))).await;
    let mut stream = response.bytes_stream();
    let nothing = tokio::time::timeout(Duration::from_millis(300), stream.next()).await;
    assert!(nothing.is_err(), "{nothing:?}");
    assert!(upstream.seen().is_empty());
    let params = json!({ "requestId": "x" });
    let cancel = json!({ "jsonrpc": "2.0", "method": "notifications/cancelled", "params": params });
    post(&client, &proxy.url, &cancel).await;
    assert!(stream.next().await.is_none(), "the stream ends without a word");
    assert_eq!(upstream.seen().len(), 1, "that it is taken back passes like anything else");
}

/// A stream that breaks off is taken up again by its last event, and the reply that comes then
/// is as much changed as it would have been.
#[tokio::test(flavor = "multi_thread")]
async fn a_reply_on_a_stream_that_is_taken_up_again_is_found() {
    let upstream = Upstream::default();
    let url = upstream.start().await;
    let (place, client) = (Place::new(), client());
    let file = place.path().join("log.jsonl");
    let flags = ["--profile", "incorrect-output", "--log", file.to_str().unwrap()];
    let proxy = Listening::start(&place, &flags, &url);
    let response = post(&client, &proxy.url, &call(5, "broken", json!({}))).await;
    assert_eq!(response.text().await.unwrap(), "id: 5\ndata: \n\n");
    let again = || client.get(&proxy.url).header("last-event-id", "5").send();
    let first = again().await.unwrap().text().await.unwrap();
    assert!(first.starts_with(": again\n\nid: last\ndata: {"), "{first}");
    let truth = json!(SAID).to_string();
    assert!(!first.contains(&truth), "{first}");
    let second = again().await.unwrap().text().await.unwrap();
    assert_eq!(first, second, "what comes twice is the same twice");
    let other = client.get(&proxy.url).header("last-event-id", "6").send().await.unwrap();
    assert!(other.text().await.unwrap().contains(&truth), "another's stream");
    let effects = log(&file).iter().filter(|line| line["record"] == "effect").count();
    assert_eq!(effects, 1, "it is told once");
}

#[tokio::test(flavor = "multi_thread")]
async fn calls_of_many_clients_with_the_same_ids_are_kept_apart() {
    let upstream = Upstream::default();
    let url = upstream.start().await;
    let (place, client) = (Place::new(), client());
    let file = place.path().join("log.jsonl");
    let flags = ["--profile", "transient-heavy", "--seed", "4", "--log", file.to_str().unwrap()];
    // Nothing that takes long.
    let path = place.path().join("quick.toml");
    let text = std::fs::read_to_string(profile(
        &place,
        "quick",
        "operator = \"incorrect-output\"\npersistence = \"transient\"",
        "rate = 0.5",
    ))
    .unwrap();
    std::fs::write(&path, text).unwrap();
    let flags = [&["--profile", path.to_str().unwrap()], &flags[2..]].concat();
    let proxy = Listening::start(&place, &flags, &url);
    let asked = (0..64).map(|number| {
        let (client, url) = (client.clone(), proxy.url.clone());
        async move {
            let tool = if number % 2 == 0 { "echo" } else { "stream" };
            let reply = read(post(&client, &url, &call(1, tool, json!({}))).await).await;
            reply["result"]["content"][0]["text"] == SAID
        }
    });
    let told = futures::future::join_all(asked).await;
    let empty = json!({});
    let want = decided(path.to_str().unwrap(), 4, &vec![("echo", &empty); 64]);
    let hits = want.iter().flatten().filter(|fault| fault.fired).count();
    assert_eq!(told.iter().filter(|told| !**told).count(), hits);
    let lines = log(&file);
    let arrivals: Vec<&Value> = lines
        .iter()
        .filter(|line| line["record"] == "decision")
        .map(|line| &line["arrival"])
        .collect();
    assert_eq!(arrivals, (1..=64).map(Value::from).collect::<Vec<_>>().iter().collect::<Vec<_>>());
}

#[tokio::test(flavor = "multi_thread")]
async fn a_batch_is_answered_whole() {
    let upstream = Upstream::default();
    let url = upstream.start().await;
    let (place, client) = (Place::new(), client());
    let entry = "operator = \"explicit-error\"\npersistence = \"permanent\"\nmatch.tool = \"bad\"";
    let path = profile(&place, "batch", entry, "");
    let proxy = Listening::start(&place, &["--profile", &path], &url);
    let batch = json!([call(1, "bad", json!({})), call(2, "echo", json!({}))]);
    let reply: Value =
        serde_json::from_str(&post(&client, &proxy.url, &batch).await.text().await.unwrap())
            .unwrap();
    let by_id = |id: u64| reply.as_array().unwrap().iter().find(|one| one["id"] == id).unwrap();
    assert_eq!(by_id(1)["result"]["isError"], true);
    assert_eq!(by_id(2)["result"]["content"][0]["text"], SAID);
}

/// A server that is not there, and a client that leaves in the middle.
#[tokio::test(flavor = "multi_thread")]
async fn ends_are_told() {
    let (place, client) = (Place::new(), client());
    let proxy = Listening::start(&place, &[], "http://127.0.0.1:9/mcp");
    let response = post(&client, &proxy.url, &call(1, "echo", json!({}))).await;
    assert_eq!(response.status(), 502);
    let said = response.text().await.unwrap();
    assert!(said.contains("the server at http://127.0.0.1:9/mcp does not answer"), "{said}");

    let upstream = Upstream::default();
    let url = upstream.start().await;
    let mut proxy = Listening::start(&place, &[], &url);
    let (asking, to) = (client.clone(), proxy.url.clone());
    let waiting =
        tokio::spawn(async move { post(&asking, &to, &call(1, "silent", json!({}))).await });
    while upstream.seen().is_empty() {
        tokio::time::sleep(Duration::from_millis(5)).await;
    }
    waiting.abort();
    let reply = read(post(&client, &proxy.url, &call(2, "echo", json!({}))).await).await;
    assert_eq!(reply["result"]["content"][0]["text"], SAID);
    // Asked to end, it does, also with a call under way.
    let (asking, to) = (client.clone(), proxy.url.clone());
    let waiting = tokio::spawn(async move {
        asking.post(&to).body(call(3, "silent", json!({})).to_string()).send().await
    });
    while upstream.seen().len() < 3 {
        tokio::time::sleep(Duration::from_millis(5)).await;
    }
    let pid = rustix::process::Pid::from_raw(proxy.child.id().cast_signed()).unwrap();
    rustix::process::kill_process(pid, rustix::process::Signal::TERM).unwrap();
    wait_until("the end of the proxy", || proxy.child.try_wait().unwrap().is_some());
    assert!(waiting.await.unwrap().is_err(), "the client is told");
}
