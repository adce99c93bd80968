//! The properties of pages: `prop=info|pageprops|extracts|links|categories|langlinks|
//! extlinks|redirects|revisions`.
//!
//! Lists are cut to their limits over all pages together and go on with `continue`, whose
//! values are opaque to callers: the page's number, a bar, and how many items are done.

use serde_json::{Value, json};

use super::article::{Entry, sentences};
use super::query::{Target, entry};
use super::{Call, Failure, revisions, timestamp};
use crate::web::reply::escape;

/// The properties that are answered.
pub(super) const ALL: &[&str] = &[
    "info",
    "pageprops",
    "extracts",
    "links",
    "categories",
    "langlinks",
    "extlinks",
    "redirects",
    "revisions",
];

/// Most introductions in one answer; of whole articles there is one.
const MOST_EXTRACTS: usize = 20;

/// Adds all properties that are asked for to the pages; returns whether they are complete.
pub(super) fn add(
    call: &Call<'_>,
    targets: &[Target],
    pages: &mut [(i64, Value)],
    answer: &mut Value,
) -> Result<bool, Failure> {
    let mut complete = true;
    for property in call.list("prop") {
        complete &= match property {
            "info" => {
                info(call, targets, pages);
                true
            }
            "pageprops" => {
                pageprops(call, targets, pages);
                true
            }
            "extracts" => extracts(call, targets, pages, answer)?,
            "revisions" => revisions::add(call, targets, pages, answer)?,
            list => match List::named(list) {
                Some(list) => list.add(call, targets, pages, answer)?,
                None => true,
            },
        };
    }
    Ok(complete)
}

/// Tells how to go on.
pub(super) fn go_on(answer: &mut Value, name: &str, value: &str) {
    answer["continue"][name] = json!(value);
    answer["continue"]["continue"] = json!("||");
}

fn info(call: &Call<'_>, targets: &[Target], pages: &mut [(i64, Value)]) {
    let wanted = call.list("inprop");
    for (target, (_, page)) in targets.iter().zip(pages) {
        page["contentmodel"] = json!("markdown");
        page["pagelanguage"] = json!(call.wiki.language);
        page["pagelanguagedir"] = json!("ltr");
        if let Some(entry) = entry(call, target) {
            page["touched"] = json!(timestamp(entry.date()));
            page["lastrevid"] = json!(entry.revisions.last().map(|last| last.id));
            page["length"] = json!(entry.body().len());
        } else if matches!(target, Target::Redirect(_)) {
            page["redirect"] = call.truth();
        }
        let title = page["title"].as_str().unwrap_or_default().to_owned();
        if wanted.contains(&"url") && !title.is_empty() {
            let url = call.wiki.address(&title);
            page["fullurl"] = json!(url);
            page["editurl"] = json!(format!("{url}?action=edit"));
            page["canonicalurl"] = json!(url);
        }
        if wanted.contains(&"displaytitle") {
            page["displaytitle"] = json!(escape(&title));
        }
    }
}

fn pageprops(call: &Call<'_>, targets: &[Target], pages: &mut [(i64, Value)]) {
    let only = call.list("ppprop");
    for (target, (_, page)) in targets.iter().zip(pages) {
        let is = entry(call, target).is_some_and(|entry| entry.disambiguation);
        if is && (only.is_empty() || only.contains(&"disambiguation")) {
            page["pageprops"] = json!({"disambiguation": ""});
        }
    }
}

/// Adds texts: of whole articles one in an answer, of introductions up to 20.
fn extracts(
    call: &Call<'_>,
    targets: &[Target],
    pages: &mut [(i64, Value)],
    answer: &mut Value,
) -> Result<bool, Failure> {
    let most = if call.flag("exintro") { MOST_EXTRACTS } else { 1 };
    if call.number("exlimit", most, 1..=MOST_EXTRACTS)? > most {
        let text = "\"exlimit\" was too large for a whole article extracts request, lowered to 1.";
        call.warn(answer, "extracts", text);
    }
    let limit = call.number("exlimit", most, 1..=most)?;
    let start = call.number("excontinue", 0, 0..=targets.len())?;
    let with_text = targets.iter().zip(pages.iter_mut());
    let mut with_text =
        with_text.filter_map(|(target, (_, page))| Some((entry(call, target)?, page))).skip(start);
    for (entry, page) in with_text.by_ref().take(limit) {
        page["extract"] = json!(extract(call, entry)?);
    }
    if with_text.next().is_some() {
        go_on(answer, "excontinue", &(start + limit).to_string());
        return Ok(false);
    }
    Ok(true)
}

/// Returns the text of a page as far as it was asked for.
fn extract(call: &Call<'_>, entry: &Entry) -> Result<String, Failure> {
    let plain = call.flag("explaintext");
    let rendered = entry.rendered();
    let whole = if call.flag("exintro") { rendered.intro() } else { rendered.text.trim() };
    let text = if call.flag("exsentences") {
        sentences(whole, call.number("exsentences", 1, 1..=10)?).to_owned()
    } else if call.flag("exchars") {
        let most = call.number("exchars", 1200, 1..=1200)?;
        match whole.char_indices().nth(most) {
            Some((end, _)) => format!("{}...", whole.get(..end).unwrap_or(whole)),
            None => whole.to_owned(),
        }
    } else if plain {
        whole.to_owned()
    } else if call.flag("exintro") {
        return Ok(rendered.section_html(0).unwrap_or_default().to_owned());
    } else {
        return Ok(rendered.html.clone());
    };
    Ok(if plain { text } else { format!("<p>{}</p>", escape(&text)) })
}

