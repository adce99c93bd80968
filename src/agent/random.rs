//! An agent that calls at random and answers with something it saw.
//!
//! It is the floor of a suite: whatever it passes can be passed by luck.

use futures::future::BoxFuture;
use rand::RngExt;
use rand::seq::IndexedRandom;
use rand_chacha::ChaCha12Rng;
use serde_json::{Map, Value, json};
use wildgym_toolbox::Call;

use super::{Agent, Broken, Ending, Episode};
use crate::record::{Limit, Outcome};

/// Most rounds before it answers.
const ROUNDS: u32 = 5;

/// Most calls of a round.
const CALLS: u32 = 3;

/// Makes random valid calls, then answers with a word or number that it saw.
#[derive(Debug, Clone, Copy, Default)]
pub struct Random;

impl Random {
    async fn wander(episode: &mut Episode) -> Result<Ending, Broken> {
        episode.told("user", "task", &episode.request.instruction.clone())?;
        let mut rng = episode.seed.rng();
        let mut seen = words(&episode.request.instruction);
        for _ in 0..rng.random_range(1..=ROUNDS) {
            if !episode.next_round() {
                return Ok(Ending::without(Outcome::Limit(Limit::Rounds), "no round left"));
            }
            let calls = (0..rng.random_range(1..=CALLS))
                .filter_map(|index| call(episode, &seen, index, &mut rng))
                .collect();
            for reply in episode.call(calls).await? {
                seen.extend(words(&reply.text));
            }
        }
        let answer = seen.choose(&mut rng).cloned().unwrap_or_default();
        Ok(Ending::answered(answer))
    }
}

impl Agent for Random {
    fn run<'a>(&'a self, episode: &'a mut Episode) -> BoxFuture<'a, Result<Ending, Broken>> {
        Box::pin(Self::wander(episode))
    }
}

/// Invents a call that fits the schema of a random tool.
fn call(episode: &Episode, seen: &[String], index: u32, rng: &mut ChaCha12Rng) -> Option<Call> {
    let entries: Vec<_> = episode.toolbox.catalog().iter().collect();
    let entry = entries.choose(rng)?;
    let required = entry.parameters["required"].as_array().cloned().unwrap_or_default();
    let mut arguments = Map::new();
    for (name, field) in entry.parameters["properties"].as_object()? {
        if required.iter().any(|needed| needed == name) || rng.random_bool(0.3) {
            arguments.insert(name.clone(), value(name, field, episode, seen, rng));
        }
    }
    Some(Call {
        id: format!("call_{}_{index}", episode.rounds),
        name: entry.tool.name().to_owned(),
        arguments: Value::Object(arguments).to_string(),
    })
}

/// Invents a value of a field's type, with a look at its name.
fn value(
    name: &str,
    field: &Value,
    episode: &Episode,
    seen: &[String],
    rng: &mut ChaCha12Rng,
) -> Value {
    if let Some(choice) = field["enum"].as_array().and_then(|values| values.choose(rng)) {
        return choice.clone();
    }
    let kind = match &field["type"] {
        Value::Array(kinds) => kinds.first().and_then(Value::as_str),
        Value::String(kind) => Some(kind.as_str()),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::Object(_) => None,
    };
    let kind = kind.unwrap_or("string");
    match kind {
        "integer" => json!(rng.random_range(1..=3)),
        "number" => json!(rng.random_range(0.0..100.0)),
        "boolean" => json!(rng.random_bool(0.5)),
        "array" => json!([]),
        "object" => json!({}),
        _ => json!(text(name, episode, seen, rng)),
    }
}

fn text(name: &str, episode: &Episode, seen: &[String], rng: &mut ChaCha12Rng) -> String {
    let pick = |from: &[String], rng: &mut ChaCha12Rng| from.choose(rng).cloned();
    let urls: Vec<String> = seen.iter().filter(|word| word.starts_with("http")).cloned().collect();
    let word = pick(seen, rng).unwrap_or_else(|| "what".to_owned());
    if name.contains("path") {
        return pick(&episode.request.attachments, rng).unwrap_or(word);
    }
    if name.contains("url") {
        return pick(&urls, rng).unwrap_or_else(|| format!("https://{word}.example/"));
    }
    if name.contains("code") {
        return format!("print({})", json!(word));
    }
    let more = pick(seen, rng).unwrap_or_default();
    format!("{word} {more}").trim().to_owned()
}

/// Splits a text into what could be an answer: words, numbers and addresses.
fn words(text: &str) -> Vec<String> {
    text.split(|c: char| c.is_whitespace() || "\"'`<>()[]{}|，。；、".contains(c))
        .map(|word| word.trim_matches(|c: char| ".,;:!?*#".contains(c)))
        .filter(|word| !word.is_empty() && word.len() < 200)
        .map(str::to_owned)
        .collect()
}
