//! Episodes over HTTP: what a trainer relies on, by the real server and a real socket.

#![expect(clippy::unwrap_used, reason = "what fails here fails the story")]

#[path = "../common/mod.rs"]
mod common;
mod crowd;
mod dialect;
mod fuzz;
mod kept;
mod moments;
mod refusals;
mod server;

use std::path::Path;
use std::process::Command;

use common::{timeless, transcripts};
use serde_json::{Value, json};

use server::{Server, TASK, look_up, right};

/// Calls of one step are made at once and come back in the order asked; the answer ends the
/// episode; the trainer learns once what it is worth, and the agent never.
#[tokio::test]
async fn an_episode_from_reset_to_reward() {
    let server = Server::start(&["--tasks", "t1-00*"]);
    let tasks = server.done("GET", "/v1/tasks", &Value::Null).await;
    assert_eq!(tasks["tasks"].as_array().unwrap().len(), 9, "those that are selected");
    let tools = server.done("GET", &format!("/v1/tasks/{TASK}/tools"), &Value::Null).await;
    let names: Vec<&str> = tools["tools"]
        .as_array()
        .unwrap()
        .iter()
        .map(|tool| tool["function"]["name"].as_str().unwrap())
        .collect();
    assert!(names.contains(&"crm_search_contacts"), "{names:?}");

    let asked = json!({ "episode": { "task": TASK } });
    let opened = server.done("POST", "/v1/sessions", &asked).await;
    let seen = &opened["sessions"][0];
    let session = seen["session"].as_str().unwrap();
    assert!(session.len() == 32, "an id that nobody guesses: {session}");
    assert!(seen["told"]["user"].as_str().unwrap().contains("Priya Raman"), "{seen}");
    assert_eq!(seen["episode"], json!({"task": TASK, "variant": "full", "seed": 1, "attempt": 1}));

    let mut step = look_up();
    step["calls"].as_array_mut().unwrap().insert(0, json!({ "id": "a", "name": "no_such" }));
    let agent = Some(server.agent.as_str());
    let path = format!("/v1/sessions/{session}/step");
    let seen = server.send(("POST", &path), agent, step.to_string().into()).await.body;
    assert_eq!(seen["results"][0]["id"], "a", "{seen}");
    assert_eq!(seen["results"][0]["error"], "unknown-tool");
    assert_eq!(seen["results"][1]["id"], "call_2");
    assert!(seen["results"][1]["content"].as_str().unwrap().contains("priya.raman@"), "{seen}");
    assert_eq!((&seen["step"], &seen["terminated"]), (&json!(1), &json!(false)));

    let seen = server.step(session, &right()).await.body;
    assert_eq!(
        (&seen["terminated"], &seen["truncated"], &seen["outcome"]),
        (&json!(true), &json!(false), &json!("answered"))
    );
    let judged = server.act(session, "evaluate").await;
    assert_eq!((&judged["reward"], &judged["verdict"]), (&json!(1.0), &json!("pass")), "{judged}");
    let parts = &judged["parts"];
    assert_eq!(parts["expected_calls"], json!({ "right": 1, "of": 1 }), "{parts}");
    assert_eq!(parts["assertions"], json!({ "right": 1, "of": 1 }), "{parts}");
    assert_eq!((&parts["calls"], &parts["failed_calls"]), (&json!(2), &json!(1)), "{parts}");
    let path = format!("/v1/sessions/{session}");
    let again = server.ask("POST", &format!("{path}/evaluate"), &Value::Null).await;
    assert_eq!(again.code(), "evaluated");
    let seen = server.done("GET", &path, &Value::Null).await;
    assert_eq!(seen["evaluation"], judged, "who lost the reply can look it up");
    let seen = server.send(("GET", &path), agent, Vec::new()).await.body;
    assert!(seen.get("evaluation").is_none(), "the agent does not learn it: {seen}");
    server.done("DELETE", &path, &Value::Null).await;

    assert_eq!(server.stop(), Some(0));
    let report = server.place.wildgym(&["report", "runs/r", "--json"]).json();
    assert_eq!(report["trials"]["pass"], 1, "what was done is a run: {report}");
    let show = server.place.wildgym(&["show", "runs/r", &format!("http/{TASK}/full/1")]);
    assert!(show.out.contains("crm_search_contacts"), "{}", show.out);
}

