//! What people write into a search box, read into what is looked for.
//!
//! Operators are Google's: `"a phrase"`, `-word`, `a OR b` (also `|`), `site:`,
//! `intitle:`, `filetype:` (also `ext:`), each also behind a minus. `OR` binds its two
//! neighbours only. Any text is a query: quotes that do not close, operators without a
//! word and punctuation are read as if they were not there. So a query never fails.

use unicode_normalization::UnicodeNormalization as _;

use crate::words::folded;

/// One thing to look for; all text is folded.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(in crate::web) enum Part {
    /// A word, in any of its forms.
    Word(String),
    /// Words that stand together as written.
    Phrase(String),
    /// Words of the title.
    Title(String),
}

impl Part {
    /// Returns the text of it.
    pub(in crate::web) fn text(&self) -> &str {
        match self {
            Self::Word(text) | Self::Phrase(text) | Self::Title(text) => text,
        }
    }
}

/// A query, read.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(in crate::web) struct Query {
    /// What to look for: of each group one part at least.
    pub(in crate::web) groups: Vec<Vec<Part>>,
    /// What must not stand on the page.
    pub(in crate::web) excluded: Vec<Part>,
    /// Hosts to which the search is limited; any of them will do.
    pub(in crate::web) sites: Vec<String>,
    /// Hosts that are left out.
    pub(in crate::web) excluded_sites: Vec<String>,
    /// Kinds of file to which it is limited, by their suffix.
    pub(in crate::web) types: Vec<String>,
    /// Kinds of file that are left out.
    pub(in crate::web) excluded_types: Vec<String>,
}

/// An operator before a word.
#[derive(Debug, Clone, Copy)]
enum Operator {
    Site,
    Title,
    Type,
}

impl Query {
    /// Reads a query.
    #[must_use]
    pub(in crate::web) fn parse(written: &str) -> Self {
        let written: String = written.nfkc().collect();
        let written = written.replace(['“', '”', '„', '「', '」', '『', '』'], "\"");
        let mut query = Self::default();
        let mut rest = written.as_str();
        let mut alternative = false;
        while let Some(start) = rest.find(|c: char| !c.is_whitespace()) {
            let (joins, after) = query.take(&rest[start..], alternative);
            (alternative, rest) = (joins, after);
        }
        query
    }

    /// Returns whether there is nothing to look for.
    #[must_use]
    pub(in crate::web) fn is_empty(&self) -> bool {
        self.groups.is_empty() && self.sites.is_empty() && self.types.is_empty()
    }

    /// Returns whether pages must be read to know whether they fit.
    #[must_use]
    pub(in crate::web) fn is_exact(&self) -> bool {
        let plain = |part: &Part| matches!(part, Part::Word(_));
        !self.excluded.is_empty() || !self.groups.iter().flatten().all(plain)
    }

    /// Reads one part; returns whether it was an `OR` that joins what stands on its two
    /// sides, and what is left.
    fn take<'a>(&mut self, text: &'a str, alternative: bool) -> (bool, &'a str) {
        let (minus, bare) = match text.strip_prefix('-') {
            Some(bare) => (true, bare),
            None => (false, text),
        };
        let (operator, bare) = operator(bare);
        if operator.is_some() && bare.chars().next().is_none_or(char::is_whitespace) {
            return (false, bare);
        }
        if let Some((phrase, rest)) = bare.strip_prefix('"').and_then(|it| it.split_once('"')) {
            self.add(operator, phrase, true, minus, alternative);
            return (false, rest);
        }
        // A quote inside a word begins a phrase: `港口"潮汐表"`.
        let end = bare.char_indices().skip(1).find(|(_, c)| c.is_whitespace() || *c == '"');
        let (word, rest) = bare.split_at(end.map_or(bare.len(), |(at, _)| at));
        if !minus && operator.is_none() && matches!(word, "OR" | "|") {
            return (true, rest);
        }
        if minus || word != "AND" {
            self.add(operator, word, false, minus, alternative);
        }
        (false, rest)
    }

    fn add(
        &mut self,
        operator: Option<Operator>,
        written: &str,
        quoted: bool,
        minus: bool,
        alternative: bool,
    ) {
        let text = folded(written).split_whitespace().collect::<Vec<_>>().join(" ");
        let text = if quoted { text.as_str() } else { text.trim_matches(['(', ')', '"', ',']) };
        if !text.contains(char::is_alphanumeric) {
            return;
        }
        let part = match operator {
            Some(Operator::Site) => {
                let host = crate::web::address::host_name(text.split('/').next().unwrap_or(""));
                let sites = if minus { &mut self.excluded_sites } else { &mut self.sites };
                return sites.extend(host);
            }
            Some(Operator::Type) => {
                let types = if minus { &mut self.excluded_types } else { &mut self.types };
                return types.push(text.trim_start_matches('.').to_owned());
            }
            Some(Operator::Title) => Part::Title(text.to_owned()),
            None if quoted => Part::Phrase(text.to_owned()),
            None => Part::Word(text.to_owned()),
        };
        match self.groups.last_mut().filter(|_| alternative) {
            _ if minus => self.excluded.push(part),
            Some(group) => group.push(part),
            None => self.groups.push(vec![part]),
        }
    }
}

