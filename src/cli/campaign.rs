//! `wildgym campaign`: agents, models and faults crossed, as one run.

mod file;

use std::collections::BTreeSet;
use std::num::NonZeroU32;

use camino::Utf8PathBuf;
use clap::Args;
use toml::Value;
use wildgym_tasks::Variant;

use self::file::{Campaign, Flags, Level, OFF};
use super::faults::Chosen;
use super::host::open_suite;
use super::run::{Cast, RunArgs, begin_with, select};
use super::start::Shown;
use super::tasks::counted;
use super::{Code, Failure, data, say};
use crate::store::Condition;

/// A file that says everything that one can say.
pub(super) const EXAMPLE: &str = include_str!("campaign/example.toml");

/// Cross agents, models and faults, and say what the faults cost each
///
/// One run with a condition for each agent, model and fault profile of FILE; all are tried at
/// the same tasks with the same seeds, so that trials make pairs. A campaign that stopped
/// half-way continues with `wildgym resume`; `wildgym report` prints its tables again, and
/// writes them as JSON and CSV.
#[derive(Debug, Args)]
pub(super) struct CampaignArgs {
    /// File of the campaign (TOML); `--example` prints one
    #[arg(required_unless_present = "example")]
    file: Option<Utf8PathBuf>,

    /// Print a file with everything that one can say, and stop
    #[arg(long, conflicts_with_all = ["file", "check"])]
    example: bool,

    /// Check the file, say which conditions it makes and how many trials, and stop
    #[arg(long)]
    check: bool,

    /// Run only the first COUNT of the selected tasks
    #[arg(long, value_name = "COUNT")]
    limit: Option<u32>,

    /// Attempts at once [default: the file's, else 8]
    #[arg(long, value_name = "COUNT")]
    concurrency: Option<NonZeroU32>,

    /// Directory that holds runs [default: the file's, else `runs`]
    #[arg(long, value_name = "DIR")]
    runs_dir: Option<Utf8PathBuf>,

    /// Name of the run's directory [default: the file's, else <time>-<suite>-campaign]
    #[arg(long)]
    name: Option<String>,

    /// Start the servers that the suite names, where DIGEST begins the suite's digest
    #[arg(long, value_name = "DIGEST")]
    allow_commands: Option<String>,

    #[command(flatten)]
    shown: Shown,
}

/// An agent with its model, where it takes one.
struct Arm {
    args: RunArgs,
    name: String,
    condition: Condition,
}

pub(super) fn run(args: &CampaignArgs) -> Result<Code, Failure> {
    let Some(path) = args.file.as_ref().filter(|_| !args.example) else {
        data(EXAMPLE);
        return Ok(Code::Done);
    };
    let campaign = Campaign::read(path)?;
    let flags = args.flags();
    let arms = arms(&campaign, &flags)?;
    let Some(first) = arms.first() else {
        return Err(Failure::usage(format!("`{path}` names no agent")));
    };
    let mut cast = Cast::default();
    for condition in &campaign.conditions {
        let faults = faults(condition)?;
        for arm in &arms {
            cast.add((arm.name.clone(), arm.condition.clone()), faults.as_ref())?;
        }
    }
    let opened = open_suite(&campaign.suite)?;
    let mut tasks = select(&opened.suite, &first.args)?;
    let others = arms.iter().skip(1).map(|arm| select(&opened.suite, &arm.args));
    for others in others {
        let others: BTreeSet<String> = others?.into_iter().collect();
        tasks.retain(|task| others.contains(task));
    }
    if tasks.is_empty() {
        return Err(Failure::usage("no task can be tried by all agents")
            .hint("a wrong solution is replayed at the tasks that have it"));
    }
    let trials = first.args.trials() as usize;
    let all = cast.acting.len().saturating_mul(tasks.len()).saturating_mul(trials);
    let planned = format!(
        "{} × {} × {}: {}",
        counted(cast.acting.len(), "condition"),
        counted(tasks.len(), "task"),
        counted(trials, "seed"),
        counted(all, "trial"),
    );
    if args.check {
        let names: Vec<&str> = cast.acting.keys().map(String::as_str).collect();
        data(&format!("{}\n{planned}", names.join("\n")));
        return Ok(Code::Done);
    }
    if !args.shown.quiet {
        say(&planned);
    }
    let variants = vec![Variant::ideal(first.args.idealised().iter().copied())];
    begin_with(&first.args, &cast, &opened, (tasks, variants))
}

