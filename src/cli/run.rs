//! `wildgym run`: tries tasks and records every trial.

use std::collections::BTreeMap;
use std::num::NonZeroU32;

use camino::Utf8PathBuf;
use clap::{Args, ValueEnum};
use globset::Glob;
use wildgym_tasks::task::Limits;
use wildgym_tasks::{Factor, Suite, Task, Variant};

use super::cassette::{self, CassetteArgs};
use super::faults::Chosen;
use super::host::{Opened, open_gym, open_suite};
use super::judging::{self, JudgeArgs};
use super::start::{self, Shown};
use super::{Code, Failure, environment};
use crate::fault::Profile;
use crate::judge::stages;
use crate::record::FORMAT;
use crate::runner::{Gym, variants};
use crate::store::{
    Blobs, BoundsConfig, Condition, JudgeConfig, ModelConfig, Plan, RunConfig, Store, StoreError,
    SuiteRef, TaskData, ToolsRef,
};

/// Where models are asked when nothing else is said.
pub(super) const DEFAULT_BASE_URL: &str = "https://api.openai.com/v1";

/// The temperature of agents, that of `AgentGym2`.
const TEMPERATURE: f64 = 0.6;

/// Run every selected task k times and record each trial
///
/// Without a model the built-in `reference` agent replays each task's reference
/// solution. A run that stopped half-way continues with `wildgym resume`: finished
/// trials are kept, lost ones are attempted again. Data goes to stdout, progress to
/// stderr.
#[derive(Debug, Args)]
pub(super) struct RunArgs {
    /// Suite to run: the name of a built-in one, or a folder with a `suite.toml`
    suite: String,

    /// Agent that acts [default: react with --model, else reference]
    #[arg(long, value_name = "NAME")]
    agent: Option<AgentName>,

    /// Tasks to run, as a glob over task ids [default: all]
    #[arg(long, value_name = "PATTERN")]
    tasks: Option<String>,

    /// Run only the first COUNT of the selected tasks
    #[arg(long, value_name = "COUNT")]
    limit: Option<usize>,

    /// Trials per task and variant
    #[arg(short = 'k', long, value_name = "COUNT", default_value = "3",
          value_parser = clap::value_parser!(u32).range(1..=100_000))]
    trials: u32,

    /// Factors to take away, separated by commas; a task without them runs as it is
    #[arg(long, value_name = "FACTORS", value_delimiter = ',', conflicts_with = "variants")]
    idealise: Vec<Factor>,

    /// Variants to run: the tasks as they are, or also every combination of their factors idealised
    #[arg(long, value_enum, default_value = "full")]
    variants: VariantsArg,

    /// Seed from which every random number of the run follows
    #[arg(long, value_name = "NUMBER", default_value = "0")]
    seed: u64,

    /// Attempts at once
    #[arg(long, value_name = "COUNT", default_value = "8")]
    concurrency: NonZeroU32,

    /// Faults that calls meet beside those of their tasks: a profile of `wildgym faults`, or a
    /// TOML file; runs with another seed meet others
    #[arg(long, value_name = "PROFILE[:SEED]")]
    faults: Option<Chosen>,

    #[command(flatten)]
    model: ModelArgs,

    #[command(flatten)]
    judge: JudgeArgs,

    #[command(flatten)]
    cassette: CassetteArgs,

    #[command(flatten)]
    limits: LimitArgs,

    /// Directory that holds runs
    #[arg(long, value_name = "DIR", default_value = "runs")]
    runs_dir: Utf8PathBuf,

    /// Name of the run's directory [default: <time>-<suite>-<agent>]
    #[arg(long)]
    name: Option<String>,

    #[command(flatten)]
    shown: Shown,
}

