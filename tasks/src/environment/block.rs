//! What a task keeps its trials away from: hosts, and paths of hosts.
//!
//! An entry covers more spellings than a server may take for one address, never fewer:
//! what is blocked too much costs a page, what slips through costs the score. So case,
//! percent-encoding (however often), dot segments, doubled slashes, backslashes, path
//! parameters and final dots make no difference.

use std::collections::BTreeSet;

use percent_encoding::percent_decode_str;
use unicode_normalization::UnicodeNormalization;
use url::{Host, Url};

use crate::check::Pattern;

/// How often a path is decoded at most; nobody's server does it more often.
const DECODINGS: usize = 6;

/// One entry of a block list.
///
/// `example.org` stands for the host and its subdomains, under any scheme; so do
/// `*.example.org` and `https://example.org/`. `example.org/answers` stands for that path
/// and everything below it, and so does `example.org/answers/*`; elsewhere `*` stands for
/// any text: `example.org/*/solution.html`. `org` stands for all hosts that end so. An entry with a `?` is held against path and
/// query together: `example.org/read?*id=7*`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Blocked {
    host: String,
    path: Option<PathPattern>,
}

/// The part of an entry after the host.
#[derive(Debug, Clone, PartialEq, Eq)]
struct PathPattern {
    exact: Pattern,
    /// What lies below; none where the entry names a query.
    below: Option<Pattern>,
}

impl Blocked {
    /// Reads an entry, or says what is wrong with it.
    pub fn parse(written: &str) -> Result<Self, String> {
        let written = written.trim();
        let rest = written.split_once("://").map_or(written, |(_, rest)| rest);
        let rest = rest.strip_prefix("*.").unwrap_or(rest);
        let rest = rest.strip_prefix('.').unwrap_or(rest);
        if rest.contains('#') {
            return Err("no server sees what follows a `#`; leave it out".to_owned());
        }
        let end = rest.find(['/', '?']).unwrap_or(rest.len());
        let (host, path) = rest.split_at(end);
        Ok(Self { host: host_of(host)?, path: PathPattern::read(path) })
    }

    /// Returns the host, in small letters and without a final dot.
    #[must_use]
    pub fn host(&self) -> &str {
        &self.host
    }

    /// Returns whether the entry stands for everything on its host.
    #[must_use]
    pub fn is_whole_host(&self) -> bool {
        self.path.is_none()
    }

    /// Returns whether the entry stands for everything on that host.
    #[must_use]
    pub fn covers_host(&self, host: &str) -> bool {
        self.path.is_none() && is_within(host, &self.host)
    }

    /// Returns whether the entry stands for that address.
    #[must_use]
    pub fn covers(&self, url: &Url) -> bool {
        let host = url.host_str().unwrap_or_default().trim_end_matches('.').to_ascii_lowercase();
        if !is_within(&host, &self.host) {
            return false;
        }
        let Some(path) = &self.path else { return true };
        addresses(url).iter().any(|(path_only, with_query)| path.fits(path_only, with_query))
    }
}

impl PathPattern {
    /// Reads what stands after a host; nothing where that is the whole host.
    fn read(written: &str) -> Option<Self> {
        if matches!(written, "" | "/" | "/*") {
            return None;
        }
        let (path, query) = match written.split_once('?') {
            Some((path, query)) => (path, Some(query)),
            None => (written, None),
        };
        let path = plain(path, true, DECODINGS);
        if let Some(query) = query {
            let exact = format!("{path}?{}", plain_query(query));
            return Some(Self { exact: Pattern::new(&exact), below: None });
        }
        let path = path.strip_suffix("/*").unwrap_or(&path);
        let below = Some(Pattern::new(&format!("{path}/*")));
        Some(Self { exact: Pattern::new(path), below })
    }

    fn fits(&self, path: &str, with_query: &str) -> bool {
        match &self.below {
            None => self.exact.matches(with_query),
            Some(below) => self.exact.matches(path) || below.matches(path),
        }
    }
}

