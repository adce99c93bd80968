//! The campaign as CSV: a line for each condition and domain, or for each trial.
//!
//! Everything in the tables follows from the trials alone. What a field means stands beside its
//! namesake in the metrics; fractions lie in 0 to 1, times are in milliseconds, what cannot be
//! told is empty.

use super::super::view::{RunView, TrialView};
use super::{Arm, Cell, Contrast, arms, contrasts, domains, is_completed, latency};
use crate::metrics::resilience::{Reaction, Resilience, Tried};
use crate::metrics::{State, Toll};
use crate::verdict::Scores;

/// Returns a line for each condition of each arm, over all domains and in each; none where the
/// run has no pairs.
#[must_use]
pub fn cells(view: &RunView) -> Option<String> {
    let arms = arms(view);
    let contrasts = contrasts(&arms);
    if contrasts.is_empty() {
        return None;
    }
    let mut rows = vec![CELL_FIELDS.map(str::to_owned).to_vec()];
    for (arm, cell) in arms.iter().flat_map(|arm| arm.cells.iter().map(move |cell| (arm, cell))) {
        let own = contrasts.iter().find(|one| one.cell.condition == cell.condition);
        rows.push(line(arm, cell, "", own, own.map(|one| &one.toll)));
        for domain in own.map(domains::of).unwrap_or_default() {
            rows.push(line(arm, cell, domain.name, own, Some(&domain.toll)));
        }
    }
    Some(written(&rows))
}

/// The fields of a condition.
const CELL_FIELDS: [&str; 38] = [
    "arm",
    "agent",
    "model",
    "faults",
    "domain",
    "trials",
    "judged",
    "passed",
    "completed",
    "tasks",
    "pairs",
    "score_without",
    "score_with",
    "drop",
    "drop_low",
    "drop_high",
    "p",
    "p_holm",
    "resilience",
    "resilience_low",
    "resilience_high",
    "completion_without",
    "completion_with",
    "completed_pairs",
    "completed_score_without",
    "completed_score_with",
    "completed_drop",
    "end_to_end_ms",
    "agent_ms",
    "evaluation_ms",
    "added_on_clock_ms",
    "faulted_calls",
    "zero_dose_trials",
    "retried",
    "corrected",
    "switched",
    "fell_back",
    "fabricated_trials",
];

/// Writes a condition, in one domain or in all.
fn line(
    arm: &Arm<'_>,
    cell: &Cell<'_>,
    domain: &str,
    against: Option<&Contrast<'_>>,
    toll: Option<&Toll>,
) -> Vec<String> {
    let trials = || {
        let own = |trial: &&&TrialView| domain.is_empty() || trial.task.domain == domain;
        cell.trials.iter().filter(own)
    };
    let count =
        |wanted: fn(&TrialView) -> bool| trials().filter(|trial| wanted(trial)).count().to_string();
    let whole = against.filter(|_| domain.is_empty());
    let times = domain.is_empty().then(|| latency::of(cell));
    let met = Resilience::of(trials().filter_map(|trial| trial.tried()));
    let figure = |of: fn(&Toll) -> Option<f64>| optional(toll.and_then(of));
    let size = |of: fn(&Toll) -> usize| toll.map(|toll| of(toll).to_string()).unwrap_or_default();
    let mut line = vec![
        arm.name.to_owned(),
        arm.agent.to_owned(),
        arm.model.unwrap_or_default().to_owned(),
        cell.faults.to_owned(),
        domain.to_owned(),
        trials().count().to_string(),
        count(|trial| trial.state().is_judged()),
        count(|trial| trial.state() == State::Pass),
        count(|trial| trial.state().is_judged() && is_completed(trial)),
        size(|toll| toll.tasks),
        size(|toll| toll.pairs),
        figure(|toll| toll.score.fault_free),
        figure(|toll| toll.score.faulted),
        figure(|toll| toll.score.drop.value),
        figure(|toll| toll.score.drop.ci95.map(|ends| ends.0)),
        figure(|toll| toll.score.drop.ci95.map(|ends| ends.1)),
        figure(|toll| toll.test.map(|test| test.p)),
        optional(whole.and_then(|one| one.holm)),
        figure(|toll| toll.resilience.value),
        figure(|toll| toll.resilience.ci95.map(|ends| ends.0)),
        figure(|toll| toll.resilience.ci95.map(|ends| ends.1)),
        figure(|toll| toll.completion.fault_free),
        figure(|toll| toll.completion.faulted),
        size(|toll| toll.completed_pairs),
        figure(|toll| toll.completed.fault_free),
        figure(|toll| toll.completed.faulted),
        figure(|toll| toll.completed.drop.value),
        optional(times.as_ref().and_then(|times| times.end_to_end.mean_ms)),
        optional(times.as_ref().and_then(|times| times.agent.mean_ms)),
        optional(times.as_ref().and_then(|times| times.evaluation.mean_ms)),
        optional(whole.and_then(latency::added_on_clock)),
        met.dose.to_string(),
        met.zero_dose.to_string(),
    ];
    line.extend(Reaction::ALL.map(|reaction| met.reactions.of(reaction).to_string()));
    line.push(met.fabricated.to_string());
    line
}

