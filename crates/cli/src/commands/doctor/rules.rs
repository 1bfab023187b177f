//! Whether the person's rules can be read. If not, agents may see no page at all.

use super::Check;
use std::path::Path;
use tabmux_daemon::policy::{self, Unreadable};

/// Said only where it is so: agents that may do nothing may seem broken.
pub(super) fn check(file: &Path) -> Option<Check> {
    let unreadable = policy::read(file).err()?;
    let finding = format!("{}, so every page is blocked.", unreadable.what());
    Some(Check::fail("rules", finding, Unreadable::ADVICE))
}
