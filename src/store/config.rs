//! `run.toml`: everything that can move a score.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;
use std::fs;
use std::io::Write;

use camino::{Utf8Path, Utf8PathBuf};
use jiff::Timestamp;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};
use wildgym_tasks::environment::BrowserMode;
use wildgym_tasks::scenario::Language;
use wildgym_tasks::scenario_file::ScenarioFile;
use wildgym_tasks::task::{Limits, Milestone};
use wildgym_tasks::{Answer, Factor, Scenario, Variant};

use super::{Blobs, Offering, ServerRef, StoreError, WebConfig};
use crate::record::FORMAT;

/// Most trials that a run may plan: what lists them all must have room for them.
const MOST_TRIALS: u64 = 10_000_000;

/// The contents of `run.toml`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct RunConfig {
    /// Version of the format of this directory.
    pub format: u32,
    /// Version of the program that made the run.
    pub wildgym: String,
    /// When it was made.
    pub created: Timestamp,
    /// The suite.
    pub suite: SuiteRef,
    /// What is tried.
    pub plan: Plan,
    /// Under which conditions, by name.
    pub conditions: BTreeMap<String, Condition>,
    /// Limits of every attempt, which a task may change.
    pub limits: Limits,
    /// Limits of every call.
    pub bounds: BoundsConfig,
    /// The tools that were offered.
    pub tools: ToolsRef,
    /// Who judges.
    pub judge: JudgeConfig,
    /// The network that trials see.
    pub web: WebConfig,
    /// The cassette that replies of models come from; none where models are asked.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cassette: Option<CassetteRef>,
    /// Foreign servers whose tools are offered, by name.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub servers: BTreeMap<String, ServerRef>,
}

/// A cassette that is replayed.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct CassetteRef {
    /// BLAKE3 of its files, as 64 hexadecimal digits.
    pub digest: String,
}

/// The suite of a run.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct SuiteRef {
    /// Its name.
    pub name: String,
    /// Its version.
    pub version: String,
    /// Digest of its files.
    pub digest: String,
    /// Name of a built-in suite, or the path of its folder.
    pub source: String,
    /// Blob with what judges and reports need of its tasks ([`TaskData`] by id, as JSON).
    pub tasks: String,
    /// The tasks of its subsets, by name of the subset.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub subsets: BTreeMap<String, BTreeSet<String>>,
}

/// What judges and reports need of a task, so that they work from the store alone.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct TaskData {
    /// One line for listings.
    pub title: String,
    /// The kind of task.
    pub scenario: Scenario,
    /// A part of the scenario.
    #[serde(default)]
    pub subset: Option<String>,
    /// Field of life.
    pub domain: String,
    /// Language of request and answer.
    pub language: Language,
    /// How the task is de-idealised.
    pub factors: BTreeSet<Factor>,
    /// The reference answer.
    pub answer: Answer,
    /// The world that it works in, and what of that has to hold at the end.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub world: Option<WorldData>,
    /// What is expected of the calls, where the task says so.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub scenario_file: Option<Box<ScenarioFile>>,
    /// Steps on the way.
    #[serde(default)]
    pub milestones: Vec<Milestone>,
    /// Hosts whose first visit counts as finding a tool.
    #[serde(default)]
    pub discovery_hosts: Vec<String>,
    /// Other names of hosts that milestones and discovery name: the name to the host.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub aliases: BTreeMap<String, String>,
    /// What is asked, by variant: all variants that the run plans.
    #[serde(default)]
    pub questions: BTreeMap<String, String>,
    /// What the request stands for in full, where the task's is ambiguous; empty elsewhere,
    /// and in runs of programs that did not keep it.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub wanted: String,
    /// Which step of the work needs what of which other, where the task says so.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub dependencies: String,
    /// The reference solution: `solution.toml` and the texts beside it. Empty in runs of
    /// programs that did not keep it.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub solution: String,
    /// Whether it makes calls fail or its world move by itself, so that what came of that is
    /// looked for in its transcripts.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub disturbed: bool,
}

/// What judges and reports need of a task's world, beside the images of its state.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct WorldData {
    /// Its name.
    pub name: String,
    /// Digest of its files.
    pub digest: String,
    /// The operations that can change the state.
    pub writes: BTreeSet<String>,
    /// Blob with what there is to know of all operations ([`OperationData`] by name, as
    /// JSON); empty in runs of programs that did not keep it.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub operations: String,
    /// What has to hold at the end.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub final_state_assertions: Vec<String>,
}

