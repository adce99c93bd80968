//! A trial as a picture: its calls as a graph, in SVG.
//!
//! Calls stand in columns by round, from left to right; lines show which value of an earlier
//! result went into a later call; what is wrong with a call stands in it, in a colour of its
//! own that the legend names. The request stands at the start, the answer with its verdict at
//! the end. All of it comes from the store.
//!
//! What agents and tools wrote is hostile: every text is escaped, made visible where it would
//! hide or turn round, and cut; the file refers to nothing outside of itself and runs nothing.
//! However long the trial, the picture stays of a size that can be read: rounds in which
//! nothing is to be seen are folded into one column, and calls beyond a column's room into
//! one box that counts them.

mod draw;
mod flow;
mod fold;
mod mark;
mod place;
mod scene;
mod text;

use crate::judge::Findings;
use crate::record::Record;
use crate::report::Resolve;
use crate::verdict::VerdictRecord;

/// What is drawn of a trial beside its records.
#[derive(Debug, Clone, Default)]
pub struct GraphOptions {
    /// What the title says it is, such as `react-m/t2-007/full/1`.
    pub title: String,
    /// The verdict that is shown: its judge's name and its line.
    pub verdict: Option<(String, VerdictRecord)>,
    /// What was found of each call; none where the task expects no calls.
    pub findings: Option<Findings>,
}

/// Returns the picture of an attempt as an SVG document.
#[must_use]
pub fn graph(records: &[Record], resolve: &Resolve<'_>, options: &GraphOptions) -> String {
    let scene = scene::Scene::of(records, resolve, options);
    let folded = fold::fold(&scene);
    let placed = place::place(&scene, &folded);
    draw::draw(&scene, &placed)
}

#[cfg(test)]
mod tests;
