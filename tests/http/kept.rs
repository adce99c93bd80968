//! What is left of episodes, for whoever looks afterwards: `show`, `export`, `report` and
//! `rejudge` reach every episode that the server kept.

use std::collections::BTreeMap;
use std::time::Duration;

use serde_json::{Value, json};

use super::common::{Place, Ran};
use super::server::{Server, TASK, look_up, right};

/// Returns the lines of JSON that a command prints.
fn lines(ran: &Ran) -> Vec<Value> {
    assert_eq!(ran.code, Some(0), "{}", ran.err);
    ran.out.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}

/// Returns the states of the episodes that `show` lists, by trial and attempt.
fn listed(place: &Place, more: &[&str]) -> BTreeMap<(String, u64), String> {
    let ran = place.wildgym(&[&["show", "runs/r", "--json"], more].concat());
    let text = |value: &Value| value.as_str().unwrap().to_owned();
    lines(&ran)
        .iter()
        .map(|one| {
            let named = (text(&one["trial"]), one["attempt"].as_u64().unwrap());
            (named, text(&one["state"]))
        })
        .collect()
}

async fn close(server: &Server, session: &str) {
    server.done("DELETE", &format!("/v1/sessions/{session}"), &Value::Null).await;
}

/// Leaves one episode of every kind: a group of three with one seed (passed, failed, left),
/// another seed that nobody had judged, a second one of the same session, one that idled, and
/// a session that nobody ever stepped.
async fn leave_all_kinds(server: &Server) {
    let group = server.open(TASK, 3, None).await;
    server.step(&group[0], &right()).await;
    assert_eq!(server.act(&group[0], "evaluate").await["reward"], 0.0, "without its look-up");
    server.step(&group[1], &look_up()).await;
    server.step(&group[1], &right()).await;
    assert_eq!(server.act(&group[1], "evaluate").await["reward"], 1.0);
    server.step(&group[2], &look_up()).await;
    close(server, &group[2]).await;

    let path = format!("/v1/sessions/{}/reset", group[1]);
    server.done("POST", &path, &json!({ "task": TASK, "seed": 2 })).await;
    server.step(&group[1], &look_up()).await;
    server.step(&group[1], &right()).await;
    server.act(&group[1], "evaluate").await;

    let other = server.open(TASK, 1, Some(7)).await.remove(0);
    server.step(&other, &look_up()).await;
    server.step(&other, &right()).await;
    let unused = server.open("t1-003", 1, None).await.remove(0);
    for session in [&group[0], &group[1], &other, &unused] {
        close(server, session).await;
    }
    let idle = server.open("t1-002", 1, Some(3)).await.remove(0);
    server.step(&idle, &look_up()).await;
    let running = listed(&server.place, &["--state", "pending"]);
    let goes_on: Vec<&str> = running.keys().map(|(trial, _)| trial.as_str()).collect();
    // Where the machine is slow it has idled already.
    assert!(goes_on.is_empty() || goes_on == ["http/t1-002/full/3"], "{goes_on:?}");
    while server.done("GET", "/v1/status", &Value::Null).await["sessions"] != 0 {
        tokio::time::sleep(Duration::from_millis(50)).await;
    }
}

#[tokio::test]
async fn every_episode_is_listed_shown_and_exported() {
    let server = Server::start(&["--tasks", "t1-00*", "--idle-seconds", "8"]);
    leave_all_kinds(&server).await;
    assert_eq!(server.stop(), Some(0));
    let place = &server.place;

    let want = [
        (("http/t1-001/full/1", 1), "fail"),
        (("http/t1-001/full/1", 2), "pass"),
        (("http/t1-001/full/1", 3), "lost"),
        (("http/t1-001/full/2", 1), "pass"),
        (("http/t1-001/full/7", 1), "unjudged"),
        (("http/t1-002/full/3", 1), "lost"),
    ];
    let all = listed(place, &[]);
    let got: Vec<_> =
        all.iter().map(|((trial, attempt), state)| ((&**trial, *attempt), &**state)).collect();
    assert_eq!(got, want);
    let passed = listed(place, &["--state", "pass", "--state", "unjudged"]);
    assert_eq!(passed.len(), 3, "{passed:?}");
    let none = place.wildgym(&["show", "runs/r", "--state", "skipped"]);
    assert!(none.out.is_empty() && none.err.contains("no episode is skipped"), "{}", none.err);

    // Each line of the list for people is what `show` takes.
    let table = place.wildgym(&["show", "runs/r"]).out;
    assert_eq!(table.lines().count(), want.len(), "{table}");
    assert!(table.contains("lost:interrupted (was closed: nobody used it"), "{table}");
    for line in table.lines() {
        let words: Vec<&str> = line.split_whitespace().collect();
        let [_, trial, flag, attempt, ..] = words.as_slice() else { panic!("{line}") };
        let ran = place.wildgym(&["show", "runs/r", trial, flag, attempt]);
        assert_eq!(ran.code, Some(0), "{line}: {}", ran.err);
        assert!(ran.out.contains("Priya Raman"), "{line}: {}", ran.out);
    }
    exported(place);
    counted(place);
}

