//! The inverted index on disk or, where the cache cannot be written, in memory.
//!
//! A document's number in the index is its place in the list of documents. That
//! holds because everything goes into one segment in one go. Text reaches tantivy
//! already cut into words, so that pages and queries are cut by the same code.

use std::io;

use camino::{Utf8Path, Utf8PathBuf};
use tantivy::indexer::SingleSegmentIndexWriter;
use tantivy::schema::{
    Field, IndexRecordOption, Schema, TantivyDocument, TextFieldIndexing, TextOptions,
};
use tantivy::{Index, IndexReader, ReloadPolicy, TantivyError};

use super::document::Document;
use crate::web::hermetic::HermeticError;
use crate::words::{grams, words};

/// Part of every digest: a change of what is indexed, or how, is a new number.
const FORMAT: &str = "wildgym search index 1";

/// Memory that indexing plans with, in bytes; it may use more.
const BUDGET: usize = 48 << 20;

/// The fields of the index.
#[derive(Debug, Clone, Copy)]
pub(super) struct Fields {
    pub(super) title: Field,
    pub(super) headings: Field,
    pub(super) text: Field,
    /// Pairs of Chinese characters of title and text.
    pub(super) grams: Field,
    /// The words of the URL.
    pub(super) url: Field,
    /// The host and every domain above it, each as one word.
    pub(super) host: Field,
    /// `news`, for news.
    pub(super) kind: Field,
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
        let fields = Self {
            title: add("title", &ranked),
            headings: add("headings", &ranked),
            text: add("text", &ranked),
            grams: add("grams", &ranked),
            url: add("url", &ranked),
            host: add("host", &plain),
            kind: add("kind", &plain),
        };
        (schema.build(), fields)
    }
}

/// Opens the index of these documents below `cache`, or builds it.
pub(super) fn open(
    documents: &[Document],
    cache: &Utf8Path,
) -> Result<(IndexReader, Fields), HermeticError> {
    let (schema, fields) = Fields::new();
    let place = cache.join(format!("search-{}", digest(documents)));
    let index = match stored(&place, &schema, documents.len()) {
        Some(index) => index,
        None => store(documents, &place, &schema, fields)?,
    };
    let reader = index.reader_builder().reload_policy(ReloadPolicy::Manual).try_into();
    Ok((reader.map_err(HermeticError::from_index)?, fields))
}

/// Opens an index that is there and whole; anything else is as good as none.
fn stored(place: &Utf8Path, schema: &Schema, count: usize) -> Option<Index> {
    let index = Index::open_in_dir(place).ok()?;
    let documents = index.reader().ok()?.searcher().num_docs();
    (index.schema() == *schema && documents == count as u64).then_some(index)
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
        let title_and_text = format!("{}\n{}", document.title, document.text);
        entry.add_text(fields.title, words(&document.title).join(" "));
        entry.add_text(fields.headings, words(&document.headings).join(" "));
        entry.add_text(fields.text, words(&document.text).join(" "));
        entry.add_text(fields.grams, grams(&title_and_text).join(" "));
        entry.add_text(fields.url, words(&document.url).join(" "));
        entry.add_text(fields.host, domains(&document.host).join(" "));
        entry.add_text(fields.kind, if document.news { "news" } else { "" });
        writer.add_document(entry)?;
    }
    writer.finalize()
}

/// Returns a host and every domain above it.
fn domains(host: &str) -> Vec<&str> {
    let above = host.match_indices('.').map(|(at, _)| &host[at + 1..]);
    std::iter::once(host).chain(above).collect()
}

/// Returns a digest of everything that goes into the index.
fn digest(documents: &[Document]) -> String {
    let mut hasher = blake3::Hasher::new();
    hasher.update(FORMAT.as_bytes());
    for document in documents {
        let news = if document.news { "news" } else { "" };
        for part in
            [&document.url, &document.host, &document.title, &document.headings, &document.text]
                .map(String::as_str)
                .into_iter()
                .chain([news])
        {
            hasher.update(&(part.len() as u64).to_le_bytes());
            hasher.update(part.as_bytes());
        }
    }
    hasher.finalize().to_hex().as_str()[..32].to_owned()
}
