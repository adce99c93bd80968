//! `--agent-cmd` and its company: any program as an agent, and what it sees of the machine.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::sync::Arc;

use camino::{Utf8Path, Utf8PathBuf};
use clap::Args;
use wildgym_sandbox::guest::{Cage, Mount, bubblewrap};

use super::{Failure, environment};
use crate::agent::program::{OUTSIDE, Spec, Walls, files, own, split, startable};
use crate::runner::Gym;
use crate::store::{Condition, ProgramConfig, Store};

/// The agent that a program is.
pub(super) const PROGRAM: &str = "program";

/// How deep folders that a program sees are searched for suites and runs.
const DEEP: usize = 8;

/// How many entries of them are looked at.
const ENTRIES: usize = 200_000;

/// Files that only a suite or a run has.
const MARKS: [&str; 2] = ["suite.toml", "run.toml"];

/// The largest file of a command that is pinned, in bytes.
const LARGEST: u64 = 64 << 20;

/// A program that acts.
#[derive(Debug, Args)]
#[command(next_help_heading = "Agent program")]
pub(super) struct ProgramArgs {
    /// Program that acts in place of a built-in agent, with its arguments; split into words as
    /// a shell splits them, and run without one
    #[arg(id = "agent_cmd", long = "agent-cmd", value_name = "CMD", conflicts_with = "agent")]
    command: Option<String>,

    /// File or folder that the program needs beside those of its command, such as a virtual
    /// environment; it may read it; may be repeated
    #[arg(long = "agent-mount", value_name = "PATH", requires = "agent_cmd")]
    mounts: Vec<Utf8PathBuf>,

    /// Variable of the program's environment; may be repeated
    #[arg(long = "agent-env", value_name = "NAME=VALUE", requires = "agent_cmd")]
    environment: Vec<String>,

    /// Run the program without walls: it can read what you can, references of the suite and keys
    /// included, and reach any network; stands on the label of every score
    #[arg(long, requires = "agent_cmd")]
    uncontained: bool,
}

impl ProgramArgs {
    /// Returns the condition of a program and its name.
    pub(super) fn condition(&self) -> Result<Option<(String, Condition)>, Failure> {
        let Some(command) = &self.command else { return Ok(None) };
        let wrong = |problem: String| Failure::usage(format!("`--agent-cmd {command}`: {problem}"));
        let here = std::env::current_dir().map_err(|error| wrong(error.to_string()))?;
        let here = Utf8PathBuf::from_path_buf(here)
            .map_err(|path| wrong(format!("`{}` is not UTF-8", path.display())))?;
        let words = split(command).map_err(wrong)?;
        let (command, mut found) = files(&words, &here, &environment::path()).map_err(wrong)?;
        let name = found.last().or(found.first()).cloned();
        let variables = self.variables()?;
        if let Some(program) = command.first().map(Utf8Path::new) {
            found.extend(startable(program, &self.path(program, &variables)).map_err(wrong)?);
        }
        let mut pinned = BTreeMap::new();
        for file in found.iter().filter(|path| path.is_file()) {
            pinned.extend(digest(file).map(|digest| (file.to_string(), digest)));
        }
        let mut mounts = Vec::new();
        for path in &self.mounts {
            let whole = here.join(path);
            if !whole.exists() {
                return Err(Failure::usage(format!(
                    "`--agent-mount {path}`: there is no such path"
                )));
            }
            mounts.push(whole.into_string());
        }
        let name = named(name.as_ref());
        let program = ProgramConfig {
            command,
            files: pinned,
            mounts,
            environment: variables,
            uncontained: self.uncontained,
        };
        let condition = Condition { program: Some(program), ..Condition::of(PROGRAM) };
        Ok(Some((format!("{PROGRAM}-{name}"), condition)))
    }

    /// Returns what the user adds to the environment.
    fn variables(&self) -> Result<BTreeMap<String, String>, Failure> {
        let pair = |pair: &String| {
            let (name, value) = pair.split_once('=').ok_or_else(|| {
                Failure::usage(format!("`--agent-env {pair}` is no pair `NAME=VALUE`"))
            })?;
            Ok((name.to_owned(), value.to_owned()))
        };
        self.environment.iter().map(pair).collect()
    }

