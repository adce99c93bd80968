//! Browsing, from the command line to pages in a real browser: by the navigator of
//! `browse_url`, by page actions as tools, and by the reference agent in both ways.

#![expect(clippy::unwrap_used, reason = "what fails here fails the story")]

mod common;

use std::fs;
use std::path::{Path, PathBuf};

use common::{Place, is_finished, timeless, transcripts, verdicts};
use serde_json::{Value, json};
use wildgym_support::{
    Request, Response, ScriptedServer, calls, final_answer, navigates, navigator, says, status,
};

const LOGIN: &str = r"<!doctype html><title>Crew</title><h1>Crew login</h1>
<form id=f><label>Username <input id=u></label><label>Password <input id=p type=password></label>
<button>Sign in</button></form><p id=out></p><script>
f.onsubmit = (event) => { event.preventDefault();
  if (u.value === 'm.holm' && p.value === 'gull') location.href = '/fares';
  else out.textContent = 'Wrong password.'; };
</script>";

/// A table of four screens, in which the answer is nowhere written.
fn fares() -> String {
    let row = |n: u32| format!("<tr><td>{n}</td><td>Quay {n}</td><td>{}.50</td></tr>", n * 3);
    let rows: String = (1..=80).map(row).collect();
    format!(
        "<!doctype html><title>Fares</title><h1>Fares</h1><a href='/fares.csv' download>Fares as \
         file</a><table><tr><th>Stop</th><th>Name</th><th>Fare</th></tr>{rows}</table>\
         <a href='/'>Log out</a>"
    )
}

const SOLUTION: &str = r#"format = 1

[[round]]
[[round.call]]
name = "fares"
tool = "browse_url"
arguments = { task_prompt = "Read all fares.", start_url = "https://crew.example/" }
navigate = [
  { fill = "username", text = "m.holm" },
  { fill = "Password", text = "gull" },
  { click = "Sign in", role = "button" },
  { read = "page" },
  { scroll = "top" },
  { download = "Fares as file" },
]

[[round]]
[[round.call]]
name = "file"
tool = "execute_code"
arguments.code = { "$template" = "print(open('{{ fares | regex('downloaded: (.+)') }}').read())" }

[answer]
expression = "(fares | regex_all('Quay [0-9]+ [|] ([0-9.]+)') | map('number') | sum) + (file | number)"
"#;

/// Writes a suite of one task over one site, and returns its folder. Quays 1 to 80 cost
/// three times their number and a half; the file holds 7.
fn suite(place: &Place) -> PathBuf {
    let folder = place.path().join("suite");
    let files = [
        (
            "suite.toml",
            "format = 1\nname = \"crew\"\nversion = \"1.0.0\"\ndescription = \"For a story\"\n",
        ),
        (
            "tasks/ds-fares/task.toml",
            "format = 1\nid = \"ds-fares\"\ntitle = \"Sum up\"\nscenario = \"deep-search\"\n\
             domain = \"tests\"\nlanguage = \"en\"\nnow = \"2026-03-01T09:00:00Z\"\n\n\
             [environment]\nweb = \"hermetic\"\n\n[answer]\nkind = \"number\"\nvalue = 9767.0\n",
        ),
        ("tasks/ds-fares/instruction.md", "What do all quays cost together?\n"),
        ("tasks/ds-fares/reference/solution.toml", SOLUTION),
        ("sites/crew.example/site.toml", "title = \"Crew\"\nlanguage = \"en\"\n"),
        ("sites/crew.example/pages/index.html", LOGIN),
        ("sites/crew.example/pages/fares.html", &fares()),
        ("sites/crew.example/pages/fares.csv", "7\n"),
    ];
    for (path, text) in files {
        let path = folder.join(path);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    }
    folder
}

