//! Programs whose parts ask the model side by side, and programs on cassettes.

use std::path::Path;
use std::time::Duration;

use serde_json::{Value, json};
use wildgym_support::{ScriptedServer, hang, says};

use super::common::{Place, timeless, transcripts};
use super::program::{contains, outcome, python};
use super::suite;

/// A program beside `gym.py`, in a place with a suite.
struct Stage {
    place: Place,
    command: String,
}

impl Stage {
    fn set(program: &str) -> Self {
        let place = Place::new();
        suite::write(place.path());
        let folder = place.path().join("agent");
        std::fs::create_dir(&folder).unwrap();
        let helper = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/mcp/gym.py");
        std::fs::copy(helper, folder.join("gym.py")).unwrap();
        std::fs::write(folder.join("main.py"), program).unwrap();
        Self { place, command: format!("{} agent/main.py", python()) }
    }

    /// Runs it once, with more flags, and returns how the attempt ended.
    fn run(&self, name: &str, url: &str, more: &[&str]) -> Value {
        let args = [
            "run",
            "suite",
            "--agent-cmd",
            &self.command,
            "--model",
            "scripted",
            "--base-url",
            url,
            "--name",
            name,
            "-k",
            "1",
            "--quiet",
            "--judge",
            "exact",
        ];
        let ran = self.place.wildgym(&[&args, more].concat());
        assert!(!ran.err.contains("error:"), "{}", ran.err);
        outcome(&self.place, name)
    }

    fn records(&self, name: &str) -> Vec<Value> {
        let all = transcripts(&self.place.path().join("runs").join(name));
        let lines = all.values().flat_map(|text| text.lines());
        lines.map(|line| serde_json::from_str(line).unwrap()).collect()
    }

    /// Returns the rounds of the exchanges of a run, in their order.
    fn rounds(&self, name: &str) -> Vec<u64> {
        let records = self.records(name);
        let asked = records.iter().filter(|record| record["record"] == "model");
        asked.map(|record| record["round"].as_u64().unwrap()).collect()
    }
}

/// The model answers none until all are asked, and then the last first: one after the other
/// they would never end.
#[tokio::test(flavor = "multi_thread")]
async fn parts_of_a_program_ask_side_by_side() {
    if !contains() {
        return;
    }
    let server = ScriptedServer::serve(0, true, |request| {
        let late = Duration::from_millis(150)
            .saturating_mul(4_u32.saturating_sub(u32::try_from(request.number).unwrap()));
        says(&format!("to {}", request.key)).hold_until("all", 3).after(late)
    })
    .await
    .unwrap();
    let stage = Stage::set("from gym import *\nprint(' '.join(together('a', 'b', 'c')))");
    let end = stage.run("all", &server.base_url(), &[]);
    assert_eq!(end["answer"], "to a to b to c", "{end}");
    assert_eq!((&end["rounds"], &end["usage"]["input"]), (&json!(3), &json!(30)), "{end}");
    assert_eq!(stage.rounds("all"), [1, 2, 3], "in the order asked, not that of the replies");
    assert_eq!(server.most_in_flight(), 3);
}

/// However many ask at once, no request is sent that the limit does not allow, and those that
/// were sent are counted.
#[tokio::test(flavor = "multi_thread")]
async fn no_round_is_begun_beyond_the_limit() {
    if !contains() {
        return;
    }
    let server =
        ScriptedServer::serve(0, true, |_| says("yes").hold_until("both", 2)).await.unwrap();
    let stage = Stage::set("from gym import *\nprint(together(*'abcdefgh'))");
    let end = stage.run("two", &server.base_url(), &["--rounds", "2"]);
    assert_eq!((&end["outcome"], &end["rounds"]), (&json!("limit:rounds"), &json!(2)), "{end}");
    assert_eq!(server.requests().len(), 2);
    assert_eq!(stage.rounds("two"), [1, 2]);
    assert_eq!(end["usage"]["input"], 20, "{end}");
}

/// One part calls tools while the model thinks about another's question, and the other way
/// round; the record has each once.
#[tokio::test(flavor = "multi_thread")]
async fn calls_are_made_while_the_model_thinks() {
    const TEXT: &str = "
from gym import *
import threading
gym = Gym()
slow = threading.Thread(target=ask, args=('slow',))
slow.start()
first = gym.call('execute_code', code='print(6 * 7)')
code = 'n = 0\\nfor i in range(300000): n += i\\nprint(n)'
busy = threading.Thread(target=gym.call, args=('execute_code',), kwargs={'code': code})
busy.start()
ask('quick')
for thread in (slow, busy):
    thread.join()
gym.call('submit_answer', answer='42' if '42' in first else first)
";
    if !contains() {
        return;
    }
    let server =
        ScriptedServer::serve(0, true, |_| says("so").hold_until("both", 2)).await.unwrap();
    let stage = Stage::set(TEXT);
    let end = stage.run("mixed", &server.base_url(), &[]);
    assert_eq!(end["answer"], "42", "{end}");
    assert_eq!((&end["rounds"], &end["calls"]), (&json!(2), &json!(2)), "{end}");
    let mut rounds = stage.rounds("mixed");
    rounds.sort_unstable();
    assert_eq!(rounds, [1, 2]);
    assert_eq!(stage.records("mixed").iter().filter(|one| one["record"] == "call").count(), 2);
}

