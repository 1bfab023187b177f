//! Whether anything uses the daemon: a session of any transport, a page worker or an extension.

use crate::handle::Hub;
use std::time::Duration;
use tokio::sync::watch;

impl Hub {
    /// Resolves when there has been no session, page worker or extension for `limit`; never, if it is `None`.
    pub(crate) async fn unused_for(&self, limit: Option<Duration>) {
        let sessions = self.open_sessions.subscribe();
        let mut pages = self.pages.subscribe();
        let mut extensions = self.extensions.count();
        loop {
            for count in [&mut pages, &mut extensions] {
                if count.wait_for(|open| *open == 0).await.is_err() {
                    return;
                }
            }
            tokio::select! {
                () = unused(sessions.clone(), limit) => return,
                _ = pages.wait_for(|open| *open > 0) => {}
                _ = extensions.wait_for(|open| *open > 0) => {}
            }
        }
    }
}

/// Resolves when the count has been zero for `limit`, or when its sender is dropped.
pub(crate) async fn unused(mut count: watch::Receiver<usize>, limit: Option<Duration>) {
    let Some(limit) = limit else {
        return std::future::pending().await;
    };
    loop {
        if count.wait_for(|open| *open == 0).await.is_err() {
            return;
        }
        let busy = count.wait_for(|open| *open > 0);
        if !matches!(tokio::time::timeout(limit, busy).await, Ok(Ok(_))) {
            return;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// With the counter dropped and no session open, this wait once spun forever.
    #[tokio::test(start_paused = true)]
    async fn waiting_ends_when_the_counter_is_dropped() {
        let count = watch::Sender::new(0);
        let waiting = tokio::spawn(unused(count.subscribe(), Some(Duration::from_secs(60))));
        drop(count);
        let ended = tokio::time::timeout(Duration::from_secs(1), waiting).await;
        assert!(ended.is_ok(), "it still waits");
    }
}
