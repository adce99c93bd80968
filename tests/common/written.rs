//! Runs that are written by hand, where a mixture is needed that no agent gives.

use std::collections::BTreeMap;

use camino::Utf8PathBuf;
use serde_json::{Value, json};
use wildgym::record::{Record, TrialId};
use wildgym::runner;
use wildgym::store::{RunConfig, Store};
use wildgym::verdict::VerdictRecord;

use super::Place;

/// What becomes of a trial in a run that is written by hand.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Fate {
    Pass,
    Fail,
    Degraded,
    Unjudged,
    Lost,
    Skipped,
    Pending,
}

/// A run that is written by hand: `tasks` tasks `t-00`, … with two factors each.
pub(crate) struct Written {
    tasks: usize,
    config: BTreeMap<&'static str, Value>,
    /// Answers that differ from those of the other runs.
    pub(crate) answer: &'static str,
    /// Schemas of the tools that were offered.
    pub(crate) tools: Value,
    /// The subset of each task.
    pub(crate) subset: fn(usize) -> Option<&'static str>,
}

impl Written {
    pub(crate) fn new(tasks: usize) -> Self {
        let tools = json!([tool("scrape", "Read a page."), tool("execute_code", "Run code.")]);
        Self { tasks, config: BTreeMap::new(), answer: "done", tools, subset: |_| None }
    }

    /// Changes a setting of the run: a path with dots, and its value.
    pub(crate) fn with(mut self, path: &'static str, value: Value) -> Self {
        self.config.insert(path, value);
        self
    }

    /// Writes the run below `place` and says what became of each trial.
    pub(crate) fn write(
        &self,
        place: &Place,
        name: &str,
        fate: impl Fn(&TrialId) -> Fate,
    ) -> Store {
        let root = Utf8PathBuf::from_path_buf(place.path().join("runs").join(name)).unwrap();
        let (store, lock, config) = Store::create(&root, |blobs| {
            let tasks = blobs.put_json(&self.task_data())?;
            let tools = blobs.put_json(&self.tools)?;
            Ok(serde_json::from_value::<RunConfig>(self.run_toml(&tasks, &tools)).unwrap())
        })
        .unwrap();
        let tasks = config.tasks(&store.blobs()).unwrap();
        let verdicts = store.verdicts(&config.judge.name).unwrap();
        for trial in runner::Trials::of(&config, &tasks).iter() {
            let fate = fate(&trial);
            if fate == Fate::Pending {
                continue;
            }
            let mut transcript = store.transcript(&trial, 1).unwrap();
            let outcome = match fate {
                Fate::Lost => "lost:model",
                Fate::Skipped => "skipped:no speech engine",
                Fate::Pass | Fate::Fail | Fate::Degraded | Fate::Unjudged | Fate::Pending => {
                    "answered"
                }
            };
            let record = json!({
                "record": "outcome", "outcome": outcome, "answer": "x", "rounds": 4, "calls": 6,
                "usage": {"input": 1200, "output": 300}, "clock": "2026-03-01T09:00:00Z",
                "t": {"at_ms": 5, "took_ms": 2500},
            });
            let first = json!({
                "record": "attempt", "format": 1, "trial": trial, "attempt": 1, "seed": "",
                "now": "2026-03-01T09:00:00Z", "tools": [], "t": {"at_ms": 0},
            });
            for record in [first, record] {
                transcript.append(&serde_json::from_value::<Record>(record).unwrap()).unwrap();
            }
            let (verdict, reason) = match fate {
                Fate::Pass => ("pass", "the same text"),
                Fate::Fail => ("fail", "`x` is not the reference"),
                Fate::Degraded => ("degraded", "guessed a parameter"),
                Fate::Unjudged | Fate::Lost | Fate::Skipped | Fate::Pending => continue,
            };
            let record = json!({
                "format": 1, "trial": trial, "attempt": 1, "verdict": verdict,
                "reasons": [reason], "t": {"at_ms": 0},
            });
            verdicts.append(&serde_json::from_value::<VerdictRecord>(record).unwrap()).unwrap();
        }
        drop(lock);
        store
    }

    fn task_data(&self) -> Value {
        let task = |index: usize| {
            let data = json!({
                "title": "Say it", "scenario": "data-analysis", "domain": "tests",
                "language": "en", "subset": (self.subset)(index), "factors": ["bias", "dirty-data"],
                "answer": {"kind": "text", "value": self.answer},
            });
            (id(index), data)
        };
        Value::Object((0..self.tasks).map(task).collect())
    }

    fn run_toml(&self, tasks: &str, tools: &str) -> Value {
        let names: Vec<Value> =
            self.tools.as_array().unwrap().iter().map(|t| t["function"]["name"].clone()).collect();
        let mut config = json!({
            "format": 1, "wildgym": "0.1.0", "created": "2026-03-01T09:00:00Z",
            "suite": {
                "name": "tiny", "version": "1.0.0", "digest": "0123456789abcdef",
                "source": "tiny", "tasks": tasks,
            },
            "plan": {
                "tasks": (0..self.tasks).map(id).collect::<Vec<_>>(), "variants": ["full"],
                "k": 3, "seed": 0, "attempts": 3,
            },
            "conditions": {"react-m": {"agent": "react", "model": {
                "name": "m", "base_url": "http://127.0.0.1:9/v1", "key_env": "K",
                "temperature": 0.6, "max_tokens": 8192, "requests": 16, "request_seconds": 600,
            }}},
            "limits": {"rounds": 100, "seconds": 3600},
            "bounds": {"seconds": 180, "bytes": 32768},
            "tools": {"names": names, "schemas": tools},
            "judge": {"name": "exact"},
            "web": "hermetic",
        });
        for (path, value) in &self.config {
            let (parent, field) = path.rsplit_once('.').unwrap_or(("", path));
            let slash = if parent.is_empty() { "" } else { "/" };
            let pointer = format!("{slash}{}", parent.replace('.', "/"));
            config.pointer_mut(&pointer).unwrap()[field] = value.clone();
        }
        config
    }
}

pub(crate) fn id(index: usize) -> String {
    format!("t-{index:02}")
}

pub(crate) fn tool(name: &str, description: &str) -> Value {
    json!({"type": "function", "function": {
        "name": name, "description": description, "parameters": {"type": "object"},
    }})
}

/// Returns the number of a task: 7 for `t-07`.
pub(crate) fn index(trial: &TrialId) -> u32 {
    trial.task[2..].parse().unwrap()
}

pub(crate) fn passes(passed: bool) -> Fate {
    if passed { Fate::Pass } else { Fate::Fail }
}
