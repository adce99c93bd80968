//! The system calls of a guest, with a guard before each that could cost the host.
//!
//! Names, rights and escapes are `wasmtime-wasi`'s business: a guest reaches only the
//! directories that were opened for it. This file adds what that interface lacks: a
//! budget of bytes and entries, a limit of open files and of depth, no links, sleep that
//! only moves the logical clock, and times of files that are the same in every run.

use std::collections::HashMap;
use std::path::Path;

use walkdir::WalkDir;
use wasmtime_wasi::p1::WasiP1Ctx;
use wasmtime_wasi::p1::types::{self, Errno, Error, Fd};
use wasmtime_wasi::p1::wasi_snapshot_preview1::WasiSnapshotPreview1 as Wasi;
use wiggle::{GuestMemory, GuestPtr};

use super::budget::Budget;
use super::clock::GuestClock;
use super::entry::{LAST_FOLDER, TEMPORARY, WORKSPACE};

/// Files and directories that a guest may have open at a time.
const OPEN_FILES: u32 = 256;

/// How deep directories may lie; deeper ones could not be removed by every program.
const DEPTH: usize = 64;

/// Subscriptions of one poll.
const SUBSCRIPTIONS: u32 = 1024;

/// Why the host ended a guest, as a limit that names itself.
#[derive(Debug, Clone, thiserror::Error)]
#[error("{0}")]
pub(super) struct Stop(pub(super) String);

/// The system that one guest sees.
pub(super) struct System {
    pub(super) wasi: WasiP1Ctx,
    pub(super) budget: Budget,
    pub(super) clock: GuestClock,
    /// Nanoseconds that may still be slept, and in all.
    pub(super) sleep: (u64, u64),
    /// Open files above the directories open from the start.
    open: u32,
    /// Names of what is open, from which its number of the file follows.
    names: HashMap<u32, String>,
}

impl System {
    pub(super) fn new(wasi: WasiP1Ctx, budget: Budget, clock: GuestClock, sleep: u64) -> Self {
        Self { wasi, budget, clock, sleep: (sleep, sleep), open: 0, names: HashMap::new() }
    }

    /// Charges what a write of `length` bytes adds to a regular file. Output streams and
    /// bad descriptors are left to the write itself.
    async fn charge(
        &mut self,
        memory: &mut GuestMemory<'_>,
        fd: Fd,
        length: u64,
        at: Option<u64>,
    ) -> Result<(), Error> {
        let file = self.wasi.fd_filestat_get(memory, fd).await?;
        if file.filetype != types::Filetype::RegularFile {
            return Ok(());
        }
        let status = self.wasi.fd_fdstat_get(memory, fd).await?;
        let start = match at {
            Some(offset) => offset,
            None if status.fs_flags.contains(types::Fdflags::APPEND) => file.size,
            None => self.wasi.fd_tell(memory, fd)?,
        };
        let grown = start.saturating_add(length).saturating_sub(file.size);
        if self.budget.take(grown, 0) { Ok(()) } else { Err(Errno::Nospc.into()) }
    }

    /// Charges a new name. New names are made below the directories open from the start
    /// only, so that their depth is known.
    fn charge_name(
        &mut self,
        memory: &GuestMemory<'_>,
        folder: Fd,
        path: GuestPtr<str>,
    ) -> Result<(), Error> {
        depth_below(memory, folder, path)?;
        if self.budget.take(0, 1) { Ok(()) } else { Err(Errno::Nospc.into()) }
    }

    /// Returns the full name of a path below an open directory, without detours.
    fn name(
        &self,
        memory: &GuestMemory<'_>,
        folder: Fd,
        path: GuestPtr<str>,
    ) -> Result<String, Error> {
        let folder = self.open_name(folder);
        let mut parts: Vec<&str> = folder.split('/').collect();
        let path = memory.as_cow_str(path)?;
        for part in path.split('/') {
            match part {
                "" | "." => {}
                ".." if parts.len() > 1 => drop(parts.pop()),
                _ => parts.push(part),
            }
        }
        Ok(parts.join("/"))
    }

