//! The workspace against whoever wants out of it, from the host's side.

#![expect(clippy::unwrap_used, reason = "the makers of test files are not tests themselves")]

use std::fs;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::{PermissionsExt, symlink};
use std::os::unix::net::UnixListener;
use std::sync::atomic::{AtomicBool, Ordering};

use camino::{Utf8Path, Utf8PathBuf};
use wildgym_sandbox::Workspace;
use wildgym_sandbox::scratch::Scratch;
use wildgym_sandbox::workspace::{Quota, WorkspaceError};

/// A workspace with a secret beside it.
struct Yard {
    workspace: Workspace,
    scratch: Scratch,
    _folder: tempfile::TempDir,
}

const SECRET: &[u8] = b"the reference answer";

fn yard(quota: Quota) -> Yard {
    let folder = tempfile::tempdir().unwrap();
    let parent = Utf8PathBuf::try_from(folder.path().to_path_buf()).unwrap();
    let scratch = Scratch::create(&parent).unwrap();
    fs::write(scratch.path().join("secret"), SECRET).unwrap();
    fs::create_dir(scratch.path().join("outside")).unwrap();
    fs::write(scratch.path().join("outside/a.txt"), SECRET).unwrap();
    let workspace = Workspace::create(&scratch, quota);
    Yard { workspace, scratch, _folder: folder }
}

fn at(yard: &Yard, path: &str) -> Utf8PathBuf {
    yard.workspace.host_path().unwrap().join(path)
}

fn read(yard: &Yard, path: &str) -> Result<Vec<u8>, WorkspaceError> {
    yard.workspace.read(Utf8Path::new(path), 1 << 20)
}

#[test]
fn things_that_are_no_files_are_named_and_never_opened() {
    let yard = yard(Quota::default());
    yard.workspace.write(Utf8Path::new("d/a.txt"), b"inside").unwrap();
    let node = |path: &str, kind| {
        rustix::fs::mknodat(
            rustix::fs::CWD,
            at(&yard, path).as_str(),
            kind,
            rustix::fs::Mode::RWXU,
            0,
        )
    };
    node("pipe", rustix::fs::FileType::Fifo).unwrap();
    let _socket = UnixListener::bind(at(&yard, "s")).unwrap();
    for (target, link) in [
        ("/etc/passwd", "absolute"),
        ("../secret", "climbing"),
        ("d/a.txt", "inner"),
        ("loop", "loop"),
        ("/proc/self/environ", "proc"),
        ("/dev/zero", "zero"),
        ("nowhere", "dangling"),
        ("../outside", "dir"),
    ] {
        symlink(target, at(&yard, link)).unwrap();
    }
    let table = [
        ("d", "is a directory", "directory"),
        ("pipe", "is a FIFO", "it must not wait for a writer"),
        ("s", "is a socket", "socket"),
        ("absolute", "is a symbolic link", "link to an absolute path"),
        ("climbing", "is a symbolic link", "link that climbs"),
        ("inner", "is a symbolic link", "even one that stays inside"),
        ("loop", "is a symbolic link", "link to itself"),
        ("proc", "is a symbolic link", "link to the process"),
        ("zero", "is a symbolic link", "link to a device without end"),
        ("dangling", "is a symbolic link", "link to nothing"),
        ("dir/a.txt", "is a symbolic link", "through a linked directory"),
        ("d/a.txt/x", "is a file", "a file as directory"),
        ("/workspace", "is the workspace itself", "the root"),
        ("..", "is outside the workspace", "parent"),
        ("d/../../secret", "is outside the workspace", "climbs later"),
        ("/etc/passwd", "is outside the workspace", "absolute"),
        ("/proc/self/fd/0", "is outside the workspace", "process"),
        ("a\0b", "contains a NUL", "NUL"),
        ("", "is empty", "empty"),
    ];
    for (path, want, why) in table {
        let error = read(&yard, path).unwrap_err().to_string();
        assert!(error.contains(want), "{path:?}: {why}: {error}");
    }
    let long = ["x".repeat(300), "d/".repeat(3000)];
    for path in &long {
        let error = read(&yard, path).unwrap_err();
        assert!(matches!(error, WorkspaceError::BadPath { .. }), "{error}");
    }
    assert_eq!(yard.workspace.list().unwrap().len(), 1, "only the regular file is listed");
    if node("null", rustix::fs::FileType::CharacterDevice).is_ok() {
        assert!(read(&yard, "null").unwrap_err().to_string().contains("is a device"));
    }
}

