//! The overview for people.

use super::MainLoop;
use crate::options::BrowserPlan;
use tabmux_protocol::overview::{BrowserRow, Overview, SessionRow, TabRow};
use tabmux_protocol::wire::PROTOCOL;

impl MainLoop {
    pub(super) fn overview(&self) -> Overview {
        let sessions = self.sessions.iter().map(|(id, session)| SessionRow {
            id: session.client.session.clone(),
            client: session.client.name.clone(),
            tab: self.core.bound_tab(id).map(|tab| tab.0),
            calls: self.calls.of_session(id).len(),
            calls_made: session.calls_made,
            age_seconds: session.opened.elapsed().as_secs(),
        });
        let name = |id| {
            self.sessions
                .get(id)
                .map(|session| session.client.session.clone())
        };
        let tabs = self.core.tabs().map(|tab| TabRow {
            id: tab.id.0,
            url: tab.url.to_owned(),
            title: tab.title.to_owned(),
            browser: tab.browser.0,
            holder: tab.holder.and_then(name),
        });
        let browsers = self.core.browsers().map(|browser| BrowserRow {
            index: browser.id.0,
            name: browser
                .about
                .map(|about| about.name.to_string())
                .unwrap_or_default(),
            version: browser
                .about
                .map(|about| about.version.to_string())
                .unwrap_or_default(),
            state: browser.state.as_str().to_owned(),
            source: self
                .browsers
                .plans
                .get(browser.key)
                .map(BrowserPlan::source)
                .unwrap_or_default(),
            web_mcp: self
                .browsers
                .get(browser.id)
                .and_then(tabmux_browser::Browser::has_web_mcp),
            metrics: self.browsers.metrics.of(browser.id),
        });
        Overview {
            version: env!("CARGO_PKG_VERSION").to_owned(),
            protocol: PROTOCOL,
            pid: std::process::id(),
            uptime_seconds: self.core.uptime().as_secs(),
            port: None,
            paused: self.core.is_paused(),
            browsers: browsers.collect(),
            tabs: tabs.collect(),
            sessions: sessions.collect(),
            loop_costs: self.costs.rows(),
        }
    }
}
