//! The overview of everything: what `tabmux status`, `tabs`, `sessions` and `browsers` print.

use super::State;
use std::collections::HashMap;
use tabmux_protocol::overview::{Overview, SessionRow, TabRow};
use tabmux_protocol::wire::PROTOCOL;

impl State {
    /// The overview, with the port at which pages reach the daemon.
    pub(crate) fn overview(&self, port: Option<u16>) -> Overview {
        let sessions = self.sessions.iter();
        let names: HashMap<_, _> = sessions.clone().map(|it| (it.id, &it.name)).collect();
        let sessions = sessions.map(|session| SessionRow {
            id: session.name.clone(),
            client: session.client.clone(),
            tab: session.tab.map(|tab| tab.0),
            calls: session.calls,
            calls_made: session.calls_made,
            age_seconds: session.opened.elapsed().as_secs(),
        });
        let tabs = self.tabs.iter().map(|tab| TabRow {
            id: tab.id.0,
            url: tab.url.clone(),
            title: tab.title.clone(),
            browser: tab.browser.0,
            holder: tab.holder.and_then(|id| Some((*names.get(&id)?).clone())),
        });
        Overview {
            version: env!("CARGO_PKG_VERSION").to_owned(),
            protocol: PROTOCOL,
            pid: std::process::id(),
            uptime_seconds: self.started.elapsed().as_secs(),
            port,
            paused: self.paused,
            browsers: self.browsers.iter().map(|it| it.row.clone()).collect(),
            tabs: tabs.collect(),
            sessions: sessions.collect(),
            loop_costs: self.loop_costs.clone(),
        }
    }
}
