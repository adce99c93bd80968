//! The loop of a navigation: open, plan, then look and act round by round until it stops.
//!
//! Memory begins empty and ends with the call. A reply without an action is told back and
//! costs a round; two of them in a row end the navigation, since a model that cannot reply
//! would otherwise burn all rounds. An action that cannot be done is told back too. Only a
//! dead browser, a dead endpoint and a first page that does not open are errors.

use std::sync::Arc;

use serde_json::json;
use wildgym_sandbox::browser::{Action, BrowserError, Observation};

use super::history::{self, Item};
use super::prompt::Brief;
use super::reply::{self, Move};
use super::scene::Scene;
use crate::ask::{AskError, Sight};
use crate::error::ToolError;

/// After so many rounds it is asked whether the plan still holds.
const REPLAN: u32 = 5;

/// Replies without an action, in a row, that end it.
const SPEECHLESS: u32 = 2;

/// What came of a navigation.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Found {
    /// The result, in the navigator's words.
    pub(super) text: String,
    /// Why it ended before the navigator said so.
    pub(super) unfinished: Option<String>,
    /// Where it ended.
    pub(super) url: String,
    /// Rounds that were used.
    pub(super) rounds: u32,
    /// Files that came into the workspace.
    pub(super) downloads: Vec<String>,
}

/// The page as it is known, and what came of the last action.
struct Known {
    page: Observation,
    said: String,
    failed: bool,
}

impl Known {
    fn sight(&self) -> Sight<'_> {
        Sight { page: &self.page, said: &self.said, failed: self.failed }
    }
}

struct Navigation<'a, S> {
    scene: &'a S,
    brief: Brief<'a>,
    limit: u32,
    plan: String,
    items: Vec<Item>,
    known: Known,
    /// Whether it was noted that pictures are not looked at.
    blind: bool,
}

/// How a round ended.
enum Round {
    Went,
    Speechless,
    Stopped(String),
}

/// Browses from `start` with at most `limit` rounds. `fence` is a word that pages cannot
/// know.
pub(super) async fn browse<S: Scene>(
    scene: &S,
    (task, fence): (&str, &str),
    start: &str,
    limit: u32,
) -> Result<Found, ToolError> {
    let before = scene.files();
    let page = open(scene, start).await?;
    let said = page.feedback.clone();
    scene.note(json!({ "round": 0, "action": format!("visit_page({start:?})"),
        "then": history::cut(&said), "url": page.url }));
    let brief = Brief { task, fence };
    let known = Known { page, said, failed: false };
    let (plan, items) = (String::new(), Vec::new());
    let mut navigation = Navigation { scene, brief, limit, plan, items, known, blind: false };
    navigation.plan = scene.ask(&navigation.brief.plan(navigation.known.sight())).await?.text;
    let (text, unfinished, rounds) = navigation.rounds().await?;
    let downloads = scene.files().difference(&before).cloned().collect();
    Ok(Found { text, unfinished, url: navigation.known.page.url, rounds, downloads })
}

async fn open<S: Scene>(scene: &S, start: &str) -> Result<Observation, ToolError> {
    scene.open(start).await.map_err(|error| match error {
        BrowserError::Refused(why) => {
            ToolError::Failed(format!("`{start}` could not be opened: {why}"))
        }
        BrowserError::Missing(_) | BrowserError::Lost(_) => error.into(),
    })
}

