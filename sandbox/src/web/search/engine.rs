//! Queries against the index.
//!
//! A score is BM25 over title, headings, text and address, times what else counts: in
//! news how fresh a page is, among papers how often one is cited, and everywhere the
//! language asked for. All of it is plain arithmetic on what the index holds, the query
//! and the logical day, so the same question has the same answer on every machine.

use std::ops::Bound;

use camino::Utf8Path;
use jiff::civil::Date;
use tantivy::collector::TopDocs;
use tantivy::query::{BooleanQuery, BoostQuery, ConstScoreQuery, Occur, RangeQuery, TermQuery};
use tantivy::schema::{Field, IndexRecordOption};
use tantivy::{Score, Term};

use super::document::Document;
use super::index::{self, Fields, Opened, days};
use super::paper::Paper;
use super::query::{Part, Query};
use super::snippet::{folded_in_place, snippet};
use crate::web::block::BlockList;
use crate::web::hermetic::HermeticError;
use crate::words::{folded, grams, is_cjk, is_common, words};

/// Hits beyond this number are not reached.
const DEPTH: usize = 1000;

/// Words of a query beyond this number are not looked for.
const LONGEST_QUERY: usize = 48;

/// How much a word counts by where it stands.
const TITLE: f32 = 2.5;
const HEADINGS: f32 = 1.3;
const TEXT: f32 = 1.0;
const URL: f32 = 0.5;
const GRAMS: f32 = 0.4;

/// How much more news of today counts than old news.
const FRESH: f32 = 1.5;

/// The days in which half of that is lost.
const STALE: f32 = 30.0;

/// How much more a paper counts for each doubling of its citations.
const CITED: f32 = 0.08;

/// How much more a page counts in the language that was asked for.
const OWN_LANGUAGE: f32 = 1.25;

type Wanted = Box<dyn tantivy::query::Query>;

type Clause = (Occur, Wanted);

/// The index, opened.
pub(in crate::web) struct Engine(Opened);

impl std::fmt::Debug for Engine {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let documents = self.0.searcher.num_docs();
        f.debug_struct("Engine").field("documents", &documents).finish_non_exhaustive()
    }
}

/// What is searched.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(in crate::web) enum Vertical {
    /// All pages.
    #[default]
    Pages,
    /// News, the fresh before the old.
    News,
    /// Papers.
    Papers,
}

/// Where a search looks, beside what the query says.
#[derive(Debug, Clone, Copy, Default)]
pub(in crate::web) struct Scope<'a> {
    /// Only this host.
    pub(in crate::web) host: Option<&'a str>,
    /// Only this kind of page.
    pub(in crate::web) vertical: Vertical,
    /// Hosts of which nothing may be shown.
    pub(in crate::web) blocked: Option<&'a BlockList>,
    /// The first and the last day of a page.
    pub(in crate::web) dates: (Option<Date>, Option<Date>),
    /// Whether the newest pages come first.
    pub(in crate::web) newest_first: bool,
    /// The day on which it is asked.
    pub(in crate::web) today: Option<Date>,
    /// The language that is preferred: `en`, `zh`.
    pub(in crate::web) language: Option<&'a str>,
}

/// One found page.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(in crate::web) struct Hit {
    /// Its place, from 1.
    pub(in crate::web) position: usize,
    /// Title of the page.
    pub(in crate::web) title: String,
    /// Where it is.
    pub(in crate::web) url: String,
    /// The host that serves it.
    pub(in crate::web) host: String,
    /// The passage that fits best.
    pub(in crate::web) snippet: String,
    /// What people call the site.
    pub(in crate::web) source: String,
    /// The day the page says it is of.
    pub(in crate::web) date: Option<Date>,
    /// The paper that it is about.
    pub(in crate::web) paper: Option<Paper>,
}

/// Some of the found pages.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(in crate::web) struct Hits {
    /// How many there are in all.
    pub(in crate::web) total: usize,
    /// Those asked for.
    pub(in crate::web) hits: Vec<Hit>,
}

