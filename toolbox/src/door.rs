//! The one door for tool calls.

use std::sync::Arc;

use serde::{Deserialize, Serialize};
use wildgym_sandbox::Sandbox;

/// The number of a call, settled when it is taken in: the order asked, from 1. A
/// call made from executed code has the number of its parent and its own: `7.2`.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Ingress(pub String);

/// A call, as asked.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Call {
    /// The id that the model gave it.
    pub id: String,
    /// Name of the tool.
    pub name: String,
    /// The arguments, as the model wrote them: JSON, one hopes.
    pub arguments: String,
}

/// What goes back to the agent.
#[derive(Debug)]
pub struct Reply {
    /// What the agent reads.
    pub text: String,
}

/// Watches and changes calls from above.
pub trait Interceptor: Send + Sync {}

/// The tools of one attempt and the sandbox they act in.
pub struct Toolbox {
    /// Where calls happen.
    pub sandbox: Arc<Sandbox>,
}

impl Toolbox {
    /// Makes a call on behalf of another one.
    pub async fn call_child(&self, parent: &Ingress, number: u64, call: Call) -> Reply {
        let _ = (parent, number, call);
        todo!()
    }
}
