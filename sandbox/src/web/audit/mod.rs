//! Checks a hermetic web by visiting all of it: every file, article, service and route.
//!
//! What is found is either an error (something that a visitor would run into) or a
//! warning (something that its author should know). Nothing is changed, and nothing
//! here is seen by an agent.

mod outline;

use std::collections::{BTreeMap, BTreeSet};

use jiff::Timestamp;
use serde::Serialize;
use url::Url;
use wildgym_tasks::environment::{Article, Site, SiteKind};

use super::Request;
use super::block::BlockList;
use super::hermetic::{Hermetic, Host};
use super::media::{is_text, media_type};
use super::pages::encoded;
use super::reply::Reply;
use super::search::{self, Listing};
use crate::encoding::decode;
use outline::{Link, Outline};

/// Most redirects that are followed from a link.
const MOST_HOPS: usize = 10;

/// How much a finding matters.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Severity {
    /// A visitor runs into it.
    Error,
    /// The author should know.
    Warning,
}

/// One thing that is wrong with a web.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize)]
pub struct Finding {
    /// How much it matters.
    pub severity: Severity,
    /// Which rule it breaks, such as `dead-link`.
    pub rule: &'static str,
    /// Where it is: a page, or a route of a site.
    pub place: String,
    /// What is wrong.
    pub problem: String,
}

/// A page as everybody or a member sees it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Visited {
    /// Host and path, as in `web:<host>/<path>`; a page has one for each path at which it is
    /// served, and a computed one that of its route, too.
    pub places: Vec<String>,
    /// What it says, and how it is written.
    pub texts: Vec<String>,
}

/// What a visit of a whole web found.
#[derive(Debug, Default)]
pub struct Audit {
    /// What is wrong, sorted.
    pub findings: Vec<Finding>,
    /// Every page.
    pub pages: Vec<Visited>,
    /// Pages and links that were looked at.
    pub links: usize,
}

impl Hermetic {
    /// Visits everything at the logical time `now`. `sites` are those it was opened with.
    #[must_use]
    pub fn audit(&self, sites: &BTreeMap<String, Site>, now: Timestamp) -> Audit {
        let mut walk = Walk {
            web: self,
            now,
            audit: Audit::default(),
            links: BTreeMap::new(),
            reached: BTreeSet::new(),
        };
        let mut listed = BTreeSet::new();
        for (host, site) in self.hosts.iter().zip(sites.values()) {
            walk.files(host);
            walk.articles(host, site);
            walk.services(host, site);
            walk.routes(host, site);
            listed.extend(Walk::listed(host, site));
        }
        walk.follow();
        for (host, site) in self.hosts.iter().zip(sites.values()) {
            walk.orphans(host, site, &listed);
            walk.robots(host, &listed);
        }
        let mut audit = walk.audit;
        audit.findings.sort();
        audit.findings.dedup();
        audit
    }
}

/// A visit that is under way.
struct Walk<'w> {
    web: &'w Hermetic,
    now: Timestamp,
    audit: Audit,
    /// Links that are still to be followed: where each leads, and a page that has it.
    links: BTreeMap<(Url, bool), String>,
    /// Addresses that some link leads to.
    reached: BTreeSet<String>,
}

