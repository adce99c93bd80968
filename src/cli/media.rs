//! What this machine has for sounds, pictures and videos, for `wildgym doctor`.

use std::path::PathBuf;

use camino::Utf8Path;
use serde_json::{Map, Value, json};
use wildgym_sandbox::programs::{Limits, Program, Programs, speech};
use wildgym_sandbox::worker::Containment;

use super::{Failure, doctor};

/// What reads media on this machine.
pub(super) struct Media {
    found: Vec<(Program, Option<PathBuf>)>,
    /// What a foreign program cannot do; why that is not known.
    walls: Result<Containment, String>,
    /// Languages whose text is recognised.
    languages: Vec<String>,
    /// Why the speech engine is there and cannot be used.
    speech: Option<String>,
}

impl Media {
    /// Looks for the programs and tries the walls around them.
    pub(super) async fn look(programs: &Programs, cache: &Utf8Path) -> Result<Self, Failure> {
        let found = Program::ALL
            .map(|program| (program, programs.path(program).map(ToOwned::to_owned)))
            .to_vec();
        let walls = programs.containment().await.map_err(|error| error.to_string());
        let listed = programs
            .run(Program::Tesseract, &["--list-langs"], &[], &Limits::default())
            .await
            .map(|ran| String::from_utf8_lossy(&ran.stdout).into_owned())
            .unwrap_or_default();
        // The first line is a heading; `osd` tells directions and is no language.
        let languages = listed.lines().skip(1).map(str::trim);
        let languages = languages.filter(|name| !["", "osd"].contains(name));
        let languages = languages.map(str::to_owned).collect();
        let speech = match speech::status(&cache.join("speech")) {
            speech::Status::Unusable(reason) => Some(reason),
            speech::Status::Ready(_) | speech::Status::Missing => None,
        };
        Ok(Self { found, walls, languages, speech })
    }

    /// Returns a line for each program, and one for the walls around them.
    pub(super) fn lines(&self) -> impl Iterator<Item = String> {
        let walls = match &self.walls {
            Ok(found) => doctor::walls(*found),
            Err(why) => format!("unknown: {why}"),
        };
        let programs = self.found.iter().map(|(program, path)| {
            format!("{:<12}  {}", label(*program), self.state(*program, path.as_ref()))
        });
        [format!("media         {walls}")].into_iter().chain(programs)
    }

    /// Names what is missing and how to get it.
    pub(super) fn missing(&self) -> impl Iterator<Item = String> {
        let missing = self.found.iter().filter(|(_, path)| path.is_none());
        missing.map(|(program, _)| format!("{}: {}", label(*program), self.state(*program, None)))
    }

    /// Returns the same as JSON.
    pub(super) fn json(&self) -> Value {
        let programs: Map<String, Value> = self
            .found
            .iter()
            .map(|(program, path)| (label(*program).to_owned(), json!(path)))
            .collect();
        json!({
            "walls": self.walls.as_ref().ok(),
            "programs": programs,
            "languages": self.languages,
            "speech_fault": self.speech,
        })
    }

    fn state(&self, program: Program, path: Option<&PathBuf>) -> String {
        match (path, program) {
            (Some(path), Program::Tesseract) => {
                let languages = self.languages.join(", ");
                let none = languages.is_empty();
                let languages = if none { "none; install `tesseract-ocr-eng`" } else { &languages };
                format!("`{}`, languages: {languages}", path.display())
            }
            (Some(path), Program::Speech) => {
                format!("Whisper base, run by `{}`", path.display())
            }
            (Some(path), _) => format!("`{}`", path.display()),
            (None, Program::Speech) if self.speech.is_some() => {
                format!("unusable: {}", self.speech.as_deref().unwrap_or_default())
            }
            (None, _) => {
                format!("missing; needed for {}: {}", program.needed_for(), program.install())
            }
        }
    }
}

fn label(program: Program) -> &'static str {
    program.file().unwrap_or("speech")
}
