//! What code cannot do. Every case is run, its result is checked, and then a plain
//! program must still work beside what the case left in the workspace.

use std::fs;

use walkdir::WalkDir;
use wildgym_sandbox::code::{Executed, Exit, Runtime};

use super::{Place, runtime};

/// Name, code, and what must be seen of its end: exit, stdout or stderr.
type Case = (&'static str, &'static str, &'static str);

const FILES: [Case; 22] = [
    ("absolute path", "open('/etc/passwd')", "FileNotFoundError"),
    ("parent path", "open('../other/secret.txt')", "Error: [Errno"),
    ("climbing path", "open('/workspace/../../../../etc/passwd')", "Error: [Errno"),
    ("climbing out of tmp", "open('/tmp/../../workspace/../other/secret.txt')", "Error: [Errno"),
    ("other attempts", "import os\nprint(os.listdir('/'))", "['tmp', 'usr', 'workspace']"),
    ("proc", "open('/proc/self/environ')", "FileNotFoundError"),
    ("dev", "open('/dev/zero', 'rb')", "FileNotFoundError"),
    ("dev by write", "open('/dev/null', 'w')", "Error: [Errno"),
    ("host symlink", "print(open('link').read())", "Error: [Errno"),
    ("host symlink to a directory", "print(open('folder/secret.txt').read())", "Error: [Errno"),
    ("symlink out", "import os\nos.symlink('/etc/passwd', 'l')", "PermissionError"),
    ("climbing symlink", "import os\nos.symlink('../other/secret.txt', 'l')", "PermissionError"),
    ("hard link", "import os\nopen('a', 'w').close()\nos.link('a', 'b')", "PermissionError"),
    ("write the library", "open('/usr/local/lib/python315.zip', 'ab')", "Error: [Errno"),
    ("remove the library", "import os\nos.remove('/usr/local/lib/python315.zip')", "Error: [Errno"),
    ("write the root", "open('/x', 'w')", "Error: [Errno"),
    (
        "write plot data",
        "open('/usr/local/lib/python315.zip/matplotlib/mpl-data/x', 'w')",
        "Error: [Errno",
    ),
    ("rename out", "import os\nopen('a', 'w').close()\nos.rename('a', '../b')", "Error: [Errno"),
    (
        "rename over the library",
        "import os\nopen('a', 'w').close()\nos.rename('a', '/usr/local/lib/python315.zip')",
        "Error: [Errno",
    ),
    (
        "climb by descriptor",
        "import os\nf = os.open('/workspace', os.O_RDONLY)\nos.open('../other/secret.txt', os.O_RDONLY, dir_fd=f)",
        "Error: [Errno",
    ),
    (
        "write by descriptor",
        "import os\nf = os.open('/workspace', os.O_RDONLY)\nos.mkdir('d', dir_fd=f)",
        "Error: [Errno",
    ),
    (
        "move the workspace's number",
        "import os\nf = os.open('/usr', os.O_RDONLY)\nos.dup2(f, 4)",
        "Error: [Errno",
    ),
];

const FLOODS: [Case; 18] = [
    (
        "large file",
        "f = open('big', 'wb')\nfor _ in range(300): f.write(b'x' * (1 << 20))",
        "No space left",
    ),
    (
        "many large files",
        "for i in range(30): open(f'f{i}', 'wb').write(b'x' * (1 << 20))",
        "No space left",
    ),
    ("large file in tmp", "open('/tmp/big', 'wb').write(b'x' * (300 << 20))", "No space left"),
    (
        "sparse file",
        "f = open('s', 'wb')\nf.seek(1 << 40)\nf.write(b'x')\nf.close()",
        "No space left",
    ),
    (
        "sparse by pwrite",
        "import os\nf = os.open('s', os.O_RDWR | os.O_CREAT)\nos.pwrite(f, b'x', 1 << 40)",
        "No space left",
    ),
    ("growth by truncate", "open('t', 'wb').truncate(1 << 40)", "No space left"),
    (
        "growth by appending",
        "while True:\n  with open('a', 'ab') as f: f.write(b'x' * 999_999)",
        "No space left",
    ),
    (
        "a million empty files",
        "for i in range(1_000_000): open(f'{i}', 'w').close()",
        "No space left",
    ),
    ("many directories", "import os\nfor i in range(1_000_000): os.mkdir(f'{i}')", "No space left"),
    ("deep directories", "import os\nos.makedirs('/'.join('d' * 150))", "Filename too long"),
    (
        "deeper by renaming",
        "import os\np = '/'.join('d' * 40)\nos.makedirs('a/' + p)\nos.makedirs('b/' + p)\nos.rename('a', 'b/' + p + '/a')",
        "Filename too long",
    ),
    ("long names", "open('x' * 5000, 'w')", "Error: [Errno"),
    (
        "open files",
        "import os\nfs = [os.open('/workspace', os.O_RDONLY) for _ in range(100_000)]",
        "Errno 33",
    ),
    ("output", "print('x' * (50 << 20))", "Status(0)"),
    ("endless output", "while True: print('x' * 4096)", "Limit(\"3 s of processor time\")"),
    (
        "endless errors",
        "import os\nwhile True: os.write(2, b'x' * 4096)",
        "Limit(\"3 s of processor time\")",
    ),
    (
        "output to a file by dup2",
        "import os\nf = os.open('o', os.O_WRONLY | os.O_CREAT)\nos.dup2(f, 1)\nfor _ in range(50): os.write(1, b'x' * (1 << 20))",
        "Not supported",
    ),
    (
        "database",
        "import sqlite3\nc = sqlite3.connect('a.db')\nc.execute('create table t(a)')\nfor _ in range(99): c.execute('insert into t values (zeroblob(1000000))')\nc.commit()",
        "full",
    ),
];

const TIME: [Case; 15] = [
    ("endless loop", "while True: pass", "Limit(\"3 s of processor time\")"),
    (
        "loop that catches all",
        "while True:\n  try:\n    while True: pass\n  except BaseException: pass",
        "Limit(",
    ),
    ("output before the limit stays", "print('seen')\nwhile True: pass", "seen\n"),
    ("regex catastrophe", "import re\nre.match('(a+)+$', 'a' * 64 + 'b')", "Limit("),
    ("huge number", "9 ** 9 ** 9", "Limit("),
    ("sort without end", "import itertools\nsorted(itertools.count())", "Status(1)"),
    ("numpy", "import numpy as np\na = np.ones((3000, 3000))\nwhile True: a @ a", "Limit("),
    ("sleep", "import time\ntime.sleep(3600)", "Limit(\"60 s of sleep\")"),
    ("many sleeps", "import time\nwhile True: time.sleep(1)", "Limit(\"60 s of sleep\")"),
    (
        "asyncio sleep",
        "import asyncio\nasyncio.run(asyncio.sleep(1e6))",
        "Limit(\"60 s of sleep\")",
    ),
    (
        "asyncio deadlock",
        "import asyncio\nasync def f(): await asyncio.Event().wait()\nasyncio.run(f())",
        "every task waits",
    ),
    ("select", "import select\nselect.select([], [], [], 1e6)", "Limit(\"60 s of sleep\")"),
    ("lock", "import threading\nl = threading.Lock()\nl.acquire()\nl.acquire(timeout=1e5)", "("),
    ("at exit", "import atexit\n@atexit.register\ndef f():\n  while True: pass", "Limit("),
    ("destructor", "class A:\n  def __del__(self):\n    while True: pass\nA()\nNone", "Limit("),
];

const MEMORY: [Case; 8] = [
    ("one block", "bytearray(2 << 30)", "Error"),
    ("many blocks", "a = []\nwhile True: a.append(bytearray(10 << 20))", "MemoryError"),
    ("numpy block", "import numpy as np\nnp.ones((1 << 30,))", "Error"),
    ("long text", "'x' * (1 << 31)", "Error"),
    ("recursion", "def f(): f()\nf()", "RecursionError"),
    ("deep recursion", "import sys\nsys.setrecursionlimit(10 ** 9)\ndef f(): f()\nf()", "("),
    (
        "recursion in C",
        "import sys\nsys.setrecursionlimit(10 ** 9)\na = []\nfor _ in range(10 ** 6): a = [a]\nrepr(a)",
        "(",
    ),
    ("deep syntax", "eval('(' * 100_000 + ')' * 100_000)", "Status(1)"),
];

const SYSTEM: [Case; 18] = [
    ("subprocess", "import subprocess\nsubprocess.run(['id'])", "this sandbox has no processes"),
    ("shell", "import os\nos.system('id')", "this sandbox has no processes"),
    ("fork", "import os\nos.fork()", "Error"),
    ("exec", "import os\nos.execv('/bin/sh', ['sh'])", "Error"),
    ("socket", "import socket\nsocket.socket()", "this sandbox has no sockets"),
    ("raw socket", "import _socket\n_socket.socket().connect(('127.0.0.1', 80))", "Error"),
    (
        "name lookup",
        "import socket\nsocket.getaddrinfo('localhost', 80)",
        "this sandbox has no sockets",
    ),
    (
        "thread",
        "import threading\nthreading.Thread(target=print).start()",
        "this sandbox has no threads",
    ),
    ("low thread", "import _thread\n_thread.start_new_thread(print, ())", "Error"),
    (
        "multiprocessing",
        "import multiprocessing\nmultiprocessing.Process(target=print).start()",
        "Error",
    ),
    ("signal", "import os, signal\nos.kill(1, signal.SIGKILL)", "Error"),
    ("raised signal", "import signal\nsignal.raise_signal(signal.SIGTERM)", "("),
    ("ctypes", "import ctypes\nctypes.CDLL(None)", "Error"),
    ("null pointer", "import ctypes\nctypes.string_at(0)", "("),
    ("abort", "import os\nos.abort()", "Crash(\"the interpreter aborted\")"),
    ("hard exit", "import os\nos._exit(7)", "Status(7)"),
    (
        "environment",
        "import os\nprint(sorted(os.environ), os.getenv('PATH'), os.getenv('USER'))",
        "'TZ'] None None",
    ),
    ("arguments", "import sys\nprint(sys.argv, sys.executable)", "Status(0)"),
];

const BRIDGE: [Case; 12] = [
    ("unknown host", "fetch('http://nowhere.example/')", "ConnectionError: cannot reach"),
    ("local address", "fetch('http://127.0.0.1/')", "ConnectionError: cannot reach"),
    (
        "metadata address",
        "import requests\nrequests.get('http://169.254.169.254/latest')",
        "cannot reach",
    ),
    ("no frame", "import _host\nprint(_host.call(b''))", "the request is no call"),
    ("garbage", "import _host\nprint(_host.call(bytes(range(256))))", "the request is no call"),
    ("wrong shape", "import _host\nprint(_host.call(b'{\"name\": 1}'))", "the request is no call"),
    ("deep frame", "import _host\nprint(_host.call(b'[' * 1_000_000))", "the request is no call"),
    ("huge frame", "import _host\nprint(_host.call(b'x' * (20 << 20)))", "more than 16777216"),
    ("unknown call", "import host\nhost.call('sudo', {})", "there is no call `sudo`"),
    ("huge reply", "import host\nhost.call('large', {})", "more than 67108864"),
    ("many calls", "import host\nwhile True: host.call('tool', {})", "more than 2000 calls"),
    (
        "broken bridge",
        "import host\nhost.call = None\nimport _wildgym\n_wildgym.main('print(5)', '00')",
        "5",
    ),
];

/// What the gym itself keeps between executions: nothing.
const TRACES: [(&str, &str, &str, &str); 6] = [
    ("variable", "secret = 1", "secret", "NameError"),
    ("builtin", "import builtins\nbuiltins.print = None", "print(1)", "1\n"),
    ("module", "import json\njson.dumps = None", "import json\njson.dumps([1])", "'[1]'"),
    ("our modules", "import _wildgym\n_wildgym.main = None", "print(1)", "1\n"),
    ("temporary file", "open('/tmp/t', 'w').write('x')", "open('/tmp/t')", "FileNotFoundError"),
    (
        "workspace module",
        "open('json.py', 'w').write('x = 1')",
        "import json\njson.dumps([1])",
        "'[1]'",
    ),
];

fn seen(done: &Executed) -> String {
    format!("{:?}\n{}\n{}", done.exit, done.stdout, done.stderr)
}

async fn contain(cases: &[Case]) {
    let Some(runtime) = runtime() else { return };
    for (name, source, want) in cases {
        let place = Place::new();
        let workspace = place.path("workspace");
        for (link, target) in [("link", "/etc/passwd"), ("folder", "../other")] {
            std::os::unix::fs::symlink(target, workspace.join(link)).unwrap();
        }
        let done = place.run(runtime, source).await;
        let text = seen(&done);
        let start: String = text.chars().take(2000).collect();
        assert!(text.contains(want), "{name}: {start}");
        assert!(!text.contains("swordfish") && !text.contains("root:"), "{name} read a secret");
        let most = place.limits.output + 100;
        assert!(done.stdout.len() <= most && done.stderr.len() <= most, "{name}: output");
        check_host(&place, name);
        check_next(runtime, &place, name).await;
    }
}

/// Nothing outside changed, and the quota holds.
fn check_host(place: &Place, name: &str) {
    let secret = fs::read_to_string(place.path("other/secret.txt")).unwrap();
    assert_eq!(secret, "swordfish", "{name}");
    let outside: Vec<_> =
        fs::read_dir(place.folder.path()).unwrap().flatten().map(|e| e.file_name()).collect();
    assert_eq!(outside.len(), 3, "{name} left {outside:?}");
    let (mut bytes, mut entries) = (0, 0);
    for entry in WalkDir::new(place.path("workspace")).min_depth(1) {
        let entry = entry.unwrap();
        entries += 1;
        bytes += if entry.file_type().is_file() { entry.metadata().unwrap().len() } else { 0 };
    }
    assert!(bytes <= place.quota.bytes && entries <= place.quota.entries, "{name}: {bytes} bytes");
}

/// A plain program works, with what the case left beside it.
async fn check_next(runtime: &Runtime, place: &Place, name: &str) {
    let next = place.run(runtime, "import pandas\nprint(6 * 7)").await;
    assert_eq!((next.exit, next.stdout.as_str()), (Exit::Status(0), "42\n"), "after {name}");
}

#[tokio::test(flavor = "multi_thread")]
async fn files_stay_inside() {
    contain(&FILES).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn floods_end_at_the_quota() {
    contain(&FLOODS).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn time_ends() {
    contain(&TIME).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn memory_ends() {
    contain(&MEMORY).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn the_system_is_out_of_reach() {
    contain(&SYSTEM).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn the_bridge_answers_anything() {
    contain(&BRIDGE).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn nothing_survives_a_call() {
    let Some(runtime) = runtime() else { return };
    for (name, first, second, want) in TRACES {
        let place = Place::new();
        let done = place.run(runtime, first).await;
        assert_eq!(done.exit, Exit::Status(0), "{name}: {}", done.stderr);
        let next = seen(&place.run(runtime, second).await);
        assert!(next.contains(want), "{name}: {next}");
    }
}
