//! Where everything stands: boxes in columns, lines between them. All lengths are in pixels.
//!
//! Lines between neighbouring columns go straight; longer ones go through lanes above the
//! boxes, so that none runs behind a box.

mod boxes;
mod lines;

use super::fold::{Cell, Column};
use super::mark::Mark;
use super::scene::Scene;
use boxes::{answer, call, many, missing, request, verdict};

/// Space around the picture.
pub(super) const MARGIN: usize = 24;
/// Height of a row of text in a box.
pub(super) const ROW: usize = 16;
/// Space between the border of a box and its text.
pub(super) const PAD: usize = 9;
/// Width of a box with a call, or with the request.
const WIDE: usize = 252;
/// Width of the boxes with the answer and the verdict.
const WIDEST: usize = 348;
/// Space between columns.
pub(super) const GAP: usize = 92;
/// Space between boxes of a column.
const BETWEEN: usize = 14;
/// Where the names of columns stand.
pub(super) const HEADS: usize = 84;
/// Height of the row with the names of columns and events.
const HEAD: usize = 34;
/// Height of a lane.
const LANE: usize = 14;
/// Width of a letter of the boxes' font, in hundredths.
const LETTER: usize = 665;

/// A picture that is ready to be drawn.
#[derive(Debug, Default)]
pub(super) struct Placed {
    pub(super) width: usize,
    /// Where the boxes end and the legend begins.
    pub(super) bottom: usize,
    pub(super) heads: Vec<Head>,
    pub(super) boxes: Vec<Boxed>,
    pub(super) lines: Vec<Line>,
}

/// The name of a column.
#[derive(Debug)]
pub(super) struct Head {
    pub(super) x: usize,
    pub(super) name: String,
    /// What happened in the world before its calls.
    pub(super) events: String,
}

/// What a box is, for its colours.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Kind {
    /// The request.
    Request,
    /// A call that was expected.
    Expected,
    /// A call that was not, or of a task that expects none.
    Other,
    /// A question to the user.
    Question,
    /// A call that failed.
    Failed,
    /// Calls that are counted.
    Many,
    /// An expected call that was not made.
    Missing,
    /// The answer.
    Answer,
    /// Verdicts.
    Passed,
    Degraded,
    Wrong,
    Unjudged,
}

/// A row of text in a box.
#[derive(Debug, Clone, Default)]
pub(super) struct Row {
    /// Class in the style sheet.
    pub(super) class: &'static str,
    /// What stands before the text, in a colour of its own: the name of an argument.
    pub(super) name: String,
    pub(super) text: String,
    /// The violation that it names.
    pub(super) mark: Option<Mark>,
}

/// A box.
#[derive(Debug)]
pub(super) struct Boxed {
    pub(super) kind: Kind,
    /// Column, from 0 for the request.
    pub(super) column: usize,
    pub(super) x: usize,
    pub(super) y: usize,
    pub(super) width: usize,
    pub(super) rows: Vec<Row>,
    /// The calls in it, by their places.
    pub(super) calls: Vec<usize>,
    /// Whether they can change the world.
    pub(super) writes: bool,
    /// Whether a fault of the task made one fail.
    pub(super) injected: bool,
    /// What is wrong with them.
    pub(super) marks: Vec<Mark>,
    /// What is told of it where somebody points at it.
    pub(super) tip: String,
    /// Which row shows which argument of its only call.
    arguments: Vec<(String, usize)>,
    /// The row that shows the result.
    result: usize,
}

/// What a line is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum LineKind {
    /// A value that went from a result into a call.
    Flow,
    /// One that went into the answer.
    Answer,
    /// One that should have gone from a result into a call.
    Owed,
}

/// A line between two boxes.
#[derive(Debug)]
pub(super) struct Line {
    pub(super) kind: LineKind,
    /// The path, in SVG's language.
    pub(super) path: String,
    pub(super) label: String,
    /// Where the label ends.
    pub(super) at: (usize, usize),
    pub(super) tip: String,
}

impl Boxed {
    fn new(kind: Kind, rows: Vec<Row>) -> Self {
        Self {
            kind,
            column: 0,
            x: 0,
            y: 0,
            width: WIDE,
            rows,
            calls: Vec::new(),
            writes: false,
            injected: false,
            marks: Vec::new(),
            tip: String::new(),
            arguments: Vec::new(),
            result: 0,
        }
    }

