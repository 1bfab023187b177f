//! Ways to acquire a browser. Each one is a module that yields an [`Acquired`]: a CDP session, and who owns the browser.

mod devtools;
mod error;
pub(crate) mod extension;
mod launch;
mod ownership;
mod running;
mod websocket;

pub use error::ConnectError;
pub use launch::LaunchOptions;
pub(crate) use ownership::{Lease, Ownership};
pub use running::Running;

use tabmux_cdp::{Events, Session};

/// Where a browser comes from. A person's own browser is not here: its extension connects to us (`acquire::extension`).
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Source {
    /// A browser that we launch.
    Launch(LaunchOptions),
    /// The one at `http://host:port`. May contain secrets: show it with [`crate::endpoint::shown`].
    Url(String),
    /// The one at `ws://…`, with these headers. Both may contain secrets.
    WebSocket(String, Vec<(String, String)>),
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
}

/// Launches a browser or attaches to one.
pub(crate) async fn acquire(source: &Source) -> Result<Acquired, ConnectError> {
    match source {
        Source::Launch(options) => Ok(launch::acquire(options).await?),
        Source::Url(url) => devtools::acquire(url).await,
        Source::WebSocket(url, headers) => websocket::acquire(url, headers).await,
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
        let acquired = acquire(&Source::Launch(options)).await.unwrap();
        assert!(acquired.ownership.is_ours() && !acquired.ownership.is_person());
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
        let acquired = acquire(&Source::WebSocket(url, Vec::new())).await.unwrap();
        assert!(matches!(acquired.ownership, Ownership::Theirs));
        let _server = accepted.await.unwrap();
        // There is nothing to give back.
        acquired.ownership.release(Duration::from_secs(600)).await;
    }

    #[tokio::test]
    async fn a_browser_behind_an_extension_belongs_to_a_person() {
        let (transport, _commands, _answers) = ChannelTransport::new();
        let acquired = extension::acquire(transport);
        assert!(acquired.ownership.is_person() && !acquired.ownership.is_ours());
    }
}
