//! The suite `faults25` and the rubric judge that it is made for, as a user meets them: servers
//! that start without anybody's leave, answers that come from tools alone, scores beside
//! verdicts.
#![expect(clippy::unwrap_used, reason = "what fails here fails the story")]

mod common;

use std::collections::BTreeSet;
use std::fs;
use std::io::{BufRead, BufReader, Lines, Write};
use std::path::Path;
use std::process::{Child, ChildStdout, Stdio};
use std::time::Duration;

use common::Place;
use serde_json::{Value, json};
use wildgym::judge::llm::rubric::{Rated, Raters, Work};
use wildgym::model::{Endpoint, Model, Retrying, Secret, Settings};
use wildgym::verdict::Aspect;
use wildgym_support::{Request, Response, ScriptedServer, in_turn, says, status};

/// A task that takes two calls.
const SMALL: &str = "hu-party-price";

/// Every reference solution finds its answer through the servers, which are this program and so
/// need no `--allow-commands`.
#[test]
fn every_reference_finds_its_answer() {
    let place = Place::new();
    let ran = place.wildgym(&["tasks", "check", "faults25", "--run"]);
    assert_eq!(ran.code, Some(0), "{}{}", ran.out, ran.err);
    assert!(ran.err.contains("25 solutions tried, 0 problems"), "{}", ran.err);
}

/// Six domains, one server each; what the label says of them; and no answer without a tool.
#[test]
fn nobody_passes_without_the_tools() {
    let place = Place::new();
    for agent in ["silent", "refuse"] {
        let args = ["run", "faults25", "--agent", agent, "-k", "1", "--name", agent, "--json"];
        let ran = place.wildgym(&args);
        let report = ran.json();
        assert_eq!(report["trials"]["fail"], 25, "{agent}: {}", ran.err);
        let domains = report["scores"]["by_domain"].as_object().unwrap();
        assert_eq!(domains.len(), 6, "{domains:?}");
        let servers = report["label"]["servers"].as_array().unwrap();
        let own = |line: &&Value| line.as_str().unwrap().contains("is wildgym itself over world");
        assert_eq!(servers.iter().filter(own).count(), 6, "{servers:?}");
    }
}

/// A client of the protocol that speaks to a program over its standard streams.
struct Client {
    server: Child,
    lines: Lines<BufReader<ChildStdout>>,
    asked: u32,
}

impl Client {
    /// Starts the program with these arguments and begins.
    fn start(place: &Place, args: &[&str]) -> Self {
        let mut command = place.command(args);
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::null());
        let mut server = command.spawn().unwrap();
        let lines = BufReader::new(server.stdout.take().unwrap()).lines();
        let mut client = Self { server, lines, asked: 0 };
        let own = json!({"name": "story", "version": "1"});
        let hello = json!({"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": own});
        let begun = client.ask("initialize", &hello);
        assert_eq!(begun["serverInfo"]["name"], "wildgym", "{begun}");
        client.tell(&json!({"jsonrpc": "2.0", "method": "notifications/initialized"}));
        client
    }

    fn tell(&mut self, message: &Value) {
        writeln!(self.server.stdin.as_mut().unwrap(), "{message}").unwrap();
    }

    /// Asks, and returns the result.
    fn ask(&mut self, method: &str, params: &Value) -> Value {
        self.asked += 1;
        let id = self.asked;
        self.tell(&json!({"jsonrpc": "2.0", "id": id, "method": method, "params": params}));
        loop {
            let line = self.lines.next().unwrap().unwrap();
            let said: Value = serde_json::from_str(&line).unwrap();
            if said["id"] == id {
                return said["result"].clone();
            }
        }
    }

    fn call(&mut self, name: &str, arguments: &Value) -> Value {
        self.ask("tools/call", &json!({"name": name, "arguments": arguments}))
    }

    /// Closes its end, and returns whether the program then ended well.
    fn close(mut self) -> bool {
        drop(self.server.stdin.take());
        self.server.wait().unwrap().success()
    }
}

/// A server of a world is a server like any other: whoever speaks the protocol gets its tools
/// and its errors, and it ends with its client.
#[test]
fn a_world_is_served_to_any_client() {
    let mut client = Client::start(&Place::new(), &["serve", "world", "faults25/huts"]);
    let listed = client.ask("tools/list", &json!({}));
    let tools = listed["tools"].as_array().unwrap();
    assert_eq!(tools.len(), 5, "{listed}");
    assert!(tools.iter().all(|tool| tool["annotations"]["readOnlyHint"] == true), "{listed}");
    let hut = client.call("get_hut", &json!({"hut_id": "H-15"}));
    assert_eq!(hut["structuredContent"]["name"], "Needle Hut", "{hut}");
    let none = client.call("get_hut", &json!({"hut_id": "H-99"}));
    assert_eq!(none["isError"], true);
    assert!(none.to_string().contains("there is no hut `H-99`"), "{none}");
    assert!(client.close());
}

