//! Reads the short form of an assertion.
//!
//! Recursive descent along the grammar of the module above. What is nested deeper than
//! [`DEPTH`] is refused, so no text can exhaust the stack.

use std::fmt;

use super::token::{Token, tokens};
use super::{Access, Comparison, Literal, Operator, Path, Summary, Term, Truth};

/// Deepest nesting.
const DEPTH: usize = 24;
/// Longest text, in bytes.
const LENGTH: usize = 4000;
/// Words that name no table and no column.
const WORDS: [&str; 9] =
    ["and", "or", "not", "in", "contains", "true", "false", "null", "baseline"];

/// Why a text is no assertion.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AssertionError {
    /// The character at which it cannot be read further, from 1.
    pub position: usize,
    /// What was expected, and what was found.
    pub problem: String,
}

impl fmt::Display for AssertionError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "character {}: {}", self.position, self.problem)
    }
}

impl std::error::Error for AssertionError {}

type Parsed<T> = Result<T, AssertionError>;

/// Reads the whole text.
pub(super) fn parse(text: &str) -> Parsed<Truth> {
    if text.len() > LENGTH {
        let problem = format!("{} bytes; an assertion may have {LENGTH}", text.len());
        return Err(AssertionError { position: 1, problem });
    }
    let tokens = tokens(text)?;
    let end = text.chars().count() + 1;
    let mut parser = Parser { tokens, end, at: 0, depth: 0, in_filter: false, baseline: false };
    let truth = parser.or()?;
    match parser.peek() {
        None => Ok(truth),
        Some(_) => parser.expected("the end"),
    }
}

struct Parser {
    tokens: Vec<(usize, Token)>,
    /// Position after the last character.
    end: usize,
    at: usize,
    depth: usize,
    /// Whether a bare name is a column.
    in_filter: bool,
    /// Whether a bare `baseline` has a left side to stand for.
    baseline: bool,
}

impl Parser {
    fn peek(&self) -> Option<&Token> {
        self.tokens.get(self.at).map(|(_, token)| token)
    }

    fn expected<T>(&self, what: &str) -> Parsed<T> {
        let (position, found) = match self.tokens.get(self.at) {
            Some((position, token)) => (*position, token.describe()),
            None => (self.end, "the end".to_owned()),
        };
        Err(AssertionError { position, problem: format!("expected {what}, found {found}") })
    }

    fn is_sign(&self, sign: &str) -> bool {
        matches!(self.peek(), Some(Token::Sign(found)) if *found == sign)
    }

    fn is_word(&self, word: &str) -> bool {
        matches!(self.peek(), Some(Token::Word(found)) if found == word)
    }

    fn take_sign(&mut self, sign: &str) -> bool {
        let there = self.is_sign(sign);
        self.at += usize::from(there);
        there
    }

    fn take_word(&mut self, word: &str) -> bool {
        let there = self.is_word(word);
        self.at += usize::from(there);
        there
    }

    fn need(&mut self, sign: &str) -> Parsed<()> {
        if self.take_sign(sign) { Ok(()) } else { self.expected(&format!("`{sign}`")) }
    }

    fn name(&mut self, what: &str) -> Parsed<String> {
        match self.peek() {
            Some(Token::Word(word)) if !WORDS.contains(&word.as_str()) => {
                let word = word.clone();
                self.at += 1;
                Ok(word)
            }
            Some(_) | None => self.expected(what),
        }
    }

    /// Runs `read` one level deeper.
    fn deeper<T>(&mut self, read: impl FnOnce(&mut Self) -> Parsed<T>) -> Parsed<T> {
        if self.depth == DEPTH {
            return self.expected(&format!("at most {DEPTH} levels of nesting"));
        }
        self.depth += 1;
        let result = read(self);
        self.depth -= 1;
        result
    }

    fn or(&mut self) -> Parsed<Truth> {
        self.deeper(|parser| {
            let mut parts = vec![parser.and()?];
            while parser.take_word("or") {
                parts.push(parser.and()?);
            }
            Ok(single(parts, Truth::Any))
        })
    }

    fn and(&mut self) -> Parsed<Truth> {
        let mut parts = vec![self.not()?];
        while self.take_word("and") {
            parts.push(self.not()?);
        }
        Ok(single(parts, Truth::All))
    }

