//! What a run took: rounds, calls, tokens, time and cost, for people and for programs.
//!
//! Sums are over all attempts, those that were lost and repeated included, for they were
//! paid for; means are per trial that was attempted. Costs stand only where there are
//! prices for all of it: what is unknown is named, and never counts as nothing.

use std::collections::BTreeSet;

use serde_json::{Map, Value, json};

use super::figures::{counted, duration, each, mean, money, number};
use super::groups::Grouping;
use super::layout::Page;
use super::sanitize::one_line;
use super::view::{AttemptView, RunView, TrialView};
use crate::metrics::{Bill, Judging, Prices, Rounds, State, Work};
use crate::record::{Outcome, Usage};

/// What some trials took.
#[derive(Debug, Default)]
struct Taken {
    /// Trials with an attempt.
    trials: u64,
    /// Trials that passed.
    passed: u64,
    work: Work,
    judging: Judging,
    /// Verdicts that another one replaced; what they took is in the sums all the same.
    replaced: u64,
    agent: Bill,
    judge: Bill,
    /// Tokens of models that played the user.
    user_usage: Usage,
    user: Bill,
}

impl Taken {
    fn by<'a>(
        view: &RunView,
        trials: impl IntoIterator<Item = &'a TrialView>,
        prices: Option<&Prices>,
    ) -> Self {
        let mut taken = Self::default();
        for trial in trials {
            taken.trials += u64::from(!trial.attempts.is_empty());
            taken.passed += u64::from(trial.state() == State::Pass);
            for attempt in &trial.attempts {
                taken.work.add(&attempt.work());
                taken.user_usage.add(attempt.user_usage);
                if let (Some(prices), Some(model)) =
                    (prices, view.label.user_models.get(&trial.id.condition))
                {
                    taken.user.charge(prices, model, attempt.user_usage, false, 1);
                }
            }
            taken.judging.add(&trial.judging);
            taken.replaced += trial.judging.verdicts.saturating_sub(1);
            if let Some(prices) = prices {
                taken.agent.add(&agent_bill(view, trial, prices));
            }
        }
        for (model, (calls, usage)) in &taken.judging.calls {
            if let Some(prices) = prices {
                taken.judge.charge(prices, model, *usage, true, *calls);
            }
        }
        taken
    }

    /// Returns all that was spent; none where a part of it is unknown.
    fn whole(&self) -> Option<f64> {
        Some(self.agent.amount()? + self.judge.amount()? + self.user.amount()?)
    }

    /// Names the models without a price.
    fn unpriced(&self) -> BTreeSet<&String> {
        let bills = [&self.agent, &self.judge, &self.user];
        bills.into_iter().flat_map(|bill| bill.unpriced.keys()).collect()
    }

    /// Returns the cost of the agent for each passed trial; none without any.
    fn per_pass(&self) -> Option<f64> {
        Some(self.agent.amount()? / float(self.passed).filter(|passed| *passed > 0.0)?)
    }

    /// Returns the cost of the agent for each trial that was attempted; none without any.
    fn per_trial(&self) -> Option<f64> {
        Some(self.agent.amount()? / float(self.trials).filter(|trials| *trials > 0.0)?)
    }
}

/// Returns a count as a float.
fn float(count: u64) -> Option<f64> {
    u32::try_from(count).ok().map(f64::from)
}

/// Returns the bill for all attempts at a trial; empty where no model acted.
fn agent_bill(view: &RunView, trial: &TrialView, prices: &Prices) -> Bill {
    let mut bill = Bill::default();
    if let Some(model) = view.label.models.get(&trial.id.condition) {
        for attempt in &trial.attempts {
            charge(&mut bill, attempt, (model, tools_of(view, trial, model)), prices);
        }
    }
    bill
}

/// Returns the name of the model that answered a trial's tools.
fn tools_of<'a>(view: &'a RunView, trial: &TrialView, model: &'a str) -> &'a str {
    view.label.tool_models.get(&trial.id.condition).map_or(model, String::as_str)
}

/// Charges what an attempt used of the agent's model and of the one that answered tools.
fn charge(bill: &mut Bill, attempt: &AttemptView, (model, tools): (&str, &str), prices: &Prices) {
    if !attempt.closed {
        bill.unfinished += 1;
        return;
    }
    let own = attempt.usage.without(attempt.tool_usage);
    bill.charge(prices, model, own, attempt.had_reply(), 1);
    bill.charge(prices, tools, attempt.tool_usage, false, 1);
}

