//! Looks at the file with the rules on a thread of its own: a file system that hangs must not hold up the main loop,
//! and what cannot be looked at permits nothing.

use super::{PersonRules, Stamp, Unreadable, read, stamp};
use std::path::PathBuf;
use std::sync::mpsc::{self, Receiver, RecvTimeoutError, SyncSender};
use std::time::Duration;

/// One thread that looks at one file.
#[derive(Debug)]
pub(super) struct Looker {
    ask: SyncSender<Option<Stamp>>,
    told: Receiver<Look>,
    /// Whether an answer is still to come.
    asked: bool,
    limit: Duration,
}

/// What was seen.
#[derive(Debug)]
pub(super) enum Look {
    /// The file is as it was.
    Same,
    /// It is another one now, and says this.
    Other(Option<Stamp>, Result<PersonRules, Unreadable>),
    /// The file system does not answer.
    Hung,
}

impl Looker {
    pub(super) fn start(path: PathBuf) -> Self {
        Self::with(LIMIT, move |known| {
            let now = stamp(&path);
            match now == known {
                true => Look::Same,
                false => Look::Other(now, read(&path)),
            }
        })
    }

    fn with(limit: Duration, look: impl Fn(Option<Stamp>) -> Look + Send + 'static) -> Self {
        let (ask, asked) = mpsc::sync_channel(1);
        let (tell, told) = mpsc::sync_channel(1);
        let looking = move || {
            while let Ok(known) = asked.recv() {
                if tell.send(look(known)).is_err() {
                    return;
                }
            }
        };
        // Without a thread nothing answers, and nothing is permitted.
        let thread = std::thread::Builder::new().name("policy".into());
        drop(thread.spawn(looking));
        Self {
            ask,
            told,
            asked: false,
            limit,
        }
    }

    /// Looks whether the file is another one than the one that is known. Waits for a file system that does not
    /// answer once, and not again until it does.
    pub(super) fn look(&mut self, known: Option<Stamp>) -> Look {
        if self.asked {
            // It answers what was asked earlier, which may be out of date.
            match self.told.try_recv() {
                Ok(_) => self.asked = false,
                Err(_) => return Look::Hung,
            }
        }
        if self.ask.send(known).is_err() {
            return Look::Hung;
        }
        match self.told.recv_timeout(self.limit) {
            Ok(look) => look,
            Err(RecvTimeoutError::Timeout) => {
                self.asked = true;
                Look::Hung
            }
            Err(RecvTimeoutError::Disconnected) => Look::Hung,
        }
    }
}

/// Longer than any disk takes that works, and short enough for the main loop, which waits meanwhile.
const LIMIT: Duration = Duration::from_millis(250);

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_system_that_hangs_is_waited_for_once_and_used_again_when_it_answers() {
        let (answer, answers) = mpsc::channel::<()>();
        let mut looker = Looker::with(Duration::from_millis(1), move |_| {
            let _ = answers.recv();
            Look::Same
        });
        for _ in 0..3 {
            assert!(matches!(looker.look(None), Look::Hung));
        }
        // From now on it answers at once.
        drop(answer);
        looker.limit = Duration::from_secs(60);
        let again = || matches!(looker.look(None), Look::Same);
        assert!(std::iter::repeat_with(again).any(|answered| answered));
    }
}
