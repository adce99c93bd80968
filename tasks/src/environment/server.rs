//! Foreign servers of tools, which speak the Model Context Protocol.
//!
//! Plain data: what is started or reached, and what it may have of the machine. Whether what
//! somebody else wrote may be started at all is the user's word, which nothing in a suite can
//! replace. A server of a world is another matter: its program is wildgym, and all that a suite
//! adds is the data that it serves.

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use url::Url;

use crate::check::Pattern;

/// Most characters of a server's name: with what it offers it makes the names of tools, which
/// may have 64.
const LONGEST_NAME: usize = 24;

/// What stands for the server's folder, `servers/<name>/`, in its command.
pub const FOLDER: &str = "{server}";

/// What stands for the workspace in its command.
pub const WORKSPACE: &str = "{workspace}";

/// A server of tools: `[servers.NAME]` of `suite.toml`.
///
/// Every attempt at a task that names it gets one of its own, which ends with the attempt.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Server {
    /// The program and its arguments; it speaks on its standard input and output. `{server}`
    /// stands for the folder `servers/NAME/` of the suite, `{workspace}` for the workspace.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub command: Vec<String>,
    /// Where it listens instead: an `http` or `https` URL (streamable HTTP).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(extend("format" = "line"))]
    pub url: Option<String>,
    /// The world of the suite, `worlds/NAME/`, whose operations the program itself serves
    /// instead: nothing but its text comes from the suite.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(extend("format" = "line"))]
    pub world: Option<String>,
    /// Variables of its environment, which is empty but for the usual few.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub env: BTreeMap<String, String>,
    /// What it may do with the attempt's workspace.
    #[serde(default)]
    pub workspace: Reach,
    /// Whether it has the machine's network, loopback included.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub network: bool,
    /// Tools of it that are offered, by the names it gives them or as a pattern with `*`
    /// [default: all].
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(extend("items" = {"type": "string", "format": "line"}))]
    pub tools: Option<Vec<String>>,
    /// How long it may take from its start to its list of tools, in seconds [default: 60].
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 1, max = 600))]
    pub connect_seconds: Option<u64>,
}

/// What a server may do with the workspace of an attempt.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Reach {
    /// Nothing.
    #[default]
    None,
    /// Read it.
    Read,
    /// Read and write it.
    Write,
}

impl Server {
    /// Returns whether a tool of that name, which the server gave it, is offered.
    #[must_use]
    pub fn offers(&self, tool: &str) -> bool {
        match &self.tools {
            Some(patterns) => patterns.iter().any(|one| Pattern::new(one).matches(tool)),
            None => true,
        }
    }

    /// Returns those of `tools`, with their places, that none of the tools that it lists fits.
    #[must_use]
    pub fn strangers(&self, listed: &[&str]) -> Vec<(usize, &str)> {
        let fits = |pattern: &str| {
            let pattern = Pattern::new(pattern);
            listed.iter().any(|tool| pattern.matches(tool))
        };
        let named = self.tools.iter().flatten().map(String::as_str).enumerate();
        named.filter(|(_, pattern)| !fits(pattern)).collect()
    }

    /// Returns the fields that do not fit, each with what is wrong.
    #[must_use]
    pub fn misfits(&self, name: &str) -> Vec<(&'static str, String)> {
        let mut found = Vec::new();
        if !is_server_name(name) {
            found.push(("", name_problem(name)));
        }
        match (&self.url, &self.world, self.command.first()) {
            (Some(url), None, None) => {
                if let Err(problem) = reachable(url) {
                    found.push(("url", problem));
                }
                found.extend(self.meaningless("url"));
            }
            (None, Some(world), None) => {
                if !is_plain(world) {
                    found.push(("world", format!("`{world}` cannot name a world")));
                }
                found.extend(self.meaningless("world"));
            }
            (None, None, Some(program)) if program.trim().is_empty() => {
                found.push(("command", "expected a program, found nothing".to_owned()));
            }
            (None, None, Some(_)) => found.extend(self.misfits_of_command()),
            (_, _, _) => {
                found.push(("", "expected one of `command`, `url` and `world`".to_owned()));
            }
        }
        for (variable, value) in &self.env {
            if !is_variable(variable) || value.contains('\0') {
                found.push(("env", format!("`{variable}` cannot be a variable")));
            }
        }
        found
    }

    /// Returns what is wrong with a command that names a program.
    fn misfits_of_command(&self) -> Vec<(&'static str, String)> {
        let mut found = Vec::new();
        if self.command.iter().any(|part| part.contains('\0')) {
            found.push(("command", "has a zero byte".to_owned()));
        }
        let names_workspace = self.command.iter().any(|part| part.contains(WORKSPACE));
        if self.workspace == Reach::None && names_workspace {
            let problem = "`{workspace}` needs `workspace = \"read\"` or `\"write\"`";
            found.push(("command", problem.to_owned()));
        }
        found
    }

