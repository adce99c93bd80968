//! A browser, a small server and a session for tests.
//!
//! All tests that run at the same time share one browser, each in a context of its own;
//! it ends with the last of them.

use std::collections::HashMap;
use std::future::Future;
use std::io::{BufRead, BufReader};
use std::net::SocketAddr;
use std::process::{Child, Command, Stdio};
use std::sync::{Arc, LazyLock, Mutex, Weak};
use std::time::Duration;

use bytes::Bytes;
use camino::{Utf8Path, Utf8PathBuf};
use chromiumoxide::Browser;
use chromiumoxide::cdp::browser_protocol::browser::BrowserContextId;
use chromiumoxide::cdp::browser_protocol::target::CreateBrowserContextParams;
use chromiumoxide::handler::HandlerConfig;
use futures::StreamExt;
use http::{Response, StatusCode};
use http_body_util::Full;
use hyper::service::service_fn;
use hyper_util::rt::{TokioExecutor, TokioIo};
use jiff::Timestamp;
use tempfile::TempDir;
use tokio::runtime::Runtime;
use wildgym_sandbox::Workspace;
use wildgym_sandbox::browser::{
    Action, BrowserError, Element, Observation, Session, SessionOptions,
};
use wildgym_sandbox::workspace::Quota;

/// The logical time of tests.
pub(crate) const NOW: &str = "2026-03-09T10:00:00Z";

static RUNTIME: LazyLock<Runtime> = LazyLock::new(|| {
    tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build().unwrap()
});

static SHARED: Mutex<Weak<Chromium>> = Mutex::new(Weak::new());

/// Runs a test. All share one runtime, for the browser's messages must go on between them.
pub(crate) fn run(test: impl Future<Output = ()>) {
    RUNTIME.block_on(test);
}

/// A running browser.
struct Chromium {
    browser: Arc<Browser>,
    child: Mutex<Child>,
    _profile: TempDir,
}

impl Drop for Chromium {
    fn drop(&mut self) {
        let mut child = self.child.lock().unwrap();
        let group = rustix::process::Pid::from_child(&child);
        let _ = rustix::process::kill_process_group(group, rustix::process::Signal::KILL);
        let _ = child.wait();
        // Its children write a little longer than it lives.
        std::thread::sleep(Duration::from_millis(100));
    }
}

impl Chromium {
    /// Returns the browser that others use, or starts one.
    fn shared() -> Arc<Self> {
        let mut shared = SHARED.lock().unwrap();
        if let Some(running) = shared.upgrade() {
            return running;
        }
        let started = Arc::new(tokio::task::block_in_place(|| RUNTIME.block_on(Self::start())));
        *shared = Arc::downgrade(&started);
        started
    }

    async fn start() -> Self {
        use std::os::unix::process::CommandExt;
        let profile = tempfile::tempdir().unwrap();
        std::fs::create_dir(profile.path().join("Default")).unwrap();
        let preferences = r#"{"plugins":{"always_open_pdf_externally":true}}"#;
        std::fs::write(profile.path().join("Default/Preferences"), preferences).unwrap();
        let mut command = Command::new("chromium");
        command.args([
            "--headless=new",
            "--remote-debugging-port=0",
            "--disable-gpu",
            "--disable-dev-shm-usage",
            "--disable-background-networking",
            "--disable-background-timer-throttling",
            "--disable-backgrounding-occluded-windows",
            "--disable-renderer-backgrounding",
            "--disable-component-update",
            "--disable-extensions",
            "--disable-hang-monitor",
            "--disable-popup-blocking",
            "--disable-site-isolation-trials",
            "--disable-features=IsolateOrigins,site-per-process,IsolateSandboxedIframes,Translate",
            "--hide-scrollbars",
            "--mute-audio",
            "--force-color-profile=srgb",
            "--lang=en-US",
            "--no-first-run",
        ]);
        if rustix::process::geteuid().is_root() {
            command.arg("--no-sandbox");
        }
        command.arg(format!("--user-data-dir={}", profile.path().display())).arg("about:blank");
        command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::piped()).process_group(0);
        let mut child = command.spawn().expect("chromium is installed");
        let mut lines = BufReader::new(child.stderr.take().unwrap()).lines();
        let address = lines
            .by_ref()
            .map_while(Result::ok)
            .find_map(|line| line.split_once("listening on ").map(|(_, at)| at.trim().to_owned()))
            .expect("chromium tells where it listens");
        // What it says later must not fill the pipe.
        std::thread::spawn(move || lines.map_while(Result::ok).for_each(drop));
        let config = HandlerConfig {
            viewport: None,
            request_timeout: Duration::from_mins(1),
            ..HandlerConfig::default()
        };
        let (browser, mut handler) = Browser::connect_with_config(address, config).await.unwrap();
        tokio::spawn(async move { while handler.next().await.is_some() {} });
        Self { browser: Arc::new(browser), child: Mutex::new(child), _profile: profile }
    }
}

