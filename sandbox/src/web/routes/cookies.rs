//! The cookies of a request, and those that a reply sets.

use std::fmt::Write as _;

use jiff::Timestamp;
use wildgym_tasks::environment::path::{escaped, percent_decoded};
use wildgym_tasks::environment::{Cookie, SameSite};

use super::secret::{Purpose, Secret};
use crate::web::Request;

/// Most cookies of a request; browsers send fewer to one site.
const MOST: usize = 200;

/// Longest cookies of a request, in bytes.
const LONGEST: usize = 32 << 10;

/// Longest cookie that browsers keep, in bytes.
pub(super) const LARGEST_COOKIE: usize = 4096;

/// Reads the cookies of a request, in order; `None` where they are too many.
pub(super) fn read(request: &Request) -> Option<Vec<(String, String)>> {
    let headers = request.headers.iter().filter(|(name, _)| name.eq_ignore_ascii_case("cookie"));
    let headers: Vec<&str> = headers.map(|(_, value)| value.as_str()).collect();
    if headers.iter().map(|value| value.len()).sum::<usize>() > LONGEST {
        return None;
    }
    let pairs = headers.iter().flat_map(|value| value.split(';'));
    let pairs = pairs.filter_map(|pair| pair.split_once('='));
    let cookies: Vec<_> =
        pairs.map(|(name, value)| (name.trim().to_owned(), value.trim().to_owned())).collect();
    (cookies.len() <= MOST).then_some(cookies)
}

/// Returns the value of a declared cookie, or nothing: not sent, not readable, changed, or
/// older than it lives.
pub(super) fn value(
    cookie: &Cookie,
    sent: &[(String, String)],
    secret: &Secret,
    now: Timestamp,
) -> Option<String> {
    let (_, written) = sent.iter().find(|(name, _)| *name == cookie.name)?;
    if !cookie.signed {
        return percent_decoded(written);
    }
    let signed = secret.read(Purpose::Cookie, &cookie.name, written)?;
    let age = now.as_second() - signed.issued;
    let lives = cookie.max_age.is_none_or(|most| (0..i64::from(most)).contains(&age));
    lives.then_some(signed.value)
}

/// Writes a cookie as a `Set-Cookie`; `None` where no browser would keep it.
pub(super) fn set(cookie: &Cookie, value: &str, secret: &Secret, now: Timestamp) -> Option<String> {
    let value = if cookie.signed {
        secret.sign(Purpose::Cookie, &cookie.name, value, now)
    } else {
        escaped(value)
    };
    let attributes = Attributes {
        max_age: cookie.max_age.map(i64::from),
        http_only: cookie.http_only,
        secure: cookie.secure,
        same_site: cookie.same_site,
    };
    let written = attributes.write(&cookie.name, &value);
    (written.len() <= LARGEST_COOKIE).then_some(written)
}

/// Writes the end of a cookie as a `Set-Cookie`.
pub(super) fn clear(name: &str) -> String {
    format!("{name}=; Path=/; Max-Age=0")
}

/// What stands behind the value of a cookie.
pub(super) struct Attributes {
    /// Seconds that it lives.
    pub(super) max_age: Option<i64>,
    /// Whether scripts cannot read it.
    pub(super) http_only: bool,
    /// Whether it goes over https only.
    pub(super) secure: bool,
    /// Whether other sites send it along.
    pub(super) same_site: SameSite,
}

impl Attributes {
    /// Writes a `Set-Cookie`.
    pub(super) fn write(&self, name: &str, value: &str) -> String {
        let mut written = format!("{name}={value}; Path=/");
        if let Some(seconds) = self.max_age {
            let _infallible = write!(written, "; Max-Age={seconds}");
        }
        if self.http_only {
            written.push_str("; HttpOnly");
        }
        if self.secure {
            written.push_str("; Secure");
        }
        written.push_str("; SameSite=");
        written.push_str(self.same_site.name());
        written
    }
}

#[cfg(test)]
mod tests {
    use super::super::secret::Content;
    use super::*;

    fn request(cookies: &str) -> Request {
        let headers = vec![("cookie".to_owned(), cookies.to_owned())];
        Request { headers, ..Request::get("https://tides.test/".parse().unwrap()) }
    }

    fn cookie(signed: bool, max_age: Option<u32>) -> Cookie {
        Cookie {
            name: "cart".to_owned(),
            signed,
            max_age,
            http_only: true,
            secure: true,
            same_site: SameSite::Strict,
        }
    }

    #[test]
    fn cookies_come_back_as_they_were_set() {
        let secret = Content::of("tides.test").finish();
        let now: Timestamp = "2026-03-01T09:00:00Z".parse().unwrap();
        let later = now.checked_add(jiff::Span::new().seconds(60)).unwrap();
        let table = [
            (cookie(false, None), later, Some("a=1; 二"), "plain"),
            (cookie(true, None), later, Some("a=1; 二"), "signed"),
            (cookie(true, Some(61)), later, Some("a=1; 二"), "young enough"),
            (cookie(true, Some(60)), later, None, "too old"),
        ];
        for (cookie, then, want, why) in table {
            let written = set(&cookie, "a=1; 二", &secret, now).unwrap();
            assert!(written.ends_with("; HttpOnly; Secure; SameSite=Strict"), "{written}");
            let sent = read(&request(&format!("x=1; {}", written.split(';').next().unwrap())));
            let got = value(&cookie, &sent.unwrap(), &secret, then);
            assert_eq!(got.as_deref(), want, "{why}: {written}");
        }
        let sent = read(&request("cart=forged.1.00")).unwrap();
        assert_eq!(value(&cookie(true, None), &sent, &secret, now), None, "forged");
        assert_eq!(set(&cookie(false, None), &"x".repeat(5000), &secret, now), None, "too large");
    }

    #[test]
    fn floods_are_refused() {
        let many = "c=1; ".repeat(MOST + 1);
        assert_eq!(read(&request(&many)), None);
        assert_eq!(read(&request(&"x".repeat(LONGEST + 1))), None);
        assert_eq!(read(&request("novalue; =; a=b=c")).unwrap().len(), 2);
    }
}
