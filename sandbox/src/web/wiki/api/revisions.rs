//! `prop=revisions`: the history of articles.
//!
//! Without anything that walks through a history, each page has the one revision that was
//! asked for (the last, or that of `revids`). `rvlimit`, `rvdir`, `rvstart`, `rvend` and
//! `rvuser` walk, and only through a single page.

use jiff::Timestamp;
use jiff::civil::Date;
use jiff::tz::Offset;
use serde_json::{Map, Value, json};

use super::article::{Entry, Revision};
use super::property::{bad_continue, go_on};
use super::query::{Target, entry};
use super::{Call, Failure, before, timestamp};

/// What walks through a history.
const WALKING: [&str; 7] =
    ["rvlimit", "rvdir", "rvstart", "rvend", "rvstartid", "rvendid", "rvuser"];

/// What is told of a revision unless `rvprop` says otherwise.
const USUAL: [&str; 5] = ["ids", "timestamp", "flags", "comment", "user"];

/// Adds revisions to the pages; returns whether they are complete.
pub(super) fn add(
    call: &Call<'_>,
    targets: &[Target],
    pages: &mut [(i64, Value)],
    answer: &mut Value,
) -> Result<bool, Failure> {
    let known = [
        "ids",
        "timestamp",
        "flags",
        "comment",
        "parsedcomment",
        "user",
        "size",
        "content",
        "contentmodel",
        "slotsize",
        "tags",
    ];
    let mut wanted = call.list("rvprop");
    for unknown in wanted.iter().filter(|name| !known.contains(name)) {
        let text = format!("Unrecognized value for parameter \"rvprop\": {unknown}.");
        call.warn(answer, "revisions", &text);
    }
    if wanted.is_empty() {
        wanted = USUAL.to_vec();
    }
    let walks = WALKING.iter().any(|name| call.flag(name));
    if walks && targets.len() > 1 {
        let info = "\"titles\", \"pageids\" or a generator was used to supply multiple pages, but \
                    the \"rvlimit\", \"rvstartid\", \"rvendid\", \"rvdir=newer\", \"rvuser\", \
                    \"rvstart\", and \"rvend\" parameters may only be used on a single page.";
        return Err(("multpages", info.to_owned()));
    }
    let mut complete = true;
    for (target, (_, page)) in targets.iter().zip(pages) {
        let Some(entry) = entry(call, target) else { continue };
        let shown = if walks {
            let (shown, next) = walk(call, entry)?;
            if let Some(next) = next {
                let day = next.date.strftime("%Y%m%d000000");
                go_on(answer, "rvcontinue", &format!("{day}|{}", next.id));
                complete = false;
            }
            shown
        } else {
            vec![one(target, entry)]
        };
        page["revisions"] =
            shown.into_iter().map(|place| described(call, entry, place, &wanted)).collect();
    }
    Ok(complete)
}

/// Returns the place of the revision that a target means.
fn one(target: &Target, entry: &Entry) -> usize {
    let last = entry.revisions.len().saturating_sub(1);
    match target {
        Target::Revision(_, id) => entry.revisions.iter().position(|it| it.id == *id),
        Target::Article(_)
        | Target::Redirect(_)
        | Target::Missing(_)
        | Target::Invalid(..)
        | Target::NoNumber(_) => None,
    }
    .unwrap_or(last)
}

