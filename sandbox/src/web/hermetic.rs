//! A small internet on this machine.
//!
//! Virtual hosts under `http` and `https`, all read when the web is opened; a search
//! engine and encyclopedias over the same pages. An answer is a pure function of the
//! sites, the request and the logical time, so any number of attempts share one web
//! and none sees another. What is not in the sites does not exist: no name is
//! resolved and no socket opened.

use std::collections::{BTreeMap, HashMap};
use std::future::ready;

use camino::{Utf8Path, Utf8PathBuf};
use futures::future::BoxFuture;
use jiff::Timestamp;
use tantivy::TantivyError;
use url::Url;
use wildgym_tasks::environment::{Site, SiteKind};

use super::address::host_name;
use super::block::BlockList;
use super::pages::Pages;
use super::reply::{Reply, http_date};
use super::search::{self, Engine};
use super::wiki::Encyclopedia;
use super::{Endpoints, Exchange, Request, WebError, serper};

/// The host of the search engine.
const SEARCH_HOST: &str = "search.wild.test";

/// Why the sites cannot be served.
#[derive(Debug, thiserror::Error)]
pub enum HermeticError {
    /// A site's name is no host name.
    #[error("`{0}` is no host name; use letters, digits, `-` and `.`, such as `tides.test`")]
    BadHost(String),
    /// Two sites want to answer under one name.
    #[error("the host `{name}` is claimed by `{first}` and by `{second}`")]
    Claimed {
        /// The name.
        name: String,
        /// Who has it.
        first: String,
        /// Who wants it too.
        second: String,
    },
    /// A file of a site cannot be used.
    #[error("site `{host}`: cannot use `{file}`: {reason}")]
    Unreadable {
        /// The site.
        host: String,
        /// The file.
        file: Utf8PathBuf,
        /// What is wrong with it.
        reason: String,
    },
    /// Two articles of an encyclopedia want one title.
    #[error("encyclopedia `{host}`: the title `{title}` is used twice, last by `{file}`")]
    TitleTaken {
        /// The encyclopedia.
        host: String,
        /// The title, or the redirect.
        title: String,
        /// The file that came second.
        file: Utf8PathBuf,
    },
    /// The search index cannot be built or opened.
    #[error("cannot build the search index: {0}")]
    Index(String),
}

impl HermeticError {
    /// Wraps what the index says.
    #[expect(clippy::needless_pass_by_value, reason = "passed to `map_err`")]
    pub(super) fn from_index(error: TantivyError) -> Self {
        Self::Index(error.to_string())
    }
}

/// All sites of a suite, their search index and encyclopedias; built once and shared.
#[derive(Debug)]
pub struct Hermetic {
    hosts: Vec<Host>,
    /// Which host answers under a name.
    names: HashMap<String, usize>,
    engine: Engine,
    endpoints: Endpoints,
}

/// One site, opened.
#[derive(Debug)]
struct Host {
    name: String,
    pages: Pages,
    encyclopedia: Option<Encyclopedia>,
}

impl Hermetic {
    /// Reads the sites and opens their search index, which is kept in `cache` under
    /// the digest of their content.
    ///
    /// Files are read at the paths that the sites give: pages, and the tables of
    /// services. Where `cache` cannot be written, the index is built in memory.
    pub fn open(sites: &BTreeMap<String, Site>, cache: &Utf8Path) -> Result<Self, HermeticError> {
        let mut hosts = Vec::new();
        let mut documents = Vec::new();
        let mut encyclopedia = BTreeMap::new();
        for site in sites.values() {
            let mut site = site.clone();
            site.host =
                host_name(&site.host).ok_or_else(|| HermeticError::BadHost(site.host.clone()))?;
            let pages = Pages::open(&site)?;
            documents.extend(search::documents(&site, pages.files()));
            let wiki = match site.meta.kind {
                SiteKind::Pages => None,
                SiteKind::Encyclopedia => Some(Encyclopedia::open(&site)?),
            };
            if let Some(wiki) = &wiki {
                documents.extend(wiki.documents(&site));
                let language = site.meta.language.name().to_owned();
                encyclopedia.entry(language).or_insert(address(&site.host, "w/api.php")?);
            }
            hosts.push((Host { name: site.host.clone(), pages, encyclopedia: wiki }, site));
        }
        let names = names(&hosts)?;
        Ok(Self {
            hosts: hosts.into_iter().map(|(host, _)| host).collect(),
            names,
            engine: Engine::open(documents, cache)?,
            endpoints: Endpoints { search: address(SEARCH_HOST, "")?, encyclopedia },
        })
    }

