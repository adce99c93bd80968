//! What a worker gives up before it reads the first foreign byte.
//!
//! In this order: the chance to outlive its host, memory, processor time and core dumps
//! (resource limits), files and network (Landlock without a single rule), and the system
//! calls that open, connect, start or trace anything (seccomp). Each is one wall more:
//! where the kernel lacks Landlock or seccomp the worker still serves, and
//! [`Containment`] tells what was found to hold.
//!
//! Restrictions hold for the calling thread and those it starts later; so this runs in
//! the main thread before there is another.

use std::collections::BTreeMap;
use std::fs::{self, File};
use std::io;
use std::net::{Ipv4Addr, TcpStream, UdpSocket};

use landlock::{ABI, Access, AccessFs, AccessNet, Ruleset, RulesetAttr, Scope};
use rustix::process::{DumpableBehavior, Resource, Rlimit, Signal};
use seccompiler::{
    SeccompAction, SeccompCmpArgLen, SeccompCmpOp, SeccompCondition, SeccompFilter, SeccompRule,
    TargetArch,
};
use serde::{Deserialize, Serialize};

/// Memory that a worker may take beyond what the idle program has, in bytes.
pub(super) const MEMORY: u64 = 512 << 20;

/// Address space beyond the idle program's, in bytes: room for what is reserved and never touched.
const ADDRESSES: u64 = 1 << 30;

/// More bytes than either limit leaves.
const BEYOND: usize = 4 << 30;

/// Processor time of a worker's whole life, in seconds; the pool retires workers long before.
const CPU: u64 = 120;

/// What a worker found that it cannot do.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[expect(clippy::struct_excessive_bools, reason = "each is a wall of its own")]
pub struct Containment {
    /// Reading a file of the host fails.
    pub no_reading: bool,
    /// Creating a file on the host fails.
    pub no_writing: bool,
    /// Opening a socket fails.
    pub no_network: bool,
    /// Starting a program fails.
    pub no_programs: bool,
    /// Memory is limited.
    pub bounded_memory: bool,
}

impl Containment {
    /// Returns whether every wall stands.
    #[must_use]
    pub fn is_full(self) -> bool {
        self.no_reading
            && self.no_writing
            && self.no_network
            && self.no_programs
            && self.bounded_memory
    }
}

/// Gives up what a parser does not need, as far as the kernel can take it.
pub(super) fn contain() {
    // Without this the worker still ends when its standard input does.
    let _ = rustix::process::set_parent_process_death_signal(Some(Signal::KILL));
    let _ = limit_resources();
    let _ = rustix::process::set_dumpable_behavior(DumpableBehavior::NotDumpable);
    let _ = forbid_files_and_network();
    let _ = forbid_calls();
}

/// Sets the resource limits, the memory ones relative to what the program has now.
fn limit_resources() -> io::Result<()> {
    let (addresses, data) = footprint()?;
    let fixed = |value| Rlimit { current: Some(value), maximum: Some(value) };
    for (resource, value) in [
        (Resource::Core, 0),
        (Resource::Fsize, 0),
        (Resource::Cpu, CPU),
        (Resource::Data, data + MEMORY),
        (Resource::As, addresses + ADDRESSES),
    ] {
        rustix::process::setrlimit(resource, fixed(value))?;
    }
    Ok(())
}

/// Returns the program's address space and data in bytes.
fn footprint() -> io::Result<(u64, u64)> {
    let statm = fs::read_to_string("/proc/self/statm")?;
    let pages: Vec<u64> = statm.split_whitespace().filter_map(|word| word.parse().ok()).collect();
    match pages[..] {
        [size, _, _, _, _, data, ..] => {
            let page = rustix::param::page_size() as u64;
            Ok((size * page, data * page))
        }
        _ => Err(io::ErrorKind::InvalidData.into()),
    }
}

/// Handles every right that Landlock knows and grants none.
fn forbid_files_and_network() -> Result<(), landlock::RulesetError> {
    let abi = ABI::V6;
    Ruleset::default()
        .handle_access(AccessFs::from_all(abi))?
        .handle_access(AccessNet::from_all(abi))?
        .scope(Scope::from_all(abi))?
        .create()?
        .restrict_self()?;
    Ok(())
}

/// Forbids system calls that reach beyond the process.
///
/// A list of what is forbidden, not of what is allowed: what the allocator and threads
/// need differs between systems, and a parser killed by a wall of ours would look like
/// a damaged file.
fn forbid_calls() -> Result<(), seccompiler::BackendError> {
    deny(forbidden().into_iter().map(|call| (call, Vec::new())).collect())
}