/// An episode that is over needs no answer to be judged, and one that goes on ends there.
#[tokio::test]
async fn an_episode_ends_by_an_answer_a_limit_or_a_verdict() {
    let server = Server::start(&["--tasks", "t1-00*", "--rounds", "2"]);
    let sessions = server.open(TASK, 3, None).await;
    // A limit: the second step is the last.
    let seen = server.step(&sessions[0], &look_up()).await.body;
    assert_eq!(seen["steps_left"], 1);
    let seen = server.step(&sessions[0], &look_up()).await.body;
    let ended = [&seen["terminated"], &seen["truncated"], &seen["outcome"]];
    assert_eq!(ended, [&json!(false), &json!(true), &json!("limit:rounds")], "{seen}");
    assert_eq!(seen["results"].as_array().unwrap().len(), 1, "what was done is told all the same");
    assert_eq!(server.step(&sessions[0], &right()).await.code(), "over");
    let judged = server.act(&sessions[0], "evaluate").await;
    assert_eq!((&judged["reward"], &judged["truncated"]), (&json!(0.0), &json!(true)));
    // Neither call nor answer: once it is a reminder, twice the end.
    let hm = json!({ "message": { "role": "assistant", "content": "Hm." } });
    let seen = server.step(&sessions[1], &hm).await.body;
    assert!(seen["reminder"].as_str().unwrap().contains("<final_answer>"), "{seen}");
    let seen = server.step(&sessions[1], &hm).await.body;
    assert_eq!((&seen["outcome"], &seen["terminated"]), (&json!("no-answer"), &json!(true)));
    // A verdict: it ends as it stands.
    let judged = server.act(&sessions[2], "evaluate").await;
    assert_eq!((&judged["outcome"], &judged["reward"]), (&json!("no-answer"), &json!(0.0)));
    // And the next episode in the same session.
    let path = format!("/v1/sessions/{}/reset", sessions[2]);
    let seen = server.done("POST", &path, &json!({ "task": "t1-002", "seed": 7 })).await;
    assert_eq!((&seen["step"], &seen["episode"]["seed"]), (&json!(0), &json!(7)));
    assert!(seen.get("evaluation").is_none() && seen.get("outcome").is_none(), "{seen}");
}

/// A group shares its seed, and so its chances, with each other and with the trial of that
/// number in a run: same calls, same transcript.
#[tokio::test]
async fn a_group_meets_the_same_chances_as_a_trial_of_a_run() {
    let server = Server::start(&["--tasks", "t2-00*", "--seed", "5"]);
    let ran = server.place.wildgym(&[
        "run",
        "enterprise",
        "--tasks",
        "t2-001",
        "-k",
        "2",
        "--seed",
        "5",
        "--name",
        "whole",
        "-q",
        "--json",
    ]);
    assert_eq!(ran.code, Some(0), "{}", ran.err);
    let of_run = transcripts(&server.place.path().join("runs/whole"));
    let of_run = timeless(&of_run["reference/t2-001/full/2.1.jsonl"]);
    let records: Vec<Value> =
        of_run.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    let calls: Vec<&Value> = records.iter().filter(|record| record["record"] == "call").collect();
    let answer = records.last().unwrap()["answer"].clone();
    for session in server.open("t2-001", 2, Some(2)).await {
        let rounds = calls.iter().map(|call| call["round"].as_u64().unwrap()).max().unwrap();
        for round in 1..=rounds {
            let of_round = calls.iter().filter(|call| call["round"] == round);
            let made: Vec<Value> = of_round
                .map(|call| json!({ "name": call["tool"], "arguments": call["arguments"] }))
                .collect();
            let seen = server.step(&session, &json!({ "calls": made })).await;
            assert_eq!(seen.status, 200, "{}", seen.body);
        }
        server.step(&session, &json!({ "answer": answer })).await;
        let judged = server.act(&session, "evaluate").await;
        assert_eq!(judged["reward"], 1.0, "{judged}");
    }
    let of_group = transcripts(&server.run());
    assert_eq!(of_group.len(), 2);
    for transcript in of_group.values() {
        let mut theirs: Vec<Value> = timeless(transcript)
            .lines()
            .map(|line| serde_json::from_str(line).unwrap())
            .filter(|record: &Value| record["record"] == "call" || record["record"] == "event")
            .collect();
        let mut ours: Vec<Value> = records
            .iter()
            .filter(|record| record["record"] == "call" || record["record"] == "event")
            .cloned()
            .collect();
        // Ids of calls are the caller's.
        for record in theirs.iter_mut().chain(&mut ours) {
            record.as_object_mut().unwrap().remove("id");
        }
        assert_eq!(theirs, ours);
    }
}

