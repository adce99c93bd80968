//! Questions about a video: a file, an address, or the video of the page that is open.
//!
//! A file is looked at where its scene changes and in steps, and its subtitles and its
//! sound are put into words; a page is looked at in the browser. What the answer stands on
//! is said with it, and so is what was left out.

use std::sync::Arc;
use std::time::Duration;

use schemars::JsonSchema;
use serde::Deserialize;
use wildgym_sandbox::browser::{Action, Video, Visit};
use wildgym_sandbox::media::{Media, Recording, media};

use super::page_actions::{self, video};
use crate::error::ToolError;
use crate::footprint::Footprint;
use crate::source::{self, Source};
use crate::speech;
use crate::tool::{CallContext, Category, Output, Tool};

/// Frames of a file that are looked at.
const FRAMES: usize = 32;

/// Answers a question about a video.
#[derive(Debug, Default)]
pub struct AskQuestionAboutVideo;

/// Arguments of [`AskQuestionAboutVideo`].
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Args {
    /// What to find out.
    question: String,
    /// Path of the video in the workspace (`data/harbour.mp4`), or an http(s) URL of a video
    /// file or of a page with a video. Leave it out for the video of the page that is open,
    /// where pages are opened by `visit_page`.
    #[serde(default)]
    video_path: Option<String>,
}

impl Args {
    fn place(&self) -> Option<&str> {
        self.video_path.as_deref().map(str::trim).filter(|place| !place.is_empty())
    }
}

impl Tool for AskQuestionAboutVideo {
    const NAME: &'static str = "ask_question_about_video";
    const DESCRIPTION: &'static str = "Ask about a video: a file of the workspace, a URL, or the \
        video of the page that is open. A model looks at frames of it (where the scene changes \
        and in steps) and reads its captions and what is said in it; returns its answer, and on \
        what it stands.";
    const CATEGORY: Category = Category::WebBrowsing;
    const EXAMPLE: &'static str =
        r#"{"question": "When does the ship leave the quay?", "video_path": "data/harbour.mp4"}"#;
    type Args = Args;

    fn footprint(&self, args: &Args) -> Footprint {
        match args.place() {
            Some(place) if !source::is_remote(place) => source::footprint(place),
            // What an address leads to is known later: a file, or a page for the browser.
            Some(_) | None => Footprint::uses_browser(),
        }
    }

    fn cost(&self, _: &Args) -> Duration {
        Duration::from_secs(10)
    }

    async fn call(&self, context: &Arc<CallContext>, args: Args) -> Result<Output, ToolError> {
        video::asked(&args.question)?;
        let Some(place) = args.place() else {
            return open_page(context, &args.question).await.map(Output::from);
        };
        let file = source::load(context, place).await?;
        let known = matches!(media(&file.bytes), Some(Media::Video | Media::Sound));
        if !known && source::is_remote(place) && is_page(&file) {
            return page(context, place, &args.question).await.map(Output::from);
        }
        of_file(context, &file, &args.question).await.map(Output::from)
    }
}

/// Tells whether a server calls what it sent a page.
fn is_page(file: &Source) -> bool {
    let declared = file.media_type.as_deref().unwrap_or_default().to_ascii_lowercase();
    declared.starts_with("text/html") || declared.starts_with("application/xhtml")
}

/// Answers about the video of the page that is open.
async fn open_page(context: &CallContext, question: &str) -> Result<String, ToolError> {
    if context.toolbox.catalog().entry("visit_page").is_err() {
        return Err(ToolError::Failed(
            "no page is open here: name the video with `video_path`, a path in the workspace or a \
             URL"
            .to_owned(),
        ));
    }
    let browser = page_actions::browser(context).await?;
    let visit = Visit { now: context.now, log: &context.accesses };
    video::answer(context, browser, visit, question).await
}

/// Opens a page and answers about its video.
async fn page(context: &CallContext, url: &str, question: &str) -> Result<String, ToolError> {
    let browser = page_actions::browser(context).await?;
    let visit = || Visit { now: context.now, log: &context.accesses };
    browser.act(&Action::VisitPage { url: url.to_owned() }, visit()).await?;
    video::answer(context, browser, visit(), question).await
}

/// Answers about a file.
async fn of_file(
    context: &CallContext,
    file: &Source,
    question: &str,
) -> Result<String, ToolError> {
    let recording = speech::open(context, file).await?;
    let (name, about) = (&file.name, &recording.about);
    if about.picture.is_none() {
        return Err(ToolError::Failed(format!(
            "`{name}` is a sound without pictures; ask with `ask_question_about_audio`"
        )));
    }
    let mut notes = vec![format!("`{name}`: {about}")];
    let mut video = Video { seconds: about.seconds, ..Video::default() };
    words(context, &recording, file, &mut video, &mut notes).await?;
    let frames = recording.frames(&context.sandbox.host.programs, FRAMES).await?;
    if frames.found > frames.frames.len() {
        notes.push(format!(
            "{} of {} differing pictures were looked at, evenly spread",
            frames.frames.len(),
            frames.found
        ));
    }
    video.frames = frames.frames;
    let answer = video::answer_of(context, &video, question).await?;
    Ok(format!("{answer}\n[{}]", notes.join("; ")))
}

/// Puts the subtitles of a video and what is said in it into words.
async fn words(
    context: &CallContext,
    recording: &Recording,
    file: &Source,
    video: &mut Video,
    notes: &mut Vec<String>,
) -> Result<(), ToolError> {
    let mut texts = Vec::new();
    for track in recording.subtitles(&context.sandbox.host.programs).await? {
        let language = track.language.as_deref().unwrap_or("no language named");
        texts.push(format!("Subtitles ({language}):\n{}", track.to_text()));
    }
    let drawn = recording.about.subtitles.iter().filter(|track| !track.is_text()).count();
    if drawn > 0 {
        notes.push(format!("{drawn} subtitle tracks are pictures and were not read"));
    }
    if !recording.about.sounds.is_empty() {
        if speech::is_possible(context) {
            let heard = speech::listen(context, AskQuestionAboutVideo::NAME, recording, file);
            let heard = heard.await?;
            notes.extend(heard.told());
            texts.push(format!("Speech:\n{}", heard.words()));
        } else {
            notes.push(
                "its sound was not heard: `--speech-model NAME` or `wildgym setup --speech` \
                 gives ears"
                    .to_owned(),
            );
        }
    }
    video.captions = texts.join("\n\n");
    Ok(())
}
