//! What is asked twice at one moment, refused for now, lost, or under way when the server stops.

use std::time::Duration;

use futures::future::join_all;
use serde_json::{Value, json};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;

use super::server::{Server, TASK, look_up};

/// Which chances a training run meets must not depend on how often it had to ask.
#[tokio::test]
async fn what_is_refused_takes_no_seed_and_no_attempt() {
    let server = Server::start(&["--tasks", "t1-00*", "--sessions", "2"]);
    let first = server.open(TASK, 2, None).await;
    let asked = |count: u32, episode: Value| json!({ "count": count, "episode": episode });
    let refused = [
        asked(1, json!({ "task": TASK })),
        asked(2, json!({ "task": TASK })),
        asked(1, json!({ "task": TASK, "seed": 2 })),
        asked(3, json!({ "task": TASK, "seed": 2 })),
    ];
    for body in &refused {
        let answer = server.ask("POST", "/v1/sessions", body).await;
        assert_eq!((answer.status, answer.code()), (429, "too-many-sessions"), "{body}");
    }
    server.done("DELETE", &format!("/v1/sessions/{}", first[0]), &Value::Null).await;
    let opened = server.done("POST", "/v1/sessions", &refused[0]).await;
    let episode = &opened["sessions"][0]["episode"];
    assert_eq!((&episode["seed"], &episode["attempt"]), (&json!(2), &json!(1)), "{episode}");
    assert_eq!(server.done("GET", "/v1/status", &Value::Null).await["sessions"], 2);
}

/// A step with a number is done once, however many ask for it at the same moment, and each of
/// them is told what came of it.
#[tokio::test]
async fn a_numbered_step_is_one_step_for_all_who_ask_at_once() {
    let server = Server::start(&["--tasks", "t1-00*"]);
    let session = server.open(TASK, 1, None).await.remove(0);
    for step in 1..=40 {
        let mut body = look_up();
        body["step"] = json!(step);
        let answers = join_all((0..8).map(|_| server.step(&session, &body))).await;
        for answer in &answers {
            assert_eq!((answer.status, &answer.body), (200, &answers[0].body), "step {step}");
        }
        assert_eq!(answers[0].body["step"], step);
    }
    let judged = server.act(&session, "evaluate").await;
    assert_eq!(judged["parts"]["calls"], 40, "{judged}");
}

/// An episode that cannot be written is lost, and whoever looks at it sees that it is over.
#[tokio::test]
async fn an_episode_that_cannot_be_written_is_seen_to_be_lost() {
    let server = Server::start(&["--tasks", "t1-00*"]);
    let session = server.open(TASK, 1, None).await.remove(0);
    server.step(&session, &look_up()).await;
    // Long results go to files beside the transcript; nothing can be put there from now on.
    let blobs = server.run().join("blobs");
    std::fs::remove_dir_all(&blobs).unwrap();
    std::fs::write(&blobs, "").unwrap();
    let all = json!({ "name": "crm_search_contacts", "arguments": { "limit": 50 } });
    let broken = server.step(&session, &json!({ "calls": [all] })).await;
    assert_eq!((broken.status, broken.code()), (500, "broken"), "{}", broken.body);
    let seen = server.done("GET", &format!("/v1/sessions/{session}"), &Value::Null).await;
    assert_eq!(
        (&seen["truncated"], &seen["terminated"], &seen["outcome"]),
        (&json!(true), &json!(false), &json!("lost:harness")),
        "{seen}"
    );
    assert_eq!(server.step(&session, &look_up()).await.code(), "over");
    let judged = server.act(&session, "evaluate").await;
    assert_eq!((&judged["reward"], &judged["truncated"]), (&Value::Null, &json!(true)));
}

