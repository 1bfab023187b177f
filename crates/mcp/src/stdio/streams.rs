//! The process's own streams, without a thread where the system allows it.
//!
//! Tokio reads stdin on a thread that may block. Clients start servers with pipes or (all that
//! run on Node) with sockets, and both can be awaited; so the first answer does not wait for a thread to
//! start, and a read that never returns blocks no thread.

use tabmux_platform::pipes::{awaitable_input, awaitable_output};
use tokio::io::{AsyncRead, AsyncWrite};

pub(crate) fn input() -> Box<dyn AsyncRead + Send + Unpin> {
    awaitable_input(std::io::stdin(), 0).unwrap_or_else(|| Box::new(tokio::io::stdin()))
}

pub(crate) fn output() -> Box<dyn AsyncWrite + Send + Unpin> {
    awaitable_output(std::io::stdout(), 1).unwrap_or_else(|| Box::new(tokio::io::stdout()))
}
