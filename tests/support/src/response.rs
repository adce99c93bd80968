//! What a scripted model answers.

use std::time::Duration;

use serde_json::{Value, json as object};

/// An answer of the scripted model.
#[derive(Debug, Clone)]
pub struct Response {
    pub(crate) status: u16,
    pub(crate) headers: Vec<(String, String)>,
    pub(crate) body: Body,
    pub(crate) delay: Duration,
    pub(crate) hold: Option<(String, usize)>,
}

#[derive(Debug, Clone)]
pub(crate) enum Body {
    Json(Value),
    Raw(Vec<u8>),
    /// These bytes, then the connection breaks.
    Cut(Vec<u8>),
    /// Nothing, ever.
    Hang,
}

impl Response {
    fn of(body: Body) -> Self {
        Self { status: 200, headers: Vec::new(), body, delay: Duration::ZERO, hold: None }
    }

    /// Changes the status.
    #[must_use]
    pub fn with_status(mut self, status: u16) -> Self {
        self.status = status;
        self
    }

    /// Adds a header.
    #[must_use]
    pub fn header(mut self, name: &str, value: &str) -> Self {
        self.headers.push((name.to_owned(), value.to_owned()));
        self
    }

    /// Asks to be left alone for so many seconds.
    #[must_use]
    pub fn retry_after(self, seconds: u64) -> Self {
        self.header("retry-after", &seconds.to_string())
    }

    /// Answers only after a while.
    #[must_use]
    pub fn after(mut self, delay: Duration) -> Self {
        self.delay = delay;
        self
    }

    /// Answers only once `count` answers of this class were asked for; from then on at once.
    #[must_use]
    pub fn hold_until(mut self, class: &str, count: usize) -> Self {
        self.hold = Some((class.to_owned(), count));
        self
    }

    /// Changes the counted tokens: of the request, of the reply.
    #[must_use]
    pub fn usage(self, input: u64, output: u64) -> Self {
        self.edit(|body| {
            body["usage"] = object!({
                "prompt_tokens": input,
                "completion_tokens": output,
                "total_tokens": input + output,
            });
        })
    }

    /// Changes the body, where it is JSON.
    #[must_use]
    pub fn edit(mut self, change: impl FnOnce(&mut Value)) -> Self {
        if let Body::Json(body) = &mut self.body {
            change(body);
        }
        self
    }
}

/// Answers with this JSON.
#[must_use]
pub fn json(body: Value) -> Response {
    Response::of(Body::Json(body))
}

/// Answers with the words of a sound and their times: start, end, text.
#[must_use]
pub fn heard<'a>(segments: impl IntoIterator<Item = (f64, f64, &'a str)>) -> Response {
    let segments: Vec<Value> = segments
        .into_iter()
        .map(|(start, end, text)| object!({ "start": start, "end": end, "text": text }))
        .collect();
    let text: Vec<&str> = segments.iter().filter_map(|said| said["text"].as_str()).collect();
    let text = text.join(" ");
    json(object!({
        "task": "transcribe", "language": "english", "text": text, "segments": segments,
        "usage": { "type": "duration", "seconds": 1 },
    }))
}

/// Answers with these bytes.
pub fn raw(bytes: impl Into<Vec<u8>>) -> Response {
    Response::of(Body::Raw(bytes.into()))
}

/// Breaks the connection after these bytes.
pub fn cut(bytes: impl Into<Vec<u8>>) -> Response {
    Response::of(Body::Cut(bytes.into()))
}

/// Breaks the connection.
#[must_use]
pub fn drop_connection() -> Response {
    cut([])
}

/// Accepts and never answers.
#[must_use]
pub fn hang() -> Response {
    Response::of(Body::Hang)
}

/// Answers with an error of this status.
#[must_use]
pub fn status(status: u16) -> Response {
    let message = format!("scripted error {status}");
    json(object!({ "error": { "message": message, "type": "scripted", "code": null } }))
        .with_status(status)
}

/// Answers with a text.
#[must_use]
pub fn says(content: &str) -> Response {
    completion(&object!({ "role": "assistant", "content": content }), "stop")
}

/// Answers with a text in the tags of a final answer.
#[must_use]
pub fn final_answer(answer: &str) -> Response {
    says(&format!("<final_answer>{answer}</final_answer>"))
}

/// Answers with calls: id, name, arguments.
#[must_use]
pub fn calls<const N: usize>(calls: [(&str, &str, Value); N]) -> Response {
    let calls: Vec<Value> = calls
        .into_iter()
        .map(|(id, name, arguments)| {
            let function = object!({ "name": name, "arguments": arguments.to_string() });
            object!({ "id": id, "type": "function", "function": function })
        })
        .collect();
    completion(
        &object!({ "role": "assistant", "content": null, "tool_calls": calls }),
        "tool_calls",
    )
}

fn completion(message: &Value, finish: &str) -> Response {
    json(object!({
        "id": "chatcmpl-scripted",
        "object": "chat.completion",
        "created": 0,
        "model": "scripted",
        "choices": [{ "index": 0, "message": message, "finish_reason": finish }],
        "usage": { "prompt_tokens": 10, "completion_tokens": 5, "total_tokens": 15 },
    }))
}