impl AttemptView {
    /// Returns whether the model replied at least once: the last round of an attempt that
    /// was cut short may have had no reply.
    fn had_reply(&self) -> bool {
        match self.outcome {
            Outcome::Answered | Outcome::NoAnswer => self.rounds > 0,
            Outcome::Limit(_) | Outcome::Lost(_) => self.rounds > 1,
            Outcome::Skipped(_) => false,
        }
    }
}

/// Returns the lines on what the attempts took; empty without any.
pub(super) fn usage(view: &RunView, prices: Option<&Prices>, page: Page) -> String {
    let taken = Taken::by(view, &view.trials, prices);
    if taken.work.attempts == 0 {
        return String::new();
    }
    let mut out = work(&taken.work, page);
    let (calls, usage) = taken.judging.all_calls();
    if calls > 0 {
        let mut parts = vec![counted(calls, "call"), duration(taken.judging.took_ms)];
        parts.extend(tokens(usage));
        if taken.replaced > 0 {
            let verdicts = counted(taken.replaced, "verdict");
            parts.push(format!("{verdicts} since replaced included"));
        }
        out.push_str(&page.entry("judge", &parts));
    }
    if !view.label.user_models.is_empty() {
        out.push_str(&page.entry("user", &tokens(taken.user_usage)));
    }
    if let Some(prices) = prices
        && (calls > 0 || !(view.label.models.is_empty() && view.label.user_models.is_empty()))
    {
        out.push_str(&page.entry("cost", &cost(&taken, &prices.currency, calls > 0)));
    }
    out.push_str(&by_condition(view, prices, page));
    out.push_str(&by_rounds(view, prices, page));
    out
}

/// Returns the lines on work, tokens and time, with means over the attempts that are known.
fn work(work: &Work, page: Page) -> String {
    let attempts = work.finished();
    let mut parts = Vec::new();
    if attempts > 0 {
        parts.push(format!("{} rounds an attempt", mean(work.rounds, attempts)));
        parts.push(format!("{} calls an attempt", mean(work.calls, attempts)));
    }
    if work.unfinished > 0 {
        parts.push(format!("without {}", counted(work.unfinished, "killed attempt")));
    }
    let mut out = page.entry("work", &parts);
    if work.usage.total() > 0 {
        let mut parts = tokens(work.usage);
        parts.push(format!("{} an attempt", number(each(work.usage.total(), attempts))));
        out.push_str(&page.entry("tokens", &parts));
    }
    if attempts > 0 {
        let mut parts = vec![
            format!("{} of work", duration(work.working_ms)),
            format!("{} an attempt", duration(each(work.working_ms, attempts))),
        ];
        let split = [("model", work.model_ms), ("tools", work.tools_ms)];
        let split = split.into_iter().filter(|(_, ms)| *ms > 0);
        parts.extend(split.map(|(what, ms)| format!("{what} {}", duration(ms))));
        out.push_str(&page.entry("time", &parts));
    }
    out
}

fn tokens(usage: Usage) -> Vec<String> {
    vec![
        format!("{} in ({} cached)", number(usage.input), number(usage.cached)),
        format!("{} out ({} reasoning)", number(usage.output), number(usage.reasoning)),
    ]
}

/// Says what was spent, or what of it is unknown.
fn cost(taken: &Taken, currency: &str, judged: bool) -> Vec<String> {
    let mut parts = Vec::new();
    let least = if taken.agent.unfinished > 0 { "at least " } else { "" };
    match taken.agent.amount() {
        Some(amount) => {
            parts.push(format!("{least}{} {currency}", money(amount)));
            let each = [(taken.per_trial(), "a trial"), (taken.per_pass(), "a passed trial")];
            parts.extend(
                each.into_iter()
                    .filter_map(|(each, what)| Some(format!("{least}{} {what}", money(each?)))),
            );
        }
        None => parts.push("unknown".to_owned()),
    }
    if judged {
        let amount = taken.judge.amount().map_or("unknown".to_owned(), money);
        parts.push(format!("judge {amount}"));
    }
    if taken.user_usage.total() > 0 {
        parts.push(format!("user {}", taken.user.amount().map_or("unknown".to_owned(), money)));
    }
    for model in taken.unpriced() {
        parts.push(format!("no price for `{}`", one_line(model, 80)));
    }
    if taken.agent.uncounted + taken.judge.uncounted > 0 {
        parts.push("an endpoint counted no tokens".to_owned());
    }
    if taken.agent.unfinished > 0 {
        let attempts = counted(taken.agent.unfinished, "killed attempt");
        parts.push(format!("without {attempts}"));
    }
    parts
}

