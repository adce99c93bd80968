//! One result as Serper writes it.

use jiff::Timestamp;
use jiff::civil::Date;
use jiff::tz::Offset;
use serde_json::{Value, json};

use crate::web::search::{Hit, Vertical};

/// Returns a result of a search that is made at the logical time `now`.
pub(super) fn entry(hit: &Hit, vertical: Vertical, now: Timestamp) -> Value {
    let mut entry = json!({"title": hit.title, "link": hit.url, "snippet": hit.snippet});
    match vertical {
        Vertical::Pages => {
            if let Some(date) = hit.date {
                entry["date"] = json!(day(date));
            }
            entry["position"] = json!(hit.position);
        }
        Vertical::News => {
            if let Some(date) = hit.date {
                entry["date"] = json!(ago(date, now));
            }
            entry["source"] = json!(hit.source);
            entry["position"] = json!(hit.position);
        }
        Vertical::Papers => scholarly(&mut entry, hit),
    }
    entry
}

/// Adds what a scholar index knows.
fn scholarly(entry: &mut Value, hit: &Hit) {
    let Some(paper) = &hit.paper else { return };
    entry["title"] = json!(paper.title);
    if let Some(summary) = &paper.summary {
        entry["snippet"] = json!(cut(summary));
    }
    entry["publicationInfo"] = json!(paper.publication(&hit.host));
    if let Some(year) = paper.year {
        entry["year"] = json!(year);
    }
    if let Some(cited) = paper.cited.filter(|cited| *cited > 0) {
        entry["citedBy"] = json!(cited);
    }
    if let Some(pdf) = &paper.pdf {
        entry["pdfUrl"] = json!(pdf);
    }
    let id = blake3::hash(hit.url.as_bytes()).to_hex();
    entry["id"] = json!(id.get(..12));
}

/// Cuts an abstract as scholar indexes do: some 250 characters, to the end of a word.
fn cut(text: &str) -> String {
    let text = text.split_whitespace().collect::<Vec<_>>().join(" ");
    let Some((end, _)) = text.char_indices().nth(250) else { return text };
    let end = text[..end].rfind(' ').filter(|space| *space > end / 2).unwrap_or(end);
    format!("{} …", &text[..end])
}

/// Writes a day as search engines do: `Mar 3, 2026`.
pub(super) fn day(date: Date) -> String {
    date.strftime("%b %-d, %Y").to_string()
}

/// Writes how long ago a day was, as news are dated: in hours (from its start, UTC), days,
/// weeks and months; a year or more ago, and days to come, as the day.
fn ago(date: Date, now: Timestamp) -> String {
    let now = Offset::UTC.to_datetime(now);
    let days = (now.date() - date).get_days();
    let (count, unit) = match days {
        0 => (i32::from(now.hour()).max(1), "hour"),
        1..7 => (days, "day"),
        7..30 => (days / 7, "week"),
        30..365 => (days / 30, "month"),
        _ => return day(date),
    };
    format!("{count} {unit}{} ago", if count == 1 { "" } else { "s" })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn news_are_dated_by_how_long_ago_they_are() {
        let now = "2026-03-31T09:30:00Z".parse().unwrap();
        let table = [
            ("2026-03-31", "9 hours ago"),
            ("2026-03-30", "1 day ago"),
            ("2026-03-26", "5 days ago"),
            ("2026-03-24", "1 week ago"),
            ("2026-03-08", "3 weeks ago"),
            ("2026-03-01", "1 month ago"),
            ("2025-05-01", "11 months ago"),
            ("2024-05-01", "May 1, 2024"),
            ("2026-04-01", "Apr 1, 2026"),
        ];
        for (date, want) in table {
            assert_eq!(ago(date.parse().unwrap(), now), want, "{date}");
        }
        let midnight = "2026-03-31T00:10:00Z".parse().unwrap();
        assert_eq!(ago("2026-03-31".parse().unwrap(), midnight), "1 hour ago", "never none");
    }
}
