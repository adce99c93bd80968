//! What a run pins: everything that can move a score, out of flags, suite and gym.
//!
//! It makes no run and asks nobody; what it keeps beside the configuration are the texts and
//! data that judges and reports need of the suite, so that neither needs the suite again.

use std::collections::{BTreeMap, BTreeSet};
use std::num::NonZeroU32;

use clap::Args;
use wildgym_tasks::task::Limits;
use wildgym_tasks::world::Operation;
use wildgym_tasks::{Factor, Suite, Task, Variant};

use super::host::Opened;
use crate::judge::stages;
use crate::record::FORMAT;
use crate::runner::{Gym, variants};
use crate::store::{
    Blobs, BoundsConfig, Condition, JudgeConfig, OperationData, Plan, RunConfig, StoreError,
    SuiteRef, TaskData, ToolsRef, WebConfig, WorldData,
};

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
        disturbed: is_disturbed(task),
    };
    suite.tasks.iter().map(|(id, task)| (id.as_str(), data(task))).collect()
}

/// Returns whether a task makes calls fail or its world move by itself.
fn is_disturbed(task: &Task) -> bool {
    let world = task.meta.environment.world.as_ref();
    let file = task.scenario_file.as_ref();
    task.meta.faults.is_some()
        || world.is_some_and(|scene| !scene.events.is_empty())
        || file.is_some_and(|file| !file.fault_injection.is_empty())
}

/// Returns the request without what makes it ambiguous; nothing where nothing does.
fn wanted_in_full(task: &Task) -> String {
    let factor = Factor::Ambiguity;
    let variant = Variant::ideal(task.meta.factors.contains(&factor).then_some(factor));
    if variant.is_full() {
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