/// The built-in agents.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum AgentName {
    /// Reason and act in a loop, with a model
    React,
    /// Replay each task's reference solution through the real tools
    Reference,
    /// Answer at once with nothing
    Silent,
    /// Call at random, answer with something seen
    Random,
    /// Search and read without a model, answer with what was seen most
    Guess,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum VariantsArg {
    /// The tasks as they are
    Full,
    /// Every combination of idealised factors
    All,
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

/// The limits of attempts and calls.
#[derive(Debug, Args)]
#[command(next_help_heading = "Limits")]
struct LimitArgs {
    /// Rounds of an attempt (model replies); a task may set its own
    #[arg(long, value_name = "COUNT", default_value = "100",
          value_parser = clap::value_parser!(u32).range(1..))]
    rounds: u32,

    /// Tokens of an attempt, requests and replies together [default: no limit]
    #[arg(long, value_name = "COUNT")]
    tokens: Option<u64>,

    /// Working time of an attempt in seconds; waiting for a slot does not count
    #[arg(long, value_name = "SECONDS", default_value = "3600")]
    seconds: u64,

    /// Working time of a tool call in seconds
    #[arg(long, value_name = "SECONDS", default_value = "180")]
    call_seconds: u64,

    /// Bytes of a result that the agent reads; the full text goes to the workspace
    #[arg(long, value_name = "BYTES", default_value = "32768")]
    call_bytes: usize,

    /// Attempts at a trial that is lost to the harness before it is given up
    #[arg(long, value_name = "COUNT", default_value = "3")]
    attempts: NonZeroU32,
}

pub(super) fn run(args: &RunArgs) -> Result<Code, Failure> {
    let opened = open_suite(&args.suite)?;
    let tasks = select(&opened.suite, args)?;
    let variants = match args.variants {
        VariantsArg::All => Variant::all_of(&Factor::ALL.into_iter().collect()),
        VariantsArg::Full => vec![Variant::ideal(args.idealise.iter().copied())],
    };
    begin(args, &opened, tasks, variants)
}

/// Makes a run of the tasks in the variants, and runs it.
pub(super) fn begin(
    args: &RunArgs,
    opened: &Opened,
    tasks: Vec<String>,
    variants: Vec<Variant>,
) -> Result<Code, Failure> {
    check_tasks(opened, &tasks)?;
    let agent = agent(args)?;
    let judged = args.judge.config(agent.1.model.as_ref())?;
    args.cassette.refuse_unused([&agent.1], &judged)?;
    let cassette = args.cassette.open()?;
    if let Some(cassette) = &cassette {
        cassette.refuse_recorded(&agent.0, &tasks)?;
        if agent.1.model.is_some() {
            cassette.refuse_unknown(&agent.0)?;
        }
    }
    start::check_model(&agent.1, cassette.as_ref())?;
    // The first exchanges are the judge's, so it must be known by now whose they are.
    let created = jiff::Timestamp::now();
    if let Some(cassette) = &cassette {
        cassette.claim(&created.to_string());
    }
    let judge = judging::checked(&judged, cassette.as_ref())?;
    let gym = open_gym(&opened.suite)?;
    let root = root(args, &opened.suite.meta.name, &agent.1.agent)?;
    let (store, lock, config) = Store::create(&root, |blobs| {
        if let Some(faults) = &args.faults {
            blobs.put(faults.profile.text().as_bytes())?;
        }
        let config = config(args, opened, (tasks, variants), (agent, judged), &gym, blobs)?;
        Ok(RunConfig { created, cassette: cassette::reference(cassette.as_ref()), ..config })
    })?;
    let concurrency = args.concurrency.get() as usize;
    let job = start::Job { gym, store, config, judge, lock, concurrency, cassette };
    start::go(job, &args.shown)
}

impl RunArgs {
    /// Returns the suite as it was named.
    pub(super) fn suite(&self) -> &str {
        &self.suite
    }

    /// Returns the factors that were named.
    pub(super) fn idealised(&self) -> &[Factor] {
        &self.idealise
    }

    /// Returns whether no variants were asked for.
    pub(super) fn tries_full_only(&self) -> bool {
        self.variants == VariantsArg::Full
    }

    /// Returns whether only results are to be told.
    pub(super) fn is_quiet(&self) -> bool {
        self.shown.quiet
    }
}

