//! `wildgym world check`: everything that can be known of a world without a task.

use std::sync::Arc;

use clap::Args;
use serde_json::json;
use wildgym_sandbox::world::Blueprint;
use wildgym_tasks::{Fault, World};
use wildgym_toolbox::{Catalog, Operation};

use super::super::{Code, Failure, data, say};
use super::open::locate;

/// Load a world, fill its tables and try every statement of every operation and event
///
/// Faults go to standard output, one a line, as `file:line: field: what was expected`.
#[derive(Debug, Args)]
pub(super) struct CheckArgs {
    /// World, by name, as SUITE/WORLD, or by folder
    world: String,

    /// Number from which the chances of `seed.sql` are drawn
    #[arg(long, value_name = "NUMBER", default_value = "0")]
    seed: u64,

    /// Print the faults as JSON
    #[arg(long)]
    json: bool,
}

pub(super) fn run(args: &CheckArgs) -> Result<Code, Failure> {
    let folder = locate(&args.world)?;
    let made = World::load(&folder)
        .and_then(|world| Blueprint::build(world, args.seed))
        .map_err(|faults| faults.0)
        .and_then(|made| match schemas(made.world()) {
            faults if faults.is_empty() => Ok(made),
            faults => Err(faults),
        });
    let faults = made.as_ref().err().map_or(&[][..], Vec::as_slice);
    if args.json {
        let all: Vec<_> = faults.iter().map(|fault| json!({"file": fault.file, "line": fault.line, "field": fault.field, "problem": fault.problem})).collect();
        data(&serde_json::to_string_pretty(&all).unwrap_or_default());
    } else {
        for fault in faults {
            data(&fault.to_string());
        }
    }
    match made {
        Ok(made) => {
            let meta = &made.world().meta;
            say(&format!(
                "{} {}: no fault; {} operations, {} events, a state of {} KiB",
                meta.name,
                meta.version,
                made.world().operations.len(),
                meta.events.len(),
                made.image().len() >> 10
            ));
            Ok(Code::Done)
        }
        Err(faults) => {
            let noun = if faults.len() == 1 { "fault" } else { "faults" };
            say(&format!("{} {noun}", faults.len()));
            Ok(Code::Incomplete)
        }
    }
}

/// Returns faults of schemas that are none, and of operations that a model cannot call.
fn schemas(world: &World) -> Vec<Fault> {
    let one = |operation: &wildgym_tasks::world::Operation| {
        let error = Catalog::of(vec![Arc::new(Operation::new(operation))]).err()?;
        Some(world.fault_of(&operation.name, "parameters", error.to_string()))
    };
    world.operations.values().filter_map(one).collect()
}
