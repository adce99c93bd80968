//! Bytes into characters.
//!
//! A byte order mark decides; then whether the bytes are UTF-8; then what was declared;
//! then statistics. What cannot be decoded shows as `�` and is counted.

use chardetng::{EncodingDetector, Iso2022JpDetection, Utf8Detection};
use encoding_rs::{BIG5, Encoding, GB18030, GBK, UTF_8, UTF_16BE, UTF_16LE};

/// How much of a file the guess looks at, in bytes.
const GUESSED: usize = 1 << 20;

/// How much of a file is looked at to tell text from other bytes.
const LOOKED: usize = 64 << 10;

/// Text with the encoding it was in.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Decoded {
    /// The text, without a byte order mark.
    pub text: String,
    /// Name of the encoding.
    pub encoding: &'static str,
    /// What could not be decoded, if anything.
    pub note: Option<String>,
}

impl Decoded {
    /// Returns how the encoding is named beside a kind: not at all for UTF-8.
    pub(super) fn suffix(&self) -> String {
        if self.encoding == UTF_8.name() { String::new() } else { format!(" ({})", self.encoding) }
    }
}

/// Decodes a text.
pub(super) fn decode(bytes: &[u8], declared: Option<&str>) -> Decoded {
    let encoding = choose(bytes, declared);
    let (text, _, malformed) = encoding.decode(bytes);
    let mut note = None;
    if malformed {
        let count = text.matches('\u{fffd}').count();
        note = Some(format!("{count} places are not valid {} and show as `�`", encoding.name()));
    }
    let encoding = if encoding == GBK { GB18030.name() } else { encoding.name() };
    Decoded { text: text.into_owned(), encoding, note }
}

fn choose(bytes: &[u8], declared: Option<&str>) -> &'static Encoding {
    if let Some((encoding, _)) = Encoding::for_bom(bytes) {
        return encoding;
    }
    if let Some(encoding) = wide(bytes) {
        return encoding;
    }
    if std::str::from_utf8(bytes).is_ok() {
        return UTF_8;
    }
    if let Some(encoding) = declared.and_then(|label| Encoding::for_label(label.as_bytes()))
        && encoding != UTF_8
        && !encoding.decode_without_bom_handling(bytes).1
    {
        return encoding;
    }
    guess(bytes)
}

/// Guesses by statistics; a UTF-8 text with a few bad bytes stays one.
fn guess(bytes: &[u8]) -> &'static Encoding {
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
    if guess.decode_without_bom_handling(bytes).1 {
        for other in [GB18030, BIG5] {
            if !other.decode_without_bom_handling(bytes).1 {
                return other;
            }
        }
    }
    guess
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
pub(super) fn is_text(bytes: &[u8]) -> bool {
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

/// Returns the `charset` of a media type.
pub(super) fn charset(media_type: Option<&str>) -> Option<&str> {
    let (_, parameters) = media_type?.split_once(';')?;
    parameters.split(';').find_map(|parameter| {
        let (name, value) = parameter.split_once('=')?;
        name.trim().eq_ignore_ascii_case("charset").then(|| value.trim().trim_matches('"'))
    })
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
            (BIG5.encode(TAIWAN).0.into(), Some("utf-8"), TAIWAN, "Big5", "a wrong declaration"),
            (b"caf\xe9 au lait".into(), Some("latin1"), "caf\u{e9} au lait", "windows-1252", ""),
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
    fn charset_of_a_media_type() {
        assert_eq!(charset(Some("text/csv; charset=\"GBK\"")), Some("GBK"));
        assert_eq!(charset(Some("text/html")), None);
        assert_eq!(charset(None), None);
    }
}
