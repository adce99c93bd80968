//! The calls of a stored attempt, as far as faults and what came after them go.

use serde_json::Value;

use crate::record::{Body, CallRecord};

/// Operators whose result no caller can take for one, though the call reports no error.
const SPOILT: [&str; 1] = ["invalid-output"];

/// The operator that does nothing.
const NULL: &str = "null";

/// The name under which failures of a task's own `fault_injection` count.
const OF_TASK: (&str, &str) = ("explicit-error", "task");

/// One call.
#[derive(Debug, Clone)]
pub(super) struct Step {
    /// Round of the agent.
    pub(super) round: u32,
    /// Ingress number of the call on behalf of which it was made; empty for the agent's own.
    pub(super) parent: String,
    /// Place among the calls of the same parent, from 1.
    pub(super) number: u64,
    /// The tool.
    pub(super) tool: String,
    /// The arguments, such that equal ones are equal.
    pub(super) arguments: Arguments,
    /// Whether it reported an error.
    pub(super) error: bool,
    /// Faults that fired.
    pub(super) faults: Vec<Noted>,
}

/// Arguments that can be compared.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum Arguments {
    /// JSON, whose fields have no order.
    Json(Value),
    /// What is no JSON.
    Text(String),
    /// Long ones, by their digest.
    Blob(String),
}

/// A fault that fired.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Noted {
    pub(super) operator: String,
    pub(super) persistence: String,
    /// Whether it did something to the call.
    pub(super) applied: bool,
    /// Whether a profile had it; else the task itself.
    pub(super) of_profile: bool,
}

impl Step {
    pub(super) fn of(call: &CallRecord) -> Self {
        let (parent, number) = match call.ingress.rsplit_once('.') {
            Some((parent, number)) => (parent.to_owned(), number),
            None => (String::new(), call.ingress.as_str()),
        };
        Self {
            round: call.round,
            parent,
            number: number.parse().unwrap_or_default(),
            tool: call.tool.clone(),
            arguments: Arguments::of(&call.arguments),
            error: call.error.is_some(),
            faults: call.notes.iter().filter_map(noted).collect(),
        }
    }

    /// Returns whether the agent made it itself.
    pub(super) fn is_own(&self) -> bool {
        self.parent.is_empty()
    }

    /// Returns whether a fault acted on it.
    pub(super) fn is_hit(&self) -> bool {
        self.faults.iter().any(|fault| fault.applied)
    }

    /// Returns whether it plainly gave nothing: an error, or a result that is none.
    pub(super) fn failed(&self) -> bool {
        let spoilt = |fault: &Noted| fault.applied && SPOILT.contains(&&*fault.operator);
        self.error || self.faults.iter().any(spoilt)
    }
}

impl Arguments {
    fn of(body: &Body) -> Self {
        match body {
            Body::Inline(text) => match serde_json::from_str(text) {
                Ok(value) => Self::Json(value),
                // Nothing at all is how some models write no arguments.
                Err(_) if text.trim().is_empty() => Self::Json(Value::Object(<_>::default())),
                Err(_) => Self::Text(text.clone()),
            },
            Body::Blob { blob, .. } => Self::Blob(blob.clone()),
        }
    }
}

/// Reads the note of a fault: `{"fault": {"operator", "persistence", …}, "applied": bool}` of
/// a profile, `{"injected": name}` of a task's own failures. Other notes are none.
fn noted(note: &Value) -> Option<Noted> {
    if note.get("injected").is_some() {
        let (operator, persistence) = OF_TASK;
        let (operator, persistence) = (operator.to_owned(), persistence.to_owned());
        return Some(Noted { operator, persistence, applied: true, of_profile: false });
    }
    let fault = note.get("fault")?;
    let name = |key: &str| fault.get(key).and_then(Value::as_str).map(str::to_owned);
    let operator = name("operator").filter(|name| name != NULL)?;
    let applied = note.get("applied").and_then(Value::as_bool).unwrap_or(true);
    let persistence = name("persistence").unwrap_or_default();
    Some(Noted { operator, persistence, applied, of_profile: true })
}
