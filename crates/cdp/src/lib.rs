//! A Chrome DevTools Protocol client: the id and session mux, over a pipe, a websocket or a channel.
//!
//! # Layout
//!
//! A [`Transport`] delivers frames; `envelope` parses a frame's outer fields without parsing its contents; `mux`
//! matches responses to commands and events to the queues of sessions; [`Connection`] runs the mux on two tasks;
//! [`Session`] and [`Events`] are the public handles.
//!
//! # Guarantees
//!
//! - A response reaches its command, or the command fails; it never waits longer than its limit.
//! - Events of a session arrive in order. A child session's queue exists before its parent learns of the child, so
//!   none of its events is lost.
//! - The reader never waits for a consumer. A consumer that does not keep up loses lossy events first
//!   ([`Events::dropped`]) and finally its queue.
//! - A frame that is too large is skipped without being stored: its command fails, or its session learns which event
//!   it was ([`RawEvent::too_large`]). Nothing else is affected.
//! - Nothing that arrives can cause a panic; anything that cannot be parsed is ignored with a log line.

mod connection;
mod envelope;
mod error;
mod events;
#[cfg(any(test, feature = "fuzzing"))]
#[doc(hidden)]
pub mod fuzzing;
mod mux;
mod session;
mod transport;

pub use connection::Connection;
pub use error::CdpError;
pub use events::{Events, RawEvent, TooLarge};
pub use session::{DEFAULT_DEADLINE, Session};
pub use tabmux_cdp_types as types;
pub use transport::{
    ChannelTransport, ConnectError, Frame, Halves, MAX_ANSWER, MAX_EVENT, Oversize, PipeTransport,
    Transport, WebSocketTransport,
};
pub use types::{Command, Event, target::SessionId};
