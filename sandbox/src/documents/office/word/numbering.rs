//! Lists of a Word document: what stands before an item.
//!
//! Labels are shown as the document counts them (`2.1`, `(b)`, `第三章`), since texts refer
//! to them (ECMA-376 part 1, 17.9).

use std::collections::HashMap;

use crate::documents::office::xml::{Element, Tree};

/// Levels of a list.
const LEVELS: usize = 9;

#[derive(Debug, Clone, Default)]
struct Level {
    format: String,
    text: String,
    start: u32,
    legal: bool,
}

/// A list of the document: which definition it follows, and where its levels start anew.
#[derive(Debug, Clone, Default)]
struct List {
    definition: String,
    starts: HashMap<usize, u32>,
    levels: HashMap<usize, Level>,
}

/// The lists, and how far each has been counted.
#[derive(Debug, Default)]
pub(super) struct Numbering {
    definitions: HashMap<String, Vec<Level>>,
    lists: HashMap<String, List>,
    counts: HashMap<String, [Option<u32>; LEVELS]>,
    begun: HashMap<String, [bool; LEVELS]>,
}

/// What stands before an item.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Label {
    Bullet,
    Number(String),
    /// The level shows nothing.
    Bare,
}

impl Numbering {
    /// Reads the part of the numberings.
    pub(super) fn read(tree: Option<&Tree>) -> Self {
        let mut numbering = Self::default();
        let Some(root) = tree.map(Tree::root) else {
            return numbering;
        };
        let mut linked = HashMap::new();
        let mut wanted = Vec::new();
        for definition in root.all("w:abstractNum") {
            let Some(id) = definition.attr("w:abstractNumId") else { continue };
            if let Some(style) = definition.value("w:styleLink") {
                linked.insert(style.to_owned(), id.to_owned());
            }
            if let Some(style) = definition.value("w:numStyleLink") {
                wanted.push((id.to_owned(), style.to_owned()));
            }
            let mut levels = vec![Level::default(); LEVELS];
            for level in definition.all("w:lvl") {
                if let Some(place) = at(level).and_then(|at| levels.get_mut(at)) {
                    *place = read_level(level);
                }
            }
            numbering.definitions.insert(id.to_owned(), levels);
        }
        for (id, style) in wanted {
            let levels =
                linked.get(&style).and_then(|real| numbering.definitions.get(real)).cloned();
            numbering.definitions.extend(levels.map(|levels| (id, levels)));
        }
        for list in root.all("w:num") {
            let Some(id) = list.attr("w:numId") else { continue };
            numbering.lists.insert(id.to_owned(), read_list(list));
        }
        numbering
    }

    /// Counts an item of a list and returns what stands before it.
    pub(super) fn label(&mut self, id: &str, level: usize) -> Option<Label> {
        let level = level.min(LEVELS - 1);
        let list = self.lists.get(id)?;
        let definition = self.definitions.get(&list.definition)?;
        let levels: Vec<&Level> = (0..LEVELS)
            .map(|at| list.levels.get(&at).or_else(|| definition.get(at)))
            .collect::<Option<_>>()?;
        let counts = self.counts.entry(list.definition.clone()).or_default();
        let begun = self.begun.entry(id.to_owned()).or_default();
        // Lists of one definition count on, but for levels that start anew.
        let anew = if begun[level] { None } else { list.starts.get(&level).copied() };
        begun[level] = true;
        let next = counts[level].map_or(levels[level].start, |count| count.saturating_add(1));
        counts[level] = Some(anew.unwrap_or(next));
        for inner in &mut counts[level + 1..] {
            *inner = None;
        }
        let own = levels[level];
        if own.format == "bullet" {
            return Some(Label::Bullet);
        }
        if own.format == "none" && own.text.trim().is_empty() {
            return Some(Label::Bare);
        }
        let text = written(own, &levels, counts);
        Some(if text.trim().is_empty() { Label::Bare } else { Label::Number(text) })
    }
}

