//! Finding the foreign programs of this machine.

use std::path::PathBuf;

use camino::Utf8Path;
use wildgym_sandbox::programs::{Programs, Search};

use super::environment;

/// Looks the programs up that read media and pages, named by settings or in `PATH`.
pub(super) fn open(program: PathBuf, scratch: &Utf8Path, count: usize) -> Programs {
    let named = environment::PROGRAMS
        .into_iter()
        .filter_map(|(program, name)| Some((program, PathBuf::from(environment::get(name)?))));
    let search = Search {
        path: environment::get("PATH").unwrap_or_default().into(),
        named: named.collect(),
        speech: None,
    };
    Programs::new(program, scratch.as_std_path().to_owned(), count, search)
}
