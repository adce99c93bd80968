//! The search engine of the hermetic web.
//!
//! It knows every listed page and article, and ranks by how well words fit (BM25;
//! titles count more than headings, headings more than text). The order is a pure
//! function of the pages and the query: equal scores are ordered by URL. The index is
//! kept on disk under the digest of what went into it, so it is built once.

mod document;
mod engine;
mod index;
mod query;
mod snippet;

pub(super) use document::{Document, declared_date};
pub(super) use engine::{Engine, Hit, Hits, Scope};
pub(super) use query::Query;

use super::media::media_type;
use super::pages::{File, encoded};
use crate::encoding::decode;
use wildgym_tasks::environment::Site;

/// Reads the documents off the files of a site. A file that is served at several
/// paths counts once, under the shortest.
pub(super) fn documents<'a>(
    site: &Site,
    files: impl Iterator<Item = (&'a String, &'a File)>,
) -> Vec<Document> {
    let mut files: Vec<_> = files.collect();
    files.sort_by_key(|(path, _)| (path.len(), path.as_str()));
    let mut seen = std::collections::HashSet::new();
    files.retain(|(path, file)| seen.insert(&file.source) && !is_unlisted(site, path));
    files.into_iter().filter_map(|(path, file)| page(site, path, file)).collect()
}

/// Reads one file; `None` for what is not listed: pages that say so, and what is no
/// page (data, images, archives).
fn page(site: &Site, path: &str, file: &File) -> Option<Document> {
    let media = media_type(&file.content_type);
    let text = || decode(&file.body, Some(&file.content_type)).text;
    let (page, date) = match media.as_str() {
        "text/html" => {
            let html = text();
            (document::read(&html), declared_date(&html))
        }
        "text/plain" | "text/markdown" => {
            let text = text().split_whitespace().collect::<Vec<_>>().join(" ");
            (document::PageText { text, ..document::PageText::default() }, None)
        }
        _ => return None,
    };
    if page.unlisted {
        return None;
    }
    let name = path.rsplit('/').find(|part| !part.is_empty()).unwrap_or(&site.host);
    let title = if page.title.is_empty() { name.to_owned() } else { page.title };
    Some(Document {
        host: site.host.clone(),
        url: format!("https://{}{}", site.host, encoded(path)),
        source: site.meta.title.clone(),
        title,
        headings: page.headings,
        text: page.text,
        date,
        news: page.news,
    })
}

/// Returns whether the site keeps a path out of the search engine.
pub(super) fn is_unlisted(site: &Site, path: &str) -> bool {
    site.meta.hidden().any(|pattern| matches_pattern(pattern, path))
}

/// Matches a path against a pattern in which `*` stands for any text.
pub(super) fn matches_pattern(pattern: &str, path: &str) -> bool {
    let mut parts = pattern.split('*');
    let Some(mut rest) = parts.next().and_then(|first| path.strip_prefix(first)) else {
        return false;
    };
    let mut parts = parts.peekable();
    if parts.peek().is_none() {
        return rest.is_empty();
    }
    while let Some(part) = parts.next() {
        if parts.peek().is_none() {
            return rest.ends_with(part);
        }
        match rest.find(part) {
            Some(at) => rest = &rest[at + part.len()..],
            None => return false,
        }
    }
    true
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_star_stands_for_any_text() {
        let table = [
            ("/docs/*", "/docs/api", true, "below"),
            ("/docs/*", "/docs", false, "the folder itself"),
            ("*", "/", true, "everything"),
            ("/a", "/a", true, "no star, the same"),
            ("/a", "/ab", false, "no star, longer"),
            ("*.csv", "/data/x.csv", true, "an ending"),
            ("/*/draft-*", "/news/draft-1", true, "two stars"),
            ("/*/draft-*", "/news/final-1", false, "two stars, no match"),
            ("/a*a", "/a", false, "the two ends do not overlap"),
        ];
        for (pattern, path, want, why) in table {
            assert_eq!(matches_pattern(pattern, path), want, "{pattern} {path}: {why}");
        }
    }
}
