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

/// Returns the trials of a plan in the order in which they begin: the first of the k
/// of everything before the second, so that a run that is cut short covers all tasks.
#[must_use]
pub fn trials(config: &RunConfig, tasks: &BTreeMap<String, TaskData>) -> Vec<TrialId> {
    let mut found = Vec::new();
    for k in 1..=config.plan.k {
        for condition in config.conditions.keys() {
            for id in &config.plan.tasks {
                let Some(task) = tasks.get(id) else { continue };
                for variant in variants(&config.plan.variants, &task.factors) {
                    found.push(TrialId {
                        condition: condition.clone(),
                        task: id.clone(),
                        variant,
                        k,
                    });
                }
            }
        }
    }
    found
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
