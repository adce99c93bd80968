//! `wildgym web check`: visits the whole web of a suite and says what is wrong with it.

use std::collections::BTreeSet;

use clap::Args;
use jiff::Timestamp;
use regex::Regex;
use serde_json::json;
use url::Url;
use wildgym_sandbox::web::audit::{Audit, Finding, Severity};
use wildgym_tasks::answer::AnswerKind;
use wildgym_tasks::check::{Leak, Material, leaks};
use wildgym_tasks::task::Predicate;
use wildgym_tasks::{Suite, Task};

use super::super::{Code, Failure, data, say, terminal};

/// Numbers of so many digits stand on every other page; they count with their unit only.
const SHORT: usize = 3;

/// Find dead links, broken routes, orphans, and answers that lie in the open
///
/// Every file, article, service and route is visited, routes with right and with wrong
/// input. Exit code 1 where there are errors; warnings alone are 0.
#[derive(Debug, Args)]
pub(in crate::cli) struct CheckArgs {
    /// Suite, by name or folder
    suite: String,
    /// Logical time of the visit, in UTC [default: when the suite's latest task begins]
    #[arg(long, value_name = "TIME")]
    now: Option<Timestamp>,
    /// Print the findings as JSON
    #[arg(long)]
    json: bool,
}

pub(super) fn run(args: &CheckArgs) -> Result<Code, Failure> {
    let (suite, web) = super::open(&args.suite)?;
    let now = args.now.unwrap_or_else(|| super::latest(&suite));
    let mut audit = web.audit(&suite.sites, now);
    for (id, task) in &suite.tasks {
        let open = in_the_open(id, task, &audit);
        audit.findings.extend(open);
        audit.findings.extend(unknown_hosts(id, task, &suite));
    }
    audit.findings.sort();
    let count = |severity| audit.findings.iter().filter(|one| one.severity == severity).count();
    let (errors, warnings) = (count(Severity::Error), count(Severity::Warning));
    if args.json {
        let object = json!({
            "suite": suite.meta.name,
            "sites": suite.sites.len(),
            "pages": audit.pages.len(),
            "links": audit.links,
            "errors": errors,
            "warnings": warnings,
            "findings": audit.findings,
        });
        data(&serde_json::to_string_pretty(&object).unwrap_or_default());
    } else if !audit.findings.is_empty() {
        data(&table(&audit.findings));
    }
    say(&format!(
        "{} sites, {} pages, {} links: {errors} errors, {warnings} warnings",
        suite.sites.len(),
        audit.pages.len(),
        audit.links
    ));
    Ok(if errors > 0 { Code::Incomplete } else { Code::Done })
}

fn table(findings: &[Finding]) -> String {
    let mut table = comfy_table::Table::new();
    table.load_style(comfy_table::presets::NOTHING);
    let (width, _) = terminal();
    if let Ok(width) = u16::try_from(width) {
        table.set_content_arrangement(comfy_table::ContentArrangement::Dynamic).set_width(width);
    }
    table.set_header(["", "rule", "where", "what"]);
    for one in findings {
        let severity = match one.severity {
            Severity::Error => "error",
            Severity::Warning => "warning",
        };
        table.add_row([severity, one.rule, &one.place, &one.problem]);
    }
    table.to_string()
}

/// Returns pages on which the answer of a task stands, as they are shown, outside of the
/// places that the task declares.
fn in_the_open(id: &str, task: &Task, audit: &Audit) -> Vec<Finding> {
    if task.meta.environment.web.is_none() {
        return Vec::new();
    }
    let blocked = |places: &[String]| {
        let host = places.first().and_then(|place| place.split('/').next()).unwrap_or_default();
        task.meta.blocked_hosts.iter().any(|other| other == host)
    };
    let pages = audit.pages.iter().filter(|page| !blocked(&page.places));
    let materials = pages.map(|page| Material {
        places: page.places.iter().map(|place| format!("web:{place}")).collect(),
        texts: page.texts.clone(),
        unread: false,
    });
    let found = leaks(task, materials).into_iter().filter_map(|leak| match leak {
        Leak::Stands { place, form, excerpt } => Some((place, form, excerpt)),
        // Attachments are not looked at here, and `tasks check` knows requests.
        Leak::Absent { .. } | Leak::Request { .. } => None,
    });
    let told = found.filter(|(_, form, excerpt)| has_its_words(task, form, excerpt));
    let finding = |(place, form, excerpt): (String, String, String)| Finding {
        severity: Severity::Warning,
        rule: "answer-in-the-open",
        place: place.trim_start_matches("web:").to_owned(),
        problem: format!(
            "the answer of `{id}` ({form:?}) stands there (\"…{excerpt}…\"); take it out, or declare the place in `[[answer.stands]]`"
        ),
    };
    told.map(finding).collect()
}

/// Returns whether what stands there says more than a short number: a number of up to
/// three digits counts with the answer's unit behind it, and never without one.
fn has_its_words(task: &Task, form: &str, excerpt: &str) -> bool {
    let digits = form.chars().filter(char::is_ascii_digit).count();
    if form.chars().any(char::is_alphabetic) || digits > SHORT {
        return true;
    }
    let AnswerKind::Number { unit: Some(unit), .. } = &task.meta.answer.kind else { return false };
    let joined = |text: &str| text.to_lowercase().split_whitespace().collect::<String>();
    joined(excerpt).contains(&joined(&format!("{form}{unit}")))
}

/// Returns hosts that a task names and that no site has.
fn unknown_hosts(id: &str, task: &Task, suite: &Suite) -> Vec<Finding> {
    if task.meta.environment.web.is_none() {
        return Vec::new();
    }
    let mut named = BTreeSet::new();
    if let Ok(pattern) = Regex::new(r"https?://[A-Za-z0-9.-]+") {
        let urls =
            pattern.find_iter(&task.instruction).filter_map(|url| Url::parse(url.as_str()).ok());
        named.extend(urls.filter_map(|url| Some(url.host_str()?.to_owned())));
    }
    for milestone in &task.meta.milestones {
        if let Predicate::Visit { host, .. } = &milestone.predicate {
            named.insert(host.clone());
        }
    }
    let known = |host: &str| {
        let bare = host.strip_prefix("www.").unwrap_or(host);
        suite.sites.values().any(|site| {
            site.host == host || site.host == bare || site.meta.aliases.iter().any(|it| it == host)
        })
    };
    let unknown = named.into_iter().filter(|host| !known(host));
    let finding = |host: String| Finding {
        severity: Severity::Error,
        rule: "unknown-host",
        place: format!("tasks/{id}"),
        problem: format!("the task names `{host}`, which is no site of the suite"),
    };
    unknown.map(finding).collect()
}
