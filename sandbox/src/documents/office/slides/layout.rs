//! What a slide takes from its layout and master: places of shapes, and bullets.

use crate::documents::office::package::Package;
use crate::documents::office::xml::{Element, Tree};

/// Levels of a text.
const LEVELS: usize = 9;

/// What stands before a paragraph.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Bullet {
    None,
    Sign,
    /// Numbered; the format, such as `arabicPeriod`, and where it starts.
    Number(String, u32),
}

/// Bullets by level.
pub(super) type Bullets = [Option<Bullet>; LEVELS];

/// A placeholder of a layout or master.
#[derive(Debug)]
struct Holder {
    kind: String,
    index: Option<String>,
    place: Option<(i64, i64)>,
    bullets: Bullets,
}

/// The layout and the master of a slide.
#[derive(Debug, Default)]
pub(super) struct Layout {
    /// Those of the layout, then those of the master.
    holders: Vec<Holder>,
    body: Bullets,
}

impl Layout {
    /// Reads a layout and its master.
    pub(super) fn read(package: &mut Package<'_>, path: &str) -> Self {
        let mut layout = Self::default();
        if let Some(tree) = package.tree(path) {
            layout.add(&tree);
        }
        let relations = package.relations(path);
        if let Some(tree) = relations.first("slideMaster").and_then(|path| package.tree(path)) {
            layout.add(&tree);
            if let Some(body) = tree.root().path("p:txStyles/p:bodyStyle") {
                layout.body = bullets(body);
            }
        }
        layout
    }

    fn add(&mut self, tree: &Tree) {
        let shapes = tree.root().descendants().filter(|it| it.name() == "p:sp");
        self.holders.extend(shapes.filter_map(|shape| {
            let holder = shape.path("p:nvSpPr/p:nvPr/p:ph")?;
            Some(Holder {
                kind: holder.attr("type").unwrap_or("obj").to_owned(),
                index: holder.attr("idx").map(str::to_owned),
                place: place(shape),
                bullets: shape.path("p:txBody/a:lstStyle").map(bullets).unwrap_or_default(),
            })
        }));
    }

    /// Returns the placeholders that one of a slide follows, nearest first.
    fn matching<'a>(
        &'a self,
        kind: &'a str,
        index: Option<&'a str>,
    ) -> impl Iterator<Item = &'a Holder> {
        self.holders.iter().filter(move |holder| {
            (index.is_some() && holder.index.as_deref() == index)
                || holder.kind == kind
                || (is_body(kind) && is_body(&holder.kind) && index.is_none())
                || (kind == "obj" && holder.kind == "body")
                || (kind == "ctrTitle" && holder.kind == "title")
        })
    }

    /// Returns where a placeholder stands.
    pub(super) fn place(&self, kind: &str, index: Option<&str>) -> Option<(i64, i64)> {
        self.matching(kind, index).find_map(|holder| holder.place)
    }

    /// Returns what stands before paragraphs of a placeholder, unless they say it.
    pub(super) fn bullet(&self, kind: &str, index: Option<&str>, level: usize) -> Option<Bullet> {
        let level = level.min(LEVELS - 1);
        let own = self.matching(kind, index).find_map(|holder| holder.bullets[level].clone());
        own.or_else(|| if is_body(kind) { self.body[level].clone() } else { None })
    }
}

fn is_body(kind: &str) -> bool {
    matches!(kind, "body" | "obj")
}

/// Returns the upper left corner of a shape, in EMU: top, then left.
pub(super) fn place(shape: Element<'_>) -> Option<(i64, i64)> {
    let properties = shape.child("p:spPr").or_else(|| shape.child("p:grpSpPr"));
    let frame = properties.and_then(|it| it.child("a:xfrm")).or_else(|| shape.child("p:xfrm"))?;
    let offset = frame.child("a:off")?;
    Some((offset.attr("y")?.parse().ok()?, offset.attr("x")?.parse().ok()?))
}

/// Reads the bullets of a list of styles.
pub(super) fn bullets(styles: Element<'_>) -> Bullets {
    let mut bullets = Bullets::default();
    for (level, bullet) in (1..).zip(&mut bullets) {
        *bullet = styles.child(&format!("a:lvl{level}pPr")).and_then(own_bullet);
    }
    bullets
}

/// Returns the bullet that properties of a paragraph name.
pub(super) fn own_bullet(properties: Element<'_>) -> Option<Bullet> {
    properties.children().find_map(|child| match child.name() {
        "a:buNone" => Some(Bullet::None),
        "a:buChar" | "a:buBlip" => Some(Bullet::Sign),
        "a:buAutoNum" => {
            let start = child.attr("startAt").and_then(|start| start.parse().ok()).unwrap_or(1);
            Some(Bullet::Number(child.attr("type").unwrap_or("arabicPeriod").to_owned(), start))
        }
        _ => None,
    })
}
