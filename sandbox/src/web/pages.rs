//! The pages, files, redirects and services of one site.
//!
//! Everything is listed once, when the web is opened, and never changes after: an
//! answer is a look-up in a map, so no path that a caller writes reaches the disk.
//! Files are read when they are first asked for (see `files`).

use std::collections::HashMap;

use bytes::Bytes;
use camino::Utf8PathBuf;
use jiff::Timestamp;
use percent_encoding::{AsciiSet, CONTROLS, percent_decode_str, utf8_percent_encode};
use wildgym_tasks::environment::Site;

use super::files::{File, Ledger};
use super::hermetic::HermeticError;
use super::reply::{Reply, escape, http_day};
use super::routes::{Fault, Routes, Sample};
use super::service::JsonService;
use super::{Request, range, video};

/// What is escaped in the path of a URL.
const PATH: &AsciiSet =
    &CONTROLS.add(b' ').add(b'"').add(b'#').add(b'<').add(b'>').add(b'?').add(b'`').add(b'%');

/// What a site of pages answers with.
#[derive(Debug)]
pub(super) struct Pages {
    language: &'static str,
    files: HashMap<String, File>,
    redirects: HashMap<String, String>,
    services: HashMap<String, JsonService>,
    routes: Routes,
}

impl Pages {
    /// Lists all files of a site.
    pub(super) fn open(site: &Site, ledger: &mut Ledger) -> Result<Self, HermeticError> {
        let unreadable = |file: &Utf8PathBuf, error: std::io::Error| HermeticError::Unreadable {
            host: site.host.clone(),
            file: file.clone(),
            reason: error.to_string(),
        };
        let read = |file: &Utf8PathBuf| std::fs::read(file).map_err(|it| unreadable(file, it));
        let mut files = HashMap::new();
        for (path, file) in &site.pages {
            let digest = ledger.digest(file).map_err(|error| unreadable(file, error))?;
            files.insert(decoded(path), File::new(path, file.clone(), digest));
        }
        let mut services = HashMap::new();
        for service in &site.meta.services {
            let table = read(&service.table)?;
            let opened = JsonService::new(service.clone(), &table).map_err(|reason| {
                HermeticError::Unreadable {
                    host: site.host.clone(),
                    file: service.table.clone(),
                    reason,
                }
            })?;
            services.insert(decoded(&service.path), opened);
        }
        let redirects =
            site.meta.redirects.iter().map(|(from, to)| (decoded(from), to.clone())).collect();
        let routes = Routes::open(site).map_err(|(file, reason)| HermeticError::Unreadable {
            host: site.host.clone(),
            file,
            reason,
        })?;
        Ok(Self { language: site.meta.language.name(), files, redirects, services, routes })
    }

    /// Returns the files with their paths, in no order.
    pub(super) fn files(&self) -> impl Iterator<Item = (&String, &File)> {
        self.files.iter()
    }

    /// Returns what the search engine lists of the computed pages: path and content. They
    /// are computed for the beginning of time, since an index has no clock.
    pub(super) fn computed(&self, host: &str) -> Vec<(String, File)> {
        let now = Timestamp::UNIX_EPOCH;
        let pages = self.routes.listed().into_iter().filter_map(|(path, request)| {
            let reply = self.routes.answer(&request, now, false)?;
            (reply.status == 200).then(|| (decoded(&path), computed_file(host, &path, &reply)))
        });
        pages.collect()
    }

    /// Returns requests that the routes should answer.
    pub(super) fn samples(&self, now: Timestamp) -> Vec<Sample> {
        self.routes.samples(now)
    }

    /// Returns the cookie header of a user who is logged in, where the site has users.
    pub(super) fn pass(&self, now: Timestamp) -> Option<String> {
        self.routes.pass(now)
    }

    /// Answers a sample; the error is a template's.
    pub(super) fn try_sample(&self, sample: &Sample, now: Timestamp) -> Result<Reply, Fault> {
        self.routes.try_sample(sample, now)
    }

    /// Adds the headers that the site sends with every reply.
    pub(super) fn dressed(&self, reply: Reply) -> Reply {
        self.routes.dressed(reply)
    }

