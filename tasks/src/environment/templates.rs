//! The language of templates: minijinja, strict, with limits and a few filters more.
//!
//! The loader and the sandbox make their environment here, so a template is checked by
//! what will render it. An unknown name is an error and never an empty text: a page
//! with holes would be a task with holes.

use jiff::Timestamp;
use jiff::civil::Date;
use minijinja::syntax::SyntaxConfig;
use minijinja::{AutoEscape, Environment, Error, ErrorKind, UndefinedBehavior, Value};

use crate::solution::filters;

/// Steps that rendering one template may take.
const FUEL: u64 = 2_000_000;

/// Begins the names of templates that stand in `site.toml`; in these nothing is escaped.
pub const INLINE: &str = "site.toml:";

/// The filters that authors use, for messages: those of this file and usual ones.
pub(crate) const FILTERS: [&str; 25] = [
    "date",
    "fixed",
    "fromjson",
    "number",
    "plus_days",
    "reference",
    "regex",
    "regex_all",
    "thousands",
    "urlencode",
    "default",
    "first",
    "float",
    "groupby",
    "int",
    "join",
    "last",
    "length",
    "lower",
    "map",
    "replace",
    "select",
    "sort",
    "split",
    "upper",
];

/// Makes the language of the templates of a host.
#[must_use]
pub fn language(host: &str) -> Environment<'static> {
    let mut environment = Environment::new();
    environment.set_undefined_behavior(UndefinedBehavior::Strict);
    environment.set_fuel(Some(FUEL));
    // Only delimiters that clash are refused, and these are the default ones.
    if let Ok(syntax) = SyntaxConfig::builder().trim_blocks(true).lstrip_blocks(true).build() {
        environment.set_syntax(syntax);
    }
    environment.set_auto_escape_callback(|name| {
        let ending = name.rsplit_once('.').map(|(_, ending)| ending.to_ascii_lowercase());
        match ending.as_deref() {
            _ if name.starts_with(INLINE) => AutoEscape::None,
            Some("html" | "htm" | "xml" | "svg" | "rss" | "atom") => AutoEscape::Html,
            Some("json") => AutoEscape::Json,
            Some(_) | None => AutoEscape::None,
        }
    });
    // Where there is nothing, nothing is written; the language itself would write `none`.
    environment.set_formatter(|out, state, value| {
        if value.is_none() { Ok(()) } else { minijinja::escape_formatter(out, state, value) }
    });
    environment.remove_global("debug");
    filters::add_to(&mut environment);
    environment.add_filter("date", date);
    environment.add_filter("plus_days", plus_days);
    environment.add_filter("thousands", thousands);
    let host = host.to_owned();
    environment.add_filter("reference", move |value: &Value, length: usize| {
        reference(&host, value, length)
    });
    environment
}

/// Words an error in one line, without its place.
#[must_use]
pub fn problem(error: &Error) -> String {
    let kind = error.kind().to_string();
    error.detail().map_or(kind.clone(), |detail| format!("{kind}: {}", detail.replace('\n', " ")))
}

fn refuse(problem: String) -> Error {
    Error::new(ErrorKind::InvalidOperation, problem)
}

/// Reads a day off a date or a time.
fn day(text: &str) -> Result<Date, Error> {
    let time =
        || Some(text.parse::<Timestamp>().ok()?.to_zoned_datetime(jiff::tz::TimeZone::UTC).date());
    let read = text.parse().ok().or_else(time);
    read.ok_or_else(|| refuse(format!("{} is no date", crate::load::text::quoted(text))))
}

/// `day | date("%d %B %Y")`: a day, or a time, written otherwise. The format is that of
/// `strftime`, with English names.
fn date(value: &Value, format: &str) -> Result<String, Error> {
    let text = value.to_string();
    let written = match text.parse::<Timestamp>() {
        Ok(time) => {
            jiff::fmt::strtime::format(format, &time.to_zoned_datetime(jiff::tz::TimeZone::UTC))
        }
        Err(_) => jiff::fmt::strtime::format(format, day(&text)?),
    };
    written.map_err(|error| refuse(format!("`{format}` is no format of a date: {error}")))
}

/// `day | plus_days(3)`: the day so many days later, or earlier.
fn plus_days(value: &Value, days: i32) -> Result<String, Error> {
    let span = jiff::Span::new().try_days(days);
    let day = day(&value.to_string())?;
    let later = span.and_then(|span| day.checked_add(span));
    later.map(|day| day.to_string()).map_err(|error| refuse(error.to_string()))
}

/// `number | thousands`: the same with a comma between groups of three digits.
fn thousands(value: &Value) -> String {
    let text = value.to_string();
    let (sign, digits) = text.strip_prefix('-').map_or(("", &*text), |digits| ("-", digits));
    let (whole, decimals) = digits.split_at(digits.find('.').unwrap_or(digits.len()));
    let mut grouped = String::new();
    for (at, c) in whole.chars().enumerate() {
        if at > 0 && (whole.chars().count() - at).is_multiple_of(3) {
            grouped.push(',');
        }
        grouped.push(c);
    }
    format!("{sign}{grouped}{decimals}")
}

