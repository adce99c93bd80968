//! Broken suites: each is a sound one with one thing changed, and the loader names
//! exactly what is wrong.

#![expect(clippy::unwrap_used, reason = "a helper of a test may fail it")]

use camino::{Utf8Path, Utf8PathBuf};
use proptest::prelude::*;
use tempfile::TempDir;
use wildgym_tasks::Suite;

const SOUND: [(&str, &str); 13] = [
    ("suite.toml", "format = 1\nname = \"s\"\nversion = \"1\"\ndescription = \"d\"\n"),
    (
        "tasks/ds-x/task.toml",
        "format = 1\nid = \"ds-x\"\ntitle = \"t\"\nscenario = \"deep-search\"\ndomain = \"d\"\n\
         language = \"en\"\nfactors = [\"ambiguity\", \"bias\"]\nnow = 2026-03-01T09:00:00Z\n\
         discovery_hosts = [\"www.a.example\"]\n[environment]\nweb = \"hermetic\"\n[answer]\n\
         kind = \"number\"\nvalue = 1482.5\ntolerance = 0.5\n[[answer.stands]]\n\
         place = \"file:sales.csv\"\nwhy = \"it is one of many rows there\"\n[[milestone]]\n\
         id = \"m\"\ncall = { tool = \"scrape\", result = \"x+\" }\n",
    ),
    ("tasks/ds-x/instruction.md", "Find the red ship soon.\n"),
    ("tasks/ds-x/files/sales.csv", "1482.5\n"),
    ("tasks/ds-x/ideal/ambiguity/overlay.toml", "[[edit]]\nfind = \"soon\"\nreplace = \"now\"\n"),
    ("tasks/ds-x/ideal/bias/overlay.toml", "[[edit]]\nfind = \"red\"\nreplace = \"blue\"\n"),
    (
        "tasks/ds-x/reference/solution.toml",
        "format = 1\n[[round]]\n[[round.call]]\nname = \"page\"\ntool = \"scrape\"\n\
         arguments = { url = \"https://a.example/\" }\n[[round]]\n[[round.call]]\nname = \"sum\"\n\
         tool = \"execute_code\"\narguments.code = { \"$file\" = \"sum.py\" }\n\
         arguments.n = { \"$expr\" = \"page|length\" }\n[answer]\nexpression = \"sum|number\"\n",
    ),
    ("tasks/ds-x/reference/sum.py", "print(1)\n"),
    (
        "sites/a.example/site.toml",
        "title = \"A\"\nlanguage = \"en\"\naliases = [\"www.a.example\"]\nunlisted = [\"/about*\"]\n\
         [redirects]\n\"/old\" = \"/about\"\n\"/far\" = \"https://b.example/\"\n[[service]]\n\
         path = \"/api\"\ntable = \"rows.json\"\nrequired = [\"port\"]\n",
    ),
    ("sites/a.example/pages/index.html", "<p>home</p>"),
    ("sites/a.example/pages/about.html", "<p>about</p>"),
    ("sites/a.example/rows.json", "[{\"port\": \"Lund\"}]"),
    ("sites/b.example/site.toml", "title = \"B\"\nlanguage = \"zh\"\nkind = \"encyclopedia\"\n"),
];

const ARTICLE: (&str, &str) =
    ("sites/b.example/articles/x.md", "+++\ntitle = \"X\"\ndate = \"2025-01-01\"\n+++\n\nText.\n");

fn put(root: &Utf8Path, path: &str, content: &[u8]) {
    let file = root.join(path);
    std::fs::create_dir_all(file.parent().unwrap()).unwrap();
    std::fs::write(file, content).unwrap();
}

fn sound() -> (TempDir, Utf8PathBuf) {
    let folder = tempfile::tempdir().unwrap();
    let root = Utf8PathBuf::from_path_buf(folder.path().to_owned()).unwrap();
    for (path, content) in SOUND.iter().chain([&ARTICLE]) {
        put(&root, path, content.as_bytes());
    }
    put(&root, "sites/b.example/pages/index.html", b"b");
    (folder, root)
}

fn faults(root: &Utf8Path) -> Vec<String> {
    match Suite::load(root) {
        Ok(_) => Vec::new(),
        Err(faults) => faults.0.iter().map(ToString::to_string).collect(),
    }
}

