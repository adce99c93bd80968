//! What tests of wildgym stand on: a scripted model behind a real socket.
//!
//! For development only; no product code depends on it, and it depends on none. The
//! scripted model is met at the wire, as a real one is, and checks every request the
//! way a strict endpoint would.

pub mod form;
pub mod navigator;
pub mod protocol;
pub mod response;
pub mod server;

pub use navigator::navigates;
pub use response::{
    Response, calls, cut, drop_connection, final_answer, hang, heard, json, raw, says, status,
};
pub use server::{Request, ScriptedServer, in_turn, rounds};