#[test]
fn writes_replace_links_and_never_go_through_them() {
    let yard = yard(Quota::default());
    symlink("../secret", at(&yard, "link")).unwrap();
    symlink("../outside", at(&yard, "dir")).unwrap();
    yard.workspace.write(Utf8Path::new("link"), b"mine").unwrap();
    assert_eq!(read(&yard, "link").unwrap(), b"mine");
    assert!(yard.workspace.write(Utf8Path::new("dir/a.txt"), b"mine").is_err());
    assert!(yard.workspace.write(Utf8Path::new("../secret"), b"mine").is_err());
    fs::hard_link(at(&yard, "link"), at(&yard, "twin")).unwrap();
    yard.workspace.write(Utf8Path::new("link"), b"new").unwrap();
    assert_eq!(read(&yard, "twin").unwrap(), b"mine", "another name keeps its content");
    for path in ["secret", "outside/a.txt"] {
        assert_eq!(fs::read(yard.scratch.path().join(path)).unwrap(), SECRET, "{path}");
    }
}

/// One side swaps, the other reads: whatever comes back is from inside, or an error.
fn race(swap: impl Fn(&Yard) + Sync, path: &str) {
    let yard = yard(Quota::default());
    yard.workspace.write(Utf8Path::new("d/a.txt"), b"inside").unwrap();
    let done = AtomicBool::new(false);
    std::thread::scope(|scope| {
        scope.spawn(|| {
            while !done.load(Ordering::Relaxed) {
                swap(&yard);
            }
        });
        for _ in 0..2_000 {
            if let Ok(bytes) = read(&yard, path) {
                assert_eq!(bytes, b"inside", "the secret was read through a swap");
            }
        }
        done.store(true, Ordering::Relaxed);
    });
}

#[test]
fn a_file_swapped_for_a_link_while_it_is_read() {
    race(
        |yard| {
            let (file, link) = (at(yard, "d/a.txt"), at(yard, "d/link"));
            let _ = symlink("../../secret", &link);
            let _ = fs::rename(&link, &file);
            let _ = fs::write(at(yard, "d/new"), b"inside");
            let _ = fs::rename(at(yard, "d/new"), &file);
        },
        "d/a.txt",
    );
}

#[test]
fn a_directory_swapped_for_a_link_while_it_is_read() {
    race(
        |yard| {
            let (dir, aside) = (at(yard, "d"), at(yard, "aside"));
            let _ = fs::rename(&dir, &aside);
            let _ = symlink("../outside", &dir);
            let _ = fs::remove_file(&dir);
            let _ = fs::rename(&aside, &dir);
        },
        "d/a.txt",
    );
}

