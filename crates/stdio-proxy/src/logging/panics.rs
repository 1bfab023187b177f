//! Panics in the log: the standard error of the daemon goes nowhere, and few people read that of `tabmux mcp`.

use super::finish;
use super::masked::Masked;
use std::cell::Cell;
use std::fs::OpenOptions;
use std::io;
use std::panic::{self, PanicHookInfo};
use std::path::{Path, PathBuf};
use std::sync::Mutex;
use std::sync::mpsc::sync_channel;
use std::thread;
use std::time::Duration;
use tabmux_platform::files::{Refused, SafeOptions};
use tabmux_text::one_line;
use tracing_subscriber::layer::SubscriberExt;

/// From now on every panic of this process is one line of the log, and also of the daemon's log if this is another
/// process.
pub(super) fn log_panics(daemons: Option<PathBuf>) {
    panic::set_hook(Box::new(move |about| {
        if IS_LOGGING.get() {
            return;
        }
        let (line, daemons) = (describe(about), daemons.clone());
        on_another_thread(move || {
            tracing::error!(target: TARGET, "{line}");
            if let Some(log) = daemons {
                // The line is in the log of this process, whatever happens here.
                let _ = append(&log, &line);
            }
            finish();
        });
    }));
}

/// Does this on a thread of its own and waits for its end, but not long: the code that panicked may hold a lock that
/// the log needs, and a panic in a panic hook ends the process.
fn on_another_thread(work: impl FnOnce() + Send + 'static) {
    let (done, is_done) = sync_channel(1);
    let thread = thread::Builder::new().name("panic".into());
    let started = thread.spawn(move || {
        IS_LOGGING.set(true);
        work();
        let _ = done.send(());
    });
    if started.is_ok() {
        let _ = is_done.recv_timeout(LONGEST_WAIT);
    }
}

fn describe(about: &PanicHookInfo<'_>) -> String {
    let payload = about.payload();
    let text = payload.downcast_ref::<&str>().copied();
    let text = text.or_else(|| payload.downcast_ref::<String>().map(String::as_str));
    let place = about.location().map(ToString::to_string);
    format!(
        "Internal tabmux error: process {} panicked at {}: {}. This is a bug; please report it.",
        std::process::id(),
        place.as_deref().unwrap_or("an unknown place"),
        one_line(text.unwrap_or("(no message)"), MOST_TEXT)
    )
}

/// Adds a line to the log of another process, which rotates it.
fn append(log: &Path, line: &str) -> io::Result<()> {
    let mut options = OpenOptions::new();
    options.create(true).append(true);
    let file = options
        .private()
        .refusing(Refused::LinksAndWaiting)
        .open(log)?;
    let log = tracing_subscriber::fmt::layer()
        .with_target(false)
        .with_ansi(false)
        .with_writer(Mutex::new(Masked(file)));
    tracing::subscriber::with_default(tracing_subscriber::registry().with(log), || {
        tracing::error!("{line}");
    });
    Ok(())
}

thread_local! {
    /// Whether this thread only logs a panic, so that its own panic is not logged in turn.
    static IS_LOGGING: Cell<bool> = const { Cell::new(false) };
}

/// `TABMUX_LOG` does not turn it off.
pub(super) const TARGET: &str = "tabmux_panic";
/// The most characters of a panic's message: it may have text of a page.
const MOST_TEXT: usize = 500;
const LONGEST_WAIT: Duration = Duration::from_secs(1);

#[cfg(test)]
mod tests {
    use super::*;
    use std::process::Command;
    use tabmux_testkit::panics_in;

    /// Runs itself again as another process, which panics.
    #[test]
    fn a_panic_is_one_bounded_line_in_both_logs() {
        if let Some(folder) = std::env::var_os(FOLDER) {
            return panic_twice(Path::new(&folder));
        }
        let folder = tempfile::tempdir().unwrap();
        let mut child = Command::new(std::env::current_exe().unwrap());
        child.args(["--exact", NAME, "--nocapture"]);
        // The log itself is off.
        child.env(FOLDER, folder.path()).env("TABMUX_LOG", "off");
        let output = child.output().unwrap();
        assert!(output.status.success(), "{output:?}");
        let said = String::from_utf8_lossy(&output.stderr);
        assert!(!said.contains("first"), "not on standard error: {said}");
        for log in ["own.log", "daemon.log"] {
            let panics = panics_in(&folder.path().join(log));
            let [first, second] = panics.as_slice() else {
                panic!("two panics in {log}, not {panics:#?}");
            };
            let place = concat!(" panicked at ", file!(), ":");
            assert!(first.contains("ERROR") && first.contains(place), "{first}");
            assert!(first.contains(": first of two lines. This is"), "{first}");
            let many = second.matches('x').count();
            assert!((MOST_TEXT..MOST_TEXT + 10).contains(&many), "{second}");
        }
    }

    fn panic_twice(folder: &Path) {
        let daemons = Some(folder.join("daemon.log"));
        super::super::start(Some(&folder.join("own.log")), daemons).unwrap();
        let panics: [fn(); 2] = [
            || panic!("first\nof two\u{1b} lines"),
            || panic!("{}", "x".repeat(100_000)),
        ];
        for (count, one) in (1..).zip(panics) {
            assert!(thread::spawn(one).join().is_err());
            // On a busy machine the line takes longer than the panic waits for it.
            let has_all = |log| panics_in(&folder.join(log)).len() >= count;
            while !["own.log", "daemon.log"].into_iter().all(has_all) {
                thread::yield_now();
            }
        }
    }

    /// A panic in a panic hook would end the process, and waiting for its own lock would block it.
    #[test]
    fn a_log_that_panics_or_blocks_ends_nothing() {
        log_panics(None);
        on_another_thread(|| panic!("while a panic is logged"));
        let (never, blocks) = sync_channel::<()>(1);
        on_another_thread(move || {
            let _ = blocks.recv();
        });
        drop(never);
        let _ = panic::take_hook();
    }

    const NAME: &str = "logging::panics::tests::a_panic_is_one_bounded_line_in_both_logs";
    const FOLDER: &str = "TABMUX_TEST_PANICS";
}
