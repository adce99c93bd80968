//! Why an expected call has none: what was made, held against what was expected.

use serde_json::Value;
use wildgym_tasks::scenario_file::{CallEnd, ExpectedCall, Flaw, pattern};

use super::Complaint;
use super::assign::{Assignment, Tie, ends, forbidden, sources};
use super::evidence::Made;
use super::known::Known;

/// Most characters of a value in a reason.
const LONGEST: usize = 160;

/// What expected calls are explained with.
pub(super) struct Context<'a> {
    pub(super) expected: &'a [ExpectedCall],
    pub(super) ties: &'a [Vec<Tie>],
    pub(super) calls: &'a [Made],
    pub(super) assignment: &'a Assignment,
    pub(super) known: &'a Known,
}

/// How far a call of the right tool came: the farthest one is told of.
#[derive(Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Stage {
    Failed,
    Arguments,
    Forbidden,
    Prior,
    Order,
    Together,
}

impl Context<'_> {
    /// Says what became of an expected call that has none.
    pub(super) fn complaint(&self, index: usize) -> Complaint {
        let expected = &self.expected[index];
        let others = expected.instead.iter().map(|one| format!(" or `{}`", one.tool));
        let name =
            format!("expected call {index} (`{}`{})", expected.tool, others.collect::<String>());
        // A call that serves another expected one says nothing about this one.
        let free = |made: &&Made| !self.assignment.of.contains(&Some(made.number - 1));
        let same = self.calls.iter().filter(|made| made.tool == expected.tool).filter(free);
        let staged = same.map(|made| (made, self.stage(index, made)));
        match staged.max_by(|(_, a), (_, b)| a.0.cmp(&b.0)) {
            Some((made, (_, flaw, why))) => Complaint::new(flaw, format!("{name}: {why}")).at(made),
            None => self.never(index, &name),
        }
    }

    fn never(&self, index: usize, name: &str) -> Complaint {
        let instead = match self.near_miss(index) {
            Some(made) => format!("; call {} went to `{}` instead", made.number, made.tool),
            None => String::new(),
        };
        Complaint::new(Flaw::MissingCall, format!("{name} was not made{instead}"))
    }

    /// Returns a call that was made in the place of an expected one, whose tool was never
    /// called: of a tool that the task names as near, or whose name is alike.
    pub(super) fn near_miss(&self, index: usize) -> Option<&Made> {
        let expected = &self.expected[index];
        if self.calls.iter().any(|made| made.tool == expected.tool) {
            return None;
        }
        let is_expected = |tool: &str| self.expected.iter().any(|one| one.tool == *tool);
        let near = |made: &&Made| {
            expected.near.contains(&made.tool)
                || (self.known.has(&made.tool)
                    && self.known.writes(&made.tool) == self.known.writes(&expected.tool)
                    && self.known.alike(&expected.tool, &made.tool))
        };
        self.calls.iter().filter(|made| !is_expected(&made.tool)).find(near)
    }

    /// Says how far a call of the right tool came, and what is wrong with it.
    fn stage(&self, index: usize, made: &Made) -> (Stage, Flaw, String) {
        let expected = &self.expected[index];
        let number = made.number;
        if !ends(expected, made) {
            return (Stage::Failed, Flaw::FailedCall, ended(expected.outcome, made));
        }
        if let Some(why) = pattern::difference(&expected.args_match, &made.arguments) {
            let text = format!("in call {number} {}", short(&why));
            return (Stage::Arguments, Flaw::WrongArgument, text);
        }
        if let Some(path) = forbidden(expected, made) {
            let text = format!("call {number} has `{path}`, which nobody asked for");
            return (Stage::Forbidden, Flaw::ForbiddenArgument, text);
        }
        let mut order = None;
        for tie in &self.ties[index] {
            let earlier = self.assignment.of[tie.other()].map(|place| &self.calls[place]);
            match (tie, earlier) {
                (Tie::Value { from, .. }, None) => {
                    let text = format!(
                        "call {number} needs what expected call {} returns, which was not made",
                        from.call
                    );
                    return (Stage::Prior, Flaw::NotFromPrior, text);
                }
                (Tie::Value { to, from }, Some(earlier)) if !tie.holds(earlier, made) => {
                    let found = listed(&to.find(&made.arguments));
                    let wanted = listed(&sources(from, earlier));
                    let text = format!(
                        "in call {number} `{to}` is {found}, and call {} returned {wanted}",
                        earlier.number
                    );
                    return (Stage::Prior, Flaw::NotFromPrior, text);
                }
                (Tie::Before { .. }, Some(earlier)) if !tie.holds(earlier, made) => {
                    order.get_or_insert(earlier.number);
                }
                (Tie::Before { .. } | Tie::Value { .. }, _) => {}
            }
        }
        if let Some(earlier) = order {
            let text = format!("call {number} came before call {earlier}");
            return (Stage::Order, Flaw::WrongOrder, text);
        }
        let text = format!("call {number} fits, but not together with the others");
        (Stage::Together, Flaw::WrongOrder, text)
    }
}

fn ended(outcome: CallEnd, made: &Made) -> String {
    let number = made.number;
    let said = short(made.text.trim());
    let wanted = match (outcome, outcome.code()) {
        (CallEnd::Injected, _) => "by the injected fault".to_owned(),
        (_, Some(code)) => format!("with `{}`", code.name()),
        (_, None) => String::new(),
    };
    match (made.worked(), wanted.is_empty()) {
        (false, true) => format!("call {number} failed: {said}"),
        (true, true) => format!("call {number} worked, and was expected to fail"),
        (true, false) => format!("call {number} worked, and was expected to fail {wanted}"),
        (false, false) => {
            format!("call {number} was expected to fail {wanted}, and failed otherwise: {said}")
        }
    }
}

/// Lists values; says so where there is none.
fn listed(values: &[&Value]) -> String {
    match values {
        [] => "nothing".to_owned(),
        values => {
            let all: Vec<String> = values.iter().map(ToString::to_string).collect();
            short(&all.join(" or "))
        }
    }
}

/// Cuts a text for people.
pub(super) fn short(text: &str) -> String {
    let text = text.split_whitespace().collect::<Vec<_>>().join(" ");
    match text.char_indices().nth(LONGEST) {
        Some((end, _)) => format!("{}…", &text[..end]),
        None => text,
    }
}