fn run(place: &Place, args: &[&str]) -> Value {
    let suite = suite(place);
    let base = ["run", suite.to_str().unwrap(), "-k", "1", "--name", "r", "--json", "--quiet"];
    let ran = place.wildgym(&[&base, args].concat());
    assert!(ran.code == Some(0) || ran.code == Some(1), "{}\n{}", ran.out, ran.err);
    ran.json()
}

/// Returns the records of the one attempt of a run.
fn records(place: &Place) -> Vec<Value> {
    let all = transcripts(&place.path().join("runs/r"));
    let text = all.values().next().unwrap();
    assert!(is_finished(text), "{text}");
    text.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}

fn of<'a>(records: &'a [Value], kind: &str) -> Vec<&'a Value> {
    records.iter().filter(|record| record["record"] == kind).collect()
}

fn passed(place: &Place) -> bool {
    let all = verdicts(&place.path().join("runs/r"));
    assert_eq!(all.len(), 1, "{all:?}");
    all[0]["verdict"] == "pass"
}

/// One solution finds its answer in both ways, and the result that its expressions read is
/// the same.
#[test]
fn the_reference_passes_delegated_and_direct() {
    let (delegated, direct) = (Place::new(), Place::new());
    run(&delegated, &["--agent", "reference"]);
    let first = records(&delegated);
    assert!(passed(&delegated), "{first:#?}");
    let calls = of(&first, "call");
    assert_eq!(calls[0]["tool"], "browse_url");
    let rounds = calls[0]["notes"].as_array().unwrap();
    assert_eq!(rounds[1]["round"], 1, "{rounds:#?}");
    assert!(rounds[1]["then"].as_str().unwrap().contains("Username"), "{rounds:#?}");

    run(&direct, &["--agent", "reference", "--browser", "direct"]);
    let second = records(&direct);
    assert!(passed(&direct), "{second:#?}");
    let tools: Vec<&str> =
        of(&second, "call").iter().map(|call| call["tool"].as_str().unwrap()).collect();
    assert_eq!(tools[..4], ["visit_page", "fill_input_id", "fill_input_id", "click_id"]);
    assert!(tools.contains(&"scroll_down") && tools.contains(&"download_file_id"), "{tools:?}");
    let code = |records: &[Value]| {
        of(records, "call").last().unwrap()["arguments"].as_str().unwrap().to_owned()
    };
    assert_eq!(code(&first), code(&second), "expressions read the same");
    let config = fs::read_to_string(direct.path().join("runs/r/run.toml")).unwrap();
    assert!(config.contains("[conditions.reference-direct]"), "{config}");
    assert!(config.contains("browser = \"direct\""), "{config}");
}

/// A step that names nothing fails the call and says what is there.
#[test]
fn a_step_that_finds_nothing_fails_its_call() {
    for mode in ["delegated", "direct"] {
        let place = Place::new();
        let folder = suite(&place);
        let file = folder.join("tasks/ds-fares/reference/solution.toml");
        fs::write(&file, SOLUTION.replace("Sign in", "Enter")).unwrap();
        let suite = folder.to_str().unwrap();
        place.wildgym(&["run", suite, "-k", "1", "--name", "r", "-q", "--browser", mode]);
        let records = records(&place);
        assert_eq!(of(&records, "outcome")[0]["outcome"], "no-answer", "{mode}: {records:#?}");
        if mode == "delegated" {
            let result = of(&records, "call")[0]["result"].as_str().unwrap().to_owned();
            assert!(result.contains("step 3: nothing on https://crew.example/"), "{result}");
            assert!(result.contains("button `Sign in`"), "{result}");
        }
    }
}

fn has_picture(request: &Request) -> bool {
    request.body["messages"].to_string().contains("data:image/png;base64,")
}

/// Returns the id of what is marked so on the page.
fn id(page: &str, mark: &str) -> u32 {
    navigator::id(page, mark).unwrap_or_else(|| panic!("no {mark} in {page}"))
}

