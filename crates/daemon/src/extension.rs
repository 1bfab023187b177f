//! The extensions of people's browsers: pairing, the registry of connected extensions, and CDP through an extension.

mod awaiting;
mod cdp_messages;
#[cfg(any(test, feature = "fuzzing"))]
pub(crate) mod fuzzing;
mod pairing;
mod peer;
mod registry;
mod secret;
mod tunnel;

pub use secret::{Secret, SecretError, secret_file};

pub(crate) use pairing::{Greeting, Nonce};
pub(crate) use peer::{Introduction, Peer, PeerName};
pub(crate) use registry::Extensions;
