//! What a person would do on the pages of one `browse_url` call, step by step.
//!
//! A step names things by what is seen (`click = "Sign in"`), never by ids, so one list
//! serves both ways in which pages are offered: answered to the navigator of `browse_url`,
//! and made as page actions of the agent's own.
//!
//! [`NavigationStep`] is a step as written, [`Step`] as meant; what is not exactly one
//! action with what belongs to it has no meaning.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::SolutionCall;
use super::expression::{ExpressionError, Syntax, evaluate};
use super::results::Results;

/// One step of `navigate`, as written: exactly one of the actions, with what belongs to it.
/// All texts may hold `{{ … }}` over the results of earlier rounds.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct NavigationStep {
    /// Puts `text` into the field of that name: types, chooses an option, sets a date,
    /// checks (`true`) or unchecks (`false`), or attaches a file of the workspace.
    #[schemars(extend("format" = "line"))]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub fill: Option<String>,
    /// Clicks what has that name.
    #[schemars(extend("format" = "line"))]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub click: Option<String>,
    /// Moves the pointer over what has that name.
    #[schemars(extend("format" = "line"))]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub hover: Option<String>,
    /// Clicks what has that name and keeps the file that comes.
    #[schemars(extend("format" = "line"))]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub download: Option<String>,
    /// Scrolls to the next place with that text.
    #[schemars(extend("format" = "line"))]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub find: Option<String>,
    /// Opens that address.
    #[schemars(extend("format" = "line"))]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub visit: Option<String>,
    /// Asks about the video of the page; the reply becomes part of the result.
    #[schemars(extend("format" = "line"))]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub ask: Option<String>,
    /// Goes back in the history.
    #[schemars(extend("const" = true))]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub back: Option<bool>,
    /// Clicks beside everything, which closes menus and pop-ups.
    #[schemars(extend("const" = true))]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub blank: Option<bool>,
    /// Scrolls.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub scroll: Option<Direction>,
    /// Takes text of the page into the result.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub read: Option<Extent>,

    /// With `fill`: what to put in; may be empty.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub text: Option<String>,
    /// With a name: the role that it must have, such as `button`, `link`, `textbox`.
    #[schemars(extend("format" = "line"))]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub role: Option<String>,
    /// With a name: which of several that fit, from 1 in reading order.
    #[schemars(range(min = 1))]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub nth: Option<u32>,
    /// With a name: a part of the name or address of the frame that it must lie in.
    #[schemars(extend("format" = "line"))]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub frame: Option<String>,
}

/// Where to scroll.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Direction {
    /// To the top.
    Top,
    /// To the bottom.
    Bottom,
    /// One screen up.
    Up,
    /// One screen down.
    Down,
}

/// What of a page to read.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Extent {
    /// What the window shows.
    Window,
    /// All of it: from the top, screen by screen.
    Page,
    /// Its address.
    Address,
}

/// A thing on a page, as a person would point it out.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Target {
    /// Its name: equal, else a part of it; case and runs of spaces do not matter. `*` is
    /// any name.
    pub name: String,
    /// The role that it must have.
    pub role: Option<String>,
    /// Which of several that fit, from 1; without it there must be one only.
    pub nth: Option<u32>,
    /// A part of the name or address of its frame.
    pub frame: Option<String>,
}

/// One step, as meant.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Step {
    /// Put a text into something.
    Fill(Target, String),
    /// Click something.
    Click(Target),
    /// Move the pointer over something.
    Hover(Target),
    /// Click something that downloads.
    Download(Target),
    /// Scroll to a text.
    Find(String),
    /// Open an address.
    Visit(String),
    /// Ask about the video.
    Ask(String),
    /// Go back.
    Back,
    /// Click beside everything.
    Blank,
    /// Scroll.
    Scroll(Direction),
    /// Take text into the result.
    Read(Extent),
}

/// The actions of a step, for messages.
const ACTIONS: &str = "`fill`, `click`, `hover`, `download`, `find`, `visit`, `ask`, `back`, \
    `blank`, `scroll`, `read`";

impl NavigationStep {
    /// Returns what the step means, or the field that is wrong (empty for the step as a
    /// whole) and why.
    pub(crate) fn meant(&self) -> Result<Step, (&'static str, String)> {
        let named = |name: &Option<String>| {
            let Self { role, nth, frame, .. } = self.clone();
            name.clone().map(|name| Target { name, role, nth, frame })
        };
        let text = |text: &Option<String>| text.clone();
        let fill = self.text.clone().unwrap_or_default();
        let all = [
            named(&self.fill).map(|target| Step::Fill(target, fill)),
            named(&self.click).map(Step::Click),
            named(&self.hover).map(Step::Hover),
            named(&self.download).map(Step::Download),
            text(&self.find).map(Step::Find),
            text(&self.visit).map(Step::Visit),
            text(&self.ask).map(Step::Ask),
            self.back.map(|_| Step::Back),
            self.blank.map(|_| Step::Blank),
            self.scroll.map(Step::Scroll),
            self.read.map(Step::Read),
        ];
        let mut all = all.into_iter().flatten();
        let (Some(step), None) = (all.next(), all.next()) else {
            return Err(("", format!("expected exactly one of {ACTIONS}")));
        };
        match (&step, &self.text) {
            (Step::Fill(..), None) => {
                return Err(("text", "missing; expected what to put in, or \"\"".to_owned()));
            }
            (Step::Fill(..), Some(_)) | (_, None) => {}
            (_, Some(_)) => return Err(("text", "belongs to `fill` only".to_owned())),
        }
        let extra = [
            ("role", self.role.is_some()),
            ("nth", self.nth.is_some()),
            ("frame", self.frame.is_some()),
        ];
        match extra.into_iter().find(|(_, given)| *given && step.target().is_none()) {
            Some((field, _)) => {
                Err((field, "belongs to `fill`, `click`, `hover` and `download` only".to_owned()))
            }
            None => Ok(step),
        }
    }

