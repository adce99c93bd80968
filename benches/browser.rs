//! Short sessions in the browser: what they cost beside bare chromiumoxide, and what
//! they leave.
//!
//! A session opens a context, goes to a page, clicks a link, reads what it leads to, and
//! closes the context; 200 of them, eight at a time. The peer does the same with plain
//! chromiumoxide on a plain server: no proxy, no TLS, no observation. Fails where an aim
//! is missed.

#![expect(clippy::print_stdout, reason = "a bench reports on standard output")]

use std::error::Error;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{Duration, Instant};

use bytes::Bytes;
use camino::Utf8Path;
use chromiumoxide::BrowserConfig;
use chromiumoxide::cdp::browser_protocol::target::{
    CreateBrowserContextParams, CreateTargetParams,
};
use futures::{StreamExt, TryStreamExt, stream};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpListener;
use wildgym_sandbox::browser::{Action, Browser, BrowserSettings, Browsers, Visit};
use wildgym_sandbox::scratch::Scratch;
use wildgym_sandbox::web::{AccessLog, Web};
use wildgym_sandbox::workspace::{Quota, Workspace};

type Result<T> = std::result::Result<T, Box<dyn Error + Send + Sync>>;

const SESSIONS: usize = 200;
const AT_ONCE: usize = 8;

/// Sessions on each side before anything is measured.
const WARM: usize = 16;

/// Sessions of one side before it is the other's turn: what else the machine does falls
/// on both.
const TURN: usize = 50;

/// The most that a session may cost, beside the peer's.
const RATIO: f64 = 1.3;

/// The most that memory may have grown, of the browser's after the first sessions.
const GROWTH: f64 = 1.15;

/// How long processes may take to end.
const PATIENCE: Duration = Duration::from_mins(2);

/// A page of the size that pages have, and what its link leads to.
fn body(path: &str) -> String {
    let rows = "<tr><td>Harbour</td><td>3.4 m</td></tr>".repeat(60);
    if path == "/" {
        format!("<h1>Tides</h1><p><a href=\"/today\">Today</a></p><table>{rows}</table>")
    } else {
        format!("<h1>Today</h1><p>High water at noon</p><table>{rows}</table>")
    }
}

fn page(path: &str) -> String {
    let title = "<!DOCTYPE html><title>Tides</title><link rel=icon href=data:,>";
    format!("{title}<body>{}</body>", body(path))
}

/// One session through the product.
async fn ours(browsers: &Browsers, web: &Web, scratch: &Scratch) -> Result<()> {
    let workspace = Arc::new(Workspace::create(scratch, Quota::default()));
    let browser = Browser::new(browsers.clone(), web.clone(), workspace, true);
    let log = AccessLog::default();
    let visit = Visit { now: "2026-03-01T09:00:00Z".parse()?, log: &log };
    let url = "https://tides.test/".to_owned();
    let seen = browser.act(&Action::VisitPage { url }, visit).await?;
    let link = seen.elements.iter().find(|element| element.name == "Today");
    let id = link.ok_or("the page has no link")?.id;
    let seen = browser.act(&Action::ClickId { id }, visit).await?;
    browser.close().await;
    if seen.text.contains("High water at noon") { Ok(()) } else { Err(seen.text.into()) }
}

/// The same with plain chromiumoxide.
async fn theirs(browser: &chromiumoxide::Browser, url: &str) -> Result<()> {
    let context = browser.create_browser_context(CreateBrowserContextParams::default()).await?;
    let params =
        CreateTargetParams::builder().url("about:blank").browser_context_id(context.clone());
    let page = browser.new_page(params.build()?).await?;
    page.goto(url).await?;
    page.find_element("a").await?.click().await?;
    let arrived = async {
        // A page that is just being left cannot be asked.
        while !read(&page).await.is_ok_and(|text| text.contains("High water at noon")) {
            tokio::time::sleep(Duration::from_millis(5)).await;
        }
    };
    tokio::time::timeout(Duration::from_mins(1), arrived).await?;
    browser.dispose_browser_context(context).await?;
    Ok(())
}

