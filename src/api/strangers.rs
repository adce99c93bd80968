//! Connections over which no token came yet: the oldest makes room where there are too many.

use std::collections::VecDeque;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use axum::body::Body;
use axum::http::Request;
use tokio::task::AbortHandle;

/// Whether a token came over a connection.
#[derive(Debug, Clone, Default)]
pub(super) struct Known(Arc<AtomicBool>);

impl Known {
    /// Notes that one came with a request.
    pub(super) fn note(request: &Request<Body>) {
        if let Some(known) = request.extensions().get::<Self>() {
            known.0.store(true, Ordering::Relaxed);
        }
    }
}

/// The connections of those who may be strangers, the oldest first.
#[derive(Debug)]
pub(super) struct Strangers {
    queue: VecDeque<(Known, AbortHandle)>,
    most: usize,
}

impl Strangers {
    /// Knows of none; of more than `most` those are forgotten that are gone or have a token.
    pub(super) fn new(most: usize) -> Self {
        Self { queue: VecDeque::new(), most }
    }

    /// Adds a connection that was just opened.
    pub(super) fn add(&mut self, known: Known, connection: AbortHandle) {
        if self.queue.len() > self.most {
            self.queue.retain(Self::may_go);
        }
        self.queue.push_back((known, connection));
    }

    /// Closes the oldest, where there is one.
    pub(super) fn make_room(&mut self) {
        while let Some(oldest) = self.queue.pop_front() {
            if Self::may_go(&oldest) {
                oldest.1.abort();
                return;
            }
        }
    }

    fn may_go((known, connection): &(Known, AbortHandle)) -> bool {
        !known.0.load(Ordering::Relaxed) && !connection.is_finished()
    }
}

#[cfg(test)]
mod tests {
    use tokio::task::JoinSet;

    use super::*;

    /// Room is made by the oldest that nobody knows, and by nobody else.
    #[tokio::test]
    async fn strangers_make_room_in_the_order_in_which_they_came() {
        let mut connections = JoinSet::new();
        let mut strangers = Strangers::new(8);
        let known: Vec<Known> = (0..5).map(|_| Known::default()).collect();
        for known in &known {
            strangers.add(known.clone(), connections.spawn(std::future::pending::<()>()));
        }
        let alive = |strangers: &Strangers| {
            strangers.queue.iter().filter(|one| Strangers::may_go(one)).count()
        };
        for with_token in [0, 2] {
            let mut request = Request::new(Body::empty());
            request.extensions_mut().insert(known[with_token].clone());
            Known::note(&request);
        }
        strangers.make_room();
        let gone = connections.join_next().await.unwrap();
        assert!(gone.unwrap_err().is_cancelled());
        assert_eq!((connections.len(), alive(&strangers)), (4, 2), "the second was the oldest");
        strangers.make_room();
        strangers.make_room();
        strangers.make_room();
        while connections.len() > 2 {
            assert!(connections.join_next().await.unwrap().unwrap_err().is_cancelled());
        }
        assert_eq!(connections.len(), 2, "those with a token stay");
    }
}
