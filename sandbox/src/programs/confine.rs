//! What a process gives up before it becomes a foreign program.
//!
//! In this order: the chance to outlive the gym (the kernel's signal at its end; the
//! program cannot ask for another), memory, processor time, the size of files and core
//! dumps (resource limits), files and network (Landlock: the system's programs, libraries,
//! fonts and data to read, the call's directory to write), and the system calls that reach
//! the network, other processes or the kernel's inside (seccomp). All of them outlast the
//! change into the program. Each is one wall more: where the kernel lacks Landlock or
//! seccomp the program runs without that wall, and a probe tells.

use std::collections::BTreeMap;
use std::ffi::{OsStr, OsString};
use std::io::{self, Write};
use std::os::unix::process::CommandExt;
use std::path::PathBuf;
use std::process::Command;

use landlock::{
    ABI, Access, AccessFs, AccessNet, BitFlags, Ruleset, RulesetAttr, RulesetCreatedAttr, Scope,
    path_beneath_rules,
};
use rustix::process::{Resource, Rlimit, Signal};
use seccompiler::{SeccompCmpArgLen, SeccompCmpOp, SeccompCondition, SeccompRule};
use serde::{Deserialize, Serialize};

use crate::worker::contain::{deny, forbidden_to_all, probe};

/// What the programs of a system lie in, with their libraries, fonts and data.
const SYSTEM: [&str; 18] = [
    "/usr",
    "/lib",
    "/lib32",
    "/lib64",
    "/bin",
    "/sbin",
    "/opt",
    "/nix/store",
    "/etc/ld.so.cache",
    "/etc/ld.so.conf",
    "/etc/fonts",
    "/etc/alternatives",
    "/var/cache/fontconfig",
    "/dev/urandom",
    "/dev/random",
    "/dev/zero",
    // Which processor this is, and how many cores it has.
    "/sys/devices/system/cpu",
    "/proc/cpuinfo",
];

/// Address space beyond the memory limit, in bytes: room for what is reserved and never touched.
const ADDRESSES: u64 = 16 << 30;

/// The stack of every thread, in bytes.
const STACK: u64 = 8 << 20;

/// The option of `prctl` that changes the signal at the parent's end.
const PR_SET_PDEATHSIG: u64 = 1;

/// What a process may keep.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Confinement {
    /// Process that it must not outlive.
    pub host: u32,
    /// The directory of the call.
    pub folder: PathBuf,
    /// What it reads beside the system's programs.
    pub reads: Vec<PathBuf>,
    /// Memory in bytes.
    pub memory: u64,
    /// Processor time in seconds.
    pub processor: u64,
    /// Size of any file, in bytes.
    pub file: u64,
}

/// Gives up what a foreign program must not have and becomes that program; without one,
/// tries what must fail and writes what did as JSON to standard output.
///
/// `confinement` is what the host wrote. Returns only where there is no program, or with
/// the error that kept it from becoming one.
pub fn confine(
    confinement: &str,
    program: Option<&OsStr>,
    arguments: &[OsString],
) -> io::Result<()> {
    let confinement: Confinement = serde_json::from_str(confinement)?;
    rustix::process::set_parent_process_death_signal(Some(Signal::KILL))?;
    // The gym may have ended before the signal was asked for.
    let parent = rustix::process::getppid().map(|pid| pid.as_raw_pid().cast_unsigned());
    if parent != Some(confinement.host) {
        return Err(io::Error::other("the process that asked for this is gone"));
    }
    std::env::set_current_dir(&confinement.folder)?;
    limit_resources(&confinement)?;
    let _ = restrict_files_and_network(&confinement);
    let _ = forbid_calls();
    if let Some(program) = program {
        return Err(Command::new(program).args(arguments).exec());
    }
    let found = serde_json::to_string(&probe())?;
    writeln!(io::stdout().lock(), "{found}")
}

