//! Which cells look alike, as rectangles.
//!
//! Cells arrive by rows; equal neighbours join to runs, and equal runs of rows that follow
//! one another to rectangles. Memory is bounded by how many rectangles a look may have.

use std::collections::BTreeMap;

use crate::place::Area;

/// The most rectangles of one look; more are counted.
const LISTED: usize = 60;

/// The rectangles of each look; a look is a number, and 0 is none.
#[derive(Debug, Default)]
pub(crate) struct Areas {
    run: Option<(u32, Area)>,
    fresh: Vec<(u32, Area)>,
    open: Vec<(u32, Area)>,
    closed: BTreeMap<u32, (Vec<Area>, u64)>,
}

impl Areas {
    /// Adds a cell of the row that is being read; columns ascend within a row.
    pub(crate) fn add(&mut self, row: u32, column: u32, look: u32) {
        self.add_run(row, column, column, look);
    }

    /// Adds cells from one column to another.
    pub(crate) fn add_run(&mut self, row: u32, column: u32, last: u32, look: u32) {
        match &mut self.run {
            Some((other, area))
                if *other == look
                    && area.top == row
                    && area.right.checked_add(1) == Some(column) =>
            {
                area.right = last;
            }
            run => {
                let area = Area { top: row, left: column, bottom: row, right: last };
                let ended = run.replace((look, area));
                self.fresh.extend(ended.filter(|(look, _)| *look != 0));
            }
        }
    }

    /// Ends a row: runs that repeat those of the row above extend their rectangles.
    pub(crate) fn end_row(&mut self) {
        self.fresh.extend(self.run.take().filter(|(look, _)| *look != 0));
        if self.fresh.is_empty() && self.open.is_empty() {
            return;
        }
        let mut above = std::mem::take(&mut self.open).into_iter().peekable();
        for (look, area) in self.fresh.drain(..) {
            while let Some(ended) = above.next_if(|(_, other)| other.left < area.left) {
                close(&mut self.closed, ended);
            }
            let extends = above.next_if(|(other_look, other)| {
                *other_look == look
                    && (other.left, other.right) == (area.left, area.right)
                    && other.bottom.checked_add(1) == Some(area.top)
            });
            let top = extends.map_or(area.top, |(_, other)| other.top);
            self.open.push((look, Area { top, ..area }));
        }
        above.for_each(|ended| close(&mut self.closed, ended));
    }

    /// Returns the rectangles of each look and how many more there are.
    pub(crate) fn finish(mut self) -> BTreeMap<u32, (Vec<Area>, u64)> {
        self.end_row();
        for ended in std::mem::take(&mut self.open) {
            close(&mut self.closed, ended);
        }
        for (areas, _) in self.closed.values_mut() {
            areas.sort_by_key(|area| (area.top, area.left));
        }
        self.closed
    }
}

fn close(closed: &mut BTreeMap<u32, (Vec<Area>, u64)>, (look, area): (u32, Area)) {
    let (areas, more) = closed.entry(look).or_default();
    if areas.len() < LISTED {
        areas.push(area);
    } else {
        *more += 1;
    }
}

/// Writes rectangles in a line.
pub(crate) fn listed((areas, more): &(Vec<Area>, u64)) -> String {
    let mut text = areas.iter().map(ToString::to_string).collect::<Vec<_>>().join(", ");
    if *more > 0 {
        text.extend([" and ", &more.to_string(), " more areas"]);
    }
    text
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn of(rows: &[&[(u32, u32)]]) -> BTreeMap<u32, (Vec<Area>, u64)> {
        let mut areas = Areas::default();
        for (row, cells) in (0..).zip(rows) {
            for (column, look) in *cells {
                areas.add(row, *column, *look);
            }
            areas.end_row();
        }
        areas.finish()
    }

    #[test]
    fn equal_cells_join() {
        let got = of(&[
            &[(0, 1), (1, 1), (2, 0), (3, 2)],
            &[(0, 1), (1, 1), (3, 2)],
            &[(0, 1), (2, 1)],
            &[],
            &[(0, 1)],
        ]);
        assert_eq!(listed(&got[&1]), "A1:B2, A3, C3, A5");
        assert_eq!(listed(&got[&2]), "D1:D2");
        assert_eq!(got.len(), 2, "what looks like nothing is not listed");
    }

    proptest! {
        #[test]
        fn every_cell_is_in_one_area(cells in prop::collection::vec(0_u32..3, 48)) {
            let rows: Vec<Vec<(u32, u32)>> =
                cells.chunks(6).map(|row| (0..).zip(row.iter().copied()).collect()).collect();
            let rows: Vec<&[(u32, u32)]> = rows.iter().map(Vec::as_slice).collect();
            let got = of(&rows);
            for (row, cells) in (0..).zip(&rows) {
                for (column, look) in *cells {
                    let cell = Area { top: row, left: *column, bottom: row, right: *column };
                    let found: Vec<u32> = got
                        .iter()
                        .flat_map(|(look, (areas, _))| areas.iter().map(move |area| (look, area)))
                        .filter(|(_, area)| area.meets(&cell))
                        .map(|(look, _)| *look)
                        .collect();
                    let want: Vec<u32> = Some(*look).filter(|look| *look != 0).into_iter().collect();
                    prop_assert_eq!(found, want);
                }
            }
        }
    }
}
