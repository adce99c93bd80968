//! Which call was which expected one: the best assignment there is.
//!
//! Each expected call gets a call of its own or none, so that what is said of single calls
//! (tool, arguments, how it ended) and of pairs (order, values from earlier results) holds
//! for all that have one. Of all assignments the best has most of the required calls, then
//! most of the optional ones, then the earliest calls. It is found by a search that tries
//! everything it cannot rule out, not call by call: a greedy choice would blame an agent
//! that did a thing twice for the order in which it did.

use serde_json::Value;
use wildgym_tasks::scenario_file::{
    CallLike, ExpectedCall, Locator, Ordering, Segment, Source, pattern,
};

use super::evidence::Made;

/// Steps after which a search gives up: an attempt with so many ways to be read would need
/// dozens of calls that all fit several expected ones.
const STEPS: u64 = 2_000_000;

/// Something that must hold between two expected calls that both have one.
#[derive(Debug, Clone)]
pub(super) enum Tie {
    /// The earlier one comes first.
    Before {
        /// The earlier expected call.
        first: usize,
    },
    /// An argument has a value of the earlier one.
    Value {
        /// The argument.
        to: Locator,
        /// The value.
        from: Source,
    },
}

impl Tie {
    /// Returns the expected call that the tie refers to.
    pub(super) fn other(&self) -> usize {
        match self {
            Self::Before { first } => *first,
            Self::Value { from, .. } => from.call,
        }
    }

    /// Returns whether it holds between `earlier` and `own`.
    pub(super) fn holds(&self, earlier: &Made, own: &Made) -> bool {
        match self {
            Self::Before { .. } => earlier.number < own.number,
            Self::Value { to, from } => {
                let values = sources(from, earlier);
                let found = to.find(&own.arguments);
                !found.is_empty()
                    && found.iter().all(|one| values.iter().any(|value| is_value(one, value)))
            }
        }
    }
}

/// Returns the values that a path names in a call.
pub(super) fn sources<'m>(from: &Source, earlier: &'m Made) -> Vec<&'m Value> {
    let root = if from.of_arguments { &earlier.arguments } else { &earlier.result };
    from.path.find(root)
}

/// Returns whether an argument is a value. Ids may come as numbers and go as texts.
fn is_value(argument: &Value, value: &Value) -> bool {
    use Value::{Number, String};
    match (argument, value) {
        (String(text), Number(number)) | (Number(number), String(text)) => {
            text.trim() == number.to_string()
        }
        (String(a), String(b)) => a.trim() == b.trim(),
        (a, b) => pattern::same(a, b),
    }
}

/// Returns what ties each expected call to earlier ones.
pub(super) fn ties(expected: &[ExpectedCall], ordering: Ordering) -> Vec<Vec<Tie>> {
    let of = |(index, call): (usize, &ExpectedCall)| {
        let before: Vec<usize> = match ordering {
            Ordering::Strict => (0..index).collect(),
            Ordering::Partial => call.after.clone(),
            Ordering::Any => Vec::new(),
        };
        let mut ties: Vec<Tie> = before.into_iter().map(|first| Tie::Before { first }).collect();
        // The loader has read them once; what it refused is not judged.
        ties.extend(call.args_from_prior.iter().filter_map(|(to, from)| {
            let (to, from) = (Locator::parse(to).ok()?, Source::parse(from).ok()?);
            Some(Tie::Value { to, from })
        }));
        ties
    };
    expected.iter().enumerate().map(of).collect()
}

/// Returns whether a call is what is expected, or serves as well, as far as it alone can tell.
pub(super) fn fits(expected: &ExpectedCall, made: &Made) -> bool {
    let is_right = made.tool == expected.tool
        && pattern::difference(&expected.args_match, &made.arguments).is_none()
        && forbidden(expected, made).is_none();
    ends(expected, made) && (is_right || expected.instead.iter().any(|one| is_like(one, made)))
}

/// Returns whether a call is of an operation and its arguments fit.
pub(super) fn is_like(one: &CallLike, made: &Made) -> bool {
    one.tool == made.tool && pattern::difference(&one.args_match, &made.arguments).is_none()
}

/// Returns whether a call ended as expected.
pub(super) fn ends(expected: &ExpectedCall, made: &Made) -> bool {
    expected.outcome.admits(made.error.as_deref(), made.injected)
}

