//! Workbooks and delimited tables as rows, details and summaries, in bounded memory.
//!
//! A crate of its own so that it is optimised in the daily build too: a large sheet is
//! millions of cells, and every one passes through here. It runs in worker processes
//! only, knows no files and no network, and takes bytes or decoded text.
//!
//! The invariant: memory grows with what is kept (the first rows, the last, a bounded
//! count of values per column), never with what a file holds or claims. Where something
//! is left out, the result says so.

mod areas;
mod cell;
mod columns;
mod date;
pub mod delimited;
mod error;
mod foreign;
mod formats;
mod formulas;
mod gather;
mod markdown;
mod model;
mod ods;
mod place;
mod read;
mod strings;
mod xlsx;
mod xml;

pub use error::Error;
pub use model::{Column, Detail, Formula, Gap, Part, Row, Sheet, Visibility, Workbook};
pub use place::Area;
pub use read::{Format, read};
