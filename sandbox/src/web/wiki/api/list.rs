//! Lists of pages: `list=search|allpages|prefixsearch|categorymembers`, the same as
//! generators, and `action=opensearch`.

use serde_json::{Map, Value, json};

use super::article::{Entry, normal_title};
use super::query::Target;
use super::{Call, Failure, timestamp, unrecognized};
use crate::web::reply::escape;
use crate::web::search::{Hits, Query, Scope};
use crate::words::folded;

/// Adds a list to the answer; returns whether there is such a list.
pub(super) fn answer(
    call: &Call<'_>,
    list: &str,
    answer: &mut Value,
    found: &mut Map<String, Value>,
) -> Result<bool, Failure> {
    match list {
        "search" => search(call, answer, found)?,
        "allpages" => {
            let entries = all_pages(call, "", answer)?;
            let pages = entries.into_iter().map(|target| page(call, &target)).collect();
            found.insert(list.to_owned(), pages);
        }
        "prefixsearch" => {
            let entries = by_prefix(call, call.needed("pssearch")?, "pslimit")?;
            let pages = entries.into_iter().map(|(_, target)| page(call, &target)).collect();
            found.insert(list.to_owned(), pages);
        }
        "categorymembers" => {
            let members = members(call, "", answer)?;
            let pages = members.into_iter().map(|target| page(call, &target)).collect();
            found.insert(list.to_owned(), pages);
        }
        _ => return Ok(false),
    }
    Ok(true)
}

/// Returns the pages of a list that is used as a generator.
pub(super) fn generated(
    call: &Call<'_>,
    generator: &str,
    answer: &mut Value,
) -> Result<Vec<Target>, Failure> {
    match generator {
        "search" => {
            let (hits, skip, limit) = hits(call, "g")?;
            if skip + limit < hits.total {
                answer["continue"] = json!({"gsroffset": skip + limit, "continue": "gsroffset||"});
            }
            let found = hits.hits.iter().filter_map(|hit| call.wiki.find(&hit.title));
            Ok(found.map(|(number, _)| Target::Article(number)).collect())
        }
        "allpages" => all_pages(call, "g", answer),
        "prefixsearch" => {
            let found = by_prefix(call, call.needed("gpssearch")?, "gpslimit")?;
            Ok(found.into_iter().map(|(_, target)| target).collect())
        }
        "categorymembers" => members(call, "g", answer),
        other => Err(unrecognized("generator", other)),
    }
}

