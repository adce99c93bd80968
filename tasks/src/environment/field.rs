//! Whether what a visitor typed fits a declared field, and the words that say it does not.
//!
//! The words are those that people read beside a form, in the language of the site. A
//! field's own `message` replaces them, except where the field is just missing.

use jiff::civil::Date;
use regex::RegexBuilder;
use serde_json::Value;

use super::route::{Field, FieldKind};
use crate::scenario::Language;

/// Most characters of a text that sets no limit of its own.
const LONGEST_TEXT: usize = 2000;

/// Most bytes of a file that sets no limit of its own.
const LARGEST_FILE: usize = 1 << 20;

/// One value of a request.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Given {
    /// Text, as typed.
    Text(String),
    /// A file.
    File {
        /// Its name, without folders.
        name: String,
        /// Its bytes.
        size: usize,
        /// Its text, where it is UTF-8.
        text: Option<String>,
    },
}

/// A bound of numbers or dates, read.
#[derive(Debug, Clone, Copy, PartialEq)]
enum Bound {
    Number(f64),
    Day(Date),
}

impl Field {
    /// Returns what is wrong with the values given for this field, in words for a visitor.
    /// `today` is the day of the logical clock.
    #[must_use]
    pub fn wrong(&self, given: &[Given], today: Date, language: Language) -> Option<String> {
        let label = self.label.as_deref().unwrap_or(&self.name);
        let filled = given.iter().filter(|one| !is_blank(one));
        let filled: Vec<&Given> = filled.collect();
        if filled.is_empty() {
            return self.required.then(|| match language {
                Language::Zh => format!("请填写“{label}”。"),
                Language::En => format!("{label} is required."),
            });
        }
        let problem = if filled.len() > 1 && !self.many {
            Some(match language {
                Language::Zh => format!("“{label}”只能填写一项。"),
                Language::En => format!("Give only one value for {label}."),
            })
        } else {
            filled.iter().find_map(|one| self.misfit(one, label, today, language))
        };
        problem.map(|problem| self.message.clone().unwrap_or(problem))
    }

    /// Says what is wrong with one value.
    fn misfit(&self, given: &Given, label: &str, today: Date, zh: Language) -> Option<String> {
        let say = |en: String, cn: String| match zh {
            Language::En => Some(en),
            Language::Zh => Some(cn),
        };
        let text = match (given, self.kind) {
            (Given::File { name, size, .. }, FieldKind::File) => {
                return self.misfit_file(name, *size, label, zh);
            }
            (Given::Text(text), kind) if kind != FieldKind::File => text.trim(),
            _ => return say(format!("{label} is not valid."), format!("“{label}”无效。")),
        };
        let most = self.max_length.unwrap_or(LONGEST_TEXT);
        if text.chars().count() > most {
            return say(
                format!("{label} may have at most {most} characters."),
                format!("“{label}”最多 {most} 个字符。"),
            );
        }
        let bound = match self.kind {
            FieldKind::Text | FieldKind::Flag | FieldKind::File => None,
            FieldKind::Choice if self.choices.iter().any(|choice| choice == text) => None,
            FieldKind::Choice => {
                return say(format!("Choose a valid {label}."), format!("请选择有效的“{label}”。"));
            }
            FieldKind::Number => match text.parse::<f64>().ok().filter(|it| it.is_finite()) {
                Some(number) => Some(Bound::Number(number)),
                None => {
                    return say(
                        format!("{label} must be a number."),
                        format!("“{label}”必须是数字。"),
                    );
                }
            },
            FieldKind::Date => {
                match text.parse::<Date>().ok().filter(|it| it.to_string() == text) {
                    Some(day) => Some(Bound::Day(day)),
                    None => {
                        return say(
                            format!("{label} must be a date, such as 2026-03-01."),
                            format!("“{label}”必须是日期，例如 2026-03-01。"),
                        );
                    }
                }
            }
        };
        if let Some(problem) = bound.and_then(|value| self.out_of_bounds(value, label, today, zh)) {
            return Some(problem);
        }
        let pattern = self.pattern.as_deref()?;
        if whole(pattern, text) {
            return None;
        }
        say(format!("{label} is not in the expected format."), format!("“{label}”的格式不正确。"))
    }

