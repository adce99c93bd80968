//! Why there was no reply.

use serde::{Deserialize, Serialize};

/// Why there was no reply. The messages are read by the agent; recordings keep the whole.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, thiserror::Error)]
#[serde(rename_all = "kebab-case")]
pub enum WebError {
    /// No host has that name.
    #[error("cannot reach `{0}`: the host is unknown")]
    Unreachable(String),
    /// The host is known, and no exchange with it came about.
    #[error("cannot reach `{host}`: {reason}")]
    Connection {
        /// The host.
        host: String,
        /// What went wrong: the name service, the connection, TLS, the reply.
        reason: String,
    },
    /// The host did not answer in time.
    #[error("`{host}` did not answer within {seconds} s; try again, or another source")]
    TimedOut {
        /// The host.
        host: String,
        /// How long was waited, in seconds.
        seconds: u64,
    },
    /// The host is none of the open web: its address is private, of this machine, or kept
    /// for something else.
    #[error("`{host}` is not on the open web: {reason}")]
    Private {
        /// The host.
        host: String,
        /// What its address is.
        reason: String,
    },
    /// The task's block list names the host, or the page.
    #[error("`{0}` is blocked for this task")]
    Blocked(String),
    /// The task does not grant the method.
    #[error("`{method}` is not allowed on this web; use {allowed}")]
    Method {
        /// The method.
        method: String,
        /// The methods that are, for a sentence.
        allowed: String,
    },
    /// A service needs a key, and there is none.
    #[error(
        "`{host}` needs a key and has none: whoever runs this must set the environment variable \
         `{variable}`; use other sources"
    )]
    NoKey {
        /// The service.
        host: String,
        /// The environment variable that would hold the key.
        variable: String,
    },
    /// The URL is none, or of another scheme than http and https.
    #[error("`{url}` cannot be fetched: {reason}")]
    BadUrl {
        /// The URL as given.
        url: String,
        /// What is wrong with it.
        reason: String,
    },
    /// The redirects do not end.
    #[error("more than {0} redirects")]
    TooManyRedirects(u32),
    /// The reply is larger than allowed.
    #[error("the reply has more than {0} bytes")]
    TooLarge(u64),
    /// The recording that is replayed does not have the request.
    #[error("`{0}` is not in the recording of the web that is replayed here")]
    NotRecorded(String),
    /// The recording cannot be written or read.
    #[error("the recording of the web failed: {0}")]
    Recording(String),
    /// What a newer program recorded instead of a reply, in its words.
    #[error("{0}")]
    Recorded(String),
    /// The call that asked ended first.
    #[error("the call ended before it was answered: `{0}`")]
    Cut(String),
    /// The task has no network.
    #[error("this task has no network")]
    NoWeb,
}