/// What judges need of an operation.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct OperationData {
    /// The part of the world that it belongs to.
    pub category: String,
    /// Whether it can change the state.
    pub writes: bool,
    /// JSON Schema of its arguments.
    pub parameters: Value,
}

impl WorldData {
    /// Reads what there is to know of the operations.
    pub fn operations(&self, blobs: &Blobs) -> Result<BTreeMap<String, OperationData>, StoreError> {
        if self.operations.is_empty() {
            return Ok(BTreeMap::new());
        }
        let bytes = blobs.get(&self.operations)?;
        serde_json::from_slice(&bytes).map_err(|error| StoreError::Corrupt {
            path: Utf8PathBuf::from(format!("blobs/{}", self.operations)),
            line: error.line(),
            reason: error.to_string(),
        })
    }
}

/// What is tried.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Plan {
    /// Tasks, in order.
    pub tasks: Vec<String>,
    /// Factors to idealise, each set a variant; of a set a task gets what it has.
    pub variants: Vec<Variant>,
    /// Trials of each task and variant.
    pub k: u32,
    /// The run's seed.
    pub seed: u64,
    /// Attempts at a trial before it counts as lost.
    pub attempts: u32,
}

/// What a run varies beside the task.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Condition {
    /// Name of the agent.
    pub agent: String,
    /// Its model, where it has one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub model: Option<ModelConfig>,
    /// The model that answers the questions of tools; none where the agent's own does, or
    /// nobody.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tool_model: Option<ModelConfig>,
    /// Whether the model that answers tools is sent no pictures.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub text_only: bool,
    /// The model that writes down what is said; none where the engine of the machine does,
    /// or nobody.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub speech_model: Option<ModelConfig>,
    /// The model that plays the person who gave the task; none where each task's script does.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub user_model: Option<ModelConfig>,
    /// Whether the model that answers tools is sent sounds.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub hears: bool,
    /// How pages are offered; none where each task says.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub browser: Option<BrowserMode>,
    /// How tools are offered; none where as tasks and tools say.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub offering: Option<Offering>,
    /// The program that acts, where the agent is one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub program: Option<ProgramConfig>,
    /// The faults that calls meet, beside those of the tasks themselves.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub faults: Option<FaultsConfig>,
}

/// A program as an agent.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ProgramConfig {
    /// The program and its arguments; its files by their whole paths.
    pub command: Vec<String>,
    /// BLAKE3 of those files, as 64 hexadecimal digits, by path.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub files: BTreeMap<String, String>,
    /// What else it sees, by its path.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub mounts: Vec<String>,
    /// More variables of its environment.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub environment: BTreeMap<String, String>,
    /// Whether nothing walls it in.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub uncontained: bool,
}

/// The agents that nobody here makes: whoever acts comes from outside.
pub const OUTSIDE: [&str; 2] = ["http", "mcp"];

impl Condition {
    /// Returns whether whoever acts comes from outside, so that no attempt can be begun here.
    #[must_use]
    pub fn is_held(&self) -> bool {
        OUTSIDE.contains(&&*self.agent)
    }

    /// Returns an agent without a model.
    #[must_use]
    pub fn of(agent: &str) -> Self {
        let agent = agent.to_owned();
        Self {
            agent,
            model: None,
            tool_model: None,
            text_only: false,
            speech_model: None,
            user_model: None,
            hears: false,
            browser: None,
            offering: None,
            program: None,
            faults: None,
        }
    }

    /// Returns the models that are asked.
    pub fn models(&self) -> impl Iterator<Item = &ModelConfig> {
        let of_tools = self.tool_model.iter().chain(&self.speech_model);
        self.model.iter().chain(of_tools).chain(&self.user_model)
    }
}

/// A fault profile that is pinned.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct FaultsConfig {
    /// Its name.
    pub profile: String,
    /// Its version.
    pub version: String,
    /// Blob with its text; the digest pins it.
    pub digest: String,
    /// The number that its chances follow from, beside the trial's seed.
    #[serde(default)]
    pub seed: u64,
}

