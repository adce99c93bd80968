//! 100,000 calls by 64 clients: no reply is lost, doubled or swapped.

use std::collections::BTreeSet;
use std::time::Instant;

use futures::future::join_all;
use serde_json::{Value, json};
use tokio::io::{AsyncBufReadExt, AsyncReadExt, AsyncWriteExt, BufReader};
use tokio::net::TcpStream;

use crate::common::Place;
use crate::stage::{Listening, Proxied, call, profile};

/// Clients at once.
const CLIENTS: usize = 64;

/// Returns the calls of each client: all of them on request, else a few.
fn each() -> usize {
    let all = std::env::var("WILDGYM_BARS").is_ok_and(|value| value == "1");
    if all { 100_000_usize.div_ceil(CLIENTS) } else { 20 }
}

/// A profile under which every third call or so is answered by the proxy itself.
fn mixed(place: &Place) -> String {
    let entry = "operator = \"explicit-error\"\npersistence = \"transient\"\n\
                 [[entry]]\nweight = 1\noperator = \"minor-mistake\"\npersistence = \"transient\"";
    profile(place, "mixed", entry, "rate = 0.5")
}

/// Says whether a reply is that to the call of `text`: it has its id, and its text or one that
/// a fault made.
fn belongs(reply: &Value, id: &Value, text: &str) -> bool {
    let said = reply["result"]["content"][0]["text"].as_str().unwrap_or_default();
    let faulted = !reply["result"]["_meta"]["wildgym/fault"].is_null();
    reply["id"] == *id && (said == text || faulted)
}

/// One connection of its own for each client; all use the same ids.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn over_http() {
    let place = Place::new();
    let upstream = echoing().await;
    let proxy = Listening::start(&place, &["--profile", &mixed(&place)], &upstream);
    let address = proxy.url.trim_start_matches("http://").trim_end_matches("/mcp").to_owned();
    let (each, begun) = (each(), Instant::now());
    let clients = (0..CLIENTS).map(|client| {
        let address = address.clone();
        tokio::spawn(async move {
            let mut stream = BufReader::new(TcpStream::connect(&address).await.unwrap());
            stream.get_ref().set_nodelay(true).unwrap();
            let mut plain = 0;
            for number in 0..each {
                let (id, text) = (json!(number), format!("client {client} asks number {number}"));
                let body = call(id.clone(), "echo", json!({ "text": text })).to_string();
                let head = format!(
                    "POST /mcp HTTP/1.1\r\nhost: {address}\r\ncontent-type: application/json\r\n\
                     accept: application/json, text/event-stream\r\ncontent-length: {}\r\n\r\n",
                    body.len()
                );
                stream.get_mut().write_all((head + &body).as_bytes()).await.unwrap();
                let reply = response(&mut stream).await;
                assert!(belongs(&reply, &id, &text), "{text}: {reply}");
                plain += usize::from(reply["result"]["_meta"].is_null());
            }
            plain
        })
    });
    let plain: usize = join_all(clients).await.into_iter().map(Result::unwrap).sum();
    let all = each * CLIENTS;
    assert!(plain > all / 3 && plain < all, "{plain} of {all} without a fault");
    println!("{all} calls over HTTP in {:.1?}, {plain} without a fault", begun.elapsed());
}

/// Reads a response of HTTP that has a length.
async fn response(stream: &mut BufReader<TcpStream>) -> Value {
    let (mut length, mut line, mut chunked) = (0, String::new(), false);
    loop {
        line.clear();
        assert!(stream.read_line(&mut line).await.unwrap() > 0, "the connection was closed");
        let lower = line.trim().to_ascii_lowercase();
        if lower.is_empty() {
            break;
        }
        if let Some(value) = lower.strip_prefix("content-length:") {
            length = value.trim().parse().unwrap();
        }
        chunked |= lower == "transfer-encoding: chunked";
    }
    let mut body = Vec::new();
    if chunked {
        loop {
            line.clear();
            stream.read_line(&mut line).await.unwrap();
            let size = usize::from_str_radix(line.trim(), 16).unwrap();
            let mut part = vec![0; size + 2];
            stream.read_exact(&mut part).await.unwrap();
            if size == 0 {
                break;
            }
            body.extend_from_slice(&part[..size]);
        }
    } else {
        body.resize(length, 0);
        stream.read_exact(&mut body).await.unwrap();
    }
    serde_json::from_slice(&body).unwrap_or_else(|error| {
        panic!("{error}: {}", String::from_utf8_lossy(&body));
    })
}

/// Starts a server that returns `text`.
async fn echoing() -> String {
    use axum::{Json, Router, routing::post};
    let answer = |Json(asked): Json<Value>| async move {
        let text = &asked["params"]["arguments"]["text"];
        let result = json!({ "content": [{ "type": "text", "text": text }] });
        Json(json!({ "jsonrpc": "2.0", "id": asked["id"], "result": result }))
    };
    let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
    let url = format!("http://{}/mcp", listener.local_addr().unwrap());
    let routes = Router::new().route("/mcp", post(answer));
    tokio::spawn(async move { axum::serve(listener, routes).await });
    url
}

/// 64 calls in flight at once over one pair of pipes, each under an id of its own.
#[test]
fn over_pipes() {
    let place = Place::new();
    let mut proxy = Proxied::start(&place, &["--profile", &mixed(&place)], &[]);
    let (all, begun) = (each() * CLIENTS, Instant::now());
    let text = |number: u64| format!("number {number} of many");
    let (mut sent, mut open, mut plain) = (0_u64, BTreeSet::new(), 0);
    while sent < all as u64 || !open.is_empty() {
        while open.len() < CLIENTS && sent < all as u64 {
            proxy.send(&call(sent, "echo", json!({ "text": text(sent) })));
            open.insert(sent);
            sent += 1;
        }
        let reply = proxy.next();
        let number = reply["id"].as_u64().unwrap();
        assert!(open.remove(&number), "{number} is answered twice, or was never asked");
        assert!(belongs(&reply, &reply["id"], &text(number)), "{reply}");
        plain += usize::from(reply["result"]["_meta"].is_null());
    }
    proxy.hush();
    assert_eq!(proxy.rest(), b"");
    assert!(plain > all / 3 && plain < all, "{plain} of {all} without a fault");
    println!("{all} calls over pipes in {:.1?}, {plain} without a fault", begun.elapsed());
}
