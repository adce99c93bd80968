//! The tabs of an attempt, and the way of an action through them.

use std::sync::Arc;
use std::sync::atomic::AtomicU64;
use std::time::Duration;

use chromiumoxide::Browser;
use chromiumoxide::cdp::browser_protocol::browser::BrowserContextId;
use chromiumoxide::cdp::browser_protocol::target::CreateTargetParams;
use jiff::Timestamp;
use serde_json::json;

use super::SessionOptions;
use super::ask::{self, Fault, SOON};
use super::signals::Signals;
use super::tab::{Tab, TabState};
use super::watch::{self, Watch};
use crate::browser::{Action, BrowserError, Observation};
use crate::workspace::Workspace;

/// How often a tab that just opened is asked for.
const ASKED: u32 = 100;

/// The pages of one attempt, in one context of a browser.
///
/// Dropping it ends its tasks; its tabs end with the context, or by [`Session::close`].
#[derive(Debug)]
pub struct Session {
    pub(super) browser: Arc<Browser>,
    pub(super) context: String,
    pub(super) options: SessionOptions,
    pub(super) signals: Arc<Signals>,
    /// In the order opened; the last of `shown` is the current one.
    pub(super) tabs: Vec<Tab>,
    /// Targets in the order in which they became current.
    pub(super) shown: Vec<String>,
    /// Files copied for uploads so far.
    pub(super) uploads: u32,
    /// The machine's time to the logical one, in milliseconds.
    shift: Option<i64>,
    _watch: Watch,
}

impl Session {
    /// Opens an empty tab in a context that exists.
    pub async fn open(
        browser: Arc<Browser>,
        context: BrowserContextId,
        options: SessionOptions,
    ) -> Result<Self, BrowserError> {
        let context = context.inner().clone();
        let signals = Arc::new(Signals::default());
        let lost =
            |fault: Fault| BrowserError::Lost(format!("it could not open a page ({fault:?})"));
        let watch = watch::context(&browser, &context, &signals, options.download_limit)
            .await
            .map_err(lost)?;
        let params = json!({
            "behavior": "allowAndName",
            "browserContextId": context,
            "downloadPath": options.downloads,
            "eventsEnabled": true,
        });
        ask::browser(&browser, "Browser.setDownloadBehavior", params).await.map_err(lost)?;
        let mut session = Self {
            browser,
            context,
            options,
            signals,
            tabs: Vec::new(),
            shown: Vec::new(),
            uploads: 0,
            shift: None,
            _watch: watch,
        };
        if let Some(now) = session.options.clock {
            session.set_time(now);
        }
        session.open_tab().await.map_err(lost)?;
        Ok(session)
    }

    /// Does an action and tells what the page looks like then.
    ///
    /// Files come from, and go into, `workspace`. Where the session has a clock, pages
    /// opened from here on see `now`. [`Action::Stop`] and
    /// [`Action::AskQuestionAboutVideo`] only look: what they mean is the caller's.
    pub async fn act(
        &mut self,
        action: &Action,
        now: Timestamp,
        workspace: &Workspace,
    ) -> Result<Observation, BrowserError> {
        match self.act_once(action, now, workspace).await {
            Ok(seen) => Ok(seen),
            Err(fault) => Err(self.blame(fault).await),
        }
    }

    /// Tells what the page looks like.
    pub async fn observe(
        &mut self,
        now: Timestamp,
        workspace: &Workspace,
    ) -> Result<Observation, BrowserError> {
        self.act(&Action::Stop, now, workspace).await
    }

    /// Returns the window as PNG, with an outline and the id for each element in it.
    pub async fn picture(&mut self) -> Result<Vec<u8>, BrowserError> {
        let drawn = match self.current().await {
            Ok(index) => self.draw(index).await,
            Err(fault) => Err(fault),
        };
        match drawn {
            Ok(png) => Ok(png),
            Err(fault) => Err(self.blame(fault).await),
        }
    }

    /// Whether a target is the tab that is shown.
    #[must_use]
    pub fn is_current(&self, target: &str) -> bool {
        self.shown.last().is_some_and(|shown| shown == target)
    }

    /// Returns the count of what its tabs told so far, which goes on.
    pub(in crate::browser) fn heard(&self) -> Arc<AtomicU64> {
        Arc::clone(&self.signals.heard)
    }

    /// Closes all tabs.
    pub async fn close(self) {
        for tab in &self.tabs {
            let params = json!({ "targetId": tab.target });
            let _ = ask::browser(&self.browser, "Target.closeTarget", params).await;
        }
    }

    async fn act_once(
        &mut self,
        action: &Action,
        now: Timestamp,
        workspace: &Workspace,
    ) -> Result<Observation, Fault> {
        self.set_time(now);
        self.signals.lock().waited = Duration::ZERO;
        let index = self.current().await?;
        if let Some(shift) = self.shift {
            self.tabs[index].set_clock(shift, false).await?;
        }
        let feedback = self.perform(index, action, workspace).await?;
        self.arrive(workspace).await?;
        let index = self.current().await?;
        let mut seen = self.look(index).await?;
        seen.feedback = feedback;
        let mut known = self.signals.lock();
        seen.notices.extend(known.take_notices());
        seen.downloads = std::mem::take(&mut known.placed);
        drop(known);
        Ok(seen)
    }

