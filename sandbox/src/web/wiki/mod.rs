//! Encyclopedias: articles with their history under `/wiki/` and `/w/index.php`,
//! MediaWiki's action API under `/w/api.php`, summaries under
//! `/api/rest_v1/page/summary/`.
//!
//! Titles are matched as MediaWiki does: underscores are spaces and the first letter
//! is a capital, the rest as written. There is no guessing what a title may mean.

mod api;
mod article;
mod view;

use std::collections::{BTreeMap, HashMap};

use jiff::Timestamp;
use jiff::civil::Date;
use serde_json::json;
use wildgym_tasks::environment::Site;

use super::Request;
use super::hermetic::HermeticError;
use super::pages::decoded;
use super::reply::{Reply, escape};
use super::search::{Document, Engine, is_unlisted};
use article::{Entry, Revision, normal_title, path_title};

/// The number of the first revision: real ones are not small.
const FIRST_REVISION: u64 = 1001;

/// One encyclopedia.
#[derive(Debug)]
pub(super) struct Encyclopedia {
    host: String,
    name: String,
    language: &'static str,
    entries: Vec<Entry>,
    /// Articles by title and by redirect.
    titles: HashMap<String, usize>,
    /// Redirects in order; they are pages of their own with numbers after the articles'.
    redirects: Vec<(String, usize)>,
    /// Article and place in its history, by the number of the revision.
    revisions: HashMap<u64, (usize, usize)>,
    /// Articles by category, both in order.
    categories: BTreeMap<String, Vec<usize>>,
}

impl Encyclopedia {
    /// Takes over the articles of a site.
    pub(super) fn open(site: &Site) -> Result<Self, HermeticError> {
        let mut entries: Vec<_> = site.articles.iter().map(Entry::new).collect();
        let mut titles = HashMap::new();
        for (number, entry) in entries.iter().enumerate() {
            for title in std::iter::once(&entry.title).chain(&entry.redirects) {
                if titles.insert(title.clone(), number).is_some() {
                    return Err(HermeticError::TitleTaken {
                        host: site.host.clone(),
                        title: title.clone(),
                        file: site.articles[number].file.clone(),
                    });
                }
            }
        }
        let mut redirects = Vec::new();
        let mut categories: BTreeMap<String, Vec<usize>> = BTreeMap::new();
        for (number, entry) in entries.iter().enumerate() {
            redirects.extend(entry.redirects.iter().map(|title| (title.clone(), number)));
            for category in &entry.categories {
                categories.entry(category.clone()).or_default().push(number);
            }
        }
        redirects.sort();
        for members in categories.values_mut() {
            members.sort_by(|a, b| entries[*a].title.cmp(&entries[*b].title));
        }
        let revisions = number_revisions(&mut entries);
        let (host, name) = (site.host.clone(), site.meta.title.clone());
        let language = site.meta.language.name();
        Ok(Self { host, name, language, entries, titles, redirects, revisions, categories })
    }

    /// Links the articles of encyclopedias of different languages: what one says of
    /// another holds the other way round too.
    pub(super) fn acquaint(all: &mut [&mut Self]) {
        let mut said = Vec::new();
        for wiki in all.iter() {
            for entry in &wiki.entries {
                for (language, title, _) in &entry.languages {
                    said.push(((wiki.language, entry.title.clone()), (*language, title.clone())));
                }
            }
        }
        let back: Vec<_> = said.iter().map(|(one, other)| (other.clone(), one.clone())).collect();
        for ((language, title), (other, other_title)) in said.into_iter().chain(back) {
            let target = all.iter().find(|wiki| wiki.language == other);
            let target = target.and_then(|wiki| {
                let (_, entry) = wiki.find(&other_title)?;
                Some((entry.title.clone(), wiki.address(&entry.title)))
            });
            let Some((other_title, address)) = target else { continue };
            for wiki in all.iter_mut().filter(|wiki| wiki.language == language) {
                let number = wiki.titles.get(&title).copied();
                let Some(entry) = number.and_then(|it| wiki.entries.get_mut(it)) else { continue };
                entry.languages.retain(|(known, _, _)| *known != other);
                entry.languages.push((other, other_title.clone(), address.clone()));
                entry.languages.sort();
            }
        }
    }

