//! How tools are offered, as conditions of a run: what models are sent, what is stored, and
//! the curves that come of it.
#![expect(clippy::unwrap_used, reason = "what fails here fails the story")]

mod common;

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::Path;

use common::{Place, timeless, transcripts};
use serde_json::{Value, json};
use wildgym_support::{Request, Response, ScriptedServer, calls, final_answer};

/// Most tools among which the scripted model still finds the right one.
const KNEE: usize = 15;

/// Looks Priya Raman up: among the contacts where there are few tools, else among the users.
fn confused(request: &Request) -> Response {
    if request.round > 1 {
        return final_answer("priya.raman@acme-corp.example, +1 614 5550121.");
    }
    let few = request.tools().count() <= KNEE;
    let tool = if few { "crm_search_contacts" } else { "admin_search_users" };
    calls([("c1", tool, json!({"query": "Raman"}))])
}

/// Returns the tools that each trial of a run was offered, by trial.
fn offered(run: &Path) -> BTreeMap<String, Vec<String>> {
    let of = |(path, text): (String, String)| {
        let first: Value = serde_json::from_str(text.lines().next().unwrap()).unwrap();
        let names = first["tools"].as_array().unwrap().iter();
        (path, names.map(|name| name.as_str().unwrap().to_owned()).collect())
    };
    transcripts(run).into_iter().map(of).collect()
}

fn set(names: &[String]) -> BTreeSet<&str> {
    names.iter().map(String::as_str).collect()
}

/// Every reference passes with the tools that its task needs and no other, and so could
/// every other way that is right.
#[test]
fn what_a_task_needs_is_always_offered() {
    let place = Place::new();
    let args = ["run", "enterprise", "--agent", "reference", "-k", "1", "--name", "r", "--json"];
    let ran = place.wildgym(&[&args[..], &["--distractors", "0", "-q"]].concat());
    assert_eq!(ran.code, Some(0), "{}", ran.err);
    let report = ran.json();
    assert_eq!(report["trials"]["pass"], report["label"]["planned"], "{}", report["trials"]);
    let offered = offered(&place.path().join("runs/r"));
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("tasks/suites/enterprise/scenarios");
    for (path, names) in &offered {
        let id = path.split('/').nth(1).unwrap().to_uppercase();
        let file = fs::read_to_string(root.join(format!("{id}.json"))).unwrap();
        let file: Value = serde_json::from_str(&file).unwrap();
        let ways = file["alternatives"].as_array().into_iter().flatten().chain([&file]);
        for call in ways.flat_map(|way| way["expected_calls"].as_array().unwrap()) {
            let tool = call["tool"].as_str().unwrap();
            assert!(names.iter().any(|name| name == tool), "{id} lacks `{tool}`: {names:?}");
        }
        assert!(names.len() < 15, "{id} is offered {} tools", names.len());
    }
    let refusing = &offered["reference+distractors-0/t5-001/full/1.1.jsonl"];
    assert!(refusing.iter().any(|name| name == "crm_delete_contact"), "it could go wrong");
}

/// The same distractors for each of the k and every agent, few among many, others by
/// another seed.
#[test]
fn distractors_are_drawn_once_for_all() {
    let place = Place::new();
    let run = |name: &str, agent: &str, seed: &str| {
        let args = ["run", "enterprise", "--tasks", "t[12]-00[12]", "-k", "2", "-q", "--name"];
        let more = [name, "--agent", agent, "--seed", seed, "--distractors", "20,all,0,10"];
        let ran = place.wildgym(&[&args[..], &more].concat());
        assert_eq!(ran.code, Some(0), "{}", ran.err);
        offered(&place.path().join("runs").join(name))
    };
    let (reference, silent) = (run("a", "reference", "0"), run("b", "silent", "0"));
    let other = run("c", "silent", "1");
    assert_eq!(reference.len(), 4 * 4 * 2);
    let at = |all: &BTreeMap<String, Vec<String>>, agent: &str, number: &str, rest: &str| {
        all[&format!("{agent}+distractors-{number}/{rest}.1.jsonl")].clone()
    };
    let mut moved = 0;
    for task in ["t1-001", "t1-002", "t2-001", "t2-002"] {
        let first = format!("{task}/full/1");
        let sets =
            ["0", "10", "20", "all"].map(|number| at(&reference, "reference", number, &first));
        for pair in sets.windows(2) {
            assert!(set(&pair[0]).is_subset(&set(&pair[1])), "{task}: {pair:?}");
        }
        let sizes = sets.each_ref().map(Vec::len);
        assert_eq!([sizes[1] - sizes[0], sizes[2] - sizes[1], sizes[3]], [10, 10, 44], "{task}");
        let whole = sets[3].iter();
        let listed: Vec<&String> = whole.filter(|name| sets[1].contains(name)).collect();
        assert_eq!(listed, sets[1].iter().collect::<Vec<_>>(), "{task}: in the usual order");
        let again = at(&reference, "reference", "10", &format!("{task}/full/2"));
        assert_eq!(again, sets[1], "{task}: the same for each of the k");
        assert_eq!(at(&silent, "silent", "10", &first), sets[1], "{task}: and every agent");
        moved += usize::from(at(&other, "silent", "10", &first) != sets[1]);
    }
    assert!(moved > 0, "another seed draws others");
}