fn limit_resources(confinement: &Confinement) -> io::Result<()> {
    let fixed = |value| Rlimit { current: Some(value), maximum: Some(value) };
    for (resource, value) in [
        (Resource::Core, 0),
        (Resource::Fsize, confinement.file),
        (Resource::Cpu, confinement.processor),
        (Resource::Stack, STACK),
        (Resource::Data, confinement.memory),
        (Resource::As, confinement.memory.saturating_add(ADDRESSES)),
    ] {
        rustix::process::setrlimit(resource, fixed(value))?;
    }
    Ok(())
}

/// Leaves the system's programs to read and the call's directory to write, and no network.
fn restrict_files_and_network(confinement: &Confinement) -> Result<(), landlock::RulesetError> {
    let abi = ABI::V6;
    let read = AccessFs::from_read(abi);
    // No sockets, devices, pipes or links: the host reads what is left there.
    let write: BitFlags<AccessFs> = AccessFs::ReadFile
        | AccessFs::ReadDir
        | AccessFs::WriteFile
        | AccessFs::Truncate
        | AccessFs::MakeReg
        | AccessFs::MakeDir
        | AccessFs::RemoveFile
        | AccessFs::RemoveDir;
    Ruleset::default()
        .handle_access(AccessFs::from_all(abi))?
        .handle_access(AccessNet::from_all(abi))?
        .scope(Scope::from_all(abi))?
        .create()?
        .add_rules(path_beneath_rules(SYSTEM, read))?
        .add_rules(path_beneath_rules(&confinement.reads, read))?
        .add_rules(path_beneath_rules(["/dev/null"], AccessFs::ReadFile | AccessFs::WriteFile))?
        .add_rules(path_beneath_rules([&confinement.folder], write))?
        .restrict_self()?;
    Ok(())
}

/// Forbids system calls that reach beyond the process.
///
/// As with parsers a list of what is forbidden: a decoder killed by a wall of ours would
/// look like a damaged file.
fn forbid_calls() -> Result<(), seccompiler::BackendError> {
    let mut rules: BTreeMap<i64, Vec<SeccompRule>> =
        forbidden().into_iter().map(|call| (call, Vec::new())).collect();
    let when = |argument, operator, value| {
        let condition = SeccompCondition::new(argument, SeccompCmpArgLen::Dword, operator, value)?;
        Ok::<_, seccompiler::BackendError>(vec![SeccompRule::new(vec![condition])?])
    };
    // Signals to itself alone, such as those of `abort`.
    let own = u64::from(std::process::id());
    for call in [libc::SYS_kill, libc::SYS_tgkill] {
        rules.insert(call, when(0, SeccompCmpOp::Ne, own)?);
    }
    rules.insert(libc::SYS_prctl, when(0, SeccompCmpOp::Eq, PR_SET_PDEATHSIG)?);
    deny(rules)
}

/// The numbers of the calls that a decoder has no use for.
fn forbidden() -> Vec<i64> {
    let mut calls = vec![
        libc::SYS_tkill,
        libc::SYS_rt_sigqueueinfo,
        libc::SYS_rt_tgsigqueueinfo,
        libc::SYS_pidfd_open,
        libc::SYS_pidfd_getfd,
        libc::SYS_pidfd_send_signal,
        libc::SYS_ptrace,
        libc::SYS_process_vm_readv,
        libc::SYS_process_vm_writev,
        libc::SYS_process_madvise,
        libc::SYS_setpriority,
        libc::SYS_ioprio_set,
        libc::SYS_setsid,
        libc::SYS_setpgid,
        libc::SYS_shmget,
        libc::SYS_msgget,
        libc::SYS_semget,
        libc::SYS_mq_open,
        libc::SYS_chroot,
        libc::SYS_mount,
        libc::SYS_umount2,
        libc::SYS_pivot_root,
        libc::SYS_open_by_handle_at,
    ];
    calls.extend(forbidden_to_all());
    calls.extend(forbidden_elders());
    calls
}

/// Calls that only older architectures have.
#[cfg(target_arch = "x86_64")]
fn forbidden_elders() -> Vec<i64> {
    vec![libc::SYS_fork, libc::SYS_vfork]
}

#[cfg(not(target_arch = "x86_64"))]
fn forbidden_elders() -> Vec<i64> {
    Vec::new()
}
