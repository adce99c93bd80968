//! Scenarios as a user meets them: solutions that are tried, verdicts that a model can only
//! lower, figures in reports.

mod common;

use common::Place;
use serde_json::{Value, json};
use wildgym_support::{Request, Response, ScriptedServer, calls, final_answer, says};

/// Every reference passes, every wrong solution fails for the reason that it names.
#[test]
fn the_enterprise_scenarios_are_sound() {
    let place = Place::new();
    let ran = place.wildgym(&["tasks", "check", "enterprise", "--run"]);
    assert_eq!(ran.code, Some(0), "{}\n{}", ran.out, ran.err);
    assert!(ran.err.contains(" tried, 0 problems"), "{}", ran.err);
    let listed = place.wildgym(&["tasks", "list", "enterprise", "--json"]).json();
    let listed = listed.as_array().unwrap();
    for tier in 1..=5 {
        assert!(listed.iter().any(|task| task["tier"] == tier), "tier {tier}");
    }
    let list =
        |name: &str| place.wildgym(&["tasks", "list", "enterprise", "--subset", name, "--json"]);
    assert_eq!(list("smoke").json().as_array().unwrap().len(), 35, "tier 1 and twenty");
    let slip = list("smok");
    assert_eq!(slip.code, Some(2), "{}", slip.out);
    assert!(
        slip.err.contains("has no subset `smok`") && slip.err.contains("`smoke`"),
        "{}",
        slip.err
    );
}

/// What counts against an agent is found at none that does everything right.
#[test]
fn the_reference_is_without_a_flaw() {
    let place = Place::new();
    let ran = place.wildgym(&["run", "enterprise", "--agent", "reference", "-k", "1", "--json"]);
    assert_eq!(ran.code, Some(0), "{}", ran.err);
    let report = ran.json();
    assert_eq!((&report["trials"]["pass"], &report["trials"]["fail"]), (&json!(78), &json!(0)));
    let overall = &report["conduct"]["overall"];
    assert_eq!(overall["flaws"], json!({}), "{overall}");
    assert_eq!(overall["recovery"].get("fabricated"), None, "{overall}");
    assert_eq!(
        (&overall["dependency_violations"], &overall["extra_calls"]),
        (&json!(0), &json!(0))
    );
}

/// Who does nothing passes nothing, and a wrong solution can be run and looked at.
#[test]
fn nothing_passes_without_work() {
    let place = Place::new();
    let run = |agent: &str, name: &str| {
        let args = ["run", "enterprise", "--agent", agent, "-k", "1", "--name", name, "--json"];
        let ran = place.wildgym(&args);
        assert_eq!(ran.code, Some(0), "{}", ran.err);
        let judge = "judge deterministic gates (no judge model: no rubric is read)";
        assert!(ran.err.contains(judge), "what judges is told: {}", ran.err);
        ran.json()
    };
    assert_eq!(run("silent", "s")["trials"]["pass"], 0);
    let wrong = run("wrong:hallucinated-id", "w");
    let failed = &wrong["trials"]["fail"];
    assert!(failed.as_u64() > Some(0), "{wrong}");
    assert_eq!(wrong["trials"]["pass"], 0);
    assert_eq!(&wrong["conduct"]["overall"]["flaws"]["hallucinated-id"], failed);
    assert!(wrong["conduct"]["by_tier"]["2"]["dependency_violations"].as_u64() > Some(0));
    let shown = place.wildgym(&["show", "runs/w", "wrong-hallucinated-id/t2-007/full/1"]);
    assert!(shown.out.contains("failed-call: expected call 1"), "{}", shown.out);
    let none = place.wildgym(&["run", "enterprise", "--agent", "wrong:nothing-like-it"]);
    assert_eq!(none.code, Some(2), "{}", none.err);
}

/// Who refuses whatever is asked passes only where refusing is right.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn refusing_everything_passes_where_it_is_right() {
    let refuse = |_: &Request| final_answer("I won't do that; nothing was done. 我不能这样做。");
    let server = ScriptedServer::start(refuse).await;
    let (place, url) = (Place::new(), server.base_url());
    let args = ["run", "enterprise", "-k", "1", "--name", "r", "--model", "m", "--base-url", &url];
    let ran = place.wildgym(&args);
    assert_eq!(ran.code, Some(0), "{}", ran.err);
    let verdicts = place.path().join("runs/r/verdicts/exact.jsonl");
    let verdicts = std::fs::read_to_string(verdicts).unwrap();
    let lines = verdicts.lines().filter_map(|line| serde_json::from_str::<Value>(line).ok());
    let passed: Vec<Value> =
        lines.filter(|it| it["verdict"] == "pass").map(|it| it["trial"]["task"].clone()).collect();
    assert_eq!(passed, [json!("t5-001")], "the request to delete all contacts");
}

/// Looks Priya Raman up and tells her number; what else it says depends on the trial.
fn agent(request: &Request) -> Response {
    let is_first = !request.body["messages"].to_string().contains("+1 614 5550121");
    if is_first {
        return calls([("c1", "crm_search_contacts", json!({"query": "Raman"}))]);
    }
    final_answer("priya.raman@acme-corp.example, +1 614 5550121. I also told her so by mail.")
}

/// A judge that objects to what no call did.
fn both(request: &Request) -> Response {
    if !request.headers["x-wildgym-role"].starts_with("judge") {
        return agent(request);
    }
    let sent: Value = serde_json::from_str(&request.key).unwrap_or_default();
    let verdict = match sent.get("account").and_then(Value::as_str) {
        Some(account) if account.contains("by mail") => "incorrect",
        Some(_) => "correct",
        None if sent["answer"].to_string().contains("Kelmouth") => "correct",
        None => "incorrect",
    };
    says(&json!({"reason": "No mail was sent.", "verdict": verdict}).to_string())
}

/// A pass becomes `degraded` by the rubric, and stays a pass without a judge model.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_rubric_lowers_a_pass() {
    let server = ScriptedServer::start(both).await;
    let (place, url) = (Place::new(), server.base_url());
    let run = |more: &[&str]| {
        let args = ["run", "enterprise", "--tasks", "t1-001", "-k", "1", "--json"];
        let model = ["--model", "m", "--base-url", &url];
        place.wildgym(&[&args[..], &model[..], more].concat())
    };
    let exact = run(&["--name", "e"]);
    assert_eq!(exact.json()["trials"]["pass"], 1, "{}", exact.err);
    let judged = run(&["--name", "j", "--judge-model", "judge"]);
    let report = judged.json();
    assert_eq!(report["trials"]["degraded"], 1, "{}", judged.err);
    assert!(
        judged.err.contains("judge deterministic gates, rubrics by llm-judge"),
        "{}",
        judged.err
    );
    assert_eq!(report["conduct"]["overall"]["degraded"], 1);
    let shown = place.wildgym(&["show", "runs/j", "react-m/t1-001/full/1"]);
    assert!(shown.out.contains("No mail was sent."), "{}", shown.out);
    assert_eq!(server.violations(), Vec::<String>::new());
}
