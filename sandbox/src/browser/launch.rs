//! One running browser: started, watched and ended as a whole.
//!
//! It is the child of a keeper, which ends it and all below it when the last handle to
//! it is dropped, or when this process is gone. Whoever uses it learns of its end from
//! [`Running::ended`].

use std::io;
use std::os::unix::process::CommandExt;
use std::path::Path;
use std::process::{Child, ChildStderr, Command, Stdio};
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::Duration;

use camino::{Utf8Path, Utf8PathBuf};
use chromiumoxide::handler::HandlerConfig;
use futures::StreamExt;
use tokio::sync::{Semaphore, watch};

use super::authority::Authority;
use super::flags;
use super::keeper::see_off;
use super::link::{Link, link};
use super::noise::Noise;
use super::pool::BrowserSettings;
use super::tree::Tree;

/// How long a browser may take to start.
const STARTING: Duration = Duration::from_mins(1);

/// How long a command may take, and an answer to the question whether it lives.
const ANSWER: Duration = Duration::from_mins(1);

/// After how long without an answer it is helped: the loudest context is closed.
const HELP: Duration = Duration::from_secs(30);

/// How often it is asked that.
const PULSE: Duration = Duration::from_secs(15);

/// Pages that may be made at the same time: more of them at once take longer each, and
/// longer in all.
const MAKING: usize = 3;

/// How long a keeper may take to end everything.
const ENDING: Duration = Duration::from_secs(5);

/// How much of what a browser said before its end is told, in bytes.
const LAST_WORDS: usize = 400;

/// Longest path of a scratch directory in which a browser can live, in bytes.
const LONGEST: usize = 56;

/// What browsers say that have no user namespaces to build their own walls with.
const NO_WALLS: &str = "No usable sandbox";

/// A running browser.
#[derive(Debug)]
pub(super) struct Running {
    /// What commands are given to.
    pub(super) browser: Arc<chromiumoxide::Browser>,
    /// Who vouches for its hosts.
    pub(super) authority: Arc<Authority>,
    /// Its processes.
    pub(super) tree: Arc<Tree>,
    /// To be held while a page is made.
    pub(super) making: Semaphore,
    /// How loud its contexts are.
    pub(super) noise: Arc<Noise>,
    /// Contexts opened so far.
    opened: AtomicU32,
    ended: watch::Receiver<Option<String>>,
    end: Arc<watch::Sender<Option<String>>>,
    /// The tasks that speak with it.
    tasks: Vec<tokio::task::AbortHandle>,
    kept: Kept,
}

impl Running {
    /// Starts a browser.
    pub(super) async fn start(
        program: &Path,
        settings: &BrowserSettings,
    ) -> Result<Arc<Self>, String> {
        // The superuser's browser cannot have walls of its own.
        let root = rustix::process::geteuid().is_root();
        match Self::start_with(program, settings, !root).await {
            Err(error) if !root && error.contains(NO_WALLS) => {
                Self::start_with(program, settings, false).await
            }
            result => result,
        }
    }

    async fn start_with(
        program: &Path,
        settings: &BrowserSettings,
        walls: bool,
    ) -> Result<Arc<Self>, String> {
        let authority = Arc::new(Authority::new().map_err(|error| error.to_string())?);
        let cannot = |error: &dyn std::fmt::Display| {
            format!("`{}` cannot be started: {error}", program.display())
        };
        let mut kept =
            Kept::start(program, settings, &authority, walls).map_err(|error| cannot(&error))?;
        let config = HandlerConfig {
            ignore_https_errors: false,
            viewport: None,
            request_timeout: ANSWER,
            ..HandlerConfig::default()
        };
        let linked = async {
            let (input, output) = kept.pipes().map_err(|error| cannot(&error))?;
            link(input, output, config).await.map_err(|error| cannot(&error))
        };
        let linked = linked.await?;
        let running = Self::watched(linked, authority, kept);
        let asked = tokio::time::timeout(STARTING, running.until_end(running.browser.version()));
        match asked.await {
            Ok(Ok(Ok(_))) => Ok(running),
            Ok(Ok(Err(error))) => Err(cannot(&format!("{error}; {}", running.kept.last_words()))),
            Ok(Err(end)) => Err(cannot(&end)),
            Err(_) => Err(cannot(&format!("it said nothing for {} s", STARTING.as_secs()))),
        }
    }

