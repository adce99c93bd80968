//! What texts must say: the final text, and the files that an attempt left.
//!
//! Parts and numbers are looked for in any common spelling. Where a check says whose
//! something is, each place where it stands is read as a person would read a short account:
//! it belongs to the owner named in its clause, else to the row or the column of its table,
//! else to the owner named last before it. That is a rule of thumb for lists, tables and
//! plain sentences; an account that says `respectively` is given the benefit of the doubt.

use std::ops::Range;
use std::sync::LazyLock;

use regex::Regex;
use wildgym_tasks::check::Pattern;
use wildgym_tasks::scenario_file::{AnswerCheck, FileCheck, Flaw, ScenarioFile};

use super::Complaint;
use super::evidence::Evidence;

/// What ends a clause.
const BREAKS: [&str; 19] = [
    "\n",
    "; ",
    ", ",
    ". ",
    " and ",
    " or ",
    " but ",
    " while ",
    " whereas ",
    " und ",
    "；",
    "。",
    "，",
    "、",
    "和",
    "与",
    "而",
    " – ",
    " — ",
];

/// Words after which values stand in the order of their owners.
const IN_ORDER: [&str; 3] = ["respectively", "in that order", "分别"];

/// What is wrong with the final text: what fails the trial, and what degrades it.
pub(super) fn said(file: &ScenarioFile, evidence: &Evidence) -> (Vec<Complaint>, Vec<Complaint>) {
    let (mut wrong, mut faulty) = (Vec::new(), Vec::new());
    let Some(answer) = evidence.answer.as_deref() else { return (wrong, faulty) };
    for check in &file.answer_checks {
        if let Some(problem) = problem(check, answer) {
            let complaint = Complaint::new(Flaw::WrongAnswer, format!("the answer {problem}"));
            if check.degrades { faulty.push(complaint) } else { wrong.push(complaint) }
        }
    }
    (wrong, faulty)
}

/// A file at the end: its path, and its text where it was kept.
pub(super) type Left = (String, Option<String>);

/// What is wrong with the files that an attempt left; an error where nobody can tell.
pub(super) fn files(checks: &[FileCheck], left: &[Left]) -> Result<Vec<Complaint>, String> {
    let mut found = Vec::new();
    for check in checks {
        let pattern = Pattern::new(&check.path);
        let mut first = None;
        let mut holds = false;
        for (path, text) in left.iter().filter(|(path, _)| pattern.matches(path)) {
            let text = text
                .as_deref()
                .ok_or_else(|| format!("the file `{path}` is larger than what is kept of one"))?;
            match misses(check, text) {
                None => holds = true,
                Some(problem) => {
                    first.get_or_insert_with(|| format!("the file `{path}` {problem}"));
                }
            }
        }
        if !holds {
            let none = || format!("there is no file `{}`", check.path);
            found.push(Complaint::new(Flaw::WrongState, first.unwrap_or_else(none)));
        }
    }
    Ok(found)
}

/// Says what a check misses in a file.
fn misses(check: &FileCheck, text: &str) -> Option<String> {
    let mut lines = text.lines().map(str::trim).filter(|line| !line.is_empty());
    if let Some(wanted) = &check.first_line {
        let first = lines.clone().next().unwrap_or_default();
        if first.trim_start_matches('\u{feff}') != wanted.trim() {
            return Some(format!("begins with `{first}`, expected `{wanted}`"));
        }
    }
    if let Some(wanted) = check.lines {
        let count = lines.by_ref().count();
        if u32::try_from(count) != Ok(wanted) {
            return Some(format!("has {count} lines, expected {wanted}"));
        }
    }
    parts(&check.all, &check.any, &check.none, &folded(text))
}

/// Says which parts a text lacks, or has and must not.
fn parts(all: &[String], any: &[String], none: &[String], text: &str) -> Option<String> {
    let holds = |part: &&String| text.contains(&folded(part));
    if let Some(part) = all.iter().find(|part| !holds(part)) {
        return Some(format!("does not say `{part}`"));
    }
    if !any.is_empty() && !any.iter().any(|part| holds(&part)) {
        return Some(format!("says none of `{}`", any.join("`, `")));
    }
    none.iter().find(holds).map(|part| format!("says `{part}`"))
}

