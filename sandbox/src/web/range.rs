//! Parts of files: HTTP range requests (RFC 9110, section 14), for players that seek.
//!
//! One range of bytes is answered with 206; one that lies past the end with 416. What is
//! no range of bytes, several ranges at once, and a range of another version of the file
//! (`If-Range`) are answered with the whole, as the standard allows.

use super::Request;
use super::reply::Reply;

/// What part of a file is meant.
#[derive(Debug, PartialEq, Eq)]
enum Part {
    /// All of it.
    Whole,
    /// From one byte to another, both included.
    Bytes(usize, usize),
    /// None: it begins past the end.
    Beyond,
}

/// Cuts a whole answer (200) to the part that is asked for.
pub(super) fn cut(reply: Reply, request: &Request, etag: &str) -> Reply {
    let mut reply = reply.with("accept-ranges", "bytes");
    if request.method != http::Method::GET {
        return reply;
    }
    let header = |name: &str| {
        let found = request.headers.iter().find(|(key, _)| key.eq_ignore_ascii_case(name));
        found.map(|(_, value)| value.trim())
    };
    let fresh = header("if-range").is_none_or(|tag| tag == etag);
    let length = reply.body.len();
    match header("range").filter(|_| fresh).map_or(Part::Whole, |range| part(range, length)) {
        Part::Whole => reply,
        Part::Bytes(first, last) => {
            reply.body = reply.body.slice(first..=last);
            reply.status = 206;
            reply.with("content-range", &format!("bytes {first}-{last}/{length}"))
        }
        Part::Beyond => Reply::new(416, "text/plain; charset=utf-8", "no such range\n")
            .with("content-range", &format!("bytes */{length}"))
            .with("accept-ranges", "bytes"),
    }
}

/// Reads a `Range` header for a file of `length` bytes.
fn part(written: &str, length: usize) -> Part {
    let read = || {
        let (unit, range) = written.split_once('=')?;
        let (first, last) = range.trim().split_once('-')?;
        let (first, last) = (first.trim(), last.trim());
        let digits = |text: &str| text.bytes().all(|byte| byte.is_ascii_digit());
        if !unit.trim().eq_ignore_ascii_case("bytes") || !digits(first) || !digits(last) {
            return None;
        }
        // A number past all bounds lies past the end as well.
        let number = |text: &str| text.parse().unwrap_or(usize::MAX);
        match (first.is_empty(), last.is_empty()) {
            (true, true) => None,
            (true, false) => match number(last).min(length) {
                0 => Some(Part::Beyond),
                count => Some(Part::Bytes(length - count, length - 1)),
            },
            (false, _) if number(first) >= length => {
                let turned = !last.is_empty() && number(last) < number(first);
                (!turned).then_some(Part::Beyond)
            }
            (false, true) => Some(Part::Bytes(number(first), length - 1)),
            (false, false) => {
                let (first, last) = (number(first), number(last).min(length - 1));
                (first <= last).then_some(Part::Bytes(first, last))
            }
        }
    };
    read().unwrap_or(Part::Whole)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn ranges_are_read_as_the_standard_says() {
        let table = [
            ("bytes=0-3", 10, Part::Bytes(0, 3), "the first four"),
            ("bytes=4-", 10, Part::Bytes(4, 9), "from the fifth"),
            ("bytes=-4", 10, Part::Bytes(6, 9), "the last four"),
            ("bytes=-40", 10, Part::Bytes(0, 9), "more than there are, from the end"),
            ("bytes=8-400", 10, Part::Bytes(8, 9), "past the end"),
            ("BYTES = 1 - 2", 10, Part::Bytes(1, 2), "case and spaces"),
            ("bytes=10-", 10, Part::Beyond, "begins past the end"),
            ("bytes=99999999999999999999999-", 10, Part::Beyond, "past every number"),
            ("bytes=-0", 10, Part::Beyond, "the last none"),
            ("bytes=0-", 0, Part::Beyond, "an empty file has no byte"),
            ("bytes=5-3", 10, Part::Whole, "turned round"),
            ("bytes=20-13", 10, Part::Whole, "turned round, past the end"),
            ("bytes=0-1,4-5", 10, Part::Whole, "several"),
            ("bytes=-", 10, Part::Whole, "nothing"),
            ("bytes=a-b", 10, Part::Whole, "no numbers"),
            ("lines=1-2", 10, Part::Whole, "another unit"),
            ("", 10, Part::Whole, "empty"),
        ];
        for (written, length, want, why) in table {
            assert_eq!(part(written, length), want, "{written}: {why}");
        }
    }

    proptest! {
        #[test]
        fn any_header_gives_a_part_of_the_file(
            written in r"(bytes|lines|)=?[0-9]{0,22}-?[0-9]{0,3}[ ,a-]{0,2}",
            length in 0_usize..20,
        ) {
            if let Part::Bytes(first, last) = part(&written, length) {
                prop_assert!(first <= last && last < length);
            }
        }
    }
}
