//! The daemon. Its main loop is one task that owns the core: it turns the core's outputs into work, and results into
//! inputs.
//!
//! # Layout
//! - [`options`]: the options of a session, fixed when it opens.
//! - [`handle`]: how the rest of the process talks to the main loop; the in-process [`Backend`].
//! - `direct`: a session in this process, opened when its client has identified itself.
//! - `main_loop`: the closed set of events, and the one task that handles them. It owns the core (`timed_core`) and
//!   the open sessions; the rest of its state has four owners:
//!   - `browsers`: connections, plans, contexts, counters.
//!   - `page_tools`: the tools of pages, by the place of their tab, and the workers of the page library.
//!   - `calls`: calls without a reply, their questions and waits, the audit log.
//!   - `panel`: people's side panels, pauses and rules, and the labels of agents.
//! - `work`: the tasks that carry out the core's outputs in browsers.
//! - `sessions`, `idle`: opens, resumes, names and counts the sessions of any transport, and notices when nothing
//!   uses the daemon.
//! - [`socket`]: sessions over a unix socket, for clients in other processes.
//! - `tools`: the session tools, one file each.
//! - `resources`: what sessions read by its address: their tabs and files.
//! - [`catalogue`]: every tool, as it is published to clients.
//! - `audit`: the audit log: which session called which tool on which origin, and the outcome.
//! - `pending_slots`: a limited number of slots for connections that have not identified themselves yet.
//! - `page_updates`, `page_quotas`: parse and limit the messages of page workers before they reach the main loop.
//! - [`state`]: what people may see at one moment, which the main loop publishes, and the views of it.
//! - `memory`: the state that survives the daemon, in a file.
//! - `loop_costs`: the processor time of each kind of event.
//! - [`extension`]: the extensions of people's own browsers, and the pairing secret.
//! - [`policy`]: the person's rules about origins.
//! - [`questions`]: confirmations that a person gives before some tools run.
//! - `convert`: conversion between wire types and core types.
//! - `fuzzing`: properties that hold for any input, checked by `fuzz/` and by tests.
//!
//! [`Backend`]: tabmux_protocol::Backend

pub mod catalogue;
mod direct;
pub mod extension;
pub mod handle;
pub mod options;
pub mod policy;
pub mod questions;
pub mod socket;
pub mod state;

mod answer_cleanup;
mod argument_check;
mod audit;
mod browsers;
mod calls;
mod convert;
#[cfg(any(test, feature = "fuzzing"))]
#[doc(hidden)]
pub mod fuzzing;
mod idle;
mod incoming;
pub mod listener;
mod loop_costs;
mod main_loop;
mod memory;
mod page_quotas;
mod page_tools;
mod page_updates;
mod panel;
mod pending_slots;
mod record;
mod resources;
mod sessions;
mod steps;
mod timed_core;
mod tools;
mod weak_map;
mod work;

pub use direct::DirectSession;
pub use handle::{Client, Handle, Hub, StateFiles};
pub use options::{BrowserPlan, SessionOptions};
pub use pending_slots::{PendingSlot, PendingSlots};
