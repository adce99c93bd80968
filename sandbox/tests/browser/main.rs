//! Page actions in a real browser, on pages served by the tests themselves.

#![expect(clippy::unwrap_used, reason = "helpers of tests, where a panic is the report")]

mod clicking;
mod filling;
mod going;
mod miniwob;
mod seeing;
mod stage;
mod timers;
mod trouble;
