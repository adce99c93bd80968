//! Ways to spoil a file: by its structure, or byte by byte; all from a seed.

use std::io::{Cursor, Read, Write};

use zip::write::SimpleFileOptions;
use zip::{ZipArchive, ZipWriter};

/// Random numbers (splitmix64, Steele et al. 2014, "Fast Splittable Pseudorandom Number
/// Generators", figure 17).
pub(crate) struct Dice(pub u64);

impl Dice {
    pub(crate) fn roll(&mut self, sides: usize) -> usize {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut mixed = self.0;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        let sides = u64::try_from(sides.max(1)).unwrap();
        usize::try_from((mixed ^ (mixed >> 31)) % sides).unwrap()
    }

    fn byte(&mut self) -> u8 {
        u8::try_from(self.roll(256)).unwrap()
    }

    /// A place in bytes, and how much follows it, at most `most`.
    fn range(&mut self, length: usize, most: usize) -> (usize, usize) {
        let begin = self.roll(length);
        (begin, (begin + 1 + self.roll(most)).min(length))
    }
}

/// Spoils a file, one to three times.
pub(crate) fn mutated(bytes: &[u8], dice: &mut Dice) -> Vec<u8> {
    let mut bytes = bytes.to_vec();
    for _ in 0..=dice.roll(3) {
        bytes = match dice.roll(3) {
            0 => spoiled(bytes, dice),
            _ if bytes.starts_with(b"PK") => container(&bytes, dice).unwrap_or(bytes),
            _ if bytes.starts_with(b"%PDF") => objects(bytes, dice),
            _ if bytes.starts_with(b"\xd0\xcf\x11\xe0") => sectors(bytes, dice),
            _ if bytes.starts_with(b"<") => markup(bytes, dice),
            _ => spoiled(bytes, dice),
        };
    }
    bytes
}

/// Bytes changed, put in, taken out, doubled or cut off.
fn spoiled(mut bytes: Vec<u8>, dice: &mut Dice) -> Vec<u8> {
    if bytes.is_empty() {
        return vec![dice.byte()];
    }
    let (begin, end) = dice.range(bytes.len(), 64);
    match dice.roll(6) {
        0 => bytes[begin] ^= 1 << dice.roll(8),
        1 => bytes[begin..end].fill([0, 0xff, 0x7f, 0x80][dice.roll(4)]),
        2 => drop(bytes.drain(begin..end)),
        3 => {
            let piece = bytes[begin..end].repeat(1 + dice.roll(200));
            bytes.splice(begin..begin, piece);
        }
        4 => bytes.truncate(begin),
        _ => bytes[begin..end].iter_mut().for_each(|byte| *byte = dice.byte()),
    }
    bytes
}

/// A member of a ZIP container spoiled, dropped, doubled or renamed.
fn container(bytes: &[u8], dice: &mut Dice) -> Option<Vec<u8>> {
    let mut archive = ZipArchive::new(Cursor::new(bytes)).ok()?;
    let mut members = Vec::new();
    for index in 0..archive.len() {
        let mut member = archive.by_index(index).ok()?;
        let name = member.name().ok()?.into_owned();
        let mut content = Vec::new();
        member.read_to_end(&mut content).ok()?;
        members.push((name, content));
    }
    if members.is_empty() {
        return None;
    }
    let chosen = dice.roll(members.len());
    match dice.roll(6) {
        0 => drop(members.remove(chosen)),
        1 => {
            let copy = members[chosen].1.clone();
            members.push((format!("copy/{}", members[chosen].0), spoiled(copy, dice)));
        }
        2 => ["../../x", "/etc/x", "a\0b", ""][dice.roll(4)].clone_into(&mut members[chosen].0),
        3 => {
            let content = members[dice.roll(members.len())].1.clone();
            members[chosen].1 = content;
        }
        _ => {
            let content = std::mem::take(&mut members[chosen].1);
            let is_markup = content.starts_with(b"<");
            members[chosen].1 =
                if is_markup { markup(content, dice) } else { spoiled(content, dice) };
        }
    }
    let mut zip = ZipWriter::new(Cursor::new(Vec::new()));
    for (name, content) in members {
        zip.start_file(name, SimpleFileOptions::default()).ok()?;
        zip.write_all(&content).ok()?;
    }
    Some(zip.finish().ok()?.into_inner())
}

