//! What an answer could be, out of the texts that were read.

use std::collections::BTreeMap;
use std::sync::LazyLock;

use rand::Rng;
use rand::seq::IndexedRandom;
use regex::Regex;

use super::query::capitals;

/// Words that ask for a date.
const DATES: [&str; 13] = [
    "which day",
    "what day",
    "exact day",
    "when",
    "what date",
    "which date",
    "the date",
    "哪一天",
    "哪天",
    "何时",
    "什么时候",
    "几月几",
    "日期",
];

/// Words that ask for a number.
const NUMBERS: [&str; 33] = [
    "how many",
    "how much",
    "how long",
    "how high",
    "how large",
    "how far",
    "total",
    "sum",
    "mean",
    "average",
    "median",
    "percent",
    "ratio",
    "rate",
    "height",
    "length",
    "amount",
    "number",
    "decimals",
    "cents",
    "多少",
    "总数",
    "总额",
    "合计",
    "一共",
    "平均",
    "中位数",
    "百分",
    "比例",
    "金额",
    "数量",
    "几个",
    "几倍",
];

/// Words that ask for a name.
const NAMES: [&str; 11] =
    ["who ", "whom", "whose", "name", "谁", "哪位", "哪家", "哪个", "哪里", "名称", "姓名"];

const MONTHS: [&str; 12] = [
    "january",
    "february",
    "march",
    "april",
    "may",
    "june",
    "july",
    "august",
    "september",
    "october",
    "november",
    "december",
];

/// What a request seems to ask for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Kind {
    Date,
    Number,
    Name,
}

impl Kind {
    /// Returns what the last telling words of a request ask for; a name where none tells.
    pub(super) fn asked_for(request: &str) -> Self {
        let request = request.to_lowercase();
        let last = |words: &[&str]| {
            words.iter().filter_map(|word| request.rfind(word).map(|at| at + word.len())).max()
        };
        let asked = [(&NAMES[..], Self::Name), (&NUMBERS, Self::Number), (&DATES, Self::Date)];
        asked
            .into_iter()
            .filter_map(|(words, kind)| Some((last(words)?, kind)))
            .max_by_key(|(at, _)| *at)
            .map_or(Self::Name, |(_, kind)| kind)
    }
}

/// Returns the candidate that stands in most texts, and in them most often; one that the
/// request itself contains is none. The chance decides between equals.
pub(super) fn most_frequent(
    kind: Kind,
    request: &str,
    texts: &[&str],
    rng: &mut impl Rng,
) -> Option<String> {
    let find = |text: &str| match kind {
        Kind::Date => dates(text),
        Kind::Number => numbers(text),
        Kind::Name => names(text),
    };
    let known = find(request);
    let mut counts: BTreeMap<String, (usize, usize)> = BTreeMap::new();
    for text in texts {
        let mut here: BTreeMap<String, usize> = BTreeMap::new();
        for candidate in find(text) {
            let said = request.contains(&candidate) || known.contains(&candidate);
            if !said {
                *here.entry(candidate).or_default() += 1;
            }
        }
        for (candidate, count) in here {
            let total = counts.entry(candidate).or_default();
            *total = (total.0 + 1, total.1 + count);
        }
    }
    let most = counts.values().max()?;
    let best: Vec<&String> =
        counts.iter().filter(|(_, count)| *count == most).map(|(candidate, _)| candidate).collect();
    best.choose(rng).map(|candidate| (*candidate).clone())
}

/// Returns the dates of a text as `YYYY-MM-DD`.
fn dates(text: &str) -> Vec<String> {
    static DATE: LazyLock<Option<Regex>> = LazyLock::new(|| {
        let months = MONTHS.map(|month| format!("{}[a-z]*", &month[..3])).join("|");
        Regex::new(&format!(
            r"(?i)\b(?<y1>\d{{4}})-(?<m1>\d{{2}})-(?<d1>\d{{2}})\b|(?<y2>\d{{4}})\s*年\s*(?<m2>\d{{1,2}})\s*月\s*(?<d2>\d{{1,2}})\s*日|\b(?<d3>\d{{1,2}})(?:st|nd|rd|th)?\s+(?<m3>{months})\.?,?\s+(?<y3>\d{{4}})\b|\b(?<m4>{months})\.?\s+(?<d4>\d{{1,2}})(?:st|nd|rd|th)?,?\s+(?<y4>\d{{4}})\b"
        ))
        .ok()
    });
    let Some(pattern) = DATE.as_ref() else { return Vec::new() };
    let mut found = Vec::new();
    for date in pattern.captures_iter(text) {
        let part = |name: char| {
            ('1'..='4')
                .find_map(|form| date.name(&format!("{name}{form}")))
                .map(|part| part.as_str())
        };
        let (Some(year), Some(month), Some(day)) = (part('y'), part('m'), part('d')) else {
            continue;
        };
        let lower = month.to_lowercase();
        let named = MONTHS.iter().position(|name| lower.starts_with(&name[..3]));
        let month = named.map_or(month.parse().unwrap_or(0), |index| index + 1);
        found.push(format!("{year}-{month:02}-{day:0>2}"));
    }
    found
}

