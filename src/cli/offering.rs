//! `--distractors`, `--tool-text` and `--tool-order`: how tools are offered, as conditions.
//!
//! Each value is a condition, and several flags make every combination of their values. All
//! that can be wrong with a value is found before a run is made. What a condition offers is
//! pinned in `run.toml` and kept in blobs, so that `resume` needs no file of texts.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Display;
use std::fs;
use std::sync::Arc;

use camino::Utf8Path;
use clap::Args;
use wildgym_toolbox::Wording;

use super::{Failure, say};
use crate::runner::{BuildError, Gym};
use crate::store::{
    Blobs, Condition, Distractors, ORIGINAL, Offering, RunConfig, StoreError, ToolOrder, ToolText,
};

/// Most bytes of a file of texts.
const LARGEST: u64 = 4 << 20;

/// Most bytes of the name of a wording: with what else names a condition it must fit into the
/// name of a folder.
const LONGEST_NAME: usize = 64;

/// How tools are offered.
#[derive(Debug, Args)]
#[command(next_help_heading = "Offered tools")]
pub(super) struct OfferArgs {
    /// Offer each task the operations of its world that it needs and so many others, drawn by
    /// the seed, the task's alone and the same each time, the fewer among the more: numbers or
    /// `all`, separated by commas, each a condition
    #[arg(long, value_name = "COUNTS", value_delimiter = ',', allow_hyphen_values = true)]
    distractors: Vec<Distractors>,

    /// File of texts (TOML or JSON) that replace descriptions of tools and their parameters, a
    /// condition named as the file; `original` is the texts as they are; may be given several
    /// times (`wildgym tools list --tool-text-template` writes such a file)
    #[arg(long, value_name = "FILE")]
    tool_text: Vec<String>,

    /// Shuffle the order in which tools are told of by these seeds, separated by commas, each
    /// a condition; `listed` is the order as it is
    #[arg(long, value_name = "SEEDS", value_delimiter = ',', allow_hyphen_values = true)]
    tool_order: Vec<ToolOrder>,
}

/// A file of texts that was read.
struct Texts {
    path: String,
    /// Its digest, which is that of the blob that will hold it.
    digest: String,
    wording: Arc<Wording>,
}

/// What is varied.
pub(super) struct Varied {
    distractors: Vec<Option<Distractors>>,
    texts: Vec<Option<ToolText>>,
    orders: Vec<Option<ToolOrder>>,
    files: Vec<Texts>,
}

impl OfferArgs {
    /// Reads the files and refuses what would be one condition twice.
    pub(super) fn read(&self) -> Result<Varied, Failure> {
        refuse_twice("--distractors", &self.distractors)?;
        refuse_twice("--tool-order", &self.tool_order)?;
        let (mut texts, mut files) = (Vec::new(), Vec::new());
        for named in &self.tool_text {
            if named == ORIGINAL {
                texts.push(ToolText { name: ORIGINAL.to_owned(), texts: None });
                continue;
            }
            let (text, file) = read(named)?;
            texts.push(text);
            files.push(file);
        }
        let names: Vec<&String> = texts.iter().map(|text| &text.name).collect();
        refuse_twice("--tool-text", &names)?;
        Ok(Varied {
            distractors: or_none(self.distractors.iter().copied()),
            texts: or_none(texts),
            orders: or_none(self.tool_order.iter().copied()),
            files,
        })
    }
}

/// Returns the values, or the one that nothing is said.
fn or_none<T>(values: impl IntoIterator<Item = T>) -> Vec<Option<T>> {
    let values: Vec<Option<T>> = values.into_iter().map(Some).collect();
    if values.is_empty() { vec![None] } else { values }
}

fn refuse_twice<T: PartialEq + Display>(flag: &str, values: &[T]) -> Result<(), Failure> {
    let twice = values.iter().enumerate().find(|(at, value)| values[..*at].contains(value));
    match twice {
        Some((_, value)) => Err(Failure::usage(format!("`{flag}` names `{value}` twice"))
            .hint("each value is a condition of its own; name it once")),
        None => Ok(()),
    }
}

