//! How loud the contexts of a browser are, so that one of them can be closed for all.
//!
//! A page that goes elsewhere without end can keep a browser too busy to answer anybody.
//! Before a browser that does not answer is given up, the context that told most since it
//! last answered is closed and the browser asked again. Nothing here closes anything; it
//! counts, names the loudest, and tells its holder.

use std::collections::HashMap;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use tokio::sync::watch;

/// As many events are loud: some seconds of a flood, and more than a heavy page loads with.
const LOUD: u64 = 2_000;

/// What contexts have told, by their id.
#[derive(Debug, Default)]
pub(super) struct Noise(Mutex<HashMap<String, Voice>>);

#[derive(Debug)]
struct Voice {
    /// Events of its tabs so far.
    heard: Arc<AtomicU64>,
    /// How many there were when the browser last answered.
    before: u64,
    /// Whether it was closed for its noise.
    shut: watch::Sender<bool>,
}

impl Noise {
    /// Takes a context in; what comes back tells whether it was closed for its noise.
    pub(super) fn enter(&self, id: &str, heard: Arc<AtomicU64>) -> watch::Receiver<bool> {
        let (shut, told) = watch::channel(false);
        let before = heard.load(Ordering::Relaxed);
        self.lock().insert(id.to_owned(), Voice { heard, before, shut });
        told
    }

    /// Forgets a context.
    pub(super) fn leave(&self, id: &str) {
        self.lock().remove(id);
    }

    /// Notes that the browser answered: what was told before it held nobody up.
    pub(super) fn answered(&self) {
        for voice in self.lock().values_mut() {
            voice.before = voice.heard.load(Ordering::Relaxed);
        }
    }

    /// Takes out the context that told most since the browser last answered, and tells its
    /// holder; none where nobody is loud.
    pub(super) fn shut_loudest(&self) -> Option<String> {
        let mut voices = self.lock();
        let since = |voice: &Voice| voice.heard.load(Ordering::Relaxed) - voice.before;
        let (id, most) = voices.iter().map(|(id, voice)| (id, since(voice))).max_by(|a, b| {
            // Of two alike the same one, in whatever order they come.
            a.1.cmp(&b.1).then_with(|| b.0.cmp(a.0))
        })?;
        if most < LOUD {
            return None;
        }
        let id = id.clone();
        let voice = voices.remove(&id)?;
        voice.shut.send_replace(true);
        Some(id)
    }

    fn lock(&self) -> MutexGuard<'_, HashMap<String, Voice>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_loudest_since_the_last_answer_is_shut() {
        let noise = Noise::default();
        let enter = |id: &str| {
            let heard = Arc::new(AtomicU64::new(0));
            (noise.enter(id, Arc::clone(&heard)), heard)
        };
        let (early, late, calm) = (enter("early"), enter("late"), enter("calm"));
        assert_eq!(noise.shut_loudest(), None, "nobody said a thing");
        early.1.store(9_000, Ordering::Relaxed);
        noise.answered();
        late.1.store(8_000, Ordering::Relaxed);
        calm.1.store(300, Ordering::Relaxed);
        assert_eq!(noise.shut_loudest().as_deref(), Some("late"));
        assert!(*late.0.borrow() && !*early.0.borrow() && !*calm.0.borrow());
        assert_eq!(noise.shut_loudest(), None, "nobody else is loud");
        calm.1.store(9_000, Ordering::Relaxed);
        noise.leave("calm");
        assert_eq!(noise.shut_loudest(), None, "who left is not shut");
    }
}
