//! `wildgym serve mcp`, as a client meets it.

use std::time::Duration;

use rmcp::model::{ClientRequest, Request};
use rmcp::service::PeerRequestOptions;
use serde_json::{Value, json};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;

use super::client::{Client, Server, asked};
use super::common::{Place, transcripts};
use super::suite;

/// Returns the records of the only transcript of a run.
fn records(place: &Place, run: &str) -> Vec<Value> {
    let all = transcripts(&place.path().join("runs").join(run));
    assert_eq!(all.len(), 1, "{:?}", all.keys());
    let text = all.into_values().next().unwrap();
    text.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}

fn of<'a>(records: &'a [Value], kind: &str) -> Vec<&'a Value> {
    records.iter().filter(|record| record["record"] == kind).collect()
}

/// Over standard input and output one client plays one attempt, which is stored and judged
/// like one of a run; calls of one breath are one round, in the order asked.
#[tokio::test(flavor = "multi_thread")]
async fn what_a_client_plays_is_a_trial() {
    let place = Place::new();
    let suite = suite::write(place.path());
    let args = [suite.to_str().unwrap(), "--task", "mc-sum", "--name", "played"];
    let (client, mut server) = Client::stdio(&place, &args).await;
    assert_eq!(client.names().await[..2], ["get_task", "submit_answer"]);
    let told = client.call("get_task", json!({})).await;
    assert_eq!(told.structured_content.unwrap()["attachments"], json!(["data.csv"]));
    let read =
        |path: &str| client.text("extract_document_content", json!({ "document_path": path }));
    let (one, two, three) = tokio::join!(read("data.csv"), read("missing.csv"), read("data.csv"));
    assert!(one.0.contains("25") && !one.1 && two.1 && one == three, "{one:?} {two:?}");
    let (text, failed) = client.text("submit_answer", json!({ "answer": "42" })).await;
    assert!(!failed, "{text}");
    let (text, failed) = client.text("submit_answer", json!({ "answer": "43" })).await;
    assert!(failed && text.contains("the attempt is over: answered"), "{text}");
    client.leave().await;
    assert_eq!(server.wait().await.unwrap().code(), Some(0));

    let records = records(&place, "played");
    let calls = of(&records, "call");
    let order: Vec<_> = calls.iter().map(|call| json!([call["ingress"], call["round"]])).collect();
    assert_eq!(order, [json!(["1", 1]), json!(["2", 1]), json!(["3", 1])]);
    assert!(calls[1]["error"].is_string(), "{}", calls[1]);
    let end = of(&records, "outcome")[0];
    assert_eq!((&end["outcome"], &end["answer"]), (&json!("answered"), &json!("42")));
    let report = place.wildgym(&["report", "runs/played", "--json"]).json();
    assert_eq!(report["points"][0]["state"], "pass", "{}", report["points"]);
    let shown = place.wildgym(&["show", "runs/played", "mcp/mc-sum/full/1"]);
    assert!(shown.out.contains("extract_document_content"), "{}", shown.err);
    let resumed = place.wildgym(&["resume", "runs/played"]);
    assert_eq!(resumed.code, Some(2), "nobody here could go on: {}", resumed.err);
}

/// Whoever leaves without an answer has none; whoever never comes costs nothing.
#[tokio::test(flavor = "multi_thread")]
async fn leaving_is_no_answer() {
    let place = Place::new();
    let suite = suite::write(place.path());
    let args = [suite.to_str().unwrap(), "--task", "mc-sum", "--name", "left"];
    let (client, mut server) = Client::stdio(&place, &args).await;
    client.call("get_task", json!({})).await;
    client.leave().await;
    assert_eq!(server.wait().await.unwrap().code(), Some(0));
    let records = records(&place, "left");
    assert_eq!(of(&records, "outcome")[0]["outcome"], "no-answer");

    let args = [suite.to_str().unwrap(), "--task", "mc-sum", "--name", "never"];
    let (client, mut server) = Client::stdio(&place, &args).await;
    client.leave().await;
    assert_eq!(server.wait().await.unwrap().code(), Some(0));
    assert!(transcripts(&place.path().join("runs/never")).is_empty());
}