impl fmt::Display for FaultsConfig {
    /// Writes `published 1.0.0 (0123456789ab), seed 7`.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let digest: String = self.digest.chars().take(12).collect();
        write!(f, "{} {} ({digest}), seed {}", self.profile, self.version, self.seed)
    }
}

/// A model and its settings.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ModelConfig {
    /// Name that the endpoint knows.
    pub name: String,
    /// Base URL of the endpoint.
    pub base_url: String,
    /// Environment variable that holds the key; the key itself is never stored.
    pub key_env: String,
    /// Sampling temperature.
    pub temperature: f64,
    /// Most tokens of a reply.
    pub max_tokens: u32,
    /// Requests in flight at once.
    pub requests: u32,
    /// How long a request may take, in seconds.
    pub request_seconds: u64,
    /// More fields of the request.
    #[serde(default, skip_serializing_if = "Map::is_empty")]
    pub extra: Map<String, Value>,
}

/// Limits of every call.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct BoundsConfig {
    /// Working time in seconds.
    pub seconds: u64,
    /// Bytes of a result that the agent reads.
    pub bytes: usize,
}

/// The tools that were offered.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ToolsRef {
    /// Their names, in order.
    pub names: Vec<String>,
    /// Blob with their schemas in `OpenAI` form; the digest pins them.
    pub schemas: String,
}

/// Who judges.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct JudgeConfig {
    /// Name of the judge, which is also the name of its file in `verdicts/`.
    pub name: String,
    /// Models that vote where the exact judge does not decide, in turn; none with `exact`.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub models: Vec<ModelConfig>,
    /// How many votes decide; odd. 0 with `exact`.
    #[serde(default)]
    pub votes: u32,
    /// Digest of the prompts and the schema; empty with `exact`.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub prompts: String,
    /// Whether the models rate how attempts were done too.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub rubric: bool,
}

impl JudgeConfig {
    /// Returns the judge that compares without a model.
    #[must_use]
    pub fn exact() -> Self {
        let name = "exact".to_owned();
        Self { name, models: Vec::new(), votes: 0, prompts: String::new(), rubric: false }
    }
}

impl RunConfig {
    pub(super) fn write(&self, root: &Utf8Path) -> Result<(), StoreError> {
        let path = root.join("run.toml");
        self.check(&path)?;
        let text = toml::to_string(self).map_err(|error| StoreError::Corrupt {
            path: path.clone(),
            line: 0,
            reason: error.to_string(),
        })?;
        let mut part = tempfile::NamedTempFile::new_in(root).map_err(StoreError::io(root))?;
        part.write_all(text.as_bytes()).map_err(StoreError::io(&path))?;
        part.persist(&path).map_err(|failed| StoreError::io(&path)(failed.error))?;
        Ok(())
    }

    pub(super) fn read(root: &Utf8Path) -> Result<Self, StoreError> {
        /// The one field that every version has.
        #[derive(Deserialize)]
        struct Version {
            format: u32,
        }
        let path: Utf8PathBuf = root.join("run.toml");
        let text = fs::read_to_string(&path).map_err(StoreError::io(&path))?;
        let corrupt = |error: &toml::de::Error| StoreError::Corrupt {
            path: path.clone(),
            line: error.span().map_or(0, |span| text[..span.start].matches('\n').count() + 1),
            reason: error.message().to_owned(),
        };
        let version: Version = toml::from_str(&text).map_err(|error| corrupt(&error))?;
        if version.format > FORMAT {
            return Err(StoreError::Newer { path, found: version.format, known: FORMAT });
        }
        let config: Self = toml::from_str(&text).map_err(|error| corrupt(&error))?;
        config.check(&path)?;
        Ok(config)
    }

    /// Refuses names that would lead out of the run's directory, for a run may come from
    /// somebody else, and a plan that nothing could hold.
    fn check(&self, path: &Utf8Path) -> Result<(), StoreError> {
        let corrupt = |reason| Err(StoreError::Corrupt { path: path.to_owned(), line: 0, reason });
        let Plan { tasks, variants, k, .. } = &self.plan;
        let names = [("judge.name", &self.judge.name)]
            .into_iter()
            .chain(self.conditions.keys().map(|name| ("conditions", name)))
            .chain(tasks.iter().map(|name| ("plan.tasks", name)));
        for (field, name) in names {
            if let Some(why) = unfit(name) {
                return corrupt(format!("`{field}`: {name:?} cannot name a file: {why}"));
            }
        }
        let cells = [self.conditions.len(), tasks.len(), variants.len()];
        let trials = cells.iter().fold(u64::from(*k), |all, &n| all.saturating_mul(n as u64));
        if trials > MOST_TRIALS {
            return corrupt(format!(
                "`plan.k`: with {k} there are up to {trials} trials, and a run has at most \
                 {MOST_TRIALS}"
            ));
        }
        Ok(())
    }

