//! The campaign for programs: `campaign` in the JSON of a report.

use serde_json::{Map, Value, json};

use super::super::view::RunView;
use super::unintrusive;
use super::{
    Arm, Cell, Contrast, METHODS, arms, contrasts, domains, is_completed, latency, rubric,
};
use crate::metrics::{Tally, Toll};
use crate::report::view::TrialView;

/// Returns the section for programs; none where the run has no pairs.
pub(in crate::report) fn value(view: &RunView) -> Option<Value> {
    let arms = arms(view);
    let contrasts = contrasts(&arms);
    if contrasts.is_empty() {
        return None;
    }
    let arms: Vec<Value> = arms.iter().map(|arm| of_arm(arm, &contrasts)).collect();
    Some(json!({ "arms": arms, "methods": METHODS }))
}

fn of_arm(arm: &Arm<'_>, contrasts: &[Contrast<'_>]) -> Value {
    let cell = |cell: &Cell<'_>| {
        let own = contrasts.iter().find(|one| one.cell.condition == cell.condition);
        of_cell(cell, own)
    };
    json!({
        "name": arm.name,
        "agent": arm.agent,
        "model": arm.model,
        "base": arm.base().map(|base| base.faults),
        "conditions": arm.cells.iter().map(cell).collect::<Vec<_>>(),
        "null_against_off": unintrusive::of(arm),
    })
}

fn of_cell(cell: &Cell<'_>, against: Option<&Contrast<'_>>) -> Value {
    let tally: Tally = cell.trials.iter().map(|trial| trial.state()).collect();
    let completed = |trial: &&&TrialView| trial.state().is_judged() && is_completed(trial);
    json!({
        "condition": cell.condition,
        "faults": cell.faults,
        "trials": tally,
        "completed": cell.trials.iter().filter(completed).count(),
        "latency": latency::of(cell),
        "against_base": against.map(of_contrast),
    })
}

fn of_contrast(one: &Contrast<'_>) -> Value {
    let mut value = toll(&one.toll);
    let by_domain: Map<String, Value> = domains::of(one)
        .iter()
        .map(|domain| (domain.name.to_owned(), toll(&domain.toll)))
        .collect();
    value["both"] = json!(one.pairs.both);
    value["only_without"] = json!(one.pairs.only_first);
    value["only_with"] = json!(one.pairs.only_second);
    value["neither"] = json!(one.pairs.neither);
    value["left_out"] = json!(one.left_out);
    value["p_holm"] = json!(one.holm);
    value["effect"] = json!(one.toll.test.and_then(|test| test.effect()));
    value["added_on_clock_ms"] = json!(latency::added_on_clock(one));
    value["by_domain"] = Value::Object(by_domain);
    let rubric: Map<String, Value> =
        rubric::tolls(one).iter().map(|(name, one)| ((*name).to_owned(), toll(one))).collect();
    if !rubric.is_empty() {
        value["rubric"] = Value::Object(rubric);
    }
    value
}

fn toll(toll: &Toll) -> Value {
    // Numbers and nulls serialise into a value in any case.
    serde_json::to_value(toll).unwrap_or(Value::Null)
}