/// A property that is a list of things of a page.
#[derive(Debug, Clone, Copy)]
enum List {
    Links,
    Categories,
    Languages,
    External,
    Redirects,
}

impl List {
    fn named(name: &str) -> Option<Self> {
        Some(match name {
            "links" => Self::Links,
            "categories" => Self::Categories,
            "langlinks" => Self::Languages,
            "extlinks" => Self::External,
            "redirects" => Self::Redirects,
            _ => return None,
        })
    }

    /// Returns the property, its limit and how it goes on.
    fn names(self) -> (&'static str, &'static str, &'static str) {
        match self {
            Self::Links => ("links", "pllimit", "plcontinue"),
            Self::Categories => ("categories", "cllimit", "clcontinue"),
            Self::Languages => ("langlinks", "lllimit", "llcontinue"),
            Self::External => ("extlinks", "ellimit", "elcontinue"),
            Self::Redirects => ("redirects", "rdlimit", "rdcontinue"),
        }
    }

    /// Adds the things of all pages, as far as the limit goes.
    fn add(
        self,
        call: &Call<'_>,
        targets: &[Target],
        pages: &mut [(i64, Value)],
        answer: &mut Value,
    ) -> Result<bool, Failure> {
        let (name, limit, cursor) = self.names();
        let mut left = call.number(limit, 10, 1..=500)?;
        let mut from = call.get(cursor).map(|at| position(at, pages)).transpose()?;
        for (target, (id, page)) in targets.iter().zip(pages.iter_mut()) {
            let skip = match from {
                Some((page, _)) if page != *id => continue,
                Some((_, skip)) => skip,
                None => 0,
            };
            from = None;
            let items = self.items(call, target);
            if items.len() <= skip {
                continue;
            }
            if left == 0 {
                go_on(answer, cursor, &format!("{id}|{skip}"));
                return Ok(false);
            }
            let shown: Vec<_> = items.iter().skip(skip).take(left).cloned().collect();
            let done = skip + shown.len();
            left -= shown.len();
            page[name] = Value::Array(shown);
            if done < items.len() {
                go_on(answer, cursor, &format!("{id}|{done}"));
                return Ok(false);
            }
        }
        Ok(true)
    }

    /// Returns the things of one page.
    fn items(self, call: &Call<'_>, target: &Target) -> Vec<Value> {
        if let (Self::Links, Target::Redirect(place)) = (self, target) {
            let target = call.wiki.redirects.get(*place);
            let entry = target.and_then(|(_, number)| call.wiki.entries.get(*number));
            return entry.iter().map(|entry| json!({"ns": 0, "title": entry.title})).collect();
        }
        let Some(entry) = entry(call, target) else { return Vec::new() };
        match self {
            Self::Links => {
                let only = call.list("plnamespace");
                let fits = only.is_empty() || only.contains(&"0");
                let links = entry.rendered().links.iter().filter(|_| fits);
                links.map(|title| json!({"ns": 0, "title": title})).collect()
            }
            Self::Categories => {
                let names = entry.categories.iter();
                names.map(|name| json!({"ns": 14, "title": format!("Category:{name}")})).collect()
            }
            Self::Languages => {
                let only = call.get("lllang");
                let fits = |language: &str| only.is_none_or(|only| only == language);
                let all = entry.languages.iter().filter(|(language, _, _)| fits(language));
                all.map(|(language, title, address)| {
                    let mut link = json!({"lang": language});
                    if call.list("llprop").contains(&"url") || call.flag("llurl") {
                        link["url"] = json!(address);
                    }
                    link[call.named("title")] = json!(title);
                    link
                })
                .collect()
            }
            Self::External => {
                let all = entry.rendered().external.iter();
                all.map(|url| json!({ call.named("url"): url })).collect()
            }
            Self::Redirects => {
                let articles = call.wiki.entries.len();
                let all = call.wiki.redirects.iter().enumerate();
                all.filter(|(_, (title, _))| entry.redirects.contains(title))
                    .map(|(place, (title, _))| {
                        json!({"pageid": articles + place + 1, "ns": 0, "title": title})
                    })
                    .collect()
            }
        }
    }
}

/// Reads where a list goes on.
fn position(written: &str, pages: &[(i64, Value)]) -> Result<(i64, usize), Failure> {
    let read = || {
        let (page, done) = written.split_once('|')?;
        let page = page.parse().ok().filter(|page| pages.iter().any(|(id, _)| id == page))?;
        Some((page, done.parse().ok()?))
    };
    read().ok_or_else(bad_continue)
}

/// The error for a `continue` value that no answer gave.
pub(super) fn bad_continue() -> Failure {
    let info = "Invalid continue param. You should pass the original value returned by the \
                previous query.";
    ("badcontinue", info.to_owned())
}
