//! The rules of the house, checked.

use anyhow::Result;

/// Checks the project.
pub(crate) fn run() -> Result<()> {
    Ok(())
}
