//! The plain data from which a sandbox is built: environments and sites.

mod block;
mod field;
mod map;
mod need;
pub mod path;
mod route;
pub mod server;
pub mod table;
pub mod templates;

use std::collections::{BTreeMap, BTreeSet};

use camino::Utf8PathBuf;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::check::Pattern;
use crate::scenario::Language;
use crate::world::Scene;

pub use block::Blocked;
pub use field::Given;
pub use map::HostMap;
pub use need::Need;
pub use route::{
    Answer, Cookie, Field, FieldKind, Filter, Fits, List, Login, Method, OneRow, Route, SameSite,
    User,
};
pub use server::{Reach, Server};

/// What surrounds the agent: `[environment]` of `task.toml`.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Environment {
    /// The network as the trial sees it; without it there is none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub web: Option<WebKind>,
    /// HTTP methods that the trial may use on the open web, live or recorded; `GET` and
    /// `HEAD` where none is named. Sites of the hermetic web decide for themselves.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[schemars(extend("items" = {"type": "string", "enum": ["GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS"]}))]
    pub methods: Vec<String>,
    /// How pages are offered [default: `delegated`]; a run may choose another way.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub browser: Option<BrowserMode>,
    /// Tools of the program that the agent gets, by name or as a pattern with `*` [default:
    /// all in a task without a world, none in one with a world]. Which operations of the
    /// world it gets, `world.operations` says.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(extend("items" = {"type": "string", "format": "line"}))]
    pub tools: Option<Vec<String>>,
    /// The business system that the agent works in.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub world: Option<Scene>,
    /// Foreign servers whose tools the agent gets beside all others, by their names in
    /// `[servers]` of `suite.toml`.
    #[serde(default, skip_serializing_if = "BTreeSet::is_empty")]
    #[schemars(extend("items" = {"type": "string", "format": "line"}))]
    pub servers: BTreeSet<String>,
    /// What the machine, or a model of the run, must be able to do: where it is not, the
    /// task is skipped.
    #[serde(default, skip_serializing_if = "BTreeSet::is_empty")]
    pub needs: BTreeSet<Need>,
}

impl Environment {
    /// Returns whether the agent gets this tool of the program, which is no operation.
    #[must_use]
    pub fn offers(&self, tool: &str) -> bool {
        match &self.tools {
            Some(patterns) => patterns.iter().any(|one| Pattern::new(one).matches(tool)),
            None => self.world.is_none(),
        }
    }
}

/// How an agent gets at pages that need a browser.
#[derive(
    Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, JsonSchema,
)]
#[serde(rename_all = "kebab-case")]
pub enum BrowserMode {
    /// By `browse_url`, whose navigator acts on the pages.
    #[default]
    Delegated,
    /// By the page actions as tools of its own.
    Direct,
}

impl BrowserMode {
    /// Returns the name by which files and flags know it.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Delegated => "delegated",
            Self::Direct => "direct",
        }
    }
}

/// Which network a trial sees.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum WebKind {
    /// The suite's own sites, on this machine; a run may put the open internet in their place.
    Hermetic,
    /// The open internet, live or recorded: a run must say which, with `--web`.
    Live,
}

/// One host of the hermetic web: `sites/<host>/site.toml` and what lies beside it.
#[derive(Debug, Clone, PartialEq)]
pub struct Site {
    /// The host name, which is the folder's name.
    pub host: String,
    /// The contents of `site.toml`.
    pub meta: SiteMeta,
    /// Served files by URL path (`/`, `/about`, `/data/prices.csv`).
    pub pages: BTreeMap<String, Utf8PathBuf>,
    /// Articles, where the site is an encyclopedia; the files are Markdown with a
    /// TOML header.
    pub articles: Vec<Article>,
    /// Templates by their path below `templates/`.
    pub templates: BTreeMap<String, Utf8PathBuf>,
}

impl Site {
    /// Returns a site without content.
    #[must_use]
    pub fn new(host: impl Into<String>, meta: SiteMeta) -> Self {
        let (pages, articles, templates) = (BTreeMap::new(), Vec::new(), BTreeMap::new());
        Self { host: host.into(), meta, pages, articles, templates }
    }
}

/// The contents of `site.toml`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct SiteMeta {
    /// What people call the site; shown as the source of a search hit.
    #[schemars(extend("format" = "line"))]
    pub title: String,
    /// The language of its pages.
    pub language: Language,
    /// What the host is.
    #[serde(default)]
    pub kind: SiteKind,
    /// Other host names that serve the same pages, such as `www.` forms.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[schemars(extend("items" = {"type": "string", "format": "host"}))]
    pub aliases: Vec<String>,
    /// Permanent redirects from a path to a path or URL.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub redirects: BTreeMap<String, String>,
    /// Paths that the search engine does not list; `*` stands for any text.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[schemars(extend("items" = {"type": "string", "format": "line"}))]
    pub unlisted: Vec<String>,
    /// JSON services of the site.
    #[serde(default, rename = "service", skip_serializing_if = "Vec::is_empty")]
    pub services: Vec<Service>,
    /// Headers of every reply, such as a content security policy.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub headers: BTreeMap<String, String>,
    /// Paths that `/robots.txt` disallows, and that the search engine does not list; `*`
    /// stands for any text. Where `pages/robots.txt` lies, that is served.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[schemars(extend("items" = {"type": "string", "format": "line"}))]
    pub robots: Vec<String>,
    /// Template, below `templates/`, of the page that says why there is none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(with = "Option<String>", extend("format" = "path"))]
    pub error_page: Option<Utf8PathBuf>,
    /// Tables of routes: name to file, a JSON array of objects or CSV with a header.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    #[schemars(with = "BTreeMap<String, String>", extend("additionalProperties" = {"type": "string", "format": "path"}))]
    pub tables: BTreeMap<String, Utf8PathBuf>,
    /// Cookies that routes set and read.
    #[serde(default, rename = "cookie", skip_serializing_if = "Vec::is_empty")]
    pub cookies: Vec<Cookie>,
    /// Who may log in.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub login: Option<Login>,
    /// What is computed for each request.
    #[serde(default, rename = "route", skip_serializing_if = "Vec::is_empty")]
    pub routes: Vec<Route>,
}

