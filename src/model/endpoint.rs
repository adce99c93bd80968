//! Where a model is and how it is asked: addresses, keys, settings.
//!
//! A key never leaves its [`Secret`] but into a request's header: it has no `Display`,
//! and `Debug` shows only where it came from.

use std::fmt;
use std::net::IpAddr;
use std::sync::Arc;
use std::time::Duration;

use reqwest::header::HeaderValue;
use serde_json::{Map, Value};
use url::{Position, Url};

use super::error::ModelError;
use super::gate::Gate;
use super::retry::Retrying;

/// A key and the name of what it was read from.
#[derive(Clone)]
pub struct Secret {
    source: String,
    value: String,
}

impl Secret {
    /// Wraps a key; `source` names where it came from, such as `OPENAI_API_KEY`, and is
    /// what messages show in its place. Space around the key is dropped, since a
    /// pasted line break would make every request fail.
    pub fn new(source: impl Into<String>, value: &str) -> Self {
        Self { source: source.into(), value: value.trim().to_owned() }
    }

    /// Returns where the key came from.
    #[must_use]
    pub fn source(&self) -> &str {
        &self.source
    }

    /// Returns `text` without the key, should an endpoint have repeated it. A key of
    /// fewer than eight bytes is a placeholder such as `none`, which may be any word.
    pub(super) fn redact(&self, text: String) -> String {
        if self.value.len() < 8 || !text.contains(&self.value) {
            return text;
        }
        text.replace(&self.value, "[key]")
    }

    /// Returns the value of the `Authorization` header.
    pub(super) fn header(&self) -> Result<HeaderValue, ModelError> {
        let mut header = HeaderValue::from_str(&format!("Bearer {}", self.value))
            .ok()
            .filter(|_| !self.value.is_empty())
            .ok_or_else(|| {
                let source = &self.source;
                ModelError::Misconfigured(format!(
                    "the key in `{source}` is empty or holds characters that no key has; set \
                     `{source}` again"
                ))
            })?;
        header.set_sensitive(true);
        Ok(header)
    }
}

impl fmt::Debug for Secret {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Secret(from `{}`)", self.source)
    }
}

/// A model at an address. Clones share the slots: requests in flight are limited over
/// all of them together.
#[derive(Clone)]
pub struct Endpoint {
    pub(super) url: Url,
    pub(super) model: String,
    pub(super) key: Option<Secret>,
    pub(super) gate: Arc<Gate>,
}

impl Endpoint {
    /// Describes the model named `model` under `base_url`, such as
    /// `http://127.0.0.1:8000/v1`, with at most `concurrency` requests in flight (0
    /// means 1).
    ///
    /// A URL that already ends in `/chat/completions` is taken as it is; a query is kept.
    /// A URL with a user or password in it is refused: it is stored with every run.
    pub fn new(
        base_url: &str,
        model: impl Into<String>,
        key: Option<Secret>,
        concurrency: usize,
    ) -> Result<Self, ModelError> {
        let url = chat_url(base_url).map_err(ModelError::Misconfigured)?;
        Ok(Self { url, model: model.into(), key, gate: Arc::new(Gate::new(concurrency)) })
    }

    /// Returns the model's name.
    #[must_use]
    pub fn model(&self) -> &str {
        &self.model
    }

    /// Returns the address that requests go to, without the query: some endpoints take
    /// their key there.
    #[must_use]
    pub fn address(&self) -> &str {
        &self.url[..Position::AfterPath]
    }

    /// Returns the address of another route under the same base URL.
    pub(super) fn beside(&self, route: &str) -> Url {
        let mut url = self.url.clone();
        let path = url.path().trim_end_matches("chat/completions").to_owned();
        url.set_path(&format!("{path}{route}"));
        url
    }

    /// Tells whether the address is on this machine, where no proxy is asked.
    pub(super) fn is_loopback(&self) -> bool {
        let host = self.url.host_str().unwrap_or_default();
        let host = host.trim_start_matches('[').trim_end_matches(']');
        host.parse::<IpAddr>().map_or_else(
            |_| host == "localhost" || host.ends_with(".localhost"),
            |address| address.is_loopback(),
        )
    }
}