impl<S: Scene> Navigation<'_, S> {
    /// Goes through the rounds; returns the result, why it is unfinished, and the rounds used.
    async fn rounds(&mut self) -> Result<(String, Option<String>, u32), ToolError> {
        let mut speechless = 0;
        for round in 1..=self.limit {
            if round > 1 && (round - 1) % REPLAN == 0 {
                self.replan().await?;
            }
            match self.round(round).await? {
                Round::Went => speechless = 0,
                Round::Stopped(result) => return Ok((result, None, round)),
                Round::Speechless => {
                    speechless += 1;
                    if speechless == SPEECHLESS {
                        let why = format!("{SPEECHLESS} replies in a row had no action");
                        return Ok((self.finish().await?, Some(why), round));
                    }
                }
            }
        }
        let noun = if self.limit == 1 { "round is" } else { "rounds are" };
        let why = format!("all {} {noun} used", self.limit);
        Ok((self.finish().await?, Some(why), self.limit))
    }

    async fn round(&mut self, round: u32) -> Result<Round, ToolError> {
        let picture = self.picture(round).await?;
        let pictured = picture.is_some();
        let question = self.brief.act(
            (round, self.limit),
            (&self.plan, &self.items),
            self.known.sight(),
            picture,
        );
        let answer = self.scene.ask(&question).await?;
        if pictured && !answer.seen && !self.blind {
            self.blind = true;
            self.scene.note(json!({ "note": "the model takes no pictures and is sent text only" }));
        }
        let url = self.known.page.url.clone();
        let step = match reply::read(&answer.text) {
            Ok(step) => step,
            Err(problem) => {
                self.known.failed = true;
                self.known.said.clone_from(&problem);
                self.push(round, url, String::new(), String::new());
                return Ok(Round::Speechless);
            }
        };
        if step.action == Action::Stop {
            return self.stop(round, url, step).await;
        }
        let Move { observation, written, action, .. } = step;
        self.act(&action, round).await?;
        self.push(round, url, observation, written);
        Ok(Round::Went)
    }

    /// Ends with the result; one that is missing is asked for.
    async fn stop(&mut self, round: u32, url: String, step: Move) -> Result<Round, ToolError> {
        self.known.said.clear();
        self.push(round, url, step.observation, step.written);
        let result = step.result.trim().to_owned();
        Ok(Round::Stopped(if result.is_empty() { self.finish().await? } else { result }))
    }

    /// Returns the window as a picture. One that cannot be made is done without.
    async fn picture(&self, round: u32) -> Result<Option<Arc<[u8]>>, ToolError> {
        match self.scene.picture(round).await {
            Ok(picture) => Ok(picture.map(Arc::from)),
            Err(BrowserError::Refused(_)) => Ok(None),
            Err(error @ (BrowserError::Missing(_) | BrowserError::Lost(_))) => Err(error.into()),
        }
    }

    /// Does an action and looks again.
    async fn act(&mut self, action: &Action, round: u32) -> Result<(), ToolError> {
        if let Action::AskQuestionAboutVideo { question } = action {
            let answer = self.scene.video(question, round).await;
            self.known.failed = answer.is_err();
            self.known.said = match answer {
                Ok(answer) => answer,
                Err(error) if error.lost().is_some() => return Err(error),
                Err(error) => error.to_string(),
            };
            return Ok(());
        }
        match self.scene.act(action, round).await {
            Ok(page) => {
                self.known = Known { said: page.feedback.clone(), page, failed: false };
                Ok(())
            }
            Err(BrowserError::Refused(why)) => {
                match self.scene.observe(round).await {
                    Ok(page) => self.known.page = page,
                    // Nothing new is known; the navigator hears why and acts on what it saw.
                    Err(BrowserError::Refused(_)) => {}
                    Err(error @ (BrowserError::Missing(_) | BrowserError::Lost(_))) => {
                        return Err(error.into());
                    }
                }
                self.known.page.feedback = format!("not done: {why}");
                (self.known.said, self.known.failed) = (why, true);
                Ok(())
            }
            Err(error @ (BrowserError::Missing(_) | BrowserError::Lost(_))) => Err(error.into()),
        }
    }

    /// Keeps a round, for the navigator and for the transcript.
    fn push(&mut self, round: u32, url: String, observation: String, action: String) {
        let failed = if self.known.failed { "not done: " } else { "" };
        let outcome = format!("{failed}{}", self.known.said);
        let mut note = json!({ "round": round, "url": url, "action": action });
        if !observation.trim().is_empty() {
            note["saw"] = history::cut(&observation).into();
        }
        if !outcome.is_empty() {
            note["then"] = history::cut(&outcome).into();
        }
        self.scene.note(note);
        self.items.push(Item { round, url, observation, action, outcome });
    }

    async fn replan(&mut self) -> Result<(), ToolError> {
        let question = self.brief.replan(&self.plan, &self.items, self.known.sight());
        let answer = self.scene.ask(&question).await?;
        if let Some(plan) = reply::read_plan(&answer.text) {
            self.plan = plan;
        }
        Ok(())
    }

    /// Asks for what was found; where that has no answer, the last rounds stand for it.
    async fn finish(&self) -> Result<String, ToolError> {
        let answer = self.scene.ask(&self.brief.finish(&self.items)).await;
        let text = match answer {
            Ok(answer) => answer.text.trim().to_owned(),
            Err(AskError::Refused(_)) => String::new(),
            Err(error @ (AskError::NoModel | AskError::Gone(_) | AskError::CutOff)) => {
                return Err(error.into());
            }
        };
        if !text.is_empty() {
            return Ok(text);
        }
        Ok(history::written(history::window(&self.items)).trim_end().to_owned())
    }
}
