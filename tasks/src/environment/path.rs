//! The paths of routes: fixed text and named parts.
//!
//! A path is cut at `/` first and unescaped after, so an escaped slash never begins a
//! new part. Matching takes time linear in the path; nothing is searched for.

use std::cmp::Reverse;
use std::collections::BTreeMap;
use std::fmt::Write as _;

/// Most parts of a path that a route matches.
const DEEPEST: usize = 64;

/// The path of a route, taken apart.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RoutePath {
    parts: Vec<Part>,
    /// Name of all that follows the parts.
    rest: Option<String>,
}

/// What stands between two slashes.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Part {
    before: String,
    /// The name in braces, and what follows it.
    named: Option<(String, String)>,
}

/// How exact a path is, the most exact first.
pub type Rank = Vec<(u8, Reverse<usize>)>;

impl RoutePath {
    /// Reads a path as `site.toml` writes it; the error says what was expected.
    pub fn parse(path: &str) -> Result<Self, String> {
        let Some(path) = path.strip_prefix('/') else {
            return Err("expected a path that starts with `/`".to_owned());
        };
        let mut parts = Vec::new();
        let mut rest = None;
        let mut pieces = path.split('/').peekable();
        while let Some(piece) = pieces.next() {
            let whole = piece.strip_prefix('{').and_then(|piece| piece.strip_suffix("*}"));
            match whole {
                Some(name) if pieces.peek().is_none() => rest = Some(named(name)?),
                Some(name) => {
                    return Err(format!(
                        "`{{{name}*}}` takes all the rest; it must be the last part"
                    ));
                }
                None => parts.push(part(piece)?),
            }
        }
        if parts.len() > DEEPEST {
            return Err(format!("more than {DEEPEST} parts"));
        }
        let path = Self { parts, rest };
        let names = path.names();
        match names.iter().enumerate().find(|(at, name)| names[..*at].contains(name)) {
            Some((_, name)) => Err(format!("two parts are named `{name}`")),
            None => Ok(path),
        }
    }

    /// Returns the names of the parts, in order.
    #[must_use]
    pub fn names(&self) -> Vec<&str> {
        let parts = self.parts.iter().filter_map(|part| part.named.as_ref());
        parts.map(|(name, _)| name.as_str()).chain(self.rest.as_deref()).collect()
    }

    /// Returns the values of the parts where `path` (as [`split`] gives it) fits. No value
    /// is empty.
    #[must_use]
    pub fn matches(&self, path: &[String]) -> Option<BTreeMap<String, String>> {
        let (fixed, rest) = path.split_at_checked(self.parts.len())?;
        let mut values = BTreeMap::new();
        for (part, text) in self.parts.iter().zip(fixed) {
            match &part.named {
                None if *text == part.before => {}
                None => return None,
                Some((name, after)) => {
                    let inner = text.strip_prefix(part.before.as_str())?;
                    let inner = inner.strip_suffix(after.as_str())?;
                    if inner.is_empty() {
                        return None;
                    }
                    values.insert(name.clone(), inner.to_owned());
                }
            }
        }
        match &self.rest {
            None if rest.is_empty() => Some(values),
            Some(name) if !rest.concat().is_empty() => {
                values.insert(name.clone(), rest.join("/"));
                Some(values)
            }
            Some(_) | None => None,
        }
    }

    /// Returns an address that fits, with these values in the parts; `None` where one is
    /// missing or empty.
    #[must_use]
    pub fn filled(&self, values: &BTreeMap<String, String>) -> Option<String> {
        let value = |name: &str| values.get(name).filter(|value| !value.is_empty());
        let mut path = String::new();
        for part in &self.parts {
            path.push('/');
            path.push_str(&escaped(&part.before));
            if let Some((name, after)) = &part.named {
                path.push_str(&escaped(value(name)?));
                path.push_str(&escaped(after));
            }
        }
        if let Some(name) = &self.rest {
            for piece in value(name)?.split('/') {
                path.push('/');
                path.push_str(&escaped(piece));
            }
        }
        Some(path)
    }