    fn not(&mut self) -> Parsed<Truth> {
        if self.take_word("not") {
            let inner = self.deeper(Self::not)?;
            return Ok(Truth::Not(Box::new(inner)));
        }
        if !self.is_sign("(") {
            return self.comparison();
        }
        // A bracket opens a condition or a calculation: what can be read on decides.
        let start = self.at;
        let condition = self.bracketed_condition();
        if condition.is_ok() && !self.continues_a_sum() {
            return condition;
        }
        let reached = condition.as_ref().map_or_else(|error| error.position, |_| 0);
        self.at = start;
        self.comparison().map_err(|error| match condition {
            Err(first) if reached > error.position => first,
            Ok(_) | Err(_) => error,
        })
    }

    fn bracketed_condition(&mut self) -> Parsed<Truth> {
        self.need("(")?;
        let inner = self.or()?;
        self.need(")")?;
        Ok(inner)
    }

    fn continues_a_sum(&self) -> bool {
        ["+", "-", "*", "/", "==", "!=", "<", "<=", ">", ">="].iter().any(|s| self.is_sign(s))
    }

    fn comparison(&mut self) -> Parsed<Truth> {
        let outer = std::mem::replace(&mut self.baseline, false);
        let result = self.comparison_with_left();
        self.baseline = outer;
        result
    }

    fn comparison_with_left(&mut self) -> Parsed<Truth> {
        let left = self.sum()?;
        if self.is_word("in") || self.is_word("not") {
            let negated = self.take_word("not");
            if !self.take_word("in") {
                return self.expected("`in`");
            }
            let list = Truth::OneOf(left, self.list()?);
            return Ok(if negated { Truth::Not(Box::new(list)) } else { list });
        }
        let signs = [
            ("==", Comparison::Equal),
            ("!=", Comparison::Different),
            ("<", Comparison::Less),
            ("<=", Comparison::AtMost),
            (">", Comparison::More),
            (">=", Comparison::AtLeast),
        ];
        let comparison = if self.take_word("contains") {
            Comparison::Contains
        } else {
            match signs.iter().find(|(sign, _)| self.is_sign(sign)) {
                Some((_, comparison)) => {
                    self.at += 1;
                    *comparison
                }
                None => return self.expected("a comparison, such as `==`"),
            }
        };
        self.baseline = !self.in_filter;
        let right = self.sum()?;
        Ok(Truth::Compare(left, comparison, right))
    }

    fn list(&mut self) -> Parsed<Vec<Literal>> {
        self.need("[")?;
        let mut items = Vec::new();
        loop {
            let negative = self.take_sign("-");
            let item = match (self.literal(), negative) {
                (Some(Literal::Whole(number)), true) => Literal::Whole(-number),
                (Some(Literal::Number(number)), true) => Literal::Number(-number),
                (Some(item), false) => item,
                (Some(_) | None, _) => return self.expected("a number or a text"),
            };
            items.push(item);
            if self.take_sign("]") {
                return Ok(items);
            }
            self.need(",")?;
        }
    }

    fn sum(&mut self) -> Parsed<Term> {
        let mut left = self.product()?;
        loop {
            let operator = match self.peek() {
                Some(Token::Sign("+")) => Operator::Plus,
                Some(Token::Sign("-")) => Operator::Minus,
                Some(_) | None => return Ok(left),
            };
            self.at += 1;
            let right = self.product()?;
            left = Term::Calculation(Box::new(left), operator, Box::new(right));
        }
    }

    fn product(&mut self) -> Parsed<Term> {
        let mut left = self.factor()?;
        loop {
            let operator = match self.peek() {
                Some(Token::Sign("*")) => Operator::Times,
                Some(Token::Sign("/")) => Operator::Over,
                Some(_) | None => return Ok(left),
            };
            self.at += 1;
            let right = self.factor()?;
            left = Term::Calculation(Box::new(left), operator, Box::new(right));
        }
    }

    fn factor(&mut self) -> Parsed<Term> {
        if let Some(literal) = self.literal() {
            return Ok(Term::Literal(literal));
        }
        if self.take_sign("-") {
            let inner = self.deeper(Self::factor)?;
            return Ok(match inner {
                Term::Literal(Literal::Whole(number)) => Term::Literal(Literal::Whole(-number)),
                Term::Literal(Literal::Number(number)) => Term::Literal(Literal::Number(-number)),
                other @ (Term::Literal(_)
                | Term::Baseline
                | Term::Column(_)
                | Term::Path(_)
                | Term::Negative(_)
                | Term::Calculation(..)) => Term::Negative(Box::new(other)),
            });
        }
        if self.take_sign("(") {
            let inner = self.deeper(Self::sum)?;
            self.need(")")?;
            return Ok(inner);
        }
        if self.is_word("baseline") {
            return self.baseline();
        }
        let name = self.name("a number, a text or a table")?;
        if self.is_sign(".") || self.is_sign("[") {
            return self.path(name, false).map(Term::Path);
        }
        if self.in_filter {
            return Ok(Term::Column(name));
        }
        self.expected(&format!("`.count`, `[-1].<column>` or `.sum(<column>)` after `{name}`"))
    }

