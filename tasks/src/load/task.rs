//! Reads `tasks/<id>/`.

use std::collections::{BTreeMap, BTreeSet};

use camino::{Utf8Path, Utf8PathBuf};

use super::document::{self, Source};
use super::pictures;
use super::server;
use super::site::Sites;
use super::tree::Tree;
use super::world::Worlds;
use super::{solution, text};
use crate::answer::AnswerKind;
use crate::check::Pattern;
use crate::environment::{Blocked, Server, WebKind};
use crate::factor::Factor;
use crate::fault::Notes;
use crate::given::{ComposeError, Ingredients, name};
use crate::scenario::Language;
use crate::task::{Overlay, OverlayMeta, Predicate, Task, TaskMeta};
use crate::variant::Variant;

/// What else a suite has that tasks name; its servers where they are known.
type Around<'a> = (&'a Sites, &'a Worlds, Option<&'a BTreeMap<String, Server>>);

/// Reads all tasks.
pub(crate) fn read_all(
    tree: &Tree,
    around: Around<'_>,
    notes: &mut Notes,
) -> BTreeMap<String, Task> {
    let root = Utf8Path::new("tasks");
    for name in tree.names_in(root) {
        if name != "README.md" && !tree.has_folder(&root.join(name)) {
            notes.of_file(&root.join(name), "expected a folder per task");
        }
    }
    let folders = tree.folders_in(root);
    if folders.is_empty() && !tree.has_folder(Utf8Path::new("scenarios")) {
        notes.of_file(
            root,
            "expected at least one task; begin one with `wildgym tasks new SUITE/ID`",
        );
    }
    let tasks = folders.into_iter().filter_map(|id| read_one(tree, around, id, notes));
    tasks.map(|task| (task.meta.id.clone(), task)).collect()
}

fn read_one(
    tree: &Tree,
    (sites, worlds, servers): Around<'_>,
    id: &str,
    notes: &mut Notes,
) -> Option<Task> {
    let folder = Utf8Path::new("tasks").join(id);
    tree.only(&folder, &["task.toml", "instruction.md", "files", "ideal", "reference"], notes);
    let file = folder.join("task.toml");
    let meta = tree.text(&file, notes).and_then(|text| document::read(&file, &text, 1, notes));
    let instruction = instruction(tree, &folder.join("instruction.md"), notes);
    let files = tree.files_below(&folder.join("files"));
    let overlays = overlays(tree, &folder.join("ideal"), &files, notes);
    if let Some((meta, source)) = &meta {
        check_meta(id, meta, source, sites, notes);
        super::scene::check(meta, worlds, |field, problem| source.fault(notes, field, problem));
        if let Some(servers) = servers {
            server::check_task(&meta.environment.servers, servers, source, notes);
        }
        check_places(meta, source, (&files, &overlays), sites, notes);
        pictures::check(meta, source, (&files, &overlays), notes);
        check_factors(&folder, meta, source, &overlays, notes);
    }
    if let Some(instruction) = &instruction {
        let meta =
            meta.as_ref().filter(|(_, source)| !source.is_faulty("factors")).map(|(meta, _)| meta);
        let sources =
            overlays.iter().filter_map(|(set, read)| Some((name(set), read.source.as_ref()?)));
        let sources: BTreeMap<_, _> = sources.collect();
        let overlays: BTreeMap<_, _> =
            overlays.iter().map(|(set, read)| (set.clone(), read.overlay.clone())).collect();
        let language = meta.map_or(Language::En, |meta| meta.language);
        let ingredients = Ingredients { instruction, language, files: &files, overlays: &overlays };
        check_variants(&folder, &ingredients, meta, &sources, notes);
    }
    let solution =
        solution::read(tree, &folder, meta.as_ref().map(|(meta, _)| &meta.answer), notes);
    Some(Task {
        meta: meta?.0,
        folder: tree.absolute(&folder),
        instruction: instruction?.trim().to_owned(),
        files,
        overlays: overlays.into_iter().map(|(set, read)| (set, read.overlay)).collect(),
        solution: solution?,
        scenario_file: None,
    })
}

/// Reads a request, which must say something.
fn instruction(tree: &Tree, file: &Utf8Path, notes: &mut Notes) -> Option<String> {
    let text = tree.text(file, notes)?;
    if text.trim().is_empty() {
        notes.of_file(file, "the request is empty");
    }
    Some(text)
}

/// An overlay and where its `overlay.toml` has its fields.
#[derive(Debug)]
pub(super) struct ReadOverlay {
    pub(super) overlay: Overlay,
    source: Option<Source>,
}

pub(super) type Overlays = BTreeMap<BTreeSet<Factor>, ReadOverlay>;
pub(super) type Files = BTreeMap<Utf8PathBuf, Utf8PathBuf>;

