//! Reads `sites/<host>/`.

mod access;
mod fields;
mod routes;
mod rows;
mod templates;

use std::collections::{BTreeMap, BTreeSet};

use camino::{Utf8Path, Utf8PathBuf};
use serde_json::Value;
use url::Url;

use super::document::{self, Source};
use super::text;
use super::tree::Tree;
use crate::check::Pattern;
use crate::environment::path::{RoutePath, percent_decoded, split};
use crate::environment::{
    Answer, Article, ArticleMeta, Method, Revision, RevisionMeta, Service, Site, SiteKind, SiteMeta,
};
use crate::fault::Notes;

/// The sites of a suite.
#[derive(Debug, Default)]
pub(crate) struct Sites {
    /// The sites that could be read.
    pub(crate) by_host: BTreeMap<String, Site>,
    /// Every host and alias, also of sites that have faults.
    pub(crate) hosts: BTreeMap<String, String>,
}

/// Reads all sites.
pub(crate) fn read_all(tree: &Tree, notes: &mut Notes) -> Sites {
    let root = Utf8Path::new("sites");
    let mut sites = Sites::default();
    let mut read = Vec::new();
    for name in tree.names_in(root) {
        if name != "README.md" && !tree.has_folder(&root.join(name)) {
            notes.of_file(&root.join(name), "expected a folder per host");
        }
    }
    for host in tree.folders_in(root) {
        let folder = root.join(host);
        if !text::is_host(host) {
            notes.of_file(
                &folder,
                "expected a host name in small letters, such as `www.example.org`",
            );
        }
        sites.hosts.insert(host.to_owned(), host.to_owned());
        if let Some(site) = read_one(tree, &folder, host, notes) {
            read.push(site);
        }
    }
    for (site, source) in &read {
        for (index, alias) in site.meta.aliases.iter().enumerate() {
            let field = format!("aliases[{index}]");
            if let Some(other) = sites.hosts.get(alias) {
                source.fault(notes, &field, format!("`{alias}` already names the site `{other}`"));
            } else if !source.is_faulty(&field) {
                sites.hosts.insert(alias.clone(), site.host.clone());
            }
        }
    }
    sites.by_host = read.iter().map(|(site, _)| (site.host.clone(), site.clone())).collect();
    for (site, source) in &read {
        check_redirects(site, &sites, source, notes);
        routes::check_targets(site, &sites, source, notes);
    }
    check_languages(tree, &sites, notes);
    sites
}

fn read_one(
    tree: &Tree,
    folder: &Utf8Path,
    host: &str,
    notes: &mut Notes,
) -> Option<(Site, Source)> {
    let pages = read_pages(tree, &folder.join("pages"), notes);
    let articles = read_articles(tree, &folder.join("articles"), notes);
    let file = folder.join("site.toml");
    let text = tree.text(&file, notes)?;
    let (meta, source) = document::read::<SiteMeta>(&file, &text, 1, notes)?;
    let templates = tree.files_below(&folder.join("templates")).into_iter();
    let templates = templates.map(|(name, file)| (name.into_string(), file)).collect();
    let site = Site { host: host.to_owned(), meta, pages, articles, templates };
    check_folder(tree, folder, &site, notes);
    check_articles(&site, &source, notes);
    check_unlisted(&site, &source, notes);
    for (index, service) in site.meta.services.iter().enumerate() {
        check_service(tree, folder, &site, (index, service), &source, notes);
    }
    let tables = rows::read_tables(tree, folder, &site, &source, notes);
    let checked = routes::Checked { tree, site: &site, source: &source, tables };
    let places = routes::places(&site, &source, notes);
    access::check(&checked, notes);
    routes::check(&checked, &places, notes);
    templates::check(&checked, &places, notes);
    drop((checked, places));
    let mut site = site;
    let absolute = |file: &mut Utf8PathBuf| *file = tree.absolute(&folder.join(&*file));
    site.meta.services.iter_mut().for_each(|service| absolute(&mut service.table));
    site.meta.tables.values_mut().for_each(absolute);
    for route in &mut site.meta.routes {
        if let Answer::Download(file) = &mut route.answer {
            absolute(file);
        }
    }
    Some((site, source))
}

/// Says that a file of the site's folder is missing, where it is.
fn missing(checked: &routes::Checked<'_>, file: &Utf8Path) -> Option<String> {
    let path = Utf8Path::new("sites").join(&checked.site.host).join(file);
    let there = checked.tree.has_file(&path);
    (!there).then(|| format!("there is no file `{file}` in the site's folder"))
}

