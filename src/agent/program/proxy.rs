//! The endpoint at which a program finds its model: chat completions, and nothing else.
//!
//! Whatever a program asks for, the run's model answers, requests of one moment side by side.
//! The gym sees whole replies; a program that wants them in pieces gets them in few.

use std::sync::Arc;

use axum::body::Bytes;
use axum::extract::{DefaultBodyLimit, State};
use axum::http::{HeaderMap, StatusCode, header};
use axum::response::{IntoResponse, Response};
use axum::routing::{any, get, post};
use axum::{Json, Router};
use serde_json::{Map, Value, json};

use super::super::Seat;
use super::door::LARGEST;
use crate::model::{Exchange, Failure, ModelError};

struct Proxy {
    seat: Seat,
    model: String,
    token: String,
}

/// Returns the routes: `/v1/chat/completions` and `/v1/models`.
pub(super) fn router(seat: Seat, model: String, token: String) -> Router {
    let proxy = Arc::new(Proxy { seat, model, token });
    Router::new()
        .route("/v1/chat/completions", post(complete))
        .route("/v1/models", get(models))
        .route("/v1/{*rest}", any(nothing))
        .layer(DefaultBodyLimit::max(LARGEST))
        .with_state(proxy)
}

/// Answers what is not offered.
async fn nothing() -> Response {
    refused(
        StatusCode::NOT_FOUND,
        "only `/v1/chat/completions` and `/v1/models` are served here; set the program to chat \
         completions",
    )
}

impl Proxy {
    fn knows(&self, headers: &HeaderMap) -> bool {
        let given = headers.get(header::AUTHORIZATION).and_then(|value| value.to_str().ok());
        given.and_then(|value| value.strip_prefix("Bearer ")) == Some(&*self.token)
    }
}

async fn models(State(proxy): State<Arc<Proxy>>, headers: HeaderMap) -> Response {
    if !proxy.knows(&headers) {
        return stranger();
    }
    let model = json!({ "id": proxy.model, "object": "model", "owned_by": "wildgym" });
    Json(json!({ "object": "list", "data": [model] })).into_response()
}

async fn complete(State(proxy): State<Arc<Proxy>>, headers: HeaderMap, body: Bytes) -> Response {
    if !proxy.knows(&headers) {
        return stranger();
    }
    let body: Map<String, Value> = match serde_json::from_slice(&body) {
        Ok(body) => body,
        Err(error) => {
            let problem = format!("the request is no JSON object: {error}");
            return refused(StatusCode::BAD_REQUEST, &problem);
        }
    };
    if !body.get("messages").is_some_and(Value::is_array) {
        return refused(StatusCode::BAD_REQUEST, "the request has no `messages`");
    }
    if body.get("n").is_some_and(|n| *n != json!(1) && !n.is_null()) {
        return refused(StatusCode::BAD_REQUEST, "`n` must be 1: one reply is one round");
    }
    let streamed = body.get("stream") == Some(&Value::Bool(true));
    let counted = body.get("stream_options").and_then(|options| options.get("include_usage"));
    let counted = counted == Some(&Value::Bool(true));
    match proxy.seat.ask(body).await {
        Ok(Ok(exchange)) if streamed => stream(&exchange, counted),
        Ok(Ok(exchange)) => whole(exchange),
        Ok(Err(error)) => failed(&error),
        Err(over) => refused(StatusCode::FORBIDDEN, &over.to_string()),
    }
}

fn stranger() -> Response {
    refused(StatusCode::UNAUTHORIZED, "the key is the value of `OPENAI_API_KEY`")
}

fn refused(status: StatusCode, problem: &str) -> Response {
    let error = json!({ "message": problem, "type": "wildgym", "code": Value::Null });
    (status, Json(json!({ "error": error }))).into_response()
}

