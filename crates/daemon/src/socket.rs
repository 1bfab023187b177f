//! The daemon's unix socket: who may connect and what is answered.

mod connection;
mod listen;
mod named;
mod server;

pub use listen::{Held, ListenError, Listening};
pub use server::{ServeOptions, serve};