/// Success and selection against the number of tools: the section, the rows, the picture.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn success_is_drawn_against_the_number_of_tools() {
    let server = ScriptedServer::start(confused).await;
    let (place, url) = (Place::new(), server.base_url());
    let args = ["run", "enterprise", "--tasks", "t1-001", "-k", "2", "--name", "r", "--json"];
    let model = ["--model", "m", "--base-url", &url, "--distractors", "0,10,20,all"];
    let ran = place.wildgym(&[&args[..], &model].concat());
    assert_eq!(ran.code, Some(0), "{}", ran.err);
    let report = ran.json();
    let curve = report["offered_tools"]["distractors"].as_array().unwrap();
    let column = |pointer: &str| -> Vec<Value> {
        curve.iter().map(|step| step.pointer(pointer).cloned().unwrap_or_default()).collect()
    };
    assert_eq!(column("/value"), ["0", "10", "20", "all"].map(Value::from));
    assert_eq!(column("/tools"), [2.0, 12.0, 22.0, 44.0].map(Value::from), "with `ask_user`");
    assert_eq!(column("/trials/passed"), [2, 2, 0, 0].map(Value::from));
    assert_eq!(column("/selection/value"), [1.0, 1.0, 0.0, 0.0].map(Value::from));
    assert_eq!(column("/against_first/only_first"), [json!(null), json!(0), json!(2), json!(2)]);
    assert_eq!(report["scores"]["by_distractors"]["20"]["avg_at_k"]["value"], 0.0);
    assert_eq!(report["label"]["agent"], "react", "one agent, however many conditions");
    let table = place.wildgym(&["report", "runs/r", "--by", "distractors", "--svg", "c.svg"]).out;
    for line in ["distractors  tools  tasks  passed", "against 0", "\ndistractors 10 "] {
        assert!(table.contains(line), "{line}:\n{table}");
    }
    let picture = fs::read_to_string(place.path().join("c.svg")).unwrap();
    assert!(picture.starts_with("<svg ") && picture.contains("44.0 tools"), "{picture}");
    assert_eq!(server.violations(), Vec::<String>::new());
    let exported = place.wildgym(&["export", "runs/r"]).out;
    for line in exported.lines() {
        let line: Value = serde_json::from_str(line).unwrap();
        let number = line["tools"].as_array().unwrap().len();
        assert!([2, 12, 22, 44].contains(&number), "{number}");
    }
}

const TERSE: &str = "[tools.crm_search_contacts]\ndescription = \"Contacts.\"\n\
    parameters.query = \"Part of a name.\"\n\n[tools.ask_user]\nparameters.question = \"\"\n";

