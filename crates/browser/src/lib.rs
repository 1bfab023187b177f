//! Chrome: find, launch and attach; one actor per tab; the tools and the JavaScript that runs in pages.
//!
//! # Layout
//! - `acquire`: the ways to get a browser, and who owns it; [`find`], [`profile`], [`proxy`], [`screen`] and
//!   [`endpoint`] are what they need.
//! - `devices`: devices that a tab can emulate.
//! - [`descriptors`]: the limit of open files, for us and for the processes we start.
//! - `browser`: one connected browser and its table of tabs.
//! - [`tab`]: one tab, its frames and its events.
//! - `world`, `script`: our JavaScript inside a page.
//! - [`run()`], [`tools`]: what agents do with a page.
//! - [`page_tools`]: the tools that pages offer; [`introspect`]: tools generated for pages that offer none.
//! - `address`, [`origins`], [`bounds`], [`files`]: what agents may open, which sites they may access, where they
//!   may write.
//!
//! This crate knows CDP. It does not know sessions, tab numbers or MCP.

mod acquire;
mod address;
pub mod bounds;
mod browser;
pub mod descriptors;
mod devices;
mod disallowed_frames;
pub mod endpoint;
mod error;
#[cfg(test)]
mod fake;
pub mod files;
pub mod find;
#[cfg(any(test, feature = "fuzzing"))]
#[doc(hidden)]
pub mod fuzzing;
mod init_scripts;
pub mod introspect;
mod navigate;
pub mod origins;
pub mod pace;
pub mod page_tools;
pub mod profile;
pub mod proxy;
mod run;
pub mod screen;
mod script;
mod source_map;
mod stream;
pub mod tab;
pub mod tools;
mod trace;
pub mod user;
mod world;

pub use acquire::{ConnectError, LaunchOptions, Running, Source};
pub use address::{AddressError, AddressPolicy};
pub use browser::{
    Browser, BrowserEvent, BrowserInfo, Connected, ContextId, Heartbeat, TabFacts, TabOpener,
};
pub use devices::Device;
pub use error::ToolError;
pub use files::{Files, OutputFolder, OutputRoot};
pub use origins::{OriginPattern, OriginPolicy, OriginRules, RuledBy};
pub use run::{CallContext, run};
pub use tab::{Gone, Tab, TabSettings, TargetId};
pub use tabmux_cdp::{ChannelTransport, Frame, Oversize};