    /// Returns what the search engine is told.
    pub(super) fn documents(&self, site: &Site) -> Vec<Document> {
        let listed = |entry: &&Entry| {
            !is_unlisted(site, &format!("/wiki/{}", entry.title.replace(' ', "_")))
        };
        let document = |entry: &Entry| {
            let rendered = entry.rendered();
            let sections = rendered.sections.iter().map(|section| &section.title);
            let headings: Vec<_> = entry.redirects.iter().chain(sections).cloned().collect();
            Document {
                host: self.host.clone(),
                url: self.address(&entry.title),
                source: self.name.clone(),
                title: entry.title.clone(),
                headings: headings.join("\n"),
                text: rendered.text.split_whitespace().collect::<Vec<_>>().join(" "),
                date: Some(entry.date()),
                news: false,
                language: self.language.to_owned(),
                filetype: "html".to_owned(),
                paper: None,
            }
        };
        self.entries.iter().filter(listed).map(document).collect()
    }

    /// Answers a request, or returns `None` where nothing has that path.
    pub(super) fn answer(
        &self,
        request: &Request,
        engine: &Engine,
        now: Timestamp,
    ) -> Option<Reply> {
        let path = decoded(request.url.path());
        if path == "/w/api.php" {
            return Some(api::answer(self, request, engine, now));
        }
        let summary = path.strip_prefix("/api/rest_v1/page/summary/");
        let view = path.strip_prefix("/wiki/");
        if summary.is_none() && view.is_none() && path != "/" && path != "/w/index.php" {
            return None;
        }
        if !matches!(request.method, http::Method::GET | http::Method::HEAD) {
            return Some(Reply::method_not_allowed(&request.method, "GET, HEAD"));
        }
        Some(match summary {
            Some(title) => self.summary(title),
            None => view::answer(self, request, view, engine),
        })
    }

    /// Returns the article of a title or redirect (normal spelling), with its number.
    fn find(&self, title: &str) -> Option<(usize, &Entry)> {
        let number = *self.titles.get(title)?;
        Some((number, self.entries.get(number)?))
    }

    /// Returns a revision with its article and its place in the history.
    fn revision(&self, id: u64) -> Option<(usize, &Entry, usize)> {
        let (number, place) = *self.revisions.get(&id)?;
        Some((number, self.entries.get(number)?, place))
    }

    /// Returns where an article is.
    fn address(&self, title: &str) -> String {
        format!("https://{}/wiki/{}", self.host, path_title(title))
    }

    /// Answers with the summary of a page.
    fn summary(&self, written: &str) -> Reply {
        let title = normal_title(written);
        let Some((number, entry)) = self.find(&title) else {
            let missing = json!({"type": "https://mediawiki.org/wiki/HyperSwitch/errors/not_found",
                "title": "Not found.", "status": 404, "method": "get",
                "detail": format!("there is no page `{title}`")});
            return Reply::json(404, &missing);
        };
        if entry.title != title {
            let target = path_title(&entry.title);
            return Reply::redirect(302, &format!("/api/rest_v1/page/summary/{target}"));
        }
        let kind = if entry.disambiguation { "disambiguation" } else { "standard" };
        let page = self.address(&entry.title);
        let intro = entry.rendered().intro();
        let revision = entry.revisions.last().map_or(0, |last| last.id);
        Reply::json(
            200,
            &json!({
                "type": kind, "title": entry.title, "displaytitle": escape(&entry.title),
                "namespace": {"id": 0, "text": ""},
                "titles": {"canonical": entry.title.replace(' ', "_"), "normalized": entry.title,
                    "display": escape(&entry.title)},
                "pageid": number + 1, "lang": self.language, "dir": "ltr",
                "revision": revision.to_string(), "timestamp": timestamp(entry.date()),
                "content_urls": {
                    "desktop": {"page": page, "revisions": format!("{page}?action=history")},
                    "mobile": {"page": page, "revisions": format!("{page}?action=history")},
                },
                "extract": intro, "extract_html": format!("<p>{}</p>", escape(intro)),
            }),
        )
    }
}

/// Numbers all revisions in the order of their days, and says which article each is of.
fn number_revisions(entries: &mut [Entry]) -> HashMap<u64, (usize, usize)> {
    let mut order: Vec<(Date, String, usize, usize)> = Vec::new();
    for (number, entry) in entries.iter().enumerate() {
        let places = entry.revisions.iter().enumerate();
        order.extend(places.map(|(place, it)| (it.date, entry.title.clone(), number, place)));
    }
    order.sort();
    let mut ids = HashMap::new();
    for (id, (_, _, number, place)) in (FIRST_REVISION..).zip(order) {
        entries[number].revisions[place].id = id;
        ids.insert(id, (number, place));
    }
    ids
}

/// Returns the revision before the one at a place, if there is one.
fn before(entry: &Entry, place: usize) -> Option<&Revision> {
    place.checked_sub(1).and_then(|place| entry.revisions.get(place))
}

/// Writes the start of a day as MediaWiki does.
fn timestamp(day: Date) -> String {
    format!("{day}T00:00:00Z")
}
