//! Milestones on hand-made transcripts.

use jiff::Timestamp;
use serde_json::json;

use super::*;
use crate::record::Times;

/// Reads a task's data with these milestones; `data.example` is also `www.data.example`.
fn task(milestones: &serde_json::Value) -> TaskData {
    serde_json::from_value(json!({
        "title": "t", "scenario": "deep-search", "domain": "d", "language": "en",
        "factors": [], "answer": {"kind": "text", "value": "x"},
        "milestones": milestones,
        "discovery_hosts": ["data.example", "other.example"],
        "aliases": {"www.data.example": "data.example"},
    }))
    .unwrap()
}

fn inline(text: &str) -> Body {
    Body::Inline(text.to_owned())
}

fn read(body: &Body) -> Result<String, StoreError> {
    match body {
        Body::Inline(text) => Ok(text.clone()),
        Body::Blob { blob, .. } if blob == "gone" => Err(StoreError::NoRun("blobs/gone".into())),
        Body::Blob { .. } => Ok("a long text that names KM 118".to_owned()),
    }
}

fn called(ingress: &str, tool: &str, arguments: &str, result: &str) -> CallRecord {
    CallRecord {
        round: 3,
        ingress: ingress.to_owned(),
        id: "c".to_owned(),
        tool: tool.to_owned(),
        arguments: inline(arguments),
        result: inline(result),
        error: None,
        full: None,
        clock: Timestamp::UNIX_EPOCH,
        cost_ms: 0,
        web: Vec::new(),
        notes: Vec::new(),
        t: Times::default(),
    }
}

/// A call whose requests are `METHOD status url`, where status `-` is no answer.
fn visited(tool: &str, requests: &[&str]) -> CallRecord {
    let access = |line: &&str| {
        let parts: Vec<&str> = line.splitn(3, ' ').collect();
        let status = parts[1].parse().ok();
        let error = status.is_none().then(|| "unreachable".to_owned());
        let (method, url) = (parts[0].to_owned(), parts[2].to_owned());
        Access { method, url, status, bytes: 1, error, time: None, took_ms: None }
    };
    CallRecord { web: requests.iter().map(access).collect(), ..called("1", tool, "{}", "") }
}

fn failed(call: CallRecord) -> CallRecord {
    CallRecord { error: Some("failed".to_owned()), ..call }
}

