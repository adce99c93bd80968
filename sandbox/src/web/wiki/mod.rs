//! Encyclopedias: articles under `/wiki/`, MediaWiki's action API under
//! `/w/api.php`, page summaries under `/api/rest_v1/page/summary/`.
//!
//! Titles are matched as MediaWiki does: underscores are spaces and the first letter
//! is a capital, the rest as written. There is no guessing what a title may mean.

mod api;
mod article;

use std::collections::HashMap;
use std::fmt::Write as _;

use jiff::Timestamp;
use serde_json::json;
use wildgym_tasks::environment::Site;

use super::Request;
use super::hermetic::HermeticError;
use super::pages::{decoded, not_found};
use super::reply::{Reply, escape, http_day};
use super::search::{Document, Engine, Query, Scope, is_unlisted};
use article::{Entry, normal_title, path_title};

/// One encyclopedia.
#[derive(Debug)]
pub(super) struct Encyclopedia {
    host: String,
    name: String,
    language: &'static str,
    entries: Vec<Entry>,
    /// Articles by title and by redirect.
    titles: HashMap<String, usize>,
}

impl Encyclopedia {
    /// Renders the articles of a site.
    pub(super) fn open(site: &Site) -> Result<Self, HermeticError> {
        let entries: Vec<_> = site.articles.iter().map(Entry::new).collect();
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
        let (host, name) = (site.host.clone(), site.meta.title.clone());
        Ok(Self { host, name, language: site.meta.language.name(), entries, titles })
    }

    /// Returns what the search engine is told.
    pub(super) fn documents(&self, site: &Site) -> Vec<Document> {
        let listed = |entry: &&Entry| {
            !is_unlisted(site, &format!("/wiki/{}", entry.title.replace(' ', "_")))
        };
        let document = |entry: &Entry| Document {
            host: self.host.clone(),
            url: self.address(&entry.title),
            source: self.name.clone(),
            title: entry.title.clone(),
            headings: entry
                .redirects
                .iter()
                .chain(&entry.headings)
                .cloned()
                .collect::<Vec<_>>()
                .join("\n"),
            text: entry.text.split_whitespace().collect::<Vec<_>>().join(" "),
            date: Some(entry.date),
            news: false,
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
        Some(match (summary, view) {
            (Some(title), _) => self.summary(title),
            (_, Some(title)) => self.view(title),
            (None, None) => self.front(request, engine),
        })
    }

    /// Returns the article of a title or redirect (normal spelling), with its number.
    fn find(&self, title: &str) -> Option<(usize, &Entry)> {
        let number = *self.titles.get(title)?;
        Some((number, self.entries.get(number)?))
    }

    /// Returns where an article is.
    fn address(&self, title: &str) -> String {
        format!("https://{}/wiki/{}", self.host, path_title(title))
    }

    /// Shows an article; a redirect shows its target and says where one came from.
    fn view(&self, written: &str) -> Reply {
        let title = normal_title(written);
        if written != title.replace(' ', "_") {
            return Reply::moved(&format!("/wiki/{}", path_title(&title)));
        }
        let Some((_, entry)) = self.find(&title) else {
            return not_found(self.language, &format!("/wiki/{written}"));
        };
        let mut body = format!("<main>\n<h1>{}</h1>\n", escape(&entry.title));
        if entry.title != title {
            let note = if self.language == "zh" { "重定向自" } else { "Redirected from" };
            let _ = writeln!(body, "<p>({note} {})</p>", escape(&title));
        }
        let edited = if self.language == "zh" { "最后修订" } else { "Last edited" };
        let _ = writeln!(
            body,
            "{}</main>\n<footer>{edited} <time datetime=\"{1}\">{1}</time></footer>",
            entry.html, entry.date
        );
        Reply::html(200, self.language, &format!("{} - {}", entry.title, self.name), &body)
            .with("last-modified", &http_day(entry.date))
    }

    /// The front page, which is a search box, and the results of a search.
    fn front(&self, request: &Request, engine: &Engine) -> Reply {
        let text = request.url.query_pairs().find(|(name, _)| name == "search");
        let text = text.map(|(_, value)| value.into_owned()).unwrap_or_default();
        let button = if self.language == "zh" { "搜索" } else { "Search" };
        let mut body = format!(
            "<h1>{}</h1>\n<form action=\"/w/index.php\"><input name=\"search\" \
             aria-label=\"{button}\" value=\"{}\"><button>{button}</button></form>\n<ul>\n",
            escape(&self.name),
            escape(&text)
        );
        let scope = Scope { host: Some(&self.host), ..Scope::default() };
        for hit in engine.search(&Query::parse(&text), scope, 0, 20).hits {
            let [url, title, snippet] = [&hit.url, &hit.title, &hit.snippet].map(|it| escape(it));
            let _ = writeln!(body, "<li><a href=\"{url}\">{title}</a>: {snippet}</li>");
        }
        body.push_str("</ul>\n");
        Reply::html(200, self.language, &self.name, &body)
    }

    /// Answers with the summary of a page.
    fn summary(&self, written: &str) -> Reply {
        let title = normal_title(written);
        let Some((number, entry)) = self.find(&title) else {
            let missing = json!({"type": "not_found", "title": "Not found.", "status": 404,
                "detail": format!("there is no page `{title}`")});
            return Reply::json(404, &missing);
        };
        if entry.title != title {
            return Reply::moved(&format!(
                "/api/rest_v1/page/summary/{}",
                path_title(&entry.title)
            ));
        }
        let kind = if entry.disambiguation { "disambiguation" } else { "standard" };
        let page = self.address(&entry.title);
        Reply::json(
            200,
            &json!({
                "type": kind, "title": entry.title, "displaytitle": escape(&entry.title),
                "pageid": number + 1, "lang": self.language,
                "timestamp": format!("{}T00:00:00Z", entry.date),
                "content_urls": {"desktop": {"page": page}, "mobile": {"page": page}},
                "extract": entry.intro(),
                "extract_html": format!("<p>{}</p>", escape(entry.intro())),
            }),
        )
    }
}
