//! How agents acted in worlds: what was decided about their calls, by tier, type and number
//! of tools, or by what is asked for.
//!
//! Shares are of all calls of a group, not means of shares. The composite is a mean over
//! trials. How long a way was is measured where it led to the goal: of trials whose actions
//! were right (`pass` and `degraded`), for one that gave up early is not efficient. Trials of
//! other tasks, and verdicts of versions that did not look at calls, are left out.

use std::collections::BTreeMap;

use serde_json::{Map, Value, json};
use wildgym_tasks::scenario_file::Flaw;

use super::figures::{counted, number};
use super::groups::{Grouping, grouped};
use super::layout::Page;
use super::sanitize::one_line;
use super::view::{RunView, TrialView};
use crate::metrics::State;
use crate::verdict::{Parameters, Recovery, Share};

/// The five failure modes that have names of their own.
const MODES: [Flaw; 5] = [
    Flaw::HallucinatedId,
    Flaw::SilentSuccess,
    Flaw::EagerGuess,
    Flaw::NearMiss,
    Flaw::ParameterDrift,
];

/// Trials of one group, added up.
#[derive(Debug, Default)]
struct Sum {
    trials: u64,
    passed: u64,
    degraded: u64,
    selection: Share,
    parameters: Parameters,
    /// Calls of trials whose actions were right, and the calls of the shortest known ways,
    /// each at most as many as were made.
    path: Share,
    /// Calls of the same trials beyond the shortest known way.
    extra: u64,
    steps: Share,
    violations: u64,
    redundant: u64,
    asked: u64,
    composite: f64,
    recoveries: BTreeMap<Recovery, u64>,
    flaws: BTreeMap<Flaw, u64>,
    compensated: Share,
}

impl Sum {
    fn of(trials: &[&TrialView]) -> Self {
        let mut sum = Self::default();
        let all = trials.iter().filter_map(|one| Some((one.state(), one.conduct.as_ref()?)));
        for (state, conduct) in all {
            let (passed, degraded) = (state == State::Pass, state == State::Degraded);
            sum.trials += 1;
            sum.passed += u64::from(passed);
            sum.degraded += u64::from(degraded);
            sum.selection.add(conduct.selection);
            sum.parameters.add(conduct.parameters);
            if passed || degraded {
                sum.path.add(shortest(conduct.optimum, conduct.calls));
                sum.extra += u64::from(conduct.calls.saturating_sub(conduct.optimum));
            }
            sum.steps.add(shortest(conduct.optimal_steps, conduct.steps));
            sum.violations += u64::from(conduct.violations);
            sum.redundant += u64::from(conduct.redundant);
            sum.asked += u64::from(conduct.asked);
            sum.composite += conduct.composite(passed);
            if let Some(recovery) = conduct.recovery {
                *sum.recoveries.entry(recovery).or_default() += 1;
            }
            for flaw in &conduct.flaws {
                *sum.flaws.entry(*flaw).or_default() += 1;
            }
            if let Some(undone) = conduct.compensated {
                sum.compensated.add(Share { right: u32::from(undone), of: 1 });
            }
        }
        sum
    }

    #[expect(clippy::cast_precision_loss, reason = "no run has so many trials")]
    fn mean(&self, sum: f64) -> Option<f64> {
        (self.trials > 0).then(|| sum / self.trials as f64)
    }

    fn row(&self, name: &str) -> Vec<String> {
        vec![
            name.to_owned(),
            number(self.trials),
            format!("{}/{}", self.passed, self.trials),
            number(self.degraded),
            percent(self.selection.value()),
            percent(self.parameters.share().value()),
            percent(self.path.value()),
            number(self.violations),
            number(self.redundant),
            self.mean(self.composite).map_or_else(|| "–".to_owned(), |mean| format!("{mean:.2}")),
        ]
    }

