//! Bytes into characters, for pages and documents alike.
//!
//! A byte order mark decides; then whether the bytes are UTF-8; then what the server or
//! the page declares, if it fits (a wrong declaration is a common mistake); then
//! statistics. Decoding never fails: what fits no encoding shows as `�` and is counted.

use std::sync::LazyLock;

use chardetng::{EncodingDetector, Iso2022JpDetection, Utf8Detection};
use encoding_rs::{BIG5, Encoding, GB18030, GBK, ISO_2022_JP, UTF_8, UTF_16BE, UTF_16LE};
use regex::bytes::Regex;

/// How much of a file the guess looks at, in bytes.
const GUESSED: usize = 1 << 20;

/// How much of a file is looked at to tell text from other bytes.
const LOOKED: usize = 64 << 10;

/// How far into a page its `<meta charset>` is looked for, in bytes.
const META_WINDOW: usize = 4096;

/// Text with the encoding it was in.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Decoded {
    /// The text, without a byte order mark.
    pub text: String,
    /// Name of the encoding.
    pub encoding: &'static str,
    /// What could not be decoded, if anything.
    pub note: Option<String>,
}

impl Decoded {
    /// Returns how the encoding is named beside a kind: not at all for UTF-8.
    pub(crate) fn suffix(&self) -> String {
        if self.encoding == UTF_8.name() { String::new() } else { format!(" ({})", self.encoding) }
    }
}

/// Decodes a text. `content_type` is what the server said, if anything; a page may also
/// name its encoding itself.
#[must_use]
pub fn decode(bytes: &[u8], content_type: Option<&str>) -> Decoded {
    let encoding = choose(bytes, content_type);
    let (text, _, malformed) = encoding.decode(bytes);
    let mut note = None;
    if malformed {
        let count = text.matches('\u{fffd}').count();
        note = Some(format!("{count} places are not valid {} and show as `�`", encoding.name()));
    }
    let encoding = if encoding == GBK { GB18030.name() } else { encoding.name() };
    Decoded { text: text.into_owned(), encoding, note }
}

fn choose(bytes: &[u8], content_type: Option<&str>) -> &'static Encoding {
    if let Some((encoding, _)) = Encoding::for_bom(bytes) {
        return encoding;
    }
    if let Some(encoding) = wide(bytes) {
        return encoding;
    }
    let declared = content_type.and_then(in_header).or_else(|| in_page(bytes));
    // The one encoding that looks like UTF-8 and is not.
    if declared == Some(ISO_2022_JP) && fits(ISO_2022_JP, bytes) {
        return ISO_2022_JP;
    }
    if std::str::from_utf8(bytes).is_ok() {
        return UTF_8;
    }
    declared.filter(|encoding| fits(encoding, bytes)).unwrap_or_else(|| guess(bytes, declared))
}

fn fits(encoding: &'static Encoding, bytes: &[u8]) -> bool {
    !encoding.decode_without_bom_handling(bytes).1
}

/// Returns the encoding that a `Content-Type` names.
fn in_header(content_type: &str) -> Option<&'static Encoding> {
    let charset = content_type.split(';').skip(1).find_map(|parameter| {
        let (name, value) = parameter.split_once('=')?;
        name.trim().eq_ignore_ascii_case("charset").then(|| value.trim().trim_matches('"'))
    })?;
    Encoding::for_label(charset.as_bytes())
}

/// Returns the encoding that a page names in its head.
fn in_page(bytes: &[u8]) -> Option<&'static Encoding> {
    static CHARSET: LazyLock<Option<Regex>> = LazyLock::new(|| {
        Regex::new(r#"(?i-u)<meta[^>]{1,200}?charset\s*=\s*["']?([a-z0-9_:.-]+)"#).ok()
    });
    let head = &bytes[..bytes.len().min(META_WINDOW)];
    let label = CHARSET.as_ref()?.captures(head)?.get(1)?;
    let encoding = Encoding::for_label(label.as_bytes())?;
    // A page that can be read up to here is not UTF-16, whatever it says.
    Some(if encoding == UTF_16BE || encoding == UTF_16LE { UTF_8 } else { encoding })
}

/// Guesses by statistics; a UTF-8 text with a few bad bytes stays one.
fn guess(bytes: &[u8], declared: Option<&'static Encoding>) -> &'static Encoding {
    let lossy = String::from_utf8_lossy(bytes);
    let bad = lossy.matches('\u{fffd}').count();
    let good = lossy.chars().filter(|letter| !letter.is_ascii()).count() - bad;
    if good > 10 * bad {
        return UTF_8;
    }
    let mut detector = EncodingDetector::new(Iso2022JpDetection::Deny);
    detector.feed(&bytes[..bytes.len().min(GUESSED)], bytes.len() <= GUESSED);
    let guess = detector.guess(None, Utf8Detection::Deny);
    // Short Chinese texts fit several encodings; one that decodes them whole wins.
    let whole = [guess, GB18030, BIG5].into_iter().find(|encoding| fits(encoding, bytes));
    whole.or(declared).unwrap_or(guess)
}

/// Recognises UTF-16 without a mark: every other byte of its ASCII is zero.
fn wide(bytes: &[u8]) -> Option<&'static Encoding> {
    let start = &bytes[..bytes.len().min(LOOKED) & !1];
    let zeros = |offset: usize| start.iter().skip(offset).step_by(2).filter(|b| **b == 0).count();
    let (even, odd, half) = (zeros(0), zeros(1), start.len() / 2);
    if half < 2 {
        None
    } else if odd > half / 3 && even * 20 < half {
        Some(UTF_16LE)
    } else if even > half / 3 && odd * 20 < half {
        Some(UTF_16BE)
    } else {
        None
    }
}

