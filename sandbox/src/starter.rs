//! Starting processes that end with this one.
//!
//! The signal that ends a child with its parent is tied to the *thread* that started it,
//! and a thread of the runtime's pool may end at any time. So all such children are
//! started by one thread, which lives as long as its [`Starter`].

use std::io;
use std::sync::{OnceLock, mpsc};

use tokio::process::{Child, Command};
use tokio::runtime::Handle;
use tokio::sync::oneshot;

/// Starts processes, all from one thread of its own, which begins with the first of them.
#[derive(Debug, Default)]
pub(crate) struct Starter(OnceLock<mpsc::Sender<Order>>);

struct Order {
    runtime: Handle,
    command: Command,
    done: oneshot::Sender<io::Result<Child>>,
}

impl Starter {
    /// Starts a process that belongs to the runtime of who asks.
    pub(crate) async fn start(&self, command: Command) -> io::Result<Child> {
        let gone = || io::Error::other("the starting thread ended");
        let sender = if let Some(sender) = self.0.get() {
            sender
        } else {
            let sender = thread()?;
            self.0.get_or_init(|| sender)
        };
        let (done, started) = oneshot::channel();
        let order = Order { runtime: Handle::current(), command, done };
        sender.send(order).map_err(|_| gone())?;
        started.await.map_err(|_| gone())?
    }
}

/// Begins the thread. It ends when nobody can send it orders any more.
fn thread() -> io::Result<mpsc::Sender<Order>> {
    let (sender, orders) = mpsc::channel::<Order>();
    std::thread::Builder::new().name("starter".into()).spawn(move || {
        for mut order in orders {
            let _inside = order.runtime.enter();
            // Who asked may have been cancelled; the process then ends by being dropped.
            let _ = order.done.send(order.command.spawn());
        }
    })?;
    Ok(sender)
}
