//! A running browser with one blank tab, to which agents of a crowd attach.

use crate::crowd::Crowd;
use crate::user::User;
use tabmux_testkit::{Chromium, McpClient, OverExtension};

/// The browser. If it was started for this test, dropping it ends the browser.
pub(crate) struct RunningBrowser {
    /// The person's own connection to it.
    pub(crate) user: User,
    flag: String,
    _chromium: Option<Chromium>,
}

impl RunningBrowser {
    /// The browser with the extension if the tests of this process use that, else one by its address.
    pub(crate) async fn start(crowd: &Crowd) -> Self {
        let (websocket, flag, chromium) = match OverExtension::here() {
            Some(over) => (over.websocket(), "--extension".to_owned(), None),
            None => {
                let chromium = crowd.running_browser();
                let flag = format!("--browserUrl={}", chromium.http_url());
                (chromium.websocket_url().to_owned(), flag, Some(chromium))
            }
        };
        let user = User::at(&websocket).await;
        if chromium.is_none() {
            user.opens("about:blank").await;
        }
        Self {
            user,
            flag,
            _chromium: chromium,
        }
    }

    /// One more client of the crowd, in this browser.
    pub(crate) async fn guest(&self, crowd: &Crowd, flags: &[&str]) -> McpClient {
        crowd
            .visitor(&[&[self.flag.as_str()], flags].concat())
            .await
    }
}
