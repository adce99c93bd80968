//! Finding the foreign programs of this machine.

use std::path::PathBuf;

use camino::Utf8Path;
use wildgym_sandbox::programs::{Programs, Search, speech};

use super::environment;

/// Looks the programs up that read media and pages, named by settings or in `PATH`.
pub(super) fn open(program: PathBuf, scratch: &Utf8Path, count: usize) -> Programs {
    let named = environment::PROGRAMS
        .into_iter()
        .filter_map(|(program, name)| Some((program, PathBuf::from(environment::get(name)?))));
    // One that cannot be used counts as missing; `wildgym doctor` says why.
    let speech = match environment::cache().map(|cache| speech::status(&cache.join("speech"))) {
        Ok(speech::Status::Ready(engine)) => Some(engine),
        Ok(speech::Status::Missing | speech::Status::Unusable(_)) | Err(_) => None,
    };
    let search = Search {
        path: environment::get("PATH").unwrap_or_default().into(),
        named: named.collect(),
        speech,
    };
    Programs::new(program, scratch.as_std_path().to_owned(), count, search)
}
