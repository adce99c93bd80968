//! A web whose answers are a function.
//!
//! For tests of what lies above the web, the browser above all: they need hosts that
//! answer as no site of a suite does.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use futures::future::{BoxFuture, FutureExt, ready};
use jiff::Timestamp;
use url::Url;

use super::block::BlockList;
use super::reply::Reply;
use super::{Endpoints, Exchange, Request, Rules, Web, WebError};

/// What a handmade host answers: status, headers with names in lower case, body.
pub type Answer = (u16, Vec<(String, String)>, Bytes);

/// A function that answers requests; where it has no answer, the host is unknown.
type Function = dyn Fn(&Request) -> Option<Answer> + Send + Sync;

struct Handmade {
    answer: Box<Function>,
    endpoints: Endpoints,
}

impl std::fmt::Debug for Handmade {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Handmade").finish_non_exhaustive()
    }
}

impl Web {
    /// Returns a web of hosts that answer as `answer` says. It has no services.
    ///
    /// # Errors
    ///
    /// When the addresses of the services that are not there cannot be written: never.
    pub fn handmade(
        blocked: &[String],
        answer: impl Fn(&Request) -> Option<Answer> + Send + Sync + 'static,
    ) -> Result<Self, WebError> {
        let search = Url::parse("https://search.invalid/").map_err(|_| WebError::NoWeb)?;
        let endpoints = Endpoints { search, encyclopedia: BTreeMap::new() };
        let exchange = Arc::new(Handmade { answer: Box::new(answer), endpoints });
        Ok(Self::new(exchange, Rules { blocked: BlockList::new(blocked), ..Rules::default() }))
    }
}

impl Exchange for Handmade {
    fn answer<'a>(
        &'a self,
        request: &'a Request,
        _now: Timestamp,
        blocked: &'a BlockList,
    ) -> BoxFuture<'a, Result<Reply, WebError>> {
        let host = request.url.host_str().unwrap_or_default();
        if blocked.covers(host) {
            return ready(Err(WebError::Blocked(host.to_owned()))).boxed();
        }
        let reply = (self.answer)(request)
            .map(|(status, headers, body)| Reply { status, headers, body, delay: Duration::ZERO })
            .ok_or_else(|| WebError::Unreachable(host.to_owned()));
        ready(reply).boxed()
    }

    fn endpoints(&self) -> &Endpoints {
        &self.endpoints
    }
}
