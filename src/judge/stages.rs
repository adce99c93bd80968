//! How far an attempt came: which milestones it reached, which hosts it discovered.
//!
//! Decided from the stored transcript and the task's data alone, never from a live sandbox,
//! so that judging again comes to the same. It is a pure function: the same records give
//! the same answer, and nothing is asked, sent or written. It says nothing about the
//! verdict; an attempt may pass without a milestone, and reach all and fail.
//!
//! - `visit`: a host answered a request for the page with status 200 (not `HEAD`, whose
//!   reply has no page). Every request counts: of tools and of executed code, and each hop
//!   of a redirect for itself. Whether the call that sent it ended well does not matter.
//! - `call`: a call of the tool ended without an error, and arguments and result match.
//! - discovery: the host answered any request, with whatever status.

use std::collections::BTreeMap;

use camino::Utf8PathBuf;
use percent_encoding::percent_decode_str;
use regex::Regex;
use url::Url;
use wildgym_sandbox::web::Access;
use wildgym_tasks::environment::Site;
use wildgym_tasks::task::{Predicate, TaskMeta};

use crate::record::{Body, CallRecord, Record, TrialId};
use crate::store::{RunConfig, Store, StoreError, TaskData};
use crate::verdict::Step;

/// What the transcripts of one task are searched for; compiled once and used for all.
#[derive(Debug)]
pub struct Stages {
    milestones: Vec<(String, Sign)>,
    /// Hosts as the task names them, and as they are compared.
    hosts: Vec<(String, String)>,
    aliases: BTreeMap<String, String>,
}

/// A milestone's predicate with its expressions compiled.
#[derive(Debug)]
enum Sign {
    Call { tool: String, arguments: Option<Regex>, result: Option<Regex> },
    Visit { host: String, path: Option<Regex> },
}

/// How far an attempt came.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Reached {
    /// Whether each milestone was reached, by id.
    pub milestones: BTreeMap<String, bool>,
    /// Where each that was reached was reached first.
    pub steps: BTreeMap<String, Step>,
    /// Whether each discovery host answered a request.
    pub discovered: BTreeMap<String, bool>,
}

/// The texts of a call, each read when first needed: they may be blobs.
#[derive(Default)]
struct Texts {
    arguments: Option<[String; 2]>,
    result: Option<String>,
}

/// Looks up the text of a body.
type Read<'a> = dyn Fn(&Body) -> Result<String, StoreError> + 'a;

impl Stages {
    /// Compiles what the transcripts of each task of a run are searched for.
    pub fn of_run(
        config: &RunConfig,
        tasks: &BTreeMap<String, TaskData>,
    ) -> Result<BTreeMap<String, Self>, StoreError> {
        let corrupt = |id: &str, reason: String| StoreError::Corrupt {
            path: Utf8PathBuf::from(format!("blobs/{}", config.suite.tasks)),
            line: 0,
            reason: format!("task `{id}`: {reason}"),
        };
        tasks
            .iter()
            .map(|(id, task)| match Self::new(task) {
                Ok(stages) => Ok((id.clone(), stages)),
                Err(reason) => Err(corrupt(id, reason)),
            })
            .collect()
    }

    /// Compiles the milestones of a task. The error says which expression is none; a suite
    /// that was loaded has no such one.
    pub fn new(task: &TaskData) -> Result<Self, String> {
        let aliases = &task.aliases;
        let mut milestones = Vec::new();
        for milestone in &task.milestones {
            let compile = |text: &Option<String>| {
                let compiled = text.as_deref().map(Regex::new).transpose();
                compiled.map_err(|error| format!("milestone `{}`: {error}", milestone.id))
            };
            let sign = match &milestone.predicate {
                Predicate::Call { tool, arguments, result } => Sign::Call {
                    tool: tool.clone(),
                    arguments: compile(arguments)?,
                    result: compile(result)?,
                },
                Predicate::Visit { host, path } => {
                    Sign::Visit { host: site(aliases, host), path: compile(path)? }
                }
            };
            milestones.push((milestone.id.clone(), sign));
        }
        let hosts = task.discovery_hosts.iter().map(|host| (host.clone(), site(aliases, host)));
        Ok(Self { milestones, hosts: hosts.collect(), aliases: aliases.clone() })
    }

    /// Decides how far a stored attempt came. A task without milestones and discovery
    /// hosts costs no look at the transcript.
    pub fn read(
        &self,
        store: &Store,
        trial: &TrialId,
        attempt: u32,
    ) -> Result<Reached, StoreError> {
        if self.milestones.is_empty() && self.hosts.is_empty() {
            return Ok(Reached::default());
        }
        let blobs = store.blobs();
        self.reached(&store.records(trial, attempt)?, &|body| blobs.text(body))
    }

