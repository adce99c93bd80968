//! The frames of a page, where they are in the window, and which element is in which.
//!
//! Frames of other origins are read like the page itself: the browser is started so
//! that they share its process. One that does not is left out, and the text says so.

use std::collections::HashMap;

use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use super::ask::Fault;
use super::tab::Tab;
use super::text::cut;

/// Ids start here: lower numbers look like counts in a text.
const FIRST: u32 = 10;

/// As many frames of a page are looked into.
const FRAMES: usize = 40;

/// As many documents of a tab are remembered.
const DOCUMENTS: usize = 60;

/// A rectangle in CSS pixels.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub(super) struct Area {
    pub(super) left: f64,
    pub(super) top: f64,
    pub(super) right: f64,
    pub(super) bottom: f64,
}

impl Area {
    fn meet(self, other: Self) -> Self {
        Self {
            left: self.left.max(other.left),
            top: self.top.max(other.top),
            right: self.right.min(other.right),
            bottom: self.bottom.min(other.bottom),
        }
    }

    fn shifted(self, x: f64, y: f64) -> Self {
        Self {
            left: self.left + x,
            top: self.top + y,
            right: self.right + x,
            bottom: self.bottom + y,
        }
    }
}

/// A frame as it is now.
#[derive(Debug, Clone)]
pub(super) struct Frame {
    pub(super) id: String,
    pub(super) world: i64,
    /// Index of the frame that it lies in; none for the page itself.
    pub(super) parent: Option<usize>,
    /// Its number among the frames there.
    pub(super) token: u32,
    /// Where its window's corner is in the page's window.
    pub(super) x: f64,
    /// The same downwards.
    pub(super) y: f64,
    /// What can be seen of its window, in its own coordinates.
    pub(super) clip: Area,
    /// Name or address, for the agent; none for the page itself.
    pub(super) name: Option<String>,
}

/// Ids of a document and of the frames in it.
#[derive(Debug)]
pub(super) struct Ids {
    /// The next one to be given.
    pub(super) next: u32,
    /// Which frame has which.
    pub(super) frames: HashMap<u32, String>,
}

impl Default for Ids {
    fn default() -> Self {
        Self { next: FIRST, frames: HashMap::new() }
    }
}

/// What is remembered of the documents that a tab showed: one that comes back from the
/// history has its ids still.
#[derive(Debug, Default)]
pub(super) struct Documents {
    known: HashMap<String, Ids>,
    order: Vec<String>,
    current: String,
}

impl Documents {
    /// Returns the ids of the document that is shown.
    pub(super) fn ids(&mut self) -> &mut Ids {
        self.known.entry(self.current.clone()).or_default()
    }

    /// Says which document is shown now; whether it is another than before.
    fn show(&mut self, loader: &str) -> bool {
        if self.current == loader {
            return false;
        }
        loader.clone_into(&mut self.current);
        if !self.known.contains_key(loader) {
            self.order.push(loader.to_owned());
            if self.order.len() > DOCUMENTS {
                let oldest = self.order.remove(0);
                self.known.remove(&oldest);
            }
        }
        true
    }
}

/// A frame of the browser's tree.
struct Leaf {
    id: String,
    loader: String,
    name: String,
    /// The frame that it lies in; empty for the page itself.
    parent: String,
}

impl Tab {
    /// Returns the frames of the page, the page itself first, each after the one that it
    /// lies in.
    pub(super) async fn frames(&mut self) -> Result<Vec<Frame>, Fault> {
        match self.frames_once().await {
            Err(Fault::Gone) => {
                self.forget_worlds();
                self.frames_once().await
            }
            done => done,
        }
    }

    async fn frames_once(&mut self) -> Result<Vec<Frame>, Fault> {
        let tree = self.ask("Page.getFrameTree", json!({})).await?;
        let mut leaves = Vec::new();
        collect(&tree["frameTree"], "", &mut leaves);
        let Some(main) = leaves.first() else { return Err(Fault::Gone) };
        if self.documents.show(&main.loader) {
            self.search = None;
        }
        let world = self.world(&main.id, &main.loader).await?;
        let size: (f64, f64) = self.call(world, "size", json!({})).await?;
        let clip = Area { left: 0.0, top: 0.0, right: size.0, bottom: size.1 };
        let mut frames = vec![Frame {
            id: main.id.clone(),
            world,
            parent: None,
            token: 0,
            x: 0.0,
            y: 0.0,
            clip,
            name: None,
        }];
        // Frames are found from outside in; each that is found is looked through itself.
        let mut at = 0;
        while at < frames.len() && frames.len() < FRAMES {
            self.children(at, &leaves, &mut frames).await?;
            at += 1;
        }
        Ok(frames)
    }

