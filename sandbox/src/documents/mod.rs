//! Text out of documents and workbooks; runs inside worker processes only.

use serde::{Deserialize, Serialize};

/// The text of a document.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Document {
    /// What the bytes are, such as `PDF` or `CSV (GB18030)`.
    pub kind: String,
    /// The text, as Markdown where the document has structure.
    pub text: String,
    /// What a reader should know, such as pages that hold no text.
    pub notes: Vec<String>,
}

/// The sheets of a workbook.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Workbook {
    /// The sheets, in order.
    pub sheets: Vec<Sheet>,
}

/// One sheet.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Sheet {
    /// Its name.
    pub name: String,
}
