//! The browser crate against a real Chromium: each test has its own browser and profile, and all tests run again
//! through the extension.

#![expect(clippy::unwrap_used, reason = "a test that cannot go on fails")]

mod advanced;
mod buttons;
mod changes;
mod click;
mod consequences;
mod console;
mod downloads;
mod drag;
mod emulate;
mod engines;
mod fill;
mod find;
mod harness;
mod introspect;
mod keyboard;
mod navigate;
mod network;
mod new_tabs;
mod origins;
mod over_extension;
mod oversize;
mod peers;
mod performance;
mod pick;
mod pointing;
mod press;
mod pulse;
mod read_page;
mod refs;
mod rules;
mod screencast;
mod screenshot;
mod script;
mod shown_secrets;
mod snapshot;
mod snapshot_usable;
mod starting;
mod storage;
mod tabs;
mod targets;
mod tls;
mod unseen;
mod wait;
mod web_mcp;
