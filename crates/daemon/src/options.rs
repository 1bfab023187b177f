//! What a session is told once, when it opens.

use std::path::PathBuf;
use tabmux_browser::find::{Channel, Wanted};
use tabmux_browser::launch::LaunchOptions;
use tabmux_browser::profile::ProfileChoice;
use tabmux_browser::{AddressPolicy, Source};
use tabmux_core::{BrowserKey, Heritage, Mode, OnEnd, SessionConfig, TabPolicy};
use tabmux_protocol::session as wire;

/// What a session wants.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SessionOptions {
    /// The browser it means.
    pub browser: BrowserPlan,
    /// Whether it is offered the generic page actions while a tab is focused.
    pub page_actions: bool,
    /// The folder its client works in; files stay there.
    pub folder: Option<PathBuf>,
    /// Which tools are listed, and how they find their tab.
    pub mode: Mode,
    /// What becomes of the tabs it opened.
    pub on_end: OnEnd,
    /// Who may use the tabs it holds.
    pub tab_policy: TabPolicy,
    /// Whether it has cookies, storage and tabs of its own.
    pub isolated: bool,
    /// What it had before its daemon died.
    pub heritage: Heritage,
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

impl SessionOptions {
    /// What a client asked for, in our own terms. Fails, in words, on what makes no sense.
    pub fn from_wire(options: wire::SessionOptions) -> Result<Self, String> {
        Ok(Self {
            isolated: options.browser.isolated,
            heritage: Heritage::default(),
            browser: BrowserPlan::from_wire(options.browser)?,
            page_actions: options.page_actions,
            folder: options.folder,
            mode: match options.tools {
                wire::ToolMode::Progressive => Mode::Progressive,
                wire::ToolMode::Static => Mode::Static,
            },
            on_end: match options.on_session_end {
                wire::OnSessionEnd::Close => OnEnd::Close,
                wire::OnSessionEnd::Keep => OnEnd::Keep,
            },
            tab_policy: match options.tab_policy {
                wire::TabPolicy::Respect => TabPolicy::Respect,
                wire::TabPolicy::Exclusive => TabPolicy::Exclusive,
                wire::TabPolicy::Shared => TabPolicy::Shared,
            },
        })
    }
}

impl SessionOptions {
    /// The same for a session that is alone in its process: its browser is its own, so isolation is
    /// a profile of its own.
    #[must_use]
    pub fn alone(mut self) -> Self {
        if std::mem::take(&mut self.isolated) {
            self.browser.launch.profile = ProfileChoice::Temporary;
        }
        self
    }

    /// The same as the core takes it.
    pub(crate) fn config(&self) -> SessionConfig {
        SessionConfig {
            browser: BrowserKey(self.browser.key().into()),
            attached: self.browser.named.is_some(),
            mode: self.mode,
            page_actions: self.page_actions,
            // A context ends with its session, and with it all its tabs.
            on_end: match self.isolated {
                true => OnEnd::Close,
                false => self.on_end,
            },
            tab_policy: self.tab_policy,
            isolated: self.isolated,
            heritage: self.heritage.clone(),
        }
    }
}

impl BrowserPlan {
    fn from_wire(options: wire::BrowserOptions) -> Result<Self, String> {
        let named = match (options.url, options.web_socket) {
            (Some(_), Some(_)) => {
                return Err("Name a browser's URL or its websocket, not both".into());
            }
            (Some(url), None) => Some(Source::Url(url)),
            (None, Some(url)) => Some(Source::WebSocket(url)),
            (None, None) => None,
        };
        let channel = match options.channel.as_deref().map(Channel::parse) {
            Some(None) => return Err("The channel is stable, beta, dev or canary".into()),
            known => known.flatten(),
        };
        let profile = match options.user_data_dir {
            Some(dir) => ProfileChoice::At(dir),
            None => ProfileChoice::Ours,
        };
        Ok(Self {
            // Whoever says how to launch a browser does not mean one that runs already.
            running: named.is_none() && !options.launches,
            named,
            launch: LaunchOptions {
                wanted: Wanted {
                    executable: options.executable,
                    channel,
                },
                profile,
                headless: options.headless,
                viewport: options.viewport,
                proxy: options.proxy,
                accept_insecure_certs: options.accept_insecure_certs,
                extra_args: options.extra_args,
            },
            policy: AddressPolicy {
                allow_files: options.allow_file_urls,
            },
        })
    }

    /// Where the browser comes from, as people see it.
    pub(crate) fn source(&self) -> String {
        match &self.named {
            Some(Source::Url(url) | Source::WebSocket(url)) => url.clone(),
            _ if self.running => "running or launched".to_owned(),
            _ => "launched".to_owned(),
        }
    }

    /// Sessions with equal plans share one browser.
    pub(crate) fn key(&self) -> String {
        match &self.named {
            Some(Source::Url(url) | Source::WebSocket(url)) => url.clone(),
            _ => format!("{self:?}"),
        }
    }
}
