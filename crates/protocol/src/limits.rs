//! How long things may take at the daemon, for both ends of its socket: a client that waits for less would give
//! up on calls that are at work.

use std::time::Duration;

/// How long a question to the person may wait at the daemon, before its call begins. Whoever calls again asks
/// again.
pub const QUESTION_WAITS: Duration = Duration::from_secs(25);

/// The `timeout` of a call to [`CONNECT_TOOL`] that names none: it waits for an extension, and has to connect
/// after that.
pub const CONNECT_TAKES: Duration = Duration::from_secs(45);

/// The tool that connects a browser.
pub const CONNECT_TOOL: &str = "connect_browser";

/// How long tabs that nobody was attached to are looked into before a call that needs it begins.
pub const LOOK_TAKES: Duration = Duration::from_secs(1);
