//! The daemon's unix socket: who may connect, what is said, and the client's end of it.

mod client;
mod connection;
mod lines;
mod link;
mod listen;
mod named;
mod place;
mod server;

pub use client::{Opening, RemoteSession, StartDaemon, ask};
pub use listen::{ListenError, Listening};
pub use place::{Place, PlaceError};
pub use server::{ServeOptions, serve};