impl SiteMeta {
    /// Returns what a site of that title has where its `site.toml` says nothing more.
    #[must_use]
    pub fn new(title: impl Into<String>, language: Language, kind: SiteKind) -> Self {
        Self {
            title: title.into(),
            language,
            kind,
            aliases: Vec::new(),
            redirects: BTreeMap::new(),
            unlisted: Vec::new(),
            services: Vec::new(),
            headers: BTreeMap::new(),
            robots: Vec::new(),
            error_page: None,
            tables: BTreeMap::new(),
            cookies: Vec::new(),
            login: None,
            routes: Vec::new(),
        }
    }

    /// Returns the patterns of paths that the search engine does not list: those that the
    /// site keeps out, those that its robots disallow, and those behind its login.
    pub fn hidden(&self) -> impl Iterator<Item = &str> {
        let protected = self.login.iter().flat_map(|login| &login.protected);
        self.unlisted.iter().chain(&self.robots).chain(protected).map(String::as_str)
    }
}

/// A JSON service: answers computed from a table that the site holds.
///
/// `GET <path>?<parameter>=<value>…` returns the rows of `table` (a JSON array of
/// objects in the site's folder) whose fields equal the given values, as
/// `{"count": n, "rows": [...]}`. A missing required parameter is a 400 that names
/// it; an unknown one is a 400 too.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Service {
    /// URL path, such as `/api/v1/tides`.
    #[schemars(extend("format" = "url-path"))]
    pub path: String,
    /// File below the site's folder with the rows.
    #[schemars(with = "String", extend("format" = "path"))]
    pub table: Utf8PathBuf,
    /// Query parameters that must be given; each names a field of the rows.
    #[serde(default)]
    pub required: Vec<String>,
    /// Query parameters that may be given; each names a field of the rows.
    #[serde(default)]
    pub optional: Vec<String>,
    /// Header that must be sent with this exact value, as `name: value`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub require_header: Option<String>,
    /// Rows in one reply; more are reached with `page` (1-based).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 1))]
    pub page_size: Option<usize>,
}

/// What a host of the hermetic web is.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum SiteKind {
    /// A site of pages and files.
    #[default]
    Pages,
    /// An encyclopedia that speaks the `MediaWiki` action API.
    Encyclopedia,
}

/// One article of an encyclopedia.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Article {
    /// The header of the file.
    pub meta: ArticleMeta,
    /// The text after the header, as Markdown.
    pub body: String,
    /// The file it came from.
    pub file: Utf8PathBuf,
    /// What it said before, the oldest first.
    pub revisions: Vec<Revision>,
}

/// What an article said at an earlier time: a file in the folder `<article>.history/`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Revision {
    /// The header of the file.
    pub meta: RevisionMeta,
    /// The text after the header, as Markdown.
    pub body: String,
    /// The file it came from.
    pub file: Utf8PathBuf,
}

/// The header of an earlier revision: TOML between two lines of `+++`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct RevisionMeta {
    /// Day of the revision, as `YYYY-MM-DD`.
    #[schemars(with = "String", extend("format" = "date"))]
    pub date: jiff::civil::Date,
    /// Who made it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(extend("format" = "line"))]
    pub user: Option<String>,
    /// What was said about it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(extend("format" = "line"))]
    pub comment: Option<String>,
}

impl Article {
    /// Returns the URL path of the article: `/wiki/` and its title with `_` for spaces.
    #[must_use]
    pub fn path(&self) -> String {
        format!("/wiki/{}", self.meta.title.replace(' ', "_"))
    }
}

/// The header of an article: TOML between two lines of `+++`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ArticleMeta {
    /// The title, as shown.
    #[schemars(extend("format" = "line"))]
    pub title: String,
    /// Titles that lead here.
    #[serde(default)]
    #[schemars(extend("items" = {"type": "string", "format": "line"}))]
    pub redirects: Vec<String>,
    /// Whether the page only lists what the title may mean; its links are the options.
    #[serde(default)]
    pub disambiguation: bool,
    /// Day of the last revision, as `YYYY-MM-DD`.
    #[schemars(with = "String", extend("format" = "date"))]
    pub date: jiff::civil::Date,
    /// Categories that it belongs to, without `Category:`.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[schemars(extend("items" = {"type": "string", "format": "line"}))]
    pub categories: Vec<String>,
    /// Titles of the same article in encyclopedias of other languages, by language.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub languages: BTreeMap<Language, String>,
    /// Who made the last revision.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(extend("format" = "line"))]
    pub user: Option<String>,
    /// What was said about it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(extend("format" = "line"))]
    pub comment: Option<String>,
}
