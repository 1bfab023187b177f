//! One attempt to connect a browser: the named one, else a running one, else a launched one if that is allowed.

use crate::extension::{Extensions, PeerName};
use crate::main_loop::Event;
use crate::options::{BrowserPlan, PlannedBrowser, source_at};
use std::process::Stdio;
use std::sync::Arc;
use std::time::Duration;
use tabmux_browser::LaunchOptions;
use tabmux_browser::screen::Screen;
use tabmux_browser::{Browser, ConnectError, Connected, OutputRoot, Source, TabSettings};
use tabmux_core::BrowserId;
use tokio::sync::mpsc;
use tokio::time::Instant;
use tokio_util::sync::CancellationToken;

/// The inputs of an attempt. It reports its result to the main loop.
pub(crate) struct Attempt {
    pub(crate) browser: BrowserId,
    pub(crate) plan: BrowserPlan,
    /// Whether a browser may be launched.
    pub(crate) launch: bool,
    /// Whether the user's start command may be run if the browser cannot be reached.
    pub(crate) start: bool,
    pub(crate) extensions: Arc<Extensions>,
    /// How long to wait for an extension that is not connected.
    pub(crate) patience: Duration,
    pub(crate) events: mpsc::Sender<Event>,
    /// Cancelled if no call waits for the browser any more.
    pub(crate) given_up: CancellationToken,
    /// The display of the last client that had one.
    pub(crate) screen: Option<Screen>,
    /// The download folder of a launched browser.
    pub(crate) output: OutputRoot,
}

/// A browser, and the extension through which it is reached, if any.
type Reached = (Connected, Option<PeerName>);

impl Attempt {
    pub(crate) async fn make(self) {
        let connecting = async {
            let result = self.as_planned(self.launch).await;
            match (&result, self.start, &self.plan.start_command) {
                (Err(_), true, Some(command)) => self.after_start(command).await,
                _ => result,
            }
        };
        let result = tokio::select! {
            result = connecting => result,
            () = self.given_up.cancelled() => Err(ConnectError::GivenUp),
        };
        let (result, peer) = match result {
            Ok((connected, peer)) => (Ok(Box::new(connected)), peer),
            Err(error) => (Err(error), None),
        };
        let connected = Event::Connected {
            browser: self.browser,
            result,
            peer,
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
            ..TabSettings::default()
        };
        // tabmux does not change the settings of a browser that it did not launch.
        let attached = TabSettings {
            policy: plan.policy,
            shim: plan.shim,
            ..TabSettings::default()
        };
        match &plan.browser {
            PlannedBrowser::Extension { name } => {
                let reached = self.reach(name.as_deref(), self.patience, attached).await?;
                return reached.ok_or(ConnectError::NoExtension);
            }
            PlannedBrowser::At(address) => {
                let source = source_at(address.clone(), plan);
                let say = |message| self.say(message);
                let connected = Browser::connect_saying(&source, attached, &self.output, &say);
                return directly(connected.await);
            }
            PlannedBrowser::Running => {
                return match self.running(attached).await? {
                    Some(reached) => Ok(reached),
                    None => Err(ConnectError::NoneToAttach),
                };
            }
            PlannedBrowser::Any => {
                if let Some(reached) = self.any(launch, attached).await? {
                    return Ok(reached);
                }
            }
            PlannedBrowser::Launched => {}
        }
        if !may_launch(&plan.browser, launch) {
            return Err(ConnectError::NoneRunning);
        }
        let ours = Source::Launch(LaunchOptions {
            screen: self.screen.clone(),
            ..plan.launch.clone()
        });
        directly(Browser::connect(&ours, settings, &self.output).await)
    }

    /// The browser of an extension, else a running one.
    async fn any(
        &self,
        launch: bool,
        settings: TabSettings,
    ) -> Result<Option<Reached>, ConnectError> {
        // If this user has installed the extension, use it, even if it is still reconnecting.
        if self.extensions.is_connected() || self.extensions.is_expected() {
            let limit = match launch {
                true => SHORT_PATIENCE,
                false => self.patience,
            };
            if let Some(reached) = self.reach(None, limit, settings.clone()).await? {
                return Ok(Some(reached));
            }
        }
        self.running(settings).await
    }

