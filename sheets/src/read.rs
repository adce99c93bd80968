//! A workbook of whatever format.

use crate::error::Error;
use crate::model::{Part, Workbook};
use crate::{foreign, ods, xlsx};

/// The most sheets.
pub(crate) const SHEETS: usize = 2_000;

/// The formats of workbooks.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Format {
    /// Office Open XML: xlsx, xlsm, xltx, xltm.
    Xlsx,
    /// The same in binary parts.
    Xlsb,
    /// The format before 2007.
    Xls,
    /// `OpenDocument`.
    Ods,
}

impl Format {
    /// What it is called.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Xlsx => "Excel workbook (xlsx)",
            Self::Xlsb => "Excel workbook (xlsb)",
            Self::Xls => "Excel workbook (xls)",
            Self::Ods => "OpenDocument spreadsheet (ods)",
        }
    }
}

/// Reads the sheets of a workbook, or the part that is asked for.
pub fn read(format: Format, bytes: Vec<u8>, part: &Part) -> Result<Workbook, Error> {
    let mut workbook = match format {
        Format::Xlsx => xlsx::read(&bytes, part),
        Format::Ods => ods::read(&bytes, part),
        Format::Xlsb | Format::Xls => foreign::read(format, bytes, part),
    }?;
    if workbook.names.is_empty() {
        return Err(Error::Damaged("it has no sheets".to_owned()));
    }
    format.name().clone_into(&mut workbook.kind);
    Ok(workbook)
}

/// Returns the numbers of the sheets that are asked for: of all sheets, of the one that is
/// named, or of the first where only a range is given.
pub(crate) fn chosen(names: &[String], part: &Part) -> Result<Vec<usize>, Error> {
    if names.len() > SHEETS {
        return Err(Error::TooMuch(format!("{} sheets", names.len())));
    }
    let Some(wanted) = &part.sheet else {
        let count = if part.area.is_some() { 1 } else { names.len() };
        return Ok((0..names.len().min(count)).collect());
    };
    let exact = names.iter().position(|name| name == wanted);
    let close = || {
        let plain = |name: &str| name.trim().to_lowercase();
        names.iter().position(|name| plain(name) == plain(wanted))
    };
    match exact.or_else(close) {
        Some(at) => Ok(vec![at]),
        None => Err(Error::NoSheet { wanted: wanted.clone(), names: names.to_vec() }),
    }
}
