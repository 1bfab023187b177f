//! Tests of the daemon through its socket and its listener, as other programs use them.
#![expect(clippy::unwrap_used, reason = "a test that cannot go on panics")]

mod arguments;
mod confirm;
mod connection_limits;
mod daemon_restart;
mod deadlines;
mod endpoint;
mod extension;
mod extension_timeouts;
mod fake_extension;
mod full_disk;
mod handshake_limits;
mod idle;
mod library_lists;
mod other_users;
mod page_documents;
mod page_floods;
mod page_harness;
mod page_listener;
mod page_lists;
mod page_load;
mod page_text;
mod pages;
mod panel;
mod peers;
mod person;
mod reconnect;
mod relayed;
mod remote;
mod server;
mod session_limit;
mod silent_connections;
mod socket_security;
mod tunnel;
mod versions;
mod wire;
