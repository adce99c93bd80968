//! What a navigation acts on: the attempt's browser, in the real case.

use std::collections::BTreeSet;
use std::future::Future;
use std::time::Duration;

use serde_json::Value;
use wildgym_sandbox::browser::{Action, Browser, BrowserError, Observation, Visit};
use wildgym_sandbox::web::AccessLog;

use crate::ask::{Answer, AskError, Question};
use crate::error::ToolError;
use crate::tool::CallContext;
use crate::tools::page_actions::video;

/// Pages, whoever answers about them, and where notes go. `round` is from 0, the opening
/// of the first page.
pub(super) trait Scene: Sync {
    /// Opens the first page; one whose host gave no answer is refused, not shown.
    fn open(&self, url: &str) -> impl Future<Output = Result<Observation, BrowserError>> + Send;

    /// Does an action and tells what came of it.
    fn act(
        &self,
        action: &Action,
        round: u32,
    ) -> impl Future<Output = Result<Observation, BrowserError>> + Send;

    /// Tells what the page looks like.
    fn observe(&self, round: u32)
    -> impl Future<Output = Result<Observation, BrowserError>> + Send;

    /// Returns the window as PNG; none where nobody looks at pictures.
    fn picture(
        &self,
        round: u32,
    ) -> impl Future<Output = Result<Option<Vec<u8>>, BrowserError>> + Send;

    /// Answers a question about the video of the page.
    fn video(
        &self,
        question: &str,
        round: u32,
    ) -> impl Future<Output = Result<String, ToolError>> + Send;

    /// Asks whoever navigates.
    fn ask(&self, question: &Question<'_>)
    -> impl Future<Output = Result<Answer, AskError>> + Send;

    /// Returns the paths of the files in the workspace.
    fn files(&self) -> BTreeSet<String>;

    /// Keeps a note of the navigation.
    fn note(&self, note: Value);
}

/// The attempt's browser.
pub(super) struct Live<'a> {
    pub(super) context: &'a CallContext,
    pub(super) browser: &'a Browser,
}

impl Live<'_> {
    /// Time passes with the rounds: a second for each, as the call's cost says.
    fn visit(&self, round: u32) -> Visit<'_> {
        let now = self.context.now.saturating_add(Duration::from_secs(round.into()));
        Visit { now: now.unwrap_or(self.context.now), log: &self.context.accesses }
    }
}

impl Scene for Live<'_> {
    async fn open(&self, url: &str) -> Result<Observation, BrowserError> {
        let log = AccessLog::default();
        let visit = Visit { now: self.context.now, log: &log };
        let opened = self.browser.act(&Action::VisitPage { url: url.to_owned() }, visit).await;
        let mut unanswered = None;
        for access in log.take() {
            let shown = |page: &Observation| page.url.split('#').next() == Some(&access.url);
            if access.status.is_none() && opened.as_ref().is_ok_and(shown) {
                unanswered.clone_from(&access.error);
            }
            self.context.accesses.push(access);
        }
        match unanswered {
            Some(why) => Err(BrowserError::Refused(why)),
            None => opened,
        }
    }

    async fn act(&self, action: &Action, round: u32) -> Result<Observation, BrowserError> {
        self.browser.act(action, self.visit(round)).await
    }

    async fn observe(&self, round: u32) -> Result<Observation, BrowserError> {
        self.browser.observe(self.visit(round)).await
    }

    async fn picture(&self, round: u32) -> Result<Option<Vec<u8>>, BrowserError> {
        if !self.context.is_seen() {
            return Ok(None);
        }
        self.browser.picture(self.visit(round)).await.map(Some)
    }

    async fn video(&self, question: &str, round: u32) -> Result<String, ToolError> {
        video::answer(self.context, self.browser, self.visit(round), question).await
    }

    async fn ask(&self, question: &Question<'_>) -> Result<Answer, AskError> {
        self.context.ask(question).await
    }

    fn files(&self) -> BTreeSet<String> {
        let entries = self.context.sandbox.workspace.list().unwrap_or_default();
        entries.into_iter().map(|entry| entry.path.into_string()).collect()
    }

    fn note(&self, note: Value) {
        self.context.note(note);
    }
}
