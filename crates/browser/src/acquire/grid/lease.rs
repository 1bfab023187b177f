//! A session of a grid, until it is given back.

use super::hub::{Engine, Hub, Made, State};
use super::lease_files::LeaseFile;
use super::{Grid, WeakPlace};
use crate::acquire::{ConnectError, Loss, devtools};
use crate::dial::RemoteAddress;
use crate::endpoint;
use serde_json::Value;
use std::fmt;
use std::time::Duration;
use tokio::task::AbortHandle;
use url::Url;

/// A session of a grid. Dropping it gives it back without waiting.
pub(crate) struct GridLease {
    /// `None` once it was given back.
    held: Option<Held>,
    socket: RemoteAddress,
    place: WeakPlace,
}

struct Held {
    hub: Hub,
    id: String,
    file: Option<LeaseFile>,
    /// The task that keeps the session alive, if commands to the browser do not.
    keeping: Option<AbortHandle>,
}

impl GridLease {
    /// Has the grid hand out a browser. Waits as long as the grid lets us; dropping the future gives up the place in
    /// its queue.
    pub(super) async fn ask_for(hub: &Hub, grid: &Grid) -> Result<Self, ConnectError> {
        let engine = hub.engine().await?;
        let hub = &hub.serving(engine);
        let made = hub.make_session(engine).await?;
        // From here on the session is given back, whatever happens.
        let mut lease = Self {
            held: Some(Held {
                hub: hub.clone(),
                id: made.id.clone(),
                file: None,
                keeping: None,
            }),
            socket: RemoteAddress::default(),
            place: grid.place.downgrade(),
        };
        let file = LeaseFile::write(hub, &made.id).await;
        if let Some(held) = &mut lease.held {
            held.file = file;
        }
        let socket = match socket(hub, engine, &made, &grid.address).await {
            Ok(socket) => socket,
            Err(error) => {
                lease.release().await;
                return Err(error);
            }
        };
        lease.socket = socket;
        if let Some(held) = &mut lease.held {
            held.keeping = (engine == Engine::Selenoid).then(|| keep(hub, &made.id));
        }
        Ok(lease)
    }

    /// The websocket of the browser.
    pub(super) fn socket(&self) -> &RemoteAddress {
        &self.socket
    }

    /// What the grid says about the session.
    pub(super) async fn state(&self) -> State {
        match &self.held {
            Some(held) => held.hub.state_of(&held.id).await,
            None => State::Unknown,
        }
    }

    /// The connection has ended. Unless the browser is gone, it goes back to its place, else to the grid.
    pub(crate) async fn lost(self: Box<Self>) -> Loss {
        match (self.state().await, self.place.get()) {
            (State::Gone(why), _) => {
                self.release().await;
                Loss::Ended(format!("the grid that handed it out says \"{why}\""))
            }
            (State::Lives | State::Unknown, Some(place)) => {
                place.put(self);
                Loss::Disconnected("the connection to it ended".to_owned())
            }
            (State::Lives | State::Unknown, None) => {
                self.release().await;
                Loss::Gone
            }
        }
    }

    /// Gives the session back.
    pub(crate) async fn release(mut self) {
        if let Some(held) = self.held.take() {
            held.release().await;
        }
    }
}

impl Drop for GridLease {
    fn drop(&mut self) {
        if let (Some(held), Ok(runtime)) = (self.held.take(), tokio::runtime::Handle::try_current())
        {
            runtime.spawn(held.release());
        }
    }
}

impl fmt::Debug for GridLease {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let id = self.held.as_ref().map(|held| held.id.as_str());
        f.debug_tuple("GridLease").field(&id).finish()
    }
}

impl Held {
    async fn release(self) {
        if let Some(keeping) = self.keeping {
            keeping.abort();
        }
        let is_over = self.hub.end_session(&self.id).await;
        tracing::info!(id = self.id, is_over, "gave back a browser of a grid");
        match self.file {
            Some(file) if is_over => file.remove().await,
            // The next daemon tries again.
            _ => {}
        }
    }
}

/// Asks the grid about a session again and again.
fn keep(hub: &Hub, id: &str) -> AbortHandle {
    let (hub, id) = (hub.clone(), id.to_owned());
    let keeping = tokio::spawn(async move {
        loop {
            tokio::time::sleep(KEEP_EVERY).await;
            let _ = hub.state_of(&id).await;
        }
    });
    keeping.abort_handle()
}

/// The websocket of a new session, under the address by which we reached the grid.
async fn socket(
    hub: &Hub,
    engine: Engine,
    made: &Made,
    given: &RemoteAddress,
) -> Result<RemoteAddress, ConnectError> {
    let shown = endpoint::shown(&given.url);
    let told = &made.capabilities;
    if told["se:cdpEnabled"] == Value::Bool(false) {
        return Err(ConnectError::Refused(format!(
            "The grid at {shown} hands out browsers without CDP, which tabmux needs. Its admin can switch it on: \
             --enable-cdp true on the node."
        )));
    }
    if let Some(cdp) = told["se:cdp"].as_str().and_then(|it| Url::parse(it).ok()) {
        return Ok(reached(hub, cdp.path()));
    }
    if engine == Engine::Selenoid {
        let id = &made.id;
        return Ok(reached(hub, &format!("/devtools/{id}/")));
    }
    let debugger = told["goog:chromeOptions"]["debuggerAddress"]
        .as_str()
        .or_else(|| told["ms:edgeOptions"]["debuggerAddress"].as_str());
    let Some(debugger) = debugger else {
        return Err(ConnectError::Refused(format!(
            "The browser that {shown} handed out does not speak CDP, which tabmux needs. Ask for browserName=chrome \
             or MicrosoftEdge."
        )));
    };
    // It is on the machine of the driver.
    let port = debugger.rsplit(':').next().unwrap_or_default();
    let bare = Url::parse(&hub.bare("")).ok();
    let host = bare.as_ref().and_then(Url::host_str).unwrap_or_default();
    let browser = RemoteAddress::from(format!("http://{host}:{port}"));
    Ok(devtools::websocket_of(&browser).await?)
}

/// A path of the grid's server, as a websocket. The grid may know itself by another name, and may not know a folder
/// below which a gateway has put it.
fn reached(hub: &Hub, path: &str) -> RemoteAddress {
    let address = hub.at("");
    let Ok(mut url) = Url::parse(&address.url) else {
        return address;
    };
    let folder = url.path().trim_end_matches('/');
    // Only commands are below it.
    let folder = folder.strip_suffix("/wd/hub").unwrap_or(folder).to_owned();
    match folder.is_empty() || path.starts_with(&format!("{folder}/")) {
        true => url.set_path(path),
        false => url.set_path(&format!("{folder}{path}")),
    }
    address.at(format!("ws{}", &url.as_str()["http".len()..]))
}

/// Selenoid ends sessions after 60 s without a request.
const KEEP_EVERY: Duration = Duration::from_secs(20);

#[cfg(test)]
mod tests;
