//! Ends the daemon on a signal, even if everything else in it hangs: a separate thread receives signals and exits
//! the process if it does not end in time.

use anyhow::Context;
use std::time::Duration;
use tabmux_platform::signals::EndSignals;
use tabmux_protocol::limits::END_TAKES;
use tokio_util::sync::CancellationToken;

/// Cancels `stop` at SIGTERM and SIGINT. Once it is cancelled, from here or elsewhere, the process ends soon.
pub(super) fn watch(stop: CancellationToken) -> anyhow::Result<()> {
    #[expect(clippy::exit, reason = "the main thread may be what hangs")]
    let end = || std::process::exit(1);
    watch_then(stop, END_TAKES, end)
}

/// Calls `end` if the process still runs `limit` after `stop`.
fn watch_then(
    stop: CancellationToken,
    limit: Duration,
    end: impl FnOnce() + Send + 'static,
) -> anyhow::Result<()> {
    let own = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()
        .context("there is no thread for signals")?;
    let watching = move || {
        own.block_on(until_stopped(&stop));
        stop.cancel();
        std::thread::sleep(limit);
        // Nothing is logged here: the log may be what hangs.
        end();
    };
    let thread = std::thread::Builder::new().name("signals".into());
    thread
        .spawn(watching)
        .context("there is no thread for signals")?;
    Ok(())
}

/// Resolves at a signal, or when `stop` is cancelled. SIGHUP is ignored: the daemon outlives its terminal.
async fn until_stopped(stop: &CancellationToken) {
    let Ok(mut signals) = EndSignals::without_terminal() else {
        return stop.cancelled().await;
    };
    tokio::select! {
        () = signals.next() => {}
        () = stop.cancelled() => {}
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::mpsc;

    #[test]
    fn a_daemon_with_every_worker_blocked_still_ends() {
        let runtime = tokio::runtime::Builder::new_multi_thread()
            .worker_threads(1)
            .enable_all()
            .build()
            .unwrap();
        let stop = CancellationToken::new();
        let (block, blocked) = mpsc::channel::<()>();
        let (begun, begins) = mpsc::channel();
        let worker = stop.clone();
        runtime.spawn(async move {
            // Like a hung file system.
            begun.send(()).unwrap();
            worker.cancel();
            blocked.recv()
        });
        begins.recv().unwrap();
        let (end, ended) = mpsc::channel();
        watch_then(stop, Duration::from_millis(1), move || {
            end.send(()).unwrap()
        })
        .unwrap();
        ended.recv().unwrap();
        drop(block);
    }
}
