//! Pages: the actions of an agent, done in one browser context.
//!
//! A [`Session`] holds the tabs of one attempt. Each action is checked first (is the
//! element there, can it be worked, does anything cover it), then done as a person
//! would, with real mouse and key events, then waited for, and what the page looks like
//! afterwards is returned. Whatever opens beside it (dialogs, tabs, downloads) is dealt
//! with by a fixed rule and told.
//!
//! The scripts in `js/` run in a world of their own in each frame, which the page can
//! neither see nor change. What they are asked goes in as JSON values; no text of an
//! agent or of a page ever becomes part of a script. Nothing here opens an address that
//! is not `http` or `https`.
//!
//! The one invariant: every call ends within its limit, whatever the page does. A page
//! whose script does not end has it stopped.

mod ask;
mod click;
mod clickable;
mod download;
mod fill;
mod find;
mod frames;
mod go;
mod look;
mod names;
mod options;
mod session;
mod signals;
mod tab;
pub(super) mod text;
mod video;
mod watch;

pub use find::NOWHERE;
pub use options::SessionOptions;
pub use session::Session;
