//! Scrolling, and finding text.

use std::time::{Duration, Instant};

use serde::Deserialize;
use serde_json::json;

use super::Session;
use super::ask::Fault;
use super::text::cut;

/// How long a page that grows at its end is given to do so.
const GROWTH: Duration = Duration::from_millis(1_200);

/// What is said of a text that a page does not have, after the text in backticks.
pub const NOWHERE: &str = "is nowhere on the page";

/// The longest text that is looked for, in characters.
const TEXT: usize = 1_000;

/// Where the window is after scrolling.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct Scrolled {
    /// Nothing scrolls.
    none: bool,
    from: u64,
    top: u64,
    window: u64,
    page: u64,
    /// What scrolls, where it is a part of the page.
    what: String,
}

impl Scrolled {
    fn position(&self) -> String {
        let end = (self.top + self.window).min(self.page);
        format!("the window shows {} to {end} of {} px", self.top, self.page)
    }
}

/// A hit of a search.
#[derive(Debug, Deserialize)]
struct Hit {
    context: String,
}

impl Session {
    /// Scrolls the page, or the largest part of it that scrolls.
    pub(super) async fn scroll(&mut self, index: usize, to: &str) -> Result<String, Fault> {
        let frames = self.tabs[index].frames().await?;
        let mut best = (0, 0.0);
        for (at, frame) in frames.iter().enumerate().skip(1) {
            let size = (frame.clip.right - frame.clip.left).max(0.0)
                * (frame.clip.bottom - frame.clip.top).max(0.0);
            if size > best.1 {
                best = (at, size);
            }
        }
        let mut world = frames[0].world;
        let mut now: Scrolled = self.tabs[index].call(world, "scroll", json!({ "to": to })).await?;
        if now.none && best.1 > 0.0 {
            // A page that is nothing but a frame: what is in it scrolls.
            world = frames[best.0].world;
            now = self.tabs[index].call(world, "scroll", json!({ "to": to })).await?;
        }
        if now.none {
            return Ok("there is nothing to scroll: all of the page is in the window".into());
        }
        let what = if now.what.is_empty() { String::new() } else { format!("{}: ", now.what) };
        if now.from == now.top && to != "bottom" {
            let edge = if matches!(to, "top" | "up") { "top" } else { "bottom" };
            return Ok(format!("{what}it was at the {edge} already; {}", now.position()));
        }
        if to == "bottom" {
            return self.follow(index, world, &now, &what).await;
        }
        let how = match to {
            "top" => "to the top",
            "up" => "up",
            _ => "down",
        };
        Ok(format!("{what}scrolled {how}; {}", now.position()))
    }

    /// Follows a page that grows when its end is reached, once.
    async fn follow(
        &mut self,
        index: usize,
        world: i64,
        first: &Scrolled,
        what: &str,
    ) -> Result<String, Fault> {
        let end = Instant::now() + GROWTH;
        while Instant::now() < end {
            self.tabs[index].settle(self.options.load).await;
            let size: Scrolled = self.tabs[index].call(world, "scrolledNow", json!({})).await?;
            if size.page > first.page + 8 {
                let now: Scrolled =
                    self.tabs[index].call(world, "scroll", json!({ "to": "bottom" })).await?;
                return Ok(format!(
                    "{what}scrolled to the bottom; the page grew from {} to {} px and may grow further: {}",
                    first.page,
                    now.page,
                    now.position()
                ));
            }
            tokio::time::sleep(Duration::from_millis(100)).await;
        }
        if first.from == first.top {
            return Ok(format!("{what}it was at the bottom already; {}", first.position()));
        }
        Ok(format!("{what}scrolled to the bottom; {}", first.position()))
    }

    /// Scrolls to the next place where the page has a text.
    pub(super) async fn find(&mut self, index: usize, text: &str) -> Result<String, Fault> {
        if text.trim().is_empty() {
            return Err(Fault::refused("there is no text to look for"));
        }
        if text.chars().count() > TEXT {
            return Err(Fault::refused(format!(
                "the text is too long; look for at most {TEXT} characters of it"
            )));
        }
        let frames = self.tabs[index].frames().await?;
        let mut counts = Vec::new();
        for frame in &frames {
            // A frame that goes away meanwhile has no hits.
            let asked = json!({ "text": text });
            counts.push(
                self.tabs[index].call::<usize>(frame.world, "count", asked).await.unwrap_or(0),
            );
        }
        let total: usize = counts.iter().sum();
        let shown = cut(text, 100);
        if total == 0 {
            self.tabs[index].search = None;
            return Ok(format!(
                "`{shown}` {NOWHERE}; it may be written in another way, or come only after scrolling or a click"
            ));
        }
        let last = self.tabs[index].search.take().filter(|(last, _)| last == text);
        let hit = last.map_or(0, |(_, hit)| (hit + 1) % total);
        let (mut frame, mut left) = (0, hit);
        while left >= counts[frame] {
            left -= counts[frame];
            frame += 1;
        }
        let asked = json!({ "text": text, "n": left });
        let found: Option<Hit> = self.tabs[index].call(frames[frame].world, "show", asked).await?;
        let context = found.map(|hit| hit.context).unwrap_or_default();
        self.tabs[index].search = Some((text.to_owned(), hit));
        let more = if total > 1 { "; the same call goes to the next one" } else { "" };
        Ok(format!("hit {} of {total} for `{shown}`: “{context}”{more}", hit + 1))
    }
}