    /// Reads what judges and reports need of the tasks.
    pub fn tasks(&self, blobs: &Blobs) -> Result<BTreeMap<String, TaskData>, StoreError> {
        let bytes = blobs.get(&self.suite.tasks)?;
        serde_json::from_slice(&bytes).map_err(|error| StoreError::Corrupt {
            path: Utf8PathBuf::from(format!("blobs/{}", self.suite.tasks)),
            line: error.line(),
            reason: error.to_string(),
        })
    }
}

/// Says why a name cannot be that of a file or folder in a run; none where it can. What
/// begins with a dot is hidden, or leads upwards.
fn unfit(name: &str) -> Option<&'static str> {
    if name.is_empty() {
        return Some("it is empty");
    }
    if name.starts_with('.') {
        return Some("it begins with a dot");
    }
    if name.contains(['/', '\\']) {
        return Some("it has a path separator");
    }
    name.chars().any(char::is_control).then_some("it has a control character")
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A run's file, with what can be changed in it.
    const TEXT: &str = r#"
format = 1
wildgym = "0"
created = "2026-03-01T09:00:00Z"
web = "hermetic"
suite = { name = "s", version = "1", digest = "", source = "s", tasks = "" }
plan = { tasks = ["t-1"], variants = ["full"], k = 4, seed = 1, attempts = 3 }
conditions = { reference = { agent = "reference" } }
limits = { rounds = 10 }
bounds = { seconds = 1, bytes = 1 }
tools = { names = [], schemas = "" }
judge = { name = "exact" }
"#;

    #[test]
    fn what_a_run_names_stays_in_its_directory() {
        let folder = tempfile::tempdir().unwrap();
        let root = Utf8Path::from_path(folder.path()).unwrap();
        let read = |text: &str| {
            fs::write(root.join("run.toml"), text).unwrap();
            RunConfig::read(root).map(drop).map_err(|error| error.to_string())
        };
        assert_eq!(read(TEXT), Ok(()));
        for name in ["llm-m.1+n_2-v3-00ff", "鱼", "a..b"] {
            assert_eq!(read(&TEXT.replace("\"exact\"", &format!("{name:?}"))), Ok(()), "{name}");
        }
        let names =
            ["../../pwn", "/etc/x", "a\\b", "..", ".", ".x", "", "a\u{0}b", "a\nb", "a\u{85}"];
        let fields =
            [("judge.name", "\"exact\""), ("conditions", "reference ="), ("plan.tasks", "\"t-1\"")];
        for name in names {
            // TOML escapes as JSON does.
            let quoted = serde_json::to_string(name).unwrap();
            for (field, old) in fields {
                let equals = if old.ends_with('=') { " =" } else { "" };
                let error = read(&TEXT.replacen(old, &format!("{quoted}{equals}"), 1)).unwrap_err();
                let said = format!("`{field}`: {name:?} cannot name a file");
                assert!(error.contains(&said), "{said}: {error}");
            }
        }
        let error = read(&TEXT.replace("\"full\"", "\"../x\"")).unwrap_err();
        assert!(error.contains("line 7"), "a variant has a form of its own: {error}");
    }

    #[test]
    fn a_plan_has_an_end() {
        let folder = tempfile::tempdir().unwrap();
        let root = Utf8Path::from_path(folder.path()).unwrap();
        for (k, fits) in [("10000000", true), ("10000001", false), ("4000000000", false)] {
            fs::write(root.join("run.toml"), TEXT.replace("k = 4", &format!("k = {k}"))).unwrap();
            let error = RunConfig::read(root).err().map(|error| error.to_string());
            assert_eq!(error.is_none(), fits, "{k}: {error:?}");
            let said = |error: &String| error.contains("a run has at most 10000000");
            assert!(error.iter().all(said), "{k}: {error:?}");
        }
    }
}
