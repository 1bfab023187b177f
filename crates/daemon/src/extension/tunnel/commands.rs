//! Commands of the connections: those for the whole browser are answered here, those for a tab go to the extension.

use super::super::cdp_messages::{self, Refusal, Request};
use super::{Deliveries, PendingKind, Tunnels};
use serde_json::{Value, json};
use tabmux_protocol::extension::{CdpCommand, ToExtension};

impl Tunnels {
    /// Handles a command for the whole browser. Returns the reply if it is known at once.
    pub(super) fn browser_command(
        &mut self,
        tunnel: u32,
        request: Request,
        out: &mut Deliveries,
    ) -> Result<Option<Value>, Refusal> {
        let params = request.params();
        let tab = cdp_messages::tab_of(&params).and_then(|tab| self.tabs.get(&tab));
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
            "Target.createTarget" if params.get("browserContextId").is_none() => {
                let url = params["url"].as_str().unwrap_or("about:blank").to_owned();
                let focus = params["background"] == false;
                let request_id = self.ask(tunnel, &request, PendingKind::Open);
                out.to_extension.push(ToExtension::OpenTab {
                    request_id,
                    url,
                    focus,
                });
                Ok(None)
            }
            "Target.closeTarget" => {
                let tab_id = named()?.id;
                let request_id = self.ask(tunnel, &request, PendingKind::Close);
                out.to_extension
                    .push(ToExtension::CloseTab { request_id, tab_id });
                Ok(None)
            }
            "Target.activateTarget" => {
                let tab_id = named()?.id;
                let request_id = self.ask(tunnel, &request, PendingKind::Focus);
                out.to_extension
                    .push(ToExtension::FocusTab { request_id, tab_id });
                Ok(None)
            }
            "Target.attachToTarget" => {
                let tab_id = named()?.id;
                let is_held = self.is_held(tab_id);
                let request_id = self.ask(tunnel, &request, PendingKind::Attach { tab: tab_id });
                match is_held {
                    true => self.done(request_id, None, None, out),
                    false => out
                        .to_extension
                        .push(ToExtension::Attach { request_id, tab_id }),
                }
                Ok(None)
            }
            "Target.detachFromTarget" => {
                let session = params["sessionId"].as_str().unwrap_or_default();
                self.detach(tunnel, session, out);
                Ok(Some(json!({})))
            }
            method => Err(cdp_messages::refusal(method)),
        }
    }

    /// Handles a command for a tab, or for a frame inside it.
    pub(super) fn tab_command(
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
        let request_id = self.ask(tunnel, &request, PendingKind::Command);
        out.to_extension.push(ToExtension::Cdp(CdpCommand {
            request_id,
            tab_id,
            session_id: inside.then(|| session.to_owned()),
            method: request.method,
            params: request.params,
        }));
        Ok(None)
    }
}
