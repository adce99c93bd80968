//! MediaWiki's action API, as far as readers need it: `action=query` with
//! `list=search` and the properties `info`, `pageprops`, `extracts`, `links` and
//! `revisions`, in both format versions. What is asked for beyond that is answered
//! with a warning, as MediaWiki does, not silently.

use std::collections::{BTreeMap, HashSet};

use jiff::Timestamp;
use serde_json::{Map, Value, json};

use super::super::Request;
use super::super::reply::{Reply, escape};
use super::super::search::{Engine, Query, Scope};
use super::Encyclopedia;
use super::article::{Entry, normal_title, sentences};

/// Most titles in one request.
const MOST_TITLES: usize = 50;

/// The properties that are answered.
const PROPERTIES: &[&str] = &["info", "pageprops", "extracts", "links", "revisions"];

/// The parameters of a request; of repeated ones the last counts.
struct Parameters(BTreeMap<String, String>);

impl Parameters {
    /// Reads them from the query and, for `POST`, from a form.
    fn read(request: &Request) -> Self {
        let mut all: BTreeMap<_, _> = request.url.query_pairs().into_owned().collect();
        if request.method == http::Method::POST {
            all.extend(url::form_urlencoded::parse(&request.body).into_owned());
        }
        Self(all)
    }

    fn get(&self, name: &str) -> Option<&str> {
        self.0.get(name).map(String::as_str)
    }

    /// MediaWiki's flags are set by being there, whatever their value.
    fn flag(&self, name: &str) -> bool {
        self.0.contains_key(name)
    }

    fn number(&self, name: &str, default: usize, range: std::ops::RangeInclusive<usize>) -> usize {
        let number = self.get(name).and_then(|value| match value {
            "max" => Some(*range.end()),
            value => value.parse::<usize>().ok(),
        });
        number.unwrap_or(default).clamp(*range.start(), *range.end())
    }

    fn list(&self, name: &str) -> Vec<&str> {
        self.get(name).map_or(Vec::new(), |value| {
            value.split('|').map(str::trim).filter(|part| !part.is_empty()).collect()
        })
    }
}

/// Answers a request to `api.php`. Errors are 200 with an `error`, as MediaWiki does.
pub(super) fn answer(
    wiki: &Encyclopedia,
    request: &Request,
    engine: &Engine,
    now: Timestamp,
) -> Reply {
    if !matches!(request.method, http::Method::GET | http::Method::HEAD | http::Method::POST) {
        return Reply::method_not_allowed(&request.method, "GET, HEAD, POST");
    }
    let parameters = Parameters::read(request);
    let result = if let Some(format) = parameters.get("format").filter(|it| !it.starts_with("json"))
    {
        Err(("badvalue", format!("Unrecognized value for parameter \"format\": {format}.")))
    } else {
        match parameters.get("action") {
            Some("query") => query(wiki, &parameters, engine, now),
            Some(other) => {
                Err(("badvalue", format!("Unrecognized value for parameter \"action\": {other}.")))
            }
            None => Err(("missingparam", "The \"action\" parameter must be set.".to_owned())),
        }
    };
    match result {
        Ok(value) => Reply::json(200, &value),
        Err((code, info)) => Reply::json(200, &json!({"error": {"code": code, "info": info}}))
            .with("mediawiki-api-error", code),
    }
}

