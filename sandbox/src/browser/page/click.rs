//! Clicking and hovering, with a mouse.
//!
//! Before a click an element must be there, rendered, enabled, at rest and on top at
//! some point of it, in its frame and in all frames around; it is looked once more when
//! the pointer has come, for some pages cover things then. What is in the way is named.

use serde::Deserialize;
use serde_json::json;

use super::Session;
use super::ask::Fault;
use super::frames::Frame;
use super::tab::TabState;

/// How often the pointer is brought to something that moves.
const REACHES: u32 = 3;

/// An element as the scripts tell of it.
#[derive(Debug, Clone, Default, Deserialize)]
#[serde(default)]
pub(super) struct Aim {
    /// Where to point, in the window of its frame.
    x: f64,
    y: f64,
    /// What it is: `[12] button "Search"`.
    pub(super) told: String,
    /// Why it cannot be done.
    refused: Option<String>,
    /// Whether the element is no more, and what it was.
    gone: bool,
    was: Option<String>,
    /// Whether it had come to rest; nothing where that was not looked at.
    still: Option<bool>,
    pub(super) kind: Kind,
}

/// Which kind of element it is.
#[derive(Debug, Clone, Default, Deserialize)]
#[serde(default)]
pub(super) struct Kind {
    tag: String,
    r#type: String,
    pub(super) checked: Option<bool>,
}

impl Session {
    /// Finds the frame in which an element of that id is.
    pub(super) async fn place(
        &mut self,
        index: usize,
        id: u32,
    ) -> Result<(Vec<Frame>, usize), Fault> {
        let tab = &mut self.tabs[index];
        let frames = tab.frames().await?;
        let ids = tab.documents.ids();
        let Some(holder) = ids.frames.get(&id) else {
            let next = ids.next;
            return Err(Fault::refused(if id < next && id >= 10 {
                format!("the element [{id}] is not on this page any more; look at the page again")
            } else if next <= 10 {
                format!("there is no element [{id}]: the page has none")
            } else {
                format!(
                    "there is no element [{id}] on this page; the ids go from 10 to {}",
                    next - 1
                )
            }));
        };
        match frames.iter().position(|frame| frame.id == *holder) {
            Some(at) => Ok((frames, at)),
            None => Err(Fault::refused(format!(
                "the frame with the element [{id}] is gone; look at the page again"
            ))),
        }
    }

    /// Brings an element to where it can be pointed at. Returns what it is and the point
    /// in the window; says what stands against it.
    pub(super) async fn aim(
        &mut self,
        index: usize,
        id: u32,
        able: bool,
        verb: &str,
    ) -> Result<(Aim, f64, f64), Fault> {
        let (frames, at) = self.place(index, id).await?;
        let arguments = json!({ "id": id, "able": able, "clip": frames[at].clip });
        let aim: Aim = self.tabs[index].call(frames[at].world, "aim", arguments).await?;
        check(id, &aim, verb)?;
        // Bringing it into the window may have moved the frames.
        let (frames, at) =
            if frames[at].parent.is_some() { self.place(index, id).await? } else { (frames, at) };
        let (x, y) = (frames[at].x + aim.x, frames[at].y + aim.y);
        self.uncovered(index, &frames, at, (x, y), &aim.told, verb).await?;
        Ok((aim, x, y))
    }

    /// Checks that nothing in the frames around covers a point.
    async fn uncovered(
        &self,
        index: usize,
        frames: &[Frame],
        mut at: usize,
        (x, y): (f64, f64),
        told: &str,
        verb: &str,
    ) -> Result<(), Fault> {
        while let Some(parent) = frames[at].parent {
            let around = &frames[parent];
            let arguments =
                json!({ "token": frames[at].token, "x": x - around.x, "y": y - around.y });
            let aim: Aim = self.tabs[index].call(around.world, "frameAt", arguments).await?;
            if let Some(why) = aim.refused {
                return Err(Fault::refused(format!("cannot {verb} {told}: {why}")));
            }
            at = parent;
        }
        Ok(())
    }

