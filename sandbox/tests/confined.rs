//! Foreign programs against whoever is fed to them: what a call can reach, and when it ends.
//!
//! A shell script stands in for a decoder that a damaged file has taken over.

#![expect(clippy::unwrap_used, reason = "the makers of test programs are not tests themselves")]

use std::fs;
use std::net::{TcpListener, UdpSocket};
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

use wildgym_sandbox::programs::{Limits, Program, ProgramError, Programs, Ran, Search};

/// Programs of which `ffmpeg` is that interpreter, in a scratch directory of their own.
struct Rig {
    programs: Programs,
    folder: tempfile::TempDir,
}

fn rig(interpreter: &str) -> Rig {
    let folder = tempfile::tempdir().unwrap();
    let scratch = folder.path().join("scratch");
    fs::create_dir(&scratch).unwrap();
    let search =
        Search { named: vec![(Program::Ffmpeg, PathBuf::from(interpreter))], ..Search::default() };
    let program = PathBuf::from(env!("CARGO_BIN_EXE_wildgym-sandbox-worker"));
    Rig { programs: Programs::new(program, scratch, 2, search), folder }
}

/// Runs a script, with a file `in.bin` at hand.
async fn script(rig: &Rig, text: &str, limits: &Limits) -> Result<Ran, ProgramError> {
    rig.programs.run(Program::Ffmpeg, &["-c", text], &[("in.bin", b"given")], limits).await
}

fn is_empty(folder: &Path) -> bool {
    fs::read_dir(folder).unwrap().next().is_none()
}

#[tokio::test]
async fn what_is_given_is_read_and_what_is_written_comes_back() {
    let rig = rig("/bin/sh");
    let text = "read word < in.bin; printf '%s!' \"$word\" > out.bin; echo said; echo told >&2";
    let ran = script(&rig, text, &Limits::default()).await.unwrap();
    assert_eq!((ran.stdout.as_slice(), ran.stderr.as_str()), (b"said\n".as_slice(), "told\n"));
    assert_eq!(ran.files_out, [("out.bin".to_owned(), b"given!".to_vec())]);
    assert!(is_empty(&rig.folder.path().join("scratch")), "nothing stays behind");
    let error = script(&rig, "echo 'no moov' >&2; exit 3", &Limits::default()).await.unwrap_err();
    assert_eq!(error.to_string(), "`ffmpeg` failed: no moov");
}

#[tokio::test]
async fn nothing_else_of_the_machine_is_in_reach() {
    let rig = rig("/bin/sh");
    let secret = rig.folder.path().join("secret");
    fs::write(&secret, "secret").unwrap();
    let secret = secret.display();
    let home = std::env::var("HOME").unwrap_or_else(|_| "/root".into());
    let outside = rig.folder.path().join("scratch/planted");
    let table = [
        (format!("read x < {secret}"), "a secret in the temporary directory"),
        ("read x < /etc/passwd".to_owned(), "the system's users"),
        ("read x < /etc/hostname".to_owned(), "what lies beside them"),
        ("read x < /proc/self/maps".to_owned(), "its own inside"),
        ("read x < /proc/1/environ".to_owned(), "the inside of others"),
        (format!("cd {home} && set -- * && [ -e \"$1\" ]"), "the user's files"),
        (format!("echo x > {}", outside.display()), "a file beside its directory"),
        ("echo x > /tmp/wildgym-confined-test".to_owned(), "a file elsewhere"),
        (format!("echo x >> {secret}"), "a change to what is there"),
        ("/bin/true; [ $? = 0 ]".to_owned(), "another process"),
        ("exec 3<>/dev/tcp/127.0.0.1/9".to_owned(), "a connection by the shell's own means"),
        ("[ -n \"$PATH_OF_GYM$OPENAI_API_KEY$CARGO\" ]".to_owned(), "the gym's environment"),
        ("kill -0 $PPID".to_owned(), "a signal to the gym"),
    ];
    for (text, why) in table {
        let text = format!("( {text} ) 2>/dev/null; {text}");
        assert!(script(&rig, &text, &Limits::default()).await.is_err(), "{why}: {text}");
    }
    assert!(!outside.exists());
    assert_eq!(fs::read_to_string(rig.folder.path().join("secret")).unwrap(), "secret");
    let found = rig.programs.containment().await.unwrap();
    assert!(found.is_full(), "the probe agrees: {found:?}");
}

