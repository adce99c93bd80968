//! Letters of RTF: code pages of fonts, and signs with a name.

use std::collections::HashMap;

use encoding_rs::Encoding;

/// Returns the encoding of a code page.
pub(super) fn code_page(number: i32) -> Option<&'static Encoding> {
    Some(match number {
        936 | 54936 => encoding_rs::GB18030,
        950 => encoding_rs::BIG5,
        932 => encoding_rs::SHIFT_JIS,
        949 | 1361 => encoding_rs::EUC_KR,
        874 => encoding_rs::WINDOWS_874,
        1250 => encoding_rs::WINDOWS_1250,
        1251 => encoding_rs::WINDOWS_1251,
        1252 => encoding_rs::WINDOWS_1252,
        1253 => encoding_rs::WINDOWS_1253,
        1254 => encoding_rs::WINDOWS_1254,
        1255 => encoding_rs::WINDOWS_1255,
        1256 => encoding_rs::WINDOWS_1256,
        1257 => encoding_rs::WINDOWS_1257,
        1258 => encoding_rs::WINDOWS_1258,
        866 => encoding_rs::IBM866,
        10000 => encoding_rs::MACINTOSH,
        65001 => encoding_rs::UTF_8,
        _ => return None,
    })
}

/// Returns the code page of a font's character set (`\fcharset`).
fn of_charset(charset: i32) -> Option<i32> {
    Some(match charset {
        77 => 10000,
        128 => 932,
        129 | 130 => 949,
        134 => 936,
        136 => 950,
        161 => 1253,
        162 => 1254,
        163 => 1258,
        177 => 1255,
        178 => 1256,
        186 => 1257,
        204 => 1251,
        222 => 874,
        238 => 1250,
        _ => return None,
    })
}

/// The fonts: which encoding each has, and whether it is one of symbols.
#[derive(Debug, Default)]
pub(super) struct Fonts {
    fonts: HashMap<i32, (Option<&'static Encoding>, bool)>,
    current: i32,
}

impl Fonts {
    /// Takes what the table of fonts says.
    pub(super) fn word(&mut self, name: &str, number: i32) {
        let font = |fonts: &mut Self| *fonts.fonts.entry(fonts.current).or_default();
        match name {
            "f" => self.current = number,
            "fcharset" => {
                let (encoding, _) = font(self);
                let encoding = of_charset(number).and_then(code_page).or(encoding);
                self.fonts.insert(self.current, (encoding, number == 2));
            }
            "cpg" => {
                let (_, symbols) = font(self);
                self.fonts.insert(self.current, (code_page(number), symbols));
            }
            _ => {}
        }
    }

    /// Returns the encoding of a font, and whether it is one of symbols.
    pub(super) fn get(&self, font: i32) -> (Option<&'static Encoding>, bool) {
        self.fonts.get(&font).copied().unwrap_or_default()
    }
}

/// Returns the letter that a control word stands for.
pub(super) fn named(name: &str) -> Option<&'static str> {
    Some(match name {
        "tab" => "\t",
        "line" | "lbr" => "\n",
        "emdash" => "—",
        "endash" => "–",
        "bullet" => "•",
        "lquote" => "‘",
        "rquote" => "’",
        "ldblquote" => "“",
        "rdblquote" => "”",
        "emspace" | "enspace" | "qmspace" => " ",
        _ => return None,
    })
}
