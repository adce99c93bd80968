//! The suites that the program carries with it.
//!
//! A built-in suite is unpacked once per content into a cache, since everything else
//! reads suites from folders. It appears there whole or not at all: it is written
//! beside its place and then moved there.

use std::collections::BTreeSet;
use std::{fs, io};

use camino::{Utf8Path, Utf8PathBuf};

use crate::digest::{Digest, is_ignored};

/// The files of all built-in suites: path below `suites/`, and content.
static FILES: &[(&str, &[u8])] = include!(concat!(env!("OUT_DIR"), "/suites.rs"));

/// Returns the names of the built-in suites.
#[must_use]
pub fn names() -> Vec<&'static str> {
    let folders = FILES.iter().filter_map(|(path, _)| path.split_once('/'));
    folders.map(|(name, _)| name).collect::<BTreeSet<_>>().into_iter().collect()
}

/// Unpacks a built-in suite to `<cache>/suites/<name>-<digest>` and returns that folder.
///
/// What is there already is used when it is complete, and replaced when somebody
/// changed it.
pub fn unpack(name: &str, cache: &Utf8Path) -> io::Result<Utf8PathBuf> {
    unpack_files(name, &files_of(name, FILES), cache)
}

type Files<'a> = Vec<(&'a str, &'a [u8])>;

/// Returns the files of one suite in the order of their paths.
fn files_of<'a>(name: &str, all: &[(&'a str, &'a [u8])]) -> Files<'a> {
    let below = |path: &'a str| path.strip_prefix(name)?.strip_prefix('/');
    let inside = all.iter().filter_map(|(path, bytes)| Some((below(path)?, *bytes)));
    let mut files: Files<'a> = inside.filter(|(path, _)| !is_ignored(path)).collect();
    files.sort_unstable_by_key(|(path, _)| *path);
    files
}

fn unpack_files(name: &str, files: &Files<'_>, cache: &Utf8Path) -> io::Result<Utf8PathBuf> {
    if files.is_empty() {
        let known = names().join("`, `");
        let problem = format!("there is no built-in suite `{name}`; there is `{known}`");
        return Err(io::Error::new(io::ErrorKind::NotFound, problem));
    }
    let mut digest = Digest::default();
    for (path, bytes) in files {
        digest.add(path, bytes);
    }
    let parent = cache.join("suites");
    let place = parent.join(format!("{name}-{}", &digest.finish()[..16]));
    if is_complete(&place, files) {
        return Ok(place);
    }
    fs::create_dir_all(&parent)?;
    let fresh = tempfile::Builder::new().prefix(".unpacking-").tempdir_in(&parent)?;
    let whole = fresh.path().join("suite");
    for (path, bytes) in files {
        let file = whole.join(path);
        fs::create_dir_all(file.parent().unwrap_or(&whole))?;
        fs::write(file, bytes)?;
    }
    // Another process may have been faster: its work is as good, and may be in use, so it is
    // never taken away. Only what is damaged is.
    if fs::rename(&whole, &place).is_ok() || is_complete(&place, files) {
        return Ok(place);
    }
    match fs::rename(&place, fresh.path().join("damaged")) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(error),
        _ => {}
    }
    match fs::rename(&whole, &place) {
        Err(_) if is_complete(&place, files) => Ok(place),
        Err(error) => Err(error),
        Ok(()) => Ok(place),
    }
}

/// Returns whether a folder holds exactly these files.
fn is_complete(place: &Utf8Path, files: &Files<'_>) -> bool {
    let entries = walkdir::WalkDir::new(place).into_iter().filter_map(Result::ok);
    entries.filter(|entry| !entry.file_type().is_dir()).count() == files.len()
        && files
            .iter()
            .all(|(path, bytes)| fs::read(place.join(path)).is_ok_and(|found| found == *bytes))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn unpacking_is_whole_and_repairs() {
        let cache = tempfile::tempdir().unwrap();
        let cache = Utf8Path::from_path(cache.path()).unwrap();
        let all: &[(&str, &[u8])] = &[
            ("s/tasks/a/task.toml", b"id"),
            ("s/suite.toml", b"x"),
            ("s/.gitkeep", b""),
            ("t/u", b""),
        ];
        let files = files_of("s", all);
        assert_eq!(
            files.iter().map(|(path, _)| *path).collect::<Vec<_>>(),
            ["suite.toml", "tasks/a/task.toml"]
        );
        let place = unpack_files("s", &files, cache).unwrap();
        assert!(is_complete(&place, &files));
        fs::write(place.join("suite.toml"), "changed").unwrap();
        fs::write(place.join("more"), "added").unwrap();
        assert_eq!(unpack_files("s", &files, cache).unwrap(), place, "the same place again");
        assert!(is_complete(&place, &files), "what was changed is as it was");
        let left = fs::read_dir(cache.join("suites")).unwrap().count();
        assert_eq!(left, 1, "nothing else is left behind");
        assert_eq!(unpack("no-such-suite", cache).unwrap_err().kind(), io::ErrorKind::NotFound);
    }

    /// Who unpacks first is never disturbed by who comes later.
    #[test]
    fn many_may_unpack_at_once() {
        let all: Vec<(String, Vec<u8>)> =
            (0..60).map(|at| (format!("s/{at}/task.toml"), vec![b'x'; 2000])).collect();
        let all: Vec<(&str, &[u8])> =
            all.iter().map(|(path, bytes)| (path.as_str(), bytes.as_slice())).collect();
        let files = files_of("s", &all);
        for _ in 0..20 {
            let cache = tempfile::tempdir().unwrap();
            let cache = Utf8Path::from_path(cache.path()).unwrap();
            std::thread::scope(|scope| {
                for _ in 0..4 {
                    scope.spawn(|| {
                        let place = unpack_files("s", &files, cache).unwrap();
                        for _ in 0..10 {
                            assert!(is_complete(&place, &files), "taken away while in use");
                        }
                    });
                }
            });
        }
    }

    #[test]
    fn built_in_suites_load() {
        let cache = tempfile::tempdir().unwrap();
        let cache = Utf8Path::from_path(cache.path()).unwrap();
        for name in names() {
            let suite = crate::Suite::load(&unpack(name, cache).unwrap());
            let suite = suite.unwrap_or_else(|faults| panic!("{name}:\n{faults}"));
            assert_eq!(suite.meta.name, name);
        }
    }
}
