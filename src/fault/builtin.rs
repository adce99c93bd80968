//! The profiles that the program carries with it; a new one is a file and one line here.

/// Name and text of each.
const PROFILES: [(&str, &str); 14] = [
    ("null", include_str!("profiles/null.toml")),
    ("minor-mistake", include_str!("profiles/minor-mistake.toml")),
    ("incorrect-output", include_str!("profiles/incorrect-output.toml")),
    ("invalid-output", include_str!("profiles/invalid-output.toml")),
    ("explicit-error", include_str!("profiles/explicit-error.toml")),
    ("delay", include_str!("profiles/delay.toml")),
    ("silent-drop", include_str!("profiles/silent-drop.toml")),
    ("schema-drift", include_str!("profiles/schema-drift.toml")),
    ("truncated-payload", include_str!("profiles/truncated-payload.toml")),
    ("partial-result", include_str!("profiles/partial-result.toml")),
    ("published", include_str!("profiles/published.toml")),
    ("transient-heavy", include_str!("profiles/transient-heavy.toml")),
    ("rate-limits", include_str!("profiles/rate-limits.toml")),
    ("flaky-network", include_str!("profiles/flaky-network.toml")),
];

/// Returns the names of the built-in profiles.
#[must_use]
pub fn names() -> Vec<&'static str> {
    PROFILES.iter().map(|(name, _)| *name).collect()
}

/// Returns the text of a built-in profile.
pub(super) fn text(name: &str) -> Option<&'static str> {
    PROFILES.iter().find(|(known, _)| *known == name).map(|(_, text)| *text)
}
