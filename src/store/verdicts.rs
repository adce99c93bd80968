//! Verdicts, a line each.

use std::collections::BTreeMap;
use std::fs::File;
use std::io::Write;
use std::sync::{Mutex, PoisonError};

use camino::{Utf8Path, Utf8PathBuf};

use super::{Damaged, Store, StoreError, lines};
use crate::record::TrialId;
use crate::verdict::{Verdict, VerdictRecord};

/// The verdict of each attempt that has one.
pub type LastVerdicts = BTreeMap<(TrialId, u32), VerdictRecord>;

/// The verdicts of one judge, open for appending.
#[derive(Debug)]
pub struct Verdicts {
    path: Utf8PathBuf,
    file: Mutex<File>,
}

fn path(root: &Utf8Path, judge: &str) -> Utf8PathBuf {
    root.join("verdicts").join(format!("{judge}.jsonl"))
}

impl Verdicts {
    pub(super) fn open(root: &Utf8Path, judge: &str) -> Result<Self, StoreError> {
        let path = path(root, judge);
        let file =
            File::options().create(true).append(true).open(&path).map_err(StoreError::io(&path))?;
        lines::cut_torn_end(&path)?;
        Ok(Self { path, file: Mutex::new(file) })
    }

    /// Appends a verdict.
    pub fn append(&self, verdict: &VerdictRecord) -> Result<(), StoreError> {
        let mut line = serde_json::to_vec(verdict)
            .map_err(|error| StoreError::Io { path: self.path.clone(), source: error.into() })?;
        line.push(b'\n');
        let mut file = self.file.lock().unwrap_or_else(PoisonError::into_inner);
        file.write_all(&line).map_err(StoreError::io(&self.path))
    }
}

impl Store {
    /// Reads the lines of a judge that count, and which lines cannot be read; none where it
    /// has not judged yet. Of several on one attempt the last counts, but never one that says
    /// `unjudged` in place of a verdict. A line that cannot be read is no verdict, and costs
    /// none of the others.
    pub fn last_verdicts(&self, judge: &str) -> Result<(LastVerdicts, Vec<Damaged>), StoreError> {
        let path = path(self.root(), judge);
        let mut last = LastVerdicts::new();
        if !path.exists() {
            return Ok((last, Vec::new()));
        }
        let (all, damaged) = lines::sound::<VerdictRecord>(&path)?;
        for line in all {
            let key = (line.trial.clone(), line.attempt);
            let unjudged = |line: &VerdictRecord| line.verdict == Verdict::Unjudged;
            if !unjudged(&line) || last.get(&key).is_none_or(unjudged) {
                last.insert(key, line);
            }
        }
        Ok((last, damaged))
    }

    /// Returns the names of the judges that have verdicts, in order.
    pub fn judges(&self) -> Result<Vec<String>, StoreError> {
        let folder = self.root().join("verdicts");
        if !folder.exists() {
            return Ok(Vec::new());
        }
        let mut names = Vec::new();
        for entry in folder.read_dir_utf8().map_err(StoreError::io(&folder))? {
            let entry = entry.map_err(StoreError::io(&folder))?;
            names.extend(entry.file_name().strip_suffix(".jsonl").map(str::to_owned));
        }
        names.sort_unstable();
        Ok(names)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::record::{FORMAT, Times};

    fn line(k: u32, verdict: Verdict, reason: &str) -> VerdictRecord {
        let variant = wildgym_tasks::Variant::default();
        let trial = TrialId { condition: "c".into(), task: "t".into(), variant, k };
        VerdictRecord {
            format: FORMAT,
            trial,
            attempt: 1,
            verdict,
            reasons: vec![reason.to_owned()],
            milestones: BTreeMap::new(),
            steps: BTreeMap::new(),
            discovered: BTreeMap::new(),
            conduct: None,
            rubric: None,
            votes: Vec::new(),
            t: Times::default(),
        }
    }

    #[test]
    fn the_last_verdict_counts_and_silence_replaces_none() {
        use Verdict::{Fail, Pass, Unjudged};
        let folder = tempfile::tempdir().unwrap();
        let root = Utf8Path::from_path(folder.path()).unwrap();
        std::fs::write(root.join("run.toml"), "").unwrap();
        std::fs::create_dir(root.join("verdicts")).unwrap();
        let store = Store::open(root).unwrap();
        assert_eq!(store.last_verdicts("j").unwrap().0, BTreeMap::new());
        //          k  lines in order                     the one that counts
        let table: [(u32, &[Verdict], usize); 6] = [
            (1, &[Pass], 0),
            (2, &[Pass, Fail], 1),
            (3, &[Unjudged, Pass], 1),
            (4, &[Pass, Unjudged], 0),
            (5, &[Unjudged, Unjudged], 1),
            (6, &[Fail, Unjudged, Unjudged, Pass, Unjudged], 3),
        ];
        let verdicts = store.verdicts("j").unwrap();
        for (k, lines, _) in table {
            for (index, verdict) in lines.iter().enumerate() {
                verdicts.append(&line(k, *verdict, &index.to_string())).unwrap();
            }
        }
        let (last, damaged) = store.last_verdicts("j").unwrap();
        assert_eq!((last.len(), damaged.len()), (table.len(), 0));
        for (k, lines, counts) in table {
            let wanted = line(k, lines[counts], &counts.to_string());
            assert_eq!(last[&(wanted.trial.clone(), 1)], wanted, "{lines:?}");
        }
        assert_eq!(store.judges().unwrap(), ["j"]);
    }

    #[test]
    fn a_bad_line_costs_no_other_and_a_newer_one_is_refused() {
        let folder = tempfile::tempdir().unwrap();
        let root = Utf8Path::from_path(folder.path()).unwrap();
        std::fs::write(root.join("run.toml"), "").unwrap();
        std::fs::create_dir(root.join("verdicts")).unwrap();
        let store = Store::open(root).unwrap();
        let good = |k| serde_json::to_string(&line(k, Verdict::Pass, "")).unwrap();
        let newer = good(3).replacen("\"format\":1", "\"format\":9", 1);
        let lines = |lines: &[&str]| lines.join("\n") + "\n";
        //   lines, how many verdicts, which lines are damaged, why
        let table = [
            (lines(&[&good(1), "{\"format\":1,", &good(2)]), 2, vec![2], "in the middle"),
            (lines(&["x", "", &good(2)]), 1, vec![1], "first, and an empty line"),
            (
                lines(&[&good(1), "", "\0\0"]),
                1,
                vec![3],
                "last, as a crash of the machine leaves it",
            ),
        ];
        for (text, count, damaged, why) in table {
            std::fs::write(path(root, "j"), text).unwrap();
            let (last, found) = store.last_verdicts("j").unwrap();
            assert_eq!(last.len(), count, "{why}");
            let named = |line: usize| format!("j.jsonl` line {line}: ");
            let said = found.iter().map(|found| found.error.to_string());
            let all = said.zip(&damaged).all(|(said, line)| said.contains(&named(*line)));
            assert!(all && found.len() == damaged.len(), "{why}: {found:?}");
        }
        for text in [lines(&[&good(1), &newer]), lines(&[&newer, &good(1)])] {
            std::fs::write(path(root, "j"), text).unwrap();
            let error = store.last_verdicts("j").unwrap_err().to_string();
            assert!(error.contains("format 9"), "{error}");
        }
    }
}