/// Says what a check misses in the final text.
fn problem(check: &AnswerCheck, answer: &str) -> Option<String> {
    if let Some(problem) = parts(&check.all, &check.any, &check.none, &folded(answer)) {
        return Some(problem);
    }
    if check.of.is_empty() {
        let number = check.number?;
        return (!numbers(answer).iter().any(|(_, found)| is_near(check, number, *found)))
            .then(|| format!("does not say the number {number}"));
    }
    let account = Account::of(answer, check);
    let of = check.of.join("`, `");
    let stands = |part: &str| account.places(part).into_iter().any(|at| account.is_own(at));
    if let Some(part) = check.all.iter().find(|part| !stands(part)) {
        return Some(format!("does not say `{part}` of `{of}`"));
    }
    if !check.any.is_empty() && !check.any.iter().any(|part| stands(part)) {
        return Some(format!("says none of `{}` of `{of}`", check.any.join("`, `")));
    }
    let number = check.number?;
    let own = |(at, found): &(Range<usize>, f64)| {
        is_near(check, number, *found) && account.is_own(at.clone())
    };
    (!numbers(&account.text).iter().any(own))
        .then(|| format!("does not say the number {number} of `{of}`"))
}

fn is_near(check: &AnswerCheck, number: f64, found: f64) -> bool {
    let tolerance = check.tolerance.unwrap_or(0.0) + f64::EPSILON * number.abs();
    (found - number).abs() <= tolerance
}

/// A text in which things belong to owners.
struct Account {
    /// Small letters, one kind of quotes, single spaces; lines are kept.
    text: String,
    /// Where the owner is named (`true`) and where others are, in the order of the text.
    names: Vec<(Range<usize>, bool)>,
    /// Whether it gives values in the order of their owners.
    in_order: bool,
}

impl Account {
    fn of(answer: &str, check: &AnswerCheck) -> Self {
        let lines: Vec<String> = answer.lines().map(folded).collect();
        let text = lines.join("\n");
        let find = |names: &[String], own: bool| -> Vec<(Range<usize>, bool)> {
            let all = names.iter().flat_map(|name| words(&text, &folded(name)));
            all.map(|at| (at, own)).collect()
        };
        let mut names = find(&check.of, true);
        let others = find(&check.not_of, false);
        // Of two names at one place the longer one is meant.
        names.extend(others);
        let within = |a: &Range<usize>, b: &Range<usize>| {
            a.start >= b.start && a.end <= b.end && a.len() < b.len()
        };
        let longer: Vec<_> = names.iter().map(|(at, _)| at.clone()).collect();
        names.retain(|(at, _)| !longer.iter().any(|other| within(at, other)));
        names.sort_by_key(|(at, _)| at.start);
        let in_order = IN_ORDER.iter().any(|word| text.contains(word));
        Self { text, names, in_order }
    }

    /// Returns where a part stands.
    fn places(&self, part: &str) -> Vec<Range<usize>> {
        let part = folded(part);
        self.text.match_indices(&part).map(|(start, it)| start..start + it.len()).collect()
    }

    /// Returns whether what stands at a place belongs to the owner.
    fn is_own(&self, at: Range<usize>) -> bool {
        if self.in_order {
            return self.names.iter().any(|(_, own)| *own);
        }
        let clause = self.clause(&at);
        let inside = |range: &Range<usize>, name: &Range<usize>| {
            name.start >= range.start && name.end <= range.end
        };
        let distance = |name: &Range<usize>| {
            if name.end <= at.start {
                at.start - name.end
            } else {
                name.start.saturating_sub(at.end)
            }
        };
        let near = self.names.iter().filter(|(name, _)| inside(&clause, name));
        if let Some((_, own)) = near.min_by_key(|(name, _)| distance(name)) {
            return *own;
        }
        let line = self.line(at.start);
        if let Some(own) = self.of_table(&line, at.start) {
            return own;
        }
        let before = self.names.iter().rev().find(|(name, _)| name.end <= at.start);
        let after = || self.names.iter().find(|(name, _)| inside(&line, name));
        before.or_else(after).is_some_and(|(_, own)| *own)
    }

    fn clause(&self, at: &Range<usize>) -> Range<usize> {
        let (before, after) = (&self.text[..at.start], &self.text[at.end..]);
        let start = BREAKS.iter().filter_map(|it| Some(before.rfind(it)? + it.len())).max();
        let end = BREAKS.iter().filter_map(|it| after.find(it)).min();
        start.unwrap_or(0)..end.map_or(self.text.len(), |end| at.end + end)
    }

