//! What two runs differ in, and whether their scores can be compared all the same.
//!
//! Two kinds of difference. *Fatal* ones change what was measured: the tasks, who judged,
//! the limits, the tools, the network, the faults; they forbid a comparison unless the user allows
//! each by name. The others are what one compares runs for (agent, model, settings) or
//! what a comparison can live with, and are told. Nothing that differs goes unsaid.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::{Debug, Display};

use serde_json::Value;
use wildgym_tasks::Variant;
use wildgym_tasks::environment::BrowserMode;

use super::sanitize::one_line;
use crate::store::{
    Axis, Condition, JudgeConfig, ModelConfig, Offering, RunConfig, TaskData, WebConfig,
};

/// Names of the differences that forbid a comparison unless they are allowed.
pub const ALLOWABLE: [&str; 7] = ["suite", "judge", "limits", "bounds", "tools", "web", "faults"];

/// Most names that a line lists.
const NAMED: usize = 10;

/// What pins the scores of one side.
pub struct Pinned<'a> {
    /// The run's configuration.
    pub config: &'a RunConfig,
    /// The condition that is compared.
    pub condition: &'a Condition,
    /// What judges know of the tasks.
    pub tasks: &'a BTreeMap<String, TaskData>,
    /// Schemas of the tools, in `OpenAI` form.
    pub tools: &'a [Value],
    /// Name of the judge whose verdicts count.
    pub judge: &'a str,
}

/// One thing in which two runs differ.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Difference {
    /// What it is; one of [`ALLOWABLE`] where it forbids a comparison.
    pub what: &'static str,
    /// How A and B differ, a line each, safe to print.
    pub lines: Vec<String>,
}

impl Difference {
    /// Returns whether it forbids a comparison unless it is allowed.
    #[must_use]
    pub fn is_fatal(&self) -> bool {
        ALLOWABLE.contains(&self.what)
    }
}

/// Returns everything in which two runs differ, what forbids a comparison first.
#[must_use]
pub fn differences(a: &Pinned<'_>, b: &Pinned<'_>) -> Vec<Difference> {
    let (of_a, of_b) = (a.config, b.config);
    let version = (&of_a.wildgym, &of_b.wildgym);
    let all = [
        ("suite", suite(a, b)),
        ("judge", judge(a, b)),
        ("limits", limits(of_a, of_b)),
        ("bounds", bounds(of_a, of_b)),
        ("tools", [tools(a, b), servers(of_a, of_b)].concat()),
        ("web", web(&of_a.web, &of_b.web)),
        ("faults", faults(a, b)),
        ("agent", differ("agent", &a.condition.agent, &b.condition.agent)),
        ("model", differ("model", &model(a), &model(b))),
        ("settings", settings(a, b)),
        ("tool-model", tool_model(a, b)),
        ("speech-model", speech_model(a, b)),
        ("user-model", differ("model that plays the user", user_model(a), user_model(b))),
        ("browser", differ("how pages are offered", browser(a), browser(b))),
        ("offering", offering(a, b)),
        ("tasks", only("tasks", &of_a.plan.tasks, &of_b.plan.tasks)),
        ("variants", only("variants", &variants(of_a), &variants(of_b))),
        ("k", differ("trials a task", &of_a.plan.k, &of_b.plan.k)),
        ("seed", seed(of_a, of_b)),
        ("wildgym", differ("version of wildgym", version.0, version.1)),
    ];
    let found = all.into_iter().filter(|(_, lines)| !lines.is_empty());
    found.map(|(what, lines)| Difference { what, lines }).collect()
}

/// Returns what forbids a comparison where it differs, as one text for each of
/// [`ALLOWABLE`]: what can be kept of a run where the run itself is gone. How `condition`
/// offers tools is a part of these.
#[must_use]
pub fn pins(
    config: &RunConfig,
    condition: Option<&Condition>,
    judge: &str,
) -> BTreeMap<String, String> {
    let or_none = |value: Option<u64>| value.map_or("none".to_owned(), |value| value.to_string());
    let RunConfig { suite, limits, bounds, tools, web, .. } = config;
    let mut judge = judge.to_owned();
    if config.judge.name == judge && config.judge.votes > 0 {
        let models = config.judge.models.iter().map(|model| model.name.as_str());
        let models: Vec<&str> = models.collect();
        judge = format!("{judge} ({} of {})", config.judge.votes, models.join(", "));
    }
    let recording = web.recording.as_ref().map(|it| format!(" {}", it.digest)).unwrap_or_default();
    let texts = [
        ("suite", format!("{} {} ({})", suite.name, suite.version, suite.digest)),
        ("judge", judge),
        (
            "limits",
            format!(
                "{} rounds, {} tokens, {} s",
                or_none(limits.rounds.map(Into::into)),
                or_none(limits.tokens),
                or_none(limits.seconds)
            ),
        ),
        ("bounds", format!("{} s, {} bytes", bounds.seconds, bounds.bytes)),
        (
            "tools",
            [vec![tools.schemas.clone() + &offered(condition)], foreign(config)]
                .concat()
                .join("; "),
        ),
        ("web", format!("{}{recording}", web.kind.name())),
    ];
    texts.into_iter().map(|(what, text)| (what.to_owned(), text)).collect()
}