/// Reads the host of an entry.
fn host_of(written: &str) -> Result<String, String> {
    let example = "expected a host such as `example.org`, with or without a path";
    if written.is_empty() {
        return Err(format!("names no host; {example}"));
    }
    if written.contains('*') {
        return Err("`*` may stand in the path, or as `*.` before the whole host".to_owned());
    }
    if written.contains(['@', ':', '[']) {
        return Err(format!("`{written}` has more than a name; leave out ports and users"));
    }
    match Url::parse(&format!("http://{written}")).as_ref().map(Url::host) {
        Ok(Some(Host::Domain(name))) => {
            let name = name.trim_end_matches('.');
            if name.split('.').all(|label| !label.is_empty()) {
                Ok(name.to_owned())
            } else {
                Err(format!("`{written}` is no whole host name; {example}"))
            }
        }
        Ok(Some(Host::Ipv4(_) | Host::Ipv6(_))) => {
            Err("addresses are never served, so none needs to be blocked".to_owned())
        }
        Ok(None) | Err(_) => Err(format!("`{written}` is no host name; {example}")),
    }
}

/// Returns whether `host` is `domain` or a subdomain of it.
fn is_within(host: &str, domain: &str) -> bool {
    host.strip_suffix(domain).is_some_and(|rest| rest.is_empty() || rest.ends_with('.'))
}

/// Returns the addresses that a server may take a URL for: the path alone, and with its query.
fn addresses(url: &Url) -> BTreeSet<(String, String)> {
    let query = url.query().map(plain_query);
    let mut found = BTreeSet::new();
    let mut add = |path: String| {
        let whole = match &query {
            Some(query) => format!("{path}?{query}"),
            None => path.clone(),
        };
        found.insert((path, whole));
    };
    for times in [1, DECODINGS] {
        for parameters in [true, false] {
            add(plain(url.path(), parameters, times));
        }
    }
    // MediaWiki answers about a page under other paths than the page's own.
    for (name, value) in url.query_pairs() {
        if ["title", "titles", "page"].contains(&&*name) {
            for title in value.split('|') {
                let title = format!("/wiki/{}", title.trim().replace(' ', "_"));
                add(plain(&title, true, DECODINGS));
            }
        }
    }
    found
}

/// Returns a path in one spelling: decoded, in small letters, without dot segments and
/// doubled or final slashes; with or without parameters (`;…`) of its segments.
fn plain(path: &str, parameters: bool, times: usize) -> String {
    let path = decoded(path, times).replace('\\', "/");
    let mut segments: Vec<&str> = Vec::new();
    for segment in path.split('/') {
        let segment = match segment.split_once(';') {
            Some((name, _)) if !parameters => name,
            Some(_) | None => segment,
        };
        match segment {
            "" | "." => {}
            ".." => drop(segments.pop()),
            _ => segments.push(segment),
        }
    }
    format!("/{}", segments.join("/"))
}

/// Returns a query in one spelling.
fn plain_query(query: &str) -> String {
    decoded(&query.replace('+', " "), DECODINGS)
}

