//! Charts as tables, and the texts of diagrams.
//!
//! A chart keeps the values that it was drawn from; those are shown, not what a formula
//! would yield.

use jiff::ToSpan;
use jiff::civil::date;

use super::marks::table;
use super::package::Package;
use super::xml::Element;

/// The most points of a chart that are shown.
const POINTS: usize = 2000;

/// The most rows of series.
const SERIES: usize = 200;

/// One line, bar or slice set of a chart.
struct Series {
    name: String,
    categories: Vec<String>,
    values: Vec<String>,
}

/// Writes a chart: its title, its kind, its axes, and a table of its values.
pub(in crate::documents) fn chart(package: &mut Package<'_>, path: &str) -> Option<String> {
    let tree = package.tree(path)?;
    let root = tree.root();
    if root.name() == "cx:chartSpace" {
        return Some(extended(root));
    }
    let plot = root.path("c:chart/c:plotArea")?;
    let title = root.path("c:chart/c:title").map(rich).unwrap_or_default();
    let mut kinds: Vec<String> = Vec::new();
    let mut series = Vec::new();
    for part in plot.children().filter(|part| part.name().ends_with("Chart")) {
        let kind = part.name().trim_start_matches("c:").trim_end_matches("Chart").to_owned();
        if !kinds.contains(&kind) {
            kinds.push(kind);
        }
        series.extend(part.all("c:ser").take(SERIES).map(read_series));
    }
    let mut text = head(&title, &kinds.join(", "));
    for axis in plot.children().filter(|part| part.name().ends_with("Ax")) {
        let name = axis.child("c:title").map(rich).unwrap_or_default();
        if !name.is_empty() {
            let which = if axis.name() == "c:valAx" { "values" } else { "categories" };
            text.extend(["\nAxis of ", which, ": ", &name]);
        }
    }
    text.push_str("\n\n");
    text.push_str(&values(&series));
    Some(text.trim_end().to_owned())
}

fn head(title: &str, kind: &str) -> String {
    let kind = if kind.is_empty() { String::new() } else { format!(" ({kind})") };
    if title.is_empty() { format!("**Chart**{kind}") } else { format!("**Chart: {title}**{kind}") }
}

