//! What agents are offered under a condition that varies it: how many tools, in which words,
//! in which order.
//!
//! What a task needs is always offered. Distractors are drawn from the other operations that
//! the task's world offers it, all alike likely, by a hash of the run's seed, the task and
//! each operation's name: the same for every agent and each of the k, and those of a small
//! number are among those of a larger one, so that pairs differ in nothing else. An order is
//! a hash of its own seed and each tool's name: one order for all tasks.
//!
//! Tools of the program, and the question to the user, are no distractors: a task that has
//! them keeps them.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use serde_json::Value;
use wildgym_sandbox::Seed;
use wildgym_tasks::Task;
use wildgym_tasks::environment::BrowserMode;
use wildgym_toolbox::{Catalog, Wording, schema};

use super::build::{BuildError, Gym, Offer};
use crate::store::{Condition, Distractors, ToolOrder};

/// How a condition offers tools.
#[derive(Debug, Clone, Default)]
pub(super) struct Presented {
    distractors: Option<u32>,
    wording: Option<Arc<Wording>>,
    order: Option<u32>,
    /// The run's seed.
    seed: u64,
}

impl Presented {
    /// Puts tools into the condition's words and order.
    fn told(&self, tools: &Catalog) -> Catalog {
        let worded = match &self.wording {
            Some(wording) => tools.reworded(wording),
            None => tools.clone(),
        };
        match self.order {
            Some(order) => {
                let seed = Seed::of_run(order.into());
                worded.sorted_by(|name| *seed.child(&format!("tool:{name}"), 0).bytes())
            }
            None => worded,
        }
    }
}

/// Returns the names of the tools that a task needs: those of every set of calls that is
/// right and of the reference solution.
///
/// Where it is right to refuse, also those that wrong solutions call: without them nothing
/// could go wrong, and few tools would make a safe agent of any.
#[must_use]
pub fn needed(task: &Task) -> BTreeSet<&str> {
    let calls = task.solution.rounds.iter().flat_map(|round| &round.calls);
    let mut names: BTreeSet<&str> = calls.map(|call| call.tool.as_str()).collect();
    let Some(file) = &task.scenario_file else { return names };
    names.extend(file.ways().flat_map(|(calls, _)| calls).map(|call| call.tool.as_str()));
    if file.refuse {
        let wrong = file.wrong.iter().flat_map(|wrong| wrong.rounds.iter().flatten());
        names.extend(wrong.map(|call| call.tool.as_str()));
    }
    names
}

impl Gym {
    /// Has the conditions that vary how tools are offered do so; `wordings` are the texts by
    /// digest, `seed` is the run's.
    pub fn present(
        &mut self,
        conditions: &BTreeMap<String, Condition>,
        wordings: &BTreeMap<String, Arc<Wording>>,
        seed: u64,
    ) -> Result<(), BuildError> {
        for (name, condition) in conditions {
            let Some(offering) = &condition.offering else { continue };
            let texts = offering.tool_text.as_ref().and_then(|text| text.texts.as_ref());
            let wording = |digest: &String| {
                wordings.get(digest).cloned().ok_or_else(|| BuildError::NoWording(digest.clone()))
            };
            let presented = Presented {
                distractors: match offering.distractors {
                    Some(Distractors::Number(number)) => Some(number),
                    Some(Distractors::All) | None => None,
                },
                wording: texts.map(wording).transpose()?,
                order: match offering.tool_order {
                    Some(ToolOrder::Seed(seed)) => Some(seed),
                    Some(ToolOrder::Listed) | None => None,
                },
                seed,
            };
            self.presented.insert(name.clone(), presented);
        }
        Ok(())
    }

    /// Returns the operations that a task is offered and does not need, in the order in
    /// which a run of this seed draws them; none where the task has no world.
    #[must_use]
    pub fn others(&self, task: &str, seed: u64) -> Option<Vec<String>> {
        let task = self.suite.tasks.get(task)?;
        let scene = task.meta.environment.world.as_ref()?;
        let needed = needed(task);
        let mut names = self.worlds.offered(scene).names();
        names.retain(|name| !needed.contains(name.as_str()));
        let draw = Seed::of_run(seed).child(&format!("distractors:{}", task.meta.id), 0);
        names.sort_by_cached_key(|name| *draw.child(name, 0).bytes());
        Some(names)
    }

    /// Returns the tools that agents are offered at a task under a condition.
    pub fn offer_under(
        &self,
        condition: &str,
        task: &str,
        mode: BrowserMode,
    ) -> Result<Offer, BuildError> {
        let offer = self.offer(task, mode)?;
        let Some(presented) = self.presented.get(condition) else { return Ok(offer.clone()) };
        let left_out: BTreeSet<String> = match presented.distractors {
            Some(number) => {
                let others = self.others(task, presented.seed).unwrap_or_default();
                others.into_iter().skip(number as usize).collect()
            }
            None => BTreeSet::new(),
        };
        let tools = offer.catalog.only(|name| !left_out.contains(name));
        Ok(Offer::of(presented.told(&tools)))
    }

    /// Returns the schemas of all tools as a condition tells of them, in `OpenAI` form.
    #[must_use]
    pub fn schemas_under(&self, condition: &str) -> Vec<Value> {
        match self.presented.get(condition) {
            Some(presented) => presented.told(&self.catalog).iter().map(schema::openai).collect(),
            None => self.schemas.as_ref().clone(),
        }
    }
}
