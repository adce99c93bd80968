//! Asking a model about one failed trial, at most twice.

use serde_json::json;

use super::reply;
use super::story::{Told, shortened};
use crate::model::{Asked, Message, Model, ModelError, Structured};
use crate::record::{Annotation, TrialId};
use crate::store::TaskData;
use crate::verdict::Verdict;

/// What the model is told of its work.
const PROMPT: &str = include_str!("prompt.md");

/// Most characters of the reference solution.
const SOLUTION: usize = 12_000;

/// Most characters of a request, an answer or a reason.
const TEXT: usize = 4000;

/// Who asks, in headers and cassettes.
const ROLE: &str = "annotate";

/// A failed trial, as far as it is shown.
#[derive(Debug, Clone)]
pub struct Case<'a> {
    /// The trial.
    pub trial: &'a TrialId,
    /// The attempt that counts.
    pub attempt: u32,
    /// Its task.
    pub task: &'a TaskData,
    /// Its verdict.
    pub verdict: Verdict,
    /// The verdict's reasons.
    pub reasons: &'a [String],
    /// How it ended.
    pub outcome: String,
    /// What the agent answered.
    pub answer: Option<String>,
    /// What it did.
    pub told: &'a Told,
}

/// What came of asking.
#[derive(Debug)]
pub struct Annotated {
    /// The annotation; none where no reply could be used.
    pub annotation: Option<Annotation>,
    /// Why there is none.
    pub problem: Option<String>,
    /// Every request, with why its reply was not used.
    pub calls: Vec<(Asked, Option<String>)>,
    /// Whether it was the endpoint that failed.
    pub endpoint_failed: bool,
}

/// A model that annotates.
#[derive(Debug)]
pub struct Annotator {
    model: Structured,
    prompts: String,
}

impl Annotator {
    /// Prepares a model; it is asked for JSON of the schema where its endpoint can be.
    pub fn new(model: &Model) -> Result<Self, ModelError> {
        let schema = reply::schema();
        let prompts = blake3::hash(format!("{PROMPT}\n{schema}").as_bytes()).to_hex().to_string();
        Ok(Self { model: Structured::new(model, "annotation", &schema)?, prompts })
    }

    /// Returns the BLAKE3 digest of the prompt and the schema, as 64 hexadecimal digits.
    #[must_use]
    pub fn prompts(&self) -> &str {
        &self.prompts
    }

    /// Asks about a trial, and once more where the reply cannot be used.
    pub async fn annotate(&self, case: &Case<'_>) -> Annotated {
        let model = self.model.scoped(&case.trial.to_string(), case.attempt, ROLE);
        let mut messages = vec![Message::system(PROMPT.trim_end()), Message::user(&asked(case))];
        let mut annotated = Annotated {
            annotation: None,
            problem: None,
            calls: Vec::new(),
            endpoint_failed: false,
        };
        for _ in 0..2 {
            let mut requests = model.chat(&messages).await;
            let Some(last) = requests.pop() else { break };
            let refused = "the endpoint does not take `response_format`".to_owned();
            annotated.calls.extend(requests.into_iter().map(|one| (one, Some(refused.clone()))));
            let problem = match &last.ended {
                Err(error) => {
                    annotated.endpoint_failed =
                        matches!(error, ModelError::Refused(_) | ModelError::Gone(_));
                    let problem = Some(error.to_string());
                    annotated.problem.clone_from(&problem);
                    annotated.calls.push((last, problem));
                    return annotated;
                }
                Ok(exchange) => {
                    let content = exchange.reply.content.as_deref().unwrap_or_default();
                    match reply::read(content, case.told) {
                        Ok(annotation) => {
                            annotated.annotation = Some(annotation);
                            annotated.problem = None;
                            annotated.calls.push((last, None));
                            return annotated;
                        }
                        Err(problem) => {
                            messages.push(exchange.echo.clone());
                            messages.push(Message::user(&again(&problem)));
                            problem
                        }
                    }
                }
            };
            annotated.problem = Some(problem.clone());
            annotated.calls.push((last, Some(problem)));
        }
        annotated
    }
}

/// Writes what the model is to judge, as one JSON object.
fn asked(case: &Case<'_>) -> String {
    let task = case.task;
    let request = task.questions.get(&case.trial.variant.to_string());
    let reasons: Vec<String> = case.reasons.iter().map(|text| shortened(text, TEXT)).collect();
    let object = json!({
        "request": request.map(|text| shortened(text, TEXT)),
        "reference_answer": task.answer,
        "reference_solution": shortened(&task.solution, SOLUTION),
        "verdict": case.verdict,
        "verdict_reasons": reasons,
        "outcome": case.outcome,
        "final_answer": case.answer.as_ref().map(|text| shortened(text, TEXT)),
        "transcript": case.told.shown,
    });
    object.to_string()
}

/// Asks for another reply.
fn again(problem: &str) -> String {
    format!(
        "Your reply cannot be used: {problem}. Reply again with nothing but the JSON object that \
         was described, its `evidence` copied letter by letter from what you were given."
    )
}
