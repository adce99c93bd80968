//! Foreign servers of tools: which a run has, and whether it may start them.
//!
//! What the command line names, the user has asked for. What a suite, or a stored run, names is
//! somebody else's word: it starts nothing unless the user repeats the digest of exactly the
//! files that name it. A server of a world needs no such word, whoever names it: what is
//! started is this program, behind the same walls as any other, and what it reads is data.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use camino::{Utf8Path, Utf8PathBuf};
use clap::Args;
use wildgym_sandbox::Host;
use wildgym_sandbox::servers::reach;
use wildgym_tasks::Suite;
use wildgym_tasks::environment::server::{is_server_name, is_variable, name_problem};
use wildgym_tasks::environment::{Reach, Server};
use wildgym_toolbox::foreign::Spec;

use super::{Failure, environment, say};
use crate::runner::Servers;
use crate::store::{Origin, ServerRef};

/// Fewest hexadecimal digits that stand for a digest.
const DIGITS: usize = 12;

/// The foreign servers of a run.
#[derive(Debug, Args)]
pub(super) struct ServerArgs {
    #[command(flatten)]
    named: NamedArgs,

    #[command(flatten)]
    allowed: AllowArgs,
}

/// Foreign servers that the command line names.
#[derive(Debug, Args)]
#[command(next_help_heading = "Foreign servers (MCP)")]
#[expect(clippy::struct_field_names, reason = "the fields are the flags, which have the prefix")]
pub(super) struct NamedArgs {
    /// Offer in every task the tools of a program that speaks MCP on its standard input and
    /// output, as `NAME__tool`. It sees nothing of this machine but the system's programs and
    /// what its command names. After NAME: `,read` or `,write` lets it use the workspace, for
    /// whose path `{workspace}` stands in COMMAND, `,net` gives it the network; may be repeated
    #[arg(long, value_name = "NAME=COMMAND")]
    mcp_server: Vec<String>,

    /// Offer in every task the tools of a server that listens at URL (streamable HTTP); may be
    /// repeated
    #[arg(long, value_name = "NAME=URL")]
    mcp_url: Vec<String>,

    /// Give a server of these flags a variable of the environment; of a server with a URL its
    /// value is the bearer token; it is never stored; may be repeated
    #[arg(long, value_name = "NAME=VARIABLE")]
    mcp_env: Vec<String>,

    /// Let a server of these flags read a file or folder of this machine; may be repeated
    #[arg(long, value_name = "NAME=PATH")]
    mcp_read: Vec<String>,
}

/// Whether commands that somebody else wrote may be started.
#[derive(Debug, Args)]
pub(super) struct AllowArgs {
    /// Start the servers that the suite names, where DIGEST begins the suite's digest
    #[arg(long, value_name = "DIGEST", help_heading = "Foreign servers (MCP)")]
    allow_commands: Option<String>,
}

/// The servers of a run, before they are started.
#[derive(Debug, Default)]
pub(super) struct Planned(BTreeMap<String, ServerRef>);

impl ServerArgs {
    /// Returns whether any of the flags was given.
    pub(super) fn is_given(&self) -> bool {
        !self.named.mcp_server.is_empty()
            || !self.named.mcp_url.is_empty()
            || self.allowed.allow_commands.is_some()
    }

    /// Returns the servers of the command line and those that the tasks name, where they may be
    /// started.
    pub(super) fn plan(&self, suite: &Suite, tasks: &[String]) -> Result<Planned, Failure> {
        let mut planned = self.named.named()?;
        let mut of_suite = Planned::default();
        let tasks = tasks.iter().filter_map(|id| suite.tasks.get(id));
        for name in tasks.flat_map(|task| &task.meta.environment.servers) {
            // The loader has looked.
            let Some(server) = suite.meta.servers.get(name) else { continue };
            of_suite.0.insert(name.clone(), reference(Origin::Suite, server.clone()));
        }
        self.allowed.check(&of_suite, suite, &format!("suite `{}`", suite.meta.name))?;
        for (name, server) in of_suite.0 {
            if planned.0.insert(name.clone(), server).is_some() {
                return Err(Failure::usage(format!("the suite has a server `{name}` too"))
                    .hint("take another name for yours"));
            }
        }
        Ok(planned)
    }
}

