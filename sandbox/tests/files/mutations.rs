//! The bar of mutated files: whatever is done to a file, its call ends, and the gym lives.
//!
//! 200 files where tests run, 20,000 where bars are asked for (`WILDGYM_BARS=1`). They
//! are made from the project's own small files and, where they are present, from the
//! files of others. A worker that crashes, or that is ended at its limits, has done what
//! it is for; a call that hangs, an error without the file's name, or a pool that no
//! longer reads a good file has not.

use std::collections::BTreeMap;
use std::time::{Duration, Instant};

use futures::{StreamExt, stream};
use wildgym_sandbox::documents::Part;
use wildgym_sandbox::worker::Workers;

use crate::mutators::{Dice, mutated};
use crate::{corpora, making, workers};

/// Larger files of others are left out: what they would show shows on small ones.
const LARGEST: usize = 400 << 10;

/// When a call counts as hanging: far beyond the limit of a worker and of a loaded machine.
const HANGING: Duration = Duration::from_mins(2);

/// Calls at once.
const CALLS: usize = 4;

fn count() -> u64 {
    if std::env::var_os("WILDGYM_BARS").is_some() { 20_000 } else { 200 }
}

/// How a call ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum End {
    Read,
    Refused,
    ParserFailed,
    Crashed,
    LimitReached,
}

fn end(result: Result<(), String>, name: &str) -> End {
    let Err(error) = result else { return End::Read };
    assert!(error.contains(name), "the error names the file: {error}");
    let holds = |marks: &[&str]| marks.iter().any(|mark| error.contains(mark));
    if holds(&["its parser failed"]) {
        End::ParserFailed
    } else if holds(&["its parser crashed"]) {
        End::Crashed
    } else if holds(&[
        "was stopped",
        "MiB of memory",
        "nested too",
        "processor time",
        "larger than",
    ]) {
        End::LimitReached
    } else {
        End::Refused
    }
}

/// Reads a mutated file: as a document, every third as a workbook.
async fn call(workers: &Workers, number: u64, name: &str, bytes: Vec<u8>) -> (End, Duration) {
    let begin = Instant::now();
    let work = async {
        if number % 3 == 2 {
            workers.workbook(name, bytes, Part::default()).await.map(drop)
        } else {
            workers.document(name, None, bytes).await.map(drop)
        }
    };
    let result = tokio::time::timeout(HANGING, work).await;
    let result = result.unwrap_or_else(|_| panic!("mutation {number} of {name} hangs"));
    (end(result.map_err(|error| error.to_string()), name), begin.elapsed())
}

#[tokio::test(flavor = "multi_thread")]
async fn mutated_files_end_calls_and_nothing_else() {
    let workers = workers();
    let own = making::all();
    let others = corpora::files("calamine").into_iter().chain(corpora::files("markitdown"));
    let seeds: Vec<_> =
        own.into_iter().chain(others.filter(|(_, bytes)| bytes.len() <= LARGEST)).collect();
    let begin = Instant::now();
    let ends: Vec<(u64, &str, End, Duration)> = stream::iter(0..count())
        .map(|number| {
            let (name, bytes) = &seeds[usize::try_from(number).unwrap() % seeds.len()];
            let bytes = mutated(bytes, &mut Dice(number));
            let workers = &workers;
            async move {
                let (end, time) = call(workers, number, name, bytes).await;
                (number, name.as_str(), end, time)
            }
        })
        .buffer_unordered(CALLS)
        .collect()
        .await;
    let mut table: BTreeMap<End, usize> = BTreeMap::new();
    for (number, name, end, time) in &ends {
        *table.entry(*end).or_default() += 1;
        if matches!(end, End::ParserFailed | End::Crashed | End::LimitReached) {
            eprintln!("mutation {number} of {name}: {end:?} after {time:?}");
        }
    }
    let slowest = ends.iter().map(|(.., time)| *time).max().unwrap_or_default();
    let good = workers.document("good.csv", None, b"a,b\n1,2\n".to_vec()).await.unwrap();
    assert_eq!((good.kind.as_str(), ends.len() as u64), ("CSV", count()), "the pool lives");
    eprintln!(
        "{} mutated files of {} seeds in {:.0?}: {table:?}, slowest call {slowest:.1?}",
        ends.len(),
        seeds.len(),
        begin.elapsed()
    );
}
