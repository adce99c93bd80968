//! Whether two sides of the same tasks differ at all: the Wilcoxon signed-rank test, and Holm's
//! correction where several are made.
//!
//! # The method
//!
//! Each task gives one difference between its sides. Those that are not zero are ranked by
//! size, ties sharing the mean of their ranks; `W+` is the sum of the ranks of those above
//! zero. Were the sides exchangeable, each difference would be as likely below zero as above,
//! so up to [`EXACT`] differences the distribution of `W+` is counted out over all 2^n signs,
//! with the ranks as they are: exact also where most differences are tied, as those of tasks
//! that are tried three times are. Beyond that it is the normal approximation, corrected for
//! ties and for continuity.
//!
//! Sources: Wilcoxon 1945, "Individual Comparisons by Ranking Methods", Biometrics Bulletin
//! 1(6) (zeros are left out, as there); Hollander, Wolfe and Chicken 2014, "Nonparametric
//! Statistical Methods", 3rd edition, section 3.1 (ties, approximation); Holm 1979, "A Simple
//! Sequentially Rejective Multiple Test Procedure", Scandinavian Journal of Statistics 6(2).
//! MCP-Injector compares its conditions with the same test.

use serde::Serialize;

use super::interval::count;
use super::normal;

/// What a report says about the test.
pub const SIGNED_RANK_METHOD: &str =
    "p: Wilcoxon signed-rank over tasks, two-sided, exact up to 100 that differ; Holm-corrected";

/// Most differences for which all signs are counted out.
const EXACT: usize = 100;

/// Differences closer than this are tied: shares of trials are sums of floats.
const TIE: f64 = 1e-9;

/// The outcome of the test on the differences of some tasks.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct SignedRank {
    /// Tasks that differ; the others say nothing in this test.
    pub differ: usize,
    /// Sum of the ranks of differences above zero.
    pub plus: f64,
    /// Sum of the ranks of differences below zero.
    pub minus: f64,
    /// Two-sided probability of sums at least as uneven if the sides were exchangeable; 1
    /// where no task differs.
    pub p: f64,
}

impl SignedRank {
    /// Tests the differences of tasks, one number each.
    ///
    /// Returns `None` without tasks, and when a difference is not finite.
    #[must_use]
    pub fn of(differences: &[f64]) -> Option<Self> {
        if differences.is_empty() || differences.iter().any(|value| !value.is_finite()) {
            return None;
        }
        let mut left: Vec<f64> =
            differences.iter().copied().filter(|value| value.abs() > TIE).collect();
        left.sort_by(|a, b| a.abs().total_cmp(&b.abs()));
        let (doubled, ties) = ranks(&left);
        let sum = |above: bool| -> u64 {
            let own = left.iter().zip(&doubled).filter(|(value, _)| (**value > 0.0) == above);
            own.map(|(_, rank)| u64::from(*rank)).sum()
        };
        let (plus, minus) = (sum(true), sum(false));
        let least = plus.min(minus);
        let p = if left.is_empty() {
            1.0
        } else if left.len() <= EXACT {
            2.0 * counted_out(&doubled, least)
        } else {
            2.0 * approximated(left.len(), least, ties)
        };
        Some(Self {
            differ: left.len(),
            plus: halved(plus),
            minus: halved(minus),
            p: p.clamp(0.0, 1.0),
        })
    }

    /// Returns how one-sided the differences are, in `-1..=1`: the rank-biserial correlation
    /// `(W+ - W-) / (W+ + W-)` of Kerby 2014, "The Simple Difference Formula", Comprehensive
    /// Psychology 3. None where no task differs.
    #[must_use]
    pub fn effect(&self) -> Option<f64> {
        let all = self.plus + self.minus;
        (all > 0.0).then(|| (self.plus - self.minus) / all)
    }
}

fn halved(doubled: u64) -> f64 {
    u32::try_from(doubled).map_or(f64::INFINITY, f64::from) / 2.0
}

