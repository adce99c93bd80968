//! Drawings (SVG): their title, description and texts in reading order.
//!
//! Texts go by where they stand, top to bottom and left to right, since a drawing
//! program writes them in the order in which they were drawn. Shapes are counted, not
//! described.

use std::sync::LazyLock;

use regex::Regex;

use super::Document;
use super::tree::{Child, Id, Tree, one_line};

/// Texts whose base lines differ by less than this stand in one line, in units of the
/// drawing.
const LINE: f64 = 4.0;

/// The most elements that stand around a text.
const DEPTH: usize = 512;

/// A scale and a shift: what of a transformation moves texts past each other.
#[derive(Debug, Clone, Copy)]
struct Frame {
    scale: (f64, f64),
    shift: (f64, f64),
}

/// Reads a drawing; nothing where the XML is none.
pub(super) fn read(xml: &str) -> Option<Document> {
    let tree = Tree::of(xml);
    let root = tree.root().filter(|root| tree.get(*root).local() == "svg")?;
    let mut found = Found::default();
    found.collect(&tree, root);
    let mut text = String::new();
    if let Some(title) = tree.first(root, "title").map(|title| tree.line(title)) {
        text.extend(["# ", &title, "\n\n"]);
    }
    if let Some(about) = tree.first(root, "desc").map(|about| tree.line(about)) {
        text.extend([about.as_str(), "\n\n"]);
    }
    text.push_str(&found.lines());
    for (what, list) in [("Names of parts", &found.names), ("Links and pictures", &found.links)] {
        if !list.is_empty() {
            text.extend(["\n\n", what, ":\n\n- ", &list.join("\n- ")]);
        }
    }
    let mut notes = vec![format!("{} texts, {} shapes", found.texts.len(), found.shapes)];
    if text.trim().is_empty() {
        notes.push("the drawing holds no text; `image_to_text` looks at pictures".to_owned());
    }
    notes.extend(tree.broken.map(|why| format!("the drawing breaks off: {why}")));
    Some(Document { kind: "SVG drawing".into(), text: text.trim().to_owned(), notes })
}

/// What a drawing holds.
#[derive(Debug, Default)]
struct Found {
    /// Texts with their places: down, right.
    texts: Vec<(f64, f64, String)>,
    /// Titles and descriptions of parts.
    names: Vec<String>,
    links: Vec<String>,
    shapes: usize,
}

impl Found {
    fn collect(&mut self, tree: &Tree, root: Id) {
        let mut frames = vec![Frame { scale: (1.0, 1.0), shift: (0.0, 0.0) }];
        let mut inside: Option<usize> = None;
        for (id, depth) in tree.walk(root) {
            if inside.is_some_and(|text| depth > text) {
                continue;
            }
            inside = None;
            let element = tree.get(id);
            frames.truncate((depth + 1).min(DEPTH));
            let outer =
                frames.last().copied().unwrap_or(Frame { scale: (1.0, 1.0), shift: (0.0, 0.0) });
            let frame = element.attribute("transform").map_or(outer, |text| outer.then(text));
            frames.push(frame);
            match element.local() {
                "text" => {
                    inside = Some(depth);
                    self.text(tree, id, frame);
                }
                "title" | "desc" if depth > 1 => self.names.push(tree.line(id)),
                "style" | "script" | "metadata" | "defs" => inside = Some(depth),
                "foreignObject" => {
                    inside = Some(depth);
                    self.place(tree, id, frame, &tree.line(id));
                }
                "image" => {
                    let target = element.attribute("href").unwrap_or_default();
                    self.links.push(format!("picture {}", short(target)));
                }
                "a" => self.links.extend(element.attribute("href").map(short)),
                "path" | "rect" | "circle" | "ellipse" | "line" | "polyline" | "polygon" => {
                    self.shapes += 1;
                }
                _ => {}
            }
        }
        self.names.retain(|name| !name.is_empty());
    }

    /// Adds a text; its lines (`tspan` with a place of their own) count apart.
    fn text(&mut self, tree: &Tree, id: Id, frame: Frame) {
        let mut run = String::new();
        let mut at = id;
        for child in &tree.get(id).children {
            match child {
                Child::Text(text) => run.push_str(text),
                Child::Element(inner) => {
                    let element = tree.get(*inner);
                    if ["y", "dy"].iter().any(|name| element.attribute(name).is_some()) {
                        self.place(tree, at, frame, &std::mem::take(&mut run));
                        at = *inner;
                    }
                    run.push_str(&tree.all_text(*inner));
                }
            }
        }
        self.place(tree, at, frame, &run);
    }

