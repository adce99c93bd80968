//! Reports: what a run and its trials look like to people and to programs.
//!
//! A report is made of what is stored, and of nothing else: it runs no judge, asks no
//! model and changes no file, so it can be made again at any time. Everything here
//! returns its text or value; only the command line prints. Texts that came from models,
//! tools or task files are neutralised before they reach a terminal.

mod ablation;
mod comparable;
mod compare;
mod figures;
mod json;
mod layout;
mod listing;
mod messages;
mod paired;
mod sanitize;
mod table;
mod terminal;
mod transcript;
mod unpassed;
mod view;

pub use comparable::{ALLOWABLE, Difference, Pinned, differences};
pub use compare::{Comparison, comparison_json, comparison_terminal};
pub use json::json;
pub use listing::listing;
pub use messages::messages;
pub use sanitize::visible;
pub use terminal::terminal;
pub use transcript::{TranscriptOptions, transcript};
pub use view::{AttemptView, RunLabel, RunView, SuiteLabel, TaskLabel, TrialView};

/// Looks a blob up by its digest.
pub type Resolve<'a> = dyn Fn(&str) -> Option<Vec<u8>> + 'a;

#[cfg(test)]
mod tests;
