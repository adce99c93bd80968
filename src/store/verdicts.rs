//! Verdicts, a line each.

use std::collections::BTreeMap;
use std::fs::File;
use std::io::Write;
use std::sync::{Mutex, PoisonError};

use camino::{Utf8Path, Utf8PathBuf};

use super::{Store, StoreError, lines};
use crate::record::TrialId;
use crate::verdict::{Verdict, VerdictRecord};

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
    /// Reads the verdicts of a judge; none where it has not judged yet.
    pub fn read_verdicts(&self, judge: &str) -> Result<Vec<VerdictRecord>, StoreError> {
        let path = path(self.root(), judge);
        if path.exists() { lines::read(&path) } else { Ok(Vec::new()) }
    }
    /// Reads the lines of a judge that count: of several on one attempt the last, but never
    /// one that says `unjudged` in place of a verdict.
    pub fn last_verdicts(
        &self,
        judge: &str,
    ) -> Result<BTreeMap<(TrialId, u32), VerdictRecord>, StoreError> {
        let mut last: BTreeMap<(TrialId, u32), VerdictRecord> = BTreeMap::new();
        for line in self.read_verdicts(judge)? {
            let key = (line.trial.clone(), line.attempt);
            let unjudged = |line: &VerdictRecord| line.verdict == Verdict::Unjudged;
            if !unjudged(&line) || last.get(&key).is_none_or(unjudged) {
                last.insert(key, line);
            }
        }
        Ok(last)
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
        assert_eq!(store.last_verdicts("j").unwrap(), BTreeMap::new());
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
        let last = store.last_verdicts("j").unwrap();
        assert_eq!(last.len(), table.len());
        for (k, lines, counts) in table {
            let wanted = line(k, lines[counts], &counts.to_string());
            assert_eq!(last[&(wanted.trial.clone(), 1)], wanted, "{lines:?}");
        }
        assert_eq!(store.judges().unwrap(), ["j"]);
    }
}
