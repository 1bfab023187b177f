//! Launches a browser over a pipe: no port is opened, and the browser cannot outlive us.

use crate::files::FileThreads;
use crate::find::{self, FindError, Wanted};
use crate::init_scripts::InitScripts;
use crate::profile::{Profile, ProfileChoice};
use crate::proxy::Proxy;
use crate::screen::Screen;
use command_fds::{CommandFdExt, FdMapping};
use rustix::process::{Pid, Signal, kill_process_group};
use std::io;
use std::os::fd::OwnedFd;
use std::path::{Path, PathBuf};
use std::process::Stdio;
use std::time::Duration;
use tabmux_cdp::PipeTransport;
use tokio::net::unix::pipe;
use tokio::process::{Child, Command};

/// How to launch a browser.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct LaunchOptions {
    /// Which browser.
    pub wanted: Wanted,
    /// Which profile.
    pub profile: ProfileChoice,
    /// Without a window. The default if the user has no screen.
    pub headless: bool,
    /// The size of pages, in CSS pixels.
    pub viewport: Option<(u32, u32)>,
    /// A proxy for all traffic.
    pub proxy: Option<Proxy>,
    /// Accept any certificate.
    pub accept_insecure_certs: bool,
    /// More arguments, passed on unchanged.
    pub extra_args: Vec<String>,
    /// The screen of a client, if this process has none.
    pub screen: Option<Screen>,
    /// Scripts that run in every page before its own.
    pub scripts: InitScripts,
    /// Permissions that pages have without asking.
    pub permissions: Vec<String>,
}

