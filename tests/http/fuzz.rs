//! Anything may be sent to any route: each gets a JSON answer, and the server lives.
//!
//! Some hundred requests, or, with `WILDGYM_BARS` set, as many as fit into
//! `WILDGYM_FUZZ_SECONDS` (an hour).

use std::time::{Duration, Instant};

use futures::future::join_all;
use proptest::prelude::*;
use proptest::strategy::ValueTree;
use proptest::test_runner::{Config, RngAlgorithm, TestRng, TestRunner};
use serde_json::Value;

use super::server::{Server, TASK, look_up, right};

/// Requests that are sent at once.
const AT_ONCE: usize = 16;

/// One request: method, path, whose token, body. `@` in the path stands for a session.
type Sent = (&'static str, String, u8, Vec<u8>);

fn methods() -> impl Strategy<Value = &'static str> {
    prop::sample::select(vec!["GET", "POST", "POST", "POST", "DELETE", "PUT", "PATCH", "HEAD"])
        .prop_map(|method| if method == "HEAD" { "OPTIONS" } else { method })
}

fn paths() -> impl Strategy<Value = String> {
    let known = [
        "/v1/sessions",
        "/v1/sessions/@",
        "/v1/sessions/@/step",
        "/v1/sessions/@/step",
        "/v1/sessions/@/reset",
        "/v1/sessions/@/evaluate",
        "/v1/batch",
        "/v1/tasks",
        "/v1/tasks/t1-001/tools",
        "/v1/status",
        "/openapi.json",
        "/",
        "/create",
        "/step",
        "/reset",
        "/close",
        "/observation?id=0",
        "/observation?env_idx=1",
        "/detail?id=999999",
        "/list_envs",
    ];
    let known = prop::sample::select(known.map(str::to_owned).to_vec());
    let any = "(/[a-z0-9%@._~?=&-]{0,12}){1,5}".prop_map(|path| {
        // Lone percent signs are no address that a client would send.
        path.replace('%', "%25")
    });
    prop_oneof![4 => known, 1 => any]
}

/// JSON that is nearly right: the fields that there are, with values of all kinds.
fn json() -> impl Strategy<Value = Value> {
    let text = prop::sample::select(
        [
            "@",
            TASK,
            "step",
            "reset",
            "evaluate",
            "close",
            "observe",
            "bias",
            "crm_search_contacts",
            "",
            "\u{0}",
            "鱼",
            "<final_answer>x</final_answer>",
            "Action: crm_search_contacts {}",
        ]
        .map(str::to_owned)
        .to_vec(),
    );
    let leaf = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        any::<i64>().prop_map(Value::from),
        (0_u64..4).prop_map(Value::from),
        any::<f64>().prop_map(Value::from),
        text.prop_map(Value::from),
        "\\PC{0,40}".prop_map(Value::from),
    ];
    let fields = prop::sample::select(vec![
        "count",
        "episode",
        "task",
        "seed",
        "idealise",
        "step",
        "calls",
        "answer",
        "message",
        "content",
        "tool_calls",
        "function",
        "name",
        "arguments",
        "id",
        "requests",
        "session",
        "op",
        "body",
        "env_idx",
        "action",
        "data_idx",
        "query",
    ]);
    leaf.prop_recursive(4, 48, 6, move |inner| {
        let object = prop::collection::vec((fields.clone(), inner.clone()), 0..6);
        prop_oneof![
            prop::collection::vec(inner, 0..6).prop_map(Value::from),
            object.prop_map(|fields| {
                Value::Object(
                    fields.into_iter().map(|(name, value)| (name.to_owned(), value)).collect(),
                )
            }),
        ]
    })
}

fn bodies() -> impl Strategy<Value = Vec<u8>> {
    let whole = json().prop_map(|value| value.to_string().into_bytes());
    let right = prop::sample::select(vec![look_up(), right()])
        .prop_map(|value| value.to_string().into_bytes());
    let torn = (json(), any::<prop::sample::Index>()).prop_map(|(value, end)| {
        let bytes = value.to_string().into_bytes();
        let end = end.index(bytes.len() + 1);
        bytes[..end].to_vec()
    });
    prop_oneof![
        5 => whole,
        3 => right,
        1 => torn,
        1 => prop::collection::vec(any::<u8>(), 0..200),
    ]
}

fn requests() -> impl Strategy<Value = Vec<Sent>> {
    prop::collection::vec((methods(), paths(), 0_u8..8, bodies()), AT_ONCE)
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn whatever_is_sent_is_answered() {
    let bars = std::env::var_os("WILDGYM_BARS").is_some();
    let seconds = std::env::var("WILDGYM_FUZZ_SECONDS").ok().and_then(|text| text.parse().ok());
    let end = Duration::from_secs(if bars { seconds.unwrap_or(3600) } else { 0 });
    let server = Server::start(&[
        "--tasks",
        "t1-00*",
        "--agentgym-compat",
        "--idle-seconds",
        "5",
        "--sessions",
        "50000",
    ]);
    let seed: [u8; 32] = if bars { rand_seed() } else { [7; 32] };
    println!("seed {seed:?}");
    let rng = TestRng::from_seed(RngAlgorithm::ChaCha, &seed);
    let mut runner = TestRunner::new_with_rng(Config::default(), rng);
    let strategy = requests();
    let mut sessions = server.open(TASK, 8, None).await;
    let (began, mut sent) = (Instant::now(), 0_u64);
    while sent < 1600 || began.elapsed() < end {
        let batch = strategy.new_tree(&mut runner).unwrap().current();
        let answers = batch.iter().enumerate().map(|(place, (method, path, who, body))| {
            let session = &sessions[(sent as usize + place) % sessions.len()];
            let path = path.replace('@', session);
            let body = replace(body, session);
            let token = match who {
                0 => None,
                1 => Some(server.agent.as_str()),
                _ => Some(server.token.as_str()),
            };
            let server = &server;
            async move { (method, server.send((method, &path), token, body).await) }
        });
        for ((method, answer), (_, path, _, body)) in
            join_all(answers).await.into_iter().zip(&batch)
        {
            let fine = answer.status < 500 || answer.status == 503;
            let body = String::from_utf8_lossy(body);
            assert!(fine, "{method} {path} {body}: {} {}", answer.status, answer.body);
        }
        sent += AT_ONCE as u64;
        if sent % 400 == 0 {
            // Sessions get lost on the way, as they should.
            for session in &sessions {
                server.ask("DELETE", &format!("/v1/sessions/{session}"), &Value::Null).await;
            }
            let status = server.done("GET", "/v1/status", &Value::Null).await;
            assert_eq!(
                (&status["working"], &status["waiting"]),
                (&0.into(), &0.into()),
                "{status}"
            );
            sessions = server.open(TASK, 8, None).await;
        }
    }
    let session = server.open(TASK, 1, None).await.remove(0);
    server.step(&session, &look_up()).await;
    server.step(&session, &right()).await;
    assert_eq!(server.act(&session, "evaluate").await["reward"], 1.0, "it lives and is right");
    println!("{sent} requests in {:?}, none unanswered", began.elapsed());
}

/// Puts a session's id in place of `"@"`.
fn replace(body: &[u8], session: &str) -> Vec<u8> {
    match std::str::from_utf8(body) {
        Ok(text) => text.replace("\"@\"", &format!("\"{session}\"")).into_bytes(),
        Err(_) => body.to_vec(),
    }
}

fn rand_seed() -> [u8; 32] {
    let now = std::time::SystemTime::UNIX_EPOCH.elapsed().unwrap();
    *blake3::hash(&now.as_nanos().to_le_bytes()).as_bytes()
}