/// Texts and orders are conditions: only they differ in what is sent, and a run goes on
/// without the files, the same.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn words_and_order_are_conditions() {
    let server = ScriptedServer::start(confused).await;
    let (place, url) = (Place::new(), server.base_url());
    fs::write(place.path().join("terse.toml"), TERSE).unwrap();
    let args = ["run", "enterprise", "--tasks", "t1-00[12]", "-k", "1", "--name", "r", "-q"];
    let model = ["--model", "m", "--base-url", &url, "--distractors", "0,10"];
    let told = ["--tool-text", "original", "--tool-text", "terse.toml", "--tool-order", "listed,7"];
    let ran = place.wildgym(&[&args[..], &model, &told].concat());
    assert_eq!(ran.code, Some(0), "{}", ran.err);
    let sent = sent(&server);
    assert_eq!(sent.len(), 8 * 2, "every combination: {:?}", sent.keys());
    let at = |condition: &str| &sent[&format!("react-m+{condition}/t1-001/full/1")];
    let original = at("distractors-10+text-original+order-listed");
    let terse = at("distractors-10+text-terse+order-listed");
    assert_eq!(names(original), names(terse), "words move no tool");
    for (own, other) in original.iter().zip(terse) {
        let name = own["function"]["name"].as_str().unwrap();
        let reworded = name == "crm_search_contacts" || name == "ask_user";
        assert_eq!(own == other, !reworded, "{name}");
        let types = |tool: &Value| tool["function"]["parameters"]["required"].clone();
        assert_eq!(types(own), types(other), "{name}");
    }
    let contacts = terse.iter().find(|tool| tool["function"]["name"] == "crm_search_contacts");
    let contacts = &contacts.unwrap()["function"];
    assert_eq!(contacts["description"], "Contacts.");
    assert_eq!(contacts["parameters"]["properties"]["query"]["description"], "Part of a name.");
    let shuffled = at("distractors-10+text-original+order-7");
    assert_ne!(names(shuffled), names(original), "another order");
    let sorted = |tools: &[Value]| tools.iter().map(Value::to_string).collect::<BTreeSet<_>>();
    assert_eq!(sorted(shuffled), sorted(original), "of the same tools");
    let of_few = names(at("distractors-0+text-original+order-7"));
    let among: Vec<&str> = names(shuffled).into_iter().filter(|n| of_few.contains(n)).collect();
    assert_eq!(among, of_few, "one seed, one order");

    let run = place.path().join("runs/r");
    let before = transcripts(&run);
    let gone = "trials/react-m+distractors-10+text-terse+order-7";
    fs::remove_dir_all(run.join(gone)).unwrap();
    fs::remove_file(place.path().join("terse.toml")).unwrap();
    let resumed = place.wildgym(&["resume", "runs/r", "-q"]);
    assert_eq!(resumed.code, Some(0), "{}", resumed.err);
    let plain = |all: &BTreeMap<String, String>| -> Vec<(String, String)> {
        all.iter().map(|(path, text)| (path.clone(), timeless(text))).collect()
    };
    assert_eq!(plain(&transcripts(&run)), plain(&before));
    let config = fs::read_to_string(run.join("run.toml")).unwrap();
    fs::write(run.join("run.toml"), config.replace("distractors = \"10\"", "distractors = \"11\""))
        .unwrap();
    let changed = place.wildgym(&["resume", "runs/r", "-q"]);
    assert_eq!(changed.code, Some(2), "{}", changed.err);
    assert!(changed.err.contains("offers other tools under condition"), "{}", changed.err);
}

/// Returns the tools of the first request of each trial.
fn sent(server: &ScriptedServer) -> BTreeMap<String, Vec<Value>> {
    let first = server.requests().into_iter().filter(|request| request.round == 1);
    let of = |request: Request| {
        let tools = request.body["tools"].as_array().unwrap().clone();
        (request.headers["x-wildgym-trial"].clone(), tools)
    };
    first.map(of).collect()
}

fn names(tools: &[Value]) -> Vec<&str> {
    tools.iter().map(|tool| tool["function"]["name"].as_str().unwrap()).collect()
}

