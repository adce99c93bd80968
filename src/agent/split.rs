//! What the working time of an attempt goes into.
//!
//! A stopwatch with three hands, moved by readings of the attempt's own clock of working
//! time; it reads no clock itself. At any time exactly one part runs, so the parts never add
//! up to more than the whole, however many calls of a round run side by side.

use std::time::Duration;

/// What working time goes into.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Part {
    /// The harness and the agent's own steps.
    Own,
    /// Waiting for the model.
    Model,
    /// A round of calls.
    Tools,
}

/// Working time by what it went into; the rest of the whole is the harness's own.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Spent {
    /// Waiting for the model, requests that failed included.
    pub model: Duration,
    /// Rounds of calls, each as long as its calls took together.
    pub tools: Duration,
}

/// A running split.
#[derive(Debug)]
pub(super) struct Split {
    part: Part,
    since: Duration,
    spent: Spent,
}

impl Split {
    /// Begins at a reading of the clock, with the harness's own part.
    pub(super) fn new(now: Duration) -> Self {
        Self { part: Part::Own, since: now, spent: Spent::default() }
    }

    /// Ends the part that runs at a reading of the clock, and begins another.
    pub(super) fn turn(&mut self, part: Part, now: Duration) {
        let took = now.saturating_sub(self.since);
        match self.part {
            Part::Own => {}
            Part::Model => self.spent.model += took,
            Part::Tools => self.spent.tools += took,
        }
        (self.part, self.since) = (part, now);
    }

    /// Returns what has been spent up to the last turn.
    pub(super) fn spent(&self) -> Spent {
        self.spent
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_part_runs_at_a_time() {
        let at = Duration::from_millis;
        let mut split = Split::new(at(5));
        for (part, now) in [
            (Part::Model, 10),
            (Part::Own, 70),
            (Part::Tools, 71),
            (Part::Own, 91),
            (Part::Model, 95),
            // A limit cut the attempt short while it waited.
            (Part::Own, 100),
        ] {
            split.turn(part, at(now));
        }
        assert_eq!(split.spent(), Spent { model: at(65), tools: at(20) });
        split.turn(Part::Own, at(50));
        assert_eq!(split.spent(), Spent { model: at(65), tools: at(20) }, "no time runs back");
    }
}
