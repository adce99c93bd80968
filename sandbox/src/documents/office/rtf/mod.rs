//! Rich Text Format as Markdown (Rich Text Format specification 1.9.1).
//!
//! Text, in whatever code page its font names, with headings, lists, tables, links, notes
//! and comments. Pictures and embedded objects are counted and left out, as is deleted and
//! hidden text. Groups are counted, not recursed into, so no nesting ends the stack.

mod flow;
mod letters;
mod lex;
mod words;

use encoding_rs::{Encoding, WINDOWS_1252};

use super::marks::{Face, quoted, symbol};
use super::page as page_of;
use crate::documents::{Document, Unreadable};
use flow::{Flow, Headings, Setting};
use letters::Fonts;
use lex::{Lexer, Token};

/// What the kind is called.
const KIND: &str = "RTF document";

/// The most groups that are open at once.
const GROUPS: usize = 2000;

/// Where text goes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Target {
    Text,
    Skip,
    Fonts,
    Styles,
    /// Instruction of a field.
    Instruction,
    /// Result of a field: text that may be a link.
    Result,
    /// Label of a list's item.
    Label,
    /// Name of who comments.
    Author,
    /// A text of its own.
    Note(Note),
    /// A tag of the page that the text was made from.
    Tag,
}

/// Texts of their own.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Note {
    Foot,
    Comment,
    Header,
    Footer,
    Shape,
}

/// What holds until a group ends.
#[derive(Debug, Clone)]
struct State {
    target: Target,
    face: Face,
    hidden: bool,
    deleted: bool,
    /// How many letters stand in for one of Unicode.
    stand_ins: usize,
    font: i32,
    setting: Setting,
    /// Whether the text is RTF for what the page says in its tags.
    rtf_only: bool,
}

/// A field that is open: the group it began in, its instruction, and where its result is.
#[derive(Debug)]
struct Field {
    depth: usize,
    instruction: String,
    place: (usize, usize),
    paragraph: usize,
}

/// The state of reading.
struct Reader {
    states: Vec<State>,
    state: State,
    /// Texts that are open, the innermost last.
    flows: Vec<Flow>,
    fonts: Fonts,
    default: &'static Encoding,
    headings: Headings,
    style: (Option<i32>, Option<i32>, String),
    /// Bytes that are not decoded yet.
    bytes: Vec<u8>,
    /// The first half of a pair.
    high: Option<u16>,
    /// Letters to leave out, after one of Unicode.
    skip: usize,
    /// Whether the next word names a target that may be unknown.
    starred: bool,
    fields: Vec<Field>,
    label: String,
    author: String,
    notes: Vec<(String, String)>,
    counts: [usize; 2],
    margins: Vec<(&'static str, String)>,
    shapes: Vec<String>,
    /// The page that the text was made from, if it was.
    page: Option<String>,
    pictures: usize,
    deleted: usize,
    hidden: usize,
}

/// Extracts the text of a document.
pub(in crate::documents) fn read(bytes: &[u8]) -> Result<Document, Unreadable> {
    let mut reader = Reader::new();
    for token in Lexer::new(bytes) {
        if reader.states.len() > GROUPS {
            let reason = format!("its groups nest more than {GROUPS} deep");
            return Err(Unreadable::Damaged { kind: KIND, reason });
        }
        reader.token(token);
    }
    reader.flush();
    let open = reader.states.len();
    while !reader.states.is_empty() {
        reader.close();
    }
    let mut document = reader.finish();
    if open > 0 {
        document.notes.push("the file breaks off before it ends".to_owned());
    }
    Ok(document)
}

impl Reader {
    fn new() -> Self {
        let state = State {
            target: Target::Text,
            face: Face::default(),
            hidden: false,
            deleted: false,
            stand_ins: 1,
            font: -1,
            setting: Setting::default(),
            rtf_only: false,
        };
        Self {
            states: Vec::new(),
            state,
            flows: vec![Flow::default()],
            fonts: Fonts::default(),
            default: WINDOWS_1252,
            headings: Headings::new(),
            style: (None, None, String::new()),
            bytes: Vec::new(),
            high: None,
            skip: 0,
            starred: false,
            fields: Vec::new(),
            label: String::new(),
            author: String::new(),
            notes: Vec::new(),
            counts: [0; 2],
            margins: Vec::new(),
            shapes: Vec::new(),
            page: None,
            pictures: 0,
            deleted: 0,
            hidden: 0,
        }
    }

