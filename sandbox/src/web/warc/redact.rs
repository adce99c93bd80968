//! Takes secrets out of what is recorded, and out of requests that are looked up.
//!
//! Both sides use the same functions, so a request whose key was taken out is still found.
//! Each function changes nothing when it is applied again. Names stay and values go: the
//! cookie `sid=81ab; Path=/` becomes `sid=redacted; Path=/`, so a replayed browser still has a
//! cookie to send. What a server repeats of a secret in its body is not found here.

use std::borrow::Cow;

use percent_encoding::{AsciiSet, NON_ALPHANUMERIC};
use serde_json::Value;
use url::Url;

/// What a secret becomes.
const REDACTED: &str = "redacted";

/// Headers whose value is a URL.
const ADDRESSES: &[&str] = &["content-location", "location", "referer"];

/// How deep addresses are looked for in values of addresses.
const DEEPEST: usize = 4;

/// What is escaped where an address stands in a value; `+` stays what it was.
const VALUE: &AsciiSet =
    &NON_ALPHANUMERIC.remove(b'-').remove(b'.').remove(b'_').remove(b'~').remove(b'+');

/// Words that make a secret of a name, wherever they stand in it.
const WORDS: &[&str] = &[
    "apikey",
    "authorization",
    "credentials",
    "oauth",
    "passcode",
    "pwd",
    "secret",
    "secrets",
    "token",
];

/// Words that do so at the end of a name only: `user_pass`, not `pass_kind`.
const LAST_WORDS: &[&str] = &["accesskey", "auth", "credential", "pass", "userpass"];

/// What stands before `key` where that is a secret.
const KINDS_OF_KEY: &[&str] = &["access", "api", "auth", "private", "secret", "subscription"];

/// Words beside `token` that make a place in a list of it, or a measure.
const NO_TOKEN: &[&str] =
    &["continuation", "count", "cursor", "limit", "max", "next", "page", "start", "sync", "type"];

/// Names that are secrets in a query only, where services call a credential so; in a body
/// they are mostly data.
const IN_QUERIES: &[&str] = &["key", "sig", "signature", "x_amz_signature", "x_goog_signature"];

/// Where a name stands.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Place {
    Query,
    Body,
}

/// Returns a URL without fragment, name, password and the secrets of its query.
pub(super) fn url(url: &Url) -> String {
    bare(url, DEEPEST)
}

fn bare(url: &Url, depth: usize) -> String {
    let mut clean = url.clone();
    // These fail only for URLs without a host, which have neither.
    let _ = clean.set_username("");
    let _ = clean.set_password(None);
    clean.set_fragment(None);
    if let Some(query) = url.query() {
        clean.set_query(Some(&pairs(query, Place::Query, depth)));
    }
    clean.into()
}

/// Returns the value of a header without its secrets.
pub(super) fn header<'a>(name: &str, value: &'a str) -> Cow<'a, str> {
    let name = name.to_ascii_lowercase();
    if is_secret(&name, Place::Body) {
        return REDACTED.into();
    }
    match name.as_str() {
        "cookie" => value.split(';').map(cookie).collect::<Vec<_>>().join("; ").into(),
        "set-cookie" | "set-cookie2" => match value.split_once(';') {
            Some((pair, attributes)) => format!("{};{attributes}", cookie(pair)).into(),
            None => cookie(value).into(),
        },
        name if ADDRESSES.contains(&name) => address(value, DEEPEST).into(),
        _ => value.into(),
    }
}

