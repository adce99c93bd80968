//! `--web` and its company: which network trials see, and what pins it.

use std::sync::Arc;

use camino::{Utf8Path, Utf8PathBuf};
use clap::{Args, ValueEnum};
use wildgym_sandbox::web::{Live, LiveError, LiveSettings, Recorder, SEARCH_KEY, Tape, TapeError};
use wildgym_tasks::Suite;
use wildgym_tasks::environment::HostMap;

use super::{Failure, environment, say};
use crate::runner::{Gym, Network};
use crate::store::{RecordingRef, WebConfig, WebName};

/// The network that trials see.
#[derive(Debug, Args)]
#[command(next_help_heading = "Network")]
pub(super) struct WebArgs {
    /// Network that is seen
    #[arg(long, value_enum, value_name = "WEB", default_value = "hermetic")]
    web: WebArg,

    /// Record what the open internet answers in FILE (WARC), so that it can be replayed; with
    /// `--web live`
    #[arg(long, value_name = "FILE")]
    record: Option<Utf8PathBuf>,

    /// Recording that answers; with `--web replay`
    #[arg(long, value_name = "FILE")]
    recording: Option<Utf8PathBuf>,

    /// Accept hosts that are sent to a given address, which may be a private one; with
    /// `--web live`, for tests
    #[arg(long)]
    allow_private: bool,

    /// Send requests for HOST (`*`: all) to URL in plain HTTP, such as
    /// `*=http://127.0.0.1:8080`; may be repeated; with `--web live` and `--allow-private`
    #[arg(long, value_name = "HOST=URL")]
    web_map: Vec<String>,
}

/// The same for a run that has its network already.
#[derive(Debug, Args)]
#[command(next_help_heading = "Network")]
pub(super) struct MovedWebArgs {
    /// File into which the run records the open internet, where it has moved
    #[arg(long, value_name = "FILE")]
    record: Option<Utf8PathBuf>,

    /// Recording that the run replays, where it has moved
    #[arg(long, value_name = "FILE")]
    recording: Option<Utf8PathBuf>,

    /// Accept that the run sends hosts to given addresses, which may be private ones
    #[arg(long)]
    allow_private: bool,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum WebArg {
    /// The suite's own sites, on this machine
    Hermetic,
    /// The open internet
    Live,
    /// A recording of the open internet
    Replay,
}

/// What is said with every refusal of a map.
const MAP_HINT: &str = "maps are for tests: `--allow-private` accepts one, and the label says it";

impl WebArgs {
    /// Says what the flags ask for, once they agree with each other; opens the recording that
    /// is to be replayed.
    pub(super) fn plan(&self, suite: &Suite) -> Result<Planned, Failure> {
        self.refuse_contradictions()?;
        match self.web {
            WebArg::Hermetic => Ok(Planned::plain(WebConfig::plain(WebName::Hermetic))),
            WebArg::Live => self.plan_live(suite),
            WebArg::Replay => {
                let Some(file) = &self.recording else {
                    return Err(Failure::usage("`--web replay` needs a recording")
                        .hint("name it with `--recording FILE`"));
                };
                let tape = tape(file)?;
                let digest = tape.digest().to_owned();
                let recording = Some(RecordingRef { source: absolute(file)?, digest });
                let config = WebConfig { recording, ..WebConfig::plain(WebName::Replay) };
                Ok(Planned { config, map: HostMap::default(), tape: Some(tape) })
            }
        }
    }

    /// Refuses flags that mean nothing beside each other.
    fn refuse_contradictions(&self) -> Result<(), Failure> {
        let table = [
            ("--record", self.record.is_some(), WebArg::Live, "live"),
            ("--web-map", !self.web_map.is_empty(), WebArg::Live, "live"),
            ("--allow-private", self.allow_private, WebArg::Live, "live"),
            ("--recording", self.recording.is_some(), WebArg::Replay, "replay"),
        ];
        for (flag, given, web, name) in table {
            if given && self.web != web {
                return Err(Failure::usage(format!(
                    "`{flag}` means nothing without `--web {name}`"
                ))
                .hint(format!("add `--web {name}`, or leave out `{flag}`")));
            }
        }
        if !self.web_map.is_empty() && !self.allow_private {
            return Err(Failure::usage("`--web-map` leads out of the open web").hint(MAP_HINT));
        }
        Ok(())
    }