/// Compares conditions, where there are several: means of the trials that were attempted.
/// What killed attempts took is unknown, so means and costs with them are lower bounds.
fn by_condition(view: &RunView, prices: Option<&Prices>, page: Page) -> String {
    let conditions = view.grouped(Grouping::Condition);
    if conditions.len() < 2 {
        return String::new();
    }
    let mut header = vec!["condition", "trials", "rounds", "calls", "tokens", "time"];
    header.extend(prices.map(|_| "cost"));
    header.extend(prices.map(|_| "cost a pass"));
    let mut rows = vec![header.into_iter().map(str::to_owned).collect::<Vec<_>>()];
    let mut unfinished = 0;
    for group in conditions {
        let taken = Taken::by(view, group.trials.iter().copied(), prices);
        let (work, trials) = (&taken.work, taken.trials.max(1));
        let least = if work.unfinished > 0 { "≥ " } else { "" };
        unfinished += work.unfinished;
        let mut row = vec![
            one_line(&group.name, 60),
            number(taken.trials),
            format!("{least}{}", mean(work.rounds, trials)),
            format!("{least}{}", mean(work.calls, trials)),
            format!("{least}{}", number(each(work.usage.total(), trials))),
            format!("{least}{}", duration(each(work.working_ms, trials))),
        ];
        if prices.is_some() {
            let cost = |amount: Option<f64>| {
                amount.map_or("–".to_owned(), |amount| format!("{least}{}", money(amount)))
            };
            row.extend([cost(taken.per_trial()), cost(taken.per_pass())]);
        }
        rows.push(row);
    }
    let without = match unfinished {
        0 => String::new(),
        count => format!(", without what {} took", counted(count, "killed attempt")),
    };
    let note = page.note(&format!("means of the trials that were attempted{without}"));
    format!("\n{}\n{note}", page.table(&rows).join("\n"))
}

/// Shows how the score goes with the rounds, where trials differ enough.
fn by_rounds(view: &RunView, prices: Option<&Prices>, page: Page) -> String {
    let conditions = view.grouped(Grouping::Condition);
    let mut header = vec!["rounds", "passed"];
    header.extend(prices.map(|_| "cost a trial"));
    let mut rows = vec![header.into_iter().map(str::to_owned).collect::<Vec<_>>()];
    let mut differ = false;
    for group in &conditions {
        let bins = bins(&group.trials);
        differ |= bins.len() > 1;
        for bin in bins {
            let end = bin.to.map_or("+".to_owned(), |to| format!("–{to}"));
            let name = if conditions.len() > 1 {
                format!("{} ", one_line(&group.name, 60))
            } else {
                String::new()
            };
            let mut row = vec![
                format!("{name}{}{end}", bin.from),
                format!("{}/{}", number(bin.passed), number(bin.judged)),
            ];
            if let Some(prices) = prices {
                let cost = bin_cost(view, &group.trials, &bin, prices);
                row.push(cost.map_or("–".to_owned(), money));
            }
            rows.push(row);
        }
    }
    if differ { format!("\n{}\n", page.table(&rows).join("\n")) } else { String::new() }
}

/// Sorts trials by the rounds of the attempt that counts.
fn bins(trials: &[&TrialView]) -> Vec<Rounds> {
    let last = |trial: &&TrialView| Some((trial.attempts.last()?.rounds, trial.state()));
    Rounds::of(trials.iter().filter_map(last))
}

