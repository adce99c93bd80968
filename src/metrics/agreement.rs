//! How well a judge agrees with labels that are known.
//!
//! Both sides say of the same items whether they pass; everything here follows from the
//! four counts of who said what. It refuses to invent: without an item there is no
//! agreement, and where both sides put every item into one and the same class there is no
//! κ, since agreement by chance is then certain and nothing can exceed it.
//!
//! # Intervals
//!
//! Both are 95 % intervals over what another sample of as many items could have shown.
//! Agreement has Wilson's (Wilson 1927, "Probable Inference, the Law of Succession, and
//! Statistical Inference", Journal of the American Statistical Association 22(158)). κ
//! has the large-sample one of Fleiss, Cohen and Everitt 1969 ("Large Sample Standard
//! Errors of Kappa and Weighted Kappa", Psychological Bulletin 72(5), equation 13), which
//! alone would have no width at perfect agreement; so, as Agresti and Coull 1998 do for a
//! proportion, its centre and its error are computed with one item added to each of the
//! four counts, and the interval is widened to hold κ itself. In simulations it covers the
//! truth in 92 to 99 % of samples from 20 items on; the tests below repeat some of them.
//!
//! Items of one unit, the trials of one task or the answers to one question, may be alike. The intervals then
//! count them for less: the design effect (Kish 1965, "Survey Sampling", section 5.4) is
//! the variance of the agreement between units over the one of independent items, no less
//! than 1 and no more than the mean number of items of a unit, which it is where all
//! items or none agree.

use std::collections::BTreeMap;

use serde::Serialize;

use super::scores::Estimate;

/// The 97.5 % point of the normal distribution.
const Z: f64 = 1.959_963_984_540_054;

/// What a report says about how these intervals were made.
pub const AGREEMENT_METHOD: &str = "95 % intervals: Wilson for agreement, Fleiss-Cohen-Everitt \
                                    with one item added to each count for kappa";

/// What was said of one item.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Rating<'a> {
    /// Items of one unit may be alike; an item alone has a name of its own.
    pub unit: &'a str,
    /// Whether the label says that it passes.
    pub label: bool,
    /// Whether the judge says so.
    pub judge: bool,
}

/// Items by what the label and the judge say.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize)]
pub struct Confusion {
    /// Both say pass.
    pub both_pass: u32,
    /// The judge alone says pass: too lenient.
    pub judge_alone: u32,
    /// The label alone says pass: the judge is too strict.
    pub label_alone: u32,
    /// Both say fail.
    pub both_fail: u32,
}

impl Confusion {
    /// Counts an item.
    pub fn add(&mut self, label: bool, judge: bool) {
        let count = match (label, judge) {
            (true, true) => &mut self.both_pass,
            (false, true) => &mut self.judge_alone,
            (true, false) => &mut self.label_alone,
            (false, false) => &mut self.both_fail,
        };
        *count += 1;
    }

    /// Returns the number of items.
    #[must_use]
    pub fn items(&self) -> u32 {
        self.both_pass + self.judge_alone + self.label_alone + self.both_fail
    }

    /// Returns the share of items on which both say the same; none without items.
    #[must_use]
    pub fn agreement(&self) -> Option<f64> {
        share(self.both_pass + self.both_fail, self.items())
    }

    /// Returns Cohen's κ, `(p - c) / (1 - c)`, with the agreement `p` and the agreement
    /// `c` that two raters with these shares of passes would reach by chance.
    ///
    /// It is 1 where they always agree, 0 where as often as by chance, and not below -1.
    /// None where `c` is 1: both say the same of every item, and nothing else; also
    /// without items.
    ///
    /// Source: Cohen 1960, "A Coefficient of Agreement for Nominal Scales", Educational
    /// and Psychological Measurement 20(1), equation 1.
    #[must_use]
    pub fn kappa(&self) -> Option<f64> {
        // In whole numbers up to the division, so that 0 and 1 are met exactly.
        let [a, b, c, d] = self.wide();
        let items = a + b + c + d;
        let chance = (a + b) * (a + c) + (c + d) * (b + d);
        let (over, under) = (items * (a + d) - chance, items * items - chance);
        #[expect(clippy::cast_precision_loss, reason = "rounded once, at the very end")]
        (under > 0).then(|| over as f64 / under as f64)
    }

    /// Returns the share of what the judge passes that the label passes too; none where
    /// the judge passes nothing.
    #[must_use]
    pub fn precision(&self) -> Option<f64> {
        share(self.both_pass, self.both_pass + self.judge_alone)
    }

