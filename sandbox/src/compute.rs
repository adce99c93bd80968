//! Threads for what computes for a moment and waits for nothing.
//!
//! There are a few, and each takes one piece of work after another. The threads on which
//! things may wait are as many as there are things: hundreds of short pieces that come at
//! once would then share the cores among themselves, switch without end, and all be done last.

use std::sync::LazyLock;

use tokio::runtime::{Builder, Runtime};
use tokio::task::{JoinHandle, spawn_blocking};

/// Threads for each core: a piece that takes long leaves the core to others now and then.
const EACH: usize = 2;

/// Its threads for blocking work are all that is used of it. None where it cannot be had.
static THREADS: LazyLock<Option<Runtime>> = LazyLock::new(|| {
    let cores = std::thread::available_parallelism().map_or(1, usize::from);
    let mut builder = Builder::new_current_thread();
    builder.thread_name("compute").max_blocking_threads(EACH.saturating_mul(cores)).build().ok()
});

/// Does a piece of work, in the order of asking. It is done to its end whether anybody waits
/// for it or not; an error is its panic.
pub fn compute<T: Send + 'static>(work: impl FnOnce() -> T + Send + 'static) -> JoinHandle<T> {
    match &*THREADS {
        Some(threads) => threads.spawn_blocking(work),
        None => spawn_blocking(work),
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;
    use std::sync::{Arc, Mutex};

    use super::*;

    #[tokio::test]
    async fn a_crowd_is_served_by_few_threads_and_a_panic_stops_nobody() {
        let seen: Arc<Mutex<BTreeSet<String>>> = Arc::default();
        let pieces: Vec<_> = (0..500)
            .map(|number| {
                let seen = Arc::clone(&seen);
                compute(move || {
                    let thread = format!("{:?}", std::thread::current().id());
                    seen.lock().unwrap().insert(thread);
                    assert!(number != 250, "a piece that fails");
                    number
                })
            })
            .collect();
        for (number, piece) in pieces.into_iter().enumerate() {
            assert_eq!(piece.await.ok(), (number != 250).then_some(number), "{number}");
        }
        let cores = std::thread::available_parallelism().unwrap().get();
        assert!(seen.lock().unwrap().len() <= EACH * cores, "{seen:?}");
    }
}
