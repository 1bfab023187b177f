//! What a session is told once, when it opens.

use std::path::PathBuf;
use tabmux_browser::launch::LaunchOptions;
use tabmux_browser::{AddressPolicy, Source};

/// What a session wants.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SessionOptions {
    /// The browser it means.
    pub browser: BrowserPlan,
    /// Whether it is offered the generic page actions while a tab is focused.
    pub page_actions: bool,
    /// The folder its client works in; files stay there.
    pub folder: Option<PathBuf>,
}

/// Which browser `connect_browser` should take, in this order: the one that was named, one that
/// runs, one that we launch.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BrowserPlan {
    /// The one that the user named. If there is one, no other is taken.
    pub named: Option<Source>,
    /// Whether a running browser may be taken.
    pub running: bool,
    /// How to launch one, when the agent asks for it.
    pub launch: LaunchOptions,
    /// Which pages may be opened and read.
    pub policy: AddressPolicy,
}

impl BrowserPlan {
    /// Sessions with equal plans share one browser.
    pub(crate) fn key(&self) -> String {
        match &self.named {
            Some(Source::Url(url) | Source::WebSocket(url)) => url.clone(),
            _ => format!("{self:?}"),
        }
    }
}