/// Returns a body of a request without its secrets. `content_type` decides how it is read.
pub(super) fn body<'a>(content_type: Option<&str>, body: &'a [u8]) -> Cow<'a, [u8]> {
    let media = content_type.and_then(|it| it.split(';').next()).unwrap_or_default();
    let media = media.trim().to_ascii_lowercase();
    if media == "multipart/form-data" {
        let boundary = content_type.and_then(|it| parameter(it, "boundary"));
        return boundary.map_or_else(|| body.into(), |it| parts(&it, body).into());
    }
    let is_text = media.is_empty() || media == "text/plain";
    if is_json(&media, body)
        && let Ok(mut value) = serde_json::from_slice::<Value>(body)
    {
        let found = values(&mut value, false);
        return if found { value.to_string().into_bytes().into() } else { body.into() };
    }
    if !is_text && media != "application/x-www-form-urlencoded" {
        return body.into();
    }
    let Ok(text) = std::str::from_utf8(body) else { return body.into() };
    if is_text {
        // What forms of this type send: a pair a line.
        let lines = text.split_inclusive('\n').map(line);
        return lines.collect::<String>().into_bytes().into();
    }
    pairs(text, Place::Body, DEEPEST).into_bytes().into()
}

/// Takes secrets out of a line of text that has the shape of a form, and of no other.
fn line(line: &str) -> String {
    let text = line.trim_end_matches(['\r', '\n']);
    let (name, _) = text.split_once('=').unwrap_or_default();
    if name.is_empty() || name.contains(char::is_whitespace) {
        return line.to_owned();
    }
    format!("{}{}", pairs(text, Place::Body, DEEPEST), &line[text.len()..])
}

/// Returns the value of a parameter of a header, without its quotes.
fn parameter(value: &str, wanted: &str) -> Option<String> {
    let mut parameters = value.split(';').skip(1).filter_map(|it| it.split_once('='));
    let (_, value) = parameters.find(|(name, _)| name.trim().eq_ignore_ascii_case(wanted))?;
    Some(value.trim().trim_matches('"').to_owned())
}

/// Takes the contents of secret parts out of a multipart body.
fn parts(boundary: &str, body: &[u8]) -> Vec<u8> {
    // The first delimiter may stand at the very start, without the line end of the others.
    let whole = [b"\r\n", body].concat();
    let delimiter = format!("\r\n--{boundary}");
    let mut clean = Vec::with_capacity(whole.len());
    let mut rest = whole.as_slice();
    while let Some(at) = memmem(rest, delimiter.as_bytes()) {
        clean.extend_from_slice(&part(&rest[..at]));
        clean.extend_from_slice(delimiter.as_bytes());
        rest = &rest[at + delimiter.len()..];
    }
    clean.extend_from_slice(&part(rest));
    clean.split_off(2)
}

/// Takes the secret out of a part, given with its head.
fn part(part: &[u8]) -> Cow<'_, [u8]> {
    const END: &[u8] = b"\r\n\r\n";
    let Some(at) = memmem(part, END) else { return part.into() };
    let (head, content) = part.split_at(at + END.len());
    let text = String::from_utf8_lossy(head);
    let field = |wanted: &str| {
        let mut fields = text.lines().filter_map(|line| line.split_once(':'));
        fields.find(|(name, _)| name.trim().eq_ignore_ascii_case(wanted)).map(|(_, it)| it)
    };
    let name = field("content-disposition").and_then(|it| parameter(it, "name"));
    if name.is_some_and(|name| is_secret(&name, Place::Body)) {
        return [head, REDACTED.as_bytes()].concat().into();
    }
    match field("content-type").filter(|it| it.contains("json")) {
        Some(kind) => [head, &body(Some(kind), content)].concat().into(),
        None => part.into(),
    }
}

/// Returns where `wanted` first stands.
fn memmem(text: &[u8], wanted: &[u8]) -> Option<usize> {
    text.windows(wanted.len()).position(|it| it == wanted)
}

/// Whether a body is to be read as JSON.
pub(super) fn is_json(media: &str, body: &[u8]) -> bool {
    let unnamed = media.is_empty() || media == "text/plain";
    media.ends_with("json") || (unnamed && matches!(body.first(), Some(b'{' | b'[')))
}

/// Takes secrets out of `a=b&c=d`, and leaves the rest as it is written.
fn pairs(text: &str, place: Place, depth: usize) -> String {
    let pairs = text.split('&').map(|pair| match pair.split_once('=') {
        Some((name, _)) if is_secret(name, place) => format!("{name}={REDACTED}"),
        Some((name, value)) => format!("{name}={}", nested(value, depth)),
        None => pair.to_owned(),
    });
    pairs.collect::<Vec<_>>().join("&")
}