async fn read(page: &chromiumoxide::Page) -> Result<String> {
    Ok(page.evaluate("document.body.innerText").await?.into_value()?)
}

/// Runs sessions, some at a time, and returns how long all took.
async fn many<F: Future<Output = Result<()>>>(
    count: usize,
    session: impl Fn() -> F,
) -> Result<Duration> {
    let begin = Instant::now();
    stream::iter(0..count)
        .map(|_| Ok(session()))
        .try_buffer_unordered(AT_ONCE)
        .try_for_each(|()| async { Ok(()) })
        .await?;
    Ok(begin.elapsed())
}

/// Serves the pages plainly.
async fn serve(server: TcpListener) {
    while let Ok((mut stream, _)) = server.accept().await {
        tokio::spawn(async move {
            let mut head = [0; 4096];
            while let Ok(count) = stream.read(&mut head).await
                && count > 0
            {
                let head = String::from_utf8_lossy(&head[..count]);
                let body = page(head.split(' ').nth(1).unwrap_or("/"));
                let reply = format!(
                    "HTTP/1.1 200 OK\r\ncontent-type: text/html\r\ncontent-length: {}\r\n\r\n{body}",
                    body.len()
                );
                if stream.write_all(reply.as_bytes()).await.is_err() {
                    break;
                }
            }
        });
    }
}

fn chromium() -> Result<PathBuf> {
    let path = std::env::var_os("PATH").ok_or("`PATH` is not set")?;
    let names = ["chromium", "chromium-browser", "google-chrome", "google-chrome-stable"];
    std::env::split_paths(&path)
        .flat_map(|folder| names.map(|name| folder.join(name)))
        .find(|file| file.is_file())
        .ok_or_else(|| "there is no Chromium".into())
}

/// A service that Chromium starts for itself some minutes after its start, once, whatever
/// its sessions do.
const OWN_SERVICE: &str = "on_device_model";

/// Processes of a browser: those that name its directory.
fn processes(directory: &Utf8Path) -> Result<Vec<PathBuf>> {
    let mut found = Vec::new();
    for entry in std::fs::read_dir("/proc")?.flatten() {
        let line = std::fs::read(entry.path().join("cmdline")).unwrap_or_default();
        let line = String::from_utf8_lossy(&line);
        if line.contains(directory.as_str()) && !line.contains(OWN_SERVICE) {
            found.push(entry.path());
        }
    }
    Ok(found)
}

/// Memory of processes, shared pages in parts, in bytes.
fn memory(processes: &[PathBuf]) -> u64 {
    let kilobytes = |process: &PathBuf| -> Option<u64> {
        let text = std::fs::read_to_string(process.join("smaps_rollup")).ok()?;
        let line = text.lines().find(|line| line.starts_with("Pss:"))?;
        line.split_whitespace().nth(1)?.parse().ok()
    };
    processes.iter().filter_map(kilobytes).sum::<u64>() << 10
}

/// What there is of a browser.
struct Left {
    processes: usize,
    directories: usize,
    memory: u64,
}

impl Left {
    /// Looks when there are no more processes than `most`, or will not be: a browser keeps
    /// one in store, and helpers for a while after their last use.
    async fn look(scratch: &Scratch, most: usize) -> Result<Self> {
        let begin = Instant::now();
        loop {
            tokio::time::sleep(Duration::from_secs(2)).await;
            let found = processes(scratch.path())?;
            if found.len() <= most || begin.elapsed() > PATIENCE {
                let directories = walk(scratch.path().as_std_path());
                return Ok(Self { processes: found.len(), directories, memory: memory(&found) });
            }
        }
    }

    #[expect(clippy::cast_precision_loss, reason = "megabytes")]
    fn print(&self, when: &str) {
        println!(
            "{when:<22} {:>3} processes  {:>3} directories  {:>6.0} MB",
            self.processes,
            self.directories,
            self.memory as f64 / 1e6
        );
    }
}

