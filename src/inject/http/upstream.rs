//! The server behind the proxy, and where requests to it go.
//!
//! Nothing is followed or tried again: what the server says is what the client gets.

use std::sync::Once;
use std::time::Duration;

use axum::http::Uri;
use url::Url;

/// How long a connection to the server is kept without a request: less than servers do, so that
/// none is used that the server is about to close.
const IDLE: Duration = Duration::from_secs(2);

/// A server that is reached by an address.
#[derive(Debug)]
pub struct Upstream {
    pub(super) client: reqwest::Client,
    pub(super) url: Url,
}

/// Why a server cannot be reached by an address.
#[derive(Debug, thiserror::Error)]
pub enum UpstreamError {
    /// It is no such address.
    #[error("`{url}` is no address of a server: {why}")]
    Address {
        /// What was given.
        url: String,
        /// What is wrong with it.
        why: String,
    },
    /// The client cannot be made.
    #[error("the HTTP client fails: {0}")]
    Client(#[from] reqwest::Error),
}

impl Upstream {
    /// Gets ready to speak with a server; `url` is that of its endpoint. Proxies of the
    /// environment are used, but not for this machine.
    pub fn new(url: &str) -> Result<Self, UpstreamError> {
        static PROVIDER: Once = Once::new();
        // An error means that the process has a provider already, which serves as well.
        PROVIDER.call_once(|| drop(rustls::crypto::ring::default_provider().install_default()));
        let bad = |why: String| UpstreamError::Address { url: url.to_owned(), why };
        let parsed = Url::parse(url).map_err(|error| bad(error.to_string()))?;
        if !matches!(parsed.scheme(), "http" | "https") || parsed.host_str().is_none() {
            return Err(bad("expected `http://…` or `https://…`".to_owned()));
        }
        let mut builder = reqwest::Client::builder()
            .redirect(reqwest::redirect::Policy::none())
            .retry(reqwest::retry::never())
            .no_gzip()
            .no_deflate()
            .http1_only()
            .pool_idle_timeout(IDLE)
            .connect_timeout(Duration::from_secs(10));
        let host = parsed.host_str().unwrap_or_default();
        if host == "localhost" || host == "[::1]" || host.starts_with("127.") {
            builder = builder.no_proxy();
        }
        Ok(Self { client: builder.build()?, url: parsed })
    }

    /// Returns the path of the server's endpoint, which the proxy has too.
    #[must_use]
    pub fn path(&self) -> &str {
        self.url.path()
    }

    /// Returns its name for profiles: the host.
    #[must_use]
    pub fn name(&self) -> &str {
        self.url.host_str().unwrap_or_default()
    }

    /// Returns where a request goes.
    pub(super) fn target(&self, uri: &Uri) -> Url {
        let mut target = self.url.clone();
        if uri.path() == target.path() && uri.query() == target.query() {
            return target;
        }
        target.set_path(uri.path());
        target.set_query(uri.query());
        target
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_address_is_one_of_http() {
        for (url, why) in [
            ("127.0.0.1:8000/mcp", "no scheme"),
            ("ftp://a.example/", "another scheme"),
            ("http://", "no host"),
        ] {
            assert!(Upstream::new(url).is_err(), "{why}");
        }
        let upstream = Upstream::new("http://127.0.0.1:8000/mcp").unwrap();
        let target = upstream.target(&Uri::from_static("/mcp?a=%20b"));
        assert_eq!(target.as_str(), "http://127.0.0.1:8000/mcp?a=%20b");
    }
}
