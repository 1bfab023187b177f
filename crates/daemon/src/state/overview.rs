//! The overview of everything: what `tabmux status`, `tabs`, `sessions` and `browsers` print.

use super::State;
use std::collections::HashMap;
use tabmux_protocol::overview::{ExtensionRow, Overview, SessionRow, TabRow};
use tabmux_protocol::wire::PROTOCOL;
use tabmux_text::secrets::masked;

/// What is known outside of the main loop.
#[derive(Debug)]
pub(crate) struct ProcessFacts {
    /// The version with the commit.
    pub(crate) build: &'static str,
    /// The port at which pages reach the daemon.
    pub(crate) port: Option<u16>,
    /// The extensions that are connected.
    pub(crate) extensions: Vec<ExtensionRow>,
}

impl State {
    /// The overview, with what the main loop does not know.
    pub(crate) fn overview(&self, process: ProcessFacts) -> Overview {
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
            url: masked(&tab.url).into_owned(),
            title: masked(&tab.title).into_owned(),
            browser: tab.browser.0,
            holder: tab.holder.and_then(|id| Some((*names.get(&id)?).clone())),
        });
        Overview {
            version: env!("CARGO_PKG_VERSION").to_owned(),
            build: process.build.to_owned(),
            protocol: PROTOCOL,
            pid: std::process::id(),
            uptime_seconds: self.started.elapsed().as_secs(),
            port: process.port,
            paused: self.paused,
            browsers: self.browsers.iter().map(|it| it.row.clone()).collect(),
            tabs: tabs.collect(),
            sessions: sessions.collect(),
            libraries: self.libraries.clone(),
            extensions: process.extensions,
            loop_costs: self.loop_costs.clone(),
        }
    }
}
