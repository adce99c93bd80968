//! Everything that the agent is given, as text.

use camino::{Utf8Path, Utf8PathBuf};

use super::cells::cells;
use crate::environment::{Answer as RouteAnswer, Blocked, Site, WebKind};
use crate::suite::Suite;
use crate::task::Task;

/// A text that the agent can read, and where.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Material {
    /// Names of the place: `instruction:<variant>`, `file:<path>`, `web:<host>/<path>`.
    /// A page has one for each path at which it is served.
    pub places: Vec<String>,
    /// The texts that stand there; each is searched by itself.
    pub texts: Vec<String>,
    /// Whether there is a file whose content could not be read as text.
    pub unread: bool,
}

/// Returns all that a task gives to the agent in any variant: requests, names and
/// texts of attachments, and the web except blocked hosts.
///
/// `extract` returns the text of a file that is a document (a workbook, a page of
/// HTML), or nothing. What is UTF-8 is read as it stands, too, so nothing hides in
/// markup; of a table or of JSON the single values are texts of their own.
pub fn materials(
    suite: &Suite,
    task: &Task,
    extract: impl Fn(&Utf8Path) -> Option<String>,
) -> Vec<Material> {
    let mut all = Vec::new();
    for variant in task.variants() {
        if let Ok(given) = task.given(&variant) {
            let places = vec![format!("instruction:{variant}")];
            all.push(Material { places, texts: vec![given.instruction], unread: false });
        }
    }
    let added = task.overlays.values().flat_map(|overlay| &overlay.files);
    for (path, file) in task.files.iter().chain(added) {
        read(vec![format!("file:{path}")], file, &extract, &mut all);
    }
    if task.meta.environment.web == Some(WebKind::Hermetic) {
        let blocked: Vec<Blocked> =
            task.meta.blocked_hosts.iter().filter_map(|it| Blocked::parse(it).ok()).collect();
        for site in suite.sites.values() {
            of_site(&suite.folder, &reachable(site, &blocked), &extract, &mut all);
        }
    }
    all
}

/// Returns a site with what the block list leaves of it. Blocked under one of its names it
/// is blocked under all of them.
fn reachable(site: &Site, blocked: &[Blocked]) -> Site {
    let names: Vec<&String> = std::iter::once(&site.host).chain(&site.meta.aliases).collect();
    let open = |path: &str| {
        let urls = names.iter().filter_map(|name| format!("https://{name}{path}").parse().ok());
        let urls: Vec<url::Url> = urls.collect();
        !blocked.iter().any(|entry| urls.iter().any(|url| entry.covers(url)))
    };
    let mut site = site.clone();
    site.pages.retain(|path, _| open(path));
    site.articles.retain(|article| open(&article.path()));
    site.meta.services.retain(|service| open(&service.path));
    site
}

fn of_site(
    folder: &Utf8Path,
    site: &Site,
    extract: &impl Fn(&Utf8Path) -> Option<String>,
    all: &mut Vec<Material>,
) {
    let place = |path: &str| format!("web:{}{path}", site.host);
    let mut served: std::collections::BTreeMap<&Utf8PathBuf, Vec<String>> =
        std::collections::BTreeMap::new();
    for (path, file) in &site.pages {
        served.entry(file).or_default().push(place(path));
    }
    for (file, places) in served {
        read(places, file, extract, all);
    }
    for article in &site.articles {
        let text = [article.meta.title.as_str(), article.body.as_str()].join("\n");
        let places = vec![place(&article.path())];
        all.push(Material { places, texts: vec![text], unread: false });
        for revision in &article.revisions {
            let places = vec![place(&format!("{}?at={}", article.path(), revision.meta.date))];
            all.push(Material { places, texts: vec![revision.body.clone()], unread: false });
        }
    }
    of_routes(site, extract, all);
    for service in &site.meta.services {
        let file = folder.join("sites").join(&site.host).join(&service.table);
        read(vec![place(&service.path)], &file, extract, all);
    }
}

/// Adds what routes are made of: the files and tables that each shows, and the texts that
/// stand in `site.toml`. What a template computes of them is seen by `wildgym web check`.
fn of_routes(site: &Site, extract: &impl Fn(&Utf8Path) -> Option<String>, all: &mut Vec<Material>) {
    let place = |path: &str| vec![format!("web:{}{path}", site.host)];
    let mut shown: std::collections::BTreeSet<&str> = std::collections::BTreeSet::new();
    for route in &site.meta.routes {
        let tables = route.row.iter().map(|row| &row.table);
        let tables = tables.chain(route.list.iter().map(|list| &list.table));
        for name in tables {
            shown.insert(name);
            if let Some(file) = site.meta.tables.get(name) {
                read(place(&route.path), file, extract, all);
            }
        }
        match &route.answer {
            RouteAnswer::Template(name) => {
                if let Some(file) = site.templates.get(name.as_str()) {
                    read(place(&route.path), file, extract, all);
                }
            }
            RouteAnswer::Download(file) => read(place(&route.path), file, extract, all),
            RouteAnswer::Redirect(_) | RouteAnswer::Json(_) | RouteAnswer::Text(_) => {}
        }
        let texts: Vec<String> =
            route.inline().into_iter().map(|(_, text)| text.to_owned()).collect();
        if !texts.is_empty() {
            all.push(Material { places: place(&route.path), texts, unread: false });
        }
    }
    // A table that only templates name may be shown anywhere on the site.
    for (_, file) in site.meta.tables.iter().filter(|(name, _)| !shown.contains(name.as_str())) {
        read(place("/*"), file, extract, all);
    }
    for user in site.meta.login.iter().flat_map(|login| &login.users) {
        let texts = user.data.values().map(ToString::to_string).collect();
        all.push(Material { places: place("/*"), texts, unread: false });
    }
}

/// Adds a file: its name and its text, as far as it has one.
fn read(
    places: Vec<String>,
    file: &Utf8Path,
    extract: &impl Fn(&Utf8Path) -> Option<String>,
    all: &mut Vec<Material>,
) {
    let raw = std::fs::read(file).ok().and_then(|bytes| String::from_utf8(bytes).ok());
    let contents: Vec<String> = [raw, extract(file)].into_iter().flatten().collect();
    let unread = contents.is_empty();
    // The bar keeps neighbours apart: no form of an answer goes on past it.
    let values = contents.iter().map(|text| cells(text).join(" | "));
    let values: Vec<String> = values.filter(|values| !values.is_empty()).collect();
    let mut texts = vec![places.join("\n")];
    texts.extend(contents);
    texts.extend(values);
    all.push(Material { places, texts, unread });
}
