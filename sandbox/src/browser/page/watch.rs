//! Listens to the browser and to each tab, and keeps [`Signals`] up to date.
//!
//! Only what is of this session's context is taken note of: the browser tells every
//! session of everything.

use std::sync::Arc;
use std::time::Instant;

use chromiumoxide::cdp::browser_protocol::browser::{
    DownloadProgressState, EventDownloadProgress, EventDownloadWillBegin,
};
use chromiumoxide::cdp::browser_protocol::network::{
    EventLoadingFailed, EventLoadingFinished, EventRequestWillBeSent, EventResponseReceived,
    ResourceType,
};
use chromiumoxide::cdp::browser_protocol::page::{
    ClientNavigationDisposition, EventFrameAttached, EventFrameDetached, EventFrameNavigated,
    EventFrameRequestedNavigation, EventFrameStartedLoading, EventFrameStoppedLoading,
    EventJavascriptDialogOpening, EventNavigatedWithinDocument, FrameDetachedReason,
};
use chromiumoxide::cdp::browser_protocol::target::{
    EventReceivedMessageFromTarget, EventTargetCrashed, EventTargetCreated, EventTargetDestroyed,
};
use chromiumoxide::listeners::EventStream;
use chromiumoxide::{Browser, Page};
use futures::StreamExt;
use futures::stream::{BoxStream, select_all};
use serde_json::{Value, json};
use tokio::task::JoinHandle;

use super::ask::{self, Fault, SOON};
use super::signals::{Download, DownloadState, Signals, TABS};

/// A task that ends with what it watches for.
#[derive(Debug)]
pub(super) struct Watch(JoinHandle<()>);

impl Drop for Watch {
    fn drop(&mut self) {
        self.0.abort();
    }
}

/// What the browser as a whole tells.
enum Told {
    Created(Arc<EventTargetCreated>),
    Destroyed(Arc<EventTargetDestroyed>),
    Crashed(Arc<EventTargetCrashed>),
    Begins(Arc<EventDownloadWillBegin>),
    Progress(Arc<EventDownloadProgress>),
    Reply(Arc<EventReceivedMessageFromTarget>),
}

/// Makes one kind of event one of many.
fn stream<T, U>(events: EventStream<T>, into: fn(Arc<T>) -> U) -> BoxStream<'static, U>
where
    T: chromiumoxide::cdp::IntoEventKind + Unpin + Send + Sync + 'static,
    U: Send + 'static,
{
    events.map(into).boxed()
}

/// Watches the browser for what concerns one context.
pub(super) async fn context(
    browser: &Arc<Browser>,
    context: &str,
    signals: &Arc<Signals>,
    limit: u64,
) -> Result<Watch, Fault> {
    let mut events = select_all([
        stream(browser.event_listener().await?, Told::Created),
        stream(browser.event_listener().await?, Told::Destroyed),
        stream(browser.event_listener().await?, Told::Crashed),
        stream(browser.event_listener().await?, Told::Begins),
        stream(browser.event_listener().await?, Told::Progress),
        stream(browser.event_listener().await?, Told::Reply),
    ]);
    let (browser, context, signals) =
        (Arc::clone(browser), context.to_owned(), Arc::clone(signals));
    Ok(Watch(tokio::spawn(async move {
        while let Some(told) = events.next().await {
            let command = match told {
                Told::Created(event) => created(&signals, &context, &event),
                Told::Destroyed(event) => gone(&signals, event.target_id.inner(), false),
                Told::Crashed(event) => gone(&signals, event.target_id.inner(), true),
                Told::Begins(event) => begins(&signals, &event),
                Told::Progress(event) => progress(&signals, &context, limit, &event),
                Told::Reply(event) => reply(&signals, &event),
            };
            signals.woke.notify_waiters();
            if let Some((method, params)) = command {
                let browser = Arc::clone(&browser);
                tokio::spawn(async move { ask::browser(&browser, method, params).await });
            }
        }
    })))
}