/// A model that has `browse_url` browse, and is its navigator too. It takes no pictures.
fn browsing(request: &Request) -> Response {
    let role = request.headers["x-wildgym-role"].clone();
    if role == "agent" {
        let arguments = json!({ "task_prompt": "Sign in as m.holm with gull; read the fare of \
            quay 3.", "start_url": "https://crew.example/" });
        return match request.results().first() {
            None => calls([("a", "browse_url", arguments)]),
            Some(result) => final_answer(result.split('\n').next().unwrap()),
        };
    }
    assert_eq!(role, "browse_url-1");
    if has_picture(request) {
        return status(400)
            .edit(|body| body["error"]["message"] = "image input is not supported".into());
    }
    if navigator::text(request).contains("# Round 2 of 12") {
        return says("hm");
    }
    let acts = [
        "fill_input_id(textbox \"Username\", \"m.holm\")",
        "",
        "fill_input_id(textbox \"Password\", \"gull\")",
        "click_id(button \"Sign in\")",
        "stop(9767)",
    ];
    navigates(request, &acts)
}

#[tokio::test(flavor = "multi_thread")]
async fn a_model_browses_and_all_of_it_is_kept() {
    let server = ScriptedServer::start(browsing).await;
    let place = Place::new();
    let url = server.base_url();
    let cassette = place.path().join("tape");
    let tape = cassette.to_str().unwrap();
    run(&place, &["--model", "m", "--base-url", &url, "--record-models", tape]);
    assert_eq!(server.violations(), Vec::<String>::new());
    let found = records(&place);
    assert!(passed(&place), "{found:#?}");

    let requests = server.requests();
    let pictures = requests.iter().filter(|request| has_picture(request)).count();
    assert_eq!(pictures, 1, "once refused, pictures are sent no more");
    let models = of(&found, "model");
    let tools: Vec<&&Value> = models.iter().filter(|model| model["role"] == "browse_url").collect();
    let purposes: Vec<&str> = tools.iter().map(|it| it["purpose"].as_str().unwrap()).collect();
    assert_eq!(purposes, ["plan", "act", "act", "act", "act", "act", "act"], "{tools:#?}");
    assert!(tools.iter().all(|it| it["call"] == "1" && !it["asked"].is_null()));
    let outcome = of(&found, "outcome")[0].clone();
    assert_eq!(outcome["usage"]["input"], 10 * 8, "two of the agent, six of the navigator");
    assert_eq!(outcome["tool_usage"]["input"], 10 * 6);

    let text = |body: &Value| match body.as_str() {
        Some(text) => text.to_owned(),
        None => blob(&place.path().join("runs/r"), body["blob"].as_str().unwrap()),
    };
    let blobs = place.path().join("runs/r/blobs");
    let conversation: Value = serde_json::from_str(&text(&tools[1]["asked"])).unwrap();
    let picture = conversation[1]["pictures"][0].as_str().unwrap();
    assert!(fs::read(blobs.join(picture)).unwrap().starts_with(b"\x89PNG"));

    let shown = place.wildgym(&["show", "runs/r", "ds-fares"]);
    for part in [
        "model, for browse_url (plan)",
        "(1) fill_input_id(",
        "(2) no action at https://crew.example/",
        "note the model takes no pictures",
        "= 9767",
    ] {
        assert!(shown.out.contains(part), "{part}:\n{}", shown.out);
    }
    drop(server);
    replayed(&place, tape);
}

/// Without any endpoint the recorded run comes out the same, pages and all.
fn replayed(place: &Place, tape: &str) {
    let suite = place.path().join("suite");
    let again = ["run", suite.to_str().unwrap(), "-k", "1", "--name", "again", "-q"];
    let more = ["--model", "m", "--base-url", "http://127.0.0.1:9/v1", "--replay-models", tape];
    let ran = place.wildgym(&[&again[..], &more].concat());
    assert_eq!(ran.code, Some(0), "{}\n{}", ran.out, ran.err);
    let of = |run: &str| {
        let all = transcripts(&place.path().join("runs").join(run));
        let lines = timeless(all.values().next().unwrap());
        // Which request a page sends first is not settled by anything.
        let unordered = |line: &str| {
            let mut record: Value = serde_json::from_str(line).unwrap();
            record.as_object_mut().unwrap().remove("web");
            record.to_string()
        };
        lines.lines().map(unordered).collect::<Vec<_>>()
    };
    assert_eq!(of("r"), of("again"));
}

