//! What a request brings: the fields of a query or of a form.
//!
//! Nothing here trusts the request. Sizes and counts are limited before anything is
//! kept, text that is not UTF-8 is refused, and what is malformed is told as such. Three
//! kinds of body are read: `application/x-www-form-urlencoded`, `multipart/form-data`,
//! and a flat `application/json` object, as scripts of pages send it.

use serde_json::Value;
use wildgym_tasks::environment::Given;
use wildgym_tasks::environment::path::percent_decoded;

/// Largest body of a form, in bytes.
pub(super) const LARGEST: usize = 2 << 20;

/// Most fields of a form or parameters of a query.
const MOST_FIELDS: usize = 256;

/// Most files of a form.
const MOST_FILES: usize = 8;

/// Longest head of one part of a multipart body, in bytes.
const LONGEST_HEAD: usize = 8 << 10;

/// Names and values, in the order sent.
pub(super) type Fields = Vec<(String, Given)>;

/// Why a request cannot be read.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub(super) enum BodyError {
    /// The body is too large.
    #[error("the form has more than {LARGEST} bytes")]
    TooLarge,
    /// There are too many fields or files.
    #[error("there are more than {0} {1}")]
    TooMany(usize, &'static str),
    /// Some text is not UTF-8.
    #[error("the text is not UTF-8")]
    NotText,
    /// The body is of a kind that forms do not have.
    #[error(
        "`{0}` is no kind of form; send `application/x-www-form-urlencoded` or `multipart/form-data`"
    )]
    Kind(String),
    /// The body is not what it says it is.
    #[error("the body is malformed: {0}")]
    Malformed(&'static str),
}

impl BodyError {
    /// Returns the status of a reply that says so.
    pub(super) fn status(&self) -> u16 {
        match self {
            Self::TooLarge | Self::TooMany(..) => 413,
            Self::Kind(_) => 415,
            Self::NotText | Self::Malformed(_) => 400,
        }
    }
}

/// Reads a query.
pub(super) fn query(query: &str) -> Result<Fields, BodyError> {
    urlencoded(query.as_bytes())
}

/// Reads a body of that `Content-Type`; none at all is a form without fields.
pub(super) fn form(content_type: Option<&str>, body: &[u8]) -> Result<Fields, BodyError> {
    if body.len() > LARGEST {
        return Err(BodyError::TooLarge);
    }
    if body.is_empty() {
        return Ok(Fields::new());
    }
    let content_type = content_type.unwrap_or("application/x-www-form-urlencoded");
    let (kind, parameters) = content_type.split_once(';').unwrap_or((content_type, ""));
    match kind.trim().to_ascii_lowercase().as_str() {
        "application/x-www-form-urlencoded" => urlencoded(body),
        "application/json" => json(body),
        "multipart/form-data" => {
            let boundary = parameter(parameters, "boundary");
            let boundary = boundary.filter(|it| (1..=70).contains(&it.len()));
            multipart(&boundary.ok_or(BodyError::Malformed("it names no boundary"))?, body)
        }
        other => Err(BodyError::Kind(other.chars().take(60).collect())),
    }
}

fn urlencoded(body: &[u8]) -> Result<Fields, BodyError> {
    let body = std::str::from_utf8(body).map_err(|_| BodyError::NotText)?;
    let text = |part: &str| percent_decoded(&part.replace('+', " ")).ok_or(BodyError::NotText);
    let mut fields = Fields::new();
    for pair in body.split('&').filter(|pair| !pair.is_empty()) {
        let (name, value) = pair.split_once('=').unwrap_or((pair, ""));
        push(&mut fields, text(name)?, Given::Text(text(value)?))?;
    }
    Ok(fields)
}

fn push(fields: &mut Fields, name: String, value: Given) -> Result<(), BodyError> {
    if fields.len() == MOST_FIELDS {
        return Err(BodyError::TooMany(MOST_FIELDS, "fields"));
    }
    fields.push((name, value));
    Ok(())
}