/// Says that a value differs, where it does.
fn differ<T: PartialEq + Display + ?Sized>(name: &str, a: &T, b: &T) -> Vec<String> {
    if a == b {
        return Vec::new();
    }
    let short = |value: &T| one_line(&value.to_string(), 100);
    vec![format!("{name}: {} in A, {} in B", short(a), short(b))]
}

/// The same for a value that may be missing.
fn differ_option<T: PartialEq + Display>(name: &str, a: Option<&T>, b: Option<&T>) -> Vec<String> {
    let text = |value: Option<&T>| value.map_or_else(|| "none".to_owned(), ToString::to_string);
    differ(name, &text(a), &text(b))
}

/// Names the first of `names` after what they have in common.
fn list<'a>(what: &str, names: impl IntoIterator<Item = &'a String>) -> Option<String> {
    let names: Vec<&String> = names.into_iter().collect();
    let shown: Vec<String> = names.iter().take(NAMED).map(|name| one_line(name, 100)).collect();
    let more = names.len().saturating_sub(NAMED);
    let more = if more > 0 { format!(", … {more} more") } else { String::new() };
    (!names.is_empty()).then(|| format!("{what}: {}{more}", shown.join(", ")))
}

fn suite(a: &Pinned<'_>, b: &Pinned<'_>) -> Vec<String> {
    let (of_a, of_b) = (&a.config.suite, &b.config.suite);
    if of_a.digest == of_b.digest {
        return Vec::new();
    }
    let short = |digest: &str| digest.chars().take(12).collect::<String>();
    let name = |suite: &crate::store::SuiteRef| {
        format!("{} {} ({})", suite.name, suite.version, short(&suite.digest))
    };
    let mut lines = differ("suite", &name(of_a), &name(of_b));
    let only = |side: &Pinned<'_>, other: &Pinned<'_>| -> Vec<String> {
        side.tasks.keys().filter(|id| !other.tasks.contains_key(*id)).cloned().collect()
    };
    let (only_a, only_b) = (only(a, b), only(b, a));
    let changed: Vec<String> = a
        .tasks
        .iter()
        .filter_map(|(id, task)| {
            let fields = changed(task, b.tasks.get(id)?);
            (!fields.is_empty()).then(|| format!("{id} ({})", fields.join(", ")))
        })
        .collect();
    if only_a.is_empty() && only_b.is_empty() && changed.is_empty() {
        lines.push("what judges read of the tasks is the same; other files differ".to_owned());
    }
    lines.extend(list("tasks only in A", &only_a));
    lines.extend(list("tasks only in B", &only_b));
    lines.extend(list("tasks that differ", &changed));
    lines
}

/// Names the fields in which what judges know of a task differs.
fn changed(a: &TaskData, b: &TaskData) -> Vec<String> {
    let fields = |task: &TaskData| match serde_json::to_value(task) {
        Ok(Value::Object(fields)) => fields,
        Ok(_) | Err(_) => serde_json::Map::new(),
    };
    let (of_a, of_b) = (fields(a), fields(b));
    let names: BTreeSet<&String> = of_a.keys().chain(of_b.keys()).collect();
    let questions = |name: &str| name == "questions";
    let mut changed: Vec<String> = names
        .into_iter()
        .filter(|name| !questions(name) && of_a.get(*name) != of_b.get(*name))
        .cloned()
        .collect();
    // Each run keeps the questions of its own variants.
    let mut shared = a
        .questions
        .iter()
        .filter_map(|(variant, question)| Some((question, b.questions.get(variant)?)));
    if shared.any(|(a, b)| a != b) {
        changed.push("request".to_owned());
    }
    changed
}

fn judge(a: &Pinned<'_>, b: &Pinned<'_>) -> Vec<String> {
    let mut lines = differ("judge", a.judge, b.judge);
    let (of_a, of_b) = (&a.config.judge, &b.config.judge);
    // What else is pinned of a judge is known of the one that the run was started with.
    if a.judge == b.judge && of_a.name == a.judge && of_b.name == b.judge {
        let models = |judge: &JudgeConfig| {
            let names: Vec<&str> = judge.models.iter().map(|model| model.name.as_str()).collect();
            if names.is_empty() { "none".to_owned() } else { names.join(", ") }
        };
        lines.extend(differ("models of the judge", &models(of_a), &models(of_b)));
        lines.extend(differ("votes of the judge", &of_a.votes, &of_b.votes));
        lines.extend(differ("digest of the judge's prompts", &of_a.prompts, &of_b.prompts));
    }
    lines
}