#[tokio::test(flavor = "multi_thread")]
async fn a_model_acts_on_pages_itself() {
    let server = ScriptedServer::start(|request: &Request| {
        let page = request.results().last().copied().unwrap_or_default().to_owned();
        let one = |name: &str, arguments: Value| calls([("a", name, arguments)]);
        match request.round {
            1 => one("visit_page", json!({ "url": "https://crew.example/" })),
            2 => calls([
                (
                    "a",
                    "fill_input_id",
                    json!({ "identifier": id(&page, "textbox \"Username\""), "text": "m.holm" }),
                ),
                (
                    "b",
                    "fill_input_id",
                    json!({ "identifier": id(&page, "textbox \"Password\"").to_string(), "text": "gull" }),
                ),
            ]),
            3 => one("click_id", json!({ "identifier": id(&page, "button \"Sign in\"") })),
            4 => one("browse_url", json!({ "task_prompt": "x", "start_url": "y" })),
            _ => final_answer("9767"),
        }
    })
    .await;
    let place = Place::new();
    run(&place, &["--model", "m", "--base-url", &server.base_url(), "--browser", "direct"]);
    assert_eq!(server.violations(), Vec::<String>::new());
    let first = &server.requests()[0];
    assert!(first.tools().any(|tool| tool == "click_id"));
    assert!(first.tools().all(|tool| tool != "browse_url"));
    let records = records(&place);
    assert!(passed(&place), "{records:#?}");
    let calls = of(&records, "call");
    let text = |call: &Value| match call["result"].as_str() {
        Some(text) => text.to_owned(),
        None => blob(&place.path().join("runs/r"), call["result"]["blob"].as_str().unwrap()),
    };
    assert!(text(calls[3]).contains("Quay 3"), "the click led to the fares: {}", text(calls[3]));
    assert_eq!(calls[4]["error"], "unknown-tool", "{}", calls[4]);
    assert!(calls[3]["web"].as_array().is_some_and(|web| !web.is_empty()), "{}", calls[3]);
}

/// A question about the video of a page goes to the model with pictures of it and its captions.
#[tokio::test(flavor = "multi_thread")]
async fn a_model_is_asked_about_the_video_of_a_page() {
    let server = ScriptedServer::start(|request: &Request| {
        let one = |name: &str, arguments: Value| calls([("a", name, arguments)]);
        if request.headers["x-wildgym-role"] != "agent" {
            return says("a test pattern, and words about a ship");
        }
        match request.round {
            1 => one("visit_page", json!({ "url": "https://crew.example/clip.html" })),
            2 => one("ask_question_about_video", json!({ "question": "What is shown?" })),
            _ => final_answer("9767"),
        }
    })
    .await;
    let place = Place::new();
    let pages = suite(&place).join("sites/crew.example/pages");
    let clip = concat!(env!("CARGO_MANIFEST_DIR"), "/sandbox/tests/browser/clip.webm");
    fs::copy(clip, pages.join("clip.webm")).unwrap();
    let page = "<!doctype html><title>Clip</title><video src='/clip.webm' width=320 height=240>\
                <track kind=captions src='/clip.vtt' srclang=en default></video>";
    fs::write(pages.join("clip.html"), page).unwrap();
    let captions = "WEBVTT\n\n00:00.000 --> 00:01.000\nThe ship leaves at noon.\n";
    fs::write(pages.join("clip.vtt"), captions).unwrap();
    run(&place, &["--model", "m", "--base-url", &server.base_url(), "--browser", "direct"]);

    let requests = server.requests();
    let asked: Vec<_> =
        requests.iter().filter(|it| it.headers["x-wildgym-role"] != "agent").collect();
    assert_eq!(asked.len(), 1);
    let conversation = asked[0].body["messages"].to_string();
    assert!(conversation.contains("data:image/jpeg;base64,"), "pictures of the video");
    for part in ["What is shown?", "The ship leaves at noon."] {
        assert!(conversation.contains(part), "{part}");
    }
    let records = records(&place);
    let call = of(&records, "call")[1];
    let result = call["result"].as_str().unwrap();
    assert!(result.contains("a test pattern"), "{result}");
    assert!(call["error"].is_null(), "{call}");
}

