//! The name of a judge, which is also the name of its file of verdicts.
//!
//! Two judges that may judge differently have different names: the name ends in a digest
//! of the prompts, the models with their settings and the number of votes. Where a model is
//! and how fast it is asked is no part of it.

use serde_json::json;

use super::{prompt, rubric};
use crate::store::ModelConfig;

/// Version of what is decided without a model; a change that moves a verdict raises it.
const GATES: u32 = 2;

/// Most characters of the models in a name.
const LONGEST: usize = 80;

/// Returns the BLAKE3 digest of all prompts, the schema of replies and the version of the
/// gates, as 64 hexadecimal digits.
#[must_use]
pub fn prompts() -> String {
    let parts =
        json!({ "gates": GATES, "schema": prompt::response_format(), "texts": prompt::TEXTS });
    blake3::hash(parts.to_string().as_bytes()).to_hex().to_string()
}

/// Returns the name of a judge: `llm-<models>-v<votes>-<8 hexadecimal digits>`, in letters,
/// digits, `-`, `_`, `.` and `+`.
#[must_use]
pub fn name(models: &[ModelConfig], votes: u32) -> String {
    named("llm", &prompts(), models, votes)
}

/// Returns the name of a judge that rates too: `rubric-<models>-v<votes>-<8 hexadecimal
/// digits>`.
#[must_use]
pub fn name_of_rubric(models: &[ModelConfig], votes: u32) -> String {
    named("rubric", &rubric::prompts(), models, votes)
}

fn named(kind: &str, prompts: &str, models: &[ModelConfig], votes: u32) -> String {
    let settings: Vec<_> = models
        .iter()
        .map(|model| json!([model.name, model.temperature, model.max_tokens, model.extra]))
        .collect();
    let whole = json!({ "prompts": prompts, "models": settings, "votes": votes });
    let digest = blake3::hash(whole.to_string().as_bytes()).to_hex();
    let names: Vec<String> = models.iter().map(|model| plain(&model.name)).collect();
    let names: String = names.join("+").chars().take(LONGEST).collect();
    format!("{kind}-{names}-v{votes}-{}", &digest.as_str()[..8])
}

/// Returns a model's name with `-` for every character that file names may not have.
fn plain(name: &str) -> String {
    let keep = |c: char| if c.is_ascii_alphanumeric() || "-_.".contains(c) { c } else { '-' };
    name.chars().map(keep).collect()
}