/// Reads an operator in any case; a colon without a word behind it makes none.
fn operator(text: &str) -> (Option<Operator>, &str) {
    let known = [
        ("site:", Operator::Site),
        ("intitle:", Operator::Title),
        ("filetype:", Operator::Type),
        ("ext:", Operator::Type),
    ];
    for (name, operator) in known {
        if let Some(rest) = text.get(..name.len()).filter(|head| head.eq_ignore_ascii_case(name)) {
            return (Some(operator), &text[rest.len()..]);
        }
    }
    (None, text)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    /// Writes a query so that a table can hold it: `|` between groups, `/` inside one.
    fn written(query: &Query) -> String {
        let part = |part: &Part| match part {
            Part::Word(text) => text.clone(),
            Part::Phrase(text) => format!("<{text}>"),
            Part::Title(text) => format!("title={text}"),
        };
        let group = |group: &Vec<Part>| group.iter().map(part).collect::<Vec<_>>().join("/");
        let mut out: Vec<_> = query.groups.iter().map(group).collect();
        out.extend(query.excluded.iter().map(|it| format!("!{}", part(it))));
        out.extend(query.sites.iter().map(|it| format!("@{it}")));
        out.extend(query.excluded_sites.iter().map(|it| format!("!@{it}")));
        out.extend(query.types.iter().map(|it| format!(".{it}")));
        out.extend(query.excluded_types.iter().map(|it| format!("!.{it}")));
        out.join("|")
    }

    #[test]
    fn operators_are_read_and_mistakes_are_text() {
        let table = [
            ("tide table", "tide|table", "plain words"),
            ("\"spring  tide\" now", "<spring tide>|now", "a phrase"),
            ("“财务报告” 云岫", "<财务报告>|云岫", "Chinese quotes"),
            ("港口\"潮汐表\"", "港口|<潮汐表>", "a phrase without a space"),
            ("tide -moon", "tide|!moon", "an excluded word"),
            ("tide -\"full moon\"", "tide|!<full moon>", "an excluded phrase"),
            ("well-known", "well-known", "a hyphen is no operator"),
            ("tide site:Harbour.Test/news", "tide|@harbour.test", "one site"),
            ("tide -site:harbour.test", "tide|!@harbour.test", "a site that is left out"),
            ("site:a.test OR site:b.test", "@a.test|@b.test", "any of two sites"),
            ("tide OR moon harbour", "tide/moon|harbour", "`OR` binds its neighbours"),
            ("a OR b | \"c d\"", "a/b/<c d>", "a row of them"),
            ("(tide OR moon)", "tide/moon", "brackets are no words"),
            ("OR tide OR", "tide", "`OR` with one side"),
            ("tide or moon", "tide|or|moon", "in small letters it is a word"),
            ("tide AND moon", "tide|moon", "`AND` goes without saying"),
            ("intitle:Tide INTITLE:\"spring tide\"", "title=tide|title=spring tide", "titles"),
            ("tide filetype:PDF ext:.csv -filetype:html", "tide|.pdf|.csv|!.html", "files"),
            ("\"open quote", "open|quote", "a quote that does not close"),
            ("- \"\" site: filetype: ( ) OR", "", "operators without words"),
            ("ＴＩＤＥ　表", "tide|表", "full width"),
            ("10:30 http://a.test/", "10:30|http://a.test/", "other colons"),
        ];
        for (text, want, why) in table {
            assert_eq!(written(&Query::parse(text)), want, "{text}: {why}");
        }
    }

    proptest! {
        #[test]
        fn any_text_is_a_query(written in "(?s).{0,60}") {
            let query = Query::parse(&written);
            let parts = query.groups.iter().flatten().chain(&query.excluded);
            prop_assert!(parts.map(Part::text).all(|text| text.contains(char::is_alphanumeric)));
            prop_assert!(query.groups.iter().all(|group| !group.is_empty()));
        }

        #[test]
        fn any_heap_of_operators_is_a_query(
            written in r#"([-"“”:() |]|site:|intitle:|ext:|OR |潮|a){0,30}"#,
        ) {
            let _ = Query::parse(&written);
        }
    }
}