/// Returns the first argument that is there and must not be. A default that nobody gave is
/// not there, and neither is a value that says nothing.
pub(super) fn forbidden<'e>(expected: &'e ExpectedCall, made: &Made) -> Option<&'e str> {
    let is_there = |path: &&String| {
        let Ok(locator) = Locator::parse(path) else { return false };
        let is_default = matches!(
            locator.0.first(),
            Some(Segment::Key(name)) if made.defaults.contains(name)
        );
        !is_default && locator.find(&made.arguments).into_iter().any(says_something)
    };
    expected.args_forbid.iter().find(is_there).map(String::as_str)
}

fn says_something(value: &Value) -> bool {
    match value {
        Value::Null => false,
        Value::Array(items) => !items.is_empty(),
        Value::Object(fields) => !fields.is_empty(),
        Value::Bool(_) | Value::Number(_) | Value::String(_) => true,
    }
}

/// Which call, by its place from 0, each expected one has.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Assignment {
    /// By expected call.
    pub(super) of: Vec<Option<usize>>,
    /// Whether nothing better can exist; a search that gave up does not know.
    pub(super) is_best: bool,
}

/// Finds the best assignment.
pub(super) fn assign(expected: &[ExpectedCall], ordering: Ordering, calls: &[Made]) -> Assignment {
    let candidates: Vec<Vec<usize>> = expected
        .iter()
        .map(|one| (0..calls.len()).filter(|&place| fits(one, &calls[place])).collect())
        .collect();
    let mut after = vec![(0, 0); expected.len() + 1];
    for index in (0..expected.len()).rev() {
        let (required, optional) = after[index + 1];
        let possible = usize::from(!candidates[index].is_empty());
        after[index] = if expected[index].optional {
            (required, optional + possible)
        } else {
            (required + possible, optional)
        };
    }
    let mut search = Search {
        expected,
        calls,
        ties: ties(expected, ordering),
        candidates,
        after,
        now: Vec::with_capacity(expected.len()),
        taken: vec![false; calls.len()],
        best: vec![None; expected.len()],
        score: (0, 0),
        steps: 0,
    };
    search.go((0, 0));
    Assignment { is_best: search.steps < STEPS, of: search.best }
}

struct Search<'a> {
    expected: &'a [ExpectedCall],
    calls: &'a [Made],
    ties: Vec<Vec<Tie>>,
    candidates: Vec<Vec<usize>>,
    /// Most required and optional ones that can still be had from each place on.
    after: Vec<(usize, usize)>,
    now: Vec<Option<usize>>,
    taken: Vec<bool>,
    best: Vec<Option<usize>>,
    score: (usize, usize),
    steps: u64,
}

impl Search<'_> {
    /// Decides on the next expected call and those after it; `had` counts required and
    /// optional ones so far.
    fn go(&mut self, had: (usize, usize)) {
        let index = self.now.len();
        let rest = self.after[index];
        let hope = (had.0 + rest.0, had.1 + rest.1);
        self.steps += 1;
        if hope <= self.score || self.steps >= STEPS {
            return;
        }
        if index == self.expected.len() {
            self.score = had;
            self.best.clone_from(&self.now);
            return;
        }
        let more =
            if self.expected[index].optional { (had.0, had.1 + 1) } else { (had.0 + 1, had.1) };
        for at in 0..self.candidates[index].len() {
            let place = self.candidates[index][at];
            if self.taken[place] || !self.is_allowed(index, place) {
                continue;
            }
            self.taken[place] = true;
            self.now.push(Some(place));
            self.go(more);
            self.now.pop();
            self.taken[place] = false;
        }
        self.now.push(None);
        self.go(had);
        self.now.pop();
    }

    /// Returns whether a call keeps all ties to the expected calls that have one. Where the
    /// other one has none, an order is kept and a value is not.
    fn is_allowed(&self, index: usize, place: usize) -> bool {
        self.ties[index].iter().all(|tie| {
            match (self.now.get(tie.other()).copied().flatten(), tie) {
                (Some(earlier), tie) => tie.holds(&self.calls[earlier], &self.calls[place]),
                (None, Tie::Before { .. }) => true,
                (None, Tie::Value { .. }) => false,
            }
        })
    }
}
