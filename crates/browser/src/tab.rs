//! One tab: a cheap handle for the tools, and the actor that follows what happens in it.
//!
//! The actor is the only one that writes [`TabState`]; everybody else reads it or waits on it.

mod actor;
mod clear;
mod console;
mod emulating;
mod flush;
mod frames;
mod guard;
mod network;
mod observe;
mod past;
mod rules;
mod settings;
mod setup;
mod state;
mod taps;
#[cfg(test)]
mod tests;

pub use console::{Argument, Console, ConsoleMessage, ScriptPosition};
pub(crate) use emulating::{Conditions, Emulating, Emulation, Viewport};
pub use frames::{DocumentId, Frame, Frames};
pub(crate) use guard::Guard;
pub use network::{Answer, Headers, Network, NetworkRequest, Redirect, SocketFrame};
pub(crate) use rules::{Action, HeaderChanges, Pattern, Rule, Rules};
pub use settings::TabSettings;
pub(crate) use setup::only;
pub use state::{Dialog, Download, Gone, Load, Progress, TabState};
pub use tabmux_cdp::types::page::FrameId;
pub use tabmux_cdp::types::target::TargetId;
pub(crate) use taps::Tap;

use crate::address::AddressPolicy;
use crate::error::ToolError;
use crate::files::OutputFolder;
use crate::introspect::{Following, Introspection};
use crate::origins::OriginPolicy;
use crate::page_tools::web_mcp::Invocations;
use crate::page_tools::{Findings, Found, Home};
use crate::tools::{Filming, Tracing};
use crate::world::World;
use actor::{CatchUp, Nudge, Shared};
use std::sync::atomic::{AtomicBool, AtomicU32, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;
use tabmux_cdp::types::{emulation, runtime};
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
    nudges: mpsc::Sender<Nudge>,
    catch_up: CatchUp,
    shared: Shared,
    tracing: Tracing,
    filming: Filming,
    introspection: Introspection,
    following: Following,
    lookers: Arc<AtomicUsize>,
    /// How many more pictures it is not expected to draw for by itself.
    hidden: AtomicU32,
    /// Whether a script had to be stopped and the page may still not respond.
    suspect: AtomicBool,
    /// The document whose first tools have been waited for.
    settled: AtomicU32,
    /// The last document that was found to have the browser's own WebMCP.
    native_in: AtomicU32,
    /// The session that used it last.
    user: Mutex<Option<OutputFolder>>,
}