impl NamedArgs {
    /// Returns the servers of the command line.
    pub(super) fn named(&self) -> Result<Planned, Failure> {
        let mut found = Planned::default();
        for entry in &self.mcp_server {
            let (name, options, text) = parts("--mcp-server", entry)?;
            let mut server = Server { command: words(text)?, ..Server::default() };
            for option in options {
                match option {
                    "read" => server.workspace = Reach::Read,
                    "write" => server.workspace = Reach::Write,
                    "net" => server.network = true,
                    other => {
                        return Err(Failure::usage(format!("`--mcp-server {entry}`: `{other}`"))
                            .hint("what may stand after the name is `read`, `write` and `net`"));
                    }
                }
            }
            server.command = server.command.iter().map(|part| absolute(part)).collect();
            found.add("--mcp-server", entry, name, server)?;
        }
        for entry in &self.mcp_url {
            let (name, options, url) = parts("--mcp-url", entry)?;
            if let Some(option) = options.first() {
                return Err(Failure::usage(format!("`--mcp-url {entry}`: `{option}`"))
                    .hint("a server with a URL has no options: nothing of it runs here"));
            }
            let server = Server { url: Some(url.to_owned()), ..Server::default() };
            found.add("--mcp-url", entry, name, server)?;
        }
        for entry in &self.mcp_env {
            let (server, variable) = found.of("--mcp-env", entry)?;
            if !is_variable(variable) {
                return Err(Failure::usage(format!("`--mcp-env {entry}`: no name of a variable"))
                    .hint("its value stays in the environment; only its name is given"));
            }
            server.pass.push(variable.to_owned());
        }
        for entry in &self.mcp_read {
            let (server, path) = found.of("--mcp-read", entry)?;
            let path = Utf8Path::new(path).canonicalize_utf8().map_err(|error| {
                Failure::usage(format!("`--mcp-read {entry}`: cannot open it: {error}"))
            })?;
            server.reads.push(path);
        }
        Ok(found)
    }
}

impl AllowArgs {
    /// Refuses to start what somebody else wrote, unless the user names what it was.
    fn check(&self, planned: &Planned, suite: &Suite, whose: &str) -> Result<(), Failure> {
        let foreign: Vec<(&String, &ServerRef)> =
            planned.0.iter().filter(|(_, one)| !one.is_own()).collect();
        if foreign.is_empty() {
            return Ok(());
        }
        let digest = &suite.digest;
        let short = digest.get(..DIGITS).unwrap_or(digest);
        let hint = format!(
            "read what they do; if you want them to run here, add `--allow-commands {short}`"
        );
        let Some(given) = &self.allow_commands else {
            let listed: Vec<String> = foreign.iter().map(|(name, one)| listed(name, one)).collect();
            return Err(Failure::usage(format!(
                "{whose} has foreign servers, which run on this machine or learn what agents \
                 do:\n{}",
                listed.join("\n")
            ))
            .hint(hint));
        };
        if given.len() >= DIGITS && digest.starts_with(given.as_str()) {
            return Ok(());
        }
        Err(Failure::usage(format!(
            "`--allow-commands {given}` is for other files: the suite's digest begins with `{short}`"
        ))
        .hint(hint))
    }

