//! What is wrong gets a clear answer, and costs nobody else anything.

use serde_json::{Value, json};

use super::server::{Server, TASK, look_up, right};

/// Who sends which method to which path with which body; status, code, and why.
type Row<'a> = (Who, &'a str, String, String, u16, &'a str, &'a str);

/// Who asks, in a row of a table.
#[derive(Debug, Clone, Copy)]
enum Who {
    Trainer,
    Agent,
    Nobody,
    Stranger,
}

#[tokio::test]
async fn what_is_wrong_is_said() {
    use Who::{Agent, Nobody, Stranger, Trainer};
    let server = Server::start(&["--tasks", "t1-00*"]);
    let empty = server.done("POST", "/v1/sessions", &Value::Null).await;
    let empty = empty["sessions"][0]["session"].as_str().unwrap().to_owned();
    let open = server.open(TASK, 2, None).await;
    let (closed, open) = (&open[0], &open[1]);
    server.done("DELETE", &format!("/v1/sessions/{closed}"), &Value::Null).await;
    let step = |id: &str| format!("/v1/sessions/{id}/step");
    let deep = ["[".repeat(100_000), "]".repeat(100_000)].concat();
    let deep = format!("{{\"calls\": [{{\"name\": \"x\", \"arguments\": {deep}}}]}}");
    let huge = format!("{{\"answer\": \"{}\"}}", "x".repeat(9 << 20));
    let one = look_up().to_string();
    let both = json!({ "calls": look_up()["calls"], "answer": "x" }).to_string();
    let many = json!({ "calls": vec![json!({ "name": "x" }); 129] }).to_string();
    let reset = |task: Value| json!({ "task": task }).to_string();
    let seeded = |seed: Value| json!({ "task": TASK, "seed": seed }).to_string();
    #[rustfmt::skip]
    let table: Vec<Row<'_>> = vec![
        (Nobody, "GET", "/v1/tasks".into(), String::new(), 401, "unauthorized", "no token"),
        (Stranger, "POST", step(open), one.clone(), 401, "unauthorized", "a wrong token"),
        (Nobody, "POST", step(open), huge.clone(), 401, "unauthorized", "read nothing of theirs"),
        (Agent, "GET", "/v1/tasks".into(), String::new(), 403, "forbidden", "the agent"),
        (Agent, "POST", "/v1/sessions".into(), String::new(), 403, "forbidden", "the agent"),
        (Agent, "POST", format!("/v1/sessions/{open}/evaluate"), String::new(), 403, "forbidden", "the agent"),
        (Agent, "POST", format!("/v1/sessions/{open}/reset"), reset(json!(TASK)), 403, "forbidden", "the agent"),
        (Agent, "DELETE", format!("/v1/sessions/{open}"), String::new(), 403, "forbidden", "the agent"),
        (Agent, "POST", "/v1/batch".into(), "{\"requests\": []}".into(), 403, "forbidden", "the agent"),
        (Trainer, "POST", step("0123"), one.clone(), 404, "no-session", "an id that never was"),
        (Trainer, "POST", step("%2e%2e%2f"), one.clone(), 404, "no-session", "an id that is a path"),
        (Trainer, "GET", "/v1/sessions/%ff".into(), String::new(), 400, "malformed", "an id that is no text"),
        (Trainer, "POST", step(closed), one.clone(), 410, "gone", "closed"),
        (Trainer, "DELETE", format!("/v1/sessions/{closed}"), String::new(), 410, "gone", "closed twice"),
        (Trainer, "POST", step(&empty), one.clone(), 409, "no-episode", "before a reset"),
        (Trainer, "POST", format!("/v1/sessions/{empty}/evaluate"), String::new(), 409, "no-episode", "before a reset"),
        (Trainer, "POST", step(open), "{\"calls\": [".into(), 400, "malformed", "cut short"),
        (Trainer, "POST", step(open), "\u{0}\u{1}".into(), 400, "malformed", "no JSON"),
        (Trainer, "POST", step(open), deep, 400, "malformed", "too deep"),
        (Trainer, "POST", step(open), huge, 413, "too-large", "too large"),
        (Trainer, "POST", step(open), "[1]".into(), 422, "invalid", "no object"),
        (Trainer, "POST", step(open), String::new(), 422, "invalid", "nothing to do"),
        (Trainer, "POST", step(open), both, 422, "invalid", "two things"),
        (Trainer, "POST", step(open), many, 422, "invalid", "too many calls"),
        (Trainer, "POST", step(open), "{\"calls\": []}".into(), 422, "invalid", "no call"),
        (Trainer, "POST", step(open), "{\"calls\": [{\"name\": 1}]}".into(), 422, "invalid", "a name that is none"),
        (Trainer, "POST", step(open), "{\"act\": 1}".into(), 422, "invalid", "a field that is none"),
        (Trainer, "POST", step(open), "{\"step\": -1, \"answer\": \"\"}".into(), 422, "invalid", "no number"),
        (Trainer, "POST", "/v1/sessions".into(), "{\"count\": 0}".into(), 422, "invalid", "none"),
        (Trainer, "POST", "/v1/sessions".into(), "{\"count\": 257}".into(), 422, "invalid", "too many at once"),
        (Trainer, "POST", format!("/v1/sessions/{empty}/reset"), reset(json!("t9-999")), 404, "no-task", "no such task"),
        (Trainer, "POST", format!("/v1/sessions/{empty}/reset"), reset(json!("t3-001")), 404, "no-task", "a task that is not served"),
        (Trainer, "POST", format!("/v1/sessions/{empty}/reset"), seeded(json!(0)), 422, "invalid", "a seed too small"),
        (Trainer, "POST", format!("/v1/sessions/{empty}/reset"), seeded(json!(1_000_001)), 422, "invalid", "a seed too large"),
        (Trainer, "POST", format!("/v1/sessions/{empty}/reset"), "{\"task\": \"t1-001\", \"idealise\": [\"rain\"]}".into(), 422, "invalid", "no factor"),
        (Trainer, "GET", "/v1/tasks/t9-999/tools".into(), String::new(), 404, "no-task", "tools of no task"),
        (Trainer, "GET", "/v2/tasks".into(), String::new(), 404, "no-route", "no route"),
        (Trainer, "GET", "/create".into(), String::new(), 404, "no-route", "a dialect that is not spoken"),
        (Trainer, "PUT", "/v1/sessions".into(), String::new(), 405, "no-method", "another method"),
    ];
    for (who, method, path, body, status, code, why) in table {
        let token = match who {
            Trainer => Some(server.token.as_str()),
            Agent => Some(server.agent.as_str()),
            Nobody => None,
            Stranger => Some("0000000000000000"),
        };
        let got = server.send((method, &path), token, body.into_bytes()).await;
        assert_eq!((got.status, got.code()), (status, code), "{why}: {}", got.body);
        let said = got.body["error"]["message"].as_str().unwrap();
        assert!(!said.is_empty() && said.len() < 500, "{why}: {said}");
    }
    // And none of it has done anything to the session that is open.
    server.step(open, &look_up()).await;
    let seen = server.step(open, &right()).await.body;
    assert_eq!((&seen["step"], &seen["outcome"]), (&json!(2), &json!("answered")));
    let judged = server.act(open, "evaluate").await;
    assert_eq!((&judged["reward"], &judged["parts"]["calls"]), (&json!(1.0), &json!(1)));
}

