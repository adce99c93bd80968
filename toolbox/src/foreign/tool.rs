//! A tool of a foreign server, as a tool of the trial.

use std::sync::Arc;
use std::time::Duration;

use serde_json::{Map, Value};
use wildgym_tasks::environment::{BrowserMode, Reach};

use super::{Pinned, Spec, names};
use crate::catalog::{BadTool, Catalog};
use crate::error::ToolError;
use crate::footprint::Footprint;
use crate::tool::{AnyTool, Output, Prepared};
use crate::tools::operation::example;

/// How deep an example goes into nested objects.
const DEPTH: usize = 8;

/// What the calls of foreign tools count as in listings.
const CATEGORY: &str = "external";

/// A tool of a server.
#[derive(Debug)]
struct ForeignTool {
    /// The name by which models know it.
    name: String,
    /// The name by which its server knows it.
    remote: String,
    server: String,
    description: String,
    parameters: Value,
    footprint: Footprint,
}

/// Returns what a server offers, and why what it lists beside that is not offered.
#[must_use]
pub fn offered(pinned: &Pinned) -> (Catalog, Vec<BadTool>) {
    let tools: Vec<&str> = pinned.tools.iter().map(|tool| tool.name.as_str()).collect();
    let named = names::names(&pinned.spec.name, &tools);
    let (mut catalog, mut bad) = (Catalog::default(), Vec::new());
    for (tool, name) in pinned.tools.iter().zip(named) {
        let tool = ForeignTool {
            name,
            remote: tool.name.clone(),
            server: pinned.spec.name.clone(),
            description: tool.description.clone(),
            parameters: tool.schema.clone(),
            footprint: footprint(&pinned.spec, tool.reads_only),
        };
        let one = Catalog::of(vec![Arc::new(tool)]);
        match one.and_then(|one| catalog.with(&one)) {
            Ok(more) => catalog = more,
            Err(error) => bad.push(error),
        }
    }
    (catalog, bad)
}

/// Returns what a call touches: its server, whose calls come in the order asked unless it says
/// of a tool that it changes nothing, and the workspace as far as the server may.
fn footprint(spec: &Spec, reads_only: bool) -> Footprint {
    let server = if reads_only {
        Footprint::reads_server(&spec.name)
    } else {
        Footprint::uses_server(&spec.name)
    };
    match (spec.server.workspace, reads_only) {
        (Reach::None, _) => server,
        (Reach::Write, false) => server.and(Footprint::writes_workspace()),
        (Reach::Read, _) | (Reach::Write, true) => server.and(Footprint::reads_workspace()),
    }
}

impl AnyTool for ForeignTool {
    fn name(&self) -> &str {
        &self.name
    }

    fn description(&self) -> &str {
        &self.description
    }

    fn category(&self) -> &str {
        CATEGORY
    }

    fn example(&self) -> Value {
        example(&self.parameters, DEPTH)
    }

    fn browser(&self) -> Option<BrowserMode> {
        None
    }

    fn parameters(&self) -> Value {
        self.parameters.clone()
    }

    fn origin(&self) -> Option<(&str, &str)> {
        Some((&self.server, &self.remote))
    }

    fn prepare(self: Arc<Self>, arguments: Value) -> Result<Prepared, ToolError> {
        let Value::Object(arguments) = arguments else {
            let reason = "expected an object".to_owned();
            return Err(ToolError::BadArguments { tool: self.name.clone(), reason });
        };
        Ok(Prepared {
            footprint: self.footprint.clone(),
            cost: Duration::from_secs(1),
            run: Box::new(move |context| {
                Box::pin(async move { self.run(&context, arguments).await })
            }),
        })
    }
}

impl ForeignTool {
    async fn run(
        &self,
        context: &crate::tool::CallContext,
        arguments: Map<String, Value>,
    ) -> Result<Output, ToolError> {
        let servers = context.toolbox.foreign();
        let Some(server) = servers.and_then(|servers| servers.server(&self.server)) else {
            let why = format!("server `{}` is not part of this attempt", self.server);
            return Err(ToolError::Unavailable(why));
        };
        server.call(context, &self.remote, arguments).await
    }
}
