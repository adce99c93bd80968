//! Queries against the index.

use camino::Utf8Path;
use jiff::civil::Date;
use tantivy::collector::TopDocs;
use tantivy::query::{BooleanQuery, BoostQuery, ConstScoreQuery, Occur, TermQuery};
use tantivy::schema::{Field, IndexRecordOption};
use tantivy::{IndexReader, Term};

use super::document::Document;
use super::index::{self, Fields};
use super::query::Query;
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

type Clause = (Occur, Box<dyn tantivy::query::Query>);

/// The index and the documents in it.
pub(in crate::web) struct Engine {
    reader: IndexReader,
    fields: Fields,
    documents: Vec<Document>,
    /// The texts of the documents, folded in place, for snippets and phrases.
    folded: Vec<String>,
}

impl std::fmt::Debug for Engine {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Engine").field("documents", &self.documents.len()).finish_non_exhaustive()
    }
}

/// Where a search looks, beside what the query says.
#[derive(Debug, Clone, Copy, Default)]
pub(in crate::web) struct Scope<'a> {
    /// Only this host.
    pub(in crate::web) host: Option<&'a str>,
    /// Only news.
    pub(in crate::web) news: bool,
    /// Hosts of which nothing may be shown.
    pub(in crate::web) blocked: Option<&'a BlockList>,
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
    /// The passage that fits best.
    pub(in crate::web) snippet: String,
    /// What people call the site.
    pub(in crate::web) source: String,
    /// The day the page says it is of.
    pub(in crate::web) date: Option<Date>,
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
    /// Opens an engine over these documents; the index is kept below `cache`.
    pub(in crate::web) fn open(
        mut documents: Vec<Document>,
        cache: &Utf8Path,
    ) -> Result<Self, HermeticError> {
        // A document's number is its rank by URL: ties are broken by it.
        documents.sort_by(|a, b| a.url.cmp(&b.url));
        let (reader, fields) = index::open(&documents, cache)?;
        let folded = documents.iter().map(|document| folded_in_place(&document.text)).collect();
        Ok(Self { reader, fields, documents, folded })
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
        let found =
            self.reader.searcher().search(&wanted, &TopDocs::with_limit(DEPTH).order_by_score());
        let numbers = found.unwrap_or_default().into_iter().map(|(_, at)| at.doc_id as usize);
        let fitting: Vec<usize> = numbers.filter(|number| self.fits(*number, query)).collect();
        let looked_for = surface(query);
        let hits = fitting.iter().enumerate().skip(skip).take(count);
        let hits = hits.filter_map(|(place, number)| self.hit(place + 1, *number, &looked_for));
        Hits { total: fitting.len(), hits: hits.collect() }
    }

    fn hit(&self, position: usize, number: usize, looked_for: &[String]) -> Option<Hit> {
        let document = self.documents.get(number)?;
        let snippet = snippet(&document.text, self.folded.get(number)?, looked_for);
        Some(Hit {
            position,
            title: document.title.clone(),
            url: document.url.clone(),
            snippet,
            source: document.source.clone(),
            date: document.date,
        })
    }

    /// Returns whether a page holds the phrases and not the excluded text.
    fn fits(&self, number: usize, query: &Query) -> bool {
        if query.phrases.is_empty() && query.excluded.is_empty() {
            return true;
        }
        let Some(document) = self.documents.get(number) else { return false };
        let page = format!("{} \n {} \n {}", document.title, document.headings, document.text);
        let page = folded(&page);
        query.phrases.iter().all(|phrase| stands_in(&page, phrase))
            && !query.excluded.iter().any(|text| stands_in(&page, text))
    }

    /// Turns a query into one for the index; `None` where nothing is looked for.
    fn wanted(&self, query: &Query, scope: Scope<'_>) -> Option<BooleanQuery> {
        if query.is_empty() {
            return None;
        }
        let mut clauses = self.filters(query, scope);
        let words = self.word_clauses(query);
        if !words.is_empty() {
            // A long question needs more than one of its words on the page.
            let least = (words.len() / 3).max(1);
            let any = BooleanQuery::union_with_minimum_required_clauses(words, least);
            clauses.push((Occur::Must, Box::new(any)));
        } else if query.sites.is_empty() {
            return None;
        }
        Some(BooleanQuery::new(clauses))
    }

    /// Returns the clauses that decide which pages count, not where they stand.
    fn filters(&self, query: &Query, scope: Scope<'_>) -> Vec<Clause> {
        let hosts = |hosts: &[String]| -> Box<dyn tantivy::query::Query> {
            let any = hosts.iter().map(|host| self.term(self.fields.host, host)).collect();
            Box::new(ConstScoreQuery::new(Box::new(BooleanQuery::union(any)), 0.0))
        };
        let mut clauses: Vec<Clause> = Vec::new();
        if !query.sites.is_empty() {
            clauses.push((Occur::Must, hosts(&query.sites)));
        }
        if let Some(host) = scope.host {
            clauses.push((Occur::Must, hosts(&[host.to_owned()])));
        }
        if scope.news {
            let news = ConstScoreQuery::new(self.term(self.fields.kind, "news"), 0.0);
            clauses.push((Occur::Must, Box::new(news)));
        }
        let blocked = scope.blocked.map(BlockList::names).unwrap_or_default();
        for hidden in [blocked, &query.excluded_sites] {
            if !hidden.is_empty() {
                clauses.push((Occur::MustNot, hosts(hidden)));
            }
        }
        clauses
    }

    /// Returns one clause for each word that is looked for.
    fn word_clauses(&self, query: &Query) -> Vec<Box<dyn tantivy::query::Query>> {
        let text = query.text.join(" ");
        let mut wanted = words(&text);
        let mut seen = std::collections::HashSet::new();
        wanted.retain(|word| seen.insert(word.clone()));
        if wanted.iter().any(|word| !is_common(word)) {
            wanted.retain(|word| !is_common(word));
        }
        wanted.truncate(LONGEST_QUERY);
        let mut clauses: Vec<_> = wanted.iter().map(|word| self.word_clause(word)).collect();
        // What the dictionary cuts differently here and on the page meets in pairs.
        let mut pairs = grams(&text);
        pairs.retain(|pair| seen.insert(pair.clone()));
        pairs.truncate(LONGEST_QUERY);
        if !pairs.is_empty() {
            let pairs = pairs.iter().map(|pair| self.boosted(self.fields.grams, pair, GRAMS));
            clauses.push(Box::new(BooleanQuery::union(pairs.collect())));
        }
        clauses
    }

    fn word_clause(&self, word: &str) -> Box<dyn tantivy::query::Query> {
        let fields = &self.fields;
        let mut places = vec![
            self.boosted(fields.title, word, TITLE),
            self.boosted(fields.headings, word, HEADINGS),
            self.boosted(fields.text, word, TEXT),
            self.boosted(fields.url, word, URL),
        ];
        let pairs = grams(word);
        places.extend(pairs.iter().map(|pair| self.boosted(fields.grams, pair, GRAMS)));
        Box::new(BooleanQuery::union(places))
    }

    fn boosted(&self, field: Field, word: &str, boost: f32) -> Box<dyn tantivy::query::Query> {
        Box::new(BoostQuery::new(self.term(field, word), boost))
    }

    #[expect(clippy::unused_self, reason = "reads as the other clauses do")]
    fn term(&self, field: Field, word: &str) -> Box<dyn tantivy::query::Query> {
        Box::new(TermQuery::new(Term::from_field_text(field, word), IndexRecordOption::WithFreqs))
    }
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
    let mut surface = query.phrases.clone();
    for word in query.text.iter().flat_map(|text| words(text)) {
        // A stem is the beginning of its forms, except for `-y` and `-i`.
        let stem = word.strip_suffix('i').filter(|stem| stem.len() > 2).unwrap_or(&word);
        if !is_common(&word) && !surface.iter().any(|seen| seen == stem) {
            surface.push(stem.to_owned());
        }
    }
    surface
}