/// Returns the name of a parameter, with the `g` of generators where it is one.
fn named(prefix: &str, name: &'static str) -> &'static str {
    match (prefix, name) {
        ("", name) => name,
        (_, "srsearch") => "gsrsearch",
        (_, "srlimit") => "gsrlimit",
        (_, "sroffset") => "gsroffset",
        (_, "apfrom") => "gapfrom",
        (_, "apto") => "gapto",
        (_, "apprefix") => "gapprefix",
        (_, "aplimit") => "gaplimit",
        (_, "apdir") => "gapdir",
        (_, "apcontinue") => "gapcontinue",
        (_, "apfilterredir") => "gapfilterredir",
        (_, "cmtitle") => "gcmtitle",
        (_, "cmlimit") => "gcmlimit",
        (_, "cmcontinue") => "gcmcontinue",
        (_, name) => name,
    }
}

fn page(call: &Call<'_>, target: &Target) -> Value {
    let (id, title) = match target {
        Target::Article(number) => (*number, call.wiki.entries.get(*number).map(|it| &it.title)),
        Target::Redirect(place) => {
            let title = call.wiki.redirects.get(*place).map(|(title, _)| title);
            (call.wiki.entries.len() + place, title)
        }
        Target::Revision(..) | Target::Missing(_) | Target::Invalid(..) | Target::NoNumber(_) => {
            return Value::Null;
        }
    };
    json!({"pageid": id + 1, "ns": 0, "title": title})
}

/// Searches; returns the hits, how many were passed over and how many were asked for.
fn hits(call: &Call<'_>, prefix: &str) -> Result<(Hits, usize, usize), Failure> {
    let text = call.needed(named(prefix, "srsearch"))?;
    let limit = call.number(named(prefix, "srlimit"), 10, 1..=500)?;
    let skip = call.number(named(prefix, "sroffset"), 0, 0..=10_000)?;
    let scope = Scope { host: Some(&call.wiki.host), ..Scope::default() };
    let query = match call.get("srwhat") {
        Some("title") => Query::parse(&format!("intitle:\"{}\"", text.replace('"', " "))),
        None | Some("text" | "nearmatch") => Query::parse(text),
        Some(other) => return Err(unrecognized("srwhat", other)),
    };
    Ok((call.engine.search(&query, scope, skip, limit), skip, limit))
}

fn search(
    call: &Call<'_>,
    answer: &mut Value,
    found: &mut Map<String, Value>,
) -> Result<(), Failure> {
    let (hits, skip, limit) = hits(call, "")?;
    if skip + limit < hits.total {
        answer["continue"] = json!({"sroffset": skip + limit, "continue": "-||"});
    }
    let wanted = call.get("srprop").map(|_| call.list("srprop"));
    let wants = |name: &str| wanted.as_ref().is_none_or(|wanted| wanted.contains(&name));
    let one = |hit: &crate::web::search::Hit| {
        let (number, entry) = call.wiki.find(&hit.title)?;
        let mut one = json!({"ns": 0, "title": entry.title, "pageid": number + 1});
        if wants("size") {
            one["size"] = json!(entry.body().len());
        }
        if wants("wordcount") {
            one["wordcount"] = json!(entry.rendered().text.split_whitespace().count());
        }
        if wants("snippet") {
            one["snippet"] = json!(escape(&hit.snippet));
        }
        if wants("timestamp") {
            one["timestamp"] = json!(timestamp(entry.date()));
        }
        Some(one)
    };
    // Suggestions (`srinfo=suggestion`) are never made: nothing is guessed.
    if call.get("srinfo").is_none() || call.list("srinfo").contains(&"totalhits") {
        found.insert("searchinfo".to_owned(), json!({"totalhits": hits.total}));
    }
    found.insert("search".to_owned(), hits.hits.iter().filter_map(one).collect());
    Ok(())
}

/// Returns all pages of a range of titles, in the order of titles.
fn all_pages(call: &Call<'_>, prefix: &str, answer: &mut Value) -> Result<Vec<Target>, Failure> {
    let text = |name: &'static str| call.get(named(prefix, name)).map(normal_title);
    let filter = call.get(named(prefix, "apfilterredir")).unwrap_or("all");
    if !["all", "redirects", "nonredirects"].contains(&filter) {
        return Err(unrecognized(named(prefix, "apfilterredir"), filter));
    }
    let mut pages: Vec<(&str, Target)> = Vec::new();
    if filter != "redirects" {
        let entries = call.wiki.entries.iter().enumerate();
        pages.extend(entries.map(|(number, it)| (it.title.as_str(), Target::Article(number))));
    }
    if filter != "nonredirects" {
        let redirects = call.wiki.redirects.iter().enumerate();
        pages.extend(redirects.map(|(place, (it, _))| (it.as_str(), Target::Redirect(place))));
    }
    pages.sort_by_key(|(title, _)| *title);
    let backwards = call.get(named(prefix, "apdir")) == Some("descending");
    if backwards {
        pages.reverse();
    }
    let (from, to) = (text("apcontinue").or(text("apfrom")), text("apto"));
    let head = text("apprefix").unwrap_or_default();
    let past = |title: &str, bound: &str| if backwards { title > bound } else { title < bound };
    pages.retain(|(title, _)| {
        title.starts_with(&head)
            && from.as_deref().is_none_or(|from| !past(title, from))
            && to.as_deref().is_none_or(|to| !past(to, title))
    });
    let limit = call.number(named(prefix, "aplimit"), 10, 1..=500)?;
    if let Some((next, _)) = pages.get(limit) {
        let main = if prefix.is_empty() { "-||" } else { "gapcontinue||" };
        answer["continue"] = json!({named(prefix, "apcontinue"): next, "continue": main});
    }
    Ok(pages.into_iter().take(limit).map(|(_, target)| target).collect())
}

/// Returns the articles whose title, or a redirect to them, begins so, whatever the case.
fn by_prefix(
    call: &Call<'_>,
    written: &str,
    limit: &'static str,
) -> Result<Vec<(String, Target)>, Failure> {
    let head = folded(&normal_title(written));
    let mut found: Vec<(&str, usize)> = call
        .wiki
        .titles
        .iter()
        .filter(|(title, _)| folded(title).starts_with(&head))
        .map(|(title, number)| (title.as_str(), *number))
        .collect();
    // A whole title first, then titles before redirects, then by length and alphabet.
    let redirect = |title: &str, number: usize| call.wiki.entries[number].title != title;
    found.sort_by(|(a, one), (b, other)| {
        let rank = |title: &str, number: usize| {
            (folded(title) != head, redirect(title, number), title.chars().count())
        };
        rank(a, *one).cmp(&rank(b, *other)).then(a.cmp(b))
    });
    let mut seen = std::collections::HashSet::new();
    found.retain(|(_, number)| seen.insert(*number));
    found.truncate(call.number(limit, 10, 1..=500)?);
    Ok(found
        .into_iter()
        .map(|(title, number)| (title.to_owned(), Target::Article(number)))
        .collect())
}

/// Returns the articles of a category.
fn members(call: &Call<'_>, prefix: &str, answer: &mut Value) -> Result<Vec<Target>, Failure> {
    let title = call.needed(named(prefix, "cmtitle"))?;
    let Some(name) = title.strip_prefix("Category:") else {
        let info = "The category name you entered is not valid.";
        return Err(("invalidcategory", info.to_owned()));
    };
    let members = call.wiki.categories.get(&normal_title(name)).map_or(&[][..], Vec::as_slice);
    let limit = call.number(named(prefix, "cmlimit"), 10, 1..=500)?;
    let skip = call.number(named(prefix, "cmcontinue"), 0, 0..=members.len())?;
    if skip + limit < members.len() {
        let main = if prefix.is_empty() { "-||" } else { "gcmcontinue||" };
        let next = (skip + limit).to_string();
        answer["continue"] = json!({named(prefix, "cmcontinue"): next, "continue": main});
    }
    Ok(members.iter().skip(skip).take(limit).map(|number| Target::Article(*number)).collect())
}

/// Answers `action=opensearch`: what was asked, titles, descriptions (always empty, as
/// live), addresses.
pub(super) fn opensearch(call: &Call<'_>) -> Result<Value, Failure> {
    let text = call.needed("search")?;
    let found = by_prefix(call, text, "limit")?;
    let resolve = call.get("redirects") == Some("resolve");
    let title = |(title, target): &(String, Target)| match target {
        Target::Article(number) if resolve => call
            .wiki
            .entries
            .get(*number)
            .map_or_else(|| title.clone(), |it: &Entry| it.title.clone()),
        Target::Article(_)
        | Target::Revision(..)
        | Target::Redirect(_)
        | Target::Missing(_)
        | Target::Invalid(..)
        | Target::NoNumber(_) => title.clone(),
    };
    let titles: Vec<String> = found.iter().map(title).collect();
    let addresses: Vec<String> = titles.iter().map(|title| call.wiki.address(title)).collect();
    let about = vec![""; titles.len()];
    Ok(json!([text, titles, about, addresses]))
}
