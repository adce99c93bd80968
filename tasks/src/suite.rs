//! A suite: a named, versioned set of tasks.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use camino::Utf8PathBuf;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::environment::{Server, Site};
use crate::task::Task;
use crate::world::World;

/// A loaded suite.
#[derive(Debug, Clone, PartialEq)]
pub struct Suite {
    /// The contents of `suite.toml`.
    pub meta: SuiteMeta,
    /// The suite's folder.
    pub folder: Utf8PathBuf,
    /// The tasks by id.
    pub tasks: BTreeMap<String, Task>,
    /// The sites of the hermetic web by host.
    pub sites: BTreeMap<String, Site>,
    /// The worlds by name.
    pub worlds: BTreeMap<String, Arc<World>>,
    /// BLAKE3 over the names and bytes of every file, as 64 hexadecimal digits; see
    /// `tasks/README.md`.
    pub digest: String,
}

/// The contents of `suite.toml`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct SuiteMeta {
    /// Version of this format: 1.
    #[schemars(extend("const" = 1))]
    pub format: u32,
    /// Name of the suite: small letters, digits, `-`.
    #[schemars(extend("format" = "id"))]
    pub name: String,
    /// Version of its content; scores of two versions are not comparable.
    #[schemars(extend("format" = "line"))]
    pub version: String,
    /// One line for listings.
    #[schemars(extend("format" = "line"))]
    pub description: String,
    /// What the suite says of the network.
    #[serde(default, skip_serializing_if = "SuiteWeb::is_empty")]
    pub web: SuiteWeb,
    /// Parts of the suite that can be run by themselves, by name, such as `smoke`.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub subsets: BTreeMap<String, SubsetMeta>,
    /// Foreign servers of tools, by name; tasks say which of them they offer.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub servers: BTreeMap<String, Server>,
}

/// `[subsets.NAME]` of `suite.toml`: the tasks of other subsets, and more.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct SubsetMeta {
    /// Subsets that tasks name as theirs, whose tasks belong to it.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub subsets: Vec<String>,
    /// Ids of tasks that belong to it beside.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub tasks: Vec<String>,
}

impl Suite {
    /// Returns the ids of the tasks of a subset: one that tasks name as theirs, or one of
    /// `suite.toml`. It is empty where there is none of that name.
    #[must_use]
    pub fn subset(&self, name: &str) -> BTreeSet<&str> {
        let more = self.meta.subsets.get(name);
        let belongs = |(id, task): &(&String, &Task)| {
            let own = task.meta.subset.as_deref();
            own == Some(name)
                || more.is_some_and(|more| {
                    more.tasks.contains(id)
                        || own.is_some_and(|own| more.subsets.iter().any(|one| one == own))
                })
        };
        self.tasks.iter().filter(belongs).map(|(id, _)| id.as_str()).collect()
    }

    /// Returns the names of all subsets.
    #[must_use]
    pub fn subsets(&self) -> BTreeSet<&str> {
        let own = self.tasks.values().filter_map(|task| task.meta.subset.as_deref());
        own.chain(self.meta.subsets.keys().map(String::as_str)).collect()
    }
}

/// `[web]` of `suite.toml`.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct SuiteWeb {
    /// The open internet.
    #[serde(default)]
    pub live: SuiteLive,
}

/// `[web.live]` of `suite.toml`.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct SuiteLive {
    /// Hosts (`*` for all) that are sent to an address such as `http://127.0.0.1:8080`, for
    /// tests; a live run accepts it with `--allow-private` alone.
    #[serde(default)]
    pub map: BTreeMap<String, String>,
}

impl SuiteWeb {
    /// Returns whether nothing is said.
    fn is_empty(&self) -> bool {
        self.live.map.is_empty()
    }
}
