//! Number formats: what a code means, and numbers shown as it says where that matters.
//!
//! Dates become ISO 8601 and percentages and amounts of money keep their sign; all other
//! numbers stand as they are stored, since rounding for the eye loses digits. Where the
//! shown form loses some, the stored number follows in brackets. Codes: ECMA-376 part 1,
//! 18.8.30 and 18.8.31.

use std::iter::Peekable;
use std::str::Chars;

use crate::date;

/// The most decimals that are shown.
const DECIMALS: usize = 15;

/// What a format makes of a number.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) enum Form {
    /// Nothing that matters.
    #[default]
    Plain,
    /// A date, a time or both.
    Moment,
    /// A duration.
    Span,
    /// Hundredths, with so many decimals.
    Percent(usize),
    /// An amount of money.
    Money(Money),
}

/// How an amount of money is written.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Money {
    before: String,
    after: String,
    decimals: usize,
    grouped: bool,
}

impl Form {
    /// Reads the code of a format.
    pub(crate) fn of(code: &str) -> Self {
        Scan::default().read(code)
    }

    /// Writes a number.
    pub(crate) fn show(&self, number: f64) -> String {
        let plain = date::number(number);
        if !number.is_finite() || number.abs() >= 1e15 {
            return plain;
        }
        let (shown, kept) = match self {
            Self::Plain | Self::Moment | Self::Span => return plain,
            Self::Percent(decimals) => {
                let digits = format!("{:.decimals$}", number * 100.0);
                let kept = digits.parse::<f64>().unwrap_or(f64::NAN) / 100.0;
                (format!("{digits}%"), kept)
            }
            Self::Money(money) => {
                let digits = format!("{:.*}", money.decimals, number.abs());
                let kept = digits.parse::<f64>().unwrap_or(f64::NAN).copysign(number);
                (money.wrap(&digits, number < 0.0), kept)
            }
        };
        let close = (kept - number).abs() <= 1e-12 * number.abs().max(1e-3);
        if close { shown } else { format!("{shown} ({plain})") }
    }
}

impl Money {
    fn wrap(&self, digits: &str, negative: bool) -> String {
        let sign = if negative { "-" } else { "" };
        let digits = if self.grouped { grouped(digits) } else { digits.to_owned() };
        format!("{sign}{}{digits}{}", self.before, self.after)
    }
}

fn grouped(digits: &str) -> String {
    let (whole, rest) = digits.split_at(digits.find('.').unwrap_or(digits.len()));
    let mut out = String::new();
    for (index, digit) in whole.chars().enumerate() {
        if index > 0 && (whole.len() - index).is_multiple_of(3) {
            out.push(',');
        }
        out.push(digit);
    }
    out + rest
}

/// Returns the code of a format that every workbook has.
pub(crate) fn builtin(number: u32) -> Option<&'static str> {
    Some(match number {
        0 => "General",
        1 => "0",
        2 => "0.00",
        3 => "#,##0",
        4 => "#,##0.00",
        5 => "\"$\"#,##0;(\"$\"#,##0)",
        6 => "\"$\"#,##0;[Red](\"$\"#,##0)",
        7 => "\"$\"#,##0.00;(\"$\"#,##0.00)",
        8 => "\"$\"#,##0.00;[Red](\"$\"#,##0.00)",
        9 => "0%",
        10 => "0.00%",
        11 => "0.00E+00",
        12 => "# ?/?",
        13 => "# ??/??",
        14 => "m/d/yyyy",
        15 => "d-mmm-yy",
        16 => "d-mmm",
        17 => "mmm-yy",
        18 => "h:mm AM/PM",
        19 => "h:mm:ss AM/PM",
        20 => "h:mm",
        21 => "h:mm:ss",
        22 => "m/d/yyyy h:mm",
        // Eastern dates, whose codes depend on the language of the program.
        27..=31 | 36 | 50..=54 | 57..=58 => "yyyy-mm-dd",
        32..=35 | 55..=56 => "h:mm:ss",
        37 => "#,##0;(#,##0)",
        38 => "#,##0;[Red](#,##0)",
        39 => "#,##0.00;(#,##0.00)",
        40 => "#,##0.00;[Red](#,##0.00)",
        41 => "_(* #,##0_);_(* (#,##0);_(* \"-\"_);_(@_)",
        42 => "_(\"$\"* #,##0_);_(\"$\"* (#,##0);_(\"$\"* \"-\"_);_(@_)",
        43 => "_(* #,##0.00_);_(* (#,##0.00);_(* \"-\"??_);_(@_)",
        44 => "_(\"$\"* #,##0.00_);_(\"$\"* (#,##0.00);_(\"$\"* \"-\"??_);_(@_)",
        45 => "mm:ss",
        46 => "[h]:mm:ss",
        47 => "mm:ss.0",
        48 => "##0.0E+0",
        49 => "@",
        _ => return None,
    })
}

/// What was seen of the first section of a code.
#[derive(Debug, Default)]
#[expect(clippy::struct_excessive_bools, reason = "each is a part that a code has or lacks")]
struct Scan {
    before: String,
    after: String,
    digits: bool,
    point: bool,
    decimals: usize,
    grouped: bool,
    percent: bool,
    money: bool,
    moment: bool,
    span: bool,
    other: bool,
}