    /// Returns the name of what is open; a directory open from the start has its number.
    fn open_name(&self, fd: Fd) -> String {
        let fd = u32::from(fd);
        self.names.get(&fd).cloned().unwrap_or_else(|| fd.to_string())
    }

    /// Gives a file the times of the execution's start, and a directory the present one
    /// (importers ask it whether they have to look again). Numbers of devices and files
    /// come from the name, since the host's differ from run to run.
    fn timeless(&self, mut file: types::Filestat, name: &str) -> types::Filestat {
        let mut time = self.clock.origin();
        if file.filetype == types::Filetype::Directory {
            time = time.saturating_add(self.clock.passed());
        }
        (file.atim, file.mtim, file.ctim) = (time, time, time);
        let digest = blake3::hash(name.as_bytes());
        let number = digest.as_bytes().first_chunk().copied().map_or(1, u64::from_le_bytes);
        (file.dev, file.ino) = (1, number >> 1 | 1);
        file
    }

    /// Returns the host's path of a name in the workspace or the temporary directory.
    fn host_path(&self, folder: Fd, path: &str) -> Option<std::path::PathBuf> {
        let index = match u32::from(folder) {
            WORKSPACE => 0,
            TEMPORARY => 1,
            _ => return None,
        };
        Some(self.budget.folder(index)?.join(path))
    }

    /// Jumps to the earliest of the awaited times.
    fn sleep_until(&mut self, nanoseconds: u64) -> Result<(), Error> {
        let Some(left) = self.sleep.0.checked_sub(nanoseconds) else {
            let seconds = std::time::Duration::from_nanos(self.sleep.1).as_secs_f64();
            let stop = Stop(format!("{seconds} s of sleep"));
            return Err(Error::trap(wasmtime::Error::new(stop)));
        };
        self.sleep.0 = left;
        self.clock.sleep(nanoseconds);
        Ok(())
    }

    /// Returns how long a subscription waits; what is not a clock is always ready.
    fn wait_of(&self, subscription: &types::Subscription) -> u64 {
        let types::SubscriptionU::Clock(clock) = &subscription.u else {
            return 0;
        };
        if !clock.flags.contains(types::Subclockflags::SUBSCRIPTION_CLOCK_ABSTIME) {
            return clock.timeout;
        }
        let origin = match clock.id {
            types::Clockid::Realtime => self.clock.origin(),
            types::Clockid::Monotonic
            | types::Clockid::ProcessCputimeId
            | types::Clockid::ThreadCputimeId => 0,
        };
        clock.timeout.saturating_sub(origin.saturating_add(self.clock.passed()))
    }
}

/// Returns how deep a path lies, if it may: relative to a directory open from the start.
fn depth_below(memory: &GuestMemory<'_>, folder: Fd, path: GuestPtr<str>) -> Result<usize, Error> {
    if !(WORKSPACE..=TEMPORARY).contains(&u32::from(folder)) {
        return Err(Errno::Notcapable.into());
    }
    let path = memory.as_cow_str(path)?;
    let depth = Path::new(path.as_ref()).components().count();
    if depth > DEPTH { Err(Errno::Nametoolong.into()) } else { Ok(depth) }
}

fn is_fixed(fd: Fd) -> bool {
    (3..=LAST_FOLDER).contains(&u32::from(fd))
}

fn event(subscription: &types::Subscription) -> types::Event {
    let type_ = match subscription.u {
        types::SubscriptionU::Clock(_) => types::Eventtype::Clock,
        types::SubscriptionU::FdRead(_) => types::Eventtype::FdRead,
        types::SubscriptionU::FdWrite(_) => types::Eventtype::FdWrite,
    };
    let flags = types::Eventrwflags::empty();
    types::Event {
        userdata: subscription.userdata,
        error: Errno::Success,
        type_,
        fd_readwrite: types::EventFdReadwrite { nbytes: 1, flags },
    }
}

/// Adds up what a write is asked to write.
fn length_of(memory: &GuestMemory<'_>, parts: types::CiovecArray) -> Result<u64, Error> {
    let mut length = 0;
    for part in parts.iter() {
        length += u64::from(memory.read(part?)?.buf_len);
    }
    Ok(length)
}