type Failure = (&'static str, String);

fn query(
    wiki: &Encyclopedia,
    parameters: &Parameters,
    engine: &Engine,
    now: Timestamp,
) -> Result<Value, Failure> {
    let second = parameters.get("formatversion") == Some("2");
    let mut answer = json!({"batchcomplete": flag(second)});
    let mut found = Map::new();
    let mut warnings = Vec::new();
    for list in parameters.list("list") {
        if list == "search" {
            search(wiki, parameters, engine, &mut answer, &mut found)?;
        } else {
            warnings.push(format!("Unrecognized value for parameter \"list\": {list}."));
        }
    }
    for property in parameters.list("prop").iter().filter(|it| !PROPERTIES.contains(it)) {
        warnings.push(format!("Unrecognized value for parameter \"prop\": {property}."));
    }
    for name in ["generator", "meta"].into_iter().filter(|name| parameters.flag(name)) {
        warnings.push(format!("Unrecognized parameter: {name}."));
    }
    if parameters.flag("titles") || parameters.flag("pageids") {
        pages(wiki, parameters, second, now, &mut found)?;
    }
    if !warnings.is_empty() {
        let text = warnings.join("\n");
        let main = if second { json!({"warnings": text}) } else { json!({"*": text}) };
        answer["warnings"] = json!({"main": main});
    }
    if !found.is_empty() {
        answer["query"] = Value::Object(found);
    }
    Ok(answer)
}

/// A true flag: present and empty in the first format, `true` in the second.
fn flag(second: bool) -> Value {
    if second { json!(true) } else { json!("") }
}

fn search(
    wiki: &Encyclopedia,
    parameters: &Parameters,
    engine: &Engine,
    answer: &mut Value,
    found: &mut Map<String, Value>,
) -> Result<(), Failure> {
    let text = parameters.get("srsearch").filter(|text| !text.trim().is_empty());
    let text =
        text.ok_or_else(|| ("missingparam", "The \"srsearch\" parameter must be set.".to_owned()))?;
    let limit = parameters.number("srlimit", 10, 1..=500);
    let skip = parameters.number("sroffset", 0, 0..=10_000);
    let scope = Scope { host: Some(&wiki.host), ..Scope::default() };
    let hits = engine.search(&Query::parse(text), scope, skip, limit);
    if skip + limit < hits.total {
        answer["continue"] = json!({"sroffset": skip + limit, "continue": "-||"});
    }
    let entry = |hit: &super::super::search::Hit| {
        let (number, entry) = wiki.find(&hit.title)?;
        Some(json!({
            "ns": 0, "title": entry.title, "pageid": number + 1, "size": entry.size,
            "wordcount": entry.text.split_whitespace().count(),
            "snippet": escape(&hit.snippet), "timestamp": timestamp(entry),
        }))
    };
    found.insert("searchinfo".to_owned(), json!({"totalhits": hits.total}));
    found.insert("search".to_owned(), hits.hits.iter().filter_map(entry).collect());
    Ok(())
}

fn timestamp(entry: &Entry) -> String {
    format!("{}T00:00:00Z", entry.date)
}

/// What became of the titles that were asked for.
#[derive(Default)]
struct Resolved {
    normalized: Vec<Value>,
    redirects: Vec<Value>,
    /// Page or missing title, in the order asked.
    pages: Vec<Result<usize, String>>,
}

fn resolve(wiki: &Encyclopedia, parameters: &Parameters) -> Resolved {
    let mut resolved = Resolved::default();
    let mut seen = HashSet::new();
    for written in parameters.list("titles") {
        let title = normal_title(written);
        if title != written {
            resolved.normalized.push(json!({"from": written, "to": title}));
        }
        let page = match wiki.find(&title) {
            Some((number, entry)) => {
                if entry.title != title && parameters.flag("redirects") {
                    resolved.redirects.push(json!({"from": title, "to": entry.title}));
                }
                Ok(number)
            }
            None => Err(title),
        };
        if seen.insert(page.clone()) {
            resolved.pages.push(page);
        }
    }
    for id in parameters.list("pageids") {
        let number = id.parse::<usize>().ok().and_then(|id| id.checked_sub(1));
        let page = number.filter(|number| *number < wiki.entries.len());
        resolved.pages.push(page.ok_or_else(|| format!("#{id}")));
    }
    resolved
}

fn pages(
    wiki: &Encyclopedia,
    parameters: &Parameters,
    second: bool,
    now: Timestamp,
    found: &mut Map<String, Value>,
) -> Result<(), Failure> {
    if parameters.list("titles").len() + parameters.list("pageids").len() > MOST_TITLES {
        let info = format!("Too many values supplied. The limit is {MOST_TITLES}.");
        return Err(("toomanyvalues", info));
    }
    let resolved = resolve(wiki, parameters);
    let mut pages: Vec<(i64, Value)> = Vec::new();
    let mut missing = 0;
    for page in &resolved.pages {
        let entry =
            page.as_ref().ok().and_then(|number| Some((*number, wiki.entries.get(*number)?)));
        pages.push(match (entry, page) {
            (Some((number, entry)), _) => {
                let id = i64::try_from(number + 1).unwrap_or(i64::MAX);
                (id, properties(wiki, id, entry, parameters, now))
            }
            (None, Err(title)) => {
                missing -= 1;
                (missing, json!({"ns": 0, "title": title, "missing": flag(second)}))
            }
            (None, Ok(_)) => continue,
        });
    }
    for (name, list) in [("normalized", resolved.normalized), ("redirects", resolved.redirects)] {
        if !list.is_empty() {
            found.insert(name.to_owned(), Value::Array(list));
        }
    }
    let pages = if second {
        pages.into_iter().map(|(_, page)| page).collect()
    } else {
        Value::Object(pages.into_iter().map(|(id, page)| (id.to_string(), page)).collect())
    };
    found.insert("pages".to_owned(), pages);
    Ok(())
}

/// Returns one page with the properties that were asked for.
fn properties(
    wiki: &Encyclopedia,
    id: i64,
    entry: &Entry,
    parameters: &Parameters,
    now: Timestamp,
) -> Value {
    let mut page = json!({"pageid": id, "ns": 0, "title": entry.title});
    for property in parameters.list("prop") {
        match property {
            "info" => {
                page["contentmodel"] = json!("wikitext");
                page["pagelanguage"] = json!(wiki.language);
                page["touched"] = json!(now.strftime("%Y-%m-%dT%H:%M:%SZ").to_string());
                page["length"] = json!(entry.size);
                if parameters.list("inprop").contains(&"url") {
                    let url = json!(wiki.address(&entry.title));
                    page["fullurl"] = url.clone();
                    page["canonicalurl"] = url;
                }
            }
            "pageprops" if entry.disambiguation => {
                page["pageprops"] = json!({"disambiguation": ""});
            }
            "extracts" => {
                let extract = extract(entry, parameters);
                page["extract"] = json!(extract);
            }
            "links" if !entry.links.is_empty() => {
                let links = entry.links.iter().map(|title| json!({"ns": 0, "title": title}));
                page["links"] = links.collect();
            }
            "revisions" => page["revisions"] = json!([{"timestamp": timestamp(entry)}]),
            _ => {}
        }
    }
    page
}

/// Returns the text of a page as far as it was asked for.
fn extract(entry: &Entry, parameters: &Parameters) -> String {
    let plain = parameters.flag("explaintext");
    let whole = if parameters.flag("exintro") { entry.intro() } else { entry.text.trim() };
    let text = if parameters.flag("exsentences") {
        sentences(whole, parameters.number("exsentences", 1, 1..=10)).to_owned()
    } else if parameters.flag("exchars") {
        whole.chars().take(parameters.number("exchars", 1200, 1..=1200)).collect()
    } else if plain || parameters.flag("exintro") {
        whole.to_owned()
    } else {
        return entry.html.clone();
    };
    if plain { text } else { format!("<p>{}</p>", escape(&text)) }
}
