//! `wildgym run`: tries tasks and records every trial.

use std::collections::{BTreeMap, BTreeSet};
use std::num::NonZeroU32;
use std::sync::Arc;

use camino::{Utf8Path, Utf8PathBuf};
use clap::{Args, Parser, ValueEnum};
use globset::Glob;
use wildgym_tasks::task::Limits;
use wildgym_tasks::world::Operation;
use wildgym_tasks::{Factor, Suite, Task, Variant};

use super::cassette::{self, CassetteArgs};
use super::host::{BROWSERS, Opened, open_own_gym, open_suite};
use super::judging::{self, JudgeArgs};
use super::network::{self, WebArgs};
use super::offering::{self, OfferArgs};
use super::program::ProgramArgs;
use super::servers::{Planned, ServerArgs};
use super::start::{self, Shown};
use super::tool_model::ToolModelArgs;
use super::user_model::UserModelArgs;
use super::{Code, Failure, environment, program};
use crate::judge::stages;
use crate::record::FORMAT;
use crate::runner::{Gym, variants};
use crate::store::{
    Blobs, BoundsConfig, Condition, JudgeConfig, ModelConfig, OperationData, Plan, RunConfig,
    Store, StoreError, SuiteRef, TaskData, ToolsRef, WebConfig, WorldData,
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

    /// Agent that acts: `react` with a model in a loop, `reference` replays each task's
    /// solution, `wrong:NAME` the wrong solution of that name, `silent` answers with nothing,
    /// `refuse` declines, `random` calls at random, `guess` searches without a model [default:
    /// react with --model, else reference]
    #[arg(long, value_name = "NAME", value_parser = agent_named)]
    agent: Option<AgentArg>,

    /// Tasks to run, as a glob over task ids [default: all]
    #[arg(long, value_name = "PATTERN")]
    tasks: Option<String>,

    /// Run only the tasks of a subset of the suite, such as `smoke`
    #[arg(long, value_name = "NAME")]
    subset: Option<String>,

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

    /// Attempts that may have pages open at once; others wait, and their time does not count
    #[arg(long, value_name = "COUNT", default_value = BROWSERS)]
    browsers: NonZeroU32,

    #[command(flatten)]
    program: ProgramArgs,

    #[command(flatten)]
    model: ModelArgs,

    #[command(flatten)]
    tools: ToolModelArgs,

    #[command(flatten)]
    user: UserModelArgs,

    #[command(flatten)]
    offer: OfferArgs,

    #[command(flatten)]
    judge: JudgeArgs,

    #[command(flatten)]
    cassette: CassetteArgs,

    #[command(flatten)]
    web: WebArgs,

    #[command(flatten)]
    servers: ServerArgs,

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

/// What begins the name of an agent that replays wrong solutions.
pub(super) const WRONG: &str = "wrong:";

/// Who acts.
#[derive(Debug, Clone, PartialEq, Eq)]
enum AgentArg {
    /// A built-in agent.
    Built(AgentName),
    /// Replays the wrong solution of that name of each scenario.
    Wrong(String),
}

/// Reads the name of an agent.
fn agent_named(text: &str) -> Result<AgentArg, String> {
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
enum AgentName {
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
pub(super) struct LimitArgs {
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

/// What of the flags a configuration pins, beside what is tried by whom.
#[derive(Debug, Clone, Copy)]
pub(super) struct Pinned<'a> {
    /// Trials of each task and variant.
    pub(super) k: u32,
    /// The run's seed.
    pub(super) seed: u64,
    /// Limits of attempts and calls.
    pub(super) limits: &'a LimitArgs,
}

/// Which tasks are selected.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Selection<'a> {
    /// A glob over their ids.
    pub(super) tasks: Option<&'a str>,
    /// A subset of the suite.
    pub(super) subset: Option<&'a str>,
    /// How many of them at most, the first ones.
    pub(super) limit: Option<usize>,
}

/// The flags of a run by themselves.
#[derive(Debug, Parser)]
struct Alone {
    #[command(flatten)]
    run: RunArgs,
}

/// Makes a run of a whole suite in `root` without running it: for commands that act out its
/// solutions themselves.
pub(super) fn rehearsal(
    named: &str,
    root: &Utf8Path,
) -> Result<(Arc<Gym>, Store, RunConfig), Failure> {
    let Alone { run: args } = Alone::try_parse_from(["run", named, "--agent", "reference"])
        .map_err(|error| Failure::usage(error.to_string()))?;
    let opened = open_suite(named)?;
    let tasks = select(&opened.suite, &args)?;
    let web = args.web.plan(&opened.suite)?;
    let pinned = web.config.clone();
    let own = Planned::own(&opened.suite);
    let (gym, _) = open_own_gym(&opened.suite, web, args.browsers, own)?;
    let gym = Arc::new(gym);
    let (conditions, judge) = ([agent(&args)?].into(), JudgeConfig::exact());
    let (store, _lock, config) = Store::create(root, |blobs| {
        let variants = vec![Variant::default()];
        let what = (tasks, variants);
        let config = config(args.pinned(), &opened, what, (conditions, judge), &gym, blobs)?;
        Ok(RunConfig { web: pinned, ..config })
    })?;
    Ok((gym, store, config))
}

/// Makes a run of the tasks in the variants, and runs it.
pub(super) fn begin(
    args: &RunArgs,
    opened: &Opened,
    tasks: Vec<String>,
    variants: Vec<Variant>,
) -> Result<Code, Failure> {
    let web = args.web.plan(&opened.suite)?;
    let servers = args.servers.plan(&opened.suite, &tasks)?;
    let mut agent = args.tools.apply(agent(args)?)?;
    agent.1.user_model = args.user.model(agent.1.model.as_ref())?;
    let varied = args.offer.read()?;
    let mut conditions = varied.conditions(agent.clone());
    let judged = args.judge.config(agent.1.model.as_ref())?;
    args.cassette.refuse_unused([&agent.1], &judged)?;
    let cassette = args.cassette.open()?;
    if cassette.is_some() && args.program.is_given() {
        return Err(Failure::usage("no cassette keeps what a program asks its model")
            .hint("leave `--record-models` and `--replay-models` out with `--agent-cmd`"));
    }
    program::check(&agent.1)?;
    for (name, condition) in &conditions {
        let Some(cassette) = &cassette else { break };
        cassette.refuse_recorded(name, &tasks)?;
        if condition.models().next().is_some() {
            cassette.refuse_unknown(name)?;
        }
    }
    start::check_model(&agent.1, cassette.as_ref())?;
    // The first exchanges are the judge's, so it must be known by now whose they are.
    let created = jiff::Timestamp::now();
    if let Some(cassette) = &cassette {
        cassette.claim(&created.to_string());
    }
    let judge = judging::checked(&judged, cassette.as_ref())?;
    let pinned = web.config.clone();
    let (mut gym, servers) = open_own_gym(&opened.suite, web, args.browsers, servers)?;
    network::refuse_unsuited(&gym, &tasks)?;
    varied.present(&mut gym, &conditions, (&tasks, args.seed), args.shown.quiet)?;
    let gym = Arc::new(gym);
    let root = root(args.name.as_deref(), &args.runs_dir, &opened.suite.meta.name, &agent.1.agent)?;
    let (store, lock, config) = Store::create(&root, |blobs| {
        varied.keep(blobs)?;
        offering::pin(&gym, &mut conditions, &tasks, blobs)?;
        let what = (tasks, variants);
        let config = config(args.pinned(), opened, what, (conditions, judged), &gym, blobs)?;
        let cassette = cassette::reference(cassette.as_ref());
        Ok(RunConfig { created, cassette, web: pinned, servers, ..config })
    })?;
    let concurrency = args.concurrency.get() as usize;
    let job = start::Job { gym, store, config, judge, lock, concurrency, cassette };
    start::go(job, &args.shown)
}

impl RunArgs {
    /// Returns what a configuration pins of the flags.
    fn pinned(&self) -> Pinned<'_> {
        Pinned { k: self.trials, seed: self.seed, limits: &self.limits }
    }

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
pub(super) fn root(
    name: Option<&str>,
    runs_dir: &Utf8Path,
    suite: &str,
    agent: &str,
) -> Result<Utf8PathBuf, Failure> {
    if let Some(name) = name {
        let plain = |c: char| c.is_alphanumeric() || "-_.+".contains(c);
        if name.is_empty() || !name.chars().all(plain) || name.starts_with('.') {
            return Err(Failure::usage(format!("`{name}` cannot name a run"))
                .hint("use letters, digits, `-` and `_`; `--runs-dir` says where it goes"));
        }
        return Ok(runs_dir.join(name));
    }
    let cannot = |error: std::io::Error| {
        Failure::usage(format!("cannot create a run in `{runs_dir}`: {error}"))
            .hint("name a directory that you may write with `--runs-dir`")
    };
    std::fs::create_dir_all(runs_dir).map_err(cannot)?;
    let time = jiff::Timestamp::now().strftime("%Y%m%d-%H%M%S");
    let base = format!("{time}-{suite}-{agent}");
    for number in 1.. {
        let name = if number == 1 { base.clone() } else { format!("{base}-{number}") };
        let root = runs_dir.join(name);
        match std::fs::create_dir(&root) {
            Ok(()) => return Ok(root),
            Err(error) if error.kind() == std::io::ErrorKind::AlreadyExists => {}
            Err(error) => return Err(cannot(error)),
        }
    }
    Err(Failure::usage(format!("`{runs_dir}` is full of runs")))
}

/// Returns the condition and its name.
fn agent(args: &RunArgs) -> Result<(String, Condition), Failure> {
    if let Some((name, condition)) = args.program.condition()? {
        let model = args.model.config(TEMPERATURE)?;
        let label = model.as_ref().map(|model| format!("{name}-{}", plain(&model.name)));
        return Ok((label.unwrap_or(name), Condition { model, ..condition }));
    }
    let name = args.agent.clone().unwrap_or(match args.model.model {
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
        return match &args.model.model {
            None => Ok((word.replace(':', "-"), Condition::of(word))),
            Some(_) => Err(Failure::usage(format!("agent `{word}` uses no model"))
                .hint("leave out `--model`, or take `--agent react`")),
        };
    }
    let Some(model) = args.model.config(TEMPERATURE)? else {
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

/// Returns the ids of the selected tasks.
pub(super) fn select(suite: &Suite, args: &RunArgs) -> Result<Vec<String>, Failure> {
    let (tasks, subset) = (args.tasks.as_deref(), args.subset.as_deref());
    let selection = Selection { tasks, subset, limit: args.limit };
    selected(suite, selection, |task| has_solution(task, args.agent.as_ref()))
}

/// Returns the ids of the selected tasks among those that fit.
pub(super) fn selected(
    suite: &Suite,
    selection: Selection<'_>,
    fits: impl Fn(&Task) -> bool,
) -> Result<Vec<String>, Failure> {
    let glob = match selection.tasks {
        None => None,
        Some(pattern) => Some(
            Glob::new(pattern)
                .map_err(|error| Failure::usage(format!("`--tasks {pattern}`: {error}")))?
                .compile_matcher(),
        ),
    };
    let subset = selection.subset.map(|name| subset(suite, name)).transpose()?;
    let selected: Vec<String> = suite
        .tasks
        .iter()
        .filter(|(id, _)| glob.as_ref().is_none_or(|glob| glob.is_match(id)))
        .filter(|(_, task)| fits(task))
        .filter(|(id, _)| subset.as_ref().is_none_or(|subset| subset.contains(id.as_str())))
        .take(selection.limit.unwrap_or(usize::MAX))
        .map(|(id, _)| id.clone())
        .collect();
    if selected.is_empty() {
        let name = &suite.meta.name;
        return Err(Failure::usage(format!("no task of suite `{name}` is selected"))
            .hint(format!("see them with `wildgym tasks list {name}`")));
    }
    Ok(selected)
}

/// Returns whether a task has the wrong solution that is to be replayed, where one is.
fn has_solution(task: &Task, agent: Option<&AgentArg>) -> bool {
    match agent {
        Some(AgentArg::Wrong(name)) => task
            .scenario_file
            .as_ref()
            .is_some_and(|file| file.wrong.iter().any(|wrong| wrong.name == *name)),
        Some(AgentArg::Built(_)) | None => true,
    }
}

/// Returns the tasks of a subset, or says which subsets there are.
pub(super) fn subset<'a>(suite: &'a Suite, name: &str) -> Result<BTreeSet<&'a str>, Failure> {
    let tasks = suite.subset(name);
    if !tasks.is_empty() {
        return Ok(tasks);
    }
    let known: Vec<&str> = suite.subsets().into_iter().collect();
    let hint = if known.is_empty() {
        "the suite has no subsets; `--tasks PATTERN` selects tasks by their ids".to_owned()
    } else {
        format!("its subsets are `{}`", known.join("`, `"))
    };
    Err(Failure::usage(format!("suite `{}` has no subset `{name}`", suite.meta.name)).hint(hint))
}

/// Writes down everything that can move a score.
pub(super) fn config(
    pinned: Pinned<'_>,
    opened: &Opened,
    (tasks, wanted): (Vec<String>, Vec<Variant>),
    (conditions, judge): (BTreeMap<String, Condition>, JudgeConfig),
    gym: &Gym,
    blobs: &Blobs,
) -> Result<RunConfig, StoreError> {
    let meta = &opened.suite.meta;
    let Pinned { k, seed, limits } = pinned;
    Ok(RunConfig {
        format: FORMAT,
        wildgym: env!("CARGO_PKG_VERSION").to_owned(),
        created: jiff::Timestamp::now(),
        suite: SuiteRef {
            name: meta.name.clone(),
            version: meta.version.clone(),
            digest: opened.suite.digest.clone(),
            source: opened.source.clone(),
            tasks: blobs.put_json(&task_data(
                &opened.suite,
                &wanted,
                &operations(&opened.suite, blobs)?,
            ))?,
            subsets: subsets(&opened.suite),
        },
        plan: Plan { tasks, variants: wanted, k, seed, attempts: limits.attempts.get() },
        conditions,
        limits: Limits {
            rounds: Some(limits.rounds),
            tokens: limits.tokens,
            seconds: Some(limits.seconds),
        },
        bounds: BoundsConfig { seconds: limits.call_seconds, bytes: limits.call_bytes },
        tools: ToolsRef {
            names: gym.catalog.names(),
            schemas: blobs.put_json(gym.schemas.as_ref())?,
        },
        judge,
        web: WebConfig::default(),
        cassette: None,
        servers: BTreeMap::new(),
    })
}

/// Returns the tasks of every subset of a suite.
fn subsets(suite: &Suite) -> BTreeMap<String, BTreeSet<String>> {
    let tasks = |name: &str| suite.subset(name).into_iter().map(str::to_owned).collect();
    suite.subsets().into_iter().map(|name| (name.to_owned(), tasks(name))).collect()
}

/// Returns what judges and reports need of the tasks.
fn task_data<'a>(
    suite: &'a Suite,
    wanted: &[Variant],
    operations: &BTreeMap<&str, String>,
) -> BTreeMap<&'a str, TaskData> {
    let data = |task: &Task| TaskData {
        title: task.meta.title.clone(),
        scenario: task.meta.scenario,
        subset: task.meta.subset.clone(),
        domain: task.meta.domain.clone(),
        language: task.meta.language,
        factors: task.meta.factors.clone(),
        answer: task.meta.answer.clone(),
        world: world_data(suite, task, operations),
        scenario_file: task.scenario_file.as_deref().cloned().map(Box::new),
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
        wanted: wanted_in_full(task),
        dependencies: task.meta.dependencies.clone().unwrap_or_default(),
        solution: solution(task),
    };
    suite.tasks.iter().map(|(id, task)| (id.as_str(), data(task))).collect()
}

/// Returns the request without what makes it ambiguous; nothing where nothing does.
fn wanted_in_full(task: &Task) -> String {
    let factor = Factor::Ambiguity;
    let variant = Variant::ideal(task.meta.factors.contains(&factor).then_some(factor));
    if variant == Variant::default() {
        return String::new();
    }
    task.given(&variant).map(|given| given.instruction).unwrap_or_default()
}

/// Keeps what judges need of the operations of each world; returns the blobs by world.
fn operations<'a>(
    suite: &'a Suite,
    blobs: &Blobs,
) -> Result<BTreeMap<&'a str, String>, StoreError> {
    let data = |operation: &Operation| OperationData {
        category: operation.category.clone(),
        writes: operation.writes(),
        parameters: operation.schema().into(),
    };
    let kept = suite.worlds.iter().map(|(name, world)| {
        let all: BTreeMap<&str, OperationData> =
            world.operations.iter().map(|(name, one)| (name.as_str(), data(one))).collect();
        Ok((name.as_str(), blobs.put_json(&all)?))
    });
    kept.collect()
}

/// Returns what judges and reports need of the world of a task.
fn world_data(
    suite: &Suite,
    task: &Task,
    operations: &BTreeMap<&str, String>,
) -> Option<WorldData> {
    let scene = task.meta.environment.world.as_ref()?;
    let world = suite.worlds.get(&scene.name)?;
    let writes = world.operations.values().filter(|operation| operation.writes());
    Some(WorldData {
        name: scene.name.clone(),
        digest: world.digest.clone(),
        writes: writes.map(|operation| operation.name.clone()).collect(),
        operations: operations.get(&*scene.name).cloned().unwrap_or_default(),
        final_state_assertions: task.meta.final_state_assertions.clone(),
    })
}

/// Returns the reference solution as text: `solution.toml` and, each under its name, the
/// texts beside it that it refers to.
fn solution(task: &Task) -> String {
    if let Some(file) = &task.scenario_file {
        return serde_json::to_string_pretty(&file.reference).unwrap_or_default();
    }
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
