//! Which trials a plan asks for, and the seed of each.

use std::collections::{BTreeMap, BTreeSet};

use wildgym_sandbox::Seed;
use wildgym_tasks::{Factor, Variant};

use crate::record::TrialId;
use crate::store::{RunConfig, TaskData};

/// Returns the seed of a trial. It depends on the run's seed, the task and k alone: the
/// same trial in another variant or under another condition meets the same chances.
#[must_use]
pub fn seed_of(run: u64, trial: &TrialId) -> Seed {
    Seed::of_run(run).child(&format!("task:{}", trial.task), u64::from(trial.k))
}

/// Returns what `wanted` means for a task with `factors`: of each set what the task
/// has, without repetition.
#[must_use]
pub fn variants(wanted: &[Variant], factors: &BTreeSet<Factor>) -> Vec<Variant> {
    let mut found = Vec::new();
    for variant in wanted {
        let own = Variant::ideal(variant.factors().filter(|factor| factors.contains(factor)));
        if !found.contains(&own) {
            found.push(own);
        }
    }
    found
}

/// The trials of a plan in the order in which they begin: the first of the k of everything
/// before the second, so that a run that is cut short covers all tasks.
///
/// They are made when they are asked for: a plan of a million trials takes no more memory
/// than one of ten.
#[derive(Debug, Clone)]
pub struct Trials {
    /// Condition, task and variant of what is tried k times.
    cells: Vec<(String, String, Variant)>,
    k: u32,
}

impl Trials {
    /// Returns the trials that a run plans; `tasks` are its tasks by id.
    #[must_use]
    pub fn of(config: &RunConfig, tasks: &BTreeMap<String, TaskData>) -> Self {
        let mut cells = Vec::new();
        for condition in config.conditions.keys() {
            for id in &config.plan.tasks {
                let Some(task) = tasks.get(id) else { continue };
                for variant in variants(&config.plan.variants, &task.factors) {
                    cells.push((condition.clone(), id.clone(), variant));
                }
            }
        }
        Self { cells, k: config.plan.k }
    }

    /// Returns how many there are.
    #[must_use]
    pub fn len(&self) -> usize {
        self.cells.len().saturating_mul(self.k as usize)
    }

    /// Returns whether there is none.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Returns the trial at a place, from 0.
    #[must_use]
    pub fn get(&self, place: usize) -> Option<TrialId> {
        let k = place.checked_div(self.cells.len())?;
        let k = u32::try_from(k).ok().filter(|k| *k < self.k)? + 1;
        let (condition, task, variant) = self.cells.get(place % self.cells.len())?;
        let (condition, task, variant) = (condition.clone(), task.clone(), variant.clone());
        Some(TrialId { condition, task, variant, k })
    }

    /// Returns all of them, in order.
    pub fn iter(&self) -> impl Iterator<Item = TrialId> + '_ {
        (0..self.len()).filter_map(|place| self.get(place))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_task_gets_of_each_variant_what_it_has_and_each_once() {
        let factors = BTreeSet::from([Factor::Bias, Factor::DirtyData]);
        let wanted = Variant::all_of(&Factor::ALL.into_iter().collect());
        let own: Vec<String> =
            variants(&wanted, &factors).iter().map(ToString::to_string).collect();
        assert_eq!(own, ["full", "ideal-bias", "ideal-dirty-data", "ideal-bias+dirty-data"]);
        let none = variants(&[Variant::ideal([Factor::Events])], &factors);
        assert_eq!(none, [Variant::default()], "without the factor it runs as it is");
    }

    #[test]
    fn the_first_of_the_k_of_everything_comes_before_the_second() {
        let cell = |task: &str| ("c".to_owned(), task.to_owned(), Variant::default());
        let trials = Trials { cells: vec![cell("a"), cell("b")], k: 2 };
        let order: Vec<String> = trials.iter().map(|trial| trial.to_string()).collect();
        assert_eq!(order, ["c/a/full/1", "c/b/full/1", "c/a/full/2", "c/b/full/2"]);
        assert_eq!((trials.len(), trials.get(4)), (4, None));
        assert_eq!(Trials { cells: Vec::new(), k: 2 }.get(0), None, "an empty plan");
    }

    #[test]
    fn variant_and_condition_do_not_move_the_seed() {
        let trial = |condition: &str, variant: Variant, k| TrialId {
            condition: condition.to_owned(),
            task: "ds-x".to_owned(),
            variant,
            k,
        };
        let one = seed_of(7, &trial("a", Variant::default(), 1));
        assert_eq!(one, seed_of(7, &trial("b", Variant::ideal([Factor::Bias]), 1)));
        assert_ne!(one, seed_of(7, &trial("a", Variant::default(), 2)));
        assert_ne!(one, seed_of(8, &trial("a", Variant::default(), 1)));
    }
}
