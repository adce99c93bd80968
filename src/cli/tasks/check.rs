//! `wildgym tasks check`: what can be known of a suite without running it.
//!
//! The loader knows the files; here they meet the tools. Nothing is run: that the
//! solutions find the answers is shown by a run of the reference agent.

use std::collections::BTreeSet;

use camino::Utf8Path;
use wildgym_sandbox::Host;
use wildgym_tasks::check::{Material, Pattern, leaks, materials};
use wildgym_tasks::scenario_file::ScenarioFile;
use wildgym_tasks::solution::SolutionCall;
use wildgym_tasks::task::Predicate;
use wildgym_tasks::{Suite, Task, Variant};
use wildgym_toolbox::Catalog;
use wildgym_toolbox::catalog::BadTool;

use super::super::host::{catalog, locate, open_host};
use super::super::{Code, Failure, data, say};
use super::counted;
use crate::fault::Profile;
use crate::runner::{Worlds, WorldsError};

/// How many files that could not be searched are named.
const NAMED: usize = 5;

pub(super) fn check(named: &str) -> Result<Code, Failure> {
    let (folder, _) = locate(named)?;
    let suite = match Suite::load(&folder) {
        Ok(suite) => suite,
        Err(faults) => {
            data(&faults.to_string());
            say(&counted(faults.0.len(), "fault"));
            return Ok(Code::Incomplete);
        }
    };
    let host = open_host()?;
    let catalog = catalog()?;
    let runtime = tokio::runtime::Runtime::new()
        .map_err(|error| Failure::usage(format!("cannot start: {error}")))?;
    let worlds = match Worlds::make(&suite) {
        Ok(worlds) => worlds,
        Err(error) => {
            let count = match &error {
                WorldsError::Faults(faults) => {
                    data(&faults.to_string());
                    faults.0.len()
                }
                WorldsError::Tool(_) => {
                    data(&error.to_string());
                    1
                }
            };
            say(&counted(count, "fault"));
            return Ok(Code::Incomplete);
        }
    };
    let mut found = 0;
    let mut unread = BTreeSet::new();
    for (id, task) in &suite.tasks {
        if let Some(file) = &task.scenario_file {
            // What decides is no text that could lie in the open.
            for fault in of_scenario(&catalog, &worlds, task, file) {
                data(&fault);
                found += 1;
            }
            continue;
        }
        let given = materials(&suite, task, |file| text_of(&host, &runtime, file));
        unread.extend(given.iter().filter(|one| one.unread).map(|one| searched_not(id, one)));
        let leaks = leaks(task, given).into_iter().map(|leak| format!("tasks/{id}: {leak}"));
        let of_tools = match of_task(&catalog, &worlds, task) {
            Ok(catalog) => tools(&catalog, id, task),
            Err(error) => vec![format!("tasks/{id}/task.toml: environment: {error}")],
        };
        let unmatched = unmatched(&catalog, id, task);
        let served = of_servers(&suite, id, task);
        for fault in unmatched.into_iter().chain(of_tools).chain(served).chain(leaks) {
            data(&fault);
            found += 1;
        }
    }
    if !unread.is_empty() {
        say(&format!("not searched for answers, since {}", unsearched(&unread)));
    }
    let sizes =
        format!("{}, {}", counted(suite.tasks.len(), "task"), counted(suite.sites.len(), "site"));
    if found > 0 {
        say(&format!("{sizes}: {}", counted(found, "fault")));
        return Ok(Code::Incomplete);
    }
    say(&format!("{sizes}: no fault, and no answer in the open"));
    say(&format!(
        "next: `wildgym run {named} --agent reference --variants all` tries the solutions"
    ));
    Ok(Code::Done)
}

/// Returns the text of a file that is a document.
fn text_of(host: &Host, runtime: &tokio::runtime::Runtime, file: &Utf8Path) -> Option<String> {
    let name = file.file_name()?;
    let bytes = std::fs::read(file).ok()?;
    let read = host.workers.document(name, None, bytes);
    runtime.block_on(read).ok().map(|document| document.text)
}

/// Names a file that could not be searched: an attachment by its task, a page once.
fn searched_not(id: &str, material: &Material) -> String {
    let place = material.places.first().map_or("", String::as_str);
    match place.strip_prefix("file:") {
        Some(path) => format!("tasks/{id}/files/{path}"),
        None => place.to_owned(),
    }
}

fn unsearched(files: &BTreeSet<String>) -> String {
    let named: Vec<&str> = files.iter().take(NAMED).map(String::as_str).collect();
    let more = match files.len().saturating_sub(NAMED) {
        0 => String::new(),
        more => format!(" and {more} more"),
    };
    format!("they hold no text that can be read: {}{more}", named.join(", "))
}

/// Returns the tools that a task offers, in either way of offering pages.
fn of_task(catalog: &Catalog, worlds: &Worlds, task: &Task) -> Result<Catalog, BadTool> {
    let environment = &task.meta.environment;
    let operations = environment.world.as_ref().map(|scene| worlds.offered(scene));
    let offered =
        catalog.only(|name| environment.offers(name)).with(&operations.unwrap_or_default())?;
    match task.scenario_file {
        Some(_) => offered.with(&Catalog::conversation()?),
        None => Ok(offered),
    }
}

