//! Takes secrets out of what is recorded, and out of requests that are looked up.
//!
//! Both sides use the same functions, so a request whose key was taken out is still found.
//! Each function changes nothing when it is applied again. Names stay and values go: the
//! cookie `sid=81ab; Path=/` becomes `sid=redacted; Path=/`, so a replayed browser still has a
//! cookie to send. What a server repeats of a secret in its body is not found here.

use std::borrow::Cow;

use serde_json::Value;
use url::Url;

/// What a secret becomes.
const REDACTED: &str = "redacted";

/// Headers whose whole value is a secret.
const HEADERS: &[&str] = &[
    "api-key",
    "authorization",
    "proxy-authorization",
    "x-amz-security-token",
    "x-api-key",
    "x-auth-token",
    "x-goog-api-key",
    "x-subscription-token",
];

/// Headers whose value is a URL.
const ADDRESSES: &[&str] = &["content-location", "location", "referer"];

/// Parameters of a query that hold secrets; `-` and `.` count as `_`, case does not count.
const PARAMETERS: &[&str] = &[
    "access_key",
    "access_token",
    "accesstoken",
    "api_key",
    "api_token",
    "apikey",
    "auth",
    "auth_token",
    "authorization",
    "client_secret",
    "credential",
    "id_token",
    "key",
    "passwd",
    "password",
    "pwd",
    "refresh_token",
    "secret",
    "session_token",
    "sig",
    "signature",
    "subscription_key",
    "token",
    "x_amz_credential",
    "x_amz_security_token",
    "x_amz_signature",
    "x_api_key",
    "x_goog_credential",
    "x_goog_signature",
];

/// Fields of forms and JSON bodies that hold secrets. Fewer than in a query, where `key` and
/// `token` are what services call a credential; in a body they are mostly data.
const FIELDS: &[&str] = &[
    "access_token",
    "api_key",
    "apikey",
    "auth_token",
    "client_secret",
    "passwd",
    "password",
    "pwd",
    "refresh_token",
    "secret",
    "x_api_key",
];

/// Returns a URL without fragment, name, password and the secrets of its query.
pub(super) fn url(url: &Url) -> String {
    let mut clean = url.clone();
    // These fail only for URLs without a host, which have neither.
    let _ = clean.set_username("");
    let _ = clean.set_password(None);
    clean.set_fragment(None);
    if let Some(query) = url.query() {
        clean.set_query(Some(&pairs(query, PARAMETERS)));
    }
    clean.into()
}

/// Returns the value of a header without its secrets.
pub(super) fn header<'a>(name: &str, value: &'a str) -> Cow<'a, str> {
    let name = name.to_ascii_lowercase();
    if HEADERS.contains(&name.as_str()) {
        return REDACTED.into();
    }
    match name.as_str() {
        "cookie" => value.split(';').map(cookie).collect::<Vec<_>>().join("; ").into(),
        "set-cookie" | "set-cookie2" => match value.split_once(';') {
            Some((pair, attributes)) => format!("{};{attributes}", cookie(pair)).into(),
            None => cookie(value).into(),
        },
        name if ADDRESSES.contains(&name) => address(value),
        _ => value.into(),
    }
}

/// Returns a body of a request without its secrets. `content_type` decides how it is read.
pub(super) fn body<'a>(content_type: Option<&str>, body: &'a [u8]) -> Cow<'a, [u8]> {
    let media = content_type.and_then(|it| it.split(';').next()).unwrap_or_default();
    let media = media.trim().to_ascii_lowercase();
    if media == "application/x-www-form-urlencoded" {
        let Ok(text) = std::str::from_utf8(body) else { return body.into() };
        return pairs(text, FIELDS).into_bytes().into();
    }
    if !is_json(&media, body) {
        return body.into();
    }
    let Ok(mut value) = serde_json::from_slice::<Value>(body) else { return body.into() };
    if values(&mut value) { value.to_string().into_bytes().into() } else { body.into() }
}

/// Whether a body is to be read as JSON.
pub(super) fn is_json(media: &str, body: &[u8]) -> bool {
    let unnamed = media.is_empty() || media == "text/plain";
    media.ends_with("json") || (unnamed && matches!(body.first(), Some(b'{' | b'[')))
}

/// Takes secrets out of `a=b&c=d`, and leaves the rest as it is written.
fn pairs(text: &str, secret: &[&str]) -> String {
    let pairs = text.split('&').map(|pair| match pair.split_once('=') {
        Some((name, _)) if is_secret(name, secret) => format!("{name}={REDACTED}"),
        Some(_) | None => pair.to_owned(),
    });
    pairs.collect::<Vec<_>>().join("&")
}

fn is_secret(name: &str, secret: &[&str]) -> bool {
    let name = percent_encoding::percent_decode_str(name).decode_utf8_lossy();
    let name = name.trim().to_ascii_lowercase().replace(['-', '.'], "_");
    secret.contains(&name.as_str())
}

