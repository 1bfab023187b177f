//! Whether browsers open a window. That is decided by what the daemon was started with, where one runs.

use super::Check;
use super::checks::Behind;
use std::fs;

/// What shows windows: a variable and its value.
type Shown = Option<(&'static str, String)>;

pub(super) fn look(behind: &Behind) -> Check {
    let value = |name: &str| std::env::var(name).ok();
    let daemons = match behind {
        Behind::Daemon { pid, .. } => variables_of(*pid),
        _ => None,
    };
    let daemons = daemons.map(|text| shown_by(|name| value_in(&text, name)));
    check(shown_by(value), daemons)
}

/// What is so for us, and for the daemon if one runs and lets itself be asked.
fn check(here: Shown, daemons: Option<Shown>) -> Check {
    match (daemons, here) {
        (Some(None), Some((variable, value))) => Check::warn(
            NAME,
            format!(
                "The daemon was started without a display, so its browsers open no window; here there is one \
                 ({variable}={value})."
            ),
            "Set that variable for your MCP clients, then run `tabmux daemon stop`; the next one starts another.",
        ),
        (Some(Some((variable, value))), _) | (None, Some((variable, value))) => Check::ok(
            NAME,
            format!("Browsers open a window ({variable}={value}); --headless opens none."),
        ),
        (_, None) => Check::ok(NAME, "There is none, so browsers run headless."),
    }
}

fn shown_by(value: impl Fn(&str) -> Option<String>) -> Shown {
    let value = |name: &str| value(name).filter(|value| !value.is_empty());
    ["WAYLAND_DISPLAY", "DISPLAY"]
        .into_iter()
        .find_map(|name| Some((name, value(name)?)))
}

/// What a process of ours was started with, where the system tells.
fn variables_of(pid: u32) -> Option<String> {
    let bytes = fs::read(format!("/proc/{pid}/environ")).ok()?;
    Some(String::from_utf8_lossy(&bytes).into_owned())
}

fn value_in(variables: &str, name: &str) -> Option<String> {
    let mut variables = variables.split('\0');
    let value = variables.find_map(|it| it.strip_prefix(name)?.strip_prefix('='));
    value.map(str::to_owned)
}

const NAME: &str = "display";

#[cfg(test)]
mod tests {
    use super::super::Level;
    use super::*;

    #[test]
    fn what_the_daemon_was_started_with_decides() {
        let shown = || Some(("DISPLAY", ":0".to_owned()));
        assert_eq!(check(None, None).level, Level::Ok);
        assert!(check(shown(), None).finding.contains("DISPLAY=:0"));
        assert!(check(None, Some(shown())).finding.contains("DISPLAY=:0"));
        assert_eq!(check(None, Some(None)).level, Level::Ok);
        let other = check(shown(), Some(None));
        assert_eq!(other.level, Level::Warn);
        assert!(other.advice.unwrap().contains("`tabmux daemon stop`"));
    }

    #[test]
    fn the_variables_of_a_process_are_told_apart() {
        let variables = "A=1\0MY_DISPLAY=:9\0DISPLAY=:1\0";
        assert_eq!(value_in(variables, "DISPLAY").as_deref(), Some(":1"));
        assert_eq!(value_in(variables, "WAYLAND_DISPLAY"), None);
        assert_eq!(shown_by(|name| value_in("DISPLAY=\0", name)), None);
    }
}
