//! Ways to acquire a browser. Each one is a module that yields an [`Acquired`]: a CDP session, and who owns the browser.

mod devtools;
mod error;
pub(crate) mod extension;
mod grid;
mod launch;
mod ownership;
mod running;
mod websocket;

pub use error::ConnectError;
pub use grid::{Grid, GridPlace, release_orphans};
pub use launch::LaunchOptions;
pub(crate) use ownership::{Lease, Loss, Ownership};
pub use running::Running;

use crate::dial::{self, RemoteAddress};
use tabmux_cdp::{Events, Session};

/// Where a browser comes from. A person's own browser is not here: its extension connects to us (`acquire::extension`).
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Source {
    /// A browser that we launch.
    Launch(LaunchOptions),
    /// The one at `http://host:port` or `https://…`.
    Url(RemoteAddress),
    /// The one at `ws://…` or `wss://…`.
    WebSocket(RemoteAddress),
    /// One that a grid hands out.
    Grid(Grid),
    /// Any of this user's browsers that allows remote debugging.
    Running(Running),
}

/// A browser that is ours to use for now.
#[derive(Debug)]
pub(crate) struct Acquired {
    /// The CDP session of the browser itself.
    pub(crate) session: Session,
    pub(crate) events: Events,
    pub(crate) ownership: Ownership,
    /// Whether a grid handed it out instead of one that is gone.
    pub(crate) replaces: bool,
}

/// Tells those who wait what they wait for.
pub(crate) type Say<'a> = &'a (dyn Fn(String) + Send + Sync);

/// Launches a browser, attaches to one, or has a grid hand one out.
pub(crate) async fn acquire(source: &Source, say: Say<'_>) -> Result<Acquired, ConnectError> {
    match source {
        Source::Launch(options) => Ok(launch::acquire(options).await?),
        Source::Url(address) => devtools::acquire(address).await,
        Source::WebSocket(address) => websocket::acquire(address, dial::NAMED_LIMIT).await,
        Source::Grid(grid) => grid::acquire(grid, say).await,
        Source::Running(which) => running::acquire(which).await,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::profile::ProfileChoice;
    use std::os::unix::fs::PermissionsExt;
    use std::time::Duration;
    use tabmux_cdp::ChannelTransport;
    use tokio::net::TcpListener;

    #[tokio::test]
    async fn a_launched_browser_is_ours_and_ends_when_it_is_released() {
        let home = tempfile::tempdir().unwrap();
        let program = home.path().join("browser");
        let pid = home.path().join("pid");
        let script = format!("#!/bin/sh\necho $$ > {}\nsleep 600\n", pid.display());
        std::fs::write(&program, script).unwrap();
        std::fs::set_permissions(&program, PermissionsExt::from_mode(0o700)).unwrap();
        let mut options = LaunchOptions {
            profile: ProfileChoice::At(home.path().join("profile")),
            headless: true,
            ..LaunchOptions::default()
        };
        options.wanted.executable = Some(program);
        let acquired = acquire(&Source::Launch(options), &|_| {}).await.unwrap();
        assert!(acquired.ownership.is_launched() && !acquired.ownership.is_person());
        let started = async {
            loop {
                match tokio::fs::read_to_string(&pid).await {
                    Ok(text) if text.ends_with('\n') => break text,
                    _ => tokio::task::yield_now().await,
                }
            }
        };
        let started = tabmux_testkit::patiently(started, || "the browser".into()).await;
        let process = std::path::Path::new("/proc").join(started.trim());
        assert!(process.exists() || !cfg!(target_os = "linux"));
        acquired.ownership.release(Duration::ZERO).await;
        assert!(!process.exists());
    }

    #[tokio::test]
    async fn a_browser_at_an_address_is_theirs() {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let url = format!("ws://{}/", listener.local_addr().unwrap());
        let accepted = tokio::spawn(async move {
            let (stream, _) = listener.accept().await.unwrap();
            tokio_tungstenite::accept_async(stream).await.unwrap()
        });
        let acquired = acquire(&Source::WebSocket(url.into()), &|_| {})
            .await
            .unwrap();
        assert!(matches!(acquired.ownership, Ownership::Theirs));
        let _server = accepted.await.unwrap();
        // There is nothing to give back.
        acquired.ownership.release(Duration::from_secs(600)).await;
    }

    #[tokio::test]
    async fn a_browser_behind_an_extension_belongs_to_a_person() {
        let (transport, _commands, _answers) = ChannelTransport::new();
        let acquired = extension::acquire(transport);
        assert!(acquired.ownership.is_person() && !acquired.ownership.is_launched());
    }
}
