//! One attempt to connect a browser: the named one, else one that runs, else one of ours if that is wanted.

use crate::extension::{Extensions, PeerName};
use crate::main_loop::Event;
use crate::options::{BrowserPlan, Extension};
use std::process::Stdio;
use std::sync::Arc;
use std::time::Duration;
use tabmux_browser::launch::LaunchOptions;
use tabmux_browser::screen::Screen;
use tabmux_browser::{Browser, ConnectError, Connected, OutputRoot, Source, TabSettings};
use tabmux_core::BrowserId;
use tokio::sync::mpsc;
use tokio::time::Instant;

/// What an attempt needs to know. It reports to the main loop.
pub(crate) struct Attempt {
    pub(crate) browser: BrowserId,
    pub(crate) plan: BrowserPlan,
    /// Whether a browser of ours would do.
    pub(crate) launch: bool,
    /// Whether the user's own command may be run if nothing else helps.
    pub(crate) start: bool,
    pub(crate) extensions: Arc<Extensions>,
    /// How long an extension that is away is waited for.
    pub(crate) patience: Duration,
    pub(crate) events: mpsc::Sender<Event>,
    /// The screen of the last client that had one.
    pub(crate) screen: Option<Screen>,
    /// Where a browser of ours puts what it downloads.
    pub(crate) output: OutputRoot,
}

/// A browser, and the extension that it is reached through, if it is.
type Reached = (Connected, Option<PeerName>);

impl Attempt {
    pub(crate) async fn make(self) {
        let mut result = self.as_planned(self.launch).await;
        if let (Err(_), true, Some(command)) = (&result, self.start, &self.plan.start_command) {
            result = self.after_start(command).await;
        }
        let (result, way) = match result {
            Ok((connected, way)) => (Ok(Box::new(connected)), way),
            Err(error) => (Err(error), None),
        };
        let connected = Event::Connected {
            browser: self.browser,
            result,
            way,
        };
        let _ = self.events.send(connected).await;
    }

    async fn as_planned(&self, launch: bool) -> Result<Reached, ConnectError> {
        let plan = &self.plan;
        let settings = TabSettings {
            viewport: plan.launch.viewport,
            device: plan.launch.device,
            policy: plan.policy,
            shim: plan.shim,
            scripts: plan.launch.scripts.clone(),
            permissions: plan.launch.permissions.clone().into(),
        };
        // What is not ours stays as it is.
        let attached = TabSettings {
            policy: plan.policy,
            shim: plan.shim,
            ..TabSettings::default()
        };
        match &plan.extension {
            Extension::Only { name } => {
                let reached = self.reach(name.as_deref(), self.patience, attached).await?;
                return reached.ok_or(ConnectError::NoExtension);
            }
            // One that this user installed is meant, also if it is just on its way.
            Extension::IfThere
                if self.extensions.is_connected() || self.extensions.is_expected() =>
            {
                let limit = if launch {
                    SHORT_PATIENCE
                } else {
                    self.patience
                };
                if let Some(reached) = self.reach(None, limit, attached.clone()).await? {
                    return Ok(reached);
                }
            }
            Extension::IfThere | Extension::Never => {}
        }
        if let Some(source) = &plan.named {
            return directly(Browser::connect(source, attached.clone(), &self.output).await);
        }
        if plan.running {
            let running = Source::Running(plan.which_running());
            match Browser::connect(&running, attached.clone(), &self.output).await {
                Err(ConnectError::NoneRunning) => {}
                result => return directly(result),
            }
        }
        if plan.attaches_only {
            return Err(ConnectError::NoneToAttach);
        }
        if !launch && !plan.launches() {
            return Err(ConnectError::NoneRunning);
        }
        let ours = Source::Launch(LaunchOptions {
            screen: self.screen.clone(),
            ..plan.launch.clone()
        });
        directly(Browser::connect(&ours, settings, &self.output).await)
    }

    /// Connects through an extension, which may be on its way. Those who wait for the browser hear of it. One
    /// that leaves meanwhile may be back at once, and is tried again.
    async fn reach(
        &self,
        name: Option<&str>,
        limit: Duration,
        settings: TabSettings,
    ) -> Result<Option<Reached>, ConnectError> {
        let browser = self.browser;
        let say = |message| {
            // A loop that is too busy for this has better things to tell.
            let _ = self.events.try_send(Event::Awaited { browser, message });
        };
        let end = Instant::now() + limit;
        let mut tries = MOST_TRIES;
        loop {
            let left = end.saturating_duration_since(Instant::now());
            let reached = self.extensions.reach_patiently(name, left, say).await;
            let Some((peer, transport)) = reached else {
                return Ok(None);
            };
            tries -= 1;
            match Browser::connect_over(transport, settings.clone()).await {
                Ok(connected) => return Ok(Some((connected, Some(peer)))),
                Err(error) if tries == 0 => return Err(error),
                Err(error) => tracing::debug!(%error, "an extension left as it was reached"),
            }
        }
    }

    /// Runs the user's own command for a browser that cannot be reached, and tries until it can be, or
    /// for long enough.
    async fn after_start(&self, command: &str) -> Result<Reached, ConnectError> {
        tracing::info!(command, "starting a browser as its user said");
        if let Err(error) = run_detached(command) {
            tracing::warn!(%error, command, "the start command could not be run");
        }
        let end = Instant::now() + START_LIMIT;
        loop {
            match self.as_planned(false).await {
                Err(_) if Instant::now() < end => tokio::time::sleep(START_PAUSE).await,
                result => return result,
            }
        }
    }
}

fn directly(result: Result<Connected, ConnectError>) -> Result<Reached, ConnectError> {
    result.map(|connected| (connected, None))
}

/// What it starts is the user's, and outlives us.
fn run_detached(command: &str) -> std::io::Result<()> {
    let mut shell = tokio::process::Command::new("sh");
    shell.arg("-c").arg(command).process_group(0);
    shell
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::null());
    tabmux_browser::descriptors::restore_in(shell.as_std_mut());
    let mut child = shell.spawn()?;
    tokio::spawn(async move { child.wait().await });
    Ok(())
}

/// For an extension, where a browser of ours would do.
const SHORT_PATIENCE: Duration = Duration::from_secs(3);

/// How often an extension that is there is tried.
const MOST_TRIES: u32 = 3;

/// How long a browser that was just started may take until it answers, and how often it is asked.
const START_LIMIT: Duration = Duration::from_secs(20);
const START_PAUSE: Duration = Duration::from_millis(100);