/// Reads an object of plain values, and of arrays of these.
fn json(body: &[u8]) -> Result<Fields, BodyError> {
    let value = serde_json::from_slice(body).map_err(|_| BodyError::Malformed("it is not JSON"))?;
    let Value::Object(object) = value else {
        return Err(BodyError::Malformed("expected a JSON object"));
    };
    let plain = |value: Value| match value {
        Value::Null => Ok(None),
        Value::Bool(set) => Ok(set.then(|| "on".to_owned())),
        Value::Number(number) => Ok(Some(number.to_string())),
        Value::String(text) => Ok(Some(text)),
        Value::Array(_) | Value::Object(_) => {
            Err(BodyError::Malformed("the JSON object holds another object"))
        }
    };
    let mut fields = Fields::new();
    for (name, value) in object {
        let values = match value {
            Value::Array(items) => items,
            Value::Null
            | Value::Bool(_)
            | Value::Number(_)
            | Value::String(_)
            | Value::Object(_) => vec![value],
        };
        for value in values {
            if let Some(text) = plain(value)? {
                push(&mut fields, name.clone(), Given::Text(text))?;
            }
        }
    }
    Ok(fields)
}

/// Reads a multipart body (RFC 7578).
fn multipart(boundary: &str, body: &[u8]) -> Result<Fields, BodyError> {
    const NO_END: BodyError = BodyError::Malformed("a part does not end");
    let marker = format!("--{boundary}");
    let mut rest = match body.strip_prefix(marker.as_bytes()) {
        Some(rest) => rest,
        None => after(body, format!("\r\n{marker}").as_bytes())
            .map(|(_, rest)| rest)
            .ok_or(BodyError::Malformed("its boundary does not stand in it"))?,
    };
    let marker = format!("\r\n{marker}");
    let mut fields = Fields::new();
    let mut files = 0;
    loop {
        if rest.starts_with(b"--") {
            return Ok(fields);
        }
        rest = after(rest, b"\r\n")
            .filter(|(spaces, _)| spaces.trim_ascii().is_empty())
            .ok_or(NO_END)?
            .1;
        let (head, behind) = after(rest, b"\r\n\r\n").ok_or(NO_END)?;
        if head.len() > LONGEST_HEAD {
            return Err(BodyError::Malformed("the head of a part is too long"));
        }
        let head = std::str::from_utf8(head).map_err(|_| BodyError::NotText)?;
        let (content, behind) = after(behind, marker.as_bytes()).ok_or(NO_END)?;
        rest = behind;
        let (name, file) = disposition(head)?;
        let given = match file {
            None => {
                let text = std::str::from_utf8(content).map_err(|_| BodyError::NotText)?;
                Given::Text(text.to_owned())
            }
            Some(name) => {
                files += 1;
                if files > MOST_FILES {
                    return Err(BodyError::TooMany(MOST_FILES, "files"));
                }
                let text = std::str::from_utf8(content).ok();
                let text = text.map(|text| text.trim_start_matches('\u{feff}').to_owned());
                Given::File { name, size: content.len(), text }
            }
        };
        push(&mut fields, name, given)?;
    }
}

/// Splits at the first place where `mark` stands: what is before it, and what after.
fn after<'b>(bytes: &'b [u8], mark: &[u8]) -> Option<(&'b [u8], &'b [u8])> {
    let at = bytes.windows(mark.len()).position(|window| window == mark)?;
    Some((&bytes[..at], &bytes[at + mark.len()..]))
}

