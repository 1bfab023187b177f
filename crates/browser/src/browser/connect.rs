//! Connects to a browser: launches one, or attaches to one that runs.

use super::actor::Actor;
use super::{Browser, BrowserEvent, BrowserInfo, Inner, TabFacts};
use crate::discover::{self, DiscoverError};
use crate::launch::{self, BrowserProcess, LaunchError, LaunchOptions};
use crate::tab::TabSettings;
use std::sync::Arc;
use std::time::Duration;
use tabmux_cdp::types::{browser, target};
use tabmux_cdp::{CdpError, Connection, Events, Session, WebSocketTransport};
use tokio::sync::mpsc;

/// Where a browser comes from.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Source {
    /// One that we launch.
    Launch(LaunchOptions),
    /// One at `http://host:port`.
    Url(String),
    /// One at `ws://…`.
    WebSocket(String),
    /// Whichever of this user's browsers allows remote debugging.
    Running,
}

/// Why there is no connection. The text is for people and agents alike.
#[derive(Debug, thiserror::Error)]
pub enum ConnectError {
    /// No running browser allows remote debugging.
    #[error("No browser found")]
    NoneRunning,
    /// The named one cannot be reached.
    #[error(transparent)]
    Discover(#[from] DiscoverError),
    /// The websocket was refused.
    #[error("No browser answers at {url} ({detail}).")]
    WebSocket {
        /// Where.
        url: String,
        /// What went wrong.
        detail: String,
    },
    /// Ours did not start.
    #[error(transparent)]
    Launch(#[from] LaunchError),
    /// It started, and ended or fell silent before it was ready.
    #[error("The browser did not answer ({0}). Another process may hold its profile; see the log.")]
    Silent(CdpError),
}

/// A browser that has introduced itself. Its events wait until somebody follows it.
#[derive(Debug)]
pub struct Connected {
    /// What it told about itself.
    pub info: BrowserInfo,
    session: Session,
    events: Events,
    process: Option<BrowserProcess>,
    settings: TabSettings,
}

impl Connected {
    /// Follows the browser. Events go to `report`, each with `tag`; none is lost between
    /// [`BrowserInfo::tabs`] and the first event.
    pub fn follow<E>(self, tag: u32, report: mpsc::Sender<E>) -> Browser
    where
        E: From<(u32, BrowserEvent)> + Send + 'static,
    {
        let Self {
            info,
            session,
            events,
            process,
            settings,
        } = self;
        let (order, orders) = mpsc::channel(64);
        let actor = Actor::new(session.clone(), settings, process, &info.tabs, tag, report);
        tokio::spawn(actor.run(events, orders));
        Browser(Arc::new(Inner {
            session,
            launched: info.launched,
            orders: order,
        }))
    }
}

impl Browser {
    /// Connects to a browser and hears which tabs it has.
    pub async fn connect(
        source: &Source,
        settings: TabSettings,
    ) -> Result<Connected, ConnectError> {
        let (session, events, process) = reach(source).await?;
        let launched = process.is_some();
        let (info, tabs) = tokio::time::timeout(FIRST_ANSWER_LIMIT, introduce(&session, launched))
            .await
            .unwrap_or_else(|_| {
                Err(CdpError::TimedOut {
                    method: "Target.getTargets".into(),
                    limit: FIRST_ANSWER_LIMIT,
                })
            })
            .map_err(ConnectError::Silent)?;
        let (name, version) = product(&info.product);
        let info = BrowserInfo {
            name,
            version,
            launched,
            tabs,
        };
        Ok(Connected {
            info,
            session,
            events,
            process,
            settings,
        })
    }
}

async fn reach(source: &Source) -> Result<(Session, Events, Option<BrowserProcess>), ConnectError> {
    let over = |transport| {
        let (session, events) = Connection::start(transport);
        (session, events, None)
    };
    match source {
        Source::Launch(options) => {
            let launched = launch::launch(options)?;
            let (session, events) = Connection::start(launched.transport);
            Ok((session, events, Some(launched.process)))
        }
        Source::Url(url) => Ok(over(dial(&discover::websocket_of(url).await?).await?)),
        Source::WebSocket(url) => Ok(over(dial(url).await?)),
        Source::Running => {
            for endpoint in discover::running_browsers() {
                match dial(&endpoint).await {
                    Ok(transport) => return Ok(over(transport)),
                    Err(error) => tracing::debug!(%error, "a browser's profile is out of date"),
                }
            }
            Err(ConnectError::NoneRunning)
        }
    }
}

async fn dial(url: &str) -> Result<WebSocketTransport, ConnectError> {
    let failed = |detail| ConnectError::WebSocket {
        url: url.to_owned(),
        detail,
    };
    match tokio::time::timeout(DIAL_LIMIT, WebSocketTransport::connect(url, &[])).await {
        Ok(Ok(transport)) => Ok(transport),
        Ok(Err(error)) => Err(failed(error.to_string())),
        Err(_) => Err(failed(format!("no answer in {} s", DIAL_LIMIT.as_secs()))),
    }
}

/// Asks the browser who it is and which tabs it has, and to tell of every change from now on.
async fn introduce(
    session: &Session,
    launched: bool,
) -> Result<(browser::GetVersionResponse, Vec<TabFacts>), CdpError> {
    let discover = target::SetDiscoverTargets {
        discover: true,
        filter: Some(crate::tab::only("page")),
    };
    // In a browser of ours every tab is attached before its first script; in somebody else's only
    // those that a session works in.
    let attach = async {
        if launched {
            session.send(attach_tabs()).await?;
        }
        Ok::<_, CdpError>(())
    };
    let downloads = browser::SetDownloadBehavior {
        behavior: browser::SetDownloadBehaviorBehavior::DEFAULT,
        events_enabled: Some(true),
        ..Default::default()
    };
    let (info, discovering, attaching, _) = tokio::join!(
        session.send(browser::GetVersion::default()),
        session.send(discover),
        attach,
        session.send(downloads),
    );
    discovering?;
    attaching?;
    let targets = session
        .send(target::GetTargets::default())
        .await?
        .target_infos;
    let pages = targets.iter().filter(|info| info.r#type == "page");
    Ok((info?, pages.map(TabFacts::from).collect()))
}

fn attach_tabs() -> target::SetAutoAttach {
    target::SetAutoAttach {
        auto_attach: true,
        wait_for_debugger_on_start: true,
        flatten: Some(true),
        filter: Some(crate::tab::only("page")),
    }
}

/// `Chrome/156.0.8078.79` as name and version; headless Chrome is Chrome.
fn product(text: &str) -> (String, String) {
    let (name, version) = text.split_once('/').unwrap_or((text, ""));
    let name = match name {
        "HeadlessChrome" | "" => "Chrome",
        "Edg" | "HeadlessEdg" => "Edge",
        other => other,
    };
    (name.to_owned(), version.to_owned())
}

const DIAL_LIMIT: Duration = Duration::from_secs(5);
const FIRST_ANSWER_LIMIT: Duration = Duration::from_secs(30);