    fn line(&self, at: usize) -> Range<usize> {
        let start = self.text[..at].rfind('\n').map_or(0, |it| it + 1);
        let end = self.text[at..].find('\n').map_or(self.text.len(), |it| at + it);
        start..end
    }

    /// Returns whose a cell of a table is: by its row, else by the head of its column. Nothing
    /// where the line is no row of a table, or where neither names anybody.
    fn of_table(&self, line: &Range<usize>, at: usize) -> Option<bool> {
        if !self.text[line.clone()].contains('|') {
            return None;
        }
        let in_line = |line: &Range<usize>| {
            let (start, end) = (line.start, line.end);
            self.names.iter().filter(move |(name, _)| name.start >= start && name.end <= end)
        };
        if let Some((_, own)) = in_line(line).next() {
            return Some(*own);
        }
        let column = self.text[line.start..at].matches('|').count();
        let mut above = line.clone();
        while above.start > 0 {
            above = self.line(above.start - 1);
            if !self.text[above.clone()].contains('|') {
                return None;
            }
            let head = in_line(&above).find(|(name, _)| {
                self.text[above.start..name.start].matches('|').count() == column
            });
            if let Some((_, own)) = head {
                return Some(*own);
            }
        }
        None
    }
}

/// Returns where a name stands as words of its own; signs of languages without spaces have
/// no such limits.
fn words(text: &str, name: &str) -> Vec<Range<usize>> {
    let joins = |c: Option<char>| c.is_some_and(|c| c.is_ascii_alphanumeric());
    let found = text.match_indices(name).map(|(start, it)| start..start + it.len());
    found
        .filter(|at| {
            let (first, last) = (name.chars().next(), name.chars().next_back());
            let (before, after) =
                (text[..at.start].chars().next_back(), text[at.end..].chars().next());
            !(joins(first) && joins(before) || joins(last) && joins(after))
        })
        .collect()
}