/// Decodes up to so many times, and folds the case.
fn decoded(text: &str, times: usize) -> String {
    let mut text = text.to_owned();
    for _ in 0..times {
        let next = percent_decode_str(&text).decode_utf8_lossy().into_owned();
        if next == text {
            break;
        }
        text = next;
    }
    text.to_lowercase().nfc().collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn covers(entry: &str, url: &str) -> bool {
        Blocked::parse(entry).unwrap().covers(&Url::parse(url).unwrap())
    }

    #[test]
    fn an_entry_covers_what_it_names_and_nothing_beside_it() {
        let table = [
            ("example.org", "https://example.org/a", true, "the host"),
            ("example.org", "http://a.b.example.org/", true, "a subdomain, another scheme"),
            ("example.org", "https://myexample.org/", false, "the same ending, another host"),
            ("example.org", "https://org/", false, "the domain above"),
            ("https://*.Example.org/", "https://example.org/", true, "as people write it"),
            (".example.org", "https://x.example.org/", true, "with a leading dot"),
            ("潮汐.example", "https://xn--usw99d.example/", true, "an international name"),
            ("example.org/*", "https://example.org/a", true, "everything on the host"),
            ("example.org/answers/*", "https://example.org/answers/1", true, "below a path"),
            ("example.org/answers/*", "https://example.org/answers/", true, "its folder"),
            ("example.org/answers/*", "https://example.org/answers", true, "without the slash"),
            ("example.org/answers/*", "https://example.org/answers2", false, "another name"),
            ("example.org/answers/*", "https://example.org/", false, "the front page"),
            ("example.org/answers", "https://example.org/answers/1/2", true, "everything below"),
            ("*.example.org/x", "https://a.example.org/x", true, "a path on a subdomain"),
            ("*.example.org/x", "https://a.example.org/y/x", false, "another path"),
            ("example.org/*/key.html", "https://example.org/a/b/key.html", true, "a star inside"),
            ("example.org/*.pdf", "https://example.org/a/b.pdf", true, "an ending"),
            ("example.org/a", "https://example.org/a?b=1", true, "whatever the query"),
            ("example.org/read?*id=7*", "https://example.org/read?x=1&id=7", true, "a query"),
            ("example.org/read?*id=7*", "https://example.org/read?id=8", false, "another query"),
            ("example.org/?p=7", "https://example.org/?p=7", true, "a query of the front page"),
        ];
        for (entry, url, want, why) in table {
            assert_eq!(covers(entry, url), want, "{entry} on {url}: {why}");
        }
    }

    #[test]
    fn no_spelling_of_a_path_escapes() {
        let spellings = [
            "/Answers/One",
            "/%61nswers/one",
            "/%2561nswers/one",
            "/%25%36%31nswers/one",
            "/x/../answers/one",
            "/x/%2e%2e/answers/one",
            "/x/..%2fanswers/one",
            "/x%2f..%2fanswers%2fone",
            "/./answers//one",
            "//answers/one",
            "/answers%2Fone",
            "/answers%5cone",
            "/answers\\one",
            "/answers;v=1/one;jsessionid=2",
            "/answers/one/",
            "/answers/one?x=1#y",
            "/answers/%6Fne",
        ];
        for spelling in spellings {
            for host in ["https://example.org", "http://EXAMPLE.org.", "https://www.example.org"] {
                let url = format!("{host}{spelling}");
                assert!(covers("example.org/answers/one", &url), "{url}");
            }
        }
        assert!(covers("example.org/caf\u{e9}", "https://example.org/cafe%CC%81"), "composed");
        assert!(covers("example.org/%C3%89t%C3%A9", "https://example.org/été"), "encoded entry");
    }

    #[test]
    fn a_page_of_an_encyclopedia_is_blocked_in_its_services_too() {
        for url in [
            "https://en.wiki.example/wiki/Port_Ellery",
            "https://en.wiki.example/w/api.php?action=query&titles=Other%7CPort%20Ellery",
            "https://en.wiki.example/w/api.php?action=parse&page=Port_Ellery",
            "https://en.wiki.example/w/index.php?title=Port+Ellery&action=raw",
        ] {
            assert!(covers("en.wiki.example/wiki/Port_Ellery", url), "{url}");
        }
        let other = "https://en.wiki.example/w/api.php?titles=Port";
        assert!(!covers("en.wiki.example/wiki/Port_Ellery", other));
    }

    #[test]
    fn what_is_no_entry_is_refused_with_the_reason() {
        let table = [
            ("", "names no host"),
            ("  ", "names no host"),
            ("/answers", "names no host"),
            ("https://", "names no host"),
            ("answers page", "no host name"),
            ("ex*mple.org", "`*` may stand in the path"),
            ("example.*", "`*` may stand in the path"),
            ("example.org:8080", "leave out ports"),
            ("me@example.org", "leave out ports and users"),
            ("127.0.0.1", "addresses are never served"),
            ("0x7f.1/a", "addresses are never served"),
            ("[::1]", "leave out ports"),
            ("example.org/a#b", "`#`"),
            ("example..org", "no whole host name"),
        ];
        for (entry, want) in table {
            let error = Blocked::parse(entry).unwrap_err();
            assert!(error.contains(want), "{entry}: {error}");
        }
    }
}
