//! The list of all tools.

use std::fmt;
use std::sync::Arc;

use crate::tool::AnyTool;

/// Tools by name, in the order in which a model is told of them.
#[derive(Clone, Default)]
pub struct Catalog(Vec<Arc<dyn AnyTool>>);

impl Catalog {
    /// Returns all tools of this program. A new tool is one line here.
    #[must_use]
    pub fn all() -> Self {
        Self(vec![Arc::new(crate::tools::execute_code::ExecuteCode)])
    }

    /// Returns a catalog of these tools.
    #[must_use]
    pub fn of(tools: Vec<Arc<dyn AnyTool>>) -> Self {
        Self(tools)
    }

    /// Returns the tool of that name.
    #[must_use]
    pub fn get(&self, name: &str) -> Option<&Arc<dyn AnyTool>> {
        self.0.iter().find(|tool| tool.name() == name)
    }

    /// Returns the tools in order.
    pub fn iter(&self) -> impl Iterator<Item = &Arc<dyn AnyTool>> {
        self.0.iter()
    }
}

impl fmt::Debug for Catalog {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_list().entries(self.iter().map(|tool| tool.name())).finish()
    }
}