    fn token(&mut self, token: Token<'_>) {
        match token {
            Token::Byte(_) if self.skip > 0 => self.skip -= 1,
            Token::Byte(byte) => self.bytes.push(byte),
            Token::Open => {
                self.flush();
                self.skip = 0;
                self.states.push(self.state.clone());
            }
            Token::Close => {
                self.flush();
                self.skip = 0;
                self.close();
            }
            Token::Sign(sign) => {
                if matches!(sign, b'\\' | b'{' | b'}') {
                    if self.skip > 0 {
                        self.skip -= 1;
                    } else {
                        self.bytes.push(sign);
                    }
                    return;
                }
                self.flush();
                match sign {
                    b'*' => self.starred = true,
                    b'~' => self.text("\u{a0}"),
                    b'_' => self.text("\u{2011}"),
                    b'\r' | b'\n' => self.word("par", None),
                    _ => {}
                }
            }
            Token::Word("u", number) => {
                if !self.bytes.is_empty() {
                    self.flush();
                }
                self.unicode(number.unwrap_or(0));
                self.skip = self.state.stand_ins;
            }
            Token::Word(name, number) => {
                self.flush();
                let starred = std::mem::take(&mut self.starred);
                self.control(name, number, starred);
            }
        }
    }

    /// Takes a unit of UTF-16; numbers above 32767 are written as negative ones.
    fn unicode(&mut self, number: i32) {
        let unit = u16::try_from(number & 0xffff).unwrap_or(0);
        match (self.high.take(), unit) {
            (_, 0xd800..=0xdbff) => self.high = Some(unit),
            (Some(high), 0xdc00..=0xdfff) => {
                let pair = char::decode_utf16([high, unit]).next().and_then(Result::ok);
                self.text(&pair.map(String::from).unwrap_or_default());
            }
            _ => {
                let letter = symbol(u32::from(unit));
                self.text(&letter.map(String::from).unwrap_or_default());
            }
        }
    }

    /// Decodes the bytes that have come together.
    fn flush(&mut self) {
        if self.bytes.is_empty() {
            return;
        }
        let bytes = std::mem::take(&mut self.bytes);
        let (encoding, symbols) = self.fonts.get(self.state.font);
        let text = if symbols {
            bytes
                .iter()
                .filter_map(|byte| {
                    symbol(0xf000 + u32::from(*byte))
                        .or(Some(char::from(*byte)).filter(char::is_ascii))
                })
                .collect()
        } else {
            encoding.unwrap_or(self.default).decode_without_bom_handling(&bytes).0.into_owned()
        };
        self.text(&text);
    }

    /// Puts text where it belongs.
    fn text(&mut self, text: &str) {
        let state = &self.state;
        match state.target {
            Target::Skip | Target::Fonts => {}
            Target::Styles => self.style.2.push_str(text),
            Target::Label => self.label.push_str(text),
            Target::Author => self.author.push_str(text),
            Target::Instruction => {
                if let Some(field) = self.fields.last_mut() {
                    field.instruction.push_str(text);
                }
            }
            Target::Tag => {
                if let Some(page) = &mut self.page {
                    page.push_str(text);
                }
            }
            Target::Text | Target::Result | Target::Note(_) => {
                if let Some(page) = &mut self.page {
                    if !state.rtf_only {
                        page.push_str(text);
                    }
                } else if state.deleted {
                    self.deleted += 1;
                } else if state.hidden {
                    self.hidden += 1;
                } else if let Some(flow) = self.flows.last_mut() {
                    flow.push(text, state.face);
                }
            }
        }
    }

    /// Ends a group, and with it what it was for.
    fn close(&mut self) {
        let Some(outer) = self.states.pop() else {
            return;
        };
        let inner = std::mem::replace(&mut self.state, outer);
        if inner.target == self.state.target {
            if inner.target == Target::Styles {
                self.end_style();
            }
            self.end_fields();
            return;
        }
        match inner.target {
            Target::Label => {
                let label = std::mem::take(&mut self.label);
                if let Some(flow) = self.flows.last_mut() {
                    flow.label = Some(label);
                }
            }
            Target::Result => self.end_result(),
            Target::Note(note) => self.end_note(note, &inner.setting),
            Target::Styles => self.end_style(),
            Target::Text
            | Target::Skip
            | Target::Fonts
            | Target::Instruction
            | Target::Author
            | Target::Tag => {}
        }
        self.end_fields();
    }

