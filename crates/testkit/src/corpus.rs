//! The fuzz targets' inputs that are kept in the tree, for ordinary tests.

use crate::workspace_root;

/// Plays every kept input of a fuzz target. The name of the input is printed before it is played, so that the
/// output of a test that fails says which one it was.
///
/// # Panics
/// If there is none, or the target refuses one.
pub fn play_corpus(target: &str, play: impl Fn(&[u8])) {
    let folder = workspace_root().join("fuzz/corpus").join(target);
    let entries = std::fs::read_dir(&folder)
        .unwrap_or_else(|error| panic!("{} cannot be read: {error}", folder.display()));
    let mut paths: Vec<_> = entries.flatten().map(|entry| entry.path()).collect();
    paths.sort();
    assert!(!paths.is_empty(), "{} is empty", folder.display());
    for path in paths {
        println!("{}", path.display());
        play(&std::fs::read(&path).expect("a kept input can be read"));
    }
}
