//! How well a judge agrees with labels: the table for people, the object for programs.
//!
//! An item is a trial that somebody labelled, or a pair whose label is known. Items that
//! the judge left unjudged are in no figure, and are counted apart.

use std::fmt::Write as _;

use serde_json::{Map, Value, json};
use unicode_width::UnicodeWidthStr;

use super::figures::{counted, number, rate};
use super::layout::Page;
use super::sanitize::one_line;
use crate::metrics::{AGREEMENT_METHOD, Agreement, Estimate, Rating};
use crate::verdict::Verdict;

/// Most columns of a reason, however wide the page is.
const REASON: usize = 300;

/// What is labelled.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ItemKind {
    /// Trials of a run.
    Trial,
    /// Pairs of a question and an answer.
    Pair,
}

impl ItemKind {
    fn noun(self) -> &'static str {
        match self {
            Self::Trial => "trial",
            Self::Pair => "pair",
        }
    }
}

/// One labelled item and what the judge says of it.
#[derive(Debug, Clone, PartialEq)]
pub struct LabelledItem {
    /// Its name.
    pub id: String,
    /// What it belongs together with: the task of a trial, the question of a pair.
    pub unit: String,
    /// The groups in which it counts: what kind of group, and which.
    pub groups: Vec<(&'static str, String)>,
    /// Whether the label says that it passes.
    pub label: bool,
    /// What the judge says; none where it has no verdict, like [`Verdict::Unjudged`].
    pub verdict: Option<Verdict>,
    /// Why the judge says so, or why it says nothing.
    pub reason: String,
    /// Why the label is what it is, where that is known.
    pub why: String,
}

impl LabelledItem {
    /// Returns whether the judge passes the item; `degraded` is not passed.
    fn passed(&self) -> Option<bool> {
        match self.verdict? {
            Verdict::Pass => Some(true),
            Verdict::Degraded | Verdict::Fail => Some(false),
            Verdict::Unjudged => None,
        }
    }

    fn disagrees(&self) -> bool {
        self.passed().is_some_and(|passed| passed != self.label)
    }

    fn rating(&self) -> Option<Rating<'_>> {
        let judge = self.passed()?;
        Some(Rating { unit: &self.unit, label: self.label, judge })
    }
}

/// Labels and verdicts, side by side.
#[derive(Debug, Clone, PartialEq)]
pub struct AgreementView {
    /// What is labelled.
    pub kind: ItemKind,
    /// Name of the judge.
    pub judge: String,
    /// Where the labels come from.
    pub source: String,
    /// The items, in the order of the labels.
    pub items: Vec<LabelledItem>,
    /// Rows that somebody has not labelled yet.
    pub unlabelled: usize,
    /// Items that were decided without asking a model, where a model judges.
    pub without_model: Option<usize>,
}

impl AgreementView {
    /// Returns the number of items without a verdict.
    #[must_use]
    pub fn unjudged(&self) -> usize {
        self.items.iter().filter(|item| item.passed().is_none()).count()
    }

    fn agreement(&self, wanted: impl Fn(&LabelledItem) -> bool) -> Agreement {
        let chosen = self.items.iter().filter(|item| wanted(item));
        Agreement::of(chosen.filter_map(LabelledItem::rating))
    }

    fn overall(&self) -> Agreement {
        self.agreement(|_| true)
    }

    /// Returns the agreement in each group: kind of group, group, agreement.
    fn groups(&self) -> Vec<(&'static str, &str, Agreement)> {
        let mut names: Vec<(&'static str, &str)> = Vec::new();
        for (kind, name) in self.items.iter().flat_map(|item| &item.groups) {
            if !names.contains(&(*kind, name.as_str())) {
                names.push((kind, name));
            }
        }
        // Kinds stay in the order in which items name them.
        let kinds: Vec<&str> = names.iter().map(|(kind, _)| *kind).collect();
        names.sort_by_key(|(kind, name)| (kinds.iter().position(|other| other == kind), *name));
        let within = |item: &LabelledItem, kind, name| {
            item.groups.iter().any(|group| group.0 == kind && group.1 == name)
        };
        names
            .into_iter()
            .map(|(kind, name)| (kind, name, self.agreement(|item| within(item, kind, name))))
            .collect()
    }
}

/// Returns the report as JSON. Fractions lie in `0..=1`, κ in `-1..=1`, and what is not
/// defined is `null`.
#[must_use]
pub fn agreement_json(view: &AgreementView) -> Value {
    let noun = view.kind.noun();
    let mut out = json!({
        "judge": view.judge,
        "labels": view.source,
        "unjudged": view.unjudged(),
        "unlabelled": view.unlabelled,
        "overall": value(&view.overall()),
    });
    let Some(object) = out.as_object_mut() else { return out };
    if let Some(count) = view.without_model {
        object.insert("without_model".to_owned(), json!(count));
    }
    for (kind, name, agreement) in view.groups() {
        let group = object.entry(format!("by_{kind}")).or_insert_with(|| json!({}));
        group[name] = value(&agreement);
    }
    let item = |item: &LabelledItem| {
        let mut line = Map::new();
        line.insert(noun.to_owned(), json!(item.id));
        line.insert("label".to_owned(), json!(label(item.label)));
        line.insert("verdict".to_owned(), json!(item.verdict.unwrap_or(Verdict::Unjudged)));
        line.insert("reason".to_owned(), json!(item.reason));
        if !item.why.is_empty() {
            line.insert("why".to_owned(), json!(item.why));
        }
        Value::Object(line)
    };
    let list = |wanted: fn(&LabelledItem) -> bool| {
        view.items.iter().filter(|item| wanted(item)).map(item).collect::<Vec<_>>()
    };
    object.insert("disagreements".to_owned(), list(LabelledItem::disagrees).into());
    object.insert("unjudged_items".to_owned(), list(|item| item.passed().is_none()).into());
    object.insert("intervals".to_owned(), AGREEMENT_METHOD.into());
    out
}

fn value(agreement: &Agreement) -> Value {
    // Numbers and nulls serialise into a value in any case.
    serde_json::to_value(agreement).unwrap_or(Value::Null)
}

fn label(passes: bool) -> &'static str {
    if passes { "pass" } else { "fail" }
}

