//! Persistence, and what published runs of the injector looked like.

use std::fmt::Write as _;

use proptest::prelude::*;

use super::*;

fn profile(head: &str, entries: &[&str]) -> Arc<Profile> {
    let mut text = format!(
        "format = 1\nname = \"p\"\nversion = \"1\"\ndescription = \"for a test\"\n{head}\n"
    );
    for entry in entries {
        let _ = write!(text, "[[entry]]\nweight = 1\n{entry}\n");
    }
    Arc::new(Profile::parse("p", &text).unwrap())
}

fn call<'a>(ingress: &'a str, tool: &'a str) -> Observed<'a> {
    Observed { ingress, server: "s", tool, arguments: "{}" }
}

/// Decides about `tools` in order and returns which calls were hit.
fn fired(profile: &Arc<Profile>, seed: u64, tools: &[&str]) -> Vec<bool> {
    let mut schedule = Schedule::new(Arc::clone(profile), Seed::of_run(seed));
    let one = |(index, tool): (usize, &&str)| {
        let ingress = (index + 1).to_string();
        schedule.decide(&call(&ingress, tool)).is_some_and(|fault| fault.fired)
    };
    tools.iter().enumerate().map(one).collect()
}

#[test]
fn a_permanent_fault_fires_on_every_later_call_that_it_fits() {
    let all = profile("", &["operator = \"silent-drop\"\npersistence = \"permanent\""]);
    assert_eq!(fired(&all, 1, &["a", "b", "a"]), [true, true, true]);
    let some = profile(
        "",
        &["operator = \"silent-drop\"\npersistence = \"permanent\"\nmatch.tool = \"a\""],
    );
    assert_eq!(fired(&some, 1, &["b", "a", "b", "a"]), [false, true, false, true]);
}

#[test]
fn a_transient_fault_fires_once_and_the_next_call_draws_again() {
    let transient = ["operator = \"delay\"\npersistence = \"transient\""];
    let mut schedule = Schedule::new(profile("", &transient), Seed::of_run(1));
    let held: Vec<(String, u32)> = ["1", "2", "3"]
        .into_iter()
        .filter_map(|ingress| schedule.decide(&call(ingress, "a")))
        .map(|fault| (fault.since, fault.nth))
        .collect();
    assert_eq!(held, [("1".into(), 1), ("2".into(), 1), ("3".into(), 1)]);
    let calls = vec!["a"; 20_000];
    let rare = profile("rate = 0.25", &transient);
    let count = fired(&rare, 1, &calls).into_iter().filter(|hit| *hit).count();
    assert!((4_800..5_200).contains(&count), "a quarter of the calls draws: {count}");
}

/// With d = 0.3 an entry is held 1 + 1/0.3 = 4.33 calls in the mean, and it fires on as many
/// of them as its activation says. The standard error of the mean over 40,000 holds is below
/// 0.015, so the bound is more than three of them.
#[test]
fn an_intermittent_fault_is_held_for_the_published_mean() {
    let entry = ["operator = \"delay\"\npersistence = \"intermittent\"\nactivation = 0.4"];
    let mut schedule = Schedule::new(profile("", &entry), Seed::of_run(3));
    let (mut holds, mut calls, mut fired) = (0_u32, 0_u32, 0_u32);
    while holds < 40_001 {
        let ingress = (calls + 1).to_string();
        let Some(fault) = schedule.decide(&call(&ingress, "a")) else { panic!("nothing is held") };
        holds += u32::from(fault.nth == 1);
        if holds < 40_001 {
            calls += 1;
            fired += u32::from(fault.fired);
        }
    }
    let mean = f64::from(calls) / 40_000.0;
    assert!((mean - 4.333).abs() < 0.05, "{mean} calls a hold");
    let active = f64::from(fired) / f64::from(calls);
    assert!((active - 0.4).abs() < 0.01, "{active} of the held calls");
}