/// Why a browser could not be launched.
#[derive(Debug, thiserror::Error)]
pub enum LaunchError {
    /// No browser was found.
    #[error(transparent)]
    Find(#[from] FindError),
    /// The profile folder could not be created.
    #[error("The profile folder cannot be used: {0}. Name another one with --userDataDir.")]
    Profile(#[source] io::Error),
    /// The program did not start.
    #[error("{program} did not start: {error}. Check --executablePath.")]
    Spawn {
        /// The program that was run.
        program: String,
        /// What the system reported.
        error: io::Error,
    },
}

type Pipe = PipeTransport<pipe::Receiver, pipe::Sender>;

/// A browser that we started, and have to end.
#[derive(Debug)]
pub(crate) struct Launched {
    pub(crate) transport: Pipe,
    pub(crate) process: BrowserProcess,
}

/// The process of a launched browser and its profile. Dropping it ends the browser.
#[derive(Debug)]
pub(crate) struct BrowserProcess {
    child: Child,
    // Dropped after the child was killed, so that a temporary profile can be removed.
    profile: Profile,
}

/// Starts the browser, with its windows on `screen` if given. It is up when it responds over the transport.
pub(crate) async fn launch(
    options: &LaunchOptions,
    screen: Option<&Screen>,
) -> Result<Launched, LaunchError> {
    let wanted = options.clone();
    let prepared = FileThreads::new()
        .run(move || Prepared::make(&wanted))
        .await;
    let Prepared {
        program,
        profile,
        scratch,
    } = prepared.map_err(|stuck| {
        let why = stuck.to_string();
        LaunchError::Profile(io::Error::other(why.trim_end_matches('.').to_owned()))
    })??;
    if let Some(notice) = &profile.notice {
        tracing::warn!("{notice}");
    }
    let arguments = arguments(options, profile.path(), Environment::detect(screen));
    // Not on another thread: a browser launched there while the process exits would stay behind.
    match spawn(&program, &arguments, scratch.as_deref(), screen) {
        Ok((child, transport)) => {
            tracing::info!(program = %program.display(), pid = child.id(), "launched a browser");
            Ok(Launched {
                transport,
                process: BrowserProcess { child, profile },
            })
        }
        Err(error) => {
            let _ = FileThreads::new().run(move || drop(profile)).await;
            Err(LaunchError::Spawn {
                program: program.display().to_string(),
                error,
            })
        }
    }
}

/// What is needed before a browser can be started.
struct Prepared {
    program: PathBuf,
    profile: Profile,
    scratch: Option<PathBuf>,
}

impl Prepared {
    /// Blocks: removes what earlier browsers left behind.
    fn make(options: &LaunchOptions) -> Result<Self, LaunchError> {
        let program = find::find(&options.wanted)?;
        let mut profile = Profile::open(&options.profile).map_err(LaunchError::Profile)?;
        let scratch = profile.scratch();
        Ok(Self {
            program,
            profile,
            scratch,
        })
    }
}

impl BrowserProcess {
    /// Waits until the browser has exited by itself.
    pub(crate) async fn exited(&mut self) {
        let _ = self.child.wait().await;
    }

    /// Waits until the browser has exited by itself, then kills what remains. One with a temporary profile has
    /// nothing to save, so it is killed at once.
    pub(crate) async fn end(mut self, grace: Duration) {
        let grace = if self.profile.is_temporary() {
            Duration::ZERO
        } else {
            grace
        };
        if tokio::time::timeout(grace, self.child.wait())
            .await
            .is_err()
        {
            self.kill();
            // A killed process is reaped at once; the timeout is only a safety net.
            let _ = tokio::time::timeout(Duration::from_secs(2), self.child.wait()).await;
        }
        tracing::debug!(profile = %self.profile.path().display(), "the browser has exited");
        // Removing its profile is file work, too.
        let _ = FileThreads::new().run(move || drop(self)).await;
    }

    /// Kills the browser with all its child processes.
    fn kill(&mut self) {
        let pid = self.child.id().and_then(|pid| i32::try_from(pid).ok());
        let Some(group) = pid.and_then(Pid::from_raw) else {
            return; // It has exited and was reaped.
        };
        // The child is not reaped yet, so the id still belongs to the process group that we created for it.
        let _ = kill_process_group(group, Signal::KILL);
    }
}

impl Drop for BrowserProcess {
    fn drop(&mut self) {
        self.kill();
        // A killed process exits in a moment, and only then its profile can be removed.
        for _ in 0..REAPING_TRIES {
            if !matches!(self.child.try_wait(), Ok(None)) {
                return;
            }
            std::thread::sleep(REAPING_PAUSE);
        }
    }
}

fn spawn(
    program: &Path,
    arguments: &[String],
    scratch: Option<&Path>,
    screen: Option<&Screen>,
) -> io::Result<(Child, Pipe)> {
    let (commands_out, commands_in) = io::pipe()?;
    let (answers_out, answers_in) = io::pipe()?;
    let mut command = std::process::Command::new(program);
    command
        .args(arguments)
        .envs(scratch.map(|folder| ("TMPDIR", folder)))
        .stdin(Stdio::null())
        // Our stdout is reserved for MCP.
        .stdout(Stdio::null())
        .stderr(Stdio::null());
    if let Some(screen) = screen {
        screen.set_for(&mut command);
    }
    std::os::unix::process::CommandExt::process_group(&mut command, 0);
    command
        .fd_mappings(vec![
            FdMapping {
                parent_fd: OwnedFd::from(commands_out),
                child_fd: 3,
            },
            FdMapping {
                parent_fd: OwnedFd::from(answers_in),
                child_fd: 4,
            },
        ])
        .map_err(|error| io::Error::other(error.to_string()))?;
    crate::descriptors::restore_in(&mut command);
    let child = Command::from(command).spawn()?;
    let write = pipe::Sender::from_owned_fd(OwnedFd::from(commands_in))?;
    let read = pipe::Receiver::from_owned_fd(OwnedFd::from(answers_out))?;
    Ok((child, PipeTransport::new(read, write)))
}

/// Facts about our environment that decide about flags.
#[derive(Clone, Copy, Debug)]
struct Environment {
    display: bool,
    root: bool,
}

impl Environment {
    fn detect(screen: Option<&Screen>) -> Self {
        let root = crate::user::own_uid() == 0;
        let display = cfg!(target_os = "macos") || screen.is_some();
        Self { display, root }
    }
}

fn arguments(options: &LaunchOptions, profile: &Path, environment: Environment) -> Vec<String> {
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

const REAPING_TRIES: usize = 100;
const REAPING_PAUSE: Duration = Duration::from_millis(5);

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

    #[test]
    fn a_file_that_is_not_a_program_is_an_error() {
        let error = spawn(Path::new("/nowhere/chrome"), &[], None, None).unwrap_err();
        assert_eq!(error.kind(), io::ErrorKind::NotFound);
    }
}