fn cookie(pair: &str) -> String {
    match pair.trim().split_once('=') {
        Some((name, _)) => format!("{name}={REDACTED}"),
        None if pair.trim().is_empty() => String::new(),
        None => REDACTED.to_owned(),
    }
}

/// Takes secrets out of a URL, whole or relative, and leaves the rest as it is written.
fn address(value: &str) -> Cow<'_, str> {
    let (value, fragment) = match value.split_once('#') {
        Some((value, fragment)) => (value, Some(fragment)),
        None => (value, None),
    };
    let mut clean = match value.split_once('?') {
        Some((path, query)) => format!("{path}?{}", pairs(query, PARAMETERS)),
        None => value.to_owned(),
    };
    if let Ok(url) = Url::parse(&clean)
        && (!url.username().is_empty() || url.password().is_some())
    {
        clean = self::url(&url);
    }
    if let Some(fragment) = fragment {
        // Tokens of a sign-in come back as parameters of the fragment.
        clean = format!("{clean}#{}", pairs(fragment, PARAMETERS));
    }
    clean.into()
}

/// Takes secrets out of a JSON value, at any depth; returns whether there were any.
fn values(value: &mut Value) -> bool {
    let mut found = false;
    match value {
        Value::Object(object) => {
            for (name, value) in object {
                if is_secret(name, FIELDS) && (value.is_string() || value.is_number()) {
                    *value = REDACTED.into();
                    found = true;
                } else {
                    found |= values(value);
                }
            }
        }
        Value::Array(items) => {
            for item in items {
                found |= values(item);
            }
        }
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => {}
    }
    found
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn secrets_of_a_url_go_and_the_rest_stays_as_written() {
        let table = [
            ("https://a.test/s?q=a%20b+c&key=K1", "https://a.test/s?q=a%20b+c&key=redacted"),
            ("https://a.test/?API-Key=K1&x", "https://a.test/?API-Key=redacted&x"),
            ("https://a.test/?X-Amz-Signature=K1", "https://a.test/?X-Amz-Signature=redacted"),
            ("https://a.test/?%74oken=K1", "https://a.test/?%74oken=redacted"),
            ("https://a.test/?page_token=p2", "https://a.test/?page_token=p2"),
            ("https://me:K1@a.test/#f", "https://a.test/"),
            ("https://a.test/?keyboard=1&a=key", "https://a.test/?keyboard=1&a=key"),
        ];
        for (given, want) in table {
            assert_eq!(url(&Url::parse(given).unwrap()), want);
        }
    }

    #[test]
    fn secrets_of_headers_go() {
        let table = [
            ("Authorization", "Bearer K1", "redacted"),
            ("x-api-key", "K1", "redacted"),
            ("cookie", "a=K1; b=K2=K3", "a=redacted; b=redacted"),
            ("set-cookie", "sid=K1; Path=/; HttpOnly", "sid=redacted; Path=/; HttpOnly"),
            ("set-cookie", "K1", "redacted"),
            (
                "location",
                "/next?token=K1&p=2#access_token=K2",
                "/next?token=redacted&p=2#access_token=redacted",
            ),
            ("location", "https://u:K1@a.test/x", "https://a.test/x"),
            ("referer", "https://a.test/?sig=K1", "https://a.test/?sig=redacted"),
            ("accept", "key=1", "key=1"),
        ];
        for (name, value, want) in table {
            assert_eq!(header(name, value), want, "{name}");
        }
    }

    #[test]
    fn secrets_of_bodies_go_by_their_type() {
        let form = Some("application/x-www-form-urlencoded; charset=utf-8");
        let table: [(Option<&str>, &str, &str); 6] = [
            (form, "user=ada&password=K1&key=name", "user=ada&password=redacted&key=name"),
            (
                Some("application/json"),
                r#"{"q": "x", "in": [{"api_key": "K1"}]}"#,
                r#"{"q":"x","in":[{"api_key":"redacted"}]}"#,
            ),
            (Some("application/json"), r#"{"q":  "x"}"#, r#"{"q":  "x"}"#),
            (None, r#"{"password": "K1"}"#, r#"{"password":"redacted"}"#),
            (Some("application/json"), r#"{"password": K1"#, r#"{"password": K1"#),
            (Some("text/csv"), "password=K1", "password=K1"),
        ];
        for (media, given, want) in table {
            assert_eq!(String::from_utf8_lossy(&body(media, given.as_bytes())), want);
        }
    }

    proptest! {
        #[test]
        fn taking_secrets_out_again_changes_nothing(
            name in prop::sample::select(vec!["cookie", "set-cookie", "location", "referer", "etag"]),
            value in "([a-z]{0,3}|key|token|sid|https://a:b@c.test)([=&;?# /]{0,2}(token|K1|é)?){0,5}",
        ) {
            let once = header(name, &value).into_owned();
            prop_assert_eq!(header(name, &once).into_owned(), once.clone());
            if let Ok(address) = Url::parse(&format!("https://a.test/?{value}")) {
                let once = url(&address);
                prop_assert_eq!(url(&Url::parse(&once).unwrap()), once.clone());
            }
        }
    }
}
