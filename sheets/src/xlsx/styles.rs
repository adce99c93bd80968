//! The looks of cells: number formats, fonts and fills, with colours as `#RRGGBB`.

use crate::formats::{Form, builtin};
use crate::xlsx::package::Package;
use crate::xml::{Node, ON, attribute, flag, number};

/// The most formats of cells that are told apart.
const FORMATS: usize = 70_000;

/// The colours that old files name by number (ECMA-376 part 1, 18.8.27), from 8.
const INDEXED: [&str; 56] = [
    "000000", "FFFFFF", "FF0000", "00FF00", "0000FF", "FFFF00", "FF00FF", "00FFFF", "800000",
    "008000", "000080", "808000", "800080", "008080", "C0C0C0", "808080", "9999FF", "993366",
    "FFFFCC", "CCFFFF", "660066", "FF8080", "0066CC", "CCCCFF", "000080", "FF00FF", "FFFF00",
    "00FFFF", "800080", "800000", "008080", "0000FF", "00CCFF", "CCFFFF", "CCFFCC", "FFFF99",
    "99CCFF", "FF99CC", "CC99FF", "FFCC99", "3366FF", "33CCCC", "99CC00", "FFCC00", "FF9900",
    "FF6600", "666699", "969696", "003366", "339966", "003300", "333300", "993300", "993366",
    "333399", "333333",
];

/// The looks of a workbook. A look is a number, and 0 is one that nobody notices.
#[derive(Debug, Default)]
pub(crate) struct Styles {
    /// Of each format of cells: number format, font and fill.
    pub looks: Vec<[u32; 3]>,
    /// Of each format of cells: how its numbers are shown.
    pub forms: Vec<Form>,
    /// The names of number formats, fonts and fills, by look.
    pub names: [Names; 3],
}

/// The names of looks; the first is empty.
#[derive(Debug)]
pub(crate) struct Names(Vec<String>);

impl Default for Names {
    fn default() -> Self {
        Self(vec![String::new()])
    }
}

impl Names {
    /// Returns the look of a name.
    fn look(&mut self, name: String) -> u32 {
        let at = self.0.iter().position(|other| *other == name).unwrap_or_else(|| {
            self.0.push(name);
            self.0.len() - 1
        });
        u32::try_from(at).unwrap_or(0)
    }

    /// Returns the name of a look.
    pub(crate) fn of(&self, look: u32) -> &str {
        usize::try_from(look).ok().and_then(|at| self.0.get(at)).map_or("", String::as_str)
    }
}

impl Styles {
    /// Returns number format, font and fill of a format of cells.
    pub(crate) fn look(&self, format: u32) -> [u32; 3] {
        let at = usize::try_from(format).ok();
        at.and_then(|at| self.looks.get(at)).copied().unwrap_or_default()
    }

    /// Reads the parts for styles and theme.
    pub(crate) fn read(package: &mut Package<'_>, styles: &str, theme: Option<&str>) -> Self {
        let mut reading = Reading {
            colours: theme.map(|theme| themed(package, theme)).unwrap_or_default(),
            ..Reading::default()
        };
        package.walk(styles, |node| {
            reading.node(&node);
            ON
        });
        reading.finish()
    }
}

/// Returns the colours of a theme in the order in which cells number them: the light and
/// dark pairs are swapped against the order of the part.
fn themed(package: &mut Package<'_>, path: &str) -> Vec<String> {
    let mut colours = Vec::new();
    let (mut inside, mut open) = (false, false);
    package.walk(path, |node| {
        match node {
            Node::Open("clrScheme", _) => inside = true,
            Node::Close("clrScheme") => return std::ops::ControlFlow::Break(()),
            Node::Open("sysClr" | "srgbClr", tag) if inside && open => {
                let colour = attribute(tag, "lastClr").or_else(|| attribute(tag, "val"));
                colours.push(colour.unwrap_or_default());
                open = false;
            }
            Node::Open(_, _) if inside => open = true,
            Node::Open(..) | Node::Close(_) | Node::Text(_) => {}
        }
        ON
    });
    if colours.len() >= 4 {
        colours.swap(0, 1);
        colours.swap(2, 3);
    }
    colours
}

