//! Chrome: find, launch and attach; one actor per tab; the tools and the JavaScript that runs in pages.
//!
//! # Layout
//! - [`find`], [`profile`], [`proxy`], [`launch`], [`discover`], [`endpoint`]: how a browser comes to be.
//! - `devices`: what a tab may pretend to be.
//! - [`descriptors`]: how many files we may open, and what we start.
//! - [`browser`]: one connected browser and its table of tabs.
//! - [`tab`]: one tab, its frames and what happens in it.
//! - [`world`], [`script`]: our JavaScript inside a page.
//! - [`mod@run`], [`tools`]: what agents do with a page.
//! - [`page_tools`]: what pages offer to agents; [`introspect`]: tools for pages that offer none.
//! - [`address`], [`origins`], [`bounds`], [`files`]: what they may open, which sites they may see, where they may write.
//!
//! This crate knows CDP and nothing of sessions, numbers or MCP.

pub mod address;
pub mod bounds;
pub mod browser;
pub mod descriptors;
mod devices;
pub mod discover;
pub mod endpoint;
pub mod error;
#[cfg(test)]
mod fake;
pub mod files;
pub mod find;
#[cfg(any(test, feature = "fuzzing"))]
#[doc(hidden)]
pub mod fuzzing;
mod init_scripts;
pub mod introspect;
pub mod launch;
pub mod navigate;
pub mod origins;
pub mod pace;
pub mod page_tools;
pub mod profile;
pub mod proxy;
pub mod run;
pub mod screen;
pub mod script;
mod source_map;
mod stream;
pub mod tab;
pub mod text;
pub mod tools;
mod trace;
mod unseen;
pub mod user;
pub mod world;

pub use address::{Address, AddressError, AddressPolicy};
pub use browser::{
    Browser, BrowserEvent, BrowserInfo, ConnectError, Connected, ContextId, Pulse, Source,
    TabFacts, TabOpener,
};
pub use devices::Device;
pub use error::ToolError;
pub use files::{Files, OutputFolder, OutputRoot};
pub use init_scripts::InitScripts;
pub use origins::{OriginPattern, OriginPolicy, OriginRules, RuledBy};
pub use run::{CallContext, Page, run};
pub use tab::{Gone, Tab, TabSettings, TargetId};
pub use tabmux_cdp::{ChannelTransport, Frame, Oversize};
