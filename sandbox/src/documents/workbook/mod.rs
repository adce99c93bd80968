//! Workbooks: what one holds (`model`), how it is read (`read`), how it is shown (`markdown`).

mod markdown;
mod model;
mod read;

pub use model::{Formula, Row, Sheet, Visibility, Workbook};
pub(super) use read::{Format, read};
