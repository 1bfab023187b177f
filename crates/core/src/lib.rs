//! The pure state machine: sessions, browsers, tabs, tools, calls and routing, with no IO and no clock.
//!
//! Every event is an [`Input`], every action that the driver must take is an [`Output`], and [`Core`]
//! turns the one into the other. It is fully deterministic: the same inputs at the same [`Time`]s give
//! the same outputs. It never panics on bad data: an invalid input yields an output, or nothing.
//!
//! ```
//! use std::time::Duration;
//! use tabmux_core::*;
//!
//! let mut core = Core::new(Config::default());
//! let (now, session) = (Time::default(), SessionId(1));
//!
//! core.handle(now, Input::SessionOpened {
//!     session,
//!     config: SessionConfig::new(BrowserKey("default".into())),
//! });
//! assert_eq!(core.tools(session), [ToolName::CONNECT_BROWSER]);
//!
//! core.handle(now, Input::Call {
//!     call: CallId(1),
//!     session,
//!     request: RequestId("1".into()),
//!     kind: CallKind::ConnectBrowser { launch: true },
//!     browser: None,
//!     timeout: None,
//! });
//! assert!(matches!(core.poll_output(), Some(Output::Connect { launch: true, .. })));
//! assert_eq!(core.poll_timeout(), Some(now + Duration::from_secs(30)));
//! ```
//!
//! # Layout
//! - `ids`, `time`, `config`: basic types that all other modules use.
//! - `input`, `output`: the events and the actions.
//! - `refusal`, `lost_browser`, `person_refusal`, `page_refusal`, `connect_failure`: why something failed,
//!   as a sentence for an agent or for a page's developer.
//! - `core`: the state machine; start reading here.
//! - `session`, `page_numbers`, `browser`, `tab`, `call`: its state.
//! - `site_filter`: which pages a session may not see.
//! - `offer`, `registry`: the tools of pages, by tab and by name; `settled`: those that a session lists.
//! - `session_tools`: the tools that are not page actions, and the mode that has each.
//! - `list`, `route`, `lane`, `timers`: the rules: which tools are listed, to which tab a call goes, which
//!   call may run now, what happens when.

mod core;

mod connect_failure;
mod input;
mod lost_browser;
mod output;
mod page_refusal;
mod person_refusal;
mod refusal;
mod renumber;

mod config;
mod ids;
mod name;
mod time;

mod browser;
mod call;
mod page_numbers;
mod session;
mod session_tools;
mod site_filter;
mod tab;

mod lane;
mod list;
mod offer;
mod registry;
mod route;
mod settled;
mod timers;
mod unchecked;

#[cfg(test)]
mod tests;

pub use browser::BrowserState;
pub use config::{
    BrowserRef, Config, Loss, Mode, Numbering, OnEnd, RememberedTab, RestoredTabs, SessionConfig,
    TabPolicy,
};
pub use connect_failure::ConnectFailure;
pub use core::{BrowserView, Core, ShownTab, TabView};
pub use ids::{
    BrowserId, BrowserKey, CallId, ConnectionId, DocumentId, PageId, RequestId, SchemaId,
    SessionId, TabId, TabLocation, TabName, TabRef, TargetId, ToolKey,
};
pub use input::{
    Access, BrowserFacts, CallKind, Finish, Input, PageFacts, TabFacts, TabOpener, ToolFacts,
};
pub use lost_browser::LostBrowser;
pub use name::ToolName;
pub use offer::Source;
pub use output::{BrowserRow, Output, PageRow, Renewal, Renewed, Reply, TabRow, ToolRow};
pub use page_numbers::PageNumbers;
pub use page_refusal::PageRefusal;
pub use person_refusal::PersonRefusal;
pub use refusal::{Fate, LostTab, Refusal, RequestedTab, Stuck};
pub use route::{Reason, Routing};
pub use site_filter::{Hidden, SiteFilter};
pub use time::Time;