/// Returns the run's directory. One that is named by the time is made at once, so runs
/// that begin in the same second do not meet.
fn root(args: &RunArgs, suite: &str, agent: &str) -> Result<Utf8PathBuf, Failure> {
    if let Some(name) = &args.name {
        let plain = |c: char| c.is_alphanumeric() || "-_.+".contains(c);
        if name.is_empty() || !name.chars().all(plain) || name.starts_with('.') {
            return Err(Failure::usage(format!("`{name}` cannot name a run"))
                .hint("use letters, digits, `-` and `_`; `--runs-dir` says where it goes"));
        }
        return Ok(args.runs_dir.join(name));
    }
    let cannot = |error: std::io::Error| {
        Failure::usage(format!("cannot create a run in `{}`: {error}", args.runs_dir))
            .hint("name a directory that you may write with `--runs-dir`")
    };
    std::fs::create_dir_all(&args.runs_dir).map_err(cannot)?;
    let time = jiff::Timestamp::now().strftime("%Y%m%d-%H%M%S");
    let base = format!("{time}-{suite}-{agent}");
    for number in 1.. {
        let name = if number == 1 { base.clone() } else { format!("{base}-{number}") };
        let root = args.runs_dir.join(name);
        match std::fs::create_dir(&root) {
            Ok(()) => return Ok(root),
            Err(error) if error.kind() == std::io::ErrorKind::AlreadyExists => {}
            Err(error) => return Err(cannot(error)),
        }
    }
    Err(Failure::usage(format!("`{}` is full of runs", args.runs_dir)))
}

/// Refuses tasks whose own fault profile this program does not know, before anything is made.
pub(super) fn check_tasks(opened: &Opened, tasks: &[String]) -> Result<(), Failure> {
    for task in tasks.iter().filter_map(|id| opened.suite.tasks.get(id)) {
        if let Some(faults) = &task.meta.faults {
            Profile::open_builtin(&faults.profile).map_err(|error| {
                Failure::usage(format!("task `{}`: {error}", task.meta.id))
                    .hint(format!("see all faults with `wildgym tasks check {}`", opened.source))
            })?;
        }
    }
    Ok(())
}

/// Returns the condition and its name.
fn agent(args: &RunArgs) -> Result<(String, Condition), Failure> {
    let (label, condition) = unspoilt(args)?;
    Ok(match &args.faults {
        None => (label, condition),
        Some(faults) => {
            (faults.label(&label), Condition { faults: Some(faults.config()), ..condition })
        }
    })
}

/// Returns the condition and its name without faults.
fn unspoilt(args: &RunArgs) -> Result<(String, Condition), Failure> {
    let name = args.agent.unwrap_or(match args.model.model {
        Some(_) => AgentName::React,
        None => AgentName::Reference,
    });
    let word = match name {
        AgentName::React => "react",
        AgentName::Reference => "reference",
        AgentName::Silent => "silent",
        AgentName::Random => "random",
        AgentName::Guess => "guess",
    };
    if name != AgentName::React {
        return match &args.model.model {
            None => Ok((
                word.to_owned(),
                Condition { agent: word.to_owned(), model: None, faults: None },
            )),
            Some(_) => Err(Failure::usage(format!("agent `{word}` uses no model"))
                .hint("leave out `--model`, or take `--agent react`")),
        };
    }
    let Some(model) = args.model.config(TEMPERATURE)? else {
        return Err(Failure::usage("agent `react` needs a model")
            .hint("name one with `--model NAME`, and its endpoint with `--base-url URL`"));
    };
    let label = format!("{word}-{}", plain(&model.name));
    Ok((label, Condition { agent: word.to_owned(), model: Some(model), faults: None }))
}

/// Makes a folder name of a model's name.
fn plain(name: &str) -> String {
    let keep = |c: char| if c.is_ascii_alphanumeric() || "-_.".contains(c) { c } else { '-' };
    name.chars().map(keep).collect::<String>().trim_matches('.').to_owned()
}

