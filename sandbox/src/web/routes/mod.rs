//! What a site computes for each request: `[[route]]`, `[login]`, cookies, robots.
//!
//! No state is kept. An answer is a function of the site, the request and the logical
//! time, so all attempts share one site and none sees another. Whatever a request brings
//! is checked before it is used: sizes, counts, text, and that what should be signed is.

mod answer;
mod body;
mod cookies;
mod fields;
mod login;
mod render;
mod rows;
mod samples;
mod secret;
mod visit;

use std::collections::BTreeMap;

use bytes::Bytes;
use camino::Utf8Path;
use minijinja::Environment;
use serde_json::Value;
use wildgym_tasks::environment::path::{RoutePath, split};
use wildgym_tasks::environment::table::Table;
use wildgym_tasks::environment::templates::{INLINE, language, problem};
use wildgym_tasks::environment::{Answer, Method, Route, Site, SiteMeta};

use super::reply::Reply;
use super::{Request, Timestamp, search};
use answer::Refusal;
use rows::Shown;
use secret::{Content, Secret};
use visit::Visit;

pub(super) use render::Fault;
pub(super) use samples::Sample;

/// The computed part of a site.
#[derive(Debug)]
pub(super) struct Routes {
    host: String,
    meta: SiteMeta,
    /// The routes, the most exact first.
    opened: Vec<Opened>,
    language: Environment<'static>,
    tables: BTreeMap<String, Shown>,
    secret: Secret,
}

/// A route with its path read.
#[derive(Debug)]
struct Opened {
    /// Where it stands in `site.toml`.
    index: usize,
    path: RoutePath,
    route: Route,
    /// The file of a download.
    file: Bytes,
}

/// What a route was asked for.
struct Asked<'r> {
    opened: &'r Opened,
    parts: BTreeMap<String, String>,
}

impl Routes {
    /// Reads templates, tables and downloads of a site. The loader has checked them; what
    /// is wrong all the same is told with its file.
    pub(super) fn open(site: &Site) -> Result<Self, (camino::Utf8PathBuf, String)> {
        let mut content = Content::of(&site.host);
        let mut read = |file: &Utf8Path| {
            let bytes = std::fs::read(file).map_err(|error| (file.to_owned(), error.to_string()));
            bytes.inspect(|bytes| content.add(bytes))
        };
        let mut language = language(&site.host);
        for (name, file) in &site.templates {
            let wrong = |problem: String| (file.clone(), problem);
            let source =
                String::from_utf8(read(file)?).map_err(|error| wrong(error.to_string()))?;
            let source = source.trim_start_matches('\u{feff}').replace("\r\n", "\n");
            let added = language.add_template_owned(name.clone(), source);
            added.map_err(|error| wrong(problem(&error)))?;
        }
        let mut tables = BTreeMap::new();
        for (name, file) in &site.meta.tables {
            let table = Table::read(file.as_str(), &read(file)?);
            let table = table.map_err(|error| (file.clone(), error.to_string()))?;
            tables.insert(name.clone(), Shown::new(table));
        }
        for file in site.pages.values() {
            read(file)?;
        }
        let mut routes = Vec::new();
        for (index, route) in site.meta.routes.iter().enumerate() {
            let wrong = |problem: String| (format!("{INLINE}route[{index}]").into(), problem);
            let file = match &route.answer {
                Answer::Download(file) => read(file)?.into(),
                Answer::Template(_) | Answer::Redirect(_) | Answer::Json(_) | Answer::Text(_) => {
                    Bytes::new()
                }
            };
            for (field, source) in route.inline() {
                let (name, source) = (inline(index, &field), source_of(&field, source));
                let added = language.add_template_owned(name, source);
                added.map_err(|error| wrong(problem(&error)))?;
            }
            let path = RoutePath::parse(&route.path).map_err(wrong)?;
            routes.push(Opened { index, path, route: route.clone(), file });
        }
        for user in site.meta.login.iter().flat_map(|login| &login.users) {
            content.add(user.name.as_bytes());
            content.add(user.password.as_bytes());
        }
        routes.sort_by_cached_key(|opened| opened.path.rank());
        let secret = content.finish();
        let (host, meta) = (site.host.clone(), site.meta.clone());
        Ok(Self { host, meta, opened: routes, language, tables, secret })
    }