    /// Returns the servers of a stored run. What it starts is the user's word only if the user
    /// says so again, for a run may come from somebody else.
    pub(super) fn stored(
        &self,
        servers: &BTreeMap<String, ServerRef>,
        suite: &Suite,
        run: &Utf8Path,
    ) -> Result<Planned, Failure> {
        let planned = Planned(servers.clone());
        self.check(&planned, suite, &format!("run `{run}`"))?;
        for (name, one) in &planned.0 {
            if let Some((_, problem)) = one.server.misfits(name).into_iter().next() {
                return Err(Failure::usage(format!(
                    "`{run}/run.toml`: server `{name}`: {problem}"
                )));
            }
        }
        Ok(planned)
    }
}

impl Planned {
    /// Adds a server of the command line.
    fn add(&mut self, flag: &str, entry: &str, name: &str, server: Server) -> Result<(), Failure> {
        if !is_server_name(name) {
            return Err(Failure::usage(format!("`{flag} {entry}`: {}", name_problem(name))));
        }
        if let Some((_, problem)) = server.misfits(name).into_iter().next() {
            return Err(Failure::usage(format!("`{flag} {entry}`: {problem}")).hint(
                "a server is `NAME=COMMAND` or `NAME=URL`; `NAME,read=…` opens the workspace",
            ));
        }
        let server = reference(Origin::CommandLine, server);
        match self.0.insert(name.to_owned(), server) {
            None => Ok(()),
            Some(_) => Err(Failure::usage(format!("`{flag} {entry}`: `{name}` is there twice"))),
        }
    }

    /// Returns the server that `NAME=…` names, and what stands behind it.
    fn of<'a>(&mut self, flag: &str, entry: &'a str) -> Result<(&mut ServerRef, &'a str), Failure> {
        let (name, _, rest) = parts(flag, entry)?;
        match self.0.get_mut(name) {
            Some(server) => Ok((server, rest)),
            None => Err(Failure::usage(format!("`{flag} {entry}`: there is no server `{name}`"))
                .hint("name it with `--mcp-server` or `--mcp-url`")),
        }
    }

    /// Returns those servers of a suite that are this program over a world of it.
    pub(super) fn own(suite: &Suite) -> Self {
        let servers = suite.meta.servers.iter().filter(|(_, server)| server.world.is_some());
        let own = |(name, server): (&String, &Server)| {
            (name.clone(), reference(Origin::Suite, server.clone()))
        };
        Self(servers.map(own).collect())
    }

    /// Returns whether there are none.
    pub(super) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Starts each once and lists its tools; `folder` is that of the suite.
    pub(super) fn open(&self, folder: &Utf8Path, host: &Arc<Host>) -> Result<Servers, Failure> {
        let specs: Vec<Spec> =
            self.0.iter().map(|(name, one)| spec(name, one, folder)).collect::<Result<_, _>>()?;
        let everywhere = self.0.iter().filter(|(_, one)| one.origin == Origin::CommandLine);
        let everywhere: BTreeSet<String> = everywhere.map(|(name, _)| name.clone()).collect();
        // Whoever calls may stand in a runtime already, in which no other can be begun.
        let list = || {
            let runtime = tokio::runtime::Runtime::new()?;
            Ok(runtime.block_on(Servers::list(specs, everywhere, host)))
        };
        let listed = std::thread::scope(|scope| scope.spawn(list).join());
        let listed: std::io::Result<_> =
            listed.unwrap_or_else(|_| Err(std::io::Error::other("the list of tools broke off")));
        let servers = listed.map_err(|error| Failure::usage(format!("cannot start: {error}")))?;
        let servers = servers.map_err(|error| {
            Failure::usage(error.to_string())
                .hint("try its command by hand; `wildgym run --help` says what it sees here")
        })?;
        for line in servers.left_out() {
            say(&format!("note: {line}"));
        }
        Ok(servers)
    }

    /// Returns what a run keeps of its servers, once they are listed.
    pub(super) fn kept(self, servers: &Servers, host: &Host) -> BTreeMap<String, ServerRef> {
        let mut kept = self.0;
        for (name, tools) in servers.names() {
            if let Some(one) = kept.get_mut(name) {
                one.tools = tools;
                one.contained = one.server.url.is_none().then(|| host.servers.has_walls());
            }
        }
        kept
    }
}

