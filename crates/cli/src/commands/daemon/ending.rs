//! Ends the daemon when it is told to, also when everything else in it hangs: signals are heard on a thread of
//! their own, which ends the process if nobody else does.

use anyhow::Context;
use std::time::Duration;
use tokio::signal::unix::{SignalKind, signal};
use tokio_util::sync::CancellationToken;

/// Cancels `stop` at SIGTERM and SIGINT. Once it is cancelled, by whomever, the process ends soon.
pub(super) fn watch(stop: CancellationToken) -> anyhow::Result<()> {
    #[expect(
        clippy::exit,
        reason = "whoever should return from main may be what hangs"
    )]
    let end = || std::process::exit(1);
    watch_then(stop, LONGEST_END, end)
}

/// Calls `end` if the process is still there `limit` after `stop`.
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
        own.block_on(until_told(&stop));
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

/// Resolves at a signal, or when somebody else stops the daemon. A terminal that closes is no reason.
async fn until_told(stop: &CancellationToken) {
    let streams = (
        signal(SignalKind::terminate()),
        signal(SignalKind::interrupt()),
        signal(SignalKind::hangup()),
    );
    let (Ok(mut terminate), Ok(mut interrupt), Ok(mut hangup)) = streams else {
        return stop.cancelled().await;
    };
    loop {
        tokio::select! {
            _ = terminate.recv() => return,
            _ = interrupt.recv() => return,
            () = stop.cancelled() => return,
            _ = hangup.recv() => {}
        }
    }
}

/// Browsers, their profiles and files have ended after two seconds on a machine that is not busy. The promise is
/// five.
const LONGEST_END: Duration = Duration::from_secs(4);

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::mpsc;

    #[test]
    fn a_daemon_whose_every_worker_is_blocked_is_ended_all_the_same() {
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
            // As a hung file system does it.
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
