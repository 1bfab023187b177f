//! Whether the extension's folder and the daemon have the same secret, and what to do if not.

use super::Folder;
use tabmux_daemon::extension::{Secret, SecretError};

/// Why the extension and the daemon are not paired.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Unpaired {
    /// What was found.
    pub(crate) finding: String,
    /// What to do about it.
    pub(crate) advice: &'static str,
}

/// The port at which the extension expects the daemon, if they are paired.
pub(crate) fn paired(
    folder: &Folder,
    secret: Result<Secret, SecretError>,
) -> Result<u16, Unpaired> {
    let unpaired = |finding: &str, advice| {
        let finding = finding.to_owned();
        Unpaired { finding, advice }
    };
    let secret = secret.map_err(|error| match error {
        SecretError::Io { path, error } => {
            let shown = path.display();
            unpaired(
                &format!("The secret {shown} cannot be used ({error})."),
                REINSTALL,
            )
        }
        SecretError::Open { path } => {
            let shown = path.display();
            unpaired(&format!("Others can read the secret {shown}."), ROTATE)
        }
        SecretError::Malformed { path } => {
            let shown = path.display();
            unpaired(&format!("{shown} holds no secret (64 hex digits)."), ROTATE)
        }
    })?;
    let Some((own, port)) = folder.pairing() else {
        return Err(unpaired("Its folder holds no pairing.", REINSTALL));
    };
    match own == secret.to_hex() {
        true => Ok(port),
        false => Err(unpaired(
            "Its folder holds another secret than the daemon's, so they cannot connect.",
            REINSTALL,
        )),
    }
}

/// The fix for most problems.
pub(crate) const REINSTALL: &str =
    "Run `tabmux extension install`, then reload the extension in chrome://extensions.";
const ROTATE: &str = "Run `tabmux extension rotate`.";
