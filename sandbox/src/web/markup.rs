//! A guard before HTML parsers: how deep a page nests, told without parsing it.
//!
//! Parsers take quadratic time over elements that nest thousands deep, and converters
//! recurse over them. A linear look at the tags finds such a page first; what it says
//! is then given without its tags.

/// Deeper pages are not parsed. Elements whose end may be left out do not count, so
/// the tree may be some four times as deep.
const DEEPEST: usize = 128;

/// Elements without content, and those whose end tag may be left out.
const UNCOUNTED: &[&str] = &[
    "area", "base", "br", "col", "embed", "hr", "img", "input", "link", "meta", "source", "track",
    "wbr", "p", "li", "dt", "dd", "tr", "td", "th", "tbody", "thead", "tfoot", "option",
    "colgroup", "html", "head", "body", "rp", "rt", "path", "circle", "rect", "line", "use",
    "stop",
];

/// One piece of a page.
enum Piece<'a> {
    Text(&'a str),
    Open(&'a str),
    Close,
}

/// Cuts a page into tags and text; comments, scripts and styles are left out.
fn pieces(html: &str) -> impl Iterator<Item = Piece<'_>> {
    let mut rest = html;
    std::iter::from_fn(move || {
        loop {
            if rest.is_empty() {
                return None;
            }
            let Some(tag) = rest.strip_prefix('<') else {
                let (text, after) = rest.split_at(rest.find('<').unwrap_or(rest.len()));
                rest = after;
                return Some(Piece::Text(text));
            };
            if let Some(comment) = tag.strip_prefix("!--") {
                rest = comment.split_once("-->").map_or("", |(_, after)| after);
                continue;
            }
            let close = tag.strip_prefix('/');
            let name = close.unwrap_or(tag);
            let name = &name[..name.bytes().take_while(u8::is_ascii_alphanumeric).count()];
            if name.is_empty() {
                rest = tag;
                return Some(Piece::Text("<"));
            }
            rest = tag.split_once('>').map_or("", |(_, after)| after);
            if close.is_some() {
                return Some(if counts(name) { Piece::Close } else { Piece::Text(" ") });
            }
            for raw in ["script", "style"].iter().filter(|raw| name.eq_ignore_ascii_case(raw)) {
                rest = raw_end(rest, raw);
            }
            return Some(Piece::Open(name));
        }
    })
}

fn counts(name: &str) -> bool {
    !UNCOUNTED.iter().any(|uncounted| name.eq_ignore_ascii_case(uncounted))
}

/// Returns what follows the text of a script or style.
fn raw_end<'a>(rest: &'a str, name: &str) -> &'a str {
    let ends = |at: &usize| {
        let end = rest.get(at + 2..at + 2 + name.len());
        end.is_some_and(|end| end.eq_ignore_ascii_case(name))
    };
    let end = rest.match_indices("</").map(|(at, _)| at).find(ends);
    end.and_then(|at| rest.get(at..)).unwrap_or("")
}

/// Returns whether a page nests too deep to be parsed.
pub(super) fn is_too_deep(html: &str) -> bool {
    let mut depth = 0_usize;
    pieces(html).any(|piece| {
        match piece {
            Piece::Open(name) if counts(name) => depth += 1,
            Piece::Close => depth = depth.saturating_sub(1),
            Piece::Open(_) | Piece::Text(_) => {}
        }
        depth > DEEPEST
    })
}

/// Returns the text of a page in one line, tags left out. Entities stay as written.
pub(super) fn without_tags(html: &str) -> String {
    let mut text = String::new();
    for piece in pieces(html) {
        text.push_str(match piece {
            Piece::Text(run) => run,
            Piece::Open(_) | Piece::Close => " ",
        });
    }
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn deep_pages_are_told_from_long_ones() {
        let table = [
            ("<div>".repeat(5000), true, "nested"),
            ("<div/>".repeat(5000), true, "a slash closes no element of HTML"),
            ("<b><i>".repeat(100), true, "formatting that does not close"),
            ("<div>x</div>".repeat(5000), false, "side by side"),
            ("<p>x<br><li>y<td>".repeat(5000), false, "ends that may be left out"),
            ("<script>'<div><div>'</script>".repeat(500), false, "tags in scripts"),
            ("<!-- <div> -->".repeat(500), false, "tags in comments"),
        ];
        for (html, want, why) in table {
            assert_eq!(is_too_deep(&html), want, "{why}");
        }
    }

    #[test]
    fn text_is_what_stands_outside_tags() {
        let html = "<h1>A</h1><p>b<b>c</b> 1 < 2<SCRIPT>no</Script><!-- no --><style>no";
        assert_eq!(without_tags(html), "A b c 1 < 2");
    }

    proptest! {
        #[test]
        fn any_text_is_cut(html in r"(<|>|/|!--|-->|script|div|潮| |a){0,40}") {
            let _ = (is_too_deep(&html), without_tags(&html));
        }
    }
}
