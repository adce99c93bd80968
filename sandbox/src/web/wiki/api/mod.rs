//! MediaWiki's action API, as far as readers need it, in both format versions:
//! `action=query` (pages by title, number, revision or search, with their properties, and
//! lists), `parse` and `opensearch`.
//!
//! The source of articles is Markdown, and is said to be. What is asked for beyond what
//! is here is answered with a warning, as MediaWiki does, not silently. Links stand in the
//! order of the article, not of the alphabet.

mod list;
mod parse;
mod property;
mod query;
mod revisions;

use std::collections::BTreeMap;

use jiff::Timestamp;
use serde_json::{Value, json};

use super::super::Request;
use super::super::reply::Reply;
use super::super::search::Engine;
use super::{Encyclopedia, article, before, timestamp};

/// Code and text of an error.
type Failure = (&'static str, String);

/// One request, read.
struct Call<'a> {
    wiki: &'a Encyclopedia,
    engine: &'a Engine,
    now: Timestamp,
    /// The parameters; of repeated ones the last counts.
    parameters: BTreeMap<String, String>,
    /// Whether the answer is of format version 2.
    second: bool,
}

impl Call<'_> {
    fn get(&self, name: &str) -> Option<&str> {
        self.parameters.get(name).map(String::as_str)
    }

    /// MediaWiki's flags are set by being there, whatever their value.
    fn flag(&self, name: &str) -> bool {
        self.parameters.contains_key(name)
    }

    /// Returns a number of the range; `max` is its end, and what lies outside is moved in,
    /// as MediaWiki does with limits.
    fn number(
        &self,
        name: &'static str,
        default: usize,
        range: std::ops::RangeInclusive<usize>,
    ) -> Result<usize, Failure> {
        match self.get(name) {
            None => Ok(default),
            Some("max") => Ok(*range.end()),
            Some(written) => match written.parse::<usize>() {
                Ok(number) => Ok(number.clamp(*range.start(), *range.end())),
                Err(_) => Err((
                    "badinteger",
                    format!("Invalid value \"{written}\" for integer parameter \"{name}\"."),
                )),
            },
        }
    }

    fn list(&self, name: &str) -> Vec<&str> {
        self.get(name).map_or(Vec::new(), |value| {
            // A value that begins with this character is split at it, not at bars.
            let (value, at) = match value.strip_prefix('\u{1f}') {
                Some(rest) => (rest, '\u{1f}'),
                None => (value, '|'),
            };
            value.split(at).map(str::trim).filter(|part| !part.is_empty()).collect()
        })
    }

    /// Returns a parameter that must be there and not be empty.
    fn needed(&self, name: &'static str) -> Result<&str, Failure> {
        self.get(name)
            .filter(|text| !text.trim().is_empty())
            .ok_or_else(|| ("missingparam", format!("The \"{name}\" parameter must be set.")))
    }

    /// A true flag: present and empty in the first format, `true` in the second.
    fn truth(&self) -> Value {
        if self.second { json!(true) } else { json!("") }
    }

    /// A text that stands under `*` in the first format, under `name` in the second.
    fn named(&self, name: &'static str) -> &'static str {
        if self.second { name } else { "*" }
    }

    /// Adds a warning about a module to an answer.
    fn warn(&self, answer: &mut Value, module: &str, text: &str) {
        let name = self.named("warnings");
        let old = answer["warnings"][module][name].as_str().map(|old| format!("{old}\n"));
        let text = format!("{}{text}", old.unwrap_or_default());
        answer["warnings"][module][name] = json!(text);
    }
}

/// Answers a request to `api.php`. Errors are 200 with an `error`, as MediaWiki does.
pub(super) fn answer(
    wiki: &Encyclopedia,
    request: &Request,
    engine: &Engine,
    now: Timestamp,
) -> Reply {
    if !matches!(request.method, http::Method::GET | http::Method::HEAD | http::Method::POST) {
        return Reply::method_not_allowed(&request.method, "GET, HEAD, POST");
    }
    let mut parameters: BTreeMap<_, _> = request.url.query_pairs().into_owned().collect();
    if request.method == http::Method::POST {
        parameters.extend(url::form_urlencoded::parse(&request.body).into_owned());
    }
    let second = match parameters.get("formatversion").map(String::as_str) {
        Some("2" | "latest") => Ok(true),
        None | Some("1") => Ok(false),
        Some(other) => Err(unrecognized("formatversion", other)),
    };
    let call = Call { wiki, engine, now, parameters, second: second == Ok(true) };
    let result = second.and_then(|_| call.run());
    let reply = match result {
        Ok(value) => Reply::json(200, &value),
        Err((code, info)) => {
            let help = format!("See https://{}/w/api.php for API usage.", wiki.host);
            let mut error = json!({"code": code, "info": info});
            error[call.named("docref")] = json!(help);
            Reply::json(200, &json!({"error": error, "servedby": wiki.host}))
                .with("mediawiki-api-error", code)
        }
    };
    // Scripts of other sites may ask where they say so, as live.
    match call.get("origin") {
        Some("*") => reply.with("access-control-allow-origin", "*"),
        Some(_) | None => reply,
    }
}

fn unrecognized(parameter: &str, value: &str) -> Failure {
    ("badvalue", format!("Unrecognized value for parameter \"{parameter}\": {value}."))
}

impl Call<'_> {
    fn run(&self) -> Result<Value, Failure> {
        if let Some(format) = self.get("format").filter(|it| !matches!(*it, "json" | "jsonfm")) {
            return Err(unrecognized("format", format));
        }
        match self.get("action") {
            Some("query") => query::answer(self),
            Some("parse") => parse::answer(self),
            Some("opensearch") => list::opensearch(self),
            Some(other) => Err(unrecognized("action", other)),
            None => Err(("missingparam", "The \"action\" parameter must be set.".to_owned())),
        }
    }
}
