//! Chrome's DevTools Protocol through the extension. Chrome offers extensions CDP for single tabs only, so commands
//! for the whole browser are answered here, from the extension's list of tabs.

mod closing;
mod private;
#[cfg(test)]
mod tests;

use super::cdp_messages::{self, Refusal, Request};
use serde_json::{Value, json};
use std::collections::{BTreeMap, HashMap};
use tabmux_browser::Frame;
use tabmux_protocol::extension::{BrowserInfo, FromExtension, TabInfo, ToExtension};
use tokio::sync::mpsc;

/// All CDP connections to one extension's browser.
#[derive(Debug, Default)]
pub(super) struct Tunnels {
    browser: BrowserInfo,
    tabs: BTreeMap<u32, TabInfo>,
    open: BTreeMap<u32, Tunnel>,
    opened: u32,
    /// Requests to the extension without a reply yet.
    pending: HashMap<u32, Pending>,
    asked: u32,
    /// Whether agents may see tabs of private windows.
    private: bool,
}

/// One CDP connection.
#[derive(Debug)]
struct Tunnel {
    feed: mpsc::Sender<Frame>,
    /// The tabs it is attached to, each with its session id.
    held: BTreeMap<u32, String>,
    /// The sessions of frames and workers in these tabs.
    inside: HashMap<String, u32>,
}

/// The connection and command that wait for a reply.
#[derive(Debug)]
struct Pending {
    tunnel: u32,
    id: u64,
    session: Option<String>,
    kind: PendingKind,
}

#[derive(Debug)]
enum PendingKind {
    Command,
    Open,
    Attach { tab: u32 },
    Close,
    Focus,
}

/// Messages to send, with their receivers.
#[derive(Debug, Default)]
pub(super) struct Deliveries {
    pub(super) to_extension: Vec<ToExtension>,
    pub(super) to_tunnels: Vec<(mpsc::Sender<Frame>, Frame)>,
}

impl Tunnels {
    pub(super) fn open(&mut self, feed: mpsc::Sender<Frame>) -> u32 {
        self.opened += 1;
        let tunnel = Tunnel {
            feed,
            held: BTreeMap::new(),
            inside: HashMap::new(),
        };
        self.open.insert(self.opened, tunnel);
        self.opened
    }

    /// The extension disconnected.
    pub(super) fn end(&mut self) {
        *self = Self::default();
    }

    /// Handles a CDP command from one of the connections.
    pub(super) fn command(&mut self, tunnel: u32, frame: &str) -> Deliveries {
        let mut deliveries = Deliveries::default();
        let Some(request) = Request::parse(frame) else {
            return deliveries;
        };
        let (id, session) = (request.id, request.session.clone());
        let done = match &session {
            None => self.browser_command(tunnel, request, &mut deliveries),
            Some(name) => self.tab_command(tunnel, name, request, &mut deliveries),
        };
        if let Some(answer) = done.transpose() {
            self.answer(tunnel, id, session.as_deref(), answer, &mut deliveries);
        }
        deliveries
    }

    /// Handles a message of the extension.
    pub(super) fn handle(&mut self, message: FromExtension) -> Deliveries {
        let mut deliveries = Deliveries::default();
        let out = &mut deliveries;
        match message {
            FromExtension::Connected { browser, tabs } => {
                self.browser = browser;
                for tab in tabs {
                    self.show(tab, out);
                }
            }
            FromExtension::TabCreated { tab } | FromExtension::TabUpdated { tab } => {
                self.show(tab, out);
            }
            FromExtension::TabClosed { tab_id } => self.forget(tab_id, out),
            FromExtension::Done {
                request_id,
                tab_id,
                error,
            } => self.done(request_id, tab_id, error, out),
            FromExtension::Cdp {
                request_id,
                result,
                error,
                too_large,
            } => {
                if let Some(asked) = self.pending.remove(&request_id) {
                    if let Some(length) = too_large {
                        let frame = cdp_messages::cut_answer(asked.id, length);
                        self.feed(asked.tunnel, Frame::Oversize(frame), out);
                        return deliveries;
                    }
                    let answer = match error {
                        Some(error) => Err(Refusal(error)),
                        None => Ok(result.unwrap_or_else(|| json!({}))),
                    };
                    self.answer(
                        asked.tunnel,
                        asked.id,
                        asked.session.as_deref(),
                        answer,
                        out,
                    );
                }
            }
            FromExtension::CdpEvent {
                tab_id,
                session_id,
                method,
                params,
                too_large,
            } => {
                let session = session_id.as_deref();
                match too_large {
                    Some(length) => self.cut_event(tab_id, session, &method, &params, length, out),
                    None => self.event(tab_id, session, &method, &params, out),
                }
            }
            // Chrome or the person detached it. The tab itself stays.
            FromExtension::Detached { tab_id, .. } => self.release(tab_id, out),
            // The daemon looks for tools itself, so these messages are ignored.
            FromExtension::TabFocused { .. }
            | FromExtension::ToolsChanged { .. }
            | FromExtension::ToolResult { .. }
            | FromExtension::Hello { .. }
            | FromExtension::Proof { .. }
            | FromExtension::Disconnected
            | FromExtension::PageOpened { .. }
            | FromExtension::PageSaid { .. }
            | FromExtension::PageEnded { .. }
            | FromExtension::Pause { .. }
            | FromExtension::Resume
            | FromExtension::TakeBack { .. }
            | FromExtension::Give { .. }
            | FromExtension::CanAsk
            | FromExtension::Answer { .. }
            | FromExtension::Follow { .. }
            | FromExtension::Rule { .. }
            | FromExtension::Site { .. }
            | FromExtension::PrivateWindows { .. }
            | FromExtension::LeftTabs { .. }
            | FromExtension::Ping
            | FromExtension::Pong => {}
        }
        deliveries
    }

