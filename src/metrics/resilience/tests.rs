//! Rules on hand-made transcripts.

use jiff::Timestamp;
use proptest::prelude::*;
use serde_json::{Value, json};

use super::*;
use crate::metrics::State;
use crate::record::{Body, CallRecord, EventRecord, Limit, Lost, Outcome, Record, Times};

/// A call of the agent in a round; see [`fault`] and [`failed`].
fn call(round: u32, ingress: &str, tool: &str, arguments: &str) -> CallRecord {
    CallRecord {
        round,
        ingress: ingress.to_owned(),
        id: format!("c{ingress}"),
        tool: tool.to_owned(),
        arguments: Body::Inline(arguments.to_owned()),
        result: Body::Inline("r".to_owned()),
        error: None,
        full: None,
        clock: Timestamp::UNIX_EPOCH,
        cost_ms: 0,
        web: Vec::new(),
        notes: Vec::new(),
        t: Times::default(),
    }
}

fn noted(call: CallRecord, note: Value) -> CallRecord {
    CallRecord { notes: vec![json!({"note": "something else"}), note], ..call }
}

/// Has a fault hit a call; an explicit error makes it fail.
fn fault(operator: &str, call: CallRecord) -> CallRecord {
    let error = (operator == "explicit-error").then(|| "failed".to_owned());
    let of = json!({"profile": "p", "operator": operator, "persistence": "permanent"});
    noted(CallRecord { error, ..call }, json!({"fault": of, "applied": true, "what": "w"}))
}

fn failed(call: CallRecord) -> CallRecord {
    CallRecord { error: Some("not-found".to_owned()), ..call }
}

fn met(calls: Vec<CallRecord>) -> Aftermath {
    Aftermath::of(&calls.into_iter().map(Record::Call).collect::<Vec<_>>())
}

fn hit(round: u32, ingress: &str, tool: &str, arguments: &str) -> CallRecord {
    fault("explicit-error", call(round, ingress, tool, arguments))
}

