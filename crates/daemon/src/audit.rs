//! The audit log: which session called which tool on which origin, and the outcome. It never holds page content or
//! typed text.

use serde::Serialize;
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};
use tabmux_daemon_client::RotatedFile;
use tabmux_text::secrets::masked;
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
    /// The origin of the page, for calls on a page.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) origin: Option<String>,
    /// The outcome.
    pub(crate) outcome: Outcome,
    /// The duration.
    pub(crate) millis: u64,
}

/// The outcome of a call.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub(crate) enum Outcome {
    /// It succeeded.
    Done,
    /// It failed; the agent got the reason.
    Error,
    /// The client cancelled it.
    Cancelled,
    /// A person was asked whether it may run.
    Asked,
    /// The person allowed it.
    Accepted,
    /// The person declined it.
    Declined,
    /// No person could be asked, or none answered in time.
    Unanswered,
}

/// A sender to the log's writer thread. Dropping it ends the log.
#[derive(Clone, Debug)]
pub(crate) struct Audit(Option<mpsc::Sender<Entry>>);

impl Audit {
    /// A log that keeps nothing.
    pub(crate) fn nowhere() -> Self {
        Self(None)
    }

    /// Logs to a file, which is rotated when it is too large.
    pub(crate) fn start(path: PathBuf) -> Self {
        let (entries, inbox) = mpsc::channel(QUEUE);
        std::thread::spawn(move || keep(&path, inbox));
        Self(Some(entries))
    }

    /// Records a call without waiting. If the disk is too slow, the entry is dropped, and the daemon's own log says
    /// so.
    pub(crate) fn note(&self, entry: Entry) {
        if let Some(entries) = &self.0
            && entries.try_send(entry).is_err()
        {
            tracing::warn!("the audit log cannot keep up; an entry was lost");
        }
    }
}

/// The current time in RFC 3339.
pub(crate) fn now() -> String {
    humantime::format_rfc3339_millis(SystemTime::now()).to_string()
}

/// The origin of a URL: it tells the site, but not the page.
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
            tracing::warn!(%error, path = %path.display(), "the audit log cannot be opened");
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
    // A page may have a secret value in the name of a tool or of its host.
    let entry = Entry {
        client: masked(&entry.client).into_owned(),
        tool: masked(&entry.tool).into_owned(),
        origin: entry.origin.as_deref().map(|it| masked(it).into_owned()),
        ..entry.clone()
    };
    let line = serde_json::to_string(&entry)?;
    log.write_all(format!("{line}\n").as_bytes())
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
    fn an_entry_has_the_origin_but_no_content() {
        let mut log = Vec::new();
        write(&mut log, &entry("click")).unwrap();
        assert_eq!(
            String::from_utf8(log).unwrap(),
            "{\"time\":\"2026-01-01T00:00:00.000Z\",\"session\":\"sess_1\",\"client\":\"test\",\
             \"tool\":\"click\",\"origin\":\"https://a.example\",\"outcome\":\"done\",\"millis\":3}\n"
        );
    }

    /// The structure of a line is no text: a value that looks like it masks nothing there.
    #[test]
    fn only_the_texts_of_an_entry_are_masked() {
        tabmux_text::secrets::hide(["come\":\"do", "audit-s3cret"]).unwrap();
        let mut log = Vec::new();
        write(&mut log, &entry("tell_audit-s3cret")).unwrap();
        let line: serde_json::Value = serde_json::from_slice(&log).unwrap();
        assert_eq!(line["tool"], "tell_•••");
        assert_eq!(line["outcome"], "done");
    }

    #[test]
    fn origins_of_anything() {
        assert_eq!(origin("http://localhost:8080/x"), "http://localhost:8080");
        assert_eq!(origin("data:text/html,secret"), "data");
        assert_eq!(origin("about:blank"), "about");
    }
}
