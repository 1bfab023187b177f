//! Whether the file of `tabmux policy` can be read. If not, every page is blocked.

use super::Check;
use std::path::Path;
use tabmux_daemon::policy::{self, Unreadable};

/// Reported only on failure: agents whose every page is blocked may seem broken.
pub(super) fn check(file: &Path) -> Option<Check> {
    let unreadable = policy::read(file).err()?;
    let finding = format!("{}, so every page is blocked.", unreadable.what());
    Some(Check::fail("rules", finding, Unreadable::ADVICE))
}
