//! One tab: the calls into its pages, and the waiting for them.

use std::collections::HashMap;
use std::pin::pin;
use std::sync::Arc;
use std::time::{Duration, Instant};

use chromiumoxide::Page;
use serde::de::DeserializeOwned;
use serde_json::{Value, json};

use super::SessionOptions;
use super::ask::{self, Fault, SOON};
use super::frames::Documents;
use super::signals::{Signals, TabSignals};
use super::watch::{self, Watch};

/// The scripts that run beside a page, in the order in which they build upon each other.
const SCRIPT: &str = concat!(
    include_str!("js/dom.js"),
    include_str!("js/scroll.js"),
    include_str!("js/read.js"),
    include_str!("js/act.js"),
    include_str!("js/marks.js"),
    include_str!("js/video.js"),
);

/// The page's clock; `__SHIFT__` stands for the difference in milliseconds.
const CLOCK: &str = include_str!("js/clock.js");

/// What keeps count of the page's timers.
const TIMERS: &str = include_str!("js/timers.js");

/// So long is waited for timers in all, in one action.
const TIMERS_END: Duration = Duration::from_secs(5);

/// The name of the world in which the scripts run.
const WORLD: &str = "wildgym";

/// How long all must be still before a page counts as settled.
const STILL: Duration = Duration::from_millis(60);

/// After so long a page that says that it is complete is believed.
const MISSED: Duration = Duration::from_secs(2);

/// So long a page that is held may take to be still.
const HELD: Duration = Duration::from_secs(3);

/// How often is looked whether it is.
const LOOK: Duration = Duration::from_millis(15);

/// A tab. Dropping it ends the watch on it; the tab itself is closed by the session.
#[derive(Debug)]
pub(super) struct Tab {
    pub(super) page: Page,
    /// Its target, which is also the id of its main frame.
    pub(super) target: String,
    /// What is known of the documents it showed.
    pub(super) documents: Documents,
    /// A second line to it, for commands that the library would wait with.
    pub(super) line: Option<String>,
    /// Search text and hit of the last search in it.
    pub(super) search: Option<(String, usize)>,
    signals: Arc<Signals>,
    patience: Duration,
    /// Worlds by frame and document.
    worlds: HashMap<(String, String), i64>,
    /// The page clock that is set: its number, and the shift in milliseconds.
    clock: Option<(String, i64)>,
    _watch: Watch,
}

impl Tab {
    /// Takes over a page that is open.
    pub(super) async fn attach(
        page: Page,
        signals: &Arc<Signals>,
        options: &SessionOptions,
    ) -> Result<Self, Fault> {
        let target = page.target_id().inner().clone();
        signals.tab(&target, |_| {});
        signals.lock().frames.insert(target.clone());
        let watch = watch::tab(&page, signals).await?;
        let tab = Self {
            page,
            target,
            documents: Documents::default(),
            line: None,
            search: None,
            signals: Arc::clone(signals),
            patience: options.patience,
            worlds: HashMap::new(),
            clock: None,
            _watch: watch,
        };
        // The library pauses each worker as it starts, and some are never resumed.
        let off = json!({ "autoAttach": false, "waitForDebuggerOnStart": false, "flatten": true });
        tab.ask("Target.setAutoAttach", off).await?;
        let (width, height) = options.window;
        let size =
            json!({ "width": width, "height": height, "deviceScaleFactor": 1, "mobile": false });
        tab.ask("Emulation.setDeviceMetricsOverride", size).await?;
        tab.ask("Emulation.setFocusEmulationEnabled", json!({ "enabled": true })).await?;
        // A tab that a page opened has begun already.
        let script = json!({ "source": TIMERS, "runImmediately": true });
        match tab.ask_page("Page.addScriptToEvaluateOnNewDocument", script, tab.patience).await {
            // It was held up by a script that is stopped now, and is done then.
            Ok(_) | Err(Fault::Busy) => Ok(tab),
            Err(fault) => Err(fault),
        }
    }

    /// Sends a command that no script of the page can hold up.
    pub(super) async fn ask(&self, method: &'static str, params: Value) -> Result<Value, Fault> {
        ask::page(&self.page, method, params, SOON).await
    }

