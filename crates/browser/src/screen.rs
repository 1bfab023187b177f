//! The screen on which the windows of a launched browser open: our own, else a client's, else that of the user's
//! login session. Many MCP clients start servers without most of their environment, although the user has a screen.

mod session;

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::process::Command;
use tabmux_platform::socket::{is_abstract_listened_at, is_listened_at};

/// The environment variables that name a screen.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Screen(BTreeMap<&'static str, String>);

impl Screen {
    /// The screen that these variables name, if any.
    pub fn named_by(value: impl Fn(&str) -> Option<String>) -> Option<Self> {
        let value = |name: &str| {
            let value = value(name)?;
            let is_sound = !value.is_empty() && value.len() <= LONGEST && !value.contains('\0');
            is_sound.then_some(value)
        };
        let known = VARIABLES
            .into_iter()
            .filter_map(|name| Some((name, value(name)?)));
        let screen = Self(known.collect());
        screen.shown_by().is_some().then_some(screen)
    }

    /// The one that our own environment names.
    pub fn own() -> Option<Self> {
        Self::named_by(|name| std::env::var(name).ok())
    }

    /// The screen for the windows of a launched browser; `clients` is that of the latest client that had one. Asks
    /// the system, so it may block.
    pub fn find(clients: Option<Self>) -> Option<Self> {
        choose(Self::own(), clients, session::screen, Self::is_there)
    }

    /// The one of the user's login session, if the system tells. May block.
    pub fn of_session() -> Option<Self> {
        session::screen()
    }

    /// The variable that names it and its value, for display.
    pub fn shown_by(&self) -> Option<(&'static str, &str)> {
        let mut names = NAMING.into_iter();
        names.find_map(|name| Some((name, self.get(name)?)))
    }

    /// Makes a program that we start open its windows there.
    pub(crate) fn set_for(&self, command: &mut Command) {
        for name in VARIABLES {
            match self.0.get(name) {
                Some(value) => drop(command.env(name, value)),
                // Variables of two screens must not be mixed.
                None if REPLACED.contains(&name) => drop(command.env_remove(name)),
                None => {}
            }
        }
    }

    fn get(&self, name: &str) -> Option<&str> {
        self.0.get(name).map(String::as_str)
    }

    /// Whether it accepts connections. One on another machine is assumed to.
    fn is_there(&self) -> bool {
        let wayland = self.wayland_socket();
        wayland.is_some_and(|socket| is_listened_at(&socket))
            || self.get("DISPLAY").is_some_and(|display| {
                x11_number(display).is_none_or(|number| x11_takes_connections(&number))
            })
    }

    fn is_remote(&self) -> bool {
        let display = self.get("DISPLAY");
        self.get("WAYLAND_DISPLAY").is_none()
            && display.is_some_and(|display| x11_number(display).is_none())
    }

    fn wayland_socket(&self) -> Option<PathBuf> {
        let name = Path::new(self.get("WAYLAND_DISPLAY")?);
        let folder = self.get("XDG_RUNTIME_DIR").map(Path::new);
        match name.is_absolute() {
            true => Some(name.to_owned()),
            false => Some(folder?.join(name)),
        }
    }
}

/// The first of these that accepts connections. If none does, uses the one in our environment; the browser reports
/// what is wrong with it.
fn choose(
    own: Option<Screen>,
    clients: Option<Screen>,
    of_session: impl FnOnce() -> Option<Screen>,
    is_there: impl Fn(&Screen) -> bool,
) -> Option<Screen> {
    let mut known = [own.clone(), clients].into_iter().flatten();
    let known = known.find(is_there);
    known.or_else(of_session).or(own)
}

/// `0` of `:0`, `:0.1` and `unix:0`, which are on this machine.
fn x11_number(display: &str) -> Option<String> {
    let local = display.strip_prefix("unix").unwrap_or(display);
    let number = local.strip_prefix(':')?;
    let number = number.split('.').next().unwrap_or(number);
    let is_number = !number.is_empty() && number.bytes().all(|byte| byte.is_ascii_digit());
    is_number.then(|| number.to_owned())
}

fn x11_takes_connections(number: &str) -> bool {
    let path = format!("/tmp/.X11-unix/X{number}");
    is_listened_at(Path::new(&path)) || is_abstract_listened_at(&path)
}

