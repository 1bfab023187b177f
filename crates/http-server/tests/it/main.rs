//! The server over real connections, with a backend that does what the test says.
#![expect(clippy::unwrap_used, reason = "a test that cannot go on panics")]

mod backend;
mod bodies;
mod client;
mod metrics;
mod pages;
mod server;
mod sessions;
mod tls;
mod unready;
