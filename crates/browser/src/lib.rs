//! Chrome: find, launch and attach; one actor per tab; the tools and the JavaScript that runs in pages.
//!
//! # Layout
//! - `acquire`: the ways to get a browser, and who owns it; [`find`], [`profile`], [`proxy`], [`screen`] and
//!   [`endpoint`] are what they need.
//! - `dial`: streams to browsers on other machines, with TLS and through proxies.
//! - `devices`: devices that a tab can emulate.
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
mod devices;
mod dial;
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
mod machine;
mod navigate;
pub mod origins;
pub mod pace;
pub mod page_tools;
mod permissions;
mod picture;
pub mod profile;
pub mod proxy;
mod run;
pub mod saved_state;
pub mod screen;
mod script;
pub mod secrets;
mod source_map;
mod stream;
pub mod tab;
pub mod tools;
mod trace;
mod world;

pub use acquire::{ConnectError, Grid, GridPlace, LaunchOptions, Running, Source, release_orphans};
pub use address::{AddressError, AddressPolicy};
pub use browser::states::StorageSource;
pub use browser::{
    Browser, BrowserEvent, BrowserInfo, Connected, ContextId, Heartbeat, TabFacts, TabOpener,
};
pub use devices::Device;
pub use dial::{RemoteAddress, TlsOptions};
pub use error::ToolError;
pub use files::{Files, OutputFolder, OutputRoot, SavedFile, SavedPart};
pub use machine::Machine;
pub use origins::{OriginPattern, OriginPolicy, OriginRules, RuledBy};
pub use run::{CallContext, run};
pub use tab::{Gone, Tab, TabSettings, TargetId};
pub use tabmux_cdp::{ChannelTransport, Frame, Oversize};
