//! The model that plays the person who gave the task: flags of the commands that run tasks.

use clap::Args;

use super::Failure;
use super::beside::{self, Beside};
use super::tool_model::move_to;
use crate::store::{Condition, ModelConfig};

/// Most tokens of a reply: it is a sentence or two, thinking before it may be more.
const MAX_TOKENS: u32 = 2048;

/// Who answers what agents ask the user.
#[derive(Debug, Args)]
#[command(next_help_heading = "User")]
pub(super) struct UserModelArgs {
    /// Model that plays the person who gave the task when an agent calls `ask_user`, by the
    /// name its endpoint knows [default: the script of each task replies, without a model]
    #[arg(long = "user-model", id = "user_model", value_name = "NAME")]
    name: Option<String>,

    /// Base URL of that model's endpoint [default: the agent's, else `OPENAI_BASE_URL`, else
    /// `https://api.openai.com/v1`]
    #[arg(
        long = "user-base-url",
        id = "user_base_url",
        value_name = "URL",
        requires = "user_model"
    )]
    base_url: Option<String>,

    /// Environment variable that holds the key of that endpoint
    /// [default: the agent's at the agent's endpoint, else `OPENAI_API_KEY`]
    #[arg(
        long = "user-api-key-env",
        id = "user_api_key_env",
        value_name = "NAME",
        requires = "user_model"
    )]
    key_env: Option<String>,

    /// More fields of every request to that model, as a JSON object
    #[arg(long = "user-extra", id = "user_extra", value_name = "JSON", requires = "user_model")]
    extra: Option<String>,

    /// Requests in flight at that endpoint at once [default: 16]
    #[arg(long = "user-requests", id = "user_requests", value_name = "COUNT",
          requires = "user_model", value_parser = clap::value_parser!(u32).range(1..))]
    requests: Option<u32>,

    /// How long a request to that model may take, in seconds [default: 300]
    #[arg(long = "user-request-seconds", id = "user_request_seconds", value_name = "SECONDS",
          requires = "user_model", value_parser = clap::value_parser!(u64).range(1..))]
    request_seconds: Option<u64>,
}

/// The same flags for a run whose endpoint has moved.
#[derive(Debug, Args)]
#[command(next_help_heading = "User")]
pub(super) struct UserMovedArgs {
    /// Base URL of the endpoint of the model that plays the user, where it has moved
    #[arg(long = "user-base-url", id = "user_base_url", value_name = "URL")]
    base_url: Option<String>,

    /// Environment variable that holds its key, where it is another now
    #[arg(long = "user-api-key-env", id = "user_api_key_env", value_name = "NAME")]
    key_env: Option<String>,
}

impl UserModelArgs {
    /// Returns the model, where one is named. `agent` is the model that acts: without other
    /// words this one is asked where that one is.
    pub(super) fn model(
        &self,
        agent: Option<&ModelConfig>,
    ) -> Result<Option<ModelConfig>, Failure> {
        let Some(name) = self.name.clone() else { return Ok(None) };
        let beside = Beside {
            base_url: self.base_url.as_ref(),
            key_env: self.key_env.as_ref(),
            requests: self.requests,
            request_seconds: self.request_seconds,
            max_tokens: MAX_TOKENS,
        };
        let extra = beside::extra("--user-extra", self.extra.as_ref())?;
        Ok(Some(beside.model(name, extra, agent)))
    }
}

impl UserMovedArgs {
    /// Applies what moves no score: where the model is.
    pub(super) fn apply(&self, condition: &mut Condition) -> Result<(), Failure> {
        move_to((&self.base_url, &self.key_env), condition.user_model.as_mut(), || {
            Failure::usage("no model plays the user of this run")
                .hint("leave `--user-base-url` and `--user-api-key-env` out")
        })
    }
}
