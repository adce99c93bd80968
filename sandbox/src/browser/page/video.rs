//! The video of a page, looked at in moments evenly spread.

use std::time::Duration;

use serde::Deserialize;
use serde_json::json;

use super::Session;
use super::ask::Fault;
use super::frames::Frame as Window;
use super::look::decode;
use crate::browser::{BrowserError, Frame, Video};

/// The most pictures of one video.
const PICTURES: usize = 64;

/// How long a video may take to load or to come to a moment.
const SLOW: Duration = Duration::from_secs(20);

/// What is said of a video when it is opened.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct Opened {
    refused: Option<String>,
    length: f64,
    live: bool,
}

/// Where a moment is shown.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct Moment {
    refused: Option<String>,
    x: f64,
    y: f64,
    width: f64,
    height: f64,
    at: f64,
}

/// What the text tracks say.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct Said {
    text: String,
}

impl Session {
    /// Returns pictures out of the page's largest video, at most `frames` (up to 64), from
    /// the middle of as many equal parts of it; its length; and the text of its tracks. The
    /// video is left where it was.
    pub async fn video(&mut self, frames: usize) -> Result<Video, BrowserError> {
        let found = match self.current().await {
            Ok(index) => self.watch_video(index, frames.clamp(1, PICTURES)).await,
            Err(fault) => Err(fault),
        };
        match found {
            Ok(video) => Ok(video),
            Err(fault) => Err(self.blame(fault).await),
        }
    }

    /// Tells whether the page has a video.
    pub(super) async fn has_video(&mut self, index: usize) -> Result<String, Fault> {
        self.largest(index).await?;
        Ok("the page has a video".into())
    }

    /// Finds the frame with the largest video.
    async fn largest(&mut self, index: usize) -> Result<Window, Fault> {
        let frames = self.tabs[index].frames().await?;
        let mut best: Option<(Window, f64)> = None;
        for frame in frames {
            let area: f64 =
                self.tabs[index].call(frame.world, "videoArea", json!({})).await.unwrap_or(0.0);
            if area > best.as_ref().map_or(0.0, |(_, most)| *most) {
                best = Some((frame, area));
            }
        }
        let none = "the page has no video; open the page of one with `visit_page`";
        best.map(|(frame, _)| frame).ok_or_else(|| Fault::refused(none))
    }

    #[expect(clippy::cast_precision_loss, reason = "at most 64 pictures")]
    async fn watch_video(&mut self, index: usize, count: usize) -> Result<Video, Fault> {
        let mut window = self.largest(index).await?;
        let world = window.world;
        let opened: Opened =
            self.tabs[index].call_within(world, "videoOpen", json!({}), SLOW).await?;
        if let Some(why) = opened.refused {
            return Err(Fault::Refused(why));
        }
        let mut video =
            Video { seconds: (!opened.live).then_some(opened.length), ..Video::default() };
        for number in 0..count {
            let at = opened.length * (number as f64 + 0.5) / count as f64;
            let moment: Moment =
                self.tabs[index].call_within(world, "videoSeek", json!({ "at": at }), SLOW).await?;
            if let Some(why) = moment.refused {
                return Err(Fault::Refused(why));
            }
            if number == 0 {
                // It was brought into the window, which may have moved its frame.
                let frames = self.tabs[index].frames().await?;
                window =
                    frames.into_iter().find(|frame| frame.id == window.id).ok_or(Fault::Gone)?;
            }
            video
                .frames
                .push(Frame { at: moment.at, jpeg: self.shoot(index, &window, &moment).await? });
            if opened.length <= 0.0 {
                break;
            }
        }
        let said: Said = self.tabs[index].call_within(world, "videoText", json!({}), SLOW).await?;
        video.captions = said.text;
        let _: serde_json::Value = self.tabs[index].call(world, "videoDone", json!({})).await?;
        Ok(video)
    }

    /// Takes a picture of a moment.
    async fn shoot(
        &self,
        index: usize,
        window: &Window,
        moment: &Moment,
    ) -> Result<Vec<u8>, Fault> {
        let metrics = self.tabs[index].ask("Page.getLayoutMetrics", json!({})).await?;
        let scrolled = |key: &str| metrics["cssVisualViewport"][key].as_f64().unwrap_or(0.0);
        let clip = json!({
            "x": window.x + moment.x + scrolled("pageX"),
            "y": window.y + moment.y + scrolled("pageY"),
            "width": moment.width.max(1.0),
            "height": moment.height.max(1.0),
            "scale": 1,
        });
        let params = json!({ "format": "jpeg", "quality": 80, "clip": clip });
        let shot = self.tabs[index].ask_page("Page.captureScreenshot", params, SLOW).await?;
        decode(shot["data"].as_str().unwrap_or_default())
    }
}