impl Engine {
    /// Opens the engine whose index is kept below `cache` under `digest`; where it is
    /// not, it is built of the documents.
    pub(in crate::web) fn open(
        digest: &str,
        cache: &Utf8Path,
        documents: impl FnOnce() -> Result<Vec<Document>, HermeticError>,
    ) -> Result<Self, HermeticError> {
        index::open(digest, cache, documents).map(Self)
    }

    /// Finds pages: `count` of them after the first `skip`.
    pub(in crate::web) fn search(
        &self,
        query: &Query,
        scope: Scope<'_>,
        skip: usize,
        count: usize,
    ) -> Hits {
        let Some(wanted) = self.wanted(query, scope) else { return Hits::default() };
        // The index lies in memory or on our own disk; were it gone, nothing is found.
        let found = self.0.searcher.search(&wanted, &TopDocs::with_limit(DEPTH).order_by_score());
        let mut ranked: Vec<(Score, u32)> = found
            .unwrap_or_default()
            .into_iter()
            .map(|(score, at)| (score * self.weight(at.doc_id, scope), at.doc_id))
            .collect();
        ranked.sort_by(|(a, one), (b, other)| b.total_cmp(a).then(one.cmp(other)));
        if scope.newest_first {
            ranked.sort_by_key(|(_, number)| std::cmp::Reverse(self.0.day(*number)));
        }
        if query.is_exact() {
            ranked.retain(|(_, number)| self.fits(*number, query));
        }
        let looked_for = surface(query);
        let hits = ranked.iter().enumerate().skip(skip).take(count);
        let hits =
            hits.filter_map(|(place, (_, number))| self.hit(place + 1, *number, &looked_for));
        Hits { total: ranked.len(), hits: hits.collect() }
    }

    /// Returns what a score is multiplied by.
    #[expect(clippy::cast_precision_loss, reason = "ages in days and counts of bits are small")]
    fn weight(&self, number: u32, scope: Scope<'_>) -> Score {
        let mut weight = 1.0;
        if scope.vertical == Vertical::News
            && let (Some(today), Some(day)) = (scope.today, self.0.day(number))
        {
            let age = (days(today) - day).max(0) as f32;
            weight *= 1.0 + FRESH / (1.0 + age / STALE);
        }
        if scope.vertical == Vertical::Papers {
            let doublings = u64::BITS - self.0.cited(number).leading_zeros();
            weight *= 1.0 + CITED * doublings as f32;
        }
        match scope.language {
            Some(language) if (language == "zh") == self.0.is_chinese(number) => {
                weight * OWN_LANGUAGE
            }
            Some(_) | None => weight,
        }
    }

    fn hit(&self, position: usize, number: u32, looked_for: &[String]) -> Option<Hit> {
        let document = self.0.document(number)?;
        let snippet = snippet(&document.text, &folded_in_place(&document.text), looked_for);
        Some(Hit {
            position,
            title: document.title,
            url: document.url,
            host: document.host,
            snippet,
            source: document.source,
            date: document.date,
            paper: document.paper,
        })
    }

    /// Returns whether a page holds what must stand on it as written, and not what must not.
    fn fits(&self, number: u32, query: &Query) -> bool {
        let Some(document) = self.0.document(number) else { return false };
        let page = format!("{} \n {} \n {}", document.title, document.headings, document.text);
        let page = folded(&page);
        let holds = |part: &Part| match part {
            Part::Phrase(text) => stands_in(&page, text),
            Part::Title(text) => in_title(&document.title, text),
            // The index has decided already whether one of the words is there.
            Part::Word(_) => true,
        };
        let named = |part: &Part| match part {
            Part::Word(text) | Part::Phrase(text) => stands_in(&page, text),
            Part::Title(text) => in_title(&document.title, text),
        };
        query.groups.iter().all(|group| match group.as_slice() {
            [one] => holds(one),
            several => several.iter().any(|part| match part {
                Part::Word(text) => {
                    let all = words(&page);
                    words(text).iter().all(|word| all.contains(word))
                }
                Part::Phrase(_) | Part::Title(_) => holds(part),
            }),
        }) && !query.excluded.iter().any(named)
    }

