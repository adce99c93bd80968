//! The tools as a user meets them: all of them are listed, and each does its work by hand.

mod common;

use std::collections::BTreeMap;
use std::path::Path;

use common::{Place, cache};
use serde_json::{Value, json};
use wildgym_toolbox::Catalog;

/// The tools of the paper, by its categories (`AgentGym2`, Table 6).
#[test]
fn all_27_tools_are_listed_with_schema_category_and_example() {
    let ran = Place::new().wildgym(&["tools", "list", "--json"]);
    assert_eq!(ran.code, Some(0), "{}", ran.err);
    let all: Vec<Value> = serde_json::from_str(&ran.out).unwrap();
    let catalog = Catalog::all().unwrap();
    let mut by_category: BTreeMap<&str, Vec<&str>> = BTreeMap::new();
    for tool in &all {
        let name = tool["name"].as_str().unwrap();
        by_category.entry(tool["category"].as_str().unwrap()).or_default().push(name);
        assert_eq!(tool["parameters"]["type"], "object", "{name}");
        for (field, schema) in tool["parameters"]["properties"].as_object().unwrap() {
            assert!(schema["description"].is_string(), "{name}: `{field}` is not explained");
        }
        assert!(tool["description"].as_str().is_some_and(|text| text.len() > 15), "{name}");
        assert!(tool["example"].is_object(), "{name}");
        let misfits = catalog.entry(name).unwrap().misfits(&tool["example"]);
        assert!(misfits.is_empty(), "{name}: its example does not fit: {misfits:?}");
    }
    let counts: BTreeMap<&str, usize> =
        by_category.iter().map(|(category, names)| (*category, names.len())).collect();
    let want = [
        ("code-execution", 1),
        ("file-processing", 2),
        ("information-retrieval", 3),
        ("multimodal-understanding", 4),
        ("web-browsing", 17),
    ];
    assert_eq!(counts, BTreeMap::from(want), "{by_category:?}");
    assert_eq!(all.len(), 27);
}

/// What a call by hand must come to.
enum Comes {
    /// It says this.
    To(&'static str),
    /// It says the first, or the second where this machine lacks an engine.
    Or(&'static str, &'static str),
}

/// Every tool that is called by itself, on a file or a page of the suite. The page actions,
/// which need a page first, are called by the references of the suite (`tests/starter.rs`).
#[test]
fn each_tool_does_its_work_on_real_input() {
    let place = Place::new();
    let suite = wildgym_tasks::builtin::unpack("starter", &cache()).unwrap();
    for file in [
        "ct-berth-minutes/files/berths.pptx",
        "ct-berth-minutes/files/meeting.ogg",
        "ct-choir-receipts/files/receipt-1.jpg",
        "ct-choir-receipts/files/mails.zip",
        "ct-regatta-dues/files/fleet-2026.xlsx",
    ] {
        let from = suite.join("tasks").join(file);
        std::fs::copy(&from, place.path().join(Path::new(file).file_name().unwrap())).unwrap();
    }
    let no_speech = "`wildgym setup --speech`";
    let table = [
        ("scrape", json!({"url": "https://tarrowferries.example/harbours/"}), Comes::To("Ulveth")),
        ("visit_page", json!({"url": "https://soundinstitute.example/"}), Comes::To("Collections")),
        (
            "search_serper",
            json!({"query": "ferry Kelmouth Orrisay fares"}),
            Comes::To("tarrowferries"),
        ),
        ("search_wiki", json!({"entity": "Nessock Boat Trust"}), Comes::To("wooden working boats")),
        ("google_scholar", json!({"query": "pressure recorder lost"}), Comes::To("Eleven winters")),
        (
            "extract_document_content",
            json!({"document_path": "berths.pptx"}),
            Comes::To("with her rudder"),
        ),
        (
            "extract_document_content",
            json!({"document_path": "mails.zip"}),
            Comes::To("four fifths"),
        ),
        (
            "extract_excel_content",
            json!({"document_path": "fleet-2026.xlsx"}),
            Comes::To("bracket"),
        ),
        ("execute_code", json!({"code": "print(6 * 7)"}), Comes::To("42")),
        (
            "image_to_text",
            json!({"image_path": "receipt-1.jpg"}),
            Comes::Or("MACKEREL", "tesseract"),
        ),
        (
            "ask_question_about_image",
            json!({"image_path": "receipt-1.jpg", "question": "What did the bread cost?"}),
            Comes::Or("7.80", "tesseract"),
        ),
        ("audio2text", json!({"audio_path": "meeting.ogg"}), Comes::Or("rubbish", no_speech)),
        (
            "ask_question_about_audio",
            json!({"audio_path": "meeting.ogg", "question": "What does a berth cost?"}),
            Comes::Or("metre|meter", no_speech),
        ),
    ];
    let folder = place.path().to_str().unwrap().to_owned();
    for (tool, arguments, comes) in table {
        let arguments = arguments.to_string();
        let mode = if tool == "visit_page" { "direct" } else { "delegated" };
        let common = ["tools", "call", tool, &arguments, "--workspace", &folder];
        let ran = place.wildgym(&[&common[..], &["--browser", mode]].concat());
        let said = format!("{}{}", ran.out, ran.err);
        let holds = |wanted: &str| wanted.split('|').any(|word| said.contains(word));
        match comes {
            Comes::To(wanted) => assert!(holds(wanted) && ran.code == Some(0), "{tool}: {said}"),
            Comes::Or(wanted, lacking) => {
                assert!(holds(wanted) || said.contains(lacking), "{tool}: {said}");
            }
        }
    }
}
