//! Reads `scenarios/<ID>.json`: each file becomes a task of scenario `operations`.
//!
//! The published keys load as they are. Every fault is told with its file, line and JSON
//! path; what a file says of the world's operations is held against them, so that a slip in
//! a name cannot make a check that nothing fails or passes.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use camino::Utf8Path;
use jiff::Timestamp;
use serde_json::{Map, Value};

use super::document::{self, Source};
use super::scene;
use super::text;
use super::tree::Tree;
use super::world::Worlds;
use crate::answer::{Answer, AnswerKind};
use crate::environment::Environment;
use crate::fault::Notes;
use crate::scenario::{Language, Scenario};
use crate::scenario_file::{
    ASK_USER, AnswerCheck, AskMoment, ExpectedCall, Locator, Ordering, Replayed, ReplayedCall,
    ScenarioFile, pattern, solution,
};
use crate::solution::{Solution, SolutionAnswer};
use crate::task::{Limits, Task, TaskMeta};
use crate::world::{Scene, World};

/// Most characters of a title that is taken from the request.
const TITLE: usize = 72;

/// Reads all files of `scenarios/`.
pub(crate) fn read_all(tree: &Tree, worlds: &Worlds, notes: &mut Notes) -> BTreeMap<String, Task> {
    let root = Utf8Path::new("scenarios");
    let files: Vec<_> = tree.below(root).map(|(_, file)| file.to_owned()).collect();
    let mut tasks = BTreeMap::new();
    for file in files {
        if file.file_name() == Some("README.md") {
            continue;
        }
        if file.extension() != Some("json") || file.parent() != Some(root) {
            notes.of_file(&file, "expected a file `scenarios/<ID>.json`");
            continue;
        }
        tasks.extend(read_one(tree, worlds, &file, notes).map(|task| (task.meta.id.clone(), task)));
    }
    tasks
}

fn read_one(tree: &Tree, worlds: &Worlds, file: &Utf8Path, notes: &mut Notes) -> Option<Task> {
    let text = tree.text(file, notes)?;
    let (read, source) = document::read_json::<ScenarioFile>(file, &text, notes, prepare)?;
    let mut check = Check { file: &read, source: &source, world: None, scene: None, notes };
    check.id(file.file_stem().unwrap_or_default());
    let name = check.world_name(worlds)?;
    let world = worlds.by_name.get(&name);
    let meta = meta(&read, &name, world.map(|world| world.meta.now));
    scene::check(&meta, worlds, |field, problem| {
        let field = field.strip_prefix("environment.world.").unwrap_or(field);
        let field = match (field, field.strip_prefix("operations"), field.strip_prefix("event[")) {
            ("name", _, _) => "world".to_owned(),
            (_, Some(rest), _) => format!("tools{rest}"),
            (_, _, Some(rest)) => format!("events[{rest}"),
            (_, None, None) => field.to_owned(),
        };
        check.fault(&field, problem);
    });
    check.world = world.map(Arc::as_ref);
    check.scene = meta.environment.world.as_ref();
    check.whole();
    let solution = check.solution();
    Some(Task {
        meta,
        folder: tree.absolute(file),
        instruction: read.prompt.trim().to_owned(),
        files: BTreeMap::new(),
        overlays: BTreeMap::new(),
        solution,
        scenario_file: Some(Arc::new(read)),
    })
}

/// Takes away what is `null`, which says no more than its absence, and puts a single fault
/// into a list.
fn prepare(value: &mut Value) {
    let Some(fields) = value.as_object_mut() else { return };
    fields.retain(|_, value| !value.is_null());
    if let Some(faults) = fields.get_mut("fault_injection")
        && faults.is_object()
    {
        *faults = Value::Array(vec![std::mem::take(faults)]);
    }
}

