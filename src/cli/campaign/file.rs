//! The file of a campaign, and the flags of `wildgym run` that it stands for.
//!
//! What a run can be told stands in the file by the names of its flags, so that everything a
//! run can do a campaign can, and nothing is described twice. A file that says something
//! impossible is refused as a whole, with the place of what is wrong.

use std::collections::{BTreeMap, BTreeSet};
use std::fs::File;
use std::io::Read;

use camino::{Utf8Path, Utf8PathBuf};
use clap::{ArgAction, CommandFactory, Parser};
use serde::Deserialize;
use toml::Value;

use super::super::Failure;
use super::super::run::{Alone, RunArgs};

/// The version of the format that this program reads.
const FORMAT: u32 = 1;

/// The largest file that is read, in bytes.
const LARGEST: u64 = 1 << 20;

/// What names a condition without an injector.
pub(super) const OFF: &str = "off";

/// Flags that make an agent.
const OF_AGENTS: [&str; 5] = ["agent", "agent-cmd", "agent-mount", "agent-env", "uncontained"];

/// Flags that make a model.
const OF_MODELS: [&str; 8] = [
    "model",
    "base-url",
    "api-key-env",
    "temperature",
    "max-tokens",
    "requests",
    "request-seconds",
    "extra",
];

/// Flags that have a field of their own in the file, or belong to the command line.
const ELSEWHERE: [(&str, &str); 6] = [
    ("faults", "the file's `conditions` say it"),
    ("trials", "the file's `seeds` say it"),
    ("variants", "a campaign tries tasks as they are; `idealise` takes factors away"),
    ("json", "it belongs to the command line"),
    ("quiet", "it belongs to the command line"),
    ("help", "it belongs to the command line"),
];

/// What is said with each refusal.
const HINT: &str = "`wildgym campaign --example` prints a file that says everything";

/// Values of flags, by their names without dashes.
pub(super) type Flags = BTreeMap<String, Value>;

/// A campaign, as its file says it.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Written {
    format: u32,
    suite: String,
    agents: Vec<Value>,
    #[serde(default)]
    models: Vec<Value>,
    conditions: Vec<String>,
    #[serde(default = "three")]
    seeds: u32,
    #[serde(default)]
    run: Flags,
}

fn three() -> u32 {
    3
}

/// A campaign, checked.
#[derive(Debug)]
pub(super) struct Campaign {
    /// How the file is called in errors.
    path: Utf8PathBuf,
    /// The suite, by name or folder.
    pub(super) suite: String,
    /// The agents.
    pub(super) agents: Vec<Level>,
    /// The models that agents are crossed with; none where no agent takes one.
    pub(super) models: Vec<Level>,
    /// Conditions: [`OFF`], or a profile as `--faults` takes it.
    pub(super) conditions: Vec<String>,
    /// Trials of each task in each cell.
    seeds: u32,
    /// More flags of the run.
    run: Flags,
}

/// One agent or one model.
#[derive(Debug, Clone)]
pub(super) struct Level {
    /// The name that it gets, where the file gives it one.
    pub(super) name: Option<String>,
    /// Its flags.
    flags: Flags,
}

impl Level {
    /// Returns an agent that asks any model.
    pub(super) fn asking() -> Self {
        Self { name: None, flags: [("agent".to_owned(), Value::from("react"))].into() }
    }

    /// Returns its name: the one that the file gives it, else the value of its main flag, as
    /// far as that can stand in the name of a folder.
    pub(super) fn word(&self, main: &str) -> String {
        let value = || self.flags.get(main).and_then(Value::as_str).unwrap_or("program");
        let name = self.name.as_deref().unwrap_or_else(value);
        let keep = |c: char| if c.is_ascii_alphanumeric() || "-_.".contains(c) { c } else { '-' };
        name.chars().map(keep).collect::<String>().trim_matches('.').to_owned()
    }
}

impl Campaign {
    /// Reads a file; `path` is also what paths in it are relative to.
    pub(super) fn read(path: &Utf8Path) -> Result<Self, Failure> {
        let unreadable =
            |reason: String| Failure::usage(format!("cannot read `{path}`: {reason}")).hint(HINT);
        let mut text = String::new();
        let file = File::open(path).map_err(|error| unreadable(error.to_string()))?;
        let read = file.take(LARGEST + 1).read_to_string(&mut text);
        let size = read.map_err(|error| unreadable(error.to_string()))?;
        if size as u64 > LARGEST {
            return Err(unreadable(format!("it has more than {LARGEST} bytes")));
        }
        Self::parse(path, &text)
    }

    /// Reads the text of a file.
    fn parse(path: &Utf8Path, text: &str) -> Result<Self, Failure> {
        let wrong =
            |what: String| Failure::usage(format!("`{path}` is no campaign: {what}")).hint(HINT);
        let written: Written = toml::from_str(text).map_err(|error| {
            let start = error.span().map_or(0, |span| span.start);
            let line = text.get(..start).unwrap_or_default().matches('\n').count() + 1;
            wrong(format!("line {line}: {}", error.message()))
        })?;
        let folder = path.parent().unwrap_or(Utf8Path::new(""));
        let campaign = Self {
            path: path.to_owned(),
            suite: beside(folder, &written.suite),
            agents: levels("agents", "agent", &OF_AGENTS, &written.agents).map_err(wrong)?,
            models: levels("models", "model", &OF_MODELS, &written.models).map_err(wrong)?,
            conditions: written.conditions.iter().map(|one| beside(folder, one)).collect(),
            seeds: written.seeds,
            run: written.run,
        };
        campaign.check(written.format).map_err(wrong)?;
        Ok(campaign)
    }

