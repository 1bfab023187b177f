//! Launches a browser over a pipe, so that no port is opened and it cannot outlive us.

use crate::devices::Device;
use crate::files::FileThreads;
use crate::find::{self, FindError, Wanted};
use crate::init_scripts::InitScripts;
use crate::profile::{Profile, ProfileChoice};
use crate::proxy::Proxy;
use crate::screen::Screen;
use command_fds::{CommandFdExt, FdMapping};
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
    /// Without a window. The default where the user has no screen.
    pub headless: bool,
    /// The size of pages, in CSS pixels.
    pub viewport: Option<(u32, u32)>,
    /// What its tabs pretend to be.
    pub device: Option<Device>,
    /// A proxy for all traffic.
    pub proxy: Option<Proxy>,
    /// Take any certificate.
    pub accept_insecure_certs: bool,
    /// More arguments, passed on as they are.
    pub extra_args: Vec<String>,
    /// The screen of a client, should this process have none.
    pub screen: Option<Screen>,
    /// What runs in every page before its own scripts.
    pub scripts: InitScripts,
    /// What pages need not ask for.
    pub permissions: Vec<String>,
}

/// Why a browser could not be launched.
#[derive(Debug, thiserror::Error)]
pub enum LaunchError {
    /// There is none.
    #[error(transparent)]
    Find(#[from] FindError),
    /// The profile folder could not be made.
    #[error("The profile folder cannot be used: {0}. Name another one with --userDataDir.")]
    Profile(#[source] io::Error),
    /// The program did not start.
    #[error("{program} did not start: {error}. Check --executablePath.")]
    Spawn {
        /// The program that was run.
        program: String,
        /// What the system said.
        error: io::Error,
    },
}

type Pipe = PipeTransport<pipe::Receiver, pipe::Sender>;

/// A browser that we started, and must end.
#[derive(Debug)]
pub(crate) struct Launched {
    pub(crate) transport: Pipe,
    pub(crate) process: BrowserProcess,
}

/// The process of a launched browser with its profile. Ends with this value.
#[derive(Debug)]
pub(crate) struct BrowserProcess {
    child: Child,
    // Dropped after the child was killed, so that a temporary profile can be removed.
    profile: Profile,
}

/// Starts the browser, with its windows on that screen if there is one. It is up when it answers over the transport.
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
    let arguments = arguments(options, profile.path(), Surroundings::look(screen));
    // Not on a thread of its own: what is launched there while the process ends would stay.
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

/// What has to be there before a browser can be started.
struct Prepared {
    program: PathBuf,
    profile: Profile,
    scratch: Option<PathBuf>,
}

impl Prepared {
    /// Blocks: what earlier browsers left is removed first.
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
    /// Waits until the browser has ended by itself.
    pub(crate) async fn exited(&mut self) {
        let _ = self.child.wait().await;
    }

    /// Waits until the browser has ended by itself, then makes sure. One with a temporary profile
    /// has nothing to save, and is given no time.
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
            // A killed process is reaped at once; the limit only guards against the unforeseen.
            let _ = tokio::time::timeout(Duration::from_secs(2), self.child.wait()).await;
        }
        tracing::debug!(profile = %self.profile.path().display(), "the browser has ended");
        // Removing its profile is file work, too.
        let _ = FileThreads::new().run(move || drop(self)).await;
    }

    /// Ends the browser with all its helpers.
    fn kill(&mut self) {
        let Some(pid) = self
            .child
            .id()
            .and_then(|pid| libc::pid_t::try_from(pid).ok())
        else {
            return; // It has ended and was reaped.
        };
        // SAFETY: the child is not reaped yet, so the id still names the group that we made for it.
        #[expect(unsafe_code, reason = "std cannot signal a process group")]
        let _ = unsafe { libc::kill(-pid, libc::SIGKILL) };
    }
}

