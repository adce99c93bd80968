//! What agents do about faults, as a user sees it: scripted agents under one profile, told
//! apart by their report in the way that follows from their scripts; and the planner.

#![expect(clippy::unwrap_used, reason = "what fails here fails the story")]

mod common;

use std::fs;
use std::path::{Path, PathBuf};

use common::{Place, transcripts};
use serde_json::{Value, json};
use wildgym_support::{ScriptedServer, in_turn, says};

/// Writes a suite of tasks whose solution reads a note twice, one call a round, and answers
/// with a word of what it read the second time.
fn reading(place: &Place, tasks: usize) -> PathBuf {
    let suite = place.suite(tasks);
    for number in 0..tasks {
        let task = suite.join(format!("tasks/t-{number:03}"));
        fs::write(task.join("files/note.txt"), "all of it is done\n").unwrap();
        let call = |name: &str| {
            format!(
                "[[round]]\n[[round.call]]\nname = \"{name}\"\ntool = \"extract_document_content\"\n\
                 arguments = {{ document_path = \"note.txt\" }}\n\n"
            )
        };
        let solution = format!(
            "format = 1\n\n{}{}[answer]\nexpression = \"second | regex('d[a-z]n[a-z]')\"\n",
            call("first"),
            call("second")
        );
        fs::write(task.join("reference/solution.toml"), solution).unwrap();
    }
    suite
}

/// Writes a profile of explicit errors.
fn profile(place: &Place, persistence: &str, rate: f64) -> String {
    let text = format!(
        "format = 1\nname = \"errors\"\nversion = \"1.0.0\"\ndescription = \"For a story\"\n\
         rate = {rate:?}\n\n[[entry]]\noperator = \"explicit-error\"\n\
         persistence = \"{persistence}\"\nweight = 1\n"
    );
    let path = place.path().join(format!("{persistence}.toml"));
    fs::write(&path, text).unwrap();
    path.to_str().unwrap().to_owned()
}

/// Runs an agent and returns its report.
fn report(place: &Place, suite: &Path, agent: &str, more: &[&str]) -> Value {
    let name = agent.replace(':', "-");
    let suite = suite.to_str().unwrap();
    let args = [&["run", suite, "--agent", agent, "--name", &name, "-q", "--json"], more].concat();
    let ran = place.wildgym(&args);
    assert_eq!(ran.code, Some(0), "{agent}: {}", ran.err);
    ran.json()
}

fn count(value: &Value) -> u64 {
    value.as_u64().unwrap_or_default()
}

