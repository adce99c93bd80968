//! The reading order of a page: lines out of what was drawn, columns out of lines.
//!
//! Only columns of prose are read one after the other; cells of a table stand in short
//! runs beside each other and stay in their rows. All lengths are in points, and y grows
//! upwards, as in the format.

/// What was drawn in one piece.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Run {
    pub text: String,
    pub left: f32,
    pub right: f32,
    pub bottom: f32,
    pub size: f32,
    pub bold: bool,
}

impl Run {
    fn middle(&self) -> f32 {
        self.bottom + self.size / 2.0
    }
}

/// Runs beside each other without a wide gap.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Segment {
    pub text: String,
    pub left: f32,
    pub right: f32,
    /// The size of most of it.
    pub size: f32,
    pub bold: bool,
}

/// Segments at one height, from left to right.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Row {
    pub segments: Vec<Segment>,
    pub top: f32,
    pub bottom: f32,
}

/// A gap as wide as this part of the letters' size parts words.
const SPACE: f32 = 0.18;

/// A gap as wide as this many times the letters' size parts segments.
const GAP: f32 = 1.0;

/// The narrowest gap between columns.
const GUTTER: f32 = 8.0;

/// The fewest rows of a column.
const ROWS: usize = 4;

/// The fewest characters that a row of prose has on average.
const PROSE: usize = 18;

/// The most columns in columns.
const DEPTH: usize = 6;

/// The most rows of a page that are searched for columns; more are no page of prose.
const SEARCHED: usize = 2_000;

/// Returns the rows of a page in the order in which they are read, in groups of one
/// column each.
pub(super) fn ordered(runs: Vec<Run>) -> Vec<Vec<Row>> {
    let mut groups = Vec::new();
    columns(rows(runs), 0, &mut groups);
    groups
}

/// Puts runs into rows, from top to bottom.
fn rows(mut runs: Vec<Run>) -> Vec<Row> {
    runs.sort_by(|a, b| b.middle().total_cmp(&a.middle()));
    let mut bands: Vec<(f32, f32, Vec<Run>)> = Vec::new();
    for run in runs {
        let middle = run.middle();
        match bands.last_mut() {
            // What is small and raised stands in the row of what it is raised from.
            Some((bottom, top, band)) if middle > *bottom && middle < *top => {
                if band.iter().all(|other| other.size <= run.size) {
                    (*bottom, *top) = (run.bottom, run.bottom + run.size);
                }
                band.push(run);
            }
            _ => bands.push((run.bottom, run.bottom + run.size, vec![run])),
        }
    }
    bands
        .into_iter()
        .map(|(bottom, top, band)| Row { segments: segments(band), top, bottom })
        .collect()
}

/// Joins the runs of a row where no wide gap parts them.
fn segments(mut runs: Vec<Run>) -> Vec<Segment> {
    runs.sort_by(|a, b| a.left.total_cmp(&b.left));
    let largest = runs.iter().map(|run| run.size).fold(0.0, f32::max);
    let mut segments: Vec<Segment> = Vec::new();
    let mut longest = 0;
    for run in runs {
        let text = if is_note(&run, largest) { noted(&run, segments.last()) } else { run.text };
        let length = text.trim().chars().count();
        let last = segments.last_mut().filter(|last| run.left - last.right < GAP * largest);
        let Some(last) = last else {
            let Run { left, right, size, bold, .. } = run;
            segments.push(Segment { text, left, right, size, bold });
            longest = length;
            continue;
        };
        let touches = run.left - last.right < SPACE * run.size.min(last.size);
        if !touches && !last.text.ends_with(' ') && !text.starts_with(' ') {
            last.text.push(' ');
        }
        if length > longest {
            (last.size, longest) = (run.size, length);
        }
        last.bold &= run.bold || text.trim().is_empty();
        last.text.push_str(&text);
        last.right = last.right.max(run.right);
    }
    for segment in &mut segments {
        segment.text = segment.text.trim().to_owned();
    }
    segments.retain(|segment| !segment.text.is_empty());
    segments
}

