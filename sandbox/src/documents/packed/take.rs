//! One member of an archive, by its name.

use std::io::Read;

use strsim::jaro_winkler;

use super::walk::{Allowance, Holds, Next, Packing};
use crate::documents::Unreadable;

/// What stands between an archive and its member: `mail.zip!/inbox/3.eml`.
pub(crate) const SEPARATOR: &str = "!/";

/// The largest member that is handed out, in bytes; what crosses to the host is bounded.
const LARGEST: usize = 22 << 20;

/// The deepest path of archives in archives.
const DEEPEST: usize = 5;

/// The most names that an error lists.
const LISTED: usize = 20;

/// Returns the bytes of a member; `path` may go through archives in archives.
pub(crate) fn take(name: &str, bytes: Vec<u8>, path: &str) -> Result<Vec<u8>, Unreadable> {
    let parts: Vec<&str> = path.split(SEPARATOR).collect();
    if parts.len() > DEEPEST {
        return Err(Unreadable::TooMuch(format!("archives nest deeper than {DEEPEST}")));
    }
    let (mut bytes, mut holder) = (bytes, name.to_owned());
    for part in parts {
        let Some(packing) = Packing::of(&bytes) else {
            let what = format!("`{holder}`, which is no archive, so it has no member `{part}`");
            return Err(Unreadable::Unsupported(what));
        };
        bytes = one(packing, &holder, &bytes, part)?;
        part.clone_into(&mut holder);
    }
    if bytes.len() > LARGEST {
        let what = format!(
            "the member has {} bytes, more than {} MiB; unpack it with `execute_code`",
            bytes.len(),
            LARGEST >> 20
        );
        return Err(Unreadable::TooMuch(what));
    }
    Ok(bytes)
}

/// Unpacks the member of that name.
fn one(packing: Packing, holder: &str, bytes: &[u8], wanted: &str) -> Result<Vec<u8>, Unreadable> {
    let allowance = Allowance::default();
    // Some programs write members as Windows writes paths.
    let wanted = plain(wanted).replace('\\', "/");
    let mut names = Vec::new();
    let mut found: Option<Result<Vec<u8>, String>> = None;
    packing.walk(holder, bytes, &mut |member, reader: Option<&mut dyn Read>| {
        if plain(&member.name).replace('\\', "/") != wanted || member.holds == Holds::Folder {
            names.push(member.name);
            return Next::Go;
        }
        found = Some(match (&member.holds, reader) {
            (Holds::File, Some(reader)) => allowance.unpack(member.size, reader),
            (Holds::Link(target), _) => Err(format!("it is a link to `{target}`")),
            (Holds::Locked, _) => Err("it is protected by a password".to_owned()),
            (Holds::Unread(why), _) => Err(why.clone()),
            (Holds::File | Holds::Folder, _) => Ok(Vec::new()),
        });
        Next::Stop
    })?;
    match found {
        Some(Ok(bytes)) => Ok(bytes),
        Some(Err(why)) => Err(Unreadable::Member(wanted, why)),
        None => Err(missing(packing, &wanted, names)),
    }
}

/// A name without what may or may not stand before and after it.
fn plain(name: &str) -> &str {
    let mut name = name;
    while let Some(rest) = name.strip_prefix("./").or_else(|| name.strip_prefix('/')) {
        name = rest;
    }
    name.trim_end_matches('/')
}

/// Says what there is instead, the nearest first.
fn missing(packing: Packing, wanted: &str, mut names: Vec<String>) -> Unreadable {
    let folder = format!("{wanted}/");
    let within: Vec<String> =
        names.iter().filter(|name| plain(name).starts_with(&folder)).cloned().collect();
    let is_folder = !within.is_empty();
    if is_folder {
        names = within;
    } else {
        names.retain(|name| !name.ends_with('/'));
        let far = |name: &String| jaro_winkler(plain(name), wanted);
        names.sort_by(|a, b| far(b).total_cmp(&far(a)));
    }
    let listed: Vec<String> = names.iter().take(LISTED).map(|it| format!("`{it}`")).collect();
    let more = names.len().saturating_sub(LISTED);
    let more = if more > 0 { format!(" and {more} more") } else { String::new() };
    let what = if is_folder { "is a folder in it" } else { "is no member of it" };
    Unreadable::Unsupported(format!(
        "a {}, and `{wanted}` {what}; it holds {}{more}",
        packing.name(),
        if listed.is_empty() { "nothing".to_owned() } else { listed.join(", ") }
    ))
}