/// A reply that was lost costs nothing: the same step asked for again is done once.
#[tokio::test]
async fn a_step_is_done_once() {
    let server = Server::start(&["--tasks", "t1-00*"]);
    let session = server.open(TASK, 1, None).await.remove(0);
    let mut first = look_up();
    first["step"] = json!(1);
    let seen = server.step(&session, &first).await;
    let again = server.step(&session, &first).await;
    assert_eq!((seen.status, &seen.body), (200, &again.body));
    let mut other = right();
    other["step"] = json!(1);
    assert_eq!(server.step(&session, &other).await.code(), "wrong-step", "another step 1");
    other["step"] = json!(3);
    assert_eq!(server.step(&session, &other).await.code(), "wrong-step", "not yet");
    other["step"] = json!(2);
    assert_eq!(server.step(&session, &other).await.body["outcome"], "answered");
    assert_eq!(server.step(&session, &other).await.body["outcome"], "answered", "again");
    let judged = server.act(&session, "evaluate").await;
    assert_eq!((&judged["parts"]["calls"], &judged["reward"]), (&json!(1), &json!(1.0)));
}

/// Who goes away without a word leaves nothing behind: the session is closed, its episode
/// counts as interrupted and not as failed; so does what is open when the server stops.
#[tokio::test]
async fn what_nobody_uses_is_closed() {
    let server = Server::start(&["--tasks", "t1-00*", "--idle-seconds", "1"]);
    let session = server.open(TASK, 1, None).await.remove(0);
    server.step(&session, &look_up()).await;
    while server.done("GET", "/v1/status", &Value::Null).await["sessions"] != 0 {
        tokio::time::sleep(std::time::Duration::from_millis(50)).await;
    }
    let gone = server.step(&session, &right()).await;
    assert_eq!((gone.status, gone.code()), (410, "gone"), "{}", gone.body);
    let session = server.open(TASK, 1, None).await.remove(0);
    server.step(&session, &look_up()).await;
    assert_eq!(server.stop(), Some(0));
    let ends: Vec<Value> = transcripts(&server.run())
        .values()
        .map(|text| serde_json::from_str(text.lines().last().unwrap()).unwrap())
        .collect();
    assert_eq!(ends.len(), 2);
    for end in ends {
        assert_eq!(end["outcome"], "lost:interrupted", "{end}");
    }
}

/// Who trains for long keeps verdicts and nothing else.
#[tokio::test]
async fn episodes_may_be_forgotten() {
    let server = Server::start(&["--tasks", "t1-00*", "--forget"]);
    for session in server.open(TASK, 2, None).await {
        server.step(&session, &look_up()).await;
        server.step(&session, &right()).await;
        assert_eq!(server.act(&session, "evaluate").await["reward"], 1.0);
        let path = format!("/v1/sessions/{session}");
        server.done("POST", &format!("{path}/reset"), &json!({ "task": TASK })).await;
        server.done("DELETE", &path, &Value::Null).await;
    }
    assert_eq!(common::verdicts(&server.run()).len(), 2);
    assert!(transcripts(&server.run()).is_empty());
    let scratch = std::fs::read_dir(server.place.path().join("tmp")).unwrap();
    let left = scratch.flatten().flat_map(|one| std::fs::read_dir(one.path()).unwrap().flatten());
    let left: Vec<_> = left.map(|one| one.file_name()).collect();
    assert!(left.iter().all(|name| !name.to_string_lossy().contains('-')), "{left:?}");
}

