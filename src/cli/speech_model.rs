//! The model that writes down what is said in recordings: flags of every command that has
//! tools called.

use clap::Args;
use serde_json::Map;

use super::agent::DEFAULT_BASE_URL;
use super::environment;
use crate::store::ModelConfig;

/// Requests in flight at once.
const REQUESTS: u32 = 4;

/// How long a request may take, in seconds: ten minutes of sound are sent and heard.
const REQUEST_SECONDS: u64 = 600;

/// Who writes down what is said.
#[derive(Debug, Args)]
#[command(next_help_heading = "Tools")]
pub(super) struct SpeechArgs {
    /// Model that writes down what is said in sounds and videos, by the name its endpoint
    /// knows, such as `whisper-1` [default: the engine of this machine, where
    /// `wildgym setup --speech` installed it]
    #[arg(long = "speech-model", id = "speech_model", value_name = "NAME")]
    name: Option<String>,

    /// Base URL of that model's endpoint [default: that of the model that answers tools, else
    /// `OPENAI_BASE_URL`, else `https://api.openai.com/v1`]
    #[arg(
        long = "speech-base-url",
        id = "speech_base_url",
        value_name = "URL",
        requires = "speech_model"
    )]
    base_url: Option<String>,

    /// Environment variable that holds the key of that endpoint [default: that of the model
    /// that answers tools at its endpoint, else `OPENAI_API_KEY`]
    #[arg(
        long = "speech-api-key-env",
        id = "speech_api_key_env",
        value_name = "NAME",
        requires = "speech_model"
    )]
    key_env: Option<String>,
}

impl SpeechArgs {
    /// Tells whether a model is named.
    pub(super) fn is_given(&self) -> bool {
        self.name.is_some()
    }

    /// Returns the model, where one is named. `answers` is the one that answers tools: without
    /// other words this one is asked where that one is.
    pub(super) fn model(&self, answers: Option<&ModelConfig>) -> Option<ModelConfig> {
        let name = self.name.clone()?;
        let elsewhere = self.base_url.is_some();
        let base_url = self
            .base_url
            .clone()
            .or_else(|| answers.map(|model| model.base_url.clone()))
            .or_else(|| environment::get(environment::BASE_URL))
            .unwrap_or_else(|| DEFAULT_BASE_URL.to_owned());
        // A key is for its own endpoint and is sent nowhere else.
        let key_env = self
            .key_env
            .clone()
            .or_else(|| answers.filter(|_| !elsewhere).map(|model| model.key_env.clone()))
            .unwrap_or_else(|| environment::KEY.to_owned());
        Some(ModelConfig {
            name,
            base_url,
            key_env,
            temperature: 0.0,
            // Not sent: what is heard has the length that it has.
            max_tokens: 0,
            requests: REQUESTS,
            request_seconds: REQUEST_SECONDS,
            extra: Map::new(),
        })
    }
}