fn overlays(tree: &Tree, ideal: &Utf8Path, files: &Files, notes: &mut Notes) -> Overlays {
    let mut overlays = Overlays::new();
    for name in tree.names_in(ideal) {
        let folder = ideal.join(name);
        if !tree.has_folder(&folder) {
            if name != "README.md" {
                notes.of_file(&folder, "expected a folder per factor");
            }
            continue;
        }
        let read = overlay(tree, &folder, files, notes);
        match name.split('+').map(str::parse).collect::<Result<BTreeSet<Factor>, _>>() {
            Err(error) => notes.of_file(&folder, error.to_string()),
            Ok(set) if set.len() < name.split('+').count() => {
                notes.of_file(&folder, "names a factor twice");
            }
            Ok(set) if overlays.contains_key(&set) => {
                notes.of_file(&folder, "another folder stands for the same factors");
            }
            Ok(set) => {
                let by_harness =
                    set.iter().all(|one| matches!(one, Factor::Faults | Factor::Events));
                let has_toml = tree.has_file(&folder.join("overlay.toml"));
                let excused = has_toml && (by_harness || read.source.is_none());
                if read.overlay == Overlay::default() && !excused {
                    notes.of_file(&folder, "the overlay changes nothing");
                }
                overlays.insert(set, read);
            }
        }
    }
    overlays
}

fn overlay(tree: &Tree, folder: &Utf8Path, files: &Files, notes: &mut Notes) -> ReadOverlay {
    tree.only(folder, &["instruction.md", "overlay.toml", "files"], notes);
    let text_file = folder.join("instruction.md");
    let text = tree.has_file(&text_file).then(|| instruction(tree, &text_file, notes)).flatten();
    let (meta, source) = overlay_meta(tree, folder, notes).unzip();
    let meta: OverlayMeta = meta.unwrap_or_default();
    if let Some(source) = &source {
        for (index, path) in meta.remove.iter().enumerate() {
            if !files.contains_key(path) {
                let problem = format!("`{path}` is no attachment of the task");
                source.fault(notes, &format!("remove[{index}]"), problem);
            }
        }
    }
    let files = tree.files_below(&folder.join("files"));
    ReadOverlay { overlay: Overlay { instruction: text, meta, files }, source }
}

fn overlay_meta(
    tree: &Tree,
    folder: &Utf8Path,
    notes: &mut Notes,
) -> Option<(OverlayMeta, Source)> {
    let file = folder.join("overlay.toml");
    let text = tree.has_file(&file).then(|| tree.text(&file, notes)).flatten()?;
    document::read(&file, &text, 1, notes)
}

fn check_meta(id: &str, meta: &TaskMeta, source: &Source, sites: &Sites, notes: &mut Notes) {
    if !text::is_id(id) {
        let problem = "expected small letters, digits and single `-`, such as `ds-ferry`";
        notes.of_file(&Utf8Path::new("tasks").join(id), problem);
    } else if meta.id != id {
        source.fault(
            notes,
            "id",
            format!("expected {id:?}, the folder's name, found {:?}", meta.id),
        );
    }
    if let AnswerKind::List { value, ordered: false } = &meta.answer.kind {
        for (index, item) in value.iter().enumerate() {
            if value[..index].contains(item) {
                source.fault(
                    notes,
                    &format!("answer.value[{index}]"),
                    format!("{item:?} is listed twice"),
                );
            }
        }
    }
    let web = meta.environment.web.is_some();
    // Hosts of the open internet are not the suite's to know.
    let live = meta.environment.web == Some(WebKind::Live);
    if meta.environment.web == Some(WebKind::Hermetic) && sites.hosts.is_empty() {
        source.fault(notes, "environment.web", "the suite has no sites");
    }
    let mut host = |field: String, host: &str| {
        if !web {
            source.fault(
                notes,
                &field,
                "the task has no web; add `web = \"hermetic\"` to `[environment]`",
            );
        } else if !live && !sites.hosts.contains_key(host) {
            let known: Vec<_> = sites.hosts.keys().collect();
            source.fault(
                notes,
                &field,
                format!("`{host}`: {}", text::unknown("host", host, &known)),
            );
        }
    };
    for (index, name) in meta.discovery_hosts.iter().enumerate() {
        host(format!("discovery_hosts[{index}]"), name);
    }
    for (index, milestone) in meta.milestones.iter().enumerate() {
        if let Predicate::Visit { host: name, .. } = &milestone.predicate {
            host(format!("milestone[{index}].visit.host"), name);
        }
    }
    check_blocked(meta, source, sites, notes);
    for (index, milestone) in meta.milestones.iter().enumerate() {
        if meta.milestones[..index].iter().any(|other| other.id == milestone.id) {
            source.fault(notes, &format!("milestone[{index}].id"), "another milestone has this id");
        }
    }
}

