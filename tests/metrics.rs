//! Scores one can trust: estimators against brute force and against the formulas of
//! others, intervals against the truth of simulated runs.
//!
//! Everything is drawn from fixed seeds, so a result is the same on every machine. The
//! small form runs always; with `WILDGYM_BARS` set the simulations are longer, cover more
//! kinds of runs, and print what they found (`make bars`).

#![expect(clippy::unwrap_used, reason = "what fails here fails the test")]

use std::collections::HashMap;

use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;
use wildgym::metrics::{Cell, Pairs, Scores, TaskCells, ci95, difference_ci95};

fn bars() -> bool {
    std::env::var_os("WILDGYM_BARS").is_some()
}

// ---------------------------------------------------------------- estimators

/// Shares of the subsets of `k` trials in which some passed, and in which all did.
fn enumerated(trials: &[bool], k: usize) -> Option<(f64, f64)> {
    let (mut drawn, mut some, mut all) = (0u32, 0u32, 0u32);
    for subset in 1u32..1 << trials.len() {
        if subset.count_ones() as usize != k {
            continue;
        }
        let mut chosen = (0..trials.len()).filter(|index| subset >> index & 1 == 1);
        drawn += 1;
        some += u32::from(chosen.clone().any(|index| trials[index]));
        all += u32::from(chosen.all(|index| trials[index]));
    }
    let share = |count: u32| f64::from(count) / f64::from(drawn);
    (drawn > 0).then(|| (share(some), share(all)))
}

/// `C(n, k)`, exactly.
fn binomial(n: u64, k: u64) -> u64 {
    (0..k).fold(1, |product, index| product * (n - index) / (index + 1))
}

fn float(number: u64) -> f64 {
    f64::from(u32::try_from(number).unwrap())
}

/// The formulas as others write them down, for `n` trials of which `c` passed.
///
/// Inspect AI 0.3, `scorer/_reducer/reducer.py`: `pass_at` (`1` where fewer than k failed,
/// else one minus a product; undefined below k trials), `pass_k` and, over exactly k
/// trials, `at_least(1)` and `at_least(k)`. tau2-bench, `metrics/agent_metrics.py`:
/// `pass^k = C(c, k) / C(n, k)`.
mod others {
    use super::{binomial, float};

    pub(super) fn pass_at(n: u64, c: u64, k: u64) -> Option<f64> {
        if n < k {
            return None;
        }
        if n - c < k {
            return Some(1.0);
        }
        Some(1.0 - (n - c + 1..=n).map(|i| 1.0 - float(k) / float(i)).product::<f64>())
    }

    pub(super) fn pass_hat(n: u64, c: u64, k: u64) -> Option<f64> {
        let ways = if c < k { 0 } else { binomial(c, k) };
        (n >= k).then(|| float(ways) / float(binomial(n, k)))
    }

    pub(super) fn at_least(c: u64, k: u64) -> f64 {
        f64::from(u8::from(c >= k))
    }
}

fn mean(values: &[f64]) -> Option<f64> {
    (!values.is_empty()).then(|| values.iter().sum::<f64>() / float(values.len() as u64))
}

fn close(got: Option<f64>, want: Option<f64>) -> bool {
    match (got, want) {
        (Some(got), Some(want)) => (got - want).abs() <= 1e-12,
        (got, want) => got == want,
    }
}