    /// Decides how far an attempt came from its records; `read` looks up their texts.
    pub fn reached(&self, records: &[Record], read: &Read<'_>) -> Result<Reached, StoreError> {
        let mut reached = Reached {
            milestones: self.milestones.iter().map(|(id, _)| (id.clone(), false)).collect(),
            steps: BTreeMap::new(),
            discovered: self.hosts.iter().map(|(host, _)| (host.clone(), false)).collect(),
        };
        for call in records.iter().filter_map(call) {
            let visits: Vec<Visit> =
                call.web.iter().filter_map(|access| Visit::of(access, &self.aliases)).collect();
            for (host, site) in &self.hosts {
                if visits.iter().any(|visit| visit.site == *site) {
                    reached.discovered.insert(host.clone(), true);
                }
            }
            let mut texts = Texts::default();
            for (id, sign) in &self.milestones {
                let open = !reached.steps.contains_key(id);
                if open && sign.shows(call, &visits, &mut texts, read)? {
                    let step = Step { round: call.round, ingress: call.ingress.clone() };
                    reached.steps.insert(id.clone(), step);
                    reached.milestones.insert(id.clone(), true);
                }
            }
        }
        Ok(reached)
    }
}

/// Returns the other names of the sites that a task's milestones and discovery name: each
/// name with the host that serves it. A visit under any of a site's names is a visit.
#[must_use]
pub fn aliases(task: &TaskMeta, sites: &BTreeMap<String, Site>) -> BTreeMap<String, String> {
    let visited = task.milestones.iter().filter_map(|milestone| match &milestone.predicate {
        Predicate::Visit { host, .. } => Some(host),
        Predicate::Call { .. } => None,
    });
    let named: Vec<&String> = visited.chain(&task.discovery_hosts).collect();
    let is_named = |site: &Site| {
        named.iter().any(|host| **host == site.host || site.meta.aliases.contains(host))
    };
    sites
        .values()
        .filter(|site| is_named(site))
        .flat_map(|site| site.meta.aliases.iter().map(|alias| (alias, &site.host)))
        .map(|(alias, host)| (alias.to_ascii_lowercase(), host.to_ascii_lowercase()))
        .collect()
}

fn call(record: &Record) -> Option<&CallRecord> {
    match record {
        Record::Call(call) => Some(call),
        Record::Attempt(_)
        | Record::Message(_)
        | Record::Model(_)
        | Record::Event(_)
        | Record::Outcome(_) => None,
    }
}

/// Returns the host that serves `host`, in small letters.
fn site(aliases: &BTreeMap<String, String>, host: &str) -> String {
    let host = host.to_ascii_lowercase();
    aliases.get(&host).cloned().unwrap_or(host)
}

/// A request that a host answered.
struct Visit {
    site: String,
    /// Whether a page came back.
    page: bool,
    /// The path as sent, and with `%…` decoded.
    paths: [String; 2],
}

impl Visit {
    fn of(access: &Access, aliases: &BTreeMap<String, String>) -> Option<Self> {
        let status = access.status?;
        let url = Url::parse(&access.url).ok()?;
        let decoded = percent_decode_str(url.path()).decode_utf8_lossy().into_owned();
        Some(Self {
            site: site(aliases, url.host_str()?),
            page: status == 200 && access.method != "HEAD",
            paths: [url.path().to_owned(), decoded],
        })
    }
}

impl Sign {
    /// Returns whether a call shows that the milestone is reached.
    fn shows(
        &self,
        call: &CallRecord,
        visits: &[Visit],
        texts: &mut Texts,
        read: &Read<'_>,
    ) -> Result<bool, StoreError> {
        match self {
            Self::Visit { host, path } => Ok(visits.iter().any(|visit| {
                let fits = |path: &Regex| visit.paths.iter().any(|text| path.is_match(text));
                visit.page && visit.site == *host && path.as_ref().is_none_or(fits)
            })),
            Self::Call { tool, arguments, result } => {
                if call.tool != *tool || call.error.is_some() {
                    return Ok(false);
                }
                if let Some(wanted) = arguments
                    && !texts.arguments(call, read)?.iter().any(|text| wanted.is_match(text))
                {
                    return Ok(false);
                }
                match result {
                    None => Ok(true),
                    Some(wanted) => Ok(wanted.is_match(texts.result(call, read)?)),
                }
            }
        }
    }
}

impl Texts {
    /// Returns the arguments as written, and without needless escapes and spaces: models
    /// may write the same JSON in many ways.
    fn arguments(
        &mut self,
        call: &CallRecord,
        read: &Read<'_>,
    ) -> Result<&[String; 2], StoreError> {
        if self.arguments.is_none() {
            let written = read(&call.arguments)?;
            let plain = serde_json::from_str::<serde_json::Value>(&written)
                .map_or_else(|_| written.clone(), |value| value.to_string());
            self.arguments = Some([written, plain]);
        }
        Ok(self.arguments.get_or_insert_default())
    }

    fn result(&mut self, call: &CallRecord, read: &Read<'_>) -> Result<&str, StoreError> {
        if self.result.is_none() {
            self.result = Some(read(&call.result)?);
        }
        Ok(self.result.get_or_insert_default())
    }
}

#[cfg(test)]
mod tests;