    /// Returns the texts of the step, each with its field; all are templates.
    pub(crate) fn texts(&self) -> impl Iterator<Item = (&'static str, &str)> {
        let all = [
            ("fill", &self.fill),
            ("click", &self.click),
            ("hover", &self.hover),
            ("download", &self.download),
            ("find", &self.find),
            ("visit", &self.visit),
            ("ask", &self.ask),
            ("text", &self.text),
            ("frame", &self.frame),
        ];
        all.into_iter().filter_map(|(field, text)| Some((field, text.as_deref()?)))
    }
}

impl Step {
    /// Returns the thing that the step names.
    #[must_use]
    pub fn target(&self) -> Option<&Target> {
        match self {
            Self::Fill(target, _)
            | Self::Click(target)
            | Self::Hover(target)
            | Self::Download(target) => Some(target),
            Self::Find(_)
            | Self::Visit(_)
            | Self::Ask(_)
            | Self::Back
            | Self::Blank
            | Self::Scroll(_)
            | Self::Read(_) => None,
        }
    }

    /// Puts computed texts in place of the written ones.
    fn computed(self, compute: &impl Fn(&str) -> Result<String, String>) -> Result<Self, String> {
        let target = |target: Target| {
            let frame = target.frame.as_deref().map(compute).transpose()?;
            Ok::<_, String>(Target { name: compute(&target.name)?, frame, ..target })
        };
        Ok(match self {
            Self::Fill(what, text) => Self::Fill(target(what)?, compute(&text)?),
            Self::Click(what) => Self::Click(target(what)?),
            Self::Hover(what) => Self::Hover(target(what)?),
            Self::Download(what) => Self::Download(target(what)?),
            Self::Find(text) => Self::Find(compute(&text)?),
            Self::Visit(url) => Self::Visit(compute(&url)?),
            Self::Ask(question) => Self::Ask(compute(&question)?),
            plain @ (Self::Back | Self::Blank | Self::Scroll(_) | Self::Read(_)) => plain,
        })
    }
}

impl SolutionCall {
    /// Computes the steps of the call from the results of earlier rounds.
    pub fn steps(&self, results: &Results) -> Result<Vec<Step>, ExpressionError> {
        let compute = |text: &str| {
            let value = evaluate(Syntax::Template, text, results)?;
            Ok(value.to_string())
        };
        let step = |(index, written): (usize, &NavigationStep)| {
            let place = format!("{}.navigate[{index}]", self.name);
            let fail = |problem| ExpressionError { place: place.clone(), problem };
            let step = written.meant().map_err(|(field, problem)| {
                fail(if field.is_empty() { problem } else { format!("`{field}`: {problem}") })
            })?;
            step.computed(&compute).map_err(fail)
        };
        self.navigate.iter().enumerate().map(step).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn call(steps: &str) -> SolutionCall {
        let text = format!("name = \"c\"\ntool = \"browse_url\"\nnavigate = [{steps}]");
        toml::from_str(&text).unwrap()
    }

    #[test]
    fn a_step_is_one_action_with_what_belongs_to_it() {
        let target = |name: &str| Target { name: name.into(), role: None, nth: None, frame: None };
        let button = Target { role: Some("button".into()), nth: Some(2), ..target("Go") };
        let mut results = Results::default();
        results.succeeded("page", "code: 77");
        let table = [
            ("fill = \"Name\", text = \"Ellery\"", Ok(Step::Fill(target("Name"), "Ellery".into()))),
            ("fill = \"Name\", text = \"\"", Ok(Step::Fill(target("Name"), String::new()))),
            ("click = \"Go\", role = \"button\", nth = 2", Ok(Step::Click(button))),
            ("find = \"{{ page | regex('[0-9]+') }} x\"", Ok(Step::Find("77 x".into()))),
            ("back = true", Ok(Step::Back)),
            ("scroll = \"down\"", Ok(Step::Scroll(Direction::Down))),
            ("read = \"page\"", Ok(Step::Read(Extent::Page))),
            ("", Err("expected exactly one of `fill`, `click`")),
            ("click = \"a\", hover = \"a\"", Err("expected exactly one of `fill`, `click`")),
            ("fill = \"a\"", Err("c.navigate[0]: `text`: missing")),
            ("click = \"a\", text = \"b\"", Err("`text`: belongs to `fill` only")),
            ("find = \"a\", nth = 1", Err("`nth`: belongs to `fill`, `click`")),
            ("visit = \"{{ nowhere }}\"", Err("call `nowhere` has not been made")),
        ];
        for (written, want) in table {
            let got = call(&format!("{{ {written} }}")).steps(&results);
            match (got, want) {
                (Ok(got), Ok(want)) => assert_eq!(got, [want], "{written}"),
                (Err(got), Err(want)) => {
                    assert!(got.to_string().contains(want), "{written}: {got}");
                }
                (got, _) => panic!("{written}: {got:?}"),
            }
        }
    }
}
