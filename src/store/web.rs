//! Which network the trials of a run see: `web` of `run.toml`.
//!
//! Either a name alone (`web = "hermetic"`), or a table with what pins an open web: where
//! hosts were sent, whether a proxy was in between, the recording that is replayed.

use std::collections::BTreeMap;
use std::fmt;
use std::str::FromStr;

use camino::Utf8PathBuf;
use serde::de::value::MapAccessDeserializer;
use serde::de::{Error, MapAccess, Visitor};
use serde::{Deserialize, Deserializer, Serialize, Serializer};

/// What trials see of the network.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum WebName {
    /// The suite's own sites, on this machine.
    #[default]
    Hermetic,
    /// The open internet.
    Live,
    /// A recording of it.
    Replay,
}

impl WebName {
    const ALL: [Self; 3] = [Self::Hermetic, Self::Live, Self::Replay];

    /// Returns the name as it is written.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Hermetic => "hermetic",
            Self::Live => "live",
            Self::Replay => "replay",
        }
    }
}

impl FromStr for WebName {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let known = Self::ALL.into_iter().find(|web| web.name() == text);
        known.ok_or_else(|| {
            format!("unknown web `{text}`; expected one of `hermetic`, `live`, `replay`")
        })
    }
}

/// The network of a run, with what pins it.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct WebConfig {
    /// Which one.
    pub kind: WebName,
    /// Hosts that were sent to a given address (live).
    pub map: BTreeMap<String, String>,
    /// Whether hosts were reached through a proxy of the system (live).
    pub proxy: bool,
    /// The file into which exchanges were recorded (live).
    pub record: Option<Utf8PathBuf>,
    /// The recording that answers (replay).
    pub recording: Option<RecordingRef>,
}

/// A recording that is replayed.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct RecordingRef {
    /// Where it was when the run began.
    pub source: Utf8PathBuf,
    /// BLAKE3 of the file, as 64 hexadecimal digits.
    pub digest: String,
}

/// The table as it is written.
#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Table {
    kind: WebName,
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    proxy: bool,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    record: Option<Utf8PathBuf>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    recording: Option<RecordingRef>,
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    map: BTreeMap<String, String>,
}

impl WebConfig {
    /// Returns the network with nothing more to be said of it.
    #[must_use]
    pub fn plain(kind: WebName) -> Self {
        Self { kind, ..Self::default() }
    }

    /// Returns what must be said of the network wherever a score is quoted, a sentence each;
    /// nothing of the hermetic one.
    #[must_use]
    pub fn notes(&self) -> Vec<String> {
        let mut notes = Vec::new();
        match (self.kind, &self.record, &self.recording) {
            (WebName::Hermetic, ..) => {}
            (WebName::Live, None, _) => {
                notes.push("the open internet as it was: not reproducible".to_owned());
            }
            (WebName::Live, Some(file), _) => {
                notes.push(format!("the open internet as it was, recorded in {file}"));
            }
            (WebName::Replay, _, None) => notes.push("a recording".to_owned()),
            (WebName::Replay, _, Some(recording)) => {
                let digest: String = recording.digest.chars().take(12).collect();
                notes.push(format!("the recording {digest}"));
            }
        }
        if self.proxy {
            notes.push(
                "through the system's proxy, which resolves names: their addresses were not \
                 checked"
                    .to_owned(),
            );
        }
        for (host, to) in &self.map {
            let host = if host == "*" { "every host" } else { host };
            notes.push(format!("{host} was sent to {to}"));
        }
        notes
    }
}

impl Serialize for WebConfig {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let Self { kind, map, proxy, record, recording } = self.clone();
        if self == &Self::plain(kind) {
            return serializer.serialize_str(kind.name());
        }
        Table { kind, proxy, record, recording, map }.serialize(serializer)
    }
}

impl<'de> Deserialize<'de> for WebConfig {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Either;

        impl<'de> Visitor<'de> for Either {
            type Value = WebConfig;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("the name of a web, or a table")
            }

            fn visit_str<E: Error>(self, name: &str) -> Result<WebConfig, E> {
                name.parse().map(WebConfig::plain).map_err(E::custom)
            }

            fn visit_map<M: MapAccess<'de>>(self, map: M) -> Result<WebConfig, M::Error> {
                let Table { kind, proxy, record, recording, map } =
                    Table::deserialize(MapAccessDeserializer::new(map))?;
                Ok(WebConfig { kind, map, proxy, record, recording })
            }
        }

        deserializer.deserialize_any(Either)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[derive(Debug, PartialEq, Serialize, Deserialize)]
    struct Run {
        web: WebConfig,
    }

    #[test]
    fn a_web_reads_back_as_written_and_runs_of_old_programs_read() {
        let recording = RecordingRef { source: "/w/a.warc.gz".into(), digest: "ab".repeat(32) };
        let map = [("*".to_owned(), "http://127.0.0.1:1".to_owned())].into();
        let record = Some("/w/b.warc.gz".into());
        for web in [
            WebConfig::default(),
            WebConfig::plain(WebName::Live),
            WebConfig { map, proxy: true, record, ..WebConfig::plain(WebName::Live) },
            WebConfig { recording: Some(recording), ..WebConfig::plain(WebName::Replay) },
        ] {
            let text = toml::to_string(&Run { web: web.clone() }).unwrap();
            assert_eq!(toml::from_str::<Run>(&text).unwrap().web, web, "{text}");
        }
        let old: Run = toml::from_str("web = \"hermetic\"").unwrap();
        assert_eq!(old.web, WebConfig::default());
        for (text, want) in [
            ("web = \"dark\"", "unknown web `dark`; expected one of"),
            ("web = 3", "the name of a web, or a table"),
            ("[web]\nkind = \"live\"\nspeed = 1", "unknown field `speed`"),
        ] {
            let error = toml::from_str::<Run>(text).unwrap_err().to_string();
            assert!(error.contains(want), "{text}: {error}");
        }
    }

    #[test]
    fn what_a_score_depends_on_is_said() {
        assert_eq!(WebConfig::default().notes(), Vec::<String>::new());
        let live = WebConfig { proxy: true, ..WebConfig::plain(WebName::Live) };
        let notes = live.notes().join("\n");
        assert!(notes.contains("not reproducible") && notes.contains("proxy"), "{notes}");
        let map = [("*".to_owned(), "http://127.0.0.1:1".to_owned())].into();
        let live = WebConfig { map, record: Some("x.warc.gz".into()), ..live };
        let notes = live.notes().join("\n");
        assert!(notes.contains("recorded in x.warc.gz") && notes.contains("every host"), "{notes}");
    }
}