/// Random tables of tasks with unequal numbers of judged trials, none included: every
/// score of every k equals the enumeration of all subsets, the closed forms, and what
/// the reducers of others give.
#[test]
fn ten_thousand_tables_equal_brute_force_and_the_formulas_of_others() {
    const MOST: usize = 7;
    let mut random = ChaCha8Rng::seed_from_u64(3);
    let mut known = HashMap::new();
    for table in 0..10_000 {
        let k = random.random_range(1..=MOST);
        let tasks: Vec<Vec<bool>> = (0..random.random_range(0..=9))
            .map(|_| {
                let chance = random.random_range(0.0..1.0);
                (0..random.random_range(0..=k)).map(|_| random.random_bool(chance)).collect()
            })
            .collect();
        let counts: Vec<(u64, u64)> = tasks
            .iter()
            .map(|trials| (trials.len(), trials.iter().filter(|passed| **passed).count()))
            .map(|(n, c)| (n as u64, c as u64))
            .collect();
        let cells: Vec<TaskCells> = counts
            .iter()
            .map(|(n, c)| (u32::try_from(*n).unwrap(), u32::try_from(*c).unwrap()))
            .map(|(judged, passed)| TaskCells(vec![Cell { judged, passed }]))
            .collect();
        let scores = Scores::of(&cells, u32::try_from(k).unwrap());
        assert_eq!((scores.tasks, scores.by_k.len()), (tasks.len(), k));
        let shares: Vec<f64> =
            counts.iter().filter(|(n, _)| *n > 0).map(|(n, c)| float(*c) / float(*n)).collect();
        for (by, j) in scores.by_k.iter().zip(1..) {
            let at = |of: &dyn Fn(u64, u64) -> Option<f64>| {
                mean(&counts.iter().filter_map(|(n, c)| of(*n, *c)).collect::<Vec<_>>())
            };
            let brute: Vec<(f64, f64)> = tasks
                .iter()
                .filter_map(|trials| {
                    *known.entry((trials.clone(), j)).or_insert_with(|| enumerated(trials, j))
                })
                .collect();
            let some: Vec<f64> = brute.iter().map(|share| share.0).collect();
            let all: Vec<f64> = brute.iter().map(|share| share.1).collect();
            let step = j as u64;
            let got = (by.avg_at_k.value, by.pass_at_k.value, by.pass_hat_k.value);
            let why = || format!("table {table}, k {k}, j {j}: {counts:?}: {got:?}");
            assert!(close(got.0, mean(&shares)), "avg: {}", why());
            assert!(close(got.1, mean(&some)), "pass@j by enumeration: {}", why());
            assert!(close(got.2, mean(&all)), "pass^j by enumeration: {}", why());
            let some_of = at(&|n, c| others::pass_at(n, c, step));
            let all_of = at(&|n, c| others::pass_hat(n, c, step));
            assert!(close(got.1, some_of), "pass_at of Inspect AI: {}", why());
            assert!(close(got.2, all_of), "pass^k of tau2 and Inspect AI: {}", why());
            assert_eq!(by.pass_at_k.tasks, brute.len(), "tasks with an estimate: {}", why());
            if counts.iter().all(|(n, _)| *n == step) {
                let least = |k: u64| at(&|_, c| Some(others::at_least(c, k)));
                assert!(close(got.1, least(1)), "at_least_1 of Inspect AI: {}", why());
                assert!(close(got.2, least(step)), "at_least_k of Inspect AI: {}", why());
            }
        }
    }
}

// ------------------------------------------------------- intervals of scores

/// How alike the trials of one task are.
#[derive(Debug, Clone, Copy)]
enum Spread {
    /// Every task has the same chance.
    None,
    /// A task passes always or never.
    Alike,
    /// Chances of tasks from a beta distribution; the number is the correlation between
    /// trials of a task.
    Beta(f64),
}

/// Probabilities that a task passes 0, 1, …, `trials` times.
fn outcomes(p: f64, trials: u32, spread: Spread) -> Vec<f64> {
    let weight = match spread {
        Spread::None => 1e12,
        Spread::Alike => 1e-12,
        Spread::Beta(correlation) => 1.0 / correlation - 1.0,
    };
    let rising = |from: f64, steps: u32| (0..steps).map(|i| from + f64::from(i)).product::<f64>();
    (0..=trials)
        .map(|c| {
            float(binomial(trials.into(), c.into()))
                * rising(p * weight, c)
                * rising((1.0 - p) * weight, trials - c)
                / rising(weight, trials)
        })
        .collect()
}

/// Probabilities of 0, 1, …, `tasks` hits among as many tries with chance `p`.
fn hits(tasks: u32, p: f64) -> Vec<f64> {
    let mut ln_chance = f64::from(tasks) * (-p).ln_1p();
    let step = p.ln() - (-p).ln_1p();
    (0..=tasks)
        .map(|hit| {
            let chance = ln_chance.exp();
            ln_chance += (f64::from(tasks - hit) / f64::from(hit + 1)).ln() + step;
            chance
        })
        .collect()
}

/// Returns the place in `chances` at which their sum passes `at`.
fn place(chances: impl IntoIterator<Item = f64>, mut at: f64) -> usize {
    let beyond = |chance: &f64| {
        let beyond = at >= *chance;
        at -= chance;
        beyond
    };
    chances.into_iter().take_while(beyond).count()
}