/// A font as it is described.
#[derive(Debug, Default, Clone)]
struct Font {
    marks: Vec<&'static str>,
    colour: Option<String>,
}

/// The part for styles while it is read.
#[derive(Debug, Default)]
struct Reading {
    colours: Vec<String>,
    codes: Vec<(u32, String)>,
    fonts: Vec<Font>,
    fills: Vec<String>,
    formats: Vec<[u32; 3]>,
    path: Vec<Place>,
}

/// Where in the part the reading is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Place {
    Fonts,
    Fills,
    Formats,
    Differential,
}

impl Reading {
    fn node(&mut self, node: &Node<'_>) {
        match node {
            Node::Open(name, tag) => self.open(name, tag),
            Node::Close("fonts" | "fills" | "cellXfs" | "dxfs") => {
                self.path.pop();
            }
            Node::Close(_) | Node::Text(_) => {}
        }
    }

    fn open(&mut self, name: &str, tag: &quick_xml::events::BytesStart<'_>) {
        let place = self.path.last().copied();
        match (name, place) {
            ("fonts", _) => self.path.push(Place::Fonts),
            ("fills", _) => self.path.push(Place::Fills),
            ("cellXfs", _) => self.path.push(Place::Formats),
            ("dxfs", _) => self.path.push(Place::Differential),
            ("numFmt", None) => {
                let code = attribute(tag, "formatCode").unwrap_or_default();
                self.codes.extend(number(tag, "numFmtId").map(|id| (id, code)));
            }
            ("font", Some(Place::Fonts)) => self.fonts.push(Font::default()),
            (mark @ ("b" | "i" | "u" | "strike"), Some(Place::Fonts)) => {
                let on =
                    attribute(tag, "val").is_none_or(|v| !matches!(&*v, "0" | "false" | "none"));
                let mark = match mark {
                    "b" => "bold",
                    "i" => "italic",
                    "u" => "underlined",
                    _ => "struck out",
                };
                if let Some(font) = self.fonts.last_mut().filter(|_| on) {
                    font.marks.push(mark);
                }
            }
            ("color", Some(Place::Fonts)) => {
                let colour = self.colour(tag);
                if let Some(font) = self.fonts.last_mut() {
                    font.colour = colour;
                }
            }
            ("fill", Some(Place::Fills)) => self.fills.push(String::new()),
            ("patternFill", Some(Place::Fills)) => {
                let pattern = attribute(tag, "patternType").unwrap_or_default();
                if let Some(fill) = self.fills.last_mut()
                    && !matches!(&*pattern, "" | "none" | "solid")
                {
                    *fill = pattern;
                }
            }
            ("fgColor" | "color", Some(Place::Fills)) => {
                let colour = self.colour(tag);
                if let (Some(fill), Some(colour)) = (self.fills.last_mut(), colour) {
                    let gap = if fill.is_empty() { "" } else { " " };
                    fill.push_str(gap);
                    fill.push_str(&colour);
                }
            }
            ("xf", Some(Place::Formats)) if self.formats.len() < FORMATS => {
                let get = |name| number(tag, name).unwrap_or(0);
                self.formats.push([get("numFmtId"), get("fontId"), get("fillId")]);
            }
            _ => {}
        }
    }

    /// Reads a colour; nothing for one that the program chooses.
    fn colour(&self, tag: &quick_xml::events::BytesStart<'_>) -> Option<String> {
        let tint = attribute(tag, "tint").and_then(|tint| tint.parse().ok()).unwrap_or(0.0);
        let base = if let Some(rgb) = attribute(tag, "rgb") {
            rgb
        } else if let Some(theme) = number(tag, "theme") {
            self.colours.get(usize::try_from(theme).ok()?).cloned()?
        } else {
            let index = usize::try_from(number(tag, "indexed")?).ok()?;
            let at = if index < 8 { index } else { index - 8 };
            (*INDEXED.get(at)?).to_owned()
        };
        if flag(tag, "auto", false) {
            return None;
        }
        tinted(&base, tint)
    }

