//! The processes of a browser: who is below a process, and whose a connection is.
//!
//! Read from `/proc`. A process that ends while one looks is passed over.

use std::collections::HashMap;
use std::fs;
use std::net::{Ipv4Addr, SocketAddr};
use std::sync::atomic::{AtomicU32, Ordering};

/// Returns all processes below `root`, itself not among them.
pub(crate) fn below(root: u32) -> Vec<u32> {
    let mut children: HashMap<u32, Vec<u32>> = HashMap::new();
    let Ok(entries) = fs::read_dir("/proc") else { return Vec::new() };
    for entry in entries.flatten() {
        let number = entry.file_name().to_str().and_then(|name| name.parse().ok());
        if let Some(pid) = number
            && let Some(parent) = parent_of(pid)
        {
            children.entry(parent).or_default().push(pid);
        }
    }
    let mut found = children.remove(&root).unwrap_or_default();
    let mut next = 0;
    while let Some(pid) = found.get(next) {
        let more = children.remove(pid).unwrap_or_default();
        found.extend(more);
        next += 1;
    }
    found
}

/// Returns the parent of a process.
fn parent_of(pid: u32) -> Option<u32> {
    let stat = fs::read_to_string(format!("/proc/{pid}/stat")).ok()?;
    // The name comes second, in parentheses, and may hold anything.
    let (_, rest) = stat.rsplit_once(") ")?;
    rest.split(' ').nth(1)?.parse().ok()
}

/// The processes below a keeper, asked which connections are theirs.
#[derive(Debug)]
pub(super) struct Tree {
    root: u32,
    /// The one that connected last: in a browser all connections are of one process.
    last: AtomicU32,
}

impl Tree {
    /// Returns the tree below `root`.
    pub(super) fn new(root: u32) -> Self {
        Self { root, last: AtomicU32::new(0) }
    }

    /// Returns whether the connection from `peer` to `port` of this machine was made by
    /// a process of the tree.
    ///
    /// Reads some hundred small files: not to be called where it must not block. Where
    /// the system lets no one look into the tree's processes, connections of the same
    /// user count.
    pub(super) fn owns(&self, peer: SocketAddr, port: u16) -> bool {
        let Ok(table) = fs::read_to_string("/proc/self/net/tcp") else { return false };
        let Some((user, inode)) = connection(&table, peer, port) else { return false };
        let last = self.last.load(Ordering::Relaxed);
        if last != 0 && holds(last, inode) == Some(true) {
            return true;
        }
        let members = below(self.root);
        let mut hidden = 0;
        for pid in &members {
            match holds(*pid, inode) {
                Some(true) => {
                    self.last.store(*pid, Ordering::Relaxed);
                    return true;
                }
                Some(false) => {}
                None => hidden += 1,
            }
        }
        let none_seen = !members.is_empty() && hidden == members.len();
        none_seen && user == rustix::process::geteuid().as_raw()
    }
}

/// Returns whether a process holds that socket; nothing where one may not look.
fn holds(pid: u32, inode: u64) -> Option<bool> {
    let wanted = format!("socket:[{inode}]");
    let entries = fs::read_dir(format!("/proc/{pid}/fd")).ok()?;
    Some(
        entries.flatten().any(|entry| {
            fs::read_link(entry.path()).is_ok_and(|to| to.as_os_str() == wanted.as_str())
        }),
    )
}

/// Finds user and inode of the socket that is connected from `peer` to `port` in the
/// kernel's table of connections.
fn connection(table: &str, peer: SocketAddr, port: u16) -> Option<(u32, u64)> {
    let SocketAddr::V4(peer) = peer else { return None };
    let from = written(*peer.ip(), peer.port());
    let to = written(Ipv4Addr::LOCALHOST, port);
    table.lines().skip(1).find_map(|line| {
        let mut words = line.split_whitespace().skip(1);
        if words.next()? != from || words.next()? != to {
            return None;
        }
        // After the addresses: state, queues, timer, retransmissions, user, timeout, inode.
        let user = words.nth(4)?.parse().ok()?;
        let inode = words.nth(1)?.parse().ok()?;
        (inode != 0).then_some((user, inode))
    })
}

/// Writes an address as that table does.
fn written(address: Ipv4Addr, port: u16) -> String {
    format!("{:08X}:{port:04X}", u32::from_ne_bytes(address.octets()))
}

#[cfg(test)]
mod tests {
    use std::net::{TcpListener, TcpStream};
    use std::process::{Command, Stdio};

    use super::*;

    #[test]
    fn children_and_theirs_are_found() {
        let mut shell = Command::new("sh")
            .args(["-c", "sleep 60 & echo; wait"])
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        // Once it has written, its own child is there.
        let mut out = shell.stdout.take().unwrap();
        std::io::Read::read_exact(&mut out, &mut [0]).unwrap();
        let found = below(std::process::id());
        assert!(found.contains(&shell.id()), "the child");
        let grandchildren = below(shell.id());
        assert_eq!(grandchildren.len(), 1, "{grandchildren:?}");
        assert!(found.contains(&grandchildren[0]), "and its child");
        for pid in grandchildren {
            let pid = rustix::process::Pid::from_raw(pid.cast_signed()).unwrap();
            rustix::process::kill_process(pid, rustix::process::Signal::KILL).unwrap();
        }
        shell.wait().unwrap();
    }

    #[test]
    fn a_connection_is_traced_to_who_made_it() {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let port = listener.local_addr().unwrap().port();
        let stream = TcpStream::connect(("127.0.0.1", port)).unwrap();
        let peer = stream.local_addr().unwrap();
        let table = fs::read_to_string("/proc/self/net/tcp").unwrap();
        let (user, inode) = connection(&table, peer, port).unwrap();
        assert_eq!(user, rustix::process::geteuid().as_raw());
        assert_eq!(holds(std::process::id(), inode), Some(true));
        assert_eq!(connection(&table, peer, port.wrapping_add(1)), None, "another port");

        let parent = std::os::unix::process::parent_id();
        assert!(Tree::new(parent).owns(peer, port), "ours, and we are below our parent");
        let mut other = Command::new("sleep").arg("60").spawn().unwrap();
        let mut below_other = Command::new("sleep").arg("60").spawn().unwrap();
        assert!(!Tree::new(std::process::id()).owns(peer, port), "our children made none");
        for child in [&mut other, &mut below_other] {
            child.kill().unwrap();
            child.wait().unwrap();
        }
    }
}
