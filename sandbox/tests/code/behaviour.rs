//! What code can rely on.

use std::fs;

use wildgym_sandbox::code::Exit;

use super::{Place, runtime};

/// Why, code, standard output, a part of standard error, status.
const TABLE: [(&str, &str, &str, &str, i32); 34] = [
    ("printing", "print(1)", "1\n", "", 0),
    ("a last expression is echoed", "x = 20\nx * 2 + 2", "42\n", "", 0),
    ("as its repr", "'a' + 'b'", "'ab'\n", "", 0),
    ("but None is not", "None", "", "", 0),
    ("nor is one that is not last", "1 + 1\nx = 3", "", "", 0),
    ("nothing at all", "", "", "", 0),
    ("text of the world", "print('naïve 日本 🚢')", "naïve 日本 🚢\n", "", 0),
    ("quotes and backslashes", r#"print("a\\b", '"', 'c\td')"#, "a\\b \" c\td\n", "", 0),
    ("main", "print(__name__)", "__main__\n", "", 0),
    ("no names but its own", "a = 1\n[n for n in dir() if n[0] != '_']", "['a']\n", "", 0),
    ("the user's line", "a = 1\n\n1 / 0", "", "File \"<code>\", line 3, in <module>\n    1 / 0", 1),
    ("the user's function", "def f():\n  raise ValueError('no')\nf()", "", "line 2, in f\n", 1),
    (
        "no frame of ours",
        "1 / 0",
        "",
        "Traceback (most recent call last):\n  File \"<code>\", line 1",
        1,
    ),
    ("a syntax error", "x = (", "", "File \"<code>\", line 1\n    x = (\n", 1),
    ("output before an error stays", "print('a')\nraise KeyError('k')", "a\n", "KeyError: 'k'", 1),
    ("exit with a number", "import sys\nsys.exit(3)", "", "", 3),
    ("exit with a text", "raise SystemExit('bye')", "", "bye\n", 1),
    ("exit with nothing", "exit()", "", "", 0),
    ("stderr", "import sys\nprint('e', file=sys.stderr)", "", "e\n", 0),
    ("at exit", "import atexit\natexit.register(print, 'late')\nNone", "late\n", "", 0),
    ("no input", "input()", "", "EOFError", 1),
    ("the working directory", "import os\nprint(os.getcwd())", "/workspace\n", "", 0),
    ("pandas", "import pandas as pd\nprint(pd.DataFrame({'a': [1, 2]})['a'].sum())", "3\n", "", 0),
    (
        "workbooks",
        "import pandas as pd\npd.DataFrame({'a': [5]}).to_excel('a.xlsx')\nprint(pd.read_excel('a.xlsx')['a'][0])",
        "5\n",
        "",
        0,
    ),
    (
        "plots",
        "import matplotlib.pyplot as plt\nplt.plot([1, 2])\nplt.title('t')\nplt.savefig('a.png')\nprint(open('a.png', 'rb').read(4))",
        "b'\\x89PNG'\n",
        "",
        0,
    ),
    (
        "a database",
        "import sqlite3\nc = sqlite3.connect('a.db')\nc.execute('create table t(a)')\nc.execute('insert into t values (7)')\nc.commit()\nprint(c.execute('select a from t').fetchone())",
        "(7,)\n",
        "",
        0,
    ),
    (
        "temporary files",
        "import tempfile\nwith tempfile.TemporaryDirectory() as d:\n  open(d + '/a', 'w').write('x')\n  print(d[:5])",
        "/tmp/\n",
        "",
        0,
    ),
    (
        "asyncio",
        "import asyncio\nasync def f(n):\n  await asyncio.sleep(n)\n  return n\nasync def main():\n  return await asyncio.gather(f(9), f(1))\nprint(asyncio.run(main()))",
        "[9, 1]\n",
        "",
        0,
    ),
    (
        "executors",
        "from concurrent.futures import ThreadPoolExecutor\nwith ThreadPoolExecutor() as e:\n  print(list(e.map(abs, [-1, 2])))",
        "[1, 2]\n",
        "",
        0,
    ),
    (
        "a module of the workspace",
        "open('mine.py', 'w').write('A = 4')\nimport mine\nprint(mine.A)",
        "4\n",
        "",
        0,
    ),
    (
        "fetch",
        "r = fetch('https://port.example/ferries.json')\nprint(r.status, r.json()['ferries'])",
        "200 ['Aurora']\n",
        "",
        0,
    ),
    (
        "pandas over the web",
        "import pandas as pd\nprint(pd.read_csv('https://port.example/ferries.csv')['cars'].sum())",
        "200\n",
        "",
        0,
    ),
    (
        "another tool",
        "from host import tools\nprint(tools.call('search_wiki', query='ferry'))",
        "\"search_wiki\": {\"query\":\"ferry\"}\n",
        "",
        0,
    ),
    (
        "its shorthand",
        "from host import tools\nprint(tools.scrape(url='a'))",
        "\"scrape\": {\"url\":\"a\"}\n",
        "",
        0,
    ),
];

#[tokio::test(flavor = "multi_thread")]
async fn code_behaves_as_in_a_notebook() {
    let Some(runtime) = runtime() else { return };
    for (why, source, stdout, stderr, status) in TABLE {
        let place = Place::new();
        let done = place.run(runtime, source).await;
        assert_eq!(done.exit, Exit::Status(status), "{why}: {}", done.stderr);
        assert_eq!(done.stdout, stdout, "{why}: {}", done.stderr);
        assert!(done.stderr.contains(stderr), "{why}: {}", done.stderr);
        assert_eq!(done.stderr.is_empty(), stderr.is_empty(), "{why}: {}", done.stderr);
        runtime.idle().await;
        let left = fs::read_dir(place.path("scratch")).unwrap().count();
        assert_eq!(left, 0, "{why}: the temporary directory is gone");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn requests_and_urllib_speak_through_the_web() {
    let Some(runtime) = runtime() else { return };
    let source = r#"
import base64, json, requests, urllib.error, urllib.request
def sent(reply): return reply.json()
r = requests.post("https://port.example/echo?a=1", params={"q": "x y", "n": None}, json={"k": 1},
                  headers={"x-one": "1"}, timeout=5)
s = sent(r)
print(r.ok, r.status_code, s["method"], s["url"], base64.b64decode(s["body"]), r.headers["Content-Type"])
print([v for k, v in s["headers"] if k.lower() in ("x-one", "content-type")])
with requests.Session() as session:
    session.headers.update({"x-all": "2"})
    s = sent(session.post("https://port.example/echo", data={"a": "b c"}))
    print(base64.b64decode(s["body"]), [v for k, v in s["headers"] if k == "x-all"])
r = requests.get("https://port.example/none")
print(r.status_code, bool(r), r.text, r.reason)
try: r.raise_for_status()
except requests.HTTPError as error: print(error, error.response is r)
try: requests.get("https://nowhere.example/")
except requests.exceptions.RequestException as error: print(type(error).__name__, error)
try: requests.get("port.example")
except requests.exceptions.MissingSchema as error: print(type(error).__name__)
try: requests.get("https://port.example/ferries.csv").json()
except ValueError as error: print(type(error).__name__)
with urllib.request.urlopen("https://port.example/ferries.csv") as f:
    print(f.status, f.headers.get_content_type(), f.readline())
try: urllib.request.urlopen(urllib.request.Request("https://port.example/x", method="HEAD"))
except urllib.error.HTTPError as error: print(error.code, error.read())
try: urllib.request.urlopen("https://nowhere.example/")
except urllib.error.URLError as error: print(error)
try: urllib.request.urlopen("file:///etc/passwd")
except urllib.error.URLError as error: print(error)
try: fetch("https://nowhere.example/")
except ConnectionError as error: print(error)
print(urllib.request.urlretrieve("https://port.example/ferries.csv", "f.csv")[0])
"#;
    let want = r#"True 200 POST https://port.example/echo?a=1&q=x+y b'{"k": 1}' application/json
['1', 'application/json']
b'a=b+c' ['2']
404 False nø Not Found
404 Client Error: Not Found for url: https://port.example/none True
ConnectionError cannot reach `https://nowhere.example/`: the host is unknown
MissingSchema
JSONDecodeError
200 text/csv b'name,cars\n'
404 b'n\xf8'
<urlopen error cannot reach `https://nowhere.example/`: the host is unknown>
<urlopen error unknown url type: file>
cannot reach `https://nowhere.example/`: the host is unknown
f.csv
"#;
    let done = Place::new().run(runtime, source).await;
    assert_eq!((done.stdout.as_str(), done.stderr.as_str()), (want, ""));
}

/// Many attempts share the slots; each sees its own files and answers, and all finish.
#[tokio::test(flavor = "multi_thread")]
async fn many_at_once_do_not_meet() {
    let Some(runtime) = runtime() else { return };
    let source = "import os\nprint(os.listdir('.'), open('n').read())\nopen('/tmp/a', 'x')\nNone";
    let one = |number: u32| async move {
        let place = Place::new();
        fs::write(place.path("workspace/n"), number.to_string()).unwrap();
        let done = place.run(runtime, source).await;
        assert_eq!(done.stdout, format!("['n'] {number}\n"), "{}", done.stderr);
    };
    futures::future::join_all((0..60).map(one)).await;
}

/// The caller's own limit drops the future; the program is stopped and its slot is free.
#[tokio::test(flavor = "multi_thread")]
async fn a_dropped_execution_frees_its_slot() {
    let Some(runtime) = runtime() else { return };
    let mut place = Place::new();
    place.limits.cpu = std::time::Duration::from_hours(1);
    for _ in 0..2 * std::thread::available_parallelism().unwrap().get() {
        let endless = place.run(runtime, "while True: pass");
        let patience = std::time::Duration::from_millis(50);
        assert!(tokio::time::timeout(patience, endless).await.is_err());
    }
    assert_eq!(Place::new().run(runtime, "print(1)").await.stdout, "1\n");
}

/// What is compiled without a tree is what the tree says, whatever the last line looks like.
#[tokio::test(flavor = "multi_thread")]
async fn the_last_expression_is_split_off_as_the_tree_would() {
    let Some(runtime) = runtime() else { return };
    let place = Place::new();
    let done = place.run(runtime, include_str!("split.py")).await;
    assert_eq!((done.stdout.as_str(), done.stderr.as_str()), ("as the tree says\n", ""));
}