/// Load that cannot be carried is refused with a time to come again, and what was let in is
/// done.
#[tokio::test]
async fn too_much_is_sent_away_and_not_piled_up() {
    let more = ["--tasks", "t1-00*", "--sessions", "40", "--at-once", "1", "--queue", "3"];
    let server = Server::start(&more);
    let sessions = server.open(TASK, 40, None).await;
    let full = server.ask("POST", "/v1/sessions", &Value::Null).await;
    assert_eq!((full.status, full.code()), (429, "too-many-sessions"), "{}", full.body);
    assert!(full.retry_after.is_some(), "it says when to come again");
    let mut left = sessions.clone();
    let mut refused = 0;
    while !left.is_empty() {
        let look_up = look_up();
        let steps = left.iter().map(|session| server.step(session, &look_up));
        let answers = futures::future::join_all(steps).await;
        let mut again = Vec::new();
        for (session, answer) in left.into_iter().zip(answers) {
            match answer.status {
                200 => assert_eq!(answer.body["step"], 1),
                503 => {
                    assert_eq!(answer.code(), "overloaded", "{}", answer.body);
                    assert!(answer.retry_after.is_some(), "it says when to come again");
                    refused += 1;
                    again.push(session);
                }
                status => panic!("{status}: {}", answer.body),
            }
        }
        left = again;
    }
    assert!(refused > 0, "40 at once do not fit into a line of 3");
    let status = server.done("GET", "/v1/status", &Value::Null).await;
    assert_eq!((&status["working"], &status["waiting"]), (&json!(0), &json!(0)), "{status}");
    server.done("DELETE", &format!("/v1/sessions/{}", sessions[0]), &Value::Null).await;
    server.done("POST", "/v1/sessions", &Value::Null).await;
}

/// What the server is told wrong it says before it begins.
#[test]
fn a_server_that_cannot_be_is_not_started() {
    let place = super::common::Place::new();
    std::fs::write(place.path().join("empty"), "\n").unwrap();
    std::fs::write(place.path().join("short"), "abc\n").unwrap();
    std::fs::write(place.path().join("twice"), "0123456789abcdef\n0123456789abcdef\n").unwrap();
    let table: [(&[&str], &str); 6] = [
        (&["--listen", "nowhere:80"], "an address and a port are needed, such as `127.0.0.1:8642`"),
        (&["--listen", "0.0.0.0:0"], "can be reached from other machines"),
        (&["--token-file", "nowhere"], "cannot read `nowhere`"),
        (&["--token-file", "empty"], "has no token in its first line"),
        (&["--token-file", "short"], "at least 16 characters"),
        (&["--token-file", "twice"], "are the same"),
    ];
    for (more, want) in table {
        let ran = place.wildgym(&[&["serve", "http", "enterprise"], more].concat());
        assert_eq!(ran.code, Some(2), "{want}: {}", ran.err);
        assert!(ran.err.contains(want), "{want}: {}", ran.err);
    }
}

/// The document tells the routes that there are: each asks for a token, none is missing.
#[tokio::test]
async fn the_document_tells_what_is_served() {
    let server = Server::start(&["--tasks", "t1-00*"]);
    let document = server.send(("GET", "/openapi.json"), None, Vec::new()).await;
    assert_eq!(document.status, 200);
    let paths = document.body["paths"].as_object().unwrap();
    assert!(paths.len() >= 8, "{paths:?}");
    for (path, methods) in paths {
        for (method, operation) in methods.as_object().unwrap() {
            let path = path.replace("{id}", "x");
            let got = server.send((&method.to_uppercase(), &path), None, Vec::new()).await;
            assert_eq!(got.code(), "unauthorized", "{method} {path}: {}", got.body);
            assert!(operation["summary"].is_string(), "{operation}");
        }
    }
}
