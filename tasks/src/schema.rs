//! JSON Schemas of the files that authors write.
//!
//! They are generated from the types, so they cannot drift from them, and they are
//! what the loader checks files against: an editor and the loader refuse the same
//! things. Beyond the standard formats (`date`, `date-time`, `regex`) they use `line`
//! (one line, not blank), `id` (small letters, digits, single `-`), `name` (letters,
//! digits, `_`), `host`, `path` (relative, `/`, no `..`) and `url-path`.

use schemars::JsonSchema;
use schemars::generate::SchemaSettings;
use serde_json::Value;

use crate::environment::{ArticleMeta, RevisionMeta, SiteMeta};
use crate::scenario_file::ScenarioFile;
use crate::solution::Solution;
use crate::suite::SuiteMeta;
use crate::task::{OverlayMeta, TaskMeta};
use crate::world::{OperationsFile, WorldMeta};

/// Returns the schema of every format by the name of its file; a new format is one
/// line here.
#[must_use]
pub fn all() -> Vec<(&'static str, Value)> {
    vec![
        ("suite.toml", of::<SuiteMeta>()),
        ("task.toml", of::<TaskMeta>()),
        ("overlay.toml", of::<OverlayMeta>()),
        ("solution.toml", of::<Solution>()),
        ("site.toml", of::<SiteMeta>()),
        ("article.md", of::<ArticleMeta>()),
        ("revision.md", of::<RevisionMeta>()),
        ("world.toml", of::<WorldMeta>()),
        ("operations.toml", of::<OperationsFile>()),
        ("scenario.json", of::<ScenarioFile>()),
    ]
}

/// Returns the schema of one type: draft 2020-12, without references.
pub(crate) fn of<T: JsonSchema>() -> Value {
    let settings =
        SchemaSettings::draft2020_12().with(|settings| settings.inline_subschemas = true);
    settings.into_generator().into_root_schema_for::<T>().to_value()
}

#[cfg(test)]
mod tests {
    #[test]
    fn schemas_are_as_published() {
        for (name, schema) in super::all() {
            insta::assert_json_snapshot!(format!("schema {name}"), schema);
        }
    }
}
