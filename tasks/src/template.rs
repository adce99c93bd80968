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

/// Writes a new task `id` into the suite in `folder` and returns the task's folder.
pub fn write(folder: &Utf8Path, id: &str) -> io::Result<Utf8PathBuf> {
    if !text::is_id(id) {
        let problem = format!(
            "`{id}` is no task id; expected small letters, digits and single `-`, such as `da-parcels`"
        );
        return Err(io::Error::new(io::ErrorKind::InvalidInput, problem));
    }
    if !folder.join("suite.toml").is_file() {
        let problem = format!("`{folder}` is no suite: it has no `suite.toml`");
        return Err(io::Error::new(io::ErrorKind::NotFound, problem));
    }
    fs::create_dir_all(folder.join("tasks"))?;
    let task = folder.join("tasks").join(id);
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::check::{leaks, materials};
    use crate::{Suite, Variant};

    #[test]
    fn a_new_task_is_sound() {
        let folder = tempfile::tempdir().unwrap();
        let folder = Utf8Path::from_path(folder.path()).unwrap();
        assert_eq!(write(folder, "da-x").unwrap_err().kind(), io::ErrorKind::NotFound);
        let meta = "format = 1\nname = \"s\"\nversion = \"1\"\ndescription = \"d\"\n";
        fs::write(folder.join("suite.toml"), meta).unwrap();
        write(folder, "da-x").unwrap();
        let suite = Suite::load(folder).unwrap_or_else(|faults| panic!("{faults}"));
        let task = &suite.tasks["da-x"];
        assert_eq!(leaks(task, materials(&suite, task, |_| None)), [], "the answer is nowhere");
        assert_ne!(task.given(&Variant::default()), task.given(&task.variants()[1]));
        assert_eq!(write(folder, "da-x").unwrap_err().kind(), io::ErrorKind::AlreadyExists);
        for id in ["", "A", "../x", "a--b", "a/b"] {
            assert_eq!(write(folder, id).unwrap_err().kind(), io::ErrorKind::InvalidInput, "{id}");
        }
    }
}
