//! What a host of the hermetic web answers, before redirects are followed.

use std::time::Duration;

use bytes::Bytes;
use jiff::Timestamp;
use jiff::civil::Date;
use percent_encoding::{AsciiSet, CONTROLS, utf8_percent_encode};
use serde_json::Value;

/// What is escaped in the target of a redirect.
const LOCATION: &AsciiSet = &CONTROLS
    .add(b' ')
    .add(b'"')
    .add(b'<')
    .add(b'>')
    .add(b'`')
    .add(b'\\')
    .add(b'^')
    .add(b'{')
    .add(b'}');

/// One answer of one host.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Reply {
    /// HTTP status.
    pub(super) status: u16,
    /// Headers, names in lower case; `date` and `content-length` are added on sending.
    pub(super) headers: Vec<(String, String)>,
    /// The body, also for `HEAD`: it is cut off on sending.
    pub(super) body: Bytes,
    /// How long the host takes to answer. Hermetic time is logical, so nothing here waits.
    pub(super) delay: Duration,
}

impl Reply {
    /// Returns an answer with that body.
    pub(super) fn new(status: u16, content_type: &str, body: impl Into<Bytes>) -> Self {
        let headers = vec![("content-type".to_owned(), content_type.to_owned())];
        Self { status, headers, body: body.into(), delay: Duration::ZERO }
    }

    /// Returns a JSON answer.
    pub(super) fn json(status: u16, value: &Value) -> Self {
        Self::new(status, "application/json; charset=utf-8", value.to_string())
    }

    /// Returns an HTML answer: a whole page around `body`.
    pub(super) fn html(status: u16, language: &str, title: &str, body: &str) -> Self {
        let title = escape(title);
        let page = format!(
            "<!DOCTYPE html>\n<html lang=\"{language}\">\n<head><meta charset=\"utf-8\">\
             <title>{title}</title></head>\n<body>\n{body}\n</body>\n</html>\n"
        );
        Self::new(status, "text/html; charset=utf-8", page)
    }

    /// Returns a page that says what is wrong, in plain words.
    pub(super) fn told(status: u16, language: &str, title: &str, message: &str) -> Self {
        let body = format!("<h1>{}</h1>\n<p>{}</p>", escape(title), escape(message));
        Self::html(status, language, title, &body)
    }

    /// Returns a permanent redirect.
    pub(super) fn moved(to: &str) -> Self {
        let body = format!("<p>Moved to <a href=\"{0}\">{0}</a>.</p>", escape(to));
        Self::html(301, "en", "301 Moved Permanently", &body).with("location", to)
    }

    /// Returns a redirect that is followed by `GET`, as after a form.
    pub(super) fn see_other(to: &str) -> Self {
        Self::redirect(303, to)
    }

    /// Returns a redirect; what a URL cannot hold is escaped.
    pub(super) fn redirect(status: u16, to: &str) -> Self {
        let to = utf8_percent_encode(to, LOCATION).to_string();
        let body = format!("<p>See <a href=\"{0}\">{0}</a>.</p>", escape(&to));
        Self::html(status, "en", "Redirect", &body).with("location", &to)
    }

    /// Makes the answer slow.
    pub(super) fn after(mut self, delay: Duration) -> Self {
        self.delay = delay;
        self
    }

    /// Returns the answer to a method that nothing here takes.
    pub(super) fn method_not_allowed(method: &http::Method, allow: &str) -> Self {
        let body = format!(
            "<h1>405 Method Not Allowed</h1>\n<p><code>{}</code> is not answered here; \
             use {allow}.</p>",
            escape(method.as_str())
        );
        Self::html(405, "en", "405 Method Not Allowed", &body).with("allow", allow)
    }

    /// Adds a header. A value that a header cannot hold loses its control characters.
    pub(super) fn with(mut self, name: &str, value: &str) -> Self {
        let value = value.chars().filter(|c| !c.is_control()).collect();
        self.headers.push((name.to_owned(), value));
        self
    }

    /// Returns the first header of that name.
    pub(super) fn header(&self, name: &str) -> Option<&str> {
        self.headers.iter().find(|(key, _)| key == name).map(|(_, value)| value.as_str())
    }
}

/// Writes a time as HTTP does: `Sun, 01 Mar 2026 09:00:00 GMT`.
pub(super) fn http_date(time: Timestamp) -> String {
    time.strftime("%a, %d %b %Y %H:%M:%S GMT").to_string()
}

/// Writes the start of a day (UTC) as HTTP does.
pub(super) fn http_day(day: Date) -> String {
    day.strftime("%a, %d %b %Y 00:00:00 GMT").to_string()
}

/// Escapes text for HTML, in content and in attributes.
pub(super) fn escape(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            '&' => out.push_str("&amp;"),
            '<' => out.push_str("&lt;"),
            '>' => out.push_str("&gt;"),
            '"' => out.push_str("&quot;"),
            '\'' => out.push_str("&#39;"),
            _ => out.push(c),
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_header_cannot_be_split_by_its_value() {
        let reply = Reply::moved("/a\r\nset-cookie: x=<y>");
        assert_eq!(reply.header("location"), Some("/aset-cookie: x=<y>"));
        assert_eq!(reply.headers.len(), 2, "no header came in with the value");
        assert!(!String::from_utf8_lossy(&reply.body).contains("<y>"), "nor an element");
    }

    #[test]
    fn dates_are_written_as_http_does() {
        let time = "2026-03-01T09:00:00Z".parse().unwrap();
        assert_eq!(http_date(time), "Sun, 01 Mar 2026 09:00:00 GMT");
    }
}