/// Limits are those of a run, and say so.
#[tokio::test(flavor = "multi_thread")]
async fn a_limit_ends_the_attempt() {
    let place = Place::new();
    let suite = suite::write(place.path());
    let args = [suite.to_str().unwrap(), "--task", "mc-sum", "--name", "short", "--rounds", "1"];
    let (client, mut server) = Client::stdio(&place, &args).await;
    let path = json!({ "document_path": "data.csv" });
    let (text, failed) = client.text("extract_document_content", path.clone()).await;
    assert!(!failed && text.contains("25"), "the last round is made: {text}");
    let (text, failed) = client.text("extract_document_content", path).await;
    assert!(failed && text.contains("the attempt is over: limit:rounds"), "{text}");
    let (text, failed) = client.text("submit_answer", json!({ "answer": "42" })).await;
    assert!(failed && text.contains("limit:rounds"), "{text}");
    client.leave().await;
    server.wait().await.unwrap();
    let records = records(&place, "short");
    assert_eq!(of(&records, "outcome")[0]["outcome"], "limit:rounds");
}

/// A call that a client takes back is stopped, recorded, and costs no other.
#[tokio::test(flavor = "multi_thread")]
async fn a_call_can_be_taken_back() {
    let place = Place::new();
    let suite = suite::write(place.path());
    let args = [suite.to_str().unwrap(), "--task", "mc-sum", "--name", "cancelled"];
    let (client, mut server) = Client::stdio(&place, &args).await;
    let endless = asked("execute_code", &json!({ "code": "while True: pass" }));
    let request = ClientRequest::CallToolRequest(Request::new(endless));
    let options = PeerRequestOptions::no_options();
    let handle = client.peer().send_cancellable_request(request, options).await.unwrap();
    tokio::time::sleep(Duration::from_millis(300)).await;
    handle.cancel(Some("enough".to_owned())).await.unwrap();
    let (text, failed) =
        client.text("extract_document_content", json!({ "document_path": "data.csv" })).await;
    assert!(!failed && text.contains("25"), "{text}");
    client.text("submit_answer", json!({ "answer": "42" })).await;
    client.leave().await;
    server.wait().await.unwrap();
    let records = records(&place, "cancelled");
    let errors: Vec<&Value> = of(&records, "call").iter().map(|call| &call["error"]).collect();
    assert_eq!(errors, [&json!("cancelled"), &Value::Null], "{records:?}");
}

/// Two clients at once, each at its own path: neither sees files, pages or state of the other.
#[tokio::test(flavor = "multi_thread")]
async fn two_clients_see_nothing_of_each_other() {
    let place = Place::new();
    let args = ["starter", "--world", "enterprise", "--browser", "direct", "-k", "2"];
    let server = Server::with(&place, &args, 2).await;
    assert_ne!(server.urls[0], server.urls[1]);
    let (one, two) = (Client::http(&server.urls[0]).await, Client::http(&server.urls[1]).await);

    let save = json!({ "code": "open('mine.txt', 'w').write('of the first')" });
    let (text, failed) = one.text("execute_code", save).await;
    assert!(!failed, "{text}");
    let path = json!({ "document_path": "mine.txt" });
    let own = one.text("extract_document_content", path.clone()).await;
    let other = two.text("extract_document_content", path).await;
    assert!(own.0.contains("of the first") && other.1, "{own:?} {other:?}");

    let page = json!({ "url": "https://tarrowferries.example/" });
    let (text, failed) = one.text("visit_page", page).await;
    assert!(!failed && text.contains("tarrowferries"), "{text}");
    let here = json!({});
    let (own, other) = tokio::join!(one.text("get_url", here.clone()), two.text("get_url", here));
    assert!(own.0.contains("tarrowferries"), "{own:?}");
    assert!(!other.0.contains("tarrowferries"), "{other:?}");

    let person = json!({ "name": "Ada Quill", "company": "Acme Corp",
                         "email": "ada.quill@acme-corp.example" });
    let (text, failed) = one.text("crm_create_contact", person).await;
    assert!(!failed, "{text}");
    let made = one.call("crm_search_contacts", json!({ "query": "Ada Quill" })).await;
    let other = two.text("crm_search_contacts", json!({ "query": "Ada Quill" })).await;
    assert!(made.structured_content.unwrap().to_string().contains("ada.quill"), "as data too");
    assert!(!other.0.contains("ada.quill"), "{other:?}");

    // A second client at the same path is in the same sandbox.
    let again = Client::http(&server.urls[0]).await;
    let own = again.text("extract_document_content", json!({ "document_path": "mine.txt" })).await;
    assert!(own.0.contains("of the first"), "{own:?}");
    // Clients whose streams are open do not keep the server from ending.
    assert_eq!(server.stop().await, Some(0));
}

