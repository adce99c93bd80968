//! Who answers the questions of an attempt's tools, as the attempt's records need it.

use std::sync::Arc;

use wildgym_toolbox::Ask;

use crate::model::{Exchange, ModelError};

/// Answers the questions of an attempt's tools and says what that took.
pub trait Answers: Ask {
    /// A round of calls begins: sets how many tokens may still be used; none where there is
    /// no limit.
    fn allow(&self, tokens: Option<u64>) {
        let _ = tokens;
    }

    /// Takes out the exchanges with a model that `call` caused (its ingress number), oldest
    /// first; those of all calls where none is named.
    fn take(&self, call: Option<&str>) -> Vec<Asked> {
        let _ = call;
        Vec::new()
    }
}

/// One exchange of a tool with a model.
#[derive(Debug, Clone, PartialEq)]
pub struct Asked {
    /// Ingress number of the call that asked.
    pub call: String,
    /// The tool.
    pub tool: &'static str,
    /// What it asked for.
    pub purpose: &'static str,
    /// The conversation as JSON; a picture stands in it by its digest.
    pub messages: String,
    /// The pictures that were sent.
    pub pictures: Vec<Arc<[u8]>>,
    /// The exchange, or why there is none.
    pub ended: Result<Exchange, ModelError>,
}
