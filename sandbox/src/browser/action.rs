//! The actions on pages, as they are asked for.
//!
//! A model writes an action as a call, `click_id(12)` or `fill_input_id(7, "Ellery")`.
//! It is parsed here and never evaluated: anything that is not exactly one known
//! action with its arguments is refused with what was expected.
//!
//! What models do to such a call is put up with where only one thing can be meant:
//! `await browser.` before it, backticks or a code fence round it, a semicolon after it,
//! names before arguments, single quotes, an id in quotes or brackets, a last argument
//! without quotes or with unescaped ones in it. Writing an action and parsing what was
//! written gives the action again.

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};

/// One action on a page.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "action", rename_all = "snake_case", deny_unknown_fields)]
pub enum Action {
    /// Puts `text` into an input in place of what it holds: types into a text field,
    /// chooses an option, sets a date, checks or unchecks (`true`, `false`), or attaches
    /// a file of the workspace, as the element needs.
    FillInputId {
        /// The element's id.
        id: u32,
        /// What to put in.
        text: String,
    },
    /// Clicks an element.
    ClickId {
        /// The element's id.
        id: u32,
    },
    /// Moves the pointer over an element.
    HoverId {
        /// The element's id.
        id: u32,
    },
    /// Clicks an element that downloads, and puts the file into the workspace.
    DownloadFileId {
        /// The element's id.
        id: u32,
    },
    /// Scrolls to the top of the page.
    ScrollToTop,
    /// Scrolls to its bottom; a page that grows is followed once.
    ScrollToBottom,
    /// Scrolls one screen up.
    ScrollUp,
    /// Scrolls one screen down.
    ScrollDown,
    /// Goes back in the history.
    Back,
    /// Ends browsing.
    Stop,
    /// Tells the address of the page.
    GetUrl,
    /// Scrolls to the next place where the page has that text.
    FindTextOnPage {
        /// What to look for; case and runs of spaces do not matter.
        text: String,
    },
    /// Opens an address.
    VisitPage {
        /// The address.
        url: String,
    },
    /// Clicks beside all elements, which closes menus and pop-ups.
    ClickBlankArea,
    /// Asks about the video of the page.
    AskQuestionAboutVideo {
        /// The question.
        question: String,
    },
}

/// Why a text is no action. The message is read by the model.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct ActionError(pub String);

/// What an action takes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Takes {
    Nothing,
    Id,
    IdAndText,
    Text,
}

/// Every action: its name, what it takes, the names that its text goes by, and how it is
/// written.
const ACTIONS: [(&str, Takes, &[&str], &str); 15] = [
    ("fill_input_id", Takes::IdAndText, &["text", "value"], "fill_input_id(7, \"text\")"),
    ("click_id", Takes::Id, &[], "click_id(12)"),
    ("hover_id", Takes::Id, &[], "hover_id(12)"),
    ("download_file_id", Takes::Id, &[], "download_file_id(12)"),
    ("scroll_to_top", Takes::Nothing, &[], "scroll_to_top()"),
    ("scroll_to_bottom", Takes::Nothing, &[], "scroll_to_bottom()"),
    ("scroll_up", Takes::Nothing, &[], "scroll_up()"),
    ("scroll_down", Takes::Nothing, &[], "scroll_down()"),
    ("back", Takes::Nothing, &[], "back()"),
    ("stop", Takes::Nothing, &[], "stop()"),
    ("get_url", Takes::Nothing, &[], "get_url()"),
    (
        "find_text_on_page",
        Takes::Text,
        &["search_text", "text", "query"],
        "find_text_on_page(\"text\")",
    ),
    ("visit_page", Takes::Text, &["url", "address"], "visit_page(\"https://example.com/\")"),
    ("click_blank_area", Takes::Nothing, &[], "click_blank_area()"),
    (
        "ask_question_about_video",
        Takes::Text,
        &["question"],
        "ask_question_about_video(\"question\")",
    ),
];

/// The names that an id goes by.
const IDS: [&str; 4] = ["identifier", "id", "element_id", "identifier_id"];

/// The longest text that is looked at, in bytes.
const LONGEST: usize = 100_000;

