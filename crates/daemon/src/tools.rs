//! The session tools, which manage browsers, tabs and pages: one table, one file per tool.
//! The tools that work in a page, the page actions, are in [`tabmux_browser::tools`].
//!
//! A tool is its argument struct: [`SessionTool`] says how it is published, what a call of it asks of the core, and
//! how the core's reply is shown.

mod add_browser;
pub(crate) mod browser_get_connection_status;
mod call_page_tool;
mod close_page;
mod close_tab;
mod connect_browser;
mod disconnect_browser;
mod focus_tab;
mod format;
pub(crate) mod list_browser_tabs;
mod list_browsers;
pub(crate) mod list_page_tools;
mod list_pages;
mod list_tabs;
pub(crate) mod more_tools;
mod new_page;
mod open_tab;
mod parts;
mod reconnect_browser;
mod select_default_browser;
mod select_page;
mod tab_argument;

#[cfg(test)]
mod list_tests;
#[cfg(test)]
mod tests;

pub(crate) use format::also_held;
pub(crate) use parts::Part;
pub(crate) use tab_argument::TabArgument;

use crate::convert::{Parsed, Rejected};
use crate::options::SessionOptions;
use serde::de::DeserializeOwned;
use serde_json::Value;
use serde_json::value::RawValue;
use std::borrow::Cow;
use std::sync::Arc;
use tabmux_browser::tools::{self as page_actions, Category};
use tabmux_core::{Refusal, Reply, ToolName};
use tabmux_protocol::{CallReply, ToolHints, ToolInfo};

/// All session tools, in the order in which they are published.
pub(crate) fn all() -> &'static [SessionToolSpec] {
    static ALL: [SessionToolSpec; 19] = [
        SessionToolSpec::of::<connect_browser::ConnectBrowser>(),
        SessionToolSpec::of::<list_tabs::ListTabs>(),
        SessionToolSpec::of::<open_tab::OpenTab>(),
        SessionToolSpec::of::<focus_tab::FocusTab>(),
        SessionToolSpec::of::<close_tab::CloseTab>(),
        SessionToolSpec::of::<more_tools::MoreTools>(),
        SessionToolSpec::of::<list_pages::ListPages>(),
        SessionToolSpec::of::<new_page::NewPage>(),
        SessionToolSpec::of::<select_page::SelectPage>(),
        SessionToolSpec::of::<close_page::ClosePage>(),
        SessionToolSpec::of::<list_browsers::ListBrowsers>(),
        SessionToolSpec::of::<reconnect_browser::ReconnectBrowser>(),
        SessionToolSpec::of::<add_browser::AddBrowser>(),
        SessionToolSpec::of::<disconnect_browser::DisconnectBrowser>(),
        SessionToolSpec::of::<select_default_browser::SelectDefaultBrowser>(),
        SessionToolSpec::of::<list_browser_tabs::ListBrowserTabs>(),
        SessionToolSpec::of::<list_page_tools::ListPageTools>(),
        SessionToolSpec::of::<call_page_tool::CallPageTool>(),
        SessionToolSpec::of::<browser_get_connection_status::BrowserGetConnectionStatus>(),
    ];
    &ALL
}

/// The session tool with this name.
pub(crate) fn find(name: &str) -> Option<&'static SessionToolSpec> {
    all().iter().find(|spec| spec.name == name)
}

/// One session tool: a struct of its arguments.
pub(crate) trait SessionTool: DeserializeOwned {
    /// The name that clients call.
    const NAME: &'static str;
    /// The list in which it is published.
    const LISTED_IN: ListedIn;
    /// Whether it changes nothing.
    const READS: bool = false;
    /// Whether it works in a browser, so that it needs `browserIndex` if there are several.
    const TAKES_INDEX: bool = true;
    /// What it is for; users switch tools on and off by category. Tools that every agent needs have none.
    const CATEGORY: Option<Category> = None;

    /// When to use it.
    fn description() -> Cow<'static, str>;