fn limits(a: &RunConfig, b: &RunConfig) -> Vec<String> {
    let (a, b) = (&a.limits, &b.limits);
    [
        differ_option("rounds", a.rounds.as_ref(), b.rounds.as_ref()),
        differ_option("tokens", a.tokens.as_ref(), b.tokens.as_ref()),
        differ_option("seconds of work", a.seconds.as_ref(), b.seconds.as_ref()),
    ]
    .concat()
}

fn bounds(a: &RunConfig, b: &RunConfig) -> Vec<String> {
    let (a, b) = (&a.bounds, &b.bounds);
    [
        differ("seconds of a call", &a.seconds, &b.seconds),
        differ("bytes of a result", &a.bytes, &b.bytes),
    ]
    .concat()
}

/// Says of each foreign server what it is and what contains it.
fn foreign(config: &RunConfig) -> Vec<String> {
    let told = |(name, one): (&String, &crate::store::ServerRef)| {
        let command = one.command().map(|command| format!(": {command}")).unwrap_or_default();
        one.note(name) + &command
    };
    config.servers.iter().map(told).collect()
}

fn servers(a: &RunConfig, b: &RunConfig) -> Vec<String> {
    let (of_a, of_b) = (foreign(a), foreign(b));
    let only = |own: &[String], other: &[String], side: &str| -> Vec<String> {
        let found = own.iter().filter(|one| !other.contains(one));
        found.map(|one| format!("only in {side}: {}", one_line(one, 200))).collect()
    };
    [only(&of_a, &of_b, "A"), only(&of_b, &of_a, "B")].concat()
}

fn faults(a: &Pinned<'_>, b: &Pinned<'_>) -> Vec<String> {
    differ_option("faults", a.condition.faults.as_ref(), b.condition.faults.as_ref())
}

fn tools(a: &Pinned<'_>, b: &Pinned<'_>) -> Vec<String> {
    let (of_a, of_b) = (&a.config.tools, &b.config.tools);
    if of_a == of_b {
        return Vec::new();
    }
    let named = |side: &Pinned<'_>| -> BTreeMap<String, Value> {
        let name = |schema: &Value| Some(schema["function"]["name"].as_str()?.to_owned());
        side.tools.iter().filter_map(|schema| Some((name(schema)?, schema.clone()))).collect()
    };
    let (by_a, by_b) = (named(a), named(b));
    let only = |side: &BTreeMap<String, Value>, other: &BTreeMap<String, Value>| -> Vec<String> {
        side.keys().filter(|name| !other.contains_key(*name)).cloned().collect()
    };
    let (only_a, only_b) = (only(&by_a, &by_b), only(&by_b, &by_a));
    let changed: Vec<String> = by_a
        .iter()
        .filter(|(name, schema)| by_b.get(*name).is_some_and(|other| other != *schema))
        .map(|(name, _)| name.clone())
        .collect();
    let mut lines: Vec<String> = [
        list("tools only in A", &only_a),
        list("tools only in B", &only_b),
        list("tools with another schema", &changed),
    ]
    .into_iter()
    .flatten()
    .collect();
    if lines.is_empty() {
        lines.push("the same tools are offered in another order".to_owned());
    }
    lines
}

fn model(side: &Pinned<'_>) -> String {
    side.condition.model.as_ref().map_or_else(|| "none".to_owned(), |model| model.name.clone())
}

/// Who answers tools, and whether it sees pictures.
fn tool_model(a: &Pinned<'_>, b: &Pinned<'_>) -> Vec<String> {
    let name = |side: &Pinned<'_>| {
        side.condition.tool_model.as_ref().map_or_else(|| model(side), |model| model.name.clone())
    };
    let own = |side: &Pinned<'_>| side.condition.tool_model.is_none();
    let pictures = |side: &Pinned<'_>| if side.condition.text_only { "no" } else { "yes" };
    // That the agents' own models differ is said already.
    let both_own = own(a) && own(b);
    let named = if both_own { Vec::new() } else { differ("model of tools", &name(a), &name(b)) };
    [named, differ("pictures for the model of tools", pictures(a), pictures(b))].concat()
}