/// Whether bytes are a text rather than something else: no NUL (outside UTF-16), and
/// hardly any control characters.
pub(crate) fn is_text(bytes: &[u8]) -> bool {
    let start = &bytes[..bytes.len().min(LOOKED)];
    let marked = Encoding::for_bom(bytes).map(|(encoding, _)| encoding);
    if let Some(encoding) = marked.filter(|encoding| *encoding != UTF_8).or_else(|| wide(bytes)) {
        let (text, malformed) = encoding.decode_without_bom_handling(&start[..start.len() & !1]);
        let odd = text.chars().filter(|c| c.is_control() && !c.is_whitespace()).count();
        return !malformed && odd * 50 <= text.len();
    }
    let odd = start.iter().filter(|byte| matches!(byte, 0..=8 | 14..=26 | 28..=31 | 127)).count();
    !start.contains(&0) && odd * 50 <= start.len()
}

#[cfg(test)]
mod tests {
    use super::*;

    const CHINESE: &str =
        "编号,商品名称,销售金额\n1,东北大米,1200\n2,黄花菜干,880\n3,红糖姜茶,430\n";
    const TAIWAN: &str =
        "編號,商品名稱,銷售金額\n1,東北大米,1200\n2,黃花菜乾,880\n3,紅糖薑茶,430\n";

    fn utf16(text: &str, mark: bool, big: bool) -> Vec<u8> {
        let mark = mark.then_some(0xfeff);
        let units = mark.into_iter().chain(text.encode_utf16());
        units.flat_map(|unit| if big { unit.to_be_bytes() } else { unit.to_le_bytes() }).collect()
    }

    #[test]
    fn encodings_are_found() {
        type Case = (Vec<u8>, Option<&'static str>, &'static str, &'static str, &'static str);
        let cases: Vec<Case> = vec![
            (CHINESE.into(), None, CHINESE, "UTF-8", "plain"),
            (format!("\u{feff}{CHINESE}").into(), None, CHINESE, "UTF-8", "with a mark"),
            (GB18030.encode(CHINESE).0.into(), None, CHINESE, "gb18030", "mainland"),
            (BIG5.encode(TAIWAN).0.into(), None, TAIWAN, "Big5", "Taiwan"),
            (
                BIG5.encode(TAIWAN).0.into(),
                Some("a; charset=utf-8"),
                TAIWAN,
                "Big5",
                "wrong header",
            ),
            (
                b"caf\xe9 au lait".into(),
                Some("a; charset=latin1"),
                "caf\u{e9} au lait",
                "windows-1252",
                "",
            ),
            (utf16("a,b\n1,2\n", true, false), None, "a,b\n1,2\n", "UTF-16LE", "with a mark"),
            (utf16("a,b\n1,2\n", true, true), None, "a,b\n1,2\n", "UTF-16BE", "with a mark"),
            (utf16("a,b\n1,2\n", false, false), None, "a,b\n1,2\n", "UTF-16LE", "without"),
        ];
        for (bytes, declared, text, encoding, why) in cases {
            let got = decode(&bytes, declared);
            assert_eq!((got.text.as_str(), got.encoding), (text, encoding), "{why}");
            assert_eq!(got.note, None, "{why}");
            assert!(is_text(&bytes), "{why}");
        }
    }

    #[test]
    fn a_few_bad_bytes_are_noted_not_guessed_away() {
        let mut bytes = CHINESE.repeat(5).into_bytes();
        bytes.extend(b"\xff\n");
        let got = decode(&bytes, None);
        assert_eq!(got.encoding, "UTF-8");
        assert_eq!(got.note.as_deref(), Some("1 places are not valid UTF-8 and show as `�`"));
    }

    #[test]
    fn what_is_declared_counts_where_it_fits() {
        let report = "二〇二五年度财务报告：本公司全年营业收入较上年增长百分之十二。";
        let gb: Vec<u8> = GB18030.encode(report).0.into();
        let taiwan = "臺灣觀測站的年度財務報告顯示，營業收入增加百分之十二。";
        let big5: Vec<u8> = BIG5.encode(taiwan).0.into();
        let with = |meta: &str, bytes: &[u8]| [meta.as_bytes(), bytes].concat();
        let old = r#"<META http-equiv="Content-Type" content="text/html; charset=Big5">"#;
        let table: [(Vec<u8>, Option<&str>, &str, &str); 11] = [
            (gb.clone(), Some("text/html; charset=GBK"), report, "the header says"),
            (gb.clone(), Some("text/csv; x=1; Charset=\"gbk\""), report, "in quotes"),
            (with("<meta charset=gb2312>", &gb), Some("text/html"), report, "the page says"),
            (with(old, &big5), None, taiwan, "the page says, the old way"),
            (with("\u{feff}", report.as_bytes()), Some("a; charset=gbk"), report, "a mark wins"),
            (gb.clone(), None, report, "detected"),
            (big5, Some("text/plain"), taiwan, "detected, traditional"),
            (gb, Some("text/html; charset=utf-8"), report, "the header is wrong"),
            (report.into(), Some("text/html; charset=nonsense"), report, "no such encoding"),
            (with("<meta charset=utf-16>", b"x"), None, "x", "no UTF-16, as it can be read"),
            (b"\x1b$BF|K\\".into(), Some("a; charset=iso-2022-jp"), "日本", "ASCII bytes, yet not"),
        ];
        for (bytes, header, want, why) in table {
            let text = decode(&bytes, header).text;
            assert!(text.ends_with(want), "{why}: {text}");
        }
    }
}
