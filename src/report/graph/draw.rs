//! The picture in SVG.
//!
//! Every text passes [`xml`] on its way out; no text becomes part of a name, a style or a
//! path. Texts of a box are cut off by it, however wide they turn out.

use std::fmt::Write as _;

use super::mark::Mark;
use super::place::{Boxed, HEADS, Kind, Line, LineKind, MARGIN, PAD, Placed, ROW, Row};
use super::scene::Scene;
use super::text::{head, line};
use crate::report::figures::counted;
use crate::report::sanitize::{visible, xml};
use crate::verdict::Verdict;

/// Colours for light and dark surroundings.
const STYLE: &str = include_str!("style.css");

/// Width that the legend may take where the picture is narrower.
const NARROW: usize = 900;

/// Height of a line of the legend.
const LEGEND: usize = 22;

/// Lines from which on they are drawn thin and without labels.
const DENSE: usize = 60;

/// Most calls that the description names.
const DESCRIBED: usize = 100;

/// Draws a placed scene.
pub(super) fn draw(scene: &Scene, placed: &Placed) -> String {
    let (legend, legend_height) = legend(scene, placed);
    let (width, height) = (placed.width.max(NARROW), placed.bottom + legend_height + MARGIN);
    let dense = if placed.lines.len() > DENSE { " dense" } else { "" };
    let mut out = String::with_capacity(16 << 10);
    // Writing to a string cannot fail, here and below.
    let _ = writeln!(
        out,
        "<svg xmlns=\"http://www.w3.org/2000/svg\" class=\"wg{dense}\" width=\"{width}\" \
         height=\"{height}\" viewBox=\"0 0 {width} {height}\" role=\"img\" \
         aria-labelledby=\"wg-title wg-desc\">"
    );
    let _ = writeln!(out, "<title id=\"wg-title\">{}</title>", xml(&headline(scene)));
    let _ = writeln!(out, "<desc id=\"wg-desc\">{}</desc>", xml(&description(scene)));
    let _ = writeln!(out, "<style>{STYLE}</style>");
    out.push_str("<defs>\n");
    for kind in [LineKind::Flow, LineKind::Answer, LineKind::Owed] {
        let name = class_of(kind);
        let _ = writeln!(
            out,
            "<marker id=\"wg-{name}\" viewBox=\"0 0 8 8\" refX=\"7\" refY=\"4\" markerWidth=\"7\" \
             markerHeight=\"7\" markerUnits=\"userSpaceOnUse\" orient=\"auto\"><path \
             class=\"tip-{name}\" d=\"M0 0L8 4L0 8z\"/></marker>"
        );
    }
    let _ = writeln!(
        out,
        "</defs>\n<rect class=\"paper\" width=\"{width}\" height=\"{height}\"/>\n<text \
         class=\"title\" x=\"{MARGIN}\" y=\"36\">{}</text>\n<text class=\"soft\" x=\"{MARGIN}\" \
         y=\"56\">{}</text>",
        xml(&line(&scene.title, 90)),
        xml(&summary(scene))
    );
    heads(&mut out, placed);
    for one in &placed.lines {
        draw_line(&mut out, one);
    }
    for boxed in &placed.boxes {
        draw_box(&mut out, boxed);
    }
    out.push_str(&legend);
    out.push_str("</svg>\n");
    out
}

fn heads(out: &mut String, placed: &Placed) {
    for column in &placed.heads {
        let name = xml(&column.name);
        let _ =
            writeln!(out, "<text class=\"head\" x=\"{}\" y=\"{HEADS}\">{name}</text>", column.x);
        if !column.events.is_empty() {
            let (events, y) = (xml(&column.events), HEADS + 14);
            let _ = writeln!(
                out,
                "<text class=\"injected\" x=\"{}\" y=\"{y}\">{events}</text>",
                column.x
            );
        }
    }
}

fn class_of(kind: LineKind) -> &'static str {
    match kind {
        LineKind::Flow => "flow",
        LineKind::Answer => "told",
        LineKind::Owed => "owed",
    }
}

fn draw_line(out: &mut String, line: &Line) {
    let Line { kind, path, label, at: (x, y), tip } = line;
    let class = class_of(*kind);
    let _ = writeln!(
        out,
        "<g class=\"line {class}\"><title>{}</title><path class=\"reach\" d=\"{path}\"/><path \
         class=\"seen\" d=\"{path}\" marker-end=\"url(#wg-{class})\"/><text class=\"label\" \
         x=\"{x}\" y=\"{y}\" text-anchor=\"end\">{}</text></g>",
        xml(tip),
        xml(label)
    );
}