    /// Returns what else is told of all trials together: a name and its parts.
    fn entries(&self) -> [(&'static str, Vec<String>); 5] {
        let modes = MODES.iter().filter_map(|flaw| {
            let count = self.flaws.get(flaw)?;
            Some(format!("{} {}", flaw.name(), number(*count)))
        });
        let recovered = Recovery::ALL.iter().filter_map(|one| {
            let count = self.recoveries.get(one)?;
            Some(format!("{} {}", one.name(), number(*count)))
        });
        let extra = (self.path.of > 0)
            .then(|| format!("{} beyond the shortest known way", counted(self.extra, "call")));
        let undone = self.compensated;
        let undone = (undone.of > 0).then(|| {
            let of = counted(u64::from(undone.of), "trial");
            format!("what had been done in {} of {of} with a step that failed", undone.right)
        });
        [
            ("modes", modes.collect()),
            ("recovery", recovered.collect()),
            ("undone", undone.into_iter().collect()),
            ("arguments", classes(self.parameters)),
            ("extra", extra.into_iter().collect()),
        ]
    }

    fn json(&self) -> Value {
        let named = |all: &BTreeMap<Recovery, u64>| -> Map<String, Value> {
            all.iter().map(|(recovery, count)| (recovery.name().to_owned(), json!(count))).collect()
        };
        let flaws: Map<String, Value> =
            self.flaws.iter().map(|(flaw, count)| (flaw.name().to_owned(), json!(count))).collect();
        json!({
            "trials": self.trials,
            "passed": self.passed,
            "degraded": self.degraded,
            "selection_accuracy": self.selection.value(),
            "parameter_accuracy": self.parameters.share().value(),
            "parameters": self.parameters,
            "path_efficiency": self.path.value(),
            "extra_calls": self.extra,
            "step_efficiency": self.steps.value(),
            "dependency_violations": self.violations,
            "redundant_calls": self.redundant,
            "questions": self.asked,
            "composite": self.mean(self.composite),
            "recovery": named(&self.recoveries),
            "compensated": self.compensated.value(),
            "flaws": flaws,
        })
    }
}

/// Returns the share of calls that the shortest way would have needed too.
fn shortest(optimum: u32, made: u32) -> Share {
    if optimum == 0 { Share::default() } else { Share { right: optimum.min(made), of: made } }
}

fn percent(value: Option<f64>) -> String {
    value.map_or_else(|| "–".to_owned(), |value| format!("{:.1}", value * 100.0))
}

/// Trials whose calls were looked at.
fn known(view: &RunView) -> Vec<&TrialView> {
    let is_known = |trial: &&TrialView| trial.conduct.is_some() && trial.state().is_judged();
    view.trials.iter().filter(is_known).collect()
}

/// Returns the section on how agents acted, by tier, type and number of tools where nothing
/// else is asked for; empty where no task says what is expected.
pub(super) fn section(view: &RunView, by: &[Grouping], page: Page) -> String {
    let known = known(view);
    if known.is_empty() {
        return String::new();
    }
    let header = [
        "calls",
        "trials",
        "passed",
        "degraded",
        "selection %",
        "parameters %",
        "path %",
        "violations",
        "redundant",
        "composite",
    ];
    let mut rows = vec![header.map(str::to_owned).to_vec()];
    rows[0][0] = page.bold("calls");
    // Where the number of tools is varied, a section of its own is about it.
    let varied = known.iter().any(|trial| trial.offering.distractors.is_some());
    let usual = Grouping::OF_CALLS.iter().filter(|it| !varied || **it != Grouping::Tools);
    let usual: Vec<Grouping> = usual.copied().collect();
    for by in if by.is_empty() { &usual } else { by } {
        for group in grouped(&known, *by) {
            let name = format!("{} {}", by.name(), one_line(&group.name, 60));
            rows.push(Sum::of(&group.trials).row(&name));
        }
    }
    let all = Sum::of(&known);
    rows.push(all.row("overall"));
    let mut out = format!("\n{}\n", page.table(&rows).join("\n"));
    out.push_str(&page.note(
        "selection: expected calls whose tool was called; path: calls of the shortest known way, \
         of those made where the actions were right; composite: 0.4 success + 0.3 step efficiency \
         + 0.2 kept dependencies + 0.1 robustness",
    ));
    for (name, parts) in all.entries() {
        if !parts.is_empty() {
            out.push_str(&page.entry(name, &parts));
        }
    }
    out
}

fn classes(parameters: Parameters) -> Vec<String> {
    let all = [
        (parameters.missing, "missing"),
        (parameters.wrong_type, "of a wrong type"),
        (parameters.bad_enum, "none of the choices"),
        (parameters.unknown, "unknown"),
        (parameters.other, "otherwise unfit"),
        (parameters.wrong_value, "of a wrong value"),
    ];
    let all = all.into_iter().filter(|(count, _)| *count > 0);
    all.map(|(count, what)| format!("{} {what}", counted(u64::from(count), "call"))).collect()
}

/// Returns the same for programs, by tier, type and number of tools and by what is asked for;
/// `null` where no task says what is expected.
pub(super) fn json(view: &RunView, by: &[Grouping]) -> Value {
    let known = known(view);
    if known.is_empty() {
        return Value::Null;
    }
    let mut all = Map::new();
    all.insert("overall".to_owned(), Sum::of(&known).json());
    for by in Grouping::OF_CALLS.iter().chain(by) {
        let groups = grouped(&known, *by).into_iter();
        let groups = groups.map(|group| (group.name, Sum::of(&group.trials).json()));
        all.insert(format!("by_{}", by.name()), Value::Object(groups.collect()));
    }
    Value::Object(all)
}