    /// Returns how exact the path is: of two that fit a request, the lower rank answers.
    /// Fixed text goes before a part with text around it, that before a part alone, and
    /// that before all the rest; what stands further left decides.
    #[must_use]
    pub fn rank(&self) -> Rank {
        let part = |part: &Part| match &part.named {
            None => (0, Reverse(0)),
            Some((_, after)) if part.before.is_empty() && after.is_empty() => (2, Reverse(0)),
            Some((_, after)) => (1, Reverse(part.before.len() + after.len())),
        };
        let rest = self.rest.iter().map(|_| (3, Reverse(0)));
        self.parts.iter().map(part).chain(rest).collect()
    }

    /// Returns the path without the names of its parts: two routes with the same shape
    /// answer the same requests.
    #[must_use]
    pub fn shape(&self) -> String {
        let mut shape = String::new();
        for part in &self.parts {
            shape.push('/');
            shape.push_str(&part.before);
            if let Some((_, after)) = &part.named {
                shape.push_str("{}");
                shape.push_str(after);
            }
        }
        if self.rest.is_some() {
            shape.push_str("/{*}");
        }
        shape
    }
}

fn part(piece: &str) -> Result<Part, String> {
    let Some((before, behind)) = piece.split_once('{') else {
        return if piece.contains('}') {
            Err("`}` without `{`".to_owned())
        } else {
            Ok(Part { before: unescaped(piece), named: None })
        };
    };
    let Some((name, after)) = behind.split_once('}') else {
        return Err("`{` without `}`".to_owned());
    };
    if before.contains('}') || after.contains(['{', '}']) {
        return Err("more than one part in braces between two slashes".to_owned());
    }
    if name.ends_with('*') {
        return Err(format!("`{{{name}}}` takes all the rest; nothing may stand beside it"));
    }
    let named = Some((named(name)?, unescaped(after)));
    Ok(Part { before: unescaped(before), named })
}

fn named(name: &str) -> Result<String, String> {
    if crate::load::text::is_name(name) {
        Ok(name.to_owned())
    } else {
        Err(format!("`{name}` cannot name a part; use letters, digits and `_`"))
    }
}

/// Unescapes text of `site.toml`, which may write a path either way.
fn unescaped(text: &str) -> String {
    percent_decoded(text).unwrap_or_else(|| text.to_owned())
}

/// Cuts the path of a URL, escapes and all, into its parts; `None` where one is not
/// UTF-8.
#[must_use]
pub fn split(path: &str) -> Option<Vec<String>> {
    path.strip_prefix('/').unwrap_or(path).split('/').map(percent_decoded).collect()
}

/// Undoes percent-encoding; `None` where that gives no UTF-8.
#[must_use]
pub fn percent_decoded(text: &str) -> Option<String> {
    let mut bytes = Vec::with_capacity(text.len());
    let mut rest = text.as_bytes();
    while let [first, tail @ ..] = rest {
        let hex = tail.get(..2).filter(|pair| pair.iter().all(u8::is_ascii_hexdigit));
        let hex = hex.and_then(|pair| std::str::from_utf8(pair).ok());
        match hex.and_then(|pair| u8::from_str_radix(pair, 16).ok()) {
            Some(byte) if *first == b'%' => {
                bytes.push(byte);
                rest = &tail[2..];
            }
            _ => {
                bytes.push(*first);
                rest = tail;
            }
        }
    }
    String::from_utf8(bytes).ok()
}

