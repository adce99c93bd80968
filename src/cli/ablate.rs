//! `wildgym ablate`: what each factor costs, measured in pairs.

use clap::Args;
use wildgym_tasks::{Factor, Suite, Variant};

use super::host::open_suite;
use super::run::{RunArgs, begin, select};
use super::{Code, Failure, say};

/// Run tasks as they are and with each of their factors taken away, and say what each costs
///
/// One run with the variants `full` and, for each factor of a task, `ideal-<factor>`, at
/// the same seeds. The table at the end compares trial by trial; `wildgym report` shows it
/// again, and `wildgym resume` goes on with a run that stopped half-way. Tasks that have
/// none of the factors are left out.
#[derive(Debug, Args)]
#[command(mut_arg("variants", |arg| arg.hide(true)))]
#[command(mut_arg("idealise", |arg| {
    arg.help("Factors to take away, one at a time, separated by commas [default: all]")
}))]
pub(super) struct AblateArgs {
    #[command(flatten)]
    run: RunArgs,
}

pub(super) fn run(args: &AblateArgs) -> Result<Code, Failure> {
    let args = &args.run;
    if !args.tries_full_only() {
        return Err(Failure::usage("`ablate` chooses the variants itself")
            .hint("leave out `--variants`, or run every combination with `wildgym run`"));
    }
    let opened = open_suite(args.suite())?;
    let selected = select(&opened.suite, args)?;
    let (tasks, factors) = ablated(&opened.suite, &selected, args.idealised());
    if tasks.is_empty() {
        return Err(Failure::usage("no selected task has a factor to take away")
            .hint(format!("see the factors with `wildgym tasks list {}`", args.suite())));
    }
    let without = selected.len() - tasks.len();
    if without > 0 && !args.is_quiet() {
        let noun = if without == 1 { "task has" } else { "tasks have" };
        say(&format!("{without} {noun} no such factor and will not be tried"));
    }
    let mut variants = vec![Variant::default()];
    variants.extend(factors.into_iter().map(|factor| Variant::ideal([factor])));
    begin(args, &opened, tasks, variants)
}

/// Returns the tasks that have one of the wanted factors, and the factors that a task has;
/// all are wanted where none is named.
fn ablated(suite: &Suite, selected: &[String], wanted: &[Factor]) -> (Vec<String>, Vec<Factor>) {
    let wanted = |factor: &Factor| wanted.is_empty() || wanted.contains(factor);
    let has = |id: &String, factor: &Factor| {
        suite.tasks.get(id).is_some_and(|task| task.meta.factors.contains(factor))
    };
    let factors: Vec<Factor> = Factor::ALL
        .into_iter()
        .filter(|factor| wanted(factor) && selected.iter().any(|id| has(id, factor)))
        .collect();
    let tasks = selected.iter().filter(|id| factors.iter().any(|factor| has(id, factor)));
    (tasks.cloned().collect(), factors)
}
