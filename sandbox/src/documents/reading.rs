//! What one job may still use, shared by a document and all documents in it.

use std::time::{Duration, Instant};

use super::packed::Allowance;

/// Time after which nothing further is begun: what was read is worth more than the
/// worker's end, which the host brings about after 10 s.
const TIME: Duration = Duration::from_secs(7);

/// What is left of a job's time and room.
#[derive(Debug)]
pub(super) struct Reading {
    deadline: Instant,
    /// The page from which a document of pages is read, from 1; zero counts as one.
    pub page: usize,
    /// How many archives lie around what is being read.
    pub depth: usize,
    /// What may still be unpacked.
    pub allowance: Allowance,
}

impl Reading {
    /// Begins a job: a document is read from this page on and lies in so many others.
    pub(super) fn of(page: usize, depth: usize) -> Self {
        Self { deadline: Instant::now() + TIME, page, depth, allowance: Allowance::default() }
    }

    /// Whether nothing further should be begun.
    pub(super) fn is_late(&self) -> bool {
        Instant::now() >= self.deadline
    }

    /// Reads something that lies in an archive.
    pub(super) fn nested<T>(&mut self, read: impl FnOnce(&mut Self) -> T) -> T {
        self.depth += 1;
        let page = std::mem::replace(&mut self.page, 1);
        let result = read(self);
        self.depth -= 1;
        self.page = page;
        result
    }
}
