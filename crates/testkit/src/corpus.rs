//! The saved inputs of the fuzz targets, for ordinary tests.

use crate::workspace_root;

/// Runs every saved input of a fuzz target. Prints the name of each input first, so that the output of a failed test
/// says which one it was.
///
/// # Panics
/// If there is none, or the target panics on one.
#[expect(
    clippy::print_stdout,
    reason = "the output of a failed test names the input"
)]
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
