//! What a failed exchange means, in words that help an agent.

use std::error::Error;
use std::io;

use crate::web::WebError;

/// What common failures of connections mean.
const KINDS: [(io::ErrorKind, &str); 7] = [
    (io::ErrorKind::ConnectionRefused, "the connection was refused"),
    (io::ErrorKind::ConnectionReset, "the connection was closed by the host"),
    (io::ErrorKind::ConnectionAborted, "the connection was closed by the host"),
    (io::ErrorKind::NetworkUnreachable, "there is no way to its network"),
    (io::ErrorKind::HostUnreachable, "there is no way to it"),
    (io::ErrorKind::TimedOut, "the connection took too long"),
    (io::ErrorKind::UnexpectedEof, "the host ended the connection early"),
];

/// Explains why the client got no whole reply from a host.
pub(super) fn explain(host: &str, error: &reqwest::Error, seconds: u64) -> WebError {
    let host = host.to_owned();
    if error.is_timeout() {
        return WebError::TimedOut { host, seconds };
    }
    let mut cause: Option<&(dyn Error + 'static)> = Some(error);
    let mut last = error.to_string();
    while let Some(error) = cause {
        if let Some(own) = error.downcast_ref::<WebError>() {
            return own.clone();
        }
        if let Some(reason) = reason(error) {
            return WebError::Connection { host, reason };
        }
        last = error.to_string();
        cause = error.source();
    }
    WebError::Connection { host, reason: format!("the exchange failed: {last}") }
}

/// Returns what one cause says for itself.
fn reason(error: &(dyn Error + 'static)) -> Option<String> {
    if let Some(tls) = error.downcast_ref::<rustls::Error>() {
        return Some(of_tls(tls));
    }
    let io = error.downcast_ref::<io::Error>()?;
    // What such an error wraps, which may be another one, is not among its sources.
    if let Some(inner) = io.get_ref()
        && let Some(reason) = reason(inner)
    {
        return Some(reason);
    }
    let known = KINDS.iter().find(|(kind, _)| *kind == io.kind()).map(|(_, says)| *says);
    // What else there is says itself what it is.
    let other = || io.get_ref().is_none().then(|| format!("the connection failed: {io}"));
    known.map(ToOwned::to_owned).or_else(other)
}

fn of_tls(error: &rustls::Error) -> String {
    format!("no secure connection came about (TLS): {error}")
}