impl fmt::Debug for Endpoint {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Endpoint")
            .field("address", &self.address())
            .field("model", &self.model)
            .field("key", &self.key)
            .finish_non_exhaustive()
    }
}

fn chat_url(base: &str) -> Result<Url, String> {
    let example = "expected something like `http://127.0.0.1:8000/v1`";
    let mut url = Url::parse(base.trim())
        .map_err(|error| format!("the base URL `{base}` cannot be read: {error}; {example}"))?;
    if !url.username().is_empty() || url.password().is_some() {
        return Err("the base URL holds a user or password; give the key by its variable".into());
    }
    if !matches!(url.scheme(), "http" | "https") {
        return Err(format!("the base URL `{base}` is neither http nor https; {example}"));
    }
    url.set_fragment(None);
    let path = url.path().trim_end_matches('/').to_owned();
    if !path.ends_with("/chat/completions") {
        url.set_path(&format!("{path}/chat/completions"));
    }
    Ok(url)
}

/// How a model is asked.
#[derive(Debug, Clone, PartialEq)]
pub struct Settings {
    /// Sampling temperature; not sent where none.
    pub temperature: Option<f64>,
    /// Most tokens of one reply.
    pub max_tokens: u32,
    /// Seed of the endpoint's sampling; not sent where none.
    pub seed: Option<u64>,
    /// More fields of the request, such as `chat_template_kwargs`. They replace fields of
    /// the same name (null takes one away; `max_completion_tokens` takes `max_tokens`
    /// away), but cannot touch what the gym itself writes.
    pub extra: Map<String, Value>,
    /// How long a request may take, from connecting to the last byte; 600 s by default.
    pub request_timeout: Duration,
    /// Whether earlier replies are sent back with their reasoning. Off by default: some
    /// endpoints refuse it, most chat templates drop it anyway, and it costs tokens. A
    /// few models want it back between their own calls.
    pub echo_reasoning: bool,
    /// When a failed request is sent again.
    pub retrying: Retrying,
}

impl Default for Settings {
    /// The settings of `AgentGym2`: temperature 0.6 and 8,192 tokens a reply.
    fn default() -> Self {
        Self {
            temperature: Some(0.6),
            max_tokens: 8192,
            seed: None,
            extra: Map::new(),
            request_timeout: Duration::from_mins(10),
            echo_reasoning: false,
            retrying: Retrying::default(),
        }
    }
}

/// Fields of a request that belong to the gym.
const OWN_FIELDS: [&str; 5] = ["model", "messages", "tools", "stream", "n"];

