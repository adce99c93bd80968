//! What the control words of RTF do.

use super::flow::Setting;
use super::letters::{code_page, named};
use super::{Field, Note, Reader, Target};
use crate::documents::office::marks::Face;

impl Reader {
    /// Obeys a control word; a starred one that is not known hides its group.
    pub(super) fn control(&mut self, name: &str, number: Option<i32>, starred: bool) {
        if self.state.target == Target::Skip && !matches!(name, "shptxt" | "result" | "uc") {
            return;
        }
        if self.destination(name) {
            return;
        }
        if starred {
            self.state.target = Target::Skip;
            return;
        }
        let value = number.unwrap_or(1);
        match self.state.target {
            Target::Fonts => self.fonts.word(name, value),
            Target::Styles => match name {
                "s" => self.style.0 = number,
                "outlinelevel" => self.style.1 = number,
                _ => {}
            },
            Target::Text
            | Target::Skip
            | Target::Instruction
            | Target::Result
            | Target::Label
            | Target::Author
            | Target::Note(_)
            | Target::Tag => self.word(name, number),
        }
    }

    /// Turns the group to what a word names; returns whether it names anything.
    fn destination(&mut self, name: &str) -> bool {
        let target = match name {
            "fonttbl" => Target::Fonts,
            "stylesheet" => Target::Styles,
            "fldinst" => Target::Instruction,
            "fldrslt" => {
                self.begin_result();
                Target::Result
            }
            "field" => {
                self.begin_field();
                return true;
            }
            "listtext" | "pntext" => Target::Label,
            "atnauthor" => {
                self.author.clear();
                Target::Author
            }
            "htmltag" => Target::Tag,
            "pict" => {
                self.pictures += 1;
                Target::Skip
            }
            "footnote" => return self.note(Note::Foot),
            "annotation" => return self.note(Note::Comment),
            "header" | "headerl" | "headerr" | "headerf" => return self.note(Note::Header),
            "footer" | "footerl" | "footerr" | "footerf" => return self.note(Note::Footer),
            "shptxt" => return self.note(Note::Shape),
            // Wrappers of text that old readers leave out.
            "shppict" | "moMath" | "moMathPara" | "mmath" => return true,
            "result" => Target::Text,
            "colortbl" | "info" | "nonshppict" | "objdata" | "objclass" | "objname"
            | "themedata" | "colorschememapping" | "datastore" | "xmlnstbl" | "listtable"
            | "listoverridetable" | "rsidtbl" | "generator" | "latentstyles" | "filetbl"
            | "revtbl" | "bkmkstart" | "bkmkend" | "xe" | "tc" | "tcl" | "atnid" | "atnref"
            | "atrfstart" | "atrfend" | "atndate" | "atnparent" | "atnicn" | "mmathPr"
            | "pgptbl" | "pn" | "shpinst" | "ftnsep" | "ftnsepc" | "ftncn" | "aftnsep"
            | "aftnsepc" | "aftncn" | "background" | "template" | "docvar" => Target::Skip,
            _ => return false,
        };
        self.state.target = target;
        true
    }

    fn note(&mut self, note: Note) -> bool {
        self.begin_note(note);
        true
    }

    fn begin_field(&mut self) {
        let field = Field {
            depth: self.states.len(),
            instruction: String::new(),
            place: (0, 0),
            paragraph: 0,
        };
        self.fields.push(field);
    }

    fn begin_result(&mut self) {
        if let Some((field, flow)) = self.fields.last_mut().zip(self.flows.last()) {
            field.place = flow.inline.place();
            field.paragraph = flow.ended;
        }
    }

    /// Obeys a word within text.
    pub(super) fn word(&mut self, name: &str, number: Option<i32>) {
        let on = number != Some(0);
        let state = &mut self.state;
        match name {
            "ansicpg" => self.default = code_page(number.unwrap_or(0)).unwrap_or(self.default),
            "mac" => self.default = encoding_rs::MACINTOSH,
            "fromhtml" => self.page = Some(String::new()),
            "htmlrtf" => state.rtf_only = on,
            "uc" => state.stand_ins = number.and_then(|it| usize::try_from(it).ok()).unwrap_or(1),
            "f" => state.font = number.unwrap_or(0),
            "b" => state.face.bold = on,
            "i" => state.face.italic = on,
            "strike" => state.face.struck = on,
            "v" => state.hidden = on,
            "deleted" => state.deleted = on,
            "plain" => {
                state.face = Face::default();
                (state.hidden, state.deleted) = (false, false);
            }
            "pard" => {
                state.setting = Setting::default();
            }
            "trowd" | "cellx" => {
                if let Some(flow) = self.flows.last_mut() {
                    if name == "trowd" { flow.begin_row() } else { flow.edge(number.unwrap_or(0)) }
                }
            }
            "intbl" => state.setting.in_table = on,
            "s" => state.setting.style = number,
            "outlinelevel" => state.setting.outline = number,
            "ls" => state.setting.list = on,
            "ilvl" => {
                state.setting.level = number.and_then(|it| usize::try_from(it).ok()).unwrap_or(0);
            }
            _ => self.break_or_letter(name),
        }
    }

    /// Obeys a word that ends something, or stands for a letter.
    fn break_or_letter(&mut self, name: &str) {
        if self.page.is_some() {
            match name {
                "par" | "line" => self.text("\n"),
                _ => self.text(named(name).unwrap_or_default()),
            }
            return;
        }
        match (self.state.target, name) {
            (Target::Text | Target::Result | Target::Note(_), "par" | "sect" | "page") => {
                self.end_paragraph();
            }
            (Target::Text | Target::Result | Target::Note(_), "cell") => {
                if let Some(flow) = self.flows.last_mut() {
                    flow.cell(&self.state.setting, &self.headings);
                }
            }
            (Target::Text | Target::Result | Target::Note(_), "row") => {
                if let Some(flow) = self.flows.last_mut() {
                    flow.row();
                }
            }
            // Tables in cells show as lines of it.
            (_, "nestcell") => self.text(" ; "),
            (_, "nestrow") => self.text("\n"),
            _ => {
                if let Some(letter) = named(name) {
                    self.text(letter);
                }
            }
        }
    }
}
