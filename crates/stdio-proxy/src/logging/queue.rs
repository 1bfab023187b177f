//! A log that never keeps anybody waiting: lines are written by a thread of their own, and those that a disk is too
//! slow for are lost and counted.

use std::io::{self, Write};
use std::sync::mpsc::{Receiver, SyncSender, TrySendError, sync_channel};
use std::time::Duration;

/// Where lines are put. Each write is a whole line, or several.
#[derive(Debug)]
pub(super) struct Queue {
    lines: SyncSender<Line>,
    lost: u64,
}

/// What the thread is given.
#[derive(Debug)]
enum Line {
    Text(Vec<u8>),
    /// Everything before it is written: say so.
    Flush(SyncSender<()>),
}

/// Waits until everything is written that was logged before.
#[derive(Clone, Debug)]
pub(super) struct Flusher(SyncSender<Line>);

impl Queue {
    /// Writes to `log` from now on.
    pub(super) fn start(log: Box<dyn Write + Send>) -> io::Result<Self> {
        let (lines, queued) = sync_channel(MOST_LINES);
        let thread = std::thread::Builder::new().name("log".into());
        thread.spawn(move || keep(log, &queued))?;
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

fn keep(mut log: Box<dyn Write + Send>, queued: &Receiver<Line>) {
    while let Ok(line) = queued.recv() {
        match line {
            // There is nobody to tell that a log cannot be written.
            Line::Text(text) => drop(log.write_all(&text)),
            Line::Flush(done) => {
                let _ = log.flush();
                let _ = done.send(());
            }
        }
    }
}

/// How many lines wait for the disk: some seconds of much chatter, a few hundred kilobytes.
const MOST_LINES: usize = 1_024;

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::mpsc;

    /// A disk that takes a line whenever it is told to.
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
    fn a_disk_that_hangs_keeps_nobody_waiting_and_what_is_lost_is_counted() {
        let (work, works) = mpsc::channel();
        let (wrote, written) = mpsc::channel();
        let mut log = Queue::start(Box::new(Disk(works, wrote))).unwrap();
        // One is with the disk, the queue is full, and three are too many.
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
        // What was logged before is written when this comes back.
        log.write_all(b"end\n").unwrap();
        log.flusher().flush(Duration::from_secs(60));
        assert_eq!(written.try_recv().as_deref(), Ok("end\n"));
    }
}