    fn baseline(&mut self) -> Parsed<Term> {
        let allowed = self.baseline;
        let start = self.at;
        self.at += 1;
        if self.take_sign(".") {
            let table = self.name("a table")?;
            return self.path(table, true).map(Term::Path);
        }
        if allowed {
            return Ok(Term::Baseline);
        }
        self.at = start;
        self.expected(
            "something else: `baseline` alone stands on the right of a comparison \
             that is not in a filter; write `baseline.<table>.count`",
        )
    }

    fn literal(&mut self) -> Option<Literal> {
        let literal = match self.peek()? {
            Token::Whole(number) => Literal::Whole(*number),
            Token::Number(number) => Literal::Number(*number),
            Token::Text(text) => Literal::Text(text.clone()),
            Token::Word(word) => match word.as_str() {
                "true" => Literal::Truth(true),
                "false" => Literal::Truth(false),
                "null" => Literal::Null,
                _ => return None,
            },
            Token::Sign(_) => return None,
        };
        self.at += 1;
        Some(literal)
    }

    fn path(&mut self, table: String, at_start: bool) -> Parsed<Path> {
        let mut filter = None;
        if self.is_sign("[") && !self.is_index() {
            self.at += 1;
            let outer = std::mem::replace(&mut self.in_filter, true);
            let condition = self.or();
            self.in_filter = outer;
            filter = Some(Box::new(condition?));
            self.need("]")?;
        }
        let access = self.access()?;
        Ok(Path { at_start, table, filter, access })
    }

    /// Returns whether a place stands at the bracket, and no filter.
    fn is_index(&self) -> bool {
        let token = |offset: usize| self.tokens.get(self.at + offset).map(|(_, token)| token);
        let offset = if token(1) == Some(&Token::Sign("-")) { 2 } else { 1 };
        matches!(token(offset), Some(Token::Whole(_)))
            && token(offset + 1) == Some(&Token::Sign("]"))
    }

    fn access(&mut self) -> Parsed<Access> {
        if self.is_sign("[") && self.is_index() {
            self.at += 1;
            let negative = self.take_sign("-");
            let index = match self.literal() {
                Some(Literal::Whole(index)) if negative => -index,
                Some(Literal::Whole(index)) => index,
                Some(_) | None => return self.expected("a place, such as `-1`"),
            };
            self.need("]")?;
            self.need(".")?;
            return Ok(Access::Row(index, self.name("a column")?));
        }
        if !self.take_sign(".") {
            return self.expected("`.count`, `[-1].<column>` or `.sum(<column>)`");
        }
        if self.take_word("count") {
            return Ok(Access::Count);
        }
        let summaries = [("sum", Summary::Sum), ("min", Summary::Min), ("max", Summary::Max)];
        let Some((_, summary)) = summaries.iter().find(|(name, _)| self.is_word(name)) else {
            return self.expected("`count`, `sum`, `min` or `max`");
        };
        self.at += 1;
        self.need("(")?;
        let column = self.name("a column")?;
        self.need(")")?;
        Ok(Access::Total(*summary, column))
    }
}