impl CampaignArgs {
    /// Returns the flags of the command line that a run has too.
    fn flags(&self) -> Flags {
        let number = |number: u32| Value::Integer(number.into());
        let path = |path: &Utf8PathBuf| Value::from(path.as_str());
        let given = [
            ("limit", self.limit.map(number)),
            ("concurrency", self.concurrency.map(|it| number(it.get()))),
            ("runs-dir", self.runs_dir.as_ref().map(path)),
            ("name", self.name.as_deref().map(Value::from)),
            ("json", self.shown.json.then_some(Value::Boolean(true))),
            ("quiet", self.shown.quiet.then_some(Value::Boolean(true))),
            ("allow-commands", self.allow_commands.as_deref().map(Value::from)),
        ];
        given.into_iter().filter_map(|(flag, value)| Some((flag.to_owned(), value?))).collect()
    }
}

/// Reads a condition: no faults, or a profile.
fn faults(condition: &str) -> Result<Option<Chosen>, Failure> {
    if condition == OFF {
        return Ok(None);
    }
    let chosen: Result<Chosen, String> = condition.parse();
    chosen.map(Some).map_err(|problem| {
        Failure::usage(format!("condition `{condition}`: {problem}"))
            .hint(format!("a condition is `{OFF}`, a profile of `wildgym faults`, or its file"))
    })
}

/// Crosses the agents with the models; an agent that takes none is an arm by itself.
fn arms(campaign: &Campaign, flags: &Flags) -> Result<Vec<Arm>, Failure> {
    // What is wrong with a model must not be taken for an agent that takes none.
    for model in &campaign.models {
        campaign.args(&Level::asking(), Some(model), flags)?.arm()?;
    }
    let mut arms = Vec::new();
    for agent in &campaign.agents {
        arms.extend(arms_of(campaign, agent, flags)?);
    }
    let asks = |arm: &Arm| arm.condition.model.is_some();
    if !campaign.models.is_empty() && !arms.iter().any(asks) {
        return Err(Failure::usage("no agent of the campaign asks a model")
            .hint("leave `models` out, or add an agent that asks one, such as `react`"));
    }
    Ok(arms)
}

/// Returns an agent with each of the models, or alone where it takes none.
fn arms_of(campaign: &Campaign, agent: &Level, flags: &Flags) -> Result<Vec<Arm>, Failure> {
    let with = campaign.models.iter().map(|model| arm(campaign, agent, Some(model), flags));
    match arm(campaign, agent, None, flags) {
        Ok(alone) => {
            let crossed: Vec<Arm> = with.flatten().collect();
            Ok(if crossed.is_empty() { vec![alone] } else { crossed })
        }
        Err(_) if !campaign.models.is_empty() => with.collect(),
        Err(failure) => Err(failure),
    }
}

/// Makes an arm, with the names that the file gives.
fn arm(
    campaign: &Campaign,
    agent: &Level,
    model: Option<&Level>,
    flags: &Flags,
) -> Result<Arm, Failure> {
    let args = campaign.args(agent, model, flags)?;
    let (label, condition) = args.arm()?;
    let named = agent.name.is_some() || model.is_some_and(|model| model.name.is_some());
    let name = match model {
        _ if !named => label,
        None => agent.word("agent"),
        Some(model) => format!("{}-{}", agent.word("agent"), model.word("model")),
    };
    Ok(Arm { args, name, condition })
}