impl Walk<'_> {
    fn note(&mut self, severity: Severity, rule: &'static str, place: &str, problem: String) {
        self.audit.findings.push(Finding { severity, rule, place: place.to_owned(), problem });
    }

    /// Visits the files of a site, each under its shortest path.
    fn files(&mut self, host: &Host) {
        let mut by_source: BTreeMap<_, Vec<&String>> = BTreeMap::new();
        for (path, file) in host.pages.files() {
            by_source.entry(&file.source).or_default().push(path);
        }
        for paths in by_source.values_mut() {
            paths.sort_by_key(|path| (path.len(), path.as_str()));
            let Some(first) = paths.first() else { continue };
            let reply = self.get(host, &encoded(first));
            let places = paths.iter().map(|path| format!("{}{path}", host.name)).collect();
            self.page(&host.name, &encoded(first), &reply, places);
        }
    }

    fn articles(&mut self, host: &Host, site: &Site) {
        if site.meta.kind != SiteKind::Encyclopedia {
            return;
        }
        for path in site.articles.iter().map(Article::path) {
            let reply = self.get(host, &encoded(&path));
            let places = vec![format!("{}{path}", host.name)];
            self.page(&host.name, &encoded(&path), &reply, places);
        }
    }

    /// Looks at the rows of services: they may name URLs.
    fn services(&mut self, host: &Host, site: &Site) {
        for service in &site.meta.services {
            let Ok(text) = std::fs::read_to_string(&service.table) else { continue };
            let url = Self::url(&host.name, &service.path);
            self.collect(
                url.as_ref(),
                &format!("{}{}", host.name, service.path),
                outline::mentioned(&text),
            );
        }
        for (from, to) in &site.meta.redirects {
            let link = Link { address: to.clone(), is_sent: false };
            let url = Self::url(&host.name, &encoded(from));
            self.collect(url.as_ref(), &format!("{}{from}", host.name), BTreeSet::from([link]));
        }
    }

    /// Tries every route with what it says that it answers, and with what is wrong.
    fn routes(&mut self, host: &Host, site: &Site) {
        let samples = host.pages.samples(self.now);
        let mut tried = BTreeSet::new();
        for sample in samples {
            tried.insert(sample.route);
            let route = &site.meta.routes[sample.route];
            let url = &sample.request.url;
            let address = url[url::Position::BeforePath..].to_owned();
            let place = format!("{}{address}", host.name);
            let at = format!("{} {place} (route[{}])", sample.request.method, sample.route);
            let reply = match host.pages.try_sample(&sample, self.now) {
                Ok(reply) => reply,
                Err(fault) => {
                    self.note(Severity::Error, "template", &at, fault.to_string());
                    continue;
                }
            };
            let expected = route.status.unwrap_or(200);
            if sample.is_right && reply.status >= 400 && reply.status != expected {
                let title = outline::read(&String::from_utf8_lossy(&reply.body)).text;
                let title: String = title.split_whitespace().collect::<Vec<_>>().join(" ");
                let problem = format!(
                    "a request that should be right is answered by {}: {}",
                    reply.status,
                    title.chars().take(120).collect::<String>()
                );
                self.note(Severity::Error, "route", &at, problem);
            }
            if reply.status == 422 || reply.status < 400 {
                let bare = format!("{}{}", host.name, url.path());
                let places = vec![place, bare, format!("{}{}", host.name, route.path)];
                self.page(&host.name, &address, &reply, places);
            }
        }
        for index in (0..site.meta.routes.len()).filter(|index| !tried.contains(index)) {
            let at = format!("{}{} (route[{index}])", host.name, site.meta.routes[index].path);
            let problem = "nothing could be asked of it; add `examples`".to_owned();
            self.note(Severity::Warning, "route", &at, problem);
        }
        if let Some(login) = &site.meta.login {
            let mut request = Request::get(match Self::url(&host.name, &login.path) {
                Some(url) => url,
                None => return,
            });
            request.headers.clear();
            if let Ok(reply) = self.web.reply(&request, self.now, &BlockList::new(&[])) {
                if reply.status >= 500 {
                    let problem = outline::read(&String::from_utf8_lossy(&reply.body)).text;
                    self.note(
                        Severity::Error,
                        "template",
                        &format!("{}{}", host.name, login.path),
                        problem,
                    );
                }
                self.page(
                    &host.name,
                    &login.path,
                    &reply,
                    vec![format!("{}{}", host.name, login.path)],
                );
            }
        }
    }

    /// Returns what the search engine lists of a site.
    fn listed(host: &Host, site: &Site) -> BTreeSet<String> {
        let mut site = site.clone();
        site.host.clone_from(&host.name);
        let mut listing = Listing::default();
        // A file that cannot be read is told of where it is visited.
        let _ = listing.add(&site, host.files());
        listing.finish().into_iter().map(|document| document.url).collect()
    }

    /// Reads a page: what it says, what it links to, what it lacks.
    fn page(&mut self, host: &str, address: &str, reply: &Reply, places: Vec<String>) {
        let kind = reply.header("content-type").unwrap_or_default();
        let media = media_type(kind);
        let is_html = media == "text/html";
        if !is_html && !is_text(&media) {
            return;
        }
        let raw = decode(&reply.body, Some(kind)).text;
        let place = places.first().cloned().unwrap_or_default();
        let base = Self::url(host, address);
        let mut texts = vec![raw.clone()];
        if is_html {
            let Outline { links, has_title, double_ids, text } = outline::read(&raw);
            if !has_title && reply.status == 200 {
                self.note(Severity::Error, "html", &place, "the page has no title".to_owned());
            }
            for id in double_ids {
                let problem = format!("two elements have the id `{id}`");
                self.note(Severity::Error, "html", &place, problem);
            }
            texts.push(text);
            self.collect(base.as_ref(), &place, links);
        } else {
            self.collect(base.as_ref(), &place, outline::mentioned(&raw));
        }
        self.audit.pages.push(Visited { places, texts });
    }

    fn collect(&mut self, base: Option<&Url>, place: &str, links: BTreeSet<Link>) {
        let Some(base) = base else { return };
        for link in links {
            if link.address.starts_with('#') {
                continue;
            }
            match base.join(&link.address) {
                Ok(mut url) if matches!(url.scheme(), "http" | "https") => {
                    url.set_fragment(None);
                    let _known = url.set_scheme("https");
                    if url != *base {
                        self.links.entry((url, link.is_sent)).or_insert_with(|| place.to_owned());
                    }
                }
                // Mail, telephone, scripts, data.
                Ok(_) => {}
                Err(error) => {
                    let problem = format!("`{}` is no address: {error}", link.address);
                    self.note(Severity::Error, "dead-link", place, problem);
                }
            }
        }
    }

    /// Follows every link once.
    fn follow(&mut self) {
        let links = std::mem::take(&mut self.links);
        self.audit.links = links.len();
        for ((url, is_sent), place) in links {
            if let Err(problem) = self.lead(&url, is_sent) {
                self.note(Severity::Error, "dead-link", &place, format!("`{url}` {problem}"));
            }
        }
    }

    /// Says where a link leads wrong.
    fn lead(&mut self, url: &Url, is_sent: bool) -> Result<(), String> {
        let mut url = url.clone();
        for hop in 0..MOST_HOPS {
            let name = url.host_str().unwrap_or_default();
            let host = self.web.names.get(name).and_then(|number| self.web.hosts.get(*number));
            let mut request = Request::get(url.clone());
            if let Some(host) = host {
                let pass = host.pages.pass(self.now);
                request.headers.extend(pass.map(|pass| ("cookie".to_owned(), pass)));
                self.reached.insert(format!("https://{}{}", host.name, url.path()));
            }
            if is_sent && hop == 0 {
                request.method = http::Method::POST;
            }
            let reply = self
                .web
                .reply(&request, self.now, &BlockList::new(&[]))
                .map_err(|_| format!("leads to `{name}`, which is no site of the suite"))?;
            match reply.status {
                301 | 302 | 303 | 307 | 308 if !is_sent => {
                    let to = reply.header("location").unwrap_or_default();
                    url = url.join(to).map_err(|error| format!("is sent on to `{to}`: {error}"))?;
                }
                404 => return Err("leads to nothing (404)".to_owned()),
                405 => return Err(format!("does not take {} (405)", request.method)),
                // What is declared to fail fails; what is asked without its parameters
                // (a service in a page of its documentation) says what it wants.
                _ => return Ok(()),
            }
        }
        Err(format!("is sent on more than {MOST_HOPS} times"))
    }

    /// Notes pages that no link and no search reaches.
    fn orphans(&mut self, host: &Host, site: &Site, listed: &BTreeSet<String>) {
        let mut by_source: BTreeMap<_, Vec<&String>> = BTreeMap::new();
        for (path, file) in host.pages.files() {
            by_source.entry(&file.source).or_default().push(path);
        }
        let known = ["/", "/index.html", "/robots.txt", "/favicon.ico"];
        let mut lost = Vec::new();
        for paths in by_source.values() {
            let reached = paths.iter().any(|path| {
                let url = format!("https://{}{}", host.name, encoded(path));
                known.contains(&path.as_str())
                    || self.reached.contains(&url)
                    || listed.contains(&url)
            });
            let first = paths.iter().min_by_key(|path| (path.len(), path.as_str()));
            lost.extend(first.filter(|_| !reached).map(|path| format!("{}{path}", host.name)));
        }
        for place in lost {
            let problem = if site.meta.unlisted.is_empty() {
                "no page links to it, and the search engine does not list it"
            } else {
                "it is kept out of the search engine, and no page links to it"
            };
            self.note(Severity::Warning, "orphan", &place, problem.to_owned());
        }
    }

    /// Notes pages that the search engine lists although the site's robots keep it out.
    fn robots(&mut self, host: &Host, listed: &BTreeSet<String>) {
        let reply = self.get(host, "/robots.txt");
        let text = String::from_utf8_lossy(&reply.body).into_owned();
        let rules = text.lines().filter_map(|line| line.strip_prefix("Disallow:"));
        let rules: Vec<&str> = rules.map(str::trim).filter(|rule| !rule.is_empty()).collect();
        for url in listed {
            let own = format!("https://{}", host.name);
            let Some(path) = url.strip_prefix(&own) else { continue };
            let kept_out = |rule: &&str| search::matches_pattern(&format!("{rule}*"), path);
            if let Some(rule) = rules.iter().find(|rule| kept_out(rule)) {
                let problem =
                    format!("the search engine lists it, but robots.txt disallows `{rule}`");
                self.note(Severity::Warning, "robots", &format!("{}{path}", host.name), problem);
            }
        }
    }

    /// Asks a site for a path, as a member where it has members.
    fn get(&self, host: &Host, address: &str) -> Reply {
        let nothing = || Reply::told(404, "en", "404", "");
        let Some(url) = Self::url(&host.name, address) else { return nothing() };
        let mut request = Request::get(url);
        let pass = host.pages.pass(self.now);
        request.headers.extend(pass.map(|pass| ("cookie".to_owned(), pass)));
        self.web.reply(&request, self.now, &BlockList::new(&[])).unwrap_or_else(|_| nothing())
    }

    fn url(host: &str, address: &str) -> Option<Url> {
        Url::parse(&format!("https://{host}{address}")).ok()
    }
}