/// Lists served files by URL path.
fn read_pages(tree: &Tree, folder: &Utf8Path, notes: &mut Notes) -> BTreeMap<String, Utf8PathBuf> {
    let mut pages = BTreeMap::new();
    for (below, file) in tree.below(folder) {
        for path in served_at(below.as_str()) {
            if let Some(other) = pages.insert(path.clone(), tree.absolute(file)) {
                let other = other.file_name().unwrap_or_default().to_owned();
                notes.of_file(file, format!("`{path}` is already served from `{other}`"));
            }
        }
    }
    pages
}

/// Returns the URL paths at which a file below `pages/` is served.
fn served_at(below: &str) -> Vec<String> {
    if below == "index.html" {
        return vec!["/".to_owned()];
    }
    if let Some(folder) = below.strip_suffix("/index.html") {
        return vec![format!("/{folder}/"), format!("/{folder}")];
    }
    let mut paths = vec![format!("/{below}")];
    paths.extend(below.strip_suffix(".html").map(|stem| format!("/{stem}")));
    paths
}

/// Ends the name of a folder with what an article said before.
const HISTORY: &str = ".history";

fn read_articles(tree: &Tree, folder: &Utf8Path, notes: &mut Notes) -> Vec<Article> {
    let mut articles = Vec::new();
    let mut titles: BTreeMap<String, Utf8PathBuf> = BTreeMap::new();
    let mut histories: BTreeMap<Utf8PathBuf, Vec<(Revision, Source)>> = BTreeMap::new();
    for (below, file) in tree.below(folder) {
        if below.extension() != Some("md") {
            notes.of_file(file, "expected an article, a file named `*.md`");
            continue;
        }
        let stem = below.parent().and_then(|parent| parent.as_str().strip_suffix(HISTORY));
        if let Some(stem) = stem {
            let revision = read_headed::<RevisionMeta>(tree, file, notes);
            if let Some((meta, source, body)) = revision {
                let revision = Revision { meta, body, file: tree.absolute(file) };
                let article = Utf8PathBuf::from(format!("{stem}.md"));
                histories.entry(article).or_default().push((revision, source));
            }
            continue;
        }
        let Some((meta, source, body)) = read_headed::<ArticleMeta>(tree, file, notes) else {
            continue;
        };
        let redirects = meta.redirects.iter().enumerate();
        let names = redirects.map(|(index, title)| (format!("redirects[{index}]"), title));
        for (field, title) in std::iter::once(("title".to_owned(), &meta.title)).chain(names) {
            if let Some(other) = titles.insert(title.clone(), file.to_owned()) {
                source.fault(notes, &field, format!("`{title}` already leads to `{other}`"));
            }
        }
        let file = tree.absolute(file);
        articles.push((below.to_owned(), Article { meta, body, file, revisions: Vec::new() }));
    }
    for (below, article) in &mut articles {
        let history = histories.remove(below).unwrap_or_default();
        article.revisions = ordered(history, article.meta.date, notes);
    }
    for (below, revision) in histories.values().flatten().map(|(it, source)| (&source.file, it)) {
        let place = below.parent().unwrap_or(below).as_str().trim_end_matches(HISTORY);
        // An article that could not be read has been noted already.
        if !tree.has_file(Utf8Path::new(&format!("{place}.md"))) {
            let day = revision.meta.date;
            notes.of_file(below, format!("no article `{place}.md` had this revision of {day}"));
        }
    }
    articles.into_iter().map(|(_, article)| article).collect()
}

/// Reads a Markdown file with its header.
fn read_headed<T: schemars::JsonSchema + serde::de::DeserializeOwned>(
    tree: &Tree,
    file: &Utf8Path,
    notes: &mut Notes,
) -> Option<(T, Source, String)> {
    let text = tree.text(file, notes)?;
    let parts = text.strip_prefix("+++\n").and_then(|rest| {
        rest.split_once("\n+++\n").or_else(|| rest.strip_suffix("\n+++").map(|header| (header, "")))
    });
    let Some((header, body)) = parts else {
        notes.at_line(file, Some(1), "expected a TOML header between two lines of `+++`");
        return None;
    };
    let (meta, source) = document::read::<T>(file, header, 2, notes)?;
    if body.trim().is_empty() {
        notes.of_file(file, "the article has no text");
    }
    Some((meta, source, body.trim().to_owned()))
}

/// Brings revisions into order; notes those of one day, and those after the article's.
fn ordered(
    mut history: Vec<(Revision, Source)>,
    last: jiff::civil::Date,
    notes: &mut Notes,
) -> Vec<Revision> {
    history.sort_by(|(a, _), (b, _)| (a.meta.date, &a.file).cmp(&(b.meta.date, &b.file)));
    let mut before: Option<jiff::civil::Date> = None;
    for (revision, source) in &history {
        let day = revision.meta.date;
        if day >= last {
            let problem = format!("`{day}` is not before `{last}`, the day of the article itself");
            source.fault(notes, "date", problem);
        } else if before == Some(day) {
            source.fault(notes, "date", format!("there is another revision of `{day}`"));
        }
        before = Some(day);
    }
    history.into_iter().map(|(revision, _)| revision).collect()
}