/// Returns the numbers of a text without their commas: not those of one digit, nor years, nor
/// parts of dates, times, addresses and codes.
fn numbers(text: &str) -> Vec<String> {
    static NUMBER: LazyLock<Option<Regex>> = LazyLock::new(|| {
        Regex::new(r"^\D?(\d{1,3}(?:,\d{3})+(?:\.\d+)?|\d+(?:\.\d+)?)\D{0,2}$").ok()
    });
    let Some(pattern) = NUMBER.as_ref() else { return Vec::new() };
    let ends = |c: char| c.is_whitespace() || "|;()[]\"“”，。；、（）".contains(c);
    let digits = |c: char| c.is_ascii_digit() || c == '.' || c == ',';
    let mut found = Vec::new();
    for word in text.split(ends) {
        // In Chinese no space stands between a number and its words.
        let plain = !word.is_ascii() && !word.contains(['年', '月', '日', '/', ':']);
        let parts = if plain { word.split(|c| !digits(c)).collect() } else { vec![word] };
        for part in parts {
            let part = part.trim_matches([',', '.', ':', '*', '`', '!', '?']);
            found.extend(pattern.captures(part).map(|number| number[1].replace(',', "")));
        }
    }
    let is_year =
        |number: &str| number.len() == 4 && (number.starts_with("19") || number.starts_with("20"));
    let is_code = |number: &str| number.starts_with('0') && !number.starts_with("0.");
    let tells = |number: &str| (2..=15).contains(&number.len()) && !is_year(number);
    found.retain(|number| tells(number) && !is_code(number));
    found
}

/// Returns the names of a text: English words in capitals side by side, and Chinese texts in
/// quotes.
fn names(text: &str) -> Vec<String> {
    static QUOTED: LazyLock<Option<Regex>> =
        LazyLock::new(|| Regex::new(r"[“《「]([^”》」\n]{2,20})[”》」]").ok());
    let mut found = capitals(text);
    if let Some(pattern) = QUOTED.as_ref() {
        found.extend(pattern.captures_iter(text).map(|quoted| quoted[1].to_owned()));
    }
    // Headings of results, such as `URL`, are no names.
    let is_heading = |name: &str| name.len() < 5 && name.bytes().all(|b| b.is_ascii_uppercase());
    found.retain(|name| name.len() <= 60 && !is_heading(name));
    found
}

#[cfg(test)]
mod tests {
    use rand::SeedableRng;
    use rand_chacha::ChaCha12Rng;

    use super::*;

    #[test]
    fn the_wording_tells_what_is_asked_for() {
        let table = [
            ("On which day did they get her? I need the exact day.", Kind::Date),
            ("Compute it and give me the mean rounded to two decimals.", Kind::Number),
            ("How many boats were there in 2025?", Kind::Number),
            ("Which ferry carried the choir?", Kind::Name),
            ("The exact day on which it took place, please.", Kind::Date),
            ("一共可以申请多少元？只要总数。", Kind::Number),
            ("是哪一天生效的？", Kind::Date),
            ("这是谁写的？", Kind::Name),
            ("", Kind::Name),
        ];
        for (request, kind) in table {
            assert_eq!(Kind::asked_for(request), kind, "{request}");
        }
    }

    #[test]
    fn what_was_seen_most_is_answered() {
        let mut rng = ChaCha12Rng::seed_from_u64(1);
        let mut answer = |kind, request: &str, texts: &[&str]| {
            most_frequent(kind, request, texts, &mut rng).unwrap_or_default()
        };
        let texts = ["On 4 March 2014.", "2014年3月4日，后来", "May 5th, 2015 and May 5, 2015"];
        assert_eq!(answer(Kind::Date, "", &texts), "2014-03-04", "in two texts");
        assert_eq!(answer(Kind::Date, "2014-03-04", &texts), "2015-05-05", "one is in the request");
        let texts = ["1,482.5 of 2025 and 7", "It is 1482.5", "99"];
        assert_eq!(answer(Kind::Number, "", &texts), "1482.5");
        let texts = ["| 09:30 | 01 | 418.5元 |", "2014-03-04 KX-12 共418.5元，12月3日"];
        assert_eq!(answer(Kind::Number, "", &texts), "418.5", "no parts of dates and codes");
        let texts = ["Then the Grey Heron came.", "See the Grey Heron, and “蓝鹭号”"];
        assert_eq!(answer(Kind::Name, "", &texts), "Grey Heron");
        assert_eq!(answer(Kind::Name, "", &[]), "", "nothing seen");
    }
}
