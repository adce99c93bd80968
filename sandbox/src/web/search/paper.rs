//! Scholarly papers: what a page says of the paper that it is about.
//!
//! Pages name their papers as those of publishers do, in the `citation_*` tags that
//! Google Scholar reads ("Inclusion guidelines for webmasters"); a page with a
//! `citation_title` is the page of a paper. How often a paper is cited is what the page
//! says (`citation_cited_by`), or else how many papers of this web name it among their
//! `citation_reference`s.

use std::collections::{HashMap, HashSet};

use serde::{Deserialize, Serialize};
use url::Url;

use super::document::Document;
use crate::words::folded;

/// A reference that is only text names a paper when it holds the title, if that has at
/// least so many characters: shorter ones occur by chance.
const TELLING: usize = 12;

/// One paper.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(in crate::web) struct Paper {
    /// Its title.
    pub(in crate::web) title: String,
    /// Who wrote it, in order, as written.
    pub(in crate::web) authors: Vec<String>,
    /// Journal, conference or institution.
    pub(in crate::web) venue: Option<String>,
    /// The year of publication.
    pub(in crate::web) year: Option<i16>,
    /// Where its PDF is.
    pub(in crate::web) pdf: Option<String>,
    /// What it says of itself.
    pub(in crate::web) summary: Option<String>,
    /// Its DOI.
    pub(in crate::web) doi: Option<String>,
    /// How often it is cited; before counting, what the page says.
    pub(in crate::web) cited: Option<u64>,
    /// What it refers to, as written.
    references: Vec<String>,
}

impl Paper {
    /// Reads a paper off the `<meta>` tags of a page, given as name and content.
    pub(super) fn read(tags: &[(String, String)], page: &Url) -> Option<Self> {
        let all = |names: &'static [&'static str]| {
            let fits = move |tag: &&(String, String)| names.contains(&tag.0.as_str());
            tags.iter().filter(fits).map(|(_, content)| content.trim().to_owned())
        };
        let first = |names: &'static [&'static str]| all(names).find(|content| !content.is_empty());
        let year = first(&["citation_publication_date", "citation_date", "citation_year"]);
        Some(Self {
            title: first(&["citation_title"])?,
            authors: all(&["citation_author"]).filter(|name| !name.is_empty()).collect(),
            venue: first(&[
                "citation_journal_title",
                "citation_conference_title",
                "citation_dissertation_institution",
                "citation_technical_report_institution",
                "citation_inbook_title",
                "citation_publisher",
            ]),
            year: year.and_then(|date| year_of(&date)),
            pdf: first(&["citation_pdf_url"])
                .and_then(|url| page.join(&url).ok())
                .map(|url| url.to_string()),
            summary: first(&["citation_abstract", "dc.description", "description"]),
            doi: first(&["citation_doi"]).map(|doi| plain_doi(&doi)),
            cited: first(&["citation_cited_by"]).and_then(|count| count.parse().ok()),
            references: all(&["citation_reference"]).collect(),
        })
    }

    /// Writes who published it, where and when, as Google Scholar does.
    #[must_use]
    pub(in crate::web) fn publication(&self, host: &str) -> String {
        let authors: Vec<_> = self.authors.iter().map(|name| short(name)).collect();
        let year = self.year.map(|year| year.to_string());
        let venue: Vec<_> = self.venue.iter().cloned().chain(year).collect();
        let parts = [authors.join(", "), venue.join(", "), host.to_owned()];
        parts.into_iter().filter(|part| !part.is_empty()).collect::<Vec<_>>().join(" - ")
    }
}

/// Returns the first four digits in a row, as a year.
fn year_of(date: &str) -> Option<i16> {
    let runs = date.split(|c: char| !c.is_ascii_digit());
    runs.filter(|run| run.len() == 4).find_map(|run| run.parse().ok())
}

/// Returns a DOI in its one spelling.
fn plain_doi(written: &str) -> String {
    let written = written.trim().to_ascii_lowercase();
    let bare = written.strip_prefix("doi:").unwrap_or(&written).trim_start();
    bare.split_once("doi.org/").map_or(bare, |(_, doi)| doi).to_owned()
}

/// Shortens `Holm, Ida Maria` and `Ida Maria Holm` to `IM Holm`; others stay.
fn short(name: &str) -> String {
    if !name.is_ascii() {
        return name.to_owned();
    }
    let (first, last) = match name.split_once(',') {
        Some((last, first)) => (first.trim(), last.trim()),
        None => name.trim().rsplit_once(' ').unwrap_or(("", name.trim())),
    };
    let initials: String =
        first.split([' ', '-', '.']).filter_map(|part| part.chars().next()).collect();
    format!("{initials} {last}").trim().to_owned()
}

/// Returns a title so that spellings of it are one: letters and digits only.
fn bare(title: &str) -> String {
    folded(title).chars().filter(|c| c.is_alphanumeric()).collect()
}

