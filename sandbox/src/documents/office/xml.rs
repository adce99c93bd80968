//! XML parts as a tree in one arena, for the readers of office files.
//!
//! Names carry the prefix that is usual for their namespace, whatever the file calls it,
//! so that readers match on `w:p` for files of any writer. Entities that a file declares
//! are not expanded and nothing is fetched. A part that breaks off yields what came
//! before. Nodes and depth are bounded, so readers may recurse over the tree.

use std::collections::HashMap;

use quick_xml::Reader;
use quick_xml::escape::{resolve_predefined_entity, unescape};
use quick_xml::events::{BytesRef, BytesStart, Event};

use crate::documents::Unreadable;
use crate::documents::reason::brief;
use crate::encoding;

/// The most nodes of a tree; one takes some 30 bytes.
const NODES: usize = 3_000_000;

/// The most levels of a tree.
const DEPTH: usize = 200;

/// What ends a list of nodes.
const NONE: u32 = u32::MAX;

/// Namespaces and their usual prefix; a prefix of no letters stands for none.
const NAMESPACES: &[(&str, &str)] = &[
    ("wordprocessingml/2006/main", "w"),
    ("ooxml/wordprocessingml/main", "w"),
    ("drawingml/2006/main", "a"),
    ("ooxml/drawingml/main", "a"),
    ("presentationml/2006/main", "p"),
    ("ooxml/presentationml/main", "p"),
    ("officeDocument/2006/relationships", "r"),
    ("ooxml/officeDocument/relationships", "r"),
    ("officeDocument/2006/math", "m"),
    ("ooxml/officeDocument/math", "m"),
    ("drawingml/2006/chart", "c"),
    ("ooxml/drawingml/chart", "c"),
    ("drawingml/2006/diagram", "dgm"),
    ("ooxml/drawingml/diagram", "dgm"),
    ("drawingml/2006/picture", "pic"),
    ("ooxml/drawingml/picture", "pic"),
    ("drawingml/2006/wordprocessingDrawing", "wp"),
    ("ooxml/drawingml/wordprocessingDrawing", "wp"),
    ("office/word/2010/wordprocessingShape", "wps"),
    ("drawing/2014/chartex", "cx"),
    ("powerpoint/2018/8/main", "p188"),
    ("markup-compatibility/2006", "mc"),
    ("urn:schemas-microsoft-com:vml", "v"),
    ("urn:schemas-microsoft-com:office:office", "o"),
    ("package/2006/relationships", ""),
    ("purl.org/dc/elements/1.1/", "dc"),
    ("www.w3.org/1999/xlink", "xlink"),
    ("www.idpf.org/2007/opf", ""),
    ("opendocument:xmlns:container", ""),
    ("www.daisy.org/z3986/2005/ncx/", ""),
    ("www.w3.org/1999/xhtml", ""),
    ("www.w3.org/1998/Math/MathML", "math"),
    ("opendocument:xmlns:drawing:1.0", "draw"),
    ("opendocument:xmlns:xsl-fo-compatible:1.0", "fo"),
    ("opendocument:xmlns:svg-compatible:1.0", "svg"),
    ("opendocument:xmlns:manifest:1.0", "manifest"),
    ("opendocument:xmlns:text:1.0", "text"),
    ("opendocument:xmlns:table:1.0", "table"),
    ("opendocument:xmlns:style:1.0", "style"),
    ("opendocument:xmlns:office:1.0", "office"),
    ("opendocument:xmlns:presentation:1.0", "presentation"),
    ("opendocument:xmlns:chart:1.0", "chart"),
];

/// An element or a text: its children, or its characters.
struct Node {
    /// Which name; `NONE` for a text.
    name: u32,
    next: u32,
    /// First child; of a text its beginning in `text`.
    first: u32,
    /// First attribute; of a text its end in `text`.
    from: u32,
    /// End of the attributes.
    to: u32,
}

/// A part of a package.
pub(in crate::documents) struct Tree {
    text: String,
    nodes: Vec<Node>,
    /// Name, beginning and end of the value in `text`.
    attributes: Vec<(u32, u32, u32)>,
    names: Vec<String>,
    /// Where and why the part breaks off, if it does.
    pub(in crate::documents) broken: Option<String>,
}

