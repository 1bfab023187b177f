//! One tab: a cheap handle for the tools, and the actor that tracks what happens in it.
//!
//! Only the actor writes [`TabState`]; all other code reads it or waits on it.

mod actor;
mod added_scripts;
mod capture;
mod clear;
mod console;
mod dialogs;
mod emulating;
mod event_streams;
mod flush;
mod frames;
mod guard;
mod keyboard;
mod network;
mod observe;
mod pointer;
mod probe;
mod rules;
mod settings;
mod setup;
mod shown_documents;
mod site_logins;
mod state;
#[cfg(test)]
mod tests;

pub(crate) use added_scripts::AddedScripts;
pub use console::{Argument, Console, ConsoleMessage, ScriptPosition};
pub(crate) use dialogs::DialogAnswer;
pub(crate) use emulating::{Conditions, Emulating, Emulation, Viewport};
pub(crate) use event_streams::EventStream;
pub use frames::{DocumentId, Frame, Frames};
pub(crate) use guard::Guard;
pub use network::{Answer, Headers, Network, NetworkRequest, Redirect, SocketFrame};
pub(crate) use pointer::{Button, Clicks, HeldButton};
pub(crate) use rules::{Action, HeaderChanges, Pattern, Rule, Rules, cancel_auth};
pub use settings::TabSettings;
pub(crate) use setup::only;
pub(crate) use site_logins::SiteLogin;
pub(crate) use state::NewTab;
pub use state::{Dialog, Download, Gone, Load, Progress, TabState};
pub use tabmux_cdp::types::page::FrameId;
pub use tabmux_cdp::types::target::TargetId;

