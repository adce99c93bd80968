//! What is said in a sound.

use std::sync::Arc;
use std::time::Duration;

use schemars::JsonSchema;
use serde::Deserialize;

use crate::error::ToolError;
use crate::footprint::Footprint;
use crate::source;
use crate::speech;
use crate::tool::{CallContext, Category, Output, Tool};

/// Writes down what is said in a sound.
#[derive(Debug, Default)]
pub struct Audio2Text;

/// Arguments of [`Audio2Text`].
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Args {
    /// Path of the sound in the workspace (`data/interview.mp3`), or an http(s) URL.
    audio_path: String,
}

impl Tool for Audio2Text {
    const NAME: &'static str = "audio2text";
    const DESCRIPTION: &'static str = "Write down what is said in a sound: mp3, wav, m4a, flac, \
        ogg, opus, amr, wma and other formats, and the sound of a video. Returns the words with \
        the times at which they are said, the length, the language, and who heard them. Long \
        recordings are heard whole. The type is told from the content, not the name.";
    const CATEGORY: Category = Category::MultimodalUnderstanding;
    const EXAMPLE: &'static str = r#"{"audio_path": "data/interview.mp3"}"#;
    type Args = Args;

    fn footprint(&self, args: &Args) -> Footprint {
        source::footprint(&args.audio_path)
    }

    fn cost(&self, _: &Args) -> Duration {
        Duration::from_secs(10)
    }

    async fn call(&self, context: &Arc<CallContext>, args: Args) -> Result<Output, ToolError> {
        let file = source::load(context, &args.audio_path).await?;
        let recording = speech::open(context, &file).await?;
        let heard = speech::listen(context, Self::NAME, &recording, &file).await?;
        Ok(speech::report(&file.name, &recording, &heard).into())
    }
}