/// Escapes what is not unreserved in a URL (RFC 3986, section 2.3).
#[must_use]
pub fn escaped(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for byte in text.bytes() {
        if byte.is_ascii_alphanumeric() || b"-._~".contains(&byte) {
            out.push(char::from(byte));
        } else {
            let _infallible = write!(out, "%{byte:02X}");
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn ask(route: &str, path: &str) -> Option<String> {
        let values = RoutePath::parse(route).unwrap().matches(&split(path)?)?;
        let values = values.iter().map(|(name, value)| format!("{name}={value}"));
        Some(values.collect::<Vec<_>>().join(" "))
    }

    #[test]
    fn parts_are_read_off_a_path() {
        let table = [
            ("/", "/", Some(""), "the root"),
            ("/", "/a", None, "not the root"),
            ("/trips", "/trips", Some(""), "fixed"),
            ("/trips", "/trips/", None, "a slash more"),
            ("/trips/{id}", "/trips/T-12", Some("id=T-12"), "one part"),
            ("/trips/{id}", "/trips/", None, "an empty part"),
            ("/trips/{id}", "/trips/a/b", None, "two parts"),
            ("/trips/{id}", "/trips/a%2Fb", Some("id=a/b"), "an escaped slash stays inside"),
            ("/{a}/x/{b}", "/1/x/2", Some("a=1 b=2"), "two names"),
            ("/r/{year}.csv", "/r/2025.csv", Some("year=2025"), "text after"),
            ("/r/{year}.csv", "/r/.csv", None, "nothing but the text after"),
            ("/r/report-{n}.csv", "/r/report-.csv", None, "nothing between"),
            ("/f/{p*}", "/f/a/b/c", Some("p=a/b/c"), "all the rest"),
            ("/f/{p*}", "/f/", None, "no rest"),
            ("/f/{p*}", "/f", None, "no rest, no slash"),
            ("/报告/{月}", "/x", None, "Chinese"),
        ];
        for (route, path, want, why) in table {
            if route.contains('月') {
                assert!(RoutePath::parse(route).is_err(), "names are ASCII: {why}");
                continue;
            }
            assert_eq!(ask(route, path).as_deref(), want, "{why}: {route} on {path}");
        }
        assert_eq!(ask("/报告/{m}", "/%E6%8A%A5%E5%91%8A/%E4%BA%8C"), Some("m=二".to_owned()));
        assert_eq!(split("/a/%ff"), None, "not UTF-8");
    }

    #[test]
    fn paths_that_are_none_say_why() {
        let table = [
            ("trips", "starts with `/`"),
            ("/a{", "`{` without `}`"),
            ("/a}", "`}` without `{`"),
            ("/{a}{b}", "more than one part"),
            ("/{a}/{a}", "two parts are named `a`"),
            ("/{a b}", "cannot name a part"),
            ("/{}", "cannot name a part"),
            ("/{a*}/b", "must be the last part"),
            ("/x{a*}", "nothing may stand beside it"),
        ];
        for (path, want) in table {
            let error = RoutePath::parse(path).unwrap_err();
            assert!(error.contains(want), "{path}: {error}");
        }
    }

    #[test]
    fn the_more_exact_path_has_the_lower_rank() {
        let order = ["/a/b", "/a/long-{x}.csv", "/a/{x}.csv", "/a/{x}", "/a/{x*}", "/{x}/b"];
        let ranks: Vec<Rank> =
            order.iter().map(|path| RoutePath::parse(path).unwrap().rank()).collect();
        assert!(ranks.is_sorted(), "{ranks:?}");
    }

    proptest! {
        /// What a path is filled with is what it reads off the address again.
        #[test]
        fn filling_and_matching_are_inverse(a in "[^/]{1,12}", b in "[^/]{1,12}(/[^/]{1,9}){0,3}") {
            let route = RoutePath::parse("/x/pre-{a}.csv/{b*}").unwrap();
            let values = BTreeMap::from([("a".to_owned(), a), ("b".to_owned(), b)]);
            let path = route.filled(&values).unwrap();
            prop_assert!(path.is_ascii() && !path.contains(['?', '#']));
            prop_assert_eq!(route.matches(&split(&path).unwrap()), Some(values));
        }

        /// No path and no request bring the matcher down.
        #[test]
        fn anything_may_be_asked(route in "(/[a-z{}*.]{0,6}){1,4}", path in "\\PC{0,40}") {
            if let (Ok(route), Some(path)) = (RoutePath::parse(&route), split(&path))
                && let Some(values) = route.matches(&path)
            {
                prop_assert!(values.values().all(|value| !value.is_empty()));
            }
        }
    }
}
