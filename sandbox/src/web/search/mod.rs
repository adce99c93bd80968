//! The search engine of the hermetic web.
//!
//! It knows every listed page and article, and ranks by how well words fit (BM25;
//! titles count more than headings, headings more than text). The order is a pure
//! function of the pages, the query and the logical day: equal scores are ordered by
//! URL. The index is kept on disk under the digest of what went into it, so it is built
//! once. Files that are no pages (PDF, workbooks, …) are listed where a page links to
//! them, by what is written on the link: their content is not read.

mod document;
mod engine;
mod index;
mod paper;
mod query;
mod snippet;

use std::collections::{HashMap, HashSet};

use url::Url;
use wildgym_tasks::environment::Site;

pub(super) use document::{Document, declared_date};
pub(super) use engine::{Engine, Hit, Hits, Scope, Vertical};
pub(super) use index::FORMAT;
pub(super) use query::Query;

use super::files::File;
use super::media::{media_type, suffix};
use super::pages::encoded;
use crate::encoding::decode;

/// Kinds of file that are listed where a page links to them.
const LINKED: &[&str] =
    &["pdf", "doc", "docx", "xls", "xlsx", "ods", "odt", "pptx", "csv", "tsv", "epub"];

/// What was read of the sites' pages so far.
#[derive(Debug, Default)]
pub(super) struct Listing {
    documents: Vec<Document>,
    /// Files that are no pages.
    linkable: Vec<Document>,
    /// What is written on the first link to a place.
    anchors: HashMap<String, String>,
}

impl Listing {
    /// Reads the files of a site. A file that is served at several paths counts once,
    /// under the shortest. The error says which file cannot be read.
    pub(super) fn add<'a>(
        &mut self,
        site: &Site,
        files: impl Iterator<Item = (&'a String, &'a File)>,
    ) -> Result<(), (camino::Utf8PathBuf, String)> {
        let mut files: Vec<_> = files.collect();
        files.sort_by_key(|(path, _)| (path.len(), path.as_str()));
        let mut seen = HashSet::new();
        files.retain(|(path, file)| seen.insert(&file.source) && !is_unlisted(site, path));
        for (path, file) in files {
            self.page(site, path, file).map_err(|reason| (file.source.clone(), reason))?;
        }
        Ok(())
    }

    /// Adds what is no file, such as articles.
    pub(super) fn extend(&mut self, documents: impl IntoIterator<Item = Document>) {
        self.documents.extend(documents);
    }

    /// Returns all documents.
    pub(super) fn finish(mut self) -> Vec<Document> {
        for mut file in self.linkable {
            if let Some(text) = self.anchors.get(&file.url) {
                file.title.clone_from(text);
                self.documents.push(file);
            }
        }
        self.documents
    }

    /// Reads one file; pages that ask for it are not listed, and neither is what is
    /// neither page nor linked (data, images, archives).
    fn page(&mut self, site: &Site, path: &str, file: &File) -> Result<(), String> {
        let address = format!("https://{}{}", site.host, encoded(path));
        let name = path.rsplit('/').find(|part| !part.is_empty()).unwrap_or(&site.host);
        let mut document = Document {
            host: site.host.clone(),
            source: site.meta.title.clone(),
            language: site.meta.language.name().to_owned(),
            filetype: suffix(path).unwrap_or_else(|| "html".to_owned()),
            title: name.to_owned(),
            url: address,
            ..Document::default()
        };
        if LINKED.contains(&document.filetype.as_str()) {
            document.text = name.replace(['-', '_', '.'], " ");
            self.linkable.push(document);
            return Ok(());
        }
        let loaded = file.read()?;
        let text = || decode(&loaded.body, Some(&loaded.content_type)).text;
        match media_type(&loaded.content_type).as_str() {
            "text/html" => {
                let url = Url::parse(&document.url).map_err(|error| error.to_string())?;
                let page = document::read(&text(), &url);
                for (target, text) in page.links {
                    self.anchors.entry(target.to_string()).or_insert(text);
                }
                if page.unlisted {
                    return Ok(());
                }
                if !page.title.is_empty() {
                    document.title = page.title;
                }
                "html".clone_into(&mut document.filetype);
                document.headings = page.headings;
                document.text = page.text;
                document.date = loaded.modified;
                document.news = page.news;
                document.paper = page.paper;
            }
            "text/plain" | "text/markdown" => {
                document.text = text().split_whitespace().collect::<Vec<_>>().join(" ");
            }
            _ => return Ok(()),
        }
        self.documents.push(document);
        Ok(())
    }
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
