//! Who acts in a run, and with what model: from flags to conditions.
//!
//! A condition says all of it, so that `resume` and reports need no flag again. What is
//! impossible (a model without a loop that asks it, a loop without a model) is refused here.

use clap::{Args, ValueEnum};
use wildgym_tasks::Task;

use super::faults::Chosen;
use super::program::ProgramArgs;
use super::{Failure, environment};
use crate::store::{Condition, ModelConfig};

/// Where models are asked when nothing else is said.
pub(super) const DEFAULT_BASE_URL: &str = "https://api.openai.com/v1";

/// The temperature of agents, that of `AgentGym2`.
const TEMPERATURE: f64 = 0.6;

/// What begins the name of an agent that replays wrong solutions.
pub(super) const WRONG: &str = "wrong:";

/// Who acts.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum AgentArg {
    /// A built-in agent.
    Built(AgentName),
    /// Replays the wrong solution of that name of each scenario.
    Wrong(String),
}

/// Reads the name of an agent.
pub(super) fn agent_named(text: &str) -> Result<AgentArg, String> {
    if let Some(name) = text.strip_prefix(WRONG) {
        let is_name =
            !name.is_empty() && name.chars().all(|c| c.is_ascii_alphanumeric() || c == '-');
        let problem = "expected the name of a wrong solution after `wrong:`";
        return if is_name {
            Ok(AgentArg::Wrong(name.to_owned()))
        } else {
            Err(problem.to_owned())
        };
    }
    AgentName::from_str(text, false).map(AgentArg::Built).map_err(|_| {
        let known = AgentName::value_variants().iter().filter_map(ValueEnum::to_possible_value);
        let names: Vec<String> = known.map(|value| format!("`{}`", value.get_name())).collect();
        format!("expected {} or `wrong:NAME`", names.join(", "))
    })
}

/// The built-in agents.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(super) enum AgentName {
    /// Reason and act in a loop, with a model
    React,
    /// Replay each task's reference solution through the real tools
    Reference,
    /// Answer at once with nothing
    Silent,
    /// Decline politely whatever is asked
    Refuse,
    /// Call at random, answer with something seen
    Random,
    /// Search and read without a model, answer with what was seen most
    Guess,
}

/// The model of the agent.
#[derive(Debug, Args)]
#[command(next_help_heading = "Model")]
pub(super) struct ModelArgs {
    /// Model to ask, by the name its endpoint knows
    #[arg(long, value_name = "NAME")]
    model: Option<String>,

    /// Base URL of an OpenAI-compatible endpoint [default: `OPENAI_BASE_URL`, else `https://api.openai.com/v1`]
    #[arg(long, value_name = "URL", requires = "model")]
    base_url: Option<String>,

    /// Environment variable that holds the endpoint's key; a local endpoint needs none
    #[arg(long, value_name = "NAME", default_value = environment::KEY, requires = "model")]
    api_key_env: String,

    /// Sampling temperature [default: 0.6]
    #[arg(long, value_name = "NUMBER", requires = "model")]
    temperature: Option<f64>,

    /// Most tokens of one reply
    #[arg(long, value_name = "COUNT", default_value = "8192", requires = "model")]
    max_tokens: u32,

    /// Requests in flight at the endpoint at once
    #[arg(long, value_name = "COUNT", default_value = "16", requires = "model")]
    requests: u32,

    /// How long a request may take, in seconds
    #[arg(long, value_name = "SECONDS", default_value = "600", requires = "model")]
    request_seconds: u64,

    /// More fields of every request, as a JSON object
    #[arg(long, value_name = "JSON", requires = "model")]
    extra: Option<String>,
}