    fn place(&mut self, tree: &Tree, id: Id, frame: Frame, text: &str) {
        let text = one_line(text);
        if text.is_empty() {
            return;
        }
        let number = |name: &str| {
            let value = tree.get(id).attribute(name)?;
            let digits = value.trim_start();
            let end =
                digits.find(|c: char| !matches!(c, '0'..='9' | '.' | '-')).unwrap_or(digits.len());
            digits[..end].parse::<f64>().ok().filter(|number| number.is_finite())
        };
        let last = self.texts.last().map_or((0.0, 0.0), |(down, right, _)| (*down, *right));
        // A line that only says how far it is from the last one follows it.
        let follows = number("y").is_none() && number("dy").is_some();
        let down = number("y").map_or(0.0, |y| y * frame.scale.1) + frame.shift.1;
        let right = number("x").map_or(0.0, |x| x * frame.scale.0) + frame.shift.0;
        let down = if follows { last.0 + LINE } else { down };
        self.texts.push((down, right, text));
    }

    /// Writes the texts by their places, those of one height in one line.
    fn lines(&mut self) -> String {
        self.texts.sort_by(|a, b| a.0.total_cmp(&b.0));
        let mut lines: Vec<Vec<(f64, &str)>> = Vec::new();
        let mut height = f64::NEG_INFINITY;
        for (down, right, text) in &self.texts {
            if lines.is_empty() || down - height >= LINE {
                lines.push(Vec::new());
                height = *down;
            }
            if let Some(line) = lines.last_mut() {
                line.push((*right, text));
            }
        }
        let written = lines.into_iter().map(|mut line| {
            line.sort_by(|a, b| a.0.total_cmp(&b.0));
            line.iter().map(|(_, text)| *text).collect::<Vec<_>>().join("  ")
        });
        written.collect::<Vec<_>>().join("\n")
    }
}

impl Frame {
    /// Applies the list of transformations of an attribute; rotations and skews move no
    /// text past another in what drawings hold, and are left out.
    fn then(mut self, transform: &str) -> Self {
        static STEP: LazyLock<Option<Regex>> =
            LazyLock::new(|| Regex::new(r"(translate|scale|matrix)\s*\(([^)]*)\)").ok());
        let Some(step) = STEP.as_ref() else { return self };
        for found in step.captures_iter(transform) {
            let numbers: Vec<f64> = found[2]
                .split([',', ' ', '\n', '\t'])
                .filter_map(|number| number.trim().parse().ok())
                .collect();
            match (&found[1], &numbers[..]) {
                ("translate", [x]) => self.moved(*x, 0.0),
                ("translate", [x, y]) => self.moved(*x, *y),
                ("scale", [both]) => self.scaled(*both, *both),
                ("scale", [x, y]) => self.scaled(*x, *y),
                ("matrix", [a, _, _, d, e, f]) => {
                    self.moved(*e, *f);
                    self.scaled(*a, *d);
                }
                _ => {}
            }
        }
        self
    }

    fn moved(&mut self, x: f64, y: f64) {
        self.shift.0 += x * self.scale.0;
        self.shift.1 += y * self.scale.1;
    }

    fn scaled(&mut self, x: f64, y: f64) {
        self.scale.0 *= x;
        self.scale.1 *= y;
    }
}

/// Names what is written into the drawing itself by its kind and length only.
fn short(target: &str) -> String {
    match target.strip_prefix("data:").and_then(|data| data.split_once(',')) {
        Some((kind, data)) => format!("data:{kind} ({} characters, not shown)", data.len()),
        None => target.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn texts_come_in_reading_order() {
        let svg = "<svg xmlns='http://www.w3.org/2000/svg'><title>Fares</title><desc>Per zone</desc>\
            <g transform='translate(0 100)'><text x='10' y='20'>below</text></g>\
            <text x='90' y='21'>right</text><text x='5' y='20'>left</text>\
            <text x='5' y='50'>one<tspan x='5' dy='14'>two</tspan></text>\
            <a xlink:href='https://a.test'><rect/></a><style>.x{}</style>\
            <image href='data:image/png;base64,AAAA'/><g><title>Legend</title></g></svg>";
        let got = read(svg).unwrap();
        let want = "# Fares\n\nPer zone\n\nleft  right\none\ntwo\nbelow\n\nNames of parts:\n\n\
            - Legend\n\nLinks and pictures:\n\n- https://a.test\n\
            - picture data:image/png;base64 (4 characters, not shown)";
        assert_eq!(got.text, want);
        assert_eq!(got.notes, ["5 texts, 1 shapes"]);
        assert!(read("<html/>").is_none());
    }
}
