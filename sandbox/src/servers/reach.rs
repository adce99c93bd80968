//! What of the host a program needs to see beside the system's own folders.
//!
//! A program that is installed apart from the system is seldom one file: a script stands on an
//! environment, a module on its neighbours. Found is the smallest folder that holds what it
//! stands on, by the layouts that are common; what fits none is granted as it is named.

use std::fs;

use camino::{Utf8Path, Utf8PathBuf};

/// Folders of the system, which every program sees.
pub(super) const SYSTEM: [&str; 10] = [
    "/usr",
    "/bin",
    "/sbin",
    "/lib",
    "/lib32",
    "/lib64",
    "/libx32",
    "/opt",
    "/nix/store",
    "/gnu/store",
];

/// Folders of the kernel, of which every program has its own.
const KERNEL: [&str; 3] = ["/dev", "/proc", "/sys"];

/// Returns whether a path lies in a folder of the system.
pub(super) fn is_system(path: &Utf8Path) -> bool {
    SYSTEM.iter().any(|folder| path.starts_with(folder))
}

/// Returns the folders and files that a program at `path`, or a file that it is told to run,
/// stands on. Nothing where the system's folders hold it all, or there is no such path.
#[must_use]
pub fn reach(path: &Utf8Path) -> Vec<Utf8PathBuf> {
    let mut found = Vec::new();
    let Ok(target) = path.canonicalize_utf8() else { return found };
    // A link's own place counts too: an environment's interpreter is a link out of it.
    for place in [path, target.as_path()] {
        add(place, &mut found);
    }
    let kernel = |path: &Utf8Path| KERNEL.iter().any(|folder| path.starts_with(folder));
    found.retain(|one| !is_system(one) && !kernel(one) && one.as_str() != "/");
    found.sort();
    found.dedup();
    found
}

fn add(place: &Utf8Path, found: &mut Vec<Utf8PathBuf>) {
    if let Some(environment) = place.ancestors().find(|one| one.join("pyvenv.cfg").is_file()) {
        found.push(environment.to_owned());
        found.extend(base_of(environment));
        return;
    }
    let modules = place.ancestors().filter(|one| one.file_name() == Some("node_modules")).last();
    if let Some(modules) = modules {
        return found.push(modules.to_owned());
    }
    let folder = place.parent();
    let prefix = folder.filter(|folder| folder.file_name() == Some("bin"));
    if let Some(prefix) = prefix.and_then(Utf8Path::parent)
        && prefix.file_name() != Some(".local")
        && prefix.parent().is_some()
        && prefix.join("lib").is_dir()
    {
        return found.push(prefix.to_owned());
    }
    found.push(place.to_owned());
}

/// Returns the installation on which a Python environment stands: the folder above the `bin`
/// that its `pyvenv.cfg` names as `home`.
fn base_of(environment: &Utf8Path) -> Option<Utf8PathBuf> {
    let text = fs::read_to_string(environment.join("pyvenv.cfg")).ok()?;
    let home = text.lines().find_map(|line| {
        let (key, value) = line.split_once('=')?;
        (key.trim() == "home").then(|| Utf8PathBuf::from(value.trim()))
    })?;
    let prefix = home.parent().filter(|prefix| prefix.join("lib").is_dir())?;
    Some(prefix.to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_a_program_stands_on_is_found_by_its_layout() {
        let folder = tempfile::tempdir().unwrap();
        let root = Utf8Path::from_path(folder.path()).unwrap().canonicalize_utf8().unwrap();
        let put = |path: &str, text: &str| {
            let path = root.join(path);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(&path, text).unwrap();
            path
        };
        put("python/lib/os.py", "");
        put("python/bin/python3", "");
        put("venv/pyvenv.cfg", &format!("home = {root}/python/bin\nversion = 3\n"));
        put("tool/lib/x", "");
        put("home/.local/lib/x", "");
        let table = [
            (put("a/node_modules/@m/s/node_modules/d/i.js", ""), vec!["a/node_modules"], "npm"),
            (put("venv/bin/server", ""), vec!["python", "venv"], "an environment and its base"),
            (put("tool/bin/x", ""), vec!["tool"], "a prefix"),
            (put("home/.local/bin/x", ""), vec!["home/.local/bin/x"], "too wide a prefix"),
            (put("b/server.py", ""), vec!["b/server.py"], "a file"),
        ];
        for (path, want, why) in table {
            let want: Vec<Utf8PathBuf> = want.into_iter().map(|one| root.join(one)).collect();
            assert_eq!(reach(&path), want, "{why}");
        }
        assert!(reach(Utf8Path::new("/usr/bin/env")).is_empty(), "the system's");
        assert!(reach(Utf8Path::new("/")).is_empty(), "never everything");
        assert!(reach(Utf8Path::new("/dev/null")).is_empty(), "it has its own");
        assert!(reach(&root.join("gone")).is_empty(), "not there");
    }
}
