//! Why trials failed, for people and for programs: `wildgym annotate RUN`.
//!
//! Shares are of all trials that did not pass, those without an annotation included, so
//! that a model that annotates little cannot make a type look frequent.

use serde_json::{Map, Value, json};
use wildgym_tasks::Scenario;

use super::figures::counted;
use super::layout::Page;
use super::sanitize::one_line;
use crate::record::{Annotation, ErrorType, TrialId};
use crate::verdict::Verdict;

/// Most characters of a passage or a problem in the list.
const SHOWN: usize = 160;

/// The trials of a run that did not pass, and what a model says of them.
#[derive(Debug, Clone, PartialEq)]
pub struct ErrorsView {
    /// The run's directory.
    pub run: String,
    /// The model that annotated.
    pub model: String,
    /// The judge whose verdicts count.
    pub judge: String,
    /// The trials.
    pub trials: Vec<FailedTrial>,
}

/// A trial that did not pass.
#[derive(Debug, Clone, PartialEq)]
pub struct FailedTrial {
    /// Which one.
    pub id: TrialId,
    /// The attempt that counts.
    pub attempt: u32,
    /// The kind of task.
    pub scenario: Scenario,
    /// `fail` or `degraded`.
    pub verdict: Verdict,
    /// What the model says; none where the trial is unannotated.
    pub annotation: Option<Annotation>,
    /// Why there is no annotation, where that is known.
    pub problem: Option<String>,
}

impl ErrorsView {
    /// Returns the number of trials without an annotation.
    #[must_use]
    pub fn unannotated(&self) -> usize {
        self.trials.iter().filter(|trial| trial.annotation.is_none()).count()
    }

    fn scenarios(&self) -> Vec<Scenario> {
        let mut all: Vec<Scenario> = self.trials.iter().map(|trial| trial.scenario).collect();
        all.sort_unstable();
        all.dedup();
        all
    }

    /// Counts trials of a scenario (of all, where none is given) with an error type (with
    /// none).
    fn count(&self, scenario: Option<Scenario>, error: Option<ErrorType>) -> usize {
        let of = |trial: &&FailedTrial| scenario.is_none_or(|wanted| trial.scenario == wanted);
        let kind = |trial: &FailedTrial| trial.annotation.as_ref().map(|it| it.error_type);
        self.trials.iter().filter(of).filter(|trial| kind(trial) == error).count()
    }

    fn total(&self, scenario: Option<Scenario>) -> usize {
        let of = |trial: &&FailedTrial| scenario.is_none_or(|wanted| trial.scenario == wanted);
        self.trials.iter().filter(of).count()
    }
}

/// Returns the shares and the list for a terminal of `width` columns.
#[must_use]
pub fn errors(view: &ErrorsView, width: usize, colour: bool) -> String {
    let page = Page::new(width, colour);
    let title = format!(
        "{} that did not pass · annotated by {}",
        counted(view.trials.len() as u64, "trial"),
        one_line(&view.model, 60)
    );
    let mut out = format!("{}\n{}\n", page.bold(&title), one_line(&view.run, 200));
    if view.trials.is_empty() {
        return out;
    }
    out.push('\n');
    for line in page.table(&shares(view)).into_iter().chain([String::new()]) {
        out.push_str(&line);
        out.push('\n');
    }
    let mut rows = vec![["trial", "error", "evidence"].map(str::to_owned).to_vec()];
    for trial in &view.trials {
        let (error, evidence) = match (&trial.annotation, &trial.problem) {
            (Some(it), _) => (it.error_type.name(), one_line(&it.evidence, SHOWN)),
            (None, Some(problem)) => ("unannotated", one_line(problem, SHOWN)),
            (None, None) => ("unannotated", "not asked yet".to_owned()),
        };
        rows.push(vec![one_line(&trial.id.to_string(), 200), error.to_owned(), evidence]);
    }
    for line in page.rows(&rows) {
        out.push_str(&line);
        out.push('\n');
    }
    out
}

/// The table of counts and percentages: a row an error type, a column a scenario.
fn shares(view: &ErrorsView) -> Vec<Vec<String>> {
    let scenarios = view.scenarios();
    let columns: Vec<Option<Scenario>> = if scenarios.len() > 1 {
        [None].into_iter().chain(scenarios.into_iter().map(Some)).collect()
    } else {
        scenarios.into_iter().map(Some).collect()
    };
    let name = |column: &Option<Scenario>| column.map_or("all", Scenario::name).to_owned();
    let mut rows = vec![[String::new()].into_iter().chain(columns.iter().map(name)).collect()];
    let types = ErrorType::ALL.into_iter().map(Some).chain([None]);
    for error in types.filter(|error| view.count(None, *error) > 0) {
        let title = error.map_or("unannotated", ErrorType::name).to_owned();
        let cell = |column: &Option<Scenario>| {
            let (count, total) = (view.count(*column, error), view.total(*column));
            format!("{count} ({} %)", percent(count, total))
        };
        rows.push([title].into_iter().chain(columns.iter().map(cell)).collect());
    }
    let total = |column: &Option<Scenario>| view.total(*column).to_string();
    rows.push(["trials".to_owned()].into_iter().chain(columns.iter().map(total)).collect());
    rows
}

