//! Who may ask for what.
//!
//! There are two tokens: the trainer's, for everything, and the agent's, which observes and
//! steps a session whose id it was given. So a policy that runs code of its own can be handed
//! a session and cannot learn what its episode is worth. Tokens are compared by their digests,
//! which takes the same time wherever they differ.

use axum::http::{HeaderMap, header};

use super::Problem;

/// Who asks.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Role {
    /// Anybody, without a token.
    Anybody,
    /// The agent: observes and steps.
    Agent,
    /// The trainer: everything.
    Trainer,
}

/// The tokens of a server; their text is not kept.
#[derive(Clone)]
pub struct Tokens {
    trainer: blake3::Hash,
    agent: blake3::Hash,
}

impl std::fmt::Debug for Tokens {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Tokens").finish_non_exhaustive()
    }
}

impl Tokens {
    /// Takes the two tokens.
    #[must_use]
    pub fn new(trainer: &str, agent: &str) -> Self {
        Self { trainer: digest(trainer), agent: digest(agent) }
    }

    /// Returns a token that nobody can guess: 256 random bits as 64 hexadecimal digits.
    #[must_use]
    pub fn fresh() -> String {
        let bytes: [u8; 32] = rand::random();
        data_encoding::HEXLOWER.encode(&bytes)
    }

    /// Returns who brings a token, where that is at least `least`.
    pub(super) fn admit(&self, token: Option<&str>, least: Role) -> Result<Role, Problem> {
        match token.and_then(|token| self.role(token)) {
            Some(role) if role >= least => Ok(role),
            Some(_) => Err(Problem::forbidden()),
            None if least == Role::Anybody => Ok(Role::Anybody),
            None => Err(Problem::unauthorized()),
        }
    }

    /// Returns whose token this is; none where it is nobody's.
    fn role(&self, token: &str) -> Option<Role> {
        let given = digest(token);
        if given == self.trainer {
            return Some(Role::Trainer);
        }
        (given == self.agent).then_some(Role::Agent)
    }
}

/// Returns the token that a request brings in its header.
pub(super) fn in_header(headers: &HeaderMap) -> Option<&str> {
    headers.get(header::AUTHORIZATION).and_then(|value| bearer(value.to_str().ok()?))
}

/// Returns the token of a header's value.
fn bearer(value: &str) -> Option<&str> {
    let (scheme, token) = value.split_once(' ')?;
    scheme.eq_ignore_ascii_case("bearer").then_some(token.trim())
}

fn digest(token: &str) -> blake3::Hash {
    blake3::hash(token.as_bytes())
}

#[cfg(test)]
mod tests {
    use axum::http::HeaderValue;

    use super::*;

    #[test]
    fn a_token_opens_what_is_its_holders() {
        let tokens = Tokens::new("boss", "hand");
        //           header                least           who
        let table = [
            (Some("Bearer boss"), Role::Trainer, Ok(Role::Trainer), "the trainer"),
            (Some("bearer  boss "), Role::Agent, Ok(Role::Trainer), "any case and spaces"),
            (Some("Bearer hand"), Role::Agent, Ok(Role::Agent), "the agent"),
            (Some("Bearer hand"), Role::Trainer, Err(403), "the agent where it may not"),
            (Some("Bearer bos"), Role::Agent, Err(401), "nearly"),
            (Some("boss"), Role::Agent, Err(401), "no scheme"),
            (Some("Basic boss"), Role::Agent, Err(401), "another scheme"),
            (None, Role::Agent, Err(401), "nothing"),
            (None, Role::Anybody, Ok(Role::Anybody), "nothing is needed"),
            (Some("Bearer x"), Role::Anybody, Ok(Role::Anybody), "a wrong one where none is"),
        ];
        for (header, least, want, why) in table {
            let mut headers = HeaderMap::new();
            if let Some(value) = header {
                headers.insert(header::AUTHORIZATION, HeaderValue::from_static(value));
            }
            let got = tokens.admit(in_header(&headers), least).map_err(|problem| problem.status);
            assert_eq!(got, want, "{why}");
        }
        assert_ne!(Tokens::fresh(), Tokens::fresh());
    }
}
