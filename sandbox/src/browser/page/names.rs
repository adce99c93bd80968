//! Names for files that pages give.

use camino::{Utf8Path, Utf8PathBuf};

/// The directory of the workspace into which downloads come.
const FOLDER: &str = "downloads";

/// The most bytes of a name; there is room for a number below the 255 of file systems.
const LONGEST: usize = 180;

/// Makes a name safe: its last part, without control characters and what shells or
/// other systems take for more than a letter, no leading dot, not too long. Where nothing
/// is left, the last part of the address is taken, else `download`.
pub(super) fn safe(name: &str, url: &str) -> String {
    let path = url.split(['?', '#']).next().unwrap_or_default();
    let whole = clean(name).or_else(|| clean(path)).unwrap_or_else(|| "download".into());
    if whole.len() <= LONGEST {
        return whole;
    }
    let (stem, ending) = split(&whole);
    let room = LONGEST.saturating_sub(ending.len());
    format!("{}{ending}", shorten(stem, room))
}

/// Returns a path that is not taken: `a.csv`, then `a-2.csv`, `a-3.csv`.
pub(super) fn unique(name: &str, taken: impl Fn(&Utf8Path) -> bool) -> Utf8PathBuf {
    let (stem, ending) = split(name);
    let mut path = Utf8Path::new(FOLDER).join(name);
    let mut number = 2_u32;
    while taken(&path) {
        path = Utf8Path::new(FOLDER).join(format!("{stem}-{number}{ending}"));
        number += 1;
    }
    path
}

fn clean(name: &str) -> Option<String> {
    let last = name.rsplit(['/', '\\']).next().unwrap_or_default();
    let kept: String = last
        .chars()
        .map(|letter| if r#":*?"<>|"#.contains(letter) { '_' } else { letter })
        .filter(|letter| !letter.is_control() && !hidden(*letter))
        .collect();
    let kept = kept.trim().trim_start_matches('.').trim_end_matches(['.', ' ']);
    (!kept.is_empty()).then(|| kept.to_owned())
}

/// Letters that turn the direction of a text, and so can make a name look like another.
fn hidden(letter: char) -> bool {
    matches!(letter, '\u{200b}'..='\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}' | '\u{feff}')
}

/// Splits a name before its ending, which has at most 15 bytes; `.tar.gz` is one.
fn split(name: &str) -> (&str, &str) {
    let dot = name.rfind('.').filter(|&dot| dot > 0 && name.len() - dot <= 15);
    let Some(dot) = dot else { return (name, "") };
    let at = name[..dot].strip_suffix(".tar").map_or(dot, str::len);
    name.split_at(if at == 0 { dot } else { at })
}

fn shorten(text: &str, most: usize) -> &str {
    let mut end = most.min(text.len());
    while !text.is_char_boundary(end) {
        end -= 1;
    }
    &text[..end]
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::workspace::relative;

    #[test]
    fn names_are_made_safe() {
        let long = format!("{}.csv", "é".repeat(200));
        let table = [
            ("report.pdf", "report.pdf", "plain"),
            ("../../etc/passwd", "passwd", "climbs"),
            ("C:\\temp\\a.txt", "a.txt", "another system's path"),
            (".bashrc", "bashrc", "hidden"),
            ("a\u{0}b\n.txt", "ab.txt", "control characters"),
            ("invoice\u{202e}fdp.exe", "invoicefdp.exe", "looks like another"),
            ("a:b*c?.txt", "a_b_c_.txt", "letters with a meaning elsewhere"),
            ("统计.csv", "统计.csv", "another script"),
            ("", "data.json", "no name: the address's"),
            ("...", "data.json", "nothing left: the address's"),
        ];
        for (name, want, why) in table {
            assert_eq!(safe(name, "https://a.test/x/data.json?y=/z"), want, "{why}");
        }
        assert_eq!(safe("", "https://a.test/"), "download");
        let cut = safe(&long, "");
        assert!(cut.len() <= LONGEST && split(&cut).1 == ".csv", "{cut}");
    }

    #[test]
    fn taken_names_get_a_number() {
        let taken = ["downloads/a.csv", "downloads/a-2.csv", "downloads/b.tar.gz", "downloads/c"];
        let is = |path: &Utf8Path| taken.contains(&path.as_str());
        assert_eq!(unique("a.csv", is), "downloads/a-3.csv");
        assert_eq!(unique("b.tar.gz", is), "downloads/b-2.tar.gz");
        assert_eq!(unique("c", is), "downloads/c-2");
        assert_eq!(unique("d.txt", is), "downloads/d.txt");
    }

    proptest! {
        #[test]
        fn a_safe_name_is_one_name_of_the_workspace(name in "\\PC{0,300}", url in "\\PC{0,60}") {
            let name = safe(&name, &url);
            prop_assert!(!name.is_empty() && name.len() <= LONGEST);
            let path = unique(&name, |_| false);
            prop_assert_eq!(relative(&path).unwrap().iter().count(), 2);
        }
    }
}
