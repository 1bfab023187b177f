//! The screen of the user's login session, found in the environment of its other processes.

use super::Screen;
use std::collections::{BTreeMap, HashMap};
use std::ffi::OsString;
use tabmux_platform::process;

/// The screen of the user's login session, if the system tells.
pub(super) fn screen() -> Option<Screen> {
    let own = process::all_own().take(MOST_PROCESSES);
    let environments = own.filter_map(|pid| {
        let variables = process::environment(pid)?;
        let text = |variable: &OsString| variable.to_string_lossy().into_owned();
        Some(variables.iter().map(text).collect())
    });
    most_likely(environments, Screen::is_there)
}

/// The screen that most processes of a session on this machine use; first those with the most variables. A screen
/// that was created for a single program, or is on another machine, is not the user's.
fn most_likely(
    environments: impl Iterator<Item = Vec<String>>,
    is_there: impl Fn(&Screen) -> bool,
) -> Option<Screen> {
    let mut counts: BTreeMap<(bool, Screen), usize> = BTreeMap::new();
    for environment in environments {
        let variables = environment.iter().filter_map(|it| it.split_once('='));
        let variables: HashMap<_, _> = variables.collect();
        let is_graphical = match variables.get("XDG_SESSION_TYPE") {
            Some(&("x11" | "wayland")) => true,
            // A desktop that was started from a console.
            Some(&"tty") => false,
            _ if variables.contains_key("WSL_DISTRO_NAME") => true,
            _ => continue,
        };
        let value = |name: &str| variables.get(name).map(|&value| value.to_owned());
        if variables.contains_key("SSH_CONNECTION") {
            continue;
        }
        if let Some(screen) = Screen::named_by(value)
            && !screen.is_remote()
        {
            *counts.entry((is_graphical, screen)).or_default() += 1;
        }
    }
    let mut likely: Vec<_> = counts.into_iter().collect();
    likely.sort_by_key(|((is_graphical, screen), count)| (*is_graphical, screen.0.len(), *count));
    let mut likely = likely.into_iter().rev().map(|((_, screen), _)| screen);
    likely.find(is_there)
}

/// More than a user has.
const MOST_PROCESSES: usize = 10_000;

#[cfg(test)]
mod tests {
    use super::*;

    fn found(environments: &[&str]) -> Option<String> {
        let environments = environments
            .iter()
            .map(|text| text.split(' ').map(str::to_owned).collect());
        let screen = most_likely(environments, |screen| {
            screen.get("DISPLAY") != Some(":gone")
        })?;
        screen.shown_by().map(|(_, value)| value.to_owned())
    }

    #[test]
    fn the_screen_of_the_session_is_found_among_its_processes() {
        let desktop = "A=1 DISPLAY=:0 XAUTHORITY=/a XDG_SESSION_TYPE=x11 ";
        let started = "DISPLAY=:5 XDG_SESSION_TYPE=tty ";
        assert_eq!(found(&["A=1 ", desktop, started]).as_deref(), Some(":0"));
        assert_eq!(found(&[started]).as_deref(), Some(":5"));
        let gone = "DISPLAY=:gone XAUTHORITY=/a XDG_SESSION_TYPE=x11 ";
        assert_eq!(found(&[gone, started]).as_deref(), Some(":5"));
        let wsl = "DISPLAY=:0 WAYLAND_DISPLAY=wayland-0 WSL_DISTRO_NAME=Debian ";
        assert_eq!(found(&[wsl]).as_deref(), Some("wayland-0"));
    }

    #[test]
    fn the_screen_of_one_program_or_of_another_machine_is_not_the_users() {
        for other in [
            "DISPLAY=:99 ",
            "DISPLAY=:99 XDG_SESSION_TYPE=tty SSH_CONNECTION=1 ",
            "DISPLAY=desk:10.0 XDG_SESSION_TYPE=x11 ",
            "XDG_SESSION_TYPE=x11 ",
        ] {
            assert_eq!(found(&[other]), None, "{other}");
        }
    }

    #[test]
    fn the_environment_with_most_variables_is_used() {
        let less = "DISPLAY=:0 XDG_SESSION_TYPE=wayland ";
        let more = "DISPLAY=:0 WAYLAND_DISPLAY=w XDG_RUNTIME_DIR=/r XDG_SESSION_TYPE=wayland ";
        assert_eq!(found(&[less, less, more]).as_deref(), Some("w"));
    }
}