/// Those that came to an end of their own are trajectories, whatever their seed, and can be
/// judged later.
fn exported(place: &Place) {
    let export = || {
        let verdict = |one: &Value| {
            let named = format!("{} {}", one["trial"].as_str().unwrap(), one["attempt"]);
            assert!(one["messages"].as_array().unwrap().len() > 2, "{one}");
            (named, one["verdict"].clone())
        };
        let lines = lines(&place.wildgym(&["export", "runs/r"]));
        lines.iter().map(verdict).collect::<BTreeMap<_, _>>()
    };
    let before = export();
    let names: Vec<&str> = before.keys().map(String::as_str).collect();
    let want = ["1 1", "1 2", "2 1", "7 1"].map(|end| format!("http/t1-001/full/{end}"));
    assert_eq!(names, want);
    assert_eq!(before["http/t1-001/full/7 1"], Value::Null, "nobody judged it yet");
    let judged = place.wildgym(&["rejudge", "runs/r", "-q"]);
    assert_eq!(judged.code, Some(0), "{}", judged.err);
    assert_eq!(export()["http/t1-001/full/7 1"], "pass");
}

/// The report counts the first of each task's seed 1, whatever came after it, and says what
/// it leaves out.
fn counted(place: &Place) {
    let report = place.wildgym(&["report", "runs/r", "--json"]).json();
    let episodes = json!({ "kept": 6, "counted": 1, "forgotten": 0 });
    assert_eq!(report["label"]["episodes"], episodes, "{}", report["label"]);
    assert_eq!((&report["trials"]["fail"], &report["trials"]["lost"]), (&json!(1), &json!(0)));
    let table = place.wildgym(&["report", "runs/r"]).out;
    assert!(table.contains("1 of 6 count here"), "{table}");

    let table: [(&[&str], &str); 5] = [
        (&["t9-999"], "the run has no trial `t9-999`"),
        (&["http/t1-001/full/5"], "the run has no trial"),
        (&["t1-004"], "no episode of `http/t1-004/full/1` was begun"),
        (&["t1-001/full/1", "--attempt", "9"], "has 3 attempts"),
        (&["t1-001", "--judge", "nobody"], "no verdicts of a judge `nobody`"),
    ];
    for (selector, want) in table {
        let ran = place.wildgym(&[&["show", "runs/r"], selector].concat());
        assert_eq!(ran.code, Some(2), "{selector:?}: {}", ran.out);
        assert!(ran.err.contains(want), "{selector:?}: {}", ran.err);
        assert!(!ran.err.contains("resume"), "nothing of it can be tried again: {}", ran.err);
    }
    let several = place.wildgym(&["show", "runs/r", "t1-001"]);
    assert!(several.err.contains("of 3 trials that `t1-001` means"), "{}", several.err);
    assert!(several.err.contains("attempt 1 of 3"), "{}", several.err);
}

/// Of what was to be forgotten the verdicts are left, and everything says so.
#[tokio::test]
async fn forgotten_episodes_leave_their_verdicts() {
    let server = Server::start(&["--tasks", "t1-00*", "--forget"]);
    for session in server.open(TASK, 2, None).await {
        server.step(&session, &look_up()).await;
        server.step(&session, &right()).await;
        server.act(&session, "evaluate").await;
        close(&server, &session).await;
    }
    assert_eq!(server.stop(), Some(0));
    let place = &server.place;
    let all = listed(place, &[]);
    assert_eq!(all.len(), 2, "{all:?}");
    assert!(all.values().all(|state| state == "pass"), "{all:?}");
    let table = place.wildgym(&["show", "runs/r"]).out;
    assert!(table.contains("judged and not kept"), "{table}");
    let one = place.wildgym(&["show", "runs/r", TASK]);
    assert_eq!(one.code, Some(2), "{}", one.out);
    assert!(one.err.contains("only the verdict was kept"), "{}", one.err);
    let export = place.wildgym(&["export", "runs/r"]);
    assert!(export.out.is_empty() && export.err.contains("nothing was written"), "{}", export.err);
    let label = &place.wildgym(&["report", "runs/r", "--json"]).json()["label"]["episodes"];
    assert_eq!(*label, json!({ "kept": 0, "counted": 0, "forgotten": 2 }));
}
