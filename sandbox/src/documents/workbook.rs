//! Workbooks, which a crate of their own reads (`wildgym-sheets`): its reasons in the words
//! of documents.

pub use wildgym_sheets::{
    Area, Column, Detail, Formula, Gap, Part, Row, Sheet, Visibility, Workbook,
};

use wildgym_sheets::Error;
pub(super) use wildgym_sheets::Format;

use super::Unreadable;

/// Reads the sheets of a workbook, or the part that is asked for.
pub(super) fn read(format: Format, bytes: Vec<u8>, part: &Part) -> Result<Workbook, Unreadable> {
    wildgym_sheets::read(format, bytes, part).map_err(|error| reason(format.name(), error))
}

/// Words why a workbook yields nothing.
pub(super) fn reason(kind: &'static str, error: Error) -> Unreadable {
    match error {
        Error::Encrypted => Unreadable::Encrypted("workbook"),
        Error::Damaged(reason) => Unreadable::Damaged { kind, reason },
        Error::TooMuch(reason) => Unreadable::TooMuch(reason),
        error @ Error::NoSheet { .. } => Unreadable::Missing(error.to_string()),
    }
}