fn meta(file: &ScenarioFile, world: &str, begins: Option<Timestamp>) -> TaskMeta {
    let scene = Scene {
        name: world.to_owned(),
        seed: 0,
        context: file.context.clone(),
        operations: file.tools.clone(),
        events: file.events.clone(),
    };
    let said = file.reference.as_ref().map_or("see the state at the end", |it| &it.answer);
    let value = said.split_whitespace().collect::<Vec<_>>().join(" ");
    TaskMeta {
        format: 1,
        id: file.task_id(),
        title: file.title.clone().unwrap_or_else(|| title(&file.prompt)),
        scenario: Scenario::Operations,
        subset: Some(format!("tier-{}", file.tier)),
        domain: file.domain.clone().unwrap_or_else(|| "business".to_owned()),
        language: file.language.unwrap_or(Language::En),
        factors: BTreeSet::new(),
        now: file.now.or(begins).unwrap_or_default(),
        limits: Limits::default(),
        environment: Environment { world: Some(scene), ..Environment::default() },
        faults: None,
        // For people: what decides is in the file, and is no comparison of texts.
        answer: Answer { kind: AnswerKind::Text { value }, accept: Vec::new(), stands: Vec::new() },
        final_state_assertions: file.final_state_assertions.clone(),
        milestones: Vec::new(),
        discovery_hosts: Vec::new(),
        blocked_hosts: Vec::new(),
        pictures: Vec::new(),
        dependencies: None,
    }
}

fn title(prompt: &str) -> String {
    let line = prompt.split_whitespace().collect::<Vec<_>>().join(" ");
    match line.char_indices().nth(TITLE) {
        Some((end, _)) => format!("{}…", line[..end].trim_end()),
        None => line,
    }
}

/// A file under examination.
struct Check<'a> {
    file: &'a ScenarioFile,
    source: &'a Source,
    world: Option<&'a World>,
    scene: Option<&'a Scene>,
    notes: &'a mut Notes,
}