impl Action {
    /// Returns its name, as in `click_id`.
    #[must_use]
    pub fn name(&self) -> &'static str {
        match self {
            Self::FillInputId { .. } => "fill_input_id",
            Self::ClickId { .. } => "click_id",
            Self::HoverId { .. } => "hover_id",
            Self::DownloadFileId { .. } => "download_file_id",
            Self::ScrollToTop => "scroll_to_top",
            Self::ScrollToBottom => "scroll_to_bottom",
            Self::ScrollUp => "scroll_up",
            Self::ScrollDown => "scroll_down",
            Self::Back => "back",
            Self::Stop => "stop",
            Self::GetUrl => "get_url",
            Self::FindTextOnPage { .. } => "find_text_on_page",
            Self::VisitPage { .. } => "visit_page",
            Self::ClickBlankArea => "click_blank_area",
            Self::AskQuestionAboutVideo { .. } => "ask_question_about_video",
        }
    }

    /// Makes the action of that name; nothing where it takes something else.
    fn build(name: &str, id: Option<u32>, text: Option<String>) -> Option<Self> {
        Some(match (name, id, text) {
            ("fill_input_id", Some(id), Some(text)) => Self::FillInputId { id, text },
            ("click_id", Some(id), None) => Self::ClickId { id },
            ("hover_id", Some(id), None) => Self::HoverId { id },
            ("download_file_id", Some(id), None) => Self::DownloadFileId { id },
            ("find_text_on_page", None, Some(text)) => Self::FindTextOnPage { text },
            ("visit_page", None, Some(url)) => Self::VisitPage { url },
            ("ask_question_about_video", None, Some(question)) => {
                Self::AskQuestionAboutVideo { question }
            }
            ("scroll_to_top", None, None) => Self::ScrollToTop,
            ("scroll_to_bottom", None, None) => Self::ScrollToBottom,
            ("scroll_up", None, None) => Self::ScrollUp,
            ("scroll_down", None, None) => Self::ScrollDown,
            ("back", None, None) => Self::Back,
            ("stop", None, None) => Self::Stop,
            ("get_url", None, None) => Self::GetUrl,
            ("click_blank_area", None, None) => Self::ClickBlankArea,
            _ => return None,
        })
    }
}

/// Writes the call that parses to the same action.
impl fmt::Display for Action {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let name = self.name();
        match self {
            Self::FillInputId { id, text } => write!(f, "{name}({id}, {})", quoted(text)),
            Self::ClickId { id } | Self::HoverId { id } | Self::DownloadFileId { id } => {
                write!(f, "{name}({id})")
            }
            Self::FindTextOnPage { text }
            | Self::VisitPage { url: text }
            | Self::AskQuestionAboutVideo { question: text } => {
                write!(f, "{name}({})", quoted(text))
            }
            Self::ScrollToTop
            | Self::ScrollToBottom
            | Self::ScrollUp
            | Self::ScrollDown
            | Self::Back
            | Self::Stop
            | Self::GetUrl
            | Self::ClickBlankArea => write!(f, "{name}()"),
        }
    }
}

/// A text in quotes, as JSON has them.
fn quoted(text: &str) -> String {
    serde_json::Value::from(text).to_string()
}

impl FromStr for Action {
    type Err = ActionError;

    /// Parses a call as a model writes it.
    fn from_str(text: &str) -> Result<Self, ActionError> {
        if text.len() > LONGEST {
            return Err(ActionError(format!(
                "the action has {} bytes, of at most {LONGEST}",
                text.len()
            )));
        }
        let call = bare(text);
        let end = call.find(|c: char| !(c.is_alphanumeric() || c == '_')).unwrap_or(call.len());
        let (name, rest) = call.split_at(end);
        if name.is_empty() {
            return Err(none(call));
        }
        let Some((name, takes, names, usage)) =
            ACTIONS.iter().find(|(known, ..)| known.eq_ignore_ascii_case(name)).copied()
        else {
            return Err(unknown(name));
        };
        let refuse = |why: &str| ActionError(format!("`{name}` {why}; write it as `{usage}`"));
        let arguments = match within(rest) {
            Ok(arguments) => arguments,
            Err(why) => return Err(refuse(why)),
        };
        let given = read(arguments, takes, names).map_err(|why| refuse(&why))?;
        Self::build(name, given.id, given.text).ok_or_else(|| refuse(expected(takes)))
    }
}

/// Takes off what models put round a call.
fn bare(text: &str) -> &str {
    let mut text = text.trim();
    if let Some(fenced) = text.strip_prefix("```") {
        let inner = fenced.strip_suffix("```").unwrap_or(fenced);
        // The first line names the language.
        let language =
            inner.find('\n').filter(|&at| inner[..at].chars().all(char::is_alphanumeric));
        text = language.map_or(inner, |at| &inner[at..]).trim();
    }
    text = text.trim_matches('`').trim();
    for prefix in ["await ", "self.", "browser.", "page."] {
        text = text.strip_prefix(prefix).unwrap_or(text).trim_start();
    }
    text.trim_end_matches([';', ' ', '\n', '\r', '\t']).trim_matches('`').trim()
}

