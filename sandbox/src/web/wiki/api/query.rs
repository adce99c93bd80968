//! `action=query`: which pages are meant, and the answer around them.

use std::collections::HashSet;

use serde_json::{Map, Value, json};

use super::article::{Entry, normal_title};
use super::{Call, Failure, list, property};

/// Most titles in one request.
const MOST_TITLES: usize = 50;

/// The longest title, in bytes.
const LONGEST_TITLE: usize = 255;

/// A page that was asked for.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub(super) enum Target {
    /// An article.
    Article(usize),
    /// An earlier revision of one.
    Revision(usize, u64),
    /// A redirect: its number among them.
    Redirect(usize),
    /// A title that nothing has.
    Missing(String),
    /// What cannot be a title, and why.
    Invalid(String, &'static str),
    /// A number that no page has.
    NoNumber(String),
}

/// What became of what was asked for.
#[derive(Default)]
pub(super) struct Resolved {
    normalized: Vec<Value>,
    redirects: Vec<Value>,
    bad_revisions: Map<String, Value>,
    /// In the order asked, each once.
    pub(super) targets: Vec<Target>,
}

/// Answers `action=query`.
pub(super) fn answer(call: &Call<'_>) -> Result<Value, Failure> {
    let mut answer = json!({});
    let mut found = Map::new();
    for list in call.list("list") {
        if !list::answer(call, list, &mut answer, &mut found)? {
            let text = format!("Unrecognized value for parameter \"list\": {list}.");
            call.warn(&mut answer, "query", &text);
        }
    }
    for meta in call.list("meta") {
        if meta == "siteinfo" {
            found.insert("general".to_owned(), site(call));
        } else {
            let text = format!("Unrecognized value for parameter \"meta\": {meta}.");
            call.warn(&mut answer, "query", &text);
        }
    }
    let unknown = call.list("prop").into_iter().filter(|it| !property::ALL.contains(it));
    for property in unknown {
        let text = format!("Unrecognized value for parameter \"prop\": {property}.");
        call.warn(&mut answer, "query", &text);
    }
    let mut complete = true;
    if ["titles", "pageids", "revids", "generator"].iter().any(|name| call.flag(name)) {
        complete = pages(call, &mut answer, &mut found)?;
    }
    let mut whole = Map::new();
    if complete {
        whole.insert("batchcomplete".to_owned(), call.truth());
    }
    // MediaWiki's order: what is complete, how to go on, warnings, the result.
    for name in ["continue", "warnings"] {
        if let Some(part) = answer.get_mut(name) {
            whole.insert(name.to_owned(), part.take());
        }
    }
    if !found.is_empty() {
        whole.insert("query".to_owned(), Value::Object(found));
    }
    Ok(Value::Object(whole))
}

/// Returns what is known of the site.
fn site(call: &Call<'_>) -> Value {
    let wiki = call.wiki;
    json!({
        "mainpage": wiki.name, "base": format!("https://{}/", wiki.host), "sitename": wiki.name,
        "server": format!("https://{}", wiki.host), "servername": wiki.host,
        "lang": wiki.language, "case": "first-letter", "articlepath": "/wiki/$1",
        "scriptpath": "/w", "script": "/w/index.php",
        "time": call.now.strftime("%Y-%m-%dT%H:%M:%SZ").to_string(),
    })
}

/// Adds the pages that were asked for; returns whether they are complete.
fn pages(
    call: &Call<'_>,
    answer: &mut Value,
    found: &mut Map<String, Value>,
) -> Result<bool, Failure> {
    for name in ["titles", "pageids", "revids"] {
        if call.list(name).len() > MOST_TITLES {
            let info = format!(
                "Too many values supplied for parameter \"{name}\". The limit is {MOST_TITLES}."
            );
            return Err(("toomanyvalues", info));
        }
    }
    let mut resolved = resolve(call);
    if let Some(generator) = call.get("generator") {
        let known = list::generated(call, generator, answer)?;
        let known = known.into_iter().filter(|one| !resolved.targets.contains(one));
        resolved.targets.extend(known.collect::<Vec<_>>());
        if resolved.targets.is_empty() {
            return Ok(true);
        }
    }
    for (name, list) in [("normalized", resolved.normalized), ("redirects", resolved.redirects)] {
        if !list.is_empty() {
            found.insert(name.to_owned(), Value::Array(list));
        }
    }
    if !resolved.bad_revisions.is_empty() {
        found.insert("badrevids".to_owned(), Value::Object(resolved.bad_revisions));
    }
    let mut pages = head(call, &resolved.targets);
    let complete = property::add(call, &resolved.targets, &mut pages, answer)?;
    let pages = if call.second {
        pages.into_iter().map(|(_, page)| page).collect()
    } else {
        Value::Object(pages.into_iter().map(|(id, page)| (id.to_string(), page)).collect())
    };
    found.insert("pages".to_owned(), pages);
    Ok(complete)
}