/// Where there is a Python, it tries sockets as a program would.
#[tokio::test]
async fn no_socket_opens() {
    let Some(python) = ["/usr/bin/python3", "/usr/local/bin/python3"]
        .into_iter()
        .find(|python| Path::new(python).is_file())
    else {
        return;
    };
    let rig = rig(python);
    let tcp = TcpListener::bind("127.0.0.1:0").unwrap();
    let udp = UdpSocket::bind("127.0.0.1:0").unwrap();
    let (tcp, udp) = (tcp.local_addr().unwrap().port(), udp.local_addr().unwrap().port());
    let ran = script(&rig, "print('runs')", &Limits::default()).await.unwrap();
    assert_eq!(ran.stdout, b"runs\n", "Python itself does run");
    for (text, why) in [
        (format!("socket.create_connection(('127.0.0.1', {tcp}))"), "TCP"),
        (
            format!(
                "socket.socket(socket.AF_INET, socket.SOCK_DGRAM).sendto(b'x', ('127.0.0.1', {udp}))"
            ),
            "UDP",
        ),
        ("socket.socket(socket.AF_UNIX)".to_owned(), "the machine's own"),
        ("socket.socketpair()".to_owned(), "a pair"),
        ("os.symlink('/etc/passwd', 'out')".to_owned(), "a link that the host would follow"),
        ("os.mkfifo('out')".to_owned(), "a pipe that the host would wait for"),
        ("os.fork()".to_owned(), "a second process"),
        ("os.kill(os.getppid(), 0)".to_owned(), "a signal"),
        ("os.setsid()".to_owned(), "a session of its own"),
        ("ctypes.CDLL(None).prctl(1, 0) and 1/0".to_owned(), "outliving the gym"),
        ("os.listdir('/proc/1')".to_owned(), "other processes"),
    ] {
        let error = script(&rig, &format!("import ctypes, os, socket\n{text}"), &Limits::default())
            .await
            .expect_err(why);
        let error = error.to_string();
        let refused = ["Permission", "not permitted", "ZeroDivision"];
        assert!(refused.iter().any(|word| error.contains(word)), "{why}: {error}");
    }
}

#[tokio::test]
async fn limits_hold() {
    let rig = rig("/bin/sh");
    let small =
        Limits { wall: Duration::from_secs(30), memory: 64 << 20, output: 1 << 20, files: 4 << 20 };
    let brief = Limits { wall: Duration::from_millis(300), ..small };
    let eight = "x=xxxxxxxx; while :; do x=$x$x; done";
    let many = "i=0; while :; do i=$((i+1)); echo 123456789 > f$i; done";
    let table = [
        ("while :; do :; done", brief, "took longer than 0.3 s", "time"),
        ("while :; do echo 123456789; done", small, "said more than 1 MiB", "output"),
        ("while :; do echo 123456789; done > f", small, "wrote more than 4 MiB", "one file"),
        (many, small, "wrote more than 4 MiB", "many files"),
    ];
    for (text, limits, expected, why) in table {
        let error = script(&rig, text, &limits).await.expect_err(why).to_string();
        assert!(error.contains(expected), "{why}: {error}");
    }
    let error = script(&rig, eight, &small).await.expect_err("memory").to_string();
    // Not every program has words for that.
    assert!(error.contains("memory") || error.contains("crashed"), "{error}");
    let missing = rig.programs.run(Program::Pdftoppm, &[], &[], &small).await.unwrap_err();
    assert!(missing.to_string().contains("`poppler-utils`"), "{missing}");
    assert!(missing.to_string().contains("`wildgym doctor`"), "{missing}");
    assert!(is_empty(&rig.folder.path().join("scratch")), "nothing stays behind");
}

/// Tells whether a process with that mark among its arguments runs.
fn runs(mark: &str) -> bool {
    fs::read_dir("/proc").unwrap().flatten().any(|entry| {
        let line = fs::read(entry.path().join("cmdline")).unwrap_or_default();
        let itself = entry.file_name() == std::process::id().to_string().as_str();
        !itself && String::from_utf8_lossy(&line).contains(mark)
    })
}

/// Waits until something holds. Nothing depends on how long that takes.
async fn until(what: impl Fn() -> bool) {
    while !what() {
        tokio::time::sleep(Duration::from_millis(10)).await;
    }
}

#[tokio::test]
async fn a_call_that_is_dropped_ends_its_program() {
    let rig = rig("/bin/sh");
    let mark = format!("mark-dropped-{}", std::process::id());
    let text = format!(": {mark}; while :; do :; done");
    let limits = Limits::default();
    tokio::select! {
        ended = script(&rig, &text, &limits) => panic!("it ended by itself: {ended:?}"),
        () = until(|| runs(&mark)) => {}
    }
    until(|| !runs(&mark)).await;
}

/// The gym is killed by force, here another run of this test program; its call goes too.
#[tokio::test]
async fn a_gym_that_is_killed_takes_its_programs_along() {
    let mark = format!("mark-killed-{}", std::process::id());
    let mut gym = Command::new(std::env::current_exe().unwrap())
        .args(["--exact", "the_gym_that_is_killed", "--ignored"])
        .env("WILDGYM_TEST_MARK", &mark)
        .spawn()
        .unwrap();
    until(|| runs(&format!(": {mark};"))).await;
    gym.kill().unwrap();
    gym.wait().unwrap();
    until(|| !runs(&format!(": {mark};"))).await;
}

#[tokio::test]
#[ignore = "the other half of the test before it"]
async fn the_gym_that_is_killed() {
    let Ok(mark) = std::env::var("WILDGYM_TEST_MARK") else { return };
    let rig = rig("/bin/sh");
    let text = format!(": {mark}; while :; do :; done");
    drop(script(&rig, &text, &Limits::default()).await);
}

/// A script is a program too, wherever it lies.
#[tokio::test]
async fn a_program_may_lie_anywhere() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("decoder");
    fs::write(&path, "#!/bin/sh\necho $1").unwrap();
    fs::set_permissions(&path, fs::Permissions::from_mode(0o755)).unwrap();
    let rig = rig(path.to_str().unwrap());
    let ran = rig.programs.run(Program::Ffmpeg, &["-x"], &[], &Limits::default()).await.unwrap();
    assert_eq!(ran.stdout, b"-x\n");
}
