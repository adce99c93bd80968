//! The suite as a whole: how many tasks of which kind, and that no operation is left out.
//! That each task can be done, and cannot be done wrongly, is shown by
//! `wildgym tasks check enterprise --run` (`tests/operations.rs`).

use std::collections::{BTreeMap, BTreeSet};
use std::sync::LazyLock;

use camino::Utf8PathBuf;
use wildgym_tasks::Suite;
use wildgym_tasks::scenario::Language;
use wildgym_tasks::scenario_file::{Flaw, ScenarioFile, ScenarioType};

static SUITE: LazyLock<Suite> = LazyLock::new(|| {
    let root = Utf8PathBuf::from(env!("CARGO_MANIFEST_DIR"));
    Suite::load(&root.join("tasks/suites/enterprise")).unwrap_or_else(|faults| panic!("{faults}"))
});

const TYPES: [ScenarioType; 4] = [
    ScenarioType::SingleCall,
    ScenarioType::MultiStep,
    ScenarioType::ErrorRecovery,
    ScenarioType::AmbiguousInput,
];

fn files() -> Vec<&'static ScenarioFile> {
    SUITE.tasks.values().filter_map(|task| task.scenario_file.as_deref()).collect()
}

#[test]
fn the_tiers_are_those_of_the_seed_and_mix_the_types() {
    let mut tiers: BTreeMap<u8, usize> = BTreeMap::new();
    let mut types: BTreeMap<(u8, ScenarioType), usize> = BTreeMap::new();
    for file in files() {
        *tiers.entry(file.tier).or_default() += 1;
        *types.entry((file.tier, file.kind)).or_default() += 1;
    }
    assert_eq!(tiers, BTreeMap::from([(1, 15), (2, 18), (3, 15), (4, 18), (5, 12)]));
    let cells = (1..=5).flat_map(|tier| TYPES.map(|kind| (tier, kind)));
    let lacking: Vec<_> = cells.filter(|cell| !types.contains_key(cell)).collect();
    // A task of one call has no second step, and one of several steps is no single call; the
    // suite's text says so.
    assert_eq!(lacking, [(1, ScenarioType::MultiStep), (2, ScenarioType::SingleCall)]);
    let text = std::fs::read_to_string(SUITE.folder.join("README.md")).unwrap();
    for (tier, kind) in lacking {
        let said = format!("tier {tier} has no `{}`", kind.name());
        assert!(text.contains(&said), "the suite's README.md says why: {said}");
    }
}

#[test]
fn every_operation_is_used_by_a_reference() {
    let world = SUITE.worlds.values().next().unwrap();
    let used: BTreeSet<&str> = files()
        .into_iter()
        .filter_map(|file| file.reference.as_ref())
        .flat_map(|reference| reference.rounds.iter().flatten())
        .map(|call| call.tool.as_str())
        .collect();
    let unused: Vec<_> = world.operations.keys().filter(|name| !used.contains(&***name)).collect();
    assert!(unused.is_empty(), "no reference calls {unused:?}");
    assert!(used.contains("ask_user"));
}

#[test]
fn every_task_can_fail_and_every_way_to_fail_is_tried() {
    let mut reasons = BTreeSet::new();
    for file in files() {
        assert!(file.reference.is_some(), "{}: no reference", file.id);
        assert!(!file.wrong.is_empty(), "{}: no wrong solution", file.id);
        assert!(file.rubric.is_some(), "{}: nothing for a reader to look at", file.id);
        reasons.extend(file.wrong.iter().map(|wrong| wrong.reason));
    }
    let named = [
        Flaw::HallucinatedId,
        Flaw::NearMiss,
        Flaw::ExtraWrite,
        Flaw::SilentSuccess,
        Flaw::EagerGuess,
        Flaw::ParameterDrift,
        Flaw::NotRefused,
        Flaw::WrongState,
        Flaw::WrongAnswer,
    ];
    for flaw in named {
        assert!(reasons.contains(&flaw), "no wrong solution shows `{}`", flaw.name());
    }
}

#[test]
fn requests_are_those_of_people() {
    let world = SUITE.worlds.values().next().unwrap();
    let mut prompts = BTreeSet::new();
    let mut chinese = 0;
    for file in files() {
        assert!(prompts.insert(&file.prompt), "{}: the same request again", file.id);
        let shortest = 15;
        assert!(file.prompt.chars().count() >= shortest, "{}: hardly a request", file.id);
        chinese += usize::from(file.language == Some(Language::Zh));
        let named = world
            .operations
            .keys()
            .find(|name| name.contains('_') && file.prompt.contains(name.as_str()));
        assert_eq!(named, None, "{}: people do not name tools", file.id);
    }
    assert!(chinese >= 10, "{chinese} requests in Chinese");
}

#[test]
fn smoke_is_tier_one_and_twenty_of_every_kind() {
    let smoke = SUITE.subset("smoke");
    let chosen: Vec<_> = smoke.iter().map(|id| &SUITE.tasks[*id]).collect();
    let files: Vec<_> = chosen.iter().filter_map(|task| task.scenario_file.as_deref()).collect();
    let in_tier = |tier: u8| files.iter().filter(|file| file.tier == tier).count();
    assert_eq!((files.len(), in_tier(1)), (35, 15));
    for tier in 2..=5 {
        assert!(in_tier(tier) >= 4, "tier {tier}: {}", in_tier(tier));
    }
    for kind in TYPES {
        let count = files.iter().filter(|file| file.tier > 1 && file.kind == kind).count();
        assert!(count >= 3, "{}: {count}", kind.name());
    }
}
