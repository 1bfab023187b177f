//! Asks another program for its version.

use std::path::Path;
use std::process::Stdio;
use std::time::Duration;
use tabmux_text::one_line;
use tokio::io::AsyncReadExt as _;
use tokio::process::Command;

/// The first line that a program prints for `--version`, or why there is none.
pub(super) async fn version_of(program: &Path, limit: Duration) -> Result<String, String> {
    match tokio::time::timeout(limit, ask(program)).await {
        Ok(said) => said,
        Err(_) => Err("it does not answer to --version".to_owned()),
    }
}

async fn ask(program: &Path) -> Result<String, String> {
    let mut command = Command::new(program);
    command.arg("--version").kill_on_drop(true);
    command.stdin(Stdio::null()).stderr(Stdio::null());
    let started = command.stdout(Stdio::piped()).spawn();
    let mut started = started.map_err(|error| error.to_string())?;
    let mut said = Vec::new();
    if let Some(output) = started.stdout.take() {
        let read = output.take(MOST_OUTPUT).read_to_end(&mut said).await;
        read.map_err(|error| error.to_string())?;
    }
    let status = started.wait().await.map_err(|error| error.to_string())?;
    let said = String::from_utf8_lossy(&said);
    let version = one_line(said.lines().next().unwrap_or_default(), LONGEST_VERSION);
    match status.success() && !version.is_empty() {
        true => Ok(version),
        false => Err(format!("--version ended with {status}")),
    }
}

/// In bytes; a program that prints more ends, because nothing reads the rest.
const MOST_OUTPUT: u64 = 64 * 1024;
const LONGEST_VERSION: usize = 80;

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs;
    use std::os::unix::fs::PermissionsExt as _;

    #[tokio::test]
    async fn the_first_line_is_the_version() {
        let said = said_by("echo Chromium 150.0.1; echo more", LONG).await;
        assert_eq!(said, Ok("Chromium 150.0.1".to_owned()));
    }

    #[tokio::test]
    async fn a_program_that_fails_has_no_version() {
        let failed = said_by("echo tabmux; exit 3", LONG).await.unwrap_err();
        assert_eq!(failed, "--version ended with exit status: 3");
        let silent = said_by("exit 0", LONG).await.unwrap_err();
        assert_eq!(silent, "--version ended with exit status: 0");
    }

    #[tokio::test]
    async fn a_program_without_an_answer_is_left() {
        let late = said_by("exec tail -f /dev/null", Duration::from_millis(50)).await;
        assert_eq!(late.unwrap_err(), "it does not answer to --version");
    }

    async fn said_by(script: &str, limit: Duration) -> Result<String, String> {
        let folder = tempfile::tempdir().unwrap();
        let program = folder.path().join("program");
        fs::write(&program, format!("#!/bin/sh\n{script}\n")).unwrap();
        fs::set_permissions(&program, fs::Permissions::from_mode(0o755)).unwrap();
        version_of(&program, limit).await
    }

    const LONG: Duration = Duration::from_secs(60);
}