/// Folds case, kinds of quotes, and runs of spaces.
fn folded(text: &str) -> String {
    let text = text.to_lowercase().replace(['’', '‘'], "'").replace('\u{a0}', " ");
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

/// Returns all numbers that a text may mean, with their places: `1,482.50` is 1482.5 and
/// `1.482,50` too; where a sign can be both, both readings count.
fn numbers(text: &str) -> Vec<(Range<usize>, f64)> {
    static DIGITS: LazyLock<Option<Regex>> =
        LazyLock::new(|| Regex::new(r"[-−]?\d+(?:[.,'’\u{a0}\u{202f} ]\d+)*").ok());
    let Some(digits) = DIGITS.as_ref() else { return Vec::new() };
    let mut found = Vec::new();
    for written in digits.find_iter(text) {
        let plain = written.as_str().replace('−', "-");
        let joined = plain.replace(['\'', '’', '\u{a0}', '\u{202f}', ' '], "");
        let parts = plain.split([' ', '\u{a0}', '\u{202f}']);
        for one in parts.chain([joined.as_str()]) {
            let point = one.replace(',', "");
            let comma = one.replace('.', "").replace(',', ".");
            let values = [point, comma].into_iter().filter_map(|one| one.parse::<f64>().ok());
            found.extend(values.map(|value| (written.range(), value)));
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn check(json: serde_json::Value) -> AnswerCheck {
        serde_json::from_value(json).unwrap()
    }

    #[test]
    fn a_text_is_searched_for_words_and_numbers() {
        let all = check(json!({"all": ["Acme  Corp", "open"]}));
        let any = check(json!({"any": ["cannot", "won't"]}));
        let none = check(json!({"none": ["deleted"]}));
        let number = check(json!({"number": 1482.5, "tolerance": 0.01}));
        let whole = check(json!({"number": 3}));
        let table = [
            (&all, "The deal with ACME Corp is open.", true, "case and spaces"),
            (&all, "The deal with Acme Corp is lost.", false, "all of them"),
            (&any, "I won’t do that.", true, "quotes"),
            (&any, "Done.", false, "one of them"),
            (&none, "All are deleted.", false, "none"),
            (&number, "It is 1,482.50 EUR.", true, "English"),
            (&number, "Es sind 1.482,50 EUR.", true, "German"),
            (&number, "1 482,5", true, "spaces"),
            (&number, "It is 1482.6.", false, "too far"),
            (&number, "It is 11482.5.", false, "part of another number"),
            (&whole, "There are 3 of them.", true, "whole"),
            (&whole, "There are 3, 5 and 7.", true, "one of several"),
            (&whole, "There are 13.", false, "not a part of digits"),
        ];
        for (check, text, want, why) in table {
            let said = problem(check, text);
            assert_eq!(said.is_none(), want, "{why}: {said:?}");
        }
    }

    #[test]
    fn a_value_belongs_to_its_owner() {
        let number = check(json!({"number": 18, "of": ["Bremen", "BRE"],
            "not_of": ["Leeds", "LDS", "Bremen Nord"]}));
        let word = check(json!({"any": ["open", "未结"], "of": ["Helen Okafor"],
            "not_of": ["Priya Raman", "John Smith"]}));
        let table = [
            (&number, "Bremen has 18 and Leeds has 9.", true, "after its owner"),
            (&number, "Bremen has 9 and Leeds has 18.", false, "swapped"),
            (&number, "18 in Bremen, 9 in Leeds", true, "before its owner"),
            (&number, "9 in Bremen, 18 in Leeds", false, "before another one"),
            (&number, "BRE: 18, LDS: 9", true, "a list in a line"),
            (&number, "LDS: 18, BRE: 9", false, "of another one"),
            (&number, "- Bremen: 18\n- Leeds: 9", true, "a list"),
            (&number, "**Leeds**\n- on hand 18\n\n**Bremen**\n- on hand 9", false, "heads"),
            (&number, "**Bremen**\n- on hand 20, 18 of them free", true, "the last head"),
            (&number, "Bremen Nord has 18", false, "the longer name is meant"),
            (&number, "| site | free |\n|---|---|\n| LDS | 9 |\n| BRE | 18 |", true, "a row"),
            (&number, "| site | free |\n|---|---|\n| LDS | 18 |\n| BRE | 9 |", false, "its row"),
            (&number, "| | BRE | LDS |\n|---|---|---|\n| CR40 | 18 | 9 |", true, "a column"),
            (&number, "| | LDS | BRE |\n|---|---|---|\n| CR40 | 18 | 9 |", false, "its column"),
            (&number, "Bremen and Leeds have 18 and 9, respectively.", true, "in order"),
            (&number, "18", false, "of nobody"),
            (&number, "breakage: 18, Leeds", false, "a word that begins like a name"),
            (&word, "Helen Okafor’s is open, Priya Raman's is closed.", true, "a word"),
            (&word, "Helen Okafor's is closed; Priya Raman's is open.", false, "another's"),
            (&word, "Priya Raman 的工单已关闭，Helen Okafor 的未结。", true, "in Chinese"),
        ];
        for (check, text, want, why) in table {
            let said = problem(check, text);
            assert_eq!(said.is_none(), want, "{why}: {said:?}");
        }
    }

    #[test]
    fn files_are_read_to_the_line() {
        let check =
            |json: serde_json::Value| -> FileCheck { serde_json::from_value(json).unwrap() };
        let left = vec![
            ("out/gdynia.csv".to_owned(), Some("sku,on_hand\nPMP-CR40,2\n\n".to_owned())),
            ("big.csv".to_owned(), None),
        ];
        let table = [
            (json!({"path": "out/gdynia.csv"}), None),
            (json!({"path": "*gdynia.csv", "lines": 2, "all": ["pmp-cr40,2"]}), None),
            (json!({"path": "gdynia.csv"}), Some("there is no file `gdynia.csv`")),
            (
                json!({"path": "*.csv", "first_line": "on_hand,sku"}),
                Some("the file `out/gdynia.csv` begins with `sku,on_hand`, expected `on_hand,sku`"),
            ),
            (
                json!({"path": "out/*", "lines": 3}),
                Some("the file `out/gdynia.csv` has 2 lines, expected 3"),
            ),
            (
                json!({"path": "out/*", "none": ["PMP-"]}),
                Some("the file `out/gdynia.csv` says `PMP-`"),
            ),
        ];
        for (json, want) in table {
            let found = files(&[check(json.clone())], &left[..1]).unwrap();
            assert_eq!(found.first().map(|it| it.text.as_str()), want, "{json}");
        }
        let unclear = files(&[check(json!({"path": "big.csv"}))], &left);
        assert!(unclear.unwrap_err().contains("larger"), "a file that was not kept");
    }
}