/// A page of the test server: status, headers, body, and seconds until it answers.
#[derive(Debug, Clone)]
pub(crate) struct Answer {
    status: u16,
    headers: Vec<(&'static str, String)>,
    body: Bytes,
    /// How long the server waits with it.
    after: Duration,
}

/// A page.
pub(crate) fn html(body: impl Into<String>) -> Answer {
    let body = format!("<!doctype html><meta charset=utf-8>{}", body.into());
    Answer {
        status: 200,
        headers: vec![("content-type", "text/html; charset=utf-8".into())],
        body: body.into(),
        after: Duration::ZERO,
    }
}

/// A file.
pub(crate) fn file(kind: &str, name: Option<&str>, body: impl Into<Bytes>) -> Answer {
    let mut headers = vec![("content-type", kind.to_owned())];
    if let Some(name) = name {
        headers.push(("content-disposition", format!("attachment; filename*=UTF-8''{name}")));
    }
    Answer { status: 200, headers, body: body.into(), after: Duration::ZERO }
}

impl Answer {
    pub(crate) fn status(mut self, status: u16) -> Self {
        self.status = status;
        self
    }

    pub(crate) fn header(mut self, name: &'static str, value: impl Into<String>) -> Self {
        self.headers.push((name, value.into()));
        self
    }

    pub(crate) fn after(mut self, after: Duration) -> Self {
        self.after = after;
        self
    }
}

/// A server on loopback whose pages are given.
#[derive(Debug)]
pub(crate) struct Server {
    address: SocketAddr,
    requests: Arc<Mutex<Vec<String>>>,
    task: tokio::task::JoinHandle<()>,
}

impl Drop for Server {
    fn drop(&mut self) {
        self.task.abort();
    }
}

type Route = Box<dyn Fn(&str) -> Option<Answer> + Send + Sync>;

impl Server {
    pub(crate) async fn start(pages: impl IntoIterator<Item = (&'static str, Answer)>) -> Self {
        let pages: HashMap<_, _> = pages.into_iter().collect();
        Self::route(Box::new(move |path| pages.get(path).cloned())).await
    }

    /// Serves what a function answers for each path.
    pub(crate) async fn route(route: Route) -> Self {
        let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
        let address = listener.local_addr().unwrap();
        let requests = Arc::new(Mutex::new(Vec::new()));
        let (route, seen) = (Arc::new(route), Arc::clone(&requests));
        let task = tokio::spawn(async move {
            while let Ok((stream, _)) = listener.accept().await {
                let (route, seen) = (Arc::clone(&route), Arc::clone(&seen));
                let service = service_fn(move |request: http::Request<hyper::body::Incoming>| {
                    let (route, seen) = (Arc::clone(&route), Arc::clone(&seen));
                    async move { answer(&route, &seen, request).await }
                });
                tokio::spawn(async move {
                    let server = hyper_util::server::conn::auto::Builder::new(TokioExecutor::new());
                    let _ = server.serve_connection(TokioIo::new(stream), service).await;
                });
            }
        });
        Self { address, requests, task }
    }

    /// The address of a page.
    pub(crate) fn url(&self, path: &str) -> String {
        format!("http://{}{path}", self.address)
    }

    /// What was asked for so far: method, path with query, and body.
    pub(crate) fn requests(&self) -> Vec<String> {
        self.requests.lock().unwrap().clone()
    }

    /// The address of a page under another name: another origin.
    pub(crate) fn other(&self, path: &str) -> String {
        format!("http://localhost:{}{path}", self.address.port())
    }
}

async fn answer(
    route: &Route,
    seen: &Mutex<Vec<String>>,
    request: http::Request<hyper::body::Incoming>,
) -> Result<Response<Full<Bytes>>, http::Error> {
    let path = request.uri().path().to_owned();
    let line = format!("{} {}", request.method(), request.uri());
    let body = http_body_util::BodyExt::collect(request.into_body()).await;
    let body = body.map(|body| String::from_utf8_lossy(&body.to_bytes()).into_owned());
    seen.lock().unwrap().push(format!("{line} {}", body.unwrap_or_default()).trim().to_owned());
    let answer = route(&path).unwrap_or_else(|| html("<h1>Not found</h1>").status(404));
    tokio::time::sleep(answer.after).await;
    let mut response = Response::builder().status(StatusCode::from_u16(answer.status).unwrap());
    for (name, value) in &answer.headers {
        response = response.header(*name, value);
    }
    response.body(Full::new(answer.body))
}

/// A session with all that it needs.
pub(crate) struct Stage {
    pub session: Session,
    pub workspace: Workspace,
    /// What the last action left.
    pub seen: Observation,
    pub folder: Utf8PathBuf,
    context: BrowserContextId,
    chromium: Arc<Chromium>,
    _directory: TempDir,
}

impl Stage {
    pub(crate) async fn open() -> Self {
        Self::with(|_| {}).await
    }

