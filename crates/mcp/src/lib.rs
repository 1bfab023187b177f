//! The Model Context Protocol: the only crate that uses rmcp.
//!
//! Each client has one [`serve()`] and one [`Backend`](tabmux_protocol::Backend). What the crate adds to
//! rmcp, because an agent depends on it:
//! - malformed input is answered where JSON-RPC requires it, and never ends the server;
//! - calls reach the backend in the order in which they came in;
//! - events that the backend sends before it answers a call are written before that answer;
//! - when the client disconnects, calls are cancelled and `serve` returns at once.
//!
//! # Layout, in the order in which a message passes through
//! - `stdio`: the transport over a pair of streams, for one client.
//! - `http`: streamable HTTP, for many clients. Nothing below knows which transport it has.
//! - `connection`: one client; starts the handler and the notifier that a transport runs.
//! - `intake`: keeps the order of a client's requests.
//! - `handler`: messages to backend calls and back.
//! - `resources`: the same for requests about resources.
//! - `asking`: questions to the user of the client.
//! - `roots`: the folders that the client works in.
//! - `notifier`: passes events of the backend on to the client.
//! - `subscribers`: which events the client wants.
//! - `relisting`: whether a client fetches its list again after a change.

mod asking;
mod connection;
mod convert;
mod ending;
#[cfg(any(test, feature = "fuzzing"))]
#[doc(hidden)]
pub mod fuzzing;
mod handler;
pub mod http;
mod intake;
mod notifier;
mod progress;
mod relisting;
mod resources;
mod roots;
mod stdio;
mod subscribers;
mod undeclared;

pub use ending::ServeError;
pub use stdio::{serve, serve_stdio};
