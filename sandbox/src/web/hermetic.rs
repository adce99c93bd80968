//! A small internet on this machine.

use std::collections::BTreeMap;

use camino::Utf8Path;
use wildgym_tasks::environment::Site;

/// Why the sites cannot be served.
#[derive(Debug, thiserror::Error)]
pub enum HermeticError {}

/// All sites of a suite, their search index and encyclopedias; built once and shared.
#[derive(Debug)]
pub struct Hermetic {}

impl Hermetic {
    /// Reads the sites and opens their search index, which is kept in `cache` under
    /// the digest of their content.
    pub fn open(sites: &BTreeMap<String, Site>, cache: &Utf8Path) -> Result<Self, HermeticError> {
        let _ = (sites, cache);
        todo!()
    }
}
