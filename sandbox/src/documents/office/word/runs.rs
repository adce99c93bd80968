//! Runs of a Word document: text, links, fields, notes, pictures and text boxes.

use super::body::chosen;
use super::styles::toggle;
use super::{Collection, Field, Reader};
use crate::documents::office::marks::{Blocks, Face, Inline, picture, symbol};
use crate::documents::office::package::base;
use crate::documents::office::xml::Element;
use crate::documents::office::{chart, math};

/// How much of the text that a comment is on is quoted, in bytes.
const QUOTED: usize = 200;

impl Reader<'_, '_> {
    /// Reads the runs of a paragraph and what wraps them.
    pub(super) fn inline(&mut self, parent: Element<'_>, inline: &mut Inline) {
        for child in parent.children() {
            match child.name() {
                "w:r" => self.run(child, inline),
                "w:hyperlink" => self.hyperlink(child, inline),
                "w:fldSimple" => {
                    let place = inline.place();
                    self.inline(child, inline);
                    let address = address(child.attr("w:instr").unwrap_or_default());
                    if let Some(address) = address {
                        inline.link(place, &address);
                    }
                }
                "w:ins" | "w:moveTo" => {
                    self.seen.inserted += 1;
                    self.inline(child, inline);
                }
                "w:smartTag" | "w:customXml" | "w:sdtContent" | "w:dir" | "w:bdo" => {
                    self.inline(child, inline);
                }
                "w:sdt" => {
                    if let Some(content) = child.child("w:sdtContent") {
                        self.inline(content, inline);
                    }
                }
                "w:del" | "w:moveFrom" => self.seen.deleted += 1,
                "m:oMath" | "m:oMathPara" => inline.mark(&math::equation(child)),
                "mc:AlternateContent" => {
                    if let Some(choice) = chosen(child) {
                        self.inline(choice, inline);
                    }
                }
                "w:commentRangeStart" | "w:commentRangeEnd" => self.comment_range(child),
                _ => {}
            }
        }
    }

    fn hyperlink(&mut self, link: Element<'_>, inline: &mut Inline) {
        let place = inline.place();
        self.inline(link, inline);
        let target = link.attr("r:id").and_then(|id| self.relations.get(id));
        let mut address = target.map(|target| target.target.clone()).unwrap_or_default();
        if let Some(anchor) = link.attr("w:anchor").filter(|_| !address.is_empty()) {
            address.extend(["#", anchor]);
        }
        // Links within the document lead nowhere in a text.
        if !address.is_empty() {
            inline.link(place, &address);
        }
    }

    fn run(&mut self, run: Element<'_>, inline: &mut Inline) {
        let properties = run.child("w:rPr");
        if properties.and_then(|it| toggle(it, "w:vanish")) == Some(true) {
            self.seen.hidden += usize::from(run.child("w:t").is_some());
            return;
        }
        let style = properties.and_then(|it| it.value("w:rStyle"));
        let mut face = style.map(|style| self.styles.face(style)).unwrap_or_default();
        if let Some(properties) = properties {
            face.bold = toggle(properties, "w:b").unwrap_or(face.bold);
            face.italic = toggle(properties, "w:i").unwrap_or(face.italic);
            face.struck = toggle(properties, "w:strike").unwrap_or(face.struck);
        }
        for child in run.children() {
            self.piece(child, face, inline);
        }
    }

    fn piece(&mut self, piece: Element<'_>, face: Face, inline: &mut Inline) {
        match piece.name() {
            "w:fldChar" => self.field(piece, inline),
            "w:instrText" => {
                if let Some(field) = self.fields.last_mut().filter(|field| !field.in_result) {
                    field.instruction.push_str(&piece.text());
                }
            }
            "w:footnoteReference" => self.reference(Collection::Foot, piece, inline),
            "w:endnoteReference" => self.reference(Collection::End, piece, inline),
            "w:commentReference" => self.comment(piece, inline),
            "w:drawing" | "w:pict" | "w:object" => self.drawing(piece, inline),
            "mc:AlternateContent" => {
                for child in chosen(piece).into_iter().flat_map(Element::children) {
                    self.piece(child, face, inline);
                }
            }
            "w:ruby" => {
                for (part, around) in [("w:rubyBase", ("", "")), ("w:rt", ("(", ")"))] {
                    let text: String = piece.child(part).map(Element::text).unwrap_or_default();
                    self.text(&format!("{}{text}{}", around.0, around.1), face, inline);
                }
            }
            name => {
                if let Some(text) = letters(name, piece) {
                    self.text(&text, face, inline);
                }
            }
        }
    }

    /// Adds text, unless it is the instruction of a field.
    fn text(&mut self, text: &str, face: Face, inline: &mut Inline) {
        if self.fields.iter().any(|field| !field.in_result) {
            return;
        }
        for id in &self.open {
            let on = self.commented.entry(id.clone()).or_default();
            if on.len() < QUOTED {
                on.push_str(text);
            }
        }
        inline.push(text, face);
    }