/// Says which pages are meant by titles, page numbers and revision numbers.
fn resolve(call: &Call<'_>) -> Resolved {
    let mut resolved = Resolved::default();
    let mut seen = HashSet::new();
    let mut add = |targets: &mut Vec<Target>, target: Target| {
        if seen.insert(target.clone()) {
            targets.push(target);
        }
    };
    for written in call.list("titles") {
        let target = title(call, written, &mut resolved);
        add(&mut resolved.targets, target);
    }
    for id in call.list("pageids") {
        let number = id.parse::<usize>().ok().and_then(|id| id.checked_sub(1));
        let articles = call.wiki.entries.len();
        let target = match number {
            Some(number) if number < articles => Target::Article(number),
            Some(number) if number < articles + call.wiki.redirects.len() => {
                followed(call, number - articles, &mut resolved)
            }
            Some(_) | None => Target::NoNumber(id.to_owned()),
        };
        add(&mut resolved.targets, target);
    }
    for id in call.list("revids") {
        match id.parse().ok().and_then(|number| Some((call.wiki.revision(number)?.0, number))) {
            Some((page, number)) => add(&mut resolved.targets, Target::Revision(page, number)),
            None => {
                resolved
                    .bad_revisions
                    .insert(id.to_owned(), json!({"revid": id, "missing": call.truth()}));
            }
        }
    }
    resolved
}

/// Says which page a title means.
fn title(call: &Call<'_>, written: &str, resolved: &mut Resolved) -> Target {
    let title = normal_title(written);
    let bad = ['<', '>', '[', ']', '{', '}', '|'];
    if title.is_empty() || title.contains(bad) || title.contains(char::is_control) {
        return Target::Invalid(
            written.to_owned(),
            "The requested page title contains invalid characters.",
        );
    }
    if title.len() > LONGEST_TITLE {
        return Target::Invalid(written.to_owned(), "The requested page title is too long.");
    }
    if title != written {
        let mut change = json!({"fromencoded": false, "from": written, "to": title});
        if !call.second {
            change = json!({"from": written, "to": title});
        }
        resolved.normalized.push(change);
    }
    match call.wiki.find(&title) {
        Some((number, entry)) if entry.title == title => Target::Article(number),
        Some(_) => {
            let place = call.wiki.redirects.binary_search_by(|(from, _)| from.as_str().cmp(&title));
            place.map_or(Target::Missing(title), |place| followed(call, place, resolved))
        }
        None => Target::Missing(title),
    }
}

/// Follows a redirect where `redirects` asks for it.
fn followed(call: &Call<'_>, place: usize, resolved: &mut Resolved) -> Target {
    let Some((from, number)) = call.wiki.redirects.get(place).filter(|_| call.flag("redirects"))
    else {
        return Target::Redirect(place);
    };
    if let Some(entry) = call.wiki.entries.get(*number) {
        let change = json!({"from": from, "to": entry.title});
        if !resolved.redirects.contains(&change) {
            resolved.redirects.push(change);
        }
    }
    Target::Article(*number)
}

/// Returns the article behind a target, if there is one.
pub(super) fn entry<'a>(call: &Call<'a>, target: &Target) -> Option<&'a Entry> {
    match target {
        Target::Article(number) | Target::Revision(number, _) => call.wiki.entries.get(*number),
        Target::Redirect(_) | Target::Missing(_) | Target::Invalid(..) | Target::NoNumber(_) => {
            None
        }
    }
}

/// Returns the pages with what all of them have, and their keys in the first format.
fn head(call: &Call<'_>, targets: &[Target]) -> Vec<(i64, Value)> {
    let mut missing = 0;
    let mut absent = || {
        missing -= 1;
        missing
    };
    let key = |number: usize| i64::try_from(number + 1).unwrap_or(i64::MAX);
    let mut pages = Vec::new();
    for target in targets {
        pages.push(match target {
            Target::Article(number) | Target::Revision(number, _) => {
                let title = call.wiki.entries.get(*number).map(|entry| &entry.title);
                (key(*number), json!({"pageid": key(*number), "ns": 0, "title": title}))
            }
            Target::Redirect(place) => {
                let id = key(call.wiki.entries.len() + place);
                let title = call.wiki.redirects.get(*place).map(|(title, _)| title);
                (id, json!({"pageid": id, "ns": 0, "title": title}))
            }
            Target::Missing(title) => {
                (absent(), json!({"ns": 0, "title": title, "missing": call.truth()}))
            }
            Target::Invalid(title, why) => {
                (absent(), json!({"title": title, "invalidreason": why, "invalid": call.truth()}))
            }
            Target::NoNumber(id) => {
                let number = id.parse::<i64>();
                let id = number.as_ref().map_or_else(|_| json!(id), |id| json!(id));
                (
                    number.unwrap_or_else(|_| absent()),
                    json!({"pageid": id, "missing": call.truth()}),
                )
            }
        });
    }
    pages
}