    /// Whether a frame is about to do something by a timer, seen or not.
    ///
    /// One that is gone, or was read before it had a script, is about to do nothing.
    pub(super) async fn timers(&mut self) -> Result<bool, Fault> {
        let tree = self.ask("Page.getFrameTree", json!({})).await?;
        let mut leaves = Vec::new();
        collect(&tree["frameTree"], "", &mut leaves);
        for leaf in leaves.iter().take(FRAMES) {
            let asked = match self.world(&leaf.id, &leaf.loader).await {
                Ok(world) => self.call::<bool>(world, "timers", json!({})).await,
                Err(fault) => Err(fault),
            };
            match asked {
                Ok(true) => return Ok(true),
                Ok(false) | Err(Fault::Said(_)) => {}
                Err(Fault::Gone) => self.forget_worlds(),
                Err(fault) => return Err(fault),
            }
        }
        Ok(false)
    }

    /// Adds the frames that lie directly in one.
    async fn children(
        &mut self,
        parent: usize,
        leaves: &[Leaf],
        frames: &mut Vec<Frame>,
    ) -> Result<(), Fault> {
        if !leaves.iter().any(|leaf| leaf.parent == frames[parent].id) {
            return Ok(());
        }
        let world = frames[parent].world;
        let count: u32 = self.call(world, "frames", json!({})).await?;
        for token in 0..count {
            if frames.len() >= FRAMES {
                break;
            }
            // A frame that is not rendered, or has just gone, has nothing to show.
            if let Ok(frame) = self.child(token, parent, leaves, frames).await {
                frames.push(frame);
            }
        }
        Ok(())
    }

    async fn child(
        &mut self,
        token: u32,
        parent: usize,
        leaves: &[Leaf],
        frames: &[Frame],
    ) -> Result<Frame, Fault> {
        let around = &frames[parent];
        let params = json!({
            "functionDeclaration": "(number) => globalThis.wildgym.frame(number)",
            "executionContextId": around.world,
            "arguments": [{ "value": token }],
            "objectGroup": "wildgym",
            "silent": true,
        });
        let element = self.ask("Runtime.callFunctionOn", params).await?;
        let object = json!({ "objectId": element["result"]["objectId"] });
        let described = self.ask("DOM.describeNode", object.clone()).await?;
        let id = described["node"]["frameId"].as_str().ok_or(Fault::Gone)?;
        let leaf = leaves.iter().find(|leaf| leaf.id == id).ok_or(Fault::Gone)?;
        let model = self.ask("DOM.getBoxModel", object).await?;
        let quad: Vec<f64> =
            serde_json::from_value(model["model"]["content"].clone()).map_err(|_| Fault::Gone)?;
        let [left, top, _, _, right, bottom, ..] = quad[..] else { return Err(Fault::Gone) };
        let world = self.world(&leaf.id, &leaf.loader).await?;
        let seen = around.clip.shifted(around.x, around.y);
        let clip = Area { left, top, right, bottom }.meet(seen).shifted(-left, -top);
        let name = Some(leaf.name.clone());
        Ok(Frame {
            id: leaf.id.clone(),
            world,
            parent: Some(parent),
            token,
            x: left,
            y: top,
            clip,
            name,
        })
    }
}

/// Puts a frame and those in it into a list.
fn collect(tree: &Value, parent: &str, leaves: &mut Vec<Leaf>) {
    let text = |key: &str| tree["frame"][key].as_str().unwrap_or_default().to_owned();
    let called = Some(text("name")).filter(|name| !name.is_empty()).unwrap_or_else(|| text("url"));
    let id = text("id");
    leaves.push(Leaf {
        id: id.clone(),
        loader: text("loaderId"),
        name: cut(&called, 80),
        parent: parent.to_owned(),
    });
    for child in tree["childFrames"].as_array().into_iter().flatten() {
        collect(child, &id, leaves);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn documents_keep_their_ids_while_they_are_remembered() {
        let mut documents = Documents::default();
        assert!(documents.show("first"));
        assert_eq!(documents.ids().next, FIRST);
        documents.ids().next = 20;
        assert!(documents.show("second"));
        assert_eq!(documents.ids().next, FIRST, "another document counts anew");
        assert!(!documents.show("second"));
        documents.show("first");
        assert_eq!(documents.ids().next, 20, "one that came back goes on");
        for n in 0..=DOCUMENTS {
            documents.show(&n.to_string());
            documents.ids();
        }
        assert!(documents.known.len() <= DOCUMENTS + 1);
    }

    #[test]
    fn what_is_seen_of_a_frame_in_a_frame_is_what_both_leave() {
        let window = Area { left: 0.0, top: 0.0, right: 100.0, bottom: 100.0 };
        let outer = Area { left: 50.0, top: 50.0, right: 150.0, bottom: 90.0 };
        let clip = outer.meet(window).shifted(-50.0, -50.0);
        assert_eq!(clip, Area { left: 0.0, top: 0.0, right: 50.0, bottom: 40.0 });
    }
}