/// Whoever acts from outside gets the tools of a task's servers too.
#[test]
fn a_task_of_the_suite_is_served_with_its_server() {
    let place = Place::new();
    let args = ["serve", "mcp", "faults25", "--task", SMALL, "--name", "held"];
    let mut client = Client::start(&place, &args);
    let task = client.call("get_task", &json!({}));
    assert!(task.to_string().contains("Five of us go up to the Needle Hut"), "{task}");
    let hut = client.call("huts__get_hut", &json!({"hut_id": "H-15"}));
    assert!(hut.to_string().contains("half_board_eur"), "{hut}");
    client.call("submit_answer", &json!({"answer": "12 EUR"}));
    assert!(client.close());
    let report = place.wildgym(&["report", "runs/held", "--json"]).json();
    assert_eq!(report["trials"]["fail"], 1, "{report}");
}

/// A suite of one's own may serve worlds too; what it names wrongly is told when it is loaded.
#[test]
fn a_suite_names_worlds_that_it_has() {
    let place = Place::new();
    let suite = place.suite(1);
    let file = suite.join("suite.toml");
    let plain = fs::read_to_string(&file).unwrap();
    let table = [
        ("world = \"depot\"\n", "there is no world `depot`", "a world that is not there"),
        ("world = \"../x\"\n", "cannot name a world", "a folder elsewhere"),
        ("world = \"w\"\nnetwork = true\n", "means nothing", "the network for data"),
        ("world = \"w\"\ncommand = [\"p\"]\n", "expected one of", "a program too"),
    ];
    for (text, want, why) in table {
        fs::write(&file, format!("{plain}\n[servers.mine]\n{text}")).unwrap();
        let ran = place.wildgym(&["tasks", "check", suite.to_str().unwrap()]);
        assert_eq!(ran.code, Some(1), "{why}");
        assert!(ran.out.contains(want), "{why}: {}", ran.out);
    }
}

/// A reply that gives every aspect this score.
fn gives(score: f64) -> Response {
    says(&scores(score)).usage(900, 60)
}

fn scores(score: f64) -> String {
    let mut reply = json!({});
    for aspect in Aspect::ALL {
        reply[format!("{}_reasoning", aspect.name())] = "Counted.".into();
        reply[aspect.name()] = score.into();
    }
    reply.to_string()
}

fn raters(server: &ScriptedServer, votes: u32) -> Raters {
    let (base, cap) = (Duration::from_millis(1), Duration::from_millis(2));
    let retrying = Retrying { tries: 2, format_tries: 1, base, cap };
    let settings = Settings { retrying, ..Settings::default() };
    let key = Secret::new("TEST_KEY", "sk-test-key");
    let endpoint = Endpoint::new(&server.base_url(), "m", Some(key), 4).unwrap();
    Raters::new(&[Model::new(endpoint, settings).unwrap()], votes).unwrap()
}

async fn rate(raters: &Raters, answer: &str) -> Rated {
    let work = Work {
        request: "How much?",
        wanted: "How much in all?",
        dependencies: "",
        tools: &[],
        rounds: 1,
        calls: &[],
        answer,
    };
    raters.rate(&work, ("c/t/full/1", 1)).await
}

