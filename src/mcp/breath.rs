//! Calls that a client asks for in one breath are one round.
//!
//! The protocol has no rounds: parallel calls are requests that follow each other closely.
//! So the first call waits some milliseconds for others, and all that came until then run
//! side by side as a round; what comes while a round runs is the next one. Within a round the
//! numbers of the requests are the order asked, since requests may overtake each other on
//! their way here; where one has no number, it is the order of arrival.

use std::sync::Arc;
use std::time::Duration;

use tokio::sync::{mpsc, oneshot};
use wildgym_toolbox::{Call, Reply};

use super::acts::Acts;

/// How long a round waits for another call. Models take hundreds of times as long.
const BREATH: Duration = Duration::from_millis(10);

/// Most calls of a round.
const MOST: usize = 128;

/// A call and who waits for what comes of it.
struct Waiting {
    call: Call,
    /// The number of its request.
    number: Option<i64>,
    done: oneshot::Sender<Result<Reply, String>>,
}

/// Makes rounds of calls. The rounds end when the last clone is dropped.
#[derive(Clone)]
pub(super) struct Rounds(mpsc::UnboundedSender<Waiting>);

impl Rounds {
    /// Begins to take calls for a sandbox.
    pub(super) fn of(acts: Arc<dyn Acts>) -> Self {
        let (calls, taken) = mpsc::unbounded_channel();
        tokio::spawn(run(acts, taken));
        Self(calls)
    }

    /// Makes a call and returns what came of it, or why nothing is called any more.
    pub(super) async fn call(&self, call: Call, number: Option<i64>) -> Result<Reply, String> {
        let gone = || "the sandbox is gone".to_owned();
        let (done, reply) = oneshot::channel();
        self.0.send(Waiting { call, number, done }).map_err(|_| gone())?;
        reply.await.unwrap_or_else(|_| Err(gone()))
    }
}

async fn run(acts: Arc<dyn Acts>, mut taken: mpsc::UnboundedReceiver<Waiting>) {
    while let Some(first) = taken.recv().await {
        let mut round = vec![first];
        while round.len() < MOST
            && let Ok(Some(next)) = tokio::time::timeout(BREATH, taken.recv()).await
        {
            round.push(next);
        }
        if round.iter().all(|one| one.number.is_some()) {
            round.sort_by_key(|one| one.number);
        }
        let (calls, waiting): (Vec<_>, Vec<_>) =
            round.into_iter().map(|one| (one.call, one.done)).unzip();
        // Whoever waits no longer has a closed end, and misses nothing by it.
        match acts.round(calls).await {
            Ok(replies) => {
                for (done, reply) in waiting.into_iter().zip(replies) {
                    let _gone = done.send(Ok(reply));
                }
            }
            Err(why) => {
                for done in waiting {
                    let _gone = done.send(Err(why.clone()));
                }
            }
        }
    }
}
