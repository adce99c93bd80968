//! The normal distribution's cumulative function.
//!
//! Formulas: the series of Marsaglia 2004, "Evaluating the Normal Distribution", Journal of
//! Statistical Software 11(4), near the middle; beyond three standard deviations the continued
//! fraction of Abramowitz and Stegun, 26.2.14, which keeps small tails exact.

/// How far from the middle the series is used.
const NEAR: f64 = 3.0;

/// Steps of the continued fraction: at [`NEAR`] it is exact to 1e-14 by then.
const STEPS: u32 = 100;

/// Probability that a standard normal variable is at most `x`, to about 1e-14.
pub(super) fn cumulative(x: f64) -> f64 {
    let density = (-x * x / 2.0).exp() / std::f64::consts::TAU.sqrt();
    if x.abs() > NEAR {
        let tail = |from: f64| {
            density / (0..STEPS).rev().fold(from, |rest, step| from + f64::from(step + 1) / rest)
        };
        return if x < 0.0 { tail(-x) } else { 1.0 - tail(x) };
    }
    let (mut sum, mut term, mut odd) = (x, x, 1.0);
    while term.abs() > 1e-17 {
        odd += 2.0;
        term *= x * x / odd;
        sum += term;
    }
    0.5 + density * sum
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_are_those_of_tables() {
        let table = [
            (0.0, 0.5, "the middle"),
            (1.0, 0.841_344_746_068_542_9, "one standard deviation"),
            (1.959_963_984_540_054, 0.975, "the usual quantile"),
            (-3.0, 0.001_349_898_031_630_094_6, "where the series ends"),
            (-3.5, 0.000_232_629_079_035_525_05, "where the fraction begins"),
            (-6.0, 9.865_876_450_376_946e-10, "far out"),
        ];
        for (x, want, why) in table {
            let got = cumulative(x);
            assert!((got / want - 1.0).abs() < 1e-11, "{x}: {got} {want} ({why})");
            assert!((cumulative(-x) - (1.0 - want)).abs() < 1e-13, "mirrored: {why}");
        }
    }
}
