//! Files that others made, through real workers: every one is read or refused with a
//! clear reason, within the limits of a worker.
//!
//! The files are public test files of two projects (calamine, markitdown). They lie
//! beside this project where someone put them, and where nobody did these tests pass.
//! What is known to fail stands in a table with its reason, and the table is strict: a
//! miss that is gone must leave it.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use serde_json::Value;
use wildgym_sandbox::documents::{Part, Workbook};
use wildgym_sandbox::worker::Workers;

use crate::workers;

/// Files that end in a way no file should: name, call, why.
const CRASHES: &[(&str, &str, &str)] = &[];

/// Strings of `expected.json` that are not found, or found and forbidden: file, the
/// beginning of the string, why.
const MISSES: &[(&str, &str, &str)] =
    &[("test.docx", "data:image/png;base64...", "pictures are named, never embedded")];

/// Ends that are no reason.
const UNCLEAR: [&str; 6] = [
    "its parser failed",
    "its parser crashed",
    "was stopped after",
    "more than 512 MiB of memory",
    "nested too deeply",
    "too much processor time",
];

fn corpora() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../shared/corpora")
}

/// The files of a folder, sorted by name.
pub(crate) fn files(folder: &str) -> Vec<(String, Vec<u8>)> {
    let entries = std::fs::read_dir(corpora().join(folder)).into_iter().flatten().flatten();
    let mut files: Vec<_> = entries
        .filter_map(|entry| {
            let name = entry.file_name().to_string_lossy().into_owned();
            Some((name, std::fs::read(entry.path()).ok()?))
        })
        .collect();
    files.sort();
    files
}

/// What both calls say of a file.
async fn ends(workers: &Workers, name: &str, bytes: &[u8]) -> [(&'static str, String); 2] {
    let document = workers.document(name, None, bytes.to_vec()).await;
    let book = workers.workbook(name, bytes.to_vec(), Part::default()).await;
    [
        ("document", document.map_or_else(|error| error.to_string(), |it| it.text)),
        ("workbook", book.as_ref().map_or_else(ToString::to_string, Workbook::to_markdown)),
    ]
}

#[tokio::test]
async fn every_file_is_read_or_refused_with_a_reason() {
    let workers = workers();
    let (mut crashed, mut count, mut opened) = (BTreeSet::new(), 0, 0);
    for (name, bytes) in files("calamine").into_iter().chain(files("markitdown")) {
        for (call, said) in ends(&workers, &name, &bytes).await {
            count += 1;
            let refused = said.starts_with("cannot read") || said.starts_with("reading `");
            opened += usize::from(!refused);
            if refused {
                eprintln!("{call}: {said}");
            }
            if refused && UNCLEAR.iter().any(|end| said.contains(end)) {
                crashed.insert((name.clone(), call));
            }
        }
    }
    eprintln!("{count} calls, {opened} gave text, {} ended badly", crashed.len());
    if count == 0 {
        return;
    }
    let known: BTreeSet<_> =
        CRASHES.iter().map(|(name, call, _)| ((*name).to_owned(), *call)).collect();
    let fresh: Vec<_> = crashed.difference(&known).collect();
    let gone: Vec<_> = known.difference(&crashed).collect();
    assert!(fresh.is_empty(), "these ended badly: {fresh:?}");
    assert!(gone.is_empty(), "these are fine now, take them from the table: {gone:?}");
}

#[tokio::test]
async fn what_is_expected_is_found_and_nothing_forbidden() {
    let folder = corpora().join("markitdown");
    let Ok(text) = std::fs::read_to_string(folder.join("expected.json")) else { return };
    let workers = workers();
    let expected: Vec<Value> = serde_json::from_str(&text).unwrap();
    let (mut missed, mut checked) = (Vec::new(), 0);
    for entry in &expected {
        let name = entry["file"].as_str().unwrap();
        let bytes = std::fs::read(folder.join(name)).unwrap();
        let read = workers.document(name, None, bytes).await;
        let mut got = read.map_or_else(|error| error.to_string(), |document| document.text);
        if entry["mimetype"] == "text/csv" {
            // Rows stand as they do in the file, where the list has a table of Markdown.
            got = got.replace(',', " ");
        }
        let got = plain(&got);
        for (list, wanted) in [("must_include", true), ("must_not_include", false)] {
            for string in entry[list].as_array().into_iter().flatten().filter_map(Value::as_str) {
                checked += 1;
                if got.contains(&plain(string)) != wanted {
                    missed.push((name.to_owned(), string.to_owned()));
                }
            }
        }
    }
    let is_known = |(name, string): &(String, String)| {
        MISSES.iter().any(|(file, start, _)| file == name && string.starts_with(start))
    };
    let fresh: Vec<_> = missed.iter().filter(|miss| !is_known(miss)).collect();
    let is_gone = |(file, start): (&str, &str)| {
        !missed.iter().any(|(name, string)| name == file && string.starts_with(start))
    };
    let gone: Vec<_> = MISSES.iter().filter(|(file, start, _)| is_gone((file, start))).collect();
    eprintln!("{checked} strings checked, {} missed", missed.len());
    assert!(fresh.is_empty(), "missed: {fresh:#?}");
    assert!(gone.is_empty(), "no miss any more, take them from the table: {gone:?}");
}

/// A text without its markup, in words with one space between.
fn plain(text: &str) -> String {
    let bare: String = text.chars().filter(|c| !"*#_`\\|>".contains(*c)).collect();
    let words = bare.split_whitespace().filter(|word| !word.chars().all(|c| "-:".contains(c)));
    words.collect::<Vec<_>>().join(" ")
}
