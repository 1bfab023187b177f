//! One daemon after the other at the same socket.

use crate::fake_extension::pass;
use crate::server::Server;
use std::time::Duration;
use tabmux_daemon::socket::{Held, ListenError, Listening};
use tokio::time::Instant;

/// A daemon that no longer listens, but has not ended its browsers yet.
async fn ending() -> (Server, Held) {
    let mut server = Server::start();
    server.stop.cancel();
    let held = (&mut server.task).await.unwrap();
    assert!(!server.place.socket().exists());
    (server, held)
}

/// Spec: security 14.
#[tokio::test]
async fn the_next_daemon_waits_until_this_one_has_ended() {
    let (server, held) = ending().await;
    let taken = Listening::start(&server.place);
    assert!(matches!(taken, Err(ListenError::Taken(_))), "{taken:?}");
    let place = server.place.clone();
    let next = tokio::spawn(async move { Listening::start_after_another(&place).await });
    let (finish, finished) = tokio::sync::oneshot::channel::<()>();
    let end = tokio::spawn(held.until(async { drop(finished.await) }));
    // It tries several times.
    for _ in 0..10 {
        pass(Duration::from_millis(100)).await;
        assert!(!next.is_finished());
    }
    finish.send(()).unwrap();
    end.await.unwrap();
    let next = next.await.unwrap().unwrap();
    assert!(server.place.socket().exists());
    drop(next);
}

#[tokio::test]
async fn a_daemon_that_hangs_in_shutdown_delays_the_next_one_only_briefly() {
    let (server, held) = ending().await;
    tokio::time::pause();
    let begun = Instant::now();
    let (next, ()) = tokio::join!(
        Listening::start_after_another(&server.place),
        held.until(std::future::pending())
    );
    let next = next.unwrap();
    // A client waits ten seconds for a daemon.
    assert!(begun.elapsed() < Duration::from_secs(8));
    // A running daemon is not waited for.
    let begun = Instant::now();
    let second = Listening::start_after_another(&server.place).await;
    assert!(matches!(second, Err(ListenError::Taken(_))), "{second:?}");
    assert!(begun.elapsed() < Duration::from_secs(1));
    drop(next);
    // Nor is a process that holds the lock forever.
    let (_server, _held) = ending().await;
    let third = Listening::start_after_another(&_server.place).await;
    assert!(matches!(third, Err(ListenError::Taken(_))), "{third:?}");
}