    fn plan_live(&self, suite: &Suite) -> Result<Planned, Failure> {
        let mut map = HostMap::default();
        let of_suite = &suite.meta.web.live.map;
        if !of_suite.is_empty() && !self.allow_private {
            let name = &suite.meta.name;
            let what = format!("suite `{name}` sends hosts to addresses of its own");
            return Err(Failure::usage(what).hint(MAP_HINT));
        }
        let written = of_suite.iter().map(|(host, to)| (host.as_str(), to.as_str()));
        let flags = self.web_map.iter().map(|entry| entry.split_once('=').unwrap_or((entry, "")));
        for (host, to) in written.chain(flags) {
            map.insert(host, to).map_err(|problem| {
                Failure::usage(format!("`--web-map {host}={to}`: {problem}"))
                    .hint("an entry is `HOST=URL`, such as `*=http://127.0.0.1:8080`")
            })?;
        }
        let record = self.record.as_deref().map(absolute).transpose()?;
        if let Some(file) = &record {
            refuse_used(file)?;
        }
        let proxy = uses_proxy(&map);
        let (kind, recording) = (WebName::Live, None);
        let config = WebConfig { kind, map: map.written(), proxy, record, recording };
        Ok(Planned { config, map, tape: None })
    }
}

/// A network that is ready to be opened.
pub(super) struct Planned {
    /// What a run remembers of it.
    pub(super) config: WebConfig,
    map: HostMap,
    tape: Option<Arc<Tape>>,
}

impl Planned {
    fn plain(config: WebConfig) -> Self {
        Self { config, map: HostMap::default(), tape: None }
    }

    /// Opens the network; sites of a hermetic one are indexed, a recording is begun.
    pub(super) fn open(self, suite: &Suite) -> Result<Network, Failure> {
        let Self { config, map, tape } = self;
        match (config.kind, tape) {
            (WebName::Replay, Some(tape)) => {
                Ok(Network::Replay { tape, endpoints: Live::services()? })
            }
            (WebName::Live, _) => {
                let search_key = environment::search_key();
                let proxies = environment::proxies();
                let live = Live::new(LiveSettings { map, search_key, proxies })?;
                let recorder = config.record.as_deref().map(recorder).transpose()?;
                Ok(Network::Live { live: Arc::new(live), recorder })
            }
            (WebName::Hermetic | WebName::Replay, _) => {
                Network::hermetic(suite, &environment::cache()?).map_err(|error| {
                    Failure::usage(format!("the hermetic web cannot be opened: {error}"))
                })
            }
        }
    }
}

impl MovedWebArgs {
    /// Finds the network of a run again, and refuses another one.
    pub(super) fn plan(&self, config: &mut WebConfig, run: &Utf8Path) -> Result<Planned, Failure> {
        for (flag, given, fits) in [
            ("--record", self.record.is_some(), config.record.is_some()),
            ("--recording", self.recording.is_some(), config.recording.is_some()),
            ("--allow-private", self.allow_private, !config.map.is_empty()),
        ] {
            if given && !fits {
                return Err(Failure::usage(format!("`{flag}` means nothing for `{run}`"))
                    .hint("leave it out: a run keeps the network that it began with"));
            }
        }
        if !config.map.is_empty() && !self.allow_private {
            let what = format!("`{run}` sends hosts to addresses of its own");
            return Err(Failure::usage(what).hint(MAP_HINT));
        }
        let mut map = HostMap::default();
        for (host, to) in &config.map {
            map.insert(host, to).map_err(|problem| {
                Failure::usage(format!("`web.map` of `{run}/run.toml`: {problem}"))
            })?;
        }
        if config.kind == WebName::Live && uses_proxy(&map) != config.proxy {
            let (had, has) =
                if config.proxy { ("a", "there is none now") } else { ("no", "there is one now") };
            return Err(Failure::usage(format!("`{run}` began with {had} proxy, and {has}"))
                .hint("set the system's proxy (`HTTPS_PROXY`, …) as it was, or begin a new run"));
        }
        if let Some(file) = &self.record {
            config.record = Some(absolute(file)?);
        }
        let tape = match &config.recording {
            None => None,
            Some(recording) => Some(self.same_tape(recording, run)?),
        };
        Ok(Planned { config: config.clone(), map, tape })
    }