fn blob(run: &Path, digest: &str) -> String {
    fs::read_to_string(run.join("blobs").join(digest)).unwrap()
}

/// What an endpoint does to the tools' model is not the agent's fault.
#[tokio::test(flavor = "multi_thread")]
async fn an_endpoint_that_refuses_the_navigator_loses_the_attempt() {
    let server = ScriptedServer::start(|request: &Request| match request.headers["x-wildgym-role"]
        .as_str()
    {
        "agent" => browsing(request),
        _ => status(401),
    })
    .await;
    let place = Place::new();
    let folder = suite(&place);
    let url = server.base_url();
    let args = Place::asking(&folder, &url, &["-k", "1", "--name", "r", "-q", "--attempts", "1"]);
    let ran = place.wildgym(&args);
    assert_eq!(ran.code, Some(1), "{}\n{}", ran.out, ran.err);
    let all = transcripts(&place.path().join("runs/r"));
    let text = all.values().next().unwrap();
    assert!(text.contains("\"outcome\":\"lost:model\""), "{text}");
    assert!(text.contains("\"role\":\"browse_url\""), "the refusal is kept: {text}");
}

/// By hand: what is missing is named with what helps.
#[test]
fn a_call_by_hand_says_what_it_needs() {
    let place = Place::new();
    let folder = suite(&place);
    let suite = folder.to_str().unwrap();
    let call = |args: &[&str]| {
        let mut command = place.command(&[&["tools", "call"], args, &["--suite", suite]].concat());
        let command = command.env_remove("DISPLAY").env_remove("WAYLAND_DISPLAY");
        let output = command.output().unwrap();
        let out = String::from_utf8_lossy(&output.stdout).into_owned();
        (output.status.code(), out + &String::from_utf8_lossy(&output.stderr))
    };
    let task = r#"{"task_prompt": "x", "start_url": "https://crew.example/"}"#;
    let nowhere = r#"{"task_prompt": "x", "start_url": "https://nowhere.example/"}"#;
    let visit = r#"{"url": "https://crew.example/"}"#;
    let table: &[(&[&str], i32, &str)] = &[
        (&["browse_url", task], 1, "`--tool-model NAME`"),
        (&["browse_url", nowhere], 1, "`https://nowhere.example/` could not be opened"),
        (&["browse_url", task, "--show"], 2, "`--show` needs a display"),
        (&["visit_page", visit], 2, "`--browser direct`"),
        (&["visit_page", visit, "--browser", "direct"], 0, "textbox \"Username\""),
        (&["click_id", r#"{"identifier": 12}"#, "--browser", "direct"], 1, "12"),
        (&["browse_url", r#"{"task_prompt": " ", "start_url": "x.example"}"#], 1, "is empty"),
        (&["browse_url", r#"{"task_prompt": "x", "start_url": "the harbour"}"#], 1, "no address"),
        (&["browse_url", r#"{"task_prompt": "x"}"#], 1, "start_url"),
    ];
    for (args, code, want) in table {
        let (got, text) = call(args);
        assert_eq!(got, Some(*code), "{args:?}: {text}");
        assert!(text.contains(want), "{args:?}: {text}");
    }
}
