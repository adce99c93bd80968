//! The model client against a scripted model behind a real socket.

use std::collections::HashMap;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use futures::future::join_all;
use proptest::prelude::*;
use serde_json::{Map, Value, json};
use wildgym::model::{
    Endpoint, Exchange, Message, Model, ModelError, Offered, Retrying, Secret, Settings,
};
use wildgym::record::Usage;
use wildgym_sandbox::work::WorkClock;
use wildgym_support::{
    Request, Response, ScriptedServer, calls, cut, drop_connection, final_answer, hang, in_turn,
    json as body, raw, rounds, says, status,
};

/// Settings whose retries take next to no time.
fn quick() -> Settings {
    let (base, cap) = (Duration::from_millis(1), Duration::from_millis(2));
    Settings {
        request_timeout: Duration::from_mins(1),
        retrying: Retrying { tries: 4, format_tries: 3, base, cap },
        ..Settings::default()
    }
}

fn tools() -> Offered {
    Offered::new(&["scrape", "now"].map(|name| {
        let parameters = json!({ "type": "object", "properties": {} });
        let function = json!({ "name": name, "description": "d", "parameters": parameters });
        json!({ "type": "function", "function": function })
    }))
}

fn model(server: &ScriptedServer, concurrency: usize, settings: Settings) -> Model {
    let key = Secret::new("TEST_KEY", "sk-test-key");
    let endpoint = Endpoint::new(&server.base_url(), "m", Some(key), concurrency);
    Model::new(endpoint.expect("the URL is sound"), settings).expect("so are the settings")
}

async fn ask(model: &Model, task: &str) -> Result<Exchange, ModelError> {
    model.chat(3, &[Message::user(task)], &tools(), None).await
}

/// Answers each task with its own list of responses, in turn.
fn by_task(rows: Vec<Vec<Response>>) -> impl Fn(&Request) -> Response + Send + Sync {
    let counts = Mutex::new(HashMap::<usize, usize>::new());
    move |request| {
        let row: usize = request.key.parse().expect("the task is the number of a row");
        let mut counts = counts.lock().expect("no script panics");
        let count = counts.entry(row).or_default();
        *count += 1;
        rows[row][(*count).min(rows[row].len()) - 1].clone()
    }
}

fn message(message: Value) -> Response {
    says("").edit(|body| body["choices"][0]["message"] = message)
}

fn tool_calls(list: &Value) -> Response {
    message(json!({ "role": "assistant", "content": null, "tool_calls": list }))
        .edit(|body| body["choices"][0]["finish_reason"] = "tool_calls".into())
}

fn finish(response: Response, finish: Value) -> Response {
    response.edit(|body| body["choices"][0]["finish_reason"] = finish)
}

fn error(code: u16, message: &str) -> Response {
    status(code).edit(|body| body["error"]["message"] = message.into())
}

fn call(id: &str, name: &str, arguments: &str) -> Value {
    json!({ "id": id, "type": "function", "function": { "name": name, "arguments": arguments } })
}

/// One way to reply: responses in turn, then content, calls, peculiarities, retries.
struct Row {
    why: &'static str,
    responses: Vec<Response>,
    content: Option<&'static str>,
    calls: Vec<(&'static str, &'static str, &'static str)>,
    peculiar: Vec<&'static str>,
    retries: usize,
}

fn row(why: &'static str, response: Response) -> Row {
    let (content, calls, peculiar) = (None, Vec::new(), Vec::new());
    Row { why, responses: vec![response], content, calls, peculiar, retries: 0 }
}

impl Row {
    fn content(mut self, content: &'static str) -> Self {
        self.content = Some(content);
        self
    }

    fn call(mut self, id: &'static str, name: &'static str, arguments: &'static str) -> Self {
        self.calls.push((id, name, arguments));
        self
    }

    fn odd(mut self, name: &'static str) -> Self {
        self.peculiar.push(name);
        self
    }

