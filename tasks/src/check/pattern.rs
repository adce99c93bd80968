//! Patterns with `*` for any text, which may be empty and may contain `/`.

/// A pattern such as `web:*.example/archive/*`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Pattern(Vec<String>);

impl Pattern {
    /// Reads a pattern; every text is one.
    #[must_use]
    pub fn new(pattern: &str) -> Self {
        Self(pattern.split('*').map(ToOwned::to_owned).collect())
    }

    /// Returns whether the whole text fits.
    #[must_use]
    pub fn matches(&self, text: &str) -> bool {
        let [first, middle @ .., last] = self.0.as_slice() else {
            return self.0.first().is_some_and(|only| only == text);
        };
        let Some(mut rest) = text.strip_prefix(first.as_str()) else { return false };
        for part in middle {
            let Some(at) = rest.find(part.as_str()) else { return false };
            rest = &rest[at + part.len()..];
        }
        rest.ends_with(last.as_str())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_star_stands_for_any_text() {
        let table = [
            ("a.csv", "a.csv", true),
            ("a.csv", "a.csvx", false),
            ("*", "", true),
            ("*", "a/b", true),
            ("a*c", "ac", true),
            ("a*a", "a", false),
            ("web:*/x/*.html", "web:h.example/x/y/z.html", true),
            ("web:*/x/*.html", "web:h.example/y.html", false),
        ];
        for (pattern, text, want) in table {
            assert_eq!(Pattern::new(pattern).matches(text), want, "{pattern} on {text}");
        }
    }
}
