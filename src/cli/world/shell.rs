//! `wildgym world shell`: SQL over a whole state, for people.

use std::io::{BufRead, IsTerminal, Write};

use camino::Utf8PathBuf;
use clap::Args;
use wildgym_sandbox::world::Look;

use super::super::{Code, Failure, data, say};
use super::open::{left, state_of};
use super::show::print;

/// Ask SQL of a whole state, which is read only
///
/// Without `-c`, statements are read from standard input until `;`, and a line `.tables`,
/// `.schema NAME` or `.quit` does what it says.
#[derive(Debug, Args)]
pub(super) struct ShellArgs {
    /// World, or file with a state; with `--run` a trial, as for `wildgym show`
    state: String,

    /// Statement to run, then leave; may be given several times
    #[arg(short, long = "command", value_name = "SQL")]
    command: Vec<String>,

    /// Directory of a run, one of whose trials is then named
    #[arg(long, value_name = "RUN")]
    run: Option<Utf8PathBuf>,

    /// Attempt at the trial [default: the one that counts, else the last]
    #[arg(long, value_name = "NUMBER", requires = "run")]
    attempt: Option<u32>,

    /// Look into the state at the start of the attempt, not at its end
    #[arg(long, requires = "run")]
    start: bool,

    /// Number from which the chances of a world's `seed.sql` are drawn
    #[arg(long, value_name = "NUMBER", default_value = "0")]
    seed: u64,

    /// Most rows of an answer
    #[arg(long, value_name = "COUNT", default_value = "1000")]
    rows: usize,

    /// Print each answer as a JSON object with `columns`, `rows`, `more`
    #[arg(long)]
    json: bool,
}

pub(super) fn run(args: &ShellArgs) -> Result<Code, Failure> {
    let (image, now) = match &args.run {
        None => state_of(&args.state, args.seed)?,
        Some(run) => {
            let left = left(run, &args.state, args.attempt)?;
            let digest = if args.start { &left.state.start } else { &left.state.end };
            (left.store.blobs().get(digest)?, left.now)
        }
    };
    let look = Look::open(&image, now).map_err(|error| {
        Failure::usage(format!("`{}` cannot be looked into: {error}", args.state))
    })?;
    if args.command.is_empty() {
        return interact(args, &look);
    }
    for sql in &args.command {
        ask(args, &look, sql).map_err(|problem| {
            Failure::usage(format!("`{sql}`: {problem}"))
                .hint("see the tables with `-c \"SELECT name, sql FROM sqlite_schema\"`")
        })?;
    }
    Ok(Code::Done)
}

/// Runs a statement and prints what it gives.
fn ask(args: &ShellArgs, look: &Look, sql: &str) -> Result<(), String> {
    let answered = look.query(sql.trim().trim_end_matches(';'), args.rows)?;
    print(&answered, args.json);
    if answered.more {
        say(&format!("the first {} rows; `--rows` shows more", args.rows));
    }
    Ok(())
}

/// Reads statements until there are no more. A wrong one ends nothing, but is told by the
/// exit code where nobody was there to see it.
fn interact(args: &ShellArgs, look: &Look) -> Result<Code, Failure> {
    let input = std::io::stdin();
    let watched = input.is_terminal();
    if watched {
        say("SQL up to `;`, or `.tables`, `.schema NAME`, `.quit`; nothing can be changed");
    }
    let (mut statement, mut failed) = (String::new(), false);
    let mut lines = input.lock().lines();
    loop {
        if watched {
            let prompt = if statement.is_empty() { "sql> " } else { "...> " };
            let _closed = write!(std::io::stderr(), "{prompt}");
        }
        let Some(line) = lines.next() else { break };
        let line =
            line.map_err(|error| Failure::usage(format!("cannot read standard input: {error}")))?;
        let word = line.trim();
        if statement.is_empty() && word.starts_with('.') {
            match command(look, word) {
                Some(Ok(text)) => data(&text),
                Some(Err(problem)) => {
                    say(&format!("error: {problem}"));
                    failed = true;
                }
                None => break,
            }
            continue;
        }
        statement.push_str(&line);
        statement.push('\n');
        if word.ends_with(';') {
            failed |= tell(args, look, &std::mem::take(&mut statement));
        }
    }
    if !statement.trim().is_empty() {
        failed |= tell(args, look, &statement);
    }
    Ok(if failed && !watched { Code::Incomplete } else { Code::Done })
}

/// Runs a statement; returns whether it failed.
fn tell(args: &ShellArgs, look: &Look, sql: &str) -> bool {
    let done = ask(args, look, sql);
    if let Err(problem) = &done {
        say(&format!("error: {problem}"));
    }
    done.is_err()
}

/// Does what a line that begins with a dot says; none where it says to leave.
fn command(look: &Look, line: &str) -> Option<Result<String, String>> {
    let (word, name) = line.split_once(char::is_whitespace).unwrap_or((line, ""));
    let relations = match look.relations() {
        Ok(relations) => relations,
        Err(error) => return Some(Err(error.to_string())),
    };
    let named = relations.iter().filter(|one| name.trim().is_empty() || one.name == name.trim());
    Some(match word {
        ".quit" | ".exit" => return None,
        ".tables" => {
            let lines: Vec<String> = relations
                .iter()
                .map(|one| {
                    format!(
                        "{} ({} rows{})",
                        one.name,
                        one.rows,
                        if one.view { ", a view" } else { "" }
                    )
                })
                .collect();
            Ok(lines.join("\n"))
        }
        ".schema" => {
            let lines: Vec<String> = named.map(|one| format!("{};", one.sql)).collect();
            if lines.is_empty() {
                Err(format!("there is no table `{}`", name.trim()))
            } else {
                Ok(lines.join("\n"))
            }
        }
        _ => Err(format!("`{word}` is not known; there are `.tables`, `.schema NAME`, `.quit`")),
    })
}
