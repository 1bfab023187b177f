//! The extensions of people's browsers: the secret they share with us, and those that are connected.

mod pairing;
mod peer;
mod secret;

pub use secret::{Secret, SecretError, secret_file};

pub(crate) use pairing::{Greeting, Nonce};
pub(crate) use peer::{Extensions, Peer, PeerName};
