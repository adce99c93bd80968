//! Whether a program can be started at all, said before a run is made of it.
//!
//! It is looked at as the kernel looks at it: whether it may be executed, what its first bytes
//! are, and whether the program that is to load or read it is there. It starts nothing, so a
//! library that is missing still shows only in the attempt.

use std::fs::File;
use std::io::{Read, Seek, SeekFrom};
use std::path::Path;

use camino::{Utf8Path, Utf8PathBuf};
use rustix::fs::{Access, access};

/// How many scripts may be read by scripts; Linux, `exec_binprm`.
const DEEP: usize = 4;

/// The longest first line of a script that the kernel reads, in bytes.
const LINE: u64 = 256;

/// The most that is read of a program's table of parts, in bytes.
const TABLE: usize = 64 << 10;

/// Numbers of machines whose programs run here; `elf.h`.
#[cfg(target_arch = "x86_64")]
const MACHINES: &[u16] = &[62, 3];
#[cfg(target_arch = "aarch64")]
const MACHINES: &[u16] = &[183, 40];
#[cfg(not(any(target_arch = "x86_64", target_arch = "aarch64")))]
const MACHINES: &[u16] = &[];

/// Says why a program cannot be started; else returns what reads it, where it is a script.
/// `path` are the folders in which it finds others.
pub fn startable(program: &Utf8Path, path: &[Utf8PathBuf]) -> Result<Vec<Utf8PathBuf>, String> {
    let mut readers = Vec::new();
    let mut at = program.to_owned();
    for _ in 0..=DEEP {
        if access(at.as_std_path(), Access::EXEC_OK).is_err() {
            return Err(format!(
                "`{at}` may not be executed: `chmod +x` it, or name what reads it"
            ));
        }
        let mut begin = Vec::new();
        let opened = File::open(&at).and_then(|file| file.take(LINE).read_to_end(&mut begin));
        // What may be executed and not read is the system's affair.
        if opened.is_err() {
            return Ok(readers);
        }
        if begin.starts_with(b"\x7fELF") {
            return machine(&at, &begin).map(|()| readers);
        }
        let Some(line) = begin.strip_prefix(b"#!") else {
            return if is_known_otherwise() { Ok(readers) } else { Err(neither(&at)) };
        };
        let line = line.split(|&byte| byte == b'\n').next().unwrap_or_default();
        let reader = reader(&at, &String::from_utf8_lossy(line), path)?;
        readers.push(reader.clone());
        at = reader;
    }
    Err(format!("`{program}` is read by a script that is read by a script, and so on"))
}

/// Finds what reads a script, of which `line` is the first line without `#!`.
fn reader(script: &Utf8Path, line: &str, path: &[Utf8PathBuf]) -> Result<Utf8PathBuf, String> {
    if line.ends_with('\r') {
        return Err(format!("`{script}` has the line ends of Windows, which no system here reads"));
    }
    let mut words = line.split_whitespace();
    let Some(first) = words.next() else { return Err(neither(script)) };
    let first = Utf8PathBuf::from(first);
    if !first.is_file() {
        return Err(format!("`{script}` is to be read by `{first}`, which is not there"));
    }
    if first.file_name() != Some("env") {
        return Ok(first);
    }
    let is_name = |word: &&str| !word.starts_with('-') && !word.contains('=');
    let Some(name) = words.find(is_name) else { return Ok(first) };
    let found = path.iter().map(|folder| folder.join(name)).find(|file| file.is_file());
    found.ok_or_else(|| {
        let folders: Vec<&str> = path.iter().map(|folder| folder.as_str()).collect();
        format!(
            "`{script}` is to be read by `{name}`, which is in none of the folders of its `PATH` \
             ({}); name it by its whole path in front of the script",
            folders.join(", ")
        )
    })
}

fn neither(file: &Utf8Path) -> String {
    format!("`{file}` is neither a program nor a script that begins with `#!`")
}

/// Says why a program in ELF cannot be loaded: it is made for another machine, or its loader is
/// not there. `begin` is its beginning.
fn machine(program: &Utf8Path, begin: &[u8]) -> Result<(), String> {
    let number = |at: usize| {
        let bytes = begin.get(at..at + 2)?.first_chunk::<2>().copied()?;
        Some(if begin.get(5) == Some(&2) {
            u16::from_be_bytes(bytes)
        } else {
            u16::from_le_bytes(bytes)
        })
    };
    let known = number(18).is_none_or(|machine| MACHINES.is_empty() || MACHINES.contains(&machine));
    if !known && !is_known_otherwise() {
        return Err(format!("`{program}` is made for another kind of machine"));
    }
    match loader(program, begin) {
        Some(loader) if known && !Path::new(&loader).exists() => {
            Err(format!("`{program}` is to be loaded by `{loader}`, which is not there"))
        }
        Some(_) | None => Ok(()),
    }
}