impl Scan {
    fn read(mut self, code: &str) -> Form {
        if code.eq_ignore_ascii_case("general") {
            return Form::Plain;
        }
        let mut letters = code.chars().peekable();
        while let Some(letter) = letters.next() {
            match letter {
                ';' => break,
                '"' => {
                    let text: String = letters.by_ref().take_while(|c| *c != '"').collect();
                    self.literal(&text);
                }
                '\\' => {
                    if let Some(letter) = letters.next() {
                        self.literal(letter.encode_utf8(&mut [0; 4]));
                    }
                }
                '_' | '*' => {
                    letters.next();
                }
                '[' => {
                    let text: String = letters.by_ref().take_while(|c| *c != ']').collect();
                    self.bracket(&text);
                }
                letter => self.letter(letter, &mut letters),
            }
        }
        self.form()
    }

    fn letter(&mut self, letter: char, letters: &mut Peekable<Chars<'_>>) {
        match letter {
            '0' | '#' | '?' => {
                self.digits = true;
                self.decimals += usize::from(self.point);
            }
            '.' => self.point = true,
            ',' => self.grouped |= self.digits,
            '%' => self.percent = true,
            'E' | 'e' if self.digits => self.other = true,
            '/' if self.digits => self.other = true,
            '@' => self.other = true,
            'y' | 'Y' | 'm' | 'M' | 'd' | 'D' | 'h' | 'H' | 's' | 'S' => self.moment = true,
            // `e` and `g` are years and eras of the East, `A` begins `AM/PM`.
            'e' | 'g' | 'G' | 'A' | 'a'
                if letters.peek().is_some_and(|next| "mM/eg".contains(*next)) =>
            {
                self.moment = true;
            }
            ' ' => self.literal(" "),
            letter => self.literal(letter.encode_utf8(&mut [0; 4])),
        }
    }

    fn literal(&mut self, text: &str) {
        let side = if self.digits { &mut self.after } else { &mut self.before };
        side.push_str(text);
        self.money |= is_money(text);
    }

    /// Reads what stands in brackets: a currency, a duration, a colour or a condition.
    fn bracket(&mut self, text: &str) {
        if let Some(symbol) = text.strip_prefix('$') {
            let symbol = symbol.split('-').next().unwrap_or_default();
            if !symbol.is_empty() {
                self.literal(symbol);
                self.money = true;
            }
        } else if !text.is_empty() && text.chars().all(|c| "hHmMsS".contains(c)) {
            self.span = true;
        }
    }

    fn form(self) -> Form {
        let decimals = self.decimals.min(DECIMALS);
        if self.span {
            Form::Span
        } else if self.moment {
            Form::Moment
        } else if !self.digits || self.other {
            Form::Plain
        } else if self.percent {
            Form::Percent(decimals)
        } else if self.money {
            let (before, after) = (self.before.trim_start(), self.after.trim_end());
            Form::Money(Money {
                before: before.to_owned(),
                after: after.to_owned(),
                decimals,
                grouped: self.grouped,
            })
        } else {
            Form::Plain
        }
    }
}

/// Whether a literal of a format names a currency.
fn is_money(text: &str) -> bool {
    let codes = ["EUR", "USD", "GBP", "CHF", "CNY", "RMB", "JPY", "SEK", "NOK", "DKK", "kr", "Fr."];
    text.contains(['$', '€', '£', '¥', '￥', '₩', '₹', '₽', '元', '円'])
        || codes.iter().any(|code| text.trim() == *code)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_as_their_formats_show_them() {
        let table = [
            ("General", 0.5, "0.5", ""),
            ("0%", 0.12, "12%", "nothing is lost"),
            ("0%", 0.1234, "12% (0.1234)", "digits would be lost"),
            ("0.0%", 0.07, "7.0%", "binary noise is no loss"),
            ("\"$\"#,##0.00", 1234.5, "$1,234.50", ""),
            ("\"$\"#,##0.00", -1234.567, "-$1,234.57 (-1234.567)", ""),
            ("[$€-407] #,##0", 1000.0, "€ 1,000", "a symbol with its language"),
            ("#,##0.00\\ [$kr-41D]", 5.0, "5.00 kr", "behind the number"),
            ("_(\"$\"* #,##0_);_(\"$\"* (#,##0)", 12.0, "$12", "accounting"),
            ("#,##0.00", 1234.567, "1234.567", "grouping alone does not matter"),
            ("0.00E+00", 1500.0, "1500", "powers of ten"),
            ("# ?/?", 0.5, "0.5", "fractions"),
            ("¥0", 1e20, "100000000000000000000", "beyond exact digits"),
            ("0\" apples\"", 3.0, "3", "a unit; the format is named elsewhere"),
        ];
        for (code, number, want, why) in table {
            assert_eq!(Form::of(code).show(number), want, "{code} {why}");
        }
    }

    #[test]
    fn formats_of_dates_are_known() {
        let table = [
            ("yyyy-mm-dd", Form::Moment, "a date"),
            ("[$-409]d-mmm-yy;@", Form::Moment, "with a language"),
            ("h:mm AM/PM", Form::Moment, "a time"),
            ("[h]:mm", Form::Span, "a duration"),
            ("[Red]0", Form::Plain, "a colour"),
            ("\"day\" 0", Form::Plain, "letters in quotes"),
            ("0\\d", Form::Plain, "a letter that is escaped"),
            ("yyyy\"年\"m\"月\"d\"日\"", Form::Moment, "an eastern date"),
            ("@", Form::Plain, "text"),
            ("", Form::Plain, "nothing"),
            ("[", Form::Plain, "a bracket that never closes"),
        ];
        for (code, want, why) in table {
            assert_eq!(Form::of(code), want, "{code}: {why}");
        }
    }
}