fn at(element: Element<'_>) -> Option<usize> {
    element.attr("w:ilvl")?.parse().ok()
}

fn read_level(level: Element<'_>) -> Level {
    Level {
        format: level.value("w:numFmt").unwrap_or("decimal").to_owned(),
        text: level.value("w:lvlText").unwrap_or_default().to_owned(),
        start: level.value("w:start").and_then(|start| start.parse().ok()).unwrap_or(1),
        legal: level.child("w:isLgl").is_some(),
    }
}

fn read_list(list: Element<'_>) -> List {
    let mut read = List {
        definition: list.value("w:abstractNumId").unwrap_or_default().to_owned(),
        ..List::default()
    };
    for change in list.all("w:lvlOverride") {
        let Some(at) = at(change) else { continue };
        if let Some(start) = change.value("w:startOverride").and_then(|start| start.parse().ok()) {
            read.starts.insert(at, start);
        }
        if let Some(level) = change.child("w:lvl") {
            read.levels.insert(at, read_level(level));
        }
    }
    read
}

/// Writes a label: `%1` and the like stand for the counts of the levels.
fn written(own: &Level, levels: &[&Level], counts: &[Option<u32>; LEVELS]) -> String {
    let mut text = String::new();
    let mut letters = own.text.chars().peekable();
    while let Some(letter) = letters.next() {
        let place =
            (letter == '%').then(|| letters.peek().and_then(|it| it.to_digit(10))).flatten();
        let level = place.and_then(|place| usize::try_from(place).ok()?.checked_sub(1));
        let Some(level) = level.filter(|level| *level < LEVELS) else {
            text.push(letter);
            continue;
        };
        letters.next();
        let count = counts[level].unwrap_or(levels[level].start);
        let format = if own.legal { "decimal" } else { levels[level].format.as_str() };
        text.push_str(&number(count, format));
    }
    text
}

/// Writes a number in a format (ECMA-376 part 1, 17.18.59).
pub(in crate::documents) fn number(count: u32, format: &str) -> String {
    match format {
        "none" => String::new(),
        "upperLetter" => alphabetic(count),
        "lowerLetter" => alphabetic(count).to_lowercase(),
        "upperRoman" => roman(count),
        "lowerRoman" => roman(count).to_lowercase(),
        "decimalZero" => format!("{count:02}"),
        "ordinal" => ordinal(count),
        "chineseCounting"
        | "chineseCountingThousand"
        | "ideographDigital"
        | "japaneseCounting"
        | "taiwaneseCounting"
        | "taiwaneseCountingThousand"
        | "japaneseDigitalTen"
        | "koreanDigital" => chinese(count),
        "decimalEnclosedCircle" | "decimalEnclosedCircleChinese" if (1..=20).contains(&count) => {
            char::from_u32(0x245f + count).map_or_else(|| count.to_string(), String::from)
        }
        "ideographTraditional" => cyclic(count, "甲乙丙丁戊己庚辛壬癸"),
        "ideographZodiac" => cyclic(count, "子丑寅卯辰巳午未申酉戌亥"),
        _ => count.to_string(),
    }
}

/// A to Z, then AA to ZZ, as Word counts: the letter repeats.
fn alphabetic(count: u32) -> String {
    let Some(index) = count.checked_sub(1) else {
        return "0".into();
    };
    let letter = char::from_u32(u32::from('A') + index % 26).unwrap_or('?');
    let times = usize::try_from(index / 26 + 1).unwrap_or(1).min(30);
    letter.to_string().repeat(times)
}

fn roman(count: u32) -> String {
    if count == 0 || count >= 5000 {
        return count.to_string();
    }
    let signs = [
        (1000, "M"),
        (900, "CM"),
        (500, "D"),
        (400, "CD"),
        (100, "C"),
        (90, "XC"),
        (50, "L"),
        (40, "XL"),
        (10, "X"),
        (9, "IX"),
        (5, "V"),
        (4, "IV"),
        (1, "I"),
    ];
    let (mut left, mut text) = (count, String::new());
    for (value, sign) in signs {
        while left >= value {
            left -= value;
            text.push_str(sign);
        }
    }
    text
}

