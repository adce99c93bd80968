//! Filling inputs.
//!
//! A text replaces what the field holds, in any script, and is given as one piece, as
//! an input method does. Enter is pressed only where the text ends with a line break
//! and the field has one line. Files come from the workspace: they are read through it
//! and copied into the session's own directory, whose path is what the browser gets.

use camino::{Utf8Path, Utf8PathBuf};
use serde::Deserialize;
use serde_json::json;

use super::Session;
use super::ask::Fault;
use super::click::{Aim, check};
use super::frames::Frame;
use super::text::cut;
use crate::workspace::Workspace;

/// The most bytes of one file that is sent.
const FILE: u64 = 64 << 20;

/// As many files can be attached at once.
const FILES: usize = 20;

/// What the scripts say to filling an element.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
#[expect(clippy::struct_excessive_bools, reason = "an answer in JSON, as the script gives it")]
struct Filling {
    #[serde(flatten)]
    aim: Aim,
    /// It is done: what was chosen or set, and how to say so.
    done: Option<String>,
    how: String,
    /// The field has the focus and its text is selected.
    r#type: bool,
    /// Whether the field is empty.
    empty: bool,
    /// Whether it takes several lines.
    lines: bool,
    /// Whether it suggests what to type, which leaving it would end.
    suggests: bool,
    /// A click brings it to what is wanted.
    click: bool,
    want: bool,
    /// It takes files.
    file: bool,
    multiple: bool,
}

/// What a field holds after it was filled.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct Filled {
    value: String,
    told: String,
    gone: bool,
}

