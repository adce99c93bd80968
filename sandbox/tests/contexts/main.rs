//! The browser as attempts hold it, in a real Chromium: nothing gets out, nothing is
//! shared, nothing stays.

#![expect(clippy::unwrap_used, reason = "the makers of rigs are not tests themselves")]

mod escape;
mod isolation;
mod life;
mod proxy;
mod rig;
mod visits;