    /// Opens one with other options.
    pub(crate) async fn with(change: impl FnOnce(&mut SessionOptions)) -> Self {
        let chromium = Chromium::shared();
        let directory = tempfile::tempdir().unwrap();
        let root = Utf8PathBuf::try_from(directory.path().to_path_buf()).unwrap();
        let (staging, folder) = (root.join("staging"), root.join("workspace"));
        std::fs::create_dir(&staging).unwrap();
        std::fs::create_dir(&folder).unwrap();
        let workspace = Workspace::attach(&folder, Quota { bytes: 1 << 20, entries: 50 }).unwrap();
        let context = chromium
            .browser
            .create_browser_context(CreateBrowserContextParams::default())
            .await
            .unwrap();
        let mut options = SessionOptions::new(staging);
        options.load = Duration::from_secs(10);
        change(&mut options);
        let session =
            Session::open(Arc::clone(&chromium.browser), context.clone(), options).await.unwrap();
        let seen = Observation::default();
        Self { session, workspace, seen, folder, context, chromium, _directory: directory }
    }

    /// Opens one at a page.
    pub(crate) async fn at(url: &str) -> Self {
        let mut stage = Self::open().await;
        stage.visit(url).await;
        stage
    }

    pub(crate) async fn act(&mut self, action: &Action) -> Result<Observation, BrowserError> {
        let now: Timestamp = NOW.parse().unwrap();
        let seen = self.session.act(action, now, &self.workspace).await?;
        self.seen = seen.clone();
        Ok(seen)
    }

    /// Does an action that must succeed.
    pub(crate) async fn must(&mut self, action: Action) -> &Observation {
        if let Err(error) = self.act(&action).await {
            panic!("{action:?}: {error}\n{}", self.seen.to_text());
        }
        &self.seen
    }

    /// Does an action that must be refused, and returns why.
    pub(crate) async fn refused(&mut self, action: Action) -> String {
        match self.act(&action).await {
            Err(BrowserError::Refused(why)) => why,
            other => panic!("{action:?}: {other:?}"),
        }
    }

    pub(crate) async fn visit(&mut self, url: &str) -> &Observation {
        self.must(Action::VisitPage { url: url.into() }).await
    }

    pub(crate) async fn look(&mut self) -> &Observation {
        self.must(Action::Stop).await
    }

    pub(crate) async fn click(&mut self, name: &str) -> &Observation {
        let id = self.id(name);
        self.must(Action::ClickId { id }).await
    }

    pub(crate) async fn fill(&mut self, name: &str, text: &str) -> &Observation {
        let id = self.id(name);
        self.must(Action::FillInputId { id, text: text.into() }).await
    }

    /// The element of that name.
    pub(crate) fn element(&self, name: &str) -> &Element {
        self.seen
            .elements
            .iter()
            .find(|element| element.name == name)
            .unwrap_or_else(|| panic!("no `{name}` in\n{}", self.seen.to_text()))
    }

    pub(crate) fn id(&self, name: &str) -> u32 {
        self.element(name).id
    }

    /// Writes a file into the workspace.
    pub(crate) fn put(&self, path: &str, bytes: &[u8]) {
        self.workspace.write(Utf8Path::new(path), bytes).unwrap();
    }

    /// Asks the current page's own world, as the judge of a test and never as its hand.
    pub(crate) async fn page_says(&self, script: &str) -> serde_json::Value {
        let url = self.seen.url.clone();
        for page in self.chromium.browser.pages().await.unwrap() {
            let here = page.url().await.ok().flatten().unwrap_or_default();
            let ours = self.session.is_current(page.target_id().inner());
            if ours {
                let said = page
                    .evaluate(script)
                    .await
                    .unwrap_or_else(|error| panic!("{script}: {error} at {here} {url}"));
                return said.value().cloned().unwrap_or_default();
            }
        }
        panic!("the page is gone");
    }

    /// Kills the process of the current page.
    pub(crate) async fn crash(&self) {
        for page in self.chromium.browser.pages().await.unwrap() {
            if self.session.is_current(page.target_id().inner()) {
                use chromiumoxide::cdp::browser_protocol::page::CrashParams;
                let crash = page.execute(CrashParams::default());
                let _ = tokio::time::timeout(Duration::from_secs(3), crash).await;
            }
        }
    }

    /// Closes the context.
    pub(crate) async fn close(self) {
        self.session.close().await;
        let _ = self.chromium.browser.dispose_browser_context(self.context).await;
    }
}