/// Returns the mean cost of the judged trials of a bin, of the attempts that count.
fn bin_cost(view: &RunView, trials: &[&TrialView], bin: &Rounds, prices: &Prices) -> Option<f64> {
    let mut bill = Bill::default();
    for trial in trials.iter().filter(|trial| trial.state().is_judged()) {
        let Some(attempt) = trial.attempts.last() else { continue };
        let model = view.label.models.get(&trial.id.condition)?;
        let inside = attempt.rounds >= bin.from && bin.to.is_none_or(|to| attempt.rounds <= to);
        if inside {
            charge(&mut bill, attempt, (model, tools_of(view, trial, model)), prices);
        }
    }
    Some(bill.amount()? / f64::from(bin.judged.max(1)))
}

/// Returns `usage` of the JSON.
pub(super) fn json(view: &RunView, prices: Option<&Prices>) -> Value {
    let whole = Taken::by(view, &view.trials, prices);
    let mut all = sums(&whole, prices);
    let conditions = view.grouped(Grouping::Condition).into_iter().map(|group| {
        let taken = Taken::by(view, group.trials.iter().copied(), prices);
        let mut all = sums(&taken, prices);
        let bins = bins(&group.trials).into_iter().map(|bin| {
            let cost = prices.and_then(|prices| bin_cost(view, &group.trials, &bin, prices));
            json!({
                "from": bin.from,
                "to": bin.to,
                "judged": bin.judged,
                "passed": bin.passed,
                "cost_per_trial": cost,
            })
        });
        all.insert("by_rounds".to_owned(), bins.collect());
        (group.name, Value::Object(all))
    });
    all.insert("by_condition".to_owned(), Value::Object(conditions.collect()));
    Value::Object(all)
}

fn sums(taken: &Taken, prices: Option<&Prices>) -> Map<String, Value> {
    let Taken { trials, work, judging, .. } = taken;
    let (calls, tokens) = judging.all_calls();
    let each = |sum: u64| Some(float(sum)? / float(*trials).filter(|trials| *trials > 0.0)?);
    let value = json!({
        "attempts": work.attempts,
        "unfinished_attempts": work.unfinished,
        "rounds": work.rounds,
        "calls": work.calls,
        "tokens": work.usage,
        "working_ms": work.working_ms,
        "model_ms": work.model_ms,
        "tools_ms": work.tools_ms,
        "judge": {
            "verdicts": judging.verdicts,
            "replaced": taken.replaced,
            "calls": calls,
            "tokens": tokens,
            "took_ms": judging.took_ms,
        },
        "per_trial": {
            "trials": trials,
            "rounds": each(work.rounds),
            "calls": each(work.calls),
            "tokens": each(work.usage.total()),
            "working_ms": each(work.working_ms),
            "model_ms": each(work.model_ms),
            "tools_ms": each(work.tools_ms),
        },
        "cost": prices.map(|prices| json!({
            "currency": prices.currency,
            "agent": taken.agent.amount(),
            "judge": taken.judge.amount(),
            "all": taken.whole(),
            "per_trial": taken.per_trial(),
            "per_passed_trial": taken.per_pass(),
            "unknown_models": taken.unpriced(),
            "without_tokens": taken.agent.uncounted + taken.judge.uncounted,
            "unfinished_attempts": taken.agent.unfinished,
        })),
    });
    let mut sums = if let Value::Object(sums) = value { sums } else { Map::new() };
    if taken.user_usage.total() > 0 {
        let cost = prices.map(|_| taken.user.amount());
        let user = json!({ "tokens": taken.user_usage, "cost": cost });
        sums.insert("user".to_owned(), user);
    }
    sums
}

/// Returns `points` of the JSON: every trial with an attempt that is over, by what the
/// attempt that counts took, to be plotted.
pub(super) fn points(view: &RunView, prices: Option<&Prices>) -> Value {
    let point = |trial: &TrialView| {
        let last = trial.attempts.last()?;
        let model = view.label.models.get(&trial.id.condition);
        let cost = prices.zip(model).and_then(|(prices, model)| {
            let mut bill = Bill::default();
            charge(&mut bill, last, (model, tools_of(view, trial, model)), prices);
            bill.amount().filter(|_| last.closed)
        });
        Some(json!({
            "trial": trial.id.to_string(),
            "condition": trial.id.condition,
            "state": trial.state(),
            "rounds": last.rounds,
            "calls": last.calls,
            "tokens": last.usage.total(),
            "working_ms": last.working_ms,
            "cost": cost,
        }))
    };
    view.trials.iter().filter_map(point).collect()
}