    fn misfit_file(&self, name: &str, size: usize, label: &str, zh: Language) -> Option<String> {
        let most = self.max_length.unwrap_or(LARGEST_FILE);
        let small = name.to_lowercase();
        let (en, cn) = if size > most {
            (
                format!("{label} may have at most {most} bytes."),
                format!("“{label}”不能超过 {most} 字节。"),
            )
        } else if !self.choices.is_empty()
            && !self.choices.iter().any(|ending| small.ends_with(&ending.to_lowercase()))
        {
            let endings = self.choices.join(", ");
            (
                format!("{label} must be a file of the kind {endings}."),
                format!("“{label}”必须是以下类型的文件：{endings}。"),
            )
        } else {
            return None;
        };
        Some(match zh {
            Language::En => en,
            Language::Zh => cn,
        })
    }

    fn out_of_bounds(
        &self,
        value: Bound,
        label: &str,
        today: Date,
        language: Language,
    ) -> Option<String> {
        let bound = |bound: &Option<Value>| bound.as_ref().and_then(|it| read_bound(it, today));
        let (least, most) = (bound(&self.min), bound(&self.max));
        let words = |value: Bound| match value {
            Bound::Number(number) => number.to_string(),
            Bound::Day(day) => day.to_string(),
        };
        let (en, cn) = if let Some(least) = least.filter(|least| below(value, *least)) {
            let least = words(least);
            match value {
                Bound::Number(_) => (
                    format!("{label} must be at least {least}."),
                    format!("“{label}”不能小于 {least}。"),
                ),
                Bound::Day(_) => (
                    format!("{label} must not be before {least}."),
                    format!("“{label}”不能早于 {least}。"),
                ),
            }
        } else if let Some(most) = most.filter(|most| below(*most, value)) {
            let most = words(most);
            match value {
                Bound::Number(_) => (
                    format!("{label} must be at most {most}."),
                    format!("“{label}”不能大于 {most}。"),
                ),
                Bound::Day(_) => (
                    format!("{label} must not be after {most}."),
                    format!("“{label}”不能晚于 {most}。"),
                ),
            }
        } else {
            return None;
        };
        Some(match language {
            Language::En => en,
            Language::Zh => cn,
        })
    }

    /// Returns what is wrong with the field's `min` or `max`.
    pub(crate) fn misplaced(&self, bound: &Value) -> Option<&'static str> {
        match (self.kind, bound) {
            (FieldKind::Number, Value::Number(_)) => None,
            (FieldKind::Number, _) => Some("expected a number"),
            (FieldKind::Date, bound) if read_bound(bound, Date::ZERO).is_some() => None,
            (FieldKind::Date, _) => Some("expected a date, such as \"2026-03-01\", or \"today\""),
            _ => Some("only a number or a date has bounds"),
        }
    }

    /// Returns a value that is right as far as the declaration says: the example, else the
    /// first choice, a bound, or plain text. Files have none.
    #[must_use]
    pub fn sample(&self, today: Date) -> Option<String> {
        if let Some(example) = &self.example {
            return Some(example.clone());
        }
        let bound = self.min.as_ref().or(self.max.as_ref()).and_then(|it| read_bound(it, today));
        Some(match (self.kind, bound) {
            (FieldKind::File, _) => return None,
            (FieldKind::Choice, _) => self.choices.first()?.clone(),
            (FieldKind::Flag, _) => "on".to_owned(),
            (FieldKind::Number, Some(Bound::Number(number))) => number.to_string(),
            (FieldKind::Number, _) => "1".to_owned(),
            (FieldKind::Date, Some(Bound::Day(day))) => day.to_string(),
            (FieldKind::Date, _) => today.to_string(),
            (FieldKind::Text, _) => "sample".chars().take(self.max_length.unwrap_or(6)).collect(),
        })
    }
}

fn is_blank(given: &Given) -> bool {
    match given {
        Given::Text(text) => text.trim().is_empty(),
        // A form with no file chosen sends one without name and content.
        Given::File { name, size, .. } => name.is_empty() && *size == 0,
    }
}

/// Returns whether the whole text matches; a pattern that is none matches nothing.
fn whole(pattern: &str, text: &str) -> bool {
    let pattern = format!("^(?:{pattern})$");
    RegexBuilder::new(&pattern).size_limit(1 << 20).build().is_ok_and(|it| it.is_match(text))
}

fn read_bound(bound: &Value, today: Date) -> Option<Bound> {
    match bound {
        Value::Number(number) => number.as_f64().map(Bound::Number),
        Value::String(text) if text == "today" => Some(Bound::Day(today)),
        Value::String(text) => text.parse().ok().map(Bound::Day),
        Value::Null | Value::Bool(_) | Value::Array(_) | Value::Object(_) => None,
    }
}