impl Drop for BrowserProcess {
    fn drop(&mut self) {
        self.kill();
        // A killed process is gone in a moment, and only then its profile can be removed.
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
        // Our stdout carries MCP and nothing else.
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

/// What around us decides about flags.
#[derive(Clone, Copy, Debug)]
struct Surroundings {
    display: bool,
    root: bool,
}

impl Surroundings {
    fn look(screen: Option<&Screen>) -> Self {
        let root = crate::user::own_uid() == 0;
        let display = cfg!(target_os = "macos") || screen.is_some();
        Self { display, root }
    }
}

fn arguments(options: &LaunchOptions, profile: &Path, around: Surroundings) -> Vec<String> {
    let mut list: Vec<String> = BASE.iter().map(|&flag| flag.into()).collect();
    list.push(format!("--user-data-dir={}", profile.display()));
    let headless = options.headless || !around.display;
    if headless {
        list.extend([
            "--headless=new".into(),
            "--hide-scrollbars".into(),
            "--mute-audio".into(),
        ]);
    }
    if around.root {
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
    // Chrome takes only the last list of features, so a user's lists are merged with ours.
    let (mut on, mut off) = (Vec::new(), Vec::new());
    for argument in &options.extra_args {
        match argument.split_once('=') {
            Some(("--enable-features", more)) => on.extend(more.split(',')),
            Some(("--disable-features", more)) => off.extend(more.split(',')),
            _ => list.push(argument.clone()),
        }
    }
    let hidden = if headless { NOT_SEEN } else { &[] };
    // What the user says of a feature goes before what we do.
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
        // Nobody would look at a first window, and the first tab that is asked for brings its own:
        // that spares Chrome a third of the work of its start.
        true => "--no-startup-window".into(),
        false => "about:blank".into(),
    });
    list
}

/// Whether arguments of the user name what to open at first.
fn opens_a_page(arguments: &[String]) -> bool {
    let names_one =
        |argument: &String| !argument.starts_with('-') || argument.starts_with("--app=");
    arguments.iter().any(names_one)
}

const REAPING_TRIES: usize = 100;
const REAPING_PAUSE: Duration = Duration::from_millis(5);

/// Chrome's names for WebMCP: each switches it on, and one that Chrome does not know does no harm.
const WEB_MCP: &[&str] = &["WebMCP", "WebMCPTesting"];
/// Parts of a window that are pages with a process of their own, in every window. An isolated session has a
/// window, and without these it costs Chrome half as much.
const NOT_SEEN: &[&str] = &["WebUIOmniboxPopup", "WebUIOmniboxAimPopup"];

const BASE: &[&str] = &[
    "--remote-debugging-pipe",
    "--no-first-run",
    "--no-default-browser-check",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-default-apps",
    "--disable-sync",
    // Tabs that an agent works in are rarely in front; they must run all the same.
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

    fn flags(options: &LaunchOptions, around: Surroundings) -> Vec<String> {
        arguments(options, Path::new("/p"), around)
    }

    const DESK: Surroundings = Surroundings {
        display: true,
        root: false,
    };

    #[test]
    fn a_window_is_shown_only_where_there_is_a_display() {
        let options = LaunchOptions::default();
        assert!(!flags(&options, DESK).contains(&"--headless=new".into()));
        let bare = Surroundings {
            display: false,
            ..DESK
        };
        assert!(flags(&options, bare).contains(&"--headless=new".into()));
        let headless = LaunchOptions {
            headless: true,
            ..options
        };
        assert!(flags(&headless, DESK).contains(&"--headless=new".into()));
    }

    #[test]
    fn without_a_window_nothing_is_opened_that_nobody_asked_for() {
        let last = |headless, more: &[&str]| {
            let options = LaunchOptions {
                headless,
                extra_args: more.iter().map(|&flag| flag.into()).collect(),
                ..LaunchOptions::default()
            };
            flags(&options, DESK).pop()
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
        assert!(!flags(&options, DESK).contains(&"--no-sandbox".into()));
        let root = Surroundings { root: true, ..DESK };
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
            DESK,
        );
        assert!(list.contains(&"--enable-features=WebMCP,WebMCPTesting,A,B".into()));
        assert!(list.contains(&"--lang=de".into()));
        assert_eq!(list.last().map(String::as_str), Some("about:blank"));
        assert!(!list.iter().any(|flag| flag.contains("disable-features")));
    }

    #[test]
    fn web_mcp_is_asked_for_by_both_names_unless_the_user_turns_one_off() {
        let asks = |more: &[&str]| {
            let options = LaunchOptions {
                extra_args: more.iter().map(|&flag| flag.into()).collect(),
                ..LaunchOptions::default()
            };
            let list = flags(&options, DESK);
            list.contains(&"--enable-features=WebMCP,WebMCPTesting".into())
        };
        assert!(asks(&[]));
        assert!(!asks(&["--disable-features=WebMCP"]));
        assert!(!asks(&["--disable-features=WebMCPTesting"]));
    }

    #[test]
    fn what_nobody_sees_is_off_without_a_window_beside_what_the_user_turns_off() {
        let off = |more: &[&str]| {
            let options = LaunchOptions {
                headless: true,
                extra_args: more.iter().map(|&flag| flag.into()).collect(),
                ..LaunchOptions::default()
            };
            let list = flags(&options, DESK).into_iter();
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
    fn a_program_that_is_none_is_an_error() {
        let error = spawn(Path::new("/nowhere/chrome"), &[], None, None).unwrap_err();
        assert_eq!(error.kind(), io::ErrorKind::NotFound);
    }
}