/// Takes secrets out of a value that is an address itself.
fn nested(value: &str, depth: usize) -> Cow<'_, str> {
    let Ok(text) = percent_encoding::percent_decode_str(value).decode_utf8() else {
        return value.into();
    };
    if depth == 0 || !(text.starts_with('/') || text.contains("://")) {
        return value.into();
    }
    let clean = address(&text, depth - 1);
    if clean == text {
        value.into()
    } else if text == value {
        clean.into()
    } else {
        percent_encoding::utf8_percent_encode(&clean, VALUE).to_string().into()
    }
}

/// Whether a name says that its value is a secret: by its words, in any case and spelling.
/// Of `user[password]` the last part counts, unless an outer one is a secret as a whole.
fn is_secret(name: &str, place: Place) -> bool {
    let name = percent_encoding::percent_decode_str(name).decode_utf8_lossy();
    let words = words(&name);
    let has = |list: &[&str]| words.iter().any(|word| list.contains(&word.as_str()));
    if place == Place::Query && IN_QUERIES.contains(&words.join("_").as_str()) {
        return true;
    }
    if has(NO_TOKEN) && words.iter().any(|word| word == "token") {
        return false;
    }
    let of_key = words.windows(2).any(|pair| {
        matches!(pair[1].as_str(), "key" | "keys") && KINDS_OF_KEY.contains(&pair[0].as_str())
    });
    let by_part = |word: &String| {
        let parts = ["password", "passwd", "passphrase"];
        parts.iter().any(|part| word.contains(part))
            || ["token", "secret"].iter().any(|end| word.ends_with(end))
    };
    let last = words.last().is_some_and(|word| LAST_WORDS.contains(&word.as_str()));
    let outer = name.split('[').next().unwrap_or_default();
    of_key
        || last
        || has(WORDS)
        || words.iter().any(by_part)
        || (outer.len() < name.len() && !outer.is_empty() && is_secret(outer, Place::Body))
}

/// Splits a name into lower-case words, at what is no letter and where upper case begins;
/// of `a[b][c][]` these are the words of `c`. Digits at the end of a word do not count.
fn words(name: &str) -> Vec<String> {
    let mut parts = name.split(['[', ']']).map(str::trim).filter(|it| !it.is_empty());
    let name = parts.next_back().unwrap_or_default();
    let mut words = vec![String::new()];
    let mut before = ' ';
    let mut letters = name.chars().peekable();
    while let Some(letter) = letters.next() {
        let next_is_lower = letters.peek().is_some_and(|it| it.is_lowercase());
        let begins = letter.is_uppercase()
            && (!before.is_uppercase() || next_is_lower)
            && before.is_alphanumeric();
        if begins || !letter.is_alphanumeric() {
            words.push(String::new());
        }
        if let (true, Some(word)) = (letter.is_alphanumeric(), words.last_mut()) {
            word.extend(letter.to_lowercase());
        }
        before = letter;
    }
    let words = words.iter().map(|it| it.trim_end_matches(|c: char| c.is_ascii_digit()));
    words.filter(|it| !it.is_empty()).map(str::to_owned).collect()
}

fn cookie(pair: &str) -> String {
    match pair.trim().split_once('=') {
        Some((name, _)) => format!("{name}={REDACTED}"),
        None if pair.trim().is_empty() => String::new(),
        None => REDACTED.to_owned(),
    }
}

/// Takes secrets out of a URL, whole or relative, and leaves the rest as it is written.
fn address(value: &str, depth: usize) -> String {
    let (value, fragment) = match value.split_once('#') {
        Some((value, fragment)) => (value, Some(fragment)),
        None => (value, None),
    };
    let mut clean = match value.split_once('?') {
        Some((path, query)) => format!("{path}?{}", pairs(query, Place::Query, depth)),
        None => value.to_owned(),
    };
    if let Ok(url) = Url::parse(&clean)
        && (!url.username().is_empty() || url.password().is_some())
    {
        clean = bare(&url, depth);
    }
    if let Some(fragment) = fragment {
        // Tokens of a sign-in come back as parameters of the fragment.
        clean = format!("{clean}#{}", pairs(fragment, Place::Query, depth));
    }
    clean
}