/// Returns the ids of the selected tasks.
pub(super) fn select(suite: &Suite, args: &RunArgs) -> Result<Vec<String>, Failure> {
    let glob = match args.tasks.as_deref() {
        None => None,
        Some(pattern) => Some(
            Glob::new(pattern)
                .map_err(|error| Failure::usage(format!("`--tasks {pattern}`: {error}")))?
                .compile_matcher(),
        ),
    };
    let selected: Vec<String> = suite
        .tasks
        .keys()
        .filter(|id| glob.as_ref().is_none_or(|glob| glob.is_match(id)))
        .take(args.limit.unwrap_or(usize::MAX))
        .cloned()
        .collect();
    if selected.is_empty() {
        let name = &suite.meta.name;
        return Err(Failure::usage(format!("no task of suite `{name}` is selected"))
            .hint(format!("see them with `wildgym tasks list {name}`")));
    }
    Ok(selected)
}

/// Writes down everything that can move a score.
fn config(
    args: &RunArgs,
    opened: &Opened,
    (tasks, wanted): (Vec<String>, Vec<Variant>),
    ((label, condition), judge): ((String, Condition), JudgeConfig),
    gym: &Gym,
    blobs: &Blobs,
) -> Result<RunConfig, StoreError> {
    let meta = &opened.suite.meta;
    Ok(RunConfig {
        format: FORMAT,
        wildgym: env!("CARGO_PKG_VERSION").to_owned(),
        created: jiff::Timestamp::now(),
        suite: SuiteRef {
            name: meta.name.clone(),
            version: meta.version.clone(),
            digest: opened.suite.digest.clone(),
            source: opened.source.clone(),
            tasks: blobs.put_json(&task_data(&opened.suite, &wanted))?,
        },
        plan: Plan {
            tasks,
            variants: wanted,
            k: args.trials,
            seed: args.seed,
            attempts: args.limits.attempts.get(),
        },
        conditions: [(label, condition)].into(),
        limits: Limits {
            rounds: Some(args.limits.rounds),
            tokens: args.limits.tokens,
            seconds: Some(args.limits.seconds),
        },
        bounds: BoundsConfig { seconds: args.limits.call_seconds, bytes: args.limits.call_bytes },
        tools: ToolsRef {
            names: gym.catalog.iter().map(|entry| entry.tool.name().to_owned()).collect(),
            schemas: blobs.put_json(gym.schemas.as_ref())?,
        },
        judge,
        web: "hermetic".to_owned(),
        cassette: None,
    })
}

/// Returns what judges and reports need of the tasks.
fn task_data<'a>(suite: &'a Suite, wanted: &[Variant]) -> BTreeMap<&'a str, TaskData> {
    let data = |task: &Task| TaskData {
        title: task.meta.title.clone(),
        scenario: task.meta.scenario,
        subset: task.meta.subset.clone(),
        domain: task.meta.domain.clone(),
        language: task.meta.language,
        factors: task.meta.factors.clone(),
        answer: task.meta.answer.clone(),
        milestones: task.meta.milestones.clone(),
        discovery_hosts: task.meta.discovery_hosts.clone(),
        aliases: stages::aliases(&task.meta, &suite.sites),
        questions: variants(wanted, &task.meta.factors)
            .into_iter()
            .filter_map(|variant| {
                let given = task.given(&variant).ok()?;
                Some((variant.to_string(), given.instruction))
            })
            .collect(),
        solution: solution(task),
    };
    suite.tasks.iter().map(|(id, task)| (id.as_str(), data(task))).collect()
}

/// Returns the reference solution as text: `solution.toml` and, each under its name, the
/// texts beside it that it refers to.
fn solution(task: &Task) -> String {
    let folder = task.folder.join("reference");
    let mut names: Vec<String> = folder
        .read_dir_utf8()
        .into_iter()
        .flatten()
        .filter_map(|entry| Some(entry.ok()?.file_name().to_owned()))
        .collect();
    // The solution itself first.
    names.sort_by_key(|name| (name != "solution.toml", name.clone()));
    let mut text = String::new();
    for name in names {
        if let Ok(part) = std::fs::read_to_string(folder.join(&name)) {
            for line in ["# ", &name, "\n", part.trim_end(), "\n"] {
                text.push_str(line);
            }
        }
    }
    text
}