/// Reads a file of texts.
fn read(named: &str) -> Result<(ToolText, Texts), Failure> {
    let path = Utf8Path::new(named);
    let form = path.extension().unwrap_or_default();
    if !["toml", "json"].contains(&form) {
        return Err(Failure::usage(format!(
            "`--tool-text {named}`: expected a file `.toml` or `.json`, or `{ORIGINAL}`"
        ))
        .hint(TEMPLATE));
    }
    let name = name_of(path)?;
    let failed = |reason: String| {
        Failure::usage(format!("`{named}` has no texts of tools: {reason}")).hint(TEMPLATE)
    };
    let size = fs::metadata(path).map_or(0, |data| data.len());
    if size > LARGEST {
        return Err(failed(format!("it has {size} bytes, and {LARGEST} are the most")));
    }
    let text = fs::read_to_string(path)
        .map_err(|error| Failure::usage(format!("cannot read `{named}`: {error}")))?;
    let wording: Wording = if form == "json" {
        serde_json::from_str(&text).map_err(|error| failed(error.to_string()))?
    } else {
        toml::from_str(&text).map_err(|error: toml::de::Error| {
            let start = error.span().map_or(0, |span| span.start);
            let line = text.get(..start).unwrap_or_default().matches('\n').count() + 1;
            failed(format!("line {line}: {}", error.message()))
        })?
    };
    if wording.is_empty() {
        return Err(failed("it replaces none".to_owned()));
    }
    let bytes = serde_json::to_vec(&wording).map_err(|error| failed(error.to_string()))?;
    let digest = blake3::hash(&bytes).to_hex().to_string();
    let text = ToolText { name, texts: Some(digest.clone()) };
    Ok((text, Texts { path: named.to_owned(), digest, wording: Arc::new(wording) }))
}

/// What helps whoever writes a file of texts.
const TEMPLATE: &str = "`wildgym tools list --world WORLD --tool-text-template` writes a file with \
    all texts as they are; leave in it what you change";

/// Returns the name of a wording: that of its file, which has to fit into one of a folder.
fn name_of(path: &Utf8Path) -> Result<String, Failure> {
    let name = path.file_stem().unwrap_or_default();
    if name == ORIGINAL {
        return Err(Failure::usage(format!(
            "`{path}` cannot name a condition: `{ORIGINAL}` is the texts as they are"
        ))
        .hint("rename the file"));
    }
    let plain = |c: char| c.is_alphanumeric() || "-_.".contains(c);
    let fits = (1..=LONGEST_NAME).contains(&name.len());
    if !fits || name.starts_with('.') || !name.chars().all(plain) {
        return Err(Failure::usage(format!("`{path}` cannot name a condition")).hint(format!(
            "rename the file: letters, digits, `-`, `_` and `.`, at most {LONGEST_NAME} bytes"
        )));
    }
    Ok(name.to_owned())
}

impl Varied {
    /// Returns the conditions by name: `one` with every combination of what is varied.
    pub(super) fn conditions(
        &self,
        (base, one): (String, Condition),
    ) -> BTreeMap<String, Condition> {
        let mut all = BTreeMap::new();
        for distractors in &self.distractors {
            for tool_text in &self.texts {
                for tool_order in &self.orders {
                    let offering = Offering {
                        distractors: *distractors,
                        tool_text: tool_text.clone(),
                        tool_order: *tool_order,
                        ..Offering::default()
                    };
                    let name = offering.name(&base);
                    let offering = (name != base).then_some(offering);
                    all.insert(name, Condition { offering, ..one.clone() });
                }
            }
        }
        all
    }

    /// Has the gym offer tools as the conditions say; refuses what does not fit its tasks.
    pub(super) fn present(
        &self,
        gym: &mut Gym,
        conditions: &BTreeMap<String, Condition>,
        (tasks, seed): (&[String], u64),
        quiet: bool,
    ) -> Result<(), Failure> {
        for distractors in self.distractors.iter().flatten() {
            if let Distractors::Number(number) = distractors {
                check_room(gym, (tasks, seed), *number, quiet)?;
            }
        }
        for file in &self.files {
            check_texts(gym, tasks, file)?;
        }
        let wordings = self.files.iter().map(|file| (file.digest.clone(), file.wording.clone()));
        let presented = gym.present(conditions, &wordings.collect(), seed);
        presented.map_err(|error| Failure::usage(error.to_string()))
    }

    /// Keeps the texts in blobs, whose digests the conditions have already.
    pub(super) fn keep(&self, blobs: &Blobs) -> Result<(), StoreError> {
        self.files.iter().try_for_each(|file| blobs.put_json(&*file.wording).map(drop))
    }
}