/// `text | reference(8)`: a code such as a booking has, of capital letters and digits that
/// are not easily confused. It depends on the host and the text, not on other files, so
/// it stays the same while a suite grows.
fn reference(host: &str, value: &Value, length: usize) -> Result<String, Error> {
    const LETTERS: &[u8; 32] = b"23456789ABCDEFGHJKLMNPQRSTUVWXYZ";
    if !(4..=32).contains(&length) {
        return Err(refuse(format!("`reference({length})`: expected a length from 4 to 32")));
    }
    let mut hasher = blake3::Hasher::new_derive_key("wildgym 2026 reference of a site's template");
    hasher.update(&(host.len() as u64).to_le_bytes());
    hasher.update(host.as_bytes()).update(value.to_string().as_bytes());
    let digest = hasher.finalize();
    let letters = digest.as_bytes().iter().take(length);
    Ok(letters.map(|byte| char::from(LETTERS[usize::from(byte % 32)])).collect())
}

/// Returns the templates that a source names in `extends`, `include`, `import` and `from`,
/// where it names them by a literal.
pub(crate) fn named_in(source: &str) -> Vec<String> {
    let mut names = Vec::new();
    for piece in source.split("{%").skip(1) {
        let inside = piece.split("%}").next().unwrap_or_default();
        let inside = inside.trim_matches(['-', '+']).trim_start();
        let words = ["extends", "include", "import", "from"];
        let Some(rest) = words.iter().find_map(|word| inside.strip_prefix(word)) else { continue };
        let quote = rest.trim_start().chars().next().filter(|c| matches!(c, '"' | '\''));
        let Some(quote) = quote else { continue };
        names.extend(rest.trim_start()[1..].split(quote).next().map(ToOwned::to_owned));
    }
    names
}

#[cfg(test)]
mod tests {
    use super::*;

    fn render(name: &str, source: &str) -> Result<String, Error> {
        let mut environment = language("tides.test");
        environment.add_template_owned(name.to_owned(), source.to_owned())?;
        let context =
            minijinja::context! {evil => "<b>\"x\"", n => 1_234_567.5, day => "2026-03-01"};
        environment.get_template(name)?.render(context)
    }

    #[test]
    fn values_are_written_as_the_file_needs() {
        let code = render("site.toml:1", "{{ 'a'|reference(8) }}").unwrap();
        assert_eq!(code.len(), 8);
        assert_eq!(
            render("site.toml:2", "{{ 'a'|reference(8) }}").unwrap(),
            code,
            "always the same"
        );
        let table = [
            ("a.html", "{{ evil }}", "&lt;b&gt;&quot;x&quot;", "escaped"),
            ("a.csv", "{{ evil }}", "<b>\"x\"", "no markup"),
            ("site.toml:a.html", "{{ evil }}", "<b>\"x\"", "inline"),
            ("a.txt", "{{ n|thousands }}", "1,234,567.5", "groups"),
            ("a.txt", "{{ -12|thousands }}", "-12", "a sign"),
            ("a.txt", "{{ day|date('%d %B %Y') }}", "01 March 2026", "a day"),
            ("a.txt", "{{ '2026-03-01T23:05:00Z'|date('%H:%M') }}", "23:05", "a time"),
            ("a.txt", "{{ day|plus_days(-1) }}", "2026-02-28", "a day before"),
        ];
        for (name, source, want, why) in table {
            assert_eq!(render(name, source).unwrap(), want, "{why}");
        }
    }

    #[test]
    fn what_cannot_be_rendered_says_why() {
        let table = [
            ("{{ nothing }}", "undefined value"),
            ("{{ evil|date('%Y') }}", "is no date"),
            ("{{ day|date('%!') }}", "is no format of a date"),
            ("{{ day|reference(99) }}", "expected a length from 4 to 32"),
            (
                "{% for a in range(9999) %}{% for b in range(9999) %}{% endfor %}{% endfor %}",
                "fuel",
            ),
            ("{{ day|plus_days(2000000000) }}", "invalid operation"),
        ];
        for (source, want) in table {
            let error = problem(&render("a.html", source).unwrap_err());
            assert!(error.contains(want), "{source}: {error}");
        }
    }

    #[test]
    fn templates_that_a_source_names_are_found() {
        let source = "{% extends \"base.html\" %}{%- include 'a/b.html' -%}{% from 'm' import x %}\
                      {% include name %}{{ 'include \"no.html\"' }}";
        assert_eq!(named_in(source), ["base.html", "a/b.html", "m"]);
    }
}