/// Returns the text of a title, which may be a reference.
fn rich(element: Element<'_>) -> String {
    let texts = element.descendants().filter(|it| matches!(it.name(), "a:t" | "c:v"));
    let text: String = texts.map(Element::text).collect();
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

fn read_series(series: Element<'_>) -> Series {
    let points = |name: &str| series.child(name).map(points).unwrap_or_default();
    let first = |names: [&str; 2]| names.into_iter().map(points).find(|it| !it.is_empty());
    let mut values = first(["c:val", "c:yVal"]).unwrap_or_default();
    let sizes = points("c:bubbleSize");
    for (value, size) in values.iter_mut().zip(&sizes) {
        value.extend([" (size ", size, ")"]);
    }
    Series {
        name: series.child("c:tx").map(rich).unwrap_or_default(),
        categories: first(["c:cat", "c:xVal"]).unwrap_or_default(),
        values,
    }
}

/// Returns the cached points of a reference or literal, each at its place.
fn points(data: Element<'_>) -> Vec<String> {
    if let Some(levels) = data.find("c:multiLvlStrCache") {
        return multi_level(levels);
    }
    let mut list = Vec::new();
    let format = data.find("c:formatCode").map(Element::text).unwrap_or_default();
    for point in data.descendants().filter(|it| it.name() == "c:pt") {
        let value = point.child("c:v").map(Element::text).unwrap_or_default();
        put(&mut list, point, shown(value, &format));
    }
    list
}

fn put(list: &mut Vec<String>, point: Element<'_>, value: String) {
    let at = point.attr("idx").and_then(|at| at.parse().ok()).unwrap_or(list.len());
    if at < POINTS {
        if list.len() <= at {
            list.resize(at + 1, String::new());
        }
        list[at] = value;
    }
}

/// Joins the levels of categories, the outermost first.
fn multi_level(cache: Element<'_>) -> Vec<String> {
    let mut levels: Vec<Vec<String>> = Vec::new();
    for level in cache.all("c:lvl") {
        let mut list = Vec::new();
        for point in level.all("c:pt") {
            put(&mut list, point, point.child("c:v").map(Element::text).unwrap_or_default());
        }
        levels.push(list);
    }
    let count = levels.iter().map(Vec::len).max().unwrap_or(0);
    let mut joined = vec![String::new(); count];
    for level in levels.iter().rev() {
        let mut last = "";
        for (at, joined) in joined.iter_mut().enumerate() {
            let own = level.get(at).map_or("", String::as_str);
            last = if own.is_empty() { last } else { own };
            if !joined.is_empty() && !last.is_empty() {
                joined.push_str(" / ");
            }
            joined.push_str(last);
        }
    }
    joined
}

/// Shows a number as a date where its format is one.
fn shown(value: String, format: &str) -> String {
    let format = format.to_ascii_lowercase();
    if !(format.contains('y') || (format.contains('d') && format.contains('m'))) {
        return value;
    }
    let days = value.parse::<f64>().ok().filter(|days| (1.0..200_000.0).contains(days));
    // Days are counted from 30 December 1899 (ECMA-376 part 1, 18.17.4.1).
    #[expect(clippy::cast_possible_truncation, reason = "it is below 200,000")]
    let shown = days.and_then(|days| date(1899, 12, 30).checked_add((days as i64).days()).ok());
    shown.map_or(value, |date| date.to_string())
}

/// Writes the series as one table where they share their categories, else one for each.
fn values(series: &[Series]) -> String {
    let Some(first) = series.first() else {
        return String::new();
    };
    let shared =
        series.iter().all(|it| it.categories == first.categories || it.categories.is_empty());
    if shared {
        return rows(&series.iter().collect::<Vec<_>>());
    }
    series.iter().map(|it| rows(&[it])).collect::<Vec<_>>().join("\n")
}

fn rows(series: &[&Series]) -> String {
    let mut head = vec!["Category".to_owned()];
    head.extend((1..).zip(series).map(|(number, it)| {
        if it.name.is_empty() { format!("Series {number}") } else { it.name.clone() }
    }));
    let count = series.iter().map(|it| it.values.len().max(it.categories.len())).max().unwrap_or(0);
    let mut rows = vec![head];
    for at in 0..count {
        let category = series.iter().find_map(|it| it.categories.get(at));
        let mut row = vec![category.cloned().unwrap_or_else(|| (at + 1).to_string())];
        row.extend(series.iter().map(|it| it.values.get(at).cloned().unwrap_or_default()));
        rows.push(row);
    }
    table(&rows)
}

/// Writes a chart of the kinds that came with Office 2016 (funnel, waterfall, map, ...).
fn extended(root: Element<'_>) -> String {
    let title = root.path("cx:chart/cx:title").map(|title| {
        let texts = title.descendants().filter(|it| matches!(it.name(), "a:t" | "cx:v"));
        texts.map(Element::text).collect::<String>()
    });
    let kind = root.find("cx:series").and_then(|series| series.attr("layoutId"));
    let mut text = head(title.as_deref().unwrap_or_default(), kind.unwrap_or_default());
    for data in root.descendants().filter(|it| it.name() == "cx:data").take(SERIES) {
        let columns: Vec<Vec<String>> = data
            .children()
            .flat_map(|dimension| dimension.all("cx:lvl"))
            .map(|level| level.all("cx:pt").take(POINTS).map(Element::text).collect())
            .collect();
        let count = columns.iter().map(Vec::len).max().unwrap_or(0);
        let mut rows = vec![vec!["Category".to_owned(), "Value".to_owned()]];
        for at in 0..count {
            rows.push(columns.iter().map(|it| it.get(at).cloned().unwrap_or_default()).collect());
        }
        text.push_str("\n\n");
        text.push_str(table(&rows).trim_end());
    }
    text
}

/// Writes the texts of a diagram (`SmartArt`) as a list.
pub(in crate::documents) fn diagram(package: &mut Package<'_>, path: &str) -> Option<String> {
    let tree = package.tree(path)?;
    let mut text = String::from("**Diagram**\n");
    let mut any = false;
    for point in tree.root().descendants().filter(|it| it.name() == "dgm:pt") {
        let Some(body) = point.child("dgm:t") else { continue };
        let line: Vec<String> = body.all("a:p").map(rich).filter(|line| !line.is_empty()).collect();
        if !line.is_empty() {
            any = true;
            text.extend(["\n- ", &line.join(" / ")]);
        }
    }
    any.then_some(text)
}