/// All variables that are used. The last three do not name a screen, but Chrome's windows need them.
pub(crate) const VARIABLES: [&str; 6] = [
    "WAYLAND_DISPLAY",
    "DISPLAY",
    "XAUTHORITY",
    "XDG_SESSION_TYPE",
    "XDG_RUNTIME_DIR",
    "DBUS_SESSION_BUS_ADDRESS",
];
const NAMING: [&str; 2] = ["WAYLAND_DISPLAY", "DISPLAY"];
const REPLACED: [&str; 4] = [
    "WAYLAND_DISPLAY",
    "DISPLAY",
    "XAUTHORITY",
    "XDG_SESSION_TYPE",
];
const LONGEST: usize = 4_096;

#[cfg(test)]
mod tests {
    use super::*;
    use std::ffi::OsStr;
    use std::os::unix::net::UnixListener;

    fn screen(variables: &[(&str, &str)]) -> Option<Screen> {
        let value = |name: &str| {
            let mut known = variables.iter();
            known.find_map(|(known, value)| (*known == name).then(|| (*value).to_owned()))
        };
        Screen::named_by(value)
    }

    fn x11(display: &str) -> Option<Screen> {
        screen(&[("DISPLAY", display)])
    }

    #[test]
    fn our_own_screen_comes_first_then_a_clients_then_the_sessions() {
        let (own, client, session) = (x11(":1"), x11(":2"), x11(":3"));
        let all = |own: &Option<Screen>, there: &[&Option<Screen>]| {
            let is_there = |it: &Screen| there.iter().any(|known| known.as_ref() == Some(it));
            choose(own.clone(), client.clone(), || session.clone(), is_there)
        };
        assert_eq!(all(&own, &[&own, &client]), own);
        assert_eq!(all(&own, &[&client]), client, "ours is gone");
        assert_eq!(all(&None, &[&client]), client);
        assert_eq!(all(&None, &[]), session);
        assert_eq!(choose(own.clone(), None, || None, |_| false), own);
        assert_eq!(choose(None, client, || None, |_| false), None);
    }

    #[test]
    fn variables_without_a_screen_are_none() {
        assert_eq!(screen(&[("XDG_RUNTIME_DIR", "/run/user/1")]), None);
        assert_eq!(x11(""), None);
        assert_eq!(x11(&"x".repeat(5_000)), None);
        let both = screen(&[("DISPLAY", ":0"), ("WAYLAND_DISPLAY", "w")]).unwrap();
        assert_eq!(both.shown_by(), Some(("WAYLAND_DISPLAY", "w")));
    }

    #[test]
    fn a_screen_must_accept_connections() {
        let folder = tempfile::tempdir().unwrap();
        let socket = folder.path().join("wayland-7");
        let runtime = folder.path().to_str().unwrap();
        let wayland = screen(&[
            ("WAYLAND_DISPLAY", "wayland-7"),
            ("XDG_RUNTIME_DIR", runtime),
        ])
        .unwrap();
        assert!(!wayland.is_there());
        let listener = UnixListener::bind(&socket).unwrap();
        assert!(wayland.is_there());
        drop(listener);
        assert!(!wayland.is_there());
        assert!(!x11(":4711").unwrap().is_there());
        let remote = x11("desk:10.0").unwrap();
        assert!(remote.is_there() && remote.is_remote(), "it is believed");
    }

    #[test]
    fn local_displays_are_identified_by_their_number() {
        for (display, number) in [
            (":0", Some("0")),
            (":10.1", Some("10")),
            ("unix:3", Some("3")),
            ("desk:0", None),
            (":", None),
            (":/x", None),
        ] {
            assert_eq!(x11_number(display).as_deref(), number, "{display}");
        }
    }

    #[test]
    fn a_program_gets_the_variables_of_one_screen_and_no_others() {
        let mut command = Command::new("true");
        command.env("WAYLAND_DISPLAY", "other");
        let screen = screen(&[("DISPLAY", ":2"), ("XAUTHORITY", "/a")]).unwrap();
        screen.set_for(&mut command);
        let set = |name: &str| {
            let mut set = command.get_envs();
            set.find_map(|(known, value)| (known == name).then_some(value))
        };
        assert_eq!(set("DISPLAY"), Some(Some(OsStr::new(":2"))));
        assert_eq!(set("XAUTHORITY"), Some(Some(OsStr::new("/a"))));
        assert_eq!(set("WAYLAND_DISPLAY"), Some(None));
        assert_eq!(set("XDG_RUNTIME_DIR"), None, "as it is");
    }
}
