//! The browser crate against a real Chromium: each test with a browser and a profile of its own.

#![expect(clippy::unwrap_used, reason = "a test that cannot go on fails")]

mod click;
mod consequences;
mod fill;
mod keyboard;
mod lab;
mod navigate;
mod pick;
mod screenshot;
mod script;
mod scratch_observe;
mod snapshot;
mod tabs;
mod wait;
