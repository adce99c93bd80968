//! Estimators on the counts of one task: `n` judged trials, `c` of them passed.
//!
//! All three are unbiased: their mean over repeated experiments is the quantity
//! itself, for every number of trials that allows an estimate at all.

/// Share of trials that passed, a fraction in `0..=1`.
///
/// Returns `None` without trials or with more passes than trials.
#[must_use]
pub fn avg(n: u32, c: u32) -> Option<f64> {
    (n > 0 && c <= n).then(|| f64::from(c) / f64::from(n))
}

/// Probability that at least one of `k` trials, drawn without return from `n`, passed.
///
/// The unbiased estimator `1 - C(n-c, k) / C(n, k)`, a fraction in `0..=1`.
///
/// Returns `None` when `k` is zero or larger than `n`, or `c` is larger than `n`: the
/// estimate does not exist, and a zero would look like a score.
///
/// Source: Chen et al. 2021, "Evaluating Large Language Models Trained on Code",
/// arXiv:2107.03374, equation 1.
#[must_use]
pub fn pass_at_k(n: u32, c: u32, k: u32) -> Option<f64> {
    all_of(n, n.checked_sub(c)?, k).map(|none_passed| 1.0 - none_passed)
}

/// Probability that all of `k` trials, drawn without return from `n`, passed.
///
/// The unbiased estimator `C(c, k) / C(n, k)`, a fraction in `0..=1`.
///
/// Returns `None` when `k` is zero or larger than `n`, or `c` is larger than `n`.
///
/// Source: Yao et al. 2024, "τ-bench", arXiv:2406.12045, section 3 (`pass^k`).
#[must_use]
pub fn pass_hat_k(n: u32, c: u32, k: u32) -> Option<f64> {
    all_of(n, c, k)
}

/// Returns `C(m, k) / C(n, k)`: the probability that `k` draws from `n` all hit the
/// `m` marked ones, as a running product, so that no binomial overflows.
fn all_of(n: u32, m: u32, k: u32) -> Option<f64> {
    if k == 0 || k > n || m > n {
        return None;
    }
    if m < k {
        return Some(0.0);
    }
    Some((0..k).map(|drawn| f64::from(m - drawn) / f64::from(n - drawn)).product())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn close(got: Option<f64>, want: Option<f64>) -> bool {
        match (got, want) {
            (Some(got), Some(want)) => (got - want).abs() <= 1e-12,
            (got, want) => got == want,
        }
    }

    #[test]
    fn both_estimators_match_hand_counts() {
        //         n  c  k  pass@k        pass^k        why
        let table = [
            (3, 0, 1, Some(0.0), Some(0.0), "never passed"),
            (3, 3, 3, Some(1.0), Some(1.0), "always passed"),
            (3, 1, 3, Some(1.0), Some(0.0), "one hit: enough for @, fatal for ^"),
            (4, 2, 2, Some(5.0 / 6.0), Some(1.0 / 6.0), "6 pairs: one all-fail, one all-pass"),
            (10, 1, 1, Some(0.1), Some(0.1), "k = 1: both are the share"),
            (3, 1, 4, None, None, "k beyond n has no estimate"),
            (3, 1, 0, None, None, "nothing drawn"),
            (0, 0, 1, None, None, "no trials"),
            (3, 4, 1, None, None, "more passes than trials"),
        ];
        for (n, c, k, at, hat, why) in table {
            let got = (pass_at_k(n, c, k), pass_hat_k(n, c, k));
            assert!(close(got.0, at) && close(got.1, hat), "n={n} c={c} k={k}: {got:?} ({why})");
        }
        assert_eq!((avg(4, 1), avg(0, 0), avg(1, 2)), (Some(0.25), None, None));
    }

    /// Draws every subset of every size out of up to 12 trials, and counts.
    #[test]
    fn both_estimators_equal_the_enumeration_of_all_subsets() {
        for n in 1..=12u32 {
            let mut drawn = vec![0u32; n as usize + 1];
            let mut some = vec![vec![0u32; n as usize + 1]; n as usize + 1];
            let mut all = some.clone();
            for subset in 0u32..1 << n {
                let k = subset.count_ones() as usize;
                drawn[k] += 1;
                for c in 0..=n {
                    let passed = subset & ((1u32 << c) - 1);
                    some[k][c as usize] += u32::from(passed != 0);
                    all[k][c as usize] += u32::from(passed == subset);
                }
            }
            for k in 1..=n {
                for c in 0..=n {
                    let (row, column) = (k as usize, c as usize);
                    let share = |count: u32| Some(f64::from(count) / f64::from(drawn[row]));
                    let got = (pass_at_k(n, c, k), pass_hat_k(n, c, k));
                    let want = (share(some[row][column]), share(all[row][column]));
                    assert!(close(got.0, want.0) && close(got.1, want.1), "n={n} c={c} k={k}");
                }
            }
        }
    }

    #[test]
    fn large_counts_neither_overflow_nor_leave_the_unit_interval() {
        for (n, c, k) in [(1_000_000, 1, 500_000), (u32::MAX, u32::MAX, 1000), (100_000, 3, 99_997)]
        {
            for value in [pass_at_k(n, c, k), pass_hat_k(n, c, k)] {
                assert!(value.is_some_and(|value| (0.0..=1.0).contains(&value)), "{n} {c} {k}");
            }
        }
        assert!(
            close(pass_at_k(1_000_000, 1, 500_000), Some(0.5)) || {
                // A product of half a million factors keeps ten digits.
                (pass_at_k(1_000_000, 1, 500_000).unwrap() - 0.5).abs() < 1e-10
            }
        );
    }
}