/// Passes calls on as they are.
macro_rules! forward {
    ($($name:ident($($arg:ident: $type:ty),*) -> $out:ty;)*) => {$(
        fn $name(&mut self, memory: &mut GuestMemory<'_>, $($arg: $type),*) -> $out {
            self.wasi.$name(memory, $($arg),*)
        }
    )*};
    (async $($name:ident($($arg:ident: $type:ty),*) -> $out:ty;)*) => {$(
        async fn $name(&mut self, memory: &mut GuestMemory<'_>, $($arg: $type),*) -> $out {
            self.wasi.$name(memory, $($arg),*).await
        }
    )*};
}

type Outcome<T> = Result<T, Error>;

impl Wasi for System {
    fn set_hostcall_fuel(&mut self, fuel: usize) {
        self.wasi.set_hostcall_fuel(fuel);
    }

    async fn fd_write(
        &mut self,
        memory: &mut GuestMemory<'_>,
        fd: Fd,
        parts: types::CiovecArray,
    ) -> Outcome<types::Size> {
        let length = length_of(memory, parts)?;
        self.charge(memory, fd, length, None).await?;
        self.wasi.fd_write(memory, fd, parts).await
    }

    async fn fd_pwrite(
        &mut self,
        memory: &mut GuestMemory<'_>,
        fd: Fd,
        parts: types::CiovecArray,
        offset: types::Filesize,
    ) -> Outcome<types::Size> {
        let length = length_of(memory, parts)?;
        self.charge(memory, fd, length, Some(offset)).await?;
        self.wasi.fd_pwrite(memory, fd, parts, offset).await
    }

    async fn fd_filestat_set_size(
        &mut self,
        memory: &mut GuestMemory<'_>,
        fd: Fd,
        size: types::Filesize,
    ) -> Outcome<()> {
        self.charge(memory, fd, 0, Some(size)).await?;
        self.wasi.fd_filestat_set_size(memory, fd, size).await
    }

    async fn fd_filestat_get(
        &mut self,
        memory: &mut GuestMemory<'_>,
        fd: Fd,
    ) -> Outcome<types::Filestat> {
        let found = self.wasi.fd_filestat_get(memory, fd).await;
        found.map(|file| self.timeless(file, &self.open_name(fd)))
    }

    async fn path_filestat_get(
        &mut self,
        memory: &mut GuestMemory<'_>,
        folder: Fd,
        flags: types::Lookupflags,
        path: GuestPtr<str>,
    ) -> Outcome<types::Filestat> {
        let name = self.name(memory, folder, path)?;
        let found = self.wasi.path_filestat_get(memory, folder, flags, path).await;
        found.map(|file| self.timeless(file, &name))
    }

    /// Hides the host's numbers of files in a listing.
    async fn fd_readdir(
        &mut self,
        memory: &mut GuestMemory<'_>,
        fd: Fd,
        buffer: GuestPtr<u8>,
        length: types::Size,
        cookie: types::Dircookie,
    ) -> Outcome<types::Size> {
        /// Bytes of an entry before its name, where in them the number of the file
        /// stands, and the length of the name (WASI preview 1, `dirent`).
        const HEAD: (u32, u32, u32) = (24, 8, 16);
        let used = self.wasi.fd_readdir(memory, fd, buffer, length, cookie).await?;
        let mut at = 0;
        while at + HEAD.0 <= used {
            let start = buffer.offset() + at;
            // Entries follow each other without padding, so nothing in them is aligned.
            let number = GuestPtr::<u8>::new(start + HEAD.1).as_array(8);
            memory.copy_from_slice(&1_u64.to_le_bytes(), number)?;
            let mut name = [0; 4];
            for (index, byte) in (0..).zip(&mut name) {
                *byte = memory.read(GuestPtr::<u8>::new(start + HEAD.2 + index))?;
            }
            let name = u32::from_le_bytes(name);
            at = at.saturating_add(HEAD.0).saturating_add(name);
        }
        Ok(used)
    }

