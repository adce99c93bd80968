//! What a search asks for: Serper's parameters, read and checked.
//!
//! Numbers may be written as text, as some clients do. Unknown parameters are passed
//! over, as the live service does; known ones with a wrong value are refused by name.

use jiff::ToSpan as _;
use jiff::civil::{Date, date};
use serde_json::{Map, Value};

use crate::web::search::Vertical;

/// Hits on one page, unless `num` says otherwise.
const PER_PAGE: usize = 10;

/// Most hits on one page.
const MOST_PER_PAGE: usize = 100;

/// A search, as asked.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Ask {
    /// The query as written.
    pub(super) text: String,
    /// Page of results, from 1.
    pub(super) page: usize,
    /// Hits on a page.
    pub(super) count: usize,
    /// First and last day of a page.
    pub(super) dates: (Option<Date>, Option<Date>),
    /// Whether the newest come first.
    pub(super) newest_first: bool,
    /// The language that is preferred.
    pub(super) language: Option<&'static str>,
}

impl Ask {
    /// Reads the body of a search that is made on the day `today`.
    pub(super) fn read(
        body: &Map<String, Value>,
        today: Date,
        vertical: Vertical,
    ) -> Result<Self, String> {
        let text = match body.get("q") {
            Some(Value::String(text)) if !text.trim().is_empty() => text.clone(),
            Some(Value::String(_)) | None => return Err("missing query parameter `q`".to_owned()),
            Some(other) => return Err(format!("`q` must be text, not `{other}`")),
        };
        let mut ask = Self {
            text,
            page: number(body, "page", 1..=100_000)?.unwrap_or(1),
            count: number(body, "num", 1..=MOST_PER_PAGE)?.unwrap_or(PER_PAGE),
            dates: (None, None),
            newest_first: false,
            language: written(body, "hl")?.and_then(language),
        };
        if let Some(tbs) = written(body, "tbs")? {
            ask.period(tbs, today)?;
        }
        if vertical == Vertical::Papers {
            let year = |name| number(body, name, 1..=9999).map(|year| year.map(whole));
            let (from, to) = (year("as_ylo")?, year("as_yhi")?);
            ask.dates.0 = from.map(|year| date(year, 1, 1)).or(ask.dates.0);
            ask.dates.1 = to.map(|year| date(year, 12, 31)).or(ask.dates.1);
        }
        Ok(ask)
    }

    /// Reads `tbs`: `qdr:` with `h`, `d`, `w`, `m` or `y` and perhaps a number (`qdr:d3`),
    /// `cdr:1` with `cd_min` and `cd_max` (`3/31/2026`), `sbd:1` for the newest first.
    ///
    /// Pages have days, no hours, so `qdr:h` means those of the day on which the period
    /// began and later.
    fn period(&mut self, tbs: &str, today: Date) -> Result<(), String> {
        let bad = |part: &str| {
            format!(
                "`tbs` has `{part}`; expected `qdr:` with `h`, `d`, `w`, `m` or `y`, or `sbd:1`"
            )
        };
        for part in tbs.split(',').map(str::trim).filter(|part| !part.is_empty()) {
            let (name, value) = part.split_once(':').ok_or_else(|| bad(part))?;
            match name {
                "qdr" => {
                    let unit = value.get(..1).unwrap_or_default();
                    let count = value.get(1..).unwrap_or_default();
                    let count: i32 = match count {
                        "" => 1,
                        count => count
                            .parse()
                            .ok()
                            .filter(|count| (1..=10_000).contains(count))
                            .ok_or_else(|| bad(part))?,
                    };
                    let span = match unit {
                        "h" => (count / 24).days(),
                        "d" => count.days(),
                        "w" => count.weeks(),
                        "m" => count.months(),
                        "y" => count.years(),
                        _ => return Err(bad(part)),
                    };
                    self.dates = (Some(today.saturating_sub(span)), Some(today));
                }
                "cd_min" => self.dates.0 = Some(american(value).ok_or_else(|| bad(part))?),
                "cd_max" => self.dates.1 = Some(american(value).ok_or_else(|| bad(part))?),
                "sbd" => self.newest_first = value == "1",
                // What else there is (`cdr:1`, `li:1`) changes nothing here.
                _ => {}
            }
        }
        Ok(())
    }
}

/// Returns a parameter that is text.
fn written<'a>(body: &'a Map<String, Value>, name: &str) -> Result<Option<&'a str>, String> {
    match body.get(name) {
        None | Some(Value::Null) => Ok(None),
        Some(Value::String(text)) => Ok(Some(text)),
        Some(other) => Err(format!("`{name}` must be text, not `{other}`")),
    }
}