    /// Fails so often first.
    fn after(mut self, failures: Vec<Response>) -> Self {
        self.retries = failures.len();
        self.responses.splice(0..0, failures);
        self
    }
}

const LONG_ID: &str = "call_0123456789012345678901234567890123456789012345678901234567890123456789";

fn content_rows() -> Vec<Row> {
    let text = |content: Value| message(json!({ "role": "assistant", "content": content }));
    vec![
        row("plain text", says("hi")).content("hi"),
        row("empty text", says("")).content("").odd("empty-content"),
        row("blank text", says(" \n")).content(" \n").odd("empty-content"),
        row("null content", text(json!(null))).odd("empty-content"),
        row("absent content", message(json!({}))).odd("empty-content"),
        row("parts", text(json!([{"type": "text", "text": "a"}, {"type": "text", "text": "b"}])))
            .content("ab")
            .odd("content-parts"),
        row("unknown part", text(json!([{"type": "text", "text": "a"}, {"type": "hologram"}])))
            .content("a")
            .odd("content-parts")
            .odd("unknown-part"),
        row("content is a number", text(json!(42))).content("42").odd("content-not-text"),
        row("refusal", message(json!({"content": null, "refusal": "no"})))
            .content("no")
            .odd("refusal"),
        row("null message", message(json!(null))).odd("no-message").odd("empty-content"),
        row("cut at the limit", finish(says("a"), json!("length")))
            .content("a")
            .odd("cut-at-length"),
        row("filtered", finish(says(""), json!("content_filter")))
            .content("")
            .odd("empty-content")
            .odd("content-filter"),
        row("unknown finish", finish(says("a"), json!("repetition_truncation")))
            .content("a")
            .odd("unknown-finish"),
        row("null finish", finish(says("a"), json!(null))).content("a").odd("no-finish"),
        row("no usage", says("a").edit(|body| body["usage"] = json!(null)))
            .content("a")
            .odd("no-usage"),
        row("null error beside a reply", says("a").edit(|body| body["error"] = json!(null)))
            .content("a"),
        row("space and byte order mark", raw(format!("\u{feff}\n\n{}", plain("a")))).content("a"),
        row("half a surrogate pair", raw(plain(r"a\ud83d")))
            .content("a\u{fffd}")
            .odd("mended-text"),
        row("invalid bytes", raw(bytes_with_latin1())).content("\u{fffd}").odd("mended-text"),
    ]
}

/// The body of a reply with that text, which is put in unescaped.
fn plain(content: &str) -> String {
    let start = r#"{"choices":[{"message":{"content":""#;
    format!(r#"{start}{content}"}},"finish_reason":"stop"}}],"usage":{{"prompt_tokens":1}}}}"#)
}

fn bytes_with_latin1() -> Vec<u8> {
    plain("@").bytes().map(|byte| if byte == b'@' { 0xE9 } else { byte }).collect()
}

fn call_rows() -> Vec<Row> {
    let fenced = "```json\n{\"name\": \"now\", \"arguments\": {}}\n```";
    let tagged = "<tool_call>\n{\"name\": \"now\", \"arguments\": {}}\n</tool_call>";
    let twin = || call("a", "now", "{}");
    vec![
        row("a call", calls([("a", "now", json!({"x": 1}))])).call("a", "now", r#"{"x":1}"#),
        row("text and a call", message(json!({"content": "t", "tool_calls": [twin()]})))
            .content("t")
            .call("a", "now", "{}"),
        row("bare object", says(r#"{"name": "scrape", "arguments": {"url": "a"}}"#))
            .content(r#"{"name": "scrape", "arguments": {"url": "a"}}"#)
            .call("c00030001", "scrape", r#"{"url":"a"}"#)
            .odd("bare-json-call"),
        row("bare in a fence", says(fenced))
            .content(fenced)
            .call("c00030001", "now", "{}")
            .odd("bare-json-call"),
        row("bare in tags", says(tagged))
            .content(tagged)
            .call("c00030001", "now", "{}")
            .odd("bare-json-call"),
        row("bare, not offered", says(r#"{"name": "rm", "arguments": {}}"#))
            .content(r#"{"name": "rm", "arguments": {}}"#),
        row(
            "arguments are an object",
            tool_calls(&json!([{"id": "a", "function": {"name": "now", "arguments": {"x": 1}}}])),
        )
        .call("a", "now", r#"{"x":1}"#)
        .odd("arguments-not-a-string"),
        row("arguments are not JSON", tool_calls(&json!([call("a", "now", "{x:")])))
            .call("a", "now", "{x:")
            .odd("arguments-not-json"),
        row("arguments are empty", tool_calls(&json!([call("a", "now", "")])))
            .call("a", "now", "{}")
            .odd("empty-arguments"),
        row("duplicate ids", tool_calls(&json!([twin(), twin()])))
            .call("a", "now", "{}")
            .call("c00030001", "now", "{}")
            .odd("duplicate-call-id"),
        row(
            "missing ids",
            tool_calls(
                &json!([{"function": {"name": "now", "arguments": "{}"}}, call("", "now", "{}")]),
            ),
        )
        .call("c00030001", "now", "{}")
        .call("c00030002", "now", "{}")
        .odd("missing-call-id"),
        row(
            "a made id is taken",
            tool_calls(&json!([call("", "now", "{}"), call("c00030001", "now", "{}")])),
        )
        .call("c00030002", "now", "{}")
        .call("c00030001", "now", "{}")
        .odd("missing-call-id"),
        row("over-long id", tool_calls(&json!([call(LONG_ID, "now", "{}")])))
            .call("c00030001", "now", "{}")
            .odd("over-long-call-id"),
        row("unknown tool: the door answers", tool_calls(&json!([call("a", "rm -rf", "{}")])))
            .call("a", "rm -rf", "{}"),
        row("no name", tool_calls(&json!([{"id": "a"}])))
            .call("a", "", "{}")
            .odd("call-without-name"),
        row("no object", tool_calls(&json!(["now"])))
            .odd("call-not-an-object")
            .odd("empty-content"),
        row("calls are an object", tool_calls(&twin()))
            .call("a", "now", "{}")
            .odd("calls-not-a-list"),
        row("calls are a text", tool_calls(&json!("x")))
            .odd("calls-not-a-list")
            .odd("empty-content"),
        row("the old form", message(json!({"function_call": {"name": "now", "arguments": "{}"}})))
            .call("c00030001", "now", "{}")
            .odd("legacy-function-call"),
    ]
}

fn retry_rows() -> Vec<Row> {
    let format = || {
        error(500, "The model produced output that does not match the expected peg-native format")
    };
    let mut rows = vec![
        row("dropped", says("a")).content("a").after(vec![drop_connection(), drop_connection()]),
        row("cut off", says("a")).content("a").after(vec![cut(r#"{"choices":[{"#)]),
        row("truncated JSON", says("a")).content("a").after(vec![raw(r#"{"choices":[{"mess"#)]),
        row("a page for a reply", says("a")).content("a").after(vec![raw("<html>hi</html>")]),
        row("nothing for a reply", says("a")).content("a").after(vec![raw("")]),
        row("another JSON", says("a")).content("a").after(vec![body(json!({"ok": true}))]),
        row("error in a 200", says("a"))
            .content("a")
            .after(vec![body(json!({"error": {"message": "overloaded", "code": 529}}))]),
        row("error in a choice", says("a")).content("a").after(vec![
            says("").edit(|body| body["choices"][0]["error"] = json!({"message": "x"})),
        ]),
        row("format, then well", says("a")).content("a").after(vec![format(), format()]),
        row("format, always", format()).odd("output-format-error").after(vec![format(), format()]),
        row("no choices, always", body(json!({"choices": []})))
            .odd("no-choices")
            .after(vec![body(json!({"choices": []})), body(json!({"choices": []}))]),
        row("failed generation", error(400, "see 'failed_generation'"))
            .odd("output-format-error")
            .after(vec![error(400, "see 'failed_generation'"), error(400, "failed_generation")]),
        row(
            "filter as an error",
            status(400).edit(|body| body["error"]["code"] = "content_filter".into()),
        )
        .odd("content-filter"),
    ];
    for code in [408, 409, 425, 500, 502, 503, 504, 529] {
        rows.push(row("a passing status", says("a")).content("a").after(vec![status(code)]));
    }
    rows.push(row("429", says("a")).content("a").after(vec![status(429).retry_after(0)]));
    rows
}

#[tokio::test]
async fn every_form_of_a_reply_is_understood_and_named() {
    let rows: Vec<Row> =
        content_rows().into_iter().chain(call_rows()).chain(retry_rows()).collect();
    assert!(rows.len() >= 35, "{} rows", rows.len());
    let script = by_task(rows.iter().map(|row| row.responses.clone()).collect());
    let server = ScriptedServer::start(script).await;
    let model = model(&server, 1, quick());
    for (number, row) in rows.iter().enumerate() {
        let why = row.why;
        let got = ask(&model, &number.to_string()).await.unwrap_or_else(|e| panic!("{why}: {e}"));
        let calls: Vec<_> = got.reply.calls.iter().collect();
        let calls: Vec<_> = calls
            .iter()
            .map(|call| (call.id.as_str(), call.name.as_str(), call.arguments.as_str()))
            .collect();
        assert_eq!(got.reply.content.as_deref(), row.content, "{why}");
        assert_eq!(calls, row.calls, "{why}");
        assert_eq!(got.reply.peculiar, row.peculiar, "{why}");
        assert_eq!(got.retries.len(), row.retries, "{why}: {:?}", got.retries);
        // Whatever came back, the next request must be one that a strict server accepts.
        let mut next = vec![Message::user(&number.to_string()), got.echo.clone()];
        next.extend(got.reply.calls.iter().map(|call| Message::tool(&call.id, "r")));
        drop(model.chat(4, &next, &tools(), None).await);
    }
    assert_eq!(server.violations(), Vec::<String>::new());
}

#[derive(Debug, PartialEq)]
enum Kind {
    Refused,
    Overflow,
    Gone,
}

#[tokio::test]
async fn every_class_of_failure_ends_as_it_should() {
    let overflow = [
        "This model's maximum context length is 4096 tokens. However, you requested 5000 tokens",
        "the request exceeds the available context size, try increasing it",
        "The input (9000 tokens) is longer than the model's context length (8192 tokens).",
        "Your input exceeds the context window of this model.",
        "prompt is too long: 210000 tokens > 200000 maximum",
        "Prompt contains 40000 tokens and 0 draft tokens, too large for model with 32768 maximum",
        "Range of input length should be [1, 30720]",
        "`inputs` tokens + `max_new_tokens` must be <= 4096. Given: 4000 `inputs` tokens",
        "The input token count (40000) exceeds the maximum number of tokens allowed (32768).",
        "Please reduce the length of the messages or completion.",
    ];
    let mut rows: Vec<(Response, Kind, usize, &str)> =
        overflow.map(|said| (error(400, said), Kind::Overflow, 1, said)).into();
    let by_code = |response: Response, code: &'static str| {
        response.edit(|body| body["error"]["code"] = code.into())
    };
    rows.extend([
        (by_code(status(400), "context_length_exceeded"), Kind::Overflow, 1, "400"),
        (error(500, "context size has been exceeded"), Kind::Overflow, 1, "500"),
        (body(json!({"error": "maximum context length"})), Kind::Overflow, 1, "maximum context"),
        (status(400), Kind::Refused, 1, "check the model's name `m`"),
        (
            error(401, "wrong key sk-test-key"),
            Kind::Refused,
            1,
            "wrong key [key]; check the key in `TEST_KEY`",
        ),
        (status(402), Kind::Refused, 1, "no credit"),
        (status(403), Kind::Refused, 1, "check the key in `TEST_KEY`"),
        (status(404), Kind::Refused, 1, "most base URLs end in `/v1`"),
        (status(307).header("location", "/elsewhere"), Kind::Refused, 1, "redirects"),
        (status(413), Kind::Refused, 1, "413"),
        (status(422), Kind::Refused, 1, "the settings"),
        (by_code(status(429), "insufficient_quota"), Kind::Refused, 1, "no credit"),
        (body(json!({"detail": "nope"})).with_status(404), Kind::Refused, 1, "404: nope"),
        (body(json!({"error": {"message": "who?", "code": 401}})), Kind::Refused, 1, "401: who?"),
        (status(429).retry_after(0), Kind::Gone, 4, "in 4 tries: 429"),
        (status(500), Kind::Gone, 4, "500: scripted error 500"),
        (raw("<html>bad gateway</html>").with_status(502), Kind::Gone, 4, "502: an HTML page"),
        (raw("<!doctype html>"), Kind::Gone, 4, "check the base URL"),
        (raw("upstream gone").with_status(503), Kind::Gone, 4, "503: upstream gone"),
        (raw("{\"choices\": ["), Kind::Gone, 4, "the reply is not JSON"),
        (raw("[".repeat(100_000)), Kind::Gone, 4, "the reply is not JSON"),
        (drop_connection(), Kind::Gone, 4, "in 4 tries"),
        (body(json!({"object": "list"})), Kind::Gone, 4, "not a chat completion"),
    ]);
    let script = by_task(rows.iter().map(|row| vec![row.0.clone()]).collect());
    let server = ScriptedServer::start(script).await;
    let model = model(&server, 1, quick());
    for (number, (_, kind, tries, says)) in rows.iter().enumerate() {
        let error = ask(&model, &number.to_string()).await.expect_err(says);
        let got = match &error {
            ModelError::Misconfigured(_) | ModelError::Cassette(_) => panic!("{error}"),
            ModelError::Refused(_) => Kind::Refused,
            ModelError::ContextOverflow(_) => Kind::Overflow,
            ModelError::Gone(_) => Kind::Gone,
        };
        let text = error.to_string();
        assert_eq!(&got, kind, "{text}");
        assert!(text.contains(says), "{text:?} does not say {says:?}");
        assert!(!format!("{error:?}").contains("sk-test-key"), "{text}");
        let sent = server.requests().iter().filter(|r| r.key == number.to_string()).count();
        assert_eq!((sent, error.failure().unwrap().retries.len()), (*tries, tries - 1), "{text}");
    }
}

#[tokio::test]
async fn an_answer_without_end_is_not_read_to_the_end() {
    let server = ScriptedServer::start(in_turn([raw(vec![b' '; (32 << 20) + 1]), says("a")])).await;
    let got = ask(&model(&server, 1, quick()), "t").await.unwrap();
    assert_eq!(got.reply.content.as_deref(), Some("a"));
    assert_eq!(got.retries[0].reason, "the answer is larger than 32 MiB");
}

#[tokio::test]
async fn a_server_that_is_not_there_is_gone() {
    let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let url = format!("http://{}/v1", listener.local_addr().unwrap());
    drop(listener);
    let model = Model::new(Endpoint::new(&url, "m", None, 1).unwrap(), quick()).unwrap();
    let error = ask(&model, "t").await.unwrap_err();
    assert!(matches!(error, ModelError::Gone(_)), "{error}");
    assert!(error.to_string().contains("refused"), "{error}");
}

/// A peer that accepts and never answers costs a time-out, not the run.
#[tokio::test]
async fn a_dead_peer_ends_by_the_time_limit_and_is_asked_again() {
    let server = ScriptedServer::start(in_turn([hang(), says("a")])).await;
    let settings = Settings { request_timeout: Duration::from_millis(400), ..quick() };
    let got = ask(&model(&server, 1, settings), "t").await.unwrap();
    assert_eq!(got.reply.content.as_deref(), Some("a"));
    assert!(got.retries.iter().all(|retry| retry.reason == "no reply within 0.4 s"));
    assert!(!got.retries.is_empty());
}

#[tokio::test]
async fn nothing_of_a_reply_is_lost() {
    let reply = json!({
        "choices": [{
            "message": {
                "role": "assistant",
                "content": "c",
                "reasoning_content": "because",
                "x_unknown": { "deep": [1, 2.5, null] },
            },
            "finish_reason": "abort",
            "logprobs": null,
        }],
        "usage": {
            "prompt_tokens": 11,
            "completion_tokens": 7,
            "prompt_tokens_details": { "cached_tokens": 3 },
            "completion_tokens_details": { "reasoning_tokens": 2 },
        },
        "x_server": "y",
    });
    let server = ScriptedServer::start(in_turn([body(reply.clone())])).await;
    let got = ask(&model(&server, 1, quick()), "t").await.unwrap();
    assert_eq!(got.reply_text, reply.to_string(), "the body is kept byte for byte");
    assert_eq!(Value::Object(got.reply.message), reply["choices"][0]["message"]);
    assert_eq!(got.reply.reasoning.as_deref(), Some("because"));
    assert_eq!(got.reply.finish.as_deref(), Some("abort"));
    assert_eq!(got.usage, Usage { input: 11, output: 7, cached: 3, reasoning: 2 });
    assert!(!got.echo.as_json().contains("because"), "reasoning is not sent back by default");
    let settings = Settings { echo_reasoning: true, ..quick() };
    let got = ask(&model(&server, 1, settings), "t").await.unwrap();
    assert!(got.echo.as_json().contains(r#""reasoning_content":"because""#));
}

#[tokio::test]
async fn equal_conversations_make_equal_requests() {
    let server = ScriptedServer::start(rounds([says("a")])).await;
    let extra = json!({ "chat_template_kwargs": { "enable_thinking": false } });
    let extra: Map<String, Value> = extra.as_object().unwrap().clone();
    let model = model(&server, 1, Settings { extra, seed: Some(1), ..quick() });
    let first = ask(&model, "t").await.unwrap();
    let again = ask(&model.scoped("c/t/v/1", 1, "agent"), "t").await.unwrap();
    let other = ask(&model, "u").await.unwrap();
    assert_eq!(first.request_digest, again.request_digest, "the trial's name is no part of it");
    assert_ne!(first.request_digest, other.request_digest);
    let requests = server.requests();
    let digest = blake3::hash(requests[0].body.to_string().as_bytes()).to_hex().to_string();
    assert_eq!(first.request_digest, digest, "the digest is that of the bytes sent");
    assert_eq!(requests[0].body["chat_template_kwargs"]["enable_thinking"], false);
    assert_eq!(requests[0].headers["authorization"], "Bearer sk-test-key");
    assert_eq!(requests[0].headers.get("x-wildgym-trial"), None);
    assert_eq!(requests[1].headers["x-wildgym-trial"], "c/t/v/1");
}

/// A call in the text goes back as a call, and what stood around it as text.
#[tokio::test]
async fn a_conversation_with_bare_calls_stays_well_formed() {
    let bare = "I look.\n<tool_call>{\"name\": \"now\", \"arguments\": {}}</tool_call>";
    let server = ScriptedServer::start(rounds([says(bare), final_answer("x")])).await;
    let model = model(&server, 1, quick());
    let mut messages = vec![Message::system("s"), Message::user("t")];
    let first = model.chat(1, &messages, &tools(), None).await.unwrap();
    messages.extend([first.echo.clone(), Message::tool(&first.reply.calls[0].id, "noon")]);
    let second = model.chat(2, &messages, &tools(), None).await.unwrap();
    assert_eq!(second.reply.content.as_deref(), Some("<final_answer>x</final_answer>"));
    let sent = server.requests();
    assert_eq!(sent[1].messages()[2]["content"], "I look.");
    assert_eq!(sent[1].messages()[2]["tool_calls"][0]["function"]["name"], "now");
    assert_eq!((sent[1].results(), server.violations().len()), (vec!["noon"], 0));
}

#[tokio::test]
async fn requests_in_flight_never_exceed_the_limit() {
    // Held until three wait at once: a limit below three would hang, one above would show.
    let server = ScriptedServer::start(|_: &Request| says("a").hold_until("all", 3)).await;
    let model = model(&server, 3, quick());
    let tasks: Vec<String> = (0..24).map(|number| number.to_string()).collect();
    let asked = join_all(tasks.iter().map(|task| ask(&model, task))).await;
    assert!(asked.iter().all(Result::is_ok));
    assert_eq!((server.requests().len(), server.most_in_flight()), (24, 3));
}

/// One refusal speaks for all: nobody sends while the endpoint wants to be left alone.
#[tokio::test]
async fn a_cool_down_is_shared() {
    let length = Duration::from_millis(300);
    let busy = status(429).header("retry-after-ms", &length.as_millis().to_string());
    let script = in_turn([busy, says("a")]);
    let server = ScriptedServer::start(script).await;
    let model = model(&server, 1, quick());
    let asked = join_all(["a", "b", "c"].map(|task| ask(&model, task))).await;
    assert!(asked.iter().all(Result::is_ok));
    let times: Vec<_> = server.requests().iter().map(|request| request.at).collect();
    assert_eq!(times.len(), 4, "one refusal, not one each");
    assert!(times[1..].iter().all(|time| *time >= times[0] + length));
    let retries: Vec<_> = asked.iter().flatten().flat_map(|got| &got.retries).collect();
    assert_eq!((retries.len(), retries[0].backoff_ms), (1, 300));
}

#[tokio::test]
async fn giving_up_frees_the_slot() {
    let script = |request: &Request| if request.key == "dead" { hang() } else { says("a") };
    let server = ScriptedServer::start(script).await;
    let model = model(&server, 1, quick());
    let asked = tokio::spawn({
        let model = model.clone();
        async move { ask(&model, "dead").await.map(drop) }
    });
    while server.in_flight() == 0 {
        tokio::task::yield_now().await;
    }
    asked.abort();
    assert!(asked.await.unwrap_err().is_cancelled());
    assert!(ask(&model, "live").await.is_ok(), "the only slot is free again");
    while server.in_flight() > 0 {
        tokio::task::yield_now().await;
    }
}

/// While one waits for the slot that another holds, its clock stands.
#[tokio::test]
async fn waiting_for_a_slot_is_not_working_time() {
    let script = |request: &Request| if request.key == "dead" { hang() } else { says("a") };
    let server = ScriptedServer::start(script).await;
    let model = model(&server, 1, quick());
    let holder = tokio::spawn({
        let model = model.clone();
        async move { ask(&model, "dead").await.map(drop) }
    });
    while server.in_flight() == 0 {
        tokio::task::yield_now().await;
    }
    let clock = Arc::new(WorkClock::default());
    let waiter = tokio::spawn({
        let (model, mut working) = (model.clone(), clock.work());
        let messages = [Message::user("live")];
        async move { model.chat(1, &messages, &tools(), Some(&mut working)).await }
    });
    // Two equal readings a while apart: the waiter has reached the queue and stands.
    let mut before = clock.elapsed();
    loop {
        tokio::time::sleep(Duration::from_millis(20)).await;
        let now = clock.elapsed();
        if now == before {
            break;
        }
        before = now;
    }
    assert_eq!(server.requests().len(), 1);
    holder.abort();
    let got = waiter.await.unwrap().unwrap();
    assert!(got.waited >= Duration::from_millis(20));
}

#[test]
fn what_cannot_work_is_refused_before_anything_is_sent() {
    let endpoint = |key| Endpoint::new("http://127.0.0.1:1/v1", "m", key, 1).unwrap();
    let error = Model::new(endpoint(Some(Secret::new("MY_KEY", "a\nb"))), quick()).unwrap_err();
    assert!(error.to_string().contains("`MY_KEY`"), "{error}");
    let settings = Settings { temperature: Some(f64::INFINITY), ..quick() };
    let error = Model::new(endpoint(None), settings).unwrap_err();
    assert!(error.to_string().contains("temperature"), "{error}");
}

fn any_json() -> impl Strategy<Value = Value> {
    let word = "id|name|arguments|function|content|text|type|scrape|now|stop|\\PC{0,8}";
    let leaf = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        any::<i64>().prop_map(Value::from),
        word.prop_map(Value::from),
    ];
    leaf.prop_recursive(4, 24, 4, move |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..4).prop_map(Value::from),
            prop::collection::vec((word, inner), 0..4)
                .prop_map(|fields| Value::Object(fields.into_iter().collect())),
        ]
    })
}

/// Arbitrary JSON in the places where a reply has meaning: read without a panic, and
/// answered so that a strict server takes the conversation back.
#[test]
fn no_reply_is_too_strange() {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    let next = Arc::new(Mutex::new(says("")));
    let script = {
        let next = Arc::clone(&next);
        move |_: &Request| next.lock().unwrap().clone()
    };
    let server = runtime.block_on(ScriptedServer::start(script));
    let settings = quick();
    let retrying = Retrying { tries: 1, format_tries: 1, ..settings.retrying };
    let model = model(&server, 1, Settings { retrying, ..settings });
    let case = (any_json(), any_json(), any_json(), any_json(), any::<bool>());
    let config = ProptestConfig { cases: 400, failure_persistence: None, ..Default::default() };
    let outcome = proptest::test_runner::TestRunner::new(config).run(&case, |case| {
        let (whole, content, calls, finish, inside) = case;
        *next.lock().unwrap() = if inside {
            let message = json!({ "content": content, "tool_calls": calls });
            body(json!({ "choices": [{ "message": message, "finish_reason": finish }] }))
        } else {
            body(whole)
        };
        let Ok(got) = runtime.block_on(ask(&model, "t")) else { return Ok(()) };
        let mut messages = vec![Message::user("t"), got.echo];
        messages.extend(got.reply.calls.iter().map(|call| Message::tool(&call.id, "r")));
        drop(runtime.block_on(model.chat(4, &messages, &tools(), None)));
        prop_assert_eq!(server.violations(), Vec::<String>::new());
        Ok(())
    });
    outcome.unwrap();
}