    async fn path_open(
        &mut self,
        memory: &mut GuestMemory<'_>,
        folder: Fd,
        lookup: types::Lookupflags,
        path: GuestPtr<str>,
        how: types::Oflags,
        rights: types::Rights,
        inherited: types::Rights,
        flags: types::Fdflags,
    ) -> Outcome<Fd> {
        if self.open >= OPEN_FILES {
            return Err(Errno::Mfile.into());
        }
        if how.contains(types::Oflags::CREAT) {
            self.charge_name(memory, folder, path)?;
        }
        let name = self.name(memory, folder, path)?;
        let opened = self
            .wasi
            .path_open(memory, folder, lookup, path, how, rights, inherited, flags)
            .await?;
        self.open += 1;
        self.names.insert(u32::from(opened), name);
        Ok(opened)
    }

    async fn fd_close(&mut self, memory: &mut GuestMemory<'_>, fd: Fd) -> Outcome<()> {
        let closed = self.wasi.fd_close(memory, fd).await;
        if closed.is_ok() && u32::from(fd) > LAST_FOLDER {
            self.open = self.open.saturating_sub(1);
            self.names.remove(&u32::from(fd));
        }
        closed
    }

    async fn fd_renumber(&mut self, memory: &mut GuestMemory<'_>, from: Fd, to: Fd) -> Outcome<()> {
        if is_fixed(from) || is_fixed(to) {
            return Err(Errno::Notcapable.into());
        }
        let same = u32::from(from) == u32::from(to);
        let moved = self.wasi.fd_renumber(memory, from, to).await;
        if moved.is_ok() && !same && u32::from(from) > LAST_FOLDER {
            self.open = self.open.saturating_sub(1);
        }
        if moved.is_ok()
            && let Some(name) = self.names.remove(&u32::from(from))
        {
            self.names.insert(u32::from(to), name);
        }
        moved
    }

    async fn path_create_directory(
        &mut self,
        memory: &mut GuestMemory<'_>,
        folder: Fd,
        path: GuestPtr<str>,
    ) -> Outcome<()> {
        self.charge_name(memory, folder, path)?;
        self.wasi.path_create_directory(memory, folder, path).await
    }

    async fn path_rename(
        &mut self,
        memory: &mut GuestMemory<'_>,
        from: Fd,
        source: GuestPtr<str>,
        to: Fd,
        target: GuestPtr<str>,
    ) -> Outcome<()> {
        depth_below(memory, from, source)?;
        let depth = depth_below(memory, to, target)?;
        let flags = types::Lookupflags::empty();
        let moved = self.wasi.path_filestat_get(memory, from, flags, source).await?;
        if moved.filetype == types::Filetype::Directory {
            let path = memory.as_cow_str(source)?;
            if path.split('/').any(|part| part == "..") {
                return Err(Errno::Inval.into());
            }
            let place = self.host_path(from, &path).ok_or(Errno::Notcapable)?;
            let height = WalkDir::new(place).into_iter().flatten().map(|entry| entry.depth()).max();
            if depth + height.unwrap_or(0) > DEPTH {
                return Err(Errno::Nametoolong.into());
            }
        }
        self.wasi.path_rename(memory, from, source, to, target).await
    }

    async fn path_link(
        &mut self,
        _: &mut GuestMemory<'_>,
        _: Fd,
        _: types::Lookupflags,
        _: GuestPtr<str>,
        _: Fd,
        _: GuestPtr<str>,
    ) -> Outcome<()> {
        Err(Errno::Perm.into())
    }

    async fn path_symlink(
        &mut self,
        _: &mut GuestMemory<'_>,
        _: GuestPtr<str>,
        _: Fd,
        _: GuestPtr<str>,
    ) -> Outcome<()> {
        Err(Errno::Perm.into())
    }

    async fn poll_oneoff(
        &mut self,
        memory: &mut GuestMemory<'_>,
        asked: GuestPtr<types::Subscription>,
        events: GuestPtr<types::Event>,
        count: types::Size,
    ) -> Outcome<types::Size> {
        if !(1..=SUBSCRIPTIONS).contains(&count) {
            return Err(Errno::Inval.into());
        }
        let mut all = Vec::new();
        for subscription in asked.as_array(count).iter() {
            all.push(memory.read(subscription?)?);
        }
        let waits: Vec<u64> = all.iter().map(|one| self.wait_of(one)).collect();
        let first = waits.iter().copied().min().unwrap_or(0);
        self.sleep_until(first)?;
        let due = all.iter().zip(waits).filter(|(_, wait)| *wait == first);
        let mut written = 0;
        for ((subscription, _), place) in due.zip(events.as_array(count).iter()) {
            memory.write(place?, event(subscription))?;
            written += 1;
        }
        Ok(written)
    }