/// Returns the only part itself, or all of them together.
fn single(mut parts: Vec<Truth>, together: impl FnOnce(Vec<Truth>) -> Truth) -> Truth {
    match parts.pop() {
        Some(only) if parts.is_empty() => only,
        Some(last) => {
            parts.push(last);
            together(parts)
        }
        None => together(parts),
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn what_is_written_is_read() {
        let table = [
            ("contacts.count == baseline + 1", "contacts.count == (baseline + 1)"),
            (
                "activities[-1].contact_id == contacts[-1].id",
                "activities[-1].contact_id == contacts[-1].id",
            ),
            ("deals.sum(amount) >= 10.5", "deals.sum(amount) >= 10.5"),
            (
                "contacts[email == 'a@b' and not (stale == true)].count == 0",
                "contacts[(email == \"a@b\") and (not (stale == true))].count == 0",
            ),
            (
                "orders[id == orders[0].id][-1].state in ['open', \"held\"]",
                "orders[id == orders[0].id][-1].state in [\"open\", \"held\"]",
            ),
            ("baseline.t.count - t.count == -1", "(baseline.t.count - t.count) == -1"),
            ("(t.count + 1) * 2 == 4", "((t.count + 1) * 2) == 4"),
            (
                "(t.count == 1 or t.count == 2) and u.count == 0",
                "((t.count == 1) or (t.count == 2)) and (u.count == 0)",
            ),
            ("t[0].name contains \"x\"", "t[0].name contains \"x\""),
            ("t[0].name not in [1, -2, null]", "not (t[0].name in [1, -2, null])"),
            ("not t.count == 1", "not (t.count == 1)"),
        ];
        for (text, want) in table {
            let truth = parse(text).unwrap_or_else(|error| panic!("{text}: {error}"));
            assert_eq!(truth.to_string(), want);
            assert_eq!(parse(want).unwrap(), truth, "{want} reads back");
        }
    }

    #[test]
    fn what_is_no_assertion_says_where_and_why() {
        let table = [
            ("", "character 1: expected a number, a text or a table, found the end"),
            ("contacts.count", "character 15: expected a comparison, such as `==`, found the end"),
            ("contacts.count = 1", "character 16: `=` is written `==`"),
            (
                "contacts == 1",
                "character 10: expected `.count`, `[-1].<column>` or \
              `.sum(<column>)` after `contacts`, found `==`",
            ),
            (
                "contacts.size == 1",
                "character 10: expected `count`, `sum`, `min` or `max`, \
              found `size`",
            ),
            ("t.count == 'x", "character 12: the text has no closing '"),
            ("t.count == 1 1", "character 14: expected the end, found `1`"),
            ("t.count == 1x", "character 12: a letter follows the number `1`"),
            ("(t.count == 1", "character 14: expected `)`, found the end"),
            ("t[-1] == 1", "character 7: expected `.`, found `==`"),
            ("t.count == 1; drop", "character 13: ';' has no meaning here"),
        ];
        for (text, want) in table {
            assert_eq!(parse(text).map_err(|error| error.to_string()), Err(want.to_owned()));
        }
        let bare = parse("baseline == t.count").unwrap_err().to_string();
        assert!(bare.contains("stands on the right"), "{bare}");
        let deep = format!("{}t.count == 1", "not ".repeat(900));
        assert!(parse(&deep).unwrap_err().to_string().contains("levels"), "deep nesting ends");
    }

    fn number() -> impl Strategy<Value = Literal> {
        prop_oneof![
            any::<i32>().prop_map(|n| Literal::Whole(i64::from(n))),
            (-1000i32..1000).prop_map(|n| Literal::Number(f64::from(n) / 8.0)),
            "[ -~]{0,6}".prop_map(Literal::Text),
            any::<bool>().prop_map(Literal::Truth),
            Just(Literal::Null),
        ]
    }

    fn path() -> impl Strategy<Value = Path> {
        let access = prop_oneof![
            Just(Access::Count),
            (-3i64..3).prop_map(|index| Access::Row(index, "name".to_owned())),
            Just(Access::Total(Summary::Max, "size".to_owned())),
        ];
        let filter = prop::option::of(number().prop_map(|literal| {
            let column = Term::Column("kind".to_owned());
            Box::new(Truth::Compare(column, Comparison::Equal, Term::Literal(literal)))
        }));
        (any::<bool>(), "t_[a-z]{1,5}", filter, access)
            .prop_map(|(at_start, table, filter, access)| Path { at_start, table, filter, access })
    }

    fn truth() -> impl Strategy<Value = Truth> {
        let compare = (path(), number())
            .prop_map(|(path, literal)| {
                Truth::Compare(Term::Path(path), Comparison::AtMost, Term::Literal(literal))
            })
            .boxed();
        compare.prop_recursive(3, 12, 3, |inner| {
            prop_oneof![
                inner.clone().prop_map(|truth| Truth::Not(Box::new(truth))),
                prop::collection::vec(inner.clone(), 2..4).prop_map(Truth::All),
                prop::collection::vec(inner, 2..4).prop_map(Truth::Any),
            ]
        })
    }

    proptest! {
        #[test]
        fn what_is_written_reads_back(truth in truth()) {
            let text = truth.to_string();
            prop_assert_eq!(parse(&text), Ok(truth), "{}", text);
        }

        #[test]
        fn no_text_is_a_panic(text in "[ a-z0-9_.\\[\\]()=<>!+*/'\"-]{0,60}|\\PC{0,60}") {
            let _ = parse(&text);
        }
    }
}
