//! Simulates the person who uses the browser: opens, navigates, crashes and closes tabs, through a connection that
//! tabmux does not know.

use serde_json::{Value, json};
use std::path::Path;
use std::time::Duration;
use tabmux_cdp::types::browser::Close;
use tabmux_cdp::types::page::Navigate;
use tabmux_cdp::types::target::{
    ActivateTarget, AttachToTarget, CloseTarget, CreateTarget, DetachFromTarget, GetTargets,
    SessionId, TargetId, TargetInfo,
};
use tabmux_cdp::{Connection, Events, Session, WebSocketTransport};
use tabmux_testkit::patiently;

/// A person at a browser.
pub(crate) struct User {
    browser: Session,
    events: Events,
}

impl User {
    /// Connects to the browser at this websocket.
    pub(crate) async fn at(websocket: &str) -> Self {
        let transport = WebSocketTransport::connect(websocket, &[]).await.unwrap();
        let (browser, events) = Connection::start(transport);
        Self { browser, events }
    }

    /// Connects to the browser with this profile and a debugging port.
    pub(crate) async fn of_profile(profile: &Path) -> Self {
        let file = profile.join("DevToolsActivePort");
        let story = || format!("{} to be written", file.display());
        let text = patiently(
            async {
                loop {
                    match tokio::fs::read_to_string(&file).await {
                        Ok(text) if text.lines().count() == 2 => return text,
                        _ => tokio::task::yield_now().await,
                    }
                }
            },
            story,
        )
        .await;
        let (port, path) = text.trim_end().split_once('\n').unwrap();
        Self::at(&format!("ws://127.0.0.1:{port}{path}")).await
    }

    /// The person's own connection to the browser.
    pub(crate) fn browser(&self) -> &Session {
        &self.browser
    }

    /// Opens a page in a new tab: in a new window if there are no tabs, because the window whose last tab was just
    /// closed may still be there, and it closes with its new tabs.
    pub(crate) async fn opens(&self, url: &str) -> TargetId {
        let create = CreateTarget {
            url: url.to_owned(),
            new_window: self.tabs().await.is_empty().then_some(true),
            ..Default::default()
        };
        self.browser.send(create).await.unwrap().target_id
    }

    /// Navigates the tab that shows `from` to `to`.
    pub(crate) async fn navigates(&mut self, from: &str, to: &str) {
        let (session, tab) = self.attach(from).await;
        let navigate = Navigate {
            url: to.to_owned(),
            ..Default::default()
        };
        tab.send(navigate).await.unwrap();
        self.detach(session).await;
    }

    /// Brings the tab that shows `url` to the front.
    pub(crate) async fn switches_to(&self, url: &str) {
        let target_id = self.tab_at(url).await;
        self.browser
            .send(ActivateTarget { target_id })
            .await
            .unwrap();
    }

    /// Closes the tab that shows `url`.
    pub(crate) async fn closes(&self, url: &str) {
        let target_id = self.tab_at(url).await;
        self.browser.send(CloseTarget { target_id }).await.unwrap();
    }

    /// Makes the tab that shows `url` crash.
    pub(crate) async fn crashes(&mut self, url: &str) {
        let (session, tab) = self.attach(url).await;
        // Wait for the first page: before that the renderer of the blank page would crash, which Chrome does not
        // show.
        let here = json!({"expression": "location.href"});
        let arrival = async {
            loop {
                let answer = tab
                    .send_raw("Runtime.evaluate", &here, CRASH_PATIENCE)
                    .await;
                if answer.is_ok_and(|answer| answer.get().contains(url)) {
                    return;
                }
            }
        };
        patiently(arrival, || format!("{url} to be shown")).await;
        // The page dies before it can answer.
        let _ = tab.send_raw("Page.crash", &json!({}), CRASH_PATIENCE).await;
        self.detach(session).await;
    }