/// Returns the loader of a program of 64 bits, little end first; none where it has none.
/// Layout: `elf.h`, `Elf64_Ehdr` and `Elf64_Phdr`.
fn loader(program: &Utf8Path, begin: &[u8]) -> Option<String> {
    const LOADER: u32 = 3;
    if begin.get(4..6) != Some(&[2, 1]) {
        return None;
    }
    let short = |at: usize| Some(u16::from_le_bytes(*begin.get(at..)?.first_chunk()?));
    let long = |bytes: &[u8], at: usize| Some(u64::from_le_bytes(*bytes.get(at..)?.first_chunk()?));
    let (at, size, count) = (long(begin, 32)?, usize::from(short(54)?), usize::from(short(56)?));
    let mut file = File::open(program).ok()?;
    let mut read = |at: u64, bytes: usize| {
        let mut some = vec![0; bytes.min(TABLE)];
        file.seek(SeekFrom::Start(at)).ok()?;
        file.read_exact(&mut some).ok()?;
        Some(some)
    };
    let table = read(at, size.checked_mul(count)?)?;
    let is_loader = |part: &&[u8]| part.first_chunk() == Some(&LOADER.to_le_bytes());
    let part = table.chunks_exact(size.max(1)).find(is_loader)?;
    let name = read(long(part, 8)?, usize::try_from(long(part, 32)?).ok()?)?;
    let name = name.split(|&byte| byte == 0).next()?;
    String::from_utf8(name.to_vec()).ok()
}

/// Tells whether this system knows other kinds of programs (`binfmt_misc`), so that nothing is
/// said about those that it is not known of.
fn is_known_otherwise() -> bool {
    let entries = std::fs::read_dir("/proc/sys/fs/binfmt_misc").into_iter().flatten();
    let names = entries.flatten().map(|entry| entry.file_name());
    names.into_iter().any(|name| name != "register" && name != "status")
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::PermissionsExt;

    use super::*;

    #[test]
    fn what_cannot_be_started_says_why() {
        let folder = tempfile::tempdir().unwrap();
        let root = Utf8PathBuf::from_path_buf(folder.path().to_owned()).unwrap();
        std::fs::create_dir(root.join("bin")).unwrap();
        let write = |name: &str, bytes: &[u8], mode: u32| {
            let path = root.join(name);
            std::fs::write(&path, bytes).unwrap();
            std::fs::set_permissions(&path, std::fs::Permissions::from_mode(mode)).unwrap();
            path
        };
        write("bin/reader", b"#!/bin/sh\n", 0o755);
        let mut other = std::fs::read("/bin/sh").unwrap();
        other[18] = 0xf3;
        let itself = format!("#!{root}/itself\n");
        let table: &[(&str, &[u8], u32, &str, &str)] = &[
            ("plain", b"#!/bin/sh\necho\n", 0o755, "", "a script"),
            ("closed", b"#!/bin/sh\n", 0o644, "may not be executed", "no permission"),
            (
                "gone",
                b"#!/opt/no/python3 -u\n",
                0o755,
                "`/opt/no/python3`, which is not",
                "no reader",
            ),
            ("dos", b"#!/bin/sh\r\n", 0o755, "Windows", "line ends"),
            ("env", b"#!/usr/bin/env reader\n", 0o755, "", "found by its name"),
            ("split", b"#!/usr/bin/env -S A=b reader -x\n", 0o755, "", "with words before it"),
            (
                "none",
                b"#!/usr/bin/env no-reader\n",
                0o755,
                "`no-reader`, which is in none",
                "no name",
            ),
            ("text", b"hello\n", 0o755, "neither a program", "a text"),
            ("empty", b"", 0o755, "neither a program", "nothing"),
            ("other", &other, 0o755, "another kind of machine", "another machine"),
            ("itself", itself.as_bytes(), 0o755, "and so on", "a script that reads itself"),
        ];
        let path = [root.join("bin")];
        for (name, bytes, mode, expected, why) in table {
            let file = write(name, bytes, *mode);
            match startable(&file, &path) {
                Ok(_) => assert!(expected.is_empty() || is_known_otherwise(), "{why}"),
                Err(said) => {
                    assert!(!expected.is_empty() && said.contains(expected), "{why}: {said}");
                }
            }
        }
        let readers = startable(&root.join("env"), &path).unwrap();
        assert_eq!(readers, [root.join("bin/reader"), "/bin/sh".into()]);
        assert_eq!(startable("/bin/sh".into(), &path), Ok(Vec::new()), "the system's own");
    }

    #[test]
    fn a_loader_that_is_not_there_is_said() {
        let program = std::fs::read("/bin/sh").unwrap();
        let known = loader("/bin/sh".into(), &program[..256]);
        let Some(known) = known else { return };
        let at = program.windows(known.len()).position(|some| some == known.as_bytes()).unwrap();
        let mut broken = program;
        broken[at + 1] = b'X';
        let folder = tempfile::tempdir().unwrap();
        let path = Utf8PathBuf::from_path_buf(folder.path().join("broken")).unwrap();
        std::fs::write(&path, broken).unwrap();
        std::fs::set_permissions(&path, std::fs::Permissions::from_mode(0o755)).unwrap();
        let said = startable(&path, &[]).unwrap_err();
        assert!(said.contains("is to be loaded by"), "{said}");
    }
}
