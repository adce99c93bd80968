//! Writes a new task, to be changed by its author.
//!
//! What it writes is small but whole: it loads without a fault, and its reference
//! solution finds the answer. Nothing that exists is overwritten.

use std::{fs, io};

use camino::{Utf8Path, Utf8PathBuf};

use crate::load::text;

/// The files of a new task; `{id}` stands for its id.
const FILES: [(&str, &str); 5] = [
    ("task.toml", include_str!("template/task.toml")),
    ("instruction.md", include_str!("template/instruction.md")),
    ("files/parcels.csv", include_str!("template/parcels.csv")),
    ("ideal/hidden-information/overlay.toml", include_str!("template/overlay.toml")),
    ("reference/solution.toml", include_str!("template/solution.toml")),
];

/// Writes a new task `id` into the suite in `folder` and returns the task's folder. Where
/// the folder is missing or empty, the suite is begun as well; a folder with anything
/// else in it, but no `suite.toml`, is left alone.
pub fn write(folder: &Utf8Path, id: &str) -> io::Result<Utf8PathBuf> {
    let refuse = |kind, problem: String| Err(io::Error::new(kind, problem));
    if !text::is_id(id) {
        let problem = format!(
            "`{id}` is no task id; expected small letters, digits and single `-`, such as `da-parcels`"
        );
        return refuse(io::ErrorKind::InvalidInput, problem);
    }
    if !folder.join("suite.toml").is_file() {
        begin(folder)?;
    }
    fs::create_dir_all(folder.join("tasks"))?;
    let task = folder.join("tasks").join(id);
    if task.exists() {
        let problem = format!("`{task}` is already there; choose another id, or change that task");
        return refuse(io::ErrorKind::AlreadyExists, problem);
    }
    fs::create_dir(&task).map_err(|error| {
        io::Error::new(error.kind(), format!("cannot create `{task}`: {error}"))
    })?;
    for (path, text) in FILES {
        let file = task.join(path);
        fs::create_dir_all(file.parent().unwrap_or(&task))?;
        fs::write(file, text.replace("{id}", id))?;
    }
    Ok(task)
}

/// Writes the `suite.toml` of a new suite, named as its folder.
fn begin(folder: &Utf8Path) -> io::Result<()> {
    let is_new = match fs::read_dir(folder) {
        Ok(mut entries) => entries.next().is_none(),
        Err(error) if error.kind() == io::ErrorKind::NotFound => true,
        Err(error) => return Err(error),
    };
    if !is_new {
        let problem = format!(
            "`{folder}` holds other files and no `suite.toml`, so it is no suite; name a new folder, or write `{folder}/suite.toml` with `format = 1`, `name`, `version` and `description`"
        );
        return Err(io::Error::new(io::ErrorKind::NotFound, problem));
    }
    fs::create_dir_all(folder)?;
    let name = name_of(folder.canonicalize_utf8()?.file_name().unwrap_or_default());
    let meta = format!(
        "format = 1\nname = \"{name}\"\nversion = \"0.1.0\"\ndescription = \"Tasks of {name}\"\n"
    );
    fs::write(folder.join("suite.toml"), meta)
}

/// Makes the name of a suite from that of its folder.
fn name_of(folder: &str) -> String {
    let small = folder.to_lowercase();
    let words = small.split(|c: char| !c.is_ascii_lowercase() && !c.is_ascii_digit());
    let name = words.filter(|word| !word.is_empty()).collect::<Vec<_>>().join("-");
    let name: String = name.chars().take(40).collect();
    if name.is_empty() { "suite".to_owned() } else { name.trim_end_matches('-').to_owned() }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::check::{leaks, materials};
    use crate::{Suite, Variant};

    #[test]
    fn a_new_task_is_sound() {
        let folder = tempfile::tempdir().unwrap();
        let folder = Utf8Path::from_path(folder.path()).unwrap();
        let folder = &folder.join("My Suite_1");
        write(folder, "da-x").unwrap();
        let suite = Suite::load(folder).unwrap_or_else(|faults| panic!("{faults}"));
        assert_eq!((&*suite.meta.name, &*suite.meta.version), ("my-suite-1", "0.1.0"));
        let task = &suite.tasks["da-x"];
        assert_eq!(leaks(task, materials(&suite, task, |_| None)), [], "the answer is nowhere");
        assert_ne!(task.given(&Variant::default()), task.given(&task.variants()[1]));
        let again = write(folder, "da-x").unwrap_err();
        assert_eq!(again.kind(), io::ErrorKind::AlreadyExists);
        assert!(again.to_string().contains("is already there; choose another id"), "{again}");
        fs::remove_file(folder.join("suite.toml")).unwrap();
        let foreign = write(folder, "da-y").unwrap_err();
        assert_eq!(foreign.kind(), io::ErrorKind::NotFound, "other files are left alone");
        assert!(foreign.to_string().contains("no `suite.toml`"), "{foreign}");
        assert!(!folder.join("suite.toml").exists());
        for id in ["", "A", "../x", "a--b", "a/b"] {
            assert_eq!(write(folder, id).unwrap_err().kind(), io::ErrorKind::InvalidInput, "{id}");
        }
    }
}
