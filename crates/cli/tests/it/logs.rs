//! `tabmux logs -f`, before there is a log.

use std::io::{BufRead, BufReader};
use std::process::{Command, Stdio};

#[test]
fn following_a_missing_log_says_that_it_waits() {
    let home = tempfile::tempdir().unwrap();
    let mut command = Command::new(env!("CARGO_BIN_EXE_tabmux"));
    command.args(["logs", "-f", "--socket"]);
    command.arg(home.path().join("daemon.sock")).env_clear();
    command.stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut child = command.spawn().unwrap();
    let mut said = BufReader::new(child.stderr.take().unwrap());
    let mut line = String::new();
    // If the program prints nothing, the test runs into its time limit.
    said.read_line(&mut line).unwrap();
    let log = home.path().join("daemon.log");
    assert_eq!(
        line,
        format!(
            "There is no log at {} yet; waiting for one.\n",
            log.display()
        )
    );
    std::fs::write(&log, "one\n").unwrap();
    let mut out = BufReader::new(child.stdout.take().unwrap());
    line.clear();
    out.read_line(&mut line).unwrap();
    child.kill().unwrap();
    child.wait().unwrap();
    assert_eq!(line, "one\n");
}
