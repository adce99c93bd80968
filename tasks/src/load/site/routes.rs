//! Checks `[[route]]`: that each can be reached, finds its files, and answers its examples.

use std::collections::{BTreeMap, BTreeSet};

use url::Url;

use super::{Sites, fields, rows, serves};
use crate::environment::path::{RoutePath, split};
use crate::environment::table::Table;
use crate::environment::{Answer, Method, Route, Site};
use crate::fault::Notes;
use crate::load::document::Source;
use crate::load::text;
use crate::load::tree::Tree;

/// Longest delay of a route, in seconds.
const SLOWEST: f64 = 60.0;

/// Headers that a route cannot choose, and what does instead.
const TAKEN: [(&str, &str); 7] = [
    ("content-type", "use `content_type`"),
    ("content-disposition", "use `filename`"),
    ("location", "use `redirect`"),
    ("set-cookie", "declare a `[[cookie]]` and use `set_cookies`"),
    ("content-length", "it follows from the content"),
    ("date", "it follows from the clock"),
    ("transfer-encoding", "it follows from the content"),
];

/// One site with what was read of it.
pub(super) struct Checked<'a> {
    /// The files of the suite.
    pub(super) tree: &'a Tree,
    /// The site.
    pub(super) site: &'a Site,
    /// Where its fields are.
    pub(super) source: &'a Source,
    /// Its tables by name; those that could not be read are missing.
    pub(super) tables: BTreeMap<&'a str, Table>,
}

/// One route, and the name of its field.
pub(super) struct Place<'a> {
    /// `route[2]`.
    pub(super) at: String,
    /// The route.
    pub(super) route: &'a Route,
    /// Its path, where that is one.
    pub(super) path: Option<RoutePath>,
}

impl Place<'_> {
    /// Returns the name of a field of the route.
    pub(super) fn field(&self, name: &str) -> String {
        format!("{}.{name}", self.at)
    }

    /// Returns the names of the path's parts.
    pub(super) fn parts(&self) -> Vec<&str> {
        self.path.as_ref().map(RoutePath::names).unwrap_or_default()
    }

    /// Returns whether the route has that query parameter or part of the path.
    pub(super) fn takes(&self, name: &str) -> bool {
        self.parts().contains(&name) || self.route.query.iter().any(|field| field.name == name)
    }

    /// Returns all names of query parameters and parts.
    pub(super) fn parameters(&self) -> Vec<&str> {
        let query = self.route.query.iter().map(|field| field.name.as_str());
        self.parts().into_iter().chain(query).collect()
    }
}

/// Returns the routes of a site with their paths read, noting paths that are none.
pub(super) fn places<'a>(site: &'a Site, source: &Source, notes: &mut Notes) -> Vec<Place<'a>> {
    let mut places = Vec::new();
    for (index, route) in site.meta.routes.iter().enumerate() {
        let at = format!("route[{index}]");
        let path = match RoutePath::parse(&route.path) {
            Ok(path) => Some(path),
            Err(problem) => {
                source.fault(notes, &format!("{at}.path"), problem);
                None
            }
        };
        places.push(Place { at, route, path });
    }
    places
}

/// Checks every route of a site.
pub(super) fn check(checked: &Checked<'_>, places: &[Place<'_>], notes: &mut Notes) {
    for (index, place) in places.iter().enumerate() {
        check_claim(checked, place, &places[..index], notes);
        check_answer(checked, place, notes);
        check_headers(checked, place, notes);
        check_access(checked, place, notes);
        fields::check(checked, place, notes);
        rows::check(checked, place, notes);
        check_examples(checked, place, notes);
    }
}

