//! The command line.
//!
//! The only part of the program that prints, reads the environment or exits. Data goes
//! to standard output, everything else to standard error. One file a command: its
//! arguments, whose doc comments are the help, and what it does.

mod agent;
mod beside;
mod cassette;
mod chromium;
mod confine;
mod environment;
mod failure;
mod faults;
mod host;
mod judging;
mod keep_server;
mod keeper;
mod listen;
mod media;
mod network;
mod offering;
mod pin;
mod program;
mod programs;
mod progress;
mod servers;
mod speech_model;
mod start;
mod tool_model;
mod user_model;

mod ablate;
mod agreement;
mod annotate;
mod campaign;
mod compare;
mod doctor;
mod export;
mod gate;
mod inject;
mod rejudge;
mod report;
mod resume;
mod run;
mod serve;
mod setup;
mod show;
mod tasks;
mod tools;
mod web;
mod worker;
mod world;

use std::process::ExitCode;
use std::sync::OnceLock;

use clap::{Parser, Subcommand};

pub use failure::{Code, Failure};

/// Measures how well language-model agents finish real work when nothing is idealised
#[derive(Debug, Parser)]
#[command(name = "wildgym", version, propagate_version = true, max_term_width = 100)]
#[command(after_help = "Exit codes: 0 done, 1 something lost, unjudged, unannotated, faulty, \
missing or blocked, 2 usage or configuration, 3 interrupted.\nStart with `wildgym setup`, then `wildgym run starter`.")]
struct Cli {
    #[command(subcommand)]
    command: Command,
}

#[derive(Debug, Subcommand)]
enum Command {
    Run(Box<run::RunArgs>),
    Serve(serve::ServeArgs),
    Ablate(Box<ablate::AblateArgs>),
    Campaign(campaign::CampaignArgs),
    Resume(Box<resume::ResumeArgs>),
    Rejudge(rejudge::RejudgeArgs),
    Report(report::ReportArgs),
    Compare(compare::CompareArgs),
    Gate(gate::GateArgs),
    Agreement(agreement::AgreementArgs),
    Annotate(annotate::AnnotateArgs),
    Faults(faults::FaultsArgs),
    Inject(inject::InjectArgs),
    Show(show::ShowArgs),
    Export(export::ExportArgs),
    Tasks(tasks::TasksArgs),
    Tools(tools::ToolsArgs),
    Web(web::WebArgs),
    World(world::WorldArgs),
    Setup(setup::SetupArgs),
    Doctor(doctor::DoctorArgs),
    Worker(worker::WorkerArgs),
    Keeper(keeper::KeeperArgs),
    KeepServer(keep_server::KeepServerArgs),
    Confine(confine::ConfineArgs),
}

/// Runs the program with the arguments it was started with.
#[must_use]
pub fn main() -> ExitCode {
    let cli = Cli::parse();
    let done = match cli.command {
        Command::Run(args) => run::run(&args),
        Command::Serve(args) => serve::run(&args),
        Command::Ablate(args) => ablate::run(&args),
        Command::Campaign(args) => campaign::run(&args),
        Command::Resume(args) => resume::run(&args),
        Command::Rejudge(args) => rejudge::run(&args),
        Command::Report(args) => report::run(&args),
        Command::Compare(args) => compare::run(&args),
        Command::Gate(args) => gate::run(&args),
        Command::Agreement(args) => agreement::run(&args),
        Command::Annotate(args) => annotate::run(&args),
        Command::Faults(args) => faults::run(&args),
        Command::Inject(args) => inject::run(&args),
        Command::Show(args) => show::run(&args),
        Command::Export(args) => export::run(&args),
        Command::Tasks(args) => tasks::run(args),
        Command::Tools(args) => tools::run(args),
        Command::Web(args) => web::run(&args),
        Command::World(args) => world::run(&args),
        Command::Setup(args) => setup::run(args),
        Command::Doctor(args) => doctor::run(&args),
        Command::Worker(args) => worker::run(&args),
        Command::Keeper(args) => keeper::run(&args),
        Command::KeepServer(args) => keep_server::run(&args),
        Command::Confine(args) => confine::run(&args),
    };
    let done = match LOST_DATA.get() {
        Some(error) => Err(Failure::usage(format!("cannot write to standard output: {error}"))),
        None => done,
    };
    match done {
        Ok(code) => code.into(),
        Err(failure) => {
            failure.print();
            failure.code.into()
        }
    }
}

/// What went wrong with standard output, where something did.
static LOST_DATA: OnceLock<String> = OnceLock::new();

/// Writes data to standard output. A closed pipe is a reader who has seen enough; any
/// other failure is told when the command is done.
fn data(text: &str) {
    use std::io::Write;
    let mut out = std::io::stdout().lock();
    let newline = if text.ends_with('\n') { "" } else { "\n" };
    let written = write!(out, "{text}{newline}").and_then(|()| out.flush());
    if let Err(error) = written.as_ref()
        && error.kind() != std::io::ErrorKind::BrokenPipe
    {
        LOST_DATA.get_or_init(|| error.to_string());
    }
}

/// What is said of a transcript that cannot be read.
const LEFT_OUT: &str = "this attempt is left out";

/// Names stored files that cannot be read, and says what that means.
fn say_damaged(damaged: &[crate::store::Damaged], what: &str) {
    for one in damaged {
        say(&format!("{}; {what}", one.error));
    }
}

/// Writes a line for people to standard error.
fn say(text: &str) {
    use std::io::Write;
    let _closed = writeln!(std::io::stderr().lock(), "{text}");
}

/// Returns how wide tables may be, and whether to use colour. A terminal says its width
/// itself; what is no terminal has lines of any length, unless `COLUMNS` says otherwise,
/// and no colour. There is none where `NO_COLOR` is set, either.
fn terminal() -> (usize, bool) {
    use std::io::IsTerminal;
    let out = std::io::stdout();
    let shown = out.is_terminal();
    let colour = shown && environment::get(environment::NO_COLOR).is_none();
    let window = || {
        let size = rustix::termios::tcgetwinsize(&out).map_or(0, |size| usize::from(size.ws_col));
        if size == 0 { 100 } else { size }
    };
    let endless = if shown { window() } else { usize::MAX };
    (environment::columns().unwrap_or(endless), colour)
}
