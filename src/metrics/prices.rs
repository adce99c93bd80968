//! What tokens cost: a table of prices, and nothing that is not in it.
//!
//! Prices are the user's: none is built in, since they change and differ by contract. A
//! model that the table does not know has no cost, which is not the same as no cost at
//! all; so looking one up gives an option, never zero.

use globset::{Glob, GlobMatcher};
use serde::Deserialize;
use toml::Spanned;

use crate::record::Usage;

/// Tokens that a price is for.
const PER: f64 = 1e6;

/// A table of prices, in one currency.
#[derive(Debug, Clone)]
pub struct Prices {
    /// The currency, as the table names it.
    pub currency: String,
    rows: Vec<(GlobMatcher, Price)>,
}

/// The price of a model's tokens, per million of them.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Price {
    /// Tokens of requests that were not cached.
    pub input: f64,
    /// Tokens of requests that the endpoint had cached.
    pub cached: f64,
    /// Tokens of replies, reasoning included.
    pub output: f64,
}

/// Why a text is no table of prices.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("line {line}: {reason}")]
pub struct BadPrices {
    /// Line number, from 1.
    pub line: usize,
    /// What is wrong.
    pub reason: String,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct File {
    currency: Spanned<String>,
    #[serde(default)]
    model: Vec<Row>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Row {
    name: Spanned<String>,
    input: Spanned<f64>,
    cached: Option<Spanned<f64>>,
    output: Spanned<f64>,
}

impl Price {
    /// Returns the cost of some tokens. Reasoning is part of what was put out.
    #[must_use]
    pub fn of(&self, usage: Usage) -> f64 {
        let cached = usage.cached.min(usage.input);
        let [fresh, cached, output] = [usage.input - cached, cached, usage.output].map(tokens);
        (fresh * self.input + cached * self.cached + output * self.output) / PER
    }
}

/// Returns a number of tokens as a float.
#[expect(clippy::cast_precision_loss, reason = "no run uses 2^52 tokens")]
fn tokens(number: u64) -> f64 {
    number as f64
}

impl Prices {
    /// Reads a table from TOML; see the README for its form.
    pub fn parse(text: &str) -> Result<Self, BadPrices> {
        let bad = |at: usize, reason: String| {
            let before = text.get(..at).unwrap_or(text);
            BadPrices { line: before.matches('\n').count() + 1, reason }
        };
        let file: File = toml::from_str(text).map_err(|error| {
            bad(error.span().map_or(0, |span| span.start), error.message().to_owned())
        })?;
        let price = |name: &str, amount: &Spanned<f64>| {
            let value = *amount.get_ref();
            if value.is_finite() && value >= 0.0 {
                return Ok(value);
            }
            let reason = format!("`{name}` is {value}; a price is a number from 0 up");
            Err(bad(amount.span().start, reason))
        };
        if file.currency.get_ref().trim().is_empty() {
            return Err(bad(file.currency.span().start, "`currency` is empty".to_owned()));
        }
        let mut rows = Vec::new();
        for row in &file.model {
            let glob = Glob::new(row.name.get_ref()).map_err(|error| {
                let reason = format!("`name` is no glob: {}", error.kind());
                bad(row.name.span().start, reason)
            })?;
            let input = price("input", &row.input)?;
            let cached = row.cached.as_ref().map_or(Ok(input), |cached| price("cached", cached))?;
            let output = price("output", &row.output)?;
            rows.push((glob.compile_matcher(), Price { input, cached, output }));
        }
        Ok(Self { currency: file.currency.into_inner(), rows })
    }

    /// Returns the price of a model's tokens: of the first row whose name fits.
    #[must_use]
    pub fn of(&self, model: &str) -> Option<Price> {
        self.rows.iter().find(|(glob, _)| glob.is_match(model)).map(|(_, price)| *price)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const TABLE: &str = "currency = \"USD\"\n\n\
        [[model]]\nname = \"gpt-x\"\ninput = 2\ncached = 0.5\noutput = 8.0\n\n\
        [[model]]\nname = \"{gpt,org/gpt}*\"\ninput = 1.0\noutput = 4\n";

    #[test]
    fn the_first_row_that_fits_counts() {
        let prices = Prices::parse(TABLE).unwrap();
        let table = [
            ("gpt-x", Some(2.0), "its own row"),
            ("gpt-x-mini", Some(1.0), "the glob"),
            ("org/gpt/9", Some(1.0), "slashes are letters like others"),
            ("GPT-x", None, "names are as the endpoint spells them"),
            ("llama", None, "not in the table"),
        ];
        for (model, want, why) in table {
            assert_eq!(prices.of(model).map(|price| price.input), want, "{model}: {why}");
        }
        let cached = prices.of("gpt-y").map(|price| price.cached);
        assert_eq!(cached, Some(1.0), "cached costs as input, unless said");
    }

    #[test]
    fn cached_tokens_are_part_of_the_input_and_reasoning_of_the_output() {
        let price = Price { input: 2.0, cached: 0.5, output: 8.0 };
        let usage =
            Usage { input: 3_000_000, cached: 1_000_000, output: 500_000, reasoning: 400_000 };
        assert_eq!(Some(price.of(usage)), Some(4.0 + 0.5 + 4.0));
        let odd = Usage { input: 10, cached: 99, ..Usage::default() };
        assert_eq!(
            Some(price.of(odd)),
            Some(10.0 * 0.5 / PER),
            "more cached than sent counts as all cached"
        );
    }

    #[test]
    fn what_is_wrong_is_said_with_its_line() {
        let row = |text: &str| format!("currency = \"EUR\"\n[[model]]\n{text}\n");
        let table = [
            (String::new(), "line 1: missing field `currency`", "nothing"),
            ("currency = \" \"".to_owned(), "line 1: `currency` is empty", "no currency"),
            (row("name = \"m\"\ninput = 1"), "line 2: missing field `output`", "half a row"),
            (
                row("name = \"m\"\ninput = -1\noutput = 2"),
                "line 4: `input` is -1; a price is a number from 0 up",
                "below zero",
            ),
            (row("name = \"m\"\ninput = 1\noutput = nan"), "line 5: `output` is NaN", "no number"),
            (row("name = \"m\"\ninput = \"1\"\noutput = 2"), "line 4: invalid type", "a text"),
            (row("name = \"{m\"\ninput = 1\noutput = 2"), "line 3: `name` is no glob", "no glob"),
            (row("name = \"m\"\nprice = 1"), "line 4: unknown field `price`", "unknown field"),
            (row("name = "), "line 3: ", "no TOML"),
        ];
        for (text, want, why) in table {
            let error = Prices::parse(&text).unwrap_err().to_string();
            assert!(error.starts_with(want), "{why}: {error}");
        }
    }
}
