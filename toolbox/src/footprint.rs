//! What a call touches, from which follows what may run beside it.
//!
//! A tool says for given arguments what it reads and writes. Two calls of a round
//! conflict when one writes what the other touches; a path touches what lies below
//! it. A conflicting call waits for the earlier one, so one seed and one sequence of
//! replies give one result, whatever the scheduler does.

use camino::{Utf8Path, Utf8PathBuf};

/// Something that a call can touch.
#[derive(Debug, Clone, PartialEq, Eq)]
enum Thing {
    /// A path of the workspace; the empty path is the whole of it.
    Path(Utf8PathBuf),
    /// The attempt's browser, with all that lies in it.
    Browser,
    /// The attempt's world. Whoever only reads it counts as a call too, and events may wait
    /// for that, so all of them come in the order asked.
    World,
    /// A foreign server of the attempt, by name.
    Server(String),
}

impl Thing {
    fn overlaps(&self, other: &Self) -> bool {
        match (self, other) {
            (Self::Path(a), Self::Path(b)) => a.starts_with(b) || b.starts_with(a),
            (Self::Browser, Self::Browser) | (Self::World, Self::World) => true,
            (Self::Server(a), Self::Server(b)) => a == b,
            (Self::Path(_) | Self::Browser | Self::World | Self::Server(_), _) => false,
        }
    }
}

/// What a call reads and writes.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Footprint {
    reads: Vec<Thing>,
    writes: Vec<Thing>,
}

impl Footprint {
    /// Touches nothing that another call could change; the hermetic web counts as that.
    #[must_use]
    pub fn none() -> Self {
        Self::default()
    }

    /// Reads one file.
    #[must_use]
    pub fn reads_file(path: &Utf8Path) -> Self {
        Self { reads: vec![Thing::Path(normal(path))], writes: Vec::new() }
    }

    /// Reads and writes anything in the workspace.
    #[must_use]
    pub fn writes_workspace() -> Self {
        Self { reads: Vec::new(), writes: vec![Thing::Path(Utf8PathBuf::new())] }
    }

    /// Reads anything in the workspace.
    #[must_use]
    pub fn reads_workspace() -> Self {
        Self { reads: vec![Thing::Path(Utf8PathBuf::new())], writes: Vec::new() }
    }

    /// Uses the browser, so that nothing else may meanwhile.
    #[must_use]
    pub fn uses_browser() -> Self {
        Self { reads: Vec::new(), writes: vec![Thing::Browser] }
    }

    /// Uses the world, so that nothing else may meanwhile.
    #[must_use]
    pub fn uses_world() -> Self {
        Self { reads: Vec::new(), writes: vec![Thing::World] }
    }

    /// Uses a foreign server, so that nothing else may meanwhile.
    #[must_use]
    pub fn uses_server(name: &str) -> Self {
        Self { reads: Vec::new(), writes: vec![Thing::Server(name.to_owned())] }
    }

    /// Asks a foreign server for something that changes nothing.
    #[must_use]
    pub fn reads_server(name: &str) -> Self {
        Self { reads: vec![Thing::Server(name.to_owned())], writes: Vec::new() }
    }

    /// Writes one file.
    #[must_use]
    pub fn writes_file(path: &Utf8Path) -> Self {
        Self { reads: Vec::new(), writes: vec![Thing::Path(normal(path))] }
    }

    /// Adds what another footprint touches.
    #[must_use]
    pub fn and(mut self, other: Self) -> Self {
        self.reads.extend(other.reads);
        self.writes.extend(other.writes);
        self
    }

    /// Returns whether the two may not overlap in time.
    #[must_use]
    pub fn conflicts_with(&self, other: &Self) -> bool {
        let hits = |writes: &[Thing], things: &[Thing]| {
            writes.iter().any(|write| things.iter().any(|thing| write.overlaps(thing)))
        };
        hits(&self.writes, &other.writes)
            || hits(&self.writes, &other.reads)
            || hits(&other.writes, &self.reads)
    }
}

/// Drops `.` and resolves `..`, so that two spellings of a path are one thing. What
/// leads out of the workspace becomes the whole of it: the call will fail anyway, and
/// waiting is safe.
fn normal(path: &Utf8Path) -> Utf8PathBuf {
    let mut clean = Utf8PathBuf::new();
    for part in path.components() {
        match part {
            camino::Utf8Component::Normal(name) => clean.push(name),
            camino::Utf8Component::CurDir => {}
            camino::Utf8Component::ParentDir if clean.pop() => {}
            camino::Utf8Component::ParentDir
            | camino::Utf8Component::RootDir
            | camino::Utf8Component::Prefix(_) => return Utf8PathBuf::new(),
        }
    }
    clean
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn calls_conflict_when_one_writes_what_the_other_touches() {
        let read = |path: &str| Footprint::reads_file(Utf8Path::new(path));
        let table = [
            (read("a.csv"), read("a.csv"), false, "two reads of one file"),
            (read("a.csv"), Footprint::writes_workspace(), true, "a read and a write of all"),
            (Footprint::writes_workspace(), Footprint::writes_workspace(), true, "two writes"),
            (Footprint::none(), Footprint::writes_workspace(), false, "nothing touched"),
            (Footprint::uses_browser(), Footprint::uses_browser(), true, "one browser"),
            (Footprint::uses_browser(), Footprint::writes_workspace(), false, "other things"),
            (
                Footprint::uses_browser().and(Footprint::reads_workspace()),
                Footprint::writes_workspace(),
                true,
                "an upload reads",
            ),
            (Footprint::uses_world(), Footprint::uses_world(), true, "one world"),
            (Footprint::uses_world(), Footprint::writes_workspace(), false, "a world has no files"),
            (Footprint::uses_server("a"), Footprint::uses_server("a"), true, "one server"),
            (
                Footprint::uses_server("a"),
                Footprint::reads_server("a"),
                true,
                "a look and a change",
            ),
            (Footprint::reads_server("a"), Footprint::reads_server("a"), false, "two looks"),
            (Footprint::uses_server("a"), Footprint::uses_server("b"), false, "two servers"),
            (Footprint::writes_file(Utf8Path::new("a.csv")), read("a.csv"), true, "an export"),
            (read("../x"), Footprint::writes_workspace(), true, "an escape counts as all"),
        ];
        for (a, b, want, why) in table {
            assert_eq!(a.conflicts_with(&b), want, "{why}");
            assert_eq!(b.conflicts_with(&a), want, "{why}, the other way round");
        }
    }
}