/// Notes titles in other languages that lead nowhere. (The article's file is named, not
/// the line: its source is no longer known when all sites are.)
fn check_languages(tree: &Tree, sites: &Sites, notes: &mut Notes) {
    let all = || sites.by_host.values().filter(|site| site.meta.kind == SiteKind::Encyclopedia);
    for site in all() {
        for article in &site.articles {
            for (language, title) in &article.meta.languages {
                let leads = |other: &Site| {
                    other.meta.language == *language
                        && other
                            .articles
                            .iter()
                            .any(|it| it.meta.title == *title || it.meta.redirects.contains(title))
                };
                let problem = if *language == site.meta.language {
                    format!("languages.{}: that is the language of the article", language.name())
                } else if !all().any(leads) {
                    let name = language.name();
                    format!("languages.{name}: no encyclopedia in `{name}` has `{title}`")
                } else {
                    continue;
                };
                notes.of_file(tree.relative(&article.file), problem);
            }
        }
    }
}

/// Notes files that nothing would ever serve.
fn check_folder(tree: &Tree, folder: &Utf8Path, site: &Site, notes: &mut Notes) {
    let services = site.meta.services.iter().map(|one| one.table.as_path());
    let tables = site.meta.tables.values().map(Utf8PathBuf::as_path);
    let downloads = site.meta.routes.iter().filter_map(|route| match &route.answer {
        Answer::Download(file) => Some(file.as_path()),
        Answer::Template(_) | Answer::Redirect(_) | Answer::Json(_) | Answer::Text(_) => None,
    });
    let used: BTreeSet<_> = services.chain(tables).chain(downloads).collect();
    for (below, file) in tree.below(folder) {
        let first = below.components().next().map(|part| part.as_str());
        let known = matches!(below.as_str(), "site.toml" | "README.md")
            || (matches!(first, Some("pages" | "articles" | "templates"))
                && below.components().count() > 1);
        if !known && !used.contains(below) {
            let problem = "served by nothing; expected `site.toml`, `pages/`, `articles/`, `templates/`, a table of `[tables]` or a service, or a `download`";
            notes.of_file(file, problem);
        }
    }
}

fn check_articles(site: &Site, source: &Source, notes: &mut Notes) {
    match (site.meta.kind, site.articles.is_empty()) {
        (SiteKind::Encyclopedia, true) => {
            source.fault(notes, "kind", "an encyclopedia needs articles in `articles/`");
        }
        (SiteKind::Pages, false) => {
            source.fault(notes, "kind", "only a site of kind `encyclopedia` has `articles/`");
        }
        (SiteKind::Encyclopedia, false) | (SiteKind::Pages, true) => {}
    }
}

fn check_unlisted(site: &Site, source: &Source, notes: &mut Notes) {
    for (index, pattern) in site.meta.unlisted.iter().enumerate() {
        let matcher = Pattern::new(pattern);
        let articles = site.articles.iter().map(Article::path);
        let mut paths = paths_of(site).chain(articles);
        if !paths.any(|path| matcher.matches(&path)) {
            source.fault(
                notes,
                &format!("unlisted[{index}]"),
                format!("`{pattern}` matches no page"),
            );
        }
    }
}

/// Returns the paths of a site but those of articles; of routes as written, and of their
/// examples.
fn paths_of(site: &Site) -> impl Iterator<Item = String> {
    let services = site.meta.services.iter().map(|one| one.path.clone());
    let routes = site.meta.routes.iter().flat_map(|route| {
        let examples = route.examples.iter().filter_map(|example| example.split('?').next());
        std::iter::once(route.path.as_str()).chain(examples).map(ToOwned::to_owned)
    });
    site.pages.keys().cloned().chain(services).chain(routes)
}

