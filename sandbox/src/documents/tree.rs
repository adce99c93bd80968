//! XML as a tree, for formats that are made of it.
//!
//! Whatever can be read is kept: end tags that do not match, stray `&` and a text that
//! breaks off end nothing, since files in the wild are seldom well formed. No entity is
//! expanded but the five of XML and numbers; others stand in the text as they are
//! written, and nothing is fetched. The tree is an arena, so that neither building nor
//! dropping it recurses.

use quick_xml::Reader;
use quick_xml::events::{BytesStart, Event};

/// The most elements.
const ELEMENTS: usize = 500_000;

/// The deepest nesting.
const DEPTH: usize = 512;

/// An element's place in its tree.
pub(super) type Id = usize;

/// What an element holds.
#[derive(Debug)]
pub(super) enum Child {
    Text(String),
    Element(Id),
}

/// An element.
#[derive(Debug, Default)]
pub(super) struct Element {
    /// Its name with its prefix, as written.
    pub name: String,
    /// Its attributes, names with their prefixes.
    pub attributes: Vec<(String, String)>,
    /// What it holds, in order.
    pub children: Vec<Child>,
}

/// A tree; element 0 stands for the document and holds the root.
#[derive(Debug)]
pub(super) struct Tree {
    elements: Vec<Element>,
    /// Why the text could not be read to its end, if it could not.
    pub broken: Option<String>,
}

impl Element {
    /// Its name without the prefix.
    pub(super) fn local(&self) -> &str {
        local(&self.name)
    }

    /// The value of an attribute, whatever its prefix.
    pub(super) fn attribute(&self, name: &str) -> Option<&str> {
        let found = self.attributes.iter().find(|(key, _)| local(key) == name);
        found.map(|(_, value)| value.as_str())
    }
}

fn local(name: &str) -> &str {
    name.rsplit_once(':').map_or(name, |(_, local)| local)
}

impl Tree {
    /// Reads a text as far as it can be read.
    pub(super) fn of(xml: &str) -> Self {
        let mut tree = Self { elements: vec![Element::default()], broken: None };
        let mut reader = Reader::from_str(xml);
        let config = reader.config_mut();
        config.check_end_names = false;
        config.allow_unmatched_ends = true;
        config.allow_dangling_amp = true;
        let mut open = vec![0];
        loop {
            match reader.read_event() {
                Ok(Event::Eof) => break,
                Ok(event) => tree.add(event, &mut open),
                Err(error) => tree.broken = Some(super::reason::brief(&error)),
            }
            if tree.broken.is_some() {
                break;
            }
        }
        tree
    }

    fn add(&mut self, event: Event<'_>, open: &mut Vec<Id>) {
        let parent = open.last().copied().unwrap_or(0);
        match event {
            Event::Start(start) => {
                if self.elements.len() >= ELEMENTS || open.len() >= DEPTH {
                    self.broken = Some(format!(
                        "it has more than {ELEMENTS} elements or nests deeper than {DEPTH}"
                    ));
                    return;
                }
                let id = self.push(parent, &start);
                open.push(id);
            }
            Event::Empty(start) => {
                self.push(parent, &start);
            }
            Event::End(end) => {
                let name = end.name();
                let is_it = |id: &Id| self.elements[*id].name == name.as_ref();
                // An end without a start is ignored; one that skips some closes those too.
                if let Some(at) = open.iter().rposition(is_it).filter(|at| *at > 0) {
                    open.truncate(at);
                }
            }
            Event::Text(text) => self.text(parent, &text),
            Event::CData(text) => self.text(parent, &text),
            Event::GeneralRef(name) => {
                let whole = format!("&{};", &*name);
                self.text(parent, &unescaped(&whole));
            }
            Event::Comment(_) | Event::Decl(_) | Event::PI(_) | Event::DocType(_) | Event::Eof => {}
        }
    }

    fn push(&mut self, parent: Id, start: &BytesStart<'_>) -> Id {
        let id = self.elements.len();
        let mut pairs = start.attributes();
        let pairs = pairs.with_checks(false).filter_map(Result::ok);
        let attributes =
            pairs.map(|it| (it.key.as_ref().to_owned(), unescaped(&it.value))).collect();
        let name = start.name().as_ref().to_owned();
        self.elements.push(Element { name, attributes, children: Vec::new() });
        self.elements[parent].children.push(Child::Element(id));
        id
    }

    fn text(&mut self, parent: Id, text: &str) {
        let children = &mut self.elements[parent].children;
        if let Some(Child::Text(last)) = children.last_mut() {
            last.push_str(text);
        } else {
            children.push(Child::Text(text.to_owned()));
        }
    }

