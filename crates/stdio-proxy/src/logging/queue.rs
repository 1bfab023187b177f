//! A log that never blocks its caller: a separate thread writes the lines, and lines that the disk is too slow for
//! are dropped and counted.

use std::io::{self, Write};
use std::sync::mpsc::{Receiver, SyncSender, TrySendError, sync_channel};
use std::time::Duration;

/// The writer that callers use. Each write is a whole line, or several.
#[derive(Debug)]
pub(super) struct Queue {
    lines: SyncSender<Line>,
    lost: u64,
}

/// A message for the thread.
#[derive(Debug)]
enum Line {
    Text(Vec<u8>),
    /// Sent back once everything before it is written.
    Flush(SyncSender<()>),
}

/// Waits until everything logged so far is written.
#[derive(Clone, Debug)]
pub(super) struct Flusher(SyncSender<Line>);

impl Queue {
    /// Starts the thread that writes to `log`.
    pub(super) fn start(log: Box<dyn Write + Send>) -> io::Result<Self> {
        let (lines, queued) = sync_channel(MOST_LINES);
        let thread = std::thread::Builder::new().name("log".into());
        thread.spawn(move || write_lines(log, &queued))?;
        Ok(Self { lines, lost: 0 })
    }

    pub(super) fn flusher(&self) -> Flusher {
        Flusher(self.lines.clone())
    }
}

impl Flusher {
    /// Never waits longer than `limit`.
    pub(super) fn flush(&self, limit: Duration) {
        let (done, written) = sync_channel(1);
        if self.0.try_send(Line::Flush(done)).is_ok() {
            let _ = written.recv_timeout(limit);
        }
    }
}

impl Write for Queue {
    fn write(&mut self, lines: &[u8]) -> io::Result<usize> {
        let mut text = Vec::new();
        if self.lost > 0 {
            text.extend(format!("{} lines of this log were lost\n", self.lost).bytes());
        }
        text.extend_from_slice(lines);
        match self.lines.try_send(Line::Text(text)) {
            Ok(()) => self.lost = 0,
            Err(TrySendError::Full(_) | TrySendError::Disconnected(_)) => self.lost += 1,
        }
        Ok(lines.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

fn write_lines(mut log: Box<dyn Write + Send>, queued: &Receiver<Line>) {
    while let Ok(line) = queued.recv() {
        match line {
            // A log that cannot be written has nowhere to report the error.
            Line::Text(text) => drop(log.write_all(&text)),
            Line::Flush(done) => {
                let _ = log.flush();
                let _ = done.send(());
            }
        }
    }
}

/// How many lines may wait for the disk: a few seconds of a busy log, a few hundred kilobytes.
const MOST_LINES: usize = 1_024;

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::mpsc;

    /// A disk that writes a line each time the test allows it.
    struct Disk(Receiver<()>, mpsc::Sender<String>);

    impl Write for Disk {
        fn write(&mut self, text: &[u8]) -> io::Result<usize> {
            let _ = self.0.recv();
            let _ = self.1.send(String::from_utf8_lossy(text).into_owned());
            Ok(text.len())
        }

        fn flush(&mut self) -> io::Result<()> {
            Ok(())
        }
    }

    #[test]
    fn a_hanging_disk_blocks_no_caller_and_lost_lines_are_counted() {
        let (work, works) = mpsc::channel();
        let (wrote, written) = mpsc::channel();
        let mut log = Queue::start(Box::new(Disk(works, wrote))).unwrap();
        // The disk has one line, the queue is full, and three lines are too many.
        log.write_all(b"first\n").unwrap();
        for _ in 0..MOST_LINES + 3 {
            log.write_all(b"more\n").unwrap();
        }
        assert!((3..=4).contains(&log.lost), "{}", log.lost);
        let lost = log.lost;
        log.flusher().flush(Duration::from_millis(1));
        drop(work);
        assert_eq!(written.recv().unwrap(), "first\n");
        assert_eq!(written.recv().unwrap(), "more\n");
        log.write_all(b"last\n").unwrap();
        let last = written.iter().find(|line| line.ends_with("last\n"));
        let told = format!("{lost} lines of this log were lost\nlast\n");
        assert_eq!(last, Some(told));
        // `flush` returns after everything before it is written.
        log.write_all(b"end\n").unwrap();
        log.flusher().flush(Duration::from_secs(60));
        assert_eq!(written.try_recv().as_deref(), Ok("end\n"));
    }
}