fn kind_of(kind: Kind) -> &'static str {
    match kind {
        Kind::Request => "request",
        Kind::Expected => "expected",
        Kind::Other => "other",
        Kind::Question => "question",
        Kind::Failed => "broken",
        Kind::Many => "many",
        Kind::Missing => "missing",
        Kind::Answer => "answer",
        Kind::Passed => "passed",
        Kind::Degraded => "degraded",
        Kind::Wrong => "wrong",
        Kind::Unjudged => "unjudged",
    }
}

fn draw_box(out: &mut String, boxed: &Boxed) {
    let Boxed { kind, x, y, width, .. } = boxed;
    let height = boxed.height();
    let marked = boxed.marks.first().map(|mark| format!(" marked {}", mark.class()));
    let _ = writeln!(
        out,
        "<g class=\"{}{}\"><title>{}</title>\n<rect class=\"frame\" x=\"{x}\" y=\"{y}\" \
         width=\"{width}\" height=\"{height}\" rx=\"{}\"/>",
        kind_of(*kind),
        marked.unwrap_or_default(),
        xml(&boxed.tip),
        if *kind == Kind::Question { 14 } else { 5 }
    );
    if boxed.writes {
        let bar = height - 8;
        let _ = writeln!(
            out,
            "<rect class=\"writes\" x=\"{}\" y=\"{}\" width=\"4\" height=\"{bar}\" rx=\"2\"/>",
            x + 2,
            y + 4
        );
    }
    let _ = writeln!(
        out,
        "<svg x=\"{x}\" y=\"{y}\" width=\"{width}\" height=\"{height}\" overflow=\"hidden\">"
    );
    for (index, row) in boxed.rows.iter().enumerate() {
        draw_row(out, row, PAD + index * ROW + ROW / 2 + 4);
    }
    out.push_str("</svg></g>\n");
}

fn draw_row(out: &mut String, row: &Row, y: usize) {
    let Row { class, name, text, mark } = row;
    if let Some(mark) = mark {
        let _ = writeln!(
            out,
            "<g class=\"{}\"><rect class=\"mark\" x=\"{PAD}\" y=\"{}\" width=\"9\" height=\"9\" \
             rx=\"2\"/><text class=\"mark\" x=\"{}\" y=\"{y}\">{}</text></g>",
            mark.class(),
            y - 8,
            PAD + 14,
            xml(text)
        );
        return;
    }
    let key = match name.as_str() {
        "" => String::new(),
        name => format!("<tspan class=\"key\">{}: </tspan>", xml(name)),
    };
    let _ =
        writeln!(out, "<text class=\"{class}\" x=\"{PAD}\" y=\"{y}\">{key}{}</text>", xml(text));
}

/// A sign of the legend and what it means.
struct Sign {
    svg: String,
    text: &'static str,
}

/// Draws the legend: what occurs in the picture, and how high that is.
fn legend(scene: &Scene, placed: &Placed) -> (String, usize) {
    let signs = signs(scene, placed);
    let width = placed.width.max(NARROW) - MARGIN;
    let (mut x, mut y) = (MARGIN, placed.bottom + 34);
    let mut out = String::from("<g class=\"legend\">\n");
    for sign in signs {
        let wide = 34 + sign.text.chars().count() * 7 + 18;
        if x > MARGIN && x + wide > width {
            (x, y) = (MARGIN, y + LEGEND);
        }
        let _ = writeln!(
            out,
            "<g transform=\"translate({x} {y})\">{}<text class=\"soft\" x=\"32\" \
             y=\"4\">{}</text></g>",
            sign.svg, sign.text
        );
        x += wide;
    }
    out.push_str("</g>\n");
    (out, y + LEGEND - placed.bottom)
}

