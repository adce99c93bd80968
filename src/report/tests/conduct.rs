//! Figures on calls against sums made by hand.

use std::collections::BTreeSet;

use serde_json::json;
use wildgym_tasks::Scenario;
use wildgym_tasks::scenario_file::{Flaw, ScenarioType};

use super::run::{run, trial};
use crate::report::conduct::{json, section};
use crate::report::layout::Page;
use crate::report::{Grouping, ReportOptions, RunView, TrialView, terminal};
use crate::verdict::{Conduct, Parameters, Recovery, Share, Verdict};

fn acted(
    (task, tier, kind): (&str, u8, ScenarioType),
    verdict: Verdict,
    conduct: Conduct,
) -> TrialView {
    let mut trial = trial(task, Scenario::Operations, 1, verdict);
    trial.task.tier = Some(tier);
    trial.task.kind = Some(kind);
    trial.conduct = Some(conduct);
    trial
}

/// Three trials whose figures are easily added up.
fn three() -> RunView {
    let neat = Conduct {
        calls: 2,
        optimum: 2,
        tools: 43,
        selection: Share { right: 2, of: 2 },
        parameters: Parameters { right: 2, ..Parameters::default() },
        steps: 1,
        optimal_steps: 1,
        robust: true,
        compensated: Some(true),
        ..Conduct::default()
    };
    let winding = Conduct {
        calls: 6,
        optimum: 3,
        tools: 43,
        selection: Share { right: 3, of: 3 },
        parameters: Parameters { right: 4, missing: 1, bad_enum: 1, ..Parameters::default() },
        recovery: Some(Recovery::Corrected),
        violations: 1,
        redundant: 2,
        steps: 4,
        optimal_steps: 2,
        robust: true,
        ..Conduct::default()
    };
    let early = Conduct {
        flaws: BTreeSet::from([Flaw::MissingCall, Flaw::SilentSuccess]),
        calls: 1,
        optimum: 4,
        tools: 9,
        selection: Share { right: 1, of: 4 },
        parameters: Parameters { wrong_value: 1, ..Parameters::default() },
        recovery: Some(Recovery::Fabricated),
        steps: 0,
        optimal_steps: 2,
        robust: false,
        compensated: Some(false),
        ..Conduct::default()
    };
    run(
        1,
        vec![
            acted(("t1-001", 1, ScenarioType::SingleCall), Verdict::Pass, neat),
            acted(("t2-001", 2, ScenarioType::MultiStep), Verdict::Degraded, winding),
            acted(("t2-002", 2, ScenarioType::ErrorRecovery), Verdict::Fail, early),
        ],
    )
}

#[test]
fn figures_are_those_of_a_sum_by_hand() {
    let all = json(&three(), &[]);
    let near = |value: &serde_json::Value, want: f64, what: &str| {
        let value = value.as_f64().unwrap_or(f64::NAN);
        assert!((value - want).abs() < 1e-9, "{what}: {value} is not {want}");
    };
    let overall = &all["overall"];
    near(&overall["selection_accuracy"], 6.0 / 9.0, "expected calls whose tool was called");
    near(&overall["parameter_accuracy"], 6.0 / 9.0, "calls with right arguments");
    // The one that gave up after one call of four is no example of a short way.
    near(&overall["path_efficiency"], 5.0 / 8.0, "2 + 3 calls would have done, 2 + 6 were made");
    assert_eq!(overall["extra_calls"], 3);
    near(&overall["step_efficiency"], 3.0 / 5.0, "1 + 2 + 0 of 1 + 4 + 0");
    // 1.0; 0 + 0.3/2 + 0.2·0.8 + 0.1; 0 + 0 + 0.2 + 0.
    near(&overall["composite"], (1.0 + 0.41 + 0.2) / 3.0, "mean of the composites");
    near(&overall["compensated"], 0.5, "one of two was undone");
    let counts = json!({"right": 6, "missing": 1, "wrong_type": 0, "bad_enum": 1, "unknown": 0,
        "other": 0, "wrong_value": 1});
    assert_eq!(overall["parameters"], counts);
    assert_eq!(overall["recovery"], json!({"fabricated": 1, "corrected": 1}));
    assert_eq!(overall["flaws"], json!({"missing-call": 1, "silent-success": 1}));
    let figures = ["dependency_violations", "redundant_calls", "degraded", "passed"];
    assert_eq!(figures.map(|name| overall[name].as_u64()), [1, 2, 1, 1].map(Some));
    let trials = |by: &str, group: &str| all[by][group]["trials"].as_u64();
    assert_eq!(trials("by_tier", "2"), Some(2));
    assert_eq!(trials("by_type", "single_call"), Some(1));
    assert_eq!((trials("by_tools", "9"), trials("by_tools", "43")), (Some(1), Some(2)));
}

#[test]
fn rows_are_by_what_is_asked_for() {
    let view = three();
    let page = Page::new(usize::MAX, false);
    let usual = section(&view, &[], page);
    let rows = ["tier 1", "tier 2", "type error_recovery", "tools 9", "tools 43", "overall"];
    for row in rows {
        assert!(usual.lines().any(|line| line.starts_with(row)), "{row}: {usual}");
    }
    assert!(usual.contains("modes     silent-success 1"), "{usual}");
    let told = "what had been done in 1 of 2 trials with a step that failed";
    assert!(usual.contains(told), "{usual}");
    let asked = section(&view, &[Grouping::Condition], page);
    assert!(asked.contains("condition base") && !asked.contains("tier 1"), "{asked}");
    let by = vec![Grouping::Tier, Grouping::Type, Grouping::Tools];
    let whole = terminal(&view, &ReportOptions { by, ..ReportOptions::default() }, 120, false);
    let scores = whole.split("overall").next().unwrap_or_default();
    for row in ["tier 1", "tier 2", "type multi_step", "tools 9", "tools 43"] {
        assert!(scores.contains(row), "{row} has a score: {whole}");
    }
    assert!(scores.find("tools 9") < scores.find("tools 43"), "numbers in their order: {whole}");
    assert_eq!(section(&run(1, Vec::new()), &[], page), "");
}
