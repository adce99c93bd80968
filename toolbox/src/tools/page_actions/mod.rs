//! The page actions as tools of the agent's own; the fifteenth, `ask_question_about_video`,
//! takes files too and is a tool beside them.
//!
//! One table: each row is a tool. What an action does is the browser's matter; here it gets
//! a name, words for the model, its arguments and its footprint, and its result is what can
//! be seen afterwards. Nothing is remembered between calls but the browser itself, which is
//! the attempt's.

mod arguments;
pub(super) mod video;

use std::sync::Arc;
use std::time::Duration;

use serde_json::{Value, json};
use wildgym_sandbox::browser::{Action, Browser, Visit};
use wildgym_sandbox::web::WebError;
use wildgym_tasks::environment::BrowserMode;

use self::arguments::{Address, Element, Field, Nothing, Read, Search};
use crate::error::ToolError;
use crate::footprint::Footprint;
use crate::tool::{AnyTool, CallContext, Category, Output, Prepared};

/// One page action, offered where pages are offered directly.
#[derive(Debug, Clone, Copy)]
pub struct PageAction {
    name: &'static str,
    description: &'static str,
    example: &'static str,
    parameters: fn() -> Value,
    read: Read,
    touches: Touches,
}

/// What an action touches beside the browser.
#[derive(Debug, Clone, Copy)]
enum Touches {
    /// Nothing.
    Page,
    /// A file that is attached.
    Upload,
    /// A file that may come: any click can begin a download.
    Download,
}

/// The actions, in the order in which a model is told of them.
const ALL: [PageAction; 14] = [
    PageAction {
        name: "visit_page",
        description: "Open an address in the browser. Like every page action it returns what the \
            browser shows then: address and title, the text in the window, and everything on the \
            page that can be acted on, each with its id in brackets. The browser keeps its pages, \
            tabs and logins until the task ends.",
        example: r#"{"url": "https://tarrowferries.example/fares"}"#,
        parameters: crate::schema::parameters::<Address>,
        read: arguments::visit,
        touches: Touches::Download,
    },
    PageAction {
        name: "click_id",
        description: "Click an element. If it opens a new tab, that tab is shown. Says what covers \
            the element, or that it is disabled or hidden, where it cannot be clicked.",
        example: r#"{"identifier": 12}"#,
        parameters: crate::schema::parameters::<Element>,
        read: |given| Element::read(given, |id| Action::ClickId { id }),
        touches: Touches::Download,
    },
    PageAction {
        name: "fill_input_id",
        description: "Put a text into a field in place of what it holds: types into text fields, \
            chooses the option with that label, sets a date (`2026-03-05`), checks (`true`) or \
            unchecks (`false`), attaches a file of the workspace.",
        example: r#"{"identifier": 14, "text": "Port Ellery"}"#,
        parameters: crate::schema::parameters::<Field>,
        read: arguments::fill,
        touches: Touches::Upload,
    },
    PageAction {
        name: "hover_id",
        description: "Move the pointer over an element, which opens some menus and hints.",
        example: r#"{"identifier": 12}"#,
        parameters: crate::schema::parameters::<Element>,
        read: |given| Element::read(given, |id| Action::HoverId { id }),
        touches: Touches::Page,
    },
    PageAction {
        name: "download_file_id",
        description: "Click an element that downloads, wait for the file and put it into the \
            workspace; the result names its path.",
        example: r#"{"identifier": 31}"#,
        parameters: crate::schema::parameters::<Element>,
        read: |given| Element::read(given, |id| Action::DownloadFileId { id }),
        touches: Touches::Download,
    },
    plain("scroll_to_top", "Scroll to the top of the page.", |given| {
        Nothing::read(given, Action::ScrollToTop)
    }),
    plain(
        "scroll_to_bottom",
        "Scroll to the bottom of the page; a page that then grows is followed once.",
        |given| Nothing::read(given, Action::ScrollToBottom),
    ),
    plain("scroll_up", "Scroll one screen up.", |given| Nothing::read(given, Action::ScrollUp)),
    plain("scroll_down", "Scroll one screen down.", |given| {
        Nothing::read(given, Action::ScrollDown)
    }),
    plain("back", "Go back in the history.", |given| Nothing::read(given, Action::Back)),
    plain("get_url", "Say the address of the page.", |given| Nothing::read(given, Action::GetUrl)),
    PageAction {
        name: "find_text_on_page",
        description: "Scroll to the next place where the page has a text; again for the one after.",
        example: r#"{"search_text": "opening hours"}"#,
        parameters: crate::schema::parameters::<Search>,
        read: arguments::find,
        touches: Touches::Page,
    },
    plain(
        "click_blank_area",
        "Click beside everything that can be acted on, which closes menus and pop-ups.",
        |given| Nothing::read(given, Action::ClickBlankArea),
    ),
    plain(
        "stop",
        "Close all pages and forget logins. Only needed to begin anew with an empty browser.",
        |given| Nothing::read(given, Action::Stop),
    ),
];

/// An action that takes nothing and stays on the page.
const fn plain(name: &'static str, description: &'static str, read: Read) -> PageAction {
    PageAction {
        name,
        description,
        example: "{}",
        parameters: crate::schema::parameters::<Nothing>,
        read,
        touches: Touches::Page,
    }
}

/// Returns the actions as tools.
pub(crate) fn all() -> impl Iterator<Item = Arc<dyn AnyTool>> {
    ALL.into_iter().map(|action| Arc::new(action) as Arc<dyn AnyTool>)
}