    fn finish(self) -> Styles {
        let mut styles = Styles::default();
        // The first font is that of the whole workbook.
        let usual = self.fonts.first().cloned().unwrap_or_default();
        for [code, font, fill] in self.formats {
            let own = self.codes.iter().find(|(id, _)| *id == code).map(|(_, code)| code.as_str());
            let code = own.or_else(|| builtin(code)).unwrap_or("General");
            let font = usize::try_from(font).ok().and_then(|at| self.fonts.get(at));
            let fill = usize::try_from(fill).ok().and_then(|at| self.fills.get(at));
            let code_name = if code.eq_ignore_ascii_case("general") { "" } else { code };
            let [codes, fonts, fills] = &mut styles.names;
            styles.looks.push([
                codes.look(code_name.to_owned()),
                fonts.look(font.map(|font| font.against(&usual)).unwrap_or_default()),
                fills.look(fill.cloned().unwrap_or_default()),
            ]);
            styles.forms.push(Form::of(code));
        }
        styles
    }
}

impl Font {
    /// Names what sets a font apart from the usual one.
    fn against(&self, usual: &Self) -> String {
        let mut words: Vec<&str> =
            self.marks.iter().copied().filter(|mark| !usual.marks.contains(mark)).collect();
        let plain = Some("#000000".to_owned());
        let seen = |colour: &Option<String>| colour.clone().or_else(|| plain.clone());
        let colour =
            seen(&self.colour).filter(|colour| Some(colour) != seen(&usual.colour).as_ref());
        words.extend(colour.as_deref());
        words.join(" ")
    }
}

/// Lightens (above 0) or darkens a colour as ECMA-376 part 1, 18.8.19 says, and writes it
/// as `#RRGGBB`.
fn tinted(hex: &str, tint: f64) -> Option<String> {
    let hex = hex.get(hex.len().checked_sub(6)?..)?;
    let value = u32::from_str_radix(hex, 16).ok()?;
    if tint == 0.0 {
        return Some(format!("#{value:06X}"));
    }
    let parts = [value >> 16, value >> 8 & 255, value & 255].map(|part| f64::from(part) / 255.0);
    let most = parts.iter().copied().fold(0.0, f64::max);
    let least = parts.iter().copied().fold(1.0, f64::min);
    let light = f64::midpoint(most, least);
    let wanted = if tint < 0.0 { light * (1.0 + tint) } else { light * (1.0 - tint) + tint };
    // Hue and saturation stay: each part keeps its distance from the middle, as far as the
    // new lightness leaves room.
    let room = |light: f64| 1.0 - (2.0 * light - 1.0).abs();
    let scale = if room(light) > 0.0 { room(wanted) / room(light) } else { 0.0 };
    let [red, green, blue] = parts.map(|part| {
        let part = (wanted + (part - light) * scale).clamp(0.0, 1.0) * 255.0;
        #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "0 to 255")]
        let part = part.round() as u8;
        part
    });
    Some(format!("#{red:02X}{green:02X}{blue:02X}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tints_lighten_and_darken() {
        let table = [
            ("FF4F81BD", 0.0, Some("#4F81BD"), "as it is"),
            ("FFFFFF", -0.25, Some("#BFBFBF"), "darker white"),
            ("000000", 0.5, Some("#808080"), "lighter black"),
            ("4F81BD", 0.6, Some("#B9CDE5"), "lighter blue, as the program shows it"),
            ("xyz", 0.0, None, "no colour"),
        ];
        for (hex, tint, want, why) in table {
            let got = tinted(hex, tint);
            let near = match (&got, want) {
                (Some(got), Some(want)) => {
                    let parts = |hex: &str| {
                        [1, 3, 5].map(|at| i64::from_str_radix(&hex[at..at + 2], 16).unwrap())
                    };
                    parts(got).iter().zip(parts(want)).all(|(a, b)| (a - b).abs() <= 1)
                }
                (got, want) => got.is_none() && want.is_none(),
            };
            assert!(near, "{hex} {tint}: {got:?} ({why})");
        }
    }
}
