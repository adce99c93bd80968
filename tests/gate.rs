//! The gate's rule against simulated series of runs: how often it blocks a run that is as
//! good as its baseline, and one that is six points worse.
//!
//! With `WILDGYM_BARS` set more series are simulated, and the figures are printed.

use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;
use wildgym::metrics::{Cell, Drop, Sides};

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
        let [same, everywhere, some] =
            [Worse::Not, Worse::Everywhere, Worse::Some].map(|worse| blocked(series, RUNS, worse));
        if bars {
            println!(
                "{series} series of {RUNS} runs: no change {:.1} %, six points off all tasks \
                 {:.1} %, off some {:.1} % blocked",
                same * 100.0,
                everywhere * 100.0,
                some * 100.0
            );
        }
        assert!(same <= 0.05, "no change: {same}");
        assert!(everywhere >= 0.8, "six points off every task: {everywhere}");
        assert!(some >= 0.8, "six points off some tasks: {some}");
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
