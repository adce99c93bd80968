//! Our own Python, put into the interpreter before it is frozen.
//!
//! The sources lie in `prelude/`, one module per file; this file assembles the script
//! that loads them. Nothing of it is visible in the code's `__main__`.

/// Name in Python, name in tracebacks, source; in the order in which they are loaded.
const MODULES: [(&str, &str, &str); 5] = [
    ("host", "<host>/bridge.py", include_str!("prelude/bridge.py")),
    ("_wildgym_system", "<host>/system.py", include_str!("prelude/system.py")),
    ("_wildgym_web", "<host>/web.py", include_str!("prelude/web.py")),
    ("requests", "<host>/requests.py", include_str!("prelude/requests.py")),
    ("_wildgym", "<host>/runner.py", include_str!("prelude/runner.py")),
];

/// Imports of packages; runs in `__main__`, which is emptied afterwards.
const PRELOAD: &str = include_str!("prelude/preload.py");

/// Defines how a module of ours is loaded.
const LOADER: &str = r#"
import builtins, gc, importlib.machinery, os, sys, types

def _load(name, file, source):
    module = types.ModuleType(name)
    module.__spec__ = importlib.machinery.ModuleSpec(name, None, origin=file)
    module.__file__ = file
    sys.modules[name] = module
    exec(compile(source, file, "exec", dont_inherit=True), module.__dict__)
"#;

/// Makes `fetch` a builtin, leaves no trace in `__main__` or the environment, and keeps
/// allocations out of the frozen heap and the collector from touching (and so copying) it.
const FINISH: &str = r#"
sys.modules["host"].fetch = builtins.fetch = sys.modules["_wildgym_web"].fetch
for _name in [_name for _name in os.environ if _name.startswith("PYTHON")]:
    del os.environ[_name]
for _name in [_name for _name in globals() if not _name.startswith("__")]:
    del globals()[_name]
__import__("_wildgym").fill_holes()
__import__("gc").collect()
__import__("gc").freeze()
"#;

/// Returns the whole script.
pub(super) fn script() -> String {
    let mut script = format!("{PRELOAD}\n{LOADER}");
    for (name, file, source) in MODULES {
        let [name, file, source] = [name, file, source].map(quoted);
        script += &["_load(", &name, ", ", &file, ", ", &source, ")\n"].concat();
    }
    script + FINISH
}

/// Returns the script of one execution: a statement, since the value of an expression
/// would be shown by whatever the code made of `sys.displayhook`.
pub(super) fn call(source: &str, seed: &str) -> String {
    format!("if __import__('_wildgym').main({}, {}): pass", quoted(source), quoted(seed))
}

/// Writes a text as a Python literal. Every escape that JSON uses means the same in
/// Python, and all other characters stand for themselves in both.
fn quoted(text: &str) -> String {
    serde_json::Value::from(text).to_string()
}
