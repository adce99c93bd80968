//! The access log: what an attempt sent over the network, hop by hop.

use std::sync::{Mutex, PoisonError};

use jiff::Timestamp;
use serde::{Deserialize, Serialize};

use super::{Request, WebError};

/// One line of the access log. Each hop of a redirect is a line of its own. Which tool sent
/// it is said by the call's record, in which it stands.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Access {
    /// `GET`, `POST`, …
    pub method: String,
    /// The URL as sent.
    pub url: String,
    /// HTTP status, where a host answered.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub status: Option<u16>,
    /// Bytes of the reply's body, as the caller got them.
    pub bytes: u64,
    /// When it was sent, on the attempt's clock; none in logs of programs that did not note
    /// it. How long it really took stands beside it, see [`took_ms`](Self::took_ms).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub time: Option<Timestamp>,
    /// Why no host answered.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub error: Option<String>,
    /// How long the open web took to answer, in real milliseconds; none in other webs. It
    /// depends on the hour, so records keep it apart from the rest.
    #[serde(skip)]
    pub took_ms: Option<u64>,
}

/// The accesses of one call, in the order answered.
#[derive(Debug, Default)]
pub struct AccessLog(Mutex<Vec<Access>>);

impl AccessLog {
    /// Adds a line.
    pub fn push(&self, access: Access) {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).push(access);
    }

    /// Takes the lines out.
    pub fn take(&self) -> Vec<Access> {
        std::mem::take(&mut *self.0.lock().unwrap_or_else(PoisonError::into_inner))
    }
}

/// A hop on its way. Dropped before its end, it was cut off with the call that made it, and
/// the log says so: what was sent is never missing.
#[derive(Debug)]
pub(super) struct Pending<'a> {
    log: &'a AccessLog,
    access: Option<Access>,
}

impl<'a> Pending<'a> {
    pub(super) fn new(log: &'a AccessLog, request: &Request, now: Timestamp) -> Self {
        let access = Access {
            method: request.method.to_string(),
            url: request.url.to_string(),
            status: None,
            bytes: 0,
            time: Some(now),
            error: None,
            took_ms: None,
        };
        Self { log, access: Some(access) }
    }

    /// Notes how it ended: the status and the bytes of the body, or why there is none.
    pub(super) fn ended(
        mut self,
        request: &Request,
        ended: Result<(u16, u64), &WebError>,
        took_ms: Option<u64>,
    ) {
        let Some(mut access) = self.access.take() else { return };
        // The URL as it was made normal on the way.
        access.url = request.url.to_string();
        access.took_ms = took_ms;
        match ended {
            Ok((status, bytes)) => (access.status, access.bytes) = (Some(status), bytes),
            Err(error) => access.error = Some(error.to_string()),
        }
        self.log.push(access);
    }
}

impl Drop for Pending<'_> {
    fn drop(&mut self) {
        if let Some(mut access) = self.access.take() {
            access.error = Some(WebError::Cut(access.url.clone()).to_string());
            self.log.push(access);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_log_of_an_older_program_reads() {
        let old = r#"{"method":"GET","url":"https://a.test/","status":200,"bytes":3}"#;
        let access: Access = serde_json::from_str(old).unwrap();
        assert_eq!((access.status, access.time), (Some(200), None));
        assert_eq!(serde_json::to_string(&access).unwrap(), old, "and writes as it was");
    }

    #[test]
    fn a_request_that_was_cut_off_is_in_the_log() {
        let log = AccessLog::default();
        let request = Request::get("https://a.test/slow".parse().unwrap());
        drop(Pending::new(&log, &request, Timestamp::UNIX_EPOCH));
        let [access] = &log.take()[..] else { panic!("one line") };
        assert!(access.error.as_ref().unwrap().contains("before it was answered"), "{access:?}");
    }
}
