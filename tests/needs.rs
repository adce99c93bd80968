//! A task that this machine has no engine for is skipped, said so, and tried later.

#![expect(clippy::unwrap_used, reason = "what fails here fails the story")]

mod common;

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;

use common::{Place, Ran, transcripts, verdicts};
use serde_json::json;

/// A suite of two tasks of which the second needs text recognition.
fn suite(place: &Place) -> String {
    let suite = place.suite(2);
    let file = suite.join("tasks/t-001/task.toml");
    let text = fs::read_to_string(&file).unwrap();
    let text =
        text.replace("[answer]", "[environment]\nneeds = [\"text-recognition\"]\n\n[answer]");
    fs::write(&file, text).unwrap();
    suite.to_str().unwrap().to_owned()
}

/// Runs the program where `PATH` is a folder of the story.
fn wildgym(place: &Place, args: &[&str], path: &Path) -> Ran {
    let output = place.command(args).env("PATH", path).output().unwrap();
    Ran {
        code: output.status.code(),
        out: String::from_utf8(output.stdout).unwrap(),
        err: String::from_utf8(output.stderr).unwrap(),
    }
}

#[test]
fn what_cannot_be_tried_is_skipped_and_tried_once_it_can() {
    let place = Place::new();
    let suite = suite(&place);
    let path = place.path().join("bin");
    fs::create_dir(&path).unwrap();
    let run = ["run", &suite, "--agent", "reference", "-k", "2", "--name", "r"];

    let ran = wildgym(&place, &[&run[..], &["--json"]].concat(), &path);
    assert_eq!(ran.code, Some(0), "{}{}", ran.err, ran.out);
    let report = ran.json();
    assert_eq!((&report["trials"]["pass"], &report["trials"]["skipped"]), (&json!(2), &json!(2)));
    assert_eq!(
        ran.err.matches("cannot be read here").count(),
        1,
        "said once for both: {}",
        ran.err
    );
    let left = place.path().join("runs/r");
    assert_eq!(verdicts(&left).len(), 2, "what was skipped is not judged");
    let skipped: Vec<String> =
        transcripts(&left).into_values().filter(|text| text.contains("skipped:")).collect();
    assert_eq!(skipped.len(), 2);
    assert!(skipped.iter().all(|text| text.lines().count() == 1), "nothing was started");
    let label = wildgym(&place, &["report", "runs/r"], &path);
    assert!(label.out.contains("2 skipped"), "{}", label.out);

    let resumed = wildgym(&place, &["resume", "runs/r", "--json"], &path);
    assert_eq!(resumed.json()["trials"]["skipped"], 2, "{}", resumed.err);
    assert_eq!(transcripts(&left).len(), 4, "nothing is tried where nothing has changed");

    let engine = path.join("tesseract");
    fs::write(&engine, "#!/bin/sh\n").unwrap();
    fs::set_permissions(&engine, fs::Permissions::from_mode(0o755)).unwrap();
    let resumed = wildgym(&place, &["resume", "runs/r", "--json"], &path);
    assert_eq!(resumed.json()["trials"]["pass"], 4, "{}{}", resumed.err, resumed.out);
    assert_eq!(resumed.json()["trials"]["skipped"], 0, "{}", resumed.out);
    assert_eq!((transcripts(&left).len(), verdicts(&left).len()), (6, 4));
}

#[test]
fn needs_are_listed_shown_and_checked() {
    let place = Place::new();
    let suite = suite(&place);
    let listed = place.wildgym(&["tasks", "list", &suite, "--json"]).json();
    assert_eq!(
        (&listed[0]["needs"], &listed[1]["needs"]),
        (&json!([]), &json!(["text-recognition"]))
    );
    let shown = place.wildgym(&["tasks", "show", &suite, "t-001"]);
    assert!(shown.out.contains("needs: text-recognition"), "{}", shown.out);
    let shown = place.wildgym(&["tasks", "show", &suite, "t-001", "--json"]).json();
    assert_eq!(shown["needs"], json!(["text-recognition"]));
    assert_eq!((&shown["variant"], &shown["attachments"]), (&json!("full"), &json!(["note.txt"])));
    assert_eq!(shown["answer"], json!(null), "only where it is asked for");

    let file = Path::new(&suite).join("tasks/t-001/task.toml");
    let text = fs::read_to_string(&file).unwrap();
    fs::write(&file, text.replace("text-recognition", "eyes")).unwrap();
    let ran = place.wildgym(&["tasks", "check", &suite]);
    let known = ["environment.needs[0]", "speech", "text-recognition", "video"];
    assert!(known.iter().all(|word| ran.out.contains(word)), "{}{}", ran.out, ran.err);
}
