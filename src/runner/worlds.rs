//! The worlds of a suite, made ready once for all attempts.
//!
//! A state is filled once for each seed that a task names and kept as one image; attempts
//! get copies. What does not fit (a statement, a scene, an assertion) is found here, before
//! anything runs.

use std::collections::BTreeMap;
use std::sync::Arc;

use camino::Utf8PathBuf;
use wildgym_sandbox::world::{Blueprint, Live, Pair, WorldError};
use wildgym_sandbox::{Clock, Seed};
use wildgym_tasks::world::{Scene, World};
use wildgym_tasks::{Factor, Fault, Faults, Suite, Task, Variant};
use wildgym_toolbox::Catalog;
use wildgym_toolbox::catalog::BadTool;

/// The worlds of a suite with their operations as tools.
#[derive(Debug, Default)]
pub struct Worlds {
    /// By name and seed.
    made: BTreeMap<(String, u64), Blueprint>,
    /// By name.
    tools: BTreeMap<String, Catalog>,
}

/// Why the worlds of a suite cannot be used.
#[derive(Debug, thiserror::Error)]
pub enum WorldsError {
    /// What is written in them, or about them, is wrong.
    #[error("the worlds have faults:\n{0}")]
    Faults(#[from] Faults),
    /// An operation cannot be a tool.
    #[error(transparent)]
    Tool(#[from] BadTool),
}

impl Worlds {
    /// Makes every world ready that a task of the suite uses, and tries what tasks say.
    pub fn make(suite: &Suite) -> Result<Self, WorldsError> {
        let mut worlds = Self::default();
        let mut faults = Vec::new();
        for (name, world) in &suite.worlds {
            worlds.tools.insert(name.clone(), Catalog::of_world(world)?);
        }
        for task in suite.tasks.values() {
            let Some(scene) = &task.meta.environment.world else { continue };
            let Some(world) = suite.worlds.get(&scene.name) else { continue };
            let place = (scene.name.clone(), scene.seed);
            if !worlds.made.contains_key(&place) {
                match blueprint(world, scene.seed) {
                    Ok(made) => drop(worlds.made.insert(place.clone(), made)),
                    Err(found) => faults.extend(found.0),
                }
            }
            if let Some(made) = worlds.made.get(&place) {
                faults.extend(misfits(suite, task, scene, made));
            }
        }
        faults.sort();
        faults.dedup();
        if faults.is_empty() { Ok(worlds) } else { Err(Faults(faults).into()) }
    }

    /// Returns the operations that a scene offers, as tools.
    #[must_use]
    pub fn offered(&self, scene: &Scene) -> Catalog {
        let all = self.tools.get(&scene.name).cloned().unwrap_or_default();
        all.only(|name| scene.exposes(name))
    }

    /// Returns all operations of all worlds as tools, world by world.
    pub fn operations(&self) -> impl Iterator<Item = &Catalog> {
        self.tools.values()
    }

    /// Opens an attempt's copy of its task's world; none where it has none. Without the
    /// factor `events` nothing happens in it.
    pub fn open(
        &self,
        task: &Task,
        variant: &Variant,
        clock: &Clock,
        seed: Seed,
    ) -> Result<Option<Live>, WorldError> {
        let Some(mut scene) = task.meta.environment.world.clone() else { return Ok(None) };
        if variant.factors().any(|factor| factor == Factor::Events) {
            scene.events.clear();
        }
        let Some(made) = self.made.get(&(scene.name.clone(), scene.seed)) else {
            return Err(WorldError::Broken(format!("there is no world `{}`", scene.name)));
        };
        made.open(scene, clock.now(), seed).map(Some)
    }
}

/// Fills a world of a suite.
pub fn blueprint(world: &Arc<World>, seed: u64) -> Result<Blueprint, Faults> {
    let folder = Utf8PathBuf::from("worlds").join(&world.meta.name);
    Blueprint::build(Arc::clone(world), seed).map_err(|faults| faults.below(&folder))
}

/// Returns what a task says of its world that does not fit.
fn misfits(suite: &Suite, task: &Task, scene: &Scene, made: &Blueprint) -> Vec<Fault> {
    let file = task.folder.strip_prefix(&suite.folder).unwrap_or(&task.folder);
    let fault = |field: String, problem| {
        let (file, field) = (file.to_owned(), Some(field));
        Fault { file, line: None, field, problem }
    };
    let in_scene = |(field, problem)| fault(format!("environment.world.{field}"), problem);
    let mut found: Vec<Fault> = made.misfits(scene).into_iter().map(in_scene).collect();
    let assertions = &task.meta.final_state_assertions;
    if assertions.is_empty() {
        return found;
    }
    let field = |index: usize| format!("final_state_assertions[{index}]");
    match Pair::open(made.image(), made.image(), task.meta.now) {
        Ok(pair) => found.extend(assertions.iter().enumerate().filter_map(|(index, text)| {
            pair.check(text).err().map(|problem| fault(field(index), problem))
        })),
        Err(error) => found.push(fault(field(0), error.to_string())),
    }
    found
}