fn below(left: Bound, right: Bound) -> bool {
    match (left, right) {
        (Bound::Number(left), Bound::Number(right)) => left < right,
        (Bound::Day(left), Bound::Day(right)) => left < right,
        (Bound::Number(_), Bound::Day(_)) | (Bound::Day(_), Bound::Number(_)) => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn field(change: impl FnOnce(&mut Field)) -> Field {
        let mut field = Field { name: "x".to_owned(), ..Field::default() };
        change(&mut field);
        field
    }

    fn check(field: &Field, texts: &[&str]) -> String {
        let given: Vec<Given> = texts.iter().map(|text| Given::Text((*text).to_owned())).collect();
        let today = "2026-03-02".parse().unwrap();
        field.wrong(&given, today, Language::En).unwrap_or_default()
    }

    #[test]
    fn each_rule_has_its_words() {
        let number = |it: &mut Field| {
            it.kind = FieldKind::Number;
            it.min = Some(Value::from(1));
            it.max = Some(Value::from(2.5));
        };
        let day = |it: &mut Field| {
            it.kind = FieldKind::Date;
            it.min = Some(Value::from("today"));
            it.max = Some(Value::from("2026-12-31"));
        };
        let choice = |it: &mut Field| {
            it.kind = FieldKind::Choice;
            it.choices = vec!["a".to_owned(), "b".to_owned()];
        };
        let ticket = |it: &mut Field| it.pattern = Some("[A-Z]{2}|x".to_owned());
        let table: Vec<(Field, &[&str], &str)> = vec![
            (field(|_| ()), &[], ""),
            (field(|it| it.required = true), &["  "], "x is required."),
            (field(|it| it.required = true), &["y"], ""),
            (field(|_| ()), &["a", "b"], "Give only one value for x."),
            (field(|it| it.many = true), &["a", "b"], ""),
            (field(|it| it.max_length = Some(2)), &["二二二"], "x may have at most 2 characters."),
            (field(number), &["0"], "x must be at least 1."),
            (field(number), &["2.5"], ""),
            (field(number), &["2.51"], "x must be at most 2.5."),
            (field(number), &["two"], "x must be a number."),
            (field(number), &["inf"], "x must be a number."),
            (field(day), &["2026-03-01"], "x must not be before 2026-03-02."),
            (field(day), &["2027-01-01"], "x must not be after 2026-12-31."),
            (field(day), &["2.3.2026"], "x must be a date, such as 2026-03-01."),
            (field(choice), &["c"], "Choose a valid x."),
            (field(choice), &["b"], ""),
            (field(ticket), &["AB"], ""),
            (field(ticket), &["ABC"], "x is not in the expected format."),
            (field(ticket), &["x\nAB"], "x is not in the expected format."),
            (field(|it| it.kind = FieldKind::File), &["text"], "x is not valid."),
        ];
        for (field, texts, want) in table {
            assert_eq!(check(&field, texts), want, "{field:?} {texts:?}");
        }
        let own = field(|it| {
            ticket(it);
            it.required = true;
            it.label = Some("Ticket".to_owned());
            it.message = Some("Two letters.".to_owned());
        });
        assert_eq!(check(&own, &["ABC"]), "Two letters.");
        assert_eq!(check(&own, &[]), "Ticket is required.", "a message says nothing of that");
    }

    #[test]
    fn files_are_measured() {
        let file = |name: &str, size| Given::File { name: name.to_owned(), size, text: None };
        let field = field(|it| {
            it.kind = FieldKind::File;
            it.choices = vec![".csv".to_owned()];
            it.max_length = Some(10);
        });
        let today = "2026-03-02".parse().unwrap();
        let table = [
            (file("a.CSV", 10), None),
            (file("a.csv", 11), Some("“x”不能超过 10 字节。")),
            (file("a.exe", 1), Some("“x”必须是以下类型的文件：.csv。")),
            (file("", 0), None),
        ];
        for (given, want) in table {
            let got = field.wrong(std::slice::from_ref(&given), today, Language::Zh);
            assert_eq!(got.as_deref(), want, "{given:?}");
        }
    }

    /// What a field offers as a sample it takes.
    #[test]
    fn samples_are_right() {
        let today = "2026-03-02".parse().unwrap();
        let kinds = [FieldKind::Text, FieldKind::Number, FieldKind::Date, FieldKind::Flag];
        for kind in kinds {
            let field = field(|it| it.kind = kind);
            let sample = Given::Text(field.sample(today).unwrap());
            assert_eq!(field.wrong(&[sample], today, Language::En), None, "{kind:?}");
        }
    }
}