#[test]
fn in_the_scope_of_tools_each_fails_for_itself() {
    let entries = [
        "operator = \"silent-drop\"\npersistence = \"permanent\"",
        "operator = \"null\"\npersistence = \"permanent\"",
    ];
    let each = profile("scope = \"tool\"", &entries);
    let names: Vec<String> = (0..40).map(|number| format!("tool{number}")).collect();
    let tools: Vec<&str> = names.iter().chain(&names).map(String::as_str).collect();
    let hits = fired(&each, 1, &tools);
    let (first, second) = hits.split_at(40);
    assert_eq!(first, second, "a tool stays as it was drawn");
    assert!(first.contains(&true) && first.contains(&false), "tools differ");
    let one = profile("", &entries);
    let hits = fired(&one, 1, &tools);
    assert!(hits.iter().all(|hit| *hit == hits[0]), "in an attempt all share one entry");
}

#[test]
fn an_error_looks_the_same_as_long_as_it_is_held() {
    let entry = ["operator = \"explicit-error\"\npersistence = \"permanent\""];
    let profile = profile("", &entry);
    let mut shapes = std::collections::BTreeSet::new();
    for seed in 0..100 {
        let mut schedule = Schedule::new(Arc::clone(&profile), Seed::of_run(seed));
        let faults = ["1", "2", "3"].map(|it| schedule.decide(&call(it, "a")).unwrap());
        assert!(faults.iter().all(|fault| fault.error == faults[0].error));
        assert!(faults.iter().all(|fault| fault.held == faults[0].held));
        assert_ne!(faults[0].acting, faults[1].acting, "acting has chances of its own");
        shapes.insert(faults[0].error.unwrap());
    }
    assert_eq!(shapes.len(), ErrorShape::ALL.len(), "{shapes:?}");
}

/// The published campaign: 450 trials, 29 without a call, about 2,000 fired events, of which
/// 99.5 % permanent and 0.3 % intermittent; 55 trials (12.2 %) without any (MCP-Injector,
/// appendix C).
#[test]
fn a_campaign_of_the_published_profile_looks_as_published() {
    let published = Arc::new(Profile::open("published").unwrap());
    // Mean 5, and a long tail as published (up to 52 calls).
    let lengths = [1, 2, 2, 3, 3, 4, 4, 5, 5, 6, 7, 8, 10, 10];
    let (mut events, mut permanent, mut untouched) = (0_u32, 0_u32, 0_u32);
    for trial in 0..450_u64 {
        let calls = if trial < 29 { 0 } else { lengths[usize::try_from(trial).unwrap() % 14] };
        let mut schedule = Schedule::new(Arc::clone(&published), Seed::of_run(trial));
        let mut dose = 0;
        for number in 1..=calls {
            let ingress = number.to_string();
            let Some(fault) = schedule.decide(&call(&ingress, "a")).filter(|it| it.fired) else {
                continue;
            };
            dose += 1;
            permanent += u32::from(fault.persistence == Persistence::Permanent);
        }
        events += dose;
        untouched += u32::from(dose == 0);
    }
    assert!((1_700..2_400).contains(&events), "{events} events");
    let share = f64::from(permanent) / f64::from(events);
    assert!(share >= 0.99, "{share} of {events} events are permanent");
    let none = f64::from(untouched) / 450.0;
    assert!((0.05..0.20).contains(&none), "{none} of the trials have no fault");
}

/// Stored runs depend on these decisions: a change here breaks every replay and every resume.
#[test]
fn decisions_are_frozen() {
    let mut seen = String::new();
    for name in ["published", "transient-heavy", "rate-limits", "flaky-network"] {
        let profile = Arc::new(Profile::open(name).unwrap());
        for seed in 0..4 {
            let mut schedule = Schedule::new(Arc::clone(&profile), Seed::of_run(seed));
            let _ = write!(seen, "{name} {seed}:");
            for (ingress, tool) in [("1", "a"), ("2", "b"), ("2.1", "a"), ("3", "a"), ("4", "b")] {
                let said = schedule.decide(&call(ingress, tool)).map_or_else(
                    || "-".to_owned(),
                    |fault| format!("{}{}", fault.entry, if fault.fired { "!" } else { "" }),
                );
                let _ = write!(seen, " {said}");
            }
            seen.push('\n');
        }
    }
    insta::assert_snapshot!("decisions", seen);
}

