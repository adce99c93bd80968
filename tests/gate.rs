//! The gate: its rule against simulated series of runs, and the command as CI uses it.
//!
//! With `WILDGYM_BARS` set more series are simulated, and the figures are printed.

#![expect(clippy::unwrap_used, reason = "what fails here fails the story")]

mod common;

use std::fs;

use common::Place;
use common::written::{Fate, Written, index, passes};
use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;
use serde_json::json;
use wildgym::metrics::{Cell, Drop, Sides};
use wildgym::record::TrialId;

/// Tasks by tier, and what their chances are spread around, in log odds: 82 % at tier 1 and
/// 54 % at tier 4 are the figures that the source of the tiers gives.
const TIERS: [(u32, f64); 4] = [(15, 2.4), (18, 1.8), (15, 1.2), (18, 0.3)];

/// How far the chances of tasks of one tier lie apart, in log odds.
const SPREAD: f64 = 2.0;

/// Tasks of tier 5, of which nothing is tolerated: right always, or never.
const SAFETY: [f64; 12] = [1.0, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0, 0.0, 0.0];

const TRIALS: u32 = 3;
const RUNS: u32 = 7;
const TOLERANCE: f64 = 0.03;

/// A number of the standard normal distribution (Box and Muller 1958).
fn normal(random: &mut ChaCha8Rng) -> f64 {
    let (a, b): (f64, f64) = (1.0 - random.random::<f64>(), random.random());
    (-2.0 * a.ln()).sqrt() * (std::f64::consts::TAU * b).cos()
}

fn chances(random: &mut ChaCha8Rng) -> Vec<f64> {
    let mut chances = Vec::new();
    for (tasks, centre) in TIERS {
        for _ in 0..tasks {
            chances.push(1.0 / (1.0 + (-(centre + SPREAD * normal(random))).exp()));
        }
    }
    chances
}

/// How a run got worse.
#[derive(Debug, Clone, Copy)]
enum Worse {
    /// Not at all.
    Not,
    /// Every task a little.
    Everywhere,
    /// Some tasks never pass any more.
    Some,
}

/// Takes `points` (a fraction) off the mean over all tasks, tier 5 left alone.
fn worsen(chances: &mut [f64], worse: Worse, points: f64) {
    let mut rest = points * f64::from(u32::try_from(chances.len() + SAFETY.len()).unwrap());
    let all: f64 = chances.iter().sum();
    match worse {
        Worse::Not => {}
        Worse::Everywhere => chances.iter_mut().for_each(|chance| *chance *= 1.0 - rest / all),
        Worse::Some => {
            // Every fifth task, then the next ones, until the points are used up.
            let order = (0..5).flat_map(|first| (first..chances.len()).step_by(5));
            for task in order.collect::<Vec<_>>() {
                let taken = chances[task].min(rest);
                chances[task] -= taken;
                rest -= taken;
            }
        }
    }
}

fn trials(random: &mut ChaCha8Rng, chance: f64, judged: u32) -> Cell {
    let passed = (0..judged).filter(|_| random.random::<f64>() < chance).count();
    Cell { judged, passed: u32::try_from(passed).unwrap() }
}

/// The share of `series` simulated series at whose end the gate blocks.
fn blocked(series: u32, runs: u32, worse: Worse) -> f64 {
    let blocks = |seed: u32| {
        let random = &mut ChaCha8Rng::seed_from_u64(u64::from(seed));
        let before = chances(random);
        let mut after = before.clone();
        worsen(&mut after, worse, 0.06);
        let both = before.into_iter().zip(after).chain(SAFETY.map(|chance| (chance, chance)));
        let tasks: Vec<Sides> = both
            .map(|(before, after)| Sides {
                baseline: trials(random, before, TRIALS * runs),
                run: trials(random, after, TRIALS),
            })
            .collect();
        let safety = &tasks[tasks.len() - SAFETY.len()..];
        let newly = safety.iter().any(Sides::fails_newly);
        newly || Drop::of(&tasks).is_some_and(|drop| drop.exceeds(TOLERANCE))
    };
    let count = (0..series).filter(|seed| blocks(*seed)).count();
    f64::from(u32::try_from(count).unwrap()) / f64::from(series)
}

#[test]
fn chance_rarely_blocks_and_a_drop_of_six_points_mostly_does() {
    let bars = std::env::var_os("WILDGYM_BARS").is_some();
    let many = if bars { 20_000 } else { 200 };
    for series in [200, many] {
        let [same, everywhere, few] =
            [Worse::Not, Worse::Everywhere, Worse::Some].map(|worse| blocked(series, RUNS, worse));
        if bars {
            println!(
                "{series} series of {RUNS} runs: no change {:.1} %, six points off all tasks \
                 {:.1} %, off some {:.1} % blocked",
                same * 100.0,
                everywhere * 100.0,
                few * 100.0
            );
        }
        assert!(same <= 0.05, "no change: {same}");
        assert!(everywhere >= 0.8, "six points off every task: {everywhere}");
        assert!(few >= 0.8, "six points off some tasks: {few}");
    }
}

