//! Styles of an `OpenDocument` file: emphasis, hidden parts, and what lists count by.

use std::collections::HashMap;

use crate::documents::office::marks::Face;
use crate::documents::office::word::number;
use crate::documents::office::xml::{Element, Tree};

/// The most styles that a chain is followed through.
const CHAIN: usize = 20;

/// The styles by their names.
pub(super) struct Styles<'a> {
    named: HashMap<&'a str, Element<'a>>,
    lists: HashMap<&'a str, Element<'a>>,
    outline: Option<Element<'a>>,
}

/// How a level of a list is marked.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Level {
    /// Empty for none; `None` for a bullet.
    pub(super) format: Option<String>,
    prefix: String,
    suffix: String,
    pub(super) start: u32,
    /// How many levels the label shows.
    pub(super) shown: usize,
}

impl Level {
    /// Writes a label of these counts, outermost first.
    pub(super) fn label(&self, counts: &[u32]) -> String {
        let Some(format) = &self.format else {
            return "-".to_owned();
        };
        if format.is_empty() {
            return String::new();
        }
        let from = counts.len().saturating_sub(self.shown.max(1));
        let counts: Vec<String> = counts[from..].iter().map(|it| formatted(*it, format)).collect();
        format!("{}{}{}", self.prefix, counts.join("."), self.suffix)
    }
}

fn formatted(count: u32, format: &str) -> String {
    let kind = match format {
        "a" => "lowerLetter",
        "A" => "upperLetter",
        "i" => "lowerRoman",
        "I" => "upperRoman",
        "①, ②, ③, ..." => "decimalEnclosedCircle",
        other if other.starts_with(['一', '壹']) => "chineseCounting",
        other if other.starts_with('甲') => "ideographTraditional",
        _ => "decimal",
    };
    number(count, kind)
}

impl<'a> Styles<'a> {
    /// Reads the styles of several parts; later ones win.
    pub(super) fn read(trees: impl Iterator<Item = &'a Tree>) -> Self {
        let mut styles = Self { named: HashMap::new(), lists: HashMap::new(), outline: None };
        let groups = trees
            .flat_map(|tree| tree.root().children())
            .filter(|group| matches!(group.name(), "office:styles" | "office:automatic-styles"));
        for style in groups.flat_map(Element::children) {
            let name = style.attr("style:name");
            match (style.name(), name) {
                ("style:style", Some(name)) => {
                    styles.named.insert(name, style);
                }
                ("text:list-style", Some(name)) => {
                    styles.lists.insert(name, style);
                }
                ("text:outline-style", _) => styles.outline = Some(style),
                _ => {}
            }
        }
        styles
    }

    fn chain(&self, name: &str) -> impl Iterator<Item = Element<'a>> {
        let mut next = self.named.get(name).copied();
        std::iter::from_fn(move || {
            let style = next?;
            next = style
                .attr("style:parent-style-name")
                .and_then(|name| self.named.get(name).copied());
            Some(style)
        })
        .take(CHAIN)
    }

    fn property(&self, name: &str, group: &str, property: &str) -> Option<&'a str> {
        self.chain(name).find_map(|style| style.child(group)?.attr(property))
    }

    /// Returns the emphasis of a style of text.
    pub(super) fn face(&self, name: &str) -> Face {
        let of = |property| self.property(name, "style:text-properties", property);
        let weight = of("fo:font-weight");
        Face {
            bold: weight
                .is_some_and(|it| it == "bold" || it.parse().is_ok_and(|it: u32| it >= 600)),
            italic: of("fo:font-style").is_some_and(|it| it == "italic" || it == "oblique"),
            struck: of("style:text-line-through-style").is_some_and(|it| it != "none"),
        }
    }

    /// Whether a style keeps its text from being shown.
    pub(super) fn is_hidden(&self, name: &str) -> bool {
        self.property(name, "style:text-properties", "text:display") == Some("none")
    }

    /// Whether a page of that style is left out of the show.
    pub(super) fn hides(&self, name: &str) -> bool {
        let group = "style:drawing-page-properties";
        self.property(name, group, "presentation:visibility") == Some("hidden")
    }

    /// Whether paragraphs of that style are the title of the document.
    pub(super) fn is_title(&self, name: &str) -> bool {
        name == "Title" || self.chain(name).any(|it| it.attr("style:name") == Some("Title"))
    }

    /// Returns the list that a style of paragraphs puts them in.
    pub(super) fn list_of(&self, name: &str) -> Option<&'a str> {
        self.chain(name).find_map(|it| it.attr("style:list-style-name")).filter(|it| !it.is_empty())
    }

    /// Returns a level of a list, from 0.
    pub(super) fn level(&self, list: &str, level: usize) -> Option<Level> {
        read_level(*self.lists.get(list)?, level)
    }

    /// Returns how headings of a level, from 0, are counted.
    pub(super) fn outline(&self, level: usize) -> Option<Level> {
        read_level(self.outline?, level)
            .filter(|it| it.format.as_deref().is_some_and(|it| !it.is_empty()))
    }
}

fn read_level(list: Element<'_>, level: usize) -> Option<Level> {
    let wanted = (level + 1).to_string();
    let found = list.children().find(|it| it.attr("text:level") == Some(&wanted))?;
    let number =
        matches!(found.name(), "text:list-level-style-number" | "text:outline-level-style");
    let text = |name: &str| found.attr(name).unwrap_or_default().to_owned();
    let count = |name: &str| found.attr(name).and_then(|it| it.parse().ok()).unwrap_or(1);
    Some(Level {
        format: number.then(|| text("style:num-format")),
        prefix: text("style:num-prefix"),
        suffix: text("style:num-suffix"),
        start: count("text:start-value"),
        shown: usize::try_from(count("text:display-levels")).unwrap_or(1),
    })
}
