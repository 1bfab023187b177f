//! The proof that both sides have the secret: an HMAC over all values of the handshake.

use super::secret::{Secret, from_hex, to_hex};
use hmac::{Hmac, Mac};
use sha2::Sha256;
use tabmux_protocol::extension::{EXTENSION_ID, Role, proof_text};

/// A number that is used once.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Nonce(String);

impl Nonce {
    pub(crate) fn fresh() -> Option<Self> {
        let mut bytes = [0; 32];
        getrandom::fill(&mut bytes).ok()?;
        Some(Self(to_hex(&bytes)))
    }

    /// The nonce of the other side, if it is valid.
    pub(crate) fn parse(text: &str) -> Option<Self> {
        let fine = (32..=128).contains(&text.len()) && from_hex(text).is_some();
        fine.then(|| Self(text.to_owned()))
    }

    pub(crate) fn as_str(&self) -> &str {
        &self.0
    }
}

/// The values of one handshake, which both proofs cover.
#[derive(Debug)]
pub(crate) struct Greeting {
    pub(crate) theirs: Nonce,
    pub(crate) ours: Nonce,
    /// The host and port to which the extension connected.
    pub(crate) host: String,
}

impl Greeting {
    /// Our proof.
    pub(crate) fn proof(&self, secret: &Secret) -> Option<String> {
        let mac = self.mac(secret, Role::Daemon)?;
        Some(to_hex(&mac.finalize().into_bytes()))
    }

    /// Whether this is the extension's proof. Compares in constant time.
    pub(crate) fn is_proved_by(&self, secret: &Secret, proof: &str) -> bool {
        let (Some(mac), Some(proof)) = (self.mac(secret, Role::Extension), from_hex(proof)) else {
            return false;
        };
        mac.verify_slice(&proof).is_ok()
    }

    fn mac(&self, secret: &Secret, role: Role) -> Option<Hmac<Sha256>> {
        let text = proof_text(role, &self.theirs.0, &self.ours.0, EXTENSION_ID, &self.host);
        let mut mac = Hmac::<Sha256>::new_from_slice(secret.bytes()).ok()?;
        mac.update(text.as_bytes());
        Some(mac)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use base64::Engine;
    use sha2::Digest;

    /// Spec: security 3.
    #[test]
    fn the_id_is_that_of_the_key_in_the_manifest() {
        let manifest = include_str!("../../../../packages/extension/manifest.json");
        let manifest: serde_json::Value = serde_json::from_str(manifest).unwrap();
        let key = base64::prelude::BASE64_STANDARD
            .decode(manifest["key"].as_str().unwrap())
            .unwrap();
        let digest = to_hex(&Sha256::digest(key));
        let letter = |c: char| char::from(b'a' + u8::try_from(c.to_digit(16).unwrap()).unwrap());
        let id: String = digest.chars().take(32).map(letter).collect();
        assert_eq!(id, EXTENSION_ID);
        assert_eq!(manifest["externally_connectable"], serde_json::Value::Null);
    }

    #[test]
    fn a_nonce_is_hex_and_neither_short_nor_long() {
        assert!(Nonce::parse(Nonce::fresh().unwrap().as_str()).is_some());
        for bad in [
            "",
            "abc",
            &"g".repeat(64),
            &"a".repeat(130),
            &"a".repeat(33),
        ] {
            assert_eq!(Nonce::parse(bad), None, "{bad}");
        }
    }
}