    /// Sends a command that waits for the page's scripts; where they do not end, they
    /// are stopped.
    pub(super) async fn ask_page(
        &self,
        method: &'static str,
        params: Value,
        limit: Duration,
    ) -> Result<Value, Fault> {
        let answer = tokio::select! {
            biased;
            answer = ask::page(&self.page, method, params, limit) => answer,
            () = self.gone() => Err(Fault::Closed),
        };
        if answer == Err(Fault::Busy) {
            let _ = self.ask("Runtime.terminateExecution", json!({})).await;
        }
        answer
    }

    /// Waits until it is not open any more: the browser may leave a command unanswered whose
    /// tab ends meanwhile, such as the click that closes it.
    async fn gone(&self) {
        loop {
            let mut woke = pin!(self.signals.woke.notified());
            woke.as_mut().enable();
            if self.state() != TabState::Open {
                return;
            }
            woke.await;
        }
    }

    /// Whether it is gone or its process died.
    pub(super) fn state(&self) -> TabState {
        let look = |tab: &TabSignals| match (tab.closed, tab.crashed) {
            (true, _) => TabState::Closed,
            (false, true) => TabState::Crashed,
            (false, false) => TabState::Open,
        };
        self.signals.look(&self.target, look).unwrap_or(TabState::Closed)
    }

    /// Sets what time its pages see from their next document on.
    pub(super) async fn set_clock(&mut self, shift: i64, now: bool) -> Result<(), Fault> {
        if self.clock.as_ref().is_some_and(|(_, set)| (set - shift).abs() < 250) {
            return Ok(());
        }
        if let Some((number, _)) = self.clock.take() {
            let old = json!({ "identifier": number });
            self.ask("Page.removeScriptToEvaluateOnNewDocument", old).await?;
        }
        let source = CLOCK.replace("__SHIFT__", &shift.to_string());
        if now {
            // A tab that a page opened has begun already.
            let script = json!({ "expression": source, "silent": true });
            let _ = self.ask_page("Runtime.evaluate", script, self.patience).await;
        }
        let script = json!({ "source": source });
        let answer = self.ask("Page.addScriptToEvaluateOnNewDocument", script).await?;
        let number = answer["identifier"].as_str().unwrap_or_default().to_owned();
        self.clock = Some((number, shift));
        // Tabs that share a process share its zone, and the second to ask is refused.
        let _ = self.ask("Emulation.setTimezoneOverride", json!({ "timezoneId": "UTC" })).await;
        Ok(())
    }

    /// Returns the world of a frame's document, made where it is not there yet.
    pub(super) async fn world(&mut self, frame: &str, loader: &str) -> Result<i64, Fault> {
        let key = (frame.to_owned(), loader.to_owned());
        if let Some(&world) = self.worlds.get(&key) {
            return Ok(world);
        }
        let params = json!({ "frameId": frame, "worldName": WORLD });
        let answer = self.ask_page("Page.createIsolatedWorld", params, self.patience).await?;
        let world = answer["executionContextId"].as_i64().ok_or(Fault::Gone)?;
        // A document that came back from the history has its scripts, and its ids, still.
        let script = json!({
            "expression": format!("if (!globalThis.wildgym) {{ {SCRIPT} }}"),
            "contextId": world,
            "silent": true,
        });
        self.ask_page("Runtime.evaluate", script, self.patience).await?;
        if self.worlds.len() > 200 {
            self.worlds.clear();
        }
        self.worlds.insert(key, world);
        Ok(world)
    }

    /// Forgets the worlds, which are gone or may be.
    pub(super) fn forget_worlds(&mut self) {
        self.worlds.clear();
    }

    /// Calls one of our functions in a world; arguments and answer are JSON.
    pub(super) async fn call<T: DeserializeOwned>(
        &self,
        world: i64,
        name: &'static str,
        arguments: Value,
    ) -> Result<T, Fault> {
        self.call_within(world, name, arguments, self.patience).await
    }