    fn proc_exit(
        &mut self,
        memory: &mut GuestMemory<'_>,
        status: types::Exitcode,
    ) -> wasmtime::Error {
        self.wasi.proc_exit(memory, status)
    }

    forward! {
        args_get(argv: GuestPtr<GuestPtr<u8>>, buffer: GuestPtr<u8>) -> Outcome<()>;
        args_sizes_get() -> Outcome<(types::Size, types::Size)>;
        environ_get(environ: GuestPtr<GuestPtr<u8>>, buffer: GuestPtr<u8>) -> Outcome<()>;
        environ_sizes_get() -> Outcome<(types::Size, types::Size)>;
        clock_res_get(id: types::Clockid) -> Outcome<types::Timestamp>;
        clock_time_get(id: types::Clockid, precision: types::Timestamp) -> Outcome<types::Timestamp>;
        fd_allocate(fd: Fd, offset: types::Filesize, length: types::Filesize) -> Outcome<()>;
        fd_fdstat_set_flags(fd: Fd, flags: types::Fdflags) -> Outcome<()>;
        fd_fdstat_set_rights(fd: Fd, base: types::Rights, inherited: types::Rights) -> Outcome<()>;
        fd_prestat_get(fd: Fd) -> Outcome<types::Prestat>;
        fd_prestat_dir_name(fd: Fd, path: GuestPtr<u8>, length: types::Size) -> Outcome<()>;
        fd_tell(fd: Fd) -> Outcome<types::Filesize>;
        proc_raise(signal: types::Signal) -> Outcome<()>;
        sched_yield() -> Outcome<()>;
        random_get(buffer: GuestPtr<u8>, length: types::Size) -> Outcome<()>;
        sock_accept(fd: Fd, flags: types::Fdflags) -> Outcome<Fd>;
        sock_recv(fd: Fd, data: types::IovecArray, flags: types::Riflags)
            -> Outcome<(types::Size, types::Roflags)>;
        sock_send(fd: Fd, data: types::CiovecArray, flags: types::Siflags) -> Outcome<types::Size>;
        sock_shutdown(fd: Fd, how: types::Sdflags) -> Outcome<()>;
    }

    forward! { async
        fd_advise(fd: Fd, offset: types::Filesize, length: types::Filesize, advice: types::Advice)
            -> Outcome<()>;
        fd_datasync(fd: Fd) -> Outcome<()>;
        fd_fdstat_get(fd: Fd) -> Outcome<types::Fdstat>;
        fd_filestat_set_times(fd: Fd, atim: types::Timestamp, mtim: types::Timestamp,
            flags: types::Fstflags) -> Outcome<()>;
        fd_read(fd: Fd, parts: types::IovecArray) -> Outcome<types::Size>;
        fd_pread(fd: Fd, parts: types::IovecArray, offset: types::Filesize) -> Outcome<types::Size>;
        fd_seek(fd: Fd, offset: types::Filedelta, whence: types::Whence) -> Outcome<types::Filesize>;
        fd_sync(fd: Fd) -> Outcome<()>;
        path_filestat_set_times(folder: Fd, flags: types::Lookupflags, path: GuestPtr<str>,
            atim: types::Timestamp, mtim: types::Timestamp, how: types::Fstflags) -> Outcome<()>;
        path_readlink(folder: Fd, path: GuestPtr<str>, buffer: GuestPtr<u8>, length: types::Size)
            -> Outcome<types::Size>;
        path_remove_directory(folder: Fd, path: GuestPtr<str>) -> Outcome<()>;
        path_unlink_file(folder: Fd, path: GuestPtr<str>) -> Outcome<()>;
    }
}
