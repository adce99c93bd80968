//! The gym itself: agents, models, judges, the runner, the store and the reports.
//!
//! The modules lie on floors of their own, and an import goes down, never up:
//! `record`, `verdict`, `metrics` are plain data and arithmetic; `model` and `store`
//! speak to endpoints and disks, and `fault` spoils calls; `agent`, `judge` and `annotate` act on
//! them, `mcp` lets others act, and `inject` stands between others; `runner` makes trials out of
//! plans; `report` reads what is stored, and `api` lets trainers step episodes over HTTP; `cli`
//! alone prints, reads the environment and exits.

pub mod agent;
pub mod annotate;
pub mod api;
pub mod cli;
pub mod fault;
pub mod inject;
pub mod judge;
pub mod mcp;
pub mod metrics;
pub mod model;
pub mod record;
pub mod report;
pub mod runner;
pub mod store;
pub mod verdict;
