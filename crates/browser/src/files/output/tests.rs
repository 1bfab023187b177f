//! Output folders: who owns them, and when they are removed.

use super::*;
use std::os::unix::fs::{MetadataExt, PermissionsExt};

fn names(folder: &Path) -> usize {
    fs::read_dir(folder).map_or(0, Iterator::count)
}

#[tokio::test]
async fn a_session_has_its_own_folder_until_it_ends() {
    let home = tempfile::tempdir().unwrap();
    let base = home.path().join("cache/output");
    let root = OutputRoot::at(base.clone());
    assert!(!base.exists(), "made before it was needed");
    let (one, other) = (root.session(), root.session());
    let (first, second) = (one.make().unwrap(), other.make().unwrap());
    assert_ne!(first, second);
    assert_eq!(one.make().unwrap(), first);
    for folder in [&base, &first, &second] {
        assert_eq!(fs::metadata(folder).unwrap().mode() & 0o777, 0o700);
    }
    fs::write(first.join("1.png"), "x").unwrap();
    one.end().await;
    assert!(!first.exists() && second.exists());
    assert!(one.make().is_err(), "a session that is over has no folder");
    root.end().await;
    assert_eq!(names(&base), 0);
}

#[tokio::test]
async fn folders_of_killed_processes_are_swept_and_live_ones_stay() {
    let home = tempfile::tempdir().unwrap();
    let base = home.path().join("output");
    let living = OutputRoot::at(base.clone());
    let kept = living.session().make().unwrap();
    let dead = OutputRoot::at(base.clone());
    let left = dead.session().make().unwrap();
    // A killed process removes nothing, but loses its locks.
    drop(dead);
    let without_lock = base.join(fresh_name().unwrap());
    private_folder(&without_lock).unwrap();
    let foreign = base.join("something-else");
    private_folder(&foreign).unwrap();
    OutputRoot::at(base.clone()).sweep().await;
    assert!(kept.exists() && foreign.exists());
    assert!(!left.exists() && !without_lock.exists());
    assert_eq!(names(&base), 3, "a folder, its lock and the foreign one");
}

#[tokio::test]
async fn folders_are_recreated_after_the_cache_was_cleared() {
    let home = tempfile::tempdir().unwrap();
    let base = home.path().join("cache/output");
    let root = OutputRoot::at(base.clone());
    let session = root.session();
    session.make().unwrap();
    fs::remove_dir_all(home.path().join("cache")).unwrap();
    let again = session.make().unwrap();
    assert!(again.is_dir() && root.make().unwrap().is_dir());
    // They are locked again, too.
    OutputRoot::at(base).sweep().await;
    assert!(again.is_dir());
    root.end().await;
    assert!(!again.exists());
}

#[test]
fn a_sweep_removes_nothing_that_is_being_created() {
    let home = tempfile::tempdir().unwrap();
    let base = home.path().join("output");
    private_folder(&base).unwrap();
    let over = AtomicBool::new(false);
    std::thread::scope(|scope| {
        scope.spawn(|| {
            while !over.load(Ordering::Relaxed) {
                sweep(&base);
            }
        });
        let made: Vec<_> = (0..300).map(|_| Run::begin_in(&base)).collect();
        over.store(true, Ordering::Relaxed);
        for run in made {
            assert!(run.unwrap().is_there());
        }
    });
}

#[test]
fn a_folder_that_others_could_have_created_is_not_used() {
    let home = tempfile::tempdir().unwrap();
    let real = home.path().join("real");
    private_folder(&real).unwrap();
    private_folder(&real).unwrap();
    let link = home.path().join("link");
    std::os::unix::fs::symlink(&real, &link).unwrap();
    assert!(private_folder(&link).is_err());
    fs::set_permissions(&real, PermissionsExt::from_mode(0o755)).unwrap();
    assert!(private_folder(&real).is_err());
    assert!(OutputRoot::at(real).make().is_err());
}

#[test]
fn names_of_folders_cannot_be_guessed() {
    let (one, other) = (fresh_name().unwrap(), fresh_name().unwrap());
    assert!(is_fresh_name(&one) && one != other);
}