/// Returns what is wrong with the solutions of a scenario, as far as they are written down.
fn of_scenario(
    catalog: &Catalog,
    worlds: &Worlds,
    task: &Task,
    file: &ScenarioFile,
) -> Vec<String> {
    let place = format!("scenarios/{}.json", file.id);
    let catalog = match of_task(catalog, worlds, task) {
        Ok(catalog) => catalog,
        Err(error) => return vec![format!("{place}: tools: {error}")],
    };
    let mut faults = Vec::new();
    if file.reference.is_none() {
        faults.push(format!("{place}: reference: nothing shows that the task can be done"));
    }
    if file.wrong.is_empty() {
        faults.push(format!("{place}: wrong: no solution shows that the checks can fail"));
    }
    for (r, round) in task.solution.rounds.iter().enumerate() {
        for (c, call) in round.calls.iter().enumerate() {
            let problems = problems(&catalog, call).into_iter();
            faults.extend(problems.map(|(field, problem)| {
                format!("{place}: reference.rounds[{r}][{c}].{field}: {problem}")
            }));
        }
    }
    faults
}

/// Returns the entries of `environment.tools` that name no tool.
fn unmatched(catalog: &Catalog, id: &str, task: &Task) -> Vec<String> {
    let patterns = task.meta.environment.tools.iter().flatten().enumerate();
    let names = catalog.names();
    let strange = patterns
        .filter(|(_, pattern)| !names.iter().any(|name| Pattern::new(pattern).matches(name)));
    let fault = |(index, pattern): (usize, &String)| {
        let hint = match catalog.entry(pattern) {
            Err(error) => error.to_string(),
            Ok(_) => String::new(),
        };
        format!("tasks/{id}/task.toml: environment.tools[{index}]: {hint}")
    };
    strange.map(fault).collect()
}

/// Returns whether a tool is one of a foreign server of the task. What such a server offers is
/// known where it runs, and nothing is started here.
fn is_foreign(task: &Task, tool: &str) -> bool {
    let servers = &task.meta.environment.servers;
    tool.split_once("__").is_some_and(|(server, _)| servers.contains(server))
}

/// Returns the calls of tools of the suite's own servers that cannot work: what a world offers
/// is known without starting anything.
fn of_servers(suite: &Suite, id: &str, task: &Task) -> Vec<String> {
    let mut faults = Vec::new();
    for (r, round) in task.solution.rounds.iter().enumerate() {
        for (c, call) in round.calls.iter().enumerate().filter(|(_, c)| is_foreign(task, &c.tool)) {
            let Some((server, tool)) = call.tool.split_once("__") else { continue };
            let server = suite.meta.servers.get(server);
            let world = server.and_then(|one| suite.worlds.get(one.world.as_ref()?));
            // A world whose operations are no tools was told of before.
            let Some(Ok(catalog)) = world.map(|world| Catalog::of_world(world)) else { continue };
            let call = SolutionCall { tool: tool.to_owned(), ..call.clone() };
            let place = format!("tasks/{id}/reference/solution.toml: round[{r}].call[{c}]");
            let problems = problems(&catalog, &call).into_iter();
            faults.extend(problems.map(|(field, problem)| format!("{place}.{field}: {problem}")));
        }
    }
    faults
}

/// Returns the uses of tools that cannot work.
fn tools(catalog: &Catalog, id: &str, task: &Task) -> Vec<String> {
    let unknown = |name: &str| {
        let error = catalog.entry(name).err().filter(|_| !is_foreign(task, name));
        error.map(|error| error.to_string())
    };
    let mut faults = Vec::new();
    let own = task.meta.faults.as_ref();
    if let Some(Err(error)) = own.map(|own| Profile::open_builtin(&own.profile)) {
        faults.push(format!("tasks/{id}/task.toml: faults.profile: {error}"));
    }
    for (index, milestone) in task.meta.milestones.iter().enumerate() {
        if let Predicate::Call { tool, .. } = &milestone.predicate
            && let Some(problem) = unknown(tool)
        {
            faults.push(format!("tasks/{id}/task.toml: milestone[{index}].call.tool: {problem}"));
        }
    }
    for (factors, overlay) in &task.overlays {
        let variant = Variant::ideal(factors.iter().copied()).to_string();
        let folder = variant.trim_start_matches("ideal-");
        for (index, tool) in overlay.meta.tools.iter().enumerate() {
            if let Some(problem) = unknown(tool) {
                faults.push(format!(
                    "tasks/{id}/ideal/{folder}/overlay.toml: tools[{index}]: {problem}"
                ));
            }
        }
    }
    for (r, round) in task.solution.rounds.iter().enumerate() {
        let own = |(_, call): &(usize, &SolutionCall)| !is_foreign(task, &call.tool);
        for (c, call) in round.calls.iter().enumerate().filter(own) {
            let place = format!("tasks/{id}/reference/solution.toml: round[{r}].call[{c}]");
            let problems = problems(catalog, call).into_iter();
            faults.extend(problems.map(|(field, problem)| format!("{place}.{field}: {problem}")));
        }
    }
    faults
}

/// Returns what is wrong with a call as far as it is written down: the tool, and the
/// arguments that are not computed.
fn problems(catalog: &Catalog, call: &SolutionCall) -> Vec<(&'static str, String)> {
    let entry = match catalog.entry(&call.tool) {
        Ok(entry) => entry,
        Err(error) => return vec![("tool", error.to_string())],
    };
    let (arguments, computed) = call.literals();
    let misfits = entry.misfits(&arguments).into_iter();
    misfits
        .filter(|misfit| !computed.contains(&misfit.pointer))
        .map(|misfit| ("arguments", format!("{misfit}; expected {}", entry.signature())))
        .collect()
}