/// What is to be sent to the browser because of an event.
type Command = Option<(&'static str, Value)>;

fn created(signals: &Signals, context: &str, event: &EventTargetCreated) -> Command {
    let info = &event.target_info;
    let ours = info.browser_context_id.as_ref().is_some_and(|id| id.inner() == context);
    if !ours || info.r#type != "page" {
        return None;
    }
    let target = info.target_id.inner().clone();
    let mut known = signals.lock();
    let open = known.tabs.values().filter(|tab| !tab.closed).count() + known.opened.len();
    // A tab of our own has nobody that opened it.
    let opener = info.opener_id.is_some() || info.opener_frame_id.is_some();
    if opener && open >= TABS {
        known.flood += 1;
        return Some(("Target.closeTarget", json!({ "targetId": target })));
    }
    known.frames.insert(target.clone());
    if !known.tabs.contains_key(&target) {
        known.opened.push_back(target);
    }
    None
}

fn gone(signals: &Signals, target: &str, crashed: bool) -> Command {
    let mut known = signals.lock();
    known.opened.retain(|opened| opened != target);
    if let Some(tab) = known.tabs.get_mut(target) {
        if crashed {
            tab.crashed = true;
        } else {
            tab.closed = true;
        }
    }
    None
}

fn begins(signals: &Signals, event: &EventDownloadWillBegin) -> Command {
    let mut known = signals.lock();
    if !known.frames.contains(event.frame_id.inner()) {
        return None;
    }
    for tab in known.tabs.values_mut() {
        tab.leaving = None;
    }
    known.downloads.push(Download {
        guid: event.guid.clone(),
        url: event.url.clone(),
        name: event.suggested_filename.clone(),
        bytes: 0,
        state: DownloadState::Running,
    });
    None
}

#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "a size in bytes, which is neither negative nor beyond 2^53"
)]
fn progress(
    signals: &Signals,
    context: &str,
    limit: u64,
    event: &EventDownloadProgress,
) -> Command {
    let mut known = signals.lock();
    let download = known.downloads.iter_mut().find(|one| one.guid == event.guid)?;
    if download.state != DownloadState::Running {
        return None;
    }
    download.bytes = event.received_bytes.max(0.0) as u64;
    let size = download.bytes.max(event.total_bytes.max(0.0) as u64);
    if size > limit {
        download.state = DownloadState::TooLarge;
        let params = json!({ "guid": event.guid, "browserContextId": context });
        return Some(("Browser.cancelDownload", params));
    }
    download.state = match event.state {
        DownloadProgressState::InProgress => DownloadState::Running,
        DownloadProgressState::Completed => DownloadState::Done,
        DownloadProgressState::Canceled => DownloadState::Failed,
    };
    None
}

fn reply(signals: &Signals, event: &EventReceivedMessageFromTarget) -> Command {
    let message: Value = serde_json::from_str(&event.message).ok()?;
    let number = message.get("id")?.as_u64()?;
    if let Some(reply) = signals.lock().replies.get_mut(&number) {
        *reply = Some(message);
    }
    None
}

/// What a tab tells.
enum Said {
    Dialog(Arc<EventJavascriptDialogOpening>),
    Started(Arc<EventFrameStartedLoading>),
    Stopped(Arc<EventFrameStoppedLoading>),
    Wants(Arc<EventFrameRequestedNavigation>),
    Navigated(Arc<EventFrameNavigated>),
    Within(Arc<EventNavigatedWithinDocument>),
    Attached(Arc<EventFrameAttached>),
    Detached(Arc<EventFrameDetached>),
    Sent(Arc<EventRequestWillBeSent>),
    Received(Arc<EventResponseReceived>),
    Finished(Arc<EventLoadingFinished>),
    Failed(Arc<EventLoadingFailed>),
}