    /// Starts the tasks that speak with a browser and watch it.
    fn watched(link: Link, authority: Arc<Authority>, kept: Kept) -> Arc<Self> {
        let Link { browser, mut handler, carry } = link;
        let browser = Arc::new(browser);
        let (end, ended) = watch::channel(None);
        let end = Arc::new(end);
        let handling = tokio::spawn(async move {
            while let Some(step) = handler.next().await {
                if step.is_err() {
                    // A broken connection may say so without end.
                    tokio::task::yield_now().await;
                }
            }
        });
        let (telling, profile) = (Arc::clone(&end), kept.profile.clone());
        let handler_task = handling.abort_handle();
        let carrying = tokio::spawn(async move {
            carry.await;
            // First the reason, then the failures that follow from it.
            tell(&telling, &format!("it ended; {}", last_words(&profile)));
            handler_task.abort();
        });
        let noise = Arc::new(Noise::default());
        let pulsing = pulse(Arc::downgrade(&browser), Arc::clone(&noise), Arc::clone(&end));
        let tasks = vec![
            carrying.abort_handle(),
            handling.abort_handle(),
            tokio::spawn(pulsing).abort_handle(),
        ];
        let tree = Arc::new(Tree::new(kept.keeper.id()));
        let making = Semaphore::new(MAKING);
        let opened = AtomicU32::new(0);
        Arc::new(Self { browser, authority, tree, making, noise, opened, ended, end, tasks, kept })
    }

    /// Returns why it ended, once it has.
    pub(super) fn ended(&self) -> Option<String> {
        self.ended.borrow().clone()
    }

    /// Runs a future until it completes or the browser ends, and says why it ended then.
    pub(super) async fn until_end<T>(&self, work: impl Future<Output = T>) -> Result<T, String> {
        let mut ended = self.ended.clone();
        tokio::select! {
            biased;
            end = ended.wait_for(Option::is_some) => {
                Err(end.ok().and_then(|end| end.clone()).unwrap_or_default())
            }
            value = work => Ok(value),
        }
    }

    /// Returns whether it answers.
    pub(super) async fn answers(&self) -> bool {
        let asked = tokio::time::timeout(ANSWER, self.browser.version());
        matches!(self.until_end(asked).await, Ok(Ok(Ok(_))))
    }

    /// Gives it up: what uses it ends with that reason.
    pub(super) fn give_up(&self, why: &str) {
        tell(&self.end, why);
    }

    /// Counts a context, and returns how many there have been.
    pub(super) fn count(&self) -> u32 {
        self.opened.fetch_add(1, Ordering::Relaxed) + 1
    }

    /// Returns how many contexts there have been.
    pub(super) fn opened(&self) -> u32 {
        self.opened.load(Ordering::Relaxed)
    }

    /// Returns a directory for what a context downloads.
    pub(super) fn downloads(&self, number: u32) -> Utf8PathBuf {
        self.kept.profile.join(format!("downloads-{number}"))
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        self.tasks.iter().for_each(tokio::task::AbortHandle::abort);
    }
}

/// Sets the reason of the end; the first one stays.
fn tell(end: &watch::Sender<Option<String>>, why: &str) {
    end.send_if_modified(|end| {
        let first = end.is_none();
        if first {
            *end = Some(why.to_owned());
        }
        first
    });
}

/// Asks the browser now and then whether it lives. Where it does not answer, the context
/// that tells most is closed, and it is asked once more.
async fn pulse(
    browser: std::sync::Weak<chromiumoxide::Browser>,
    noise: Arc<Noise>,
    end: Arc<watch::Sender<Option<String>>>,
) {
    loop {
        tokio::time::sleep(PULSE).await;
        let Some(browser) = browser.upgrade() else { return };
        if answers(&browser, HELP).await {
            noise.answered();
            continue;
        }
        let mut silent = HELP + ANSWER;
        if let Some(loudest) = noise.shut_loudest() {
            let closing = browser.dispose_browser_context(loudest);
            let _ = tokio::time::timeout(ENDING, closing).await;
            silent += ENDING;
        }
        if answers(&browser, ANSWER).await {
            noise.answered();
            continue;
        }
        tell(&end, &format!("it did not answer for {} s", silent.as_secs()));
    }
}

/// Whether a browser says anything in time, if only that something is wrong.
async fn answers(browser: &chromiumoxide::Browser, limit: Duration) -> bool {
    tokio::time::timeout(limit, browser.version()).await.is_ok()
}

