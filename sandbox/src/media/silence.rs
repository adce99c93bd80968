//! Where a long recording may be cut: in silence, where nothing is being said.
//!
//! Plain arithmetic on what `silencedetect` writes; times are seconds from the start.

/// A stretch without sound.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Silence {
    pub start: f64,
    pub end: f64,
}

/// A place to cut, and whether it lies in silence.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Cut {
    pub at: f64,
    pub silent: bool,
}

/// Reads the silences out of what the filter wrote to standard error. One that is still
/// open at the end needs no cut.
pub(super) fn read(said: &str) -> Vec<Silence> {
    let number = |line: &str, name: &str| {
        let (_, rest) = line.split_once(name)?;
        rest.split_whitespace().next()?.parse::<f64>().ok().filter(|time| time.is_finite())
    };
    let mut silences = Vec::new();
    let mut open = None;
    for line in said.lines() {
        if let Some(start) = number(line, "silence_start: ") {
            open = Some(start.max(0.0));
        } else if let (Some(start), Some(end)) = (open, number(line, "silence_end: ")) {
            open = None;
            if end > start {
                silences.push(Silence { start, end });
            }
        }
    }
    silences
}

/// Returns where to cut a recording of that length so that no piece is longer than
/// `longest`: in the middle of the last silence of a piece's second half, else at its end.
pub(super) fn cuts(seconds: f64, longest: f64, silences: &[Silence]) -> Vec<Cut> {
    let mut cuts = Vec::new();
    let mut from = 0.0;
    while seconds - from > longest {
        let middles = silences.iter().map(|silence| f64::midpoint(silence.start, silence.end));
        let fitting = middles.filter(|at| *at > from + longest / 2.0 && *at <= from + longest);
        let cut = match fitting.reduce(f64::max) {
            Some(at) => Cut { at, silent: true },
            None => Cut { at: from + longest, silent: false },
        };
        from = cut.at;
        cuts.push(cut);
    }
    cuts
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn silences_are_read_in_pairs() {
        let said = "Input #0\n[silencedetect @ 0x5] silence_start: -0.01\n\
            [silencedetect @ 0x5] silence_end: 1.5 | silence_duration: 1.51\n\
            [mp3 @ 0x1] Header missing\n[silencedetect @ 0x5] silence_end: 3 | silence_duration: 1\n\
            [silencedetect @ 0x5] silence_start: nan\n[silencedetect @ 0x5] silence_start: 9.25";
        assert_eq!(read(said), [Silence { start: 0.0, end: 1.5 }]);
        assert_eq!(read(""), []);
    }

    #[test]
    fn cuts_fall_into_silence_where_there_is_some() {
        let silence = |start, end| Silence { start, end };
        let cut = |at, silent| Cut { at, silent };
        let table = [
            (90.0, vec![], vec![], "short enough"),
            (100.0, vec![], vec![], "just short enough"),
            (150.0, vec![silence(70.0, 72.0)], vec![cut(71.0, true)], "one silence"),
            (150.0, vec![silence(60.0, 62.0), silence(80.0, 82.0)], vec![cut(81.0, true)], "last"),
            (150.0, vec![silence(10.0, 12.0)], vec![cut(100.0, false)], "too early to help"),
            (250.0, vec![silence(90.0, 92.0)], vec![cut(91.0, true), cut(191.0, false)], "mixed"),
        ];
        for (seconds, silences, expected, why) in table {
            assert_eq!(cuts(seconds, 100.0, &silences), expected, "{why}");
        }
    }

    proptest! {
        #[test]
        fn no_piece_is_too_long_and_none_is_empty(
            seconds in 0.0..20_000.0_f64,
            starts in prop::collection::vec((0.0..20_000.0_f64, 0.1..30.0_f64), 0..200),
        ) {
            let silences: Vec<Silence> =
                starts.iter().map(|(start, long)| Silence { start: *start, end: start + long }).collect();
            let mut from = 0.0;
            for cut in cuts(seconds, 600.0, &silences).iter().map(|cut| cut.at).chain([seconds]) {
                prop_assert!(cut - from <= 600.0 + 1e-6 && cut >= from, "{from} to {cut}");
                from = cut;
            }
        }

        #[test]
        fn anything_said_is_read(said in ".{0,400}") {
            read(&said);
        }
    }
}
