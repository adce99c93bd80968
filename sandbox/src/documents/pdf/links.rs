//! Where the links of a page lead, put around the words that they cover.
//!
//! A run of text may be longer than its link, and letters differ in width, so the ends
//! of a link go to the nearest ends of words.

use pdf_oxide::PdfDocument;
use pdf_oxide::annotations::LinkAction;

use super::layout::Run;

/// The most links of a page.
const LINKS: usize = 500;

/// A link: left, bottom, right, top, target.
type Link = (f32, f32, f32, f32, String);

/// Writes the links of a page (from 0) into its runs, as Markdown.
pub(super) fn mark(pdf: &PdfDocument, page: usize, runs: &mut [Run]) {
    for (left, bottom, right, top, target) in links(pdf, page) {
        let is_under = |run: &&mut Run| {
            let middle = run.bottom + run.size / 2.0;
            // Half a letter of a neighbour is not covered.
            let covered = run.right.min(right) - run.left.max(left);
            middle > bottom && middle < top && covered > 0.3 * run.size.min(run.right - run.left)
        };
        for run in runs.iter_mut().filter(is_under) {
            if run.text.contains("](") {
                continue;
            }
            let (begin, end) = words(&run.text, part(run, left), part(run, right));
            if begin < end {
                let words = &run.text[begin..end];
                let linked = format!("[{words}]({target})");
                run.text.replace_range(begin..end, &linked);
            }
        }
    }
}

#[expect(clippy::cast_possible_truncation, reason = "places on a page are small")]
fn links(pdf: &PdfDocument, page: usize) -> Vec<Link> {
    let annotations = pdf.get_annotations(page).unwrap_or_default();
    let found = annotations.into_iter().filter_map(|annotation| {
        let [a, b, c, d] = annotation.rect?.map(|place| place as f32);
        let LinkAction::Uri(target) = annotation.action? else { return None };
        let is_target = !target.is_empty() && !target.contains(char::is_whitespace);
        is_target.then(|| (a.min(c), b.min(d), a.max(c), b.max(d), target))
    });
    found.take(LINKS).collect()
}

/// How far along a run a place is, as a fraction.
fn part(run: &Run, place: f32) -> f32 {
    ((place - run.left) / (run.right - run.left).max(0.1)).clamp(0.0, 1.0)
}

/// Returns the words between two fractions of a text, as bytes.
#[expect(clippy::cast_precision_loss, reason = "runs are short")]
fn words(text: &str, begin: f32, end: f32) -> (usize, usize) {
    let total = text.chars().count().max(1) as f32;
    let (mut starts, mut ends) = (Vec::new(), Vec::new());
    let mut before = ' ';
    for (count, (at, letter)) in text.char_indices().enumerate() {
        let fraction = count as f32 / total;
        match (before.is_whitespace(), letter.is_whitespace()) {
            (true, false) => starts.push((fraction, at)),
            (false, true) => ends.push((fraction, at)),
            _ => {}
        }
        before = letter;
    }
    if !before.is_whitespace() {
        ends.push((1.0, text.len()));
    }
    let nearest = |places: &[(f32, usize)], wanted: f32| {
        let far = |place: &(f32, usize)| (place.0 - wanted).abs();
        places.iter().min_by(|a, b| far(a).total_cmp(&far(b))).map_or(0, |place| place.1)
    };
    (nearest(&starts, begin), nearest(&ends, end))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn links_end_where_words_end() {
        let text = "see the tables here";
        let table = [
            (0.19, 0.75, "the tables", "nearly at the ends of words"),
            (0.0, 1.0, "see the tables here", "all"),
            (0.8, 1.0, "here", "the last"),
        ];
        for (begin, end, want, why) in table {
            let (begin, end) = words(text, begin, end);
            assert_eq!(&text[begin..end], want, "{why}");
        }
        assert_eq!(words("", 0.0, 1.0), (0, 0));
    }
}
