//! The model that answers the questions of tools, and how pages are offered: the flags of
//! every command that has tools called.

use clap::{Args, ValueEnum};
use wildgym_tasks::environment::BrowserMode;

use super::Failure;
use super::beside::{self, Beside};
use super::speech_model::SpeechArgs;
use crate::store::{Condition, ModelConfig};

/// Most tokens of a reply: an action needs few, thinking before it more.
const MAX_TOKENS: u32 = 4096;

/// How pages are offered, and who answers tools.
#[derive(Debug, Args)]
#[command(next_help_heading = "Tools")]
pub(super) struct ToolModelArgs {
    /// How pages that need a browser are offered: by `browse_url`, or by the page actions as
    /// tools [default: as each task says, else `delegated`]
    #[arg(long, value_enum, value_name = "HOW")]
    pub(super) browser: Option<BrowserName>,

    /// Model that answers the questions of tools, such as the navigator of `browse_url`, by
    /// the name its endpoint knows [default: the agent's]
    #[arg(long = "tool-model", id = "tool_model", value_name = "NAME")]
    name: Option<String>,

    /// Base URL of that model's endpoint [default: the agent's, else `OPENAI_BASE_URL`, else
    /// `https://api.openai.com/v1`]
    #[arg(long = "tool-base-url", value_name = "URL", requires = "tool_model")]
    tool_base_url: Option<String>,

    /// Environment variable that holds the key of that endpoint
    /// [default: the agent's at the agent's endpoint, else `OPENAI_API_KEY`]
    #[arg(long = "tool-api-key-env", value_name = "NAME", requires = "tool_model")]
    tool_api_key_env: Option<String>,

    /// More fields of every request to that model, as a JSON object
    #[arg(long = "tool-extra", value_name = "JSON", requires = "tool_model")]
    tool_extra: Option<String>,

    /// Requests in flight at that endpoint at once [default: 16]
    #[arg(long = "tool-requests", value_name = "COUNT", requires = "tool_model",
          value_parser = clap::value_parser!(u32).range(1..))]
    tool_requests: Option<u32>,

    /// How long a request to that model may take, in seconds [default: 300]
    #[arg(long = "tool-request-seconds", value_name = "SECONDS", requires = "tool_model",
          value_parser = clap::value_parser!(u64).range(1..))]
    tool_request_seconds: Option<u64>,

    /// Send models no pictures, only text: neither those of tools nor those of requests
    #[arg(long)]
    text_only: bool,

    /// Send the model that answers tools sounds, as `input_audio`; for models that hear
    #[arg(long)]
    hears: bool,

    #[command(flatten)]
    speech: SpeechArgs,
}

/// The same flags for a run whose endpoint has moved.
#[derive(Debug, Args)]
#[command(next_help_heading = "Tools")]
pub(super) struct ToolMovedArgs {
    /// Base URL of the endpoint that answers tools, where it has moved
    #[arg(long = "tool-base-url", value_name = "URL")]
    tool_base_url: Option<String>,

    /// Environment variable that holds its key, where it is another now
    #[arg(long = "tool-api-key-env", value_name = "NAME")]
    tool_api_key_env: Option<String>,

    /// Base URL of the endpoint of the speech model, where it has moved
    #[arg(long = "speech-base-url", value_name = "URL")]
    speech_base_url: Option<String>,

    /// Environment variable that holds its key, where it is another now
    #[arg(long = "speech-api-key-env", value_name = "NAME")]
    speech_api_key_env: Option<String>,
}

/// How pages are offered.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(super) enum BrowserName {
    /// By `browse_url`, whose navigator acts on the pages
    Delegated,
    /// By the page actions as tools of the agent's own
    Direct,
}

impl From<BrowserName> for BrowserMode {
    fn from(name: BrowserName) -> Self {
        match name {
            BrowserName::Delegated => Self::Delegated,
            BrowserName::Direct => Self::Direct,
        }
    }
}