/// A recorded program plays again without an endpoint: the same transcript where it asks one
/// thing after the other, and the same exchanges where it asks side by side.
#[tokio::test(flavor = "multi_thread")]
async fn a_program_replays_from_a_cassette() {
    const SERIAL: &str = "
from gym import *
import os
gym = Gym()
gym.call('get_task')
plan = ask('plan', user=os.urandom(4).hex(), temperature=0.1)
found = gym.call('execute_code', code='print(6 * 7)')
refused = ask('refuse me')
print(ask(plan + found + refused[:3]), '<final_answer>42</final_answer>')
";
    const PARALLEL: &str = "
from gym import *
print(ask(' '.join(together('a', 'b', 'a', 'c'))))
";
    if !contains() {
        return;
    }
    let script = |request: &wildgym_support::Request| match request.key.as_str() {
        "refuse me" => wildgym_support::status(400),
        key => says(&format!("reply to {key}")),
    };
    for (text, serial) in [(SERIAL, true), (PARALLEL, false)] {
        let server = ScriptedServer::serve(0, true, script).await.unwrap();
        let stage = Stage::set(text);
        let url = server.base_url();
        let before = stage.run("before", &url, &["--record-models", "tape"]);
        assert_eq!(before["outcome"], "answered", "{before}");
        drop(server);
        let after = stage.run("after", &url, &["--replay-models", "tape"]);
        let plain = |mut end: Value| {
            end.as_object_mut().unwrap().remove("t");
            end
        };
        if serial {
            assert_eq!(plain(after), plain(before));
            let text = |name: &str| {
                let all = transcripts(&stage.place.path().join("runs").join(name));
                timeless(all.values().next().unwrap())
            };
            assert_eq!(text("after"), text("before"));
        } else {
            assert_eq!(after["outcome"], "answered", "{after}");
            let asked = |name: &str| {
                let records = stage.records(name);
                let all = records.iter().filter(|record| record["record"] == "model");
                let mut all: Vec<String> =
                    all.map(|one| format!("{} {}", one["request"], one["reply"])).collect();
                all.sort();
                all
            };
            assert_eq!(asked("after").len(), 5);
            assert_eq!(asked("after"), asked("before"));
        }
    }
}

/// What is not on the cassette is said, and no score is made of it; what a limit cut off is
/// cut off again, and what the program itself left behind is not.
#[tokio::test(flavor = "multi_thread")]
async fn a_replay_says_what_is_not_on_the_cassette() {
    const TEXT: &str = "
from gym import *
import os, threading, time
said = ask('what is ' + os.environ['WHAT'])
if os.environ.get('MORE'):
    ask('and more')
if os.environ.get('LEAVE'):
    threading.Thread(target=ask, args=('wait',), daemon=True).start()
    # Known to be under way once a second question was answered.
    ask('then')
if os.environ.get('WAIT'):
    ask('wait')
Gym().call('submit_answer', answer=said)
";
    if !contains() {
        return;
    }
    let server = ScriptedServer::serve(0, true, |request| match request.key.as_str() {
        "wait" => hang().hold_until("asked", 1),
        "then" => says("so").hold_until("left", 1),
        _ => says("42"),
    })
    .await
    .unwrap();
    let (stage, url) = (Stage::set(TEXT), server.base_url());
    let table = [
        ("same", "WHAT=it", "WHAT=it", "answered", ""),
        ("other", "WHAT=it", "WHAT=this", "lost:model", "diverged at round 1"),
        ("more", "WHAT=it", "WHAT=it MORE=1", "lost:model", "no exchange recorded for round 2"),
        ("left", "WHAT=it LEAVE=1", "WHAT=it LEAVE=1", "answered", ""),
        ("cut", "WHAT=it WAIT=1", "WHAT=it WAIT=1", "limit:time", "waiting for the model"),
    ];
    for (name, recorded, replayed, expected, words) in table {
        let variables = |all: &'static str| -> Vec<&'static str> {
            all.split(' ').flat_map(|one| ["--agent-env", one]).collect()
        };
        let tape = format!("tape-{name}");
        let mut more = variables(recorded);
        more.extend([
            "--record-models",
            &tape,
            "--seconds",
            if name == "cut" { "4" } else { "600" },
        ]);
        let end = stage.run(&format!("{name}-before"), &url, &more);
        let first = if expected == "lost:model" { "answered" } else { expected };
        assert_eq!(end["outcome"], first, "{name}: {end}");
        let mut more = variables(replayed);
        more.extend(["--replay-models", &tape, "--seconds", "600"]);
        let end = stage.run(&format!("{name}-after"), &url, &more);
        assert_eq!(end["outcome"], expected, "{name}: {end}");
        assert!(end["detail"].as_str().unwrap_or_default().contains(words), "{name}: {end}");
    }
}

/// Only the first answer counts, and nothing is called after it.
#[test]
fn nothing_is_done_after_the_answer() {
    const TEXT: &str = "
from gym import *
gym = Gym()
gym.call('submit_answer', answer='42')
while True:
    try:
        gym.call('submit_answer', answer='43')
        gym.call('execute_code', code='print(1)')
    except OSError:
        pass
";
    if !contains() {
        return;
    }
    let stage = Stage::set(TEXT);
    let args =
        ["run", "suite", "--agent-cmd", &stage.command, "--name", "twice", "-k", "1", "--quiet"];
    assert_eq!(stage.place.wildgym(&args).code, Some(0));
    let end = outcome(&stage.place, "twice");
    assert_eq!((&end["answer"], &end["calls"]), (&json!("42"), &json!(0)), "{end}");
}