/// Returns twice the rank of each of some differences that are sorted by size, which is a whole
/// number also where ranks are shared, and the sum of `t³ - t` over groups of `t` ties.
fn ranks(sorted: &[f64]) -> (Vec<u32>, f64) {
    let mut doubled = Vec::with_capacity(sorted.len());
    let mut ties = 0.0;
    let mut start = 0;
    while let Some(first) = sorted.get(start) {
        let rest = &sorted[start..];
        let size = rest.iter().take_while(|value| value.abs() - first.abs() <= TIE).count();
        // The ranks start+1 to start+size have this mean.
        let rank = u32::try_from(2 * start + size + 1).unwrap_or(u32::MAX);
        doubled.extend(std::iter::repeat_n(rank, size));
        let group = count(size);
        ties += group * group * group - group;
        start += size;
    }
    (doubled, ties)
}

/// Returns how likely a sum of doubled ranks with random signs is at most `least`.
fn counted_out(doubled: &[u32], least: u64) -> f64 {
    let Ok(least) = usize::try_from(least) else { return 1.0 };
    // Chances of each sum up to `least`; what lies beyond never comes back.
    let mut chances = vec![0.0; least + 1];
    chances[0] = 1.0;
    for rank in doubled {
        let rank = usize::try_from(*rank).unwrap_or(usize::MAX);
        for sum in (0..=least).rev() {
            let with = sum.checked_sub(rank).map_or(0.0, |below| chances[below]);
            chances[sum] = f64::midpoint(chances[sum], with);
        }
    }
    chances.iter().sum()
}

/// The same for many differences, by the normal distribution.
fn approximated(differ: usize, least: u64, ties: f64) -> f64 {
    let n = count(differ);
    let mean = n * (n + 1.0) / 4.0;
    let variance = n * (n + 1.0) * (2.0 * n + 1.0) / 24.0 - ties / 48.0;
    normal::cumulative((halved(least) + 0.5 - mean) / variance.sqrt())
}

