//! A context of the browser, and the browser as one attempt holds it.
//!
//! A context has cookies, storage, cache and connections of its own, and one way out:
//! its proxy. It is opened at the first action and holds a place in the pool until it is
//! closed. A context whose pages keep the browser from answering anybody is closed for the
//! others' sake; its holder is told and starts anew. Whatever ends the browser while it is
//! open makes it lost, for good: what the pages held is gone, so the attempt cannot go on
//! as if nothing had been.

use std::sync::Arc;
use std::time::Duration;

use camino::Utf8PathBuf;
use chromiumoxide::Page;
use chromiumoxide::cdp::browser_protocol::browser::BrowserContextId;
use chromiumoxide::cdp::browser_protocol::target::{
    CreateBrowserContextParams, CreateTargetParams, SetAutoAttachParams,
};
use chromiumoxide::error::CdpError;
use jiff::Timestamp;
use tokio::runtime::Handle;
use tokio::sync::{Mutex, MutexGuard, OwnedSemaphorePermit, watch};
use tokio::task::JoinHandle;

use super::flags::{BYPASS, PROXY_HOST};
use super::launch::Running;
use super::pool::release;
use super::proxy::Proxy;
use super::{Action, BrowserError, Browsers, Observation, Session, SessionOptions, Video, Visit};
use crate::web::Web;
use crate::workspace::Workspace;

/// How long a browser may take to open a context and its first page.
const OPENING: Duration = Duration::from_mins(1);

/// How often it may fail to in a row before it is given up.
const FAILURES: u32 = 3;

/// What is said where it was busy for a while.
const BUSY: &str = "the browser was too busy to do it; look at the page, and do it again";

/// What is said where pages were closed for the sake of others.
const FLOOD: &str = "the page kept the whole browser busy and was closed, with all tabs, \
cookies and storage; `visit_page` opens another page in an empty browser";

/// How long it may take to close one.
const CLOSING: Duration = Duration::from_secs(10);

/// An attempt's own browser. A clone is the same one.
///
/// Nothing is opened until it is used; from then on it holds a place in the pool until
/// it is closed or the last clone is dropped.
#[derive(Debug, Clone)]
pub struct Browser(Arc<Inner>);

#[derive(Debug)]
struct Inner {
    browsers: Browsers,
    web: Web,
    workspace: Arc<Workspace>,
    logical: bool,
    state: Mutex<State>,
}

#[derive(Debug, Default)]
enum State {
    /// Not used yet, or closed.
    #[default]
    Closed,
    Open(Box<Context>),
    /// Why it cannot be used any more.
    Lost(String),
}

/// An open context.
#[derive(Debug)]
struct Context {
    /// Its pages.
    session: Session,
    proxy: Proxy,
    held: Held,
    /// Whether it was closed because its pages kept the browser busy.
    shut: watch::Receiver<bool>,
}

impl Browser {
    /// Prepares the browser of an attempt: its pages come from `web`, what is uploaded
    /// and downloaded from and to `workspace`; with `logical` its pages see the logical
    /// time of the call, else the real one.
    #[must_use]
    pub fn new(browsers: Browsers, web: Web, workspace: Arc<Workspace>, logical: bool) -> Self {
        let state = Mutex::default();
        Self(Arc::new(Inner { browsers, web, workspace, logical, state }))
    }

    /// Waits for a place in the pool, first come first served, and opens the context.
    /// What waits here is not the agent's working time.
    pub async fn ready(&self) -> Result<(), BrowserError> {
        self.open(Timestamp::UNIX_EPOCH).await.map(drop)
    }

    /// Does an action and tells what the page looks like then.
    pub async fn act(
        &self,
        action: &Action,
        visit: Visit<'_>,
    ) -> Result<Observation, BrowserError> {
        let workspace = &self.0.workspace;
        self.visit(visit, async |session| session.act(action, visit.now, workspace).await).await
    }

    /// Tells what the page looks like.
    pub async fn observe(&self, visit: Visit<'_>) -> Result<Observation, BrowserError> {
        let workspace = &self.0.workspace;
        self.visit(visit, async |session| session.observe(visit.now, workspace).await).await
    }

    /// Returns the window as PNG, the elements in it marked with their ids.
    pub async fn picture(&self, visit: Visit<'_>) -> Result<Vec<u8>, BrowserError> {
        self.visit(visit, async |session| session.picture().await).await
    }

    /// Returns at most `frames` pictures, evenly spread, out of the page's video.
    pub async fn video(&self, visit: Visit<'_>, frames: usize) -> Result<Video, BrowserError> {
        self.visit(visit, async |session| session.video(frames).await).await
    }