impl Tree {
    /// Parses a part; fails where it holds no element, too many, or nests too deep.
    pub(in crate::documents) fn parse(
        bytes: &[u8],
        kind: &'static str,
    ) -> Result<Self, Unreadable> {
        let decoded = encoding::decode(bytes, None);
        let mut builder = Builder::default();
        let broken = builder.read(&decoded.text).map_err(|what| match what {
            Limit::Nodes => Unreadable::TooMuch(format!("a part has more than {NODES} nodes")),
            Limit::Depth => Unreadable::Damaged {
                kind,
                reason: format!("its elements nest more than {DEPTH} deep"),
            },
        })?;
        let Builder { text, nodes, attributes, names, .. } = builder;
        if nodes.is_empty() {
            let reason = broken.unwrap_or_else(|| "a part holds no element".into());
            return Err(Unreadable::Damaged { kind, reason });
        }
        Ok(Self { text, nodes, attributes, names: names.list, broken })
    }

    /// Returns the outermost element.
    pub(in crate::documents) fn root(&self) -> Element<'_> {
        Element { tree: self, at: 0 }
    }
}

/// What stops a parse for good.
enum Limit {
    Nodes,
    Depth,
}

/// Names, each once.
#[derive(Default)]
struct Names {
    list: Vec<String>,
    index: HashMap<String, u32>,
}

impl Names {
    fn add(&mut self, name: String) -> u32 {
        if let Some(at) = self.index.get(&name) {
            return *at;
        }
        let at = small(self.list.len());
        self.list.push(name.clone());
        self.index.insert(name, at);
        at
    }
}

/// An element that is open.
struct Open {
    node: u32,
    last: u32,
    /// How many declarations of prefixes there were before it.
    declared: usize,
}

#[derive(Default)]
struct Builder {
    text: String,
    nodes: Vec<Node>,
    attributes: Vec<(u32, u32, u32)>,
    names: Names,
    open: Vec<Open>,
    /// Prefixes as written and as usual.
    prefixes: Vec<(String, Option<&'static str>)>,
}

impl Builder {
    /// Reads events until the end; returns why they broke off, if they did.
    fn read(&mut self, text: &str) -> Result<Option<String>, Limit> {
        let mut reader = Reader::from_str(text);
        reader.config_mut().check_end_names = false;
        reader.config_mut().allow_unmatched_ends = true;
        reader.config_mut().allow_dangling_amp = true;
        loop {
            match reader.read_event() {
                Ok(Event::Start(start)) => self.start(&start)?,
                Ok(Event::Empty(start)) => {
                    self.start(&start)?;
                    self.end();
                }
                Ok(Event::End(_)) => self.end(),
                Ok(Event::Text(run)) => self.run(&run)?,
                Ok(Event::CData(run)) => self.run(&run)?,
                Ok(Event::GeneralRef(reference)) => self.run(&resolved(&reference))?,
                Ok(Event::Eof) if self.open.is_empty() => return Ok(None),
                Ok(Event::Eof) => return Ok(Some("it ends before its elements do".into())),
                Ok(Event::Comment(_) | Event::Decl(_) | Event::PI(_) | Event::DocType(_)) => {}
                Err(error) => return Ok(Some(brief(&error))),
            }
        }
    }

    fn start(&mut self, start: &BytesStart<'_>) -> Result<(), Limit> {
        if self.open.len() >= DEPTH {
            return Err(Limit::Depth);
        }
        let declared = self.prefixes.len();
        for attribute in start.attributes().with_checks(false).flatten() {
            let key = attribute.key.0;
            if let Some(prefix) =
                key.strip_prefix("xmlns").filter(|rest| rest.is_empty() || rest.starts_with(':'))
            {
                let prefix = prefix.trim_start_matches(':').to_owned();
                self.prefixes.push((prefix, usual(&attribute.value)));
            }
        }
        let from = small(self.attributes.len());
        for attribute in start.attributes().with_checks(false).flatten() {
            let key = attribute.key.0;
            if key == "xmlns" || key.starts_with("xmlns:") {
                continue;
            }
            let name = if key.contains(':') { self.name(key) } else { key.to_owned() };
            let name = self.names.add(name);
            let value = unescape(&attribute.value);
            let begin = small(self.text.len());
            self.text.push_str(value.as_deref().unwrap_or(&attribute.value));
            self.attributes.push((name, begin, small(self.text.len())));
        }
        let name = self.name(start.name().0);
        let name = self.names.add(name);
        let to = small(self.attributes.len());
        let node = self.add(Node { name, next: NONE, first: NONE, from, to })?;
        self.open.push(Open { node, last: NONE, declared });
        Ok(())
    }