/// Share of `runs` simulated runs of `tasks` tasks whose interval holds the mean of
/// `value` over all outcomes.
///
/// How many tasks have another than the likeliest outcome runs evenly through its
/// distribution (stratified sampling), so that 2,000 runs tell the coverage better than
/// 2,000 independent ones would; what those tasks have is drawn.
fn coverage(tasks: u32, chances: &[f64], runs: u32, value: &dyn Fn(u32) -> f64) -> f64 {
    let trials = u32::try_from(chances.len() - 1).unwrap();
    let values: Vec<f64> = (0..=trials).map(value).collect();
    let truth: f64 = chances.iter().zip(&values).map(|(chance, value)| chance * value).sum();
    let likely = chances.iter().enumerate().max_by(|a, b| a.1.total_cmp(b.1)).unwrap().0;
    let (rest, mut others) = (1.0 - chances[likely], chances.to_vec());
    others[likely] = 0.0;
    let strata = hits(tasks, rest);
    let mut random = ChaCha8Rng::seed_from_u64(2026);
    let mut known: HashMap<[u64; 2], bool> = HashMap::new();
    let mut covered = 0;
    for run in 0..runs {
        let at = (f64::from(run) + 0.5) / f64::from(runs);
        let other = place(strata.iter().copied(), at).min(tasks as usize);
        let mut counts = vec![0usize; chances.len()];
        for _ in 0..other {
            let at = random.random_range(0.0..rest);
            counts[place(others.iter().copied(), at).min(chances.len() - 1)] += 1;
        }
        counts[likely] += tasks as usize - other;
        let moment = |power: i32| {
            let terms = counts.iter().zip(&values);
            terms.map(|(tasks, value)| float(*tasks as u64) * value.powi(power)).sum::<f64>()
        };
        let holds = known.entry([moment(1), moment(2)].map(f64::to_bits)).or_insert_with(|| {
            let all: Vec<f64> = counts
                .iter()
                .zip(&values)
                .flat_map(|(tasks, value)| std::iter::repeat_n(*value, *tasks))
                .collect();
            let (low, high) = ci95(&all, trials).unwrap();
            low <= truth + 1e-12 && truth - 1e-12 <= high
        });
        covered += u32::from(*holds);
    }
    f64::from(covered) / f64::from(runs)
}

/// The share of passed trials: the value of avg@k.
fn share_of(trials: u32) -> impl Fn(u32) -> f64 {
    move |passed| f64::from(passed) / f64::from(trials)
}

const TASKS: [u32; 3] = [20, 100, 400];
const CHANCES: [f64; 4] = [0.02, 0.3, 0.5, 0.98];

/// With one trial a task, or trials all alike, the coverage follows exactly from the
/// binomial distribution.
#[test]
fn intervals_of_single_trials_cover_the_truth_exactly_as_often_as_they_say() {
    let mut misses = Vec::new();
    for tasks in TASKS {
        for p in CHANCES {
            let mut share = 0.0;
            for (passed, chance) in (0..).zip(hits(tasks, p)) {
                let values: Vec<f64> =
                    (0..tasks).map(|task| f64::from(u8::from(task < passed))).collect();
                let (low, high) = ci95(&values, 1).unwrap();
                share += if low <= p && p <= high { chance } else { 0.0 };
                let alike = ci95(&values, 3).unwrap();
                let near = (alike.0 - low).abs() < 1e-9 && (alike.1 - high).abs() < 1e-9;
                assert!(near, "trials that are all alike count once: {alike:?} {low} {high}");
            }
            if bars() {
                println!("{tasks:4} tasks, p {p:4}, one trial: {:.2} % (exact)", share * 100.0);
            }
            if !(0.93..=0.97).contains(&share) {
                misses.push(format!("{tasks} tasks, p {p}: {share}"));
            }
        }
    }
    assert!(misses.is_empty(), "{}", misses.join("\n"));
}

/// Every task tried k times, from all tasks equally hard to trials that are all alike.
#[test]
fn intervals_cover_the_truth_as_often_as_they_say() {
    use Spread::{Alike, Beta, None};
    let mut kinds =
        vec![(3, None), (3, Beta(0.3)), (3, Beta(0.6)), (3, Alike), (8, Beta(0.3)), (8, Beta(0.6))];
    if bars() {
        let more = [2, 5, 8, 10].into_iter().flat_map(|trials| {
            [None, Beta(0.1), Beta(0.3), Beta(0.5), Beta(0.7), Beta(0.9)].map(|kind| (trials, kind))
        });
        kinds.extend(more);
    }
    let mut misses = Vec::new();
    for tasks in TASKS {
        for p in CHANCES {
            // More than the 2,000 runs of the promise where intervals are few, or the truth
            // is near its ends: the figure should be the method's and not the draw's.
            let runs = if bars() || tasks == 20 { 20_000 } else { 2_000 };
            let runs = if (0.1..=0.9).contains(&p) { runs } else { runs.max(5_000) };
            for (trials, spread) in &kinds {
                let chances = outcomes(p, *trials, *spread);
                let share = coverage(tasks, &chances, runs, &share_of(*trials));
                if bars() {
                    let share = share * 100.0;
                    println!("{tasks:4} tasks, p {p:4}, {trials:2} × {spread:?}: {share:.1} %");
                }
                if !(0.93..=0.97).contains(&share) {
                    misses.push(format!("{tasks} tasks, p {p}, {trials} × {spread:?}: {share}"));
                }
            }
        }
    }
    assert!(misses.is_empty(), "{}", misses.join("\n"));
}

