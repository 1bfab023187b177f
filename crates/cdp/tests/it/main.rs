//! The client against an in-memory browser, and against a real one.

#![expect(clippy::unwrap_used, reason = "a helper of tests may fail the test")]

mod deadlines;
mod ends;
mod fake_browser;
mod hostile;
mod overflow;
mod oversize;
mod real_browser;
mod routing;
mod websocket;
