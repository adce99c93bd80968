//! A command as it was typed, and which files of the machine it is made of.

use std::collections::BTreeSet;

use camino::{Utf8Path, Utf8PathBuf};

/// Folders of the system, which every contained program sees anyway.
const SYSTEM: [&str; 7] = ["/usr", "/bin", "/sbin", "/lib", "/lib32", "/lib64", "/libx32"];

/// Most links that a path may lead through.
const LINKS: usize = 32;

/// Splits a command into words as a shell would, without doing anything else that shells do:
/// quotes and backslashes keep spaces, and stand for nothing themselves.
pub fn split(command: &str) -> Result<Vec<String>, String> {
    let (mut words, mut word, mut quote) = (Vec::new(), None::<String>, None);
    let mut letters = command.chars();
    while let Some(letter) = letters.next() {
        match (quote, letter) {
            (Some(open), letter) if letter == open => quote = None,
            (Some('\''), letter) => word.get_or_insert_default().push(letter),
            (_, '\\') => {
                let next = letters.next().ok_or("a backslash at the end keeps nothing")?;
                word.get_or_insert_default().push(next);
            }
            (None, '\'' | '"') => {
                quote = Some(letter);
                // An empty pair of quotes is an empty word.
                word.get_or_insert_default();
            }
            (None, letter) if letter.is_whitespace() => words.extend(word.take()),
            (_, letter) => word.get_or_insert_default().push(letter),
        }
    }
    if let Some(open) = quote {
        return Err(format!("the quote {open} is never closed"));
    }
    words.extend(word);
    if words.is_empty() { Err("there is no command".to_owned()) } else { Ok(words) }
}

/// Returns a command with its program and its files by their whole paths, and those files.
/// `here` is where relative paths begin, `path` the folders in which programs are looked up.
pub fn files(
    words: &[String],
    here: &Utf8Path,
    path: &[Utf8PathBuf],
) -> Result<(Vec<String>, Vec<Utf8PathBuf>), String> {
    let (mut whole, mut files) = (Vec::new(), Vec::new());
    for (index, word) in words.iter().enumerate() {
        let found = if index == 0 && !word.contains('/') {
            let place = path.iter().map(|folder| folder.join(word)).find(|path| path.is_file());
            Some(place.ok_or_else(|| format!("there is no program `{word}` in `PATH`"))?)
        } else {
            Some(here.join(word)).filter(|path| !word.is_empty() && path.exists())
        };
        if index == 0 && found.as_ref().is_none_or(|path| !path.is_file()) {
            return Err(format!("there is no program `{word}`"));
        }
        whole.push(found.as_ref().map_or_else(|| word.clone(), ToString::to_string));
        files.extend(found);
    }
    Ok((whole, files))
}

/// Returns the folders of a file that a contained program needs: its own, and where links
/// lead, those of every link; of a program in a `bin` the folder above it, which has its
/// libraries. The system's own are left out.
///
/// Of a folder that is `broad`, that is, holds more than one program, such as a home, only
/// the file itself is among them.
#[must_use]
pub fn own(file: &Utf8Path, broad: &[Utf8PathBuf]) -> BTreeSet<Utf8PathBuf> {
    let mut folders = BTreeSet::new();
    let mut at = file.to_owned();
    for _ in 0..LINKS {
        let is_system = SYSTEM.iter().any(|folder| at.starts_with(folder));
        if !is_system {
            folders.insert(folder(&at, broad));
        }
        let Ok(target) = at.read_link_utf8() else { break };
        at = at.parent().map_or_else(|| target.clone(), |parent| parent.join(&target));
    }
    // What links in the middle of a path lead to.
    if let Ok(real) = file.canonicalize_utf8()
        && !SYSTEM.iter().any(|folder| real.starts_with(folder))
    {
        folders.insert(folder(&real, broad));
    }
    folders
}

fn folder(file: &Utf8Path, broad: &[Utf8PathBuf]) -> Utf8PathBuf {
    if file.is_dir() {
        return file.to_owned();
    }
    let narrow = |path: &&Utf8Path| broad.iter().all(|broad| *broad != **path);
    let parent = file.parent().filter(narrow);
    let above = parent.filter(|parent| parent.file_name() == Some("bin"));
    let above = above.and_then(Utf8Path::parent).filter(narrow);
    above.or(parent).unwrap_or(file).to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_are_split_as_a_shell_splits_them() {
        type Row = (&'static str, Result<&'static [&'static str], &'static str>, &'static str);
        let table: &[Row] = &[
            ("a b", Ok(&["a", "b"]), "plain"),
            ("  a\t'b c' ", Ok(&["a", "b c"]), "quotes keep spaces"),
            (r#"a "b 'c' \"d\"""#, Ok(&["a", r#"b 'c' "d""#]), "quotes in quotes"),
            (r"a\ b 'c\d'", Ok(&["a b", r"c\d"]), "a backslash keeps a space, but not in ''"),
            ("a '' b", Ok(&["a", "", "b"]), "an empty word"),
            ("a'b'c", Ok(&["abc"]), "quotes within a word"),
            ("a 'b", Err("never closed"), "an open quote"),
            ("a \\", Err("keeps nothing"), "a backslash at the end"),
            ("  ", Err("no command"), "nothing"),
        ];
        for (text, expected, why) in table {
            match (split(text), expected) {
                (Ok(words), Ok(expected)) => assert_eq!(words, *expected, "{why}"),
                (Err(error), Err(expected)) => assert!(error.contains(expected), "{why}: {error}"),
                (got, _) => panic!("{why}: {got:?}"),
            }
        }
    }

    #[test]
    fn a_program_is_shown_with_its_libraries_and_never_with_a_home() {
        let root = tempfile::tempdir().unwrap();
        let root = Utf8PathBuf::from_path_buf(root.path().canonicalize().unwrap()).unwrap();
        for folder in ["home/bin", "venv/bin", "real/bin", "agent"] {
            std::fs::create_dir_all(root.join(folder)).unwrap();
        }
        for file in ["home/bin/tool", "real/bin/python", "agent/main.py"] {
            std::fs::write(root.join(file), "").unwrap();
        }
        std::os::unix::fs::symlink(root.join("real/bin/python"), root.join("venv/bin/python"))
            .unwrap();
        let broad = [root.join("home"), root.clone()];
        std::fs::write(root.join("loose.py"), "").unwrap();
        let table = [
            ("venv/bin/python", vec!["real", "venv"], "an environment and what it was made of"),
            ("agent/main.py", vec!["agent"], "a script"),
            ("home/bin/tool", vec!["home/bin"], "not the home above"),
            ("agent", vec!["agent"], "a folder"),
            ("loose.py", vec!["loose.py"], "alone, where much else lies beside it"),
        ];
        for (file, expected, why) in table {
            let expected: BTreeSet<_> = expected.iter().map(|path| root.join(path)).collect();
            assert_eq!(own(&root.join(file), &broad), expected, "{why}");
        }
        assert!(own(Utf8Path::new("/usr/bin/env"), &[]).is_empty(), "the system is there anyway");
    }
}
