//! From what a run and a task say about faults to what acts at the door of one attempt.
//!
//! A run's profile is read from the store, by the digest that the run pins, so a profile that
//! was changed or taken away since moves no score. A task's own profile is a built-in one and
//! comes with the program; idealising the factor `faults` takes it away. Where both say
//! something, the task's decides first about each call.

use std::sync::Arc;

use wildgym_sandbox::Seed;
use wildgym_tasks::{Factor, Task};
use wildgym_toolbox::Interceptor;

use super::build::BuildError;
use super::plan::seed_of;
use crate::fault::{Injector, Profile, ProfileError};
use crate::record::TrialId;
use crate::store::{FaultsConfig, RunConfig, Store};

/// Reads the profile that a run pins.
pub fn pinned_profile(store: &Store, faults: &FaultsConfig) -> Result<Profile, BuildError> {
    let unusable = |error: String| BuildError::Faults(error);
    let bytes = store.blobs().get(&faults.digest).map_err(|error| unusable(error.to_string()))?;
    let text = String::from_utf8(bytes).map_err(|error| unusable(error.to_string()))?;
    Profile::parse(&faults.profile, &text).map_err(BuildError::from)
}

/// Makes what acts on the calls of an attempt. Every attempt at a trial gets the same.
pub(super) fn injectors(
    task: &Task,
    store: &Store,
    config: &RunConfig,
    trial: &TrialId,
) -> Result<Vec<Arc<dyn Interceptor>>, BuildError> {
    let seed = seed_of(config.plan.seed, trial);
    let injector = |profile: Profile, root: Seed| -> Arc<dyn Interceptor> {
        Arc::new(Injector::new(Arc::new(profile), root))
    };
    let mut made = Vec::new();
    let idealised = trial.variant.factors().any(|factor| factor == Factor::Faults);
    if let Some(own) = task.meta.faults.as_ref().filter(|_| !idealised) {
        let profile = Profile::open_builtin(&own.profile)?;
        made.push(injector(profile, seed.child("task faults", own.seed)));
    }
    let condition = config.conditions.get(&trial.condition);
    if let Some(faults) = condition.and_then(|condition| condition.faults.as_ref()) {
        made.push(injector(pinned_profile(store, faults)?, seed.child("faults", faults.seed)));
    }
    Ok(made)
}

impl From<ProfileError> for BuildError {
    fn from(error: ProfileError) -> Self {
        Self::Faults(error.to_string())
    }
}