/// Passes on what the endpoint said where it refused a request.
fn failed(error: &ModelError) -> Response {
    let Some(Failure { status, body, .. }) = error.failure() else {
        return refused(StatusCode::BAD_GATEWAY, &error.to_string());
    };
    let status = status.and_then(|status| StatusCode::from_u16(status).ok());
    let status = status.filter(|status| !status.is_success()).unwrap_or(StatusCode::BAD_REQUEST);
    if serde_json::from_str::<Value>(body).is_ok() {
        return (status, [(header::CONTENT_TYPE, "application/json")], body.clone())
            .into_response();
    }
    refused(status, &error.to_string())
}

fn whole(exchange: Exchange) -> Response {
    let status = StatusCode::from_u16(exchange.status).unwrap_or(StatusCode::OK);
    let kind = [(header::CONTENT_TYPE, "application/json")];
    (status, kind, exchange.reply_text).into_response()
}

/// Returns a reply as server-sent events: all that it says in one piece, then its end, then
/// the tokens where the program wants them counted.
fn stream(exchange: &Exchange, counted: bool) -> Response {
    let Ok(reply) = serde_json::from_str::<Value>(&exchange.reply_text) else {
        return refused(StatusCode::BAD_GATEWAY, "the reply of the model is no JSON");
    };
    let pieces = chunks(&reply, counted).into_iter().map(|chunk| chunk.to_string());
    let pieces = pieces.chain(["[DONE]".to_owned()]);
    let events: Vec<String> = pieces.map(|piece| format!("data: {piece}\n\n")).collect();
    ([(header::CONTENT_TYPE, "text/event-stream")], events.concat()).into_response()
}

/// Returns the pieces of a reply.
fn chunks(reply: &Value, counted: bool) -> Vec<Value> {
    let field = |name: &str| reply.get(name).cloned().unwrap_or_default();
    let chunk = |choices: Value, usage: Value| {
        json!({
            "id": field("id"), "object": "chat.completion.chunk", "created": field("created"),
            "model": field("model"), "choices": choices, "usage": usage,
        })
    };
    let none = Vec::new();
    let choices = reply.get("choices").and_then(Value::as_array).unwrap_or(&none);
    let mut chunks = Vec::new();
    for (index, choice) in choices.iter().enumerate() {
        let mut delta = choice.get("message").cloned().unwrap_or_default();
        if let Some(calls) = delta.get_mut("tool_calls").and_then(Value::as_array_mut) {
            for (place, call) in calls.iter_mut().enumerate() {
                call["index"] = place.into();
            }
        }
        let finish = choice.get("finish_reason").cloned().unwrap_or_default();
        let piece = json!([{ "index": index, "delta": delta, "finish_reason": Value::Null }]);
        chunks.push(chunk(piece, Value::Null));
        let end = json!([{ "index": index, "delta": {}, "finish_reason": finish }]);
        chunks.push(chunk(end, Value::Null));
    }
    if counted {
        chunks.push(chunk(json!([]), field("usage")));
    }
    chunks
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Put together again, the pieces are the reply.
    #[test]
    fn a_reply_in_pieces_says_what_it_said() {
        let call = json!({ "id": "c1", "type": "function", "function": { "name": "f", "arguments": "{}" } });
        let message = json!({ "role": "assistant", "content": "hm", "reasoning_content": "so",
                              "tool_calls": [call, call] });
        let reply = json!({ "id": "r", "model": "m", "created": 1, "usage": { "prompt_tokens": 3 },
            "choices": [{ "index": 0, "message": message, "finish_reason": "tool_calls" }] });
        let pieces = chunks(&reply, true);
        assert_eq!(pieces.len(), 3, "{pieces:?}");
        let delta = &pieces[0]["choices"][0]["delta"];
        assert_eq!(delta["content"], "hm");
        assert_eq!(delta["reasoning_content"], "so");
        assert_eq!(delta["tool_calls"][1]["index"], 1);
        assert_eq!(pieces[1]["choices"][0]["finish_reason"], "tool_calls");
        assert_eq!(pieces[2]["usage"]["prompt_tokens"], 3);
        assert_eq!(chunks(&reply, false).len(), 2, "tokens only where they are wanted");
    }
}