    /// Returns the folders in which a program will find others.
    fn path(&self, program: &Utf8Path, variables: &BTreeMap<String, String>) -> Vec<Utf8PathBuf> {
        let own = if self.uncontained { OUTSIDE.to_owned() } else { inside(program) };
        let path = variables.get("PATH").unwrap_or(&own);
        path.split(':').filter(|folder| !folder.is_empty()).map(Utf8PathBuf::from).collect()
    }
}

/// Returns the folders in which a contained program finds others, as `PATH` has them.
fn inside(program: &Utf8Path) -> String {
    let own = program.parent().map(|folder| format!("{folder}:"));
    format!("{}/usr/local/bin:/usr/bin:/bin", own.unwrap_or_default())
}

/// Makes a name of the file that is the agent.
fn named(file: Option<&Utf8PathBuf>) -> String {
    let stem = file.and_then(|path| path.file_stem()).unwrap_or("agent");
    let keep = |c: char| if c.is_ascii_alphanumeric() || "-_".contains(c) { c } else { '-' };
    stem.chars().map(keep).collect()
}

/// Returns the digest of a file of the command; none where it is too large to be read.
fn digest(file: &Utf8Path) -> Option<String> {
    let small = fs::metadata(file).is_ok_and(|about| about.len() <= LARGEST);
    let bytes = small.then(|| fs::read(file).ok()).flatten()?;
    Some(blake3::hash(&bytes).to_hex().to_string())
}

/// Refuses a program whose files are not those that the run began with.
pub(super) fn check_same(condition: &Condition) -> Result<(), Failure> {
    let Some(program) = &condition.program else { return Ok(()) };
    for (file, before) in &program.files {
        if digest(Utf8Path::new(file)).as_ref() != Some(before) {
            let problem = format!("`{file}` is not the file that the run began with");
            return Err(
                Failure::usage(problem).hint("restore it, or begin anew with `wildgym run`")
            );
        }
    }
    Ok(())
}

/// Says early where a program cannot be run: there is nothing to wall it in with.
pub(super) fn check(condition: &Condition) -> Result<(), Failure> {
    match &condition.program {
        Some(program) if !program.uncontained => walls_of_machine().map(drop),
        Some(_) | None => Ok(()),
    }
}

/// Returns bubblewrap and the relay.
fn walls_of_machine() -> Result<(Utf8PathBuf, Utf8PathBuf), Failure> {
    let missing = |problem: String| {
        Failure::usage(format!("the program cannot be contained: {problem}")).hint(
            "install bubblewrap, or run the program with all that you may do: `--uncontained`, \
             which stands on the label",
        )
    };
    let bubblewrap = bubblewrap().map_err(missing)?;
    let bubblewrap = Utf8PathBuf::from_path_buf(bubblewrap)
        .map_err(|path| missing(format!("`{}` is not UTF-8", path.display())))?;
    let relay = myself()?.with_file_name("wildgym-relay");
    if !relay.is_file() {
        return Err(missing(format!("`{relay}` is not there; install wildgym again")));
    }
    Ok((bubblewrap, relay))
}

fn myself() -> Result<Utf8PathBuf, Failure> {
    let cannot =
        |problem: String| Failure::usage(format!("cannot find the program itself: {problem}"));
    let program = std::env::current_exe().map_err(|error| cannot(error.to_string()))?;
    Utf8PathBuf::from_path_buf(program)
        .map_err(|path| cannot(format!("`{}` is not UTF-8", path.display())))
}

/// Returns how a program is run in a gym whose attempts are kept in `store`.
pub(super) fn spec(
    program: &ProgramConfig,
    gym: &Gym,
    store: &Store,
) -> Result<Arc<Spec>, Failure> {
    let cage = if program.uncontained { None } else { Some(walls(program, gym, store)?) };
    Ok(Arc::new(Spec {
        command: program.command.clone(),
        environment: program.environment.clone().into_iter().collect(),
        cage,
        keeper: myself()?,
    }))
}