/// Notes a route that something else answers before it.
fn check_claim(checked: &Checked<'_>, place: &Place<'_>, earlier: &[Place<'_>], notes: &mut Notes) {
    let (site, route) = (checked.site, place.route);
    let Some(path) = &place.path else { return };
    let field = place.field("path");
    let mut note = |problem: String| checked.source.fault(notes, &field, problem);
    let literal = path.names().is_empty();
    let login = site.meta.login.iter().flat_map(|it| [Some(&it.path), it.logout.as_ref()]);
    let reads = route.methods.contains(&Method::Get);
    if literal && reads && site.pages.contains_key(&route.path) {
        note(format!(
            "`{}` is a page already; a route with `POST` may stand beside it",
            route.path
        ));
    } else if literal && site.meta.services.iter().any(|service| service.path == route.path) {
        note(format!("`{}` is a service already", route.path));
    } else if literal && site.meta.redirects.contains_key(&route.path) {
        note(format!("`{}` is redirected already", route.path));
    } else if literal && login.flatten().any(|path| *path == route.path) {
        note(format!("`{}` belongs to the login already", route.path));
    } else if route.path == "/robots.txt" {
        note("`/robots.txt` is made from `robots`, or lies in `pages/`".to_owned());
    }
    let same = earlier.iter().find(|other| {
        other.path.as_ref().is_some_and(|other| other.shape() == path.shape())
            && other.route.methods.iter().any(|method| route.methods.contains(method))
    });
    if let Some(other) = same {
        note(format!("`{}` answers the same requests", other.at));
    }
}

fn check_answer(checked: &Checked<'_>, place: &Place<'_>, notes: &mut Notes) {
    let route = place.route;
    let mut note = |field: &str, problem: String| {
        checked.source.fault(notes, &place.field(field), problem);
    };
    match &route.answer {
        Answer::Template(file) => check_template(checked, file.as_str(), "template", &mut note),
        Answer::Download(file) => {
            if let Some(problem) = super::missing(checked, file) {
                note("download", problem);
            }
        }
        Answer::Redirect(to) => {
            if let Err(problem) = is_target(to) {
                note("redirect", problem);
            }
        }
        Answer::Json(_) | Answer::Text(_) => {}
    }
    if let Some(file) = &route.invalid {
        check_template(checked, file.as_str(), "invalid", &mut note);
        if route.query.is_empty() && route.form.is_empty() && route.list.is_none() {
            note(
                "invalid",
                "the route has no `query` and no `form` that could be wrong".to_owned(),
            );
        }
    }
    let is_redirect = matches!(route.answer, Answer::Redirect(_));
    match route.status {
        Some(301 | 302 | 303 | 307 | 308) if is_redirect => {}
        Some(status) if is_redirect => {
            note(
                "status",
                format!("expected 301, 302, 303, 307 or 308 for a redirect, found {status}"),
            );
        }
        Some(status) if (300..400).contains(&status) => {
            note("status", format!("{status} is a status of redirects; use `redirect`"));
        }
        Some(_) | None => {}
    }
    if !(0.0..=SLOWEST).contains(&route.delay) {
        note("delay", format!("expected 0 to {SLOWEST} seconds, found {}", route.delay));
    }
    if let Some(media) = &route.content_type {
        let token =
            |text: &str| text.bytes().all(|b| b.is_ascii_alphanumeric() || b"-+.".contains(&b));
        let kind = media.split(';').next().unwrap_or_default().trim();
        let fits = kind
            .split_once('/')
            .is_some_and(|(a, b)| !a.is_empty() && !b.is_empty() && token(a) && token(b));
        if !fits || !media.is_ascii() {
            note(
                "content_type",
                format!("expected a media type, such as `text/csv`, found `{media}`"),
            );
        }
    }
}

/// Notes a template that is not there.
pub(super) fn check_template(
    checked: &Checked<'_>,
    name: &str,
    field: &str,
    note: &mut impl FnMut(&str, String),
) {
    if !checked.site.templates.contains_key(name) {
        let known: Vec<&str> = checked.site.templates.keys().map(String::as_str).collect();
        let problem = text::unknown("template below `templates/`", name, &known);
        note(field, format!("`{name}`: {problem}"));
    }
}

/// Says what is wrong with the target of a redirect, as far as it is fixed text: what a
/// visitor typed must never choose the host.
fn is_target(to: &str) -> Result<(), String> {
    let fixed = to.split(['{', '}']).next().unwrap_or_default();
    let away = fixed.strip_prefix("https://").or_else(|| fixed.strip_prefix("http://"));
    let names_host = away.is_some_and(|rest| {
        rest.split_once('/').is_some_and(|(host, _)| !host.is_empty())
            || (fixed == to && !rest.is_empty())
    });
    if names_host || (fixed.starts_with('/') && !fixed.starts_with("//")) {
        return Ok(());
    }
    Err("expected a path that starts with `/`, or a URL with its host written out, such as `https://www.example.org/{{ path.id }}`".to_owned())
}

fn check_headers(checked: &Checked<'_>, place: &Place<'_>, notes: &mut Notes) {
    for name in place.route.headers.keys() {
        if let Some(problem) = header_problem(name) {
            checked.source.fault(notes, &place.field(&format!("headers.{name}")), problem);
        }
    }
}

/// Returns what is wrong with the name of a header.
pub(super) fn header_problem(name: &str) -> Option<String> {
    let token = |b: u8| b.is_ascii_lowercase() || b.is_ascii_digit() || b == b'-';
    if name.is_empty() || !name.bytes().all(token) {
        return Some(
            "expected the name of a header in small letters, such as `retry-after`".to_owned(),
        );
    }
    let found = TAKEN.iter().find(|(taken, _)| *taken == name);
    found.map(|(_, instead)| format!("`{name}` cannot be set here; {instead}"))
}

/// Checks logins, tokens and cookies.
fn check_access(checked: &Checked<'_>, place: &Place<'_>, notes: &mut Notes) {
    let (meta, route) = (&checked.site.meta, place.route);
    let mut note = |field: &str, problem: String| {
        checked.source.fault(notes, &place.field(field), problem);
    };
    if route.login && meta.login.is_none() {
        note("login", "the site has no `[login]`".to_owned());
    }
    let reads_only = route.methods == [Method::Get];
    if route.csrf && reads_only {
        note("csrf", "only a form that is sent has a token; add `methods = [\"POST\"]`".to_owned());
    }
    if !route.form.is_empty() && reads_only {
        note(
            "form",
            "a form is not sent by `GET`; use `query`, or `methods = [\"POST\"]`".to_owned(),
        );
    }
    let known: Vec<&str> = meta.cookies.iter().map(|cookie| cookie.name.as_str()).collect();
    let set = route.set_cookies.keys().map(|name| (format!("set_cookies.{name}"), name));
    let cleared = route.clear_cookies.iter().enumerate();
    let cleared = cleared.map(|(at, name)| (format!("clear_cookies[{at}]"), name));
    for (field, name) in set.chain(cleared) {
        if !known.contains(&name.as_str()) {
            note(&field, format!("`{name}`: {}", text::unknown("`[[cookie]]`", name, &known)));
        }
    }
}

/// Checks that the examples fit, and that there are some where they are needed.
fn check_examples(checked: &Checked<'_>, place: &Place<'_>, notes: &mut Notes) {
    let route = place.route;
    let Some(path) = &place.path else { return };
    let base = Url::parse(&format!("https://{}/", checked.site.host));
    for (at, example) in route.examples.iter().enumerate() {
        let url = base.as_ref().ok().and_then(|base| base.join(example).ok());
        let fits =
            url.filter(|_| example.starts_with('/') && !example.starts_with("//")).is_some_and(
                |url| split(url.path()).is_some_and(|parts| path.matches(&parts).is_some()),
            );
        if !fits {
            let problem = format!("`{example}` is no address of `{}`", route.path);
            checked.source.fault(notes, &place.field(&format!("examples[{at}]")), problem);
        }
    }
    let by_row =
        route.row.as_ref().map(|row| row.parameter.as_ref().unwrap_or(&row.column).as_str());
    let unfilled: Vec<&str> =
        path.names().into_iter().filter(|name| Some(*name) != by_row).collect();
    if !unfilled.is_empty() && route.examples.is_empty() {
        let problem = format!(
            "expected at least one address, such as `{}`, since {} may be anything",
            route.path.replace(['{', '}', '*'], ""),
            text::ticked(&unfilled)
        );
        checked.source.fault(notes, &place.field("examples"), problem);
    }
    if route.listed && (!route.methods.contains(&Method::Get) || route.login) {
        let problem = "only what everybody can read by `GET` is listed";
        checked.source.fault(notes, &place.field("listed"), problem);
    }
}

/// Notes redirects of routes that lead nowhere, as far as they are fixed text.
pub(super) fn check_targets(site: &Site, sites: &Sites, source: &Source, notes: &mut Notes) {
    for (index, route) in site.meta.routes.iter().enumerate() {
        let Answer::Redirect(to) = &route.answer else { continue };
        if to.contains(['{', '}']) || is_target(to).is_err() {
            continue;
        }
        let field = format!("route[{index}].redirect");
        let base = Url::parse(&format!("https://{}/", site.host));
        let Ok(url) = base.and_then(|base| base.join(to)) else {
            source.fault(notes, &field, format!("`{to}` is no URL"));
            continue;
        };
        let host = url.host_str().unwrap_or_default();
        let Some(owner) = sites.hosts.get(host) else {
            let problem = format!("`{to}` leads to `{host}`, which is no site of the suite");
            source.fault(notes, &field, problem);
            continue;
        };
        let path = super::decoded(url.path());
        let served = sites
            .by_host
            .get(owner)
            .is_none_or(|other| serves(other, &path) || other.meta.redirects.contains_key(&path));
        if !served {
            let problem = format!("`{to}` leads to `{path}`, which `{owner}` does not serve");
            source.fault(notes, &field, problem);
        }
    }
}

/// Returns the names that some route of the site uses: of fields of a kind.
pub(super) fn all_names<'a>(
    site: &'a Site,
    fields: impl Fn(&'a Route) -> &'a [crate::environment::Field],
) -> BTreeSet<&'a str> {
    site.meta.routes.iter().flat_map(fields).map(|one| one.name.as_str()).collect()
}
