//! Runs tests a second time with other settings: the same tests of the same program, in one process.

use std::process::{Command, Stdio};

/// Runs the tests of this program whose names begin with one of `parts`, but not those that begin with one of
/// `without`, one after the other in one process with these variables. Fails with its output if one of them fails or
/// there is none. `TABMUX_TEST` selects only those with that text in their name.
#[track_caller]
pub(crate) fn run_again(parts: &[&str], without: &[&str], variables: &[(&str, &str)]) {
    let program = std::env::current_exe().expect("this program has a name");
    let listed = said(Command::new(&program).args(["--list", "--format=terse"]));
    let names = listed
        .lines()
        .filter_map(|line| line.strip_suffix(": test"));
    for one in without {
        let mut all = names.clone();
        assert!(
            all.any(|name| name.starts_with(one)),
            "no test begins with {one}, so it cannot be left out"
        );
    }
    let begins = |name: &str, some: &[&str]| some.iter().any(|one| name.starts_with(one));
    let only = std::env::var("TABMUX_TEST").unwrap_or_default();
    let wanted =
        |name: &&str| begins(name, parts) && !begins(name, without) && name.contains(&only);
    let names: Vec<_> = names.filter(wanted).collect();
    assert!(!names.is_empty(), "no test begins with one of {parts:?}");
    let mut command = Command::new(&program);
    command
        .args(["--exact", "--test-threads=1"])
        .args(&names)
        .envs(variables.iter().copied());
    let said = said(&mut command);
    let passed = format!("test result: ok. {} passed; 0 failed", names.len());
    assert!(said.contains(&passed), "{}", story(&said));
    #[expect(
        clippy::print_stderr,
        reason = "the output of a test run says what ran"
    )]
    {
        eprintln!("{}", said.trim());
    }
}

fn said(command: &mut Command) -> String {
    let command = command.stdin(Stdio::null()).stderr(Stdio::piped());
    let output = command.output();
    let output = output.unwrap_or_else(|error| panic!("cannot run {command:?}: {error}"));
    let (out, err) = (&output.stdout, &output.stderr);
    format!(
        "{}\n{}",
        String::from_utf8_lossy(out),
        String::from_utf8_lossy(err)
    )
}

/// The output of the failed tests, without the lines of successful ones.
fn story(said: &str) -> String {
    let lines = said.lines().filter(|line| !line.ends_with(" ... ok"));
    lines.collect::<Vec<_>>().join("\n")
}