fn reference(origin: Origin, server: Server) -> ServerRef {
    let (pass, reads) = (Vec::new(), Vec::new());
    ServerRef { origin, tools: 0, contained: None, pass, reads, server }
}

/// Says what a server is, for who decides whether it may be one.
fn listed(name: &str, one: &ServerRef) -> String {
    let server = &one.server;
    let what = one.command().or_else(|| server.url.clone()).unwrap_or_default();
    let mut gets = Vec::new();
    match server.workspace {
        Reach::None => {}
        Reach::Read => gets.push("reads the workspace"),
        Reach::Write => gets.push("writes the workspace"),
    }
    if server.network {
        gets.push("has the network");
    }
    let gets = if gets.is_empty() { String::new() } else { format!(" ({})", gets.join(", ")) };
    format!("  {name}: {what}{gets}")
}

/// Returns a server with all that its start needs.
fn spec(name: &str, one: &ServerRef, suite: &Utf8Path) -> Result<Spec, Failure> {
    let mut secrets = Vec::new();
    for variable in &one.pass {
        let Some(value) = environment::get(variable) else {
            return Err(Failure::usage(format!(
                "`{variable}` is not set, and server `{name}` wants it"
            ))
            .hint("set it, or leave out `--mcp-env`"));
        };
        secrets.push((variable.clone(), value));
    }
    let (mut folder, mut reads) = (None, one.reads.clone());
    let mut server = one.server.clone();
    match (&one.server.world, one.origin) {
        (Some(world), _) => {
            // Its folder keeps its name behind the walls, for a world is called as its folder.
            let own = suite.join("worlds").join(world);
            server.command = serving(&own)?;
            reads.push(own);
        }
        (None, Origin::Suite) => {
            let own = suite.join("servers").join(name);
            folder = own.is_dir().then_some(own);
        }
        // What the user typed, the program may see.
        (None, Origin::CommandLine) => {
            let named = one.server.command.iter().skip(1);
            let paths =
                named.map(|part| part.split_once('=').map_or(part.as_str(), |(_, path)| path));
            reads
                .extend(paths.map(Utf8Path::new).filter(|path| path.is_absolute()).flat_map(reach));
        }
    }
    Ok(Spec { name: name.to_owned(), server, folder, reads, secrets })
}

/// Returns the command with which this program serves the world in `folder`.
fn serving(folder: &Utf8Path) -> Result<Vec<String>, Failure> {
    let program = std::env::current_exe().ok().and_then(|one| Utf8PathBuf::try_from(one).ok());
    let program = program.ok_or_else(|| Failure::usage("cannot find the program itself"))?;
    Ok(vec![program.into_string(), "serve".into(), "world".into(), folder.as_str().to_owned()])
}

/// Splits `NAME,OPTION,…=REST`.
fn parts<'a>(flag: &str, entry: &'a str) -> Result<(&'a str, Vec<&'a str>, &'a str), Failure> {
    let Some((left, rest)) = entry.split_once('=') else {
        return Err(Failure::usage(format!("`{flag} {entry}` has no `=`"))
            .hint(format!("write `{flag} NAME={entry}`")));
    };
    let mut left = left.split(',');
    let name = left.next().unwrap_or_default();
    Ok((name, left.collect(), rest.trim()))
}

/// Returns what names a file or folder here by a path that holds elsewhere too.
fn absolute(part: &str) -> String {
    let path = Utf8Path::new(part);
    let names = part.contains('/') && !part.starts_with(['-', '{']) && path.exists();
    if !names {
        return part.to_owned();
    }
    let whole = std::path::absolute(path).ok().and_then(|one| Utf8PathBuf::try_from(one).ok());
    whole.map_or_else(|| part.to_owned(), Utf8PathBuf::into_string)
}