/// Notes entries of the block list that are none, and those that can block nothing: names
/// under the endings that are reserved for documentation and tests (RFC 2606) exist as
/// sites of the suite alone. Other names may be hosts of the open web.
fn check_blocked(meta: &TaskMeta, source: &Source, sites: &Sites, notes: &mut Notes) {
    const RESERVED: [&str; 4] = ["example", "test", "invalid", "localhost"];
    for (index, entry) in meta.blocked_hosts.iter().enumerate() {
        let field = format!("blocked_hosts[{index}]");
        if meta.environment.web.is_none() {
            let problem = "the task has no web; add `web = \"hermetic\"` to `[environment]`";
            source.fault(notes, &field, problem);
            continue;
        }
        let blocked = match Blocked::parse(entry) {
            Ok(blocked) => blocked,
            Err(problem) => {
                source.fault(notes, &field, format!("`{entry}`: {problem}"));
                continue;
            }
        };
        let host = blocked.host();
        let ending = host.rsplit('.').next().unwrap_or_default();
        let holds = |site: &String| site == host || site.ends_with(&format!(".{host}"));
        if !host.contains('.') {
            let problem = format!("`{entry}` is no whole host name, such as `example.org`");
            source.fault(notes, &field, problem);
        } else if RESERVED.contains(&ending) && !sites.hosts.keys().any(holds) {
            let known: Vec<_> = sites.hosts.keys().collect();
            let problem = format!("`{host}`: {}", text::unknown("host", host, &known));
            source.fault(notes, &field, problem);
        }
    }
}

/// Notes declared places of the answer that do not exist or are not explained.
fn check_places(
    meta: &TaskMeta,
    source: &Source,
    (files, overlays): (&Files, &Overlays),
    sites: &Sites,
    notes: &mut Notes,
) {
    for (index, declared) in meta.answer.stands.iter().enumerate() {
        let field = format!("answer.stands[{index}].place");
        let pattern = Pattern::new(&declared.place);
        if declared.place.starts_with("file:") {
            let added = overlays.values().flat_map(|read| read.overlay.files.keys());
            if !files.keys().chain(added).any(|path| pattern.matches(&format!("file:{path}"))) {
                source.fault(notes, &field, "there is no such attachment");
            }
        } else if let Some(place) = declared.place.strip_prefix("web:") {
            let host = place.split('/').next().unwrap_or_default();
            let live = meta.environment.web == Some(WebKind::Live);
            if !live && !host.contains('*') && !sites.by_host.contains_key(host) {
                source.fault(notes, &field, format!("`{host}` is no site of the suite"));
            }
        } else {
            source.fault(notes, &field, "expected `file:<path>` or `web:<host>/<path>`");
        }
        let weight: usize = declared.why.chars().map(|c| if c.is_ascii() { 1 } else { 2 }).sum();
        if weight < 20 {
            let problem = "expected a sentence of at least 20 characters";
            source.fault(notes, &format!("answer.stands[{index}].why"), problem);
        }
    }
}

/// Notes factors without an overlay and overlays without a factor.
fn check_factors(
    folder: &Utf8Path,
    meta: &TaskMeta,
    source: &Source,
    overlays: &Overlays,
    notes: &mut Notes,
) {
    if source.is_faulty("factors") {
        return;
    }
    if meta.faults.is_some() && !meta.factors.contains(&Factor::Faults) {
        source.fault(notes, "faults", "`factors` of the task does not list `faults`");
    }
    for factor in &meta.factors {
        if !overlays.contains_key(&BTreeSet::from([*factor])) {
            let problem = format!("factor `{factor}` has no overlay; add `ideal/{factor}/`");
            source.fault(notes, "factors", problem);
        }
    }
    for set in overlays.keys() {
        for factor in set.difference(&meta.factors) {
            let folder = folder.join("ideal").join(name(set));
            notes.of_file(&folder, format!("`factors` of the task does not list `{factor}`"));
        }
    }
}

/// Composes every variant and notes the smallest sets that fail.
fn check_variants(
    folder: &Utf8Path,
    ingredients: &Ingredients<'_>,
    meta: Option<&TaskMeta>,
    sources: &BTreeMap<String, &Source>,
    notes: &mut Notes,
) {
    let present: BTreeSet<Factor> =
        ingredients.overlays.keys().filter(|set| set.len() == 1).flatten().copied().collect();
    let factors = match meta {
        Some(meta) => present.intersection(&meta.factors).copied().collect(),
        None => present,
    };
    let mut variants = Variant::all_of(&factors);
    variants.sort_by_key(|variant| variant.factors().count());
    let mut failed: Vec<BTreeSet<Factor>> = Vec::new();
    for variant in variants {
        let set: BTreeSet<Factor> = variant.factors().collect();
        let Err(error) = ingredients.compose(&variant) else { continue };
        if failed.iter().any(|smaller| smaller.is_subset(&set)) {
            continue;
        }
        let own = name(&set);
        match (&error, sources.get(&own)) {
            (ComposeError::Edit { overlay, index, count }, Some(source)) if *overlay == own => {
                let problem = format!(
                    "expected text that stands in the request once, found it {count} times"
                );
                source.fault(notes, &format!("edit[{index}].find"), problem);
            }
            _ => {
                let problem =
                    format!("the overlays for `{own}` do not compose: {error}; add `ideal/{own}/`");
                notes.of_file(&folder.join("ideal"), problem);
            }
        }
        failed.push(set);
    }
}