    /// Handles a command for the whole browser. Returns the reply if it is known at once.
    fn browser_command(
        &mut self,
        tunnel: u32,
        request: Request,
        out: &mut Deliveries,
    ) -> Result<Option<Value>, Refusal> {
        let tab = cdp_messages::tab_of(&request.params).and_then(|tab| self.tabs.get(&tab));
        let named = || tab.ok_or_else(|| Refusal("No target with given id found".to_owned()));
        match request.method.as_str() {
            "Browser.getVersion" => Ok(Some(cdp_messages::version(&self.browser))),
            "Target.setDiscoverTargets" => Ok(Some(json!({}))),
            "Target.getTargets" => {
                let infos: Vec<_> = self
                    .tabs
                    .values()
                    .map(|tab| self.target_info(tab))
                    .collect();
                Ok(Some(json!({"targetInfos": infos})))
            }
            "Target.getTargetInfo" => Ok(Some(json!({"targetInfo": self.target_info(named()?)}))),
            "Target.createTarget" if request.params.get("browserContextId").is_none() => {
                let url = request.params["url"]
                    .as_str()
                    .unwrap_or("about:blank")
                    .to_owned();
                let focus = request.params["background"] == false;
                let request_id = self.ask(tunnel, request, PendingKind::Open);
                out.to_extension.push(ToExtension::OpenTab {
                    request_id,
                    url,
                    focus,
                });
                Ok(None)
            }
            "Target.closeTarget" => {
                let tab_id = named()?.id;
                let request_id = self.ask(tunnel, request, PendingKind::Close);
                out.to_extension
                    .push(ToExtension::CloseTab { request_id, tab_id });
                Ok(None)
            }
            "Target.activateTarget" => {
                let tab_id = named()?.id;
                let request_id = self.ask(tunnel, request, PendingKind::Focus);
                out.to_extension
                    .push(ToExtension::FocusTab { request_id, tab_id });
                Ok(None)
            }
            "Target.attachToTarget" => {
                let tab_id = named()?.id;
                let is_held = self.is_held(tab_id);
                let request_id = self.ask(tunnel, request, PendingKind::Attach { tab: tab_id });
                match is_held {
                    true => self.done(request_id, None, None, out),
                    false => out
                        .to_extension
                        .push(ToExtension::Attach { request_id, tab_id }),
                }
                Ok(None)
            }
            "Target.detachFromTarget" => {
                let session = request.params["sessionId"].as_str().unwrap_or_default();
                self.detach(tunnel, session, out);
                Ok(Some(json!({})))
            }
            method => Err(cdp_messages::refusal(method)),
        }
    }

    /// Handles a command for a tab, or for a frame inside it.
    fn tab_command(
        &mut self,
        tunnel: u32,
        session: &str,
        request: Request,
        out: &mut Deliveries,
    ) -> Result<Option<Value>, Refusal> {
        let place = self
            .open
            .get(&tunnel)
            .and_then(|tunnel| tunnel.place(session));
        let (tab_id, inside) =
            place.ok_or_else(|| Refusal("Session with given id not found.".to_owned()))?;
        cdp_messages::may_ask(&request)?;
        if request.method == "Browser.getVersion" {
            return Ok(Some(cdp_messages::version(&self.browser)));
        }
        let (method, params) = (request.method.clone(), request.params.clone());
        let request_id = self.ask(tunnel, request, PendingKind::Command);
        out.to_extension.push(ToExtension::Cdp {
            request_id,
            tab_id,
            session_id: inside.then(|| session.to_owned()),
            method,
            params,
        });
        Ok(None)
    }