    /// Closes all tabs and deletes all cookies.
    pub(crate) async fn clears_up(&self) {
        let nothing = json!({});
        let forget = self
            .browser
            .send_raw("Storage.clearCookies", &nothing, PATIENCE);
        forget.await.unwrap();
        let emptied = async {
            loop {
                let tabs = self.tabs().await;
                if tabs.is_empty() {
                    return;
                }
                for TargetInfo { target_id, .. } in tabs {
                    // A tab that is already closing may be gone.
                    let _ = self.browser.send(CloseTarget { target_id }).await;
                }
            }
        };
        patiently(emptied, || "all tabs to be closed".to_owned()).await;
    }

    /// Quits the browser.
    pub(crate) async fn quits(&self) {
        let _ = self.browser.send(Close {}).await;
        patiently(self.browser.connection().closed(), || {
            "the browser to end".to_owned()
        })
        .await;
    }

    /// The targets of type `tab`, each of which contains its page.
    async fn tab_strip(&self) -> Vec<Value> {
        let tabs = json!({"filter": [{"type": "tab", "exclude": false}]});
        let answer = self
            .browser
            .send_raw("Target.getTargets", &tabs, CRASH_PATIENCE);
        let answer: Value = serde_json::from_str(answer.await.unwrap().get()).unwrap();
        answer["targetInfos"].as_array().unwrap().clone()
    }

    /// The title of the tab in front.
    pub(crate) async fn title_in_front(&self) -> String {
        let tabs = self.tab_strip().await;
        let mut tabs = tabs.iter();
        let front = tabs.find(|tab| tab["embedderData"]["tabActive"] == true);
        front.expect("a tab is in front")["title"]
            .as_str()
            .unwrap()
            .to_owned()
    }

    /// The id of the target of type `tab` that contains the page with `url`.
    pub(crate) async fn tab_strip_target(&self, url: &str) -> String {
        let tabs = self.tab_strip().await;
        let mut tabs = tabs.iter();
        let tab = tabs.find(|tab| tab["url"] == url);
        tab.expect("a tab shows it")["targetId"]
            .as_str()
            .unwrap()
            .to_owned()
    }

    /// The addresses of the tabs.
    pub(crate) async fn urls(&self) -> Vec<String> {
        self.tabs().await.into_iter().map(|tab| tab.url).collect()
    }

    /// The tabs.
    pub(crate) async fn tabs(&self) -> Vec<TargetInfo> {
        let mut targets = self
            .browser
            .send(GetTargets::default())
            .await
            .unwrap()
            .target_infos;
        targets.retain(|target| target.r#type == "page");
        targets
    }

    async fn tab_at(&self, url: &str) -> TargetId {
        let tabs = self.tabs().await;
        let tab = tabs.iter().find(|tab| tab.url == url);
        tab.unwrap_or_else(|| panic!("no tab shows {url}: {tabs:?}"))
            .target_id
            .clone()
    }

    async fn attach(&mut self, url: &str) -> (SessionId, Session) {
        let target_id = self.tab_at(url).await;
        self.attach_to(target_id).await
    }

    /// A session inside a tab or a worker.
    pub(crate) async fn attach_to(&mut self, target_id: TargetId) -> (SessionId, Session) {
        let attach = AttachToTarget {
            target_id,
            flatten: Some(true),
        };
        let session = self.browser.send(attach).await.unwrap().session_id;
        loop {
            let next = patiently(self.events.next(), || "a session".to_owned());
            if let Some((tab, _)) = next.await.unwrap().child
                && tab.id() == Some(&session)
            {
                return (session, tab);
            }
        }
    }

    async fn detach(&self, session_id: SessionId) {
        let detach = DetachFromTarget {
            session_id: Some(session_id),
            target_id: None,
        };
        let _ = self.browser.send(detach).await;
    }
}

const CRASH_PATIENCE: Duration = Duration::from_secs(1);
const PATIENCE: Duration = Duration::from_secs(30);
