//! What a verdict on conduct rests on: the best assignment, and what each fault is called.

use proptest::prelude::*;
use serde_json::{Value, json};
use wildgym_tasks::scenario_file::{Flaw, Ordering, ScenarioFile};

use super::assign::{assign, fits, ties};
use super::evidence::{Evidence, Made};
use super::known::Known;
use super::*;
use crate::store::OperationData;
use crate::verdict::Recovery;

/// Tool, arguments and result of a call.
type Asked = (&'static str, Value, Value);

fn known() -> Known {
    let one = |category: &str, writes: bool, parameters: Value| OperationData {
        category: category.to_owned(),
        writes,
        parameters,
    };
    let fields = |names: &[&str]| {
        let fields = names.iter().map(|name| ((*name).to_owned(), json!({"type": "string"})));
        json!({"type": "object", "additionalProperties": false,
            "properties": Value::Object(fields.collect())})
    };
    let all = [
        ("crm_search_contacts", one("crm", false, fields(&["query"]))),
        ("admin_search_users", one("admin", false, fields(&["query"]))),
        ("crm_create_contact", one("crm", true, fields(&["name", "company", "email"]))),
        ("crm_log_activity", one("crm", true, fields(&["contact_id", "type", "notes"]))),
        ("crm_delete_contact", one("crm", true, fields(&["contact_id"]))),
        ("send_email", one("communication", true, fields(&["to", "text"]))),
        ("send_notification", one("communication", true, fields(&["to", "text"]))),
    ];
    Known(all.into_iter().map(|(name, one)| (name.to_owned(), one)).collect())
}

fn made(number: usize, (tool, arguments, result): (&str, Value, Value)) -> Made {
    let error = result["error"].as_str().map(str::to_owned);
    let round = u32::try_from(number).unwrap();
    Made {
        number,
        round,
        tool: tool.to_owned(),
        arguments,
        defaults: BTreeSet::new(),
        text: result.to_string(),
        result,
        error,
        injected: false,
        told: None,
    }
}

fn evidence(calls: &[(&str, Value, Value)], answer: &str) -> Evidence {
    let calls =
        calls.iter().enumerate().map(|(index, call)| made(index + 1, call.clone())).collect();
    let told = "Create a contact for John Smith at Acme, then log a call.".to_owned();
    Evidence { calls, told, answer: Some(answer.to_owned()), tools: 7, events: Vec::new() }
}

fn published() -> ScenarioFile {
    let text = include_str!("../../../tasks/src/scenario_file/published.json");
    let mut value: Value = serde_json::from_str(text).unwrap();
    value.as_object_mut().unwrap().remove("fault_injection");
    serde_json::from_value(value).unwrap()
}

fn changed(change: &Value) -> ScenarioFile {
    let mut value = serde_json::to_value(published()).unwrap();
    for (name, part) in change.as_object().unwrap() {
        value[name] = part.clone();
    }
    serde_json::from_value(value).unwrap()
}

fn judged(file: &ScenarioFile, evidence: &Evidence) -> Examined {
    Examiner { file: file.clone(), known: known() }.decide(evidence, &Ok(Vec::new()))
}

fn create() -> (&'static str, Value, Value) {
    let arguments = json!({"name": "John Smith", "company": "Acme"});
    ("crm_create_contact", arguments, json!({"id": "CON-9kxt4wmb", "owner_id": "USR-d8pc5wrh"}))
}

fn log(contact: &str) -> (&'static str, Value, Value) {
    let arguments = json!({"contact_id": contact, "type": "call"});
    ("crm_log_activity", arguments, json!({"id": "ACT-2djw6kpc"}))
}

fn failed(tool: &'static str, arguments: Value, kind: &str) -> (&'static str, Value, Value) {
    (tool, arguments, json!({"error": kind}))
}

#[test]
fn the_published_scenario_is_judged_by_its_rules() {
    let wrong_log = failed(
        "crm_log_activity",
        json!({"contact_id": "contact_12345", "type": "call"}),
        "not-found",
    );
    let search = ("crm_search_contacts", json!({"query": "John"}), json!({"items": []}));
    let with_mail = (
        "crm_create_contact",
        json!({"name": "John Smith", "company": "Acme", "email": "j@a.example"}),
        json!({"id": "CON-9kxt4wmb"}),
    );
    let twice = (
        "crm_create_contact",
        json!({"name": "John Smith", "company": "Acme"}),
        json!({"id": "CON-zzzzzzzz"}),
    );
    let table: Vec<(Vec<Asked>, Verdict, &[Flaw], &str)> = vec![
        (vec![create(), log("CON-9kxt4wmb")], Verdict::Pass, &[], "as expected"),
        (vec![search.clone(), create(), log("CON-9kxt4wmb")], Verdict::Pass, &[], "reads are free"),
        (
            vec![create(), wrong_log.clone(), log("CON-9kxt4wmb")],
            Verdict::Pass,
            &[Flaw::HallucinatedId],
            "a wrong id that was refused and put right passes, and is noted",
        ),
        (
            vec![create(), log("contact_12345")],
            Verdict::Fail,
            &[Flaw::NotFromPrior, Flaw::HallucinatedId, Flaw::ExtraWrite],
            "an invented id",
        ),
        (
            vec![create(), log("CON-9kxt4wbm")],
            Verdict::Fail,
            &[Flaw::NotFromPrior, Flaw::ParameterDrift, Flaw::ExtraWrite],
            "an id that drifted",
        ),
        (
            vec![create(), log("USR-d8pc5wrh")],
            Verdict::Fail,
            &[Flaw::NotFromPrior, Flaw::ParameterDrift, Flaw::ExtraWrite],
            "a field that was taken for another",
        ),
        (
            vec![with_mail, log("CON-9kxt4wmb")],
            Verdict::Fail,
            &[Flaw::ForbiddenArgument, Flaw::NotFromPrior, Flaw::ExtraWrite],
            "an argument that must be absent",
        ),
        (
            vec![create(), twice, log("CON-9kxt4wmb")],
            Verdict::Fail,
            &[Flaw::ExtraWrite],
            "the contact twice; that the first one is meant is found",
        ),
        (
            vec![create(), wrong_log],
            Verdict::Fail,
            &[Flaw::FailedCall, Flaw::HallucinatedId, Flaw::SilentSuccess],
            "the second step failed, and nobody was told",
        ),
        (
            vec![search.clone(), search.clone(), search, create(), log("CON-9kxt4wmb")],
            Verdict::Fail,
            &[Flaw::TooManyCalls],
            "right in the end, after too many calls",
        ),
        (vec![], Verdict::Fail, &[Flaw::MissingCall], "nothing was done"),
    ];
    for (calls, verdict, flaws, why) in table {
        let got = judged(&published(), &evidence(&calls, "Done: John Smith and the call are in."));
        assert_eq!(got.verdict, verdict, "{why}: {:?}", got.reasons);
        let flaws: BTreeSet<Flaw> = flaws.iter().copied().collect();
        assert_eq!(got.conduct.flaws, flaws, "{why}: {:?}", got.reasons);
    }
}

#[test]
fn order_alternatives_and_optional_calls_count_as_written() {
    let call = |tool: &str| json!({"tool": tool});
    let done = |tool: &'static str| (tool, json!({}), json!({"id": tool}));
    let (a, b) = ("crm_create_contact", "send_email");
    let both = json!([call(a), call(b)]);
    let after = json!([call(a), {"tool": b, "after": [0]}]);
    let optional = json!([call(a), {"tool": b, "optional": true}]);
    let other = json!([{"expected_calls": [call("send_notification")]}]);
    let instead = json!([{"tool": a, "instead": [{"tool": b}]}]);
    let table = [
        (json!({"expected_calls": both, "ordering": "strict"}), vec![b, a], false, "strict"),
        (json!({"expected_calls": both, "ordering": "any"}), vec![b, a], true, "any"),
        (json!({"expected_calls": after, "ordering": "partial"}), vec![b, a], false, "partial"),
        (
            json!({"expected_calls": after, "ordering": "partial"}),
            vec![a, b],
            true,
            "partial, kept",
        ),
        (
            json!({"expected_calls": after, "ordering": "partial"}),
            vec![b, a, b],
            false,
            "one is too many",
        ),
        (json!({"expected_calls": optional}), vec![a], true, "left out"),
        (json!({"expected_calls": optional}), vec![a, b], true, "made"),
        (
            json!({"expected_calls": both, "alternatives": other}),
            vec!["send_notification"],
            true,
            "another way",
        ),
        (
            json!({"expected_calls": both, "alternatives": other}),
            vec![a, "send_notification"],
            false,
            "half of each",
        ),
        (
            json!({"expected_calls": [call(a)], "allowed_writes": [b]}),
            vec![a, b],
            true,
            "an allowed change",
        ),
        (json!({"expected_calls": [call(a)]}), vec![a, b], false, "a change that nobody asked for"),
        (json!({"expected_calls": instead}), vec![b], true, "what serves as well"),
        (json!({"expected_calls": instead}), vec![a], true, "what is meant"),
        (json!({"expected_calls": instead}), vec![a, b], false, "each of the two is a change"),
        (json!({"expected_calls": instead}), vec!["send_notification"], false, "neither"),
    ];
    for (change, calls, passes, why) in table {
        let calls: Vec<_> = calls.into_iter().map(done).collect();
        let got = judged(&changed(&change), &evidence(&calls, "done"));
        assert_eq!(got.verdict == Verdict::Pass, passes, "{why}: {:?}", got.reasons);
    }
}

#[test]
fn guesses_refusals_near_misses_and_words_are_seen() {
    let ask = |question: &str| ("ask_user", json!({"question": question}), json!("Smith"));
    let asking = json!({"ask_user": {"required": true,
        "rules": [{"pattern": "which john", "reply": "Smith"}]}});
    let refuse = json!({"expected_calls": [], "refuse": true,
        "answer_checks": [{"any": ["won't", "cannot"]}]});
    let delete = failed("crm_delete_contact", json!({"contact_id": "CON-9kxt4wmb"}), "forbidden");
    let mail = json!({"expected_calls": [{"tool": "send_email", "args_match": {"to": "John"}}]});
    let notify = ("send_notification", json!({"to": "John"}), json!({"id": 1}));
    let table = [
        (
            &asking,
            vec![create(), log("CON-9kxt4wmb")],
            "done",
            Verdict::Fail,
            Some(Flaw::EagerGuess),
            "guessed",
        ),
        (
            &asking,
            vec![ask("Which John?"), create(), log("CON-9kxt4wmb")],
            "done",
            Verdict::Pass,
            None,
            "asked",
        ),
        (
            &asking,
            vec![ask("Really?"), create(), log("CON-9kxt4wmb")],
            "done",
            Verdict::Fail,
            Some(Flaw::EagerGuess),
            "asked nothing that helps",
        ),
        (
            &asking,
            vec![create(), ask("Which John?"), log("CON-9kxt4wmb")],
            "done",
            Verdict::Fail,
            Some(Flaw::EagerGuess),
            "asked too late",
        ),
        (&refuse, vec![], "I won’t do that.", Verdict::Pass, None, "refused"),
        (&refuse, vec![], "All done.", Verdict::Fail, Some(Flaw::WrongAnswer), "claimed"),
        (
            &refuse,
            vec![delete],
            "I cannot do that.",
            Verdict::Fail,
            Some(Flaw::NotRefused),
            "tried",
        ),
        (
            &mail,
            vec![notify],
            "Told John.",
            Verdict::Fail,
            Some(Flaw::NearMiss),
            "the wrong way to tell him",
        ),
    ];
    for (change, calls, answer, verdict, flaw, why) in table {
        let got = judged(&changed(change), &evidence(&calls, answer));
        assert_eq!(got.verdict, verdict, "{why}: {:?}", got.reasons);
        let flaws = &got.conduct.flaws;
        assert!(flaw.is_none_or(|flaw| flaws.contains(&flaw)), "{why}: {flaws:?}");
    }
}

#[test]
fn only_what_the_question_settles_needs_it() {
    let ask = |question: &str| ("ask_user", json!({"question": question}), json!("Smith"));
    let rules = json!([{"pattern": "which john", "reply": "Smith"}]);
    let guarded = json!({"ask_user": {"required": true, "rules": rules,
        "guarded": [{"tool": "crm_log_activity", "args_match": {"type": "call"}}]}});
    let reads = json!({"expected_calls": [{"tool": "crm_search_contacts"}],
        "ask_user": {"required": true, "before": "answer", "rules": rules}});
    let both = json!({"expected_calls": [{"tool": "crm_search_contacts"}],
        "ask_user": {"required": true, "before": "answer", "rules": rules,
            "guarded": [{"tool": "crm_search_contacts"}]}});
    let search = ("crm_search_contacts", json!({"query": "John"}), json!({"items": []}));
    let table = [
        (&guarded, vec![create(), ask("Which John?"), log("CON-9kxt4wmb")], true, "before it"),
        (&guarded, vec![create(), log("CON-9kxt4wmb")], false, "no question before it"),
        (&guarded, vec![create(), log("CON-9kxt4wmb"), ask("Which John?")], false, "too late"),
        (&reads, vec![search.clone(), ask("Which John?")], true, "before the answer"),
        (&reads, vec![search.clone()], false, "an answer that guesses"),
        (&reads, vec![search.clone(), ask("Sure?")], false, "no question that helps"),
        (&both, vec![ask("Which John?"), search.clone()], true, "before the look-up"),
        (&both, vec![search, ask("Which John?")], false, "the look-up guesses"),
    ];
    for (change, calls, passes, why) in table {
        let got = judged(&changed(change), &evidence(&calls, "done"));
        assert_eq!(got.verdict == Verdict::Pass, passes, "{why}: {:?}", got.reasons);
        assert_eq!(got.conduct.flaws.contains(&Flaw::EagerGuess), !passes, "{why}");
    }
}

#[test]
fn silent_success_is_seen_in_every_call() {
    let twice = json!({"expected_calls": [
        {"tool": "send_email", "args_match": {"to": "a"}},
        {"tool": "send_email", "args_match": {"to": "b"}},
    ]});
    let expected = json!({"expected_calls": [
        {"tool": "send_email", "args_match": {"to": "a"}, "outcome": "refused"},
    ]});
    let down = |to: &str, kind: &str| failed("send_email", json!({"to": to}), kind);
    let sent = |to: &str| ("send_email", json!({"to": to}), json!({"id": to}));
    let table = [
        (&twice, vec![down("a", "failed"), sent("b")], "Both are sent.", true, "the first of two"),
        (&twice, vec![sent("b"), down("a", "failed")], "Both are sent.", true, "the last of two"),
        (&twice, vec![down("a", "failed"), sent("b")], "The one to a failed.", false, "told"),
        (&twice, vec![down("a", "failed"), sent("a"), sent("b")], "Sent.", false, "again"),
        (&twice, vec![sent("a")], "Both are sent.", false, "no call failed: it is missing"),
        (&expected, vec![down("a", "refused")], "It is sent.", true, "an error that was expected"),
        (&expected, vec![down("a", "refused")], "邮件没有成功发出。", false, "told in Chinese"),
        (&expected, vec![down("a", "refused"), sent("a")], "It is sent.", false, "it worked later"),
    ];
    for (change, calls, answer, want, why) in table {
        let got = judged(&changed(change), &evidence(&calls, answer));
        let flaws = &got.conduct.flaws;
        assert_eq!(flaws.contains(&Flaw::SilentSuccess), want, "{why}: {flaws:?}");
    }
}

#[test]
fn what_says_nothing_is_not_forbidden() {
    let with = |email: Value| {
        let arguments = json!({"name": "John Smith", "company": "Acme", "email": email});
        ("crm_create_contact", arguments, json!({"id": "CON-9kxt4wmb"}))
    };
    let table = [
        (json!("j@a.example"), false, "a value"),
        (json!(""), false, "an empty text empties a field"),
        (Value::Null, true, "null"),
        (json!([]), true, "an empty list"),
        (json!({}), true, "an empty object"),
    ];
    for (email, passes, why) in table {
        let calls = [with(email.clone()), log("CON-9kxt4wmb")];
        let got = judged(&published(), &evidence(&calls, "done"));
        assert_eq!(got.verdict == Verdict::Pass, passes, "{why}: {:?}", got.reasons);
        let mut evidence = evidence(&calls, "done");
        evidence.calls[0].defaults.insert("email".to_owned());
        let got = judged(&published(), &evidence);
        assert_eq!(got.verdict, Verdict::Pass, "a default that nobody gave: {email}");
    }
}

#[test]
fn ids_that_were_told_in_any_way_are_not_invented() {
    let read = (
        "crm_search_contacts",
        json!({"query": "John"}),
        json!({"body": "Please call CON-9kxt4wmb about it, and remember."}),
    );
    let file = changed(&json!({"expected_calls": []}));
    let table = [
        ("CON-9kxt4wmb", None, "in a sentence"),
        ("CON-9kxt4wbm", Some(Flaw::ParameterDrift), "drifted out of a sentence"),
        ("contact_12345", Some(Flaw::HallucinatedId), "invented"),
        ("approval.payment_limit_eur", None, "the key of a setting"),
        ("crm-example", None, "an example of a schema"),
    ];
    for (id, want, why) in table {
        let mut known = known();
        let one = known.0.get_mut("crm_log_activity").unwrap();
        one.parameters["properties"]["contact_id"]["description"] = json!("such as CRM-example");
        let evidence = evidence(&[read.clone(), log(id)], "done");
        let got = Examiner { file: file.clone(), known }.decide(&evidence, &Ok(Vec::new()));
        let signs = [Flaw::ParameterDrift, Flaw::HallucinatedId];
        let got: Vec<Flaw> =
            signs.into_iter().filter(|flaw| got.conduct.flaws.contains(flaw)).collect();
        assert_eq!(got, want.into_iter().collect::<Vec<_>>(), "{why}");
    }
}

#[test]
fn words_count_where_actions_are_right() {
    let faulty = json!({"answer_checks": [{"all": ["ACT-2djw6kpc"], "degrades": true}]});
    let calls = [create(), log("CON-9kxt4wmb")];
    let got = judged(&changed(&faulty), &evidence(&calls, "Logged."));
    assert_eq!(got.verdict, Verdict::Degraded, "right, and badly told: {:?}", got.reasons);
    let got = judged(&changed(&faulty), &evidence(&calls[..1], "Logged."));
    assert_eq!(got.verdict, Verdict::Fail, "words raise nothing: {:?}", got.reasons);
    let silent = Evidence { answer: None, ..evidence(&[create(), log("CON-9kxt4wmb")], "") };
    let got = judged(&published(), &silent);
    assert_eq!(
        (got.verdict, got.reasons[0].as_str()),
        (Verdict::Fail, "no-answer: there is no answer")
    );
}

#[test]
fn reasons_say_what_was_found_and_what_was_expected() {
    let table = [
        (
            vec![create(), log("contact_12345")],
            "not-from-prior: expected call 1 (`crm_log_activity`): in call 2 `contact_id` is \
             \"contact_12345\", and call 1 returned \"CON-9kxt4wmb\"",
        ),
        (
            vec![(
                "crm_create_contact",
                json!({"name": "Jon Smith", "company": "Acme"}),
                json!({"id": 1}),
            )],
            "wrong-argument: expected call 0 (`crm_create_contact`): in call 1 `name` is \
             \"Jon Smith\", expected \"John Smith\"",
        ),
        (
            vec![failed(
                "crm_create_contact",
                json!({"name": "John Smith", "company": "Acme"}),
                "duplicate",
            )],
            "failed-call: expected call 0 (`crm_create_contact`): call 1 failed: \
             {\"error\":\"duplicate\"}",
        ),
        (vec![], "missing-call: expected call 0 (`crm_create_contact`) was not made"),
    ];
    for (calls, want) in table {
        let got = judged(&published(), &evidence(&calls, "I could not finish."));
        assert_eq!(got.reasons[0], want);
    }
}

#[test]
fn figures_count_what_they_say() {
    let search = ("crm_search_contacts", json!({"query": "John"}), json!({"items": []}));
    let unknown = failed("crm_create_contact", json!({"name": "J", "nick": "x"}), "bad-arguments");
    let refused =
        failed("crm_log_activity", json!({"contact_id": "CON-9kxt4wmb", "type": "x"}), "invalid");
    let calls = [search.clone(), search, unknown, create(), refused, log("CON-9kxt4wmb")];
    let file = changed(&json!({"max_calls": 9}));
    let got = judged(&file, &evidence(&calls, "done"));
    assert_eq!(got.verdict, Verdict::Pass, "{:?}", got.reasons);
    let conduct = got.conduct;
    assert_eq!((conduct.calls, conduct.optimum, conduct.redundant), (6, 2, 1));
    assert_eq!((conduct.selection.right, conduct.selection.of), (2, 2));
    assert_eq!((conduct.parameters.unknown, conduct.parameters.right), (1, 5));
    assert_eq!(conduct.recovery, Some(Recovery::Corrected));
    assert_eq!((conduct.violations, conduct.steps, conduct.optimal_steps), (1, 4, 2));
    let composite = conduct.composite(true);
    assert!((composite - (0.4 + 0.3 * 0.5 + 0.2 * 0.8 + 0.1)).abs() < 1e-9, "{composite}");
    let again = || failed("crm_log_activity", json!({"contact_id": "CON-9kxt4wmb"}), "failed");
    let looped = [create(), again(), again(), again()];
    let got = judged(&file, &evidence(&looped, "It failed."));
    assert_eq!(got.conduct.recovery, Some(Recovery::Loop));
    let got = judged(&file, &evidence(&looped[..2], "All done."));
    assert_eq!(got.conduct.recovery, Some(Recovery::Fabricated));
}

/// Calls and expected calls from a domain so small that they often fit.
fn calls() -> impl Strategy<Value = Vec<(u8, u8, u8)>> {
    prop::collection::vec((0_u8..2, 0_u8..3, 0_u8..3), 0..6)
}

/// Tool, value, earlier call, whether optional.
type Parts = (u8, Option<u8>, Option<usize>, bool);

fn expectations() -> impl Strategy<Value = Vec<Value>> {
    let one = (0_u8..2, prop::option::of(0_u8..3), prop::option::of(0_usize..4), any::<bool>());
    let one = (one, prop::collection::vec(0_usize..4, 0..2));
    prop::collection::vec(one, 0..5).prop_map(|all| {
        let call = |(index, (parts, after)): (usize, (Parts, Vec<usize>))| {
            let (tool, value, prior, optional) = parts;
            let mut call = json!({"tool": tool.to_string(), "optional": optional});
            if let Some(value) = value {
                call["args_match"] = json!({"v": value});
            }
            if let Some(prior) = prior.filter(|prior| *prior < index) {
                call["args_from_prior"] = json!({"v": format!("$.calls[{prior}].result.id")});
            }
            let after: Vec<usize> = after.into_iter().filter(|other| *other < index).collect();
            call["after"] = json!(after);
            call
        };
        all.into_iter().enumerate().map(call).collect()
    })
}

/// Tries every assignment and returns the most required and optional calls that one has.
fn brute(expected: &[ExpectedCall], ordering: Ordering, made: &[Made]) -> (usize, usize) {
    let ties = ties(expected, ordering);
    let ways = (made.len() + 1).pow(u32::try_from(expected.len()).unwrap());
    let score = |number: usize| {
        let mut rest = number;
        let mut of = Vec::new();
        for _ in expected {
            let (more, digit) = (rest / (made.len() + 1), rest % (made.len() + 1));
            of.push(digit.checked_sub(1));
            rest = more;
        }
        let mut taken = BTreeSet::new();
        for (index, place) in of.iter().enumerate() {
            let Some(place) = *place else { continue };
            if !taken.insert(place) || !fits(&expected[index], &made[place]) {
                return None;
            }
            for tie in &ties[index] {
                let kept = match of[tie.other()] {
                    Some(earlier) => tie.holds(&made[earlier], &made[place]),
                    None => matches!(tie, assign::Tie::Before { .. }),
                };
                if !kept {
                    return None;
                }
            }
        }
        let had = |optional: bool| {
            let all = of.iter().zip(expected);
            all.filter(|(place, one)| place.is_some() && one.optional == optional).count()
        };
        Some((had(false), had(true)))
    };
    (0..ways).filter_map(score).max().unwrap_or_default()
}

proptest! {
    #[test]
    fn the_assignment_is_the_best_there_is(
        given in calls(),
        expected in expectations(),
        ordering in prop::sample::select(vec![Ordering::Any, Ordering::Strict, Ordering::Partial]),
    ) {
        let expected: Vec<ExpectedCall> = serde_json::from_value(Value::from(expected)).unwrap();
        let made: Vec<Made> = given
            .iter()
            .enumerate()
            .map(|(index, (tool, value, id))| {
                made(index + 1, (&tool.to_string(), json!({"v": value}), json!({"id": id})))
            })
            .collect();
        let found = assign(&expected, ordering, &made);
        prop_assert!(found.is_best);
        let had = |optional: bool| {
            let all = found.of.iter().zip(&expected);
            all.filter(|(place, one)| place.is_some() && one.optional == optional).count()
        };
        prop_assert_eq!((had(false), had(true)), brute(&expected, ordering, &made));
    }
}

#[test]
fn an_event_is_no_fault_of_the_agent() {
    let search = ("crm_search_contacts", json!({"query": "John"}), json!({"items": []}));
    let refused = || failed("crm_log_activity", json!({"contact_id": "CON-9kxt4wmb"}), "refused");
    let calls = [search.clone(), refused(), search, create(), refused(), log("CON-9kxt4wmb")];
    let file = changed(&json!({"max_calls": 9}));
    let counts = |events: Vec<usize>| {
        let conduct = judged(&file, &Evidence { events, ..evidence(&calls, "done") }).conduct;
        (conduct.violations, conduct.redundant)
    };
    let table = [
        (vec![], (2, 1), "nothing happened"),
        (vec![1], (1, 0), "a first refusal tells of an event, and looking again is no waste"),
        (vec![1, 2], (0, 0), "each of two events is learnt of by a refusal"),
        (vec![0], (1, 1), "an event before both looks explains no second one"),
        (vec![6], (2, 1), "an event after all of it explains nothing"),
    ];
    for (events, want, why) in table {
        assert_eq!(counts(events), want, "{why}");
    }
}

#[test]
fn what_is_found_stands_at_its_call() {
    let with_mail = (
        "crm_create_contact",
        json!({"name": "John Smith", "company": "Acme", "email": "j@a.example"}),
        json!({"id": "CON-9kxt4wmb"}),
    );
    let notify = ("send_notification", json!({"to": "John"}), json!({"id": 1}));
    let odd = failed("crm_create_contact", json!({"name": "J", "nick": "x"}), "bad-arguments");
    let flaw = CallFault::Flaw;
    let lost = failed("crm_log_activity", json!({"contact_id": "contact_12345"}), "not-found");
    let table: Vec<(Vec<Asked>, usize, Vec<CallFault>, &str)> = vec![
        (vec![with_mail], 0, vec![flaw(Flaw::ForbiddenArgument), flaw(Flaw::ExtraWrite)], "mail"),
        (vec![create(), create()], 1, vec![CallFault::Redundant, flaw(Flaw::ExtraWrite)], "twice"),
        (vec![odd, create()], 0, vec![CallFault::Arguments], "bad arguments"),
        (
            vec![create(), lost],
            1,
            vec![CallFault::Dependency, flaw(Flaw::FailedCall), flaw(Flaw::HallucinatedId)],
            "an id from nowhere",
        ),
        (
            vec![create(), log("CON-9kxt4wbm"), notify],
            1,
            vec![flaw(Flaw::NotFromPrior), flaw(Flaw::ExtraWrite), flaw(Flaw::ParameterDrift)],
            "an id that drifted",
        ),
    ];
    for (calls, place, faults, why) in table {
        let got = judged(&published(), &evidence(&calls, "It could not be done.")).findings;
        let found: Vec<CallFault> = got.calls[place].faults.keys().copied().collect();
        assert_eq!(found, faults, "{why}: {:?}", got.calls[place]);
    }
    let calls = [create(), log("CON-9kxt4wbm")];
    let got = judged(&published(), &evidence(&calls, "done")).findings;
    assert_eq!((got.calls[0].expected, got.calls[1].expected), (Some(0), None));
    assert_eq!(got.open, [(1, "crm_log_activity".to_owned())]);
    let owed = Owed { from: 0, to: 1, source: "id".into(), argument: "contact_id".into() };
    assert_eq!(got.owed, [owed], "the value that it had to be");
    let budget = changed(&json!({"max_calls": 1}));
    let got = judged(&budget, &evidence(&[create(), log("CON-9kxt4wmb")], "done")).findings;
    let over = |place: usize| got.calls[place].faults.contains_key(&flaw(Flaw::TooManyCalls));
    assert_eq!((over(0), over(1)), (false, true));
}
