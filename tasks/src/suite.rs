//! A suite: a named, versioned set of tasks.

use std::collections::BTreeMap;
use std::sync::Arc;

use camino::Utf8PathBuf;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::environment::Site;
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