/// pass@j and pass^j of more trials than j take few values, of which the outer ones are
/// rare; their intervals are checked for sanity, not to the point.
#[test]
fn intervals_of_pass_at_j_and_pass_hat_j_are_sane() {
    let score = |passed: u32, j: u32, all: bool| {
        let cell = TaskCells(vec![Cell { judged: 5, passed }]);
        let by = Scores::of(&[cell], 5).by_k[j as usize - 1];
        if all { by.pass_hat_k.value.unwrap() } else { by.pass_at_k.value.unwrap() }
    };
    let mut misses = Vec::new();
    for tasks in TASKS {
        for p in [0.1, 0.5, 0.9] {
            for (j, all) in [(2, false), (2, true), (5, false), (5, true)] {
                let chances = outcomes(p, 5, Spread::Beta(0.4));
                let share = coverage(tasks, &chances, 2_000, &|passed| score(passed, j, all));
                let name = if all { "pass^" } else { "pass@" };
                if bars() {
                    println!("{tasks:4} tasks, p {p}, {name}{j} of 5: {:.1} %", share * 100.0);
                }
                if !(0.91..=0.985).contains(&share) {
                    misses.push(format!("{tasks} tasks, p {p}, {name}{j}: {share}"));
                }
            }
        }
    }
    assert!(misses.is_empty(), "{}", misses.join("\n"));
}

// -------------------------------------------------- intervals of differences

/// How the two sides of a simulated task come about.
#[derive(Debug, Clone, Copy)]
enum Sides {
    /// One pair: only the first passes, or only the second, with these chances.
    Single(f64, f64),
    /// Trials a side, mean chance, correlation between trials of a task: both sides have
    /// the task's chance, and the second loses a pass with the last number.
    Same(u32, f64, f64, f64),
}

impl Sides {
    /// Draws a task; also says what its difference is in the mean.
    fn draw(self, random: &mut ChaCha8Rng) -> (Pairs, f64) {
        let mut pairs = Pairs::default();
        match self {
            Self::Single(first, second) => {
                let at = random.random_range(0.0..1.0);
                let only_first = at < first;
                pairs.add(only_first, !only_first && at < first + second);
                (pairs, second - first)
            }
            Self::Same(trials, p, correlation, loses) => {
                // Pólya's urn: draws that share a chance from a beta distribution.
                let weight = 1.0 / correlation - 1.0;
                let (mut marked, mut all) = (p * weight, weight);
                let mut pass = |random: &mut ChaCha8Rng| {
                    let hit = random.random_range(0.0..all) < marked;
                    (marked, all) = (marked + f64::from(u8::from(hit)), all + 1.0);
                    hit
                };
                for _ in 0..trials {
                    let first = pass(random);
                    let second = pass(random) && random.random_range(0.0..1.0) >= loses;
                    pairs.add(first, second);
                }
                (pairs, -p * loses)
            }
        }
    }
}

/// Shares of simulated comparisons whose interval holds the true difference. Where few
/// tasks differ it may be more than 95 %, but hardly ever less.
#[test]
fn intervals_of_paired_differences_cover_the_truth() {
    use Sides::{Same, Single};
    let many = [
        Single(0.1, 0.1),
        Single(0.2, 0.05),
        Single(0.3, 0.1),
        Single(0.4, 0.4),
        Single(0.05, 0.8),
        Same(3, 0.5, 0.3, 0.0),
        Same(3, 0.5, 0.6, 0.3),
        Same(8, 0.5, 0.3, 0.1),
    ];
    let few =
        [Single(0.02, 0.02), Single(0.12, 0.0), Same(3, 0.1, 0.5, 0.5), Same(3, 0.5, 0.9, 0.1)];
    let runs = if bars() { 20_000 } else { 2_000 };
    let mut misses = Vec::new();
    for tasks in [20, 100] {
        for (sides, most) in
            many.map(|sides| (sides, 0.975)).into_iter().chain(few.map(|sides| (sides, 1.0)))
        {
            let mut random = ChaCha8Rng::seed_from_u64(7);
            let mut covered = 0;
            for _ in 0..runs {
                let (mut differences, mut truth) = (Vec::new(), 0.0);
                for _ in 0..tasks {
                    let (pairs, mean) = sides.draw(&mut random);
                    let (first, second) = pairs.shares().unwrap();
                    differences.push(second - first);
                    truth = mean;
                }
                let (low, high) = difference_ci95(&differences).unwrap();
                covered += u32::from(low - 1e-12 <= truth && truth <= high + 1e-12);
            }
            let share = f64::from(covered) / f64::from(runs);
            if bars() {
                println!("{tasks:4} tasks, {sides:?}: {:.1} %", share * 100.0);
            }
            let most = if tasks < 100 { 1.0 } else { most };
            if !(0.925..=most).contains(&share) {
                misses.push(format!("{tasks} tasks, {sides:?}: {share}"));
            }
        }
    }
    assert!(misses.is_empty(), "{}", misses.join("\n"));
}