impl ToolModelArgs {
    /// Adds to a condition what the flags say, and to its name how pages are offered.
    pub(super) fn apply(
        &self,
        (mut name, mut condition): (String, Condition),
    ) -> Result<(String, Condition), Failure> {
        let given = [
            (self.name.is_some(), "--tool-model"),
            (self.text_only, "--text-only"),
            (self.hears, "--hears"),
            (self.speech.is_given(), "--speech-model"),
        ];
        let given = given.into_iter().find(|(given, _)| *given);
        if let (Some((_, flag)), None) = (given, &condition.model) {
            let agent = &condition.agent;
            return Err(Failure::usage(format!(
                "agent `{agent}` asks no model, so `{flag}` is for nobody"
            ))
            .hint("leave it out, or take `--agent react` with `--model NAME`"));
        }
        condition.tool_model = self.model(condition.model.as_ref())?;
        condition.text_only = self.text_only;
        condition.hears = self.hears;
        let answers = condition.tool_model.as_ref().or(condition.model.as_ref());
        condition.speech_model = self.speech.model(answers);
        condition.browser = self.browser.map(BrowserMode::from);
        if let Some(browser) = condition.browser {
            name = format!("{name}-{}", browser.name());
        }
        Ok((name, condition))
    }

    /// Returns the model that answers tools where one is named. `agent` is the model that
    /// acts: without other words the other one is asked where it is.
    pub(super) fn model(
        &self,
        agent: Option<&ModelConfig>,
    ) -> Result<Option<ModelConfig>, Failure> {
        let Some(name) = self.name.clone() else { return Ok(None) };
        let beside = Beside {
            base_url: self.tool_base_url.as_ref(),
            key_env: self.tool_api_key_env.as_ref(),
            requests: self.tool_requests,
            request_seconds: self.tool_request_seconds,
            max_tokens: MAX_TOKENS,
        };
        let extra = beside::extra("--tool-extra", self.tool_extra.as_ref())?;
        Ok(Some(beside.model(name, extra, agent)))
    }

    /// Returns whether the model that answers tools is sent no pictures.
    pub(super) fn text_only(&self) -> bool {
        self.text_only
    }

    /// Returns whether the model that answers tools is sent sounds.
    pub(super) fn hears(&self) -> bool {
        self.hears
    }

    /// Returns the model that writes down what is said, where one is named. `answers` is the
    /// model that answers tools.
    pub(super) fn speech(&self, answers: Option<&ModelConfig>) -> Option<ModelConfig> {
        self.speech.model(answers)
    }
}

impl ToolMovedArgs {
    /// Applies what moves no score: where the models are.
    pub(super) fn apply(&self, condition: &mut Condition) -> Result<(), Failure> {
        let moved = (&self.tool_base_url, &self.tool_api_key_env);
        move_to(moved, condition.tool_model.as_mut(), || {
            Failure::usage("the run's tools are answered by no model of their own")
                .hint("`--base-url` moves the agent's model, which answers them too")
        })?;
        let moved = (&self.speech_base_url, &self.speech_api_key_env);
        move_to(moved, condition.speech_model.as_mut(), || {
            Failure::usage("the run has no speech model")
                .hint("leave `--speech-base-url` and `--speech-api-key-env` out")
        })
    }
}

/// Moves a model to another endpoint or key, where one is named.
pub(super) fn move_to(
    (url, key_env): (&Option<String>, &Option<String>),
    model: Option<&mut ModelConfig>,
    none: impl FnOnce() -> Failure,
) -> Result<(), Failure> {
    if url.is_none() && key_env.is_none() {
        return Ok(());
    }
    let model = model.ok_or_else(none)?;
    if let Some(url) = url {
        model.base_url.clone_from(url);
    }
    if let Some(name) = key_env {
        model.key_env.clone_from(name);
    }
    Ok(())
}
