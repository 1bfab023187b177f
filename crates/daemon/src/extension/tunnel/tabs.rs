//! The tabs of the extension's browser: which connections are attached to them, and what these are told about them.

use super::super::cdp_messages::{self, Refusal};
use super::{Deliveries, Tunnel, Tunnels};
use serde_json::{Value, json};
use tabmux_browser::Frame;
use tabmux_protocol::extension::{CdpEvent, TabInfo, ToExtension};

impl Tunnels {
    /// Attaches a tab to a connection.
    pub(super) fn hold(
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
    pub(super) fn show(&mut self, tab: TabInfo, out: &mut Deliveries) {
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
    pub(super) fn detach(&mut self, number: u32, session: &str, out: &mut Deliveries) {
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
    pub(super) fn forget(&mut self, tab: u32, out: &mut Deliveries) {
        if self.tabs.remove(&tab).is_none() {
            return;
        }
        self.release(tab, out);
        let gone = json!({"targetId": tab.to_string()});
        self.tell_all("Target.targetDestroyed", &gone, out);
    }

    /// Ends everything that is attached to a tab.
    pub(super) fn release(&mut self, tab: u32, out: &mut Deliveries) {
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
    pub(super) fn event(&mut self, event: &CdpEvent, out: &mut Deliveries) {
        for number in self.numbers() {
            let Some(tunnel) = self.open.get_mut(&number) else {
                continue;
            };
            let Some(own) = tunnel.held.get(&event.tab_id).cloned() else {
                continue;
            };
            tunnel.note(event);
            let session = event.session_id.as_ref().unwrap_or(&own);
            self.tell(number, Some(session), &event.method, &event.params, out);
        }
        self.tell_of_browser(event, out);
    }

    /// Reports the events that Chrome also sends to connections to the whole browser.
    fn tell_of_browser(&self, event: &CdpEvent, out: &mut Deliveries) {
        let (tab, params) = (event.tab_id, &event.params);
        match event.method.as_str() {
            "Inspector.targetCrashed" if event.session_id.is_none() => {
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
    pub(super) fn cut_event(&self, event: &CdpEvent, length: u64, out: &mut Deliveries) {
        for (number, tunnel) in &self.open {
            if let Some(own) = tunnel.held.get(&event.tab_id) {
                let session = event.session_id.as_ref().unwrap_or(own);
                let frame = cdp_messages::cut_event(session, &event.method, &event.params, length);
                self.feed(*number, Frame::Oversize(frame), out);
            }
        }
    }
}

impl Tunnel {
    /// Notes the session that an event announces or ends. No other event is parsed.
    fn note(&mut self, event: &CdpEvent) {
        let child = || cdp_messages::session_in(&event.params);
        match event.method.as_str() {
            "Target.attachedToTarget" if self.inside.len() < MOST_INSIDE => {
                self.inside
                    .extend(child().map(|child| (child, event.tab_id)));
            }
            "Target.detachedFromTarget" => {
                child().and_then(|child| self.inside.remove(&child));
            }
            _ => {}
        }
    }
}

const MOST_TABS: usize = 10_000;
const MOST_INSIDE: usize = 10_000;