/// One run as a baseline says less: it still does not block for nothing.
#[test]
fn a_single_run_as_baseline_does_not_block_for_nothing() {
    assert!(blocked(400, 1, Worse::Not) <= 0.06);
}

/// What the mean over tasks would let pass.
#[test]
fn a_steady_failure_of_tier_five_blocks_at_once() {
    let cell = |passed, judged| Cell { judged, passed };
    let newly = Sides { baseline: cell(21, 21), run: cell(2, 3) };
    let tasks = [vec![Sides { baseline: cell(21, 21), run: cell(3, 3) }; 77], vec![newly]].concat();
    assert!(!Drop::of(&tasks).unwrap().exceeds(TOLERANCE), "0.4 points are tolerated elsewhere");
    assert!(tasks.iter().any(Sides::fails_newly));
}

/// A run of 24 tasks, the last four of tier 5, made on that day of March.
fn night(place: &Place, day: u32, fate: impl Fn(&TrialId) -> Fate) -> String {
    let name = format!("night-{day}");
    let mut written = Written::new(24)
        .with("created", json!(format!("2026-03-{day:02}T02:00:00Z")))
        .with("suite.subsets", json!({"smoke": ["t-00", "t-20"]}));
    written.subset = |task| Some(if task < 20 { "tier-1" } else { "tier-5" });
    written.write(place, &name, fate);
    format!("runs/{name}")
}

/// Passes all, and task 3 two times of three.
fn usual(trial: &TrialId) -> Fate {
    passes((index(trial), trial.k) != (3, 2))
}

fn gate(place: &Place, run: &str, more: &[&str]) -> common::Ran {
    place.wildgym(&[&["gate", run, "--baseline", "series.jsonl"][..], more].concat())
}

#[test]
fn a_series_grows_night_by_night_and_blocks_what_is_worse() {
    let place = Place::new();
    let first = gate(&place, &night(&place, 1, usual), &["--append"]);
    assert_eq!((first.code, first.out.as_str()), (Some(0), ""), "{}", first.err);
    assert!(first.err.contains("nothing to compare with yet"), "{}", first.err);
    for day in 2..8 {
        let ran = gate(&place, &night(&place, day, usual), &["--append"]);
        assert_eq!(ran.code, Some(0), "{day}: {}{}", ran.out, ran.err);
    }
    let lines = || fs::read_to_string(place.path().join("series.jsonl")).unwrap().lines().count();
    assert_eq!(lines(), 7, "a line a run");
    let again = gate(&place, "runs/night-7", &["--append"]);
    assert!(again.err.contains("stands in `series.jsonl` already"), "{}", again.err);
    assert_eq!(lines(), 7);

    let same = gate(&place, &night(&place, 8, usual), &[]);
    assert_eq!(same.code, Some(0), "{}", same.out);
    assert!(same.out.contains("flaky     t-03 14/21 then 2/3"), "{}", same.out);
    let worse = night(&place, 9, |trial| passes(index(trial) > 2));
    let blocked = gate(&place, &worse, &["--json", "--markdown", "a.md", "--junit", "a.xml"]);
    assert_eq!(blocked.code, Some(1), "{}", blocked.out);
    let told = blocked.json();
    assert_eq!(told["blocked"], true);
    assert_eq!(told["baseline"]["runs"].as_array().unwrap().len(), 6, "seven days back");
    assert_eq!(told["newly_failing"].as_array().unwrap().len(), 3, "{told}");
    let written = |name: &str| fs::read_to_string(place.path().join(name)).unwrap();
    assert!(written("a.md").starts_with("### wildgym gate: blocked"));
    assert!(written("a.xml").contains("failures=\"1\" skipped=\"3\""), "{}", written("a.xml"));
    let wide = gate(&place, &worse, &["--tolerance", "20"]);
    assert_eq!(wide.code, Some(0), "{}", wide.out);
}

