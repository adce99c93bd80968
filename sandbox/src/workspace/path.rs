//! What a path of the workspace may look like.

use camino::{Utf8Component, Utf8Path, Utf8PathBuf};

use super::WorkspaceError;

/// Under this name executed code sees the workspace.
const MOUNT: &str = "/workspace";

/// The most bytes of one name (`NAME_MAX` of every file system in use).
const NAME_BYTES: usize = 255;

/// The most bytes of a path (`PATH_MAX`).
const PATH_BYTES: usize = 4096;

/// The most characters of a path that an error repeats.
const SHOWN: usize = 120;

/// Returns the path below the workspace that `path` means.
///
/// `.` is dropped and `..` resolved by text, which is exact because no symbolic link
/// is ever followed. The result is empty for the workspace itself. Nothing is
/// normalised beyond that: names that differ in case or in their Unicode form are
/// different names.
pub fn relative(path: &Utf8Path) -> Result<Utf8PathBuf, WorkspaceError> {
    let bad = |reason| WorkspaceError::BadPath { path: shown(path), reason };
    if path.as_str().is_empty() {
        return Err(bad("it is empty"));
    }
    if path.as_str().contains('\0') {
        return Err(bad("it contains a NUL"));
    }
    if path.as_str().len() > PATH_BYTES {
        return Err(bad("it is longer than 4096 bytes"));
    }
    let mut clean = Utf8PathBuf::new();
    for part in path.strip_prefix(MOUNT).unwrap_or(path).components() {
        match part {
            Utf8Component::Normal(name) if name.len() > NAME_BYTES => {
                return Err(bad("one of its names is longer than 255 bytes"));
            }
            Utf8Component::Normal(name) => clean.push(name),
            Utf8Component::CurDir => {}
            Utf8Component::ParentDir if clean.pop() => {}
            Utf8Component::ParentDir | Utf8Component::RootDir | Utf8Component::Prefix(_) => {
                return Err(WorkspaceError::Outside(shown(path)));
            }
        }
    }
    Ok(clean)
}

/// Returns a path as errors repeat it: control characters escaped, cut where it is long.
pub(super) fn shown(path: &Utf8Path) -> String {
    let mut text = String::new();
    for (count, letter) in path.as_str().chars().enumerate() {
        if count == SHOWN {
            text.push('…');
            break;
        }
        if letter.is_control() {
            text.extend(letter.escape_default());
        } else {
            text.push(letter);
        }
    }
    text
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn spellings_of_a_path() {
        let long = "n".repeat(256);
        let table = [
            ("a.csv", Some("a.csv"), "plain"),
            ("./a.csv", Some("a.csv"), "what code writes"),
            ("/workspace/a.csv", Some("a.csv"), "what code sees"),
            ("/workspace", Some(""), "the workspace itself"),
            ("a//b/./c/", Some("a/b/c"), "empty and current parts"),
            ("a/../b", Some("b"), "`..` that stays inside"),
            ("..", None, "the parent"),
            ("a/../../b", None, "`..` that climbs"),
            ("/workspace/../etc/passwd", None, "climbing from the mount"),
            ("/workspaces/x", None, "only the whole name is the mount"),
            ("/etc/passwd", None, "absolute"),
            ("/proc/self/fd/3", None, "absolute, by way of the process"),
            ("", None, "empty"),
            ("a\0b", None, "NUL"),
            (&long, None, "a name that no file system takes"),
            ("a\\..\\b", Some("a\\..\\b"), "a backslash is a letter"),
            ("~/x", Some("~/x"), "no shell expands it"),
        ];
        for (path, want, why) in table {
            let got = relative(Utf8Path::new(path)).ok();
            assert_eq!(got.as_deref().map(Utf8Path::as_str), want, "{path:?}: {why}");
        }
    }

    proptest! {
        #[test]
        fn nothing_that_passes_can_climb(path in "[a./\\\\\0é-]{0,40}") {
            if let Ok(clean) = relative(Utf8Path::new(&path)) {
                prop_assert!(clean.components().all(|part| matches!(part, Utf8Component::Normal(_))));
                if !clean.as_str().is_empty() {
                    prop_assert_eq!(&relative(&clean).unwrap(), &clean, "not idempotent");
                }
            }
        }
    }
}