/// Corrects the probabilities of several tests, in their order: the chance that any of them
/// rejects wrongly stays below the level at which all are read.
#[must_use]
pub fn holm(probabilities: &[f64]) -> Vec<f64> {
    let mut order: Vec<usize> = (0..probabilities.len()).collect();
    order.sort_by(|a, b| probabilities[*a].total_cmp(&probabilities[*b]));
    let mut corrected = vec![1.0; probabilities.len()];
    let mut least = 0.0_f64;
    for (done, index) in order.iter().enumerate() {
        let left = count(probabilities.len() - done);
        least = least.max((left * probabilities[*index]).min(1.0));
        corrected[*index] = least;
    }
    corrected
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn small_samples_match_the_count_of_all_signs() {
        let third = 1.0 / 3.0;
        //       differences, W+, W-, p, why
        let table: [(&[f64], f64, f64, f64, &str); 6] = [
            (&[1.0, 2.0, 3.0, 4.0, 5.0], 15.0, 0.0, 2.0 / 32.0, "all above: 1 of 32, doubled"),
            (&[-1.0, 2.0, 3.0, 4.0, 5.0], 14.0, 1.0, 4.0 / 32.0, "the smallest below"),
            (&[1.0, 1.0, 1.0, 1.0], 10.0, 0.0, 2.0 / 16.0, "all tied"),
            (&[0.0, 0.0, 0.5], 1.0, 0.0, 1.0, "one that differs proves nothing"),
            (&[0.0, 0.0], 0.0, 0.0, 1.0, "nothing differs"),
            (
                &[2.0 / 3.0 - third, third, 1.0 - 2.0 / 3.0, -third],
                7.5,
                2.5,
                10.0 / 16.0,
                "what differs by rounding is tied",
            ),
        ];
        for (differences, plus, minus, p, why) in table {
            let got = SignedRank::of(differences).unwrap();
            assert!((got.plus - plus).abs() < 1e-12 && (got.minus - minus).abs() < 1e-12, "{why}");
            assert!((got.p - p).abs() < 1e-12, "{}: {why}", got.p);
        }
        assert_eq!(SignedRank::of(&[]), None, "no task");
        assert_eq!(SignedRank::of(&[f64::NAN]), None, "no number");
    }

    #[test]
    fn the_approximation_is_that_of_others_and_close_to_the_count() {
        /// Sizes of differences, the probability that others give, and a reason.
        type Case = (fn(i32) -> f64, f64, &'static str);
        let sided = |size: fn(i32) -> f64| -> Vec<f64> {
            (1..=120).map(|i| if i % 3 == 0 { -size(i) } else { size(i) }).collect()
        };
        // SciPy 1.17, `wilcoxon(…, correction=True, method="approx")`.
        let table: [Case; 2] = [
            (f64::from, 0.002_193_004_378_250_43, "no ties"),
            (|i| f64::from(i % 7 + 1) / 3.0, 0.002_252_529_398_887_998_7, "seven sizes"),
        ];
        for (size, want, why) in table {
            let differences = sided(size);
            let got = SignedRank::of(&differences).unwrap();
            assert!((got.p / want - 1.0).abs() < 1e-9, "{}: {why}", got.p);
            let mut sorted = differences;
            sorted.sort_by(|a, b| a.abs().total_cmp(&b.abs()));
            let (doubled, _) = ranks(&sorted);
            let least: u32 =
                sorted.iter().zip(&doubled).filter(|(v, _)| **v < 0.0).map(|(_, rank)| rank).sum();
            let exact = 2.0 * counted_out(&doubled, least.into());
            assert!((got.p / exact - 1.0).abs() < 0.15, "{} {exact}: {why}", got.p);
        }
    }

    #[test]
    fn holm_is_no_stricter_than_bonferroni_and_keeps_the_order() {
        let corrected = holm(&[0.04, 0.01, 0.03]);
        let want = [0.06, 0.03, 0.06];
        assert!(corrected.iter().zip(want).all(|(got, want)| (got - want).abs() < 1e-12));
        assert_eq!(holm(&[0.9, 0.8]), [1.0, 1.0]);
        assert_eq!(holm(&[]), Vec::<f64>::new());
    }

    proptest! {
        /// Every sign of up to ten tied or untied differences, enumerated.
        #[test]
        fn exact_chances_equal_the_enumeration(values in prop::collection::vec(-4i8..=4, 1..10)) {
            let differences: Vec<f64> = values.iter().map(|value| f64::from(*value) / 3.0).collect();
            let got = SignedRank::of(&differences).unwrap();
            let mut left: Vec<f64> = differences.into_iter().filter(|v| *v != 0.0).collect();
            left.sort_by(|a, b| a.abs().total_cmp(&b.abs()));
            let (doubled, _) = ranks(&left);
            let least = (2.0 * got.plus.min(got.minus)).round();
            let all = 1u32 << left.len();
            let at_most = (0..all).filter(|signs| {
                let sum: u32 =
                    (0..left.len()).filter(|i| signs >> i & 1 == 1).map(|i| doubled[i]).sum();
                f64::from(sum) <= least
            });
            let want = (2.0 * count(at_most.count()) / f64::from(all)).min(1.0);
            prop_assert!((got.p - want).abs() < 1e-12, "{} {}", got.p, want);
        }

        #[test]
        fn exchanging_the_sides_changes_the_sign_alone(
            values in prop::collection::vec(-9i8..=9, 1..150),
        ) {
            let there: Vec<f64> = values.iter().map(|value| f64::from(*value)).collect();
            let back: Vec<f64> = there.iter().map(|value| -value).collect();
            let (there, back) = (SignedRank::of(&there).unwrap(), SignedRank::of(&back).unwrap());
            prop_assert!((there.p - back.p).abs() < 1e-12 && (0.0..=1.0).contains(&there.p));
            prop_assert_eq!(there.effect(), back.effect().map(|effect| -effect + 0.0));
        }
    }
}
