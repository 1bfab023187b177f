//! Sessions of any transport: opened, resumed or joined by name, and counted while they are open.

mod named;

pub(crate) use named::Named;

use crate::handle::{CallerFolders, Client, Handle, Hub};
use crate::options::SessionOptions;
use named::Lease;
use std::sync::Arc;
use tabmux_browser::screen::Screen;
use tabmux_protocol::session as wanted;
use tabmux_protocol::wire::{Resume, SessionId};

/// A client that asks for a session.
pub(crate) struct SessionRequest {
    pub(crate) client: wanted::ClientInfo,
    pub(crate) options: wanted::SessionOptions,
    /// The session to resume.
    pub(crate) resume: Option<Resume>,
    /// The name of a session that outlives its client.
    pub(crate) name: Option<String>,
    pub(crate) screen: Option<Screen>,
}

/// A client's use of a session. When it is dropped, the session ends, unless it has a name.
pub(crate) struct Joined {
    pub(crate) session: Arc<Session>,
    /// Whether an earlier session was resumed.
    pub(crate) resumed: bool,
    _lease: Option<Lease>,
}

/// An open session.
pub(crate) struct Session {
    pub(crate) id: SessionId,
    /// The secret with which its client can resume it.
    pub(crate) secret: String,
    pub(crate) handle: Handle,
}

impl Hub {
    /// Opens a session, resumes one if the client proves that it owns it, or joins the one of that name. Returns a
    /// sentence if that is not possible.
    pub(crate) async fn join(&self, arrival: SessionRequest) -> Result<Joined, String> {
        let browser = arrival.options.browser.clone();
        let folders = caller_folders(&arrival.options);
        let mut options = SessionOptions::from_wire(arrival.options)?;
        let mut id = SessionId(format!("sess_{}", random_hex::<16>()));
        let mut secret = random_hex::<32>();
        let mut resumed = false;
        if let Some(resume) = arrival.resume
            && let Some(restored_tabs) = self.take_up(resume.clone()).await
        {
            // Keep the client's secret: if we died before it got a new one, the session would be lost.
            (id, secret) = (resume.session_id, resume.secret);
            options.restored_tabs = restored_tabs;
            resumed = true;
        }
        let client = Client {
            session: id.0.clone(),
            name: shown_name(&arrival.client, arrival.name.as_deref()),
            secret: secret.clone(),
            screen: arrival.screen,
        };
        let open = async || {
            let pid = arrival.client.pid;
            tracing::info!(
                session = id.0,
                client = client.name,
                pid,
                "a client connected"
            );
            let handle = self.open(options, client).await;
            Session { id, secret, handle }
        };
        let (session, lease) = match &arrival.name {
            None => (Arc::new(open().await), None),
            Some(name) => {
                let (session, lease) = self.named.join(name, browser, folders, open).await?;
                (session, Some(lease))
            }
        };
        Ok(Joined {
            session,
            resumed,
            _lease: lease,
        })
    }

    /// Ends the session of that name. False if there is none.
    pub(crate) async fn end_named(&self, name: &str) -> bool {
        self.named.end(name).await
    }
}

fn caller_folders(options: &wanted::SessionOptions) -> CallerFolders {
    CallerFolders {
        folder: options.folder.clone(),
        roots: options.roots.clone(),
        output: options.output.clone(),
    }
}

/// The client's name as people see it.
fn shown_name(client: &wanted::ClientInfo, session: Option<&str>) -> String {
    let name = match session {
        Some(session) => format!("{} ({session})", client.name),
        None => client.name.clone(),
    };
    tabmux_text::one_line(&name, 80)
}

/// Random bytes from the system, as hexadecimal digits.
fn random_hex<const N: usize>() -> String {
    let mut bytes = [0_u8; N];
    // Without random numbers no secret would be safe, so the daemon cannot run.
    #[expect(
        clippy::expect_used,
        reason = "systems without random numbers are not supported"
    )]
    getrandom::fill(&mut bytes).expect("the system has random numbers");
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn arrival(name: Option<&str>) -> SessionRequest {
        SessionRequest {
            client: wanted::ClientInfo::default(),
            options: wanted::SessionOptions::default(),
            resume: None,
            name: name.map(str::to_owned),
            screen: None,
        }
    }

    #[tokio::test]
    async fn a_named_session_is_joined_again_and_every_session_is_counted_once() {
        let hub = Hub::start();
        let first = hub.join(arrival(Some("work"))).await.unwrap();
        let id = first.session.id.clone();
        drop(first);
        let again = hub.join(arrival(Some("work"))).await.unwrap();
        assert_eq!(again.session.id, id);
        assert_eq!(hub.count_sessions(), 1);
        let unnamed = hub.join(arrival(None)).await.unwrap();
        assert_ne!(unnamed.session.id, id);
        assert_eq!(hub.count_sessions(), 2);
        drop((unnamed, again));
        assert_eq!(hub.count_sessions(), 1, "the named one stays");
        assert!(hub.end_named("work").await);
        assert!(!hub.end_named("work").await);
        assert_eq!(hub.count_sessions(), 0);
        hub.shut_down().await;
    }
}