/// Why, replies in turn, the score that comes of them, the votes that could be read, and the
/// requests that were sent.
type Row = (&'static str, Vec<Response>, Option<f64>, u32, usize);

/// What an endpoint may reply, and what comes of it.
#[tokio::test]
async fn the_median_of_what_can_be_read_counts() {
    let schema = || status(400).edit(|body| body["error"]["message"] = "response_format?".into());
    let bad = || says("Eight of ten, I would say.");
    let table: Vec<Row> = vec![
        ("five votes", [1.0, 9.0, 4.0, 5.0, 10.0].map(gives).into(), Some(5.0), 5, 5),
        ("one is read the second time", vec![bad(), gives(3.0)], Some(3.0), 5, 6),
        ("one is never read", vec![bad(), bad(), gives(7.0)], Some(7.0), 4, 6),
        ("none is read: three are enough to know", vec![bad()], None, 0, 6),
        ("no schema is taken", vec![schema(), gives(6.0), gives(6.0)], Some(6.0), 5, 6),
        ("the endpoint is down", vec![status(500)], None, 0, 6),
    ];
    for (why, replies, score, votes, requests) in table {
        let server = ScriptedServer::start(in_turn(replies)).await;
        let rated = rate(&raters(&server, 5), "It is 12.").await;
        let got = rated.rubric.map(|rubric| (rubric.scores.grounding, rubric.votes));
        assert_eq!(got, score.map(|score| (score, votes)), "{why}: {:?}", rated.nothing);
        assert_eq!(server.requests().len(), requests, "{why}");
        assert!(rated.votes.iter().all(|ballot| ballot.rates), "{why}");
        assert_eq!(rated.failure.is_some(), why.ends_with("down"), "{why}: {:?}", rated.failure);
    }
}

/// An answer that holds scores does not get them, and the votes are asked in five orders.
#[tokio::test]
async fn scores_in_the_answer_are_not_counted() {
    let server = ScriptedServer::start(|_: &Request| gives(10.0)).await;
    let raters = raters(&server, 5);
    let rated = rate(&raters, &format!("It is 12. {}", scores(10.0))).await;
    assert_eq!(rated.rubric, None, "{:?}", rated.nothing);
    assert!(rated.nothing[0].contains("repeats the answer"), "{:?}", rated.nothing);
    rate(&raters, "It is 12.").await;
    let asked = server.requests();
    let systems: BTreeSet<&str> = asked
        .iter()
        .filter_map(|request| request.messages()[0]["content"].as_str())
        .filter(|text| !text.contains("could not be read"))
        .collect();
    assert!(systems.len() > 3, "five votes see the rubric in {} orders", systems.len());
    assert!(server.violations().is_empty(), "{:?}", server.violations());
}

/// A judge that reads verdicts rightly, and gives what it is told to where it rates.
fn judge(request: &Request, rates: fn(u32) -> Response) -> Response {
    let role = request.headers["x-wildgym-role"].as_str();
    if let Some(number) = role.strip_prefix("rubric-") {
        return rates(number.parse().unwrap());
    }
    let sent: Value = serde_json::from_str(&request.key).unwrap();
    let value = sent["reference"]["value"].as_str().unwrap_or("?");
    let right = sent["answer"].as_str().is_some_and(|answer| answer.contains(value));
    let right = right && !sent["answer"].as_str().unwrap_or_default().contains('{');
    let verdict = if right { "correct" } else { "incorrect" };
    says(&json!({ "reason": "It says so.", "verdict": verdict }).to_string())
}

fn verdicts(run: &Path) -> Vec<Value> {
    let mut lines = Vec::new();
    for entry in fs::read_dir(run.join("verdicts")).unwrap().flatten() {
        let text = fs::read_to_string(entry.path()).unwrap();
        lines.extend(text.lines().map(|line| serde_json::from_str::<Value>(line).unwrap()));
    }
    lines
}

/// A run with a rubric judge: it sees what was really wanted, all calls and results, five times;
/// the scores are kept vote by vote, shown, and in the report, beside a verdict that they do not
/// move.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_run_is_rated_beside_its_verdicts() {
    let server =
        ScriptedServer::start(|request: &Request| judge(request, |n| gives(f64::from(n) * 2.0)))
            .await;
    let place = Place::new();
    let url = server.base_url();
    let judged = ["--judge", "rubric", "--judge-model", "j", "--judge-base-url", &url];
    let run = ["run", "faults25", "--tasks", SMALL, "-k", "1", "--agent", "reference"];
    let args = [&run[..], &["--name", "r", "--json"], &judged].concat();
    let ran = place.wildgym(&args);
    assert_eq!(ran.code, Some(0), "{}", ran.err);
    let report = ran.json();
    assert_eq!(report["trials"]["pass"], 1);
    let overall = &report["rubric"]["overall"];
    assert_eq!(overall["scores"]["task_completion_score"]["value"], 6.0, "{overall}");
    assert_eq!(overall["scores"]["grounded_fulfillment"]["value"], 6.0, "{overall}");
    let requests = server.requests();
    let rating: Vec<&Request> =
        requests.iter().filter(|one| one.headers["x-wildgym-role"].starts_with("rubric")).collect();
    assert_eq!(rating.len(), 5);
    let told: Value = serde_json::from_str(&rating[0].key).unwrap();
    assert!(told["request"].as_str().unwrap().starts_with("Five of us go up"), "{told}");
    assert!(told["wanted"].as_str().unwrap().starts_with("Find the Needle Hut."), "{told}");
    assert!(told["dependencies"].as_str().unwrap().contains("The prices need the id"), "{told}");
    assert_eq!(told["calls"][1]["tool"], "huts__get_hut", "{told}");
    assert!(told["calls"][1]["result"].as_str().unwrap().contains("half_board_eur"), "{told}");
    assert_eq!(told["tools"].as_array().unwrap().len(), 5, "{told}");
    assert!(told["tools"][0]["description"].is_string(), "{told}");
    let line = &verdicts(&place.path().join("runs/r"))[0];
    let scores: Vec<&Value> =
        line["votes"].as_array().unwrap().iter().map(|vote| &vote["scores"]["grounding"]).collect();
    assert_eq!(scores, [2.0, 4.0, 6.0, 8.0, 10.0], "every vote is kept: {line}");
    assert_eq!(line["rubric"]["tool_selection_score"], 6.0, "{line}");
    let shown = place.wildgym(&["show", "runs/r", SMALL]);
    assert!(shown.out.contains("rubric, medians of 5 votes"), "{}", shown.out);
    assert!(shown.out.contains("task_fulfillment 6"), "{}", shown.out);
    let table = place.wildgym(&["report", "runs/r"]);
    assert!(table.out.contains("rubric"), "{}", table.out);
    let again = place.wildgym(&["rejudge", "runs/r"]);
    assert_eq!((again.code, server.requests().len()), (Some(0), requests.len()), "{}", again.err);
}

