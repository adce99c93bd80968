//! The search engine as callers see it: Serper's JSON, and an HTML page for people.
//!
//! `POST /search`, `/news` and `/scholar` take and return what Serper does; one body may
//! hold several searches in an array. Google's boxes (`answerBox`, `knowledgeGraph`,
//! `peopleAlsoAsk`, `relatedSearches`) are left out: nothing here could fill them without
//! making something up, and all of them are optional in the live protocol. `location`
//! and `gl` are echoed and change nothing, for hosts of this web stand in no country.

mod ask;
mod results;

use std::fmt::Write as _;

use jiff::Timestamp;
use jiff::civil::Date;
use jiff::tz::Offset;
use serde_json::{Map, Value, json};

use super::Request;
use super::block::BlockList;
use super::pages::not_found;
use super::reply::{Reply, escape};
use super::search::{Engine, Hits, Query, Scope, Vertical};
use ask::Ask;
use results::{day, entry};

/// Most searches in one request.
const MOST_AT_ONCE: usize = 100;

/// Answers a request for the search host.
pub(super) fn answer(
    engine: &Engine,
    request: &Request,
    now: Timestamp,
    blocked: &BlockList,
) -> Reply {
    let vertical = match request.url.path().trim_end_matches('/') {
        "/search" => Vertical::Pages,
        "/news" => Vertical::News,
        "/scholar" => Vertical::Papers,
        "" => return Reply::html(200, "en", "Search", &form("", Vertical::Pages)),
        path => return not_found("en", path),
    };
    let desk = Desk { engine, vertical, blocked, now };
    match request.method {
        http::Method::POST => desk.as_json(request),
        http::Method::GET | http::Method::HEAD => desk.as_page(request),
        _ => Reply::method_not_allowed(&request.method, "GET, HEAD, POST"),
    }
}

/// What one request is answered with.
struct Desk<'a> {
    engine: &'a Engine,
    vertical: Vertical,
    blocked: &'a BlockList,
    now: Timestamp,
}

impl Desk<'_> {
    fn today(&self) -> Date {
        Offset::UTC.to_datetime(self.now).date()
    }

    fn search(&self, ask: &Ask) -> Hits {
        let scope = Scope {
            host: None,
            vertical: self.vertical,
            blocked: Some(self.blocked),
            dates: ask.dates,
            newest_first: ask.newest_first,
            today: Some(self.today()),
            language: ask.language,
        };
        let skip = (ask.page - 1).saturating_mul(ask.count);
        let mut found = self.engine.search(&Query::parse(&ask.text), scope, skip, ask.count);
        // Hosts are left out by the engine, single paths here.
        found.hits.retain(|hit| !self.blocked.covers_text(&hit.url));
        found
    }

    /// Answers in JSON; mistakes are 400 with a `message`.
    fn as_json(&self, request: &Request) -> Reply {
        let refuse =
            |message: String| Reply::json(400, &json!({"message": message, "statusCode": 400}));
        let body: Value = match serde_json::from_slice(&request.body) {
            Ok(body) => body,
            Err(error) => return refuse(format!("invalid JSON body: {error}")),
        };
        let found = if let Some(all) = body.as_array() {
            if all.len() > MOST_AT_ONCE {
                Err(format!("{} searches at once; the most are {MOST_AT_ONCE}", all.len()))
            } else {
                all.iter().map(|one| self.found(one)).collect::<Result<_, _>>().map(Value::Array)
            }
        } else {
            self.found(&body)
        };
        found.map_or_else(refuse, |found| Reply::json(200, &found))
    }

    /// Returns the answer to one search.
    fn found(&self, body: &Value) -> Result<Value, String> {
        let body =
            body.as_object().ok_or_else(|| format!("expected a JSON object, not `{body}`"))?;
        let ask = Ask::read(body, self.today(), self.vertical)?;
        let mut parameters = json!({"q": ask.text});
        for name in ["gl", "hl", "location", "num", "page", "tbs", "as_ylo", "as_yhi"] {
            if let Some(value) = body.get(name) {
                parameters[name] = value.clone();
            }
        }
        let (kind, list) = match self.vertical {
            Vertical::Pages => ("search", "organic"),
            Vertical::News => ("news", "news"),
            Vertical::Papers => ("scholar", "organic"),
        };
        parameters["type"] = json!(kind);
        parameters["engine"] = json!("google");
        let hits = self.search(&ask).hits;
        let hits: Vec<_> = hits.iter().map(|hit| entry(hit, self.vertical, self.now)).collect();
        Ok(json!({"searchParameters": parameters, list: hits, "credits": 1}))
    }

    /// Answers with a page of results.
    fn as_page(&self, request: &Request) -> Reply {
        let written: Map<String, Value> = request
            .url
            .query_pairs()
            .map(|(name, value)| (name.into_owned(), Value::String(value.into_owned())))
            .collect();
        let ask = match Ask::read(&written, self.today(), self.vertical) {
            Ok(ask) => ask,
            Err(_) if !written.contains_key("q") => {
                return Reply::html(200, "en", "Search", &form("", self.vertical));
            }
            Err(message) => {
                let body = format!("{}<p>{}</p>\n", form("", self.vertical), escape(&message));
                return Reply::html(400, "en", "Search", &body);
            }
        };
        let found = self.search(&ask);
        let mut body = form(&ask.text, self.vertical);
        if found.hits.is_empty() {
            body.push_str("<p>No results.</p>\n");
        }
        body.push_str("<ol>\n");
        for hit in &found.hits {
            let date = hit.date.map(|date| format!("{} — ", day(date))).unwrap_or_default();
            let [url, title, source, snippet] =
                [&hit.url, &hit.title, &hit.source, &hit.snippet].map(|text| escape(text));
            let _ = writeln!(
                body,
                "<li value=\"{}\"><h3><a href=\"{url}\">{title}</a></h3><cite>{source}</cite>\
                 <p>{date}{snippet}</p></li>",
                hit.position
            );
        }
        body.push_str("</ol>\n");
        if ask.page.saturating_mul(ask.count) < found.total {
            let mut next = request.url.clone();
            let pairs = written.iter().filter(|(name, _)| *name != "page");
            let pairs = pairs.map(|(name, value)| (name, value.as_str().unwrap_or_default()));
            next.query_pairs_mut().clear().extend_pairs(pairs);
            next.query_pairs_mut().append_pair("page", &(ask.page + 1).to_string());
            let _ = writeln!(body, "<p><a href=\"{}\">Next page</a></p>", escape(next.as_str()));
        }
        Reply::html(200, "en", &format!("{} - Search", ask.text), &body)
    }
}

/// The box to write a query into, and the ways to the other kinds of search.
fn form(text: &str, vertical: Vertical) -> String {
    let action = match vertical {
        Vertical::Pages => "/search",
        Vertical::News => "/news",
        Vertical::Papers => "/scholar",
    };
    let mut form = format!(
        "<form action=\"{action}\"><input name=\"q\" aria-label=\"Search\" value=\"{}\">\
         <button>Search</button></form>\n<nav>",
        escape(text)
    );
    for (path, name) in [("/search", "All"), ("/news", "News"), ("/scholar", "Scholar")] {
        let query =
            url::form_urlencoded::Serializer::new(String::new()).append_pair("q", text).finish();
        let query = if text.is_empty() { String::new() } else { format!("?{}", escape(&query)) };
        let _ = write!(form, "<a href=\"{path}{query}\">{name}</a> ");
    }
    form.push_str("</nav>\n");
    form
}
