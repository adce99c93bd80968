//! Errors as servers send them (OP4).
//!
//! Texts are what clients of real services get to read: a status with its reason, a body
//! that says little. They neither say that they are synthetic nor what would help, except
//! where a server would (`Retry-After`).

use std::fmt;

use rand::RngExt;
use serde::{Deserialize, Serialize};
use wildgym_sandbox::Seed;

/// How an explicit error looks.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum ErrorShape {
    /// 401: the credentials are not accepted.
    Unauthorized,
    /// 403: access is denied.
    Forbidden,
    /// 404: what was asked for is not there.
    NotFound,
    /// 429, with `Retry-After`.
    RateLimited,
    /// 500.
    ServerError,
    /// 503.
    Unavailable,
    /// The server gave up waiting for something behind it: 504.
    Timeout,
    /// The tool itself reports a failure, without a status.
    ToolFailure,
}

impl ErrorShape {
    /// All of them.
    pub const ALL: [Self; 8] = [
        Self::Unauthorized,
        Self::Forbidden,
        Self::NotFound,
        Self::RateLimited,
        Self::ServerError,
        Self::Unavailable,
        Self::Timeout,
        Self::ToolFailure,
    ];

    /// Returns the name used in profiles and transcripts.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Unauthorized => "unauthorized",
            Self::Forbidden => "forbidden",
            Self::NotFound => "not-found",
            Self::RateLimited => "rate-limited",
            Self::ServerError => "server-error",
            Self::Unavailable => "unavailable",
            Self::Timeout => "timeout",
            Self::ToolFailure => "tool-failure",
        }
    }

    /// Returns the HTTP status that it stands for, where it stands for one.
    #[must_use]
    pub fn status(self) -> Option<u16> {
        match self {
            Self::Unauthorized => Some(401),
            Self::Forbidden => Some(403),
            Self::NotFound => Some(404),
            Self::RateLimited => Some(429),
            Self::ServerError => Some(500),
            Self::Unavailable => Some(503),
            Self::Timeout => Some(504),
            Self::ToolFailure => None,
        }
    }

    /// Writes the error of a call to `tool`. The same seed gives the same text, so a
    /// permanent error says the same each time.
    #[must_use]
    pub fn text(self, tool: &str, seed: Seed) -> String {
        let mut rng = seed.rng();
        let request: u32 = rng.random();
        match self {
            Self::Unauthorized => "401 Unauthorized: {\"error\":\"invalid_token\",\
                \"error_description\":\"The access token is invalid or has expired\"}"
                .to_owned(),
            Self::Forbidden => "403 Forbidden: {\"error\":\"access_denied\",\"message\":\"You do \
                not have permission to access this resource\"}"
                .to_owned(),
            Self::NotFound => {
                "404 Not Found: {\"message\":\"Not Found\",\"status\":\"404\"}".to_owned()
            }
            Self::RateLimited => {
                let seconds = [1_u32, 5, 20, 60][rng.random_range(0..4_usize)];
                format!(
                    "429 Too Many Requests (Retry-After: {seconds}): {{\"error\":\
                     {{\"type\":\"rate_limit_error\",\"message\":\"Rate limit reached\"}}}}"
                )
            }
            Self::ServerError => format!(
                "500 Internal Server Error: {{\"error\":\"internal_error\",\"request_id\":\
                 \"req_{request:08x}\"}}"
            ),
            Self::Unavailable => {
                "503 Service Unavailable: no healthy server behind the gateway".to_owned()
            }
            Self::Timeout => {
                "504 Gateway Timeout: The upstream server did not respond in time".to_owned()
            }
            Self::ToolFailure => format!("Error executing tool {tool}: Connection aborted."),
        }
    }
}

impl fmt::Display for ErrorShape {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn texts_carry_their_status_and_stay_the_same() {
        for shape in ErrorShape::ALL {
            assert_eq!(serde_json::to_value(shape).unwrap(), shape.name());
            let text = shape.text("scrape", Seed::of_run(1));
            assert_eq!(text, shape.text("scrape", Seed::of_run(1)), "{shape}");
            match shape.status() {
                Some(status) => assert!(text.starts_with(&status.to_string()), "{text}"),
                None => assert!(text.contains("scrape"), "{text}"),
            }
        }
        let limited = ErrorShape::RateLimited.text("scrape", Seed::of_run(1));
        assert!(limited.contains("Retry-After: "), "{limited}");
    }
}
