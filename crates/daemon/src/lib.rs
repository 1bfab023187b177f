//! The main loop: one task owns the core, turns its outputs into work and results into inputs.
//!
//! # Layout
//! - [`options`]: what a session and the loop are told once.
//! - [`handle`]: how the rest of the process talks to the loop; the in-process [`Backend`].
//! - [`direct`]: a session in this process, opened when its client has said who it is.
//! - `main_loop`: the closed set of events, and the one task that handles them.
//! - `work`: what the core's outputs make browsers do.
//! - [`socket`]: the same over a unix socket, for clients in other processes.
//! - [`catalogue`]: every tool, as clients are told about it.
//! - `audit`: who did what where, and how it went.
//! - `contexts`: the parts of browsers that isolated sessions have for themselves.
//! - `lobby`: places for connections that have not shown who they are.
//! - `page_news`, `intake`: what workers of pages say, made ready and counted before the loop hears it.
//! - `memory`: what outlives a daemon.
//! - `metrics`, `loop_costs`: how each browser has served so far, and what events cost the loop.
//! - `agent_labels`: what people call agents.
//! - [`extension`]: extensions of people's own browsers, and the secret they share with us.
//! - [`policy`]: the person's own rules about origins.
//! - [`questions`]: what a person has to say before some tools run.
//! - `convert`: between the wire's types and the core's.
//! - `fuzzing`: what has to hold for any input, for `fuzz/` and tests.
//!
//! [`Backend`]: tabmux_protocol::Backend

pub mod catalogue;
pub mod direct;
pub mod extension;
pub mod handle;
pub mod options;
pub mod policy;
pub mod questions;
pub mod socket;

mod agent_labels;
mod argument_check;
mod attempt;
mod audit;
mod contexts;
mod convert;
mod found_tools;
#[cfg(any(test, feature = "fuzzing"))]
#[doc(hidden)]
pub mod fuzzing;
mod incoming;
mod intake;
mod joins;
mod leaving;
pub mod listener;
mod lobby;
mod loop_costs;
mod main_loop;
mod memory;
mod metrics;
mod page_news;
mod page_tools;
mod record;
mod remembered;
mod work;

pub use direct::DirectSession;
pub use handle::{Client, Handle, Hub, StateFiles};
pub use options::{BrowserPlan, SessionOptions};