    /// Opens the recording that a run began with.
    fn same_tape(&self, begun: &RecordingRef, run: &Utf8Path) -> Result<Arc<Tape>, Failure> {
        let file = self.recording.as_ref().unwrap_or(&begun.source);
        let tape = tape(file)?;
        if tape.digest() == begun.digest {
            return Ok(tape);
        }
        Err(Failure::usage(format!(
            "`{run}` began with another recording: its digest was {}, and that of `{file}` is {}",
            begun.digest,
            tape.digest()
        ))
        .hint("name the same recording with `--recording FILE`, or begin a new run"))
    }
}

/// Refuses tasks that need the open internet where there is none.
pub(super) fn refuse_unsuited(gym: &Gym, tasks: &[String]) -> Result<(), Failure> {
    let unsuited = |id: &&String| gym.task(id).is_ok_and(|task| !gym.network.suits(task));
    let Some(id) = tasks.iter().find(unsuited) else { return Ok(()) };
    Err(Failure::usage(format!("task `{id}` needs the open internet"))
        .hint("add `--web live`, or `--web replay --recording FILE`"))
}

/// Says at the beginning what the network means for the run.
pub(super) fn announce(config: &WebConfig, network: &Network) {
    for note in config.notes() {
        say(&format!("web: {note}"));
    }
    match network {
        Network::Live { live, recorder } => {
            if recorder.is_none() {
                say("web: `--record FILE` would keep what it answers, for `--web replay`");
            }
            if !live.can_search() {
                say(&format!(
                    "web: `{SEARCH_KEY}` is not set, so searches will fail; it holds a key of the \
                     search service serper.dev"
                ));
            }
        }
        Network::Hermetic(_) | Network::Replay { .. } => {}
    }
}

/// Says at the end what became of a recording.
pub(super) fn conclude(suite: &str, network: &Network) {
    match network {
        Network::Live { recorder: Some(recorder), .. } => {
            let file = recorder.path();
            if let Some(failure) = recorder.failure() {
                say(&format!(
                    "\n{failure}\nattempts that could not be recorded do not count; `wildgym \
                     resume` makes them again when that is mended"
                ));
                return;
            }
            say(&format!(
                "\nthe web is recorded; `wildgym run {suite} --web replay --recording {file}` \
                 answers from it"
            ));
        }
        Network::Replay { tape, .. } if tape.misses() > 0 => {
            let (count, noun) = match tape.misses() {
                1 => (1, "request was"),
                count => (count, "requests were"),
            };
            say(&format!(
                "\n{count} {noun} not in the recording and failed; `wildgym show` names them"
            ));
        }
        Network::Live { .. } | Network::Replay { .. } | Network::Hermetic(_) => {}
    }
}

/// Returns whether some host would be reached through a proxy of the system.
fn uses_proxy(map: &HostMap) -> bool {
    // A name that nobody has asks whether there is an entry for all.
    map.get("*").is_none() && !environment::proxies().is_empty()
}

fn tape(file: &Utf8Path) -> Result<Arc<Tape>, Failure> {
    Tape::open(file).map_err(|error| {
        let hint = match &error {
            TapeError::Io { .. } => {
                "record one by `wildgym run SUITE --web live --record FILE`, or name another"
            }
            TapeError::Damaged { .. } => "name a WARC file, compressed (gzip) or not",
            TapeError::Newer { .. } => "use the version of wildgym that recorded it",
        };
        Failure::usage(error.to_string()).hint(hint)
    })
}

fn recorder(file: &Utf8Path) -> Result<Arc<Recorder>, Failure> {
    Recorder::create(file).map_err(|error| {
        Failure::usage(error.to_string())
            .hint("name a new file in a folder that you may write, with `--record FILE`")
    })
}

/// Refuses to record a new run into what another one recorded: a replay could not tell them
/// apart. What holds no answer yet may be used.
fn refuse_used(file: &Utf8Path) -> Result<(), Failure> {
    if !file.exists() || Tape::open(file).is_ok_and(|tape| tape.entries().is_empty()) {
        return Ok(());
    }
    Err(Failure::usage(format!("`{file}` exists already"))
        .hint("record into a new file; `wildgym resume` goes on with the recording of its run"))
}

/// Returns where a file is, whatever the directory in which a later command runs.
fn absolute(file: &Utf8Path) -> Result<Utf8PathBuf, Failure> {
    camino::absolute_utf8(file)
        .map_err(|error| Failure::usage(format!("cannot tell where `{file}` is: {error}")))
}

impl From<LiveError> for Failure {
    fn from(error: LiveError) -> Self {
        let hint = match &error {
            LiveError::Client(_) => None,
            LiveError::Proxy => Some("mend `HTTPS_PROXY` or `HTTP_PROXY`, or set `NO_PROXY=*`"),
            LiveError::Key => Some("set it to the key alone"),
        };
        let failure = Self::usage(error.to_string());
        match hint {
            Some(hint) => failure.hint(hint),
            None => failure,
        }
    }
}
