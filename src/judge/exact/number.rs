//! Numbers with a tolerance.
//!
//! The whole answer has to be one number, in digits, with its unit at most: before it or
//! behind it, and a scale (`thousand`, `million`, `billion`, `万`, `亿`). What is read:
//!
//! | written | read as | why |
//! |---|---|---|
//! | `1482.5`, `1,482.5`, `1 482.5`, `1'482.5` | 1482.5 | groups of three |
//! | `1 482,5`, `1.482,5`, `1482,5`, `0,482` | decimal comma | cannot be groups |
//! | `1,482` | 1482 | English and Chinese usage; the comma is never a decimal one here |
//! | `1.482` | 1.482 | a single full stop is the decimal one |
//! | `3.5万`, `1亿2000万` | 35000, 120000000 | a lower scale may follow a whole number |
//! | `1万2`, `1,48,25`, `½`, `5–6` | nothing | ambiguous, or not one number |
//!
//! A percent sign is ignored where no other unit is declared: `12.5 %` is 12.5. Any other
//! unit than the declared one fails, since five miles are not five kilometres. With a
//! tolerance of zero, integers are equal to the last digit, however large.

use super::Unequal;
use super::text::{folded, key};

/// Spellings of common units, so that a declared `EUR` also covers `€`.
const UNITS: [&[&str]; 7] = [
    &["%", "percent", "per cent", "百分之"],
    &["eur", "€", "euro", "euros", "欧元"],
    &["usd", "$", "us$", "dollar", "dollars", "美元"],
    &["gbp", "£", "pound", "pounds", "英镑"],
    &["cny", "rmb", "¥", "元", "人民币", "yuan"],
    &["jpy", "¥", "円", "日元", "yen"],
    &["chf", "fr", "francs", "瑞士法郎"],
];

/// Words that multiply the number before them.
const SCALES: [(&str, f64); 11] = [
    ("thousand", 1e3),
    ("million", 1e6),
    ("billion", 1e9),
    ("万亿", 1e12),
    ("十亿", 1e9),
    ("千万", 1e7),
    ("百万", 1e6),
    ("亿", 1e8),
    ("億", 1e8),
    ("万", 1e4),
    ("萬", 1e4),
];

/// Compares an answer with a number; a difference equal to the tolerance still passes.
pub(super) fn compare(
    given: &str,
    value: f64,
    tolerance: f64,
    unit: Option<&str>,
) -> Result<&'static str, Unequal> {
    let text = key(given);
    let Some(number) = read(&text, unit) else { return Err(unreadable(&text, unit, tolerance)) };
    if text.starts_with("- ") {
        let reason = "the answer begins with a minus sign or a bullet, who knows which";
        return Err(Unequal::Unclear(reason.to_owned()));
    }
    if is_within(number, value, tolerance) {
        if is_another_integer(&text, number, value, tolerance) {
            return Err(Unequal::Wrong("an integer that differs in its last digits".to_owned()));
        }
        return Ok(if tolerance > 0.0 {
            "a number within the tolerance"
        } else {
            "the same number"
        });
    }
    let reason = format!("{number} is another number, or outside of the tolerance");
    let fits = |number| is_within(number, value, tolerance);
    // What a scale or a percent sign stands for is not for arithmetic where the unit has a
    // scale itself (`3.5 million` of `million EUR`), or is missing (`12.5 %` is 0.125).
    let scaled_unit =
        unit.is_some_and(|unit| SCALES.iter().any(|(word, _)| key(unit).contains(word)));
    let percent = unit.is_none() && is_percent(&text);
    // Nor what a bare fraction means where percent are asked for (0.125 is 12.5 %).
    let fraction = unit.is_some_and(|unit| is_percent(&key(unit))) && !is_percent(&text);
    // In a balance, `(5)` is -5.
    let balance = folded(given).contains('(') && fits(-number);
    let scaled = (percent && fits(number / 100.0)) || (fraction && fits(number * 100.0));
    if scaled_unit || scaled || balance {
        return Err(Unequal::Unclear(reason));
    }
    Err(Unequal::Wrong(reason))
}

fn is_percent(text: &str) -> bool {
    UNITS[0].iter().any(|sign| text.contains(sign))
}