/// What is under way when the server is stopped is stopped with it, whoever waits is told, and
/// the episode stands in the run as interrupted.
#[tokio::test]
async fn a_stopping_server_tells_who_waits() {
    let server = Server::of("starter", &["--tasks", "ct-freight-claim"]);
    let sessions = server.open("ct-freight-claim", 2, None).await;
    let call = json!({ "name": "execute_code", "arguments": { "code": "while True: pass" } });
    let endless = json!({ "calls": [call] });
    let (steps, ()) = tokio::join!(
        join_all(sessions.iter().map(|session| server.step(session, &endless))),
        async {
            while server.done("GET", "/v1/status", &Value::Null).await["working"] != 2 {
                tokio::time::sleep(Duration::from_millis(20)).await;
            }
            server.interrupt();
            // It still answers, and takes in nothing more.
            let late = server.ask("POST", "/v1/sessions", &Value::Null).await;
            assert!(
                late.status == 200 || (late.status, late.code()) == (503, "stopping"),
                "{}",
                late.body
            );
        }
    );
    for step in steps {
        assert_eq!(step.status, 200, "{}", step.body);
        assert_eq!(
            (&step.body["truncated"], &step.body["outcome"]),
            (&json!(true), &json!("lost:interrupted")),
            "{}",
            step.body
        );
    }
    assert_eq!(server.ended(), Some(0));
    let show = server.place.wildgym(&["show", "runs/r"]);
    assert_eq!(show.out.matches("lost:interrupted").count(), 2, "{}", show.out);
}

/// A server that cannot listen leaves no run behind.
#[tokio::test]
async fn a_port_that_is_taken_leaves_nothing_behind() {
    let server = Server::start(&["--tasks", "t1-00*"]);
    let address = server.url.trim_start_matches("http://");
    for protocol in ["http", "mcp"] {
        let second = ["serve", protocol, "enterprise", "--listen", address, "--tasks", "t1-001"];
        let refused = server.place.wildgym(&[&second[..], &["--name", "second"]].concat());
        assert_eq!(refused.code, Some(2), "{}", refused.err);
        assert!(refused.err.contains("cannot listen"), "{}", refused.err);
        assert!(!server.place.path().join("runs/second").exists());
    }
}

/// A request whose head was sent, and of its body nothing yet.
struct Begun(TcpStream);

impl Begun {
    /// Begins a step with a large body, as the agent.
    async fn open(server: &Server, path: &str, length: usize) -> Self {
        let address = server.url.trim_start_matches("http://");
        let mut stream = TcpStream::connect(address).await.unwrap();
        let head = format!(
            "POST {path} HTTP/1.1\r\nhost: {address}\r\nauthorization: Bearer {}\r\n\
             expect: 100-continue\r\ncontent-length: {length}\r\n\r\n",
            server.agent
        );
        stream.write_all(head.as_bytes()).await.unwrap();
        Self(stream)
    }

    /// Waits until the server says something.
    async fn hear(&mut self) -> String {
        let mut buffer = vec![0; 1 << 16];
        let read = self.0.read(&mut buffer).await.unwrap();
        String::from_utf8(buffer[..read].to_vec()).unwrap()
    }

    /// Waits until the server reads the body.
    async fn is_read(&mut self) {
        let said = self.hear().await;
        assert!(said.starts_with("HTTP/1.1 100 "), "{said}");
    }
}

/// Large bodies take memory, so few of them are read at once; who never sends the rest of
/// theirs holds up neither small requests nor the trainer.
#[tokio::test]
async fn bodies_that_never_come_keep_out_other_large_ones_of_agents_and_nothing_else() {
    let server = Server::start(&["--tasks", "t1-00*"]);
    let session = server.open(TASK, 1, None).await.remove(0);
    let path = format!("/v1/sessions/{session}/step");
    let large = format!("{}{}", look_up(), " ".repeat(100_000));
    let mut begun = Vec::new();
    for _ in 0..16 {
        let mut one = Begun::open(&server, &path, large.len()).await;
        one.is_read().await;
        begun.push(one);
    }
    let mut waiting = Begun::open(&server, &path, large.len()).await;
    let small = look_up().to_string().into_bytes();
    let seen = server.send(("POST", &path), Some(&server.agent), small).await;
    assert_eq!((seen.status, &seen.body["step"]), (200, &json!(1)), "{}", seen.body);
    let seen = server.send(("POST", &path), Some(&server.token), large.clone().into()).await;
    assert_eq!((seen.status, &seen.body["step"]), (200, &json!(2)), "{}", seen.body);
    let silent = waiting.0.try_read(&mut [0]).unwrap_err();
    assert_eq!(silent.kind(), std::io::ErrorKind::WouldBlock, "the turns are taken");
    // One gives up, and its turn is the next one's.
    drop(begun.pop());
    waiting.is_read().await;
    waiting.0.write_all(large.as_bytes()).await.unwrap();
    let said = waiting.hear().await;
    assert!(said.starts_with("HTTP/1.1 200 "), "{said}");
}
