//! The gate as `JUnit` XML, which CI services show.
//!
//! One case for the whole and one for each task. A task that blocks is a failure; a task
//! that fails trials and does not block is *skipped*, so that a service which turns
//! red at any failure agrees with the exit code.

use std::fmt::Write as _;

use super::{Compared, GateView};
use crate::report::sanitize::attribute as escaped;

/// Returns the comparison as `JUnit` XML: one suite, the whole as its first case.
#[must_use]
pub fn junit(view: &GateView) -> String {
    let gated = view.gate();
    let failures =
        gated.tasks.iter().filter(|task| task.blocks).count() + usize::from(gated.is_blocked());
    let skipped = gated.tasks.iter().filter(|task| is_tolerated(task)).count();
    let tests = gated.tasks.len() + 1;
    let name = escaped(&format!("wildgym gate {}", view.run.run));
    let mut out = String::from("<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n");
    let counts =
        format!("tests=\"{tests}\" failures=\"{failures}\" skipped=\"{skipped}\" errors=\"0\"");
    let _ = writeln!(out, "<testsuites name=\"{name}\" {counts}>");
    let _ = writeln!(out, "  <testsuite name=\"{name}\" {counts}>");
    let whole = gated.is_blocked().then(|| gated.reasons.join("; "));
    case(&mut out, "gate", "gate", whole.map(|reason| ("failure", reason)));
    for task in &gated.tasks {
        let class = task.subset.as_deref().unwrap_or("tasks");
        let (run, before) = (task.sides.run, task.sides.baseline);
        let said = format!(
            "passed {} of {}, before {} of {}",
            run.passed, run.judged, before.passed, before.judged
        );
        let what = if task.blocks {
            Some(("failure", said))
        } else if is_tolerated(task) {
            Some(("skipped", format!("{said}; it does not block")))
        } else {
            None
        };
        case(&mut out, class, &task.task, what);
    }
    out.push_str("  </testsuite>\n</testsuites>\n");
    out
}

/// Whether it failed a trial and does not block.
fn is_tolerated(task: &Compared) -> bool {
    !task.blocks && task.sides.run.passed < task.sides.run.judged
}

fn case(out: &mut String, class: &str, name: &str, what: Option<(&str, String)>) {
    let (class, name) = (escaped(class), escaped(name));
    let _ = match what {
        None => writeln!(out, "    <testcase classname=\"{class}\" name=\"{name}\"/>"),
        Some((element, message)) => writeln!(
            out,
            "    <testcase classname=\"{class}\" name=\"{name}\">\n      <{element} message=\"{}\"/>\n    </testcase>",
            escaped(&message)
        ),
    };
}