    /// The same with a limit of its own.
    pub(super) async fn call_within<T: DeserializeOwned>(
        &self,
        world: i64,
        name: &'static str,
        arguments: Value,
        limit: Duration,
    ) -> Result<T, Fault> {
        let params = json!({
            "functionDeclaration": "async (name, asked) => globalThis.wildgym.calls[name](asked)",
            "executionContextId": world,
            "arguments": [{ "value": name }, { "value": arguments }],
            "returnByValue": true,
            "awaitPromise": true,
            "silent": true,
        });
        let answer = self.ask_page("Runtime.callFunctionOn", params, limit).await?;
        if let Some(thrown) = answer.get("exceptionDetails") {
            let text = thrown["exception"]["description"].as_str().unwrap_or("an exception");
            return Err(Fault::Said(super::text::cut(text, 300)));
        }
        let value = answer["result"].get("value").cloned().unwrap_or(Value::Null);
        serde_json::from_value(value).map_err(|error| Fault::Said(error.to_string()))
    }

    /// Waits until the page is loaded and still, at most `limit`; says whether it is.
    ///
    /// Loaded is what the browser calls so; still is that no request of it is under way.
    /// One that takes longer than 3 s is not waited for. Then no frame may have a timer
    /// pending that `timers.js` counts; this waits at most [`TIMERS_END`] more in one action,
    /// and a page that has one even then counts as still.
    pub(super) async fn settle(&mut self, limit: Duration) -> bool {
        let begun = Instant::now();
        let mut end = begun + limit;
        let mut since = begun;
        let mut asked = begun;
        loop {
            if self.state() != TabState::Open {
                return false;
            }
            let quiet = self.signals.look(&self.target, TabSignals::quiet).unwrap_or(true);
            if !quiet {
                since = Instant::now();
                // An event that was missed must not hold up everything.
                if asked.elapsed() >= MISSED {
                    asked = Instant::now();
                    if self.ready().await == Ok(true) {
                        self.signals.tab(&self.target, TabSignals::loaded);
                    }
                }
            } else if since.elapsed() >= STILL {
                match self.ready().await {
                    Ok(true) => match self.await_timer().await {
                        None => return true,
                        Some(waited) => {
                            since = Instant::now();
                            end += waited;
                        }
                    },
                    Ok(false) => since = Instant::now(),
                    Err(_) => return false,
                }
            }
            if Instant::now() >= end {
                return false;
            }
            let woke = self.signals.woke.notified();
            let _ = tokio::time::timeout(LOOK, woke).await;
        }
    }

    /// Waits while a timer of the page is pending and nothing else is under way; returns
    /// for how long, or nothing where there is no timer, or no time for it any more.
    async fn await_timer(&mut self) -> Option<Duration> {
        let before = self.signals.lock().waited;
        let begun = Instant::now();
        let mut pending = false;
        while before + begun.elapsed() < TIMERS_END && self.timers().await == Ok(true) {
            pending = true;
            tokio::time::sleep(LOOK).await;
            let quiet = self.signals.look(&self.target, TabSignals::quiet).unwrap_or(true);
            if !quiet || self.state() != TabState::Open {
                break;
            }
        }
        let waited = begun.elapsed();
        pending.then(|| {
            self.signals.lock().waited = before + waited;
            waited
        })
    }

    /// Whether the main document says that it is complete.
    async fn ready(&self) -> Result<bool, Fault> {
        let script = json!({
            "expression": "document.readyState",
            "returnByValue": true,
            "silent": true,
        });
        let answer = self.ask_page("Runtime.evaluate", script, self.patience).await?;
        Ok(answer["result"]["value"] == "complete")
    }

    /// Lets the scripts of its pages run, or not; our own run in either case.
    pub(super) async fn let_run(&self, run: bool) {
        let _ = self.ask("Emulation.setScriptExecutionDisabled", json!({ "value": !run })).await;
    }

    /// Makes a page hold still that goes elsewhere without end. Its scripts stop until
    /// [`Tab::let_run`]; a document that comes meanwhile never starts its own.
    pub(super) async fn hold(&mut self) {
        self.let_run(false).await;
        let _ = self.ask("Page.stopLoading", json!({})).await;
        self.signals.tab(&self.target, |tab| {
            tab.leaving = None;
            tab.requests.clear();
        });
        self.forget_worlds();
        self.settle(HELD).await;
    }

    /// Whether its main frame is loading.
    pub(super) fn loading(&self) -> bool {
        self.signals.look(&self.target, |tab| tab.loading(&self.target)).unwrap_or(false)
    }
}

/// Whether a tab is there.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum TabState {
    Open,
    /// Its process died.
    Crashed,
    /// It is gone.
    Closed,
}
