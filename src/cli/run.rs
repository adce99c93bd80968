//! `wildgym run`: tries tasks and records every trial.

use std::collections::{BTreeMap, BTreeSet};
use std::num::NonZeroU32;
use std::sync::Arc;

use camino::{Utf8Path, Utf8PathBuf};
use clap::{Args, Parser, ValueEnum};
use globset::Glob;
use wildgym_tasks::{Factor, Suite, Task, Variant};

use super::agent::{Acting, AgentArg, ModelArgs, agent_named, has_solution};
use super::cassette::{self, CassetteArgs};
use super::faults::{Chosen, check_tasks};
use super::host::{BROWSERS, Opened, open_own_gym, open_suite};
use super::judging::{self, JudgeArgs};
use super::network::{self, WebArgs};
use super::offering::{self, OfferArgs};
use super::pin::{self, LimitArgs, Pinned};
use super::program::{self, ProgramArgs};
use super::servers::{Planned, ServerArgs};
use super::start::{self, Shown};
use super::tool_model::ToolModelArgs;
use super::user_model::UserModelArgs;
use super::{Code, Failure};
use crate::runner::Gym;
use crate::store::{Condition, JudgeConfig, ModelConfig, RunConfig, Store};

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

    /// Agent that acts: `react` with a model in a loop, `plan` with a model that plans batches
    /// of calls, `reference` replays each task's solution, `wrong:NAME` the wrong solution of that
    /// name, `scripted:NAME` the solution with something known done about calls that fail (`retry`,
    /// `retry:COUNT`, `insist`, `give-up`, `fabricate`, `bypass`), `silent` answers with nothing,
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

    /// Faults that calls meet beside those of their tasks: a profile of `wildgym faults`, or a
    /// TOML file; runs with another seed meet others
    #[arg(long, value_name = "PROFILE[:SEED]")]
    faults: Option<Chosen>,

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

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum VariantsArg {
    /// The tasks as they are
    Full,
    /// Every combination of idealised factors
    All,
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
pub(super) struct Alone {
    #[command(flatten)]
    pub(super) run: RunArgs,
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
    let (conditions, judge) = ([args.acting().condition()?].into(), JudgeConfig::exact());
    let (store, _lock, config) = Store::create(root, |blobs| {
        let variants = vec![Variant::default()];
        let what = (tasks, variants);
        let judged = (conditions, judge);
        let config = pin::config(args.pinned(), &opened, what, judged, &gym, blobs)?;
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
    let mut cast = Cast::default();
    cast.add(args.arm()?, args.faults.as_ref())?;
    begin_with(args, &cast, opened, (tasks, variants))
}

/// Those who act in a run, each a condition.
#[derive(Debug, Default)]
pub(super) struct Cast {
    /// The conditions by name, before it is varied how tools are offered.
    pub(super) acting: BTreeMap<String, Condition>,
    /// Texts of the profiles whose faults they meet.
    profiles: Vec<String>,
}

impl Cast {
    /// Adds who acts, with the faults that its calls meet.
    pub(super) fn add(
        &mut self,
        (mut name, mut condition): (String, Condition),
        faults: Option<&Chosen>,
    ) -> Result<(), Failure> {
        if let Some(faults) = faults {
            name = faults.label(&name);
            condition.faults = Some(faults.config());
            self.profiles.push(faults.profile.text().to_owned());
        }
        if self.acting.contains_key(&name) {
            return Err(Failure::usage(format!("two conditions are named `{name}`"))
                .hint("name each agent, model and profile once, or give them names of their own"));
        }
        self.acting.insert(name, condition);
        Ok(())
    }

    /// Returns the model of the first that has one.
    fn model(&self) -> Option<&ModelConfig> {
        self.acting.values().find_map(|condition| condition.model.as_ref())
    }

    /// Returns what a run is named by that is told no name: the agent, where it is one.
    fn word(&self) -> &str {
        let mut agents = self.acting.values().map(|condition| condition.agent.as_str());
        let first = agents.next().unwrap_or_default();
        if agents.all(|agent| agent == first) { first } else { "campaign" }
    }
}

/// The same with those who act told apart from the flags.
pub(super) fn begin_with(
    args: &RunArgs,
    cast: &Cast,
    opened: &Opened,
    (tasks, variants): (Vec<String>, Vec<Variant>),
) -> Result<Code, Failure> {
    check_tasks(opened, &tasks)?;
    let web = args.web.plan(&opened.suite)?;
    let servers = args.servers.plan(&opened.suite, &tasks)?;
    let varied = args.offer.read()?;
    let mut conditions: BTreeMap<String, Condition> =
        cast.acting.clone().into_iter().flat_map(|one| varied.conditions(one)).collect();
    let judged = args.judge.config(cast.model())?;
    args.cassette.refuse_unused(cast.acting.values(), &judged)?;
    let cassette = args.cassette.open()?;
    check(cast)?;
    for (name, condition) in &conditions {
        let Some(cassette) = &cassette else { break };
        cassette.refuse_recorded(name, &tasks)?;
        if condition.models().next().is_some() {
            cassette.refuse_unknown(name)?;
        }
    }
    for condition in cast.acting.values() {
        start::check_model(condition, cassette.as_ref())?;
    }
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
    let root = root(args.name.as_deref(), &args.runs_dir, &opened.suite.meta.name, cast.word())?;
    let (store, lock, config) = Store::create(&root, |blobs| {
        for text in &cast.profiles {
            blobs.put(text.as_bytes())?;
        }
        varied.keep(blobs)?;
        offering::pin(&gym, &mut conditions, &tasks, blobs)?;
        let what = (tasks, variants);
        let judged = (conditions, judged);
        let config = pin::config(args.pinned(), opened, what, judged, &gym, blobs)?;
        let cassette = cassette::reference(cassette.as_ref());
        Ok(RunConfig { created, cassette, web: pinned, servers, ..config })
    })?;
    let concurrency = args.concurrency.get() as usize;
    let job = start::Job { gym, store, config, judge, lock, concurrency, cassette };
    start::go(job, &args.shown)
}

/// Refuses who cannot act, before anything is made.
fn check(cast: &Cast) -> Result<(), Failure> {
    cast.acting.values().try_for_each(program::check)
}

impl RunArgs {
    /// Returns who acts, with all that flags say of it but the faults.
    pub(super) fn arm(&self) -> Result<(String, Condition), Failure> {
        let alone = Acting { faults: None, ..self.acting() };
        let (name, mut condition) = self.tools.apply(alone.condition()?)?;
        condition.user_model = self.user.model(condition.model.as_ref())?;
        Ok((name, condition))
    }

    /// Returns who acts.
    fn acting(&self) -> Acting<'_> {
        let Self { agent, program, model, faults, .. } = self;
        Acting { agent: agent.as_ref(), program, model, faults: faults.as_ref() }
    }

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

    /// Returns the trials of each task.
    pub(super) fn trials(&self) -> u32 {
        self.trials
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

/// Returns the ids of the selected tasks.
pub(super) fn select(suite: &Suite, args: &RunArgs) -> Result<Vec<String>, Failure> {
    if let Some(AgentArg::Wrong(name)) = &args.agent {
        let files = suite.tasks.values().filter_map(|task| task.scenario_file.as_ref());
        let known: BTreeSet<&str> =
            files.flat_map(|file| &file.wrong).map(|wrong| wrong.name.as_str()).collect();
        if !known.contains(name.as_str()) {
            let some: Vec<&str> = known.iter().copied().take(10).collect();
            let hint = if some.is_empty() {
                "take another agent: its tasks have no wrong solutions".to_owned()
            } else {
                format!("there are {}, such as `{}`", known.len(), some.join("`, `"))
            };
            let suite = &suite.meta.name;
            let problem = format!("no task of suite `{suite}` has a wrong solution `{name}`");
            return Err(Failure::usage(problem).hint(hint));
        }
    }
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