/// Denies these calls, where one of their rules fits (without rules: always), and the
/// starting of processes.
pub(crate) fn deny(
    mut rules: BTreeMap<i64, Vec<SeccompRule>>,
) -> Result<(), seccompiler::BackendError> {
    let arch: TargetArch = std::env::consts::ARCH.try_into()?;
    let denied = SeccompAction::Errno(libc::EPERM.unsigned_abs());
    // Its argument lies behind a pointer, out of a filter's sight; without it, threads
    // are started by `clone`, whose flags can be seen.
    let absent = SeccompAction::Errno(libc::ENOSYS.unsigned_abs());
    let clone3 = BTreeMap::from([(libc::SYS_clone3, Vec::new())]);
    let thread = libc::CLONE_THREAD.unsigned_abs().into();
    let process =
        SeccompCondition::new(0, SeccompCmpArgLen::Qword, SeccompCmpOp::MaskedEq(thread), 0)?;
    rules.insert(libc::SYS_clone, vec![SeccompRule::new(vec![process])?]);
    for (rules, action) in [(clone3, absent), (rules, denied)] {
        let filter = SeccompFilter::new(rules, SeccompAction::Allow, action, arch)?;
        let program: seccompiler::BpfProgram = filter.try_into()?;
        // Where the kernel has no seccomp, the other walls remain.
        let _ = seccompiler::apply_filter(&program);
    }
    Ok(())
}

/// The numbers of the calls that a parser has no use for.
fn forbidden() -> Vec<i64> {
    let mut calls = vec![
        // Files.
        libc::SYS_openat,
        libc::SYS_openat2,
        libc::SYS_open_by_handle_at,
        libc::SYS_unlinkat,
        libc::SYS_renameat2,
        libc::SYS_linkat,
        libc::SYS_symlinkat,
        libc::SYS_mkdirat,
        libc::SYS_mknodat,
        libc::SYS_fchmodat,
        libc::SYS_fchownat,
        libc::SYS_truncate,
        libc::SYS_chdir,
        libc::SYS_chroot,
        libc::SYS_mount,
        libc::SYS_umount2,
        libc::SYS_pivot_root,
        libc::SYS_memfd_create,
        // Programs and other processes.
        libc::SYS_execve,
        libc::SYS_execveat,
        libc::SYS_kill,
        libc::SYS_tkill,
        libc::SYS_pidfd_open,
        libc::SYS_pidfd_send_signal,
        libc::SYS_ptrace,
        libc::SYS_process_vm_readv,
        libc::SYS_process_vm_writev,
        libc::SYS_prlimit64,
        libc::SYS_setpriority,
        libc::SYS_shmget,
        libc::SYS_setsid,
        libc::SYS_setpgid,
    ];
    calls.extend(forbidden_to_all());
    calls.extend(forbidden_elders());
    calls
}

/// The numbers of the calls that nobody who meets foreign bytes has a use for.
pub(crate) fn forbidden_to_all() -> Vec<i64> {
    vec![
        // Network.
        libc::SYS_socket,
        libc::SYS_socketpair,
        libc::SYS_connect,
        libc::SYS_bind,
        libc::SYS_listen,
        libc::SYS_accept,
        libc::SYS_accept4,
        libc::SYS_sendto,
        libc::SYS_sendmsg,
        libc::SYS_sendmmsg,
        // The kernel itself.
        libc::SYS_unshare,
        libc::SYS_setns,
        libc::SYS_bpf,
        libc::SYS_perf_event_open,
        libc::SYS_userfaultfd,
        libc::SYS_io_uring_setup,
        libc::SYS_io_uring_enter,
        libc::SYS_io_uring_register,
        libc::SYS_keyctl,
        libc::SYS_add_key,
        libc::SYS_request_key,
        libc::SYS_init_module,
        libc::SYS_finit_module,
        libc::SYS_kexec_load,
        libc::SYS_reboot,
    ]
}

/// Calls that only older architectures have, before their `…at` successors.
#[cfg(target_arch = "x86_64")]
fn forbidden_elders() -> Vec<i64> {
    vec![
        libc::SYS_open,
        libc::SYS_creat,
        libc::SYS_unlink,
        libc::SYS_rename,
        libc::SYS_link,
        libc::SYS_symlink,
        libc::SYS_mkdir,
        libc::SYS_rmdir,
        libc::SYS_mknod,
        libc::SYS_chmod,
        libc::SYS_chown,
        libc::SYS_fork,
        libc::SYS_vfork,
        libc::SYS_setrlimit,
    ]
}

#[cfg(not(target_arch = "x86_64"))]
fn forbidden_elders() -> Vec<i64> {
    Vec::new()
}

/// Tries what must fail, and tells what did.
pub(crate) fn probe() -> Containment {
    let left_over = std::env::temp_dir().join(format!("wildgym-probe-{}", std::process::id()));
    let written = File::create(&left_over).is_ok();
    if written {
        let _ = fs::remove_file(&left_over);
    }
    let sent = UdpSocket::bind((Ipv4Addr::LOCALHOST, 0)).is_ok()
        || TcpStream::connect((Ipv4Addr::LOCALHOST, 9)).is_ok_and(|_| true);
    Containment {
        no_reading: File::open("/etc/passwd").is_err() && File::open("/proc/self/maps").is_err(),
        no_writing: !written,
        no_network: !sent,
        no_programs: std::process::Command::new("/bin/true").status().is_err(),
        bounded_memory: Vec::<u8>::new().try_reserve_exact(BEYOND).is_err(),
    }
}
