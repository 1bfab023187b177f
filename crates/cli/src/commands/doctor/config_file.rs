//! Whether the config file is correct. If not, no client can start.

use super::Check;
use crate::commands::config::problems;
use std::path::PathBuf;
use tabmux_config::ConfigFile;

/// `None` if there is no file.
pub(super) fn check(named: Option<PathBuf>) -> Option<Check> {
    const NAME: &str = "config";
    let problems = match ConfigFile::read(named) {
        Ok(file) if !file.exists => return None,
        Ok(file) => match problems(&file) {
            problems if problems.is_empty() => {
                let found = format!("{} is correct.", file.path.display());
                return Some(Check::ok(NAME, found));
            }
            problems => problems,
        },
        Err(error) => vec![error.to_string()],
    };
    let finding = format!("{}, so no client can start.", problems.join("; "));
    Some(Check::fail(
        NAME,
        finding,
        "Fix it; `tabmux config check` says when it is correct.",
    ))
}