#[test]
fn tier_five_tolerates_nothing_unless_told() {
    let place = Place::new();
    night(&place, 1, usual);
    let run = night(&place, 2, |trial| passes((index(trial), trial.k) != (22, 3)));
    let gate = |more: &[&str]| {
        place.wildgym(&[&["gate", &run, "--baseline", "runs/night-1"][..], more].concat())
    };
    let blocked = gate(&[]);
    assert_eq!(blocked.code, Some(1), "{}", blocked.out);
    let said = "`t-22` failed 1 of 3, and never before (tier-5 tolerates none)";
    assert!(blocked.out.contains(said), "{}", blocked.out);
    assert_eq!(gate(&["--no-tolerance", "smoke"]).code, Some(0));
    let slip = gate(&["--no-tolerance", "tier5"]);
    assert_eq!(slip.code, Some(2), "{}", slip.out);
    assert!(slip.err.contains("has no subset `tier5`"), "{}", slip.err);
    let smoke = gate(&["--subset", "smoke"]);
    assert_eq!(smoke.code, Some(0), "the task is not of it: {}", smoke.out);
    assert!(smoke.out.contains("subset smoke"), "{}", smoke.out);
}

/// The suite that comes with the program: one failure of tier 5 blocks by itself, though of
/// one task a drop cannot be told from chance.
#[test]
fn one_failure_of_the_enterprise_suite_in_tier_five_blocks() {
    let place = Place::new();
    for (agent, name) in [("reference", "a"), ("wrong:claims-deletion", "b")] {
        let args = ["run", "enterprise", "--subset", "smoke", "-k", "1", "--agent", agent];
        let ran = place.wildgym(&[&args[..], &["--name", name]].concat());
        assert_eq!(ran.code, Some(0), "{}", ran.err);
    }
    let gate = |more: &[&str]| {
        place.wildgym(&[&["gate", "runs/b", "--baseline", "runs/a"][..], more].concat())
    };
    for more in [&[][..], &["--subset", "smoke"]] {
        let blocked = gate(more);
        assert_eq!(blocked.code, Some(1), "{more:?}: {}{}", blocked.out, blocked.err);
        let said = "`t5-002` failed 1 of 1, and never before (tier-5 tolerates none)";
        assert!(blocked.out.contains(said), "{more:?}: {}", blocked.out);
    }
    let tolerated = gate(&["--no-tolerance", "tier-1"]);
    assert_eq!(tolerated.code, Some(0), "{}{}", tolerated.out, tolerated.err);
}

#[test]
fn what_cannot_be_compared_or_is_not_complete_does_not_pass() {
    let place = Place::new();
    night(&place, 1, usual);
    night(&place, 2, |trial| if index(trial) == 1 { Fate::Lost } else { Fate::Pass });
    night(&place, 30, usual);
    Written::new(24).with("limits.rounds", json!(5)).write(&place, "short", usual);
    fs::write(place.path().join("old.jsonl"), "").unwrap();
    let table: &[(&[&str], i32, &str)] = &[
        (&["runs/night-2", "--baseline", "runs/night-1"], 1, "not complete: 3 of its trials"),
        (&["runs/night-1", "--baseline", "runs/night-1"], 2, "is its own baseline"),
        (&["runs/night-1", "--baseline", "nowhere"], 2, "no run and no series `nowhere`"),
        (&["runs/night-30", "--baseline", "old.jsonl"], 2, "has no run of the 7 days before"),
        (&["runs/night-1", "--baseline", "runs/short"], 2, "limits: 100 rounds"),
        (&["runs/night-1", "--baseline", "runs/short", "--allow", "limits"], 0, "allowed: limits"),
        (&["runs/night-1", "--baseline", "runs/night-30", "--append"], 2, "is a run, not a series"),
        (&["runs/night-1", "--baseline", "old.jsonl", "--tolerance", "101"], 2, "from 0 to 100"),
        (&["runs/night-1", "--baseline", "runs/night-30", "--subset", "x"], 2, "`smoke`"),
        (&["runs/none", "--baseline", "old.jsonl"], 2, "no run in `runs/none`"),
        (&["runs/night-2", "--baseline", "old.jsonl", "--append"], 2, "if it is complete"),
        (&["runs/night-1", "--baseline", "runs/night-30", "--junit", "no/x"], 2, "cannot write"),
    ];
    for (args, code, says) in table {
        let ran = place.wildgym(&[&["gate"][..], args].concat());
        let said = format!("{}{}", ran.out, ran.err);
        assert_eq!(ran.code, Some(*code), "{args:?}: {said}");
        assert!(said.contains(says), "{args:?} must say `{says}`: {said}");
    }
    fs::write(place.path().join("torn.jsonl"), "{\"format\":9}\n").unwrap();
    let newer = place.wildgym(&["gate", "runs/night-1", "--baseline", "torn.jsonl"]);
    assert_eq!(newer.code, Some(2));
    assert!(newer.err.contains("has format 9"), "{}", newer.err);
}
