//! A question about a picture, answered by a model that sees it, else from the text that
//! is recognised in it.

use std::sync::Arc;
use std::time::Duration;

use schemars::JsonSchema;
use serde::Deserialize;

use crate::error::ToolError;
use crate::footprint::Footprint;
use crate::sight::{self, Request, Want};
use crate::source;
use crate::tool::{CallContext, Category, Output, Tool};

/// Answers a question about a picture.
#[derive(Debug, Default)]
pub struct AskQuestionAboutImage;

/// Arguments of [`AskQuestionAboutImage`].
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Args {
    /// Path of the picture in the workspace (`photos/menu.jpg`), or an http(s) or data URL.
    image_path: String,
    /// What you want to know about it.
    #[schemars(length(min = 1))]
    question: String,
    /// Instructions for who looks at it, in place of the usual ones.
    #[serde(default)]
    sys_prompt: Option<String>,
}

impl Tool for AskQuestionAboutImage {
    const NAME: &'static str = "ask_question_about_image";
    const DESCRIPTION: &'static str = "Ask a question about a picture (PNG, JPEG, GIF, WebP, TIFF, \
        BMP, SVG, HEIC, AVIF). A model looks at it; where none that sees is at hand, the answer \
        comes from the text that is recognised in it (English and Chinese), or is that text, and \
        the result says so.";
    const CATEGORY: Category = Category::MultimodalUnderstanding;
    const EXAMPLE: &'static str =
        r#"{"image_path": "photos/menu.jpg", "question": "What does the lentil soup cost?"}"#;
    type Args = Args;

    fn footprint(&self, args: &Args) -> Footprint {
        source::footprint(&args.image_path)
    }

    fn cost(&self, _: &Args) -> Duration {
        Duration::from_secs(5)
    }

    async fn call(&self, context: &Arc<CallContext>, args: Args) -> Result<Output, ToolError> {
        let request = Request {
            tool: Self::NAME,
            place: &args.image_path,
            want: Want::Answer(&args.question),
            prompt: args.sys_prompt.as_deref(),
        };
        sight::answer(context, &request).await.map(Output::from)
    }
}