/// The file that the program writes says what models are told anyway.
#[test]
fn the_template_holds_every_text() {
    let place = Place::new();
    let list = ["tools", "list", "--world", "enterprise", "--tool-text-template"];
    let written = place.wildgym(&list);
    assert_eq!(written.code, Some(0), "{}", written.err);
    let template: toml::Table = toml::from_str(&written.out).unwrap();
    let tools = template["tools"].as_table().unwrap();
    assert_eq!(tools.len(), 44, "43 operations, and the question to the user");
    let as_json = place.wildgym(&[&list[..], &["--json"]].concat()).json();
    assert_eq!(as_json["tools"].as_object().unwrap().len(), 44);
    for (name, form) in [("same.toml", &written.out), ("copy.json", &as_json.to_string())] {
        fs::write(place.path().join(name), form).unwrap();
    }
    let args = ["run", "enterprise", "--tasks", "t1-001", "-k", "1", "--name", "r", "-q"];
    let texts = ["--tool-text", "original", "--tool-text", "same.toml", "--tool-text", "copy.json"];
    let ran = place.wildgym(&[&args[..], &texts].concat());
    assert_eq!(ran.code, Some(0), "{}", ran.err);
    let config = fs::read_to_string(place.path().join("runs/r/run.toml")).unwrap();
    let config: toml::Table = toml::from_str(&config).unwrap();
    let conditions = config["conditions"].as_table().unwrap();
    let schemas: BTreeSet<&str> = conditions
        .values()
        .map(|condition| condition["offering"]["schemas"].as_str().unwrap())
        .collect();
    assert_eq!((conditions.len(), schemas.len()), (3, 1), "the same schemas");
    assert_eq!(Some(schemas.first().copied().unwrap()), config["tools"]["schemas"].as_str());
}

/// What is offered is told by `compare`, and never compared unawares by `gate`.
#[test]
fn other_tools_are_told_where_runs_are_compared() {
    let place = Place::new();
    let run = |name: &str, more: &[&str]| {
        let args = ["run", "enterprise", "--tasks", "t1-00*", "-k", "1", "-q", "--name", name];
        let ran = place.wildgym(&[&args[..], more].concat());
        assert_eq!(ran.code, Some(0), "{}", ran.err);
    };
    run("few", &["--distractors", "0,5"]);
    run("whole", &[]);
    let few = ["--condition-a", "reference+distractors-0"];
    let both = [&["compare", "runs/few", "runs/whole"], &few[..]].concat();
    let compared = place.wildgym(&both);
    assert_eq!(compared.code, Some(0), "{}", compared.err);
    assert!(compared.out.contains("distractors: 0 in A, all in B"), "{}", compared.out);
    let within = ["compare", "runs/few", "runs/few", "--condition-b", "reference+distractors-5"];
    let compared = place.wildgym(&[&within[..], &few].concat());
    assert!(compared.out.contains("distractors: 0 in A, 5 in B"), "{}", compared.out);
    let open = place.wildgym(&["compare", "runs/few", "runs/whole"]);
    assert!(open.err.contains("reference+distractors-5"), "names them: {}", open.err);
    run("one", &["--distractors", "5"]);
    let gate = ["gate", "runs/one", "--baseline", "runs/whole"];
    let refused = place.wildgym(&gate);
    assert_eq!(refused.code, Some(2), "{}", refused.out);
    assert!(refused.err.contains("distractors 5") && refused.err.contains("--allow tools"));
    let allowed = place.wildgym(&[&gate[..], &["--allow", "tools"]].concat());
    assert_eq!(allowed.code, Some(0), "{}{}", allowed.out, allowed.err);
}

