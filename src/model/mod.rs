//! Models behind any OpenAI-compatible chat-completions endpoint.
//!
//! [`Model::transcribe`] has the words of a sound written down, at the route beside it.
//! [`Model::chat`] sends a conversation and returns an [`Exchange`]: the body exactly as
//! received, what it means, and what it took to get it. Replies are not streamed, and
//! nothing in here decides what an agent does next.
//!
//! What an endpoint answers in a form of its own is understood where that is safe, and
//! each such case has a name in [`Reply::peculiar`]. An error means that the endpoint
//! would not or could not answer; a bad answer of the model is a reply.
//!
//! A [`Cassette`] keeps the exchanges of a run or serves those of an earlier one, see
//! `README.md` beside this file.

mod bare;
mod cassette;
mod client;
mod difference;
mod endpoint;
mod error;
mod foreign;
mod gate;
mod judgement;
mod line;
mod message;
mod reel;
mod reply;
mod retry;
mod sound;
mod structured;

pub use bare::calls_in;
pub use cassette::{Cassette, CassetteError, Met};
pub use client::{Exchange, Model};
pub use endpoint::{Endpoint, Secret, Settings};
pub use error::{Failure, ModelError};
pub use message::{Message, Offered};
pub use reply::Reply;
pub use retry::Retrying;
pub use sound::Sound;
pub use structured::{Asked, Structured, json_text, said};
