//! The report for programs: `--json`.
//!
//! The keys `run`, `trials` and `scores` are a promise; others may be added. Fractions
//! lie in `0..=1`, times are in milliseconds, and what cannot be estimated is `null`.

use serde_json::{Map, Value, json};

use super::ablation;
use super::view::{RunView, TrialView};
use crate::metrics::{METHOD, Scores};

/// Returns the report of a run.
#[must_use]
pub fn json(view: &RunView) -> Value {
    let label = &view.label;
    let tally = view.tally();
    let totals = view.totals();
    let mut report = json!({
        "run": label.run,
        "trials": tally,
        "scores": scores(view),
        "label": {
            "suite": {
                "name": label.suite.name,
                "version": label.suite.version,
                "digest": label.suite.digest,
            },
            "variants": label.variants,
            "agent": label.agent,
            "model": label.model,
            "judge": label.judge,
            "judge_note": label.judge_line(),
            "k": label.k,
            "seed": label.seed,
            "web": label.web,
            "planned": tally.total(),
            "pending": tally.pending,
            "running": view.running,
            "attempts_by_outcome": view.outcomes(),
            "had_lost_been_fails": plain(&view.scores_had_lost_failed()),
            "intervals": METHOD,
        },
        "usage": {
            "attempts": totals.attempts,
            "rounds": totals.rounds,
            "calls": totals.calls,
            "tokens": totals.usage,
            "working_ms": totals.working_ms,
        },
    });
    if let Some(ablation) = ablation::value(view) {
        report["ablation"] = ablation;
    }
    report
}

/// Returns the scores overall and by group. Groupings of which there is only one group
/// are left out, save the scenario and the variant.
fn scores(view: &RunView) -> Value {
    let mut all = Map::new();
    all.insert("overall".to_owned(), value(&view.scores(|_| true)));
    let mut group = |name: &str, always: bool, key: &dyn Fn(&TrialView) -> String| {
        let names = view.groups(key);
        if always || names.len() > 1 {
            let scores = names.into_iter().map(|name| {
                let scores = view.scores(|trial| key(trial) == name);
                (name, value(&scores))
            });
            all.insert(name.to_owned(), Value::Object(scores.collect()));
        }
    };
    group("by_scenario", true, &|trial| trial.task.scenario.to_string());
    group("by_condition", false, &|trial| trial.id.condition.clone());
    group("by_variant", true, &|trial| trial.id.variant.to_string());
    group("by_subset", false, &|trial| match &trial.task.subset {
        Some(subset) => format!("{}/{subset}", trial.task.scenario),
        None => trial.task.scenario.to_string(),
    });
    group("by_domain", false, &|trial| trial.task.domain.clone());
    group("by_language", false, &|trial| trial.task.language.name().to_owned());
    Value::Object(all)
}

fn value(scores: &Scores) -> Value {
    // Numbers and nulls serialise into a value in any case.
    serde_json::to_value(scores).unwrap_or(Value::Null)
}

/// Returns the scores without those for fewer trials.
fn plain(scores: &Scores) -> Value {
    let mut value = value(scores);
    if let Some(object) = value.as_object_mut() {
        object.remove("by_k");
    }
    value
}