fn signs(scene: &Scene, placed: &Placed) -> Vec<Sign> {
    let frame = |kind: Kind, text: &'static str| {
        let class = kind_of(kind);
        let is_there = placed.boxes.iter().any(|boxed| boxed.kind == kind);
        let rx = if kind == Kind::Question { 6 } else { 3 };
        let svg = format!(
            "<g class=\"{class}\"><rect class=\"frame\" y=\"-6\" width=\"24\" height=\"13\" \
             rx=\"{rx}\"/></g>"
        );
        is_there.then_some(Sign { svg, text })
    };
    let path = |kind: LineKind, text: &'static str| {
        let class = class_of(kind);
        let is_there = placed.lines.iter().any(|line| line.kind == kind);
        let svg = format!(
            "<g class=\"line {class}\"><path class=\"seen\" d=\"M0 0H24\" \
             marker-end=\"url(#wg-{class})\"/></g>"
        );
        is_there.then_some(Sign { svg, text })
    };
    let writes = placed.boxes.iter().any(|boxed| boxed.writes).then(|| Sign {
        svg: "<rect class=\"writes\" x=\"10\" y=\"-7\" width=\"4\" height=\"15\" rx=\"2\"/>".into(),
        text: "can change the world",
    });
    let injected = placed.boxes.iter().any(|boxed| boxed.injected).then(|| Sign {
        svg: "<text class=\"injected\" x=\"7\" y=\"4\">⚡</text>".into(),
        text: "fault of the task",
    });
    let other = if scene.is_matched { "another call" } else { "call" };
    let mut all: Vec<Sign> = [
        frame(Kind::Expected, "call that was expected"),
        frame(Kind::Other, other),
        frame(Kind::Question, "question to the user"),
        frame(Kind::Failed, "call that failed"),
        frame(Kind::Many, "calls that are counted only"),
        frame(Kind::Missing, "expected and not made"),
        writes,
        injected,
        path(LineKind::Flow, "value of an earlier result"),
        path(LineKind::Owed, "value that it had to be"),
        path(LineKind::Answer, "value in the answer"),
    ]
    .into_iter()
    .flatten()
    .collect();
    let occurs = |mark: &Mark| placed.boxes.iter().any(|boxed| boxed.marks.contains(mark));
    all.extend(Mark::ALL.into_iter().filter(occurs).map(|mark| Sign {
        svg: format!(
            "<g class=\"{}\"><rect class=\"mark\" x=\"7\" y=\"-5\" width=\"10\" height=\"10\" \
             rx=\"2\"/></g>",
            mark.class()
        ),
        text: mark.name(),
    }));
    all
}

fn verdict_of(scene: &Scene) -> &'static str {
    match scene.verdict.as_ref().map(|(_, verdict, _)| verdict) {
        Some(Verdict::Pass) => "pass",
        Some(Verdict::Degraded) => "degraded",
        Some(Verdict::Fail) => "fail",
        Some(Verdict::Unjudged) => "unjudged",
        None => "not judged",
    }
}

fn headline(scene: &Scene) -> String {
    visible(&format!("{}: {}", head(&scene.title, 500), verdict_of(scene)))
}

/// Returns the line below the title.
fn summary(scene: &Scene) -> String {
    let rounds: std::collections::BTreeSet<u32> =
        scene.calls.iter().map(|call| call.round).collect();
    let failed = scene.calls.iter().filter(|call| !call.worked()).count();
    let mut parts =
        vec![counted(scene.calls.len() as u64, "call"), counted(rounds.len() as u64, "round")];
    if failed > 0 {
        parts.push(format!("{failed} failed"));
    }
    if scene.is_matched {
        let taken = scene.calls.iter().filter(|call| call.expected().is_some()).count();
        parts.push(format!("{taken} of {} expected calls", taken + scene.open.len()));
    }
    parts.push(format!("verdict {}", verdict_of(scene)));
    parts.join(" · ")
}

/// Tells the picture in words, for those who do not see it.
fn description(scene: &Scene) -> String {
    let mut out = format!("{}.", summary(scene));
    for call in scene.calls.iter().take(DESCRIBED) {
        let _ =
            write!(out, " Round {}, call {}: {}", call.round, call.number, line(&call.tool, 60));
        if let Some(error) = &call.error {
            let _ = write!(out, ", failed ({})", line(error, 40));
        }
        if let Some(index) = call.expected() {
            let _ = write!(out, ", expected call {index}");
        }
        for mark in call.marks().keys() {
            let _ = write!(out, ", {}", mark.name());
        }
        out.push('.');
    }
    if scene.calls.len() > DESCRIBED {
        let _ = write!(out, " {} more calls.", scene.calls.len() - DESCRIBED);
    }
    for (index, tool) in &scene.open {
        let _ = write!(out, " Expected call {index} ({}) was not made.", line(tool, 60));
    }
    out
}