/// Reads the name of a field, and of its file where it is one.
fn disposition(head: &str) -> Result<(String, Option<String>), BodyError> {
    let line = head.split("\r\n").find_map(|line| {
        let (name, value) = line.split_once(':')?;
        name.trim().eq_ignore_ascii_case("content-disposition").then_some(value)
    });
    let line = line.ok_or(BodyError::Malformed("a part says not what it is"))?;
    let (kind, parameters) = line.split_once(';').unwrap_or((line, ""));
    if !kind.trim().eq_ignore_ascii_case("form-data") {
        return Err(BodyError::Malformed("a part is no form data"));
    }
    let name = parameter(parameters, "name").ok_or(BodyError::Malformed("a part has no name"))?;
    // Some browsers of old send whole paths.
    let bare = |path: String| path.rsplit(['/', '\\']).next().unwrap_or_default().to_owned();
    Ok((name, parameter(parameters, "filename").map(bare)))
}

/// Reads a parameter such as `name="a\"b"`; browsers write quotes as `%22`.
fn parameter(parameters: &str, wanted: &str) -> Option<String> {
    let mut rest = parameters;
    loop {
        rest = rest.trim_start_matches([';', ' ', '\t']);
        let (name, behind) = rest.split_once('=')?;
        let (value, behind) = if let Some(quoted) = behind.strip_prefix('"') {
            unquoted(quoted)?
        } else {
            let end = behind.find(';').unwrap_or(behind.len());
            (behind[..end].trim().to_owned(), &behind[end..])
        };
        if name.trim().eq_ignore_ascii_case(wanted) {
            return Some(value.replace("%22", "\""));
        }
        rest = behind;
    }
}

