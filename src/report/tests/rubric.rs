//! Scores of a rubric judge against means made by hand.

use wildgym_tasks::Scenario;

use super::run::{run, trial};
use crate::report::layout::Page;
use crate::report::rubric::{json, section};
use crate::report::{Grouping, RunView, TrialView};
use crate::verdict::{Rubric, Scores, Verdict};

fn rated(task: &str, k: u32, domain: &str, rubric: Option<Rubric>) -> TrialView {
    let mut trial = trial(task, Scenario::Resilience, k, Verdict::Fail);
    domain.clone_into(&mut trial.task.domain);
    trial.rubric = rubric;
    trial
}

fn given(score: f64) -> Option<Rubric> {
    Rubric::of(&[Scores::each(|_| score)])
}

fn four() -> RunView {
    run(
        2,
        vec![
            rated("a", 1, "travel", given(8.0)),
            rated("a", 2, "travel", Some(Rubric::default())),
            rated("b", 1, "culture", given(1.0)),
            rated("c", 1, "culture", None),
        ],
    )
}

#[test]
fn tasks_count_alike_and_trials_without_scores_not_at_all() {
    let json = json(&four(), &[]);
    let overall = &json["overall"];
    assert_eq!((&overall["trials"], &overall["completed"]), (&3.into(), &2.into()), "{overall}");
    let value = |of: &str, name: &str| overall[of][name]["value"].as_f64();
    assert_eq!(value("scores", "task_completion_score"), Some(2.5), "of 4 and 1");
    assert_eq!(value("completed_only", "grounding"), Some(4.5), "of 8 and 1");
    assert_eq!(value("scores", "grounded_fulfillment"), Some(2.0), "1 is not grounded: 4 and 0");
    assert_eq!(json["by_domain"]["culture"]["trials"], 1);
    assert!(json["by_condition"].is_object(), "{json}");
}

#[test]
fn the_table_names_groups_and_what_answered_alone() {
    let page = Page::new(200, false);
    let table = section(&four(), &[Grouping::Domain], page);
    for want in ["domain culture", "domain travel", "overall", "answered alone", "grounded"] {
        assert!(table.contains(want), "{want}:\n{table}");
    }
    let none = run(1, vec![rated("a", 1, "travel", None)]);
    assert_eq!(section(&none, &[], page), "", "other judges say nothing of it");
    assert!(json(&none, &[]).is_null());
}