    fn ask(&mut self, tunnel: u32, request: Request, kind: PendingKind) -> u32 {
        self.asked = self.asked.wrapping_add(1);
        let pending = Pending {
            tunnel,
            id: request.id,
            session: request.session,
            kind,
        };
        self.pending.insert(self.asked, pending);
        self.asked
    }

    /// The extension answered a request.
    fn done(
        &mut self,
        request: u32,
        made: Option<u32>,
        error: Option<String>,
        out: &mut Deliveries,
    ) {
        let Some(asked) = self.pending.remove(&request) else {
            return;
        };
        let answer = match (error, asked.kind) {
            (Some(error), _) => Err(Refusal(error)),
            (None, PendingKind::Open) => match made {
                Some(id) => {
                    // The tab must be known before its opener gets the reply.
                    if !self.tabs.contains_key(&id) {
                        let (url, title) = ("about:blank".to_owned(), String::new());
                        let tab = TabInfo {
                            id,
                            url,
                            title,
                            ..TabInfo::default()
                        };
                        self.show(tab, out);
                    }
                    Ok(json!({"targetId": id.to_string()}))
                }
                None => Err(Refusal("The extension opened no tab.".to_owned())),
            },
            (None, PendingKind::Attach { tab }) => self.hold(asked.tunnel, tab, request, out),
            (None, PendingKind::Close) => Ok(json!({"success": true})),
            (None, PendingKind::Focus | PendingKind::Command) => Ok(json!({})),
        };
        self.answer(
            asked.tunnel,
            asked.id,
            asked.session.as_deref(),
            answer,
            out,
        );
    }

    /// Attaches a tab to a connection.
    fn hold(
        &mut self,
        tunnel: u32,
        tab: u32,
        request: u32,
        out: &mut Deliveries,
    ) -> Result<Value, Refusal> {
        let session = format!("tab-{tab}-{request}");
        let holder = self.open.get_mut(&tunnel);
        let (Some(info), Some(holder)) = (self.tabs.get(&tab).cloned(), holder) else {
            // The extension attached it, but no connection needs it any more.
            if !self.is_held(tab) {
                out.to_extension.push(ToExtension::Detach { tab_id: tab });
            }
            return Err(Refusal("The tab is gone.".to_owned()));
        };
        holder.held.insert(tab, session.clone());
        let attached = json!({
            "sessionId": session, "targetInfo": self.target_info(&info), "waitingForDebugger": false
        });
        self.tell(tunnel, None, "Target.attachedToTarget", &attached, out);
        Ok(json!({"sessionId": session}))
    }

    /// A tab was opened or changed.
    fn show(&mut self, tab: TabInfo, out: &mut Deliveries) {
        if tab.private && !self.private {
            return;
        }
        let known = self.tabs.insert(tab.id, tab.clone());
        let method = match known {
            None if self.tabs.len() > MOST_TABS => {
                self.tabs.remove(&tab.id);
                return;
            }
            None => "Target.targetCreated",
            Some(known) if known == tab => return,
            Some(_) => "Target.targetInfoChanged",
        };
        let info = json!({"targetInfo": self.target_info(&tab)});
        self.tell_all(method, &info, out);
    }

    /// Detaches a tab from a connection. The extension detaches too if no other connection uses the tab.
    fn detach(&mut self, number: u32, session: &str, out: &mut Deliveries) {
        let Some(tunnel) = self.open.get_mut(&number) else {
            return;
        };
        let Some((tab_id, false)) = tunnel.place(session) else {
            return;
        };
        tunnel.held.remove(&tab_id);
        tunnel.inside.retain(|_, place| *place != tab_id);
        let detached = json!({"sessionId": session, "targetId": tab_id.to_string()});
        self.tell(number, None, "Target.detachedFromTarget", &detached, out);
        if !self.is_held(tab_id) {
            out.to_extension.push(ToExtension::Detach { tab_id });
        }
    }

    /// A tab was closed: forgets it and everything attached to it.
    fn forget(&mut self, tab: u32, out: &mut Deliveries) {
        if self.tabs.remove(&tab).is_none() {
            return;
        }
        self.release(tab, out);
        let gone = json!({"targetId": tab.to_string()});
        self.tell_all("Target.targetDestroyed", &gone, out);
    }