/// Takes secrets out of a JSON value, at any depth; returns whether there were any. All that
/// stands in a secret list or object is one.
fn values(value: &mut Value, is_secret: bool) -> bool {
    match value {
        Value::Object(object) => {
            let mut found = false;
            for (name, value) in object {
                found |= values(value, is_secret || self::is_secret(name, Place::Body));
            }
            found
        }
        Value::Array(items) => {
            let mut found = false;
            for item in items {
                found |= values(item, is_secret);
            }
            found
        }
        Value::Number(_) | Value::String(_) if is_secret => {
            *value = REDACTED.into();
            true
        }
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => false,
    }
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
            (
                "https://a.test/?next=https%3A%2F%2Fb.test%2F%3Fq%3Da+b%26token%3DK1",
                "https://a.test/?next=https%3A%2F%2Fb.test%2F%3Fq%3Da+b%26token%3Dredacted",
            ),
            ("https://a.test/?u=/x?api_key=K1", "https://a.test/?u=/x?api_key=redacted"),
            (
                "https://a.test/?u=http%3A%2F%2Fb.test%2F%3fq",
                "https://a.test/?u=http%3A%2F%2Fb.test%2F%3fq",
            ),
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
            ("X-CSRF-Token", "K1", "redacted"),
            ("Private-Token", "K1", "redacted"),
            ("X-Access-Token", "K1", "redacted"),
            ("www-authenticate", "Basic", "Basic"),
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
        let multipart = Some("multipart/form-data; boundary=\"--B\"");
        let table: [(Option<&str>, &str, &str); 12] = [
            (
                multipart,
                "----B\r\nContent-Disposition: form-data; name=\"password\"\r\n\r\nK1\r\nK2\r\n\
                 ----B\r\nContent-Disposition: form-data; name=\"q\"\r\n\r\nx\r\n----B--\r\n",
                "----B\r\nContent-Disposition: form-data; name=\"password\"\r\n\r\nredacted\r\n\
                 ----B\r\nContent-Disposition: form-data; name=\"q\"\r\n\r\nx\r\n----B--\r\n",
            ),
            (Some("text/plain"), "q=a\r\npassword=K1\r\n", "q=a\r\npassword=redacted\r\n"),
            (Some("text/plain"), "the secret = a word", "the secret = a word"),
            (None, "user=a&password=K1", "user=a&password=redacted"),
            (
                Some("application/json"),
                r#"{"secret":["K1",{"a":2}],"auth":{"token":"K1","on":true}}"#,
                r#"{"secret":["redacted",{"a":"redacted"}],"auth":{"token":"redacted","on":true}}"#,
            ),
            (Some("application/json"), r#"{"author": "K1"}"#, r#"{"author": "K1"}"#),
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

    #[test]
    fn a_name_is_a_secret_by_its_words() {
        let secret = "user[password] wpPassword new_password pass session_password passphrase pwd \
            PASSWORD password2 passwordConfirm user%5Bpassword%5D user[password][] auth[user] \
            csrfmiddlewaretoken accessToken APIKey api.key x-api-key X-Auth-Token client_secret \
            private_key login.pass OAuthToken access_token";
        for name in secret.split_whitespace() {
            assert!(is_secret(name, Place::Body), "{name}");
        }
        let open = "author authors passenger compass bypass passage pass_kind key keyboard \
            secretary tokens max_tokens page_token nextPageToken token_type monkey \
            authority passport user[name] sort_key";
        for name in open.split_whitespace() {
            assert!(!is_secret(name, Place::Body), "{name}");
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
                let nested = format!("https://a.test/?u={}", percent_encoding::utf8_percent_encode(&once, VALUE));
                let once = url(&Url::parse(&nested).unwrap());
                prop_assert_eq!(url(&Url::parse(&once).unwrap()), once.clone());
            }
        }
    }
}
