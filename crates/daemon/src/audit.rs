//! The audit log: who did what where, and how it went. Never what a page said or what was typed.

use serde::Serialize;
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};
use tabmux_daemon_client::RotatedFile;
use tokio::sync::mpsc;

/// One call that was answered.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Entry {
    /// When it was answered.
    pub(crate) time: String,
    /// The session's public name.
    pub(crate) session: String,
    /// The client's name.
    pub(crate) client: String,
    /// The tool.
    pub(crate) tool: String,
    /// The origin of the page it was for, where it was for one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) origin: Option<String>,
    /// How it went.
    pub(crate) outcome: Outcome,
    /// How long it took.
    pub(crate) millis: u64,
}

/// How a call went.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub(crate) enum Outcome {
    /// Well.
    Done,
    /// The agent was told why not.
    Error,
    /// The client took it back.
    Cancelled,
    /// A person was asked whether it may run.
    Asked,
    /// They agreed.
    Accepted,
    /// They did not.
    Declined,
    /// Nobody could be asked, or nobody answered in time.
    Unanswered,
}

/// Where the log goes. Dropping it ends the log.
#[derive(Clone, Debug)]
pub(crate) struct Audit(Option<mpsc::Sender<Entry>>);

impl Audit {
    /// A log that keeps nothing.
    pub(crate) fn nowhere() -> Self {
        Self(None)
    }

    /// Logs to a file, which is rotated when it has grown large.
    pub(crate) fn start(path: PathBuf) -> Self {
        let (entries, inbox) = mpsc::channel(QUEUE);
        std::thread::spawn(move || keep(&path, inbox));
        Self(Some(entries))
    }

    /// Notes a call. Never waits; if the disk is too slow for the log, the log has a gap, and the
    /// daemon's own log says so.
    pub(crate) fn note(&self, entry: Entry) {
        if let Some(entries) = &self.0
            && entries.try_send(entry).is_err()
        {
            tracing::warn!("the audit log cannot keep up; an entry was lost");
        }
    }
}

/// The moment, as people and programs read it.
pub(crate) fn now() -> String {
    humantime::format_rfc3339_millis(SystemTime::now()).to_string()
}

/// The origin of a URL: enough to know where, too little to know what.
pub(crate) fn origin(url: &str) -> String {
    match url::Url::parse(url).map(|url| url.origin()) {
        Ok(origin) if origin.is_tuple() => origin.ascii_serialization(),
        _ => url
            .split(':')
            .next()
            .unwrap_or_default()
            .chars()
            .take(20)
            .collect(),
    }
}

/// Whole milliseconds, for the log.
pub(crate) fn millis(duration: Duration) -> u64 {
    u64::try_from(duration.as_millis()).unwrap_or(u64::MAX)
}

fn keep(path: &Path, mut inbox: mpsc::Receiver<Entry>) {
    let mut log = match RotatedFile::open(path) {
        Ok(log) => log,
        Err(error) => {
            tracing::warn!(%error, path = %path.display(), "there is no audit log");
            return;
        }
    };
    while let Some(entry) = inbox.blocking_recv() {
        if let Err(error) = write(&mut log, &entry) {
            tracing::warn!(%error, "the audit log could not be written");
        }
    }
}

fn write(log: &mut impl Write, entry: &Entry) -> io::Result<()> {
    let mut line = serde_json::to_vec(entry)?;
    line.push(b'\n');
    log.write_all(&line)
}

const QUEUE: usize = 1_024;

#[cfg(test)]
mod tests {
    use super::*;

    fn entry(tool: &str) -> Entry {
        Entry {
            time: "2026-01-01T00:00:00.000Z".into(),
            session: "sess_1".into(),
            client: "test".into(),
            tool: tool.into(),
            origin: Some(origin("https://a.example/secret?token=1")),
            outcome: Outcome::Done,
            millis: 3,
        }
    }

    /// Spec: security 30.
    #[test]
    fn an_entry_says_where_but_not_what() {
        let mut log = Vec::new();
        write(&mut log, &entry("click")).unwrap();
        assert_eq!(
            String::from_utf8(log).unwrap(),
            "{\"time\":\"2026-01-01T00:00:00.000Z\",\"session\":\"sess_1\",\"client\":\"test\",\
             \"tool\":\"click\",\"origin\":\"https://a.example\",\"outcome\":\"done\",\"millis\":3}\n"
        );
    }

    #[test]
    fn origins_of_anything() {
        assert_eq!(origin("http://localhost:8080/x"), "http://localhost:8080");
        assert_eq!(origin("data:text/html,secret"), "data");
        assert_eq!(origin("about:blank"), "about");
    }
}