#[test]
fn the_quota_counts_what_is_there() {
    let yard = yard(Quota { bytes: 64 << 10, entries: 8 });
    let write = |path: &str, size: usize| {
        yard.workspace.write(Utf8Path::new(path), &vec![b'x'; size]).map_err(|e| e.to_string())
    };
    write("a", 40 << 10).unwrap();
    assert!(write("b", 40 << 10).unwrap_err().contains("of 65536 bytes"), "two do not fit");
    write("a", 50 << 10).unwrap();
    write("a", 10).unwrap();
    fs::File::create(at(&yard, "sparse")).unwrap().set_len(1 << 40).unwrap();
    assert!(write("b", 10).unwrap_err().contains("full"), "a sparse file counts as it appears");
    assert!(read(&yard, "sparse").unwrap_err().to_string().contains("at most 1048576"));
    fs::remove_file(at(&yard, "sparse")).unwrap();
    for number in 0..5 {
        fs::hard_link(at(&yard, "a"), at(&yard, &format!("l{number}"))).unwrap();
    }
    assert_eq!(yard.workspace.usage().unwrap().entries, 6);
    assert!(yard.workspace.usage().unwrap().bytes <= 4096, "names of one file weigh once");
    assert!(write("x/y/z", 1).unwrap_err().contains("of 8 files"), "directories count");
    write("x/y", 1).unwrap();
    let left: Vec<_> = yard.workspace.list().unwrap().into_iter().map(|e| e.path).collect();
    assert!(!left.iter().any(|path| path.as_str().contains("wildgym-part")), "{left:?}");
}

#[test]
fn twins_are_distinct_and_missing_names_hint_at_them() {
    let yard = yard(Quota::default());
    for path in ["A.txt", "a.txt", "caf\u{e9}", "cafe\u{301}"] {
        yard.workspace.write(Utf8Path::new(path), path.as_bytes()).unwrap();
    }
    for path in ["A.txt", "a.txt", "caf\u{e9}", "cafe\u{301}"] {
        assert_eq!(read(&yard, path).unwrap(), path.as_bytes());
    }
    let error = read(&yard, "CAF\u{c9}").unwrap_err().to_string();
    assert!(error.contains("did you mean"), "{error}");
    let bad = std::ffi::OsStr::from_bytes(b"bad\xff.txt");
    fs::write(at(&yard, "").as_std_path().join(bad), b"x").unwrap();
    let list = yard.workspace.list().unwrap();
    assert!(list.iter().any(|entry| entry.path == "bad\u{fffd}.txt"), "{list:?}");
}

#[test]
fn deep_locked_and_crowded_trees_are_listed_and_removed() {
    let yard = yard(Quota::default());
    let root = yard.workspace.host_path().unwrap().to_owned();
    let mut here =
        rustix::fs::open(root.as_str(), rustix::fs::OFlags::DIRECTORY, rustix::fs::Mode::empty())
            .unwrap();
    for _ in 0..3_000 {
        rustix::fs::mkdirat(&here, "d", rustix::fs::Mode::RWXU).unwrap();
        here = rustix::fs::openat(
            &here,
            "d",
            rustix::fs::OFlags::DIRECTORY,
            rustix::fs::Mode::empty(),
        )
        .unwrap();
    }
    drop(here);
    for number in 0..5_000 {
        fs::write(root.join(format!("f{number}")), "").unwrap();
    }
    fs::create_dir_all(root.join("locked/inner")).unwrap();
    assert_eq!(yard.workspace.usage().unwrap().entries, 8_002);
    assert_eq!(yard.workspace.list().unwrap().len(), 5_000);
    fs::set_permissions(root.join("locked"), fs::Permissions::from_mode(0o000)).unwrap();
    let Yard { workspace, scratch, _folder } = yard;
    drop(workspace);
    assert!(!root.exists(), "all of it is gone");
    assert_eq!(fs::read(scratch.path().join("secret")).unwrap(), SECRET);
}

#[test]
fn a_directory_of_the_user_stays() {
    let folder = tempfile::tempdir().unwrap();
    let path = Utf8PathBuf::try_from(folder.path().to_path_buf()).unwrap();
    fs::write(path.join("a.txt"), "mine").unwrap();
    let workspace = Workspace::attach(&path, Quota::default()).unwrap();
    assert_eq!(workspace.read(Utf8Path::new("./a.txt"), 10).unwrap(), b"mine");
    workspace.place(Utf8Path::new("sub/b.txt"), &path.join("a.txt")).unwrap();
    drop(workspace);
    assert_eq!(fs::read(path.join("sub/b.txt")).unwrap(), b"mine");
}
