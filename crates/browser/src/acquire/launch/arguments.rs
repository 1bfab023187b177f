//! The command line of a launched browser.

use super::LaunchOptions;
use crate::screen::Screen;
use std::path::Path;

/// Facts about our environment that decide about flags.
#[derive(Clone, Copy, Debug)]
pub(super) struct Environment {
    display: bool,
    root: bool,
}

impl Environment {
    pub(super) fn detect(screen: Option<&Screen>) -> Self {
        let root = tabmux_platform::user::is_root();
        let display = cfg!(target_os = "macos") || screen.is_some();
        Self { display, root }
    }
}

/// The arguments for `options`, with a profile in this folder.
pub(super) fn arguments(
    options: &LaunchOptions,
    profile: &Path,
    environment: Environment,
) -> Vec<String> {
    let mut list: Vec<String> = BASE.iter().map(|&flag| flag.into()).collect();
    list.push(format!("--user-data-dir={}", profile.display()));
    let headless = options.headless || !environment.display;
    if headless {
        list.extend([
            "--headless=new".into(),
            "--hide-scrollbars".into(),
            "--mute-audio".into(),
        ]);
    }
    if environment.root {
        tracing::warn!("running as root: Chrome's sandbox is off (--no-sandbox)");
        list.push("--no-sandbox".into());
    }
    if let Some((width, height)) = options.viewport {
        list.push(format!("--window-size={width},{height}"));
    }
    if let Some(proxy) = &options.proxy {
        list.push(format!("--proxy-server={}", proxy.server()));
    }
    if options.accept_insecure_certs {
        list.push("--ignore-certificate-errors".into());
    }
    // Chrome uses only the last list of features, so a user's lists are merged with ours.
    let (mut on, mut off) = (Vec::new(), Vec::new());
    for argument in &options.extra_args {
        match argument.split_once('=') {
            Some(("--enable-features", more)) => on.extend(more.split(',')),
            Some(("--disable-features", more)) => off.extend(more.split(',')),
            _ => list.push(argument.clone()),
        }
    }
    let hidden = if headless { UNUSED_UI } else { &[] };
    // The user's choice about a feature takes precedence over ours.
    let web_mcp_is_off = WEB_MCP.iter().any(|name| off.contains(name));
    let our_on = match web_mcp_is_off {
        true => Vec::new(),
        false => WEB_MCP.to_vec(),
    };
    let our_off: Vec<_> = hidden
        .iter()
        .copied()
        .filter(|ours| !on.contains(ours))
        .collect();
    let lists = [
        ("--enable-features", [our_on, on].concat()),
        ("--disable-features", [our_off, off].concat()),
    ];
    for (flag, features) in lists {
        if !features.is_empty() {
            list.push(format!("{flag}={}", features.join(",")));
        }
    }
    list.push(match headless && !opens_a_page(&options.extra_args) {
        // A first window would be useless, and the first requested tab opens its own: this saves a third of Chrome's
        // startup work.
        true => "--no-startup-window".into(),
        false => "about:blank".into(),
    });
    list
}

/// Whether the user's arguments name a page to open.
fn opens_a_page(arguments: &[String]) -> bool {
    let names_one =
        |argument: &String| !argument.starts_with('-') || argument.starts_with("--app=");
    arguments.iter().any(names_one)
}

/// Chrome's names for WebMCP. Either one enables it; Chrome ignores unknown names.
const WEB_MCP: &[&str] = &["WebMCP", "WebMCPTesting"];
/// Parts of a window that are pages with their own process, in every window. An isolated session has a window, and
/// costs Chrome half as much without these.
const UNUSED_UI: &[&str] = &["WebUIOmniboxPopup", "WebUIOmniboxAimPopup"];

const BASE: &[&str] = &[
    "--remote-debugging-pipe",
    "--no-first-run",
    "--no-default-browser-check",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-default-apps",
    "--disable-sync",
    // Tabs that an agent uses are rarely in front, but must run at full speed.
    "--disable-background-timer-throttling",
    "--disable-backgrounding-occluded-windows",
    "--disable-renderer-backgrounding",
    "--disable-hang-monitor",
    "--disable-prompt-on-repost",
    "--password-store=basic",
    "--use-mock-keychain",
];