impl Check<'_> {
    fn fault(&mut self, field: &str, problem: impl Into<String>) {
        self.source.fault(self.notes, field, problem);
    }

    fn id(&mut self, stem: &str) {
        let ScenarioFile { id, tier, .. } = self.file;
        if id != stem {
            self.fault("id", format!("expected the file's name, `{stem}`"));
        } else if !text::is_id(&self.file.task_id()) {
            self.fault("id", "expected letters, digits and single `-`, such as `T2-007`");
        }
        let said = id.strip_prefix('T').and_then(|rest| rest.split('-').next());
        let said = said.and_then(|digits| digits.parse::<u8>().ok());
        if said.is_some_and(|said| said != *tier) {
            self.fault("tier", format!("expected the tier of `{id}`, found {tier}"));
        }
    }

    fn world_name(&mut self, worlds: &Worlds) -> Option<String> {
        if let Some(name) = &self.file.world {
            return Some(name.clone());
        }
        let mut names = worlds.names.iter();
        match (names.next(), names.next()) {
            (Some(only), None) => Some(only.clone()),
            (None, _) => {
                let problem = "the suite has no world, and a scenario needs one in `worlds/`";
                self.fault("world", problem);
                None
            }
            (Some(_), Some(_)) => {
                let names: Vec<_> = worlds.names.iter().collect();
                self.fault("world", format!("missing; expected one of {}", text::ticked(&names)));
                None
            }
        }
    }

    fn whole(&mut self) {
        let file = self.file;
        self.calls(&file.expected_calls, file.ordering, "expected_calls");
        for (index, other) in file.alternatives.iter().enumerate() {
            let field = format!("alternatives[{index}].expected_calls");
            self.calls(&other.expected_calls, other.ordering, &field);
        }
        for (index, fault) in file.fault_injection.iter().enumerate() {
            self.tool(&fault.tool, &format!("fault_injection[{index}].tool"));
        }
        for (index, name) in file.allowed_writes.iter().enumerate() {
            self.tool(name, &format!("allowed_writes[{index}]"));
        }
        self.asking();
        for (index, check) in file.answer_checks.iter().enumerate() {
            self.answer(check, &format!("answer_checks[{index}]"));
        }
        self.files();
        self.sense();
    }

    fn answer(&mut self, check: &AnswerCheck, field: &str) {
        let sought = check.all.iter().chain(&check.any);
        let texts = sought.clone().chain(&check.none);
        let named = check.of.iter().chain(&check.not_of);
        if texts.clone().count() == 0 && check.number.is_none() {
            self.fault(field, "expected `all`, `any`, `none` or `number`");
        } else if texts.chain(named).any(|text| text.trim().is_empty()) {
            self.fault(field, "a text to look for is blank");
        } else if check.tolerance.is_some() && check.number.is_none() {
            self.fault(&format!("{field}.tolerance"), "belongs to `number`");
        } else if check.of.is_empty() && !check.not_of.is_empty() {
            self.fault(&format!("{field}.not_of"), "belongs to `of`");
        } else if !check.of.is_empty() && sought.count() == 0 && check.number.is_none() {
            self.fault(&format!("{field}.of"), "belongs to `all`, `any` or `number`");
        }
    }

    fn files(&mut self) {
        for (index, check) in self.file.file_checks.iter().enumerate() {
            let field = format!("file_checks[{index}]");
            let mut texts = check.all.iter().chain(&check.any).chain(&check.none);
            if texts.any(|text| text.trim().is_empty()) {
                self.fault(&field, "a text to look for is blank");
            }
            let outside = check.path.starts_with('/') || check.path.split('/').any(|it| it == "..");
            if outside {
                self.fault(&format!("{field}.path"), "expected a path below the workspace");
            }
        }
    }

    /// Checks that the file decides something, and not against itself.
    fn sense(&mut self) {
        let file = self.file;
        let checks = !file.expected_calls.is_empty()
            || !file.final_state_assertions.is_empty()
            || !file.answer_checks.is_empty()
            || !file.file_checks.is_empty();
        if !checks && !file.refuse {
            self.fault("expected_calls", "nothing is expected, so every trial would pass");
        }
        let writes = |call: &&ExpectedCall| {
            self.world.is_some_and(|world| {
                world.operations.get(&call.tool).is_some_and(crate::world::Operation::writes)
            })
        };
        let written = file.ways().flat_map(|(calls, _)| calls).find(writes);
        if let Some(call) = written.filter(|_| file.refuse) {
            let problem = format!("it is right to change nothing, but `{}` is expected", call.tool);
            self.fault("refuse", problem);
        }
        let needed = file.ways().map(|(calls, _)| calls.iter().filter(|one| !one.optional).count());
        let fewest = needed.min().unwrap_or_default();
        if (file.max_calls as usize) < fewest {
            self.fault("max_calls", format!("{fewest} calls are expected"));
        }
    }

    fn asking(&mut self) {
        let Some(asking) = &self.file.ask_user else { return };
        if asking.required && asking.rules.is_empty() {
            let problem = "a question is required, but no rule says which";
            self.fault("ask_user.rules", problem);
        }
        if asking.required && self.file.refuse && asking.before == AskMoment::Change {
            self.fault("ask_user.required", "nothing is changed where it is right to refuse");
        }
        if !asking.required && (!asking.guarded.is_empty() || asking.before != AskMoment::Change) {
            let problem = "`guarded` and `before` say when a required question must come";
            self.fault("ask_user.required", problem);
        }
        for (index, guarded) in asking.guarded.iter().enumerate() {
            let field = format!("ask_user.guarded[{index}]");
            self.tool(&guarded.tool, &format!("{field}.tool"));
            self.matched(&guarded.tool, &guarded.args_match, &format!("{field}.args_match"));
        }
    }

    /// Checks that the agent can call a tool.
    fn tool(&mut self, name: &str, field: &str) {
        if name == ASK_USER {
            return;
        }
        let Some(world) = self.world else { return };
        if !world.operations.contains_key(name) {
            let names: Vec<_> = world.operations.keys().collect();
            let problem = format!("`{name}`: {}", text::unknown("operation", name, &names));
            self.fault(field, problem);
        } else if self.scene.is_some_and(|scene| !scene.exposes(name)) {
            self.fault(field, format!("`{name}` is not among the `tools` of this scenario"));
        }
    }

    fn calls(&mut self, calls: &[ExpectedCall], ordering: Ordering, field: &str) {
        for (index, call) in calls.iter().enumerate() {
            let field = format!("{field}[{index}]");
            self.tool(&call.tool, &format!("{field}.tool"));
            for (place, other) in call.instead.iter().enumerate() {
                let field = format!("{field}.instead[{place}]");
                self.tool(&other.tool, &format!("{field}.tool"));
                self.matched(&other.tool, &other.args_match, &format!("{field}.args_match"));
            }
            if !call.instead.is_empty() && !call.args_from_prior.is_empty() {
                let problem = "does not go with `args_from_prior`; write `alternatives`";
                self.fault(&format!("{field}.instead"), problem);
            }
            for (place, name) in call.near.iter().enumerate() {
                self.tool(name, &format!("{field}.near[{place}]"));
            }
            self.matched(&call.tool, &call.args_match, &format!("{field}.args_match"));
            for (place, path) in call.args_forbid.iter().enumerate() {
                self.located(&call.tool, path, &format!("{field}.args_forbid[{place}]"));
            }
            for (path, from) in &call.args_from_prior {
                let place = format!("{field}.args_from_prior.{path}");
                self.located(&call.tool, path, &place);
                match crate::scenario_file::Source::parse(from) {
                    Err(problem) => self.fault(&place, problem),
                    Ok(source) => self.earlier(source.call, index, &place),
                }
            }
            for (place, earlier) in call.after.iter().enumerate() {
                let place = format!("{field}.after[{place}]");
                self.earlier(*earlier, index, &place);
                if ordering != Ordering::Partial {
                    self.fault(&place, "belongs to ordering `partial`");
                }
            }
            if let Some(earlier) = call.compensates {
                self.earlier(earlier, index, &format!("{field}.compensates"));
            }
        }
    }

    /// Checks what the arguments of a call are held against.
    fn matched(&mut self, tool: &str, wanted: &Map<String, Value>, field: &str) {
        for (place, problem) in pattern::misuses(&Value::Object(wanted.clone()), field) {
            self.fault(&place, problem);
        }
        self.named(tool, wanted, field);
    }

    /// Checks that an operation has the parameters that a pattern of its arguments names, also
    /// in what stands after an operator about all of them.
    fn named(&mut self, tool: &str, wanted: &Map<String, Value>, field: &str) {
        for (name, inner) in wanted {
            let place = format!("{field}.{name}");
            if !name.starts_with('$') {
                self.argument(tool, name, &place);
                continue;
            }
            let whole = std::slice::from_ref(inner);
            for (index, one) in inner.as_array().map_or(whole, Vec::as_slice).iter().enumerate() {
                if let Some(fields) = one.as_object().filter(|_| pattern::is_logic(name)) {
                    self.named(tool, fields, &format!("{place}[{index}]"));
                }
            }
        }
    }

    fn earlier(&mut self, number: usize, own: usize, field: &str) {
        if number >= own {
            let problem = format!(
                "expected one of the calls before this one, which is {own}; found {number}"
            );
            self.fault(field, problem);
        }
    }

    fn located(&mut self, tool: &str, path: &str, field: &str) {
        match Locator::parse(path) {
            Err(problem) => self.fault(field, problem),
            Ok(locator) => {
                if let Some(crate::scenario_file::Segment::Key(name)) = locator.0.first() {
                    self.argument(tool, name, field);
                }
            }
        }
    }

    /// Checks that an operation has a parameter.
    fn argument(&mut self, tool: &str, name: &str, field: &str) {
        let Some(operation) = self.world.and_then(|world| world.operations.get(tool)) else {
            return;
        };
        if !operation.has_parameter(name) {
            let names: Vec<_> = operation.properties().map(|(name, _)| name).collect();
            let what = format!("parameter of `{tool}`");
            self.fault(field, format!("`{name}`: {}", text::unknown(&what, name, &names)));
        }
    }

    /// Returns the reference solution, one without calls where the file has none.
    fn solution(&mut self) -> Solution {
        let nothing = || Solution {
            format: 1,
            rounds: Vec::new(),
            answer: SolutionAnswer { expression: "\"\"".to_owned() },
        };
        let file = self.file;
        let mut names = BTreeSet::new();
        for (index, wrong) in file.wrong.iter().enumerate() {
            let field = format!("wrong[{index}]");
            if !names.insert(&wrong.name) || wrong.name == "reference" {
                let problem = format!("another solution is named `{}`", wrong.name);
                self.fault(&format!("{field}.name"), problem);
            }
            let (rounds, answer) = (wrong.rounds.clone(), wrong.answer.clone());
            self.replayed(&Replayed { rounds, answer }, &field);
        }
        let Some(reference) = &file.reference else { return nothing() };
        let calls: usize = reference.rounds.iter().map(Vec::len).sum();
        if calls > file.max_calls as usize {
            let problem = format!("{calls} calls, and `max_calls` is {}", file.max_calls);
            self.fault("reference.rounds", problem);
        }
        self.replayed(reference, "reference").unwrap_or_else(nothing)
    }

    fn replayed(&mut self, replayed: &Replayed, field: &str) -> Option<Solution> {
        for (r, round) in replayed.rounds.iter().enumerate() {
            for (c, ReplayedCall { tool, .. }) in round.iter().enumerate() {
                self.tool(tool, &format!("{field}.rounds[{r}][{c}].tool"));
            }
        }
        match solution(replayed) {
            Ok(solution) => Some(solution),
            Err(faults) => {
                for (place, problem) in faults {
                    self.fault(&format!("{field}.{place}"), problem);
                }
                None
            }
        }
    }
}