    async fn perform(
        &mut self,
        index: usize,
        action: &Action,
        workspace: &Workspace,
    ) -> Result<String, Fault> {
        match action {
            Action::FillInputId { id, text } => self.fill(index, *id, text, workspace).await,
            Action::ClickId { id } => self.click(index, *id).await,
            Action::HoverId { id } => self.hover(index, *id).await,
            Action::DownloadFileId { id } => self.fetch(index, *id, workspace).await,
            Action::ScrollToTop => self.scroll(index, "top").await,
            Action::ScrollToBottom => self.scroll(index, "bottom").await,
            Action::ScrollUp => self.scroll(index, "up").await,
            Action::ScrollDown => self.scroll(index, "down").await,
            Action::Back => self.back(index).await,
            Action::Stop => Ok(String::new()),
            Action::GetUrl => self.address(index).await,
            Action::FindTextOnPage { text } => self.find(index, text).await,
            Action::VisitPage { url } => self.visit(index, url).await,
            Action::ClickBlankArea => self.click_blank(index).await,
            Action::AskQuestionAboutVideo { .. } => self.has_video(index).await,
        }
    }

    /// Takes in what came of an action: new tabs, downloads, a tab that ended.
    async fn arrive(&mut self, workspace: &Workspace) -> Result<(), Fault> {
        self.adopt().await;
        let index = self.current().await?;
        if !self.tabs[index].settle(self.options.load).await
            && self.tabs[index].state() == TabState::Open
        {
            let what = if self.tabs[index].loading() {
                "the page is still loading; it is shown as it is so far"
            } else {
                "the page is still busy; it is shown as it is so far"
            };
            self.signals.lock().tell(what.into());
        }
        // What the page opened while it loaded.
        self.adopt().await;
        self.collect(workspace).await;
        Ok(())
    }

    /// Takes over tabs that pages opened; the last one becomes the current one.
    pub(super) async fn adopt(&mut self) {
        loop {
            let opened = self.signals.lock().opened.pop_front();
            let Some(target) = opened else { return };
            if self.tabs.iter().any(|tab| tab.target == target) {
                continue;
            }
            let Some(mut tab) = self.take_over(&target).await else { continue };
            if let Some(shift) = self.shift {
                let _ = tab.set_clock(shift, true).await;
            }
            tab.settle(self.options.load).await;
            self.signals
                .lock()
                .tell("a new tab opened and is shown now; `back` returns to the one before".into());
            self.shown.push(target);
            self.tabs.push(tab);
        }
    }

    async fn take_over(&self, target: &str) -> Option<Tab> {
        for _ in 0..ASKED {
            let closed = self.signals.look(target, |tab| tab.closed).unwrap_or(false);
            if closed {
                return None;
            }
            if let Ok(page) = self.browser.get_page(target.to_owned().into()).await {
                return Tab::attach(page, &self.signals, &self.options).await.ok();
            }
            tokio::time::sleep(Duration::from_millis(20)).await;
        }
        None
    }

    /// Returns the current tab; where it is gone, the one before it, else an empty one.
    pub(super) async fn current(&mut self) -> Result<usize, Fault> {
        let mut ended = false;
        while let Some(target) = self.shown.last().cloned() {
            let Some(index) = self.tabs.iter().position(|tab| tab.target == target) else {
                self.shown.pop();
                continue;
            };
            match self.tabs[index].state() {
                TabState::Open => {
                    if ended {
                        self.signals
                            .lock()
                            .tell("the tab was closed; the one before it is shown".into());
                    }
                    return Ok(index);
                }
                TabState::Closed => ended = true,
                TabState::Crashed => {
                    self.signals.lock().tell("the page crashed and its tab was closed".into());
                    self.discard(&target).await;
                }
            }
            self.shown.pop();
            self.tabs.retain(|tab| tab.target != target);
        }
        self.signals.lock().tell("all tabs were closed; an empty one was opened".into());
        self.open_tab().await
    }

    /// Closes a tab for good.
    pub(super) async fn discard(&mut self, target: &str) {
        let params = json!({ "targetId": target });
        let _ = ask::browser(&self.browser, "Target.closeTarget", params).await;
        self.signals.tab(target, |tab| tab.closed = true);
    }

    async fn open_tab(&mut self) -> Result<usize, Fault> {
        let mut params = CreateTargetParams::new("about:blank");
        params.browser_context_id = Some(self.context.clone().into());
        let page = match tokio::time::timeout(SOON * 4, self.browser.new_page(params)).await {
            Err(_) => return Err(Fault::Closed),
            Ok(page) => page?,
        };
        let mut tab = Tab::attach(page, &self.signals, &self.options).await?;
        if let Some(shift) = self.shift {
            tab.set_clock(shift, false).await?;
        }
        self.signals.lock().opened.retain(|opened| *opened != tab.target);
        self.shown.push(tab.target.clone());
        self.tabs.push(tab);
        Ok(self.tabs.len() - 1)
    }

    fn set_time(&mut self, now: Timestamp) {
        if self.options.clock.is_some() {
            let machine = Timestamp::now().as_millisecond();
            self.shift = Some(now.as_millisecond() - machine);
        }
    }

    /// Says whose fault it was: where the browser itself does not answer, it is lost.
    pub(super) async fn blame(&self, fault: Fault) -> BrowserError {
        if matches!(fault, Fault::Closed | Fault::Busy)
            && ask::browser(&self.browser, "Browser.getVersion", json!({})).await.is_err()
        {
            return BrowserError::Lost("it does not answer any more".into());
        }
        fault.into()
    }
}