    /// Returns an element.
    pub(super) fn get(&self, id: Id) -> &Element {
        &self.elements[id]
    }

    /// Returns the first element, if there is one.
    pub(super) fn root(&self) -> Option<Id> {
        (self.elements.len() > 1).then_some(1)
    }

    /// Returns the elements directly in one, in order.
    pub(super) fn children(&self, id: Id) -> impl Iterator<Item = Id> {
        self.elements[id].children.iter().filter_map(|child| match child {
            Child::Element(id) => Some(*id),
            Child::Text(_) => None,
        })
    }

    /// Returns the elements directly in one that have this local name.
    pub(super) fn named(&self, id: Id, name: &str) -> impl Iterator<Item = Id> {
        self.children(id).filter(move |child| self.get(*child).local() == name)
    }

    /// Returns the first of them.
    pub(super) fn first(&self, id: Id, name: &str) -> Option<Id> {
        self.named(id, name).next()
    }

    /// Returns an element and all that it holds, in the order of the text, with depths.
    pub(super) fn walk(&self, id: Id) -> impl Iterator<Item = (Id, usize)> {
        let mut open = vec![(id, 0)];
        std::iter::from_fn(move || {
            let (id, depth) = open.pop()?;
            let inner: Vec<Id> = self.children(id).collect();
            open.extend(inner.into_iter().rev().map(|child| (child, depth + 1)));
            Some((id, depth))
        })
    }

    /// Returns all text in an element, as written.
    pub(super) fn all_text(&self, id: Id) -> String {
        let mut text = String::new();
        let mut open = vec![self.elements[id].children.iter()];
        while let Some(children) = open.last_mut() {
            match children.next() {
                Some(Child::Text(run)) => text.push_str(run),
                Some(Child::Element(inner)) => open.push(self.elements[*inner].children.iter()),
                None => {
                    open.pop();
                }
            }
        }
        text
    }

    /// Returns all text in an element in one line.
    pub(super) fn line(&self, id: Id) -> String {
        one_line(&self.all_text(id))
    }
}

/// Resolves the five entities of XML, the space that does not break, and numbers; leaves
/// others as they are written.
fn unescaped(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    let mut rest = text;
    while let Some((before, after)) = rest.split_once('&') {
        out.push_str(before);
        let known = after.split_once(';').and_then(|(name, after)| Some((letter(name)?, after)));
        if let Some((letter, after)) = known {
            out.push(letter);
            rest = after;
        } else {
            out.push('&');
            rest = after;
        }
    }
    out.push_str(rest);
    out
}

fn letter(name: &str) -> Option<char> {
    let number =
        |digits: &str, radix| u32::from_str_radix(digits, radix).ok().and_then(char::from_u32);
    match name {
        "lt" => Some('<'),
        "gt" => Some('>'),
        "amp" => Some('&'),
        "quot" => Some('"'),
        "apos" => Some('\''),
        "nbsp" => Some('\u{a0}'),
        _ => match name.strip_prefix('#')? {
            hex if hex.starts_with(['x', 'X']) => number(&hex[1..], 16),
            digits => number(digits, 10),
        },
    }
}

/// Joins the words of a text in one line.
pub(super) fn one_line(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn what_is_written_is_kept() {
        let tree = Tree::of(
            "<?xml version='1.0'?><!DOCTYPE a [<!ENTITY e SYSTEM 'file:///x'>]>\
            <a:b k='1 &amp; 2' x:k='3'>t &lt; <![CDATA[<u>]]> &e; &#x6f6e;<c/></a:b>",
        );
        let root = tree.root().unwrap();
        assert_eq!(tree.get(root).local(), "b");
        assert_eq!(tree.get(root).attribute("k"), Some("1 & 2"));
        assert_eq!(tree.all_text(root), "t < <u> &e; 潮", "no entity is expanded");
        assert_eq!(tree.children(root).count(), 1);
        assert_eq!(tree.broken, None);
    }

    #[test]
    fn disorder_ends_nothing() {
        let tree = Tree::of("<a><b>one</c></b><d>two & three<e></a><f>four");
        let root = tree.root().unwrap();
        assert_eq!(tree.all_text(0), "onetwo & threefour");
        assert_eq!(tree.named(root, "d").count(), 1);
        let deep = Tree::of(&"<a>".repeat(100_000));
        assert!(deep.broken.unwrap().contains("nests deeper"));
    }

    proptest! {
        #[test]
        fn any_text_is_read(xml in r#"(<|>|/|!|\?|--|\[|\]|CDATA|a|=|"|'|&|;|潮| ){0,60}"#) {
            let tree = Tree::of(&xml);
            let _ = (tree.all_text(0), tree.walk(0).count());
        }
    }
}
