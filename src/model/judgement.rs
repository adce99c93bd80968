//! What an answer of an endpoint amounts to: a reply, a reason to try again, or an end.
//!
//! Everything here is a function of the answer alone. Endpoints disagree on statuses,
//! so what an error says decides before its number does.

use std::borrow::Cow;
use std::time::Duration;

use serde_json::Value;

use super::endpoint::Endpoint;

/// An answer, whatever its status.
#[derive(Debug, Default)]
pub(super) struct Answer {
    pub(super) status: u16,
    pub(super) retry_after: Option<Duration>,
    pub(super) body: String,
    /// Whether bytes had to be replaced to make the body a text.
    pub(super) mended: bool,
}

/// What an answer amounts to.
#[derive(Debug, PartialEq)]
pub(super) enum Judgement {
    /// A chat completion; `mended` where its JSON had to be repaired.
    Completion { body: Value, mended: bool },
    /// The model's turn came to nothing: worth a few tries, then an empty reply with
    /// this note.
    Fruitless { reason: String, note: &'static str },
    /// The endpoint filtered the conversation: an empty reply.
    Filtered,
    /// Worth another try; `busy` where the endpoint has too much to do.
    Again { reason: String, busy: bool },
    /// The conversation is too long.
    Overflow { reason: String },
    /// The endpoint will not have it; `status` is the error's own.
    Refused { reason: String, status: u16 },
}

/// Says in lower case that a conversation is too long: `OpenAI`, Azure, vLLM, llama.cpp,
/// `SGLang`, TGI, Mistral, xAI, Anthropic, Gemini, Bedrock, `DashScope`, LM Studio.
const OVERFLOW: [&str; 14] = [
    "context_length_exceeded",
    "exceed_context_size",
    "maximum context length",
    "context window",
    "context length",
    "context size",
    "maximum prompt length",
    "prompt is too long",
    "input is too long",
    "too large for model with",
    "input length should be",
    "input token count",
    "reduce the length of the messages",
    "`max_new_tokens` must be <=",
];

/// Says in lower case that what the model wrote could not be read.
const UNREADABLE: [&str; 6] = [
    "does not match the expected",
    "failed to parse input at pos",
    "error parsing tool call",
    "tool_use_failed",
    "failed_generation",
    "output_parse_failed",
];

const FILTERED: [&str; 3] =
    ["content_filter", "content_policy_violation", "data_inspection_failed"];

const NO_CREDIT: [&str; 2] = ["insufficient_quota", "billing_hard_limit_reached"];

/// Judges an answer that should hold the words of a sound.
pub(super) fn judge_words(answer: &Answer) -> Judgement {
    let (body, mended) = match whole(answer) {
        Ok(whole) => whole,
        Err(judgement) => return judgement,
    };
    if body.get("text").is_some_and(Value::is_string) {
        return Judgement::Completion { body, mended };
    }
    again("the reply is no transcript; check the base URL".into())
}

/// Judges an answer.
pub(super) fn judge(answer: &Answer) -> Judgement {
    let (body, mended) = match whole(answer) {
        Ok(whole) => whole,
        Err(judgement) => return judgement,
    };
    match body.get("choices").and_then(Value::as_array).map(Vec::is_empty) {
        Some(false) => Judgement::Completion { body, mended },
        Some(true) => {
            Judgement::Fruitless { reason: "the reply has no choices".into(), note: "no-choices" }
        }
        None => again("the reply is not a chat completion; check the base URL".into()),
    }
}

/// Reads the JSON of an answer that tells of no error, and whether it was mended; else what
/// the answer amounts to.
fn whole(answer: &Answer) -> Result<(Value, bool), Judgement> {
    let text = answer.body.trim_start_matches('\u{feff}').trim();
    let parsed = parse(text);
    if !(200..300).contains(&answer.status) {
        let said = Said::read(parsed.as_ref().ok().map(|p| &p.0), text);
        return Err(judge_error(answer.status, &said));
    }
    let (body, mended) = match parsed {
        Ok(parsed) => parsed,
        Err(_) if text.starts_with('<') => {
            return Err(again("an HTML page came instead of JSON; check the base URL".into()));
        }
        Err(error) => return Err(again(format!("the reply is not JSON: {error}"))),
    };
    if let Some(error) = inner_error(&body) {
        let code = error.get("code").and_then(|code| {
            code.as_u64()
                .or_else(|| code.as_str()?.parse().ok())
                .and_then(|c| u16::try_from(c).ok())
        });
        let status = code.filter(|code| (400..600).contains(code)).unwrap_or(500);
        return Err(judge_error(status, &Said::read(Some(&body), text)));
    }
    Ok((body, mended || answer.mended))
}

fn again(reason: String) -> Judgement {
    Judgement::Again { reason, busy: false }
}

/// Returns the error inside an answer that claims success: beside the choices, or in the
/// first of them where it has no message.
fn inner_error(body: &Value) -> Option<&Value> {
    let given = |value: &&Value| !value.is_null();
    let first = body.pointer("/choices/0");
    if let Some(error) = body.get("error").filter(given).filter(|_| first.is_none()) {
        return Some(error);
    }
    let said = |key: &str| first.and_then(|choice| choice.get("message")?.get(key));
    let silent = said("content").and_then(Value::as_str).unwrap_or_default().is_empty()
        && said("tool_calls").is_none_or(Value::is_null);
    first?.get("error").filter(given).filter(|_| silent)
}

fn judge_error(status: u16, said: &Said) -> Judgement {
    let reason = format!("{status}: {}", said.message);
    let says = |words: &[&str]| words.iter().any(|word| said.searched.contains(word));
    if says(&NO_CREDIT) {
        return Judgement::Refused { reason, status };
    }
    if status != 429 && says(&OVERFLOW) {
        return Judgement::Overflow { reason };
    }
    if status != 429 && says(&UNREADABLE) {
        return Judgement::Fruitless { reason, note: "output-format-error" };
    }
    match status {
        400..=499 if status != 429 && says(&FILTERED) => Judgement::Filtered,
        429 => Judgement::Again { reason, busy: true },
        408 | 409 | 425 | 500.. => Judgement::Again { reason, busy: false },
        _ => Judgement::Refused { reason, status },
    }
}

/// What an error says.
struct Said {
    /// For people; short.
    message: String,
    /// Message and codes in lower case, to be searched.
    searched: String,
}

impl Said {
    fn read(body: Option<&Value>, text: &str) -> Self {
        let html = text.starts_with('<');
        let found = body.and_then(|body| {
            ["/error/message", "/choices/0/error/message", "/error", "/message", "/detail"]
                .iter()
                .find_map(|path| body.pointer(path).filter(|value| !value.is_null()))
        });
        let message = match found {
            Some(Value::String(message)) => message.clone(),
            Some(other) => other.to_string(),
            None if html => "an HTML page".into(),
            None if text.is_empty() => "no text".into(),
            None => text.to_owned(),
        };
        // A page's own words are no message of the endpoint.
        let searched = if html { String::new() } else { text.chars().take(8192).collect() };
        Self { message: shorten(&message), searched: searched.to_lowercase() }
    }
}

fn shorten(message: &str) -> String {
    const MOST: usize = 500;
    let mut short: String =
        message.chars().take(MOST).map(|c| if c.is_control() { ' ' } else { c }).collect();
    if message.chars().nth(MOST).is_some() {
        short.push('…');
    }
    short
}

/// Parses JSON; where it holds halves of surrogate pairs, as escapes that were cut apart
/// do, they are replaced, which is the second value.
fn parse(text: &str) -> Result<(Value, bool), serde_json::Error> {
    match serde_json::from_str(text) {
        Ok(value) => Ok((value, false)),
        Err(error) => match mend_surrogates(text) {
            Cow::Borrowed(_) => Err(error),
            Cow::Owned(mended) => serde_json::from_str(&mended).map(|value| (value, true)),
        },
    }
}

/// Replaces the escapes of lone surrogates by that of the replacement character.
fn mend_surrogates(text: &str) -> Cow<'_, str> {
    let bytes = text.as_bytes();
    let (mut mended, mut kept, mut at) = (String::new(), 0, 0);
    while let Some(&byte) = bytes.get(at) {
        if byte != b'\\' {
            at += 1;
            continue;
        }
        match (unit(bytes, at), unit(bytes, at + 6)) {
            (Some(0xD800..=0xDBFF), Some(0xDC00..=0xDFFF)) => at += 12,
            (Some(0xD800..=0xDFFF), _) => {
                mended.push_str(&text[kept..at]);
                mended.push_str("\\ufffd");
                at += 6;
                kept = at;
            }
            // Whatever is escaped is one byte, or the first of one character.
            (Some(_) | None, _) => at += 2,
        }
    }
    if kept == 0 {
        return Cow::Borrowed(text);
    }
    mended.push_str(&text[kept..]);
    Cow::Owned(mended)
}