    fn reply(
        &self,
        request: &Request,
        now: Timestamp,
        blocked: &BlockList,
    ) -> Result<Reply, WebError> {
        let name = request.url.host_str().unwrap_or_default();
        let reply = if name == SEARCH_HOST {
            serper::answer(&self.engine, request, blocked)
        } else {
            let host = self.names.get(name).and_then(|number| self.hosts.get(*number));
            let host = host.ok_or_else(|| WebError::Unreachable(name.to_owned()))?;
            if is_blocked(blocked, &host.name, &request.url) {
                return Err(WebError::Blocked(name.to_owned()));
            }
            self.host_answer(host, request, now)
        };
        Ok(finished(reply, now))
    }

    fn host_answer(&self, host: &Host, request: &Request, now: Timestamp) -> Reply {
        if let Some(reply) = host.pages.answer(request) {
            return reply;
        }
        let wiki = host.encyclopedia.as_ref();
        wiki.and_then(|wiki| wiki.answer(request, &self.engine, now))
            .unwrap_or_else(|| host.pages.not_found(request))
    }
}

impl Exchange for Hermetic {
    fn answer<'a>(
        &'a self,
        request: &'a Request,
        now: Timestamp,
        blocked: &'a BlockList,
    ) -> BoxFuture<'a, Result<Reply, WebError>> {
        Box::pin(ready(self.reply(request, now, blocked)))
    }

    fn endpoints(&self) -> &Endpoints {
        &self.endpoints
    }
}

/// Returns whether an address is blocked under its host's own name, by whatever name the
/// host was asked.
fn is_blocked(blocked: &BlockList, host: &str, url: &Url) -> bool {
    let mut own = url.clone();
    own.set_host(Some(host)).is_ok() && blocked.covers_url(&own)
}

/// Adds the headers that every reply has.
fn finished(reply: Reply, now: Timestamp) -> Reply {
    let length = reply.body.len().to_string();
    reply.with("content-length", &length).with("date", &http_date(now))
}

fn address(host: &str, path: &str) -> Result<Url, HermeticError> {
    Url::parse(&format!("https://{host}/{path}"))
        .map_err(|_| HermeticError::BadHost(host.to_owned()))
}

/// Says which site answers under which name: its own, its aliases, and `www.` before
/// its own unless another site has that.
fn names(hosts: &[(Host, Site)]) -> Result<HashMap<String, usize>, HermeticError> {
    let mut names: HashMap<String, usize> = HashMap::new();
    for (number, (host, site)) in hosts.iter().enumerate() {
        let aliases = site.meta.aliases.iter();
        let aliases =
            aliases.map(|it| host_name(it).ok_or_else(|| HermeticError::BadHost(it.clone())));
        for name in std::iter::once(Ok(host.name.clone())).chain(aliases) {
            let name = name?;
            let taken = names.insert(name.clone(), number).filter(|first| *first != number);
            let first = taken.and_then(|first| hosts.get(first)).map(|(host, _)| &*host.name);
            let first = first.or((name == SEARCH_HOST).then_some("the search engine"));
            if let Some(first) = first {
                let (first, second) = (first.to_owned(), host.name.clone());
                return Err(HermeticError::Claimed { name, first, second });
            }
        }
    }
    for (number, (host, _)) in hosts.iter().enumerate() {
        names.entry(format!("www.{}", host.name)).or_insert(number);
    }
    Ok(names)
}
