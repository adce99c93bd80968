//! What is left of the attempts that clients played: `show`, `export` and `report` reach each.

use serde_json::{Value, json};

use super::client::{Client, Server};
use super::common::{Place, transcripts};
use super::suite;

/// One client answers, one is interrupted, one never comes: two attempts are kept, and what is
/// said of them agrees.
#[tokio::test(flavor = "multi_thread")]
async fn every_attempt_is_listed_shown_and_exported() {
    let place = Place::new();
    let suite = suite::write(place.path());
    let suite = suite.to_str().unwrap();
    let args = [suite, "--task", "mc-sum", "-k", "3", "--name", "r"];
    let server = Server::with(&place, &args, 3).await;
    let first = Client::http(&server.urls[0]).await;
    first.call("get_task", json!({})).await;
    first.call("submit_answer", json!({ "answer": "42" })).await;
    let second = Client::http(&server.urls[1]).await;
    second.call("extract_document_content", json!({ "document_path": "data.csv" })).await;
    let running = place.wildgym(&["show", "runs/r", "mc-sum/2"]);
    assert!(running.out.contains("extract_document_content"), "it can be watched: {}", running.err);
    assert_eq!(server.stop().await, Some(1), "one is lost");

    let listed = place.wildgym(&["show", "runs/r", "--json"]);
    let listed: Vec<Value> =
        listed.out.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    let told = |one: &Value| json!([one["trial"], one["attempt"], one["state"], one["outcome"]]);
    let got: Vec<Value> = listed.iter().map(told).collect();
    let want = [
        json!(["mcp/mc-sum/full/1", 1, "pass", "answered"]),
        json!(["mcp/mc-sum/full/2", 1, "lost", "lost:interrupted"]),
    ];
    assert_eq!(got, want);
    assert_eq!(listed[0]["answer"], "42");
    for selector in ["mc-sum/full/1", "mcp/mc-sum/full/2", "mc-sum/2"] {
        let ran = place.wildgym(&["show", "runs/r", selector]);
        assert_eq!(ran.code, Some(0), "{selector}: {}", ran.err);
    }
    let never = place.wildgym(&["show", "runs/r", "mc-sum/3"]);
    assert_eq!(never.code, Some(2), "{}", never.out);
    assert!(never.err.contains("no episode of `mcp/mc-sum/full/3` was begun"), "{}", never.err);
    let export = place.wildgym(&["export", "runs/r"]).out;
    let only: Value = serde_json::from_str(export.trim()).unwrap();
    assert_eq!((&only["trial"], &only["verdict"]), (&json!("mcp/mc-sum/full/1"), &json!("pass")));
    let report = place.wildgym(&["report", "runs/r", "--json"]).json();
    let states = ["pass", "lost"].map(|state| report["trials"][state].clone());
    assert_eq!(states, [json!(1), json!(1)], "{}", report["trials"]);
    assert_eq!(report["label"]["pending"], 1, "{}", report["label"]);
    let episodes = json!({ "kept": 2, "counted": 2, "forgotten": 0 });
    assert_eq!(report["label"]["episodes"], episodes);
}

/// `--idealise` serves the request and the files of that variant, records and counts it as
/// that; a task without the factor is served as it is.
#[tokio::test(flavor = "multi_thread")]
async fn a_variant_is_served_recorded_and_counted_as_one() {
    let place = Place::new();
    let suite = suite::write(place.path());
    suite::make_dirty(&suite);
    let suite = suite.to_str().unwrap();
    // What the agent reads, by whether the dirt was taken away.
    for (more, variant, rows) in [
        (&[][..], "full", "17\n-\n25"),
        (&["--idealise", "dirty-data,bias"][..], "ideal-dirty-data", "17\n25"),
    ] {
        let args = [&[suite, "--tasks", "mc-sum", "--name", variant], more].concat();
        let (client, mut server) = Client::stdio(&place, &args).await;
        let told = client.call("get_task", json!({})).await.structured_content.unwrap();
        let told = told["instruction"].as_str().unwrap().to_owned();
        assert_eq!(told.contains("every row is a number"), variant != "full", "{told}");
        let code = json!({ "code": "print(open('data.csv').read())" });
        let (read, failed) = client.text("execute_code", code).await;
        assert!(!failed && read.contains(rows), "{variant}: {read}");
        client.text("submit_answer", json!({ "answer": "42" })).await;
        client.leave().await;
        assert_eq!(server.wait().await.unwrap().code(), Some(0));
        let run = format!("runs/{variant}");
        let kept: Vec<String> = transcripts(&place.path().join(&run)).into_keys().collect();
        assert_eq!(kept, [format!("mcp/mc-sum/{variant}/1.1.jsonl")]);
        let report = place.wildgym(&["report", &run, "--json"]).json();
        assert_eq!(report["label"]["variants"], json!([variant]), "{}", report["label"]);
        assert_eq!(report["trials"]["pass"], json!(1), "{}", report["trials"]);
    }
    let unknown = place.wildgym(&["serve", "mcp", suite, "--task", "mc-sum", "--idealise", "dirt"]);
    assert_eq!(unknown.code, Some(2), "{}", unknown.err);
    assert!(unknown.err.contains("dirty-data"), "it says what there is: {}", unknown.err);
}