use crate::address::AddressPolicy;
use crate::error::ToolError;
use crate::files::OutputFolder;
use crate::introspect::{Following, Introspection};
use crate::machine::Machine;
use crate::origins::OriginPolicy;
use crate::page_tools::web_mcp::Invocations;
use crate::page_tools::{Findings, Found, ToolLocation};
use crate::permissions::TabPermissions;
use crate::tools::{Filming, Tracing};
use crate::world::World;
use actor::{CatchUp, Shared, TabNotice};
use flush::UnansweredFlushes;
use std::sync::atomic::{AtomicBool, AtomicU32, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;
use tabmux_cdp::types::emulation;
use tabmux_cdp::{Events, Session};
use tokio::sync::{mpsc, oneshot, watch};

/// A handle to one attached tab.
#[derive(Clone, Debug)]
pub struct Tab(Arc<Inner>);

#[derive(Debug)]
struct Inner {
    target: TargetId,
    session: Session,
    settings: TabSettings,
    state: watch::Receiver<TabState>,
    notices: mpsc::Sender<TabNotice>,
    catch_up: CatchUp,
    shared: Shared,
    tracing: Tracing,
    filming: Filming,
    introspection: Introspection,
    following: Following,
    screencast_users: Arc<AtomicUsize>,
    /// For how many more screenshots the tab is not expected to draw by itself.
    hidden: AtomicU32,
    /// Whether a script had to be stopped, so that the page may still not respond.
    suspect: AtomicBool,
    /// The document whose initial tools have been waited for.
    settled: AtomicU32,
    /// The last document in which Chrome's own WebMCP was found.
    native_in: AtomicU32,
    /// The documents that have not answered a flush of their tools.
    late: UnansweredFlushes,
    /// The session that used it last.
    user: Mutex<Option<OutputFolder>>,
    permissions: TabPermissions,
    /// The id of the last download that a call has waited for.
    download_waited_for: Mutex<Option<String>>,
}

impl Tab {
    /// Follows a tab that has just been attached; a `waiting` tab is resumed once it is set up.
    pub(crate) fn follow(
        target: TargetId,
        session: Session,
        events: Events,
        waiting: bool,
        settings: TabSettings,
        guard: Guard,
        permissions: TabPermissions,
    ) -> Self {
        let (publish, state) = watch::channel(TabState::default());
        let shared = Shared {
            rules: Rules::guarded(guard),
            emulation: Emulating::begin(settings.emulation()),
            ..Shared::default()
        };
        let (notices, catch_up) = actor::spawn(
            session.clone(),
            events,
            waiting,
            settings.clone(),
            shared.clone(),
            publish,
        );
        Self(Arc::new(Inner {
            target,
            session,
            settings,
            state,
            notices,
            catch_up,
            shared,
            tracing: Tracing::default(),
            filming: Filming::default(),
            introspection: Introspection::default(),
            following: Following::default(),
            screencast_users: Arc::default(),
            hidden: AtomicU32::new(0),
            suspect: AtomicBool::new(false),
            settled: AtomicU32::new(0),
            native_in: AtomicU32::new(0),
            late: UnansweredFlushes::default(),
            user: Mutex::default(),
            permissions,
            download_waited_for: Mutex::default(),
        }))
    }

    /// Chrome's id of the tab.
    pub fn target(&self) -> &TargetId {
        &self.0.target
    }

    /// The session of the tab's main frame. Input and screenshots go here, whatever the frame.
    pub fn session(&self) -> &Session {
        &self.0.session
    }

    /// Which pages tools may use.
    pub fn policy(&self) -> AddressPolicy {
        self.0.settings.policy
    }

    /// Where its browser runs.
    pub(crate) fn machine(&self) -> Machine {
        self.0.settings.machine
    }

    /// The tab's current state. Do not hold the guard across an await.
    pub fn state(&self) -> watch::Ref<'_, TabState> {
        self.0.state.borrow()
    }

    /// A receiver of the tab's state, to wait on several conditions.
    pub fn watch(&self) -> watch::Receiver<TabState> {
        self.0.state.clone()
    }

    /// Waits until `wanted` is true, at most `limit`, and returns whether it was. Fails when the tab is gone first.
    pub async fn until(
        &self,
        limit: Duration,
        mut wanted: impl FnMut(&TabState) -> bool,
    ) -> Result<bool, ToolError> {
        let mut state = self.watch();
        let wait = state.wait_for(|state| state.gone.is_some() || wanted(state));
        match tokio::time::timeout(limit, wait).await {
            Err(_) => Ok(false),
            Ok(Err(_)) => Err(ToolError::TabGone(Gone::Closed)),
            Ok(Ok(state)) => match state.gone {
                Some(gone) => Err(ToolError::TabGone(gone)),
                None => Ok(true),
            },
        }
    }

    /// Waits until all setup commands have been answered.
    pub async fn ready(&self, limit: Duration) -> Result<(), ToolError> {
        match self.until(limit, |state| state.ready).await? {
            true => Ok(()),
            false => Err(ToolError::Stuck),
        }
    }

    /// Our world in the main frame's current document.
    pub async fn world(&self) -> Result<World, ToolError> {
        let main = self.state().frames.main().cloned();
        self.world_of(&main.ok_or(ToolError::TabGone(Gone::Closed))?)
            .await
    }

    /// Our world in the document that `frame` shows, created on first use.
    pub async fn world_of(&self, frame: &Frame) -> Result<World, ToolError> {
        crate::bounds::may_enter(self, frame)?;
        let world = frame.world.get_or_try_init(|| World::make(frame)).await?;
        crate::bounds::may_read(self, world)?;
        Ok(world.clone())
    }

    /// Our world in a tool's document.
    pub(crate) async fn world_at(&self, location: &ToolLocation) -> Result<World, ToolError> {
        let frame = self.state().frames.showing(location.document).cloned();
        self.world_of(&frame.ok_or(ToolError::ToolGone)?).await
    }

    /// The world and the number of the element that `uid` names, if its document is still shown.
    pub async fn element(&self, uid: &str) -> Result<(World, u32), ToolError> {
        let not_a_uid = || ToolError::NotAUid {
            uid: tabmux_text::one_line(uid, 40),
        };
        let (document, n) = uid.split_once('_').ok_or_else(not_a_uid)?;
        let document = DocumentId(document.parse().map_err(|_| not_a_uid())?);
        let n: u32 = n.parse().map_err(|_| not_a_uid())?;
        let frame = self.state().frames.showing(document).cloned();
        let frame = frame.ok_or_else(|| ToolError::StaleUid {
            uid: uid.to_owned(),
        })?;
        Ok((self.world_of(&frame).await?, n))
    }

    /// While a session holds the tab, makes the page run as if it were in front.
    pub(crate) fn hold(&self, held: bool) {
        self.session()
            .post(emulation::SetFocusEmulationEnabled { enabled: held });
    }

    /// Notes that this tab opened another one.
    pub(crate) fn note_popup(&self, popup: TargetId) {
        // A full queue only loses the mention of the popup, never the popup.
        let _ = self.0.notices.try_send(TabNotice::Popup(popup));
    }

    /// Notes that a tab appeared at an address that a page of this tab had requested.
    pub(crate) fn note_new_tab(&self, tab: TargetId, url: String) {
        let _ = self.0.notices.try_send(TabNotice::NewTab(tab, url));
    }

    /// Notes that the blank document of a new tab is final: Chrome reports this before its frames are known.
    pub(crate) fn note_blank(&self) {
        let _ = self.0.notices.try_send(TabNotice::Blank);
    }

    /// The session that used the tab last. Downloads that the tab starts by itself belong to it.
    pub(crate) fn user(&self) -> Option<OutputFolder> {
        let user = self.0.user.lock();
        user.unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// Notes which session uses the tab.
    pub(crate) fn used_by(&self, session: OutputFolder) {
        let user = self.0.user.lock();
        *user.unwrap_or_else(PoisonError::into_inner) = Some(session);
    }

    /// Notes that this tab started a download, or its progress.
    pub(crate) fn note_download(&self, download: Download) {
        let _ = self.0.notices.try_send(TabNotice::Download(download));
    }

    /// Receives the events of these names instead of the tab's actor, until dropped.
    pub(crate) fn stream_events(&self, methods: &'static [&'static str]) -> EventStream {
        self.0.shared.streams.open(methods)
    }

    /// What is emulated in this tab.
    pub(crate) fn emulation(&self) -> &Emulating {
        &self.0.shared.emulation
    }

    /// The rules for the requests of its pages.
    pub(crate) fn rules(&self) -> &Rules {
        &self.0.shared.rules
    }

    /// Applies the rules to all sessions of the tab. An error of its main session counts.
    pub(crate) async fn apply_rules(&self) -> Result<(), ToolError> {
        let told = self.rules().tell(self.session()).await;
        let workers = self.rules().workers();
        for session in self.sessions().iter().skip(1).chain(&workers) {
            // A frame or worker that goes away meanwhile sends no more requests.
            let _ = self.rules().tell(session).await;
        }
        Ok(told?)
    }

    /// Permissions that were set through this tab.
    pub(crate) fn permissions(&self) -> &TabPermissions {
        &self.0.permissions
    }

    /// Scripts that run in all its new documents.
    pub(crate) fn added_scripts(&self) -> &AddedScripts {
        &self.0.shared.added_scripts
    }

    /// The id of the last download that a call has waited for.
    pub(crate) fn download_waited_for(&self) -> Option<String> {
        let seen = self.0.download_waited_for.lock();
        seen.unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// The next call waits for a download after this one.
    pub(crate) fn wait_for_downloads_after(&self, guid: String) {
        let seen = self.0.download_waited_for.lock();
        *seen.unwrap_or_else(PoisonError::into_inner) = Some(guid);
    }

    /// What blocks it from some sites.
    pub(crate) fn guard(&self) -> &Guard {
        self.rules().guard()
    }

    /// From now on, applies a policy to the tab. With `stops`, disallowed requests are blocked.
    pub(crate) async fn apply_policy(&self, policy: &OriginPolicy, stops: bool) {
        if !policy.is_open() && self.guard().add(policy, stops) {
            let _ = self.apply_rules().await;
        }
    }

    /// Removes all policies from the tab.
    pub(crate) async fn clear_policies(&self) {
        if self.guard().clear() {
            let _ = self.apply_rules().await;
        }
    }

    /// The tools that its page offers.
    pub(crate) fn found(&self) -> &Found {
        &self.0.shared.found
    }

    /// A receiver of the found tools, to wait on changes.
    pub fn findings(&self) -> watch::Receiver<Findings> {
        self.found().watch()
    }

    /// Waits until all events that Chrome sent before its latest response are processed.
    pub(crate) async fn catch_up(&self) {
        let (done, caught_up) = oneshot::channel();
        if self.0.catch_up.send(done).await.is_ok() {
            let _ = caught_up.await;
        }
    }

    /// Calls of page tools that wait for their responses.
    pub(crate) fn invocations(&self) -> &Invocations {
        &self.0.shared.invocations
    }

    /// How many users keep the tab drawing.
    pub(crate) fn screencast_users(&self) -> Arc<AtomicUsize> {
        Arc::clone(&self.0.screencast_users)
    }

    /// Whether the tab probably draws only while it is kept drawing. Asked once for each screenshot, because a hidden
    /// tab may come to the front.
    pub(crate) fn hides(&self) -> bool {
        let less = |left: u32| left.checked_sub(1);
        let hidden = &self.0.hidden;
        hidden
            .fetch_update(Ordering::Relaxed, Ordering::Relaxed, less)
            .is_ok()
    }

    /// Notes that the tab did not draw by itself.
    pub(crate) fn note_hidden(&self) {
        self.0.hidden.store(HIDDEN_FOR, Ordering::Relaxed);
    }

    /// The trace of this tab.
    pub(crate) fn tracing(&self) -> &Tracing {
        &self.0.tracing
    }

    /// The screencast of this tab.
    pub(crate) fn filming(&self) -> &Filming {
        &self.0.filming
    }

    /// The tools that were generated from its page.
    pub(crate) fn introspection(&self) -> &Introspection {
        &self.0.introspection
    }

    /// How many tools to generate from its page, if it is followed and shows a document that has not been read yet.
    pub(crate) fn awaits_reading(&self) -> Option<usize> {
        let limit = self.0.following.limit()?;
        let main = self.state().frames.main().map(|main| main.document);
        (self.introspection().document() != main).then_some(limit)
    }

    /// Keeps generating up to `limit` tools from its page whenever it changes. `None` stops it.
    pub fn introspect(&self, limit: Option<usize>) {
        self.0.following.set(self, limit);
        if limit.is_none() {
            self.introspection().forget(self);
        }
    }

    /// The default emulation of this tab.
    pub(crate) fn usual_emulation(&self) -> Emulation {
        self.0.settings.emulation()
    }

    /// The default size of pages in this tab.
    pub(crate) fn usual_size(&self) -> Option<(u32, u32)> {
        self.0.settings.viewport
    }

    /// The CDP sessions of the tab's frames, the tab's own first.
    pub(crate) fn sessions(&self) -> Vec<Session> {
        let mut sessions = vec![self.session().clone()];
        for frame in self.state().frames.iter() {
            if !sessions
                .iter()
                .any(|session| session.id() == frame.session.id())
            {
                sessions.push(frame.session.clone());
            }
        }
        sessions
    }

    /// Notes that the tab is gone, or detached.
    pub(crate) fn note_gone(&self, gone: Gone) {
        self.permissions().end();
        let _ = self.0.notices.try_send(TabNotice::Gone(gone));
    }
}

/// After so many screenshots, a hidden tab is again expected to draw by itself.
const HIDDEN_FOR: u32 = 8;
