//! A Chrome DevTools Protocol client: the id and session mux, over a pipe, a websocket or a channel.
//!
//! # Layout
//!
//! Bytes come from a [`Transport`] as frames; `envelope` reads a frame's outside without touching its contents; `mux`
//! knows who waits for which answer and which session's queue an event belongs to; [`Connection`] runs the mux on two
//! tasks; [`Session`] and [`Events`] are what everybody else holds.
//!
//! # Promises
//!
//! - An answer reaches the command that asked, or the command fails; it never waits longer than its limit.
//! - Events of a session arrive in order. A child session's queue exists before its parent hears of the child, so that
//!   none of its events is lost.
//! - The reader never waits for a consumer. A consumer that does not keep up loses chatter first ([`Events::dropped`])
//!   and in the end its queue.
//! - A frame that is too large is passed over without being kept: its command fails, or its session is told which event
//!   it was ([`RawEvent::too_large`]). Nobody else notices.
//! - Nothing that arrives can cause a panic; what cannot be understood is ignored with a log line.

mod connection;
mod envelope;
mod error;
mod events;
#[cfg(any(test, feature = "fuzzing"))]
#[doc(hidden)]
pub mod fuzzing;
mod mux;
mod session;
pub mod transport;

pub use connection::Connection;
pub use error::CdpError;
pub use events::{Events, RawEvent, TooLarge};
pub use session::{DEFAULT_DEADLINE, Session};
pub use tabmux_cdp_types as types;
pub use transport::{
    ChannelTransport, ConnectError, Frame, MAX_ANSWER, MAX_EVENT, Oversize, PipeTransport,
    Transport, WebSocketTransport,
};
pub use types::{Command, Event, target::SessionId};