    /// Returns a name with its usual prefix.
    fn name(&self, name: &str) -> String {
        let (prefix, local) = name.split_once(':').unwrap_or(("", name));
        let known = self.prefixes.iter().rev().find(|(written, _)| written == prefix);
        match known.and_then(|(_, usual)| *usual) {
            Some("") => local.to_owned(),
            Some(usual) => format!("{usual}:{local}"),
            None => name.to_owned(),
        }
    }

    fn end(&mut self) {
        if let Some(open) = self.open.pop() {
            self.prefixes.truncate(open.declared);
        }
    }

    fn run(&mut self, run: &str) -> Result<(), Limit> {
        let Some(open) = self.open.last() else {
            return Ok(());
        };
        let begin = small(self.text.len());
        self.text.push_str(run);
        let end = small(self.text.len());
        // Runs that follow each other are one text.
        if let Some(last) = self.nodes.get_mut(open.last as usize)
            && last.name == NONE
            && last.from == begin
        {
            last.from = end;
            return Ok(());
        }
        self.add(Node { name: NONE, next: NONE, first: begin, from: end, to: 0 })?;
        Ok(())
    }

    /// Hangs a node below the innermost open element.
    fn add(&mut self, node: Node) -> Result<u32, Limit> {
        if self.nodes.len() >= NODES {
            return Err(Limit::Nodes);
        }
        let at = small(self.nodes.len());
        if let Some(open) = self.open.last_mut() {
            let place = if open.last == NONE {
                &mut self.nodes[open.node as usize].first
            } else {
                &mut self.nodes[open.last as usize].next
            };
            *place = at;
            open.last = at;
        } else if at > 0 {
            // A second outermost element is no part of the document.
            self.nodes.push(node);
            return Ok(at);
        }
        self.nodes.push(node);
        Ok(at)
    }
}

/// Texts are shorter than 4 GiB: a package unpacks to less.
fn small(length: usize) -> u32 {
    u32::try_from(length).unwrap_or(NONE)
}

fn usual(namespace: &str) -> Option<&'static str> {
    NAMESPACES.iter().find(|(end, _)| namespace.contains(end)).map(|(_, prefix)| *prefix)
}

fn resolved(reference: &BytesRef<'_>) -> String {
    if let Ok(Some(letter)) = reference.resolve_char_ref() {
        return letter.to_string();
    }
    let name: &str = reference;
    match name {
        "nbsp" => "\u{a0}".to_owned(),
        _ => resolve_predefined_entity(name).map_or_else(|| format!("&{name};"), str::to_owned),
    }
}

/// An element of a [`Tree`].
#[derive(Clone, Copy)]
pub(in crate::documents) struct Element<'a> {
    tree: &'a Tree,
    at: u32,
}

