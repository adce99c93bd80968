//! What a task says about its world, against the worlds of its suite.
//!
//! That a condition of an event, or an assertion in SQL, fits the tables is shown where
//! worlds run.

use super::text;
use super::world::Worlds;
use crate::task::TaskMeta;
use crate::world::{Assertion, Scene};

/// Tells `note` each field that does not fit, and why.
pub(crate) fn check(meta: &TaskMeta, worlds: &Worlds, mut note: impl FnMut(&str, String)) {
    for (index, text) in meta.final_state_assertions.iter().enumerate() {
        let field = format!("final_state_assertions[{index}]");
        match (&meta.environment.world, Assertion::parse(text)) {
            (_, Err(error)) => note(&field, format!("`{text}`: {error}")),
            (None, Ok(_)) => {
                let problem = "the task has no world; name one in `[environment.world]`";
                note(&field, problem.to_owned());
            }
            (Some(_), Ok(_)) => {}
        }
    }
    if let Some(scene) = &meta.environment.world {
        check_scene(meta, scene, worlds, note);
    }
}

fn check_scene(
    meta: &TaskMeta,
    scene: &Scene,
    worlds: &Worlds,
    mut note: impl FnMut(&str, String),
) {
    if !worlds.names.contains(&scene.name) {
        let names: Vec<_> = worlds.names.iter().collect();
        let problem = if names.is_empty() {
            format!("`{}`: the suite has no worlds; they lie in `worlds/`", scene.name)
        } else {
            format!("`{}`: {}", scene.name, text::unknown("world", &scene.name, &names))
        };
        return note("environment.world.name", problem);
    }
    // One with faults of its own has told them.
    let Some(world) = worlds.by_name.get(&scene.name) else { return };
    for (field, problem) in scene.misfits(world) {
        note(&format!("environment.world.{field}"), problem);
    }
    if meta.now < world.meta.now {
        let problem = format!(
            "the task begins before the state of its world, which is that of {}",
            world.meta.now
        );
        note("now", problem);
    }
}