/// Who writes down what is said, and whether the model of tools hears.
fn speech_model(a: &Pinned<'_>, b: &Pinned<'_>) -> Vec<String> {
    fn name<'a>(side: &Pinned<'a>) -> &'a str {
        side.condition.speech_model.as_ref().map_or("none", |model| &model.name)
    }
    let sounds = |side: &Pinned<'_>| if side.condition.hears { "yes" } else { "no" };
    [
        differ("speech model", name(a), name(b)),
        differ("sounds for the model of tools", sounds(a), sounds(b)),
    ]
    .concat()
}

/// Who plays the person who gave the task.
fn user_model<'a>(side: &Pinned<'a>) -> &'a str {
    side.condition.user_model.as_ref().map_or("none, a script", |model| &model.name)
}

fn browser<'a>(side: &Pinned<'a>) -> &'a str {
    side.condition.browser.map_or("as tasks say", BrowserMode::name)
}

/// Returns the values of a condition that varies how tools are offered, as texts; texts that
/// are replaced with their digest, for a name is soon given to others.
fn values(offering: &Offering, axis: Axis) -> String {
    let digest = offering.tool_text.as_ref().filter(|_| axis == Axis::ToolText);
    let digest: String = digest
        .and_then(|text| text.texts.as_ref())
        .into_iter()
        .flat_map(|it| it.chars().take(12))
        .collect();
    let value = offering.setting(axis);
    if digest.is_empty() { value.to_string() } else { format!("{value} ({digest})") }
}

/// Says how a condition offers tools, where it varies that.
fn offered(condition: Option<&Condition>) -> String {
    let Some(offering) = condition.and_then(|condition| condition.offering.as_ref()) else {
        return String::new();
    };
    let usual = Offering::default();
    let varied =
        Axis::ALL.into_iter().filter(|axis| offering.setting(*axis) != usual.setting(*axis));
    varied.fold(String::new(), |text, axis| {
        format!("{text}, {} {}", axis.name(), values(offering, axis))
    })
}

/// How tools are offered: how many, in which words, in which order.
fn offering(a: &Pinned<'_>, b: &Pinned<'_>) -> Vec<String> {
    let usual = Offering::default();
    let of =
        |side: &Pinned<'_>, axis| values(side.condition.offering.as_ref().unwrap_or(&usual), axis);
    Axis::ALL.into_iter().flat_map(|axis| differ(axis.name(), &of(a, axis), &of(b, axis))).collect()
}

/// Settings of the models, where both sides have one.
fn settings(a: &Pinned<'_>, b: &Pinned<'_>) -> Vec<String> {
    let (Some(a), Some(b)) = (&a.condition.model, &b.condition.model) else { return Vec::new() };
    let extra = |model: &ModelConfig| Value::Object(model.extra.clone()).to_string();
    [
        differ("temperature", &a.temperature, &b.temperature),
        differ("most tokens of a reply", &a.max_tokens, &b.max_tokens),
        differ("more fields of requests", &extra(a), &extra(b)),
    ]
    .concat()
}

fn variants(config: &RunConfig) -> Vec<String> {
    config.plan.variants.iter().map(Variant::to_string).collect()
}

/// Says what only one run planned to try.
fn only(what: &str, a: &[String], b: &[String]) -> Vec<String> {
    let without = |these: &[String], those: &[String]| -> Vec<String> {
        these.iter().filter(|name| !those.contains(name)).cloned().collect()
    };
    [
        list(&format!("{what} planned only in A"), &without(a, b)),
        list(&format!("{what} planned only in B"), &without(b, a)),
    ]
    .into_iter()
    .flatten()
    .collect()
}

/// Says in which web each side was, where that is not the same one.
fn web(a: &WebConfig, b: &WebConfig) -> Vec<String> {
    let digest = |web: &WebConfig| web.recording.as_ref().map(|it| it.digest.clone());
    let map = |web: &WebConfig| {
        let entries: Vec<String> =
            web.map.iter().map(|(host, to)| format!("{host}={to}")).collect();
        if entries.is_empty() { "none".to_owned() } else { entries.join(" ") }
    };
    [
        differ("web", a.kind.name(), b.kind.name()),
        differ_option("recording of the web", digest(a).as_ref(), digest(b).as_ref()),
        differ("hosts sent elsewhere", &map(a), &map(b)),
        differ("through a proxy", &a.proxy, &b.proxy),
    ]
    .concat()
}

fn seed(a: &RunConfig, b: &RunConfig) -> Vec<String> {
    let mut lines = differ("seed", &a.plan.seed, &b.plan.seed);
    if !lines.is_empty() {
        lines.push("the trials of a pair met different chances".to_owned());
    }
    lines
}

impl Debug for Pinned<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Pinned").field("suite", &self.config.suite.name).finish_non_exhaustive()
    }
}