    /// Returns its height.
    pub(super) fn height(&self) -> usize {
        2 * PAD + self.rows.len() * ROW
    }

    /// Returns the height at which a row's text is centred.
    fn level(&self, row: usize) -> usize {
        self.y + PAD + row.min(self.rows.len().saturating_sub(1)) * ROW + ROW / 2
    }

    /// Returns the height at which a line leaves it: at the result.
    fn source(&self) -> usize {
        self.level(self.result)
    }

    /// Returns the height at which a line to an argument reaches it.
    fn target(&self, argument: &str) -> usize {
        let root = argument.split(['.', '[']).next().unwrap_or_default();
        let row = self.arguments.iter().find(|(name, _)| name == root).map_or(0, |(_, row)| *row);
        self.level(row)
    }
}

/// Returns how many letters fit into a box.
fn letters(width: usize) -> usize {
    (width - 2 * PAD) * 100 / LETTER
}

/// Places what was chosen of a scene.
pub(super) fn place(scene: &Scene, columns: &[Column]) -> Placed {
    let mut placed = Placed::default();
    let mut stacks: Vec<(usize, Vec<Boxed>)> = vec![(WIDE, vec![request(scene, letters(WIDE))])];
    for column in columns {
        let boxed = |cell: &Cell| match cell {
            Cell::One(place) => call(scene, *place, letters(WIDE)),
            Cell::Many(calls) => many(scene, calls, letters(WIDE)),
        };
        stacks.push((WIDE, column.cells.iter().map(boxed).collect()));
    }
    let mut end: Vec<Boxed> = missing(scene, letters(WIDEST));
    end.push(answer(scene, letters(WIDEST)));
    end.push(verdict(scene, letters(WIDEST)));
    stacks.push((WIDEST, end));
    let lefts = lefts(&stacks);
    placed.heads = heads(scene, columns, &lefts);
    for (column, (width, stack)) in stacks.into_iter().enumerate() {
        for boxed in stack {
            placed.boxes.push(Boxed { column, x: lefts[column], width, ..boxed });
        }
    }
    let wanted = lines::wanted(scene, &placed.boxes);
    let lanes = lines::Lanes::of(&wanted, &placed.boxes);
    let top = HEADS + HEAD + lanes.count() * LANE;
    stack(&mut placed.boxes, top);
    placed.lines = lines::drawn(&wanted, &lanes, &placed.boxes);
    let right = |boxed: &Boxed| boxed.x + boxed.width;
    placed.width = placed.boxes.iter().map(right).max().unwrap_or(0) + MARGIN;
    let low = |boxed: &Boxed| boxed.y + boxed.height();
    placed.bottom = placed.boxes.iter().map(low).max().unwrap_or(top);
    placed
}

/// Returns where each column begins.
fn lefts(stacks: &[(usize, Vec<Boxed>)]) -> Vec<usize> {
    let mut x = MARGIN;
    let mut lefts = Vec::new();
    for (width, _) in stacks {
        lefts.push(x);
        x += width + GAP;
    }
    lefts
}

/// Sets the boxes of each column below each other.
fn stack(boxes: &mut [Boxed], top: usize) {
    let (mut column, mut y) = (0, top);
    for boxed in boxes {
        if boxed.column != column {
            (column, y) = (boxed.column, top);
        }
        boxed.y = y;
        y += boxed.height() + BETWEEN;
    }
}

fn heads(scene: &Scene, columns: &[Column], lefts: &[usize]) -> Vec<Head> {
    let mut heads = vec![Head { x: MARGIN, name: "start".to_owned(), events: String::new() }];
    for (column, x) in columns.iter().zip(&lefts[1..]) {
        let name = if column.from == column.to {
            format!("round {}", column.from)
        } else {
            format!("rounds {}–{}", column.from, column.to)
        };
        let events: Vec<&str> = scene
            .events
            .range(column.from..=column.to)
            .flat_map(|(_, names)| names.iter().map(String::as_str))
            .collect();
        let events = match events.as_slice() {
            [] => String::new(),
            names => super::text::line(&format!("event: {}", names.join(", ")), letters(WIDE)),
        };
        heads.push(Head { x: *x, name, events });
    }
    let x = lefts.last().copied().unwrap_or(MARGIN);
    heads.push(Head { x, name: "end".to_owned(), events: String::new() });
    heads
}
