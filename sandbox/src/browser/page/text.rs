//! Texts cut to a length.

/// Cuts a text after `most` characters, and says so by `…`.
pub(super) fn cut(text: &str, most: usize) -> String {
    match text.char_indices().nth(most) {
        None => text.to_owned(),
        Some((at, _)) => format!("{}…", &text[..at]),
    }
}

#[cfg(test)]
mod tests {
    use super::cut;

    #[test]
    fn cuts_fall_between_letters() {
        assert_eq!(cut("abc", 3), "abc");
        assert_eq!(cut("日本語", 2), "日本…");
        assert_eq!(cut("", 0), "");
    }
}
