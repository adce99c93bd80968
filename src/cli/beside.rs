//! Models beside the agent's: where each is asked, from the flags of whoever names it.
//!
//! What a flag leaves out is the agent's, then the environment's. The agent's key is for
//! the agent's endpoint and is sent nowhere else.

use serde_json::{Map, Value};

use super::agent::DEFAULT_BASE_URL;
use super::{Failure, environment};
use crate::store::ModelConfig;

/// Requests in flight at once, unless flags say more.
const REQUESTS: u32 = 16;

/// How long a request may take, in seconds, unless flags say more.
const REQUEST_SECONDS: u64 = 300;

/// What flags say of an endpoint.
pub(super) struct Beside<'a> {
    pub base_url: Option<&'a String>,
    pub key_env: Option<&'a String>,
    pub requests: Option<u32>,
    pub request_seconds: Option<u64>,
    /// Most tokens of a reply.
    pub max_tokens: u32,
}

impl Beside<'_> {
    /// Returns the model of that name. `agent` is the model that acts.
    pub(super) fn model(
        &self,
        name: String,
        extra: Map<String, Value>,
        agent: Option<&ModelConfig>,
    ) -> ModelConfig {
        let same = agent.filter(|_| self.base_url.is_none());
        let base_url = self.base_url.or(agent.map(|agent| &agent.base_url)).cloned();
        let key_env = self.key_env.or(same.map(|agent| &agent.key_env)).cloned();
        ModelConfig {
            name,
            base_url: base_url
                .or_else(|| environment::get(environment::BASE_URL))
                .unwrap_or_else(|| DEFAULT_BASE_URL.to_owned()),
            key_env: key_env.unwrap_or_else(|| environment::KEY.to_owned()),
            temperature: 0.0,
            max_tokens: self.max_tokens,
            requests: self.requests.unwrap_or(REQUESTS),
            request_seconds: self.request_seconds.unwrap_or(REQUEST_SECONDS),
            extra,
        }
    }
}

/// Reads what `flag` adds to every request; nothing where it is not given.
pub(super) fn extra(flag: &str, text: Option<&String>) -> Result<Map<String, Value>, Failure> {
    text.map_or_else(|| Ok(Map::new()), |text| serde_json::from_str(text)).map_err(
        |error: serde_json::Error| {
            Failure::usage(format!("`{flag}` is not a JSON object: {error}"))
        },
    )
}
