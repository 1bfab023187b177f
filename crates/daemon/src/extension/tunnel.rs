//! Chrome's DevTools Protocol through the extension. Chrome offers extensions CDP for single tabs only, so commands
//! for the whole browser are answered here, from the extension's list of tabs.

mod closing;
mod commands;
mod private;
mod tabs;
#[cfg(test)]
mod tests;

use super::cdp_messages::{self, Refusal, Request};
use serde::Serialize;
use serde_json::{Value, json};
use std::collections::{BTreeMap, HashMap};
use tabmux_browser::Frame;
use tabmux_protocol::extension::{BrowserInfo, CdpAnswer, FromExtension, TabInfo, ToExtension};
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
            FromExtension::Cdp(answer) => self.answered(answer, out),
            FromExtension::CdpEvent(event) => match event.too_large {
                Some(length) => self.cut_event(&event, length, out),
                None => self.event(&event, out),
            },
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

    /// Chrome answered a command.
    fn answered(&mut self, answer: CdpAnswer, out: &mut Deliveries) {
        let Some(asked) = self.pending.remove(&answer.request_id) else {
            return;
        };
        if let Some(length) = answer.too_large {
            let frame = cdp_messages::cut_answer(asked.id, length);
            return self.feed(asked.tunnel, Frame::Oversize(frame), out);
        }
        let answer = match answer.error {
            Some(error) => Err(Refusal(error)),
            None => Ok(answer.result.unwrap_or_else(cdp_messages::nothing)),
        };
        let session = asked.session.as_deref();
        self.answer(asked.tunnel, asked.id, session, answer, out);
    }

    fn ask(&mut self, tunnel: u32, request: &Request, kind: PendingKind) -> u32 {
        self.asked = self.asked.wrapping_add(1);
        let pending = Pending {
            tunnel,
            id: request.id,
            session: request.session.clone(),
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

    fn tell_all(&self, method: &str, params: &impl Serialize, out: &mut Deliveries) {
        for number in self.open.keys() {
            self.tell(*number, None, method, params, out);
        }
    }

    fn tell(
        &self,
        tunnel: u32,
        session: Option<&str>,
        method: &str,
        params: &impl Serialize,
        out: &mut Deliveries,
    ) {
        let frame = cdp_messages::event(session, method, params);
        self.feed(tunnel, frame, out);
    }

    fn answer(
        &self,
        tunnel: u32,
        id: u64,
        session: Option<&str>,
        answer: Result<impl Serialize, Refusal>,
        out: &mut Deliveries,
    ) {
        let frame = cdp_messages::answer(id, session, answer);
        self.feed(tunnel, frame, out);
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
