//! Whether browsers open a window: on the display of the daemon, else of a client, else of the user's session.

use super::Check;
use super::checks::SocketState;
use tabmux_browser::screen::Screen;
use tabmux_platform::process;

/// The variable that names a display, and its value.
type Display = Option<(&'static str, String)>;

pub(super) fn look(state: &SocketState) -> Check {
    let value = |name: &str| std::env::var(name).ok();
    let daemons = match state {
        SocketState::Daemon { pid, .. } => process::environment(*pid),
        _ => None,
    };
    let daemons = daemons
        .map(|variables| shown_by(|name| process::variable(&variables, name)?.into_string().ok()));
    let session = || {
        let screen = Screen::of_session()?;
        let (variable, value) = screen.shown_by()?;
        Some((variable, value.to_owned()))
    };
    check(shown_by(value), daemons, session)
}

/// `here` is our display. `daemons` is the daemon's, or `None` if no daemon runs or its environment cannot be read.
/// `session` finds the display of the user's session.
fn check(here: Display, daemons: Option<Display>, session: impl FnOnce() -> Display) -> Check {
    let asked_for = match &daemons {
        Some(daemons) => daemons.clone(),
        None => here.clone(),
    };
    match (asked_for.or_else(session), here) {
        (Some((variable, value)), _) => Check::ok(
            NAME,
            format!("Browsers open a window ({variable}={value}); --headless opens none."),
        ),
        (None, Some((variable, value))) => Check::ok(
            NAME,
            format!(
                "The daemon was started without a display, so its browsers open a window once a client has one, as \
                 here ({variable}={value}); --headless opens none."
            ),
        ),
        (None, None) => Check::ok(NAME, "No display, so browsers run headless."),
    }
}

fn shown_by(value: impl Fn(&str) -> Option<String>) -> Display {
    let value = |name: &str| value(name).filter(|value| !value.is_empty());
    ["WAYLAND_DISPLAY", "DISPLAY"]
        .into_iter()
        .find_map(|name| Some((name, value(name)?)))
}

const NAME: &str = "display";

#[cfg(test)]
mod tests {
    use super::super::Level;
    use super::*;

    #[test]
    fn browsers_open_a_window_if_any_display_is_known() {
        let shown = || Some(("DISPLAY", ":0".to_owned()));
        let said = |here, daemons, session: Display| {
            let check = check(here, daemons, || session);
            assert_eq!(check.level, Level::Ok);
            check.finding
        };
        for [here, daemons, session] in [
            [shown(), None, None],
            [None, shown(), None],
            [None, None, shown()],
        ] {
            let daemons = daemons.map(Some);
            assert!(said(here, daemons, session).contains("a window (DISPLAY=:0)"));
        }
        assert!(said(None, Some(None), None).contains("headless"));
        assert!(said(None, None, None).contains("headless"));
        let other = said(shown(), Some(None), None);
        assert!(
            other.contains("once a client has one, as here (DISPLAY=:0)"),
            "{other}"
        );
    }
}