    fn check(&self, format: u32) -> Result<(), String> {
        if format != FORMAT {
            return Err(format!("`format`: expected {FORMAT}, found {format}"));
        }
        if self.agents.is_empty() {
            return Err("`agents`: expected one or more".to_owned());
        }
        let twice = |field: &str, names: &[String]| {
            let mut seen = BTreeSet::new();
            match names.iter().find(|name| !seen.insert(*name)) {
                Some(name) => Err(format!("`{field}`: `{name}` stands there twice")),
                None => Ok(()),
            }
        };
        twice("conditions", &self.conditions)?;
        if !self.conditions.iter().any(|one| is_fault_free(one)) {
            return Err(format!(
                "`conditions`: expected `{OFF}` or `null` among them, for faults are compared \
                 with that"
            ));
        }
        for (flag, value) in &self.run {
            let place = format!("[run] {flag}");
            if let Some((_, why)) = ELSEWHERE.iter().find(|(known, _)| known == flag) {
                return Err(format!("`{place}`: it has no place here: {why}"));
            }
            for (field, flags) in [("agents", &OF_AGENTS[..]), ("models", &OF_MODELS)] {
                if flags.contains(&flag.as_str()) {
                    return Err(format!("`{place}`: it belongs to one of `{field}`"));
                }
            }
            words(&place, flag, value)?;
        }
        Ok(())
    }

    /// Returns the flags of an agent with a model, as the command line would have them; `more`
    /// are flags of the command line, which replace those of the file.
    pub(super) fn args(
        &self,
        agent: &Level,
        model: Option<&Level>,
        more: &Flags,
    ) -> Result<RunArgs, Failure> {
        let wrong = |what: String| {
            Failure::usage(format!("`{}` is no campaign: {what}", self.path)).hint(HINT)
        };
        let mut line = vec![format!("--trials={}", self.seeds)];
        let of_file = self.run.iter().filter(|(flag, _)| !more.contains_key(*flag));
        let of_levels = agent.flags.iter().chain(model.iter().flat_map(|model| &model.flags));
        for (flag, value) in of_file.chain(more).chain(of_levels) {
            line.extend(words(flag, flag, value).map_err(wrong)?);
        }
        // What begins with a dash is still the suite.
        line.extend(["--".to_owned(), self.suite.clone()]);
        let line = std::iter::once("campaign".to_owned()).chain(line);
        match Alone::try_parse_from(line) {
            Ok(Alone { run }) => Ok(run),
            Err(error) => {
                let text = error.to_string();
                let first = text.lines().next().unwrap_or_default();
                Err(wrong(first.strip_prefix("error: ").unwrap_or(first).to_owned()))
            }
        }
    }
}

/// Returns whether a condition has no faults; the seed of `null` changes nothing.
fn is_fault_free(condition: &str) -> bool {
    condition == OFF || condition == "null" || condition.starts_with("null:")
}

/// Returns a path below the file's folder where something stands there, and a name as it is.
fn beside(folder: &Utf8Path, named: &str) -> String {
    // A seed may follow the path of a profile.
    let path = named.rsplit_once(':').map_or(named, |(path, _)| path);
    if folder.join(path).exists() { folder.join(named).into_string() } else { named.to_owned() }
}

/// Reads the agents or the models: names, or tables of flags.
fn levels(
    field: &str,
    main: &str,
    known: &[&str],
    written: &[Value],
) -> Result<Vec<Level>, String> {
    let level = |(index, value): (usize, &Value)| {
        let place = format!("{field}[{index}]");
        let mut flags = match value {
            Value::String(name) => [(main.to_owned(), Value::String(name.clone()))].into(),
            Value::Table(table) => table.clone().into_iter().collect::<Flags>(),
            Value::Integer(_)
            | Value::Float(_)
            | Value::Boolean(_)
            | Value::Datetime(_)
            | Value::Array(_) => {
                let found = value.type_str();
                return Err(format!("`{place}`: expected a name or a table, found {found}"));
            }
        };
        let name = match flags.remove("name") {
            None => None,
            Some(Value::String(name)) if is_plain(&name) => Some(name),
            Some(other) => {
                return Err(format!(
                    "`{place}.name`: expected letters, digits, `-`, `_` and `.`, found {other}"
                ));
            }
        };
        if let Some(flag) = flags.keys().find(|flag| !known.contains(&flag.as_str())) {
            let known = known.join("`, `");
            return Err(format!("`{place}`: `{flag}` is not among `name`, `{known}`"));
        }
        flags.iter().try_for_each(|(flag, value)| words(&place, flag, value).map(drop))?;
        Ok(Level { name, flags })
    };
    written.iter().enumerate().map(level).collect()
}

