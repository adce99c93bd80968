//! What is drawn of a long trial, and what is counted instead.
//!
//! A column has room for some boxes, a picture for some columns. Calls with something to be
//! seen (a violation, an expected call, a failure, a change) are kept before others; rounds
//! without any are folded together, and where that is not enough the rounds in the middle.

use std::collections::BTreeMap;

use super::scene::{Call, Scene};

/// Most boxes in a column.
pub(super) const MOST_BOXES: usize = 8;

/// Most columns of calls.
pub(super) const MOST_COLUMNS: usize = 24;

/// What stands in a box.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Cell {
    /// One call, by its place.
    One(usize),
    /// Calls that are counted only.
    Many(Vec<usize>),
}

/// The calls of a round, or of some rounds in a row.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Column {
    /// The first round.
    pub(super) from: u32,
    /// The last one.
    pub(super) to: u32,
    /// The boxes, from top to bottom.
    pub(super) cells: Vec<Cell>,
}

/// Chooses what is drawn.
pub(super) fn fold(scene: &Scene) -> Vec<Column> {
    let mut rounds: BTreeMap<u32, Vec<usize>> = BTreeMap::new();
    for (place, call) in scene.calls.iter().enumerate() {
        rounds.entry(call.round).or_default().push(place);
    }
    let mut groups: Vec<(u32, u32, Vec<usize>)> =
        rounds.into_iter().map(|(round, places)| (round, round, places)).collect();
    if groups.len() > MOST_COLUMNS {
        groups = quiet_together(groups, &scene.calls);
    }
    let is_long = groups.len() > MOST_COLUMNS;
    if is_long {
        let kept = MOST_COLUMNS - 1;
        let tail = groups.split_off(groups.len() - kept / 2);
        let middle = groups.split_off(kept - kept / 2);
        groups.extend(middle.into_iter().reduce(joined));
        groups.extend(tail);
    }
    let column = |(from, to, places): (u32, u32, Vec<usize>)| {
        let cells = if from == to { cells(places, &scene.calls) } else { vec![Cell::Many(places)] };
        Column { from, to, cells }
    };
    groups.into_iter().map(column).collect()
}

type Group = (u32, u32, Vec<usize>);

fn joined(mut a: Group, b: Group) -> Group {
    a.2.extend(b.2);
    (a.0, b.1, a.2)
}

/// Joins neighbouring rounds in which there is nothing to be seen.
fn quiet_together(groups: Vec<Group>, calls: &[Call]) -> Vec<Group> {
    let is_quiet = |group: &Group| group.2.iter().all(|&place| calls[place].weight() == 0);
    let mut all: Vec<Group> = Vec::new();
    for group in groups {
        match all.pop() {
            Some(last) if is_quiet(&last) && is_quiet(&group) => all.push(joined(last, group)),
            Some(last) => all.extend([last, group]),
            None => all.push(group),
        }
    }
    all
}

/// Returns the boxes of one round: the calls that matter most, in the order asked, and a box
/// that counts the rest.
fn cells(places: Vec<usize>, calls: &[Call]) -> Vec<Cell> {
    if places.len() <= MOST_BOXES {
        return places.into_iter().map(Cell::One).collect();
    }
    let mut by_weight = places.clone();
    by_weight.sort_by_key(|&place| std::cmp::Reverse(calls[place].weight()));
    by_weight.truncate(MOST_BOXES - 1);
    let (kept, rest): (Vec<usize>, Vec<usize>) =
        places.into_iter().partition(|place| by_weight.contains(place));
    kept.into_iter().map(Cell::One).chain([Cell::Many(rest)]).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn scene(rounds: u32, each: usize, failed: &[usize]) -> Scene {
        let mut calls = Vec::new();
        for round in 1..=rounds {
            for _ in 0..each {
                let error = failed.contains(&calls.len()).then(|| "failed".to_owned());
                calls.push(Call { round, error, ..Call::default() });
            }
        }
        Scene { calls, ..Scene::default() }
    }

    fn drawn(columns: &[Column]) -> Vec<usize> {
        let mut all: Vec<usize> = columns
            .iter()
            .flat_map(|column| &column.cells)
            .flat_map(|cell| match cell {
                Cell::One(place) => vec![*place],
                Cell::Many(places) => places.clone(),
            })
            .collect();
        all.sort_unstable();
        all
    }

    #[test]
    fn nothing_is_lost_and_nothing_is_too_large() {
        let table = [(1, 1, vec![]), (24, 8, vec![]), (100, 20, vec![]), (100, 20, vec![7, 1010])];
        for (rounds, each, failed) in table {
            let columns = fold(&scene(rounds, each, &failed));
            let count = rounds as usize * each;
            assert_eq!(drawn(&columns), (0..count).collect::<Vec<_>>(), "{rounds} x {each}");
            assert!(columns.len() <= MOST_COLUMNS, "{rounds} x {each}");
            assert!(columns.iter().all(|column| column.cells.len() <= MOST_BOXES));
            let one = |place: usize| {
                columns.iter().any(|column| column.cells.contains(&Cell::One(place)))
            };
            assert!(failed.iter().all(|&place| one(place)), "failures stand by themselves");
        }
        let noisy: Vec<usize> = (0..2000).collect();
        let columns = fold(&scene(100, 20, &noisy));
        assert_eq!((columns.len(), drawn(&columns).len()), (MOST_COLUMNS, 2000));
        assert_eq!((columns[0].from, columns[23].to), (1, 100), "the ends are kept");
    }
}
