//! Reads `reference/` and proves what can be proved of a solution without running it:
//! every name it reads is of an earlier round, and it holds the answer nowhere.

use std::collections::BTreeSet;

use camino::Utf8Path;
use serde_json::Value;

use super::document::{self, Source};
use super::text;
use super::tree::Tree;
use crate::answer::Answer;
use crate::check::Forms;
use crate::fault::Notes;
use crate::solution::{Directive, Solution, SolutionCall, Syntax, directives, misuses, names_in};

/// The tool whose calls have steps.
const BROWSE: &str = "browse_url";

/// Reads the solution of a task.
pub(crate) fn read(
    tree: &Tree,
    task: &Utf8Path,
    answer: Option<&Answer>,
    notes: &mut Notes,
) -> Option<Solution> {
    let folder = task.join("reference");
    let file = folder.join("solution.toml");
    let text = tree.text(&file, notes)?;
    let (solution, source) = document::read::<Solution>(&file, &text, 1, notes)?;
    let forms = answer.map(Forms::of);
    let mut check = Check {
        tree,
        folder: &folder,
        source: &source,
        forms: forms.as_ref(),
        all: solution
            .rounds
            .iter()
            .flat_map(|round| &round.calls)
            .map(|call| &*call.name)
            .collect(),
        known: BTreeSet::new(),
        files: BTreeSet::from(["solution.toml".to_owned()]),
        notes,
    };
    check.rounds(&solution);
    check.answer(&solution);
    check.unused();
    Some(solution)
}

struct Check<'a> {
    tree: &'a Tree,
    folder: &'a Utf8Path,
    source: &'a Source,
    forms: Option<&'a Forms>,
    /// Names of all calls.
    all: BTreeSet<&'a str>,
    /// Names of the calls of earlier rounds.
    known: BTreeSet<&'a str>,
    /// Files of `reference/` that are used.
    files: BTreeSet<String>,
    notes: &'a mut Notes,
}

impl<'a> Check<'a> {
    fn fault(&mut self, field: &str, problem: impl Into<String>) {
        self.source.fault(self.notes, field, problem);
    }

    fn rounds(&mut self, solution: &'a Solution) {
        let mut seen = BTreeSet::new();
        for (r, round) in solution.rounds.iter().enumerate() {
            for (c, call) in round.calls.iter().enumerate() {
                let field = format!("round[{r}].call[{c}]");
                if !seen.insert(&*call.name) {
                    self.fault(
                        &format!("{field}.name"),
                        format!("another call is named `{}`", call.name),
                    );
                }
                for (name, value) in &call.arguments {
                    self.argument(value, &format!("{field}.arguments.{name}"));
                }
                self.navigation(call, &field);
            }
            self.known.extend(round.calls.iter().map(|call| &*call.name));
        }
    }

    fn argument(&mut self, value: &Value, field: &str) {
        let (mut found, mut plain) = (Vec::new(), Vec::new());
        directives(
            value,
            field,
            &mut |field, directive| found.push((field.to_owned(), directive)),
            &mut |field, value| plain.push((field.to_owned(), value)),
        );
        for (field, value) in plain {
            let text = value.as_str().map_or_else(|| value.to_string(), ToOwned::to_owned);
            self.literal(&field, &text);
        }
        for (field, directive) in found {
            match directive {
                Err(problem) => self.fault(&field, problem),
                Ok(Directive::Source(syntax, source)) => {
                    self.expression(&field, syntax, source);
                }
                Ok(Directive::File(path)) => self.file(&field, path),
            }
        }
    }

    /// Checks the steps of a call that browses: each has a meaning, and there are some.
    fn navigation(&mut self, call: &'a SolutionCall, field: &str) {
        let browses = call.tool == BROWSE;
        if !browses && !call.navigate.is_empty() {
            let problem = format!("belongs to `{BROWSE}` only");
            return self.fault(&format!("{field}.navigate"), problem);
        }
        if browses && call.navigate.is_empty() {
            let problem = "missing; expected what to do on the pages, step by step";
            return self.fault(&format!("{field}.navigate"), problem);
        }
        for (index, step) in call.navigate.iter().enumerate() {
            let field = format!("{field}.navigate[{index}]");
            if let Err((name, problem)) = step.meant() {
                let dot = if name.is_empty() { "" } else { "." };
                self.fault(&format!("{field}{dot}{name}"), problem);
            }
            for (name, text) in step.texts() {
                self.expression(&format!("{field}.{name}"), Syntax::Template, text);
            }
        }
    }

    fn file(&mut self, field: &str, path: &str) {
        let file = self.folder.join(path);
        if !text::is_path(path) || !self.tree.has_file(&file) {
            return self.fault(field, format!("there is no file `reference/{path}`"));
        }
        self.files.insert(path.to_owned());
        if let Some(text) = self.tree.text(&file, self.notes)
            && let Some(form) = self.forms.and_then(|forms| forms.literal_in(&text))
        {
            self.notes
                .of_file(&file, format!("holds the answer ({form:?}); compute it from results"));
        }
    }

    /// Notes an answer that is written down instead of computed.
    fn literal(&mut self, field: &str, text: &str) {
        if let Some(form) = self.forms.and_then(|forms| forms.literal_in(text)) {
            self.fault(field, format!("holds the answer ({form:?}); compute it from results"));
        }
    }

    /// Checks the names of an expression; returns whether it reads any result.
    fn expression(&mut self, field: &str, syntax: Syntax, source: &str) -> bool {
        self.literal(field, source);
        let names = match names_in(syntax, source) {
            Ok(names) => names,
            Err(problem) => {
                self.fault(field, problem);
                return true;
            }
        };
        for problem in misuses(syntax, source) {
            self.fault(field, problem);
        }
        for name in &names {
            if self.known.contains(&**name) {
                continue;
            }
            if self.all.contains(&**name) {
                self.fault(
                    field,
                    format!("`{name}` is no earlier call; results are known after their round"),
                );
            } else {
                let known: Vec<_> = self.known.iter().collect();
                self.fault(field, format!("`{name}`: {}", text::unknown("call", name, &known)));
            }
        }
        !names.is_empty()
    }

    fn answer(&mut self, solution: &Solution) {
        let source = &solution.answer.expression;
        if !self.expression("answer.expression", Syntax::Expression, source) {
            self.fault("answer.expression", "depends on no call; a literal answer is refused");
        }
    }

    fn unused(&mut self) {
        for (below, file) in self.tree.below(self.folder) {
            if !self.files.contains(below.as_str()) && below != "README.md" {
                self.notes.of_file(file, "used by no `$file` of the solution");
            }
        }
    }
}
