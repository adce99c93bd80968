//! How well a judge agrees with labels: pairs that come with the program, before judges
//! whose figures follow by arithmetic, and labels of a run's trials.

#![expect(clippy::unwrap_used, reason = "what fails here fails the story")]

mod common;

use std::collections::HashMap;
use std::fs;

use common::{Place, Ran};
use serde_json::{Value, json};
use wildgym::judge::llm;
use wildgym::verdict::Verdict;
use wildgym_support::{Request, Response, ScriptedServer, final_answer, says};
use wildgym_tasks::judging::{Label, Pair, SHIPPED, read};

/// What a judge is asked about a pair: question and answer without what nobody sees.
fn asked(question: &str, answer: &str) -> (String, String) {
    let seen = |text: &str| {
        text.chars().filter(|letter| !"\u{200b}\u{ad}\u{2060}".contains(*letter)).collect()
    };
    (seen(question), seen(answer))
}

fn pairs() -> Vec<Pair> {
    read(SHIPPED).unwrap()
}

/// A judge that says of each pair what `says_so` says.
async fn judge(says_so: impl Fn(&Pair) -> bool) -> ScriptedServer {
    let replies: HashMap<(String, String), bool> =
        pairs().iter().map(|pair| (asked(&pair.question, &pair.answer), says_so(pair))).collect();
    ScriptedServer::start(move |request| {
        let compared = compared(request);
        let text = |field: &str| compared[field].as_str().unwrap_or_default().to_owned();
        verdict(replies[&(text("question"), text("answer"))])
    })
    .await
}

/// Returns the object that a judge is asked to compare.
fn compared(request: &Request) -> Value {
    serde_json::from_str(&request.key).unwrap()
}

fn verdict(correct: bool) -> Response {
    let word = if correct { "correct" } else { "incorrect" };
    says(&json!({ "reason": "scripted", "verdict": word }).to_string())
}

/// Runs `wildgym agreement --pairs` against a judge model.
async fn agreement(server: &ScriptedServer, more: &[&str]) -> Ran {
    let (url, place) = (server.base_url(), Place::new());
    let args = ["agreement", "--pairs", "--judge-model", "m", "--judge-base-url", &url, "--json"];
    let mut command = place.command(&[&args, more].concat());
    let output = tokio::task::spawn_blocking(move || command.output().unwrap()).await.unwrap();
    Ran {
        code: output.status.code(),
        out: String::from_utf8(output.stdout).unwrap(),
        err: String::from_utf8(output.stderr).unwrap(),
    }
}

fn is_right(pair: &Pair) -> bool {
    pair.label == Label::Correct
}

/// Counts of (label, judge), and from them agreement and κ by the textbook.
fn by_hand(said: &[(bool, bool)]) -> (f64, f64) {
    let share = |wanted: &dyn Fn(&(bool, bool)) -> bool| {
        let count = said.iter().filter(|pair| wanted(pair)).count();
        f64::from(u32::try_from(count).unwrap()) / f64::from(u32::try_from(said.len()).unwrap())
    };
    let agreed = share(&|(label, judge)| label == judge);
    let (labels, judged) = (share(&|pair| pair.0), share(&|pair| pair.1));
    let chance = labels * judged + (1.0 - labels) * (1.0 - judged);
    (agreed, (agreed - chance) / (1.0 - chance))
}

fn figures(ran: &Ran) -> (f64, f64) {
    let overall = &ran.json()["overall"];
    let of = |name: &str| overall[name]["value"].as_f64().unwrap();
    (of("agreement"), of("kappa"))
}

fn close(got: (f64, f64), want: (f64, f64)) {
    assert!((got.0 - want.0).abs() < 1e-12 && (got.1 - want.1).abs() < 1e-12, "{got:?} {want:?}");
}

