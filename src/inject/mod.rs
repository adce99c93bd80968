//! Faults between any client and any server of the Model Context Protocol.
//!
//! A proxy that spoils calls of tools and nothing else: what is no `tools/call`, and no reply
//! to one that a fault hits, passes byte for byte, whatever it is. Neither side is changed and
//! neither has to know. Which calls are hit is decided by the same [`Schedule`](crate::fault::Schedule)
//! as in process, with the numbers of arrival as ingress numbers; so one profile, one seed and one
//! sequence of calls give the same decisions here and there. Only time is real: what is late
//! comes late.
//!
//! [`Desk`] decides, acts on replies and keeps the log; [`around`] stands between the pipes of a
//! program, [`router`] before an address. The one invariant: a request is answered once, by
//! the server or by the desk, or by nobody where that is the fault.
//!
//! It is for staging. It holds no credentials, terminates no encryption of its own and checks
//! nobody; whoever can reach it reaches the server behind it.

mod desk;
mod http;
mod json;
mod log;
mod message;
mod reply;
mod sse;
mod stdio;

pub use desk::Desk;
pub use http::{Upstream, UpstreamError, router};
pub use log::Log;
pub use stdio::{Ended, Ends, around};

/// Name of the field of `_meta`, in a result that a fault made or changed.
pub const MARK: &str = "wildgym/fault";

/// Name of the header, on a response over HTTP whose call a fault hit.
pub const HEADER: &str = "wildgym-fault";

/// Most bytes of a message that is looked into, 64 MiB; a longer one passes as it is.
pub(crate) const LARGEST: usize = 64 << 20;

#[cfg(test)]
mod tests;