impl Tab {
    /// Follows a tab that has just been attached; `waiting` tabs run on once they are set up.
    pub(crate) fn follow(
        target: TargetId,
        session: Session,
        events: Events,
        waiting: bool,
        settings: TabSettings,
        guard: Guard,
    ) -> Self {
        let (publish, state) = watch::channel(TabState::default());
        let shared = Shared {
            rules: Rules::guarded(guard),
            emulation: Emulating::begin(settings.emulation()),
            ..Shared::default()
        };
        let (nudges, catch_up) = actor::spawn(
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
            nudges,
            catch_up,
            shared,
            tracing: Tracing::default(),
            filming: Filming::default(),
            introspection: Introspection::default(),
            following: Following::default(),
            lookers: Arc::default(),
            hidden: AtomicU32::new(0),
            suspect: AtomicBool::new(false),
            settled: AtomicU32::new(0),
            native_in: AtomicU32::new(0),
            user: Mutex::default(),
        }))
    }

    /// Chrome's name of the tab.
    pub fn target(&self) -> &TargetId {
        &self.0.target
    }

    /// The session of the tab's main frame. Input and screenshots go here, whatever the frame.
    pub fn session(&self) -> &Session {
        &self.0.session
    }

    /// Which pages tools may touch.
    pub fn policy(&self) -> AddressPolicy {
        self.0.settings.policy
    }

    /// Looks at the tab as it is now. Do not keep the guard over an await.
    pub fn state(&self) -> watch::Ref<'_, TabState> {
        self.0.state.borrow()
    }

    /// A receiver of its own, for those who wait on several things.
    pub fn watch(&self) -> watch::Receiver<TabState> {
        self.0.state.clone()
    }

    /// Waits until the tab is as wanted, at most `limit`. Says whether it came to that.
    /// Fails when the tab goes away first.
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

    /// Waits until the dialog of this number is over, at most `limit`. Another one may be open then: the page
    /// runs on at once.
    pub(crate) async fn dialog_over(&self, number: u64, limit: Duration) -> Result<(), ToolError> {
        let is_over = |state: &TabState| {
            let now = state.dialog.as_ref();
            now.is_none_or(|dialog| dialog.number != number)
        };
        self.until(limit, is_over).await.map(drop)
    }

    /// Waits until all set-up commands have been answered.
    pub async fn ready(&self, limit: Duration) -> Result<(), ToolError> {
        match self.until(limit, |state| state.ready).await? {
            true => Ok(()),
            false => Err(ToolError::Stuck),
        }
    }

    /// Our world in the main frame's present document.
    pub async fn world(&self) -> Result<World, ToolError> {
        let main = self.state().frames.main().cloned();
        self.world_of(&main.ok_or(ToolError::TabGone(Gone::Closed))?)
            .await
    }

    /// Our world in the document that `frame` shows, made on first use.
    pub async fn world_of(&self, frame: &Frame) -> Result<World, ToolError> {
        crate::bounds::may_enter(self, frame)?;
        let world = frame.world.get_or_try_init(|| World::make(frame)).await?;
        crate::bounds::may_read(self, world)?;
        Ok(world.clone())
    }

    /// Our world in a tool's document.
    pub(crate) async fn world_at(&self, home: &Home) -> Result<World, ToolError> {
        let frame = self.state().frames.showing(home.document).cloned();
        self.world_of(&frame.ok_or(ToolError::ToolGone)?).await
    }

    /// The world and the number of the element that `uid` names, if its document is still shown.
    pub async fn element(&self, uid: &str) -> Result<(World, u32), ToolError> {
        let not_a_uid = || ToolError::NotAUid {
            uid: crate::text::one_line(uid, 40),
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

    /// Makes the page run as if it were in front while a session holds the tab.
    pub(crate) fn hold(&self, held: bool) {
        self.session()
            .post(emulation::SetFocusEmulationEnabled { enabled: held });
    }

    /// Notes that this tab opened another one.
    pub(crate) fn note_popup(&self, popup: TargetId) {
        // A full queue only loses the mention of the popup, never the popup.
        let _ = self.0.nudges.try_send(Nudge::Popup(popup));
    }

    /// Notes that the blank document of a new tab is all that is coming: Chrome tells so before its
    /// frames are known.
    pub(crate) fn note_blank(&self) {
        let _ = self.0.nudges.try_send(Nudge::Blank);
    }

    /// The session that used it last: what it downloads by itself is that session's.
    pub(crate) fn user(&self) -> Option<OutputFolder> {
        let user = self.0.user.lock();
        user.unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// Notes which session uses it.
    pub(crate) fn used_by(&self, session: OutputFolder) {
        let user = self.0.user.lock();
        *user.unwrap_or_else(PoisonError::into_inner) = Some(session);
    }

    /// Notes that this tab began to download a file, or is further with it.
    pub(crate) fn note_download(&self, download: Download) {
        let _ = self.0.nudges.try_send(Nudge::Download(download));
    }

    /// Takes the events of these names from now on, instead of everybody else, until dropped.
    pub(crate) fn tap(&self, methods: &'static [&'static str]) -> Tap {
        self.0.shared.taps.open(methods)
    }

    /// What is emulated in this tab.
    pub(crate) fn emulation(&self) -> &Emulating {
        &self.0.shared.emulation
    }

    /// What is done with the requests of its pages.
    pub(crate) fn rules(&self) -> &Rules {
        &self.0.shared.rules
    }

    /// What keeps it away from some sites.
    pub(crate) fn guard(&self) -> &Guard {
        self.rules().guard()
    }

    /// Keeps its pages away from what a policy blocks, from now on. With `stops`, they are not even loaded.
    pub(crate) async fn watch_over(&self, policy: &OriginPolicy, stops: bool) {
        if !policy.is_open() && self.guard().add(policy, stops) {
            self.tell_rules().await;
        }
    }

    /// Nobody's policy holds here any more.
    pub(crate) async fn watch_no_longer(&self) {
        if self.guard().clear() {
            self.tell_rules().await;
        }
    }

    async fn tell_rules(&self) {
        let workers = self.rules().workers();
        for session in self.sessions().iter().chain(&workers) {
            // A frame or worker that goes away meanwhile asks for nothing any more.
            let _ = self.rules().tell(session).await;
        }
    }

    /// The tools that its page has of its own.
    pub(crate) fn found(&self) -> &Found {
        &self.0.shared.found
    }

    /// A receiver of what is found, for those who wait on it.
    pub fn findings(&self) -> watch::Receiver<Findings> {
        self.found().watch()
    }

    /// Waits until the tools that a loaded page has from its beginning are known, if it answers soon.
    pub(crate) async fn let_tools_settle(&self) {
        let document = self.found().look().document;
        let answers = {
            let state = self.state();
            state.load == Load::Complete && state.dialog.is_none()
        };
        let Some(document) = document.filter(|_| answers) else {
            return self.catch_up().await;
        };
        if self.0.settled.swap(document.0, Ordering::Relaxed) == document.0 {
            return self.catch_up().await;
        }
        // Chrome registers forms in a task of their own, after the document is whole.
        let ask = runtime::Evaluate {
            expression: "new Promise((done) => setTimeout(done))".into(),
            await_promise: Some(true),
            ..Default::default()
        };
        if self.session().send_within(ask, SETTLE_LIMIT).await.is_ok() {
            self.flush_tools().await;
        }
        self.catch_up().await;
        // A server inside the page takes some more of the page's tasks to answer.
        let mut found = self.findings();
        let told = found.wait_for(|now| !now.asking || now.document != Some(document));
        let _ = tokio::time::timeout(PROBE_LIMIT, told).await;
    }

    /// Waits until everything is known that Chrome told about the tab before its latest answer.
    pub(crate) async fn catch_up(&self) {
        let (done, caught_up) = oneshot::channel();
        if self.0.catch_up.send(done).await.is_ok() {
            let _ = caught_up.await;
        }
    }

    /// Calls of those tools that wait for their answers.
    pub(crate) fn invocations(&self) -> &Invocations {
        &self.0.shared.invocations
    }

    /// How many keep the tab drawing.
    pub(crate) fn lookers(&self) -> Arc<AtomicUsize> {
        Arc::clone(&self.0.lookers)
    }

    /// Whether somebody has to look for the tab to draw, as far as is known. Asked once for each picture,
    /// because a tab that was hidden may come to the front.
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

    /// The film of this tab.
    pub(crate) fn filming(&self) -> &Filming {
        &self.0.filming
    }

    /// What was generated from its page.
    pub(crate) fn introspection(&self) -> &Introspection {
        &self.0.introspection
    }

    /// How many tools shall be made from its page, if it is followed and shows a document that has not
    /// been read yet.
    pub(crate) fn awaits_reading(&self) -> Option<usize> {
        let limit = self.0.following.limit()?;
        let main = self.state().frames.main().map(|main| main.document);
        (self.introspection().document() != main).then_some(limit)
    }

    /// Makes tools from its page from now on, at most so many, and again whenever it changes; or no
    /// longer.
    pub fn introspect(&self, limit: Option<usize>) {
        self.0.following.set(self, limit);
        if limit.is_none() {
            self.introspection().forget(self);
        }
    }

    /// What is emulated here where nobody asks for anything.
    pub(crate) fn usual_emulation(&self) -> Emulation {
        self.0.settings.emulation()
    }

    /// The size that pages have here where nobody asks for another.
    pub(crate) fn usual_size(&self) -> Option<(u32, u32)> {
        self.0.settings.viewport
    }

    /// The sessions that reach the tab's frames, the tab's own first.
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

    /// Notes that the tab is no more.
    pub(crate) fn note_gone(&self, gone: Gone) {
        let _ = self.0.nudges.try_send(Nudge::Gone(gone));
    }

    /// Ends whatever script is running in the tab's pages. Harmless when none is.
    pub(crate) async fn terminate_scripts(&self) {
        let sessions = self.sessions();
        let end = sessions.iter().map(|session| {
            session.send_within(runtime::TerminateExecution::default(), TERMINATION_LIMIT)
        });
        futures_util::future::join_all(end).await;
    }

    /// The title of the page, as the page itself has it; none if it does not answer soon.
    pub(crate) async fn title(&self) -> Option<String> {
        let ask = runtime::Evaluate {
            // A page may have given something else the name `title`.
            // Engines have it in one of these two prototypes.
            expression: "[Document, HTMLDocument].map((it) => \
                         Object.getOwnPropertyDescriptor(it.prototype, 'title')?.get).find(Boolean)\
                         ?.call(document).slice(0, 4000) ?? ''"
                .into(),
            return_by_value: Some(true),
            ..Default::default()
        };
        let answer = self.session().send_within(ask, PROBE_LIMIT).await.ok()?;
        let title: String = answer.result.value?.decode().ok()?;
        Some(crate::text::one_line(&title, 300)).filter(|title| !title.is_empty())
    }

    /// Whether the page had to be stopped and has not answered since.
    pub(crate) fn is_suspect(&self) -> bool {
        self.0.suspect.load(Ordering::Relaxed)
    }

    /// Notes whether the page may be stuck.
    pub(crate) fn suspect(&self, suspect: bool) {
        self.0.suspect.store(suspect, Ordering::Relaxed);
    }

    /// Whether the page's thread answers at once.
    pub(crate) async fn responds(&self) -> bool {
        self.responds_within(PROBE_LIMIT).await
    }

    /// Whether the page's thread answers in time.
    pub(crate) async fn responds_within(&self, limit: Duration) -> bool {
        let probe = runtime::Evaluate {
            expression: "0".into(),
            ..Default::default()
        };
        self.session().send_within(probe, limit).await.is_ok()
    }
}

/// So many pictures are taken before a tab that was hidden is trusted again to draw by itself.
const HIDDEN_FOR: u32 = 8;
const TERMINATION_LIMIT: Duration = Duration::from_secs(1);
const PROBE_LIMIT: Duration = Duration::from_millis(500);
/// A page that is loaded has its tools soon, also on a machine that is busy; one that hangs is not waited for
/// longer, and only once.
const SETTLE_LIMIT: Duration = Duration::from_secs(3);
