//! The daemon's end of the extension, in the test process: every harness gets its own connection to the one browser,
//! without tabs and cookies.

use serde_json::json;
use std::sync::{Arc, OnceLock};
use std::time::Duration;
use tabmux_browser::{Browser, Connected, TabSettings};
use tabmux_cdp::types::target::{CloseTarget, GetTargets};
use tabmux_cdp::{Connection, Session, WebSocketTransport};
use tabmux_daemon::Hub;
use tabmux_daemon::listener::{self, Bound, ListenerAccess, PageOrigins};
use tabmux_testkit::{OverExtension, patiently};
use tokio::runtime::Runtime;
use tokio_util::sync::CancellationToken;

/// The daemon's end. It lives as long as the process, on its own threads, because every test ends its runtime.
pub(crate) struct Bridge {
    runtime: Runtime,
    hub: Arc<Hub>,
    over: &'static OverExtension,
}

impl Bridge {
    /// The bridge to the browser, if the tests of this process run through the extension.
    pub(crate) fn here() -> Option<&'static Self> {
        static HERE: OnceLock<Option<Bridge>> = OnceLock::new();
        let here = HERE.get_or_init(|| OverExtension::here().map(Self::build));
        here.as_ref()
    }

    /// A connection to the browser, which has no tabs and no cookies.
    pub(crate) async fn connect(&self, flags: &[&str], settings: TabSettings) -> Connected {
        for flag in flags {
            self.over.assert_runs_with(flag);
        }
        clean(&self.over.websocket()).await;
        let connecting = async {
            loop {
                let hub = Arc::clone(&self.hub);
                let reach = async move { hub.reach_extension(PATIENCE).await };
                let reached = self.runtime.spawn(reach).await.unwrap();
                let transport = reached.expect("the extension connects");
                let connected = Browser::connect_over(transport, settings.clone())
                    .await
                    .unwrap();
                // The extension reports closed tabs with a delay.
                if connected.info.tabs.is_empty() {
                    return connected;
                }
            }
        };
        patiently(connecting, || "a browser without tabs".to_owned()).await
    }

    fn build(over: &'static OverExtension) -> Self {
        let runtime = tokio::runtime::Builder::new_multi_thread()
            .worker_threads(1)
            .enable_all()
            .build()
            .unwrap();
        let here = runtime.enter();
        let hub = Arc::new(Hub::start());
        let access = ListenerAccess {
            origins: PageOrigins::default(),
            secret: over.secret.clone(),
            other_users: false,
        };
        let served = Arc::clone(&hub);
        runtime.spawn(async move {
            let bound = Bound::take(over.port).await.unwrap();
            listener::serve(bound, served, access, CancellationToken::new()).await;
        });
        drop(here);
        Self { runtime, hub, over }
    }
}

/// Removes what an earlier test left, as a user would: over a connection that tabmux does not know.
async fn clean(websocket: &str) {
    let transport = WebSocketTransport::connect(websocket, &[]).await.unwrap();
    let (person, _events) = Connection::start(transport);
    let nothing = json!({});
    let cleared = person.send_raw("Storage.clearCookies", &nothing, PATIENCE);
    cleared.await.unwrap();
    let emptied = async {
        loop {
            let targets = person.send(GetTargets::default()).await.unwrap();
            let targets = targets.target_infos.into_iter();
            let pages: Vec<_> = targets.filter(|it| it.r#type == "page").collect();
            if pages.is_empty() {
                return;
            }
            close(&person, pages.into_iter().map(|page| page.target_id)).await;
        }
    };
    patiently(emptied, || "tabs to be closed".to_owned()).await;
}

async fn close(person: &Session, pages: impl Iterator<Item = tabmux_browser::TargetId>) {
    for target_id in pages {
        // It may be closing already.
        let _ = person.send(CloseTarget { target_id }).await;
    }
}

const PATIENCE: Duration = Duration::from_secs(30);