impl ModelArgs {
    /// Returns the model and its settings, where one is named; `temperature` is the one
    /// that holds where none is given.
    pub(super) fn config(&self, temperature: f64) -> Result<Option<ModelConfig>, Failure> {
        let Some(name) = self.model.clone() else { return Ok(None) };
        let extra = match &self.extra {
            None => serde_json::Map::new(),
            Some(text) => serde_json::from_str(text).map_err(|error| {
                Failure::usage(format!("`--extra` is not a JSON object: {error}"))
            })?,
        };
        let given = self.base_url.clone();
        Ok(Some(ModelConfig {
            name,
            base_url: given
                .or_else(|| environment::get(environment::BASE_URL))
                .unwrap_or_else(|| DEFAULT_BASE_URL.to_owned()),
            key_env: self.api_key_env.clone(),
            temperature: self.temperature.unwrap_or(temperature),
            max_tokens: self.max_tokens,
            requests: self.requests,
            request_seconds: self.request_seconds,
            extra,
        }))
    }
}

/// Who acts, as the flags say.
#[derive(Debug, Clone, Copy)]
pub(super) struct Acting<'a> {
    /// The agent; none for the one that fits the model.
    pub(super) agent: Option<&'a AgentArg>,
    /// A program in its place.
    pub(super) program: &'a ProgramArgs,
    /// The model.
    pub(super) model: &'a ModelArgs,
    /// The faults that its calls meet.
    pub(super) faults: Option<&'a Chosen>,
}

impl Acting<'_> {
    /// Returns the condition and its name.
    pub(super) fn condition(self) -> Result<(String, Condition), Failure> {
        let (label, condition) = unspoilt(self)?;
        Ok(match self.faults {
            None => (label, condition),
            Some(faults) => {
                (faults.label(&label), Condition { faults: Some(faults.config()), ..condition })
            }
        })
    }
}

/// Returns the condition and its name without faults.
fn unspoilt(acting: Acting<'_>) -> Result<(String, Condition), Failure> {
    let Acting { agent, program, model, .. } = acting;
    if let Some((name, condition)) = program.condition()? {
        let model = model.config(TEMPERATURE)?;
        let label = model.as_ref().map(|model| format!("{name}-{}", plain(&model.name)));
        return Ok((label.unwrap_or(name), Condition { model, ..condition }));
    }
    let name = agent.cloned().unwrap_or(match model.model {
        Some(_) => AgentArg::Built(AgentName::React),
        None => AgentArg::Built(AgentName::Reference),
    });
    let word = match &name {
        AgentArg::Built(AgentName::React) => "react".to_owned(),
        AgentArg::Built(AgentName::Reference) => "reference".to_owned(),
        AgentArg::Built(AgentName::Silent) => "silent".to_owned(),
        AgentArg::Built(AgentName::Refuse) => "refuse".to_owned(),
        AgentArg::Built(AgentName::Random) => "random".to_owned(),
        AgentArg::Built(AgentName::Guess) => "guess".to_owned(),
        AgentArg::Wrong(solution) => format!("{WRONG}{solution}"),
    };
    let word = word.as_str();
    if name != AgentArg::Built(AgentName::React) {
        return match &model.model {
            None => Ok((word.replace(':', "-"), Condition::of(word))),
            Some(_) => Err(Failure::usage(format!("agent `{word}` uses no model"))
                .hint("leave out `--model`, or take `--agent react`")),
        };
    }
    let Some(model) = model.config(TEMPERATURE)? else {
        return Err(Failure::usage("agent `react` needs a model")
            .hint("name one with `--model NAME`, and its endpoint with `--base-url URL`"));
    };
    let label = format!("{word}-{}", plain(&model.name));
    Ok((label, Condition { model: Some(model), ..Condition::of(word) }))
}

/// Makes a folder name of a model's name.
fn plain(name: &str) -> String {
    let keep = |c: char| if c.is_ascii_alphanumeric() || "-_.".contains(c) { c } else { '-' };
    name.chars().map(keep).collect::<String>().trim_matches('.').to_owned()
}

/// Returns whether a task has the wrong solution that is to be replayed, where one is.
pub(super) fn has_solution(task: &Task, agent: Option<&AgentArg>) -> bool {
    match agent {
        Some(AgentArg::Wrong(name)) => task
            .scenario_file
            .as_ref()
            .is_some_and(|file| file.wrong.iter().any(|wrong| wrong.name == *name)),
        Some(AgentArg::Built(_)) | None => true,
    }
}
