//! Encryption of a state: XChaCha20-Poly1305 with a key that Argon2id derives from what the user gave.

use argon2::{Algorithm, Argon2, Params, Version};
use base64::Engine;
use base64::prelude::BASE64_STANDARD;
use chacha20poly1305::aead::{Aead, KeyInit, Payload};
use chacha20poly1305::{XChaCha20Poly1305, XNonce};
use serde::{Deserialize, Serialize};
use std::io;

/// An encrypted text, with all that is needed to open it besides the key.
#[derive(Serialize, Deserialize)]
pub(super) struct Sealed {
    salt: String,
    /// Tells a wrong key from a damaged file.
    check: String,
    nonce: String,
    data: String,
}

/// Why a text cannot be opened.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum SealingError {
    WrongKey,
    Damaged,
}

impl Sealed {
    /// Encrypts a text for a name: under another name it cannot be opened.
    pub(super) fn seal(key: &str, name: &str, plain: &[u8]) -> io::Result<Self> {
        let (mut salt, mut nonce) = ([0; 16], [0; 24]);
        getrandom::fill(&mut salt).map_err(io::Error::other)?;
        getrandom::fill(&mut nonce).map_err(io::Error::other)?;
        let failed = || io::Error::other("it could not be encrypted");
        let derived = Derived::from(key, &salt).ok_or_else(failed)?;
        let aad = name.as_bytes();
        let sealed = derived
            .cipher()
            .encrypt(XNonce::from_slice(&nonce), Payload { msg: plain, aad });
        Ok(Self {
            salt: BASE64_STANDARD.encode(salt),
            check: BASE64_STANDARD.encode(derived.check()),
            nonce: BASE64_STANDARD.encode(nonce),
            data: BASE64_STANDARD.encode(sealed.map_err(|_| failed())?),
        })
    }

    /// Decrypts it.
    pub(super) fn open(&self, key: &str, name: &str) -> Result<Vec<u8>, SealingError> {
        let read = |text: &str| {
            BASE64_STANDARD
                .decode(text)
                .map_err(|_| SealingError::Damaged)
        };
        let (salt, nonce, data) = (read(&self.salt)?, read(&self.nonce)?, read(&self.data)?);
        if salt.len() != 16 || nonce.len() != 24 {
            return Err(SealingError::Damaged);
        }
        let derived = Derived::from(key, &salt).ok_or(SealingError::Damaged)?;
        if read(&self.check)? != derived.check() {
            return Err(SealingError::WrongKey);
        }
        let aad = name.as_bytes();
        let opened = derived
            .cipher()
            .decrypt(XNonce::from_slice(&nonce), Payload { msg: &data, aad });
        opened.map_err(|_| SealingError::Damaged)
    }
}

/// What Argon2id makes of a key: the key of the cipher, then the check.
struct Derived([u8; 40]);

impl Derived {
    fn from(key: &str, salt: &[u8]) -> Option<Self> {
        let mut derived = [0; 40];
        let params = Params::new(MEMORY_KIB, ROUNDS, 1, Some(derived.len())).ok()?;
        let argon2 = Argon2::new(Algorithm::Argon2id, Version::V0x13, params);
        argon2
            .hash_password_into(key.as_bytes(), salt, &mut derived)
            .ok()?;
        Some(Self(derived))
    }

    fn cipher(&self) -> XChaCha20Poly1305 {
        XChaCha20Poly1305::new(self.0[..32].into())
    }

    fn check(&self) -> &[u8] {
        &self.0[32..]
    }
}

/// As OWASP recommends for passwords.
const MEMORY_KIB: u32 = 19_456;
const ROUNDS: u32 = 2;
