//! The small rules for names in files, and words for messages.

/// Returns whether the text is one line that is not blank.
pub(crate) fn is_line(text: &str) -> bool {
    !text.trim().is_empty() && !text.contains(char::is_control)
}

/// Returns whether the text is small letters and digits in groups joined by `-`.
pub(crate) fn is_id(text: &str) -> bool {
    text.len() <= 64
        && text.split('-').all(|part| {
            !part.is_empty() && part.bytes().all(|b| b.is_ascii_lowercase() || b.is_ascii_digit())
        })
}

/// Returns whether the text can name a result in an expression.
pub(crate) fn is_name(text: &str) -> bool {
    const TAKEN: [&str; 11] =
        ["true", "false", "none", "True", "False", "None", "and", "or", "not", "in", "is"];
    let words = ["if", "else", "loop", "self", "range", "dict", "debug", "namespace"];
    !text.is_empty()
        && !text.starts_with(|c: char| c.is_ascii_digit())
        && text.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'_')
        && !TAKEN.contains(&text)
        && !words.contains(&text)
}

/// Returns whether the text is a host name in small letters.
pub(crate) fn is_host(text: &str) -> bool {
    text.len() <= 253
        && text.contains('.')
        && text.split('.').all(|label| {
            (1..=63).contains(&label.len())
                && !label.starts_with('-')
                && !label.ends_with('-')
                && label.bytes().all(|b| b.is_ascii_lowercase() || b.is_ascii_digit() || b == b'-')
        })
}

/// Returns whether the text is a relative path that stays where it starts.
pub(crate) fn is_path(text: &str) -> bool {
    !text.contains(char::is_control)
        && !text.contains('\\')
        && text.split('/').all(|part| !part.is_empty() && part != "." && part != "..")
}

/// Returns whether the text is an absolute path of a URL, without query and fragment.
pub(crate) fn is_url_path(text: &str) -> bool {
    text.starts_with('/') && !text.contains(['?', '#']) && !text.contains(char::is_whitespace)
}

/// Lists names in backticks.
pub(crate) fn ticked<S: AsRef<str>>(names: &[S]) -> String {
    names.iter().map(|name| format!("`{}`", name.as_ref())).collect::<Vec<_>>().join(", ")
}

/// Quotes text for a message, cut to 60 characters.
pub(crate) fn quoted(text: &str) -> String {
    let mut cut: String = text.chars().take(60).collect();
    if cut.len() < text.len() {
        cut.push('…');
    }
    format!("{cut:?}")
}

/// Words that `name` is unknown, with the nearest known one or all of them.
pub(crate) fn unknown<S: AsRef<str>>(what: &str, name: &str, known: &[S]) -> String {
    let near = known
        .iter()
        .map(|other| (distance(name, other.as_ref()), other.as_ref()))
        .min()
        .filter(|(distance, other)| *distance <= 1 + other.chars().count() / 4);
    match near {
        Some((_, other)) => format!("unknown {what}; did you mean `{other}`?"),
        None if known.is_empty() => format!("unknown {what}; there is none"),
        None => format!("unknown {what}; expected one of {}", ticked(known)),
    }
}

/// Counts the insertions, deletions and replacements between two texts of at most 64
/// characters; longer ones are as far apart as can be.
fn distance(a: &str, b: &str) -> usize {
    let (a, b): (Vec<char>, Vec<char>) = (a.chars().collect(), b.chars().collect());
    if a.len() > 64 || b.len() > 64 {
        return usize::MAX;
    }
    let mut row: Vec<usize> = (0..=b.len()).collect();
    for (i, left) in a.iter().enumerate() {
        let mut diagonal = row[0];
        row[0] = i + 1;
        for (j, right) in b.iter().enumerate() {
            let replaced = diagonal + usize::from(left != right);
            diagonal = row[j + 1];
            row[j + 1] = replaced.min(diagonal + 1).min(row[j] + 1);
        }
    }
    row[b.len()]
}
