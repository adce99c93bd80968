//! The search engine as callers see it: Serper's JSON, and an HTML page for people.

use std::fmt::Write as _;

use jiff::civil::Date;
use serde_json::{Map, Value, json};

use super::Request;
use super::block::BlockList;
use super::pages::not_found;
use super::reply::{Reply, escape};
use super::search::{Engine, Hit, Hits, Query, Scope};

/// Hits on one page, unless `num` says otherwise.
const PER_PAGE: usize = 10;

/// Most hits on one page.
const MOST_PER_PAGE: usize = 100;

/// What is searched.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Vertical {
    Search,
    News,
}

/// A search, as asked.
#[derive(Debug, PartialEq, Eq)]
struct Ask {
    text: String,
    page: usize,
    count: usize,
}

/// Answers a request for the search host.
pub(super) fn answer(engine: &Engine, request: &Request, blocked: &BlockList) -> Reply {
    let vertical = match request.url.path().trim_end_matches('/') {
        "/search" => Vertical::Search,
        "/news" => Vertical::News,
        "" => return Reply::html(200, "en", "Search", &form("")),
        path => return not_found("en", path),
    };
    match request.method {
        http::Method::POST => as_json(engine, request, vertical, blocked),
        http::Method::GET | http::Method::HEAD => as_page(engine, request, vertical, blocked),
        _ => Reply::method_not_allowed(&request.method, "GET, HEAD, POST"),
    }
}

fn search(engine: &Engine, vertical: Vertical, ask: &Ask, blocked: &BlockList) -> Hits {
    let news = vertical == Vertical::News;
    let scope = Scope { host: None, news, blocked: Some(blocked) };
    let skip = (ask.page - 1).saturating_mul(ask.count);
    let mut found = engine.search(&Query::parse(&ask.text), scope, skip, ask.count);
    // Hosts are left out by the engine, single paths here.
    found.hits.retain(|hit| !blocked.covers_text(&hit.url));
    found
}

/// Answers in JSON; mistakes are 400 with a `message`.
fn as_json(engine: &Engine, request: &Request, vertical: Vertical, blocked: &BlockList) -> Reply {
    let refuse =
        |message: String| Reply::json(400, &json!({"message": message, "statusCode": 400}));
    let body: Map<String, Value> = match serde_json::from_slice(&request.body) {
        Ok(body) => body,
        Err(error) => return refuse(format!("invalid JSON body: {error}")),
    };
    let ask = match read(&body) {
        Ok(ask) => ask,
        Err(message) => return refuse(message),
    };
    let hits = search(engine, vertical, &ask, blocked).hits;
    let mut parameters = json!({"q": ask.text});
    for (name, value) in &body {
        if ["gl", "hl", "location", "num", "page"].contains(&name.as_str()) {
            parameters[name] = value.clone();
        }
    }
    let (kind, list) = match vertical {
        Vertical::Search => ("search", "organic"),
        Vertical::News => ("news", "news"),
    };
    parameters["type"] = json!(kind);
    let hits: Vec<_> = hits.iter().map(|hit| entry(hit, vertical)).collect();
    Reply::json(200, &json!({"searchParameters": parameters, list: hits, "credits": 1}))
}

/// Reads the body of a search. Numbers may be written as text, as some clients do.
fn read(body: &Map<String, Value>) -> Result<Ask, String> {
    let text = match body.get("q") {
        Some(Value::String(text)) if !text.trim().is_empty() => text.clone(),
        Some(Value::String(_)) | None => return Err("missing query parameter `q`".to_owned()),
        Some(other) => return Err(format!("`q` must be text, not `{other}`")),
    };
    let number = |name: &str, default: usize, most: usize| match body.get(name) {
        None | Some(Value::Null) => Ok(default),
        Some(value) => {
            let written = value.as_str().map_or_else(|| value.to_string(), ToOwned::to_owned);
            let number = written.parse().ok().filter(|number| (1..=most).contains(number));
            number.ok_or_else(|| format!("`{name}` must be a whole number from 1 to {most}"))
        }
    };
    let count = number("num", PER_PAGE, MOST_PER_PAGE)?;
    Ok(Ask { text, page: number("page", 1, 100_000)?, count })
}

fn entry(hit: &Hit, vertical: Vertical) -> Value {
    let mut entry = json!({"title": hit.title, "link": hit.url, "snippet": hit.snippet});
    if let Some(date) = hit.date {
        entry["date"] = json!(day(date));
    }
    match vertical {
        Vertical::Search => entry["position"] = json!(hit.position),
        Vertical::News => entry["source"] = json!(hit.source),
    }
    entry
}

/// Writes a day as search engines do: `Mar 3, 2026`.
fn day(date: Date) -> String {
    date.strftime("%b %-d, %Y").to_string()
}

/// Answers with a page of results.
fn as_page(engine: &Engine, request: &Request, vertical: Vertical, blocked: &BlockList) -> Reply {
    let mut ask = Ask { text: String::new(), page: 1, count: PER_PAGE };
    for (name, value) in request.url.query_pairs() {
        match &*name {
            "q" => ask.text = value.into_owned(),
            "page" => ask.page = value.parse().unwrap_or(1).max(1),
            _ => {}
        }
    }
    let found = search(engine, vertical, &ask, blocked);
    let mut body = form(&ask.text);
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
        let page = (ask.page + 1).to_string();
        next.query_pairs_mut().clear().append_pair("q", &ask.text).append_pair("page", &page);
        let _ = writeln!(body, "<p><a href=\"{}\">Next page</a></p>", escape(next.as_str()));
    }
    Reply::html(200, "en", &format!("{} - Search", ask.text), &body)
}

/// The box to write a query into.
fn form(text: &str) -> String {
    format!(
        "<form action=\"/search\"><input name=\"q\" aria-label=\"Search\" value=\"{}\">\
         <button>Search</button></form>\n",
        escape(text)
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_body_of_a_search_is_read_and_mistakes_are_named() {
        let table = [
            (r#"{"q": "tide"}"#, Ok(("tide", 1, 10)), "defaults"),
            (r#"{"q": "潮", "page": "2", "num": 5}"#, Ok(("潮", 2, 5)), "a number as text"),
            (r#"{"q": "a", "page": null, "tbs": "x"}"#, Ok(("a", 1, 10)), "null, unknown field"),
            (r#"{"q": " "}"#, Err("`q`"), "empty"),
            ("{}", Err("`q`"), "none"),
            (r#"{"q": 7}"#, Err("must be text"), "no text"),
            (r#"{"q": "a", "page": 0}"#, Err("`page`"), "pages count from 1"),
            (r#"{"q": "a", "page": -1}"#, Err("`page`"), "negative"),
            (r#"{"q": "a", "num": 101}"#, Err("`num`"), "too many"),
        ];
        for (body, want, why) in table {
            match (read(&serde_json::from_str(body).unwrap()), want) {
                (Ok(ask), Ok(want)) => {
                    assert_eq!((ask.text.as_str(), ask.page, ask.count), want, "{why}");
                }
                (Err(got), Err(want)) => assert!(got.contains(want), "{why}: {got}"),
                (got, _) => panic!("{why}: {got:?}"),
            }
        }
    }
}