    fn reference(&mut self, collection: Collection, reference: Element<'_>, inline: &mut Inline) {
        if let Some(id) = reference.attr("w:id") {
            inline.mark(&self.note(collection, id));
        }
    }

    fn field(&mut self, mark: Element<'_>, inline: &mut Inline) {
        match mark.attr("w:fldCharType") {
            Some("begin") => self.fields.push(Field { place: inline.place(), ..Field::default() }),
            Some("separate") => {
                if let Some(field) = self.fields.last_mut() {
                    field.in_result = true;
                    field.place = inline.place();
                }
            }
            Some("end") => {
                if let Some(field) = self.fields.pop()
                    && let Some(address) = address(&field.instruction)
                {
                    inline.link(field.place, &address);
                }
            }
            _ => {}
        }
    }

    /// Reads what a drawing holds: a picture, a chart, a diagram, text.
    fn drawing(&mut self, drawing: Element<'_>, inline: &mut Inline) {
        let shown = drawing.find("wp:docPr").or_else(|| drawing.find("v:shape"));
        let attribute = |name: &str| shown.and_then(|it| it.attr(name)).filter(|it| !it.is_empty());
        let alt = attribute("descr").or(attribute("title")).or(attribute("alt")).unwrap_or("");
        let mut texts = Vec::new();
        self.parts(drawing, alt, inline, &mut texts);
        for text in texts {
            self.after.push(text);
        }
    }

    fn parts(
        &mut self,
        parent: Element<'_>,
        alt: &str,
        inline: &mut Inline,
        texts: &mut Vec<String>,
    ) {
        for child in parent.children() {
            let own = |name: &str| child.attr(name).and_then(|id| self.relations.get(id));
            match child.name() {
                "mc:AlternateContent" => {
                    if let Some(choice) = chosen(child) {
                        self.parts(choice, alt, inline, texts);
                    }
                }
                "w:txbxContent" => {
                    // What stands after paragraphs of the box belongs to it.
                    let after = std::mem::take(&mut self.after);
                    let carried = self.carried.take();
                    let fields = std::mem::take(&mut self.fields);
                    let mut blocks = Blocks::default();
                    self.blocks(child, &mut blocks);
                    (self.after, self.carried, self.fields) = (after, carried, fields);
                    texts.push(blocks.finish());
                }
                "a:blip" => {
                    let name =
                        own("r:embed").or_else(|| own("r:link")).map_or("", |it| base(&it.target));
                    let mark = picture(alt, name);
                    self.seen.pictures += 1;
                    inline.mark(&mark);
                }
                "v:imagedata" => {
                    let name = own("r:id").map_or("", |it| base(&it.target));
                    let title = child.attr("o:title").unwrap_or_default();
                    let mark = picture(if alt.is_empty() { title } else { alt }, name);
                    self.seen.pictures += 1;
                    inline.mark(&mark);
                }
                "c:chart" | "cx:chart" => {
                    let path = own("r:id").map(|it| it.target.clone()).unwrap_or_default();
                    texts.extend(chart::chart(self.package, &path));
                }
                "dgm:relIds" => {
                    let path = own("r:dm").map(|it| it.target.clone()).unwrap_or_default();
                    texts.extend(chart::diagram(self.package, &path));
                }
                "o:OLEObject" => {
                    self.seen.objects += 1;
                    let program = child.attr("ProgID").unwrap_or("object");
                    inline.mark(&format!("[embedded: {program}]"));
                }
                _ => self.parts(child, alt, inline, texts),
            }
        }
    }
}

/// Returns the letters that an element of a run stands for.
fn letters(name: &str, piece: Element<'_>) -> Option<String> {
    Some(match name {
        "w:t" => piece.text(),
        "w:tab" | "w:ptab" => "\t".to_owned(),
        "w:br" | "w:cr" => "\n".to_owned(),
        "w:noBreakHyphen" => "\u{2011}".to_owned(),
        "w:sym" => {
            let code = u32::from_str_radix(piece.attr("w:char")?, 16).ok()?;
            symbol(code)?.to_string()
        }
        _ => return None,
    })
}

/// Returns the address that a field leads to, if it is a link.
fn address(instruction: &str) -> Option<String> {
    let rest = instruction.trim().strip_prefix("HYPERLINK")?.trim();
    // `\\l` leads to a place in the document itself.
    if rest.starts_with("\\l") {
        return None;
    }
    let quoted = rest.strip_prefix('"').and_then(|rest| rest.split_once('"'));
    let address =
        quoted.map_or_else(|| rest.split_whitespace().next(), |(address, _)| Some(address))?;
    (!address.is_empty()).then(|| address.to_owned())
}
