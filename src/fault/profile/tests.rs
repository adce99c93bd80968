//! What profiles may say, and that the built-in ones say what they claim.

use std::collections::BTreeMap;

use super::*;
use crate::fault::names;

const HEAD: &str = "format = 1\nname = \"p\"\nversion = \"1\"\ndescription = \"for a test\"\n";

fn entry(text: &str) -> Result<Profile, String> {
    Profile::parse("p", &format!("{HEAD}[[entry]]\n{text}")).map_err(|error| error.to_string())
}

#[test]
fn built_in_profiles_can_be_used_and_name_themselves() {
    for name in names() {
        let profile = Profile::open(name).unwrap_or_else(|error| panic!("{error}"));
        assert_eq!(profile.name(), name);
        assert!(!profile.source().is_empty(), "{name} says not where its numbers come from");
        assert!(profile.entries().any(|entry| entry.weight > 0.0), "{name} draws nothing");
    }
}

#[test]
fn each_operator_has_a_profile_of_its_own() {
    for operator in Operator::ALL {
        let profile = Profile::open(operator.name()).unwrap();
        assert!(profile.entries().all(|entry| entry.operator == operator), "{operator}");
    }
}

/// Counts of the published profile by operator and persistence.
fn counts() -> BTreeMap<(Operator, Persistence), f64> {
    let published = Profile::open("published").unwrap();
    published.entries().map(|entry| ((entry.operator, entry.persistence), entry.weight)).collect()
}

/// What MCP-Injector publishes of its 18 cells (section 4, table 2, appendix A); every
/// other number of `published` is a completion of ours.
#[test]
fn the_published_figures_hold() {
    let counts = counts();
    assert_eq!(counts.len(), 18, "six operators, three persistences");
    let total: f64 = counts.values().sum();
    let of = |operator, persistence| counts[&(operator, persistence)];
    let permanent: f64 =
        counts.iter().filter(|((_, how), _)| *how == Persistence::Permanent).map(|(_, n)| n).sum();
    let errors: f64 = counts
        .iter()
        .filter(|((operator, _), _)| *operator == Operator::ExplicitError)
        .map(|(_, count)| count)
        .sum();
    let rounded = |part: f64, digits: f64| (part / total * digits).round() / digits;
    let close = |a: f64, b: f64| (a - b).abs() < 1e-9;
    assert!(close(total, 13_824.0), "{total}");
    assert!(counts.values().all(|count| close(count.fract(), 0.0)), "they are counts");
    let explicit = of(Operator::ExplicitError, Persistence::Permanent);
    assert!(close(rounded(explicit, 1e4), 0.6565), "{explicit}");
    let incorrect = of(Operator::IncorrectOutput, Persistence::Permanent);
    assert!(close(rounded(incorrect, 1e3), 0.125), "{incorrect}");
    let minor = of(Operator::MinorMistake, Persistence::Intermittent);
    assert!(close(rounded(minor, 1e4), 0.0011) && close(minor, 15.0), "{minor}");
    assert!(close(rounded(permanent, 1e3), 0.913), "{permanent}");
    // 10,393 classified failures are explicit errors; of all 14,829, 1,005 have a
    // persistence that is uncertain and are no entries.
    let uncertain = 10_393.0 - errors;
    assert!((0.0..=1_005.0).contains(&uncertain), "{uncertain}");
}

#[test]
fn the_published_hyperparameters_hold() {
    let published = Profile::open("published").unwrap();
    assert_eq!((published.rate(), published.scope()), (1.0, Scope::Attempt));
    for entry in published.entries() {
        let why = format!("{} {}", entry.operator, entry.persistence);
        if entry.persistence == Persistence::Intermittent {
            assert!((entry.release() - 0.3).abs() < 1e-12, "{why}: d = 0.3");
            assert!(entry.activation() < 1.0, "{why}: it does not always fire");
        } else {
            assert!((entry.activation() - 1.0).abs() < 1e-12, "{why}");
        }
        if entry.operator == Operator::Delay {
            assert_eq!(entry.seconds(), 30, "{why}");
        }
        if entry.operator == Operator::IncorrectOutput {
            assert!((entry.share() - 1.0 / 3.0).abs() < 1e-12, "{why}");
        }
    }
}