    /// Answers what belongs to the login, and refuses what needs one, or what no server
    /// would read. Comes before everything else that the site serves.
    pub(super) fn guard(&self, request: &Request, path: &str, now: Timestamp) -> Option<Reply> {
        let visit = match Visit::of(self, request, now) {
            Ok(visit) => visit,
            Err(problem) => return Some(self.failed(None, 431, &problem, false)),
        };
        let login = self.meta.login.as_ref()?;
        if path == login.path {
            return Some(self.told(&visit, login::page(self, login, &visit), false));
        }
        if login.logout.as_deref() == Some(path) {
            return Some(login::logout(login, request));
        }
        let is_protected = login.protected.iter().any(|one| search::matches_pattern(one, path));
        if !is_protected || visit.user.is_some() {
            return None;
        }
        let is_service = self.meta.services.iter().any(|service| service.path == path);
        let refused = login::refuse(login, &visit, is_service || self.answers_json(request));
        Some(self.told(&visit, Err(refused), is_service || self.answers_json(request)))
    }

    /// Answers a request by the most exact route that fits; `None` where none does.
    /// `is_page` says that a file has that path, so that `GET` is answered already.
    pub(super) fn answer(&self, request: &Request, now: Timestamp, is_page: bool) -> Option<Reply> {
        let asked = match self.asked(request) {
            Some(asked) if asked.is_empty() => return None,
            Some(asked) => asked,
            None if self.opened.is_empty() => return None,
            None => return Some(self.failed(None, 400, "The address is not UTF-8.", false)),
        };
        let wanted =
            if request.method == http::Method::HEAD { "GET" } else { request.method.as_str() };
        let fits = |asked: &&Asked<'_>| {
            asked.opened.route.methods.iter().any(|method| method.name() == wanted)
        };
        let Some(asked) = asked.iter().find(fits) else {
            let methods = asked.iter().flat_map(|asked| &asked.opened.route.methods).copied();
            let first = asked.first().map(|asked| &asked.opened.route);
            return Some(refuse_method(
                request,
                methods.chain(is_page.then_some(Method::Get)),
                first,
            ));
        };
        let visit = match Visit::of(self, request, now) {
            Ok(visit) => visit,
            Err(problem) => return Some(self.failed(None, 431, &problem, false)),
        };
        let json = matches!(asked.opened.route.answer, Answer::Json(_));
        let reply = self.told(&visit, answer::answer(self, asked, &visit), json);
        Some(reply.after(answer::delay(&asked.opened.route)))
    }

    /// Returns the page that says that there is nothing at this path.
    pub(super) fn not_found(&self, request: &Request, now: Timestamp) -> Option<Reply> {
        self.meta.error_page.as_ref()?;
        let visit = Visit::of(self, request, now).ok()?;
        Some(self.failed(Some(&visit), 404, &self.no_page(), false))
    }

    /// Returns `/robots.txt`.
    pub(super) fn robots(&self) -> Reply {
        let mut text = "User-agent: *\n".to_owned();
        for rule in &self.meta.robots {
            text.push_str("Disallow: ");
            text.push_str(rule);
            text.push('\n');
        }
        if self.meta.robots.is_empty() {
            text.push_str("Disallow:\n");
        }
        Reply::new(200, "text/plain; charset=utf-8", text)
    }

    /// Adds the headers that the site sends with every reply, where the reply has not
    /// its own.
    pub(super) fn dressed(&self, mut reply: Reply) -> Reply {
        for (name, value) in &self.meta.headers {
            if reply.header(name).is_none() {
                reply = reply.with(name, value);
            }
        }
        reply
    }

    /// Returns the routes that fit a request's path; `None` where that is not UTF-8.
    fn asked(&self, request: &Request) -> Option<Vec<Asked<'_>>> {
        let segments = split(request.url.path())?;
        let fits = |opened| Some(Asked { opened, parts: Opened::matches(opened, &segments)? });
        Some(self.opened.iter().filter_map(fits).collect())
    }

    fn answers_json(&self, request: &Request) -> bool {
        let asked = self.asked(request).unwrap_or_default();
        asked.first().is_some_and(|asked| matches!(asked.opened.route.answer, Answer::Json(_)))
    }

    /// Makes a reply of an answer or of why there is none.
    fn told(&self, visit: &Visit<'_>, answer: Result<Reply, Refusal>, json: bool) -> Reply {
        match answer {
            Ok(reply) => reply,
            Err(Refusal::Reply(reply)) => *reply,
            Err(Refusal::Told(status, message)) => self.failed(Some(visit), status, &message, json),
            Err(Refusal::Fault(fault)) => {
                let message = format!("This page is broken: {fault}.");
                self.failed(None, 500, &message, json)
            }
        }
    }

    /// Returns a page, or a JSON object, that says what is wrong.
    fn failed(&self, visit: Option<&Visit<'_>>, status: u16, message: &str, json: bool) -> Reply {
        if json {
            return Reply::json(status, &serde_json::json!({ "error": message }));
        }
        let title = title(status);
        let rendered = self.meta.error_page.as_ref().zip(visit).and_then(|(file, visit)| {
            visit::error_page(self, file.as_str(), visit, (status, &title, message)).ok()
        });
        match rendered {
            Some(page) => Reply::new(status, "text/html; charset=utf-8", page),
            None => Reply::told(status, self.meta.language.name(), &title, message),
        }
    }

    /// Words that there is no such page.
    fn no_page(&self) -> String {
        match self.meta.language.name() {
            "zh" => "本站没有此页面。".to_owned(),
            _ => "This site has no such page.".to_owned(),
        }
    }
}