/// Watches one tab.
pub(super) async fn tab(page: &Page, signals: &Arc<Signals>) -> Result<Watch, Fault> {
    let mut events = select_all([
        stream(page.event_listener().await?, Said::Dialog),
        stream(page.event_listener().await?, Said::Started),
        stream(page.event_listener().await?, Said::Stopped),
        stream(page.event_listener().await?, Said::Wants),
        stream(page.event_listener().await?, Said::Navigated),
        stream(page.event_listener().await?, Said::Within),
        stream(page.event_listener().await?, Said::Attached),
        stream(page.event_listener().await?, Said::Detached),
        stream(page.event_listener().await?, Said::Sent),
        stream(page.event_listener().await?, Said::Received),
        stream(page.event_listener().await?, Said::Finished),
        stream(page.event_listener().await?, Said::Failed),
    ]);
    let (page, signals) = (page.clone(), Arc::clone(signals));
    let target = page.target_id().inner().clone();
    Ok(Watch(tokio::spawn(async move {
        while let Some(said) = events.next().await {
            if let Said::Dialog(event) = &said {
                answer(&page, &signals, event);
            } else {
                note(&signals, &target, &said);
            }
        }
    })))
}

/// Answers a dialog.
fn answer(page: &Page, signals: &Signals, event: &EventJavascriptDialogOpening) {
    let kind = event.r#type.as_ref().to_owned();
    let (accept, text) = signals.dialog(&kind, &event.message, event.default_prompt.as_deref());
    let mut params = json!({ "accept": accept });
    if let Some(text) = text {
        params["promptText"] = text.into();
    }
    let page = page.clone();
    tokio::spawn(
        async move { ask::page(&page, "Page.handleJavaScriptDialog", params, SOON).await },
    );
}

/// Keeps what a tab said.
fn note(signals: &Signals, target: &str, said: &Said) {
    if let Said::Attached(event) = said {
        signals.lock().frames.insert(event.frame_id.inner().clone());
        return;
    }
    signals.tab(target, |tab| match said {
        Said::Dialog(_) | Said::Attached(_) => {}
        Said::Started(event) => {
            *tab.loading.entry(event.frame_id.inner().clone()).or_default() += 1;
        }
        Said::Stopped(event) => {
            *tab.loading.entry(event.frame_id.inner().clone()).or_default() -= 1;
            if event.frame_id.inner() == target {
                tab.leaving = None;
            }
        }
        Said::Wants(event) => {
            if event.frame_id.inner() == target
                && matches!(event.disposition, ClientNavigationDisposition::CurrentTab)
            {
                tab.leaving = Some(Instant::now());
            }
        }
        Said::Navigated(event) => {
            if event.frame.id.inner() == target {
                tab.leaving = None;
                tab.documents += 1;
                tab.loaders.insert(event.frame.loader_id.inner().clone());
            }
        }
        Said::Within(event) => {
            if event.frame_id.inner() == target {
                tab.leaving = None;
            }
        }
        Said::Detached(event) => {
            if matches!(event.reason, FrameDetachedReason::Remove) {
                tab.loading.remove(event.frame_id.inner());
            }
        }
        Said::Sent(event) => {
            if waited_for(event.r#type.as_ref()) {
                tab.begin(event.request_id.inner());
            }
        }
        Said::Received(event) => {
            let main = event.frame_id.as_ref().is_some_and(|id| id.inner() == target);
            if main && matches!(event.r#type, ResourceType::Document) {
                tab.status = Some((event.response.status, event.response.url.clone()));
            }
            if !waited_for(Some(&event.r#type)) {
                tab.end(event.request_id.inner());
            }
        }
        Said::Finished(event) => {
            tab.end(event.request_id.inner());
        }
        Said::Failed(event) => {
            tab.end(event.request_id.inner());
        }
    });
}

/// Whether a page is not ready before such a request has its answer: streams, media and
/// what is only reported are not.
fn waited_for(kind: Option<&ResourceType>) -> bool {
    !matches!(
        kind,
        None | Some(
            ResourceType::EventSource
                | ResourceType::WebSocket
                | ResourceType::Media
                | ResourceType::Ping
                | ResourceType::Prefetch
                | ResourceType::CspViolationReport
                | ResourceType::Other
        )
    )
}