/// Returns a share in whole percent, rounded half up.
fn percent(count: usize, total: usize) -> usize {
    (200 * count + total).checked_div(2 * total).unwrap_or(0)
}

/// Returns the shares and the list for programs; shares are fractions.
#[must_use]
pub fn errors_json(view: &ErrorsView) -> Value {
    let group = |scenario: Option<Scenario>| {
        let total = view.total(scenario);
        let share = |error: Option<ErrorType>| {
            let count = view.count(scenario, error);
            json!({ "count": count, "share": fraction(count, total) })
        };
        let types = ErrorType::ALL.into_iter().map(Some).chain([None]);
        let shares = types
            .map(|error| (error.map_or("unannotated", ErrorType::name).to_owned(), share(error)));
        json!({ "trials": total, "errors": Value::Object(shares.collect()) })
    };
    let scenarios: Map<String, Value> = view
        .scenarios()
        .into_iter()
        .map(|scenario| (scenario.name().to_owned(), group(Some(scenario))))
        .collect();
    let trials: Vec<Value> = view
        .trials
        .iter()
        .map(|trial| {
            let said = trial.annotation.as_ref();
            json!({
                "trial": trial.id.to_string(),
                "attempt": trial.attempt,
                "scenario": trial.scenario,
                "verdict": trial.verdict,
                "error_type": said.map(|it| it.error_type),
                "reason": said.map(|it| &it.reason),
                "evidence": said.map(|it| &it.evidence),
                "problem": trial.problem,
            })
        })
        .collect();
    json!({
        "run": view.run,
        "model": view.model,
        "judge": view.judge,
        "unannotated": view.unannotated(),
        "overall": group(None),
        "by_scenario": scenarios,
        "trials": trials,
    })
}

#[expect(clippy::cast_precision_loss, reason = "counts of trials are small")]
fn fraction(count: usize, total: usize) -> f64 {
    if total == 0 { 0.0 } else { count as f64 / total as f64 }
}

#[cfg(test)]
mod tests {
    use wildgym_tasks::Variant;

    use super::*;

    fn trial(k: u32, scenario: Scenario, error: Option<ErrorType>) -> FailedTrial {
        let (condition, variant) = ("m".to_owned(), Variant::default());
        FailedTrial {
            id: TrialId { condition, task: "t".to_owned(), variant, k },
            attempt: 1,
            scenario,
            verdict: Verdict::Fail,
            annotation: error.map(|error_type| Annotation {
                error_type,
                reason: "because".to_owned(),
                evidence: "line\none\u{1b}[2J".to_owned(),
            }),
            problem: error.is_none().then(|| "prose".to_owned()),
        }
    }

    fn view(trials: Vec<FailedTrial>) -> ErrorsView {
        ErrorsView { run: "runs/r".into(), model: "m".into(), judge: "exact".into(), trials }
    }

    #[test]
    fn shares_are_of_all_that_did_not_pass() {
        let view = view(vec![
            trial(1, Scenario::DataAnalysis, Some(ErrorType::OverLength)),
            trial(2, Scenario::DataAnalysis, None),
            trial(1, Scenario::DeepSearch, Some(ErrorType::OverLength)),
        ]);
        let text = errors(&view, usize::MAX, false);
        insta::assert_snapshot!(text);
        let json = errors_json(&view);
        assert_eq!(json["overall"]["errors"]["over-length"]["count"], 2);
        assert_eq!(json["by_scenario"]["data-analysis"]["errors"]["over-length"]["share"], 0.5);
        assert_eq!(json["by_scenario"]["data-analysis"]["errors"]["unannotated"]["share"], 0.5);
        assert_eq!(json["trials"][1]["problem"], "prose");
    }

    #[test]
    fn nothing_failed_is_said_without_a_table() {
        let text = errors(&view(Vec::new()), 80, false);
        assert_eq!(text, "0 trials that did not pass · annotated by m\nruns/r\n");
        assert_eq!((percent(1, 3), percent(2, 3), percent(1, 8), percent(0, 0)), (33, 67, 13, 0));
    }
}
