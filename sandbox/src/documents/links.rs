//! Links that go through a search engine's counter, led to where they go.

use std::borrow::Cow;
use std::sync::LazyLock;

use data_encoding::BASE64URL_NOPAD;
use percent_encoding::percent_decode_str;
use regex::{Captures, Regex};

/// Counters: what their addresses contain, and the parameter that holds the target.
const COUNTERS: [(&str, &str); 3] =
    [("bing.com/ck/a?", "u"), ("google.com/url?", "q"), ("duckduckgo.com/l/?", "uddg")];

/// Replaces the targets of such links in a page; a link that hides its target stays.
pub(super) fn resolved(html: &str) -> Cow<'_, str> {
    static HREF: LazyLock<Option<Regex>> =
        LazyLock::new(|| Regex::new(r#"(?i)(href\s*=\s*)"([^"]{1,4000})""#).ok());
    match HREF.as_ref().filter(|_| COUNTERS.iter().any(|(mark, _)| html.contains(mark))) {
        Some(href) => href.replace_all(html, |found: &Captures<'_>| {
            let target = target(&found[2]).map(|target| target.replace('"', "%22"));
            format!("{}\"{}\"", &found[1], target.as_deref().unwrap_or(&found[2]))
        }),
        None => Cow::Borrowed(html),
    }
}

/// Returns where a counter's address leads.
fn target(address: &str) -> Option<String> {
    let (_, name) = COUNTERS.iter().find(|(mark, _)| address.contains(mark))?;
    let address = address.replace("&amp;", "&");
    let (_, query) = address.split_once('?')?;
    let value = query.split('&').find_map(|pair| pair.strip_prefix(name)?.strip_prefix('='))?;
    let value = percent_decode_str(value).decode_utf8().ok()?;
    // One of them writes the target in base64, after two marks.
    let decoded = value.strip_prefix("a1").and_then(|coded| {
        let bytes = BASE64URL_NOPAD.decode(coded.trim_end_matches('=').as_bytes()).ok()?;
        String::from_utf8(bytes).ok()
    });
    let target = decoded.unwrap_or_else(|| value.into_owned());
    if target.contains(char::is_whitespace) {
        return None;
    }
    // A path leads to the engine itself, and a script leads nowhere.
    let origin = || address.match_indices('/').nth(2).map_or("", |(at, _)| &address[..at]);
    match target {
        path if path.starts_with('/') => Some(format!("{}{path}", origin())),
        script if script.starts_with("javascript:") => Some("#".to_owned()),
        target => target.starts_with("http").then_some(target),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn counters_are_led_to_their_targets() {
        let table = [
            (
                "https://www.bing.com/ck/a?!&amp;&amp;p=1&amp;u=a1aHR0cHM6Ly9hLnRlc3QveA&amp;ntb=1",
                "https://a.test/x",
                "base64",
            ),
            (
                "https://www.google.com/url?sa=t&amp;q=https%3A%2F%2Fa.test%2F",
                "https://a.test/",
                "escaped",
            ),
            (
                "https://www.bing.com/ck/a?u=a1%%%",
                "https://www.bing.com/ck/a?u=a1%%%",
                "nonsense stays",
            ),
            ("https://www.bing.com/ck/a?u=a1L3NlYXJjaA", "https://www.bing.com/search", "a path"),
            ("https://a.test/url?q=b", "https://a.test/url?q=b", "no counter"),
        ];
        for (href, want, why) in table {
            let page = format!("<a HREF=\"{href}\">x</a><!-- bing.com/ck/a? -->");
            let got = resolved(&page);
            assert!(got.contains(&format!("\"{want}\"")), "{why}: {got}");
        }
    }
}