impl Session {
    /// Puts a text into an input in place of what it holds.
    pub(super) async fn fill(
        &mut self,
        index: usize,
        id: u32,
        text: &str,
        workspace: &Workspace,
    ) -> Result<String, Fault> {
        let (frames, at) = self.place(index, id).await?;
        let world = frames[at].world;
        let (typed, enter) = match text.strip_suffix("\r\n").or_else(|| text.strip_suffix('\n')) {
            Some(line) => (line, true),
            None => (text, false),
        };
        let arguments = json!({ "id": id, "text": typed });
        let filling: Filling = self.tabs[index].call(world, "fill", arguments).await?;
        check(id, &filling.aim, "fill")?;
        let told = filling.aim.told.clone();
        if let Some(done) = filling.done {
            return Ok(match filling.how.as_str() {
                "chose" => format!("chose {done} in {told}"),
                "left" => format!("{told} is {done} already"),
                _ => format!("set {told} to {done}"),
            });
        }
        if filling.file {
            return self
                .attach(index, id, &frames[at], (text, filling.multiple, &told), workspace)
                .await;
        }
        if filling.click {
            return self.toggle(index, id, filling.want).await;
        }
        if !filling.r#type {
            return Err(Fault::Said("an element that cannot be filled".into()));
        }
        // In a field of several lines the last line break belongs to the text.
        let (typed, enter) = if filling.lines { (text, false) } else { (typed, enter) };
        self.type_over(index, typed, filling.empty, filling.lines).await?;
        let arguments = json!({ "id": id, "quiet": filling.suggests || enter });
        let filled: Filled = match self.tabs[index].call(world, "filled", arguments).await {
            // Some pages go on by themselves once a field is full.
            Err(Fault::Gone) => return Ok(format!("filled {told}; the page changed")),
            filled => filled?,
        };
        if filled.gone {
            return Ok(format!("filled {told}; the page took it away then"));
        }
        let mut feedback = said(&filled, &told, typed);
        if enter {
            self.key(index, "Enter", 13, "\r").await?;
            feedback.push_str(" and pressed Enter");
        }
        Ok(feedback)
    }

    /// Types over what is selected.
    async fn type_over(
        &self,
        index: usize,
        text: &str,
        empty: bool,
        lines: bool,
    ) -> Result<(), Fault> {
        if text.is_empty() {
            return if empty { Ok(()) } else { self.key(index, "Backspace", 8, "").await };
        }
        // A line break in a field of one line would send its form.
        let text = if lines { text.to_owned() } else { text.replace(['\r', '\n'], " ") };
        let tab = &self.tabs[index];
        tab.ask_page("Input.insertText", json!({ "text": text }), self.options.patience).await?;
        Ok(())
    }

    /// Presses and releases a key.
    async fn key(&self, index: usize, key: &str, code: u32, text: &str) -> Result<(), Fault> {
        let tab = &self.tabs[index];
        let mut down = json!({
            "type": if text.is_empty() { "rawKeyDown" } else { "keyDown" },
            "key": key, "code": key, "windowsVirtualKeyCode": code,
        });
        if !text.is_empty() {
            down["text"] = text.into();
        }
        let up = json!({ "type": "keyUp", "key": key, "code": key, "windowsVirtualKeyCode": code });
        for event in [down, up] {
            match tab.ask_page("Input.dispatchKeyEvent", event, self.options.patience).await {
                Err(Fault::Closed | Fault::Gone) => return Ok(()),
                done => done.map(|_| ())?,
            }
        }
        Ok(())
    }

    /// Clicks a checkbox or radio button until it is as wanted.
    async fn toggle(&mut self, index: usize, id: u32, want: bool) -> Result<String, Fault> {
        self.click(index, id).await?;
        let (frames, at) = self.place(index, id).await?;
        let now: Aim =
            match self.tabs[index].call(frames[at].world, "describe", json!({ "id": id })).await {
                Err(Fault::Gone) => return Ok(format!("clicked [{id}]; the page changed")),
                now => now?,
            };
        let word = if want { "checked" } else { "unchecked" };
        if now.kind.checked == Some(!want) {
            return Err(Fault::refused(format!(
                "{} was clicked, but the page did not let it be {word}",
                now.told
            )));
        }
        Ok(format!("{word} {}", now.told))
    }

    /// Attaches files of the workspace.
    async fn attach(
        &mut self,
        index: usize,
        id: u32,
        frame: &Frame,
        (text, multiple, told): (&str, bool, &str),
        workspace: &Workspace,
    ) -> Result<String, Fault> {
        let names: Vec<&str> =
            text.lines().map(str::trim).filter(|name| !name.is_empty()).collect();
        if names.is_empty() {
            return Err(Fault::refused(format!(
                "cannot fill {told}: it takes a file; give its path in the workspace, such as `report.pdf`"
            )));
        }
        if (names.len() > 1 && !multiple) || names.len() > FILES {
            let most = if multiple { FILES } else { 1 };
            return Err(Fault::refused(format!(
                "cannot fill {told}: it takes at most {most} file(s)"
            )));
        }
        let mut staged = Vec::new();
        for name in &names {
            staged.push(self.stage(Utf8Path::new(name), workspace)?);
        }
        let tab = &self.tabs[index];
        let params = json!({
            "functionDeclaration": "(id) => globalThis.wildgym.fileInput(id)",
            "executionContextId": frame.world,
            "arguments": [{ "value": id }],
            "objectGroup": "wildgym",
        });
        let answer = tab.ask_page("Runtime.callFunctionOn", params, self.options.patience).await?;
        let object = answer["result"]["objectId"].clone();
        tab.ask("DOM.setFileInputFiles", json!({ "files": staged, "objectId": object })).await?;
        Ok(format!(
            "attached {} to {told}",
            names.iter().map(|name| format!("`{}`", cut(name, 120))).collect::<Vec<_>>().join(", ")
        ))
    }

    /// Copies a file of the workspace to where the browser may read it.
    fn stage(&mut self, path: &Utf8Path, workspace: &Workspace) -> Result<Utf8PathBuf, Fault> {
        let refuse = |error: &dyn std::fmt::Display| {
            Fault::refused(format!("cannot attach a file: {error}"))
        };
        let bytes = workspace.read(path, FILE).map_err(|error| refuse(&error))?;
        self.uploads += 1;
        let folder = self.options.downloads.join(format!("upload-{}", self.uploads));
        std::fs::create_dir(&folder).map_err(|error| refuse(&error))?;
        let copy = folder.join(path.file_name().unwrap_or("file"));
        std::fs::write(&copy, bytes).map_err(|error| refuse(&error))?;
        Ok(copy)
    }
}

/// Says what was typed and, where the field changed it, what it holds now.
fn said(filled: &Filled, told: &str, typed: &str) -> String {
    let same = |a: &str, b: &str| a.split_whitespace().eq(b.split_whitespace());
    if told.contains(" password") || filled.told.contains("password") || same(&filled.value, typed)
    {
        return if typed.is_empty() { format!("emptied {told}") } else { format!("filled {told}") };
    }
    format!("filled {told}; it holds `{}` now", cut(&filled.value, 200))
}
