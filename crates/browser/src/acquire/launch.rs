//! A browser that we launch, over a pipe: no port is opened, and the browser cannot outlive us.

mod arguments;

use super::{Acquired, Lease, Ownership};
use crate::devices::Device;
use crate::files::FileThreads;
use crate::find::{self, FindError, Wanted};
use crate::init_scripts::InitScripts;
use crate::profile::{self, Profile, ProfileChoice};
use crate::proxy::Proxy;
use crate::screen::Screen;
use arguments::{Environment, arguments};
use std::io;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::Duration;
use tabmux_cdp::{Connection, PipeTransport};
use tabmux_platform::pipes::{Receiver, Sender, spawn_with_pipes};
use tabmux_platform::process::kill_group;
use tokio::process::Child;

/// How to launch a browser.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub struct LaunchOptions {
    /// Which browser.
    pub wanted: Wanted,
    /// Which profile.
    pub profile: ProfileChoice,
    /// Without a window. The default if the user has no screen.
    pub headless: bool,
    /// The size of pages, in CSS pixels.
    pub viewport: Option<(u32, u32)>,
    /// The device that its tabs emulate.
    pub device: Option<Device>,
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

type Pipe = PipeTransport<Receiver, Sender>;

/// The process of a launched browser and its profile. Dropping it ends the browser.
#[derive(Debug)]
pub(crate) struct BrowserProcess {
    child: Child,
    // Dropped after the child was killed, so that a temporary profile can be removed.
    profile: Profile,
}

/// Launches the browser. It is up when it responds.
pub(super) async fn acquire(options: &LaunchOptions) -> Result<Acquired, LaunchError> {
    profile::wait_for_orphan(&options.profile).await;
    let screen = screen_for(options).await;
    let (process, transport) = start(options, screen.as_ref()).await?;
    let (session, events) = Connection::start(transport);
    Ok(Acquired {
        session,
        events,
        ownership: Ownership::Ours(Lease::Process(Box::new(process))),
        replaces: false,
    })
}

/// The screen for a browser's windows; `None` if it has no windows.
async fn screen_for(options: &LaunchOptions) -> Option<Screen> {
    if options.headless {
        return None;
    }
    let clients = options.screen.clone();
    let looking = move || Screen::find(clients);
    FileThreads::new().run(looking).await.ok().flatten()
}

/// Starts the process, with its windows on `screen` if given.
async fn start(
    options: &LaunchOptions,
    screen: Option<&Screen>,
) -> Result<(BrowserProcess, Pipe), LaunchError> {
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
            Ok((BrowserProcess { child, profile }, transport))
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
        // Without an id it has exited and was reaped. Otherwise the id still belongs to the process group that we
        // created for it.
        if let Some(group) = self.child.id() {
            kill_group(group);
        }
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
    let mut command = Command::new(program);
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
    let (child, read, write) = spawn_with_pipes(command)?;
    Ok((child, PipeTransport::new(read, write)))
}

const REAPING_TRIES: usize = 100;
const REAPING_PAUSE: Duration = Duration::from_millis(5);

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_that_is_not_a_program_is_an_error() {
        let error = spawn(Path::new("/nowhere/chrome"), &[], None, None).unwrap_err();
        assert_eq!(error.kind(), io::ErrorKind::NotFound);
    }
}