/// An element doubled, nested into itself or dropped, a value changed, an entity added.
fn markup(bytes: Vec<u8>, dice: &mut Dice) -> Vec<u8> {
    let Ok(text) = String::from_utf8(bytes.clone()) else { return spoiled(bytes, dice) };
    let tags: Vec<usize> = text.match_indices('<').map(|(at, _)| at).collect();
    let (Some(first), count) = (tags.first(), tags.len()) else { return spoiled(bytes, dice) };
    let begin = tags[dice.roll(count)];
    let end = begin + text[begin..].find('>').map_or(1, |at| at + 1);
    let tag = &text[begin..end];
    let far = tags[dice.roll(count)].max(end);
    let spoilt = match dice.roll(6) {
        0 => [&text[..begin], &tag.repeat(1 + dice.roll(3000)), &text[end..]].concat(),
        1 => [&text[..begin], &text[end..]].concat(),
        2 => [&text[..far], &text[begin..far].repeat(1 + dice.roll(50)), &text[far..]].concat(),
        3 => {
            let wild = ["-1", "4294967296", "99999999999999999999", "NaN", "", "A1:XFD1048576"];
            let wild = wild[dice.roll(wild.len())];
            let digits = |letter: char| letter.is_ascii_digit();
            let changed = tag.trim_end_matches('>').replace(digits, "7");
            format!("{}{changed} x=\"{wild}\">{wild}{}", &text[..begin], &text[end..])
        }
        4 => format!(
            "{}<!DOCTYPE a [<!ENTITY a \"&b;&b;\"><!ENTITY b \"&a;\">]>{}&a;{}",
            &text[..*first],
            &text[*first..begin],
            &text[begin..]
        ),
        _ => {
            let depth = 1 + dice.roll(2000);
            format!("{}{}{}{}", &text[..begin], "<w:p>".repeat(depth), tag, &text[end..])
        }
    };
    spoilt.into_bytes()
}

/// A number, a reference or a name of a PDF changed, or an object moved or doubled.
fn objects(mut bytes: Vec<u8>, dice: &mut Dice) -> Vec<u8> {
    let places = |mark: &[u8], bytes: &[u8]| -> Vec<usize> {
        (0..bytes.len()).filter(|at| bytes[*at..].starts_with(mark)).collect()
    };
    match dice.roll(5) {
        0 => {
            let digits: Vec<usize> =
                (0..bytes.len()).filter(|at| bytes[*at].is_ascii_digit()).collect();
            for _ in 0..=dice.roll(8) {
                if let Some(at) = digits.get(dice.roll(digits.len())) {
                    bytes[*at] = b'0' + u8::try_from(dice.roll(10)).unwrap();
                }
            }
        }
        1 => {
            let marks: [&[u8]; 8] = [
                b"/Kids",
                b"/Parent",
                b"/Length",
                b"/Type",
                b"/Count",
                b"/Contents",
                b"/Filter",
                b"/First",
            ];
            let (mark, other) = (marks[dice.roll(8)], marks[dice.roll(8)]);
            for at in places(mark, &bytes).into_iter().rev().take(4) {
                bytes.splice(at..at + mark.len(), other.iter().copied());
            }
        }
        2 => {
            let begins = places(b" 0 obj", &bytes);
            let ends = places(b"endobj", &bytes);
            if let (Some(begin), Some(end)) =
                (begins.get(dice.roll(begins.len())), ends.get(dice.roll(ends.len())))
            {
                let piece = bytes[*begin.min(end)..*begin.max(end)].to_vec();
                let at = dice.roll(bytes.len());
                bytes.splice(at..at, piece);
            }
        }
        3 => {
            let opens = places(b"[", &bytes);
            if let Some(at) = opens.get(dice.roll(opens.len())) {
                let deep = [b"[".as_slice(), b"<<", b"("][dice.roll(3)].repeat(1 + dice.roll(5000));
                bytes.splice(*at..*at, deep);
            }
        }
        _ => return spoiled(bytes, dice),
    }
    bytes
}

/// Sectors of a compound file swapped, doubled or filled, or its header changed.
fn sectors(mut bytes: Vec<u8>, dice: &mut Dice) -> Vec<u8> {
    let count = bytes.len() / 512;
    if count < 2 {
        return spoiled(bytes, dice);
    }
    let (one, other) = (dice.roll(count) * 512, dice.roll(count) * 512);
    match dice.roll(4) {
        0 => {
            let piece = bytes[one..one + 512].to_vec();
            bytes.copy_within(other..other + 512, one);
            bytes[other..other + 512].copy_from_slice(&piece);
        }
        1 => bytes[one..one + 512].fill([0, 0xff, 0xfe][dice.roll(3)]),
        2 => {
            let at = 24 + dice.roll(488);
            bytes[at] = dice.byte();
        }
        _ => {
            // A chain that leads somewhere else.
            let at = one + dice.roll(127) * 4;
            let sector = u32::try_from(dice.roll(count * 2)).unwrap().to_le_bytes();
            bytes[at..at + 4].copy_from_slice(&sector);
        }
    }
    bytes
}