fn check_service(
    tree: &Tree,
    folder: &Utf8Path,
    site: &Site,
    (index, service): (usize, &Service),
    source: &Source,
    notes: &mut Notes,
) {
    let field = |name: &str| format!("service[{index}].{name}");
    let earlier = &site.meta.services[..index];
    if site.pages.contains_key(&service.path) || earlier.iter().any(|one| one.path == service.path)
    {
        source.fault(notes, &field("path"), format!("`{}` is already served", service.path));
    }
    if let Some(header) = &service.require_header {
        let token = |name: &str| {
            !name.is_empty() && name.bytes().all(|b| b.is_ascii_graphic() && b != b':')
        };
        if !header.split_once(": ").is_some_and(|(name, value)| token(name) && text::is_line(value))
        {
            source.fault(notes, &field("require_header"), "expected `name: value`");
        }
    }
    let parameters = [("required", &service.required), ("optional", &service.optional)];
    let all = parameters.iter().flat_map(|(list, names)| {
        names.iter().enumerate().map(move |(at, name)| (format!("{list}[{at}]"), name))
    });
    let all: Vec<_> = all.collect();
    for (at, (place, name)) in all.iter().enumerate() {
        if all[..at].iter().any(|(_, other)| other == name) {
            source.fault(notes, &field(place), format!("parameter `{name}` is named twice"));
        }
        if *name == "page" && service.page_size.is_some() {
            source.fault(notes, &field(place), "`page` already chooses the page of a reply");
        }
    }
    if source.is_faulty(&field("table")) {
        return;
    }
    let table = folder.join(&service.table);
    if !tree.has_file(&table) {
        let problem = format!("there is no file `{}` in the site's folder", service.table);
        return source.fault(notes, &field("table"), problem);
    }
    if let Some(columns) = columns(tree, &table, notes) {
        for (place, name) in all {
            if !columns.contains(name.as_str()) {
                let known: Vec<_> = columns.iter().collect();
                let problem =
                    format!("`{name}`: {}", text::unknown("field of the rows", name, &known));
                source.fault(notes, &field(&place), problem);
            }
        }
    }
}

/// Reads the names of a table's fields, or notes why it is no table.
fn columns(tree: &Tree, file: &Utf8Path, notes: &mut Notes) -> Option<BTreeSet<String>> {
    let bytes = tree.bytes(file, notes)?;
    let value: Value = match serde_json::from_slice(&bytes) {
        Ok(value) => value,
        Err(error) => {
            notes.at_line(file, Some(error.line()), format!("not JSON: {error}"));
            return None;
        }
    };
    let rows = value.as_array().filter(|rows| rows.iter().all(Value::is_object));
    let Some(rows) = rows else {
        notes.of_file(file, "expected a JSON array of objects");
        return None;
    };
    Some(rows.iter().filter_map(Value::as_object).flat_map(|row| row.keys().cloned()).collect())
}

/// Notes redirects that shadow a page, point nowhere or run in a circle.
fn check_redirects(site: &Site, sites: &Sites, source: &Source, notes: &mut Notes) {
    for (from, to) in &site.meta.redirects {
        let field = format!("redirects.{from}");
        if !text::is_url_path(from) {
            source.fault(notes, &field, "expected a path that starts with `/`");
        } else if site.pages.contains_key(from) {
            source.fault(notes, &field, format!("`{from}` is a page already"));
        }
        let start = (site.host.clone(), from.clone());
        if let Err(problem) = follow(start, sites) {
            source.fault(notes, &field, format!("`{to}` {problem}"));
        }
    }
}

/// Follows redirects until something is served.
fn follow(start: (String, String), sites: &Sites) -> Result<(), String> {
    let mut seen = BTreeSet::new();
    let (mut host, mut path) = start;
    loop {
        if !seen.insert((host.clone(), path.clone())) {
            return Err("leads in a circle".to_owned());
        }
        let Some(owner) = sites.hosts.get(&host) else {
            return Err(format!("leads to `{host}`, which is no site of the suite"));
        };
        // A site whose own file has faults is not known well enough to judge.
        let Some(site) = sites.by_host.get(owner) else { return Ok(()) };
        let Some(next) = site.meta.redirects.get(&path) else {
            return if serves(site, &path) {
                Ok(())
            } else {
                Err(format!("leads to `{path}`, which `{owner}` does not serve"))
            };
        };
        let base = Url::parse(&format!("https://{owner}{path}"));
        let url =
            base.and_then(|base| base.join(next)).map_err(|error| format!("is no URL: {error}"))?;
        url.host_str().unwrap_or_default().clone_into(&mut host);
        path = decoded(url.path());
    }
}

/// Returns whether the site answers at a path; an encyclopedia's articles have paths
/// of their own that the web decides on.
fn serves(site: &Site, path: &str) -> bool {
    let login = site.meta.login.iter().flat_map(|login| [Some(&login.path), login.logout.as_ref()]);
    let segments = split(path).unwrap_or_default();
    let reads = site.meta.routes.iter().filter(|route| route.methods.contains(&Method::Get));
    let mut paths = reads.filter_map(|route| RoutePath::parse(&route.path).ok());
    site.pages.contains_key(path)
        || path == "/robots.txt"
        || login.flatten().any(|own| own == path)
        || paths.any(|route| route.matches(&segments).is_some())
        || site.meta.services.iter().any(|service| service.path == path)
        || (site.meta.kind == SiteKind::Encyclopedia
            && (path.starts_with("/wiki/") || path.starts_with("/w/")))
}

/// Undoes percent-encoding, where that gives text.
fn decoded(path: &str) -> String {
    percent_decoded(path).unwrap_or_else(|| path.to_owned())
}