    /// Opens an empty page beside those that actions work on, to be driven by hand: for
    /// tests and benchmarks of the isolation itself, never for a tool.
    pub async fn page_by_hand(&self, visit: Visit<'_>) -> Result<Page, BrowserError> {
        let mut state = self.open(visit.now).await?;
        let context = opened(&mut state)?;
        let page = context.page();
        let page = context.held.running.until_end(page).await.map_err(BrowserError::Lost)?;
        page.map_err(|error| BrowserError::Refused(error.to_string()))
    }

    /// Tells a call what pages sent since the last one was told.
    pub async fn tell(&self, visit: Visit<'_>) {
        if let State::Open(context) = &*self.0.state.lock().await {
            context.proxy.tell(visit.log);
        }
    }

    /// Closes all pages, forgets cookies and storage, and gives the place back. A later
    /// action starts anew; what is lost stays lost.
    pub async fn close(&self) {
        let mut state = self.0.state.lock().await;
        if let State::Open(_) = &*state
            && let State::Open(context) = std::mem::take(&mut *state)
        {
            let Context { session, proxy, mut held, shut: _ } = *context;
            drop(session);
            if let Some(giving_back) = held.give_back() {
                let _ = giving_back.await;
            }
            drop(proxy);
        }
    }

    /// Does something with the pages, and tells the call what they sent.
    async fn visit<T>(
        &self,
        visit: Visit<'_>,
        work: impl AsyncFnOnce(&mut Session) -> Result<T, BrowserError>,
    ) -> Result<T, BrowserError> {
        let mut state = self.open(visit.now).await?;
        let context = opened(&mut state)?;
        let running = Arc::clone(&context.held.running);
        let mut shut = context.shut.clone();
        let done = tokio::select! {
            biased;
            Ok(_) = shut.wait_for(|shut| *shut) => None,
            done = running.until_end(work(&mut context.session)) => Some(done),
        };
        context.proxy.tell(visit.log);
        let Some(done) = done.filter(|_| !*context.shut.borrow()) else {
            *state = State::Closed;
            return Err(BrowserError::Refused(FLOOD.to_owned()));
        };
        let why = match (running.ended(), done) {
            // First: what follows from the end looks like all sorts of failures.
            (Some(why), _) | (None, Err(why)) => why,
            (None, Ok(Ok(value))) => {
                self.0.browsers.was_of_use();
                return Ok(value);
            }
            (None, Ok(Err(BrowserError::Lost(why)))) => {
                // Pages of another may have kept it busy.
                if running.answers().await {
                    return Err(BrowserError::Refused(BUSY.to_owned()));
                }
                why
            }
            (None, Ok(Err(error @ (BrowserError::Refused(_) | BrowserError::Missing(_))))) => {
                return Err(error);
            }
        };
        Err(self.lose(&mut state, why).await)
    }

    /// Ends what is open, for good.
    async fn lose(&self, state: &mut State, why: String) -> BrowserError {
        if let State::Open(context) = std::mem::replace(state, State::Lost(why.clone())) {
            let running = Arc::clone(&context.held.running);
            drop(context);
            if running.ended().is_some() {
                self.0.browsers.ended(&running, &why).await;
            }
            release(Some(running));
        }
        BrowserError::Lost(why)
    }

    /// Returns the state, opened.
    async fn open(&self, now: Timestamp) -> Result<MutexGuard<'_, State>, BrowserError> {
        let mut state = self.0.state.lock().await;
        let ended = match &*state {
            State::Lost(why) => return Err(BrowserError::Lost(why.clone())),
            State::Closed => None,
            State::Open(context) => {
                context.proxy.set_now(now);
                match context.held.running.ended() {
                    None => return Ok(state),
                    ended => ended,
                }
            }
        };
        if let Some(why) = ended {
            return Err(self.lose(&mut state, why).await);
        }
        let place = self.0.browsers.place().await?;
        let context = self.begin(now, place).await?;
        *state = State::Open(Box::new(context));
        Ok(state)
    }

    /// Opens a context. Nothing is lost if the browser dies meanwhile: another is asked.
    async fn begin(
        &self,
        now: Timestamp,
        mut place: OwnedSemaphorePermit,
    ) -> Result<Context, BrowserError> {
        let mut failures = 0;
        loop {
            let running = self.0.browsers.running().await?;
            let clock = self.0.logical.then_some(now);
            let opening = Context::open(&running, self.0.web.clone(), now, clock, place);
            let opening = tokio::time::timeout(OPENING, opening);
            let why = match running.until_end(opening).await {
                Ok(Ok(Ok(context))) => return Ok(context),
                Ok(Ok(Err(error))) => format!("it opens no context: {error}"),
                Ok(Err(_)) => format!("it opened no context within {} s", OPENING.as_secs()),
                Err(why) => why,
            };
            failures += 1;
            // Others have pages open in it: one failure is no proof that it is of no use.
            if failures == FAILURES || !running.answers().await {
                running.give_up(&why);
                self.0.browsers.ended(&running, &why).await;
            }
            place = self.0.browsers.place().await?;
        }
    }
}

