//! Opening what commands work on: suites, the host, gyms.

use std::collections::BTreeMap;
use std::num::NonZeroU32;
use std::sync::Arc;

use camino::{Utf8Path, Utf8PathBuf};
use wildgym_sandbox::Host;
use wildgym_sandbox::browser::{BrowserSettings, Browsers};
use wildgym_sandbox::code::{Runtime, RuntimeError};
use wildgym_sandbox::scratch::Scratch;
use wildgym_sandbox::servers::Servers;
use wildgym_sandbox::worker::Workers;
use wildgym_tasks::{Suite, builtin};
use wildgym_toolbox::Catalog;

use super::servers::Planned;
use super::{Failure, chromium, environment, network, programs};
use crate::runner::{BuildError, Gym};
use crate::store::ServerRef;

/// A suite and how it was named.
pub(super) struct Opened {
    /// The suite.
    pub(super) suite: Arc<Suite>,
    /// Name of a built-in suite, or the absolute path of its folder.
    pub(super) source: String,
}

/// Opens a suite by the name of a built-in one or by its folder.
pub(super) fn open_suite(named: &str) -> Result<Opened, Failure> {
    let (folder, source) = locate(named)?;
    let suite = Suite::load(&folder).map_err(|faults| {
        Failure::usage(format!("suite `{named}` has faults:\n{faults}"))
            .hint(format!("the formats are described by `wildgym tasks schema`; check again with `wildgym tasks check {named}`"))
    })?;
    Ok(Opened { suite: Arc::new(suite), source })
}

/// Returns the folder of a suite, and how a run remembers it.
pub(super) fn locate(named: &str) -> Result<(Utf8PathBuf, String), Failure> {
    let path = Utf8Path::new(named);
    if path.join("suite.toml").is_file() {
        let folder = path
            .canonicalize_utf8()
            .map_err(|error| Failure::usage(format!("cannot open `{named}`: {error}")))?;
        return Ok((folder.clone(), folder.into_string()));
    }
    if builtin::names().contains(&named) {
        let folder = builtin::unpack(named, &environment::cache()?)
            .map_err(|error| Failure::usage(format!("cannot unpack suite `{named}`: {error}")))?;
        return Ok((folder, named.to_owned()));
    }
    let built_in = builtin::names().join("`, `");
    Err(Failure::usage(format!("there is no suite `{named}`")).hint(format!(
        "built-in suites are `{built_in}`; any folder with a `suite.toml` is one too"
    )))
}

/// Attempts that may have pages open at once, unless a flag says another number.
pub(super) const BROWSERS: &str = "8";

/// Opens what all attempts of this process share, with places in the browser for that
/// many. Without the code runtime `code` is none.
pub(super) fn open_host_for(browsers: NonZeroU32) -> Result<Arc<Host>, Failure> {
    open_host_on(browsers, Vec::new())
}

/// The same, with a browser that is shown on the display which these variables name.
pub(super) fn open_host_on(
    browsers: NonZeroU32,
    display: Vec<(String, String)>,
) -> Result<Arc<Host>, Failure> {
    let code = match Runtime::load(&environment::cache()?.join("code")) {
        Ok(runtime) => Some(Arc::new(runtime)),
        Err(RuntimeError::Missing) => None,
        Err(error @ RuntimeError::Unusable(_)) => {
            return Err(Failure::usage(error.to_string()).hint("make it anew with `wildgym setup`"));
        }
    };
    host_of(browsers, display, code)
}

/// Opens what operations of a world need: neither code nor a browser is run.
pub(super) fn open_bare_host() -> Result<Arc<Host>, Failure> {
    host_of(NonZeroU32::MIN, Vec::new(), None)
}

fn host_of(
    browsers: NonZeroU32,
    display: Vec<(String, String)>,
    code: Option<Arc<Runtime>>,
) -> Result<Arc<Host>, Failure> {
    let parent = environment::scratch()?;
    let scratch = Scratch::create(&parent).map_err(|error| {
        Failure::usage(format!("cannot use `{parent}` for workspaces: {error}"))
            .hint("set `TMPDIR` to a directory of yours with room")
    })?;
    let program = std::env::current_exe()
        .map_err(|error| Failure::usage(format!("cannot find the program itself: {error}")))?;
    let cores = std::thread::available_parallelism().map_or(1, usize::from);
    let mut settings =
        BrowserSettings::new(chromium::find(), program.clone(), scratch.path().to_owned());
    settings.contexts = browsers.get() as usize;
    settings.display = display;
    let browsers = Browsers::new(settings);
    let programs = programs::open(program.clone(), scratch.path(), cores);
    let path = std::env::var_os("PATH").unwrap_or_default();
    let servers = Servers::new(program.clone(), path, 2 * cores);
    let host = Host::new(browsers, scratch, Workers::new(program, cores), code);
    Ok(Arc::new(host.with_programs(programs).with_servers(servers)))
}

/// The same for a command that makes one attempt at most.
pub(super) fn open_host() -> Result<Arc<Host>, Failure> {
    open_host_for(NonZeroU32::MIN)
}

/// Opens a suite's gym, with everything that a trial needs, and places in the browser for
/// that many attempts at once, for who may vary yet how tools are offered; returns what a run
/// keeps of the foreign servers.
pub(super) fn open_own_gym(
    suite: &Arc<Suite>,
    web: network::Planned,
    browsers: NonZeroU32,
    servers: Planned,
) -> Result<(Gym, BTreeMap<String, ServerRef>), Failure> {
    let host = open_host_for(browsers)?;
    if host.code.is_none() {
        return Err(Failure::usage("the code runtime is not set up on this machine")
            .hint("run `wildgym setup` once (some minutes), then this command again"));
    }
    let catalog = catalog()?;
    let network = web.open(suite)?;
    let unusable = |error: BuildError| {
        let name = &suite.meta.name;
        Failure::usage(format!("suite `{name}` cannot be used: {error}"))
            .hint("check its worlds with `wildgym world check SUITE/WORLD`")
    };
    let own = Arc::clone(&catalog);
    let gym = Gym::over(network, Arc::clone(&host), Arc::clone(suite), catalog, Vec::new());
    let gym = gym.map_err(unusable)?;
    if servers.is_empty() {
        return Ok((gym, BTreeMap::new()));
    }
    let listed = servers.open(&suite.folder, &host)?;
    let kept = servers.kept(&listed, &host);
    Ok((gym.with_servers(listed, &own).map_err(unusable)?, kept))
}

/// Returns all tools.
pub(super) fn catalog() -> Result<Arc<Catalog>, Failure> {
    Catalog::all().map(Arc::new).map_err(|error| Failure::usage(error.to_string()))
}
