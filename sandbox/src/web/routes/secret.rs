//! What a site signs: sessions, cookies, tokens of forms.
//!
//! The key comes from the site's own content, so that every attempt meets the same site
//! and nobody who only reads its pages can make a session. Signed is always a purpose, a
//! name, a value and a time; what was signed for one purpose is worth nothing for another.

use jiff::Timestamp;
use wildgym_tasks::environment::path::{escaped, percent_decoded};

/// What a signature is for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Purpose {
    /// A user's session.
    Session,
    /// A cookie of a route.
    Cookie,
    /// The hidden field of a form.
    Token,
}

/// The key of a site.
#[derive(Clone)]
pub(super) struct Secret([u8; 32]);

impl std::fmt::Debug for Secret {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Secret")
    }
}

/// Collects a site's content, of which the key is made.
#[derive(Debug)]
pub(super) struct Content(blake3::Hasher);

impl Content {
    /// Begins with the host.
    pub(super) fn of(host: &str) -> Self {
        let hasher = blake3::Hasher::new_derive_key("wildgym 2026 key of a hermetic site");
        let mut content = Self(hasher);
        content.add(host.as_bytes());
        content
    }

    /// Adds a piece; where it ends is part of what is hashed.
    pub(super) fn add(&mut self, bytes: &[u8]) {
        self.0.update(&(bytes.len() as u64).to_le_bytes()).update(bytes);
    }

    /// Makes the key.
    pub(super) fn finish(self) -> Secret {
        Secret(*self.0.finalize().as_bytes())
    }
}

/// What a signed value says.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Signed {
    /// The value.
    pub(super) value: String,
    /// When it was signed, in seconds since 1970.
    pub(super) issued: i64,
}

impl Secret {
    /// Signs: `<value>.<seconds>.<signature>`, of characters that a cookie can hold.
    pub(super) fn sign(&self, purpose: Purpose, name: &str, value: &str, now: Timestamp) -> String {
        let issued = now.as_second();
        let mac = self.mac(purpose, name, value, issued);
        format!("{}.{issued}.{mac}", escaped(value))
    }

    /// Reads what [`Self::sign`] wrote; `None` where this site did not write it.
    pub(super) fn read(&self, purpose: Purpose, name: &str, written: &str) -> Option<Signed> {
        let (rest, mac) = written.rsplit_once('.')?;
        let (value, issued) = rest.rsplit_once('.')?;
        let signed = Signed { value: percent_decoded(value)?, issued: issued.parse().ok()? };
        let own = self.mac(purpose, name, &signed.value, signed.issued);
        // One spelling only: what was not written here is not read here.
        let same = own == mac && issued == signed.issued.to_string();
        same.then_some(signed)
    }

    /// Returns the token that a form must bring in a session (its cookie, or nothing).
    pub(super) fn token(&self, session: &str) -> String {
        self.mac(Purpose::Token, "csrf_token", session, 0)
    }

    fn mac(&self, purpose: Purpose, name: &str, value: &str, issued: i64) -> String {
        let purpose = match purpose {
            Purpose::Session => "session",
            Purpose::Cookie => "cookie",
            Purpose::Token => "token",
        };
        let mut hasher = blake3::Hasher::new_keyed(&self.0);
        for piece in [purpose, name, value] {
            hasher.update(&(piece.len() as u64).to_le_bytes()).update(piece.as_bytes());
        }
        hasher.update(&issued.to_le_bytes());
        hasher.finalize().to_hex().get(..32).unwrap_or_default().to_owned()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_what_was_signed_is_read() {
        let secret = Content::of("tides.test").finish();
        let now = "2026-03-01T09:00:00Z".parse().unwrap();
        let cookie = secret.sign(Purpose::Session, "session", "m.quill; é", now);
        assert!(cookie.is_ascii() && !cookie.contains([';', ' ', ',']), "{cookie}");
        let read = |purpose, name, written: &str| secret.read(purpose, name, written);
        let got = read(Purpose::Session, "session", &cookie).unwrap();
        assert_eq!(got, Signed { value: "m.quill; é".to_owned(), issued: now.as_second() });
        let other = Content::of("other.test").finish();
        assert_eq!(other.read(Purpose::Session, "session", &cookie), None, "another site");
        assert_eq!(read(Purpose::Cookie, "session", &cookie), None, "another purpose");
        assert_eq!(read(Purpose::Session, "sessions", &cookie), None, "another name");
        let later = cookie.replace(&now.as_second().to_string(), "9999999999");
        assert_eq!(read(Purpose::Session, "session", &later), None, "another time");
        let padded =
            cookie.replace(&format!(".{}.", now.as_second()), &format!(".+{}.", now.as_second()));
        assert_eq!(read(Purpose::Session, "session", &padded), None, "another spelling");
        for junk in ["", ".", "..", "a.b", "a.1.", "%ff.1.2"] {
            assert_eq!(read(Purpose::Session, "session", junk), None, "{junk}");
        }
        assert_ne!(secret.token(""), secret.token(&cookie), "a token is of its session");
    }
}