    /// Clicks an element.
    pub(super) async fn click(&mut self, index: usize, id: u32) -> Result<String, Fault> {
        let (aim, x, y) = self.aim(index, id, true, "click").await?;
        if aim.kind.tag == "select" {
            return Err(Fault::refused(format!(
                "cannot click {}: its list opens outside of the page; `fill_input_id({id}, \"…\")` chooses an option",
                aim.told
            )));
        }
        if aim.kind.r#type == "file" {
            return Err(Fault::refused(format!(
                "cannot click {}: it opens a dialog of the system; `fill_input_id({id}, \"path\")` attaches a file of the workspace",
                aim.told
            )));
        }
        let (x, y) = self.reach(index, id, (x, y), &aim.told).await?;
        self.press(index, x, y).await?;
        Ok(match aim.still {
            Some(false) => format!("clicked {}, which kept moving", aim.told),
            _ => format!("clicked {}", aim.told),
        })
    }

    /// Brings the pointer to an element, which may be on its way elsewhere; returns where
    /// it was reached.
    async fn reach(
        &mut self,
        index: usize,
        id: u32,
        (mut x, mut y): (f64, f64),
        told: &str,
    ) -> Result<(f64, f64), Fault> {
        for left in (0..REACHES).rev() {
            self.point(index, x, y).await?;
            let Err(fault) = self.still_there(index, id, x, y, told).await else { break };
            // What moved is aimed at once more; what went or was covered stays so.
            match self.aim(index, id, true, "click").await {
                Ok((_, now_x, now_y)) if left > 0 => (x, y) = (now_x, now_y),
                _ => return Err(fault),
            }
        }
        Ok((x, y))
    }

    /// Looks whether the element is still under the pointer now that it has come.
    async fn still_there(
        &mut self,
        index: usize,
        id: u32,
        x: f64,
        y: f64,
        told: &str,
    ) -> Result<(), Fault> {
        let (frames, at) = self.place(index, id).await?;
        let frame = &frames[at];
        let arguments = json!({ "id": id, "x": x - frame.x, "y": y - frame.y });
        let aim: Aim = self.tabs[index].call(frame.world, "still", arguments).await?;
        if aim.gone {
            return Err(Fault::refused(format!(
                "cannot click {told}: the page took it away when the pointer came; look again"
            )));
        }
        match aim.refused {
            Some(why) => {
                Err(Fault::refused(format!("cannot click {told}: when the pointer came, {why}")))
            }
            None => Ok(()),
        }
    }

    /// Moves the pointer over an element.
    pub(super) async fn hover(&mut self, index: usize, id: u32) -> Result<String, Fault> {
        let (aim, x, y) = self.aim(index, id, false, "hover over").await?;
        self.point(index, x, y).await?;
        Ok(format!("the pointer is over {}", aim.told))
    }

    /// Clicks where nothing is.
    pub(super) async fn click_blank(&mut self, index: usize) -> Result<String, Fault> {
        let frames = self.tabs[index].frames().await?;
        let aim: Aim = self.tabs[index].call(frames[0].world, "blank", json!({})).await?;
        if let Some(why) = aim.refused {
            return Err(Fault::Refused(why));
        }
        self.point(index, aim.x, aim.y).await?;
        self.press(index, aim.x, aim.y).await?;
        Ok(format!("clicked a blank area, at {:.0}, {:.0}", aim.x, aim.y))
    }

    async fn point(&self, index: usize, x: f64, y: f64) -> Result<(), Fault> {
        self.mouse(index, json!({ "type": "mouseMoved", "x": x, "y": y })).await
    }

    pub(super) async fn press(&self, index: usize, x: f64, y: f64) -> Result<(), Fault> {
        let button = |what: &str, buttons: u8| json!({ "type": what, "x": x, "y": y, "button": "left", "buttons": buttons, "clickCount": 1 });
        self.mouse(index, button("mousePressed", 1)).await?;
        self.mouse(index, button("mouseReleased", 0)).await
    }

    async fn mouse(&self, index: usize, params: serde_json::Value) -> Result<(), Fault> {
        let tab = &self.tabs[index];
        match tab.ask_page("Input.dispatchMouseEvent", params, self.options.patience).await {
            // A page may close or leave under a click, which is what the click did.
            Err(Fault::Closed | Fault::Gone) => Ok(()),
            Err(Fault::Said(_)) if tab.state() != TabState::Open => Ok(()),
            done => done.map(|_| ()),
        }
    }
}

/// Says what stands against an action on an element.
pub(super) fn check(id: u32, aim: &Aim, verb: &str) -> Result<(), Fault> {
    if aim.gone {
        let was = aim.was.as_deref().filter(|was| !was.is_empty());
        return Err(Fault::refused(match was {
            Some(was) => format!(
                "the element [{id}], which was {was}, is not on the page any more; look at the page again"
            ),
            None => {
                format!("the element [{id}] is not on the page any more; look at the page again")
            }
        }));
    }
    match &aim.refused {
        Some(why) => Err(Fault::refused(format!("cannot {verb} {}: {why}", aim.told))),
        None => Ok(()),
    }
}
