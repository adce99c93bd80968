//! What a model replied that rates: six scores in exactly one form, or none.
//!
//! As of a verdict, no word of a reply is searched for, and a form that stands in the answer
//! that is rated is not counted: who repeats it has not judged.

use serde::Deserialize;

use super::super::reply::{LONGEST, Unread, content, repeats, thought, unfenced};
use crate::model::Exchange;
use crate::verdict::{Aspect, HIGHEST, Scores};

/// Scores and why.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Given {
    pub(super) scores: Scores,
    /// The reasons, each with its aspect.
    pub(super) reason: String,
}

/// Reads the scores of a reply about work that ended in `answer`.
pub(super) fn read(exchange: &Exchange, answer: &str) -> Result<Given, Unread> {
    let content = content(exchange)?;
    let given = parse(content).map_err(Unread::Unreadable)?;
    if repeats(content, answer) {
        return Err(Unread::Unreadable("the reply repeats the answer that is rated".to_owned()));
    }
    Ok(given)
}

/// Reads a text that is scores and nothing else.
pub(super) fn parse(content: &str) -> Result<Given, String> {
    if content.len() > LONGEST {
        return Err(format!("the reply has {} bytes", content.len()));
    }
    object(content).or_else(|error| match thought(content) {
        Some(rest) => object(rest),
        None => Err(error),
    })
}

/// The form; a derived reader refuses unknown fields and fields that come twice.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Form {
    #[serde(default)]
    task_fulfillment_reasoning: String,
    task_fulfillment: f64,
    #[serde(default)]
    grounding_reasoning: String,
    grounding: f64,
    #[serde(default)]
    tool_appropriateness_reasoning: String,
    tool_appropriateness: f64,
    #[serde(default)]
    parameter_accuracy_reasoning: String,
    parameter_accuracy: f64,
    #[serde(default)]
    dependency_awareness_reasoning: String,
    dependency_awareness: f64,
    #[serde(default)]
    parallelism_and_efficiency_reasoning: String,
    parallelism_and_efficiency: f64,
}

impl Form {
    /// Returns the score of an aspect and its reason.
    fn of(&self, aspect: Aspect) -> (f64, &str) {
        match aspect {
            Aspect::Fulfilment => (self.task_fulfillment, &self.task_fulfillment_reasoning),
            Aspect::Grounding => (self.grounding, &self.grounding_reasoning),
            Aspect::Appropriateness => {
                (self.tool_appropriateness, &self.tool_appropriateness_reasoning)
            }
            Aspect::Parameters => (self.parameter_accuracy, &self.parameter_accuracy_reasoning),
            Aspect::Dependencies => {
                (self.dependency_awareness, &self.dependency_awareness_reasoning)
            }
            Aspect::Efficiency => {
                (self.parallelism_and_efficiency, &self.parallelism_and_efficiency_reasoning)
            }
        }
    }
}

fn object(text: &str) -> Result<Given, String> {
    let text = unfenced(text.trim());
    // A derived reader would also take an array of the fields.
    if !text.starts_with('{') {
        return Err("the reply is not one JSON object".to_owned());
    }
    let form: Form = serde_json::from_str(text)
        .map_err(|error| format!("the reply is not one JSON object in the form: {error}"))?;
    let mut reasons = Vec::new();
    for aspect in Aspect::ALL {
        let (score, why) = form.of(aspect);
        let name = aspect.name();
        if !(0.0..=HIGHEST).contains(&score) {
            return Err(format!("`{name}` is {score}, which does not lie in 0 to {HIGHEST}"));
        }
        let colon = if why.trim().is_empty() { "" } else { ": " };
        reasons.push(format!("{name} {score}{colon}{}", why.trim()));
    }
    Ok(Given { scores: Scores::each(|aspect| form.of(aspect).0), reason: reasons.join("; ") })
}