    /// Turns a query into one for the index; `None` where nothing is looked for.
    fn wanted(&self, query: &Query, scope: Scope<'_>) -> Option<BooleanQuery> {
        if query.is_empty() {
            return None;
        }
        let mut clauses = self.filters(query, scope);
        let limited = !query.sites.is_empty() || !query.types.is_empty();
        let (words, musts) = self.word_clauses(query);
        if words.is_empty() && musts.is_empty() && !limited {
            return None;
        }
        clauses.extend(musts.into_iter().map(|must| (Occur::Must, must)));
        if !words.is_empty() {
            // A long question needs more than one of its words on the page.
            let least = (words.len() / 3).max(1);
            let any = BooleanQuery::union_with_minimum_required_clauses(words, least);
            clauses.push((Occur::Must, Box::new(any)));
        }
        Some(BooleanQuery::new(clauses))
    }

    /// Returns the clauses that decide which pages count, not where they stand.
    fn filters(&self, query: &Query, scope: Scope<'_>) -> Vec<Clause> {
        let fields = self.fields();
        let any_of = |field: Field, values: &[String]| -> Wanted {
            let any = values.iter().map(|value| term(field, value)).collect();
            Box::new(ConstScoreQuery::new(Box::new(BooleanQuery::union(any)), 0.0))
        };
        let mut clauses: Vec<Clause> = Vec::new();
        let own = scope.host.map(|host| vec![host.to_owned()]).unwrap_or_default();
        let kind = match scope.vertical {
            Vertical::Pages => Vec::new(),
            Vertical::News => vec!["news".to_owned()],
            Vertical::Papers => vec!["paper".to_owned()],
        };
        for (field, values) in [
            (fields.host, &query.sites),
            (fields.host, &own),
            (fields.kind, &kind),
            (fields.filetype, &query.types),
        ] {
            if !values.is_empty() {
                clauses.push((Occur::Must, any_of(field, values)));
            }
        }
        let blocked = scope.blocked.map(BlockList::names).unwrap_or_default();
        for (field, hidden) in [
            (fields.host, blocked),
            (fields.host, &query.excluded_sites),
            (fields.filetype, &query.excluded_types),
        ] {
            if !hidden.is_empty() {
                clauses.push((Occur::MustNot, any_of(field, hidden)));
            }
        }
        let (first, last) = scope.dates;
        if first.is_some() || last.is_some() {
            let bound = |date: Option<Date>| {
                let day = date.map(|date| Term::from_field_i64(fields.day, days(date)));
                day.map_or(Bound::Unbounded, Bound::Included)
            };
            let range = RangeQuery::new(bound(first), bound(last));
            clauses.push((Occur::Must, Box::new(ConstScoreQuery::new(Box::new(range), 0.0))));
        }
        clauses
    }

    /// Returns one clause for each word that is looked for, and those that must be met.
    fn word_clauses(&self, query: &Query) -> (Vec<Wanted>, Vec<Wanted>) {
        let (mut plain, mut musts) = (Vec::new(), Vec::new());
        for group in &query.groups {
            match group.as_slice() {
                [Part::Word(text)] => plain.push(text.as_str()),
                [Part::Phrase(text) | Part::Title(text)] => {
                    plain.push(text);
                    musts.extend(self.all_of(text));
                }
                several => {
                    let any: Vec<_> = several
                        .iter()
                        .flat_map(|part| wanted_words(part.text()))
                        .map(|word| self.word_clause(&word))
                        .collect();
                    musts.push(Box::new(BooleanQuery::union(any)));
                }
            }
        }
        let text = plain.join(" ");
        let wanted = wanted_words(&text);
        let mut clauses: Vec<_> = wanted.iter().map(|word| self.word_clause(word)).collect();
        // What the dictionary cuts differently here and on the page meets in pairs.
        let mut pairs = grams(&text);
        let mut seen: std::collections::HashSet<_> = wanted.into_iter().collect();
        pairs.retain(|pair| seen.insert(pair.clone()));
        pairs.truncate(LONGEST_QUERY);
        if !pairs.is_empty() {
            let pairs = pairs.iter().map(|pair| boosted(self.fields().grams, pair, GRAMS));
            clauses.push(Box::new(BooleanQuery::union(pairs.collect())));
        }
        (clauses, musts)
    }

