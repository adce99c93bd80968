//! The one way out of a guest: JSON frames over the import `host::call`.
//!
//! A frame names a call and its arguments; the reply holds a value or an error. Nothing
//! that a guest sends can do more than get an error back: frames are bounded in size and
//! number, addresses are checked, and what is not JSON is answered as such.

use std::sync::Arc;

use serde::{Deserialize, Serialize};
use serde_json::Value;
use tokio::sync::{OwnedSemaphorePermit, Semaphore};
use tokio::task::JoinSet;
use wasmtime::{Caller, Extern, Linker, Memory};

use super::HostCalls;
use super::runtime::Guest;

/// Largest frame that a guest may send, in bytes.
const REQUEST: usize = 16 << 20;

/// Largest frame that it gets back, in bytes.
const REPLY: usize = 64 << 20;

/// Calls of one execution.
const CALLS: u32 = 2_000;

/// What the guest's library takes for "the host failed".
const FAULT: i32 = -2;

/// The host's side of the calls of one guest.
pub(super) struct Bridge {
    host: Arc<dyn HostCalls>,
    slots: Arc<Semaphore>,
    /// The guest's slot; given back while it waits for an answer.
    slot: Option<OwnedSemaphorePermit>,
    calls: u32,
}

impl Bridge {
    pub(super) fn new(
        host: Arc<dyn HostCalls>,
        slots: Arc<Semaphore>,
        slot: OwnedSemaphorePermit,
    ) -> Self {
        Self { host, slots, slot: Some(slot), calls: 0 }
    }
}

/// A frame of the guest.
#[derive(Deserialize)]
struct Frame {
    name: String,
    arguments: Value,
}

/// What the guest gets back.
#[derive(Serialize)]
#[serde(rename_all = "lowercase")]
enum Reply {
    Value(Value),
    Error(String),
}

/// Defines `host::call`.
pub(super) fn define(linker: &mut Linker<Guest>) -> wasmtime::Result<()> {
    linker.func_wrap_async("host", "call", |caller, places: (i32, i32, i32, i32)| {
        Box::new(serve(caller, places))
    })?;
    Ok(())
}

/// Answers one call: 0 when the reply and its length are where the guest asked for them.
async fn serve(
    mut caller: Caller<'_, Guest>,
    (place, length, reply_place, reply_length): (i32, i32, i32, i32),
) -> wasmtime::Result<i32> {
    let address = |number: i32| number.cast_unsigned() as usize;
    let (Some(Extern::Memory(memory)), Some(Extern::Func(allocate))) =
        (caller.get_export("memory"), caller.get_export("host_alloc"))
    else {
        return Ok(FAULT);
    };
    let bytes = match request(&caller, memory, address(place), address(length)) {
        Some(Ok(frame)) => answer(&mut caller, frame).await?,
        Some(Err(reason)) => written(&Reply::Error(reason))?,
        None => return Ok(FAULT),
    };
    let size = i32::try_from(bytes.len())?;
    let allocate = allocate.typed::<i32, i32>(&caller)?;
    let target = allocate.call_async(&mut caller, size).await?;
    let written = [
        (target, &bytes[..]),
        (reply_place, &target.to_le_bytes()[..]),
        (reply_length, &size.to_le_bytes()[..]),
    ]
    .into_iter()
    .all(|(at, bytes)| memory.write(&mut caller, address(at), bytes).is_ok());
    Ok(if written && target != 0 { 0 } else { FAULT })
}

/// Reads a frame; `None` when it does not lie in the guest's memory.
fn request(
    caller: &Caller<'_, Guest>,
    memory: Memory,
    place: usize,
    length: usize,
) -> Option<Result<Frame, String>> {
    let bytes = memory.data(caller).get(place..place.checked_add(length)?)?;
    if length > REQUEST {
        return Some(Err(format!("the request has {length} bytes, more than {REQUEST}")));
    }
    let frame = serde_json::from_slice(bytes);
    Some(frame.map_err(|error| format!("the request is no call: {error}")))
}

/// Writes a reply; in place of one that is too long, that it is.
fn written(reply: &Reply) -> serde_json::Result<Vec<u8>> {
    let bytes = serde_json::to_vec(reply)?;
    if bytes.len() <= REPLY {
        return Ok(bytes);
    }
    let error = format!("the reply has {} bytes, more than {REPLY}", bytes.len());
    serde_json::to_vec(&Reply::Error(error))
}

/// Asks the host, on the threads that serve everybody, and without a slot. The reply is written
/// there, too: what the host does is not the guest's processor time.
async fn answer(caller: &mut Caller<'_, Guest>, frame: Frame) -> serde_json::Result<Vec<u8>> {
    let bridge = &mut caller.data_mut().bridge;
    bridge.calls += 1;
    if bridge.calls > CALLS {
        let error = format!("more than {CALLS} calls of the host in one execution");
        return written(&Reply::Error(error));
    }
    bridge.slot = None;
    let host = Arc::clone(&bridge.host);
    let mut work = JoinSet::new();
    work.spawn(async move {
        let reply = host.call(frame.name, frame.arguments).await;
        written(&reply.map_or_else(Reply::Error, Reply::Value))
    });
    let done = work.join_next().await;
    let bridge = &mut caller.data_mut().bridge;
    bridge.slot = Arc::clone(&bridge.slots).acquire_owned().await.ok();
    match done {
        Some(Ok(bytes)) => bytes,
        Some(Err(_)) | None => written(&Reply::Error("the call was not finished".to_owned())),
    }
}