/// Whether a run is the mark of a footnote: a small number beside larger letters.
fn is_note(run: &Run, largest: f32) -> bool {
    let text = run.text.trim();
    run.size < largest * 0.85
        && (1..=3).contains(&text.len())
        && text.bytes().all(|byte| byte.is_ascii_digit())
}

fn noted(run: &Run, before: Option<&Segment>) -> String {
    let mark = format!("[^{}]", run.text.trim());
    // At the start of a row it is the note itself.
    if before.is_none() { mark + ":" } else { mark }
}

/// Reads columns one after the other, and what stands above and below them apart.
fn columns(rows: Vec<Row>, depth: usize, groups: &mut Vec<Vec<Row>>) {
    let found = if depth < DEPTH && rows.len() <= SEARCHED { gutter(&rows) } else { None };
    let Some((at, begin, end)) = found else {
        if !rows.is_empty() {
            groups.push(rows);
        }
        return;
    };
    let mut rows = rows;
    let below = rows.split_off(end);
    let beside = rows.split_off(begin);
    let side = |left: bool| -> Vec<Row> {
        let half = beside.iter().map(|row| {
            let kept = row.segments.iter().filter(|it| (it.left < at) == left).cloned();
            Row { segments: kept.collect(), ..row.clone() }
        });
        half.filter(|row| !row.segments.is_empty()).collect()
    };
    let (left, right) = (side(true), side(false));
    columns(rows, depth + 1, groups);
    columns(left, depth + 1, groups);
    columns(right, depth + 1, groups);
    columns(below, depth + 1, groups);
}

/// Finds the gap between two columns of prose that goes on over most rows: where it is,
/// and which rows it parts.
fn gutter(rows: &[Row]) -> Option<(f32, usize, usize)> {
    let all = || rows.iter().flat_map(|row| &row.segments);
    let left = all().map(|it| it.left).fold(f32::INFINITY, f32::min);
    let right = all().map(|it| it.right).fold(f32::NEG_INFINITY, f32::max);
    let narrow = |it: &&Segment| it.right - it.left < (right - left) * 0.6;
    let mut spans: Vec<(f32, f32)> = all().filter(narrow).map(|it| (it.left, it.right)).collect();
    spans.sort_by(|a, b| a.0.total_cmp(&b.0));
    let mut gaps = Vec::new();
    let mut reach = spans.first()?.1;
    for (left, right) in spans {
        if left - reach >= GUTTER {
            gaps.push(f32::midpoint(reach, left));
        }
        reach = reach.max(right);
    }
    let longest = |at: &f32| parted(rows, *at).into_iter().max_by_key(|(begin, end)| end - begin);
    gaps.into_iter()
        .filter_map(|at| longest(&at).map(|(begin, end)| (at, begin, end)))
        .max_by_key(|(_, begin, end)| end - begin)
}

/// Returns the stretches of rows that nothing crosses at `at` and that hold prose on both
/// sides.
fn parted(rows: &[Row], at: f32) -> Vec<(usize, usize)> {
    let crosses = |row: &Row| row.segments.iter().any(|it| it.left < at && it.right > at);
    let mut stretches = Vec::new();
    let mut begin = 0;
    for end in 0..=rows.len() {
        if rows.get(end).is_none_or(crosses) {
            if is_prose(&rows[begin..end], at) {
                stretches.push((begin, end));
            }
            begin = end + 1;
        }
    }
    stretches
}

fn is_prose(rows: &[Row], at: f32) -> bool {
    [true, false].into_iter().all(|left| {
        let side = || rows.iter().flat_map(|row| &row.segments).filter(|it| (it.left < at) == left);
        let letters: usize = side().map(|it| it.text.chars().count()).sum();
        let held =
            rows.iter().filter(|row| row.segments.iter().any(|it| (it.left < at) == left)).count();
        held >= ROWS && letters >= PROSE * side().count()
    })
}
