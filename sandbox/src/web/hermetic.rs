//! A small internet on this machine.
//!
//! Virtual hosts under `http` and `https`, all known when the web is opened; a search
//! engine, a scholar index and encyclopedias over the same pages. An answer is a pure function of the
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
use super::files::{File, Ledger, common_root};
use super::pages::Pages;
use super::reply::{Reply, http_date};
use super::search::{self, Engine, Listing};
use super::wiki::Encyclopedia;
use super::{Endpoints, Exchange, Request, WebError, serper};

/// The host of the search engine.
const SEARCH_HOST: &str = "search.wild.test";

/// The files of a web are read at once where they have at most so many bytes.
const SMALL: u64 = 4 << 20;

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
    pub(super) hosts: Vec<Host>,
    /// Which host answers under a name.
    pub(super) names: HashMap<String, usize>,
    engine: Engine,
    endpoints: Endpoints,
}

/// One site, opened.
#[derive(Debug)]
pub(super) struct Host {
    pub(super) name: String,
    pub(super) pages: Pages,
    /// What the search engine may list of its routes, by path.
    pub(super) computed: Vec<(String, File)>,
    encyclopedia: Option<Encyclopedia>,
}

impl Host {
    /// Returns its files and its computed pages with their paths, in no order.
    pub(super) fn files(&self) -> impl Iterator<Item = (&String, &File)> {
        self.pages.files().chain(self.computed.iter().map(|(path, file)| (path, file)))
    }
}

impl Hermetic {
    /// Opens the sites and their search index, which is kept in `cache` under the digest
    /// of their content.
    ///
    /// Files lie at the paths that the sites give. What they hold is told from a ledger in
    /// `cache` where nothing changed since. A small web (4 MiB) is read at once, so that
    /// nothing can change while it is open; of a larger one bodies are read when they are
    /// asked for, and a file that has changed by then is refused. Where `cache` cannot be
    /// written, every file is read and the index built in memory.
    pub fn open(sites: &BTreeMap<String, Site>, cache: &Utf8Path) -> Result<Self, HermeticError> {
        let mut hosts = Vec::new();
        let mut encyclopedia = BTreeMap::new();
        let root = common_root(sites.values().flat_map(|site| site.pages.values()));
        let mut ledger = Ledger::open(cache, &root);
        for site in sites.values() {
            let mut site = site.clone();
            site.host =
                host_name(&site.host).ok_or_else(|| HermeticError::BadHost(site.host.clone()))?;
            let pages = Pages::open(&site, &mut ledger)?;
            let computed = pages.computed(&site.host);
            let wiki = match site.meta.kind {
                SiteKind::Pages => None,
                SiteKind::Encyclopedia => Some(Encyclopedia::open(&site)?),
            };
            if wiki.is_some() {
                let language = site.meta.language.name().to_owned();
                encyclopedia.entry(language).or_insert(address(&site.host, "w/api.php")?);
            }
            hosts.push((
                Host { name: site.host.clone(), pages, computed, encyclopedia: wiki },
                site,
            ));
        }
        if ledger.bytes() <= SMALL {
            for (_, file) in hosts.iter().flat_map(|(host, _)| host.pages.files()) {
                // What cannot be read now is told to who asks for it.
                let _ = file.load();
            }
        }
        ledger.keep();
        let names = names(&hosts)?;
        let mut found: Vec<&mut Encyclopedia> =
            hosts.iter_mut().filter_map(|(host, _)| host.encyclopedia.as_mut()).collect();
        Encyclopedia::acquaint(&mut found);
        let engine = Engine::open(&digest(&hosts), cache, || documents(&hosts))?;
        Ok(Self {
            hosts: hosts.into_iter().map(|(host, _)| host).collect(),
            names,
            engine,
            endpoints: Endpoints { search: address(SEARCH_HOST, "")?, encyclopedia },
        })
    }

    /// Answers a request, redirects not followed.
    pub(super) fn reply(
        &self,
        request: &Request,
        now: Timestamp,
        blocked: &BlockList,
    ) -> Result<Reply, WebError> {
        let name = request.url.host_str().unwrap_or_default();
        let reply = if name == SEARCH_HOST {
            serper::answer(&self.engine, request, now, blocked)
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
        let wiki = || host.encyclopedia.as_ref()?.answer(request, &self.engine, now);
        let reply = host.pages.answer(request, now).or_else(wiki);
        host.pages.dressed(reply.unwrap_or_else(|| host.pages.not_found(request, now)))
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

/// Reads everything that the search engine lists.
fn documents(hosts: &[(Host, Site)]) -> Result<Vec<search::Document>, HermeticError> {
    let mut listing = Listing::default();
    for (host, site) in hosts {
        let unreadable =
            |(file, reason)| HermeticError::Unreadable { host: site.host.clone(), file, reason };
        listing.add(site, host.files()).map_err(unreadable)?;
        listing.extend(host.encyclopedia.iter().flat_map(|wiki| wiki.documents(site)));
    }
    Ok(listing.finish())
}

/// Returns a digest of everything that the search engine could list.
fn digest(hosts: &[(Host, Site)]) -> String {
    let mut hasher = blake3::Hasher::new();
    let mut add = |part: &[u8]| {
        hasher.update(&(part.len() as u64).to_le_bytes());
        hasher.update(part);
    };
    add(search::FORMAT.as_bytes());
    for (host, site) in hosts {
        let meta = &site.meta;
        for part in [&site.host, &meta.title, meta.language.name()] {
            add(part.as_bytes());
        }
        add(meta.hidden().collect::<Vec<_>>().join("\n").as_bytes());
        let mut files: Vec<_> = host.files().collect();
        files.sort_by_key(|(path, _)| *path);
        for (path, file) in files {
            add(path.as_bytes());
            add(file.source.as_str().as_bytes());
            add(file.digest.as_bytes());
        }
        for article in &site.articles {
            let date = article.meta.date.to_string();
            let redirects = article.meta.redirects.join("\n");
            for part in [&article.meta.title, &redirects, &date, &article.body] {
                add(part.as_bytes());
            }
        }
        add(b"site");
    }
    hasher.finalize().to_hex().as_str()[..32].to_owned()
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
