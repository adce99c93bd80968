//! What a judge model replied: a verdict in exactly one form, or none.
//!
//! The form is one JSON object with a verdict of two words in lower case and a reason. A
//! code fence around it and thinking before it are allowed, since endpoints that cannot
//! bind a reply to a schema add them; nothing else is. No word of a reply is searched for:
//! what is not the form is unreadable, however clear it may look to people. So is a
//! verdict that stands in the answer under comparison: who repeats it has not judged.

use serde::Deserialize;

use crate::judge::shown;
use crate::model::Exchange;
use crate::verdict::Verdict;

/// Longest text that is read, in bytes; a verdict with its reason needs a few hundred.
pub(super) const LONGEST: usize = 64 << 10;

/// A verdict and why.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Opinion {
    pub(super) verdict: Verdict,
    pub(super) reason: String,
}

/// Why there is no verdict in a reply.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Unread {
    /// It is not in the form; the model may do better when asked again.
    Unreadable(String),
    /// The model or its endpoint would not say; asking again changes nothing.
    Withheld(String),
}

/// Ends of a reply that was not cut; none at all is one too. Some endpoints have words
/// of their own for the end of a turn.
const ENDS: [&str; 6] = ["stop", "tool_calls", "function_call", "end_turn", "eos", "eos_token"];

/// Reads the verdict of a reply about `answer`, as the model was shown it.
pub(super) fn read(exchange: &Exchange, answer: &str) -> Result<Opinion, Unread> {
    let content = content(exchange)?;
    let opinion = parse(content)?;
    if repeats(content, answer) {
        let why = "the reply repeats the answer under comparison";
        return Err(Unread::Unreadable(why.to_owned()));
    }
    Ok(opinion)
}

/// Returns the text of a reply that was given whole and of the model's own will.
pub(super) fn content(exchange: &Exchange) -> Result<&str, Unread> {
    let reply = &exchange.reply;
    let unreadable = |why: &str| Err(Unread::Unreadable(why.to_owned()));
    let refusal = reply.message.get("refusal").and_then(serde_json::Value::as_str);
    if refusal.is_some_and(|refusal| !refusal.trim().is_empty()) {
        return Err(Unread::Withheld("the model refused to judge".to_owned()));
    }
    let is = |name: &str| reply.peculiar.iter().any(|peculiar| peculiar == name);
    if is("content-filter") {
        return Err(Unread::Withheld("the endpoint filtered the reply".to_owned()));
    }
    if is("cut-at-length") {
        return unreadable("the reply was cut off at the limit on its tokens");
    }
    if let Some(end) = reply.finish.as_deref().filter(|end| !ENDS.contains(end)) {
        return unreadable(&format!("the reply ended with `{end}`, so it may be cut off"));
    }
    if choices(&exchange.reply_text) > 1 {
        return unreadable("there is more than one reply");
    }
    if !reply.calls.is_empty() || is("calls-not-a-list") {
        return unreadable("the reply calls a tool");
    }
    if is("content-not-text") {
        return unreadable("the content of the reply is not a text");
    }
    if is("unknown-part") {
        return unreadable("a part of the reply is not a text");
    }
    match reply.content.as_deref() {
        Some(content) if !content.trim().is_empty() => Ok(content),
        Some(_) | None => unreadable("the reply is empty"),
    }
}

/// Returns how many replies the body of an endpoint's answer holds.
fn choices(body: &str) -> usize {
    /// The part of the body that matters here.
    #[derive(Deserialize)]
    struct Body {
        choices: Vec<serde::de::IgnoredAny>,
    }
    serde_json::from_str(body).map_or(0, |body: Body| body.choices.len())
}

/// Returns whether the verdict in a reply stands in the answer, in whatever layout.
pub(super) fn repeats(content: &str, answer: &str) -> bool {
    let bare = |text: &str| shown(text).split_whitespace().collect::<String>();
    let verdict = match thought(content) {
        Some(rest) if object(content).is_err() => rest,
        Some(_) | None => content,
    };
    bare(answer).contains(&bare(unfenced(verdict.trim())))
}

/// Reads a text that is a verdict and nothing else.
pub(super) fn parse(content: &str) -> Result<Opinion, Unread> {
    if content.len() > LONGEST {
        let size = content.len();
        return Err(Unread::Unreadable(format!("the reply has {size} bytes")));
    }
    // Thinking is looked for only where the whole is no verdict: a reason may speak of it.
    let read = object(content).or_else(|error| match thought(content) {
        Some(rest) => object(rest),
        None => Err(error),
    });
    read.map_err(Unread::Unreadable)
}

/// Returns what follows the thinking, of which there is exactly one; its opening mark may be
/// missing, since some endpoints put it into the request.
pub(super) fn thought(content: &str) -> Option<&str> {
    let (thinking, rest) = content.split_once("</think>")?;
    let thinking = thinking.trim_start();
    let inner = thinking.strip_prefix("<think>").unwrap_or(thinking);
    let once = !rest.contains("</think>") && !rest.contains("<think>");
    (once && !inner.contains("<think>")).then_some(rest)
}

fn object(text: &str) -> Result<Opinion, String> {
    /// The form; a derived reader refuses unknown fields and fields that come twice.
    #[derive(Deserialize)]
    #[serde(deny_unknown_fields)]
    struct Form {
        #[serde(default)]
        reason: String,
        verdict: String,
    }
    let text = unfenced(text.trim());
    // A derived reader would also take an array of the fields.
    if !text.starts_with('{') {
        return Err("the reply is not one JSON object".to_owned());
    }
    let form: Form = serde_json::from_str(text)
        .map_err(|error| format!("the reply is not one JSON object in the form: {error}"))?;
    let verdict = match form.verdict.as_str() {
        "correct" => Verdict::Pass,
        "incorrect" => Verdict::Fail,
        _ => return Err("the verdict of the reply is neither `correct` nor `incorrect`".to_owned()),
    };
    Ok(Opinion { verdict, reason: form.reason })
}

/// Takes away a code fence that encloses the whole text.
pub(super) fn unfenced(text: &str) -> &str {
    let inner = text.strip_prefix("```").and_then(|text| text.strip_suffix("```"));
    match inner {
        Some(inner) => inner.strip_prefix("json").unwrap_or(inner).trim(),
        None => text,
    }
}
