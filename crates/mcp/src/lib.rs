//! The Model Context Protocol face: the only crate that names rmcp.
//!
//! One client, one [`serve()`], one [`Backend`](tabmux_protocol::Backend). What the crate adds to
//! rmcp, because an agent depends on it:
//! - whatever garbage comes in, the server answers where JSON-RPC says so and lives on;
//! - calls reach the backend in the order in which they came in;
//! - what the backend tells before it answers a call is written before that answer;
//! - when the client goes away, calls are cancelled and `serve` returns at once.
//!
//! # Layout, along the way of a message
//! - `stdio`: the process's own streams, without a thread where the system allows it.
//! - `transport`: bytes to messages and back; garbage ends here.
//! - `handler`: messages to calls of the backend and back.
//! - `asking`: questions to the person behind the client.
//! - `roots`: the folders that the client works in.
//! - `herald`: what the backend tells without being asked.
//! - `audience`: who wants to hear it.
//! - `relisting`: whether a client that was told fetches its list again.

mod asking;
mod audience;
mod convert;
mod ending;
#[cfg(any(test, feature = "fuzzing"))]
#[doc(hidden)]
pub mod fuzzing;
mod handler;
mod herald;
mod progress;
mod relisting;
mod roots;
mod serve;
mod session;
mod stdio;
mod transport;

pub use ending::ServeError;
pub use serve::{serve, serve_stdio};
