//! Groups of trials: what a score can be taken by.

use std::collections::{BTreeMap, BTreeSet};

use wildgym_tasks::scenario_file::ScenarioType;
use wildgym_tasks::{Factor, Scenario, Variant};

use super::view::{RunView, TrialView};
use crate::store::{Axis, Setting};

/// What trials are grouped by.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Grouping {
    /// The kind of task.
    Scenario,
    /// A part of the scenario.
    Subset,
    /// Field of life.
    Domain,
    /// Language of request and answer.
    Language,
    /// A factor that the task has. A task is in a group for each of its factors, in its
    /// full variant where it was tried in that: there the factor is at work.
    Factor,
    /// The variant.
    Variant,
    /// The condition.
    Condition,
    /// The tier, of tasks that have one.
    Tier,
    /// What of acting with tools is tried, of tasks that say so.
    Type,
    /// The number of tools that were offered, of trials whose calls were looked at.
    Tools,
    /// How tools are offered, on one of its axes.
    Offering(Axis),
}

impl Grouping {
    /// All of them, in the order of reports.
    pub const ALL: [Self; 13] = [
        Self::Scenario,
        Self::Condition,
        Self::Offering(Axis::Distractors),
        Self::Offering(Axis::ToolText),
        Self::Offering(Axis::ToolOrder),
        Self::Variant,
        Self::Subset,
        Self::Domain,
        Self::Language,
        Self::Factor,
        Self::Tier,
        Self::Type,
        Self::Tools,
    ];

    /// Those by which the figures on calls are told where nothing else is asked for.
    pub(super) const OF_CALLS: [Self; 3] = [Self::Tier, Self::Type, Self::Tools];

    /// Returns the name used on the command line.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Scenario => "scenario",
            Self::Subset => "subset",
            Self::Domain => "domain",
            Self::Language => "language",
            Self::Factor => "factor",
            Self::Variant => "variant",
            Self::Condition => "condition",
            Self::Tier => "tier",
            Self::Type => "type",
            Self::Tools => "tools",
            Self::Offering(axis) => axis.name(),
        }
    }

    /// Returns the groups that a trial is in.
    fn keys(self, trial: &TrialView) -> Vec<Key> {
        let task = &trial.task;
        let text = |text: &str| vec![Key::Text(text.to_owned())];
        match self {
            Self::Scenario => vec![Key::Scenario(task.scenario)],
            Self::Subset => vec![Key::Text(match &task.subset {
                Some(subset) => format!("{}/{subset}", task.scenario),
                None => task.scenario.to_string(),
            })],
            Self::Domain => text(&task.domain),
            Self::Language => text(task.language.name()),
            Self::Factor => task.factors.iter().copied().map(Key::Factor).collect(),
            Self::Variant => vec![Key::Variant(trial.id.variant.clone())],
            Self::Condition => text(&trial.id.condition),
            Self::Tier => task.tier.map(|tier| Key::Number(tier.into())).into_iter().collect(),
            Self::Type => task.kind.map(Key::Type).into_iter().collect(),
            Self::Tools => {
                let tools = trial.conduct.as_ref().map(|conduct| conduct.tools);
                tools.map(Key::Number).into_iter().collect()
            }
            Self::Offering(axis) => vec![Key::Setting(trial.offering.setting(axis))],
        }
    }
}

/// Names a group, and puts it in its place among those of the same grouping.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
enum Key {
    Scenario(Scenario),
    Factor(Factor),
    Variant(Variant),
    Type(ScenarioType),
    Number(u32),
    Setting(Setting),
    Text(String),
}

impl Key {
    fn name(&self) -> String {
        match self {
            Self::Scenario(scenario) => scenario.to_string(),
            Self::Factor(factor) => factor.to_string(),
            Self::Variant(variant) => variant.to_string(),
            Self::Type(kind) => kind.name().to_owned(),
            Self::Number(number) => number.to_string(),
            Self::Setting(setting) => setting.to_string(),
            Self::Text(text) => text.clone(),
        }
    }
}

/// Trials that have something in common.
#[derive(Debug)]
pub(super) struct Group<'a> {
    /// What it is, without the kind of group.
    pub(super) name: String,
    /// The trials, in the order of the view.
    pub(super) trials: Vec<&'a TrialView>,
}

/// Returns the groups of some trials in order, none empty.
pub(super) fn grouped<'a>(trials: &[&'a TrialView], by: Grouping) -> Vec<Group<'a>> {
    let mut groups: BTreeMap<Key, Vec<&TrialView>> = BTreeMap::new();
    for trial in trials {
        for key in by.keys(trial) {
            groups.entry(key).or_default().push(trial);
        }
    }
    groups.into_iter().map(|(key, trials)| Group { name: key.name(), trials }).collect()
}

impl RunView {
    /// Returns the groups of a grouping in order, none empty.
    pub(super) fn grouped(&self, by: Grouping) -> Vec<Group<'_>> {
        let trials = match by {
            Grouping::Factor => self.natural(),
            Grouping::Scenario
            | Grouping::Subset
            | Grouping::Domain
            | Grouping::Language
            | Grouping::Variant
            | Grouping::Condition
            | Grouping::Tier
            | Grouping::Type
            | Grouping::Tools
            | Grouping::Offering(_) => self.trials.iter().collect(),
        };
        grouped(&trials, by)
    }

    /// Returns the trials in the full variant of their task, and all trials of tasks that
    /// were not tried in it under the same condition.
    pub(super) fn natural(&self) -> Vec<&TrialView> {
        let place = |trial: &TrialView| (trial.id.condition.clone(), trial.id.task.clone());
        let full = self.trials.iter().filter(|trial| trial.id.variant.is_full());
        if full.clone().count() == self.trials.len() {
            return full.collect();
        }
        let full: BTreeSet<_> = full.map(place).collect();
        let natural =
            |trial: &&TrialView| trial.id.variant.is_full() || !full.contains(&place(trial));
        self.trials.iter().filter(natural).collect()
    }
}