/// Returns the places of the revisions that are asked for, and the one to go on with.
fn walk<'e>(
    call: &Call<'_>,
    entry: &'e Entry,
) -> Result<(Vec<usize>, Option<&'e Revision>), Failure> {
    let newer = match call.get("rvdir") {
        None | Some("older") => false,
        Some("newer") => true,
        Some(other) => return Err(super::unrecognized("rvdir", other)),
    };
    let (first, last) = (day(call, "rvstart")?, day(call, "rvend")?);
    let (from, to) = if newer { (first, last) } else { (last, first) };
    let id = |name: &'static str| call.number(name, 0, 0..=usize::MAX).map(|id| id as u64);
    let (first, last) = (id("rvstartid")?, id("rvendid")?);
    let (from_id, to_id) = if newer { (first, last) } else { (last, first) };
    let most = if call.list("rvprop").contains(&"content") { 50 } else { 500 };
    let limit = call.number("rvlimit", 10, 1..=most)?;
    let mut places: Vec<usize> = (0..entry.revisions.len())
        .filter(|place| {
            let revision = &entry.revisions[*place];
            from.is_none_or(|from| revision.date >= from)
                && to.is_none_or(|to| revision.date <= to)
                && (from_id == 0 || revision.id >= from_id)
                && (to_id == 0 || revision.id <= to_id)
                && call.get("rvuser").is_none_or(|user| revision.user == user)
        })
        .collect();
    if !newer {
        places.reverse();
    }
    if let Some(written) = call.get("rvcontinue") {
        let id = written.split_once('|').and_then(|(_, id)| id.parse::<u64>().ok());
        let at = places.iter().position(|place| Some(entry.revisions[*place].id) == id);
        places.drain(..at.ok_or_else(bad_continue)?);
    }
    let next = places.get(limit).and_then(|place| entry.revisions.get(*place));
    places.truncate(limit);
    Ok((places, next))
}

/// Reads a time as MediaWiki does: ISO 8601, `20190502000000`, or seconds since 1970.
/// Revisions have days, so the time of day is dropped.
fn day(call: &Call<'_>, name: &'static str) -> Result<Option<Date>, Failure> {
    let Some(written) = call.get(name) else { return Ok(None) };
    let digits = written.bytes().all(|byte| byte.is_ascii_digit());
    let compact = || {
        let text = written.get(..8).filter(|_| digits && written.len() == 14)?;
        let number: u32 = text.parse().ok()?;
        let (year, month, day) = (number / 10_000, number / 100 % 100, number % 100);
        Date::new(year.try_into().ok()?, month.try_into().ok()?, day.try_into().ok()?).ok()
    };
    let seconds = || {
        let seconds = written.parse().ok().filter(|_| digits)?;
        Some(Offset::UTC.to_datetime(Timestamp::from_second(seconds).ok()?).date())
    };
    let iso = || written.get(..10).and_then(|day| day.parse().ok());
    let read = compact().or_else(seconds).or_else(iso);
    let bad = || {
        let info = format!("Invalid value \"{written}\" for timestamp parameter \"{name}\".");
        ("badtimestamp", info)
    };
    read.map(Some).ok_or_else(bad)
}

/// Returns one revision with what is asked for.
fn described(call: &Call<'_>, entry: &Entry, place: usize, wanted: &[&str]) -> Value {
    let Some(revision) = entry.revisions.get(place) else { return Value::Null };
    let mut out = Map::new();
    let mut put = |name: &str, value: Value| out.insert(name.to_owned(), value);
    for property in wanted {
        match *property {
            "ids" => {
                put("revid", json!(revision.id));
                put("parentid", json!(before(entry, place).map_or(0, |old| old.id)));
            }
            "flags" if call.second => {
                put("minor", json!(false));
            }
            "timestamp" => {
                put("timestamp", json!(timestamp(revision.date)));
            }
            "user" => {
                put("user", json!(revision.user));
            }
            "comment" | "parsedcomment" => {
                put(property, json!(revision.comment));
            }
            "size" => {
                put("size", json!(revision.body.len()));
            }
            "tags" => {
                put("tags", json!([]));
            }
            "content" => {
                let (name, body) = (call.named("content"), &revision.body);
                let content = json!({"contentmodel": "markdown",
                    "contentformat": "text/markdown", name: body});
                if call.flag("rvslots") {
                    put("slots", json!({ "main": content }));
                } else if let Value::Object(content) = content {
                    for (name, value) in content {
                        put(&name, value);
                    }
                }
            }
            _ => {}
        }
    }
    Value::Object(out)
}
