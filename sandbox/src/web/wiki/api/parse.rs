//! `action=parse`: an article, or a revision of it, as HTML with what is in it.

use serde_json::{Value, json};

use super::article::{Entry, Rendered, normal_title};
use super::{Call, Failure};
use crate::web::reply::escape;

/// What is told unless `prop` says otherwise.
const USUAL: [&str; 8] = [
    "text",
    "langlinks",
    "categories",
    "links",
    "externallinks",
    "sections",
    "revid",
    "displaytitle",
];

/// Answers `action=parse`.
pub(super) fn answer(call: &Call<'_>) -> Result<Value, Failure> {
    let (number, entry, place) = target(call)?;
    let Some(revision) = entry.revisions.get(place) else {
        return Err(("missingtitle", "The page you specified doesn't exist.".to_owned()));
    };
    let rendered = if place + 1 == entry.revisions.len() {
        entry.rendered().clone()
    } else {
        Rendered::new(&revision.body)
    };
    let section = match call.get("section") {
        None => None,
        Some(written) => Some(written.parse::<usize>().map_err(|_| {
            let info = "The \"section\" parameter must be a valid section ID.";
            ("invalidsection", info.to_owned())
        })?),
    };
    let (html, source) = match section {
        None => (rendered.html.as_str(), revision.body.as_str()),
        Some(number) => {
            let parts =
                rendered.section_html(number).zip(rendered.section_source(&revision.body, number));
            parts.ok_or_else(|| ("nosuchsection", format!("There is no section {number}.")))?
        }
    };
    let wanted = match call.list("prop") {
        wanted if wanted.is_empty() => USUAL.to_vec(),
        wanted => wanted,
    };
    let mut answer = json!({});
    let mut parsed = json!({"title": entry.title, "pageid": number + 1});
    for property in wanted {
        let text = |text: &str| if call.second { json!(text) } else { json!({"*": text}) };
        match property {
            "text" => {
                parsed["text"] = text(&format!("<div class=\"mw-parser-output\">{html}</div>"));
            }
            "wikitext" => parsed["wikitext"] = text(source),
            "revid" => parsed["revid"] = json!(revision.id),
            "displaytitle" => parsed["displaytitle"] = json!(escape(&entry.title)),
            "sections" => parsed["sections"] = sections(entry, &rendered),
            "links" => {
                let link = |title: &String| link(call, title);
                parsed["links"] = rendered.links.iter().map(link).collect();
            }
            "externallinks" => parsed["externallinks"] = json!(rendered.external),
            "categories" => {
                let one = |name: &String| json!({"sortkey": "", call.named("category"): name.replace(' ', "_")});
                parsed["categories"] = entry.categories.iter().map(one).collect();
            }
            "langlinks" => {
                let one = |(language, title, url): &(&str, String, String)| json!({"lang": language, "url": url, call.named("title"): title});
                parsed["langlinks"] = entry.languages.iter().map(one).collect();
            }
            other => {
                let text = format!("Unrecognized value for parameter \"prop\": {other}.");
                call.warn(&mut answer, "parse", &text);
            }
        }
    }
    answer["parse"] = parsed;
    Ok(answer)
}

/// Says which page is meant: its number, itself, and the place in its history.
fn target<'a>(call: &Call<'a>) -> Result<(usize, &'a Entry, usize), Failure> {
    let wiki = call.wiki;
    let last = |entry: &Entry| entry.revisions.len().saturating_sub(1);
    let found = if let Some(written) = call.get("oldid") {
        let found = written.parse().ok().and_then(|id| wiki.revision(id));
        return found
            .ok_or_else(|| ("nosuchrevid", format!("There is no revision with ID {written}.")));
    } else if let Some(id) = call.get("pageid") {
        let number = id.parse::<usize>().ok().and_then(|id| id.checked_sub(1));
        let found = number.and_then(|number| Some((number, wiki.entries.get(number)?)));
        found.ok_or_else(|| ("nosuchpageid", format!("There is no page with ID {id}.")))?
    } else if let Some(title) = call.get("page") {
        let title = normal_title(title);
        let found = wiki.find(&title);
        found.ok_or_else(|| ("missingtitle", "The page you specified doesn't exist.".to_owned()))?
    } else {
        let info = "One of the parameters \"page\", \"pageid\" and \"oldid\" is required.";
        return Err(("missingparam", info.to_owned()));
    };
    Ok((found.0, found.1, last(found.1)))
}

fn link(call: &Call<'_>, title: &str) -> Value {
    let exists = call.wiki.find(title).is_some();
    let mut link = json!({"ns": 0});
    if call.second {
        link["title"] = json!(title);
        link["exists"] = json!(exists);
    } else {
        if exists {
            link["exists"] = json!("");
        }
        link["*"] = json!(title);
    }
    link
}

/// Lists the headings with their numbers (`1`, `1.1`, `2`).
fn sections(entry: &Entry, rendered: &Rendered) -> Value {
    let mut open: Vec<(usize, usize)> = Vec::new();
    let mut listed = Vec::new();
    for (place, section) in rendered.sections.iter().enumerate() {
        let mut count = 1;
        while let Some((level, last)) = open.last().copied().filter(|(it, _)| *it >= section.level)
        {
            open.pop();
            if level == section.level || open.last().is_none_or(|(it, _)| *it < section.level) {
                count = last + 1;
            }
        }
        open.push((section.level, count));
        let number: Vec<_> = open.iter().map(|(_, count)| count.to_string()).collect();
        listed.push(json!({
            "toclevel": open.len(), "level": section.level.to_string(),
            "line": escape(&section.title), "number": number.join("."),
            "index": (place + 1).to_string(), "fromtitle": entry.title.replace(' ', "_"),
            "anchor": section.anchor, "linkAnchor": section.anchor,
        }));
    }
    Value::Array(listed)
}
