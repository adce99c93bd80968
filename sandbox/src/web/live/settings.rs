//! What a user says about the open web.

use std::collections::BTreeSet;
use std::fmt;

use reqwest::{NoProxy, Proxy};
use url::Url;
use wildgym_tasks::environment::HostMap;

use super::LiveError;

/// What a user says about the open web.
#[derive(Debug, Clone, Default)]
pub struct LiveSettings {
    /// Hosts that are sent to a given address instead.
    pub map: HostMap,
    /// The key of the search engine.
    pub search_key: Option<SearchKey>,
    /// The proxies of the system.
    pub proxies: Proxies,
}

/// A key that never shows: not in debug output, recordings or logs.
#[derive(Clone)]
pub struct SearchKey(pub(super) String);

impl SearchKey {
    /// Takes a key, without the blanks that a copy may have round it.
    #[must_use]
    pub fn new(key: &str) -> Self {
        Self(key.trim().to_owned())
    }
}

impl fmt::Debug for SearchKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("SearchKey(…)")
    }
}

/// The proxies through which this machine reaches the open web. Hosts that are reached
/// through one are resolved by it, so their addresses cannot be checked here; names and
/// written addresses are.
#[derive(Clone, Default)]
pub struct Proxies {
    /// For `http` URLs.
    pub http: Option<String>,
    /// For `https` URLs.
    pub https: Option<String>,
    /// Hosts that are reached without one, in the form of `NO_PROXY`.
    pub except: Option<String>,
}

impl fmt::Debug for Proxies {
    /// Shows hosts; an address may hold a password.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Proxies").field(&self.hosts()).finish()
    }
}

impl Proxies {
    /// Returns whether there is none.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.http.is_none() && self.https.is_none()
    }

    /// Returns the hosts of the proxies.
    pub(super) fn hosts(&self) -> BTreeSet<String> {
        let written = [&self.http, &self.https].into_iter().flatten();
        written.filter_map(|it| parsed(it)?.host_str().map(str::to_ascii_lowercase)).collect()
    }

    /// Returns the proxies as the client takes them.
    pub(super) fn for_client(&self) -> Result<Vec<Proxy>, LiveError> {
        let except = || self.except.as_deref().and_then(NoProxy::from_string);
        let mut all = Vec::new();
        for (written, make) in [
            (&self.http, Proxy::http::<Url> as fn(Url) -> reqwest::Result<Proxy>),
            (&self.https, Proxy::https::<Url>),
        ] {
            let Some(written) = written else { continue };
            let url = parsed(written).ok_or(LiveError::Proxy)?;
            let proxy = make(url).map_err(|_| LiveError::Proxy)?;
            all.push(proxy.no_proxy(except()));
        }
        Ok(all)
    }
}

/// Reads the address of a proxy; plain HTTP is meant where no scheme is written.
fn parsed(written: &str) -> Option<Url> {
    let written = written.trim();
    let whole =
        if written.contains("://") { written.to_owned() } else { format!("http://{written}") };
    Url::parse(&whole).ok().filter(|url| {
        matches!(url.scheme(), "http" | "https") && url.host_str().is_some_and(|it| !it.is_empty())
    })
}