#[test]
fn what_is_impossible_is_refused_with_its_place() {
    let table = [
        ("operator = \"delay\"", "missing field `persistence`", "a field is missing"),
        (
            "operator = \"slow\"\npersistence = \"permanent\"\nweight = 1",
            "line 6: unknown variant `slow`",
            "no such operator",
        ),
        (
            "operator = \"delay\"\npersistence = \"permanent\"\nweight = -1",
            "entry[0]: `weight`: expected a number ≥ 0, found -1",
            "a negative weight",
        ),
        (
            "operator = \"delay\"\npersistence = \"permanent\"\nweight = nan",
            "entry[0]: `weight`",
            "no number",
        ),
        (
            "operator = \"delay\"\npersistence = \"permanent\"\nweight = 1\nactivation = 0.5",
            "entry[0]: `activation` is for `persistence = \"intermittent\"`",
            "only what is held over calls is activated",
        ),
        (
            "operator = \"delay\"\npersistence = \"intermittent\"\nweight = 1\nrelease = 1.5",
            "entry[0]: `release`: expected 0 to 1, found 1.5",
            "no probability",
        ),
        (
            "operator = \"silent-drop\"\npersistence = \"permanent\"\nweight = 1\nseconds = 3",
            "entry[0]: `seconds` is for `operator = \"delay\"`",
            "a drop has no length",
        ),
        (
            "operator = \"delay\"\npersistence = \"permanent\"\nweight = 1\nseconds = 0",
            "entry[0]: `seconds`: expected 1 to 86400, found 0",
            "no delay at all",
        ),
        (
            "operator = \"explicit-error\"\npersistence = \"permanent\"\nweight = 1\nerrors = []",
            "entry[0]: `errors`: expected some of `unauthorized`",
            "nothing to choose from",
        ),
        (
            "operator = \"delay\"\npersistence = \"permanent\"\nweight = 1\nmatch.tool = \"[\"",
            "entry[0]: `match.tool`: ",
            "no glob",
        ),
        (
            "operator = \"delay\"\npersistence = \"permanent\"\nweight = 1\nsahre = 1",
            "unknown field `sahre`",
            "a slip",
        ),
    ];
    for (text, want, why) in table {
        let error = entry(text).unwrap_err();
        assert!(error.starts_with("fault profile `p`") && error.contains(want), "{why}: {error}");
    }
    let newer = HEAD.replace("format = 1", "format = 2");
    let error = Profile::parse("p", &newer).unwrap_err().to_string();
    assert_eq!(error, "fault profile `p`: `format`: expected 1, found 2");
    let error = Profile::open("pubished").unwrap_err().to_string();
    assert!(
        error.contains("no fault profile `pubished`; built in are `null`, `minor-mistake`"),
        "{error}"
    );
}

#[test]
fn draws_follow_the_weights_of_what_fits() {
    let text = format!(
        "{HEAD}[[entry]]\noperator = \"delay\"\npersistence = \"permanent\"\nweight = 1\n\
         [[entry]]\noperator = \"silent-drop\"\npersistence = \"permanent\"\nweight = 0\n\
         [[entry]]\noperator = \"explicit-error\"\npersistence = \"permanent\"\nweight = 3\n\
         match.tool = \"a\"\n"
    );
    let profile = Profile::parse("p", &text).unwrap();
    let call = |tool| Observed { ingress: "1", server: "s", tool, arguments: "{}" };
    let table = [
        ("a", 0.0, Some(0), "the first quarter"),
        ("a", 0.2499, Some(0), "still"),
        ("a", 0.25, Some(2), "the rest; weight 0 is never drawn"),
        ("a", 0.999_999, Some(2), "up to its end"),
        ("b", 0.999_999, Some(0), "what does not fit has no weight"),
    ];
    for (tool, chance, want, why) in table {
        assert_eq!(profile.draw(&call(tool), chance), want, "{why}");
    }
}