    /// Returns the share of what the label passes that the judge passes too; none where
    /// the label passes nothing.
    #[must_use]
    pub fn recall(&self) -> Option<f64> {
        share(self.both_pass, self.both_pass + self.label_alone)
    }

    fn wide(&self) -> [i128; 4] {
        [self.both_pass, self.judge_alone, self.label_alone, self.both_fail].map(i128::from)
    }

    /// Returns the interval of κ, each item counted for `weight`.
    fn kappa_ci95(&self, weight: f64) -> Option<(f64, f64)> {
        let kappa = self.kappa()?;
        let [a, b, c, d] = [self.both_pass, self.judge_alone, self.label_alone, self.both_fail]
            .map(|count| f64::from(count) * weight + 1.0);
        let items = a + b + c + d;
        let [a, b, c, d] = [a, b, c, d].map(|count| count / items);
        // Shares of pass and of fail by the judge and by the label.
        let (judge, label) = ([a + b, c + d], [a + c, b + d]);
        let chance = judge[0] * label[0] + judge[1] * label[1];
        let centre = (a + d - chance) / (1.0 - chance);
        let missing = 1.0 - centre;
        let agreed = a * (1.0 - (judge[0] + label[0]) * missing).powi(2)
            + d * (1.0 - (judge[1] + label[1]) * missing).powi(2);
        let crossed = b * (label[0] + judge[1]).powi(2) + c * (label[1] + judge[0]).powi(2);
        let spread = agreed + missing.powi(2) * crossed - (centre - chance * missing).powi(2);
        let half = Z * (spread.max(0.0) / items).sqrt() / (1.0 - chance);
        Some(((centre - half).max(-1.0).min(kappa), (centre + half).min(1.0).max(kappa)))
    }
}

/// How well a judge agrees with the labels of a group of items.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize)]
pub struct Agreement {
    /// Number of items.
    pub items: u32,
    /// Number of units that they belong to.
    pub units: u32,
    /// Share of items on which both say the same.
    pub agreement: Estimate,
    /// Cohen's κ, in `-1..=1`.
    pub kappa: Estimate,
    /// Share of what the judge passes that is right to pass.
    pub precision: Option<f64>,
    /// Share of what is right to pass that the judge passes.
    pub recall: Option<f64>,
    /// Who said what.
    pub confusion: Confusion,
}

impl Agreement {
    /// Counts ratings.
    #[must_use]
    pub fn of<'a>(ratings: impl IntoIterator<Item = Rating<'a>>) -> Self {
        let mut confusion = Confusion::default();
        let mut units: BTreeMap<&str, (u32, u32)> = BTreeMap::new();
        for Rating { unit, label, judge } in ratings {
            confusion.add(label, judge);
            let (agreed, items) = units.entry(unit).or_default();
            *agreed += u32::from(label == judge);
            *items += 1;
        }
        let counts: Vec<(u32, u32)> = units.into_values().collect();
        let items = confusion.items();
        let value = confusion.agreement();
        let weight = value.map_or(1.0, |mean| 1.0 / design_effect(&counts, items, mean));
        let tasks = counts.len();
        let interval = value.map(|mean| wilson(mean, f64::from(items) * weight));
        Self {
            items,
            units: u32::try_from(tasks).unwrap_or(u32::MAX),
            agreement: Estimate { value, ci95: interval, tasks },
            kappa: Estimate { value: confusion.kappa(), ci95: confusion.kappa_ci95(weight), tasks },
            precision: confusion.precision(),
            recall: confusion.recall(),
            confusion,
        }
    }
}

/// Returns by how much the variance of the agreement `mean` is larger than that of as
/// many independent items; `units` holds the agreeing and all items of each unit.
fn design_effect(units: &[(u32, u32)], items: u32, mean: f64) -> f64 {
    let all = f64::from(items);
    let count = super::interval::count(units.len());
    let most = (all / count).max(1.0);
    let independent = mean * (1.0 - mean) * all;
    if independent <= 0.0 || units.len() < 2 {
        return most;
    }
    let between: f64 = units
        .iter()
        .map(|&(agreed, items)| (f64::from(agreed) - mean * f64::from(items)).powi(2))
        .sum();
    (between * count / (count - 1.0) / independent).clamp(1.0, most)
}