/// Returns the arguments of the call that does an action; the tool has the action's name.
#[must_use]
pub fn arguments_of(action: &Action) -> Value {
    match action {
        Action::FillInputId { id, text } => json!({ "identifier": id, "text": text }),
        Action::ClickId { id } | Action::HoverId { id } | Action::DownloadFileId { id } => {
            json!({ "identifier": id })
        }
        Action::FindTextOnPage { text } => json!({ "search_text": text }),
        Action::VisitPage { url } => json!({ "url": url }),
        Action::AskQuestionAboutVideo { question } => json!({ "question": question }),
        Action::ScrollToTop
        | Action::ScrollToBottom
        | Action::ScrollUp
        | Action::ScrollDown
        | Action::Back
        | Action::Stop
        | Action::GetUrl
        | Action::ClickBlankArea => json!({}),
    }
}

/// Returns the attempt's browser once it has a place; waiting for one is no working time.
pub(super) async fn browser(context: &CallContext) -> Result<&Browser, ToolError> {
    let browser = context.sandbox.browser.as_ref().ok_or(WebError::NoWeb)?;
    context.waiting(browser.ready()).await?;
    Ok(browser)
}

impl AnyTool for PageAction {
    fn name(&self) -> &str {
        self.name
    }

    fn description(&self) -> &str {
        self.description
    }

    fn category(&self) -> &str {
        Category::WebBrowsing.name()
    }

    fn example(&self) -> Value {
        serde_json::from_str(self.example).unwrap_or(Value::Null)
    }

    fn browser(&self) -> Option<BrowserMode> {
        Some(BrowserMode::Direct)
    }

    fn parameters(&self) -> Value {
        (self.parameters)()
    }

    fn prepare(self: Arc<Self>, arguments: Value) -> Result<Prepared, ToolError> {
        let action = (self.read)(arguments).map_err(|error| ToolError::BadArguments {
            tool: self.name.to_owned(),
            reason: error.to_string(),
        })?;
        let workspace = match self.touches {
            Touches::Page => Footprint::none(),
            Touches::Upload => Footprint::reads_workspace(),
            Touches::Download => Footprint::writes_workspace(),
        };
        Ok(Prepared {
            footprint: Footprint::uses_browser().and(workspace),
            cost: Duration::from_secs(1),
            run: Box::new(move |context| Box::pin(async move { run(&context, &action).await })),
        })
    }
}

/// Does an action and tells what can be seen then.
async fn run(context: &CallContext, action: &Action) -> Result<Output, ToolError> {
    if *action == Action::Stop {
        if let Some(browser) = &context.sandbox.browser {
            browser.close().await;
        }
        return Ok("the browser is closed; `visit_page` opens it anew".to_owned().into());
    }
    let browser = browser(context).await?;
    let visit = Visit { now: context.now, log: &context.accesses };
    Ok(browser.act(action, visit).await?.into())
}

#[cfg(test)]
mod tests {
    use super::*;

    /// What an action is called with reads back as the same action.
    #[test]
    fn every_action_is_the_tool_of_its_name() {
        let actions = [
            Action::FillInputId { id: 7, text: "Ellery".into() },
            Action::ClickId { id: 12 },
            Action::HoverId { id: 12 },
            Action::DownloadFileId { id: 31 },
            Action::ScrollToTop,
            Action::ScrollToBottom,
            Action::ScrollUp,
            Action::ScrollDown,
            Action::Back,
            Action::Stop,
            Action::GetUrl,
            Action::FindTextOnPage { text: "a \"b\"".into() },
            Action::VisitPage { url: "https://port.test/".into() },
            Action::ClickBlankArea,
        ];
        for action in &actions {
            let (name, arguments) = (action.name(), arguments_of(action));
            let tool = ALL.iter().find(|tool| tool.name == name).unwrap();
            assert_eq!((tool.read)(arguments).unwrap(), *action, "{name}");
        }
    }

    /// Three bad inputs for each action, none of which gets as far as the browser.
    #[test]
    fn bad_arguments_never_reach_a_page() {
        let catalog = crate::Catalog::all().unwrap();
        let fits = |name: &str, arguments: &Value| {
            let entry = catalog.entry(name).unwrap();
            entry.misfits(arguments).is_empty()
                && Arc::clone(&entry.tool).prepare(arguments.clone()).is_ok()
        };
        for tool in ALL {
            let good = tool.example();
            assert!(fits(tool.name, &good), "{}: its example", tool.name);
            let mut unknown = good.clone();
            unknown["wait"] = 5.into();
            let mut bad = vec![unknown, json!([good]), json!("go")];
            for name in good.as_object().unwrap().keys() {
                let mut missing = good.clone();
                missing.as_object_mut().unwrap().remove(name);
                let mut other = good.clone();
                other[name] = json!({ "id": 12 });
                bad.extend([missing, other]);
            }
            assert!(bad.len() >= 3);
            for arguments in bad {
                assert!(!fits(tool.name, &arguments), "{}: {arguments}", tool.name);
            }
        }
    }

    #[test]
    fn an_id_may_be_written_as_models_do() {
        for (id, want) in [
            (json!(12), Some(12)),
            (json!("12"), Some(12)),
            (json!("[12]"), Some(12)),
            (json!(-1), None),
            (json!("twelve"), None),
            (json!(""), None),
            (json!(1.5), None),
            (json!(99_999_999_999_u64), None),
        ] {
            let read = (ALL[1].read)(json!({ "identifier": id }));
            assert_eq!(read.ok(), want.map(|id| Action::ClickId { id }), "{id}");
        }
    }
}
