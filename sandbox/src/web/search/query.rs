//! What people write into a search box, read into what is looked for.
//!
//! Any text is a query: quotes that do not close, operators without a word and
//! punctuation are read as if they were not there. So a query never fails.

use crate::words::folded;

/// A query, read.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(in crate::web) struct Query {
    /// Text to look for, phrases included.
    pub(in crate::web) text: Vec<String>,
    /// Text that must stand on the page as written.
    pub(in crate::web) phrases: Vec<String>,
    /// Text that must not.
    pub(in crate::web) excluded: Vec<String>,
    /// Hosts to which the search is limited; any of them will do.
    pub(in crate::web) sites: Vec<String>,
    /// Hosts that are left out.
    pub(in crate::web) excluded_sites: Vec<String>,
}

impl Query {
    /// Reads a query.
    #[must_use]
    pub(in crate::web) fn parse(written: &str) -> Self {
        let written = folded(written).replace(['“', '”', '„', '「', '」', '『', '』'], "\"");
        let mut query = Self::default();
        let mut rest = written.as_str();
        while let Some(start) = rest.find(|c: char| !c.is_whitespace()) {
            rest = query.take(&rest[start..]);
        }
        query
    }

    /// Returns whether there is nothing to look for.
    #[must_use]
    pub(in crate::web) fn is_empty(&self) -> bool {
        self.text.is_empty() && self.sites.is_empty()
    }

    /// Reads one part and returns what is left.
    fn take<'a>(&mut self, text: &'a str) -> &'a str {
        let (minus, bare) = match text.strip_prefix('-') {
            Some(bare) => (true, bare),
            None => (false, text),
        };
        if let Some((phrase, rest)) = bare.strip_prefix('"').and_then(|it| it.split_once('"')) {
            self.add_phrase(phrase, minus);
            return rest;
        }
        // A quote inside a word begins a phrase: `港口"潮汐表"`.
        let end = bare.char_indices().skip(1).find(|(_, c)| c.is_whitespace() || *c == '"');
        let (word, rest) = bare.split_at(end.map_or(bare.len(), |(at, _)| at));
        self.add_word(word, minus);
        rest
    }

    fn add_phrase(&mut self, phrase: &str, minus: bool) {
        let phrase = phrase.split_whitespace().collect::<Vec<_>>().join(" ");
        if !phrase.contains(char::is_alphanumeric) {
            return;
        }
        if minus {
            self.excluded.push(phrase);
        } else {
            self.phrases.push(phrase.clone());
            self.text.push(phrase);
        }
    }

    fn add_word(&mut self, word: &str, minus: bool) {
        if let Some(site) = word.strip_prefix("site:") {
            let host = site.split('/').next().unwrap_or_default();
            let sites = if minus { &mut self.excluded_sites } else { &mut self.sites };
            sites.extend(crate::web::address::host_name(host));
            return;
        }
        let operator = !minus && matches!(word, "or" | "and");
        if operator || !word.contains(char::is_alphanumeric) {
            return;
        }
        let texts = if minus { &mut self.excluded } else { &mut self.text };
        texts.push(word.to_owned());
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn operators_are_read_and_mistakes_are_text() {
        let table = [
            ("tide table", "tide|table", "", "", "", "plain words"),
            ("\"spring  tide\" now", "spring tide|now", "spring tide", "", "", "a phrase"),
            ("“财务报告” 云岫", "财务报告|云岫", "财务报告", "", "", "Chinese quotes"),
            ("港口\"潮汐表\"", "港口|潮汐表", "潮汐表", "", "", "a phrase without a space"),
            ("tide -moon", "tide", "", "moon", "", "an excluded word"),
            ("tide -\"full moon\"", "tide", "", "full moon", "", "an excluded phrase"),
            ("well-known", "well-known", "", "", "", "a hyphen is no operator"),
            ("tide site:Harbour.Test/news", "tide", "", "", "harbour.test", "one site"),
            ("\"open quote", "\"open|quote", "", "", "", "a quote that does not close"),
            ("- \"\" site: ( ) OR", "", "", "", "", "operators without words"),
        ];
        for (written, text, phrases, excluded, sites, why) in table {
            let query = Query::parse(written);
            assert_eq!(query.text.join("|"), text, "{why}");
            assert_eq!(query.phrases.join("|"), phrases, "{why}");
            assert_eq!(query.excluded.join("|"), excluded, "{why}");
            assert_eq!(query.sites.join("|"), sites, "{why}");
        }
    }

    proptest! {
        #[test]
        fn any_text_is_a_query(written in "(?s).{0,60}") {
            let query = Query::parse(&written);
            prop_assert!(query.text.iter().all(|text| text.contains(char::is_alphanumeric)));
        }

        #[test]
        fn any_heap_of_operators_is_a_query(written in r#"([-"“”:() ]|site:|OR|潮|a){0,30}"#) {
            let _ = Query::parse(&written);
        }
    }
}
