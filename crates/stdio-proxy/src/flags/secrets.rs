//! The flag for values that agents use by name and never see.
//!
//! The client's process reads the file and runs the command, because it has the user's environment: the daemon may have
//! been started from another terminal, where the command has no agent and no keyring to ask. The values then cross the
//! daemon's socket once, which only this user can reach.

mod format;

use super::ReadOrigins;
use anyhow::{Context, anyhow, bail, ensure};
use std::ffi::OsStr;
use std::fs::{File, OpenOptions};
use std::io::Read;
use std::path::Path;
use std::process::{Child, Command, ExitStatus, Stdio};
use std::sync::mpsc::{self, RecvTimeoutError};
use std::time::{Duration, Instant};
use tabmux_platform::files::{Refused, SafeOptions, is_own, is_private, permissions_text};
use tabmux_platform::process::{kill_group, own_group};
use tabmux_protocol::session::SecretDefinition;

/// Reads the secrets that the flag names. From then on this process masks them, too.
pub(crate) fn read(
    flag: Option<&OsStr>,
    origins: ReadOrigins,
) -> anyhow::Result<Vec<SecretDefinition>> {
    let Some(flag) = flag else {
        return Ok(Vec::new());
    };
    let text = match tabmux_platform::strip_prefix(flag, "exec:") {
        Some(command) => printed_by(command, TIME_LIMIT)?,
        None => content_of(Path::new(flag))?,
    };
    let text = String::from_utf8(text).map_err(|_| anyhow!("--secrets: {NOT_TEXT}"))?;
    let secrets = format::parse(&text).map_err(|why| anyhow!("--secrets: {why}"))?;
    let values = secrets.iter().map(|secret| secret.value.as_str());
    tabmux_text::secrets::hide(values).map_err(|why| anyhow!("--secrets: {why}"))?;
    let secrets = secrets
        .into_iter()
        .map(|secret| with_origins(secret, origins));
    secrets.collect()
}

/// The same with each of its origins parsed as those of other flags are.
fn with_origins(secret: SecretDefinition, read: ReadOrigins) -> anyhow::Result<SecretDefinition> {
    let parsed = secret.origins.iter().map(|text| read(text));
    let parsed: Result<Vec<_>, _> = parsed.collect();
    let origins = parsed.map_err(|why| anyhow!("--secrets: the secret {}: {why}", secret.name))?;
    let origins = origins.concat();
    let secret = SecretDefinition { origins, ..secret };
    ensure!(
        !secret.is_for_every_site(),
        "--secrets: the secret {} names every origin. Name the sites where it belongs.",
        secret.name
    );
    Ok(secret)
}

/// The content of a file that only its user can read.
fn content_of(path: &Path) -> anyhow::Result<Vec<u8>> {
    let shown = path.display();
    let file = OpenOptions::new()
        .read(true)
        .refusing(Refused::Waiting)
        .open(path)
        .with_context(|| format!("--secrets: {shown} cannot be read"))?;
    may_read(&file).map_err(|why| anyhow!("--secrets: {shown} {why}"))?;
    bounded(file).with_context(|| format!("--secrets: {shown} cannot be read"))
}

/// Why a file is not accepted.
fn may_read(file: &File) -> Result<(), String> {
    let about = file.metadata().map_err(|error| error.to_string())?;
    if !about.is_file() {
        return Err("is not a regular file. Name a file.".into());
    }
    if !is_own(&about) {
        return Err("belongs to another user. Make a copy of your own, with mode 0600.".into());
    }
    match is_private(&about) {
        true => Ok(()),
        false => Err(format!(
            "can be read or changed by others (mode {}). Run `chmod 600` on it.",
            permissions_text(&about)
        )),
    }
}

/// What a command prints. It runs once, in a shell, without input.
fn printed_by(command: &OsStr, limit: Duration) -> anyhow::Result<Vec<u8>> {
    let mut shell = Command::new("/bin/sh");
    shell
        .arg("-c")
        .arg(command)
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        // A tool that fails may print what it was given.
        .stderr(Stdio::null());
    own_group(&mut shell);
    let mut child = shell
        .spawn()
        .context("--secrets: the command cannot be started")?;
    let printed = output_of(&mut child, limit);
    if printed.is_err() {
        end(&mut child);
    }
    let printed = printed?;
    let ended = ended_within(&mut child, limit);
    if ended.is_err() {
        end(&mut child);
    }
    let status = ended?;
    ensure!(
        status.success(),
        "--secrets: the command failed ({status}). Run it in a terminal to see why."
    );
    Ok(printed)
}

fn output_of(child: &mut Child, limit: Duration) -> anyhow::Result<Vec<u8>> {
    let output = child.stdout.take().context("--secrets: no output")?;
    let (done, printed) = mpsc::channel();
    std::thread::spawn(move || done.send(bounded(output)));
    match printed.recv_timeout(limit) {
        Ok(printed) => printed.context("--secrets: the command"),
        Err(RecvTimeoutError::Timeout | RecvTimeoutError::Disconnected) => bail!(too_long(limit)),
    }
}

/// The status of a command that has closed its output, and may go on nevertheless.
fn ended_within(child: &mut Child, limit: Duration) -> anyhow::Result<ExitStatus> {
    let give_up = Instant::now() + limit;
    loop {
        let status = child
            .try_wait()
            .context("--secrets: the command was lost")?;
        if let Some(status) = status {
            return Ok(status);
        }
        ensure!(Instant::now() < give_up, "{}", too_long(limit));
        std::thread::sleep(LOOKING_AGAIN);
    }
}

fn too_long(limit: Duration) -> String {
    format!(
        "--secrets: the command did not end within {} s. Unlock what it needs first, or use a file.",
        limit.as_secs()
    )
}

/// Ends the command with everything that it started.
fn end(child: &mut Child) {
    kill_group(child.id());
    let _ = child.wait();
}

fn bounded(from: impl Read) -> anyhow::Result<Vec<u8>> {
    let mut bytes = Vec::new();
    from.take(LONGEST + 1).read_to_end(&mut bytes)?;
    ensure!(
        bytes.len() as u64 <= LONGEST,
        "has more than {LONGEST} bytes. Split it."
    );
    Ok(bytes)
}

/// A password manager may ask its user first. MCP clients wait for a server about this long.
const TIME_LIMIT: Duration = Duration::from_secs(30);
const LOOKING_AGAIN: Duration = Duration::from_millis(5);
const LONGEST: u64 = 262_144;
const NOT_TEXT: &str = "this is not UTF-8 text. Write it as a dotenv or JSON file.";

#[cfg(test)]
mod tests;