/// Sends a request as it stands and returns the first line of the answer.
async fn raw(address: &str, request: &str) -> String {
    let mut stream = TcpStream::connect(address).await.unwrap();
    stream.write_all(request.as_bytes()).await.unwrap();
    let mut answer = Vec::new();
    stream.read_to_end(&mut answer).await.unwrap();
    String::from_utf8_lossy(&answer).lines().next().unwrap_or_default().to_owned()
}

#[tokio::test(flavor = "multi_thread")]
async fn strangers_are_turned_away() {
    let place = Place::new();
    let suite = suite::write(place.path());
    let server = Server::start(&place, &[suite.to_str().unwrap(), "--task", "mc-sum"]).await;
    let url = url::Url::parse(&server.urls[0]).unwrap();
    let (address, path) = (url.authority(), url.path());
    let ping = r#"{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-06-18","capabilities":{},"clientInfo":{"name":"x","version":"1"}}}"#;
    let post = |path: &str, host: &str, more: &str, body: &str| {
        format!(
            "POST {path} HTTP/1.1\r\nHost: {host}\r\nContent-Type: application/json\r\nAccept: \
             application/json, text/event-stream\r\nConnection: close\r\n{more}Content-Length: \
             {}\r\n\r\n{body}",
            body.len()
        )
    };
    let origin = |origin: &str| format!("Origin: {origin}\r\n");
    let long = "x".repeat(20 << 20);
    let table = [
        (post("/t/guessed/mcp", address, "", ping), "404", "a path that nobody was told"),
        (post("/", address, "", ping), "404", "nothing lists the paths"),
        (post(path, "evil.example", "", ping), "403", "another host: DNS rebinding"),
        (post(path, address, &origin("http://evil.example"), ping), "403", "another origin"),
        (post(path, address, "", "{"), "400", "no JSON"),
        (post(path, address, "", "[]"), "400", "a batch"),
        (post(path, address, "", ""), "400", "nothing"),
        (post(path, address, "", &long), "413", "too long"),
        (post(path, address, &origin("http://localhost:6274"), ping), "200", "a page of ours"),
    ];
    for (request, expected, why) in table {
        let line = raw(address, &request).await;
        assert!(line.contains(&format!(" {expected}")), "{why}: {line}");
    }
    let refused =
        place.wildgym(&["serve", "mcp", suite.to_str().unwrap(), "--listen", "0.0.0.0:0"]);
    assert_eq!(refused.code, Some(2), "{}", refused.err);
    assert!(refused.err.contains("--allow-remote"), "{}", refused.err);
    assert_eq!(server.stop().await, Some(0));
}

#[test]
fn what_cannot_be_served_is_said() {
    let place = Place::new();
    let suite = place.suite(2);
    let suite = suite.to_str().unwrap();
    let table: &[(&[&str], &str)] = &[
        (&["serve", "mcp", suite, "--tasks", "*"], "one client has one"),
        (&["serve", "mcp", suite, "--task", "nothing"], "no task"),
        (&["serve", "mcp", suite, "-k", "2"], "there is one sandbox"),
        (&["serve", "mcp", "nowhere"], "there is no suite"),
        (&["serve", "mcp", suite, "--world", "nowhere"], "there is no world"),
    ];
    for (args, expected) in table {
        let ran = place.wildgym(args);
        assert_eq!(ran.code, Some(2), "{args:?}: {}", ran.err);
        assert!(ran.err.contains(expected) && ran.out.is_empty(), "{args:?}: {}", ran.err);
    }
}

/// Every client's configuration names the command with paths that hold anywhere.
#[test]
fn snippets_can_be_pasted() {
    let place = Place::new();
    suite::write(place.path());
    for client in
        ["claude-desktop", "cursor", "vscode", "codex", "openai-agents", "python", "typescript"]
    {
        let args = ["serve", "mcp", "suite", "--task", "mc-sum", "--snippet", client];
        let ran = place.wildgym(&args);
        assert_eq!(ran.code, Some(0), "{client}: {}", ran.err);
        let folder = place.path().join("suite");
        assert!(ran.out.contains(folder.to_str().unwrap()), "{client}: {}", ran.out);
        assert!(!ran.out.contains("--snippet"), "{client}: {}", ran.out);
        if client == "claude-desktop" {
            let read: Value = serde_json::from_str(&ran.out).unwrap();
            assert!(read["mcpServers"]["wildgym"]["command"].is_string(), "{read}");
        }
    }
}