    /// Returns clauses that a page meets which holds all of a text: they only narrow down
    /// what has to be read.
    fn all_of(&self, text: &str) -> Vec<Wanted> {
        let pairs = grams(text);
        let latin: String = text.chars().map(|c| if is_cjk(c) { ' ' } else { c }).collect();
        let words = if pairs.is_empty() { wanted_words(text) } else { wanted_words(&latin) };
        let clause = |query| -> Wanted { Box::new(ConstScoreQuery::new(query, 0.0)) };
        words
            .iter()
            .map(|word| clause(self.word_clause(word)))
            .chain(pairs.iter().map(|pair| clause(term(self.fields().grams, pair))))
            .collect()
    }

    fn word_clause(&self, word: &str) -> Wanted {
        let fields = self.fields();
        let mut places = vec![
            boosted(fields.title, word, TITLE),
            boosted(fields.headings, word, HEADINGS),
            boosted(fields.text, word, TEXT),
            boosted(fields.url, word, URL),
        ];
        let pairs = grams(word);
        places.extend(pairs.iter().map(|pair| boosted(fields.grams, pair, GRAMS)));
        Box::new(BooleanQuery::union(places))
    }

    fn fields(&self) -> &Fields {
        &self.0.fields
    }
}

fn boosted(field: Field, word: &str, boost: f32) -> Wanted {
    Box::new(BoostQuery::new(term(field, word), boost))
}

fn term(field: Field, word: &str) -> Wanted {
    Box::new(TermQuery::new(Term::from_field_text(field, word), IndexRecordOption::WithFreqs))
}

/// Returns the different words of a text, without those that say too little unless there
/// are no others.
fn wanted_words(text: &str) -> Vec<String> {
    let mut wanted = words(text);
    let mut seen = std::collections::HashSet::new();
    wanted.retain(|word| seen.insert(word.clone()));
    if wanted.iter().any(|word| !is_common(word)) {
        wanted.retain(|word| !is_common(word));
    }
    wanted.truncate(LONGEST_QUERY);
    wanted
}

/// Returns whether a title holds a text: as written, or all of its words in some form.
fn in_title(title: &str, text: &str) -> bool {
    let held = words(title);
    stands_in(&folded(title), text) || words(text).iter().all(|word| held.contains(word))
}

/// Returns whether `text` stands in `page` as whole words. Both are folded.
fn stands_in(page: &str, text: &str) -> bool {
    let edge = |outside: Option<char>, inside: Option<char>| {
        let joins = |c: Option<char>| c.is_some_and(|c| c.is_alphanumeric() && !is_cjk(c));
        !(joins(outside) && joins(inside))
    };
    page.match_indices(text).any(|(at, found)| {
        edge(page[..at].chars().next_back(), found.chars().next())
            && edge(page[at + found.len()..].chars().next(), found.chars().next_back())
    })
}

/// Returns the words of a query as they may stand on a page, for snippets.
fn surface(query: &Query) -> Vec<String> {
    let parts = || query.groups.iter().flatten();
    let phrase = |part: &Part| match part {
        Part::Phrase(text) => Some(text.clone()),
        Part::Word(_) | Part::Title(_) => None,
    };
    let mut surface: Vec<String> = parts().filter_map(phrase).collect();
    for word in parts().flat_map(|part| words(part.text())) {
        // A stem is the beginning of its forms, except for `-y` and `-i`.
        let stem = word.strip_suffix('i').filter(|stem| stem.len() > 2).unwrap_or(&word);
        if !is_common(&word) && !surface.iter().any(|seen| seen == stem) {
            surface.push(stem.to_owned());
        }
    }
    surface
}
