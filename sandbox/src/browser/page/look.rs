//! Looking at a page: what is read of it, and its picture.

use data_encoding::BASE64;
use serde::Deserialize;
use serde_json::{Value, json};

use super::Session;
use super::ask::Fault;
use super::frames::Frame;
use crate::browser::{Element, Observation, Scroll};

/// What stands for a frame in the text of the page around it, on both sides of its number.
const FRAME: char = '\u{1}';

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
        match self.look_once(index).await {
            Err(Fault::Gone | Fault::Said(_)) => {
                self.tabs[index].forget_worlds();
                self.tabs[index].settle(self.options.load).await;
                self.look_once(index).await
            }
            done => done,
        }
    }

    async fn look_once(&mut self, index: usize) -> Result<Observation, Fault> {
        let frames = self.tabs[index].frames().await?;
        let mut reads = Vec::new();
        for frame in &frames {
            self.hear(index, frame).await;
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

    /// Asks the debugger which elements listen to clicks, and tells the scripts.
    ///
    /// Nothing of a page shows that otherwise. What fails here only leaves such elements
    /// out.
    async fn hear(&self, index: usize, frame: &Frame) {
        let tab = &self.tabs[index];
        let patience = self.options.patience;
        let params = json!({
            "expression": "document.getElementsByTagName('*').length > 15000 ? null : document",
            "contextId": frame.world,
            "objectGroup": "wildgym",
            "silent": true,
        });
        let heard = async {
            let document = tab.ask_page("Runtime.evaluate", params, patience).await?;
            let object = document["result"]["objectId"].clone();
            if object.is_null() {
                return Ok(());
            }
            let params = json!({ "objectId": object, "depth": -1, "pierce": true });
            let answer = tab.ask_page("DOMDebugger.getEventListeners", params, patience).await?;
            self.introduce_listeners(index, frame, &answer).await
        };
        let _: Result<(), Fault> = heard.await;
        let _ = tab.ask("Runtime.releaseObjectGroup", json!({ "objectGroup": "wildgym" })).await;
    }

    async fn introduce_listeners(
        &self,
        index: usize,
        frame: &Frame,
        answer: &Value,
    ) -> Result<(), Fault> {
        let tab = &self.tabs[index];
        let mut nodes: Vec<i64> = answer["listeners"]
            .as_array()
            .into_iter()
            .flatten()
            .filter(|one| {
                let kind = one["type"].as_str().unwrap_or_default();
                matches!(
                    kind,
                    "click"
                        | "mousedown"
                        | "mouseup"
                        | "pointerdown"
                        | "pointerup"
                        | "dblclick"
                        | "touchstart"
                )
            })
            .filter_map(|one| one["backendNodeId"].as_i64())
            .collect();
        nodes.sort_unstable();
        nodes.dedup();
        nodes.truncate(300);
        if nodes.is_empty() {
            return Ok(());
        }
        let resolve = |node: i64| {
            let params = json!({ "backendNodeId": node, "executionContextId": frame.world, "objectGroup": "wildgym" });
            tab.ask("DOM.resolveNode", params)
        };
        let objects: Vec<Value> = futures::future::join_all(nodes.into_iter().map(resolve))
            .await
            .into_iter()
            .filter_map(|answer| Some(json!({ "objectId": answer.ok()?["object"]["objectId"] })))
            .filter(|object| object["objectId"].is_string())
            .collect();
        let params = json!({
            "functionDeclaration": "(...elements) => globalThis.wildgym.heard(...elements)",
            "executionContextId": frame.world,
            "arguments": objects,
            "silent": true,
        });
        tab.ask_page("Runtime.callFunctionOn", params, self.options.patience).await?;
        Ok(())
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
            let name = frames[inner].name.as_deref().unwrap_or_default();
            let within = weave(frames, reads, inner);
            text.push_str(&format!("(frame {name})\n{within}\n(end of the frame)"));
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