    /// Answers a request, or returns `None` where nothing has that path.
    pub(super) fn answer(&self, request: &Request, now: Timestamp) -> Option<Reply> {
        let path = decoded(request.url.path());
        if let Some(reply) = self.routes.guard(request, &path, now) {
            return Some(reply);
        }
        if let Some(service) = self.services.get(&path) {
            return Some(service.answer(request));
        }
        if let Some(to) = self.redirects.get(&path) {
            return Some(Reply::moved(to));
        }
        if let Some(file) = self.files.get(&path) {
            // A form that is a file may be sent to its own path.
            let reads = matches!(request.method, http::Method::GET | http::Method::HEAD);
            let sent = if reads { None } else { self.routes.answer(request, now, true) };
            return Some(sent.unwrap_or_else(|| send(file, request)));
        }
        if let Some(reply) = self.routes.answer(request, now, false) {
            return Some(reply);
        }
        if path == "/robots.txt" {
            return Some(robots(&self.routes, request));
        }
        if let Some(other) = self.other_route(request, now) {
            return Some(Reply::moved(&encoded(&other)));
        }
        if path == video::OEMBED {
            return video::oembed(request, |page| self.files.get(page)?.load().ok());
        }
        self.other_slash(&path).map(|other| Reply::moved(&encoded(&other)))
    }

    /// Returns the path without its final slash, where a route answers that.
    fn other_route(&self, request: &Request, now: Timestamp) -> Option<String> {
        let bare = request.url.path().strip_suffix('/').filter(|bare| !bare.is_empty())?;
        let mut other = Request::get(request.url.clone());
        other.url.set_path(bare);
        let reply = self.routes.answer(&other, now, false)?;
        (reply.status < 400).then(|| decoded(bare))
    }

    /// Returns the same path with its final slash added or dropped, where that exists.
    fn other_slash(&self, path: &str) -> Option<String> {
        let other = match path.strip_suffix('/') {
            Some(bare) => bare.to_owned(),
            None => format!("{path}/"),
        };
        self.files.contains_key(&other).then_some(other)
    }

    /// Returns the page that says that there is none.
    pub(super) fn not_found(&self, request: &Request, now: Timestamp) -> Reply {
        let own = self.routes.not_found(request, now);
        own.unwrap_or_else(|| not_found(self.language, &decoded(request.url.path())))
    }
}

/// Answers with what robots may read.
fn robots(routes: &Routes, request: &Request) -> Reply {
    match request.method {
        http::Method::GET | http::Method::HEAD => routes.robots(),
        _ => Reply::method_not_allowed(&request.method, "GET, HEAD"),
    }
}

/// Returns a page that a route computed, as a file of that path.
fn computed_file(host: &str, path: &str, reply: &Reply) -> File {
    let content_type = reply.header("content-type").unwrap_or_default().to_owned();
    File::computed(path, format!("{host}:{path}").into(), content_type, reply.body.clone())
}

/// Returns the page that says that there is none at `path`.
pub(super) fn not_found(language: &str, path: &str) -> Reply {
    let (title, text) = match language {
        "zh" => ("404 页面不存在", "本站没有此页面："),
        _ => ("404 Not Found", "This site has no page at"),
    };
    let body = format!("<h1>{title}</h1>\n<p>{text} <code>{}</code></p>", escape(path));
    Reply::html(404, language, title, &body)
}

/// Answers with a file: whole, or with 304 where the caller has it already.
fn send(file: &File, request: &Request) -> Reply {
    if !matches!(request.method, http::Method::GET | http::Method::HEAD) {
        return Reply::method_not_allowed(&request.method, "GET, HEAD");
    }
    let loaded = match file.load() {
        Ok(loaded) => loaded,
        Err(problem) => return Reply::html(500, "en", "500 Internal Server Error", &problem),
    };
    let etag = file.etag();
    let known = request.headers.iter().any(|(name, value)| {
        name.eq_ignore_ascii_case("if-none-match") && value.split(',').any(|tag| tag.trim() == etag)
    });
    let whole = Reply::new(200, &loaded.content_type, loaded.body.clone());
    let reply = if known {
        Reply { status: 304, headers: Vec::new(), body: Bytes::new(), ..whole }
    } else {
        range::cut(whole, request, &etag)
    };
    let reply = reply.with("etag", &etag);
    match loaded.modified {
        Some(day) => reply.with("last-modified", &http_day(day)),
        None => reply,
    }
}

/// Returns a path with its escapes read, so that all spellings of it are one.
pub(super) fn decoded(path: &str) -> String {
    percent_decode_str(path).decode_utf8_lossy().into_owned()
}

/// Returns a path as it stands in a URL.
pub(super) fn encoded(path: &str) -> String {
    utf8_percent_encode(path, PATH).to_string()
}
