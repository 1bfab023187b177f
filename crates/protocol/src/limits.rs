//! Time limits of the daemon, for both ends of its socket: a client with shorter limits would give up on running
//! calls.

use std::time::Duration;

/// How long a question to the person stays open before its call starts. Another call asks again.
pub const QUESTION_WAITS: Duration = Duration::from_secs(25);

/// The default `timeout` of a call to [`CONNECT_TOOL`]: it waits for an extension and connects after that.
pub const CONNECT_TAKES: Duration = Duration::from_secs(45);

/// How long a call may wait for a browser of a grid: browsers are handed out in turn.
pub const QUEUE_TAKES: Duration = Duration::from_secs(600);

/// The tool that connects a browser.
pub const CONNECT_TOOL: &str = "connect_browser";

/// How long a call may inspect tabs that were not attached before, if it needs their tools.
pub const LOOK_TAKES: Duration = Duration::from_secs(1);

/// How long a file operation of the daemon may take.
pub const FILE_TAKES: Duration = Duration::from_secs(10);

/// The maximum number of resources that a session watches.
pub const MOST_WATCHED: usize = 100;

/// How long the daemon may take to end. After that the process ends at once; we promise five seconds.
pub const END_TAKES: Duration = Duration::from_secs(4);

/// The tool that makes several calls.
pub const STEPS_TOOL: &str = "run_steps";

/// The default `timeout` of a call to [`STEPS_TOOL`], for all its steps together.
pub const STEPS_TAKE: Duration = Duration::from_secs(120);