#[test]
fn scripted_agents_are_told_apart_as_their_scripts_say() {
    let place = Place::new();
    let suite = reading(&place, 12);
    let profile = profile(&place, "transient", 0.3);
    let run = |agent: &str| report(&place, &suite, agent, &["-k", "2", "--faults", &profile]);
    let agents = ["reference", "retry:50", "give-up", "fabricate", "bypass"];
    let [reference, retry, give_up, fabricate, bypass] = agents.map(|name| {
        run(&if name == "reference" { name.to_owned() } else { format!("scripted:{name}") })
    });
    let of = |report: &Value| {
        let all = report["resilience"]["overall"].clone();
        let dosed = count(&all["trials"]) - count(&all["zero_dose"]);
        (all, dosed, count(&report["trials"]["pass"]))
    };

    let (all, dosed, passed) = of(&retry);
    assert!((4..24).contains(&dosed), "{all}");
    assert_eq!((passed, count(&all["classes"]["recovered"])), (24, dosed), "{all}");
    assert_eq!(all["reactions"]["retry_share"], 1.0, "{all}");
    assert_eq!((&all["completion"], &all["fabricated"]), (&json!(1.0), &json!(0)));

    // The first two calls are the same for all, so whoever stops at a fault stops there.
    let (all, dosed, passed) = of(&give_up);
    assert!(dosed > 2 && dosed <= of(&retry).1, "{all}");
    assert_eq!((passed, count(&all["zero_dose_passed"])), (24 - dosed, 24 - dosed), "{all}");
    assert_eq!(count(&all["classes"]["non-completion"]), dosed, "{all}");
    assert_eq!((&all["reactions"]["fell_back"], &all["fabricated"]), (&json!(dosed), &json!(0)));

    let (all, lied, passed) = of(&fabricate);
    assert_eq!((lied, passed), (dosed, 24 - dosed), "{all}");
    assert_eq!(count(&all["fabricated"]), dosed, "{all}");
    let [bypassed, wrong] =
        ["tool-bypass", "catastrophic-completion"].map(|class| count(&all["classes"][class]));
    assert_eq!(bypassed + wrong, dosed, "at the first call, or after one that worked: {all}");
    assert!(bypassed > 0 && wrong > 0, "{all}");

    let (all, dosed, passed) = of(&bypass);
    assert_eq!((dosed, passed, count(&all["zero_dose_classes"]["tool-bypass"])), (0, 0, 24));

    // The reference goes on: of the errors only those of its second call matter.
    let (all, _, passed) = of(&reference);
    assert!(passed > of(&give_up).2 && passed < 24, "{all}");
    assert_eq!(all["fabricated"], 0, "no answer claims nothing: {all}");

    let by = &retry["resilience"]["by_condition"]["scripted-retry-50+errors"];
    assert_eq!(by["specified_mix"][0]["operator"], "explicit-error", "{by}");
    assert_eq!(by["mix_distance"], 0.0, "one kind is all of both: {by}");
}

#[test]
fn who_insists_on_what_is_gone_for_good_loops_until_a_limit() {
    let place = Place::new();
    let suite = reading(&place, 2);
    let profile = profile(&place, "permanent", 1.0);
    let more = ["-k", "1", "--rounds", "7", "--faults", &profile];
    let insists = report(&place, &suite, "scripted:insist", &more);
    let all = &insists["resilience"]["overall"];
    assert_eq!(all["classes"], json!({"non-completion": 2}), "{all}");
    assert_eq!((&all["looped"], &all["longest_loop"]), (&json!(2), &json!(7)), "{all}");
    assert_eq!(insists["label"]["attempts_by_outcome"]["limit:rounds"], 2);

    let retries = report(&place, &suite, "scripted:retry:2", &more);
    let all = &retries["resilience"]["overall"];
    assert_eq!((&all["dose"], &all["reactions"]["retried"]), (&json!(6), &json!(4)), "{all}");
    assert_eq!(all["classes"], json!({"non-completion": 2}), "it says so in the end: {all}");

    let shown = place.wildgym(&["report", "runs/scripted-insist"]).out;
    for told in ["after a fault", "met any", "mix", "explicit-error permanent 100.0 % (100.0)"] {
        assert!(shown.contains(told), "{told}: {shown}");
    }
    let shown = place.wildgym(&["show", "runs/scripted-insist", "t-000"]).out;
    for told in [
        "note fault: explicit-error, permanent since call 1",
        "7 of 7 calls hit; then 6 retried, 1 fell-back",
        "1 retry loop, the longest of 7 rounds",
        "class non-completion",
    ] {
        assert!(shown.contains(told), "{told}: {shown}");
    }
    let listed = place.wildgym(&["show", "runs/scripted-retry-2", "--json"]).out;
    let first: Value = serde_json::from_str(listed.lines().next().unwrap()).unwrap();
    let want = json!({"dose": 3, "class": "non-completion", "fabricated": false});
    assert_eq!(first["faults"], want, "{first}");
}

#[test]
fn a_run_without_faults_says_nothing_of_them() {
    let place = Place::new();
    let suite = reading(&place, 1);
    let off = report(&place, &suite, "scripted:give-up", &["-k", "1"]);
    assert_eq!((&off["trials"]["pass"], off.get("resilience")), (&json!(1), None));
    let ran = place.wildgym(&["run", "suite", "--agent", "scripted:sulk"]);
    assert_eq!(ran.code, Some(2));
    assert!(ran.err.contains("there is no scripted agent `sulk`"), "{}", ran.err);
}