/// Counts directories of sessions: those for downloads, and workspaces.
fn walk(scratch: &Path) -> usize {
    let below = |folder: &Path| -> Vec<PathBuf> {
        std::fs::read_dir(folder)
            .map(|entries| entries.flatten().map(|entry| entry.path()).collect())
            .unwrap_or_default()
    };
    let named = |path: &PathBuf| {
        path.file_name().is_some_and(|name| name.to_string_lossy().starts_with("downloads-"))
    };
    let first = below(scratch);
    first.len() + first.iter().flat_map(|path| below(path)).filter(named).count()
}

#[tokio::main]
async fn main() -> Result<()> {
    let program = chromium()?;
    let folder = tempfile::tempdir()?;
    let folder = Utf8Path::from_path(folder.path()).ok_or("the path is not UTF-8")?;

    let scratch = Scratch::create(folder)?;
    let keeper = PathBuf::from(env!("CARGO_BIN_EXE_wildgym"));
    let mut settings = BrowserSettings::new(Ok(program.clone()), keeper, scratch.path().to_owned());
    // One browser for all of them: what it leaks is to be seen.
    settings.renewal = u32::MAX;
    let browsers = Browsers::new(settings);
    let web = Web::handmade(&[], |request| {
        let headers = vec![("content-type".to_owned(), "text/html".to_owned())];
        Some((200, headers, Bytes::from(page(request.url.path()))))
    })?;

    let server = TcpListener::bind("127.0.0.1:0").await?;
    let url = format!("http://{}/", server.local_addr()?);
    tokio::spawn(serve(server));
    let config = BrowserConfig::builder()
        .chrome_executable(program)
        .no_sandbox()
        .new_headless_mode()
        .user_data_dir(folder.join("bare"))
        .request_timeout(Duration::from_mins(1))
        .build()?;
    let (mut bare, mut handler) = chromiumoxide::Browser::launch(config).await?;
    tokio::spawn(async move { while handler.next().await.is_some() {} });

    let our = || ours(&browsers, &web, &scratch);
    let their = || theirs(&bare, &url);
    many(WARM, our).await?;
    many(WARM, their).await?;
    tokio::time::sleep(Duration::from_secs(10)).await;
    let start = Left::look(&scratch, usize::MAX).await?;
    start.print("after 16 sessions");
    let (mut took, mut peer) = (Duration::ZERO, Duration::ZERO);
    for _ in 0..SESSIONS / TURN {
        took += many(TURN, our).await?;
        peer += many(TURN, their).await?;
    }
    let end = Left::look(&scratch, start.processes).await?;
    end.print("after 200 more");
    bare.close().await?;
    bare.wait().await?;
    drop(browsers);
    let none = Left::look(&scratch, 0).await?;
    none.print("after the browser");

    #[expect(clippy::cast_precision_loss, reason = "a count of 200")]
    let each = |took: Duration| took.as_secs_f64() * 1e3 / SESSIONS as f64;
    let ratio = took.as_secs_f64() / peer.as_secs_f64();
    println!("a session, of wildgym  {:>6.0} ms", each(took));
    println!("of chromiumoxide       {:>6.0} ms", each(peer));
    println!("ratio                  {ratio:>6.2}    (aim {RATIO})");
    #[expect(clippy::cast_precision_loss, reason = "a ratio")]
    let growth = end.memory as f64 / start.memory as f64;
    println!("memory, end to start   {growth:>6.2}    (aim {GROWTH})");
    let missed: Vec<&str> = [
        (ratio > RATIO, "time"),
        (growth > GROWTH, "memory"),
        (end.processes > start.processes, "processes"),
        (end.directories > start.directories, "directories"),
        (none.processes + none.directories > 0, "what is left at the end"),
    ]
    .into_iter()
    .filter_map(|(missed, what)| missed.then_some(what))
    .collect();
    if missed.is_empty() { Ok(()) } else { Err(format!("missed: {}", missed.join(", ")).into()) }
}