/// Each row is a mistake and what the answer must say.
#[test]
fn mistakes_are_found_before_anything_is_made() {
    let place = Place::new();
    let suite = place.suite(1);
    let suite = suite.to_str().unwrap();
    let files = [
        ("empty.toml", ""),
        ("names.toml", "[tools.crm_search_contacts]\n"),
        ("original.toml", TERSE),
        ("terse.toml", TERSE),
        ("terse.json", "{\"tools\": {\"ask_user\": {\"description\": \"Ask.\"}}}"),
        ("two words.toml", TERSE),
        ("slip.toml", "[tools.crm_search_contacts]\ndescripton = \"x\"\n"),
        ("broken.json", "{\"tools\": "),
        ("tool.toml", "[tools.crm_serch_contacts]\ndescription = \"x\"\n"),
        ("place.toml", "[tools.crm_search_contacts.parameters]\nqurey = \"x\"\n"),
        ("scrape.toml", "[tools.scrape]\ndescription = \"x\"\n"),
    ];
    for (name, text) in files {
        fs::write(place.path().join(name), text).unwrap();
    }
    let world = "enterprise";
    let table: &[(&str, &[&str], &[&str])] = &[
        (world, &["--distractors", "-1"], &["expected a whole number from 0 on, or `all`"]),
        (world, &["--distractors", "ten"], &["expected a whole number from 0 on, or `all`"]),
        (world, &["--distractors", "0,10,0"], &["`--distractors` names `0` twice"]),
        (world, &["--distractors", "99"], &["no selected task has so many", "`all` offers every"]),
        (suite, &["--distractors", "0"], &["task `t-000` has no world", "--tasks"]),
        (world, &["--tool-order", "x"], &["expected a seed", "`listed`"]),
        (world, &["--tool-order", "7,7"], &["`--tool-order` names `7` twice"]),
        (world, &["--tool-text", "none.toml"], &["cannot read `none.toml`"]),
        (world, &["--tool-text", "terse"], &["expected a file `.toml` or `.json`", "template"]),
        (world, &["--tool-text", "empty.toml"], &["`empty.toml` has no texts", "replaces none"]),
        (world, &["--tool-text", "names.toml"], &["replaces none"]),
        (world, &["--tool-text", "original.toml"], &["`original` is the texts as they are"]),
        (world, &["--tool-text", "two words.toml"], &["cannot name a condition", "rename"]),
        (
            world,
            &["--tool-text", "terse.toml", "--tool-text", "terse.json"],
            &["`--tool-text` names `terse` twice"],
        ),
        (world, &["--tool-text", "slip.toml"], &["line 2: unknown field `descripton`"]),
        (world, &["--tool-text", "broken.json"], &["`broken.json` has no texts", "line 1"]),
        (
            world,
            &["--tool-text", "tool.toml"],
            &["there is no tool `crm_serch_contacts`; the nearest", "`crm_search_contacts`"],
        ),
        (world, &["--tool-text", "place.toml"], &["no parameter `qurey`; the nearest is `query`"]),
        (world, &["--tool-text", "scrape.toml"], &["no text of a tool that a selected task is"]),
    ];
    for (suite, flags, says) in table {
        let args = [&["run", suite, "--tasks", "t*-00*", "-k", "1"], *flags].concat();
        let ran = place.wildgym(&args);
        assert_eq!(ran.code, Some(2), "{flags:?}: {}{}", ran.out, ran.err);
        for text in *says {
            assert!(ran.err.contains(text), "{flags:?} must say `{text}`:\n{}", ran.err);
        }
    }
    assert!(!place.path().join("runs").exists(), "a mistake leaves nothing behind");
    let plain = place.wildgym(&["run", suite, "-k", "1", "--name", "p", "-q"]);
    assert_eq!(plain.code, Some(0), "{}", plain.err);
    let drawn = place.wildgym(&["report", "runs/p", "--svg", "p.svg"]);
    assert_eq!(drawn.code, Some(2), "{}", drawn.out);
    assert!(drawn.err.contains("does not vary what tools are offered"), "{}", drawn.err);
}

/// Texts and order go for every suite, and where some tasks have fewer operations than are
/// asked for, that is said.
#[test]
fn other_suites_have_words_and_orders_too() {
    let place = Place::new();
    let suite = place.suite(1);
    fs::write(place.path().join("w.toml"), "[tools.execute_code]\ndescription = \"Python.\"\n")
        .unwrap();
    let args = ["run", suite.to_str().unwrap(), "-k", "1", "--name", "r", "--json", "-q"];
    let told = ["--tool-text", "w.toml", "--tool-order", "1,listed", "--distractors", "all"];
    let ran = place.wildgym(&[&args[..], &told].concat());
    assert_eq!(ran.code, Some(0), "{}", ran.err);
    let curve = &ran.json()["offered_tools"]["tool_order"];
    assert_eq!((&curve[0]["value"], &curve[1]["value"]), (&json!("listed"), &json!("1")));
    let some = ["run", "enterprise", "--tasks", "t[12]-00*", "-k", "1", "--name", "s"];
    let ran = place.wildgym(&[&some[..], &["--distractors", "42"]].concat());
    assert!(ran.err.contains("tasks have fewer operations beside those needed"), "{}", ran.err);
}
