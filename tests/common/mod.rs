//! What the stories share: the real program in a directory of its own, small suites
//! written for one story, and a look at what a run left on disk.
#![expect(dead_code, reason = "each story uses a part")]
#![expect(clippy::unwrap_used, reason = "what fails here fails the story")]

pub(crate) mod written;

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};

use camino::Utf8PathBuf;
use serde_json::Value;

/// Returns the cache that the program uses, as its own rules find it.
pub(crate) fn cache() -> Utf8PathBuf {
    let set = |name: &str| std::env::var(name).ok().map(Utf8PathBuf::from);
    set("WILDGYM_CACHE")
        .or_else(|| set("XDG_CACHE_HOME").map(|path| path.join("wildgym")))
        .or_else(|| set("HOME").map(|path| path.join(".cache/wildgym")))
        .unwrap()
}

/// Returns the folder in which `tests/mcp.sh` has put the peers of MCP, or says that a story is
/// skipped.
#[expect(clippy::print_stderr, reason = "a skipped story must be seen")]
pub(crate) fn peers() -> Option<Utf8PathBuf> {
    let own = std::env::var("WILDGYM_MCP_PEERS").ok().map(Utf8PathBuf::from);
    let folder = own.unwrap_or_else(|| format!("{}-mcp-peers", cache()).into());
    if folder.join("complete").is_file() {
        return Some(folder);
    }
    eprintln!("skipped: the peers of MCP are not here; `tests/mcp.sh` fetches them");
    None
}

/// A directory for one story, and the program started in it.
pub(crate) struct Place {
    folder: tempfile::TempDir,
}

/// What the program left.
pub(crate) struct Ran {
    /// Exit code; none after a signal.
    pub(crate) code: Option<i32>,
    /// Standard output.
    pub(crate) out: String,
    /// Standard error.
    pub(crate) err: String,
}

impl Place {
    /// Makes an empty directory.
    pub(crate) fn new() -> Self {
        Self { folder: tempfile::tempdir().unwrap() }
    }

    /// Returns the directory.
    pub(crate) fn path(&self) -> &Path {
        self.folder.path()
    }

    /// Returns the program with arguments, ready to start, without any key.
    pub(crate) fn command(&self, args: &[&str]) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_wildgym"));
        command
            .args(args)
            .current_dir(self.path())
            .env_remove("OPENAI_API_KEY")
            .env_remove("OPENAI_BASE_URL")
            .env_remove("WILDGYM_JUDGE_MODEL")
            .stdin(Stdio::null());
        command
    }

    /// Runs the program to its end.
    pub(crate) fn wildgym(&self, args: &[&str]) -> Ran {
        let output = self.command(args).output().unwrap();
        Ran {
            code: output.status.code(),
            out: String::from_utf8(output.stdout).unwrap(),
            err: String::from_utf8(output.stderr).unwrap(),
        }
    }

    /// Returns the arguments of a run of `suite` with the model at `url` and more.
    pub(crate) fn asking<'a>(suite: &'a Path, url: &'a str, more: &[&'a str]) -> Vec<&'a str> {
        let suite = suite.to_str().unwrap();
        [&["run", suite, "--model", "m", "--base-url", url], more].concat()
    }

    /// Starts the program and leaves it running.
    pub(crate) fn start(&self, args: &[&str]) -> Child {
        self.command(args).stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap()
    }

    /// Writes a suite of `count` tasks `t-000`, … whose answer is `done`, and returns its
    /// folder. Every task has one attachment, `note.txt`, which says its id.
    pub(crate) fn suite(&self, count: usize) -> PathBuf {
        let folder = self.path().join("suite");
        let write = |path: String, text: String| {
            let path = folder.join(path);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, text).unwrap();
        };
        let suite =
            "format = 1\nname = \"tiny\"\nversion = \"1.0.0\"\ndescription = \"For a story\"\n";
        write("suite.toml".into(), suite.into());
        for number in 0..count {
            let id = format!("t-{number:03}");
            write(
                format!("tasks/{id}/task.toml"),
                format!(
                    "format = 1\nid = \"{id}\"\ntitle = \"Say it\"\nscenario = \"data-analysis\"\n\
                     domain = \"tests\"\nlanguage = \"en\"\nnow = \"2026-03-01T09:00:00Z\"\n\n\
                     [answer]\nkind = \"text\"\nvalue = \"done\"\n"
                ),
            );
            write(format!("tasks/{id}/instruction.md"), format!("Say that {id} is over.\n"));
            write(format!("tasks/{id}/files/note.txt"), format!("this is {id}\n"));
            write(
                format!("tasks/{id}/reference/solution.toml"),
                "format = 1\n\n[[round]]\n[[round.call]]\nname = \"code\"\ntool = \"execute_code\"\n\
                 arguments = { code = \"print(''.join(reversed('enod')))\" }\n\n[answer]\n\
                 expression = \"code | regex('[a-z]+')\"\n"
                    .into(),
            );
        }
        folder
    }
}

impl Ran {
    /// Returns standard output as JSON.
    pub(crate) fn json(&self) -> Value {
        serde_json::from_str(&self.out).unwrap_or_else(|error| {
            panic!("not JSON ({error}):\n{}\nstderr:\n{}", self.out, self.err)
        })
    }
}

/// Returns the transcripts below a run by path, as text.
pub(crate) fn transcripts(run: &Path) -> BTreeMap<String, String> {
    let mut found = BTreeMap::new();
    let mut folders = vec![run.join("trials")];
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(folder).into_iter().flatten() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                folders.push(path);
            } else {
                let name = path.strip_prefix(run.join("trials")).unwrap();
                let text = fs::read_to_string(&path).unwrap_or_default();
                found.insert(name.to_str().unwrap().to_owned(), text);
            }
        }
    }
    found
}

/// Returns whether a transcript is closed by an outcome that counts.
pub(crate) fn is_finished(transcript: &str) -> bool {
    let whole = transcript.rfind('\n').map_or("", |end| &transcript[..end]);
    let last = whole.lines().last().unwrap_or_default();
    serde_json::from_str::<Value>(last).is_ok_and(|record| {
        record["record"] == "outcome"
            && !record["outcome"].as_str().unwrap_or_default().starts_with("lost:")
    })
}

/// Returns a transcript without what depends on the machine or the hour.
pub(crate) fn timeless(transcript: &str) -> String {
    transcript
        .lines()
        .map(|line| {
            let mut record: Value = serde_json::from_str(line).unwrap();
            record.as_object_mut().unwrap().remove("t");
            record.to_string()
        })
        .collect::<Vec<_>>()
        .join("\n")
}

/// Returns the complete lines of a run's exact verdicts.
pub(crate) fn verdicts(run: &Path) -> Vec<Value> {
    let text = fs::read_to_string(run.join("verdicts/exact.jsonl")).unwrap_or_default();
    let whole = text.rfind('\n').map_or("", |end| &text[..end]);
    whole.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}
