//! A person's own browser, reached through its extension. Another part of this process serves the transport.

use super::{Acquired, Ownership};
use tabmux_cdp::{Connection, Transport};

/// Attaches to the browser behind a transport.
pub(crate) fn acquire(transport: impl Transport) -> Acquired {
    let (session, events) = Connection::start(transport);
    Acquired {
        session,
        events,
        ownership: Ownership::Person,
        replaces: false,
    }
}