/// Reads up to the closing quote.
fn unquoted(text: &str) -> Option<(String, &str)> {
    let mut value = String::new();
    let mut chars = text.char_indices();
    while let Some((at, c)) = chars.next() {
        match c {
            '"' => return Some((value, &text[at + 1..])),
            '\\' => value.push(chars.next()?.1),
            _ => value.push(c),
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    const URLENCODED: &str = "application/x-www-form-urlencoded";

    fn text(value: &str) -> Given {
        Given::Text(value.to_owned())
    }

    fn named(name: &str, given: Given) -> (String, Given) {
        (name.to_owned(), given)
    }

    #[test]
    fn forms_are_read_as_browsers_send_them() {
        let body = b"a=1&b=two+words&a=%E4%BA%8C&empty=&bare&&x=%2";
        let got = form(Some(URLENCODED), body).unwrap();
        let want =
            [("a", "1"), ("b", "two words"), ("a", "二"), ("empty", ""), ("bare", ""), ("x", "%2")];
        assert_eq!(got, want.map(|(name, value)| named(name, text(value))));
        let body = br#"{"a": 1, "b": [true, "x"], "c": null, "d": false}"#;
        let got = form(Some("Application/JSON; charset=utf-8"), body).unwrap();
        assert_eq!(got, [named("a", text("1")), named("b", text("on")), named("b", text("x"))]);
        assert_eq!(form(None, b"").unwrap(), [], "nothing was sent");
    }

    #[test]
    fn multipart_bodies_hold_texts_and_files() {
        let body = "preamble\r\n--B-1\r\nContent-Disposition: form-data; name=\"a\"\r\n\r\none\r\ntwo\r\n--B-1\r\n\
                    content-disposition: form-data; name=\"f\"; filename=\"C:\\\\x\\\\b%22.csv\"\r\n\
                    Content-Type: text/csv\r\n\r\n\u{feff}1,2\r\n--B-1  \r\nContent-Disposition: form-data; \
                    filename=\"\"; name=none\r\n\r\n\r\n--B-1--\r\nepilogue";
        let got = form(Some("multipart/form-data; boundary=\"B-1\""), body.as_bytes()).unwrap();
        let csv = Given::File { name: "b\".csv".to_owned(), size: 6, text: Some("1,2".to_owned()) };
        let none = Given::File { name: String::new(), size: 0, text: Some(String::new()) };
        assert_eq!(got, [named("a", text("one\r\ntwo")), named("f", csv), named("none", none)]);
        let bytes = [
            &b"--x\r\nContent-Disposition: form-data; name=f; filename=p.png\r\n\r\n\xff\r\n--x--"
                [..],
        ]
        .concat();
        let got = form(Some("multipart/form-data; boundary=x"), &bytes).unwrap();
        assert_eq!(got[0].1, Given::File { name: "p.png".to_owned(), size: 1, text: None });
    }

    #[test]
    fn hostile_bodies_are_told_so() {
        let many = vec!["a=1"; MOST_FIELDS + 1].join("&");
        let files = "--x\r\nContent-Disposition: form-data; name=f; filename=a\r\n\r\n\r\n"
            .repeat(9)
            + "--x--";
        let multipart = Some("multipart/form-data; boundary=x");
        let long = format!("--x\r\n{}\r\n\r\n\r\n--x--", "a".repeat(LONGEST_HEAD + 1));
        let large = "a".repeat(LARGEST + 1);
        let table: [(Option<&str>, &[u8], u16, &str); 14] = [
            (None, large.as_bytes(), 413, "huge"),
            (None, many.as_bytes(), 413, "too many fields"),
            (None, b"a=%ff", 400, "an escape that is no text"),
            (None, b"a=\xff", 400, "bytes that are no text"),
            (Some("text/plain"), b"a", 415, "another kind"),
            (Some("application/json"), b"[1]", 400, "no object"),
            (Some("application/json"), b"{\"a\": {}}", 400, "deep"),
            (Some("application/json"), b"{", 400, "no JSON"),
            (Some("multipart/form-data"), b"a", 400, "no boundary"),
            (multipart, b"a", 400, "boundary is nowhere"),
            (
                multipart,
                b"--x\r\nContent-Disposition: form-data; name=a\r\n\r\nno end",
                400,
                "no end",
            ),
            (multipart, b"--x\r\nX: y\r\n\r\n\r\n--x--", 400, "no disposition"),
            (multipart, files.as_bytes(), 413, "too many files"),
            (multipart, long.as_bytes(), 400, "a long head"),
        ];
        for (kind, body, status, why) in table {
            let error = form(kind, body).unwrap_err();
            assert_eq!(error.status(), status, "{why}: {error}");
        }
        let deep = "[".repeat(100_000);
        assert!(form(Some("application/json"), deep.as_bytes()).is_err(), "no stack ends");
    }

    proptest! {
        #[test]
        fn any_bytes_may_come(body in proptest::collection::vec(any::<u8>(), 0..400), kind in 0..3usize) {
            let kinds = [URLENCODED, "multipart/form-data; boundary=b", "application/json"];
            let _read = form(Some(kinds[kind]), &body);
            let mut framed = b"--b\r\n".to_vec();
            framed.extend(&body);
            framed.extend(b"\r\n--b--");
            let _read = form(Some(kinds[1]), &framed);
        }

        #[test]
        fn what_is_sent_arrives(fields in proptest::collection::vec(("\\PC{0,9}", "[^\u{0}]{0,20}"), 0..9)) {
            let mut body = url::form_urlencoded::Serializer::new(String::new());
            body.extend_pairs(&fields);
            let want: Fields = fields.iter().map(|(name, value)| named(name, text(value))).collect();
            let body = body.finish();
            let got = form(Some(URLENCODED), body.as_bytes()).unwrap();
            // A pair of nothing and nothing leaves `=`, which is a field without a name.
            prop_assert_eq!(&got, &want);
            let head = "--b0u\r\nContent-Disposition: form-data; name=\"n\"\r\n\r\n";
            let parts: Vec<String> =
                fields.iter().map(|(_, value)| format!("{head}{value}\r\n")).collect();
            let multipart = parts.concat() + "--b0u--";
            let got = form(Some("multipart/form-data; boundary=b0u"), multipart.as_bytes()).unwrap();
            let values: Vec<Given> = got.into_iter().map(|(_, given)| given).collect();
            let want: Vec<Given> = fields.iter().map(|(_, value)| text(value)).collect();
            prop_assert_eq!(values, want);
        }
    }
}
