//! Images of states, which attempts read where they lie.
//!
//! An attempt that only looks needs no bytes of its own, and hundreds of attempts that read
//! the same bytes find them in the processor's cache. SQLite wants such bytes to stay for as
//! long as the process does, so they do, each image once: a process has few worlds.

use std::collections::HashSet;
use std::sync::{Mutex, PoisonError};

/// The images that were kept so far.
static KEPT: Mutex<Option<HashSet<&'static [u8]>>> = Mutex::new(None);

/// Keeps an image for good, or returns the one of the same bytes that is kept already.
pub(super) fn keep(image: &[u8]) -> &'static [u8] {
    let mut kept = KEPT.lock().unwrap_or_else(PoisonError::into_inner);
    let kept = kept.get_or_insert_default();
    if let Some(same) = kept.get(image) {
        return same;
    }
    let image: &'static [u8] = Box::leak(Box::from(image));
    kept.insert(image);
    image
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_image_is_kept_once() {
        let first = keep(b"an image of a state");
        assert_eq!(first, b"an image of a state");
        let same = first.to_vec();
        assert!(std::ptr::eq(first, keep(&same)), "it lies there twice");
        assert_ne!(first, keep(b"another"));
    }
}
