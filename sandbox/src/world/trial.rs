//! Tries every statement of a world against its tables, before anybody uses it.
//!
//! A statement is compiled under the rules under which it will run, and its parameters
//! are compared with what will be bound; nothing is executed. So a misspelt column, a
//! forbidden function or an undeclared argument is a fault with file and line, and not a
//! surprise in a trial.

use rusqlite::{Connection, Error};
use wildgym_tasks::world::{Event, Fault, Operation, World};

use super::guard::{Guard, Mode};
use super::values::is_known;

/// Compiles statements and words what is wrong with them.
pub(super) struct Trial<'t> {
    /// The tables.
    pub(super) connection: &'t Connection,
    /// The rules.
    pub(super) guard: &'t Guard,
    /// The world.
    pub(super) world: &'t World,
}

impl Trial<'_> {
    /// Returns what is wrong with any statement of the world.
    pub(super) fn faults(&self) -> Vec<Fault> {
        let mut found = Vec::new();
        for (index, view) in self.world.meta.views.iter().enumerate() {
            let sql = format!("SELECT * FROM {}", super::query::quoted(view));
            if let Err(problem) = self.compile(Mode::Read, &sql, &[]) {
                found.push(self.world.fault(&format!("views[{index}]"), problem));
            }
        }
        for operation in self.world.operations.values() {
            self.operation(operation, &mut found);
        }
        for (index, event) in self.world.meta.events.iter().enumerate() {
            self.event(index, event, &mut found);
        }
        found
    }

    fn operation(&self, operation: &Operation, found: &mut Vec<Fault>) {
        let names: Vec<&str> = operation.properties().map(|(name, _)| name.as_str()).collect();
        let mut note = |field: &str, problem: String| {
            found.push(self.world.fault_of(&operation.name, field, problem));
        };
        for (index, precondition) in operation.preconditions.iter().enumerate() {
            let field = format!("precondition[{index}]");
            match self.compile(Mode::Read, &precondition.sql, &names) {
                Err(problem) => note(&format!("{field}.sql"), problem),
                Ok(columns) if columns.is_empty() => {
                    note(&format!("{field}.sql"), "expected a query, which has rows".to_owned());
                }
                Ok(columns) => {
                    for name in placeholders(&precondition.message) {
                        if !names.contains(&name) && !columns.iter().any(|known| known == name) {
                            let problem =
                                format!("`{{{name}}}` is neither an argument nor a column");
                            note(&format!("{field}.message"), problem);
                        }
                    }
                }
            }
        }
        for (index, effect) in operation.effects.iter().enumerate() {
            match self.compile(Mode::Write, effect, &names) {
                Err(problem) => note(&format!("effects[{index}]"), problem),
                Ok(columns) if !columns.is_empty() => {
                    let problem = "an effect has no rows; ask for them in `result`";
                    note(&format!("effects[{index}]"), problem.to_owned());
                }
                Ok(_) => {}
            }
        }
        match operation.result.as_ref().map(|sql| self.compile(Mode::Read, sql, &names)) {
            Some(Err(problem)) => note("result", problem),
            Some(Ok(columns)) if columns.is_empty() => {
                note("result", "expected a query, which has rows".to_owned());
            }
            Some(Ok(columns)) => {
                let export = operation.export.as_ref();
                if let Some(export) = export.filter(|export| !columns.contains(&export.content)) {
                    note(
                        "export.content",
                        format!("`{}` is no column of the result", export.content),
                    );
                }
            }
            None => {}
        }
        if operation.query.is_some() && self.world.meta.views.is_empty() {
            note("query", "the world has no `views` to run it over".to_owned());
        }
    }

    fn event(&self, index: usize, event: &Event, found: &mut Vec<Fault>) {
        let names: Vec<&str> = event.arguments.iter().map(String::as_str).collect();
        for (number, effect) in event.effects.iter().enumerate() {
            if let Err(problem) = self.compile(Mode::Write, effect, &names) {
                let field = format!("event[{index}].effects[{number}]");
                found.push(self.world.fault(&field, problem));
            }
        }
    }

    /// Compiles a statement and returns the names of its columns, or what is wrong.
    pub(super) fn compile(
        &self,
        mode: Mode,
        sql: &str,
        arguments: &[&str],
    ) -> Result<Vec<String>, String> {
        self.guard.take_refused();
        self.guard.enter(mode);
        let statement = self.connection.prepare(sql);
        self.guard.enter(Mode::Engine);
        let statement = statement.map_err(|error| problem(&error, self.guard))?;
        for index in 1..=statement.parameter_count() {
            let Some(name) = statement.parameter_name(index) else {
                return Err("a bare `?`; write `:name` of an argument".to_owned());
            };
            if !is_known(name, arguments, &self.world.meta.context) {
                return Err(format!(
                    "`{name}` is not declared (`:` is an argument, `@` the context, and there \
                     are `$now` and `$today`)"
                ));
            }
        }
        Ok(statement.column_names().map(ToOwned::to_owned).collect())
    }
}

/// Words why a statement could not be compiled.
#[expect(clippy::wildcard_enum_match_arm, reason = "the other errors word themselves")]
pub(super) fn problem(error: &Error, guard: &Guard) -> String {
    if let Some(refused) = guard.take_refused() {
        return refused;
    }
    match error {
        Error::SqlInputError { msg, .. } => msg.clone(),
        Error::SqliteFailure(_, Some(message)) => message.clone(),
        Error::MultipleStatement => "more than one statement; write each by itself".to_owned(),
        Error::Empty => "no statement".to_owned(),
        other => other.to_string(),
    }
}

/// Returns the names in `{…}` of a message.
pub(super) fn placeholders(message: &str) -> impl Iterator<Item = &str> {
    message.split('{').skip(1).filter_map(|rest| rest.split_once('}').map(|(name, _)| name))
}
