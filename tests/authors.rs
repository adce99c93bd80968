//! The command line as an author of tasks meets it.
#![expect(clippy::unwrap_used, reason = "what fails here fails the story")]

mod common;

use std::fs;
use std::path::Path;

use common::Place;

fn put(root: &Path, path: &str, text: &str) {
    let file = root.join(path);
    fs::create_dir_all(file.parent().unwrap()).unwrap();
    fs::write(file, text).unwrap();
}

fn swap(root: &Path, path: &str, from: &str, to: &str) {
    let text = fs::read_to_string(root.join(path)).unwrap();
    assert!(text.contains(from), "{path} has no {from}");
    put(root, path, &text.replacen(from, to, 1));
}

/// From nothing to a task that passes the check, and what stands in the way of a second.
#[test]
fn a_suite_begins_with_its_first_task() {
    let place = Place::new();
    let new = place.wildgym(&["tasks", "new", "mine/da-one"]);
    assert_eq!(new.code, Some(0), "{}", new.err);
    assert!(new.err.contains("wrote mine/suite.toml"), "{}", new.err);
    let checked = place.wildgym(&["tasks", "check", "mine"]);
    assert_eq!(checked.code, Some(0), "{}{}", checked.out, checked.err);
    for text in ["1 task, 0 sites: no fault", "wildgym run mine --agent reference --variants all"] {
        assert!(checked.err.contains(text), "`{text}` in:\n{}", checked.err);
    }
    put(place.path(), "other/notes.txt", "mine");
    let table: [(&[&str], &str); 6] = [
        (&["tasks", "new", "mine/da-one"], "is already there; choose another id"),
        (&["tasks", "new", "other/da-one"], "holds other files and no `suite.toml`"),
        (&["tasks", "new", "da-one"], "names no task of a suite"),
        (
            &["tasks", "show", "mine", "da-one", "--variant", "hidden-information"],
            "did you mean `ideal-hidden-information`? the variants of `da-one` are full, ideal-",
        ),
        (
            &["tasks", "show", "mine", "da-one", "--variant", "ideal-bias"],
            "which has no factor `bias`",
        ),
        (&["tools", "call", "nope"], "there is no tool `nope`; the tools are `search_serper`, "),
    ];
    for (args, want) in table {
        let ran = place.wildgym(args);
        assert_eq!(ran.code, Some(2), "{args:?}: {}{}", ran.out, ran.err);
        assert!(ran.err.contains(want), "{args:?} must say `{want}`:\n{}", ran.err);
    }
    let shown = place.wildgym(&["tasks", "show", "mine", "da-one"]);
    for text in ["da-one · full · ", "in your workspace:\n- parcels.csv", "variant: full (shown)"]
    {
        assert!(shown.out.contains(text), "`{text}` in:\n{}", shown.out);
    }
    fs::remove_dir_all(place.path().join("mine/tasks")).unwrap();
    let empty = place.wildgym(&["tasks", "check", "mine"]);
    let hint = "tasks: expected at least one task; begin one with `wildgym tasks new SUITE/ID`";
    assert!(empty.out.contains(hint), "{}", empty.out);
}

/// What cannot work is said before anything runs, and what could not be searched as well.
#[test]
fn a_check_knows_the_tools() {
    let place = Place::new();
    let suite = place.suite(1);
    let (task, solution) = ("tasks/t-000/task.toml", "tasks/t-000/reference/solution.toml");
    put(&suite, "tasks/t-000/files/all.zip", "PK\u{3}\u{4}");
    fs::write(suite.join("tasks/t-000/files/all.zip"), b"PK\x03\x04\xff\xfe\x00\x00").unwrap();
    let named = suite.to_str().unwrap();
    let checked = place.wildgym(&["tasks", "check", named]);
    assert_eq!(checked.code, Some(0), "{}{}", checked.out, checked.err);
    assert!(checked.err.contains("can be read: tasks/t-000/files/all.zip"), "{}", checked.err);

    put(&suite, "tasks/t-000/ideal/bias/overlay.toml", "tools = [\"scrap\"]\n");
    swap(&suite, task, "language =", "factors = [\"bias\"]\nlanguage =");
    let milestone = "[[milestone]]\nid = \"m\"\ncall = { tool = \"serch_wiki\" }\n";
    let text = fs::read_to_string(suite.join(task)).unwrap();
    put(&suite, task, &format!("{text}\n{milestone}"));
    swap(&suite, solution, "code = \"", "depth = 3, code_type = \"cobol\", code = \"");
    swap(
        &suite,
        solution,
        "[answer]",
        "[[round]]\n[[round.call]]\nname = \"b\"\ntool = \"nope\"\n[[round.call]]\nname = \"c\"\n\
         tool = \"scrape\"\narguments.url = { \"$expr\" = \"code\" }\n[answer]",
    );
    swap(&suite, "tasks/t-000/instruction.md", "over", "done");
    let checked = place.wildgym(&["tasks", "check", named]);
    assert_eq!(checked.code, Some(1), "{}{}", checked.out, checked.err);
    for text in [
        "overlay.toml: tools[0]: there is no tool `scrap`; the nearest is `scrape`",
        "task.toml: milestone[0].call.tool: there is no tool `serch_wiki`; the nearest",
        "round[0].call[0].arguments: ",
        "'depth'",
        "code_type?: \"python\"",
        "round[1].call[0].tool: there is no tool `nope`; the tools are",
        "stands in the request of `full`, `ideal-bias`",
        "reword it",
    ] {
        assert!(checked.out.contains(text), "`{text}` in:\n{}", checked.out);
    }
    assert!(!checked.out.contains("call[1]"), "computed arguments pass:\n{}", checked.out);
    assert!(!checked.out.contains("declare the place"), "not for requests:\n{}", checked.out);
    assert!(checked.err.contains("1 task, 0 sites: 6 faults"), "{}", checked.err);
}

/// The examples that are shown work as they stand, whichever way they come in.
#[test]
fn examples_of_tools_work_on_the_built_in_web() {
    let place = Place::new();
    for tool in place.wildgym(&["tools", "list", "--json"]).json().as_array().unwrap() {
        let name = tool["name"].as_str().unwrap();
        // Actions need a page that is open, and one call by hand opens none.
        let acts = tool["browser"] == "direct" && name != "visit_page";
        // The media of examples are a user's own: `tests/tools.rs` has some.
        let media =
            tool["category"] == "multimodal-understanding" || name == "ask_question_about_video";
        if name == "execute_code" || acts || media {
            continue;
        }
        put(place.path(), "arguments.json", &tool["example"].to_string());
        let mode = tool["browser"].as_str().unwrap_or("delegated");
        let ran = place.wildgym(&["tools", "call", name, "@arguments.json", "--browser", mode]);
        if name == "browse_url" {
            assert!(ran.out.contains("`--tool-model NAME`"), "{}", ran.out);
            continue;
        }
        assert_eq!(ran.code, Some(0), "{name}: {}{}", ran.out, ran.err);
        let found = ran.out.contains("Kelmouth") && !ran.out.contains("nothing on the page");
        assert!(found, "{name} finds something:\n{}", ran.out);
    }
    let mut command = place.command(&["tools", "call", "search_wiki", "-"]);
    let file = fs::File::open(place.path().join("arguments.json")).unwrap();
    let refused = command.stdin(file).output().unwrap();
    let text = String::from_utf8(refused.stdout).unwrap();
    assert!(text.contains("expected {entity: string, "), "read from standard input:\n{text}");
}