/// Refuses a number of distractors that no task has, and says where fewer are offered.
fn check_room(
    gym: &Gym,
    (tasks, seed): (&[String], u64),
    number: u32,
    quiet: bool,
) -> Result<(), Failure> {
    let mut most = 0;
    let mut fewer = 0;
    for task in tasks {
        let Some(others) = gym.others(task, seed) else {
            return Err(Failure::usage(format!(
                "`--distractors {number}`: task `{task}` has no world, so nothing says which of \
                 its tools it needs"
            ))
            .hint(
                "select tasks that have one with `--tasks`, or leave `--distractors` out: tools of \
                 the program are offered whole",
            ));
        };
        most = most.max(others.len());
        fewer += usize::from(others.len() < number as usize);
    }
    if most < number as usize {
        return Err(Failure::usage(format!(
            "`--distractors {number}`: no selected task has so many operations beside those that \
             it needs; the most are {most}"
        ))
        .hint("`all` offers every operation"));
    }
    if fewer > 0 && !quiet {
        let noun = if fewer == 1 { "task has" } else { "tasks have" };
        say(&format!(
            "--distractors {number}: {fewer} {noun} fewer operations beside those needed, and all \
             are offered"
        ));
    }
    Ok(())
}

/// Refuses texts of tools or parameters that do not exist, and texts that nobody would read.
fn check_texts(gym: &Gym, tasks: &[String], file: &Texts) -> Result<(), Failure> {
    let Texts { path, wording, .. } = file;
    let misfits = wording.misfits(&gym.catalog);
    if !misfits.is_empty() {
        return Err(Failure::usage(format!(
            "`{path}` has texts of what is not there:\n  {}",
            misfits.join("\n  ")
        ))
        .hint(TEMPLATE));
    }
    let read = |task: &String| {
        let offer = gym.offer(task, gym.mode(task, None));
        offer.is_ok_and(|offer| offer.catalog.names().iter().any(|name| wording.has(name)))
    };
    if tasks.iter().any(read) {
        return Ok(());
    }
    Err(Failure::usage(format!("`{path}` has no text of a tool that a selected task is offered"))
        .hint("name tools of these tasks, or leave the file out"))
}

/// Keeps what each condition offers, and pins it.
pub(super) fn pin(
    gym: &Gym,
    conditions: &mut BTreeMap<String, Condition>,
    tasks: &[String],
    blobs: &Blobs,
) -> Result<(), StoreError> {
    for (name, condition) in conditions {
        let browser = condition.browser;
        let Some(offering) = &mut condition.offering else { continue };
        let names = |task: &String| {
            let offer = gym.offer_under(name, task, gym.mode(task, browser)).ok()?;
            Some((task.clone(), offer.catalog.names()))
        };
        let offers: BTreeMap<String, Vec<String>> = tasks.iter().filter_map(names).collect();
        offering.offers = blobs.put_json(&offers)?;
        offering.schemas = blobs.put_json(&gym.schemas_under(name))?;
    }
    Ok(())
}

/// Has the gym offer tools as a stored run began, and refuses to go on where it cannot.
pub(super) fn again(gym: &mut Gym, config: &RunConfig, blobs: &Blobs) -> Result<(), Failure> {
    let texts =
        |condition: &Condition| condition.offering.as_ref()?.tool_text.as_ref()?.texts.clone();
    let digests: BTreeSet<String> = config.conditions.values().filter_map(texts).collect();
    let mut wordings = BTreeMap::new();
    for digest in digests {
        let bytes = blobs.get(&digest)?;
        let wording: Wording = serde_json::from_slice(&bytes)
            .map_err(|error| Failure::usage(format!("`blobs/{digest}` is damaged: {error}")))?;
        wordings.insert(digest, Arc::new(wording));
    }
    let presented = gym.present(&config.conditions, &wordings, config.plan.seed);
    presented.map_err(|error: BuildError| Failure::usage(error.to_string()))?;
    let mut now = config.conditions.clone();
    pin(gym, &mut now, &config.plan.tasks, blobs)?;
    match now.iter().find(|(name, condition)| config.conditions.get(*name) != Some(condition)) {
        Some((name, _)) => Err(Failure::usage(format!(
            "this version of wildgym offers other tools under condition `{name}` than the run \
             began with"
        ))
        .hint(format!("resume with wildgym {}, or begin anew", config.wildgym))),
        None => Ok(()),
    }
}