/// Returns what is between the brackets of a call.
fn within(rest: &str) -> Result<&str, &'static str> {
    let rest = rest.trim();
    if rest.is_empty() {
        // `stop` alone is as clear as `stop()`.
        return Ok("");
    }
    let Some(inner) = rest.strip_prefix('(') else {
        return Err("is followed by something that is no list of arguments");
    };
    inner.strip_suffix(')').map(str::trim).ok_or("must end with `)`, and be the only action")
}

/// What a call gives.
#[derive(Debug, Default)]
struct Given {
    id: Option<u32>,
    text: Option<String>,
}

/// Reads the arguments of a call.
fn read(arguments: &str, takes: Takes, names: &[&str]) -> Result<Given, String> {
    let mut given = Given::default();
    let mut rest = arguments;
    if matches!(takes, Takes::Id | Takes::IdAndText) {
        let (value, after) = id(strip_name(rest, &IDS))?;
        given.id = Some(value);
        rest = after.trim_start();
        if takes == Takes::IdAndText {
            let Some(after) = rest.strip_prefix(',') else {
                return Err(expected(takes).to_owned());
            };
            rest = after.trim_start();
        }
    }
    if matches!(takes, Takes::Text | Takes::IdAndText) {
        let value = strip_name(rest, names);
        if value.is_empty() {
            return Err(expected(takes).to_owned());
        }
        given.text = Some(last_text(value)?);
        return Ok(given);
    }
    match rest.trim_matches([',', ' ']) {
        "" => Ok(given),
        more => Err(format!("takes no `{}`", cut(more))),
    }
}

/// Takes off `text=` or `text:` before an argument.
fn strip_name<'a>(text: &'a str, names: &[&str]) -> &'a str {
    let end = text.find(|c: char| !(c.is_ascii_alphanumeric() || c == '_')).unwrap_or(text.len());
    let (name, rest) = text.split_at(end);
    let value = rest.trim_start();
    match value.strip_prefix('=').or_else(|| value.strip_prefix(':')) {
        Some(value) if names.contains(&name) => value.trim_start(),
        _ => text,
    }
}

/// Reads an id, in quotes or brackets or without; returns what comes after it.
fn id(text: &str) -> Result<(u32, &str), String> {
    let wrong = || format!("takes the number of an element, not `{}`", cut(text));
    let opening = text.chars().next().filter(|c| ['"', '\'', '['].contains(c));
    let body = opening.map_or(text, |_| &text[1..]);
    let body = body.strip_prefix('[').unwrap_or(body);
    let end = body.find(|c: char| !c.is_ascii_digit()).unwrap_or(body.len());
    let number: u32 = body[..end].parse().map_err(|_| wrong())?;
    let mut rest = &body[end..];
    if let Some(opening) = opening {
        rest = rest.strip_prefix(']').unwrap_or(rest);
        if opening != '[' {
            rest = rest.strip_prefix(opening).ok_or_else(wrong)?;
        }
    }
    let next = rest.trim_start();
    if next.is_empty() || next.starts_with(',') { Ok((number, rest)) } else { Err(wrong()) }
}

/// Reads the last argument of a call, which is a text.
fn last_text(value: &str) -> Result<String, String> {
    for quote in ["\"\"\"", "'''", "\"", "'", "“"] {
        let Some(inner) = value.strip_prefix(quote) else { continue };
        let closing = if quote == "“" { "”" } else { quote };
        if let Some((text, after)) = unquote(inner, closing) {
            let more = after.trim_matches([',', ' ', '\n']);
            if more.is_empty() {
                return Ok(text);
            }
            if after.trim_start().starts_with(',') {
                return Err(format!("takes no `{}`", cut(more)));
            }
        }
        // Quotes inside that are not escaped: all up to the last one is the text.
        if let Some(end) = value.rfind(closing).filter(|&end| end >= quote.len()) {
            let after = value[end + closing.len()..].trim();
            if after.is_empty() {
                return Ok(unescape(&value[quote.len()..end]));
            }
        }
        return Err("has a text whose quotes do not end".into());
    }
    Ok(value.trim_end_matches(',').trim().to_owned())
}

/// Reads up to the closing quote; returns the text and what comes after it.
fn unquote<'a>(inner: &'a str, closing: &str) -> Option<(String, &'a str)> {
    let mut at = 0;
    while at < inner.len() {
        let rest = &inner[at..];
        if let Some(after) = rest.strip_prefix(closing) {
            return Some((unescape(&inner[..at]), after));
        }
        let mut letters = rest.chars();
        let letter = letters.next()?;
        at += letter.len_utf8();
        if letter == '\\' {
            at += letters.next().map_or(0, char::len_utf8);
        }
    }
    None
}

