//! The beta distribution: its cumulative function and its quantiles.
//!
//! Only what intervals need: parameters from about 0.5 to some millions, accuracy
//! near 1e-10. Formulas: NIST Digital Library of Mathematical Functions 5.11.1
//! (Stirling's series) and 8.17.22 (the continued fraction of the incomplete beta
//! function).

/// Terms of the continued fraction after which it has converged for any parameters
/// that a run can lead to.
const TERMS: u32 = 20_000;

/// Natural logarithm of the gamma function for positive arguments.
fn ln_gamma(mut x: f64) -> f64 {
    // Stirling's series is exact to 1e-13 from ten on; below, recurrence leads there.
    let mut below = 0.0;
    while x < 10.0 {
        below += x.ln();
        x += 1.0;
    }
    let inverse = 1.0 / x;
    let square = inverse * inverse;
    let series = inverse
        * (1.0 / 12.0 - square * (1.0 / 360.0 - square * (1.0 / 1260.0 - square * (1.0 / 1680.0))));
    (x - 0.5) * x.ln() - x + 0.5 * std::f64::consts::TAU.ln() + series - below
}

/// A beta distribution.
#[derive(Debug, Clone, Copy)]
pub(super) struct Beta {
    a: f64,
    b: f64,
    /// Logarithm of the beta function, which every evaluation needs.
    norm: f64,
}

impl Beta {
    /// Returns the distribution with density `x^(a-1) (1-x)^(b-1)`, up to a factor.
    pub(super) fn new(a: f64, b: f64) -> Self {
        Self { a, b, norm: ln_gamma(a) + ln_gamma(b) - ln_gamma(a + b) }
    }

    /// Probability that a variable is at most `x`.
    pub(super) fn cumulative(&self, x: f64) -> f64 {
        if x <= 0.0 || x >= 1.0 {
            return f64::from(u8::from(x > 0.0));
        }
        let weight = (self.a * x.ln() + self.b * (-x).ln_1p() - self.norm).exp();
        // The fraction converges fast only below the mean; above it, mirror.
        let share = if x <= (self.a + 1.0) / (self.a + self.b + 2.0) {
            weight / self.a * fraction(self.a, self.b, x)
        } else {
            1.0 - weight / self.b * fraction(self.b, self.a, 1.0 - x)
        };
        share.clamp(0.0, 1.0)
    }

    /// The value below which a variable lies with probability `share`.
    ///
    /// Newton's steps from the mean; one that would leave the bracket known so far
    /// halves it instead, so the search ends for all parameters.
    pub(super) fn quantile(&self, share: f64) -> f64 {
        let (mut low, mut high) = (0.0, 1.0);
        let mut x = self.a / (self.a + self.b);
        for _ in 0..200 {
            let over = self.cumulative(x) - share;
            if over.abs() < 1e-14 {
                break;
            }
            if over < 0.0 {
                low = x;
            } else {
                high = x;
            }
            let ln_density = (self.a - 1.0) * x.ln() + (self.b - 1.0) * (-x).ln_1p() - self.norm;
            let newton = x - over / ln_density.exp();
            let next = if low < newton && newton < high { newton } else { 0.5 * (low + high) };
            if (next - x).abs() <= 1e-14 * x {
                break;
            }
            x = next;
        }
        x
    }
}

/// The continued fraction, evaluated forwards (Lentz, modified by Thompson and Barnett).
#[expect(clippy::many_single_char_names, reason = "the names of the formula's source")]
fn fraction(a: f64, b: f64, x: f64) -> f64 {
    const TINY: f64 = 1e-300;
    let away_from_zero = |value: f64| if value.abs() < TINY { TINY } else { value };
    let (mut c, mut d) = (1.0, 1.0 / away_from_zero(1.0 - (a + b) * x / (a + 1.0)));
    let mut product = d;
    for term in 1..TERMS {
        let m = f64::from(term);
        let even = m * (b - m) * x / ((a + 2.0 * m - 1.0) * (a + 2.0 * m));
        let odd = -(a + m) * (a + b + m) * x / ((a + 2.0 * m) * (a + 2.0 * m + 1.0));
        let mut last = 1.0;
        for numerator in [even, odd] {
            d = 1.0 / away_from_zero(1.0 + numerator * d);
            c = away_from_zero(1.0 + numerator / c);
            last = c * d;
            product *= last;
        }
        if (last - 1.0_f64).abs() < 1e-15 {
            break;
        }
    }
    product
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn quantiles_match_closed_forms() {
        //   a    b    share  quantile                          why
        let table = [
            (1.0, 1.0, 0.3, 0.3, "uniform"),
            (3.0, 1.0, 0.025, 0.025_f64.powf(1.0 / 3.0), "a power of the uniform"),
            (1.0, 20.0, 0.975, 1.0 - 0.025_f64.powf(1.0 / 20.0), "the exact bound at 0 of 20"),
            (0.5, 0.5, 0.25, 0.146_446_609_406_726_24, "arcsine law: sin²(π/8)"),
            (7.5, 7.5, 0.5, 0.5, "symmetric"),
        ];
        for (a, b, share, want, why) in table {
            let got = Beta::new(a, b).quantile(share);
            assert!((got - want).abs() < 1e-10, "Beta({a}, {b}) at {share}: {got} ({why})");
        }
    }

    #[test]
    fn the_quantile_inverts_the_cumulative_function_over_the_whole_range() {
        for a in [0.75, 3.0, 40.0, 1e4, 1e6] {
            for b in [0.75, 2.5, 400.0, 1e6] {
                for share in [0.025, 0.5, 0.975] {
                    let beta = Beta::new(a, b);
                    let back = beta.cumulative(beta.quantile(share));
                    assert!((back - share).abs() < 1e-7, "Beta({a}, {b}): {share} became {back}");
                }
            }
        }
    }
}
