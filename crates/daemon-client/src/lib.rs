//! The daemon's socket, as its clients know it: where it is, what is said there, a session behind it.
//!
//! # Layout
//! - `socket_path`: where the socket is, and whether that place can be trusted.
//! - [`lines`]: what both ends write and read.
//! - `session`: a session that finds, starts and outlives its daemon.
//! - `link`: one connection of it.
//! - `starting`: which of several clients starts the daemon.
//! - `answer_timeout`: how long an answer is waited for.
//! - `rotated`: files that do not grow without end.
//! - [`modes`]: which tool list a client gets that does not say.

pub mod lines;
pub mod modes;

mod answer_timeout;
mod link;
mod rotated;
mod session;
mod socket_path;
mod starting;
#[cfg(test)]
mod tests;
mod user;

pub use rotated::RotatedFile;
pub use session::{Opening, RemoteSession, StartDaemon, Started, ask};
pub use socket_path::{SocketPath, SocketPathError};
