//! Looking at a page: what is read of it, and its picture.

use std::collections::HashMap;
use std::fmt::Write as _;

use data_encoding::BASE64;
use serde::Deserialize;
use serde_json::{Value, json};

use super::Session;
use super::ask::Fault;
use super::clickable;
use super::frames::Frame;
use super::text::fold;
use crate::browser::{Element, Observation, Scroll};

/// What stands for a frame in the text of the page around it, on both sides of its number.
const FRAME: char = '\u{1}';

/// A page of more elements than this is not asked which of them answer to clicks.
const SNAPSHOT: usize = 15_000;

/// What a frame says of itself.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct Read {
    text: String,
    elements: Vec<Value>,
    next: u32,
    more: u32,
    stopped: bool,
    title: String,
    url: String,
    scroll: Scroll,
}

impl Session {
    /// Tells what a tab shows.
    pub(super) async fn look(&mut self, index: usize) -> Result<Observation, Fault> {
        // A page may go elsewhere while it is read; then it is read once more.
        let gone =
            |seen: &Result<Observation, Fault>| matches!(seen, Err(Fault::Gone | Fault::Said(_)));
        let mut seen = self.look_once(index).await;
        if gone(&seen) && !self.tabs[index].loading() {
            self.tabs[index].forget_worlds();
            self.tabs[index].settle(self.options.load).await;
            seen = self.look_once(index).await;
        }
        if gone(&seen) {
            seen = self.look_held(index).await;
        }
        seen
    }

    /// Looks at a page that goes elsewhere without end.
    async fn look_held(&mut self, index: usize) -> Result<Observation, Fault> {
        self.tabs[index].hold().await;
        let seen = self.look_once(index).await;
        self.tabs[index].let_run(true).await;
        let mut seen = seen?;
        seen.notices.push(
            "the page goes elsewhere again and again; it is shown as it was at one moment".into(),
        );
        Ok(seen)
    }

    async fn look_once(&mut self, index: usize) -> Result<Observation, Fault> {
        let frames = self.tabs[index].frames().await?;
        let mut reads = Vec::new();
        self.hear(index, &frames).await;
        for frame in &frames {
            let next = self.tabs[index].documents.ids().next;
            let asked = json!({ "next": next, "clip": frame.clip });
            let read = self.tabs[index].call::<Read>(frame.world, "read", asked).await;
            let read = match read {
                // A frame that goes away meanwhile has nothing to say.
                Err(_) if frame.parent.is_some() => Read { next, ..Read::default() },
                read => read?,
            };
            let ids = self.tabs[index].documents.ids();
            for element in &read.elements {
                if let Some(id) = element["id"].as_u64().and_then(|id| u32::try_from(id).ok()) {
                    ids.frames.insert(id, frame.id.clone());
                }
            }
            ids.next = read.next.max(next);
            reads.push(read);
        }
        let mut seen = Observation::default();
        gather(&frames, &reads, 0, &mut seen)?;
        seen.text = weave(&frames, &reads, 0);
        let main = &reads[0];
        seen.url.clone_from(&main.url);
        seen.title.clone_from(&main.title);
        seen.scroll = main.scroll;
        seen.tabs = self.addresses(index).await;
        let more: u32 = reads.iter().map(|read| read.more).sum();
        if more > 0 {
            seen.notices.push(format!(
                "{more} more elements of the page are not listed; they get ids when they are scrolled into the window"
            ));
        }
        if reads.iter().any(|read| read.stopped) {
            seen.notices.push("the page is too large to be read to its end".into());
        }
        Ok(seen)
    }

    /// Addresses of all tabs, the shown one first.
    async fn addresses(&self, index: usize) -> Vec<String> {
        let mut out = Vec::new();
        let others = (0..self.tabs.len()).filter(|&other| other != index);
        for at in std::iter::once(index).chain(others) {
            let tab = &self.tabs[at];
            let Ok(history) = tab.ask("Page.getNavigationHistory", json!({})).await else {
                continue;
            };
            let current =
                usize::try_from(history["currentIndex"].as_u64().unwrap_or(0)).unwrap_or(0);
            let url = history["entries"][current]["url"].as_str().unwrap_or("about:blank");
            out.push(url.to_owned());
        }
        out
    }