/// Returns the context of an opened state.
fn opened(state: &mut State) -> Result<&mut Context, BrowserError> {
    match state {
        State::Open(context) => Ok(context),
        State::Closed | State::Lost(_) => Err(BrowserError::Lost("it was closed".to_owned())),
    }
}

impl Context {
    async fn open(
        running: &Arc<Running>,
        web: Web,
        now: Timestamp,
        clock: Option<Timestamp>,
        place: OwnedSemaphorePermit,
    ) -> Result<Self, String> {
        let text = |error: CdpError| error.to_string();
        let (authority, tree) = (Arc::clone(&running.authority), Arc::clone(&running.tree));
        let proxy = Proxy::open(web, now, authority, tree).await;
        let proxy = proxy.map_err(|error| error.to_string())?;
        let holding = Held::open(Arc::clone(running), proxy.port(), place);
        // In a task of its own, so that who asks may go away and nothing stays open.
        let held = tokio::spawn(holding).await.map_err(|error| error.to_string())?;
        let held = held.map_err(text)?;
        let _turn = running.making.acquire().await;
        let mut options = SessionOptions::new(held.downloads.clone());
        options.clock = clock;
        let browser = Arc::clone(&running.browser);
        let session = Session::open(browser, held.id.clone(), options).await;
        let session = session.map_err(|error| error.to_string())?;
        let shut = running.noise.enter(held.id.as_ref(), session.heard());
        Ok(Self { session, proxy, held, shut })
    }

    /// Makes an empty page.
    async fn page(&self) -> Result<Page, CdpError> {
        let running = &self.held.running;
        let _turn = running.making.acquire().await;
        let params = CreateTargetParams::builder()
            .url("about:blank")
            .browser_context_id(self.held.id.clone())
            .build()
            .map_err(CdpError::msg)?;
        let page = running.browser.new_page(params).await?;
        unwatched(&page).await?;
        Ok(page)
    }
}

/// What is taken of the browser. Dropping it gives it back, in the background.
#[derive(Debug)]
struct Held {
    running: Arc<Running>,
    id: BrowserContextId,
    downloads: Utf8PathBuf,
    /// None once it is being given back.
    place: Option<OwnedSemaphorePermit>,
    runtime: Handle,
}

impl Held {
    /// Opens a context whose only way out is the proxy on that port.
    async fn open(
        running: Arc<Running>,
        port: u16,
        place: OwnedSemaphorePermit,
    ) -> Result<Self, CdpError> {
        let downloads = running.downloads(running.count());
        tokio::fs::create_dir(&downloads).await?;
        let params = CreateBrowserContextParams::builder()
            .proxy_server(format!("http://{PROXY_HOST}:{port}"))
            .proxy_bypass_list(BYPASS)
            .dispose_on_detach(true)
            .build();
        let id = running.browser.create_browser_context(params).await?;
        Ok(Self { running, id, downloads, place: Some(place), runtime: Handle::current() })
    }

    /// Starts to give everything back; a browser that does not close a context in time
    /// and does not answer either is given up.
    fn give_back(&mut self) -> Option<JoinHandle<()>> {
        let place = self.place.take()?;
        self.running.noise.leave(self.id.as_ref());
        let (running, id) = (Arc::clone(&self.running), self.id.clone());
        let downloads = self.downloads.clone();
        Some(self.runtime.spawn(async move {
            let disposing = running.browser.dispose_browser_context(id);
            let disposing = tokio::time::timeout(CLOSING, disposing);
            if let Ok(Err(_)) = running.until_end(disposing).await
                && !running.answers().await
            {
                running.give_up("it did not close a context");
            }
            let _ = tokio::fs::remove_dir_all(downloads).await;
            // Possibly the last handle to a browser that was replaced.
            let _ = tokio::task::spawn_blocking(move || drop(running)).await;
            drop(place);
        }))
    }
}

impl Drop for Held {
    fn drop(&mut self) {
        drop(self.give_back());
    }
}

/// Lets the workers of a page start at once. chromiumoxide has each of them wait for a
/// debugger, and one service worker in eight waits for ever.
async fn unwatched(page: &Page) -> Result<(), CdpError> {
    let params = SetAutoAttachParams::builder()
        .auto_attach(false)
        .wait_for_debugger_on_start(false)
        .flatten(true)
        .build()
        .map_err(CdpError::msg)?;
    page.execute(params).await.map(drop)
}
