//! The report for programs: `--json`.
//!
//! The keys `run`, `trials` and `scores` are a promise; others may be added. Fractions
//! lie in `0..=1`, times are in milliseconds, and what cannot be estimated is `null`.

use serde_json::{Map, Value, json};

use super::groups::Grouping;
use super::view::{Episodes, Had, RunView};
use super::{
    ReportOptions, ablation, campaign, conduct, curves, resilience, rubric, stages, usage,
};
use crate::metrics::{METHOD, Scores};

/// What a score is where tasks were tried in several variants.
const POOLED: &str = "a task is the mean over its variants in `overall`, in what had been, and in \
    all groups but `by_variant` and `by_factor`; `by_variant.full` is the suite as it is";

/// Returns the report of a run.
#[must_use]
pub fn json(view: &RunView, options: &ReportOptions) -> Value {
    let label = &view.label;
    let tally = view.tally();
    let (milestones, discovery) = stages::json(view);
    let prices = options.prices.as_ref();
    let mut report = json!({
        "run": label.run,
        "trials": tally,
        "scores": scores(view, options),
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
            "judge_note": view.judge_line(),
            "k": label.k,
            "seed": label.seed,
            "web": label.web,
            "planned": tally.total(),
            "pending": tally.pending,
            "running": view.running,
            "attempts_by_outcome": view.outcomes(),
            "had_lost_been_fails": had(view, Had::LostFailed),
            "had_unjudged_been_fails": had(view, Had::UnjudgedFailed),
            "had_unjudged_been_passes": had(view, Had::UnjudgedPassed),
            "intervals": METHOD,
            "factors": "tasks that have the factor, in their full variant where they were tried in it",
            "damaged": view.damaged,
        },
        "milestones": milestones,
        "discovery": discovery,
        "usage": usage::json(view, prices),
        "points": usage::points(view, prices),
    });
    if !label.faults.is_empty() {
        report["label"]["faults"] = json!(label.faults);
    }
    if let Some(digest) = &label.cassette {
        report["label"]["models_replayed"] = json!(digest);
    }
    if !label.tool_models.is_empty() {
        report["label"]["tool_models"] = json!(label.tool_models);
    }
    if !label.user_models.is_empty() {
        report["label"]["user_models"] = json!(label.user_models);
    }
    if label.uncontained {
        report["label"]["uncontained"] = json!(true);
    }
    if let Some(Episodes { kept, counted, forgotten }) = label.episodes {
        report["label"]["episodes"] =
            json!({ "kept": kept, "counted": counted, "forgotten": forgotten });
    }
    if !label.web_notes.is_empty() {
        report["label"]["web_notes"] = json!(label.web_notes);
    }
    if !label.servers.is_empty() {
        report["label"]["servers"] = json!(label.servers);
    }
    if let Some(misses) = label.web_misses {
        report["label"]["web_misses"] = json!(misses);
    }
    if view.mixes_variants() {
        report["label"]["several_variants"] = json!(POOLED);
    }
    sections(view, options, &mut report);
    report
}

/// Adds what only some runs have something to say on.
fn sections(view: &RunView, options: &ReportOptions, report: &mut Value) {
    let calls = conduct::json(view, &options.by);
    if !calls.is_null() {
        report["conduct"] = calls;
    }
    let faults = resilience::json(view, &options.by);
    if !faults.is_null() {
        report["resilience"] = faults;
    }
    let rated = rubric::json(view, &options.by);
    if !rated.is_null() {
        report["rubric"] = rated;
    }
    if let Some(ablation) = ablation::value(view) {
        report["ablation"] = ablation;
    }
    if let Some(campaign) = campaign::value(view) {
        report["campaign"] = campaign;
    }
    if let Some(curves) = curves::value(view) {
        report["offered_tools"] = curves;
    }
}

/// Returns the scores overall and by group. Groupings of which there is only one group
/// are left out, save the scenario, the variant, the factors, and what was asked for.
fn scores(view: &RunView, options: &ReportOptions) -> Value {
    let mut all = Map::new();
    all.insert("overall".to_owned(), value(&view.scores(|_| true)));
    for by in Grouping::ALL {
        let groups = view.grouped(by);
        let always = match by {
            Grouping::Scenario | Grouping::Variant | Grouping::Factor => true,
            Grouping::Condition
            | Grouping::Offering(_)
            | Grouping::Subset
            | Grouping::Domain
            | Grouping::Language
            | Grouping::Tier
            | Grouping::Type
            | Grouping::Tools => options.by.contains(&by),
        };
        if always || groups.len() > 1 {
            let scores =
                groups.into_iter().map(|group| (group.name, value(&view.scores_of(group.trials))));
            all.insert(
                format!("by_{}", by.name().replace('-', "_")),
                Value::Object(scores.collect()),
            );
        }
    }
    Value::Object(all)
}

fn value(scores: &Scores) -> Value {
    // Numbers and nulls serialise into a value in any case.
    serde_json::to_value(scores).unwrap_or(Value::Null)
}

/// Returns the scores overall as they had been, without those for fewer trials.
fn had(view: &RunView, had: Had) -> Value {
    let mut value = value(&view.scores_had(&view.trials, had));
    if let Some(object) = value.as_object_mut() {
        object.remove("by_k");
    }
    value
}
