//! Reports: what a run and its trials look like to people and to programs.
//!
//! A report is made of what is stored, and of nothing else: it runs no judge, asks no
//! model and changes no file, so it can be made again at any time. Everything here
//! returns its text or value; only the command line prints. Texts that came from models,
//! tools or task files are neutralised before they reach a terminal.

mod ablation;
mod agreement;
mod campaign;
mod comparable;
mod compare;
mod conduct;
mod curves;
mod errors;
mod figures;
mod gate;
mod graph;
mod groups;
mod json;
mod layout;
mod listing;
mod messages;
mod paired;
mod resilience;
mod rubric;
mod sanitize;
mod stages;
mod table;
mod terminal;
mod transcript;
mod unpassed;
mod usage;
mod view;

pub use agreement::{AgreementView, ItemKind, LabelledItem, agreement, agreement_json};
pub use campaign::{OFF, cells_csv, trials_csv};
pub use comparable::{ALLOWABLE, Difference, Pinned, differences, pins};
pub use compare::{Comparison, comparison_json, comparison_terminal};
pub use curves::svg as curves_svg;
pub use errors::{ErrorsView, FailedTrial, errors, errors_json};
pub use gate::{
    Compared, GateView, Gated, gate_json, junit as gate_junit, markdown as gate_markdown,
    terminal as gate_terminal,
};
pub use graph::{GraphOptions, graph};
pub use groups::Grouping;
pub use json::json;
pub use listing::listing;
pub use messages::messages;
pub use resilience::Faulted;
pub use sanitize::visible;
pub use terminal::terminal;
pub use transcript::{TranscriptOptions, transcript};
pub use view::{
    AttemptView, ConditionLabel, Episodes, RunLabel, RunView, SuiteLabel, TaskLabel, TrialView,
};

use crate::metrics::Prices;

/// What a report shows beside what it always shows.
#[derive(Debug, Clone, Default)]
pub struct ReportOptions {
    /// What the rows of the table are grouped by; empty for the usual groups.
    pub by: Vec<Grouping>,
    /// Whether the table has a row for every number of trials from 1 to k.
    pub all_k: bool,
    /// What tokens cost; without it no cost is shown.
    pub prices: Option<Prices>,
}

/// Looks a blob up by its digest.
pub type Resolve<'a> = dyn Fn(&str) -> Option<Vec<u8>> + 'a;

#[cfg(test)]
mod tests;