impl Opened {
    fn matches(&self, segments: &[String]) -> Option<BTreeMap<String, String>> {
        self.path.matches(segments)
    }
}

/// Returns status and phrase, such as `403 Forbidden`.
fn title(status: u16) -> String {
    let phrase = http::StatusCode::from_u16(status).ok().and_then(|code| code.canonical_reason());
    phrase.map_or_else(|| status.to_string(), |phrase| format!("{status} {phrase}"))
}

/// Answers a method that no route of the path takes: `OPTIONS` with the list, others
/// with 405.
fn refuse_method(
    request: &Request,
    methods: impl Iterator<Item = Method>,
    route: Option<&Route>,
) -> Reply {
    let mut names: Vec<&str> = methods.map(Method::name).collect();
    names.sort_unstable();
    names.dedup();
    if names.contains(&"GET") {
        names.push("HEAD");
    }
    names.push("OPTIONS");
    let allow = names.join(", ");
    if request.method != http::Method::OPTIONS {
        return Reply::method_not_allowed(&request.method, &allow);
    }
    let reply = Reply::new(204, "text/plain", "").with("allow", &allow);
    // A script of another site asks before it sends; the route's headers say whether it may.
    let headers = route.iter().flat_map(|route| &route.headers);
    headers
        .filter(|(name, value)| name.starts_with("access-control-") && !value.contains('{'))
        .fold(reply, |reply, (name, value)| reply.with(name, value))
}

/// Returns the name of a template that stands in a route.
fn inline(index: usize, field: &str) -> String {
    format!("{INLINE}route[{index}].{field}")
}

/// Returns the source of a template in a route: a text of `json` that is one expression
/// is written as JSON, to be read as a value again.
fn source_of(field: &str, source: &str) -> String {
    match whole_expression(source).filter(|_| field.starts_with("json")) {
        Some(expression) => format!("{{{{ ({expression})|tojson }}}}"),
        None => source.to_owned(),
    }
}

/// Returns the expression where the text is just one `{{ … }}`.
fn whole_expression(text: &str) -> Option<&str> {
    let inner = text.trim().strip_prefix("{{")?.strip_suffix("}}")?;
    let inner = inner.trim_matches('-').trim();
    (!inner.contains("{{") && !inner.contains("}}") && !inner.contains("{%")).then_some(inner)
}

/// Fills in a JSON answer.
fn filled(
    value: &Value,
    field: &str,
    render: &impl Fn(&str) -> Result<String, Fault>,
) -> Result<Value, Fault> {
    Ok(match value {
        Value::String(text) => {
            let rendered = render(field)?;
            match whole_expression(text) {
                Some(_) => serde_json::from_str(&rendered).map_err(|error| Fault {
                    template: field.to_owned(),
                    line: None,
                    problem: error.to_string(),
                })?,
                None => Value::String(rendered),
            }
        }
        Value::Array(items) => {
            let items = items.iter().enumerate();
            let items = items.map(|(at, item)| filled(item, &format!("{field}[{at}]"), render));
            Value::Array(items.collect::<Result<_, _>>()?)
        }
        Value::Object(fields) => {
            let fields = fields.iter().map(|(name, item)| {
                Ok((name.clone(), filled(item, &format!("{field}.{name}"), render)?))
            });
            Value::Object(fields.collect::<Result<_, Fault>>()?)
        }
        Value::Null | Value::Bool(_) | Value::Number(_) => value.clone(),
    })
}
