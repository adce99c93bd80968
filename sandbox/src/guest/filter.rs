//! What a guest may ask of the kernel: a filter that bubblewrap sets before it starts one.
//!
//! Namespaces wall in what has one. Some kinds of sockets have none, such as those between
//! virtual machines and their host (`AF_VSOCK`), on which two guests, or a guest and the host,
//! could meet. So sockets are of the kinds that namespaces know and of no other. Keyrings of
//! the kernel, which belong to a user and a login and not to a namespace, are not there: one
//! guest could leave there what another reads. Neither are rings of requests (`io_uring`),
//! which can make sockets past any filter, and the system calls of another architecture.

use std::ffi::{OsStr, OsString};
use std::fs::File;
use std::io::{self, Seek, Write};
use std::os::fd::AsRawFd;
use std::path::Path;

use rustix::fs::{MemfdFlags, memfd_create};

/// Numbers of an architecture, and of its calls.
#[derive(Debug, Clone, Copy)]
struct Native {
    architecture: u32,
    socket: u32,
    /// `add_key`, `request_key`, `keyctl`.
    keys: [u32; 3],
}

/// Those of this one; `include/uapi/linux/audit.h` and `asm/unistd.h` of Linux.
#[cfg(target_arch = "x86_64")]
const NATIVE: Option<Native> =
    Some(Native { architecture: 0xC000_003E, socket: 41, keys: [248, 249, 250] });
#[cfg(target_arch = "aarch64")]
const NATIVE: Option<Native> =
    Some(Native { architecture: 0xC000_00B7, socket: 198, keys: [217, 218, 219] });
#[cfg(not(any(target_arch = "x86_64", target_arch = "aarch64")))]
const NATIVE: Option<Native> = None;

/// Instructions of `linux/filter.h`: load a word, compare, return.
const LOAD: u16 = 0x20;
const EQUAL: u16 = 0x15;
const AT_LEAST: u16 = 0x35;
const RETURN: u16 = 0x06;

/// Places in `struct seccomp_data`: the call's number, the architecture, the first argument.
const NUMBER: u32 = 0;
const ARCHITECTURE: u32 = 4;
const ARGUMENT: u32 = 16;

/// What a filter returns: let it pass, or fail with an error's number.
const ALLOW: u32 = 0x7FFF_0000;
const FAIL: u32 = 0x0005_0000;
const ENOSYS: u32 = 38;
const EAFNOSUPPORT: u32 = 97;

/// The first number of the calls of x32, which are other calls of the same architecture.
const X32: u32 = 0x4000_0000;

/// `io_uring_setup`, on every architecture.
const IO_URING: u32 = 425;

/// Kinds of sockets that belong to a network namespace: local, IPv4, IPv6, netlink.
const KINDS: [u32; 4] = [1, 2, 10, 16];

/// One instruction: what, how far on if so, how far on if not, and with what.
type Step = (u16, u8, u8, u32);

/// Returns the filter; none for an architecture whose numbers are not known here.
fn program() -> Option<Vec<u8>> {
    let Native { architecture, socket, keys: [add, request, control] } = NATIVE?;
    let [local, v4, v6, netlink] = KINDS;
    let steps: [Step; 17] = [
        (LOAD, 0, 0, ARCHITECTURE),
        (EQUAL, 0, 14, architecture),
        (LOAD, 0, 0, NUMBER),
        (AT_LEAST, 12, 0, X32),
        (EQUAL, 11, 0, IO_URING),
        (EQUAL, 10, 0, add),
        (EQUAL, 9, 0, request),
        (EQUAL, 8, 0, control),
        (EQUAL, 0, 6, socket),
        (LOAD, 0, 0, ARGUMENT),
        (EQUAL, 4, 0, local),
        (EQUAL, 3, 0, v4),
        (EQUAL, 2, 0, v6),
        (EQUAL, 1, 0, netlink),
        (RETURN, 0, 0, FAIL | EAFNOSUPPORT),
        (RETURN, 0, 0, ALLOW),
        (RETURN, 0, 0, FAIL | ENOSYS),
    ];
    let bytes = |(code, yes, no, with): Step| {
        let [low, high] = code.to_ne_bytes();
        let mut out = vec![low, high, yes, no];
        out.extend(with.to_ne_bytes());
        out
    };
    Some(steps.into_iter().flat_map(bytes).collect())
}

/// Returns the arguments with which a program is started: where it is bubblewrap, with the
/// filter, which lies in the file that is returned and must be open then.
pub(crate) fn filtered(
    program_name: &OsStr,
    arguments: &[OsString],
) -> io::Result<(Vec<OsString>, Option<File>)> {
    let is_bubblewrap = Path::new(program_name).file_name() == Some(OsStr::new("bwrap"));
    let Some(filter) = program().filter(|_| is_bubblewrap) else {
        return Ok((arguments.to_vec(), None));
    };
    // Without the flag to be closed: bubblewrap inherits it, reads it and closes it.
    let mut file = File::from(memfd_create("filter", MemfdFlags::empty())?);
    file.write_all(&filter)?;
    file.rewind()?;
    let mut all = vec![OsString::from("--seccomp"), file.as_raw_fd().to_string().into()];
    all.extend_from_slice(arguments);
    Ok((all, Some(file)))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Follows the filter as the kernel would.
    fn decide(filter: &[u8], architecture: u32, number: u32, argument: u32) -> u32 {
        let (mut at, mut value) = (0, 0);
        loop {
            let step = &filter[at * 8..at * 8 + 8];
            let code = u16::from_ne_bytes([step[0], step[1]]);
            let with = u32::from_ne_bytes([step[4], step[5], step[6], step[7]]);
            let is_so = match code {
                LOAD => {
                    value = match with {
                        NUMBER => number,
                        ARCHITECTURE => architecture,
                        _ => argument,
                    };
                    at += 1;
                    continue;
                }
                RETURN => return with,
                EQUAL => value == with,
                _ => value >= with,
            };
            at += 1 + usize::from(if is_so { step[2] } else { step[3] });
        }
    }

    #[test]
    fn only_sockets_with_a_namespace_can_be_made() {
        let (Some(filter), Some(numbers)) = (program(), NATIVE) else { return };
        let Native { architecture: native, socket, keys: [add, request, control] } = numbers;
        let table = [
            (native, 0, 40, ALLOW, "any other call"),
            (native, socket, 1, ALLOW, "a local socket"),
            (native, socket, 2, ALLOW, "IPv4"),
            (native, socket, 10, ALLOW, "IPv6"),
            (native, socket, 16, ALLOW, "netlink"),
            (native, socket, 40, FAIL | EAFNOSUPPORT, "between virtual machines"),
            (native, socket, 17, FAIL | EAFNOSUPPORT, "packets"),
            (native, socket, 38, FAIL | EAFNOSUPPORT, "ciphers of the kernel"),
            (native, add, 0, FAIL | ENOSYS, "a key"),
            (native, request, 0, FAIL | ENOSYS, "another's key"),
            (native, control, 0, FAIL | ENOSYS, "a keyring"),
            (native, control + 1, 0, ALLOW, "what comes after them"),
            (native, IO_URING, 0, FAIL | ENOSYS, "rings of requests"),
            (native, X32 + 41, 40, FAIL | ENOSYS, "x32"),
            (0x4000_0003, 102, 1, FAIL | ENOSYS, "another architecture"),
        ];
        for (architecture, number, argument, expected, why) in table {
            assert_eq!(decide(&filter, architecture, number, argument), expected, "{why}");
        }
    }
}