/// Counts who cites whom and writes it into the papers that do not say.
pub(super) fn count_citations(documents: &mut [Document]) {
    let papers = || {
        documents
            .iter()
            .enumerate()
            .filter_map(|(number, document)| Some((number, document.paper.as_ref()?)))
    };
    let titles: HashMap<String, usize> =
        papers().map(|(number, paper)| (bare(&paper.title), number)).collect();
    let dois: HashMap<String, usize> =
        papers().filter_map(|(number, paper)| Some((paper.doi.clone()?, number))).collect();
    let mut citing: HashMap<usize, HashSet<usize>> = HashMap::new();
    for (number, paper) in papers() {
        for reference in &paper.references {
            if let Some(cited) = meant(reference, &titles, &dois).filter(|cited| *cited != number) {
                citing.entry(cited).or_default().insert(number);
            }
        }
    }
    for (number, document) in documents.iter_mut().enumerate() {
        if let Some(paper) = &mut document.paper {
            let counted = citing.get(&number).map_or(0, HashSet::len);
            paper.cited = paper.cited.or(Some(counted as u64));
        }
    }
}

/// Returns the paper that a reference names: by the fields `citation_title=…` and
/// `citation_doi=…`, or as text that holds its title or DOI.
fn meant(
    reference: &str,
    titles: &HashMap<String, usize>,
    dois: &HashMap<String, usize>,
) -> Option<usize> {
    let field = |name: &str| {
        let fields = reference.split(';').filter_map(|field| field.split_once('='));
        fields.map(|(key, value)| (key.trim(), value)).find(|(key, _)| *key == name)
    };
    if let Some((_, doi)) = field("citation_doi")
        && let Some(number) = dois.get(&plain_doi(doi))
    {
        return Some(*number);
    }
    if let Some((_, title)) = field("citation_title") {
        return titles.get(&bare(title)).copied();
    }
    let text = bare(reference);
    let held = titles
        .iter()
        .filter(|(title, _)| title.chars().count() >= TELLING && text.contains(title.as_str()));
    // The longest title that is held; a shorter one may be a part of it.
    let best = held.max_by_key(|(title, number)| (title.len(), usize::MAX - **number));
    best.map(|(_, number)| *number)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn paper(tags: &[(&str, &str)]) -> Option<Paper> {
        let tags: Vec<_> =
            tags.iter().map(|(name, content)| (name.to_string(), content.to_string())).collect();
        Paper::read(&tags, &Url::parse("https://journal.test/a/1").unwrap())
    }

    #[test]
    fn a_paper_is_read_off_the_tags_of_its_page() {
        let got = paper(&[
            ("citation_title", "Seiches of the Sound"),
            ("citation_author", "Holm, Ida Maria"),
            ("citation_author", "Bo Rusk"),
            ("citation_author", "陈港生"),
            ("citation_journal_title", "Tidal Letters"),
            ("citation_publication_date", "2019/05/02"),
            ("citation_pdf_url", "/pdf/1.pdf"),
            ("citation_doi", "https://doi.org/10.1/AB"),
            ("citation_cited_by", "7"),
        ])
        .unwrap();
        assert_eq!(
            got.publication("journal.test"),
            "IM Holm, B Rusk, 陈港生 - Tidal Letters, 2019 - journal.test"
        );
        assert_eq!(got.pdf.as_deref(), Some("https://journal.test/pdf/1.pdf"));
        assert_eq!((got.doi.as_deref(), got.cited), (Some("10.1/ab"), Some(7)));
        assert_eq!(paper(&[("citation_author", "Bo Rusk")]), None, "no title, no paper");
        let bare = paper(&[("citation_title", "T"), ("citation_date", "soon")]).unwrap();
        assert_eq!(bare.publication("j.test"), "j.test", "nothing is made up");
    }

    #[test]
    fn references_are_counted_however_they_are_written() {
        let cites = |title: &str, references: &[&str]| {
            let mut tags = vec![("citation_title", title)];
            tags.extend(references.iter().map(|reference| ("citation_reference", *reference)));
            Document { paper: paper(&tags), ..Document::default() }
        };
        let mut papers = vec![
            cites("Seiches of the Sound", &[]),
            cites("A", &["citation_title=Seiches of the Sound;citation_author=Holm"]),
            cites(
                "B",
                &["Holm (2019). Seiches of the sound. Tidal Letters.", "Seiches of the Sound"],
            ),
            cites("Seiches of the Sound revisited", &["Seiches of the Sound revisited, draft"]),
            cites("C", &["Rusk: Seiches of the Sound, Revisited.", "Unknown work"]),
            Document::default(),
        ];
        count_citations(&mut papers);
        let counts: Vec<_> =
            papers.iter().map(|it| it.paper.as_ref().and_then(|paper| paper.cited)).collect();
        assert_eq!(counts, [Some(2), Some(0), Some(0), Some(1), Some(0), None]);
    }
}