    /// The published schema of its arguments, an object. `browserIndex` is added where it is needed.
    fn schema() -> Value;

    /// The schema of its structured answers, if clients of their own machine get the same as text only.
    fn output_schema() -> Option<Value> {
        None
    }

    /// Checks what must hold before the arguments are parsed. The core refuses tools that a session does not have;
    /// this is for those whose arguments make no sense there.
    fn check_session(_: &SessionOptions) -> Result<(), Rejected> {
        Ok(())
    }

    /// What the call asks of the core, and the options that the core does not need.
    fn parse(self, session: &SessionOptions) -> Result<Parsed, Rejected>;

    /// Shows the core's reply; `None` if the tool has no such reply. Replies that need more than the core knows have
    /// a function in the tool's file, which the main loop calls.
    fn reply(_: Reply, _: Part) -> Option<CallReply> {
        None
    }
}

/// The list in which a session tool is published. A session can call some tools that it does not list: see
/// [`ToolName::exists_in`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum ListedIn {
    /// The list of progressive sessions, before the page actions.
    Progressive,
    /// The list of progressive sessions while a tab is focused, among the page actions.
    ProgressiveFocused,
    /// The fixed list.
    Fixed,
    /// The fixed list, and that of progressive sessions together with tools of the page library.
    FixedAndLibrary,
}

/// A row of the table.
pub(crate) struct SessionToolSpec {
    pub(crate) name: &'static str,
    pub(crate) listed_in: ListedIn,
    pub(crate) category: Option<Category>,
    pub(crate) takes_index: bool,
    pub(crate) output_schema: fn() -> Option<Value>,
    info: fn() -> ToolInfo,
    parse: fn(&RawValue, &SessionOptions) -> Result<Parsed, Rejected>,
    reply: fn(Reply, Part) -> Option<CallReply>,
}

impl SessionToolSpec {
    const fn of<T: SessionTool>() -> Self {
        Self {
            name: T::NAME,
            listed_in: T::LISTED_IN,
            category: T::CATEGORY,
            takes_index: T::TAKES_INDEX,
            output_schema: T::output_schema,
            info: info::<T>,
            parse: parse::<T>,
            reply: T::reply,
        }
    }

    /// The tool as it is published to clients.
    pub(crate) fn info(&self) -> ToolInfo {
        (self.info)()
    }

    /// Parses a call of it.
    pub(crate) fn parse(
        &self,
        arguments: &RawValue,
        session: &SessionOptions,
    ) -> Result<Parsed, Rejected> {
        (self.parse)(arguments, session)
    }

    /// Shows the core's reply to a call of it.
    pub(crate) fn reply(&self, reply: Reply, part: Part) -> Option<CallReply> {
        (self.reply)(reply, part)
    }
}

impl ListedIn {
    /// Whether it is the fixed list.
    pub(crate) const fn is_fixed(self) -> bool {
        matches!(self, Self::Fixed | Self::FixedAndLibrary)
    }
}

fn info<T: SessionTool>() -> ToolInfo {
    let Value::Object(schema) = T::schema() else {
        unreachable!("the schemas of session tools are objects")
    };
    ToolInfo {
        name: T::NAME.to_owned(),
        description: T::description().into_owned(),
        input_schema: Arc::new(schema),
        output_schema: None,
        hints: T::READS.then_some(ToolHints::READS),
    }
}

fn parse<T: SessionTool>(
    arguments: &RawValue,
    session: &SessionOptions,
) -> Result<Parsed, Rejected> {
    T::check_session(session)?;
    let tool: T = page_actions::parse(T::NAME, arguments)?;
    tool.parse(session)
}

/// Refuses a tool of the other mode.
fn check_mode(tool: &str, session: &SessionOptions) -> Result<(), Rejected> {
    let tool = ToolName::new(tool);
    match tool.exists_in(session.mode) {
        true => Ok(()),
        false => Err(Rejected::Arguments(Refusal::OtherList { tool }.to_string())),
    }
}
