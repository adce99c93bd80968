//! A picture in words: as a model sees it, else the text that is recognised in it.

use std::sync::Arc;
use std::time::Duration;

use schemars::JsonSchema;
use serde::Deserialize;

use crate::error::ToolError;
use crate::footprint::Footprint;
use crate::sight::{self, Request, Want};
use crate::source;
use crate::tool::{CallContext, Category, Output, Tool};

/// Describes a picture.
#[derive(Debug, Default)]
pub struct ImageToText;

/// Arguments of [`ImageToText`].
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Args {
    /// Path of the picture in the workspace (`photos/menu.jpg`), or an http(s) or data URL.
    image_path: String,
    /// How the picture is to be described, such as `Transcribe the table as CSV.` Left out:
    /// what it shows, then all text in it.
    #[serde(default)]
    sys_prompt: Option<String>,
}

impl Tool for ImageToText {
    const NAME: &'static str = "image_to_text";
    const DESCRIPTION: &'static str = "Describe a picture (PNG, JPEG, GIF, WebP, TIFF, BMP, SVG, \
        HEIC, AVIF): what it shows and the text in it. A model looks at it; where none that sees \
        is at hand, the text in it is recognised (English and Chinese), and the result says so. Of \
        animations the first frame is taken, of several pages the first.";
    const CATEGORY: Category = Category::MultimodalUnderstanding;
    const EXAMPLE: &'static str = r#"{"image_path": "photos/menu.jpg"}"#;
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
            want: Want::Description,
            prompt: args.sys_prompt.as_deref(),
        };
        sight::answer(context, &request).await.map(Output::from)
    }
}
