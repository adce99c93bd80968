//! Assertions over the final state of a world against its state at the start.
//!
//! An assertion is either a query (it starts with `SELECT` or `WITH`; its first value must
//! be true; `main.` is the final state, `start.` the one at the start), or the short form:
//!
//! ```text
//! assertion  = or
//! or         = and { "or" and }
//! and        = not { "and" not }
//! not        = "not" not | comparison | "(" or ")"
//! comparison = sum ( ( "==" | "!=" | "<" | "<=" | ">" | ">=" | "contains" ) sum
//!                  | [ "not" ] "in" "[" literal { "," literal } "]" )
//! sum        = product { ( "+" | "-" ) product }
//! product    = factor { ( "*" | "/" ) factor }
//! factor     = "-" factor | literal | "baseline" | path | column | "(" sum ")"
//! path       = [ "baseline" "." ] table [ "[" or "]" ] access
//! access     = "." "count"
//!            | "[" [ "-" ] digits "]" "." column
//!            | "." ( "sum" | "min" | "max" ) "(" column ")"
//! literal    = number | text | "true" | "false" | "null"
//! text       = "\"" { character | "\\" character } "\"" | the same with "'"
//! table, column = letter or "_", then letters, digits, "_"
//! ```
//!
//! `baseline` alone stands for what the left side of its comparison was at the start;
//! `baseline.table…` for any value at the start. A column without a table is one of the
//! row that the `[…]` around it filters. Rows are counted from 0 in the order of insertion,
//! `-1` is the last; a row that an assertion names must be there, else it does not hold.
//! `==` and `!=` treat `null` as a value; a comparison with a missing number does not hold.

mod parse;
mod token;

use std::fmt;

pub use self::parse::AssertionError;

/// Something that must hold at the end.
#[derive(Debug, Clone, PartialEq)]
pub enum Assertion {
    /// A query whose first value must be true.
    Sql(String),
    /// The short form.
    Short(Truth),
}

/// A condition of the short form.
#[derive(Debug, Clone, PartialEq)]
pub enum Truth {
    /// The other must not hold.
    Not(Box<Truth>),
    /// All must hold.
    All(Vec<Truth>),
    /// One must hold.
    Any(Vec<Truth>),
    /// Two values compare.
    Compare(Term, Comparison, Term),
    /// A value is one of a list.
    OneOf(Term, Vec<Literal>),
}

/// How two values compare.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Comparison {
    /// `==`
    Equal,
    /// `!=`
    Different,
    /// `<`
    Less,
    /// `<=`
    AtMost,
    /// `>`
    More,
    /// `>=`
    AtLeast,
    /// The left text contains the right one.
    Contains,
}

/// A value.
#[derive(Debug, Clone, PartialEq)]
pub enum Term {
    /// A literal.
    Literal(Literal),
    /// The left side of the comparison, at the start.
    Baseline,
    /// A column of the row that is filtered.
    Column(String),
    /// Something of a table.
    Path(Path),
    /// The negative of a number.
    Negative(Box<Term>),
    /// A calculation.
    Calculation(Box<Term>, Operator, Box<Term>),
}

/// A calculation of two numbers.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Operator {
    /// `+`
    Plus,
    /// `-`
    Minus,
    /// `*`
    Times,
    /// `/`
    Over,
}

/// A value that is written down.
#[derive(Debug, Clone, PartialEq)]
pub enum Literal {
    /// A whole number.
    Whole(i64),
    /// Another number.
    Number(f64),
    /// A text.
    Text(String),
    /// `true` or `false`.
    Truth(bool),
    /// `null`.
    Null,
}

/// Something of a table.
#[derive(Debug, Clone, PartialEq)]
pub struct Path {
    /// Whether the table as it was at the start is meant.
    pub at_start: bool,
    /// The table.
    pub table: String,
    /// Which of its rows.
    pub filter: Option<Box<Truth>>,
    /// What of them.
    pub access: Access,
}

/// What of the rows of a table.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Access {
    /// Their number.
    Count,
    /// A column of one of them; negative places count from the end.
    Row(i64, String),
    /// A summary of a column.
    Total(Summary, String),
}

/// A summary of a column.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Summary {
    /// The sum; of no rows it is 0.
    Sum,
    /// The smallest value; of no rows it is `null`.
    Min,
    /// The largest value; of no rows it is `null`.
    Max,
}

impl Assertion {
    /// Reads an assertion.
    pub fn parse(text: &str) -> Result<Self, AssertionError> {
        let first = text.split_whitespace().next().unwrap_or_default();
        if ["select", "with"].contains(&first.to_ascii_lowercase().as_str()) {
            return Ok(Self::Sql(text.trim().to_owned()));
        }
        parse::parse(text).map(Self::Short)
    }
}

impl Comparison {
    /// Returns how it is written.
    #[must_use]
    pub fn sign(self) -> &'static str {
        match self {
            Self::Equal => "==",
            Self::Different => "!=",
            Self::Less => "<",
            Self::AtMost => "<=",
            Self::More => ">",
            Self::AtLeast => ">=",
            Self::Contains => "contains",
        }
    }
}

impl Operator {
    /// Returns how it is written.
    #[must_use]
    pub fn sign(self) -> &'static str {
        match self {
            Self::Plus => "+",
            Self::Minus => "-",
            Self::Times => "*",
            Self::Over => "/",
        }
    }
}

impl Summary {
    /// Returns how it is written.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Sum => "sum",
            Self::Min => "min",
            Self::Max => "max",
        }
    }
}

/// Writes conditions so that they read back as the same, with all brackets.
impl fmt::Display for Truth {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let joined = |parts: &[Self], word: &str| {
            let parts: Vec<_> = parts.iter().map(|part| format!("({part})")).collect();
            parts.join(word)
        };
        match self {
            Self::Not(inner) => write!(f, "not ({inner})"),
            Self::All(parts) => f.write_str(&joined(parts, " and ")),
            Self::Any(parts) => f.write_str(&joined(parts, " or ")),
            Self::Compare(left, comparison, right) => {
                write!(f, "{left} {} {right}", comparison.sign())
            }
            Self::OneOf(left, list) => {
                let list: Vec<_> = list.iter().map(ToString::to_string).collect();
                write!(f, "{left} in [{}]", list.join(", "))
            }
        }
    }
}

impl fmt::Display for Term {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Literal(literal) => literal.fmt(f),
            Self::Baseline => f.write_str("baseline"),
            Self::Column(name) => f.write_str(name),
            Self::Path(path) => path.fmt(f),
            Self::Negative(inner) => write!(f, "-({inner})"),
            Self::Calculation(left, operator, right) => {
                write!(f, "({left} {} {right})", operator.sign())
            }
        }
    }
}

impl fmt::Display for Path {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.at_start {
            f.write_str("baseline.")?;
        }
        f.write_str(&self.table)?;
        if let Some(filter) = &self.filter {
            write!(f, "[{filter}]")?;
        }
        match &self.access {
            Access::Count => f.write_str(".count"),
            Access::Row(index, column) => write!(f, "[{index}].{column}"),
            Access::Total(summary, column) => write!(f, ".{}({column})", summary.name()),
        }
    }
}

impl fmt::Display for Literal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Whole(number) => number.fmt(f),
            Self::Number(number) => write!(f, "{number:?}"),
            Self::Text(text) => {
                write!(f, "\"{}\"", text.replace('\\', "\\\\").replace('"', "\\\""))
            }
            Self::Truth(truth) => truth.fmt(f),
            Self::Null => f.write_str("null"),
        }
    }
}
