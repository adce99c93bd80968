//! `wildgym serve world`: the operations of a world as a server of tools, for one client.
//!
//! What a suite declares by `[servers.NAME] world = "…"` is started so, and whatever else acts
//! may start it too. It has no task, keeps nothing, opens neither a web nor a browser nor the
//! code runtime, and so needs no `wildgym setup`. One world and one sequence of calls give the
//! same replies: ids and chances come from the seed, times from the world's own clock.

use std::collections::BTreeSet;
use std::sync::{Arc, Mutex};

use clap::Args;
use futures::future::BoxFuture;
use wildgym_sandbox::work::WorkClock;
use wildgym_sandbox::workspace::{Quota, Workspace};
use wildgym_sandbox::world::Blueprint;
use wildgym_sandbox::{Clock, Sandbox, Seed};
use wildgym_tasks::world::Scene;
use wildgym_toolbox::{Bounds, Catalog, Toolbox};

use super::super::host::open_bare_host;
use super::super::{Code, Failure, world};
use crate::mcp::{self, Acts, Asked, CallToolResult, Desk, Free, Served, Tool, ToolAnnotations};

/// Serve the operations of a world to one client of the Model Context Protocol
///
/// The client starts this command and speaks to it over standard input and output; it gets a
/// fresh copy of the world, which is gone with it. Nothing else is offered: for the other tools
/// and for tasks see `wildgym serve mcp`.
#[derive(Debug, Args)]
pub(in crate::cli) struct WorldArgs {
    /// World whose operations are offered: its name, SUITE/WORLD, or its folder
    world: String,

    /// Number from which the chances of the world's `seed.sql`, and ids, are drawn
    #[arg(long, value_name = "NUMBER", default_value = "0")]
    world_seed: u64,
}

pub(super) fn run(args: &WorldArgs) -> Result<Code, Failure> {
    let blueprint = world::make(&args.world, args.world_seed)?;
    let runtime = tokio::runtime::Runtime::new()
        .map_err(|error| Failure::usage(format!("cannot start: {error}")))?;
    let served = runtime.block_on(async {
        let server = Arc::new(Server::open(&blueprint, args.world_seed)?);
        let (input, output) = mcp::stdio_pipes();
        mcp::stdio(server, input, output).await.map_err(|error| {
            Failure::usage(format!("the client does not speak the protocol: {error}"))
        })
    });
    // A read of standard input that is under way cannot be taken back.
    runtime.shutdown_background();
    served.map(|()| Code::Done)
}

/// A world as a server of tools.
struct Server {
    desk: Arc<Desk>,
    /// What the world is.
    description: String,
    /// The operations that change nothing.
    reads: BTreeSet<String>,
}

impl Server {
    /// Opens a copy of the world.
    fn open(blueprint: &Blueprint, seed: u64) -> Result<Self, Failure> {
        let world = blueprint.world();
        let unusable = |error: &dyn std::fmt::Display| Failure::usage(error.to_string());
        let catalog = Catalog::of_world(world).map(Arc::new).map_err(|error| unusable(&error))?;
        let now = world.meta.now;
        let seed = Seed::of_run(seed);
        let scene = Scene { name: world.meta.name.clone(), ..Scene::default() };
        let live = blueprint.open(scene, now, seed).map_err(|error| unusable(&error))?;
        let host = open_bare_host()?;
        let sandbox = Sandbox {
            workspace: Arc::new(Workspace::create(&host.scratch, Quota::default())),
            host,
            web: None,
            browser: None,
            world: Some(Mutex::new(live)),
            clock: Clock::starting_at(now),
            seed,
        };
        let (bounds, work) = (Bounds::default(), Arc::new(WorkClock::default()));
        let toolbox =
            Toolbox::new(Arc::new(sandbox), Arc::clone(&catalog), Vec::new(), bounds, work);
        let acts: Arc<dyn Acts> = Arc::new(Free::new(Arc::new(toolbox)));
        let open = move || {
            let acts = Arc::clone(&acts);
            Box::pin(async move { Ok(acts) }) as BoxFuture<'static, _>
        };
        let desk = Arc::new(Desk::new(&catalog, false, Box::new(open)));
        let reads = world.operations.values().filter(|operation| !operation.writes());
        let reads = reads.map(|operation| operation.name.clone()).collect();
        Ok(Self { desk, description: world.meta.description.clone(), reads })
    }
}

impl Served for Server {
    fn instructions(&self) -> String {
        self.description.clone()
    }

    fn tools(&self) -> Vec<Tool> {
        let mut tools = self.desk.tools();
        for tool in &mut tools {
            let reads = self.reads.contains(&*tool.name);
            tool.annotations = Some(ToolAnnotations::new().read_only(reads).open_world(false));
        }
        tools
    }

    fn call(self: Arc<Self>, asked: Asked) -> BoxFuture<'static, CallToolResult> {
        Arc::clone(&self.desk).call(asked)
    }
}
