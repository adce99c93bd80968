//! Names become addresses here, once for each connection.
//!
//! The client connects to the addresses that this returns and to no others. So an address
//! is checked and used in one piece: a name that resolves to something else a moment later
//! (rebinding) changes nothing. Refused addresses are left out, and a name that has no
//! others is refused.

use std::collections::BTreeSet;
use std::io;
use std::net::{IpAddr, SocketAddr};
use std::sync::Arc;

use futures::future::BoxFuture;
use reqwest::dns::{Addrs, Name, Resolve, Resolving};

use crate::web::WebError;

/// Looks names up.
pub(super) trait Names: Send + Sync {
    /// Returns the addresses of a host.
    fn lookup(&self, host: String) -> BoxFuture<'static, io::Result<Vec<IpAddr>>>;
}

/// The resolver of the system.
pub(super) struct System;

impl Names for System {
    fn lookup(&self, host: String) -> BoxFuture<'static, io::Result<Vec<IpAddr>>> {
        Box::pin(async move {
            let found = tokio::net::lookup_host((host, 0)).await?;
            Ok(found.map(|address| address.ip()).collect())
        })
    }
}

/// Says why an address is refused; nothing where it is not.
pub(super) type Refusal = fn(IpAddr) -> Option<&'static str>;

/// A resolver that returns addresses of the open web only.
pub(super) struct Guard {
    /// Looks names up.
    pub(super) names: Arc<dyn Names>,
    /// What is refused.
    pub(super) refusal: Refusal,
    /// Hosts of the user's own proxies, which may stand anywhere.
    pub(super) proxies: BTreeSet<String>,
}

impl Resolve for Guard {
    fn resolve(&self, name: Name) -> Resolving {
        let host = name.as_str().to_owned();
        let found = self.names.lookup(host.clone());
        let refusal: Refusal = if self.proxies.contains(&host) { |_| None } else { self.refusal };
        Box::pin(async move {
            let found = found.await.map_err(|error| unknown(&host, &error))?;
            let open = checked(&host, &found, refusal)?;
            // Port 0 stands for the port of the URL.
            let open = open.into_iter().map(|address| SocketAddr::new(address, 0));
            Ok(Box::new(open.collect::<Vec<_>>().into_iter()) as Addrs)
        })
    }
}

/// Returns the addresses that may be connected to, or why there are none.
fn checked(host: &str, found: &[IpAddr], refusal: Refusal) -> Result<Vec<IpAddr>, WebError> {
    let open: Vec<IpAddr> =
        found.iter().copied().filter(|address| refusal(*address).is_none()).collect();
    if !open.is_empty() {
        return Ok(open);
    }
    match found.iter().find_map(|address| refusal(*address)) {
        Some(reason) => Err(WebError::Private { host: host.to_owned(), reason: reason.to_owned() }),
        None => Err(WebError::Unreachable(host.to_owned())),
    }
}

/// Tells a name that does not exist from a name service that does not answer.
fn unknown(host: &str, error: &io::Error) -> WebError {
    let text = error.to_string();
    let fails = ["Temporary failure", "try again", "System error", "nonrecoverable"];
    if fails.iter().any(|word| text.contains(word)) {
        let reason = "the name service does not answer; try again".to_owned();
        return WebError::Connection { host: host.to_owned(), reason };
    }
    WebError::Unreachable(host.to_owned())
}
