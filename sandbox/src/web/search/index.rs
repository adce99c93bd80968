//! The inverted index on disk or, where the cache cannot be written, in memory.
//!
//! A document's number in the index is its rank by URL. That holds because everything
//! goes into one segment in one go, sorted. The index holds the documents themselves
//! too, so that opening it reads none of them. Text reaches tantivy already cut into
//! words, so that pages and queries are cut by the same code.

use std::io;

use camino::{Utf8Path, Utf8PathBuf};
use jiff::civil::Date;
use tantivy::columnar::Column;
use tantivy::indexer::SingleSegmentIndexWriter;
use tantivy::schema::{
    Field, IndexRecordOption, NumericOptions, STORED, Schema, TantivyDocument, TextFieldIndexing,
    TextOptions, Value as _,
};
use tantivy::{DocAddress, Index, ReloadPolicy, Searcher, TantivyError};

use super::document::Document;
use crate::web::hermetic::HermeticError;
use crate::words::{grams, words};

/// Part of every digest: a change of what is indexed, or how, is a new number.
pub(in crate::web) const FORMAT: &str = "wildgym search index 2";

/// Memory that indexing plans with, in bytes; it may use more.
const BUDGET: usize = 48 << 20;

/// The fields of the index.
#[derive(Debug, Clone, Copy)]
pub(super) struct Fields {
    pub(super) title: Field,
    pub(super) headings: Field,
    pub(super) text: Field,
    /// Pairs of Chinese characters of title, headings and text.
    pub(super) grams: Field,
    /// The words of the URL.
    pub(super) url: Field,
    /// The host and every domain above it, each as one word.
    pub(super) host: Field,
    /// `news` and `paper`, for what is that.
    pub(super) kind: Field,
    /// The suffix of its kind of file.
    pub(super) filetype: Field,
    /// The days since 1970 of its date; none where it has none.
    pub(super) day: Field,
    /// 1 for Chinese, 0 for the rest.
    chinese: Field,
    /// How often a paper is cited.
    cited: Field,
    /// The document as JSON.
    record: Field,
}

impl Fields {
    fn new() -> (Schema, Self) {
        let mut schema = Schema::builder();
        let ranked = TextFieldIndexing::default()
            .set_tokenizer("whitespace")
            .set_index_option(IndexRecordOption::WithFreqs);
        let plain = TextFieldIndexing::default()
            .set_tokenizer("whitespace")
            .set_index_option(IndexRecordOption::Basic)
            .set_fieldnorms(false);
        let mut add = |name: &str, indexing: &TextFieldIndexing| {
            schema
                .add_text_field(name, TextOptions::default().set_indexing_options(indexing.clone()))
        };
        let (title, headings, text) =
            (add("title", &ranked), add("headings", &ranked), add("text", &ranked));
        let (grams, url) = (add("grams", &ranked), add("url", &ranked));
        let (host, kind, filetype) =
            (add("host", &plain), add("kind", &plain), add("filetype", &plain));
        let fast = NumericOptions::default().set_fast();
        let day = schema.add_i64_field("day", fast.clone());
        let chinese = schema.add_u64_field("chinese", fast.clone());
        let cited = schema.add_u64_field("cited", fast);
        let record = schema.add_text_field("record", STORED);
        let fields = Self {
            title,
            headings,
            text,
            grams,
            url,
            host,
            kind,
            filetype,
            day,
            chinese,
            cited,
            record,
        };
        (schema.build(), fields)
    }
}

/// An opened index.
pub(super) struct Opened {
    pub(super) searcher: Searcher,
    pub(super) fields: Fields,
    day: Option<Column<i64>>,
    chinese: Option<Column<u64>>,
    cited: Option<Column<u64>>,
}

impl Opened {
    fn new(index: &Index, fields: Fields) -> Result<Self, TantivyError> {
        let reader = index.reader_builder().reload_policy(ReloadPolicy::Manual).try_into()?;
        let searcher = reader.searcher();
        // An index without documents has no segment and no columns.
        let columns = searcher.segment_readers().first().map(tantivy::SegmentReader::fast_fields);
        Ok(Self {
            day: columns.and_then(|columns| columns.i64("day").ok()),
            chinese: columns.and_then(|columns| columns.u64("chinese").ok()),
            cited: columns.and_then(|columns| columns.u64("cited").ok()),
            searcher,
            fields,
        })
    }

    /// Returns a document.
    pub(super) fn document(&self, number: u32) -> Option<Document> {
        let stored: TantivyDocument = self.searcher.doc(DocAddress::new(0, number)).ok()?;
        serde_json::from_str(stored.get_first(self.fields.record)?.as_str()?).ok()
    }

    /// Returns the date of a document, in days since 1970.
    pub(super) fn day(&self, number: u32) -> Option<i64> {
        self.day.as_ref()?.first(number)
    }

    /// Returns whether a document is Chinese.
    pub(super) fn is_chinese(&self, number: u32) -> bool {
        self.chinese.as_ref().and_then(|column| column.first(number)) == Some(1)
    }

