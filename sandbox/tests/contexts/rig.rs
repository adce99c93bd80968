//! What the tests of the browser work with.

use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{Duration, Instant};

use bytes::Bytes;
use camino::{Utf8Path, Utf8PathBuf};
use chromiumoxide::Page;
use jiff::Timestamp;
use wildgym_sandbox::browser::{Browser, BrowserSettings, Browsers, Visit};
use wildgym_sandbox::scratch::Scratch;
use wildgym_sandbox::web::{AccessLog, Answer, Request, Web};
use wildgym_sandbox::workspace::{Quota, Workspace};

/// Browsers in a scratch directory of their own.
pub(crate) struct Rig {
    // In this order: the browser ends before its directory goes.
    pub(crate) browsers: Browsers,
    pub(crate) scratch: Arc<Scratch>,
    pub(crate) folder: tempfile::TempDir,
}

impl Rig {
    pub(crate) fn new() -> Self {
        Self::with(&chromium(), |_| {})
    }

    pub(crate) fn with(program: &Path, change: impl FnOnce(&mut BrowserSettings)) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let path = Utf8Path::from_path(folder.path()).unwrap();
        let scratch = Arc::new(Scratch::create(path).unwrap());
        let keeper = PathBuf::from(env!("CARGO_BIN_EXE_wildgym-sandbox-worker"));
        let below = scratch.path().to_owned();
        let mut settings = BrowserSettings::new(Ok(program.to_owned()), keeper, below);
        change(&mut settings);
        Self { browsers: Browsers::new(settings), scratch, folder }
    }

    /// The browser of an attempt with that web.
    pub(crate) fn browser(&self, web: Web) -> Browser {
        let workspace = Arc::new(Workspace::create(&self.scratch, Quota::default()));
        Browser::new(self.browsers.clone(), web, workspace, true)
    }

    /// Processes of this rig's browser: those that name its directory, and all below.
    pub(crate) fn processes(&self) -> Vec<u32> {
        processes_of(self.scratch.path())
    }
}

/// Processes whose command line names a directory.
pub(crate) fn processes_of(directory: &Utf8Path) -> Vec<u32> {
    std::fs::read_dir("/proc")
        .unwrap()
        .flatten()
        .filter_map(|entry| entry.file_name().to_str()?.parse::<u32>().ok())
        .filter(|pid| *pid != std::process::id())
        .filter(|pid| {
            std::fs::read(format!("/proc/{pid}/cmdline"))
                .is_ok_and(|line| String::from_utf8_lossy(&line).contains(directory.as_str()))
        })
        .collect()
}

/// Waits until a condition holds; the time is no measure, only the end of patience.
pub(crate) async fn until(what: &str, mut holds: impl FnMut() -> bool) {
    let begin = Instant::now();
    while !holds() {
        assert!(begin.elapsed() < Duration::from_mins(1), "still not: {what}");
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
}

/// The browser of this machine.
pub(crate) fn chromium() -> PathBuf {
    ["chromium", "chromium-browser", "google-chrome", "google-chrome-stable"]
        .iter()
        .find_map(|name| in_path(name))
        .expect("these tests need Chromium: run `make system`")
}

pub(crate) fn in_path(name: &str) -> Option<PathBuf> {
    let path = std::env::var_os("PATH")?;
    std::env::split_paths(&path).map(|folder| folder.join(name)).find(|file| file.is_file())
}

/// Writes a program: a shell script.
pub(crate) fn script(file: &Utf8Path, text: &str) -> Utf8PathBuf {
    std::fs::write(file, format!("#!/bin/sh\n{text}\n")).unwrap();
    std::fs::set_permissions(file, std::fs::Permissions::from_mode(0o755)).unwrap();
    file.to_owned()
}

pub(crate) fn now() -> Timestamp {
    "2026-03-01T09:00:00Z".parse().unwrap()
}

pub(crate) fn visit(log: &AccessLog) -> Visit<'_> {
    Visit { now: now(), log }
}

/// A web made of a function.
pub(crate) fn web(answer: impl Fn(&Request) -> Option<Answer> + Send + Sync + 'static) -> Web {
    Web::handmade(&["blocked.test".to_owned()], answer).unwrap()
}

pub(crate) fn html(body: impl Into<String>) -> Answer {
    (200, headers(&[("content-type", "text/html; charset=utf-8")]), Bytes::from(body.into()))
}

pub(crate) fn js(body: impl Into<String>) -> Answer {
    (200, headers(&[("content-type", "text/javascript")]), Bytes::from(body.into()))
}

pub(crate) fn headers(pairs: &[(&str, &str)]) -> Vec<(String, String)> {
    pairs.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned())).collect()
}

/// Adds a header.
pub(crate) fn with(mut answer: Answer, name: &str, value: &str) -> Answer {
    answer.1.push((name.to_owned(), value.to_owned()));
    answer
}

/// Opens an empty page.
pub(crate) async fn page(browser: &Browser) -> Page {
    browser.page_by_hand(visit(&AccessLog::default())).await.unwrap()
}

/// Opens an address and says how that went.
pub(crate) async fn goto(page: &Page, url: &str) -> String {
    match tokio::time::timeout(Duration::from_secs(30), page.goto(url)).await {
        Ok(Ok(_)) => "ok".to_owned(),
        Ok(Err(error)) => error.to_string(),
        Err(_) => "no answer".to_owned(),
    }
}

/// Evaluates an expression, waits for what it promises, and returns that as text.
pub(crate) async fn eval(page: &Page, expression: &str) -> String {
    let code = format!("(async () => String(await ({expression})))()");
    let asked = tokio::time::timeout(Duration::from_mins(2), page.evaluate(code));
    match asked.await {
        Ok(Ok(value)) => value.into_value().unwrap_or_else(|error| error.to_string()),
        Ok(Err(error)) => format!("failed: {error}"),
        Err(_) => "no answer".to_owned(),
    }
}