fn walls(program: &ProgramConfig, gym: &Gym, store: &Store) -> Result<Walls, Failure> {
    let (bubblewrap, relay) = walls_of_machine()?;
    let broad = broad(gym);
    let mut shown = BTreeSet::new();
    for file in program.files.keys().map(Utf8Path::new) {
        shown.extend(own(file, &broad));
    }
    for word in program.command.iter().map(Utf8Path::new) {
        if word.is_absolute() && word.exists() {
            shown.extend(own(word, &broad));
        }
    }
    shown.extend(program.mounts.iter().map(Utf8PathBuf::from));
    let mut hidden = secret(gym, store)?;
    // Other runs tell answers too; but a program may lie beside them.
    let runs = store.root().canonicalize_utf8().ok();
    let runs = runs.as_deref().and_then(Utf8Path::parent);
    let lies = |path: &Utf8PathBuf, runs: &Utf8Path| real(path).starts_with(runs);
    hidden.extend(runs.filter(|runs| !shown.iter().any(|path| lies(path, runs))).map(Into::into));
    for folder in &shown {
        refuse(folder, &hidden, &broad)?;
    }
    for folder in &shown {
        let mut left = ENTRIES;
        marked(folder, DEEP, &mut left, &mut hidden);
    }
    let path = inside(program.command.first().map_or(Utf8Path::new(""), Utf8Path::new));
    let closed = Cage::closes(bubblewrap.as_std_path());
    let mounts = shown.iter().map(|path| Mount::as_it_lies(path.as_std_path()));
    let cage = Cage {
        mounts: mounts.collect(),
        hidden: hidden.iter().map(|path| path.as_std_path().to_owned()).collect(),
        folder: "/".into(),
        environment: Vec::new(),
        closed,
    };
    cage.try_out(bubblewrap.as_std_path()).map_err(|problem| {
        Failure::usage(format!("the program cannot be contained: {problem}"))
            .hint("leave out what cannot be shown, or put the program into a folder of its own")
    })?;
    Ok(Walls {
        bubblewrap,
        relay,
        mounts: cage.mounts,
        hidden: hidden.into_iter().collect(),
        path,
        closed,
    })
}

/// Returns the path without links.
fn real(path: &Utf8Path) -> Utf8PathBuf {
    path.canonicalize_utf8().unwrap_or_else(|_| path.to_owned())
}

/// Returns folders that hold more than one program: they are never shown as a whole.
fn broad(gym: &Gym) -> Vec<Utf8PathBuf> {
    let scratch = gym.host.scratch.path();
    let fixed = ["/", "/home", "/root", "/tmp", "/var", "/var/tmp", "/etc", "/opt", "/mnt", "/srv"];
    let fixed = fixed.into_iter().map(Utf8PathBuf::from);
    fixed.chain(environment::home()).chain(scratch.parent().map(Utf8Path::to_owned)).collect()
}

/// Returns what a program must not see wherever it lies: the suite, the runs, the gym itself
/// and its caches, and what other attempts have.
fn secret(gym: &Gym, store: &Store) -> Result<BTreeSet<Utf8PathBuf>, Failure> {
    let mut all = BTreeSet::from([
        real(&gym.suite.folder),
        real(store.root()),
        real(gym.host.scratch.path()),
        real(&myself()?),
    ]);
    all.extend(environment::cache().ok().map(|cache| real(&cache)));
    Ok(all)
}

/// Refuses to show what must not be seen, and what holds too much.
fn refuse(
    folder: &Utf8Path,
    hidden: &BTreeSet<Utf8PathBuf>,
    broad: &[Utf8PathBuf],
) -> Result<(), Failure> {
    let place = real(folder);
    let whole = broad.contains(&place);
    let inside = hidden.iter().find(|secret| place.starts_with(secret));
    let problem = match (whole, inside) {
        (true, _) => format!("`{folder}` holds more than the program"),
        (false, Some(secret)) => format!("`{folder}` lies in `{secret}`, which it must not see"),
        (false, None) => return Ok(()),
    };
    Err(Failure::usage(problem).hint("put the program into a folder of its own"))
}

/// Finds the suites and runs below a folder.
fn marked(folder: &Utf8Path, deep: usize, left: &mut usize, found: &mut BTreeSet<Utf8PathBuf>) {
    let Ok(entries) = folder.read_dir_utf8() else { return };
    for entry in entries.flatten() {
        *left = left.saturating_sub(1);
        if *left == 0 {
            return;
        }
        if MARKS.contains(&entry.file_name()) {
            found.insert(real(folder));
        } else if deep > 0 && entry.file_type().is_ok_and(|kind| kind.is_dir()) {
            marked(entry.path(), deep - 1, left, found);
        }
    }
}