#[cfg(test)]
mod tests {
    use super::*;

    fn flags(options: &LaunchOptions, environment: Environment) -> Vec<String> {
        arguments(options, Path::new("/p"), environment)
    }

    const DESKTOP: Environment = Environment {
        display: true,
        root: false,
    };

    #[test]
    fn a_window_is_shown_only_where_there_is_a_display() {
        let options = LaunchOptions::default();
        assert!(!flags(&options, DESKTOP).contains(&"--headless=new".into()));
        let bare = Environment {
            display: false,
            ..DESKTOP
        };
        assert!(flags(&options, bare).contains(&"--headless=new".into()));
        let headless = LaunchOptions {
            headless: true,
            ..options
        };
        assert!(flags(&headless, DESKTOP).contains(&"--headless=new".into()));
    }

    #[test]
    fn without_a_window_no_unrequested_page_is_opened() {
        let last = |headless, more: &[&str]| {
            let options = LaunchOptions {
                headless,
                extra_args: more.iter().map(|&flag| flag.into()).collect(),
                ..LaunchOptions::default()
            };
            flags(&options, DESKTOP).pop()
        };
        let (blank, none) = (
            Some("about:blank".to_owned()),
            Some("--no-startup-window".to_owned()),
        );
        assert_eq!(last(true, &["--lang=de"]), none);
        assert_eq!(last(false, &[]), blank);
        assert_eq!(last(true, &["--app=http://127.0.0.1/"]), blank);
        assert_eq!(last(true, &["http://127.0.0.1/"]), blank);
    }

    #[test]
    fn the_sandbox_is_off_only_for_root() {
        let options = LaunchOptions::default();
        assert!(!flags(&options, DESKTOP).contains(&"--no-sandbox".into()));
        let root = Environment {
            root: true,
            ..DESKTOP
        };
        assert!(flags(&options, root).contains(&"--no-sandbox".into()));
    }

    #[test]
    fn features_of_the_user_are_merged_with_ours() {
        let extra_args = vec!["--enable-features=A,B".into(), "--lang=de".into()];
        let list = flags(
            &LaunchOptions {
                extra_args,
                ..LaunchOptions::default()
            },
            DESKTOP,
        );
        assert!(list.contains(&"--enable-features=WebMCP,WebMCPTesting,A,B".into()));
        assert!(list.contains(&"--lang=de".into()));
        assert_eq!(list.last().map(String::as_str), Some("about:blank"));
        assert!(!list.iter().any(|flag| flag.contains("disable-features")));
    }

    #[test]
    fn web_mcp_is_enabled_by_both_names_unless_the_user_disables_one() {
        let asks = |more: &[&str]| {
            let options = LaunchOptions {
                extra_args: more.iter().map(|&flag| flag.into()).collect(),
                ..LaunchOptions::default()
            };
            let list = flags(&options, DESKTOP);
            list.contains(&"--enable-features=WebMCP,WebMCPTesting".into())
        };
        assert!(asks(&[]));
        assert!(!asks(&["--disable-features=WebMCP"]));
        assert!(!asks(&["--disable-features=WebMCPTesting"]));
    }

    #[test]
    fn unused_ui_is_disabled_without_a_window_with_the_users_features() {
        let off = |more: &[&str]| {
            let options = LaunchOptions {
                headless: true,
                extra_args: more.iter().map(|&flag| flag.into()).collect(),
                ..LaunchOptions::default()
            };
            let list = flags(&options, DESKTOP).into_iter();
            let list = list.filter(|flag| flag.starts_with("--disable-features="));
            list.collect::<Vec<_>>()
        };
        let ours = "--disable-features=WebUIOmniboxPopup,WebUIOmniboxAimPopup";
        assert_eq!(off(&[]), [ours]);
        assert_eq!(off(&["--disable-features=A,B"]), [format!("{ours},A,B")]);
        let web_mcp = [format!("{ours},WebMCP")];
        assert_eq!(off(&["--disable-features=WebMCP"]), web_mcp);
        assert_eq!(
            off(&["--enable-features=WebUIOmniboxPopup"]),
            ["--disable-features=WebUIOmniboxAimPopup"]
        );
    }
}