/// What is decided before a model is asked is decided as labelled, so no judge is charged
/// with it and none is flattered.
#[test]
fn what_no_model_decides_is_decided_as_labelled() {
    let mut decided = 0;
    for pair in pairs() {
        if let Some((verdict, reasons)) = llm::gate(&pair.reference, &pair.answer) {
            decided += 1;
            let passes = verdict == Verdict::Pass;
            assert_eq!(passes, is_right(&pair), "{}: {reasons:?}", pair.id);
        }
    }
    assert!((40..pairs().len() / 2).contains(&decided), "{decided}");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_perfect_judge_has_agreement_and_kappa_one() {
    let server = judge(is_right).await;
    let ran = agreement(&server, &[]).await;
    assert_eq!(ran.code, Some(0), "{}", ran.err);
    let json = ran.json();
    assert_eq!(figures(&ran), (1.0, 1.0));
    assert_eq!((&json["unjudged"], &json["disagreements"]), (&json!(0), &json!([])));
    let without = json["without_model"].as_u64().unwrap();
    let gates = pairs().iter().filter(|p| llm::gate(&p.reference, &p.answer).is_some()).count();
    assert_eq!(without, gates as u64, "what is decided without a model is said");
    assert_eq!(server.requests().len() + gates, pairs().len(), "the rest is asked about once");
    for group in ["by_language", "by_difficulty", "by_scenario", "by_way"] {
        let groups = json[group].as_object().unwrap();
        assert!(groups.len() > 1, "{group}");
        let items: u64 = groups.values().map(|group| group["items"].as_u64().unwrap()).sum();
        assert_eq!(items, pairs().len() as u64, "{group}");
    }
    for end in ["agreement", "kappa"] {
        let low = json["overall"][end]["ci95"][0].as_f64().unwrap();
        // Where all agree, a question counts once, and there are 54.
        assert!(low > 0.8 && low < 0.95, "{end}: not even a perfect sample proves a judge: {low}");
    }
    assert!(server.violations().is_empty(), "{:?}", server.violations());
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn an_always_yes_judge_knows_nothing() {
    let server = judge(|_| true).await;
    let ran = agreement(&server, &["--every-pair"]).await;
    assert_eq!(ran.code, Some(0), "{}", ran.err);
    let said: Vec<_> = pairs().iter().map(|pair| (is_right(pair), true)).collect();
    let right = said.iter().filter(|(label, _)| *label).count();
    let share =
        f64::from(u32::try_from(right).unwrap()) / f64::from(u32::try_from(said.len()).unwrap());
    assert_eq!(figures(&ran), (share, 0.0));
    let json = ran.json();
    assert_eq!(json["without_model"], 0, "every pair was asked about");
    assert_eq!(json["overall"]["recall"], 1.0);
    assert_eq!(json["disagreements"].as_array().unwrap().len(), said.len() - right);

    // Behind the gates it can be wrong about less.
    let gated = agreement(&server, &[]).await;
    let said: Vec<_> = pairs()
        .iter()
        .map(|pair| {
            let gate = llm::gate(&pair.reference, &pair.answer);
            (is_right(pair), gate.is_none_or(|(verdict, _)| verdict == Verdict::Pass))
        })
        .collect();
    close(figures(&gated), by_hand(&said));
    assert!(figures(&gated).0 > share);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_random_judge_has_what_follows_by_arithmetic() {
    // A coin that falls the same way for the same pair, whatever the order.
    let coin = |pair: &Pair| {
        let hash = pair
            .id
            .bytes()
            .fold(0x811c_9dc5_u32, |hash, byte| (hash ^ u32::from(byte)).wrapping_mul(0x0100_0193));
        (hash >> 16) & 1 == 1
    };
    let server = judge(coin).await;
    let said: Vec<_> = pairs().iter().map(|pair| (is_right(pair), coin(pair))).collect();
    let want = by_hand(&said);
    assert!(want.1.abs() < 0.15, "a coin is no judge: {want:?}");
    close(figures(&agreement(&server, &["--every-pair"]).await), want);
    let gated: Vec<_> = pairs()
        .iter()
        .map(|pair| match llm::gate(&pair.reference, &pair.answer) {
            Some((verdict, _)) => (is_right(pair), verdict == Verdict::Pass),
            None => (is_right(pair), coin(pair)),
        })
        .collect();
    close(figures(&agreement(&server, &["--judge", "llm"]).await), by_hand(&gated));
}

/// What a judge does not say is in no figure, and is counted.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn silence_is_counted_apart() {
    let server = ScriptedServer::start(|request| {
        let text = compared(request)["question"].as_str().unwrap_or_default().to_owned();
        if text.is_ascii() { verdict(true) } else { says("I would say that it is correct.") }
    })
    .await;
    let ran = agreement(&server, &["--every-pair"]).await;
    assert_eq!(ran.code, Some(1), "{}", ran.err);
    let json = ran.json();
    let unjudged = pairs().iter().filter(|pair| !pair.question.is_ascii()).count();
    assert_eq!(json["unjudged"], unjudged);
    assert_eq!(json["overall"]["items"], pairs().len() - unjudged);
    assert_eq!(json["unjudged_items"].as_array().unwrap().len(), unjudged);
    assert_eq!(json["overall"]["kappa"]["value"], 0.0);
}

#[test]
fn pairs_of_ones_own_and_the_exact_judge() {
    let place = Place::new();
    let printed = place.wildgym(&["agreement", "--print-pairs"]);
    assert_eq!((printed.code, printed.out.as_str()), (Some(0), SHIPPED));
    fs::write(place.path().join("own.toml"), &printed.out).unwrap();
    let shipped = place.wildgym(&["agreement", "--pairs", "--judge", "exact", "--json"]);
    let own = place.wildgym(&["agreement", "--pairs", "own.toml", "--json"]);
    assert_eq!(own.json()["overall"], shipped.json()["overall"]);
    let overall = &own.json()["overall"];
    assert_eq!(overall["precision"], 1.0, "the exact judge passes nothing wrong");
    assert!(overall["recall"].as_f64().unwrap() < 0.5, "and misses much that is right");
    let table = place.wildgym(&["agreement", "--pairs", "--judge", "exact"]);
    assert!(table.out.contains("judge exact") && table.out.contains("kappa"), "{}", table.out);

    let one = printed.out.split("[[question]]").take(2).collect::<Vec<_>>().join("[[question]]");
    fs::write(place.path().join("bad.toml"), one.replace("label = \"correct\"", "label = 1"))
        .unwrap();
    //    arguments                                     says             why
    let table: [(&[&str], &str, &str); 7] = [
        (&["agreement", "--pairs", "bad.toml"], "line 1", "a label that is none"),
        (&["agreement", "--pairs", "none.toml"], "cannot read `none.toml`", "no file"),
        (&["agreement", "--pairs", "--judge", "best"], "`exact`, `llm` or `auto`", "no judge"),
        (&["agreement", "--pairs", "--judge", "llm"], "needs a model", "no model"),
        (&["agreement", "--pairs", "--judge", "exact", "--every-pair"], "no use", "no model"),
        (&["agreement"], "required", "nothing to compare"),
        (&["agreement", "none", "labels.csv"], "there is no run in `none`", "no run"),
    ];
    for (args, says, why) in table {
        let ran = place.wildgym(args);
        assert_eq!(ran.code, Some(2), "{why}: {}{}", ran.out, ran.err);
        assert!(ran.err.contains(says), "{why}: {}", ran.err);
    }
}

/// A run of four tasks, two answered rightly, with the exact judge.
async fn a_run(place: &Place) {
    let server = ScriptedServer::start(|request| {
        let late = request.key.contains("t-002") || request.key.contains("t-003");
        final_answer(if late { "=it is over" } else { "done" })
    })
    .await;
    let (suite, url) = (place.suite(4), server.base_url());
    let args = Place::asking(&suite, &url, &["-k", "2", "--name", "r", "--judge", "exact", "-q"]);
    let mut command = place.command(&args);
    let output = tokio::task::spawn_blocking(move || command.output().unwrap()).await.unwrap();
    assert_eq!(output.status.code(), Some(0), "{}", String::from_utf8_lossy(&output.stderr));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn labels_of_people_against_stored_verdicts() {
    let place = Place::new();
    a_run(&place).await;
    let template = place.wildgym(&["agreement", "runs/r", "--template"]);
    assert_eq!(template.code, Some(0), "{}", template.err);
    let lines: Vec<&str> = template.out.lines().collect();
    assert_eq!(lines[0], "trial,question,reference,answer,label");
    assert_eq!(lines.len(), 9, "four tasks, twice: {}", template.out);
    assert_eq!(lines[1], "react-m/t-000/full/1,Say that t-000 is over.,done,done,");
    assert_eq!(lines[8], "react-m/t-003/full/2,Say that t-003 is over.,done,'=it is over,");
    let blind = ["pass", "fail", "exact"].iter().all(|word| !template.out.contains(word));
    assert!(blind, "whoever labels must not see the verdict: {}", template.out);

    let blank = place.path().join("blank.csv");
    fs::write(&blank, &template.out).unwrap();
    let nothing = place.wildgym(&["agreement", "runs/r", "blank.csv", "--json"]);
    assert_eq!((nothing.code, nothing.out.as_str()), (Some(2), ""), "{}", nothing.err);
    assert!(nothing.err.contains("`blank.csv` has no label\n\nhint: write `pass` or `fail`"));

    // A person who lets one phrase pass: t-002.
    let filled: Vec<String> = lines
        .iter()
        .map(|line| match line.strip_suffix(',') {
            Some(row) if row.contains("t-003") => format!("{row},Incorrect"),
            Some(row) => format!("{row},pass"),
            None => (*line).to_owned(),
        })
        .collect();
    fs::write(place.path().join("labels.csv"), format!("\u{feff}{}\r\n", filled.join("\r\n")))
        .unwrap();
    let ran = place.wildgym(&["agreement", "runs/r", "labels.csv", "--json"]);
    assert_eq!(ran.code, Some(0), "{}", ran.err);
    let json = ran.json();
    assert_eq!((&json["judge"], &json["unjudged"]), (&json!("exact"), &json!(0)));
    let said = [[(true, true); 4].to_vec(), vec![(true, false); 2], vec![(false, false); 2]];
    close(figures(&ran), by_hand(&said.concat()));
    assert_eq!(json["overall"]["units"], 4, "trials of a task are alike");
    assert_eq!(json["by_scenario"]["data-analysis"]["items"], 8);
    let disagreements = json["disagreements"].as_array().unwrap();
    let names: Vec<&str> = disagreements.iter().filter_map(|d| d["trial"].as_str()).collect();
    assert_eq!(names, ["react-m/t-002/full/1", "react-m/t-002/full/2"]);
    assert_eq!(disagreements[0]["label"], "pass");
    assert!(disagreements[0]["reason"].as_str().unwrap().contains("differs"), "{json}");
    let table = place.wildgym(&["agreement", "runs/r", "labels.csv"]).out;
    assert!(table.contains("disagreements (2)") && table.contains("trials of 4 tasks"), "{table}");

    // Without the condition, of which the run has one.
    fs::write(place.path().join("short.csv"), "label,trial\r\n\r\npass,t-002/full/1\r\n").unwrap();
    let json = place.wildgym(&["agreement", "runs/r", "short.csv", "--json"]).json();
    assert_eq!(json["disagreements"][0]["trial"], "react-m/t-002/full/1");
    assert!(json.get("by_way").is_none(), "no model judges");

    // An attempt that nobody judged is in no figure.
    fs::write(place.path().join("runs/r/verdicts/exact.jsonl"), "").unwrap();
    let ran = place.wildgym(&["agreement", "runs/r", "labels.csv", "--json"]);
    assert_eq!((ran.code, &ran.json()["unjudged"]), (Some(1), &json!(8)), "{}", ran.out);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn labels_that_cannot_be_used_are_refused_with_their_lines() {
    let place = Place::new();
    a_run(&place).await;
    let trial = "react-m/t-000/full/1";
    let table = [
        (
            format!("trial,label\n{trial},pass\n{trial},fail\n"),
            "line 3: `react-m/t-000/full/1` is labelled in line 2 already",
            "twice",
        ),
        (
            format!("trial,label\r\n\r\n{trial},pass\r\nt-000/full/1,fail\r\n"),
            "line 4: `t-000/full/1` is labelled in line 3 already",
            "twice, by two names",
        ),
        (
            "trial,label\nreact-m/t-009/full/1,pass\n".to_owned(),
            "line 2: the run has no trial `react-m/t-009/full/1`",
            "unknown",
        ),
        (format!("trial,label\n{trial},yes\n"), "line 2: `yes` is no label", "no label"),
        (
            format!("trial,verdict\n{trial},pass\n"),
            "line 1: there is no column `label`",
            "no column",
        ),
        ("\u{1b}[2J,label\n".to_owned(), "there is no column `trial`", "an escape sequence"),
    ];
    for (text, says, why) in table {
        fs::write(place.path().join("l.csv"), text).unwrap();
        let ran = place.wildgym(&["agreement", "runs/r", "l.csv"]);
        assert_eq!(ran.code, Some(2), "{why}: {}", ran.out);
        assert!(ran.err.contains(says) && ran.err.contains("--template"), "{why}: {}", ran.err);
        assert!(!ran.err.contains('\u{1b}'), "{why}: {:?}", ran.err);
    }
    fs::write(place.path().join("l.csv"), [0xff, 0xfe, 0x00]).unwrap();
    assert!(place.wildgym(&["agreement", "runs/r", "l.csv"]).err.contains("not UTF-8"));
    fs::write(place.path().join("l.csv"), format!("trial,label\n{trial},pass\n")).unwrap();
    let other = place.wildgym(&["agreement", "runs/r", "l.csv", "--judge", "../x"]);
    assert_eq!(other.code, Some(2), "{}", other.out);
    assert!(other.err.contains("there are `exact`"), "{}", other.err);
    for flag in [&["--judge-model", "m"][..], &["--every-pair"]] {
        let ran = place.wildgym(&[&["agreement", "runs/r", "l.csv"], flag].concat());
        assert_eq!(ran.code, Some(2), "{}", ran.out);
        assert!(ran.err.contains(&format!("`{}` has no use with a run", flag[0])), "{}", ran.err);
    }
}

/// What equality decides says nothing about a model: labels too tell the two apart.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn labels_tell_apart_what_a_model_decided() {
    let yes = |request: &wildgym_support::Request| {
        if !request.headers["x-wildgym-role"].starts_with("judge") {
            let odd = request.key.contains("t-001") || request.key.contains("t-003");
            return final_answer(if odd { "It is done" } else { "done" });
        }
        let sent: Value = serde_json::from_str(&request.key).unwrap_or_default();
        let right = sent["answer"].as_str().is_some_and(|answer| !answer.contains("Dunmere"));
        let verdict = if right { "correct" } else { "incorrect" };
        says(&json!({ "reason": "", "verdict": verdict }).to_string())
    };
    let server = ScriptedServer::start(yes).await;
    let (place, url) = (Place::new(), server.base_url());
    let suite = place.suite(4);
    let more = ["-k", "1", "--judge-model", "j", "--name", "r", "-q"];
    let ran = place.wildgym(&Place::asking(&suite, &url, &more));
    assert_eq!(ran.code, Some(0), "{}", ran.err);
    let labels = "trial,label\nt-000/full/1,pass\nt-001/full/1,pass\nt-002/full/1,pass\n\
                  t-003/full/1,fail\n";
    fs::write(place.path().join("l.csv"), labels).unwrap();
    let json = place.wildgym(&["agreement", "runs/r", "l.csv", "--json"]).json();
    let of = |way: &str| json["by_way"][way]["agreement"]["value"].clone();
    assert_eq!(of("asked of a model"), 0.5, "{json}");
    assert_eq!((of("decided without a model"), &json["without_model"]), (json!(1.0), &json!(2)));
}