/// Returns the UTF-16 unit that is escaped at `at`.
fn unit(bytes: &[u8], at: usize) -> Option<u16> {
    let digits = bytes.get(at..at + 6)?.strip_prefix(b"\\u")?;
    let digits = std::str::from_utf8(digits).ok().filter(|d| !d.starts_with('+'))?;
    u16::from_str_radix(digits, 16).ok()
}

/// Returns what to check after a refusal with this status.
pub(super) fn hint(status: u16, endpoint: &Endpoint) -> Option<String> {
    let (model, url) = (&endpoint.model, endpoint.address());
    let key = endpoint.key.as_ref().map_or_else(
        || "no key was sent; set `OPENAI_API_KEY` or name a variable with `--api-key-env`".into(),
        |key| format!("check the key in `{}`", key.source()),
    );
    match status {
        300..=399 => Some(format!("`{url}` redirects; give the base URL that it leads to")),
        401 | 403 => Some(key),
        402 | 429 => Some(format!("the account has no credit left; {key}")),
        404 | 405 => Some(format!(
            "check the model's name `{model}` and the base URL (requests went to `{url}`; most \
             base URLs end in `/v1`)"
        )),
        400 | 422 => Some(format!(
            "check the model's name `{model}` and the settings; a field that the endpoint does \
             not know can be taken away by setting it to null"
        )),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn lone_surrogates_are_mended_and_nothing_else() {
        let table = [
            (r#""plain""#, r#""plain""#, "nothing to mend"),
            (r#""\ud83d\ude00""#, r#""\ud83d\ude00""#, "a pair"),
            (r#""\ud83d""#, r#""\ufffd""#, "first half"),
            (r#""\ude00x""#, r#""\ufffdx""#, "second half"),
            (r#""\ud83d\ud83d\ude00""#, r#""\ufffd\ud83d\ude00""#, "half, then a pair"),
            (r#""\\ud83d""#, r#""\\ud83d""#, "an escaped backslash, then letters"),
            (r#""\ud83"#, r#""\ud83"#, "cut within the escape"),
            (r#""\é""#, r#""\é""#, "not an escape at all"),
        ];
        for (text, expected, why) in table {
            assert_eq!(mend_surrogates(text), expected, "{why}");
        }
    }

    proptest! {
        #[test]
        fn any_text_is_judged(status in 100_u16..1000, body in r#"(\\u[dD][89a-fA-F]0|\\|\PC|[{}\[\]":,]|error|choices|message|code){0,40}"#) {
            judge(&Answer { status, body, ..Answer::default() });
        }

        #[test]
        fn sound_json_is_left_alone(text in r"\PC*") {
            let json = Value::from(text).to_string();
            prop_assert!(matches!(mend_surrogates(&json), Cow::Borrowed(_)));
        }
    }
}