/// Several things in one request: each has its own reply, in the order asked.
#[tokio::test]
async fn a_batch_has_a_reply_for_each() {
    let server = Server::start(&["--tasks", "t1-00*"]);
    let sessions = server.open(TASK, 4, Some(3)).await;
    let item = |session: &str, op: &str, body: Value| {
        let mut item = json!({ "session": session, "op": op });
        if !body.is_null() {
            item["body"] = body;
        }
        item
    };
    let batch = |items: Vec<Value>| json!({ "requests": items });
    let steps = sessions.iter().map(|session| item(session, "step", look_up())).collect();
    let replies = server.done("POST", "/v1/batch", &batch(steps)).await;
    let contents: Vec<&Value> = replies["replies"]
        .as_array()
        .unwrap()
        .iter()
        .map(|reply| &reply["observation"]["results"][0]["content"])
        .collect();
    assert_eq!(contents.len(), 4);
    assert!(contents.iter().all(|content| *content == contents[0]), "one seed, one result");
    let mixed = batch(vec![
        item(&sessions[0], "evaluate", Value::Null),
        item("nobody", "observe", Value::Null),
        item(&sessions[1], "step", json!({ "calls": [], "answer": "x" })),
        item(&sessions[2], "reset", json!({ "task": "t1-002" })),
        item(&sessions[3], "close", Value::Null),
    ]);
    let replies = server.done("POST", "/v1/batch", &mixed).await["replies"].clone();
    let statuses: Vec<u64> =
        replies.as_array().unwrap().iter().map(|one| one["status"].as_u64().unwrap()).collect();
    assert_eq!(statuses, [200, 404, 422, 200, 200], "{replies}");
    assert_eq!(replies[0]["evaluation"]["verdict"], "fail");
    assert_eq!(replies[1]["error"]["code"], "no-session");
    assert_eq!(replies[3]["observation"]["episode"]["task"], "t1-002");
    assert_eq!(replies[4]["closed"]["closed"], true);
}

/// The client for Python does what its own tests say, against a real server.
#[tokio::test]
async fn the_python_client_works() {
    if !Command::new("python3").arg("--version").output().is_ok_and(|out| out.status.success()) {
        return;
    }
    let server = Server::start(&["--tasks", "t1-00*"]);
    // Its steps are answered after a second at the latest, done or not.
    let slow = Server::of("starter", &["--tasks", "ct-freight-claim", "--step-seconds", "1"]);
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("clients/python");
    let tests = tokio::task::spawn_blocking({
        let (url, token) = (server.url.clone(), server.token.clone());
        let (slow_url, slow_token) = (slow.url.clone(), slow.token.clone());
        move || {
            Command::new("python3")
                .args(["-W", "error", "-m", "unittest", "discover", "-s", "tests", "-t", "."])
                .current_dir(folder)
                .env("PYTHONDONTWRITEBYTECODE", "1")
                .env("WILDGYM_URL", url)
                .env("WILDGYM_TOKEN", token)
                .env("WILDGYM_TASK", TASK)
                .env("WILDGYM_SLOW_URL", slow_url)
                .env("WILDGYM_SLOW_TOKEN", slow_token)
                .output()
                .unwrap()
        }
    });
    let ran = tests.await.unwrap();
    let said = String::from_utf8_lossy(&ran.stderr);
    assert!(ran.status.success(), "{said}");
    assert!(!said.contains("skipped"), "{said}");
}
