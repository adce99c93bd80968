//! Annotation: a model reads what a failed trial did and says what went wrong.
//!
//! It works from the store alone and moves no verdict. What it reads is a bounded digest
//! of the transcript beside the reference, handed over as data; what it replies counts
//! only in a strict form, with a passage that occurs in the transcript. A reply that does
//! not is asked for once more, and then the trial is unannotated: never guessed.

mod annotator;
mod reply;
mod story;

pub use annotator::{Annotated, Annotator, Case};
pub use story::{Told, tell};
