//! Finding the programs, once.

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};

use super::Program;

/// Where programs are looked for.
#[derive(Debug, Clone, Default)]
pub struct Search {
    /// The value of `PATH`.
    pub path: OsString,
    /// Programs that a setting names, in place of those in `PATH`. A named one that does not
    /// exist counts as missing.
    pub named: Vec<(Program, PathBuf)>,
    /// The speech engine, where it was set up.
    pub speech: Option<Engine>,
}

/// A program that is installed apart from the system.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Engine {
    /// The program itself.
    pub program: PathBuf,
    /// Arguments that come before those of each call.
    pub arguments: Vec<OsString>,
    /// Directories that it reads beside those of the system.
    pub reads: Vec<PathBuf>,
    /// Variables of its environment.
    pub environment: Vec<(OsString, OsString)>,
}

/// Returns the programs that are there.
pub(super) fn find(search: Search) -> BTreeMap<Program, Engine> {
    let mut found = BTreeMap::new();
    for program in Program::ALL {
        let named = search.named.iter().find(|(other, _)| *other == program);
        let path = match named {
            Some((_, path)) => usable(path),
            None => program.file().and_then(|name| {
                std::env::split_paths(&search.path).find_map(|folder| usable(&folder.join(name)))
            }),
        };
        let engine = path.map(|program| Engine {
            reads: vec![program.clone()],
            program,
            arguments: Vec::new(),
            environment: Vec::new(),
        });
        if let Some(engine) = engine {
            found.insert(program, engine);
        }
    }
    if let Some(engine) = search.speech.filter(|engine| usable(&engine.program).is_some()) {
        found.entry(Program::Speech).or_insert(engine);
    }
    found
}

/// Returns the absolute path of a file that can be executed.
fn usable(file: &Path) -> Option<PathBuf> {
    let metadata = file.metadata().ok()?;
    let runs = metadata.is_file() && metadata.permissions().mode() & 0o111 != 0;
    if runs { std::path::absolute(file).ok() } else { None }
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;

    #[test]
    fn a_setting_goes_before_the_path_and_only_programs_count() {
        let folder = tempfile::tempdir().unwrap();
        let put = |name: &str, mode: u32| {
            let path = folder.path().join(name);
            fs::write(&path, "#!/bin/sh\n").unwrap();
            fs::set_permissions(&path, fs::Permissions::from_mode(mode)).unwrap();
            path
        };
        let (ffmpeg, other) = (put("ffmpeg", 0o755), put("other", 0o755));
        put("ffprobe", 0o644);
        let search = |named: Vec<(Program, PathBuf)>| {
            let path = folder.path().into();
            find(Search { path, named, speech: None })
        };
        let program = |found: &BTreeMap<Program, Engine>, program| {
            found.get(&program).map(|engine| engine.program.clone())
        };
        let found = search(Vec::new());
        assert_eq!(program(&found, Program::Ffmpeg), Some(ffmpeg));
        assert_eq!(program(&found, Program::Ffprobe), None, "it cannot be executed");
        assert_eq!(program(&found, Program::Speech), None, "it is never in `PATH`");
        let found = search(vec![(Program::Ffmpeg, other.clone())]);
        assert_eq!(program(&found, Program::Ffmpeg), Some(other), "named by a setting");
        let found = search(vec![(Program::Ffmpeg, folder.path().join("none"))]);
        assert_eq!(program(&found, Program::Ffmpeg), None, "what is named is meant");
    }
}