/// A change of a file: replace a text in it, or write it anew.
enum Change {
    Swap(&'static str, &'static str, &'static str),
    Put(&'static str, &'static str),
    Drop(&'static str),
}
use Change::{Drop, Put, Swap};

const TASK: &str = "tasks/ds-x/task.toml";
const SOLUTION: &str = "tasks/ds-x/reference/solution.toml";
const SITE: &str = "sites/a.example/site.toml";
const BIAS: &str = "tasks/ds-x/ideal/bias/overlay.toml";

fn apply(root: &Utf8Path, change: &Change) {
    match change {
        Put(path, content) => put(root, path, content.as_bytes()),
        Drop(path) => std::fs::remove_file(root.join(path)).unwrap(),
        Swap(path, from, to) => {
            let text = std::fs::read_to_string(root.join(path)).unwrap();
            assert!(text.contains(from), "{path} has no {from}");
            put(root, path, text.replacen(from, to, 1).as_bytes());
        }
    }
}

const ROWS: &[(Change, &str)] = &[
    (
        Swap(TASK, "tolerance = 0.5", "tolerance = \"x\""),
        "tasks/ds-x/task.toml:15: answer.tolerance: expected a number ≥ 0, found \"x\"",
    ),
    (
        Swap(TASK, "tolerance = 0.5", "tolerance = -1.5"),
        "tasks/ds-x/task.toml:15: answer.tolerance: expected a number ≥ 0, found -1.5",
    ),
    (
        Swap(TASK, "tolerance = 0.5", "tolerance = nan"),
        "tasks/ds-x/task.toml:15: answer.tolerance: expected a finite number of usual size, found nan",
    ),
    (
        Swap(TASK, "title = \"t\"\n", ""),
        "tasks/ds-x/task.toml: title: missing; expected one line of text that is not blank",
    ),
    (
        Swap(TASK, "title = ", "titel = \"t\"\ntitle = "),
        "tasks/ds-x/task.toml:3: titel: unknown field; did you mean `title`?",
    ),
    (
        Swap(TASK, "id = \"ds-x\"", "id = \"ds-y\""),
        "tasks/ds-x/task.toml:2: id: expected \"ds-x\", the folder's name, found \"ds-y\"",
    ),
    (
        Swap(TASK, "\"deep-search\"", "\"deep\""),
        "tasks/ds-x/task.toml:4: scenario: expected one of `complex-tool-use`, `data-analysis`, `deep-search`, `operations`, `dynamic`, `resilience`, found \"deep\"",
    ),
    (
        Swap(TASK, "now = 2026-03-01T09:00:00Z", "now = 2026-03-01"),
        "tasks/ds-x/task.toml:8: now: expected a time in UTC, such as \"2026-03-01T09:00:00Z\", found \"2026-03-01\"",
    ),
    (
        Swap(TASK, "kind = \"number\"", "kind = \"numbr\""),
        "tasks/ds-x/task.toml:13: answer.kind: expected one of `text`, `number`, `date`, `list`, found \"numbr\"",
    ),
    (
        Swap(
            TASK,
            "kind = \"number\"\nvalue = 1482.5\ntolerance = 0.5",
            "kind = \"text\"\nvalue = \"\"",
        ),
        "tasks/ds-x/task.toml:14: answer.value: expected one line of text that is not blank, found \"\"",
    ),
    (
        Swap(
            TASK,
            "kind = \"number\"\nvalue = 1482.5\ntolerance = 0.5",
            "kind = \"list\"\nvalue = []",
        ),
        "tasks/ds-x/task.toml:14: answer.value: expected an array that is not empty, found an empty array",
    ),
    (
        Swap(TASK, "\"x+\"", "\"x(\""),
        "tasks/ds-x/task.toml:21: milestone[0].call.result: expected a regular expression, found \"x(\"",
    ),
    (
        Swap(TASK, "call = {", "cal = {"),
        "tasks/ds-x/task.toml:19: milestone[0]: expected exactly one of `call`, `visit`",
    ),
    (
        Swap(TASK, "www.a.example", "www.c.example"),
        "tasks/ds-x/task.toml:9: discovery_hosts[0]: `www.c.example`: unknown host; did you mean `www.a.example`?",
    ),
    (
        Swap(TASK, "file:sales", "file:sale"),
        "tasks/ds-x/task.toml:17: answer.stands[0].place: there is no such attachment",
    ),
    (
        Swap(TASK, "it is one of many rows there", "many rows"),
        "tasks/ds-x/task.toml:18: answer.stands[0].why: expected a sentence of at least 20 characters",
    ),
    (
        Swap(TASK, ", \"bias\"]", "]"),
        "tasks/ds-x/ideal/bias: `factors` of the task does not list `bias`",
    ),
    (
        Swap(TASK, ", \"bias\"]", ", \"bias\", \"events\"]"),
        "tasks/ds-x/task.toml:7: factors: factor `events` has no overlay; add `ideal/events/`",
    ),
    (
        Swap(TASK, "[answer]", "[faults]\nprofile = \"null\"\n[answer]"),
        "tasks/ds-x/task.toml:12: faults: `factors` of the task does not list `faults`",
    ),
    (Swap(TASK, "format = 1", "format = 2"), "tasks/ds-x/task.toml:1: format: expected 1, found 2"),
    (
        Swap(TASK, "format = 1", "format ="),
        "tasks/ds-x/task.toml:1: not TOML: string values must be quoted, expected literal string",
    ),
    (Put("tasks/ds-x/instruction.md", " \n"), "tasks/ds-x/instruction.md: the request is empty"),
    (
        Put("tasks/ds-x/ideal/haste/instruction.md", "x"),
        "tasks/ds-x/ideal/haste: `haste` is no factor; expected one of hidden-information, tool-discovery, ambiguity, bias, dirty-data, distractors, faults, events",
    ),
    (
        Put("tasks/ds-x/instruktion.md", "x"),
        "tasks/ds-x/instruktion.md: unknown name here; did you mean `instruction.md`?",
    ),
    (
        Swap(BIAS, "find = \"red\"", "find = \"s\""),
        "tasks/ds-x/ideal/bias/overlay.toml:2: edit[0].find: expected text that stands in the request once, found it 2 times",
    ),
    (
        Put(BIAS, "remove = [\"a.csv\"]\n"),
        "tasks/ds-x/ideal/bias/overlay.toml:1: remove[0]: `a.csv` is no attachment of the task",
    ),
    (Put(BIAS, ""), "tasks/ds-x/ideal/bias: the overlay changes nothing"),
    (
        Swap(BIAS, "find = \"red\"", "find = \"ship soon\""),
        "tasks/ds-x/ideal: the overlays for `ambiguity+bias` do not compose: `bias`: the text of edit 0 stands 0 times in the request, not once; add `ideal/ambiguity+bias/`",
    ),
    (
        Swap(SOLUTION, "sum|number", "7"),
        "tasks/ds-x/reference/solution.toml:14: answer.expression: depends on no call; a literal answer is refused",
    ),
    (
        Swap(SOLUTION, "sum|number", "1482.5 if sum else 0"),
        "tasks/ds-x/reference/solution.toml:14: answer.expression: holds the answer (\"1482.5\"); compute it from results",
    ),
    (
        Swap(SOLUTION, "sum|number", "summ|number"),
        "tasks/ds-x/reference/solution.toml:14: answer.expression: `summ`: unknown call; did you mean `sum`?",
    ),
    (
        Swap(SOLUTION, "page|length", "sum|length"),
        "tasks/ds-x/reference/solution.toml:12: round[1].call[0].arguments.n: `sum` is no earlier call; results are known after their round",
    ),
    (
        Swap(SOLUTION, "name = \"sum\"", "name = \"page\""),
        "tasks/ds-x/reference/solution.toml:9: round[1].call[0].name: another call is named `page`",
    ),
    (
        Swap(SOLUTION, "page|length", "page|"),
        "tasks/ds-x/reference/solution.toml:12: round[1].call[0].arguments.n: syntax error: unexpected end of input, expected identifier",
    ),
    (
        Swap(SOLUTION, "$expr", "$eval"),
        "tasks/ds-x/reference/solution.toml:12: round[1].call[0].arguments.n: expected `$expr`, `$template` or `$file`, found `$eval`",
    ),
    (
        Put("tasks/ds-x/reference/sum.py", "print('1,482.50')"),
        "tasks/ds-x/reference/sum.py: holds the answer (\"1,482.50\"); compute it from results",
    ),
    (
        Drop("tasks/ds-x/reference/sum.py"),
        "tasks/ds-x/reference/solution.toml:11: round[1].call[0].arguments.code: there is no file `reference/sum.py`",
    ),
    (
        Put("tasks/ds-x/reference/old.py", "x"),
        "tasks/ds-x/reference/old.py: used by no `$file` of the solution",
    ),
    (
        Swap(SITE, "www.a.example", "b.example"),
        "sites/a.example/site.toml:3: aliases[0]: `b.example` already names the site `b.example`",
    ),
    (
        Swap(SITE, "\"/about\"", "\"/abuot\""),
        "sites/a.example/site.toml:6: redirects./old: `/abuot` leads to `/abuot`, which `a.example` does not serve",
    ),
    (
        Swap(SITE, "\"/about\"", "\"/old\""),
        "sites/a.example/site.toml:6: redirects./old: `/old` leads in a circle",
    ),
    (
        Swap(SITE, "b.example", "c.example"),
        "sites/a.example/site.toml:7: redirects./far: `https://c.example/` leads to `c.example`, which is no site of the suite",
    ),
    (
        Swap(SITE, "rows.json", "../rows.json"),
        "sites/a.example/site.toml:10: service[0].table: expected a relative path without `..`, such as \"data/sales.csv\", found \"../rows.json\"",
    ),
    (
        Put("sites/a.example/rows.json", "{}"),
        "sites/a.example/rows.json: expected a JSON array of objects",
    ),
    (
        Swap(SITE, "[\"port\"]", "[\"prot\"]"),
        "sites/a.example/site.toml:11: service[0].required[0]: `prot`: unknown field of the rows; did you mean `port`?",
    ),
    (
        Swap(SITE, "/about*", "/hidden"),
        "sites/a.example/site.toml:4: unlisted[0]: `/hidden` matches no page",
    ),
    (
        Put("sites/a.example/pages/about/index.html", "x"),
        "sites/a.example/pages/about.html: `/about` is already served from `index.html`",
    ),
    (
        Put("sites/b.example/articles/x.md", "title = \"X\"\n"),
        "sites/b.example/articles/x.md:1: expected a TOML header between two lines of `+++`",
    ),
    (
        Swap("sites/b.example/articles/x.md", "\"2025-01-01\"", "\"2025\""),
        "sites/b.example/articles/x.md:3: date: expected a date, such as \"2026-03-01\", found \"2025\"",
    ),
    (
        Swap(SOLUTION, "sum|number", "sum|nummber"),
        "tasks/ds-x/reference/solution.toml:14: answer.expression: filter `nummber`: unknown filter; did you mean `number`?",
    ),
    (
        Swap(SOLUTION, "page|length", "page|regex('[0-9')|length"),
        "tasks/ds-x/reference/solution.toml:12: round[1].call[0].arguments.n: `[0-9` is no regular expression: unclosed character class",
    ),
    (Drop("suite.toml"), "ROOT: no suite: expected a folder with `suite.toml`"),
];

#[test]
fn every_fault_is_named_where_it_is() {
    let (_keep, root) = sound();
    assert_eq!(faults(&root), Vec::<String>::new(), "the suite that the others start from");
    let mut wrong = Vec::new();
    for (index, (change, want)) in ROWS.iter().enumerate() {
        let (_keep, root) = sound();
        apply(&root, change);
        let got = faults(&root);
        let want = want.replace("ROOT", root.as_str());
        if !got.contains(&want) {
            wrong.push(format!("row {index}: want {want}\n  got  {}", got.join("\n       ")));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn all_faults_of_all_files_are_reported_at_once() {
    let (_keep, root) = sound();
    for index in [0, 5, 11, 13, 23, 29, 38, 42] {
        apply(&root, &ROWS[index].0);
    }
    let got = faults(&root);
    for index in [0, 5, 11, 13, 23, 29, 38, 42] {
        assert!(got.iter().any(|fault| fault == ROWS[index].1), "{index}: {got:#?}");
    }
    assert_eq!(got.len(), 8, "and nothing else: {got:#?}");
}

#[test]
fn links_and_bytes_that_are_no_text_are_refused() {
    let (_keep, root) = sound();
    std::os::unix::fs::symlink("/etc/passwd", root.join("tasks/ds-x/files/link")).unwrap();
    put(&root, "tasks/ds-x/instruction.md", b"one\n\xff\xfe");
    let want = [
        "tasks/ds-x/files/link: symbolic links are refused; copy the file",
        "tasks/ds-x/instruction.md:2: not UTF-8; save the file as UTF-8",
    ];
    assert_eq!(faults(&root), want);
}

#[test]
fn every_variant_of_a_loaded_task_composes_and_the_digest_follows_content() {
    let (_keep, root) = sound();
    let suite = Suite::load(&root).unwrap();
    let task = &suite.tasks["ds-x"];
    assert_eq!(task.variants().len(), 4);
    assert!(task.variants().iter().all(|variant| task.given(variant).is_ok()));
    let (_other, same) = sound();
    assert_eq!(Suite::load(&same).unwrap().digest, suite.digest, "the place does not matter");
    put(&same, "README.md", b"more");
    assert_ne!(Suite::load(&same).unwrap().digest, suite.digest, "the content does");
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    /// Whatever stands in a file, the loader returns.
    #[test]
    fn no_content_makes_the_loader_panic(
        which in 0..SOUND.len(),
        bytes in proptest::collection::vec(any::<u8>(), 0..200),
        toml in r#"((a|id|format|answer|\[\[round\]\]|\[x\]|"q") ?=? ?(1|nan|"x"|\{\}|\[1,|2026-01-01|''')?\n){0,8}"#,
        at in 0..200_usize,
    ) {
        let (_keep, root) = sound();
        let path = SOUND[which].0;
        let mut spliced = SOUND[which].1.as_bytes().to_vec();
        let at = at.min(spliced.len());
        spliced.splice(at..at, toml.bytes());
        for content in [bytes.as_slice(), toml.as_bytes(), &spliced] {
            put(&root, path, content);
            drop(Suite::load(&root));
        }
    }
}