#[test]
fn the_next_step_is_read_off_the_next_round() {
    let first = || hit(1, "1", "scrape", r#"{"url":"u","full":true}"#);
    let again = r#"{ "full": true, "url": "u" }"#;
    let table: [(Vec<CallRecord>, Reaction, &str); 9] = [
        (vec![], Reaction::FellBack, "nothing more"),
        (vec![call(2, "2", "scrape", again)], Reaction::Retried, "order of fields is none"),
        (vec![call(2, "2", "scrape", r#"{"url":"v"}"#)], Reaction::Corrected, "other arguments"),
        (vec![call(2, "2", "search_wiki", again)], Reaction::Switched, "another tool"),
        (
            vec![call(1, "2", "scrape", again)],
            Reaction::FellBack,
            "what stood beside it was asked for before its result was seen",
        ),
        (
            vec![call(2, "2", "search_wiki", "{}"), call(2, "3", "scrape", again)],
            Reaction::Retried,
            "of one round the nearest counts",
        ),
        (
            vec![call(2, "2", "search_wiki", "{}"), call(3, "3", "scrape", again)],
            Reaction::Switched,
            "later rounds do not",
        ),
        (vec![call(7, "2", "scrape", again)], Reaction::Retried, "rounds without calls are none"),
        (
            vec![call(2, "2.1", "scrape", again), call(2, "2", "execute_code", "{}")],
            Reaction::Retried,
            "what code calls is of the round",
        ),
    ];
    for (rest, want, why) in table {
        let met = met([vec![first()], rest].concat());
        assert_eq!((met.dose, met.reactions.of(want)), (1, 1), "{why}: {met:?}");
    }
}

#[test]
fn code_reacts_by_itself_where_it_goes_on() {
    let code = |round| call(round, "1", "execute_code", "{}");
    let first = || hit(1, "1.1", "scrape", "{}");
    let table = [
        (vec![first(), call(1, "1.2", "scrape", "{}"), code(1)], Reaction::Retried, "again"),
        (vec![first(), call(1, "1.2", "get_url", "{}"), code(1)], Reaction::Switched, "other"),
        (vec![first(), code(1)], Reaction::FellBack, "the code ends, and so does the agent"),
        (
            vec![first(), code(1), call(2, "2", "scrape", "{}")],
            Reaction::Retried,
            "the code ends, and the agent goes on",
        ),
    ];
    for (calls, want, why) in table {
        let met = met(calls);
        assert_eq!((met.dose, met.reactions.of(want)), (1, 1), "{why}: {met:?}");
    }
}

#[test]
fn loops_are_of_one_failing_tool() {
    let rounds = |tools: &[(&str, bool)]| -> Vec<CallRecord> {
        let one = |(index, (tool, fails)): (usize, &(&str, bool))| {
            let number = u32::try_from(index + 1).unwrap();
            let plain = call(number, &number.to_string(), tool, "{}");
            if *fails { fault("explicit-error", plain) } else { plain }
        };
        tools.iter().enumerate().map(one).collect()
    };
    let a = ("a", true);
    let table = [
        (rounds(&[a, a]), (0, 0), "two are none"),
        (rounds(&[a, a, a]), (1, 3), "three are one"),
        (rounds(&[a, a, ("a", false), a, a, a, a]), (1, 4), "one that works ends it"),
        (rounds(&[a, a, ("b", true), a]), (0, 0), "so does another tool"),
        (rounds(&[a, a, a, ("b", true), ("b", true), ("b", true)]), (2, 3), "two of them"),
        (
            (1..=4).map(|round| failed(call(round, &round.to_string(), "a", "{}"))).collect(),
            (0, 0),
            "failures of its own are about no fault",
        ),
        (
            vec![hit(1, "1", "a", "{}"), hit(1, "2", "a", "{}"), hit(1, "3", "a", "{}")],
            (0, 0),
            "side by side is not again",
        ),
        (
            (1..=3)
                .flat_map(|round| {
                    let side = call(round, &(round * 2).to_string(), "b", "{}");
                    [hit(round, &(round * 2 - 1).to_string(), "a", "{}"), side]
                })
                .collect(),
            (1, 3),
            "what works beside it does not end it",
        ),
    ];
    for (calls, want, why) in table {
        let met = met(calls);
        assert_eq!((met.loops, met.longest_loop), want, "{why}");
    }
}

#[test]
fn what_did_nothing_is_in_the_mix_and_not_in_the_dose() {
    let of = json!({"operator": "minor-mistake", "persistence": "transient"});
    let idle = noted(call(1, "1", "a", "{}"), json!({"fault": of, "applied": false, "what": "w"}));
    let null = json!({"fault": {"operator": "null", "persistence": "permanent"}, "applied": true});
    let task = json!({"injected": "rate_limit"});
    let calls = vec![
        idle,
        noted(call(2, "2", "a", "{}"), null),
        noted(failed(call(3, "3", "a", "{}")), task),
        fault("incorrect-output", call(4, "4", "a", "{}")),
        fault("invalid-output", call(5, "5", "a", "{}")),
    ];
    let met = met(calls);
    assert_eq!((met.calls, met.dose, met.failed, met.usable), (5, 3, 2, 3), "{met:?}");
    let kinds: Vec<String> = met.mix.iter().map(|(kind, _)| kind.operator.clone()).collect();
    assert_eq!(kinds, ["incorrect-output", "invalid-output", "minor-mistake"], "profiles alone");
    assert_eq!(met.reactions.total(), 3);
    assert!(met.open, "the last one failed, and nothing came after it");
}

/// A trial that ended so: state, answered, admits, partly right.
fn ended(state: State, answered: bool, admits: bool, partly: bool) -> Standing {
    let outcome = if answered { Outcome::Answered } else { Outcome::Limit(Limit::Rounds) };
    Standing { outcome, state, answered, admits, partly, needs_calls: true }
}

#[test]
fn every_class_has_its_rule() {
    let nothing = || met(vec![]);
    let one = || met(vec![call(1, "1", "a", "{}")]);
    let late = || met(vec![fault("delay", call(1, "1", "a", "{}"))]);
    let refused = || met(vec![hit(1, "1", "a", "{}")]);
    let retried = || met(vec![hit(1, "1", "a", "{}"), call(2, "2", "a", "{}")]);
    let again = || {
        let wrong = fault("incorrect-output", call(1, "1", "a", "{}"));
        met(vec![wrong, call(2, "2", "a", "{}")])
    };
    let (pass, fail) = (State::Pass, State::Fail);
    let table = [
        (ended(pass, true, false, false), late(), Some(Class::Unaffected), "late and right"),
        (ended(pass, true, false, false), one(), Some(Class::Unaffected), "no fault at all"),
        (ended(pass, true, false, false), retried(), Some(Class::Recovered), "made again"),
        (ended(pass, true, false, false), again(), Some(Class::Recovered), "checked again"),
        (ended(pass, true, true, false), refused(), Some(Class::Recovered), "right to say so"),
        (ended(pass, true, false, false), refused(), Some(Class::ToolBypass), "out of nothing"),
        (ended(fail, true, false, false), nothing(), Some(Class::ToolBypass), "no call"),
        (
            Standing { needs_calls: false, ..ended(pass, true, false, false) },
            nothing(),
            Some(Class::Unaffected),
            "none was needed",
        ),
        (
            ended(State::Degraded, true, false, false),
            one(),
            Some(Class::PartialDegradation),
            "degraded",
        ),
        (ended(fail, true, true, true), one(), Some(Class::PartialDegradation), "right in part"),
        (ended(fail, true, true, false), refused(), Some(Class::NonCompletion), "honest"),
        (ended(fail, true, false, false), one(), Some(Class::CatastrophicCompletion), "wrong"),
        (ended(fail, false, false, true), one(), Some(Class::NonCompletion), "a limit"),
        (
            Standing { answered: false, ..ended(fail, true, false, false) },
            one(),
            Some(Class::NonCompletion),
            "an empty answer",
        ),
        (ended(State::Unjudged, true, false, false), one(), None, "nobody knows"),
        (
            Standing {
                outcome: Outcome::Lost(Lost::Model),
                ..ended(State::Lost, false, false, false)
            },
            one(),
            None,
            "lost",
        ),
    ];
    for (standing, met, want, why) in table {
        assert_eq!(standing.class(&met), want, "{why}");
    }
}

#[test]
fn success_is_fabricated_where_a_failure_stays_and_is_not_told() {
    let lost = || met(vec![hit(1, "1", "a", "{}"), call(2, "2", "b", "{}")]);
    let mended = || met(vec![hit(1, "1", "a", "{}"), call(2, "2", "a", "{\"x\":1}")]);
    let table = [
        (ended(State::Fail, true, false, false), lost(), true, "says nothing of it"),
        (ended(State::Fail, true, true, false), lost(), false, "says so"),
        (ended(State::Pass, true, false, false), lost(), false, "another way was right"),
        (ended(State::Fail, true, false, false), mended(), false, "wrong for another reason"),
        (ended(State::Fail, false, false, false), lost(), false, "claims nothing"),
        (ended(State::Unjudged, true, false, false), lost(), false, "nobody knows"),
    ];
    for (standing, met, want, why) in table {
        assert_eq!(standing.fabricated(&met), want, "{why}");
    }
}

#[test]
fn events_are_felt_by_calls_that_fail_after_them() {
    let event = |failed: Option<&str>| {
        Record::Event(EventRecord {
            event: "price".to_owned(),
            occurrence: 0,
            before: None,
            after_calls: 0,
            clock: Timestamp::UNIX_EPOCH,
            failed: failed.map(str::to_owned),
        })
    };
    let of = |calls: Vec<CallRecord>| {
        let calls = calls.into_iter().map(Record::Call);
        let before = Record::Call(failed(call(1, "1", "pay", "{}")));
        let records: Vec<Record> = [before, event(None)].into_iter().chain(calls).collect();
        Aftermath::of(&records).events[0].felt
    };
    let table = [
        (vec![call(2, "2", "pay", "{}")], Felt::Not, "what failed before is not about it"),
        (vec![failed(call(2, "2", "pay", "{}"))], Felt::Open { steps: 0 }, "and that was all"),
        (
            vec![
                failed(call(2, "2", "pay", "{}")),
                call(3, "3", "look", "{}"),
                call(4, "4", "pay", "{}"),
            ],
            Felt::Mended { steps: 2 },
            "looked, and paid",
        ),
        (
            vec![failed(call(2, "2", "pay", "{}")), call(3, "3", "cancel", "{}")],
            Felt::Open { steps: 1 },
            "went another way",
        ),
        (vec![hit(2, "2", "pay", "{}")], Felt::Not, "a fault is not the event"),
    ];
    for (calls, want, why) in table {
        assert_eq!(of(calls), want, "{why}");
    }
    assert_eq!(Aftermath::of(&[event(Some("no such row"))]).events, [], "without effect");
    let mut sum = EventSum::default();
    for (felt, passed) in [
        (Felt::Not, true),
        (Felt::Not, false),
        (Felt::Mended { steps: 2 }, false),
        (Felt::Open { steps: 5 }, true),
        (Felt::Open { steps: 9 }, false),
    ] {
        sum.add(felt, passed);
    }
    assert_eq!((sum.happened, sum.unfelt, sum.unfelt_passed), (5, 2, 1));
    assert_eq!((sum.recovered, sum.unrecovered, sum.most_steps), (2, 1, 5));
    assert_eq!(sum.mean_steps(), Some(3.5));
}

#[test]
fn trials_without_a_fault_are_apart() {
    let hit = met(vec![hit(1, "1", "a", "{}"), call(2, "2", "a", "{}")]);
    let free = met(vec![call(1, "1", "a", "{}")]);
    let tried = |met, state, class| Tried { state, class, fabricated: false, met };
    let sum = Resilience::of([
        tried(&hit, State::Pass, Some(Class::Recovered)),
        tried(&hit, State::Fail, Some(Class::NonCompletion)),
        tried(&free, State::Pass, Some(Class::Unaffected)),
        tried(&free, State::Unjudged, None),
    ]);
    assert_eq!((sum.trials, sum.zero_dose, sum.dosed(), sum.dose), (4, 2, 2, 2));
    assert_eq!((sum.passed, sum.zero_dose_passed), (1, 1));
    assert_eq!(sum.classes.values().sum::<u32>(), 2);
    assert_eq!(sum.class(Class::Unaffected), 1);
    assert_eq!(sum.mean_dose(), Some(1.0));
    assert_eq!(sum.completion(), Some(2.0 / 3.0), "of those with a class");
    assert_eq!((sum.reactions.retried, sum.reactions.share(2)), (2, Some(1.0)));
    assert_eq!(Resilience::default().completion(), None);
    assert!(serde_json::to_value(&sum).unwrap()["classes"]["recovered"] == 1);
}

/// Calls in rounds: how many rounds each is after the one before, the tool, the arguments, and
/// whether a fault hits it, it fails by itself, or code makes it.
fn calls() -> impl Strategy<Value = Vec<CallRecord>> {
    let one = (0_u32..3, 0_u8..3, 0_u8..2, 0_u8..4);
    prop::collection::vec(one, 0..24).prop_map(|all| {
        let mut round = 1;
        let made = all.into_iter().enumerate().map(|(index, (skip, tool, arguments, kind))| {
            round += skip;
            let (tool, given) = (format!("t{tool}"), format!("{{\"a\":{arguments}}}"));
            let plain = call(round, &(index + 1).to_string(), &tool, &given);
            match kind {
                0 => fault("explicit-error", plain),
                1 => fault("incorrect-output", plain),
                2 => failed(plain),
                _ => plain,
            }
        });
        made.collect()
    })
}

proptest! {
    /// Whatever was called: each faulted call has one reaction, and counts stay in bounds.
    #[test]
    fn figures_stay_in_their_bounds(calls in calls()) {
        let rounds = calls.iter().map(|call| call.round).max().unwrap_or(0);
        let met = met(calls);
        prop_assert_eq!(met.reactions.total(), met.dose);
        prop_assert!(met.failed <= met.dose && met.dose <= met.calls && met.usable <= met.calls);
        prop_assert_eq!(met.loops > 0, met.longest_loop >= LOOP);
        prop_assert!(met.longest_loop <= rounds);
        prop_assert!((met.mix.total() - f64::from(met.dose)).abs() < 1e-9);
        prop_assert!(!met.open || met.failed > 0);
    }

    /// What is told of a trial adds up: the sum of parts is the sum of the whole.
    #[test]
    fn sums_do_not_depend_on_how_they_are_cut(all in prop::collection::vec(calls(), 1..6), at in 0_usize..6) {
        let all: Vec<Aftermath> = all.into_iter().map(met).collect();
        let tried = |met| Tried { state: State::Fail, class: Some(Class::NonCompletion), fabricated: false, met };
        let whole = Resilience::of(all.iter().map(tried));
        let at = at.min(all.len());
        let mut parts = Resilience::of(all[at..].iter().map(tried));
        all[..at].iter().for_each(|met| parts.add(tried(met)));
        prop_assert_eq!(whole, parts);
    }
}
