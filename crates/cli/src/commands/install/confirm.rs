//! Asks the person at the terminal before files are written.

use crate::say;
use std::io::{self, BufRead, IsTerminal};

/// Whether the person agrees. Without a terminal the question cannot be asked, and the next step is printed.
pub(super) fn agrees(question: &str) -> io::Result<bool> {
    if !io::stdin().is_terminal() {
        say::say(
            "Standard input is not a terminal, so this cannot be confirmed. Add --yes to write this.",
        )?;
        return Ok(false);
    }
    say::print(format!("{question} [y/N] "))?;
    let mut answer = String::new();
    io::stdin().lock().read_line(&mut answer)?;
    Ok(matches!(
        answer.trim().to_ascii_lowercase().as_str(),
        "y" | "yes"
    ))
}
