//! How agents acted in worlds: what was decided about their calls, by tier, type and number
//! of tools.
//!
//! Shares are of all calls of a group, not means of shares. The composite is a mean over
//! trials. Trials of other tasks, and verdicts of versions that did not look at calls, are
//! left out.

use std::collections::BTreeMap;

use serde_json::{Map, Value, json};
use wildgym_tasks::scenario_file::Flaw;

use super::figures::{counted, number};
use super::layout::Page;
use super::view::{RunView, TrialView};
use crate::metrics::State;
use crate::verdict::{Conduct, Parameters, Recovery, Share};

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
    /// Calls of trials with a known shortest way, and the calls of those ways, each at most
    /// as many as were made.
    path: Share,
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
    fn of<'a>(trials: impl IntoIterator<Item = (&'a TrialView, &'a Conduct)>) -> Self {
        let mut sum = Self::default();
        for (trial, conduct) in trials {
            let passed = trial.state() == State::Pass;
            sum.trials += 1;
            sum.passed += u64::from(passed);
            sum.degraded += u64::from(trial.state() == State::Degraded);
            sum.selection.add(conduct.selection);
            sum.parameters.add(conduct.parameters);
            sum.path.add(shortest(conduct.optimum, conduct.calls));
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

/// Trials with what is known of their calls, by the name of their group.
type Groups<'a> = BTreeMap<String, Vec<(&'a TrialView, &'a Conduct)>>;

/// Trials whose calls were looked at.
fn known(view: &RunView) -> Vec<(&TrialView, &Conduct)> {
    let of = |trial| -> Option<(&TrialView, &Conduct)> {
        let trial: &TrialView = trial;
        Some((trial, trial.conduct.as_ref().filter(|_| trial.state().is_judged())?))
    };
    view.trials.iter().filter_map(of).collect()
}

/// Groups trials by tier, type and number of tools; each grouping by its name.
fn groups<'a>(known: &[(&'a TrialView, &'a Conduct)]) -> Vec<(&'static str, Groups<'a>)> {
    let by = |key: &dyn Fn(&TrialView, &Conduct) -> Option<String>| {
        let mut groups = Groups::new();
        for (trial, conduct) in known {
            if let Some(name) = key(trial, conduct) {
                groups.entry(name).or_default().push((*trial, *conduct));
            }
        }
        groups
    };
    vec![
        ("tier", by(&|trial, _| trial.task.tier.map(|tier| tier.to_string()))),
        ("type", by(&|trial, _| trial.task.kind.map(|kind| kind.name().to_owned()))),
        // Where the number is varied, a section of its own is about it.
        (
            "tools",
            by(&|trial, conduct| {
                let varied = trial.offering.distractors.is_some();
                (!varied).then(|| format!("{:03}", conduct.tools))
            }),
        ),
    ]
}

/// Returns the section on how agents acted; empty where no task says what is expected.
pub(super) fn section(view: &RunView, page: Page) -> String {
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
    for (name, groups) in groups(&known) {
        for (group, trials) in &groups {
            let group = group.trim_start_matches('0');
            rows.push(Sum::of(trials.iter().copied()).row(&format!("{name} {group}")));
        }
    }
    let all = Sum::of(known.iter().copied());
    rows.push(all.row("overall"));
    let mut out = format!("\n{}\n", page.table(&rows).join("\n"));
    out.push_str(&page.note(
        "path: calls of the shortest known way, of all calls made; composite: 0.4 success + 0.3 \
         step efficiency + 0.2 kept dependencies + 0.1 robustness",
    ));
    let modes: Vec<String> = MODES
        .iter()
        .filter_map(|flaw| Some(format!("{} {}", flaw.name(), all.flaws.get(flaw)?)))
        .collect();
    let recovered: Vec<String> = Recovery::ALL
        .iter()
        .filter_map(|one| Some(format!("{} {}", one.name(), all.recoveries.get(one)?)))
        .collect();
    for (name, parts) in
        [("modes", modes), ("recovery", recovered), ("arguments", classes(all.parameters))]
    {
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

/// Returns the same for programs; `null` where no task says what is expected.
pub(super) fn json(view: &RunView) -> Value {
    let known = known(view);
    if known.is_empty() {
        return Value::Null;
    }
    let mut all = Map::new();
    all.insert("overall".to_owned(), Sum::of(known.iter().copied()).json());
    for (name, groups) in groups(&known) {
        let groups = groups.iter().map(|(group, trials)| {
            let group = group.trim_start_matches('0').to_owned();
            (group, Sum::of(trials.iter().copied()).json())
        });
        all.insert(format!("by_{name}"), Value::Object(groups.collect()));
    }
    Value::Object(all)
}
