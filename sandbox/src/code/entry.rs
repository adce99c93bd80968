//! How the host enters the guest: the same folders and the same call, before the
//! snapshot and in every execution after it.

use std::path::Path;

use wasmtime::{Instance, Store};
use wasmtime_wasi::{FsPerms, WasiCtxBuilder};

use super::setup::Layout;

/// The directories that a guest sees: number, and whether it may change what is in it.
pub(super) const WORKSPACE: u32 = 4;
/// See [`WORKSPACE`].
pub(super) const TEMPORARY: u32 = 5;
/// The last directory that is open from the start.
pub(super) const LAST_FOLDER: u32 = 6;

/// Opens the guest's directories, always in this order: its C library remembers their
/// numbers from the time of the snapshot.
pub(super) fn open_folders(
    builder: &mut WasiCtxBuilder,
    layout: &Layout,
    workspace: &Path,
    temporary: &Path,
) -> wasmtime::Result<()> {
    builder
        .preopened_dir(layout.root(), "/", FsPerms::ReadOnly)?
        .preopened_dir(workspace, "/workspace", FsPerms::ReadWrite)?
        .preopened_dir(temporary, "/tmp", FsPerms::ReadWrite)?
        .preopened_dir(
            layout.plots(),
            "/usr/local/lib/python315.zip/matplotlib/mpl-data",
            FsPerms::ReadOnly,
        )?;
    Ok(())
}

/// Runs a script in the guest's `__main__` and returns its status.
pub(super) async fn turn<T: Send>(
    store: &mut Store<T>,
    instance: Instance,
    script: &str,
) -> wasmtime::Result<i32> {
    let length = i32::try_from(script.len())?;
    let allocate = instance.get_typed_func::<i32, i32>(&mut *store, "host_alloc")?;
    let place = allocate.call_async(&mut *store, length).await?;
    let memory = instance
        .get_memory(&mut *store, "memory")
        .ok_or_else(|| wasmtime::Error::msg("the guest has no memory"))?;
    memory.write(&mut *store, place.cast_unsigned() as usize, script.as_bytes())?;
    let turn = instance.get_typed_func::<(i32, i32), i32>(&mut *store, "turn")?;
    turn.call_async(&mut *store, (place, length)).await
}
