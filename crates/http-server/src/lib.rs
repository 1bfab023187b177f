//! Serves MCP over HTTP: who may connect, and for how much. What a request means is `tabmux-mcp`'s.
//!
//! # Layout, in the order in which a request passes through
//! - [`server`]: accepts connections, and reads requests from them.
//! - [`tls`]: the encryption of connections, if the server has a certificate.
//! - `patience`: ends connections whose clients do not read.
//! - `gate`: host, origin, token, session and limits; every request passes it.
//! - `hosts`: which hosts and origins a request may name.
//! - [`tokens`]: the tokens of clients, in a file with their hashes.
//! - `sessions`: whose session an id is, and since when nobody used it.
//! - `bodies`: reads bodies, and bounds what is kept of them.
//! - [`service`]: what answers the requests that passed.
//! - [`probe`]: what those that watch the server are told.
//! - `answers`: the answers to requests that do not pass.
//! - `cors`: what browsers are told before pages may connect.

mod answers;
mod bodies;
mod cors;
mod gate;
mod hosts;
mod patience;
pub mod probe;
pub mod server;
pub mod service;
mod sessions;
pub mod tls;
pub mod tokens;

pub use hosts::{Hosts, host_name, origin};
pub use probe::Probe;
pub use server::{ServeOptions, serve, serve_with};
pub use service::Service;
pub use tls::{Tls, TlsError};
pub use tokens::{TokenError, TokenFile, TokenName};