impl Settings {
    /// Returns the start of every request's body: all that does not change within a
    /// conversation but the tools, as JSON without the closing brace.
    pub(super) fn prefix(&self, model: &str) -> Result<String, ModelError> {
        let wrong = ModelError::Misconfigured;
        if let Some(field) = OWN_FIELDS.into_iter().find(|field| self.extra.contains_key(*field)) {
            return Err(wrong(format!("the extra field `{field}` is written by the gym itself")));
        }
        let mut body = Map::new();
        body.insert("model".into(), model.into());
        body.insert("stream".into(), false.into());
        if let Some(temperature) = self.temperature {
            let number = serde_json::Number::from_f64(temperature).ok_or_else(|| {
                wrong(format!("the temperature is {temperature}; expected a number such as 0.6"))
            })?;
            body.insert("temperature".into(), number.into());
        }
        if !self.extra.contains_key("max_completion_tokens") {
            body.insert("max_tokens".into(), self.max_tokens.into());
        }
        if let Some(seed) = self.seed {
            body.insert("seed".into(), seed.into());
        }
        for (name, value) in &self.extra {
            if value.is_null() {
                body.shift_remove(name);
            } else {
                body.insert(name.clone(), value.clone());
            }
        }
        let mut text = Value::Object(body).to_string();
        text.pop();
        Ok(text)
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn base_urls_lead_to_the_chat_route() {
        let table = [
            ("http://h:8000/v1", Some("http://h:8000/v1/chat/completions"), "plain"),
            ("http://h:8000/v1/", Some("http://h:8000/v1/chat/completions"), "trailing slash"),
            ("http://h", Some("http://h/chat/completions"), "no path"),
            (" https://h/v1\n", Some("https://h/v1/chat/completions"), "pasted with space"),
            ("http://h/v1/chat/completions", Some("http://h/v1/chat/completions"), "whole route"),
            (
                "https://h/d?api-version=1",
                Some("https://h/d/chat/completions?api-version=1"),
                "query",
            ),
            ("http://me:secret@h/v1", None, "credentials would be stored"),
            ("ftp://h/v1", None, "not http"),
            ("h:8000/v1", None, "no scheme"),
            ("", None, "empty"),
        ];
        for (base, expected, why) in table {
            let got = Endpoint::new(base, "m", None, 1).ok();
            assert_eq!(got.as_ref().map(|got| got.url.as_str()), expected, "{why}");
        }
    }

    #[test]
    fn other_routes_lie_beside_the_chat_route() {
        for (base, expected) in [
            ("http://h:8000/v1", "http://h:8000/v1/audio/transcriptions"),
            ("http://h/v1/chat/completions", "http://h/v1/audio/transcriptions"),
            ("https://h/d?api-version=1", "https://h/d/audio/transcriptions?api-version=1"),
        ] {
            let endpoint = Endpoint::new(base, "m", None, 1).unwrap();
            assert_eq!(endpoint.beside("audio/transcriptions").as_str(), expected);
        }
    }

    #[test]
    fn proxies_are_not_asked_for_this_machine() {
        let local =
            ["http://localhost:1", "http://127.9.0.1", "http://[::1]:8/v1", "http://a.localhost"];
        for (base, expected) in local.map(|base| (base, true)).into_iter().chain([
            ("http://10.0.0.1", false),
            ("https://example.com", false),
            ("http://localhost.example.com", false),
        ]) {
            let endpoint = Endpoint::new(base, "m", None, 1).unwrap();
            assert_eq!(endpoint.is_loopback(), expected, "{base}");
        }
    }

    #[test]
    fn a_key_is_never_shown() {
        let secret = Secret::new("OPENAI_API_KEY", " sk-12345\n");
        let url = "http://h/v1?key=sk-12345";
        let endpoint = Endpoint::new(url, "m", Some(secret.clone()), 1).unwrap();
        assert!(!format!("{endpoint:?}").contains("sk-12345"));
        assert_eq!(endpoint.address(), "http://h/v1/chat/completions");
        assert_eq!(secret.redact("bad key sk-12345 given".into()), "bad key [key] given");
        let header = secret.header().unwrap();
        assert_eq!(header.to_str().unwrap(), "Bearer sk-12345", "space around it is dropped");
        assert!(header.is_sensitive() && !format!("{header:?}").contains("sk-12345"));
        for bad in ["", "a\nb", "\u{0}"] {
            assert!(Secret::new("K", bad).header().is_err(), "{bad:?}");
        }
    }

    #[test]
    fn extra_fields_replace_and_remove() {
        let extra = |value: Value| Settings {
            seed: Some(7),
            extra: value.as_object().unwrap().clone(),
            ..Settings::default()
        };
        let start = r#"{"model":"m","stream":false"#;
        let table = [
            (json!({}), Some(r#","temperature":0.6,"max_tokens":8192,"seed":7"#)),
            (json!({"temperature": null, "seed": 1}), Some(r#","max_tokens":8192,"seed":1"#)),
            (
                json!({"max_completion_tokens": 9}),
                Some(r#","temperature":0.6,"seed":7,"max_completion_tokens":9"#),
            ),
            (json!({"messages": []}), None),
            (json!({"stream": true}), None),
        ];
        for (fields, expected) in table {
            let got = extra(fields.clone()).prefix("m").ok();
            assert_eq!(got, expected.map(|rest| format!("{start}{rest}")), "{fields}");
        }
        let endless = Settings { temperature: Some(f64::NAN), ..Settings::default() };
        assert!(endless.prefix("m").is_err());
    }
}
