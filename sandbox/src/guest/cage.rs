//! What a guest sees of the machine: a view that bubblewrap builds.
//!
//! Namespaces of its own for processes, users, network, host name and System V objects; the
//! system's programs and libraries, read-only; what is mounted by name; nothing else. The
//! network is a loopback with nobody on it. Abstract sockets belong to the network, so those
//! of the host are out of reach too.
//!
//! bubblewrap must be started without an environment: the first process in the cage keeps the
//! one it was started with where every other can read it.

use std::ffi::{OsStr, OsString};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

/// Where bubblewrap lives.
const PLACES: [&str; 3] = ["/usr/bin/bwrap", "/usr/local/bin/bwrap", "/bin/bwrap"];

/// Folders of the system that programs are made of.
const SYSTEM: [&str; 7] = ["/usr", "/bin", "/sbin", "/lib", "/lib32", "/lib64", "/libx32"];

/// Files of the system's configuration that tell nothing of the machine and its users, and
/// without which programs do not start or know no certificate.
const CONFIGURATION: [&str; 12] = [
    "/etc/alternatives",
    "/etc/ca-certificates",
    "/etc/fonts",
    "/etc/ld.so.cache",
    "/etc/ld.so.conf",
    "/etc/ld.so.conf.d",
    "/etc/localtime",
    "/etc/magic",
    "/etc/mime.types",
    "/etc/nsswitch.conf",
    "/etc/pki",
    "/etc/ssl",
];

/// Bytes of each of the file systems in memory: `/tmp`, `/home` and `/dev/shm`.
pub(crate) const IN_MEMORY: &str = "536870912";

/// The home of whoever is in a cage: empty, and in memory.
pub const HOME: &str = "/home/guest";

/// Something of the host that a guest sees.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Mount {
    /// Where it lies on the host.
    pub host: PathBuf,
    /// Where the guest sees it.
    pub inside: PathBuf,
    /// Whether the guest may change it.
    pub writable: bool,
}

impl Mount {
    /// Shows something where it lies, to be read.
    #[must_use]
    pub fn as_it_lies(path: &Path) -> Self {
        Self { host: path.to_owned(), inside: path.to_owned(), writable: false }
    }
}

/// A view of the machine.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Cage {
    /// What is seen beside the system, in the order in which it is laid over it.
    pub mounts: Vec<Mount>,
    /// What is not seen although something around it is: files and folders of the host, by
    /// their real paths.
    pub hidden: Vec<PathBuf>,
    /// Where the guest starts.
    pub folder: PathBuf,
    /// All of its environment.
    pub environment: Vec<(String, String)>,
    /// Whether it can make no user namespaces, in which it could mount what is in memory
    /// without a limit; see [`Cage::closes`].
    pub closed: bool,
}

impl Cage {
    /// Tells whether this bubblewrap can keep a guest from making user namespaces: those
    /// before version 0.8 cannot.
    #[must_use]
    pub fn closes(bubblewrap: &Path) -> bool {
        Self { folder: "/".into(), closed: true, ..Self::default() }.try_out(bubblewrap).is_ok()
    }

    /// Returns the arguments with which bubblewrap builds the cage and runs a command in it.
    #[must_use]
    pub fn arguments(&self, command: &[OsString]) -> Vec<OsString> {
        let mut all = Arguments::default();
        all.put(["--unshare-all", "--new-session", "--die-with-parent", "--clearenv"]);
        all.put(["--cap-drop", "ALL", "--hostname", "gym"]);
        if self.closed {
            all.put(["--unshare-user", "--disable-userns"]);
        }
        all.put(["--proc", "/proc", "--dev", "/dev"]);
        for folder in SYSTEM {
            all.system(Path::new(folder));
        }
        for file in CONFIGURATION {
            all.put(["--ro-bind-try", file, file]);
        }
        for folder in ["/tmp", "/home", "/dev/shm"] {
            all.put(["--size", IN_MEMORY, "--tmpfs", folder]);
        }
        all.put(["--dir", HOME]);
        for Mount { host, inside, writable } in &self.mounts {
            all.put([if *writable { "--bind" } else { "--ro-bind" }]);
            all.put([host, inside]);
        }
        for path in &self.hidden {
            // What lies in something hidden would show its name by being covered.
            let covered =
                path.ancestors().skip(1).any(|above| self.hidden.iter().any(|p| p == above));
            if let (false, Some(inside)) = (covered, self.seen_at(path)) {
                all.hide(path, &inside);
            }
        }
        // What is laid into the root is in memory without a limit.
        all.put(["--remount-ro", "/dev", "--remount-ro", "/"]);
        for (name, value) in &self.environment {
            all.put(["--setenv", name, value]);
        }
        all.put([OsStr::new("--chdir"), self.folder.as_os_str(), OsStr::new("--")]);
        all.put(command);
        all.0
    }