/// Returns a line for each trial; none where the run has no pairs.
#[must_use]
pub fn trials(view: &RunView) -> Option<String> {
    let arms = arms(view);
    if arms.is_empty() {
        return None;
    }
    let fields = TRIAL_FIELDS.iter().chain(&Scores::NAMES);
    let mut rows = vec![fields.map(|&name| name.to_owned()).collect()];
    for arm in &arms {
        for cell in &arm.cells {
            rows.extend(cell.trials.iter().map(|trial| trial_line(arm, cell, trial)));
        }
    }
    Some(written(&rows))
}

/// The fields of a trial, before the scores of a rubric judge (0 to 10, empty without one).
/// `passed` is empty where it has no verdict.
const TRIAL_FIELDS: [&str; 29] = [
    "arm",
    "agent",
    "model",
    "faults",
    "task",
    "domain",
    "variant",
    "k",
    "state",
    "outcome",
    "passed",
    "completed",
    "rounds",
    "calls",
    "input_tokens",
    "output_tokens",
    "working_ms",
    "model_ms",
    "tools_ms",
    "judging_ms",
    "class",
    "dose",
    "failed_by_fault",
    "retried",
    "corrected",
    "switched",
    "fell_back",
    "longest_loop",
    "fabricated",
];

fn trial_line(arm: &Arm<'_>, cell: &Cell<'_>, trial: &TrialView) -> Vec<String> {
    let state = trial.state();
    let last = trial.attempts.last();
    let flag = |value: bool| u8::from(value).to_string();
    let judged = |value: bool| if state.is_judged() { flag(value) } else { String::new() };
    let mut line = vec![
        arm.name.to_owned(),
        arm.agent.to_owned(),
        arm.model.unwrap_or_default().to_owned(),
        cell.faults.to_owned(),
        trial.id.task.clone(),
        trial.task.domain.clone(),
        trial.id.variant.to_string(),
        trial.id.k.to_string(),
        state.name().to_owned(),
        last.map(|last| last.outcome.to_string()).unwrap_or_default(),
        judged(state == State::Pass),
        judged(is_completed(trial)),
    ];
    let numbers = last.filter(|last| last.closed).map(|last| {
        [
            u64::from(last.rounds),
            u64::from(last.calls),
            last.usage.input,
            last.usage.output,
            last.working_ms,
            last.model_ms,
            last.tools_ms,
        ]
    });
    line.extend(match numbers {
        Some(numbers) => numbers.map(|number| number.to_string()),
        None => [const { String::new() }; 7],
    });
    line.push(trial.judging.took_ms.to_string());
    line.push(trial.class().map(|class| class.name().to_owned()).unwrap_or_default());
    line.extend(match trial.tried() {
        Some(Tried { met, fabricated, .. }) => {
            let [retried, corrected, switched, fell_back] =
                Reaction::ALL.map(|reaction| met.reactions.of(reaction));
            [
                met.dose,
                met.failed,
                retried,
                corrected,
                switched,
                fell_back,
                met.longest_loop,
                fabricated.into(),
            ]
            .map(|number: u32| number.to_string())
        }
        None => [const { String::new() }; 8],
    });
    let rubric = trial.rubric.map(|rubric| rubric.all());
    line.extend((0..Scores::NAMES.len()).map(|at| optional(rubric.map(|scores| scores[at]))));
    line
}

fn optional(value: Option<f64>) -> String {
    // Without an exponent, and without digits that mean nothing.
    value.map(|value| format!("{:.6}", value + 0.0)).unwrap_or_default()
}

/// Writes rows as CSV.
fn written(rows: &[Vec<String>]) -> String {
    let mut writer = csv::Writer::from_writer(Vec::new());
    // A vector takes every byte, and all rows of a table have as many fields.
    let done = rows.iter().try_for_each(|row| writer.write_record(row));
    let bytes = done.ok().and_then(|()| writer.into_inner().ok());
    bytes.and_then(|bytes| String::from_utf8(bytes).ok()).unwrap_or_default()
}
