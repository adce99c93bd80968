//! The foreign servers of a run, as `run.toml` keeps them.

use camino::Utf8PathBuf;
use serde::{Deserialize, Serialize};
use wildgym_tasks::environment::Server;

/// A foreign server whose tools a run offers.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ServerRef {
    /// Who named it.
    pub origin: Origin,
    /// How many tools it offered when the run began.
    #[serde(default)]
    pub tools: usize,
    /// Whether it runs behind walls; none for one that is reached by a URL.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub contained: Option<bool>,
    /// Variables of the environment that it is given; their values are never stored.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub pass: Vec<String>,
    /// What it may read of the machine beside what its command stands on.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub reads: Vec<Utf8PathBuf>,
    /// What is started or reached.
    pub server: Server,
}

/// Who named a server.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Origin {
    /// The suite: the tasks that name it get it.
    Suite,
    /// The command line: every task gets it.
    CommandLine,
}

impl ServerRef {
    /// Says what must be said of it with every score.
    #[must_use]
    pub fn note(&self, name: &str) -> String {
        let tools = if self.tools == 1 { "tool" } else { "tools" };
        let start = match &self.server.world {
            Some(world) => format!(
                "server `{name}` is wildgym itself over world `{world}` ({} {tools})",
                self.tools
            ),
            None => format!("server `{name}` is external ({} {tools})", self.tools),
        };
        if let Some(url) = &self.server.url {
            return format!("{start}, reached at {url}: nothing contains it");
        }
        let network = if self.server.network { "with the machine's network" } else { "no network" };
        match self.contained {
            Some(true) => format!("{start}, contained, {network}"),
            Some(false) | None => format!("{start}, not contained: it can do what its user can"),
        }
    }

    /// Returns whether it is the program itself, which serves a world: starting it runs nothing
    /// that somebody else wrote.
    #[must_use]
    pub fn is_own(&self) -> bool {
        self.server.world.is_some()
    }

    /// Returns what is started, as one would type it; none for one that is reached by a URL.
    #[must_use]
    pub fn command(&self) -> Option<String> {
        let quoted = |part: &String| {
            let plain = |c: char| c.is_ascii_alphanumeric() || "-_./:=@%+,{}".contains(c);
            if !part.is_empty() && part.chars().all(plain) {
                part.clone()
            } else {
                format!("'{}'", part.replace('\'', r"'\''"))
            }
        };
        let parts: Vec<String> = self.server.command.iter().map(quoted).collect();
        (!parts.is_empty()).then(|| parts.join(" "))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_label_says_what_contains_a_server() {
        let of = |contained, network, url: Option<&str>| ServerRef {
            origin: Origin::Suite,
            tools: 2,
            contained,
            pass: Vec::new(),
            reads: Vec::new(),
            server: Server {
                command: if url.is_none() { vec!["a b".into(), "c".into()] } else { Vec::new() },
                url: url.map(str::to_owned),
                network,
                ..Server::default()
            },
        };
        let own = || {
            let server = Server { world: Some("depot".into()), ..Server::default() };
            ServerRef { server, ..of(Some(true), false, None) }
        };
        assert!(own().is_own() && !of(Some(true), false, None).is_own());
        let table = [
            (own(), "wildgym itself over world `depot` (2 tools), contained, no network"),
            (of(Some(true), false, None), "(2 tools), contained, no network"),
            (of(Some(true), true, None), "contained, with the machine's network"),
            (of(Some(false), false, None), "not contained"),
            (of(None, false, Some("http://h.example/mcp")), "reached at http://h.example/mcp"),
        ];
        for (one, want) in table {
            assert!(one.note("s").contains(want), "{}", one.note("s"));
        }
        assert_eq!(of(None, false, None).command().as_deref(), Some("'a b' c"));
        assert_eq!(of(None, false, Some("http://h.example/")).command(), None);
    }
}