    /// A running browser that allows remote debugging, if there is one.
    async fn running(&self, settings: TabSettings) -> Result<Option<Reached>, ConnectError> {
        let running = Source::Running(self.plan.which_running());
        match Browser::connect(&running, settings, &self.output).await {
            Err(ConnectError::NoneRunning) => Ok(None),
            result => directly(result).map(Some),
        }
    }

    /// Connects through an extension, which may still be reconnecting. Calls that wait for the browser get progress
    /// messages. If the extension disconnects meanwhile, it may reconnect at once, so this retries.
    async fn reach(
        &self,
        name: Option<&str>,
        limit: Duration,
        settings: TabSettings,
    ) -> Result<Option<Reached>, ConnectError> {
        let say = |message| self.say(message);
        let end = Instant::now() + limit;
        let mut tries = MOST_TRIES;
        loop {
            let left = end.saturating_duration_since(Instant::now());
            let reached = self.extensions.reach_with_progress(name, left, say).await;
            let Some((peer, transport)) = reached else {
                return Ok(None);
            };
            tries -= 1;
            match Browser::connect_over(transport, settings.clone()).await {
                Ok(connected) => return Ok(Some((connected, Some(peer)))),
                Err(error) if tries == 0 => return Err(error),
                Err(error) => {
                    tracing::debug!(%error, "the extension disconnected during the attempt")
                }
            }
        }
    }

    /// Tells the calls that wait for the browser why it takes long.
    fn say(&self, message: String) {
        let browser = self.browser;
        // If the queue is full, the message is dropped: it is only progress.
        let _ = self.events.try_send(Event::Awaited { browser, message });
    }

    /// Runs the user's start command for a browser that cannot be reached, and retries until it answers or a timeout
    /// passes.
    async fn after_start(&self, command: &str) -> Result<Reached, ConnectError> {
        tracing::info!(command, "running the user's start command for a browser");
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

/// Whether a browser may be launched when no running one was reached: if a flag says so, or if the agent asks for it
/// and no flag names another browser.
fn may_launch(planned: &PlannedBrowser, asked: bool) -> bool {
    match planned {
        PlannedBrowser::Launched => true,
        PlannedBrowser::Any => asked,
        PlannedBrowser::Running | PlannedBrowser::Extension { .. } | PlannedBrowser::At(_) => false,
    }
}

fn directly(result: Result<Connected, ConnectError>) -> Result<Reached, ConnectError> {
    result.map(|connected| (connected, None))
}

/// The started process belongs to the user and outlives the daemon.
fn run_detached(command: &str) -> std::io::Result<()> {
    let mut shell = tokio::process::Command::new("sh");
    shell.arg("-c").arg(command).process_group(0);
    shell
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::null());
    tabmux_platform::limits::restore_in(shell.as_std_mut());
    let mut child = shell.spawn()?;
    tokio::spawn(async move { child.wait().await });
    Ok(())
}

/// How long to wait for an extension if a browser may be launched instead.
const SHORT_PATIENCE: Duration = Duration::from_secs(3);

/// How often to try a connected extension.
const MOST_TRIES: u32 = 3;

/// How long a browser that was just started may take to answer, and the pause between attempts.
const START_LIMIT: Duration = Duration::from_secs(20);
const START_PAUSE: Duration = Duration::from_millis(100);

#[cfg(test)]
mod tests {
    use super::*;
    use tabmux_protocol::session::EndpointAddress;

    #[test]
    fn only_launch_flags_launch_a_browser_unasked() {
        let address = EndpointAddress::DevTools {
            url: "http://127.0.0.1:9222".into(),
        };
        let named = Some("work".to_owned());
        for (planned, unasked, asked) in [
            (PlannedBrowser::Launched, true, true),
            (PlannedBrowser::Any, false, true),
            (PlannedBrowser::Running, false, false),
            (PlannedBrowser::Extension { name: None }, false, false),
            (PlannedBrowser::Extension { name: named }, false, false),
            (PlannedBrowser::At(address), false, false),
        ] {
            assert_eq!(may_launch(&planned, false), unasked, "{planned:?}");
            assert_eq!(may_launch(&planned, true), asked, "{planned:?}");
        }
    }
}