/// Returns the report for a terminal of `width` columns; `usize::MAX` is for what is no
/// terminal, where no line is wrapped.
#[must_use]
pub fn agreement(view: &AgreementView, width: usize, colour: bool) -> String {
    let page = Page::new(width, colour);
    let overall = view.overall();
    let mut out = heading(view, page);
    out.push_str(&table(view, &overall, page));
    out.push_str(&confusion(&overall, page));
    out.push_str(&list(view, page));
    out
}

fn heading(view: &AgreementView, page: Page) -> String {
    let noun = view.kind.noun();
    let title = format!("judge {}", one_line(&view.judge, 200));
    let mut parts = vec![
        counted(view.items.len() as u64, &format!("labelled {noun}")),
        format!("{} unjudged", number(view.unjudged() as u64)),
    ];
    if view.unlabelled > 0 {
        parts.push(format!("{} without a label", number(view.unlabelled as u64)));
    }
    if let Some(count) = view.without_model {
        parts.push(format!("{} decided without a model", number(count as u64)));
    }
    let labels = page.entry("labels", &[one_line(&view.source, 300)]);
    format!("{}\n{labels}{}\n", page.bold(&title), page.entry("items", &parts))
}

fn table(view: &AgreementView, overall: &Agreement, page: Page) -> String {
    let header = [view.kind.noun(), "agreement %", "kappa", "precision %", "recall %"];
    let mut header: Vec<String> = header.map(str::to_owned).to_vec();
    header[0].push('s');
    header.insert(0, String::new());
    let mut rows = vec![header];
    let row = |name: &str, agreement: &Agreement| {
        vec![
            one_line(name, 60),
            number(agreement.items),
            rate(&agreement.agreement),
            kappa(&agreement.kappa),
            percent(agreement.precision),
            percent(agreement.recall),
        ]
    };
    let groups = view.groups();
    rows.extend(groups.iter().map(|(_, name, agreement)| row(name, agreement)));
    rows.push(row("overall", overall));
    let mut lines = page.table(&rows);
    let rule = "─".repeat(lines.first().map_or(0, |line| line.width()));
    lines.insert(lines.len() - 1, rule.clone());
    lines.insert(1, rule);
    let methods =
        ["95 %", "agreement: Wilson", "kappa: Fleiss-Cohen-Everitt, one item added to each"];
    let mut out = format!("{}\n", lines.join("\n"));
    out.push_str(&page.entry("intervals", &methods.map(str::to_owned)));
    let unjudged = view.unjudged();
    if unjudged > 0 {
        let items = counted(view.items.len() as u64, view.kind.noun());
        let _ = writeln!(
            out,
            "{} of {items} have no verdict and are in no figure",
            number(unjudged as u64)
        );
    }
    let undefined = |agreement: &Agreement| agreement.items > 0 && agreement.kappa.value.is_none();
    if undefined(overall) || groups.iter().any(|(_, _, agreement)| undefined(agreement)) {
        out.push_str("no kappa where labels and judge all say one and the same thing\n");
    }
    if overall.units < overall.items {
        let (items, preposition, unit) = match view.kind {
            ItemKind::Trial => ("trials", "of", "task"),
            ItemKind::Pair => ("answers", "to", "question"),
        };
        let units = counted(u64::from(overall.units), unit);
        let _ = writeln!(
            out,
            "{items} {preposition} {units}; those {preposition} one {unit} count for less where alike"
        );
    }
    out
}