    /// Builds the cage and runs nothing in it; says why it cannot be built.
    pub fn try_out(&self, bubblewrap: &Path) -> Result<(), String> {
        let tried = Command::new(bubblewrap)
            .args(self.arguments(&[OsString::from("/usr/bin/env")]))
            .env_clear()
            .stdin(Stdio::null())
            .output()
            .map_err(|error| format!("`bwrap` cannot be started: {error}"))?;
        let said = String::from_utf8_lossy(&tried.stderr).trim().to_owned();
        if tried.status.success() {
            return Ok(());
        }
        Err(format!("`bwrap` cannot build its walls here: {said}"))
    }

    /// Returns where something of the host would be seen; none where it would not.
    fn seen_at(&self, path: &Path) -> Option<PathBuf> {
        for Mount { host, inside, .. } in self.mounts.iter().rev() {
            // What is hidden is named by its real path; what is shown may be named by a link.
            let real = host.canonicalize().unwrap_or_else(|_| host.clone());
            if let Ok(rest) = path.strip_prefix(&real) {
                // A path that ends in a slash would name no file.
                let whole = rest.as_os_str().is_empty();
                return Some(if whole { inside.clone() } else { inside.join(rest) });
            }
        }
        SYSTEM.iter().any(|folder| path.starts_with(folder)).then(|| path.to_owned())
    }
}

/// Arguments of bubblewrap that are being gathered.
#[derive(Debug, Default)]
pub(crate) struct Arguments(pub(crate) Vec<OsString>);

impl Arguments {
    pub(crate) fn put<T: AsRef<OsStr>>(&mut self, words: impl IntoIterator<Item = T>) {
        self.0.extend(words.into_iter().map(|word| word.as_ref().to_owned()));
    }

    /// Shows a folder of the system as it is there: a folder, or a link to one.
    pub(crate) fn system(&mut self, folder: &Path) {
        if let Ok(target) = std::fs::read_link(folder) {
            self.put(["--symlink"]);
            self.put([target.as_os_str(), folder.as_os_str()]);
        } else {
            self.put(["--ro-bind-try"]);
            self.put([folder, folder]);
        }
    }

    /// Lays something empty over what is not to be seen.
    fn hide(&mut self, path: &Path, inside: &Path) {
        if path.is_dir() {
            self.put(["--tmpfs"]);
            self.put([inside]);
            // It would be more memory to fill.
            self.put(["--remount-ro"]);
            self.put([inside]);
        } else if path.exists() {
            self.put(["--ro-bind", "/dev/null"]);
            self.put([inside]);
        }
    }
}

/// Finds bubblewrap and tries it, or says why it cannot be used.
pub fn bubblewrap() -> Result<PathBuf, String> {
    let found = PLACES.iter().map(Path::new).find(|path| path.is_file());
    let program = found.ok_or("`bwrap` is not installed (package bubblewrap)")?;
    let cage = Cage { folder: PathBuf::from("/"), ..Cage::default() };
    cage.try_out(program).map(|()| program.to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn words(cage: &Cage) -> String {
        let arguments = cage.arguments(&["true".into()]);
        arguments.iter().map(|word| word.to_string_lossy()).collect::<Vec<_>>().join(" ")
    }

    #[test]
    fn what_is_hidden_is_covered_only_where_it_would_be_seen() {
        let folder = tempfile::tempdir().unwrap();
        let root = folder.path().canonicalize().unwrap();
        let (agent, runs, file) =
            (root.join("agent"), root.join("agent/runs"), root.join("agent/key"));
        std::fs::create_dir_all(runs.join("one")).unwrap();
        std::fs::write(&file, "k").unwrap();
        std::fs::create_dir(root.join("suite")).unwrap();
        let link = root.join("link");
        std::os::unix::fs::symlink(&agent, &link).unwrap();
        let cage = Cage {
            mounts: vec![Mount { host: link, inside: "/agent".into(), writable: false }],
            hidden: vec![
                runs.clone(),
                runs.join("one"),
                root.join("suite"),
                file,
                "/usr/bin/env".into(),
            ],
            folder: "/".into(),
            environment: vec![("A".to_owned(), "b c".to_owned())],
            closed: false,
        };
        let words = words(&cage);
        assert!(words.contains("--tmpfs /agent/runs "), "a folder is covered: {words}");
        assert!(words.contains("--remount-ro /agent/runs "), "and takes nothing: {words}");
        assert!(words.contains("--ro-bind /dev/null /agent/key "), "a file too: {words}");
        assert!(words.contains("/dev/null /usr/bin/env "), "what the system shows: {words}");
        assert!(!words.contains("/agent/runs/one"), "nothing in it is named: {words}");
        assert!(!words.contains("suite"), "what nobody sees needs no cover: {words}");
        assert!(words.ends_with("--setenv A b c --chdir / -- true"), "{words}");
    }
}
