//! Opens and closes sessions.

use super::{MainLoop, policy};
use crate::catalogue;
use crate::handle::Client;
use crate::options::SessionOptions;
use crate::record::Listed;
use tabmux_core::{Input, Mode, SessionConfig, SessionId, TabLocation, ToolKey, ToolName};
use tabmux_protocol::BackendEvent;
use tokio::sync::mpsc;

impl MainLoop {
    pub(super) fn open(
        &mut self,
        session: SessionId,
        mut options: Box<SessionOptions>,
        client: Client,
        notify: mpsc::Sender<BackendEvent>,
    ) {
        self.notice_policy();
        let follows = self.memory.follows_of(&client.session);
        if let Some(follows) = follows {
            options.given.follow_user_focus = follows;
        }
        let mut config = SessionConfig {
            site_filter: policy::site_filter(options.origins.and(self.panel.rules.file.policy())),
            ..options.config()
        };
        for plan in &options.browsers {
            self.browsers.plans.add(session, plan.clone());
        }
        let number = self.memory.number_of(&client.session);
        self.memory.opened(&client);
        if client.screen.is_some() {
            self.browsers.screen.clone_from(&client.screen);
        }
        let labels = &mut self.panel.labels;
        labels.add(session, &client.name, &client.session, number);
        if let Some(label) = labels.of(session) {
            config.label = label.name().into();
        }
        self.sessions.add(session, options, client, notify, follows);
        self.browsers.following.want(self.sessions.is_followed());
        self.core.input(Input::SessionOpened { session, config });
        self.browsers.reach_again(&mut self.core);
    }

    pub(super) fn close(&mut self, session: SessionId) {
        self.core.input(Input::SessionClosed { session });
        if let Some(client) = self.sessions.remove(session) {
            self.memory.closed(&client);
        }
        self.browsers.session_closed(session, &self.core);
        self.browsers.following.want(self.sessions.is_followed());
        self.calls.questions.forget(session);
        self.panel.labels.remove(session);
    }

    /// The tool list of a session.
    pub(super) fn tools_of(&self, session: SessionId) -> Vec<Listed> {
        let mode = self.sessions.mode_of(session);
        let several = self.core.has_several(session);
        let policy = self.origins_of(session);
        let tools = self.tools_shown(session, mode).into_iter();
        let tools = tools.filter_map(|(name, place)| match place {
            None => catalogue::info(name, mode, several)
                .or_else(|| catalogue::slim_info(name, several))
                .map(Listed::Own),
            Some((place, key)) => self.page_tools.listed(name, &place, key, mode, &policy),
        });
        tools.collect()
    }

    /// The tools that a session sees. With an empty list, an agent that is refused would never call a tool and learn
    /// the reason.
    fn tools_shown(
        &self,
        session: SessionId,
        mode: Mode,
    ) -> Vec<(ToolName, Option<(TabLocation, ToolKey)>)> {
        let own = |tools: Vec<ToolName>| tools.into_iter().map(|name| (name, None)).collect();
        match (self.sessions.why_refused(session), mode) {
            (None, _) => self.core.tools_with_places(session),
            (Some(_), Mode::Progressive) => own(vec![ToolName::CONNECT_BROWSER]),
            (Some(_), Mode::Static) => own(catalogue::static_tools()),
        }
    }
}