    /// Returns how often a paper is cited.
    pub(super) fn cited(&self, number: u32) -> u64 {
        self.cited.as_ref().and_then(|column| column.first(number)).unwrap_or(0)
    }
}

/// Returns the days since 1970.
pub(super) fn days(date: Date) -> i64 {
    (date - jiff::civil::date(1970, 1, 1)).get_days().into()
}

/// Opens the index of that digest below `cache`, or builds it of the documents.
pub(super) fn open(
    digest: &str,
    cache: &Utf8Path,
    documents: impl FnOnce() -> Result<Vec<Document>, HermeticError>,
) -> Result<Opened, HermeticError> {
    let (schema, fields) = Fields::new();
    let place = cache.join(format!("search-{digest}"));
    if let Some(index) = stored(&place, &schema)
        && let Ok(opened) = Opened::new(&index, fields)
    {
        return Ok(opened);
    }
    let mut documents = documents()?;
    super::paper::count_citations(&mut documents);
    // A document's number is its rank by URL: ties are broken by it.
    documents.sort_by(|a, b| a.url.cmp(&b.url));
    let index = store(&documents, &place, &schema, fields)?;
    Opened::new(&index, fields).map_err(HermeticError::from_index)
}

/// Opens an index that is there and whole; anything else is as good as none.
fn stored(place: &Utf8Path, schema: &Schema) -> Option<Index> {
    let index = Index::open_in_dir(place).ok()?;
    (index.schema() == *schema).then_some(index)
}

/// Builds the index beside its place and moves it there in one step, so that another
/// process sees a whole index or none.
fn store(
    documents: &[Document],
    place: &Utf8Path,
    schema: &Schema,
    fields: Fields,
) -> Result<Index, HermeticError> {
    let on_disk = || -> Result<Index, TantivyError> {
        let parent = place.parent().unwrap_or(place);
        std::fs::create_dir_all(parent)?;
        let draft = tempfile::Builder::new().prefix("search-draft-").tempdir_in(parent)?;
        build(documents, Index::create_in_dir(draft.path(), schema.clone())?, fields)?;
        publish(draft, place)?;
        Index::open_in_dir(place)
    };
    match on_disk() {
        Ok(index) => Ok(index),
        // A cache that cannot be used costs time, not the run.
        Err(_) => build(documents, Index::create_in_ram(schema.clone()), fields)
            .map_err(HermeticError::from_index),
    }
}

/// Moves a finished draft to its place; whatever lies there already is damaged, or
/// another process was faster with the same content.
fn publish(draft: tempfile::TempDir, place: &Utf8Path) -> io::Result<()> {
    if std::fs::rename(draft.path(), place).is_err() {
        let aside = Utf8PathBuf::from(format!("{place}.old-{}", std::process::id()));
        std::fs::rename(place, &aside)?;
        std::fs::remove_dir_all(&aside)?;
        std::fs::rename(draft.path(), place)?;
    }
    // The directory has moved away, so there is nothing left to remove.
    let _ = draft.keep();
    Ok(())
}

/// Writes all documents into an empty index.
fn build(documents: &[Document], index: Index, fields: Fields) -> Result<Index, TantivyError> {
    let mut writer = SingleSegmentIndexWriter::<TantivyDocument>::new(index, BUDGET)?;
    for document in documents {
        let mut entry = TantivyDocument::new();
        let all = format!("{}\n{}\n{}", document.title, document.headings, document.text);
        entry.add_text(fields.title, words(&document.title).join(" "));
        entry.add_text(fields.headings, words(&document.headings).join(" "));
        entry.add_text(fields.text, words(&document.text).join(" "));
        entry.add_text(fields.grams, grams(&all).join(" "));
        entry.add_text(fields.url, words(&document.url).join(" "));
        entry.add_text(fields.host, domains(&document.host).join(" "));
        let kinds = [(document.news, "news"), (document.paper.is_some(), "paper")];
        let kinds: Vec<_> = kinds.iter().filter(|(is, _)| *is).map(|(_, kind)| *kind).collect();
        entry.add_text(fields.kind, kinds.join(" "));
        entry.add_text(fields.filetype, &document.filetype);
        if let Some(date) = document.date {
            entry.add_i64(fields.day, days(date));
        }
        entry.add_u64(fields.chinese, u64::from(document.language == "zh"));
        let cited = document.paper.as_ref().and_then(|paper| paper.cited);
        entry.add_u64(fields.cited, cited.unwrap_or(0));
        let record = serde_json::to_string(document).map_err(io::Error::from)?;
        entry.add_text(fields.record, record);
        writer.add_document(entry)?;
    }
    writer.finalize()
}

/// Returns a host and every domain above it.
fn domains(host: &str) -> Vec<&str> {
    let above = host.match_indices('.').map(|(at, _)| &host[at + 1..]);
    std::iter::once(host).chain(above).collect()
}