/// Resolves backslashes as JSON and Python do; others stay as they are.
fn unescape(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(at) = rest.find('\\') {
        out.push_str(&rest[..at]);
        rest = &rest[at + 1..];
        let Some(letter) = rest.chars().next() else {
            out.push('\\');
            break;
        };
        rest = &rest[letter.len_utf8()..];
        match letter {
            'n' => out.push('\n'),
            't' => out.push('\t'),
            'r' => out.push('\r'),
            'b' => out.push('\u{8}'),
            'f' => out.push('\u{c}'),
            '"' | '\'' | '\\' | '/' => out.push(letter),
            'u' => rest = unicode(rest, &mut out),
            other => {
                out.push('\\');
                out.push(other);
            }
        }
    }
    out.push_str(rest);
    out
}

/// Reads the four digits of `\u`, or the eight of a pair; returns what comes after.
fn unicode<'a>(rest: &'a str, out: &mut String) -> &'a str {
    let unit = |text: &str| text.get(..4).and_then(|digits| u32::from_str_radix(digits, 16).ok());
    let Some(first) = unit(rest) else {
        out.push_str("\\u");
        return rest;
    };
    let after = &rest[4..];
    if (0xd800..0xdc00).contains(&first)
        && let Some(second) = after.strip_prefix("\\u").and_then(unit)
        && (0xdc00..0xe000).contains(&second)
    {
        let whole = 0x10000 + ((first - 0xd800) << 10) + (second - 0xdc00);
        out.push(char::from_u32(whole).unwrap_or(char::REPLACEMENT_CHARACTER));
        return &after[6..];
    }
    out.push(char::from_u32(first).unwrap_or(char::REPLACEMENT_CHARACTER));
    after
}

fn expected(takes: Takes) -> &'static str {
    match takes {
        Takes::Nothing => "takes nothing",
        Takes::Id => "takes the number of an element",
        Takes::IdAndText => "takes the number of an element and a text",
        Takes::Text => "takes a text",
    }
}

fn none(call: &str) -> ActionError {
    if call.is_empty() {
        return ActionError("there is no action; write one, such as `click_id(12)`".into());
    }
    ActionError(format!(
        "`{}` is no action; write exactly one call, such as `click_id(12)`",
        cut(call)
    ))
}

fn unknown(name: &str) -> ActionError {
    let low = name.to_lowercase();
    let nearest = ACTIONS
        .iter()
        .map(|(known, ..)| (strsim::normalized_damerau_levenshtein(&low, known), *known))
        .max_by(|a, b| a.0.total_cmp(&b.0))
        .filter(|(likeness, _)| *likeness >= 0.5);
    let hint = nearest.map_or_else(String::new, |(_, known)| format!("; did you mean `{known}`?"));
    let all: Vec<&str> = ACTIONS.iter().map(|(name, ..)| *name).collect();
    ActionError(format!("`{}` is no action{hint} The actions are {}", cut(name), all.join(", ")))
}

