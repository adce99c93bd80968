//! Setup refuses what it should, and leaves nothing half made.

use std::fs;
use std::os::unix::fs::PermissionsExt;

use camino::{Utf8Path, Utf8PathBuf};
use wildgym_sandbox::code::setup::{self, SetupError, Source, Status};
use wildgym_sandbox::code::{Runtime, RuntimeError};

fn folder() -> (tempfile::TempDir, Utf8PathBuf) {
    let folder = tempfile::tempdir().unwrap();
    let path = Utf8Path::from_path(folder.path()).unwrap().join("home");
    (folder, path)
}

#[tokio::test]
async fn another_wheel_is_refused_and_nothing_is_left() {
    let (_folder, home) = folder();
    fs::create_dir(&home).unwrap();
    fs::set_permissions(&home, fs::Permissions::from_mode(0o700)).unwrap();
    let killed = home.join("draft-of-a-killed-setup");
    fs::create_dir(&killed).unwrap();
    let wheel = home.join("some.whl");
    fs::write(&wheel, "no wheel").unwrap();
    let mut steps = Vec::new();
    let done = setup::prepare(&home, Source::Wheel(wheel), &mut |step| steps.push(step)).await;
    assert!(matches!(done, Err(SetupError::Digest { .. })), "{done:?}");
    assert_eq!(steps, [setup::Step::Fetching, setup::Step::Verifying]);
    assert!(!killed.exists(), "what a killed setup left is swept");
    let left: Vec<_> = home.read_dir_utf8().unwrap().flatten().collect();
    assert_eq!(left.len(), 2, "the lock and the wheel: {left:?}");
    assert_eq!(setup::status(&home), Status::Missing);
    assert!(matches!(Runtime::load(&home), Err(RuntimeError::Missing)));
}

#[tokio::test]
async fn a_missing_wheel_and_an_open_directory_are_named() {
    let (_folder, home) = folder();
    let nowhere = Source::Wheel(home.join("none.whl"));
    let error = setup::prepare(&home, nowhere.clone(), &mut |_| ()).await.unwrap_err().to_string();
    assert!(error.contains("cannot read `") && error.contains("none.whl"), "{error}");
    fs::set_permissions(&home, fs::Permissions::from_mode(0o777)).unwrap();
    let error = setup::prepare(&home, nowhere, &mut |_| ()).await.unwrap_err().to_string();
    assert!(error.contains("others can write") && error.contains("chmod go-w"), "{error}");
}