/// Returns whether two numbers differ by at most `tolerance`, give or take the rounding
/// of decimal fractions in binary (`0.4` is within `0.1` of `0.3`), of which integers have
/// none.
fn is_within(number: f64, value: f64, tolerance: f64) -> bool {
    if tolerance <= 0.0 && number.fract() == 0.0 && value.fract() == 0.0 {
        return number.total_cmp(&value).is_eq() || number.abs() + value.abs() == 0.0;
    }
    let rounding = 4.0 * f64::EPSILON * (number.abs() + value.abs());
    (number - value).abs() <= tolerance.max(0.0) + rounding
}

/// Returns whether an integer differs from `value` only in digits that binary cannot hold,
/// which begins beyond 2^53.
fn is_another_integer(text: &str, number: f64, value: f64, tolerance: f64) -> bool {
    let digits: String = text.chars().filter(char::is_ascii_digit).collect();
    // Where the digits alone are the number, it has no scale, exponent or fraction.
    let alone = digits.parse::<f64>().is_ok_and(|read| is_within(read, number.abs(), 0.0));
    let written = format!("{:.0}", value.abs());
    tolerance <= 0.0
        && alone
        && value.fract() == 0.0
        && digits.trim_start_matches('0') != written.trim_start_matches('0')
}

/// Says why a text is not one number. Different numbers side by side, and no word with
/// them, are candidates; words may say which number is meant.
fn unreadable(text: &str, unit: Option<&str>, tolerance: f64) -> Unequal {
    let side_by_side: Option<Vec<f64>> = text
        .replace(", ", ";")
        .replace(" / ", ";")
        .split([';', '|', '\n', '、'])
        .map(str::trim)
        .filter(|part| !part.is_empty())
        .map(|part| read(part, unit))
        .collect();
    let reason = said_of_numbers(text);
    match side_by_side.as_deref() {
        Some([first, rest @ ..])
            if rest.iter().any(|number| !is_within(*number, *first, tolerance)) =>
        {
            Unequal::Wrong(reason)
        }
        _ => Unequal::Unclear(reason),
    }
}

/// Says what numbers a text contains.
fn said_of_numbers(text: &str) -> String {
    let mut numbers: Vec<&str> = text
        .split(|letter: char| !letter.is_ascii_digit() && letter != '.' && letter != ',')
        .map(|number| number.trim_matches(['.', ',']))
        .filter(|number| !number.is_empty())
        .collect();
    numbers.sort_unstable();
    numbers.dedup();
    match numbers.len() {
        0 => "the answer contains no number in digits".to_owned(),
        1 => "the answer is not just a number with its unit".to_owned(),
        count => format!("lists candidates: the answer contains {count} different numbers"),
    }
}

/// Reads a folded text that is a number with at most its unit. With the declared unit
/// taken off first: `万元` is a unit before `万` is a scale.
fn read(text: &str, unit: Option<&str>) -> Option<f64> {
    let spellings = spellings(unit);
    let (sign, unsigned) = signed(text);
    for spelling in &spellings {
        let behind = unsigned.strip_suffix(spelling.as_str());
        let before = unsigned.strip_prefix(spelling.as_str());
        for rest in [behind, before].into_iter().flatten() {
            let (inner, rest) = signed(rest.trim());
            // One sign at most, before the unit or behind it.
            if sign + inner >= 0.0
                && let Some(number) = scaled(rest)
            {
                return Some(sign * inner * number);
            }
        }
    }
    scaled(unsigned).map(|number| sign * number)
}

/// Returns the spellings under which a unit may stand beside the number, longest first.
fn spellings(unit: Option<&str>) -> Vec<String> {
    let declared = unit.map(key).filter(|unit| !unit.is_empty());
    let mut spellings: Vec<String> = Vec::new();
    let wanted = declared.as_deref().unwrap_or("%");
    for group in UNITS.iter().filter(|group| group.contains(&wanted)) {
        spellings.extend(group.iter().map(|spelling| (*spelling).to_owned()));
    }
    if wanted.chars().all(char::is_alphabetic) && wanted.is_ascii() {
        spellings.push(format!("{wanted}s"));
        spellings.extend(wanted.strip_suffix('s').filter(|one| !one.is_empty()).map(str::to_owned));
    }
    spellings.push(wanted.to_owned());
    spellings.sort_by_key(|spelling| std::cmp::Reverse(spelling.len()));
    spellings.dedup();
    spellings
}