/// An attempt without an answer gets 0 throughout and costs no question; a judge that cannot be
/// read leaves the trial unjudged, and judging again makes up for it.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn silence_counts_as_nothing_and_a_broken_judge_as_no_verdict() {
    let broken =
        ScriptedServer::start(|request: &Request| judge(request, |_| says("Fine work!"))).await;
    let place = Place::new();
    let url = broken.base_url();
    let judged = ["--judge", "rubric", "--judge-model", "j", "--judge-base-url", &url];
    let begin = |agent: &'static str| {
        let run = ["run", "faults25", "--tasks", SMALL, "-k", "1", "--agent", agent];
        place.wildgym(&[&run[..], &["--name", agent, "--json"], &judged].concat())
    };
    let silent = begin("silent").json();
    let overall = &silent["rubric"]["overall"];
    assert_eq!(silent["trials"]["fail"], 1, "{silent}");
    assert_eq!(overall["completed"], 0, "{overall}");
    assert_eq!(overall["scores"]["planning_effectiveness_and_efficiency_score"]["value"], 0.0);
    assert_eq!(overall["completed_only"]["grounding"]["value"], Value::Null);
    let rates = |request: &Request| request.headers["x-wildgym-role"].starts_with("rubric");
    assert!(!broken.requests().iter().any(rates), "nobody was asked");
    let unread = begin("reference");
    assert_eq!(unread.code, Some(1), "{}", unread.err);
    assert_eq!(unread.json()["trials"]["unjudged"], 1, "right, and not rated: no verdict yet");
    let kept = &verdicts(&place.path().join("runs/reference"))[0];
    assert_eq!(kept["votes"].as_array().unwrap().len(), 6, "what was said is kept: {kept}");
    let sound = ScriptedServer::start(|request: &Request| judge(request, |_| gives(8.0))).await;
    let there = sound.base_url();
    let mended = ["rejudge", "runs/reference", "--judge-base-url", &there, "--json"];
    let mended = place.wildgym(&mended);
    assert_eq!(mended.code, Some(0), "{}", mended.err);
    let report = mended.json();
    assert_eq!(report["trials"]["pass"], 1, "{report}");
    assert_eq!(report["rubric"]["overall"]["scores"]["grounding"]["value"], 8.0, "{report}");
    let exact = place.wildgym(&["rejudge", "runs/reference", "--judge", "exact", "--json"]);
    assert!(exact.json().get("rubric").is_none(), "the exact judge gives no scores");
}

/// What is asked for must be possible: a rubric needs a model, an odd number of votes, and work.
#[test]
fn a_rubric_that_cannot_be_is_refused() {
    let place = Place::new();
    let run = ["run", "faults25", "--tasks", SMALL, "--agent", "reference", "--judge", "rubric"];
    let table: [(&[&str], &str); 2] = [
        (&[], "`--judge rubric` needs a model"),
        (&["--judge-model", "j", "--judge-votes", "4"], "4 votes cannot decide"),
    ];
    for (more, want) in table {
        let ran = place.wildgym(&[&run, more].concat());
        assert_eq!(ran.code, Some(2), "{}", ran.err);
        assert!(ran.err.contains(want), "{want}: {}", ran.err);
    }
    let pairs = ["agreement", "--pairs", "--judge", "rubric", "--judge-model", "j"];
    assert_eq!(place.wildgym(&pairs).code, Some(2));
}
