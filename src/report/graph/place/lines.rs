//! Lines between boxes.

use std::collections::BTreeMap;

use super::{Boxed, GAP, HEAD, HEADS, Kind, LANE, Line, LineKind};
use crate::report::graph::scene::Scene;
use crate::report::graph::text::line;

/// Most lines in a picture.
const MOST: usize = 240;

/// Most lanes; more lines share them.
const LANES: usize = 14;

/// Columns of a label.
const LABEL: usize = 13;

/// Lines beside each other in a gap.
const BESIDE: usize = 6;

/// Distance between them.
const APART: usize = 5;

/// A line that is to be drawn.
#[derive(Debug)]
pub(super) struct Wanted {
    kind: LineKind,
    /// The boxes, by their places.
    from: usize,
    to: usize,
    /// The argument that it leads to.
    argument: String,
    label: String,
    tip: String,
}

/// Which lane a line takes, by its place; none for one between neighbours.
#[derive(Debug)]
pub(super) struct Lanes {
    of: Vec<Option<usize>>,
    count: usize,
}

/// Returns the lines of a scene: one for each pair of boxes and argument, however many
/// values went that way.
pub(super) fn wanted(scene: &Scene, boxes: &[Boxed]) -> Vec<Wanted> {
    let home = |call: usize| boxes.iter().position(|boxed| boxed.calls.contains(&call));
    let answer = boxes.iter().position(|boxed| boxed.kind == Kind::Answer);
    let mut all: BTreeMap<(usize, usize, String, bool), Wanted> = BTreeMap::new();
    let mut add = |(from, to): (Option<usize>, Option<usize>), kind, one: [&str; 3]| {
        let [source, argument, tip] = one;
        let Some((from, to)) =
            from.zip(to).filter(|(from, to)| boxes[*from].column < boxes[*to].column)
        else {
            return;
        };
        let root = argument.split(['.', '[']).next().unwrap_or_default().to_owned();
        let key = (from, to, root, kind == LineKind::Owed);
        if let Some(known) = all.get_mut(&key) {
            known.tip.push('\n');
            known.tip.push_str(tip);
        } else if all.len() < MOST {
            let (argument, tip) = (argument.to_owned(), tip.to_owned());
            all.insert(key, Wanted { kind, from, to, argument, label: label(source), tip });
        }
    };
    for owed in &scene.owed {
        let tip = format!(
            "call {} should have had `{}` from `{}` of call {}",
            owed.to + 1,
            owed.argument,
            owed.source,
            owed.from + 1
        );
        add((home(owed.from), home(owed.to)), LineKind::Owed, [&owed.source, &owed.argument, &tip]);
    }
    for flow in &scene.flows {
        let (to, kind) = match flow.to {
            Some(call) => (home(call), LineKind::Flow),
            None => (answer, LineKind::Answer),
        };
        let into = flow.to.map_or("the answer".to_owned(), |call| {
            format!("`{}` of call {}", line(&flow.argument, 60), call + 1)
        });
        let source =
            if flow.source.is_empty() { "the text".to_owned() } else { line(&flow.source, 60) };
        let value = line(&flow.value, 80);
        let tip = format!("`{value}`: from {source} of call {} into {into}", flow.from + 1);
        add((home(flow.from), to), kind, [&flow.source, &flow.argument, &tip]);
    }
    let mut wanted: Vec<Wanted> = all.into_values().collect();
    for one in &mut wanted {
        let more = one.tip.lines().count().saturating_sub(1);
        if more > 0 {
            one.label = format!("{} +{more}", one.label);
        }
        one.tip = super::super::text::head(&one.tip, 2_000).to_owned();
    }
    wanted
}

/// Returns the end of a path, as far as there is room for it.
fn label(path: &str) -> String {
    if path.is_empty() {
        return "text".to_owned();
    }
    let path = line(path, 200);
    let mut tail = path.as_str();
    while tail.chars().count() > LABEL {
        match tail.char_indices().skip(1).find(|(_, c)| "[.".contains(*c)) {
            Some((next, _)) => tail = &tail[next..],
            None => return line(tail.trim_start_matches('.'), LABEL),
        }
    }
    tail.trim_start_matches('.').to_owned()
}

impl Lanes {
    /// Gives each long line a lane in which no other stands in its way, while there are any.
    pub(super) fn of(wanted: &[Wanted], boxes: &[Boxed]) -> Self {
        let mut ends: Vec<usize> = Vec::new();
        let mut of = vec![None; wanted.len()];
        let mut order: Vec<usize> = (0..wanted.len()).collect();
        order.sort_by_key(|&place| (boxes[wanted[place].from].column, place));
        for place in order {
            let (from, to) = (boxes[wanted[place].from].column, boxes[wanted[place].to].column);
            if to - from < 2 {
                continue;
            }
            let free = ends.iter().position(|end| *end <= from);
            let lane = match free {
                Some(lane) => lane,
                None if ends.len() < LANES => {
                    ends.push(0);
                    ends.len() - 1
                }
                None => place % LANES,
            };
            ends[lane] = ends[lane].max(to);
            of[place] = Some(lane);
        }
        Self { of, count: ends.len() }
    }

    pub(super) fn count(&self) -> usize {
        self.count
    }
}

/// Draws the lines between placed boxes.
pub(super) fn drawn(wanted: &[Wanted], lanes: &Lanes, boxes: &[Boxed]) -> Vec<Line> {
    let one = |(place, one): (usize, &Wanted)| {
        let (from, to) = (&boxes[one.from], &boxes[one.to]);
        let start = (from.x + from.width, from.source());
        let end = (to.x, to.target(&one.argument));
        let (path, at) = match lanes.of[place] {
            None => (straight(start, end), (end.0 - 8, end.1 - 4)),
            Some(lane) => through(place, lane, start, end),
        };
        Line { kind: one.kind, path, label: one.label.clone(), at, tip: one.tip.clone() }
    };
    wanted.iter().enumerate().map(one).collect()
}

/// Returns a curve between neighbours.
fn straight((x, y): (usize, usize), (to, at): (usize, usize)) -> String {
    let (near, far) = (x + GAP / 3, to - GAP * 2 / 3);
    format!("M{x} {y}C{near} {y} {far} {at} {to} {at}")
}

/// Returns a path up to a lane, along it and down, and where its label ends.
fn through(
    place: usize,
    lane: usize,
    (x, y): (usize, usize),
    (to, at): (usize, usize),
) -> (String, (usize, usize)) {
    let beside = place % BESIDE * APART;
    let (up, down) = (x + 8 + beside, to - 12 - beside);
    let high = HEADS + HEAD - 6 + lane * LANE;
    let path = format!(
        "M{x} {y}H{}Q{up} {y} {up} {}V{}Q{up} {high} {} {high}H{}Q{down} {high} {down} {}V{}Q{down} \
         {at} {} {at}H{to}",
        up - 5,
        y - 5,
        high + 5,
        up + 5,
        down - 5,
        high + 5,
        at - 5,
        down + 5,
    );
    (path, (down - 8, high - 4))
}