    fn end_fields(&mut self) {
        while self.fields.last().is_some_and(|field| field.depth > self.states.len()) {
            self.fields.pop();
        }
    }

    /// Makes a link of a field's result.
    fn end_result(&mut self) {
        let Some((field, flow)) = self.fields.last().zip(self.flows.last_mut()) else {
            return;
        };
        let rest = field.instruction.trim().strip_prefix("HYPERLINK").map(str::trim);
        let address = rest.filter(|rest| !rest.starts_with("\\l")).and_then(|rest| {
            let quoted = rest.strip_prefix('"').and_then(|rest| rest.split('"').next());
            quoted.or_else(|| rest.split_whitespace().next())
        });
        if let Some(address) = address.filter(|it| !it.is_empty() && flow.ended == field.paragraph)
        {
            flow.inline.link(field.place, address);
        }
    }

    fn end_style(&mut self) {
        let (number, outline, name) = std::mem::take(&mut self.style);
        let name = name.trim().trim_end_matches(';').trim().to_lowercase();
        let named = name.strip_prefix("heading").and_then(|level| level.trim().parse().ok());
        let outline = outline.and_then(|level| usize::try_from(level).ok()).filter(|it| *it < 9);
        let title = (name == "title").then_some(1);
        let level = named.or(outline.map(|level| level + 1)).or(title);
        if let Some((number, level)) = number.zip(level) {
            self.headings.insert(number, level);
        }
    }

    /// Begins a text of its own.
    fn begin_note(&mut self, note: Note) {
        self.state.target = Target::Note(note);
        self.state.setting = Setting::default();
        self.flows.push(Flow::default());
    }

    fn end_note(&mut self, note: Note, setting: &Setting) {
        if self.flows.len() < 2 {
            return;
        }
        let Some(flow) = self.flows.pop() else { return };
        let text = flow.finish(setting, &self.headings);
        let text = text.trim();
        let label = match note {
            Note::Header | Note::Footer => {
                let name = if note == Note::Header { "Header" } else { "Footer" };
                if !text.is_empty() && !self.margins.contains(&(name, text.to_owned())) {
                    self.margins.push((name, text.to_owned()));
                }
                return;
            }
            Note::Shape => {
                self.shapes.push(text.to_owned());
                return;
            }
            Note::Foot => {
                self.counts[0] += 1;
                format!("[^{}]", self.counts[0])
            }
            Note::Comment => {
                self.counts[1] += 1;
                format!("[^c{}]", self.counts[1])
            }
        };
        let mut text = text.replace('\n', "\n    ");
        if note == Note::Comment {
            let author = std::mem::take(&mut self.author);
            let author = if author.trim().is_empty() { "unknown" } else { author.trim() };
            text = format!("comment by {author}: {text}");
        }
        if let Some(flow) = self.flows.last_mut() {
            flow.inline.mark(&label);
        }
        self.notes.push((label, text));
    }

    /// Ends a paragraph, and puts the text boxes of it below.
    fn end_paragraph(&mut self) {
        if let Some(flow) = self.flows.last_mut() {
            flow.paragraph(&self.state.setting, &self.headings);
            if !self.state.setting.in_table {
                for shape in std::mem::take(&mut self.shapes) {
                    flow.block(&shape);
                }
            }
        }
    }

    fn finish(mut self) -> Document {
        if let Some(page) = &self.page {
            return Document { kind: KIND.into(), text: page_of(page), notes: Vec::new() };
        }
        self.end_paragraph();
        let setting = Setting::default();
        let mut flow = Flow::default();
        while let Some(last) = self.flows.pop() {
            flow = last;
        }
        for shape in std::mem::take(&mut self.shapes) {
            flow.block(&shape);
        }
        for (label, text) in &self.notes {
            flow.block(&format!("{label}: {text}"));
        }
        for (name, text) in &self.margins {
            flow.block(&quoted(name, text));
        }
        let text = flow.finish(&setting, &self.headings);
        let mut notes = Vec::new();
        if text.trim().is_empty() {
            notes.push("the document holds no text".to_owned());
        }
        let counts = [
            (self.pictures, "pictures, not shown"),
            (self.deleted, "runs of deleted text left out"),
            (self.hidden, "runs of hidden text left out"),
        ];
        let counts = counts.iter().filter(|(count, _)| *count > 0);
        notes.extend(counts.map(|(count, what)| format!("{what}: {count}")));
        Document { kind: KIND.into(), text, notes }
    }
}