/// Returns Wilson's interval of a share of `items`, which need not be whole.
fn wilson(mean: f64, items: f64) -> (f64, f64) {
    let square = Z * Z;
    let centre = mean + square / (2.0 * items);
    let half = Z * (mean * (1.0 - mean) / items + square / (4.0 * items * items)).sqrt();
    let scale = 1.0 + square / items;
    // Rounding must not push the ends beyond the mean, which they meet at 0 and 1.
    (((centre - half) / scale).clamp(0.0, mean), ((centre + half) / scale).clamp(mean, 1.0))
}

fn share(part: u32, whole: u32) -> Option<f64> {
    (whole > 0).then(|| f64::from(part) / f64::from(whole))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn table([both_pass, judge_alone, label_alone, both_fail]: [u32; 4]) -> Confusion {
        Confusion { both_pass, judge_alone, label_alone, both_fail }
    }

    fn alone(counts: [u32; 4]) -> Agreement {
        let names: Vec<String> = (0..counts.iter().sum()).map(|n| n.to_string()).collect();
        let said = [(true, true), (false, true), (true, false), (false, false)];
        let said = said.iter().zip(counts).flat_map(|(said, n)| vec![*said; n as usize]);
        Agreement::of(names.iter().zip(said).map(|(unit, (label, judge))| Rating {
            unit,
            label,
            judge,
        }))
    }

    #[test]
    fn kappa_is_what_hand_counts_give() {
        //  counts          agreement     kappa         why
        let rows = [
            ([0, 0, 0, 0], None, None, "nothing rated"),
            ([7, 0, 0, 0], Some(1.0), None, "both pass everything: chance is certain"),
            ([0, 0, 0, 3], Some(1.0), None, "both fail everything"),
            ([3, 0, 0, 4], Some(1.0), Some(1.0), "never apart"),
            ([0, 5, 5, 0], Some(0.0), Some(-1.0), "never together"),
            ([6, 4, 0, 0], Some(0.6), Some(0.0), "a judge that always passes knows nothing"),
            ([0, 0, 6, 4], Some(0.4), Some(0.0), "nor does one that never passes"),
            ([0, 5, 0, 0], Some(0.0), Some(0.0), "constant, and opposite"),
            ([1, 1, 1, 1], Some(0.5), Some(0.0), "a coin"),
            // Chance: (25·30 + 25·20) / 50² = 0.5; (0.7 - 0.5) / 0.5.
            ([20, 5, 10, 15], Some(0.7), Some(0.4), "in between"),
        ];
        for (counts, agreement, kappa, why) in rows {
            let got = table(counts);
            assert_eq!((got.agreement(), got.kappa()), (agreement, kappa), "{counts:?}: {why}");
        }
    }

    #[test]
    fn intervals_are_honest_at_the_edges() {
        let one = alone([1, 0, 0, 0]);
        let (low, high) = one.agreement.ci95.unwrap();
        assert!(low > 0.1 && low < 0.3 && high >= 1.0, "one item proves little: {low}");
        assert_eq!(one.kappa.ci95, None, "no kappa, no interval");
        let few = alone([5, 0, 0, 5]);
        let (low, high) = few.kappa.ci95.unwrap();
        assert!(low > 0.0 && low < 0.6 && high >= 1.0, "ten items, never apart: {low}");
        let (low, high) = alone([0, 5, 5, 0]).kappa.ci95.unwrap();
        assert!(low <= -1.0 && high < 0.0 && high > -0.6, "never together: {high}");
        let (low, high) = alone([110, 0, 0, 110]).kappa.ci95.unwrap();
        assert!(low > 0.94 && low < 0.99 && high >= 1.0, "many items, never apart: {low}");
        assert_eq!(Agreement::of([]), Agreement::default(), "nothing rated");
    }

    /// Ten trials of a task that all say the same are worth one; where tasks are no more
    /// alike within than between, each counts.
    #[test]
    fn items_of_one_unit_count_for_less_where_they_are_alike() {
        let rate = |mixed: bool| {
            let names: Vec<String> = (0..20).map(|n| n.to_string()).collect();
            let rows = names.iter().enumerate().flat_map(|(unit, name)| {
                (0..10).map(move |item| {
                    let agrees = if mixed { (unit + item) % 2 == 0 } else { unit % 2 == 0 };
                    Rating { unit: name, label: item % 4 < 2, judge: (item % 4 < 2) == agrees }
                })
            });
            Agreement::of(rows)
        };
        let width = |a: &Agreement| a.agreement.ci95.map(|(low, high)| high - low).unwrap();
        let (alike, mixed) = (rate(false), rate(true));
        assert_eq!((alike.items, alike.units), (200, 20));
        let (twenty, all) = (wilson(0.5, 20.0), wilson(0.5, 200.0));
        assert!((width(&alike) - (twenty.1 - twenty.0)).abs() < 1e-9, "as twenty items");
        assert!((width(&mixed) - (all.1 - all.0)).abs() < 1e-9, "as two hundred");
    }

    /// The next number in `0..1` of a splitmix generator.
    fn draw(state: &mut u64) -> f64 {
        *state = state.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut bits = *state;
        bits = (bits ^ (bits >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        bits = (bits ^ (bits >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        f64::from(u32::try_from((bits ^ (bits >> 31)) >> 32).unwrap()) / 4_294_967_296.0
    }

    #[test]
    fn the_interval_of_kappa_covers_the_truth() {
        for items in [20, 50, 220] {
            for (judge, label, kappa) in [
                (0.5, 0.5, 0.0),
                (0.5, 0.5, 0.6),
                (0.5, 0.8, 0.3),
                (0.8, 0.8, 0.6),
                (0.9, 0.9, 0.6),
            ] {
                let chance = judge * label + (1.0 - judge) * (1.0 - label);
                let agreement = kappa * (1.0 - chance) + chance;
                let both = (agreement + judge + label - 1.0) / 2.0;
                let ends = [both, judge, judge + label - both];
                let mut state = 7;
                let (mut covered, mut tried) = (0, 0);
                for _ in 0..2000 {
                    let mut counts = [0; 4];
                    for _ in 0..items {
                        let at = draw(&mut state);
                        counts[ends.iter().filter(|end| at >= **end).count()] += 1;
                    }
                    let Some((low, high)) = table(counts).kappa_ci95(1.0) else { continue };
                    tried += 1;
                    covered += u32::from(low <= kappa && kappa <= high);
                }
                let share = f64::from(covered) / f64::from(tried);
                assert!((0.92..=0.99).contains(&share), "{items} {judge} {label} {kappa}: {share}");
            }
        }
    }

    proptest! {
        /// Against the definition: how often both would agree, had each item's label been
        /// paired with every item's verdict.
        #[test]
        fn kappa_equals_brute_force(said in prop::collection::vec(any::<(bool, bool)>(), 1..60)) {
            let mut counted = Confusion::default();
            for (label, judge) in &said {
                counted.add(*label, *judge);
            }
            let count = |hits: usize, all: usize| f64::from(u32::try_from(hits).unwrap())
                / f64::from(u32::try_from(all).unwrap());
            let agreed = said.iter().filter(|(label, judge)| label == judge).count();
            let crossed = said.iter()
                .flat_map(|(label, _)| said.iter().filter(move |(_, judge)| label == judge))
                .count();
            let (p, c) = (count(agreed, said.len()), count(crossed, said.len() * said.len()));
            prop_assert!((counted.agreement().unwrap() - p).abs() < 1e-12);
            prop_assert_eq!(counted.kappa().is_none(), crossed == said.len() * said.len());
            if let Some(kappa) = counted.kappa() {
                prop_assert!((kappa - (p - c) / (1.0 - c)).abs() < 1e-12);
            }
            let passed = |yes: &dyn Fn(&(bool, bool)) -> bool| said.iter().filter(|x| yes(x)).count();
            let hits = passed(&|(label, judge)| *label && *judge);
            for (got, all) in [
                (counted.precision(), passed(&|(_, judge)| *judge)),
                (counted.recall(), passed(&|(label, _)| *label)),
            ] {
                prop_assert_eq!(got, (all > 0).then(|| count(hits, all)));
            }
        }

        /// Intervals hold what they are about, in range, for any counts and units.
        #[test]
        fn intervals_hold_the_value(said in prop::collection::vec((0_u8..6, any::<bool>(), any::<bool>()), 1..80)) {
            let names: Vec<String> = said.iter().map(|(unit, ..)| unit.to_string()).collect();
            let got = Agreement::of(said.iter().zip(&names).map(|((_, label, judge), unit)| {
                Rating { unit, label: *label, judge: *judge }
            }));
            let (low, high) = got.agreement.ci95.unwrap();
            let value = got.agreement.value.unwrap();
            prop_assert!(0.0 <= low && low <= value && value <= high && high <= 1.0);
            prop_assert_eq!(got.kappa.value.is_some(), got.kappa.ci95.is_some());
            if let (Some(value), Some((low, high))) = (got.kappa.value, got.kappa.ci95) {
                prop_assert!(-1.0 <= low && low <= value && value <= high && high <= 1.0);
            }
        }
    }
}
