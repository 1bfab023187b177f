//! The client side of the daemon's socket: its path, its wire format, and sessions over it.
//!
//! # Layout
//! - `socket_path`: where the socket is, and whether its folder is safe.
//! - [`lines`]: the lines of JSON that both sides exchange.
//! - `session`: a session that finds or starts its daemon, and reconnects.
//! - `link`: one connection of a session.
//! - `starting`: which of several clients starts the daemon.
//! - `answer_timeout`: how long to wait for an answer.
//! - `rotated`: log files of limited size.
//! - [`modes`]: the tool list of a client that does not choose one.
//! - `instructions`: what a client tells its model about tabmux.

pub mod lines;
pub mod modes;

mod answer_timeout;
mod dial;
mod instructions;
mod link;
mod rotated;
mod session;
mod socket_path;
mod starting;
#[cfg(test)]
mod tests;

pub use instructions::instructions;
pub use rotated::RotatedFile;
pub use session::{Opening, RemoteSession, StartDaemon, Started, ask};
pub use socket_path::{SocketPath, SocketPathError};