fn ordinal(count: u32) -> String {
    let end = match (count % 10, count % 100) {
        (_, 11..=13) => "th",
        (1, _) => "st",
        (2, _) => "nd",
        (3, _) => "rd",
        _ => "th",
    };
    format!("{count}{end}")
}

fn cyclic(count: u32, letters: &str) -> String {
    let at = count.checked_sub(1).and_then(|index| usize::try_from(index).ok());
    at.and_then(|at| letters.chars().nth(at)).map_or_else(|| count.to_string(), String::from)
}

/// Counts in Chinese up to 9999.
fn chinese(count: u32) -> String {
    const DIGITS: [&str; 10] = ["零", "一", "二", "三", "四", "五", "六", "七", "八", "九"];
    if count == 0 {
        return "〇".into();
    }
    if count > 9999 {
        return count.to_string();
    }
    let (mut text, mut gap) = (String::new(), false);
    for (value, unit) in [(1000, "千"), (100, "百"), (10, "十"), (1, "")] {
        let digit = usize::try_from(count / value % 10).unwrap_or(0);
        if digit == 0 {
            gap = !text.is_empty();
            continue;
        }
        if gap {
            text.push_str(DIGITS[0]);
            gap = false;
        }
        // Ten to nineteen begin with the ten itself.
        if !(digit == 1 && value == 10 && text.is_empty()) {
            text.push_str(DIGITS[digit]);
        }
        text.push_str(unit);
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_in_every_format() {
        let table = [
            (28, "upperLetter", "BB"),
            (3, "lowerLetter", "c"),
            (14, "lowerRoman", "xiv"),
            (1999, "upperRoman", "MCMXCIX"),
            (7, "decimalZero", "07"),
            (22, "ordinal", "22nd"),
            (12, "chineseCounting", "十二"),
            (105, "chineseCountingThousand", "一百零五"),
            (3, "decimalEnclosedCircle", "③"),
            (2, "ideographTraditional", "乙"),
            (5, "whatever", "5"),
        ];
        for (count, format, want) in table {
            assert_eq!(number(count, format), want, "{format}");
        }
    }

    #[test]
    fn levels_count_and_start_anew() {
        let level = |at: u32, format: &str, text: &str| {
            format!(
                "<w:lvl w:ilvl='{at}'><w:start w:val='1'/><w:numFmt w:val='{format}'/><w:lvlText w:val='{text}'/></w:lvl>"
            )
        };
        let xml = format!(
            "<w:numbering><w:abstractNum w:abstractNumId='0'>{}{}</w:abstractNum>\
             <w:num w:numId='1'><w:abstractNumId w:val='0'/></w:num>\
             <w:num w:numId='2'><w:abstractNumId w:val='0'/><w:lvlOverride w:ilvl='0'><w:startOverride w:val='5'/></w:lvlOverride></w:num></w:numbering>",
            level(0, "decimal", "%1."),
            level(1, "lowerLetter", "%1.%2)"),
        );
        let tree = Tree::parse(xml.as_bytes(), "part").unwrap();
        let mut numbering = Numbering::read(Some(&tree));
        let steps = [
            ("1", 0, "1."),
            ("1", 1, "1.a)"),
            ("1", 1, "1.b)"),
            ("1", 0, "2."),
            ("1", 1, "2.a)"),
            ("2", 0, "5."),
            ("2", 0, "6."),
        ];
        for (id, level, want) in steps {
            assert_eq!(numbering.label(id, level), Some(Label::Number(want.into())));
        }
        assert_eq!(numbering.label("9", 0), None, "no such list");
    }
}