/// Returns whether a text can be a part of a condition's name.
fn is_plain(name: &str) -> bool {
    let plain = |c: char| c.is_ascii_alphanumeric() || "-_.".contains(c);
    !name.is_empty() && name.len() <= 64 && !name.starts_with('.') && name.chars().all(plain)
}

/// Writes a flag as the command line has it; refuses one that `wildgym run` does not have.
fn words(place: &str, flag: &str, value: &Value) -> Result<Vec<String>, String> {
    let command = Alone::command();
    let Some(arg) = command.get_arguments().find(|arg| arg.get_long() == Some(flag)) else {
        return Err(format!("`{place}`: `wildgym run` has no flag `--{flag}`"));
    };
    if matches!(arg.get_action(), ArgAction::SetTrue) {
        return match value.as_bool() {
            Some(on) => Ok(on.then(|| format!("--{flag}")).into_iter().collect()),
            None => Err(format!("`{place}`: `{flag}` is true or false, not {}", value.type_str())),
        };
    }
    let many = value.as_array().map_or(std::slice::from_ref(value), Vec::as_slice);
    Ok(many.iter().map(|one| word(flag, one)).collect())
}

/// Writes a flag with one value; a table is a JSON object.
fn word(flag: &str, value: &Value) -> String {
    match value {
        Value::String(text) => format!("--{flag}={text}"),
        Value::Table(table) => {
            let json = serde_json::to_string(table).unwrap_or_default();
            format!("--{flag}={json}")
        }
        Value::Integer(_)
        | Value::Float(_)
        | Value::Boolean(_)
        | Value::Datetime(_)
        | Value::Array(_) => format!("--{flag}={value}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A file with what can be changed in it.
    const TEXT: &str = r#"
format = 1
suite = "starter"
agents = ["reference"]
conditions = ["off", "published:7"]
seeds = 2
[run]
limit = 3
"#;

    fn parse(text: &str) -> Result<Campaign, String> {
        let parsed = Campaign::parse(Utf8Path::new("c.toml"), text);
        parsed.map_err(|failure| failure.message)
    }

    #[test]
    fn what_is_wrong_is_named_with_its_place() {
        let table = [
            ("seeds = 2", "seed = 2", "line 6: unknown field `seed`"),
            ("format = 1", "format = 2", "`format`: expected 1, found 2"),
            ("[\"reference\"]", "[]", "`agents`: expected one or more"),
            ("[\"reference\"]", "[7]", "`agents[0]`: expected a name or a table, found integer"),
            (
                "[\"reference\"]",
                "[{ agnt = \"x\" }]",
                "`agents[0]`: `agnt` is not among `name`, `agent`",
            ),
            (
                "[\"reference\"]",
                "[{ agent = \"react\", name = \"a/b\" }]",
                "`agents[0].name`: expected letters",
            ),
            ("[\"off\", ", "[\"delay\", ", "`conditions`: expected `off` or `null` among them"),
            ("\"published:7\"", "\"off\"", "`conditions`: `off` stands there twice"),
            ("limit = 3", "limmit = 3", "`[run] limmit`: `wildgym run` has no flag `--limmit`"),
            ("limit = 3", "faults = \"delay\"", "the file's `conditions` say it"),
            ("limit = 3", "model = \"m\"", "`[run] model`: it belongs to one of `models`"),
            ("limit = 3", "allow-private = 1", "`allow-private` is true or false, not integer"),
        ];
        for (old, new, want) in table {
            let error = parse(&TEXT.replace(old, new)).map(drop).unwrap_err();
            assert!(error.starts_with("`c.toml` is no campaign: "), "{error}");
            assert!(error.contains(want), "{want}: {error}");
        }
        assert!(parse(TEXT).is_ok());
    }

    #[test]
    fn flags_reach_the_run_and_those_of_the_command_line_come_first() {
        let campaign = parse(TEXT).unwrap();
        let args = |more: &Flags| campaign.args(&campaign.agents[0], None, more);
        let shown = |more: &Flags| format!("{:?}", args(more).unwrap());
        let plain = shown(&Flags::new());
        assert!(plain.contains("trials: 2") && plain.contains("limit: Some(3)"), "{plain}");
        let more = [("limit".to_owned(), Value::Integer(1)), ("name".to_owned(), "x".into())];
        let more = shown(&more.into());
        assert!(more.contains("limit: Some(1)") && more.contains("name: Some(\"x\")"), "{more}");
        let bad = [("limit".to_owned(), Value::from("many"))].into();
        let error = args(&bad).unwrap_err().message;
        assert!(error.contains("invalid value 'many' for '--limit"), "{error}");
    }

    #[test]
    fn the_example_says_what_it_means() {
        let campaign = parse(super::super::EXAMPLE).unwrap();
        for agent in &campaign.agents {
            let models: Vec<Option<&Level>> = campaign.models.iter().map(Some).collect();
            for model in models.into_iter().chain([None]) {
                campaign.args(agent, model, &Flags::new()).unwrap();
            }
        }
    }
}