    /// Returns the fields that are given and that only a server with a command has.
    fn meaningless(&self, instead: &str) -> Vec<(&'static str, String)> {
        let given = [
            ("env", !self.env.is_empty()),
            ("workspace", self.workspace != Reach::None),
            ("network", self.network),
        ];
        let problem = format!("means nothing for a server with a `{instead}`");
        let given = given.into_iter().filter(|(_, given)| *given);
        given.map(|(field, _)| (field, problem.clone())).collect()
    }
}

/// Returns whether a name is that of one folder, and of none above it.
fn is_plain(name: &str) -> bool {
    let plain = |byte: u8| byte.is_ascii_alphanumeric() || byte == b'-' || byte == b'_';
    !name.is_empty() && name.bytes().all(plain)
}

/// Returns whether a server can have this name: small letters, digits and single `-`, so that
/// what stands before the first `__` of a tool's name is one server's alone.
#[must_use]
pub fn is_server_name(name: &str) -> bool {
    name.len() <= LONGEST_NAME
        && name.split('-').all(|part| {
            let plain = |byte: u8| byte.is_ascii_lowercase() || byte.is_ascii_digit();
            !part.is_empty() && part.bytes().all(plain)
        })
}

/// Says what is wrong with a name.
#[must_use]
pub fn name_problem(name: &str) -> String {
    format!(
        "`{name}` cannot name a server: expected at most {LONGEST_NAME} small letters, digits and \
         single `-`"
    )
}

/// Returns whether a variable of the environment can have this name.
#[must_use]
pub fn is_variable(name: &str) -> bool {
    !name.is_empty()
        && !name.starts_with(|c: char| c.is_ascii_digit())
        && name.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'_')
}

/// Says why a URL cannot be that of a server.
fn reachable(url: &str) -> Result<(), String> {
    let parsed = Url::parse(url).map_err(|error| format!("`{url}` is no URL: {error}"))?;
    if !matches!(parsed.scheme(), "http" | "https") || parsed.host().is_none() {
        return Err(format!("expected an `http` or `https` URL, found `{url}`"));
    }
    if !parsed.username().is_empty() || parsed.password().is_some() {
        return Err("a URL may not hold a password: it is kept with the run".to_owned());
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_server_is_a_command_a_url_or_a_world() {
        let command = |parts: &[&str]| Server {
            command: parts.iter().map(|part| (*part).to_owned()).collect(),
            ..Server::default()
        };
        let url = |url: &str| Server { url: Some(url.to_owned()), ..Server::default() };
        let world = |name: &str| Server { world: Some(name.to_owned()), ..Server::default() };
        let table = [
            ("a", command(&["prog", "--x"]), "", "a command"),
            ("notes-2", url("http://127.0.0.1:1/mcp"), "", "a URL"),
            ("depot", world("depot"), "", "a world"),
            ("a", world("../depot"), "cannot name a world", "a folder elsewhere"),
            ("a", Server { network: true, ..world("w") }, "means nothing", "a world's network"),
            ("a", Server::default(), "one of `command`, `url` and `world`", "nothing"),
            (
                "a",
                Server { url: Some("http://h.example/".into()), ..command(&["p"]) },
                "one of `command`, `url` and `world`",
                "both",
            ),
            (
                "a",
                Server { world: Some("w".into()), ..command(&["p"]) },
                "one of `command`, `url` and `world`",
                "a world and a command",
            ),
            ("a", url("ftp://h.example/"), "`http` or `https`", "another scheme"),
            ("a", url("http://u:p@h.example/"), "may not hold a password", "a password"),
            ("a", Server { network: true, ..url("http://h.example/") }, "means nothing", "walls"),
            ("a", command(&["p", "{workspace}/x"]), "needs `workspace", "no workspace"),
            (
                "a",
                Server { workspace: Reach::Read, ..command(&["p", "{workspace}/x"]) },
                "",
                "a workspace",
            ),
            ("a__b", command(&["p"]), "cannot name a server", "it would look like a tool"),
            ("-a", command(&["p"]), "cannot name a server", "a hyphen first"),
            (
                "a",
                Server { env: [("A B".to_owned(), String::new())].into(), ..command(&["p"]) },
                "cannot be a variable",
                "a blank",
            ),
        ];
        for (name, server, want, why) in table {
            let found = server.misfits(name);
            let said: Vec<&str> = found.iter().map(|(_, problem)| problem.as_str()).collect();
            assert_eq!(found.is_empty(), want.is_empty(), "{why}: {said:?}");
            assert!(
                want.is_empty() || said.iter().any(|one| one.contains(want)),
                "{why}: {said:?}"
            );
        }
    }

    #[test]
    fn tools_are_chosen_by_pattern() {
        let some = |patterns: &[&str]| Server {
            tools: Some(patterns.iter().map(|one| (*one).to_owned()).collect()),
            ..Server::default()
        };
        assert!(Server::default().offers("x"));
        assert!(some(&["read_*"]).offers("read_file") && !some(&["read_*"]).offers("write_file"));
        assert!(!some(&[]).offers("read_file"));
    }
}