/// A browser's keeper. Dropping it ends the browser and removes its profile.
#[derive(Debug)]
struct Kept {
    keeper: Child,
    /// While this is open, the keeper lets the browser live.
    lifeline: Option<ChildStderr>,
    profile: Utf8PathBuf,
}

impl Kept {
    fn start(
        program: &Path,
        settings: &BrowserSettings,
        authority: &Authority,
        walls: bool,
    ) -> io::Result<Self> {
        let profile = new_profile(&settings.scratch)?;
        std::fs::create_dir(profile.join("Default"))?;
        std::fs::write(profile.join("Default/Preferences"), flags::preferences())?;
        let mut arguments = flags::arguments(&profile, &authority.pin(), walls);
        if !settings.display.is_empty() {
            arguments.retain(|argument| argument != "--headless=new");
        }
        let keeper = Command::new(&settings.keeper)
            .arg("keeper")
            .arg(errors(&profile))
            .arg(program)
            .args(arguments)
            .env_clear()
            .envs(environment(&profile))
            .envs(settings.display.iter().cloned())
            .current_dir("/")
            .process_group(0)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn();
        match keeper {
            Ok(mut keeper) => Ok(Self { lifeline: keeper.stderr.take(), keeper, profile }),
            Err(error) => {
                let _ = std::fs::remove_dir_all(&profile);
                Err(error)
            }
        }
    }

    /// Takes the browser's remote control.
    fn pipes(&mut self) -> io::Result<(tokio::process::ChildStdin, tokio::process::ChildStdout)> {
        match (self.keeper.stdin.take(), self.keeper.stdout.take()) {
            (Some(input), Some(output)) => Ok((
                tokio::process::ChildStdin::from_std(input)?,
                tokio::process::ChildStdout::from_std(output)?,
            )),
            _ => Err(io::Error::other("it has no pipes")),
        }
    }

    fn last_words(&self) -> String {
        last_words(&self.profile)
    }
}

impl Drop for Kept {
    /// Takes some hundredths of a second; the processes are gone then.
    fn drop(&mut self) {
        drop(self.lifeline.take());
        see_off(&mut self.keeper);
        let _ = std::fs::remove_dir_all(&self.profile);
    }
}

/// Makes the directory of a browser, with a short name: a socket is made below it, whose
/// path may have 107 bytes and has some 45 of the browser's own.
fn new_profile(scratch: &Utf8Path) -> io::Result<Utf8PathBuf> {
    if scratch.as_str().len() > LONGEST {
        return Err(io::Error::other(format!(
            "the path `{scratch}` is too long for its sockets; set `TMPDIR` to a shorter one"
        )));
    }
    for number in 0_u64.. {
        let profile = scratch.join(format!("b{number}"));
        match std::fs::create_dir(&profile) {
            Ok(()) => return Ok(profile),
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {}
            Err(error) => return Err(error),
        }
    }
    Err(io::ErrorKind::AlreadyExists.into())
}

/// The file that a browser's errors go to.
fn errors(profile: &Utf8Path) -> Utf8PathBuf {
    profile.join("errors.txt")
}

/// Returns the end of what a browser said.
fn last_words(profile: &Utf8Path) -> String {
    let said = std::fs::read(errors(profile)).unwrap_or_default();
    let end = said.get(said.len().saturating_sub(LAST_WORDS)..).unwrap_or_default();
    let end = String::from_utf8_lossy(end);
    let end = end.split_whitespace().collect::<Vec<_>>().join(" ");
    if end.is_empty() { "it said nothing".to_owned() } else { format!("it said last: {end}") }
}

/// Returns the environment of a browser: nothing of ours but where programs are.
fn environment(profile: &Utf8Path) -> Vec<(&'static str, String)> {
    vec![
        ("PATH", "/usr/local/bin:/usr/bin:/bin:/usr/local/sbin:/usr/sbin:/sbin".to_owned()),
        ("HOME", profile.to_string()),
        ("TMPDIR", profile.to_string()),
        ("XDG_CONFIG_HOME", profile.to_string()),
        ("XDG_CACHE_HOME", profile.to_string()),
        ("LANG", "C.UTF-8".to_owned()),
        ("TZ", "UTC".to_owned()),
        // There is no desktop to talk to.
        ("DBUS_SESSION_BUS_ADDRESS", "disabled:".to_owned()),
        ("DBUS_SYSTEM_BUS_ADDRESS", "disabled:".to_owned()),
    ]
}
