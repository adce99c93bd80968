//! The curves as a picture: SVG, a chart for each thing that is varied.
//!
//! Of numbers of distractors the horizontal place is the mean number of tools offered, of
//! texts and orders each value has a place of its own. Bars are the 95 % intervals, where there
//! are tasks enough for one.

use std::fmt::Write as _;

use super::{Axis, Curve, Step, curves};
use crate::metrics::Estimate;
use crate::report::view::RunView;

/// Size of a chart in dots, and the room around what is drawn in it.
const WIDTH: f64 = 720.0;
const HEIGHT: f64 = 360.0;
const LEFT: f64 = 64.0;
const RIGHT: f64 = 150.0;
const TOP: f64 = 40.0;
const BOTTOM: f64 = 56.0;

/// The two lines of a chart: what it is, its colour, and how it is broken.
const LINES: [(&str, &str, &str); 2] =
    [("passed", "#1f4e79", ""), ("tool selection", "#b3541e", " stroke-dasharray=\"6 4\"")];

/// Returns the curves of a run as one SVG picture; none where nothing is varied.
#[must_use]
pub fn svg(view: &RunView) -> Option<String> {
    let curves = curves(view);
    if curves.is_empty() {
        return None;
    }
    let height: f64 = curves.iter().map(|_| HEIGHT).sum();
    let mut out = format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{WIDTH}\" height=\"{height}\" \
         viewBox=\"0 0 {WIDTH} {height}\" font-family=\"sans-serif\" font-size=\"12\">\n\
         <rect width=\"100%\" height=\"100%\" fill=\"#ffffff\"/>\n"
    );
    let mut top = 0.0;
    for curve in &curves {
        chart(curve, view, top, &mut out);
        top += HEIGHT;
    }
    out.push_str("</svg>\n");
    Some(out)
}

/// Draws one chart, `top` dots below the picture's edge.
fn chart(curve: &Curve<'_>, view: &RunView, top: f64, out: &mut String) {
    // Writing to a string cannot fail.
    let _ = writeln!(out, "<g transform=\"translate(0 {top})\">");
    let title = escaped(&format!("{} · by {}", view.label.run, curve.axis.name()));
    text(out, (LEFT, 22.0), "start", &title);
    for percent in [0.0, 25.0, 50.0, 75.0, 100.0] {
        let y = height_of(percent / 100.0);
        let _ = writeln!(
            out,
            "<line x1=\"{LEFT}\" y1=\"{y:.1}\" x2=\"{:.1}\" y2=\"{y:.1}\" stroke=\"#dddddd\"/>",
            WIDTH - RIGHT
        );
        text(out, (LEFT - 8.0, y + 4.0), "end", &format!("{percent:.0} %"));
    }
    let places = places(curve);
    for (step, x) in curve.steps.iter().zip(&places) {
        text(out, (*x, HEIGHT - BOTTOM + 20.0), "middle", &escaped(&step.name));
        if let Some(tools) = step.tools().filter(|_| curve.axis == Axis::Distractors) {
            text(out, (*x, HEIGHT - BOTTOM + 36.0), "middle", &format!("{tools:.1} tools"));
        }
    }
    let scores: [Vec<Estimate>; 2] = [
        curve.steps.iter().map(|step| step.passed(view)).collect(),
        curve.steps.iter().map(Step::selection).collect(),
    ];
    for (index, (scores, (name, colour, broken))) in scores.iter().zip(LINES).enumerate() {
        line(out, scores, &places, (colour, broken));
        let y = TOP + if index == 0 { 12.0 } else { 32.0 };
        let x = WIDTH - RIGHT + 16.0;
        let _ = writeln!(
            out,
            "<line x1=\"{x}\" y1=\"{y}\" x2=\"{}\" y2=\"{y}\" stroke=\"{colour}\" \
             stroke-width=\"2\"{broken}/>",
            x + 28.0
        );
        text(out, (x + 34.0, y + 4.0), "start", name);
    }
    out.push_str("</g>\n");
}

/// Draws the line of one score, with its intervals.
fn line(out: &mut String, scores: &[Estimate], places: &[f64], (colour, broken): (&str, &str)) {
    let known =
        || scores.iter().zip(places).filter_map(|(score, x)| Some((score, *x, score.value?)));
    let points: Vec<String> =
        known().map(|(_, x, value)| format!("{x:.1},{:.1}", height_of(value))).collect();
    let _ = writeln!(
        out,
        "<polyline points=\"{}\" fill=\"none\" stroke=\"{colour}\" stroke-width=\"2\"{broken}/>",
        points.join(" ")
    );
    for (score, x, value) in known() {
        if let Some((low, high)) = score.ci95 {
            let _ = writeln!(
                out,
                "<line x1=\"{x:.1}\" y1=\"{:.1}\" x2=\"{x:.1}\" y2=\"{:.1}\" stroke=\"{colour}\" \
                 stroke-opacity=\"0.5\"/>",
                height_of(low),
                height_of(high)
            );
        }
        let _ = writeln!(
            out,
            "<circle cx=\"{x:.1}\" cy=\"{:.1}\" r=\"3.5\" fill=\"{colour}\"/>",
            height_of(value)
        );
    }
}

/// Returns where each value stands.
fn places(curve: &Curve<'_>) -> Vec<f64> {
    let room = WIDTH - LEFT - RIGHT;
    let tools: Option<Vec<f64>> = curve.steps.iter().map(Step::tools).collect();
    let most = |tools: &[f64]| tools.iter().copied().fold(0.0, f64::max);
    if let Some(tools) = tools.filter(|tools| curve.axis == Axis::Distractors && most(tools) > 0.0)
    {
        return tools.iter().map(|count| LEFT + room * count / most(&tools)).collect();
    }
    let half = room / f64::from(u32::try_from(curve.steps.len()).unwrap_or(u32::MAX)) / 2.0;
    let mut x = LEFT - half;
    let next = |_| {
        x += 2.0 * half;
        x
    };
    curve.steps.iter().map(next).collect()
}

/// Returns the vertical place of a share.
fn height_of(share: f64) -> f64 {
    HEIGHT - BOTTOM - (HEIGHT - TOP - BOTTOM) * share
}

fn text(out: &mut String, (x, y): (f64, f64), anchor: &str, text: &str) {
    let _ = writeln!(out, "<text x=\"{x:.1}\" y=\"{y:.1}\" text-anchor=\"{anchor}\">{text}</text>");
}

/// Makes a text harmless in XML.
fn escaped(text: &str) -> String {
    let plain: String = text.chars().filter(|c| !c.is_control()).collect();
    plain.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;")
}