/// Splits a command as a shell does: at blanks, with quotes and `\`; nothing is expanded.
fn words(text: &str) -> Result<Vec<String>, Failure> {
    let (mut words, mut word, mut quote) = (Vec::new(), None::<String>, None);
    let mut letters = text.chars();
    while let Some(letter) = letters.next() {
        match (quote, letter) {
            (Some(open), _) if letter == open => quote = None,
            (None, '\'' | '"') => {
                quote = Some(letter);
                word.get_or_insert_default();
            }
            (None | Some('"'), '\\') => match letters.next() {
                Some(next) => word.get_or_insert_default().push(next),
                None => return Err(Failure::usage(format!("`{text}` ends in `\\`"))),
            },
            (None, _) if letter.is_whitespace() => words.extend(word.take()),
            (_, _) => word.get_or_insert_default().push(letter),
        }
    }
    if let Some(open) = quote {
        return Err(Failure::usage(format!("`{text}` has a {open} without its end")));
    }
    words.extend(word);
    Ok(words)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_command_is_split_as_a_shell_splits_it() {
        let table: [(&str, &[&str], &str); 6] = [
            ("a b  c", &["a", "b", "c"], "blanks"),
            ("a 'b c' \"d 'e'\"", &["a", "b c", "d 'e'"], "quotes"),
            (r"a\ b '\n' \'", &["a b", r"\n", "'"], "backslashes"),
            ("a '' \"\"", &["a", "", ""], "empty words"),
            ("--x='a b'c", &["--x=a bc"], "quotes inside"),
            ("", &[], "nothing"),
        ];
        for (text, want, why) in table {
            assert_eq!(words(text).unwrap(), want, "{why}");
        }
        for text in ["a 'b", "a \"b", "a \\"] {
            assert!(words(text).is_err(), "{text}");
        }
    }

    fn named(flags: &[(&str, &str)]) -> Result<Planned, Failure> {
        let of = |flag: &str| -> Vec<String> {
            flags
                .iter()
                .filter(|(one, _)| *one == flag)
                .map(|(_, entry)| (*entry).to_owned())
                .collect()
        };
        let args = NamedArgs {
            mcp_server: of("server"),
            mcp_url: of("url"),
            mcp_env: of("env"),
            mcp_read: of("read"),
        };
        args.named()
    }

    #[test]
    fn flags_say_what_a_server_may() {
        let planned = named(&[
            ("server", "fs,write,net=prog '{workspace}/a b'"),
            ("url", "far=http://127.0.0.1:9/mcp"),
            ("env", "fs=TOKEN"),
            ("read", "fs=/usr"),
        ]);
        let planned = planned.unwrap();
        let fs = &planned.0["fs"];
        assert_eq!(fs.server.command, ["prog", "{workspace}/a b"]);
        assert_eq!((fs.server.workspace, fs.server.network), (Reach::Write, true));
        assert_eq!((fs.pass.as_slice(), fs.reads.len()), (&["TOKEN".to_owned()][..], 1));
        assert_eq!(planned.0["far"].server.url.as_deref(), Some("http://127.0.0.1:9/mcp"));
        let refused: [(&[(&str, &str)], &str); 9] = [
            (&[("server", "prog")], "has no `=`"),
            (&[("server", "a__b=prog")], "cannot name a server"),
            (&[("server", "a,all=prog")], "`all`"),
            (&[("server", "a=")], "one of `command`, `url` and `world`"),
            (&[("server", "a=prog {workspace}")], "needs `workspace"),
            (&[("url", "a=prog")], "no URL"),
            (&[("url", "a,net=http://h.example/")], "`net`"),
            (&[("env", "a=X")], "no server `a`"),
            (&[("server", "a=p"), ("server", "a=q")], "twice"),
        ];
        for (flags, want) in refused {
            let error = named(flags).unwrap_err().message;
            assert!(error.contains(want), "{want}: {error}");
        }
    }
}
