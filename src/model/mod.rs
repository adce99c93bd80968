//! Models behind any OpenAI-compatible chat-completions endpoint.
//!
//! [`Model::chat`] sends a conversation and returns an [`Exchange`]: the body exactly as
//! received, what it means, and what it took to get it. Replies are not streamed, and
//! nothing in here decides what an agent does next.
//!
//! What an endpoint answers in a form of its own is understood where that is safe, and
//! each such case has a name in [`Reply::peculiar`]. An error means that the endpoint
//! would not or could not answer; a bad answer of the model is a reply.

mod bare;
mod client;
mod endpoint;
mod error;
mod gate;
mod judgement;
mod message;
mod reply;
mod retry;

pub use client::{Exchange, Model};
pub use endpoint::{Endpoint, Secret, Settings};
pub use error::{Failure, ModelError};
pub use message::{Message, Offered};
pub use reply::Reply;
pub use retry::Retrying;
