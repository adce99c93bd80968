//! Page actions in a real browser, on pages served by the tests themselves.

mod clicking;
mod filling;
mod going;
mod miniwob;
mod seeing;
mod stage;
mod trouble;