/// What an element holds, in order.
#[derive(Clone, Copy)]
pub(in crate::documents) enum Piece<'a> {
    Element(Element<'a>),
    Text(&'a str),
}

impl<'a> Element<'a> {
    fn node(self) -> &'a Node {
        &self.tree.nodes[self.at as usize]
    }

    /// Returns the name with its usual prefix.
    pub(in crate::documents) fn name(self) -> &'a str {
        self.tree.names.get(self.node().name as usize).map_or("", String::as_str)
    }

    /// Returns an attribute's value.
    pub(in crate::documents) fn attr(self, name: &str) -> Option<&'a str> {
        let node = self.node();
        let attributes = self.tree.attributes.get(node.from as usize..node.to as usize)?;
        let (_, from, to) =
            attributes.iter().find(|(at, ..)| self.tree.names[*at as usize] == name)?;
        self.tree.text.get(*from as usize..*to as usize)
    }

    /// Returns the children, texts included.
    pub(in crate::documents) fn pieces(self) -> impl Iterator<Item = Piece<'a>> {
        let mut at = self.node().first;
        std::iter::from_fn(move || {
            let node = self.tree.nodes.get(at as usize)?;
            let here = at;
            at = node.next;
            Some(if node.name == NONE {
                let run = self.tree.text.get(node.first as usize..node.from as usize);
                Piece::Text(run.unwrap_or_default())
            } else {
                Piece::Element(Element { tree: self.tree, at: here })
            })
        })
    }

    /// Returns the children that are elements.
    pub(in crate::documents) fn children(self) -> impl Iterator<Item = Element<'a>> {
        self.pieces().filter_map(|piece| match piece {
            Piece::Element(element) => Some(element),
            Piece::Text(_) => None,
        })
    }

    /// Returns the children of a name.
    pub(in crate::documents) fn all(self, name: &str) -> impl Iterator<Item = Element<'a>> {
        self.children().filter(move |child| child.name() == name)
    }

    /// Returns the first child of a name.
    pub(in crate::documents) fn child(self, name: &str) -> Option<Element<'a>> {
        self.all(name).next()
    }

    /// Follows first children by their names, which `/` separates.
    pub(in crate::documents) fn path(self, path: &str) -> Option<Element<'a>> {
        path.split('/').try_fold(self, Element::child)
    }

    /// Returns the `w:val` or `val` of a child.
    pub(in crate::documents) fn value(self, child: &str) -> Option<&'a str> {
        let child = self.child(child)?;
        child.attr("w:val").or_else(|| child.attr("m:val")).or_else(|| child.attr("val"))
    }

    /// Returns all elements below, outer before inner, in the order of the file.
    pub(in crate::documents) fn descendants(self) -> impl Iterator<Item = Element<'a>> {
        let mut open = vec![self.children().collect::<Vec<_>>()];
        open[0].reverse();
        std::iter::from_fn(move || {
            loop {
                let Some(next) = open.last_mut()?.pop() else {
                    open.pop();
                    continue;
                };
                let mut inner: Vec<_> = next.children().collect();
                inner.reverse();
                open.push(inner);
                return Some(next);
            }
        })
    }

    /// Returns the first element of a name below.
    pub(in crate::documents) fn find(self, name: &str) -> Option<Element<'a>> {
        self.descendants().find(|element| element.name() == name)
    }

    /// Returns all text below, as it stands.
    pub(in crate::documents) fn text(self) -> String {
        let mut text = String::new();
        self.add_text(&mut text);
        text
    }

    fn add_text(self, text: &mut String) {
        for piece in self.pieces() {
            match piece {
                Piece::Text(run) => text.push_str(run),
                Piece::Element(element) => element.add_text(text),
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn parse(text: &str) -> Tree {
        Tree::parse(text.as_bytes(), "part").unwrap()
    }

    #[test]
    fn names_have_their_usual_prefix() {
        let table = [
            (
                r#"<x:p xmlns:x="http://schemas.openxmlformats.org/wordprocessingml/2006/main"/>"#,
                "w:p",
                "odd prefix",
            ),
            (
                r#"<p xmlns="http://purl.oclc.org/ooxml/wordprocessingml/main"/>"#,
                "w:p",
                "strict, default",
            ),
            (r#"<q:p xmlns:q="urn:none"/>"#, "q:p", "unknown"),
            ("<w:p/>", "w:p", "not declared"),
        ];
        for (text, want, why) in table {
            assert_eq!(parse(text).root().name(), want, "{why}");
        }
    }

    #[test]
    fn text_and_values_are_resolved_but_no_entity_expands() {
        let tree = parse(
            "<!DOCTYPE a [<!ENTITY l 'lol'>]><a b='1 &lt; &#x4e2d;'>x &amp; <i>y</i>&l;<![CDATA[<z>]]></a>",
        );
        assert_eq!(tree.root().attr("b"), Some("1 < 中"));
        assert_eq!(tree.root().text(), "x & y&l;<z>");
        assert_eq!(tree.root().find("i").map(Element::text).as_deref(), Some("y"));
    }

    #[test]
    fn a_part_that_breaks_off_yields_its_beginning() {
        let tree = parse("<a><b>one</b><b>tw");
        assert_eq!(tree.root().text(), "onetw");
        assert!(tree.broken.is_some());
        let deep = "<a>".repeat(DEPTH + 1);
        assert!(Tree::parse(deep.as_bytes(), "part").is_err(), "too deep");
        assert!(Tree::parse(b"no element", "part").is_err());
    }

    proptest! {
        #[test]
        fn any_text_is_parsed_or_refused(text in r#"(<|>|/|a|b:c|=|"|'|&|;|!\[CDATA\[|\]\]>|!--|潮| ){0,60}"#) {
            if let Ok(tree) = Tree::parse(text.as_bytes(), "part") {
                let _ = (tree.root().text(), tree.root().descendants().count());
            }
        }
    }
}