    /// Ends everything that is attached to a tab.
    fn release(&mut self, tab: u32, out: &mut Deliveries) {
        for number in self.numbers() {
            let Some(tunnel) = self.open.get_mut(&number) else {
                continue;
            };
            tunnel.inside.retain(|_, place| *place != tab);
            if let Some(session) = tunnel.held.remove(&tab) {
                let detached = json!({"sessionId": session, "targetId": tab.to_string()});
                self.tell(number, None, "Target.detachedFromTarget", &detached, out);
            }
        }
    }

    /// Passes an event of a tab to the connections that are attached to it.
    fn event(
        &mut self,
        tab: u32,
        inside: Option<&str>,
        method: &str,
        params: &Value,
        out: &mut Deliveries,
    ) {
        for number in self.numbers() {
            let Some(tunnel) = self.open.get_mut(&number) else {
                continue;
            };
            let Some(session) = tunnel.held.get(&tab).cloned() else {
                continue;
            };
            let child = params["sessionId"].as_str();
            match (method, child) {
                ("Target.attachedToTarget", Some(child)) if tunnel.inside.len() < MOST_INSIDE => {
                    tunnel.inside.insert(child.to_owned(), tab);
                }
                ("Target.detachedFromTarget", Some(child)) => drop(tunnel.inside.remove(child)),
                _ => {}
            }
            let session = inside.unwrap_or(&session);
            self.tell(number, Some(session), method, params, out);
        }
        // Events that Chrome also sends to connections to the whole browser.
        match method {
            "Inspector.targetCrashed" if inside.is_none() => {
                let crashed =
                    json!({"targetId": tab.to_string(), "status": "crashed", "errorCode": 0});
                self.tell_all("Target.targetCrashed", &crashed, out);
            }
            "Page.downloadWillBegin" => self.tell_all("Browser.downloadWillBegin", params, out),
            "Page.downloadProgress" => self.tell_all("Browser.downloadProgress", params, out),
            _ => {}
        }
    }

    /// Passes the rest of an oversized event to the connections that are attached to its tab.
    fn cut_event(
        &self,
        tab: u32,
        inside: Option<&str>,
        method: &str,
        params: &Value,
        length: u64,
        out: &mut Deliveries,
    ) {
        for (number, tunnel) in &self.open {
            if let Some(session) = tunnel.held.get(&tab) {
                let session = inside.unwrap_or(session);
                let frame = cdp_messages::cut_event(session, method, params, length);
                self.feed(*number, Frame::Oversize(frame), out);
            }
        }
    }

    fn is_held(&self, tab: u32) -> bool {
        self.open
            .values()
            .any(|tunnel| tunnel.held.contains_key(&tab))
    }

    fn numbers(&self) -> Vec<u32> {
        self.open.keys().copied().collect()
    }

    fn target_info(&self, tab: &TabInfo) -> Value {
        cdp_messages::target_info(tab, self.is_held(tab.id))
    }

    fn tell_all(&self, method: &str, params: &Value, out: &mut Deliveries) {
        for number in self.open.keys() {
            self.tell(*number, None, method, params, out);
        }
    }

    fn tell(
        &self,
        tunnel: u32,
        session: Option<&str>,
        method: &str,
        params: &Value,
        out: &mut Deliveries,
    ) {
        let frame = cdp_messages::event(session, method, params).to_string();
        self.feed(tunnel, Frame::Whole(frame.into()), out);
    }

    fn answer(
        &self,
        tunnel: u32,
        id: u64,
        session: Option<&str>,
        answer: Result<Value, Refusal>,
        out: &mut Deliveries,
    ) {
        let frame = cdp_messages::answer(id, session, answer).to_string();
        self.feed(tunnel, Frame::Whole(frame.into()), out);
    }

    fn feed(&self, tunnel: u32, frame: Frame, out: &mut Deliveries) {
        if let Some(tunnel) = self.open.get(&tunnel) {
            out.to_tunnels.push((tunnel.feed.clone(), frame));
        }
    }
}

impl Tunnel {
    /// The tab of a session, and whether the session belongs to a frame or worker inside it.
    fn place(&self, session: &str) -> Option<(u32, bool)> {
        let own = self.held.iter().find(|(_, name)| *name == session);
        own.map(|(tab, _)| (*tab, false))
            .or_else(|| Some((*self.inside.get(session)?, true)))
    }
}

const MOST_TABS: usize = 10_000;
const MOST_INSIDE: usize = 10_000;
