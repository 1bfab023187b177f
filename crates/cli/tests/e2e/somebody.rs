//! Somebody else's browser with one blank tab, in which agents of a crowd are guests.

use crate::crowd::Crowd;
use crate::user::User;
use tabmux_testkit::{Chromium, McpClient, OverExtension};

/// The browser. One that was started for this ends with it.
pub(crate) struct Somebody {
    /// The person's own way to it.
    pub(crate) user: User,
    flag: String,
    _chromium: Option<Chromium>,
}

impl Somebody {
    /// The one that is reached through its extension if the tests of this process are to, else one by its
    /// address.
    pub(crate) async fn beside(crowd: &Crowd) -> Self {
        let (websocket, flag, chromium) = match OverExtension::here() {
            Some(over) => (over.websocket(), "--extension".to_owned(), None),
            None => {
                let chromium = crowd.somebodys_browser();
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
