//! Opens and closes sessions, and says which tools they have.

use super::{MainLoop, StepTool, policy};
use crate::catalogue;
use crate::handle::Client;
use crate::options::SessionOptions;
use crate::record::Listed;
use crate::resources::Seen;
use serde_json::Value;
use tabmux_core::{
    CallKind, Input, Mode, SessionConfig, SessionId, TabLocation, TabRef, ToolKey, ToolName,
};
use tabmux_protocol::{BackendEvent, ToolInfo};
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
        self.browsers.queued.give_up_unwanted(&self.core);
        self.browsers.following.want(self.sessions.is_followed());
        self.calls.questions.forget(session);
        self.panel.labels.remove(session);
    }

    /// What these names mean to the session. Of pages' tools, those of this tab.
    pub(super) fn step_tools(
        &self,
        session: SessionId,
        names: &[String],
        tab: Option<&TabRef>,
    ) -> Vec<StepTool> {
        let Some(mode) = self.sessions.get(session).map(|it| it.options.mode) else {
            return vec![StepTool::Missing; names.len()];
        };
        let one = |name: &String| {
            let Some(parsed) = ToolName::parse(name) else {
                return StepTool::Missing;
            };
            if self.is_page_tool(session, mode, name) {
                let row = match tab.cloned() {
                    tab @ Some(_) => {
                        let kind = CallKind::PageTool { name: parsed, tab };
                        self.core.tool_of_call(session, &kind)
                    }
                    None => self.core.page_tool(session, parsed),
                };
                let record = row.and_then(|row| self.page_tools.record(&row.place, row.key));
                return record.cloned().map_or(StepTool::Missing, StepTool::Page);
            }
            match crate::convert::is_callable(name) && self.core.can_call(session, parsed) {
                true => StepTool::Ours,
                false => StepTool::Missing,
            }
        };
        names.iter().map(one).collect()
    }

    /// What a session's resources depend on. A session that was refused has none.
    pub(super) fn resources_of(&mut self, session: SessionId) -> Seen {
        let can_call = |tool: &&str| self.core.can_call(session, ToolName::new(tool));
        let tools = crate::resources::tools().filter(can_call).collect();
        let known = self.sessions.get(session);
        let output = known.map(|known| known.output.clone());
        Seen {
            mode: self.sessions.mode_of(session),
            has_several: self.core.has_several(session),
            tools,
            output: output.unwrap_or_else(|| self.sessions.output.session()),
            tabs: match self.sessions.why_refused(session) {
                None => self.core.shown_tabs(session),
                Some(_) => Vec::new(),
            },
        }
    }

    /// The tool list of a session.
    pub(super) fn tools_of(&self, session: SessionId) -> Vec<Listed> {
        let mode = self.sessions.mode_of(session);
        let several = self.core.has_several(session);
        let policy = self.origins_of(session);
        let known = self.sessions.get(session);
        let is_remote = known.is_some_and(|known| known.options.given.remote);
        let with_output = |info: ToolInfo| {
            let schema = catalogue::output_schema(&info.name).filter(|_| is_remote);
            match schema {
                Some(Value::Object(schema)) => ToolInfo {
                    output_schema: Some(schema.into()),
                    ..info
                },
                _ => info,
            }
        };
        let tools = self.tools_shown(session, mode).into_iter();
        let tools = tools.filter_map(|(name, place)| match place {
            None => catalogue::info(name, mode, several)
                .or_else(|| catalogue::slim_info(name, several))
                .map(|info| Listed::Own(with_output(info))),
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
