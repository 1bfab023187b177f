//! Time limits of the daemon, for both ends of its socket: a client with shorter limits would give up on running
//! calls.

use std::time::Duration;

/// How long a question to the person stays open before its call starts. Another call asks again.
pub const QUESTION_WAITS: Duration = Duration::from_secs(25);

/// The default `timeout` of a call to [`CONNECT_TOOL`]: it waits for an extension and connects after that.
pub const CONNECT_TAKES: Duration = Duration::from_secs(45);

/// The tool that connects a browser.
pub const CONNECT_TOOL: &str = "connect_browser";

/// How long a call may inspect tabs that were not attached before, if it needs their tools.
pub const LOOK_TAKES: Duration = Duration::from_secs(1);
