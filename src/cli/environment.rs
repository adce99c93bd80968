//! The environment variables that the program reads, each in one place.

use camino::Utf8PathBuf;
use wildgym_sandbox::programs::Program;
use wildgym_sandbox::web::{Proxies, SEARCH_KEY, SearchKey};

use super::Failure;

/// Directory for the code runtime, built-in suites and search indexes
/// [default: `$XDG_CACHE_HOME/wildgym`, else `~/.cache/wildgym`].
pub(super) const CACHE: &str = "WILDGYM_CACHE";

/// Variable that holds the key of a model's endpoint, unless `--api-key-env` names another.
pub(super) const KEY: &str = "OPENAI_API_KEY";

/// Base URL of a model's endpoint, unless `--base-url` gives it.
pub(super) const BASE_URL: &str = "OPENAI_BASE_URL";

/// File with the prices of tokens, unless `--prices` names one.
pub(super) const PRICES: &str = "WILDGYM_PRICES";
/// Model that judges, unless `--judge-model` names one.
pub(super) const JUDGE_MODEL: &str = "WILDGYM_JUDGE_MODEL";

/// The trainer's token of `wildgym serve http`.
pub(super) const TOKEN: &str = "WILDGYM_TOKEN";

/// The agent's token of `wildgym serve http`.
pub(super) const AGENT_TOKEN: &str = "WILDGYM_AGENT_TOKEN";

/// The browser: a Chromium, in place of the one that is found in `PATH`.
pub(super) const CHROMIUM: &str = "WILDGYM_CHROMIUM";

/// Foreign programs, each in place of the one that is found in `PATH`.
pub(super) const PROGRAMS: [(Program, &str); 5] = [
    (Program::Ffmpeg, "WILDGYM_FFMPEG"),
    (Program::Ffprobe, "WILDGYM_FFPROBE"),
    (Program::Tesseract, "WILDGYM_TESSERACT"),
    (Program::Pdftoppm, "WILDGYM_PDFTOPPM"),
    (Program::HeifConvert, "WILDGYM_HEIF_CONVERT"),
];

/// Keeps colour out of tables, see <https://no-color.org>.
pub(super) const NO_COLOR: &str = "NO_COLOR";

/// Columns of tables, in place of the terminal's own width.
pub(super) const COLUMNS: &str = "COLUMNS";

/// The displays that a browser can be shown on.
pub(super) const SCREENS: [&str; 2] = ["DISPLAY", "WAYLAND_DISPLAY"];

/// What a program needs to know to show itself there.
pub(super) const DISPLAY: [&str; 4] =
    ["DISPLAY", "WAYLAND_DISPLAY", "XAUTHORITY", "XDG_RUNTIME_DIR"];

/// Returns a variable's value, where it is set and not empty.
pub(super) fn get(name: &str) -> Option<String> {
    std::env::var(name).ok().filter(|value| !value.is_empty())
}

/// Returns the key of the search engine of the open web, where `SERPER_API_KEY` holds one.
pub(super) fn search_key() -> Option<SearchKey> {
    get(SEARCH_KEY).map(|key| SearchKey::new(&key))
}

/// Returns the proxies of the system: `HTTPS_PROXY`, `HTTP_PROXY` and, for both, `ALL_PROXY`,
/// with `NO_PROXY` for what is reached without; each in small letters or capitals.
pub(super) fn proxies() -> Proxies {
    let either = |name: &str| get(&name.to_lowercase()).or_else(|| get(name));
    let except = either("NO_PROXY");
    if except.as_deref().is_some_and(|hosts| hosts.trim() == "*") {
        return Proxies::default();
    }
    let all = || either("ALL_PROXY");
    let http = either("HTTP_PROXY").or_else(all);
    Proxies { http, https: either("HTTPS_PROXY").or_else(all), except }
}

/// Returns how wide tables may be, where that is set to a number above zero.
pub(super) fn columns() -> Option<usize> {
    get(COLUMNS)?.trim().parse().ok().filter(|columns| *columns > 0)
}

/// Returns the folders in which programs are looked up.
pub(super) fn path() -> Vec<Utf8PathBuf> {
    let folders = get("PATH").unwrap_or_default();
    std::env::split_paths(&folders)
        .filter_map(|path| Utf8PathBuf::from_path_buf(path).ok())
        .collect()
}

/// Returns the user's own directory, where it is known.
pub(super) fn home() -> Option<Utf8PathBuf> {
    get("HOME").map(Utf8PathBuf::from)
}

/// Returns the program's cache directory.
pub(super) fn cache() -> Result<Utf8PathBuf, Failure> {
    get(CACHE)
        .map(Utf8PathBuf::from)
        .or_else(|| get("XDG_CACHE_HOME").map(|path| Utf8PathBuf::from(path).join("wildgym")))
        .or_else(|| get("HOME").map(|path| Utf8PathBuf::from(path).join(".cache/wildgym")))
        .ok_or_else(|| {
            Failure::usage(
                "there is no cache directory: neither `HOME` nor `XDG_CACHE_HOME` is set",
            )
            .hint(format!("set `{CACHE}` to a directory of yours"))
        })
}

/// Returns the directory for what lives shorter than the process.
pub(super) fn scratch() -> Result<Utf8PathBuf, Failure> {
    Utf8PathBuf::from_path_buf(std::env::temp_dir())
        .map_err(|path| Failure::usage(format!("`{}` is not UTF-8; set `TMPDIR`", path.display())))
}