fn cut(text: &str) -> String {
    match text.char_indices().nth(60) {
        None => text.to_owned(),
        Some((at, _)) => format!("{}…", &text[..at]),
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn fill(id: u32, text: &str) -> Action {
        Action::FillInputId { id, text: text.into() }
    }

    fn find(text: &str) -> Action {
        Action::FindTextOnPage { text: text.into() }
    }

    #[test]
    fn calls_as_models_write_them() {
        let table = [
            ("click_id(12)", Action::ClickId { id: 12 }, "plain"),
            ("click_id(\"12\")", Action::ClickId { id: 12 }, "an id in quotes"),
            ("click_id([12])", Action::ClickId { id: 12 }, "an id in brackets, as it is shown"),
            ("click_id(identifier=12)", Action::ClickId { id: 12 }, "a name"),
            ("  await browser.click_id( 12 ) ; ", Action::ClickId { id: 12 }, "as Python"),
            ("`click_id(12)`", Action::ClickId { id: 12 }, "backticks"),
            ("```python\nclick_id(12)\n```", Action::ClickId { id: 12 }, "a fence"),
            ("Click_Id(12)", Action::ClickId { id: 12 }, "capitals"),
            ("fill_input_id(7, \"Ellery\")", fill(7, "Ellery"), "two arguments"),
            ("fill_input_id(7,'x')", fill(7, "x"), "single quotes"),
            (
                "fill_input_id(identifier=7, text=\"a, \\\"b\\\"\")",
                fill(7, "a, \"b\""),
                "names, a comma and escaped quotes",
            ),
            ("fill_input_id(7, Ann Lee, PhD)", fill(7, "Ann Lee, PhD"), "no quotes"),
            ("fill_input_id(7, \"say \"hi\" now\")", fill(7, "say \"hi\" now"), "bare quotes"),
            ("fill_input_id(7, \"it's (ok)\")", fill(7, "it's (ok)"), "brackets in a text"),
            ("fill_input_id(7, \"a\\nb\")", fill(7, "a\nb"), "a line break"),
            ("fill_input_id(7, \"\")", fill(7, ""), "an empty text empties a field"),
            ("fill_input_id(7, 2026-03-09)", fill(7, "2026-03-09"), "a date without quotes"),
            ("find_text_on_page(\"\\u4f60\\ud83c\\udf89\")", find("你🎉"), "escapes"),
            ("find_text_on_page(“你好”)", find("你好"), "curly quotes"),
            ("find_text_on_page(\"C:\\dir\")", find("C:\\dir"), "a backslash that escapes nothing"),
            ("stop", Action::Stop, "no brackets"),
            ("stop()", Action::Stop, "brackets"),
            (
                "visit_page(url=https://a.test/?q=1,2)",
                Action::VisitPage { url: "https://a.test/?q=1,2".into() },
                "an address without quotes",
            ),
        ];
        for (text, want, why) in table {
            assert_eq!(text.parse(), Ok(want), "{text}: {why}");
        }
    }

    #[test]
    fn anything_else_is_refused_with_what_was_expected() {
        let table = [
            ("", "there is no action", "empty"),
            ("clik_id(12)", "did you mean `click_id`", "misspelt"),
            ("I will click the button", "is no action", "prose"),
            ("{\"action\": \"x\"}", "write exactly one call", "JSON"),
            ("os.system('rm')", "is no action", "code"),
            ("click_id()", "number of an element", "no id"),
            ("click_id(Search)", "number of an element", "a name for an id"),
            ("click_id(-1)", "number of an element", "negative"),
            ("click_id(99999999999)", "number of an element", "too large"),
            ("click_id(12, 13)", "takes no `13`", "one too many"),
            ("click_id(12) click_id(13)", "number of an element", "two actions"),
            ("click_id(12); stop()", "number of an element", "two actions in a row"),
            ("click_id(12", "only action", "no end"),
            ("fill_input_id(7)", "an element and a text", "no text"),
            ("fill_input_id(7, \"a\", \"b\")", "takes no", "a third argument"),
            ("fill_input_id(7, \"a)", "quotes do not end", "an open quote"),
            ("visit_page()", "takes a text", "no address"),
            ("stop(now)", "takes no `now`", "something for an action that takes nothing"),
            ("stop the browser", "no list of arguments", "a word that starts like one"),
        ];
        for (text, word, why) in table {
            let error = text.parse::<Action>().expect_err(why).to_string();
            assert!(error.contains(word), "{text}: {error} ({why})");
        }
    }

    #[test]
    fn as_json_it_is_named_too() {
        let action: Action =
            serde_json::from_str(r#"{"action":"fill_input_id","id":7,"text":"x"}"#).unwrap();
        assert_eq!(action, fill(7, "x"));
        assert_eq!(serde_json::to_value(Action::ScrollUp).unwrap()["action"], "scroll_up");
        assert!(serde_json::from_str::<Action>(r#"{"action":"click_id","id":7,"x":1}"#).is_err());
    }

    fn any_action() -> impl Strategy<Value = Action> {
        let text = "\\PC{0,40}|[\"'\\\\\\n\\r\\t,() `]{0,12}";
        (0..ACTIONS.len(), any::<u32>(), text).prop_map(|(index, id, text)| {
            let (name, takes, ..) = ACTIONS[index];
            let id = matches!(takes, Takes::Id | Takes::IdAndText).then_some(id);
            let text = matches!(takes, Takes::Text | Takes::IdAndText).then_some(text);
            Action::build(name, id, text).expect("all actions are listed")
        })
    }

    proptest! {
        #[test]
        fn what_is_written_parses_to_the_same(action in any_action()) {
            prop_assert_eq!(action.to_string().parse(), Ok(action));
        }

        #[test]
        fn nothing_panics(text in "\\PC{0,60}", tail in "[a-z_]{0,12}[(\"',\\\\)\\[\\]u0-9é ]{0,24}") {
            let _ = text.parse::<Action>();
            let _ = tail.parse::<Action>();
            let _ = format!("fill_input_id({text}{tail})").parse::<Action>();
            let _ = format!("find_text_on_page({tail}{text}").parse::<Action>();
        }
    }
}
