//! Office Open XML workbooks: container (`package`), workbook (`book`), looks (`styles`),
//! sheets (`sheet`) and what is attached to them (`extras`).

mod book;
mod extras;
pub(crate) mod package;
mod sheet;
mod styles;

pub(crate) use book::read;
