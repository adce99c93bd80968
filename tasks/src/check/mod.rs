//! Whether the reference answer stands in what the agent is given.
//!
//! An agent that finds the answer lying about has not solved the task. So the answer
//! may stand nowhere in the request, the attachments and the web of a task, unless the
//! task declares the place and says why finding it there is work; and a declared place
//! must hold it, or the declaration is wrong.

mod cells;
mod forms;
mod leaks;
mod materials;
mod pattern;

pub(crate) use forms::Forms;
pub use leaks::{Leak, leaks};
pub use materials::{Material, materials};
pub use pattern::Pattern;
