//! HTML: told too deep from sound, made Markdown, or stripped of its tags.
//!
//! Parsers take quadratic time over elements that nest thousands deep, and converters
//! recurse over them until the stack ends, which no one can catch. So a linear look at
//! the tags comes before any parser, and a look at the tree before any converter. What
//! a page that nests too deep says is given without its tags. Nothing is fetched or run.

mod table;

use std::rc::Rc;

use htmd::{HtmlToMarkdown, Node};

/// Elements whose content is no text for a reader.
const SILENT: [&str; 7] = ["iframe", "noscript", "script", "style", "svg", "template", "title"];

/// Deeper trees are not converted: some stacks hold 2 MiB.
pub(crate) const DEEPEST_TREE: usize = 256;

/// Deeper pages are not parsed. Elements whose end may be left out do not count, so
/// the tree may be deeper.
const DEEPEST: usize = 128;

/// Elements without content, and those whose end tag may be left out.
const UNCOUNTED: &[&str] = &[
    "area", "base", "br", "col", "embed", "hr", "img", "input", "link", "meta", "source", "track",
    "wbr", "p", "li", "dt", "dd", "tr", "td", "th", "tbody", "thead", "tfoot", "option",
    "colgroup", "html", "head", "body", "path", "circle", "rect", "line", "use", "stop",
];

/// One piece of a page.
enum Piece<'a> {
    Text(&'a str),
    Open(&'a str),
    Close(&'a str),
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
                return Some(Piece::Close(name));
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

/// Returns whether a page nests too deep to be parsed, told from its tags alone.
pub(crate) fn is_bottomless(html: &str) -> bool {
    let mut open: Vec<&str> = Vec::new();
    pieces(html).any(|piece| {
        match piece {
            Piece::Open(name) if counts(name) => open.push(name),
            // A parser closes this element at least; an end tag without one it ignores.
            Piece::Close(name) => {
                if let Some(at) = open.iter().rposition(|it| it.eq_ignore_ascii_case(name)) {
                    open.remove(at);
                }
            }
            Piece::Open(_) | Piece::Text(_) => {}
        }
        open.len() > DEEPEST
    })
}

/// Converts a page to Markdown; `None` where it nests too deep.
pub(crate) fn to_markdown(html: &str) -> Option<String> {
    if is_bottomless(html) {
        return None;
    }
    let converter = HtmlToMarkdown::builder()
        .skip_tags(SILENT.to_vec())
        .add_handler(vec!["table"], table::write)
        .build();
    let tree = tree(&converter, html)?;
    Some(converter.tree_to_markdown(&tree))
}

/// Parses a page; `None` where the tree is too deep. Walks without recursion.
fn tree(converter: &HtmlToMarkdown, html: &str) -> Option<Rc<Node>> {
    let root = converter.html_to_tree(html).ok()?;
    let mut open = vec![(Rc::clone(&root), 0)];
    while let Some((node, depth)) = open.pop() {
        if depth > DEEPEST_TREE {
            return None;
        }
        open.extend(node.children.borrow().iter().map(|child| (Rc::clone(child), depth + 1)));
    }
    Some(root)
}

/// Returns the text of a page, a line for each run between tags.
pub(crate) fn without_tags(html: &str) -> String {
    let mut text = String::new();
    for piece in pieces(html) {
        text.push_str(match piece {
            Piece::Text(run) => run,
            Piece::Open(_) | Piece::Close(_) => "\n",
        });
    }
    let text = unescaped(&text);
    let lines: Vec<&str> = text.lines().map(str::trim).filter(|line| !line.is_empty()).collect();
    lines.join("\n")
}

/// Resolves the entities that matter for reading.
pub(crate) fn unescaped(text: &str) -> String {
    [
        ("&lt;", "<"),
        ("&gt;", ">"),
        ("&quot;", "\""),
        ("&#39;", "'"),
        ("&nbsp;", " "),
        ("&amp;", "&"),
    ]
    .into_iter()
    .fold(text.to_owned(), |text, (entity, letter)| text.replace(entity, letter))
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
            assert_eq!(is_bottomless(&html), want, "{why}");
        }
    }

    #[test]
    fn no_page_is_converted_past_the_stack() {
        let table = [
            ("<div></b>", "ends of what was not open"),
            ("<div></div x></p>", "well formed"),
            ("<b><div></b>", "ends in the wrong order"),
            ("<rt>", "ruby outside of ruby"),
            ("<path>", "drawings outside of drawings"),
            ("<path/>", "the same with a slash"),
            ("<div><table><td></div>", "tables that do not close"),
            ("<ul><li>", "lists in lists"),
        ];
        for (html, why) in table {
            let html = html.repeat(5000);
            let deep = to_markdown(&html).is_none();
            assert_eq!(deep, !html.contains("</div x>"), "{why}");
        }
        for tag in ["div", "li", "blockquote", "b"] {
            let html = format!("<{tag}>").repeat(DEEPEST) + "deep";
            assert!(to_markdown(&html).is_some_and(|text| text.contains("deep")), "{tag}");
        }
    }

    #[test]
    fn text_is_what_stands_outside_tags() {
        let html = "<h1>A</h1><p>b<b>c</b> 1 < 2 &lt; 3<SCRIPT>no</Script><!-- no --><style>no";
        assert_eq!(without_tags(html), "A\nb\nc\n1 < 2 < 3");
    }

    proptest! {
        #[test]
        fn any_text_is_cut(html in r"(<|>|/|!--|-->|script|div|潮| |a){0,40}") {
            let _ = (to_markdown(&html), without_tags(&html));
            prop_assert!(to_markdown(&html).is_none() || !is_bottomless(&html));
        }
    }
}