/// Takes a sign off.
fn signed(text: &str) -> (f64, &str) {
    match text.strip_prefix('-') {
        Some(rest) => (-1.0, rest.trim_start()),
        None => (1.0, text.strip_prefix('+').map_or(text, str::trim_start)),
    }
}

/// Reads a number without sign, with scales: `1.5 million`, `1亿2000万`.
fn scaled(text: &str) -> Option<f64> {
    let mut rest = text.trim();
    let mut sum = 0.0;
    let mut above = f64::INFINITY;
    let mut whole = true;
    loop {
        let scale = SCALES
            .into_iter()
            .filter_map(|(word, scale)| rest.find(word).map(|at| (at, word, scale)))
            .min_by_key(|(at, word, _)| (*at, std::cmp::Reverse(word.len())));
        let Some((at, word, scale)) = scale else { break };
        let number = plain(rest[..at].trim())?;
        // What follows a scale counts in it, so it has to stay below one of it, and a
        // fraction may only come last.
        if !whole || scale >= above || (above.is_finite() && number * scale >= above) {
            return None;
        }
        whole = number.fract() == 0.0;
        sum += number * scale;
        above = scale;
        rest = rest[at + word.len()..].trim();
    }
    if above.is_infinite() {
        return plain(rest);
    }
    if rest.is_empty() {
        return Some(sum);
    }
    // `1万2` means 12000 in speech and 10002 by the letter; four digits leave no doubt.
    let digits = rest.len() == 4 && rest.bytes().all(|byte| byte.is_ascii_digit());
    let units = rest.parse::<f64>().ok().filter(|_| digits && whole)?;
    (units < above).then_some(sum + units)
}

/// Reads digits with separators, a decimal mark and an exponent.
fn plain(text: &str) -> Option<f64> {
    let (digits, exponent) =
        text.split_once('e').map_or((text, None), |(digits, e)| (digits, Some(e)));
    let mut number = ungrouped(digits)?;
    if let Some(exponent) = exponent {
        let bare = exponent.strip_prefix(['+', '-']).unwrap_or(exponent);
        if bare.is_empty() || bare.len() > 3 || !bare.bytes().all(|byte| byte.is_ascii_digit()) {
            return None;
        }
        number = format!("{number}e{exponent}");
    }
    number.parse().ok().filter(|number: &f64| number.is_finite())
}

/// Returns the digits without their grouping and with a full stop as decimal mark.
fn ungrouped(text: &str) -> Option<String> {
    let is_mark = |letter: char| matches!(letter, '.' | ',' | ' ' | '\'' | '_');
    if !text.starts_with(|letter: char| letter.is_ascii_digit() || letter == '.')
        || !text.ends_with(|letter: char| letter.is_ascii_digit())
        || !text.chars().all(|letter| letter.is_ascii_digit() || is_mark(letter))
    {
        return None;
    }
    let last = text.rfind(is_mark);
    let Some(at) = last else { return Some(text.to_owned()) };
    let (whole, fraction) = (&text[..at], &text[at + 1..]);
    let mark = text[at..].chars().next()?;
    let decimal = match mark {
        '.' => !whole.contains('.'),
        // A comma groups wherever it can; else it is the decimal one.
        ',' => {
            !whole.contains(',') && (whole.contains(is_mark) || without_groups(text, ',').is_none())
        }
        _ => false,
    };
    if !decimal {
        return without_groups(text, mark);
    }
    let whole = match whole.chars().find(|letter| is_mark(*letter)) {
        Some(group) if group != mark => without_groups(whole, group)?,
        Some(_) => return None,
        None => whole.to_owned(),
    };
    Some(format!("{}.{fraction}", if whole.is_empty() { "0" } else { &whole }))
}

/// Returns the digits of a number in groups of three; `None` when it is not.
fn without_groups(text: &str, group: char) -> Option<String> {
    let mut groups = text.split(group);
    let first = groups.next()?;
    let digits = |part: &str| part.bytes().all(|byte| byte.is_ascii_digit());
    let begins = (1..=3).contains(&first.len()) && digits(first) && !first.starts_with('0');
    (begins && groups.clone().all(|part| part.len() == 3 && digits(part)))
        .then(|| format!("{first}{}", groups.collect::<String>()))
}