/// Plans two calls side by side, then one that fails and fails again, and is asked for the
/// answer when it plans that once more.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_planner_stops_by_its_own_rule() {
    let read = |path: &str| json!({"tool": "extract_document_content", "arguments": {"document_path": path}});
    let plan =
        |calls: &[Value]| json!({"reasoning": "r", "calls": calls, "done": false}).to_string();
    let both = plan(&[read("note.txt"), read("gone.txt")]);
    let gone = plan(&[read("gone.txt")]);
    let model = ScriptedServer::start(in_turn([
        says(&format!("My plan:\n```json\n{both}\n```")),
        says("Hm."),
        says(&gone),
        says(&gone),
        says(&gone),
        says("{\"done\": true, \"answer\": \"done\"}"),
    ]))
    .await;
    let (place, url) = (Place::new(), model.base_url());
    let suite = place.suite(1);
    let more = ["--agent", "plan", "-k", "1", "--name", "p", "-q", "--json"];
    let ran = place.wildgym(&Place::asking(&suite, &url, &more));
    assert_eq!(ran.code, Some(0), "{}", ran.err);
    assert_eq!(ran.json()["trials"]["pass"], 1, "{}", ran.out);
    assert_eq!(model.violations(), Vec::<String>::new());

    let requests = model.requests();
    let said = |request: usize, message: usize| {
        requests[request].messages()[message]["content"].as_str().unwrap().to_owned()
    };
    assert_eq!(requests.len(), 6);
    assert!(requests.iter().all(|request| request.tools().next().is_none()), "none is offered");
    assert!(said(0, 0).contains("\n- extract_document_content: "), "the prompt lists them");
    let results = said(1, 3);
    assert!(results.contains("[1] extract_document_content {\"document_path\":\"note.txt\"}\n"));
    assert!(results.contains("this is t-000") && results.contains("\n[2] "), "{results}");
    assert!(said(2, 5).contains("was no plan"), "{}", said(2, 5));
    let last = requests[5].messages().last().unwrap()["content"].as_str().unwrap();
    assert!(last.starts_with("No more calls are made."), "two failures are enough: {last}");

    let calls: Vec<(u64, String)> = transcripts(&place.path().join("runs/p"))
        .into_values()
        .flat_map(|text| text.lines().map(str::to_owned).collect::<Vec<_>>())
        .map(|line| serde_json::from_str::<Value>(&line).unwrap())
        .filter(|record| record["record"] == "call")
        .map(|call| (count(&call["round"]), call["id"].as_str().unwrap().to_owned()))
        .collect();
    let want = [(1, "call_1_1"), (1, "call_1_2"), (3, "call_3_1"), (4, "call_4_1")];
    let want = want.map(|(round, id)| (round, id.to_owned()));
    assert_eq!(calls, want, "two side by side; what failed twice is not made again");
}

/// The last round is for the answer, so a limit on rounds costs the planner no answer.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_planner_keeps_its_last_round_for_the_answer() {
    let code = |text: &str| {
        let call =
            json!({"tool": "extract_document_content", "arguments": {"document_path": text}});
        says(&json!({"calls": [call], "done": false}).to_string())
    };
    let model =
        ScriptedServer::start(in_turn([code("note.txt"), code("a.txt"), says("It is done.")]))
            .await;
    let (place, url) = (Place::new(), model.base_url());
    let suite = place.suite(1);
    let more = ["--agent", "plan", "-k", "1", "--rounds", "3", "--name", "p", "-q", "--json"];
    let ran = place.wildgym(&Place::asking(&suite, &url, &more));
    assert_eq!(ran.code, Some(0), "{}", ran.err);
    let answered = &ran.json()["label"]["attempts_by_outcome"]["answered"];
    assert_eq!((answered, model.requests().len()), (&json!(1), 3), "{}", ran.out);
}