#[test]
fn a_milestone_is_reached_by_what_shows_it_and_by_nothing_else() {
    let visit = json!({"visit": {"host": "data.example", "path": "^/guide"}});
    let chinese = json!({"visit": {"host": "data.example", "path": "名录"}});
    let any = json!({"visit": {"host": "www.data.example"}});
    let boat = json!({"call": {"tool": "search_wiki", "result": "KM 118"}});
    let code = json!({"call": {"tool": "execute_code", "arguments": "名|\"code\":\"x"}});
    let tool = json!({"call": {"tool": "execute_code"}});
    let blob = Body::Blob { blob: "b".to_owned(), bytes: 9999 };
    let get = |url: &str| visited("scrape", &[&format!("GET 200 {url}")]);
    let wiki = |result: &str| called("1", "search_wiki", "{}", result);
    let table = [
        (&visit, get("https://data.example/guide?x=1"), true, "the page"),
        (&visit, get("http://DATA.example:8080/guide"), true, "any scheme, port, case"),
        (&visit, get("https://www.data.example/guide"), true, "another name of the site"),
        (&any, get("https://data.example/"), true, "a site named by its other name"),
        (&visit, get("https://data.example/a/guide"), false, "another path"),
        (&visit, get("https://xdata.example/guide"), false, "another host"),
        (&visit, get("https://x.example/?u=https://data.example/guide"), false, "only named"),
        (&visit, visited("scrape", &["GET 404 https://data.example/guide"]), false, "not found"),
        (&visit, visited("scrape", &["GET - https://data.example/guide"]), false, "no answer"),
        (&visit, visited("scrape", &["HEAD 200 https://data.example/guide"]), false, "no page"),
        (
            &visit,
            visited(
                "scrape",
                &["GET 301 https://a.example/", "GET 200 https://data.example/guide"],
            ),
            true,
            "where a redirect led",
        ),
        (&visit, visited("scrape", &["GET 301 https://data.example/guide"]), false, "moved away"),
        (&visit, visited("execute_code", &["GET 200 https://data.example/guide"]), true, "by code"),
        (&visit, failed(get("https://data.example/guide")), true, "the page came all the same"),
        (&chinese, get("https://data.example/%E5%90%8D%E5%BD%95/2"), true, "an encoded path"),
        (&boat, wiki("her number is KM 118."), true, "the result says it"),
        (&boat, wiki("her number is KM 119."), false, "the result says another"),
        (&boat, failed(wiki("error: no article KM 118")), false, "an error is no result"),
        (&boat, called("1", "scrape", "{}", "KM 118"), false, "another tool"),
        (&boat, CallRecord { result: blob, ..wiki("") }, true, "a result kept as a blob"),
        (&tool, called("1", "execute_code", "{}", ""), true, "the tool is enough"),
        (&code, called("1", "execute_code", r#"{"code":"\u540d"}"#, ""), true, "escaped"),
        (&code, called("1", "execute_code", r#"{ "code" : "xy" }"#, ""), true, "spaced"),
        (&code, called("1", "execute_code", "名, not JSON", ""), true, "as it was written"),
        (&code, called("1", "execute_code", r#"{"code":"y"}"#, ""), false, "other arguments"),
    ];
    for (milestone, call, want, why) in table {
        let mut milestone = milestone.clone();
        milestone["id"] = json!("m");
        let stages = Stages::new(&task(&json!([milestone]))).unwrap();
        let reached = stages.reached(&[Record::Call(call)], &read).unwrap();
        assert_eq!(reached.milestones["m"], want, "{why}: {milestone}");
        assert_eq!(reached.steps.contains_key("m"), want, "{why}");
    }
}

#[test]
fn the_first_call_that_shows_it_is_kept() {
    let milestones = json!([
        {"id": "late", "call": {"tool": "b"}},
        {"id": "early", "call": {"tool": "a"}},
        {"id": "never", "call": {"tool": "c"}},
    ]);
    let stages = Stages::new(&task(&milestones)).unwrap();
    let calls = [
        failed(called("1", "b", "", "")),
        called("2.1", "a", "", ""),
        called("2", "b", "", ""),
        called("3", "a", "", ""),
    ];
    let reached = stages.reached(&calls.map(Record::Call), &read).unwrap();
    let step = |ingress: &str| Step { round: 3, ingress: ingress.to_owned() };
    let steps = [("early".to_owned(), step("2.1")), ("late".to_owned(), step("2"))];
    assert_eq!(reached.steps, BTreeMap::from(steps));
    assert!(!reached.milestones["never"]);
}

#[test]
fn any_answer_discovers_a_host() {
    let stages = Stages::new(&task(&json!([]))).unwrap();
    let table = [
        ("GET 200 https://data.example/", true, "a page"),
        ("GET 401 https://data.example/api", true, "a refusal is an answer"),
        ("HEAD 404 https://www.data.example/", true, "another name, no page"),
        ("GET - https://data.example/", false, "no answer"),
        ("GET 200 https://x.example/", false, "another host"),
    ];
    for (request, want, why) in table {
        let calls = [Record::Call(visited("scrape", &[request]))];
        let reached = stages.reached(&calls, &read).unwrap();
        assert_eq!(reached.discovered["data.example"], want, "{why}");
        assert!(!reached.discovered["other.example"], "{why}");
    }
    let none = stages.reached(&[], &read).unwrap();
    assert_eq!(none.discovered.len(), 2, "an attempt without calls has found nothing");
}

#[test]
fn what_is_no_expression_is_named() {
    let milestones = json!([{"id": "m", "call": {"tool": "a", "result": "("}}]);
    let error = Stages::new(&task(&milestones)).unwrap_err();
    assert!(error.starts_with("milestone `m`: regex parse error"), "{error}");
}

#[test]
fn a_text_that_is_gone_is_an_error_only_where_it_is_needed() {
    let milestones = json!([{"id": "m", "call": {"tool": "a", "result": "x"}}]);
    let stages = Stages::new(&task(&milestones)).unwrap();
    let gone = || Body::Blob { blob: "gone".to_owned(), bytes: 9999 };
    let call = |tool| Record::Call(CallRecord { result: gone(), ..called("1", tool, "", "") });
    assert!(stages.reached(&[call("a")], &read).is_err(), "it may hold what is looked for");
    assert!(!stages.reached(&[call("b")], &read).unwrap().milestones["m"], "another tool's");
}