/// Writes κ with its interval: `0.62 [0.44–0.79]`.
fn kappa(estimate: &Estimate) -> String {
    match (estimate.value, estimate.ci95) {
        (Some(value), Some((low, high))) => format!("{value:.2} [{low:.2}–{high:.2}]"),
        (Some(value), None) => format!("{value:.2}"),
        (None, _) => "–".to_owned(),
    }
}

fn percent(share: Option<f64>) -> String {
    share.map_or_else(|| "–".to_owned(), |share| format!("{:.1}", share * 100.0))
}

/// Writes who said what.
fn confusion(overall: &Agreement, page: Page) -> String {
    let counts = overall.confusion;
    let row = |name: &str, pass: String, fail: String| vec![name.to_owned(), pass, fail];
    let lines = page.table(&[
        row("", "label pass".to_owned(), "label fail".to_owned()),
        row("judge pass", number(counts.both_pass), number(counts.judge_alone)),
        row("judge fail", number(counts.label_alone), number(counts.both_fail)),
    ]);
    format!("\n{}\n", lines.join("\n"))
}

/// Lists what the judge and the labels differ about, and what is not judged.
fn list(view: &AgreementView, page: Page) -> String {
    let noun = view.kind.noun();
    let section = |title: &str, wanted: fn(&LabelledItem) -> bool| {
        let chosen: Vec<&LabelledItem> = view.items.iter().filter(|item| wanted(item)).collect();
        if chosen.is_empty() {
            return String::new();
        }
        let mut rows = vec![["label", "verdict", noun, "reason"].map(str::to_owned).to_vec()];
        rows.extend(chosen.iter().map(|item| {
            let verdict = match item.verdict {
                Some(Verdict::Pass) => "pass",
                Some(Verdict::Degraded) => "degraded",
                Some(Verdict::Fail) => "fail",
                Some(Verdict::Unjudged) | None => "unjudged",
            };
            let mut reason = one_line(&item.reason, REASON);
            if !item.why.is_empty() {
                let _ = write!(reason, " (label: {})", one_line(&item.why, REASON));
            }
            vec![label(item.label).to_owned(), verdict.to_owned(), one_line(&item.id, 160), reason]
        }));
        let title = page.bold(&format!("{title} ({})", number(chosen.len() as u64)));
        format!("\n{title}\n{}\n", page.rows(&rows).join("\n"))
    };
    let disagreements = section("disagreements", LabelledItem::disagrees);
    disagreements + &section("unjudged", |item| item.passed().is_none())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn item(id: &str, language: &str, label: bool, verdict: Verdict) -> LabelledItem {
        LabelledItem {
            id: id.to_owned(),
            unit: id.split('/').next().unwrap_or_default().to_owned(),
            groups: vec![("language", language.to_owned()), ("scenario", "deep-search".to_owned())],
            label,
            verdict: Some(verdict),
            reason: format!("because of {id}\u{1b}[31m"),
            why: if label { String::new() } else { "看错了".to_owned() },
        }
    }

    fn view() -> AgreementView {
        AgreementView {
            kind: ItemKind::Trial,
            judge: "exact".to_owned(),
            source: "labels.csv".to_owned(),
            items: vec![
                item("a/1", "en", true, Verdict::Pass),
                item("a/2", "en", true, Verdict::Fail),
                item("b/1", "en", false, Verdict::Degraded),
                item("c/1", "zh", false, Verdict::Pass),
                item("d/1", "zh", false, Verdict::Fail),
                item("e/1", "zh", true, Verdict::Unjudged),
            ],
            unlabelled: 2,
            without_model: Some(3),
        }
    }

    #[test]
    fn people_see_figures_counts_and_disagreements() {
        insta::assert_snapshot!("agreement_100", agreement(&view(), 100, false));
    }

    #[test]
    fn programs_get_the_same() {
        let json = agreement_json(&view());
        assert_eq!(json["overall"]["items"], 5, "the unjudged one is in no figure");
        assert_eq!(json["unjudged"], 1);
        assert_eq!(json["overall"]["confusion"]["label_alone"], 1);
        assert_eq!(json["by_language"]["zh"]["items"], 2);
        assert_eq!(json["disagreements"].as_array().map(Vec::len), Some(2));
        assert_eq!(json["disagreements"][1]["trial"], "c/1");
        assert_eq!(json["unjudged_items"][0]["trial"], "e/1");
    }

    #[test]
    fn nothing_to_compare_is_no_figure() {
        let empty = AgreementView { items: Vec::new(), ..view() };
        assert_eq!(agreement_json(&empty)["overall"]["agreement"]["value"], Value::Null);
        assert!(agreement(&empty, 80, false).contains("0 labelled trials"));
    }
}