/// Returns a parameter that is a whole number.
fn number(
    body: &Map<String, Value>,
    name: &str,
    range: std::ops::RangeInclusive<usize>,
) -> Result<Option<usize>, String> {
    let Some(value) = body.get(name).filter(|value| !value.is_null()) else { return Ok(None) };
    let written = value.as_str().map_or_else(|| value.to_string(), ToOwned::to_owned);
    let number = written.parse().ok().filter(|number| range.contains(number));
    let (least, most) = range.into_inner();
    number
        .map(Some)
        .ok_or_else(|| format!("`{name}` must be a whole number from {least} to {most}"))
}

fn whole(year: usize) -> i16 {
    i16::try_from(year).unwrap_or(9999)
}

/// Reads a day as Americans write it: `3/31/2026`.
fn american(written: &str) -> Option<Date> {
    let mut parts = written.split('/');
    let mut part = || parts.next()?.parse::<i16>().ok();
    let (month, day, year) = (part()?, part()?, part()?);
    Date::new(year, i8::try_from(month).ok()?, i8::try_from(day).ok()?).ok()
}

/// Returns the language of an interface language such as `zh-cn`, where pages have it.
fn language(hl: &str) -> Option<&'static str> {
    match hl.split(['-', '_']).next().unwrap_or_default().to_ascii_lowercase().as_str() {
        "en" => Some("en"),
        "zh" => Some("zh"),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(body: &str) -> Result<Ask, String> {
        let today = date(2026, 3, 31);
        Ask::read(&serde_json::from_str(body).unwrap(), today, Vertical::Papers)
    }

    #[test]
    fn the_body_of_a_search_is_read_and_mistakes_are_named() {
        let table = [
            (r#"{"q": "tide"}"#, Ok(("tide", 1, 10)), "defaults"),
            (r#"{"q": "潮", "page": "2", "num": 5}"#, Ok(("潮", 2, 5)), "a number as text"),
            (r#"{"q": "a", "page": null, "autocorrect": false}"#, Ok(("a", 1, 10)), "unknown"),
            (r#"{"q": " "}"#, Err("`q`"), "empty"),
            ("{}", Err("`q`"), "none"),
            (r#"{"q": 7}"#, Err("must be text"), "no text"),
            (r#"{"q": "a", "page": 0}"#, Err("`page`"), "pages count from 1"),
            (r#"{"q": "a", "page": -1}"#, Err("`page`"), "negative"),
            (r#"{"q": "a", "page": 1.5}"#, Err("`page`"), "no whole number"),
            (r#"{"q": "a", "num": 101}"#, Err("`num`"), "too many"),
            (r#"{"q": "a", "tbs": 7}"#, Err("`tbs` must be text"), "a period that is no text"),
            (r#"{"q": "a", "tbs": "qdr:x"}"#, Err("`qdr:x`"), "no such period"),
            (r#"{"q": "a", "tbs": "week"}"#, Err("`week`"), "a period without its name"),
            (r#"{"q": "a", "as_ylo": "soon"}"#, Err("`as_ylo`"), "a year that is none"),
        ];
        for (body, want, why) in table {
            match (read(body), want) {
                (Ok(ask), Ok(want)) => {
                    assert_eq!((ask.text.as_str(), ask.page, ask.count), want, "{why}");
                }
                (Err(got), Err(want)) => assert!(got.contains(want), "{why}: {got}"),
                (got, _) => panic!("{why}: {got:?}"),
            }
        }
    }

    #[test]
    fn periods_are_counted_from_the_logical_day() {
        let table = [
            ("qdr:h", "2026-03-31", "2026-03-31", "an hour: the same day"),
            ("qdr:d", "2026-03-30", "2026-03-31", "a day"),
            ("qdr:w2", "2026-03-17", "2026-03-31", "two weeks"),
            ("qdr:m", "2026-02-28", "2026-03-31", "a month, from one without a 31st"),
            ("qdr:y,sbd:1", "2025-03-31", "2026-03-31", "a year"),
            ("cdr:1,cd_min:1/2/2020,cd_max:12/31/2021", "2020-01-02", "2021-12-31", "own days"),
        ];
        for (tbs, first, last, why) in table {
            let ask = read(&format!(r#"{{"q": "a", "tbs": "{tbs}"}}"#)).unwrap();
            let (from, to) = ask.dates;
            assert_eq!(from.unwrap().to_string(), first, "{why}");
            assert_eq!(to.unwrap().to_string(), last, "{why}");
            assert_eq!(ask.newest_first, tbs.contains("sbd"), "{why}");
        }
        let years = read(r#"{"q": "a", "as_ylo": 2019, "as_yhi": "2021"}"#).unwrap().dates;
        assert_eq!(years, (Some(date(2019, 1, 1)), Some(date(2021, 12, 31))));
    }
}