/// What calls that run side by side ask for depends on the schedule; what they get must not.
#[test]
fn children_of_one_parent_do_not_move_those_of_another() {
    let entries = [
        "operator = \"delay\"\npersistence = \"intermittent\"\nactivation = 0.5",
        "operator = \"silent-drop\"\npersistence = \"transient\"",
    ];
    let profile = profile("rate = 0.6", &entries);
    let orders =
        [["1.1", "1.2", "2.1", "2.2"], ["1.1", "2.1", "1.2", "2.2"], ["2.1", "2.2", "1.1", "1.2"]];
    for seed in 0..200 {
        let decide = |order: &[&str; 4]| {
            let mut schedule = Schedule::new(Arc::clone(&profile), Seed::of_run(seed));
            let mut found: BTreeMap<String, Option<Fault>> = BTreeMap::new();
            for ingress in ["1", "2"].iter().chain(order) {
                found.insert((*ingress).to_owned(), schedule.decide(&call(ingress, "a")));
            }
            for ingress in order.iter().chain(&["1", "2"]) {
                schedule.ended(ingress);
            }
            found.insert("3".to_owned(), schedule.decide(&call("3", "a")));
            found
        };
        assert_eq!(decide(&orders[0]), decide(&orders[1]), "seed {seed}");
        assert_eq!(decide(&orders[0]), decide(&orders[2]), "seed {seed}");
    }
}

#[test]
fn what_a_child_draws_is_held_after_its_parent() {
    let entry = "operator = \"silent-drop\"\npersistence = \"permanent\"\nmatch.tool = \"search\"";
    let mut schedule = Schedule::new(profile("", &[entry]), Seed::of_run(1));
    assert_eq!(schedule.decide(&call("1", "execute_code")), None);
    assert!(schedule.decide(&call("1.1", "search")).unwrap().fired);
    schedule.ended("1.1");
    schedule.ended("1");
    let later = schedule.decide(&call("2", "search")).unwrap();
    assert_eq!((later.since.as_str(), later.nth), ("1.1", 2));
}

proptest! {
    /// The same calls are decided the same way, and a stream of its own for each number means
    /// that calls which draw nothing move no chance.
    #[test]
    fn decisions_follow_from_profile_seed_and_numbers(
        seed in any::<u64>(),
        tools in prop::collection::vec("[ab]", 1..40),
        arguments in any::<String>(),
    ) {
        for name in crate::fault::names() {
            let profile = Arc::new(Profile::open(name).unwrap());
            let decide = || {
                let mut schedule = Schedule::new(Arc::clone(&profile), Seed::of_run(seed));
                let one = |(index, tool): (usize, &String)| {
                    let ingress = (index + 1).to_string();
                    let server = "wildgym";
                    schedule.decide(&Observed { ingress: &ingress, server, tool, arguments: &arguments })
                };
                tools.iter().enumerate().map(one).collect::<Vec<_>>()
            };
            prop_assert_eq!(decide(), decide(), "{}", name);
        }
    }

    #[test]
    fn transient_chances_belong_to_the_number(seed in any::<u64>(), skipped in 1usize..20) {
        let entry = "operator = \"delay\"\npersistence = \"transient\"\nmatch.tool = \"a\"";
        let profile = profile("rate = 0.5", &[entry]);
        let all = fired(&profile, seed, &["a"; 20]);
        let mut some = ["a"; 20];
        some[..skipped].fill("b");
        prop_assert_eq!(&fired(&profile, seed, &some)[skipped..], &all[skipped..]);
    }
}
