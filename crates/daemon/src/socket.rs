//! The daemon's unix socket: access, connections and sessions.

mod connection;
mod listen;
mod server;

pub use listen::{Held, ListenError, Listening};
pub use server::{ServeOptions, serve};