    /// Asks the browser which elements answer to clicks, and tells the scripts.
    ///
    /// Nothing that a script can see of a page shows that otherwise. What fails here only
    /// leaves such elements out, as a page of very many elements does.
    async fn hear(&self, index: usize, frames: &[Frame]) {
        let tab = &self.tabs[index];
        let count: Result<usize, Fault> = tab.call(frames[0].world, "elements", json!({})).await;
        let mut paths = HashMap::new();
        if count.is_ok_and(|count| count <= SNAPSHOT) {
            let params = json!({ "computedStyles": [] });
            let shot = tab.ask_page("DOMSnapshot.captureSnapshot", params, self.options.patience);
            if let Ok(shot) = shot.await {
                paths = clickable::paths(&shot);
            }
        }
        for frame in frames {
            let asked = json!({ "paths": paths.remove(&frame.id).unwrap_or_default() });
            let _: Result<Value, Fault> = tab.call(frame.world, "heard", asked).await;
        }
    }

    /// Draws the window with its marks.
    pub(super) async fn draw(&mut self, index: usize) -> Result<Vec<u8>, Fault> {
        // Elements that came since the last look get their ids first.
        self.look(index).await?;
        let frames = self.tabs[index].frames().await?;
        let params = json!({ "format": "png", "optimizeForSpeed": true });
        let shot =
            self.tabs[index].ask_page("Page.captureScreenshot", params, self.options.load).await?;
        let mut boxes = Vec::new();
        for frame in &frames {
            let ids = self.tabs[index].documents.ids();
            let mut ids: Vec<u32> = ids
                .frames
                .iter()
                .filter(|(_, holder)| **holder == frame.id)
                .map(|(id, _)| *id)
                .collect();
            ids.sort_unstable();
            let asked = json!({ "ids": ids, "clip": frame.clip });
            let found: Vec<Value> =
                self.tabs[index].call(frame.world, "boxes", asked).await.unwrap_or_default();
            boxes.extend(found.into_iter().map(|mut one| {
                let moved = |key: &str, by: f64| one[key].as_f64().unwrap_or(0.0) + by;
                let (left, top) = (moved("left", frame.x), moved("top", frame.y));
                one["left"] = left.into();
                one["top"] = top.into();
                one
            }));
        }
        let asked = json!({ "png": shot["data"], "boxes": boxes });
        let drawn: String =
            self.tabs[index].call_within(frames[0].world, "draw", asked, self.options.load).await?;
        decode(&drawn)
    }
}

/// Reads base64.
pub(super) fn decode(text: &str) -> Result<Vec<u8>, Fault> {
    BASE64
        .decode(text.as_bytes())
        .map_err(|error| Fault::Said(format!("a picture that cannot be read ({error})")))
}

/// Puts the elements of a frame, and of those in it, into the observation, in reading order.
fn gather(
    frames: &[Frame],
    reads: &[Read],
    at: usize,
    seen: &mut Observation,
) -> Result<(), Fault> {
    for element in &reads[at].elements {
        if let Some(token) = element["frame"].as_u64() {
            if let Some(child) = child(frames, at, token) {
                gather(frames, reads, child, seen)?;
            }
            continue;
        }
        let mut element: Element = serde_json::from_value(element.clone())
            .map_err(|error| Fault::Said(error.to_string()))?;
        element.frame.clone_from(&frames[at].name);
        seen.elements.push(element);
    }
    Ok(())
}

/// Puts the texts of frames where they are in the text of the page.
fn weave(frames: &[Frame], reads: &[Read], at: usize) -> String {
    let mut parts = reads[at].text.split(FRAME);
    let mut text = parts.next().unwrap_or_default().to_owned();
    while let Some(token) = parts.next() {
        let inner = token.parse().ok().and_then(|token| child(frames, at, token));
        if let Some(inner) = inner {
            let name = fold(frames[inner].name.as_deref().unwrap_or_default());
            let within = weave(frames, reads, inner);
            let _ = write!(text, "(frame {name})\n{within}\n(end of the frame)");
        } else {
            text.push_str("(a frame that cannot be read)");
        }
        text.push_str(parts.next().unwrap_or_default());
    }
    text
}

/// The frame that has a number in the one around it.
fn child(frames: &[Frame], parent: usize, token: u64) -> Option<usize> {
    frames.iter().position(|frame| frame.parent == Some(parent) && u64::from(frame.token) == token)
}
