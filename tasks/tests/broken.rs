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

/// A site that computes; it is sound as it stands.
const COMPUTED: [(&str, &str); 5] = [
    (
        "sites/routes.example/site.toml",
        "title = \"C\"\nlanguage = \"en\"\nerror_page = \"error.html\"\nrobots = [\"/x\"]\n\
         [tables]\nrows = \"rows.csv\"\n[[cookie]]\nname = \"cart\"\n[login]\npath = \"/login\"\n\
         template = \"login.html\"\nprotected = [\"/one/*\"]\n[[login.user]]\nname = \"ann\"\n\
         password = \"p\"\ndata = { card = \"K\" }\n[[route]]\npath = \"/one/{id}\"\n\
         template = \"one.html\"\ndelay = 1.5\n[route.row]\ntable = \"rows\"\ncolumn = \"id\"\n\
         [[route]]\npath = \"/all\"\njson = { n = \"{{ list.total }}\" }\nexamples = [\"/all?q=a\"]\n\
         [[route.query]]\nname = \"q\"\n[route.list]\ntable = \"rows\"\nsort = [\"-id\"]\n\
         [[route.list.filter]]\nparameter = \"q\"\ncolumns = [\"port\"]\n[[route]]\npath = \"/send\"\n\
         methods = [\"POST\"]\nredirect = \"/all?q={{ form.port|urlencode }}\"\n\
         set_cookies = { cart = \"{{ form.port }}\" }\n[[route.form]]\nname = \"port\"\n\
         pattern = \"[a-z]+\"\nexample = \"lund\"\n[[route.form]]\nname = \"seats\"\ntype = \"number\"\n\
         min = 1\nmax = 8\n",
    ),
    ("sites/routes.example/rows.csv", "id,port\n1,lund\n"),
    ("sites/routes.example/templates/error.html", "{{ title }}: {{ message }}"),
    ("sites/routes.example/templates/login.html", "{{ failed }} {{ next }}"),
    (
        "sites/routes.example/templates/one.html",
        "<title>{{ row.port }}</title>\n{{ path.id }} {{ user.card }}",
    ),
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
    for (path, content) in SOUND.iter().chain([&ARTICLE]).chain(&COMPUTED) {
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
/// The tool of the solution's first call.
const SCRAPE: &str = "tool = \"scrape\"\n";
const SITE: &str = "sites/a.example/site.toml";
const ROUTES: &str = "sites/routes.example/site.toml";
const PAGE: &str = "sites/routes.example/templates/one.html";
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
        Swap(TASK, "discovery_hosts", "pictures = [\"menu.jpg\"]\ndiscovery_hosts"),
        "tasks/ds-x/task.toml:9: pictures[0]: `menu.jpg` is no attachment of the task (below `files/`)",
    ),
    (
        Swap(TASK, "discovery_hosts", "pictures = [\"sales.csv\"]\ndiscovery_hosts"),
        "tasks/ds-x/task.toml:9: pictures[0]: `sales.csv` is no PNG, JPEG, GIF or WebP; convert it, or leave it out of `pictures`",
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
        Put("sites/b.example/articles/x.history/1.md", "+++\ndate = \"2025-01-01\"\n+++\nOld.\n"),
        "sites/b.example/articles/x.history/1.md:2: date: `2025-01-01` is not before `2025-01-01`, the day of the article itself",
    ),
    (
        Put("sites/b.example/articles/y.history/1.md", "+++\ndate = \"2024-01-01\"\n+++\nOld.\n"),
        "sites/b.example/articles/y.history/1.md: no article `sites/b.example/articles/y.md` had this revision of 2024-01-01",
    ),
    (
        Put(
            "sites/b.example/articles/x.history/1.md",
            "+++\ndate = \"2024-01-01\"\ntitle = \"X\"\n+++\nOld.\n",
        ),
        "sites/b.example/articles/x.history/1.md:3: title: unknown field; expected one of `date`, `user`, `comment`",
    ),
    (
        Swap(
            "sites/b.example/articles/x.md",
            "\"2025-01-01\"\n",
            "\"2025-01-01\"\n[languages]\nen = \"Y\"\n",
        ),
        "sites/b.example/articles/x.md: languages.en: no encyclopedia in `en` has `Y`",
    ),
    (
        Swap(
            "sites/b.example/articles/x.md",
            "\"2025-01-01\"\n",
            "\"2025-01-01\"\n[languages]\nzh = \"X\"\n",
        ),
        "sites/b.example/articles/x.md: languages.zh: that is the language of the article",
    ),
    (
        Swap(SOLUTION, "sum|number", "sum|nummber"),
        "tasks/ds-x/reference/solution.toml:14: answer.expression: filter `nummber`: unknown filter; did you mean `number`?",
    ),
    (
        Swap(SOLUTION, "page|length", "page|regex('[0-9')|length"),
        "tasks/ds-x/reference/solution.toml:12: round[1].call[0].arguments.n: `[0-9` is no regular expression: unclosed character class",
    ),
    (
        Swap(SOLUTION, SCRAPE, "tool = \"scrape\"\nnavigate = [{ click = \"a\" }]\n"),
        "tasks/ds-x/reference/solution.toml:6: round[0].call[0].navigate: belongs to `browse_url` only",
    ),
    (
        Swap(SOLUTION, SCRAPE, "tool = \"browse_url\"\n"),
        "tasks/ds-x/reference/solution.toml:3: round[0].call[0].navigate: missing; expected what to do on the pages, step by step",
    ),
    (
        Swap(SOLUTION, SCRAPE, "tool = \"browse_url\"\nnavigate = []\n"),
        "tasks/ds-x/reference/solution.toml:6: round[0].call[0].navigate: expected an array that is not empty, found an empty array",
    ),
    (
        Swap(
            SOLUTION,
            SCRAPE,
            "tool = \"browse_url\"\nnavigate = [{ clik = \"a\", read = \"page\" }]\n",
        ),
        "tasks/ds-x/reference/solution.toml:6: round[0].call[0].navigate[0].clik: unknown field; did you mean `click`?",
    ),
    (
        Swap(
            SOLUTION,
            SCRAPE,
            "tool = \"browse_url\"\nnavigate = [{ click = \"a\", hover = \"a\" }]\n",
        ),
        "tasks/ds-x/reference/solution.toml:6: round[0].call[0].navigate[0]: expected exactly one of `fill`, `click`, `hover`, `download`, `find`, `visit`, `ask`, `back`, `blank`, `scroll`, `read`",
    ),
    (
        Swap(SOLUTION, SCRAPE, "tool = \"browse_url\"\nnavigate = [{ fill = \"a\" }]\n"),
        "tasks/ds-x/reference/solution.toml:6: round[0].call[0].navigate[0].text: missing; expected what to put in, or \"\"",
    ),
    (
        Swap(SOLUTION, SCRAPE, "tool = \"browse_url\"\nnavigate = [{ back = false }]\n"),
        "tasks/ds-x/reference/solution.toml:6: round[0].call[0].navigate[0].back: expected true, found false",
    ),
    (
        Swap(SOLUTION, SCRAPE, "tool = \"browse_url\"\nnavigate = [{ scroll = \"left\" }]\n"),
        "tasks/ds-x/reference/solution.toml:6: round[0].call[0].navigate[0].scroll: expected one of `top`, `bottom`, `up`, `down`, found \"left\"",
    ),
    (
        Swap(SOLUTION, SCRAPE, "tool = \"browse_url\"\nnavigate = [{ click = \"a\", nth = 0 }]\n"),
        "tasks/ds-x/reference/solution.toml:6: round[0].call[0].navigate[0].nth: expected a whole number ≥ 1, found 0",
    ),
    (
        Swap(SOLUTION, SCRAPE, "tool = \"browse_url\"\nnavigate = [{ find = \"{{ sum }}\" }]\n"),
        "tasks/ds-x/reference/solution.toml:6: round[0].call[0].navigate[0].find: `sum` is no earlier call; results are known after their round",
    ),
    (
        Swap(
            SOLUTION,
            SCRAPE,
            "tool = \"browse_url\"\nnavigate = [{ fill = \"a\", text = \"1,482.50\" }]\n",
        ),
        "tasks/ds-x/reference/solution.toml:6: round[0].call[0].navigate[0].text: holds the answer (\"1,482.50\"); compute it from results",
    ),
    (
        Swap(ROUTES, "/one/{id}", "/one/{id"),
        "sites/routes.example/site.toml:18: route[0].path: `{` without `}`",
    ),
    (
        Swap(ROUTES, "/one/{id}", "/one/{id*}/x"),
        "sites/routes.example/site.toml:18: route[0].path: `{id*}` takes all the rest; it must be the last part",
    ),
    (
        Swap(ROUTES, "/all\"", "/login\""),
        "sites/routes.example/site.toml:25: route[1].path: `/login` belongs to the login already",
    ),
    (
        Put("sites/routes.example/pages/all.html", "x"),
        "sites/routes.example/site.toml:25: route[1].path: `/all` is a page already; a route with `POST` may stand beside it",
    ),
    (
        Swap(ROUTES, "template = \"one.html\"", "template = \"on.html\""),
        "sites/routes.example/site.toml:19: route[0].template: `on.html`: unknown template below `templates/`; did you mean `one.html`?",
    ),
    (
        Swap(ROUTES, "template = \"one.html\"", ""),
        "sites/routes.example/site.toml:17: route[0]: expected exactly one of `template`, `redirect`, `json`, `download`, `text`",
    ),
    (
        Swap(ROUTES, "delay = 1.5", "delay = 90"),
        "sites/routes.example/site.toml:20: route[0].delay: expected 0 to 60 seconds, found 90",
    ),
    (
        Swap(ROUTES, "delay = 1.5", "status = 99"),
        "sites/routes.example/site.toml:20: route[0].status: expected a whole number from 200 to 599, found 99",
    ),
    (
        Swap(ROUTES, "delay = 1.5", "status = 304"),
        "sites/routes.example/site.toml:20: route[0].status: 304 is a status of redirects; use `redirect`",
    ),
    (
        Swap(ROUTES, "delay = 1.5", "headers = { date = \"x\" }"),
        "sites/routes.example/site.toml:20: route[0].headers.date: `date` cannot be set here; it follows from the clock",
    ),
    (
        Swap(ROUTES, "delay = 1.5", "csrf = true"),
        "sites/routes.example/site.toml:20: route[0].csrf: only a form that is sent has a token; add `methods = [\"POST\"]`",
    ),
    (
        Swap(ROUTES, "column = \"id\"", "column = \"idd\""),
        "sites/routes.example/site.toml:23: route[0].row.column: `idd`: unknown column of the table; did you mean `id`?",
    ),
    (
        Swap(ROUTES, "table = \"rows\"\ncolumn", "table = \"row\"\ncolumn"),
        "sites/routes.example/site.toml:22: route[0].row.table: `row`: unknown table of `[tables]`; did you mean `rows`?",
    ),
    (
        Swap(ROUTES, "[route.row]\ntable = \"rows\"\ncolumn = \"id\"\n", ""),
        "sites/routes.example/site.toml:17: route[0].examples: expected at least one address, such as `/one/id`, since `id` may be anything",
    ),
    (
        Swap(ROUTES, "/all?q=a", "/none"),
        "sites/routes.example/site.toml:27: route[1].examples[0]: `/none` is no address of `/all`",
    ),
    (
        Swap(ROUTES, "{{ list.total }}", "{{ list.total"),
        "sites/routes.example/site.toml:26: route[1].json.n: syntax error: unexpected end of input, expected end of variable block",
    ),
    (
        Swap(ROUTES, "list.total", "list.totl"),
        "sites/routes.example/site.toml:26: route[1].json.n: `list.totl`: unknown name; did you mean `total`?",
    ),
    (
        Swap(ROUTES, "\"-id\"", "\"-day\""),
        "sites/routes.example/site.toml:32: route[1].list.sort[0]: `day`: unknown column of the table; expected one of `id`, `port`",
    ),
    (
        Swap(ROUTES, "parameter = \"q\"", "parameter = \"w\""),
        "sites/routes.example/site.toml:34: route[1].list.filter[0].parameter: `w`: unknown query parameter or part of the path; did you mean `q`?",
    ),
    (
        Swap(ROUTES, "parameter = \"q\"\n", ""),
        "sites/routes.example/site.toml:33: route[1].list.filter[0]: expected exactly one of `parameter`, `value`",
    ),
    (
        Swap(ROUTES, "redirect = \"/all", "redirect = \"{{ form.port }}/all"),
        "sites/routes.example/site.toml:39: route[2].redirect: expected a path that starts with `/`, or a URL with its host written out, such as `https://www.example.org/{{ path.id }}`",
    ),
    (
        Swap(ROUTES, "|urlencode", "|urlencod"),
        "sites/routes.example/site.toml:39: route[2].redirect: filter `urlencod`: unknown filter; did you mean `urlencode`?",
    ),
    (
        Swap(ROUTES, "methods = [\"POST\"]\n", ""),
        "sites/routes.example/site.toml:40: route[2].form: a form is not sent by `GET`; use `query`, or `methods = [\"POST\"]`",
    ),
    (
        Swap(ROUTES, "{ cart =", "{ card ="),
        "sites/routes.example/site.toml:40: route[2].set_cookies.card: `card`: unknown `[[cookie]]`; did you mean `cart`?",
    ),
    (
        Swap(ROUTES, "example = \"lund\"", "example = \"Lund\""),
        "sites/routes.example/site.toml:44: route[2].form[0].example: `Lund` is wrong itself: port is not in the expected format.",
    ),
    (
        Swap(ROUTES, "example = \"lund\"\n", ""),
        "sites/routes.example/site.toml:41: route[2].form[0].example: missing; expected a text that the pattern matches",
    ),
    (
        Swap(ROUTES, "max = 8", "max = 0"),
        "sites/routes.example/site.toml:49: route[2].form[1].max: nothing is from 1 to 0",
    ),
    (
        Swap(ROUTES, "min = 1", "min = \"today\""),
        "sites/routes.example/site.toml:48: route[2].form[1].min: expected a number",
    ),
    (
        Swap(ROUTES, "type = \"number\"\nmin = 1\nmax = 8", "type = \"choice\""),
        "sites/routes.example/site.toml:45: route[2].form[1].choices: missing; expected the values to choose from",
    ),
    (
        Swap(ROUTES, "name = \"seats\"", "name = \"port\""),
        "sites/routes.example/site.toml:46: route[2].form[1].name: `port` is declared twice",
    ),
    (
        Swap(ROUTES, "name = \"cart\"", "name = \"session\""),
        "sites/routes.example/site.toml:8: cookie[0].name: `session` is the cookie of the login",
    ),
    (
        Swap(ROUTES, "name = \"cart\"", "name = \"cart\"\nsame_site = \"none\""),
        "sites/routes.example/site.toml:9: cookie[0].same_site: browsers take `none` only with `secure = true`",
    ),
    (
        Swap(ROUTES, "/one/*\"", "/none/*\""),
        "sites/routes.example/site.toml:12: login.protected[0]: `/none/*` matches no page and no route",
    ),
    (
        Swap(ROUTES, "/one/*\"", "/*\""),
        "sites/routes.example/site.toml:12: login.protected[0]: `/*` covers the login itself, which nobody could reach",
    ),
    (
        Put(PAGE, "{{ row.prt }}"),
        "sites/routes.example/templates/one.html:1: `row.prt`: unknown name; did you mean `port`? (rendered by `route[0]`)",
    ),
    (
        Put(PAGE, "a\n{{ rows }}"),
        "sites/routes.example/templates/one.html:2: `rows`: unknown name; did you mean `row`? (rendered by `route[0]`)",
    ),
    (
        Put(PAGE, "a\n{% if row %}"),
        "sites/routes.example/templates/one.html:2: syntax error: unexpected end of input, expected end of block",
    ),
    (
        Put(PAGE, "a\n{% include 'eror.html' %}"),
        "sites/routes.example/templates/one.html:2: `eror.html`: unknown template; did you mean `error.html`?",
    ),
    (
        Put("sites/routes.example/templates/old.html", "x"),
        "sites/routes.example/templates/old.html: used by no route",
    ),
    (
        Put("sites/routes.example/rows.csv", "id,port\n1\n"),
        "sites/routes.example/rows.csv:2: expected 2 cells, as in the first line, found 1",
    ),
    (
        Put("sites/routes.example/pages/robots.txt", "x"),
        "sites/routes.example/site.toml:4: robots: `/robots.txt` is a page already",
    ),
    (Drop("suite.toml"), "ROOT: no suite: expected a folder with `suite.toml`"),
    (
        Swap(TASK, "[answer]", "[faults]\nprofile = \"null\"\n[answer]"),
        "tasks/ds-x/task.toml:12: faults: `factors` of the task does not list `faults`",
    ),
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

/// What a task may say of the network beside which one it is: whether it loads, or the fault.
#[test]
fn block_lists_methods_and_maps_are_read_or_refused() {
    let blocked = |entry: &str| format!("blocked_hosts = [\"{entry}\"]\n[environment]\n");
    let of_web = |text: &str| format!("[environment]\n{text}\n");
    let fields = [
        (blocked("b.example"), None, "a site"),
        (blocked("a.example/about"), None, "a page"),
        (blocked("*.a.example/*/key.html"), None, "a pattern"),
        (blocked("https://example.org/answers/*"), None, "a page of the open web"),
        (blocked("c.example"), Some("`c.example`: unknown host; did you mean"), "a slip"),
        (blocked("c.example/x"), Some("unknown host"), "a slip before a path"),
        (blocked("http://"), Some("`http://`: names no host"), "no host"),
        (blocked("example"), Some("is no whole host name"), "one word"),
        (blocked("ex*mple.org"), Some("`*` may stand in the path"), "a star in the host"),
        (blocked("example.org:80/x"), Some("leave out ports"), "a port"),
        (blocked("10.0.0.1"), Some("addresses are never served"), "an address"),
        (of_web("methods = [\"GET\", \"POST\"]"), None, "methods"),
        (of_web("methods = [\"post\"]"), Some("methods[0]: expected one of `GET`"), "small"),
        (of_web("methods = \"GET\""), Some("environment.methods: expected an array"), "no list"),
    ];
    for (text, want, why) in fields {
        let (_folder, root) = sound();
        let task = std::fs::read_to_string(root.join(TASK)).unwrap();
        put(&root, TASK, task.replacen("[environment]\n", &text, 1).as_bytes());
        let found = faults(&root);
        match want {
            None => assert_eq!(found, Vec::<String>::new(), "{why}: {text}"),
            Some(want) => assert!(found.iter().any(|it| it.contains(want)), "{why}: {found:?}"),
        }
    }
    for (entry, want) in [
        ("\"*\" = \"http://127.0.0.1:8080\"", None),
        ("\"a.b\" = \"https://x\"", Some("web.live.map: `https://x` is no plain HTTP")),
        ("\"a/b\" = \"http://x\"", Some("web.live.map: `a/b` is no host")),
    ] {
        let (_folder, root) = sound();
        let suite = std::fs::read_to_string(root.join("suite.toml")).unwrap();
        let suite = format!("{suite}[web.live.map]\n{entry}\n");
        put(&root, "suite.toml", suite.as_bytes());
        let found = faults(&root);
        assert_eq!(found.is_empty(), want.is_none(), "{entry}: {found:?}");
        assert!(found.iter().all(|it| want.is_some_and(|want| it.contains(want))), "{found:?}");
    }
}

/// A task of the open internet needs no sites, and may name hosts that are none.
#[test]
fn a_task_of_the_open_internet_names_hosts_of_its_own() {
    let (_folder, root) = sound();
    let live = Swap(TASK, "web = \"hermetic\"", "web = \"live\"");
    let host = Swap(TASK, "[\"www.a.example\"]", "[\"en.wikipedia.org\"]");
    apply(&root, &live);
    apply(&root, &host);
    assert_eq!(faults(&root), Vec::<String>::new());
    apply(&root, &Swap(TASK, "web = \"live\"", "web = \"hermetic\""));
    assert!(faults(&root)[0].contains("unknown host"), "{:?}", faults(&root));
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
