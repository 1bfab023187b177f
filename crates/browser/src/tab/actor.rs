//! The actor of one tab: the only task that writes its [`TabState`].

use super::TabSettings;
use super::added_scripts::AddedScripts;
use super::emulating::Emulating;
use super::event_streams::EventStreams;
use super::frames::Shown;
use super::observe;
use super::rules::Rules;
use super::setup::{self, set_up};
use super::state::{Download, Gone, Load, TabState};
use crate::page_tools::web_mcp::Invocations;
use crate::page_tools::{Found, ToolSource};
use tabmux_cdp::types::page::{FrameNavigated, NavigationType};
use tabmux_cdp::types::runtime;
use tabmux_cdp::types::target::{self, TargetId};
use tabmux_cdp::{CdpError, Events, RawEvent, Session};
use tokio::sync::{mpsc, oneshot, watch};

/// What other tasks tell the actor.
#[derive(Debug)]
pub(super) enum TabNotice {
    /// This tab opened another one.
    Popup(TargetId),
    /// A tab appeared that a page of this one requested at this address.
    NewTab(TargetId, String),
    /// This tab started a download, or its progress.
    Download(Download),
    /// A new tab stays blank.
    Blank,
    /// The tab is gone.
    Gone(Gone),
}

/// All inputs of the actor.
enum TabEvent {
    Event(Session, RawEvent),
    SessionEnded(Session),
    SetUp(Session, Result<Vec<Shown>, CdpError>),
    Notice(TabNotice),
    /// The page was loaded before we attached.
    HadLoaded,
    /// Everything before this has been processed.
    CaughtUp(oneshot::Sender<()>),
}

/// Asks the actor to process everything that Chrome has sent so far.
pub(super) type CatchUp = mpsc::Sender<oneshot::Sender<()>>;

/// What the actor shares with the tools.
#[derive(Clone, Debug, Default)]
pub(super) struct Shared {
    pub(super) streams: EventStreams,
    pub(super) emulation: Emulating,
    pub(super) rules: Rules,
    pub(super) added_scripts: AddedScripts,
    pub(super) found: Found,
    pub(super) invocations: Invocations,
}

/// Starts the actor of a tab. It ends with the tab, or when no handle is left.
pub(super) fn spawn(
    session: Session,
    events: Events,
    waiting: bool,
    settings: TabSettings,
    shared: Shared,
    publish: watch::Sender<TabState>,
) -> (mpsc::Sender<TabNotice>, CatchUp) {
    let (notice, notices) = mpsc::channel(64);
    let (input, inputs) = mpsc::channel(256);
    let actor = Actor {
        top: session.clone(),
        settings,
        shared,
        publish,
        input,
    };
    let (catch_up, asked) = mpsc::channel(16);
    actor.adopt(session, events, asked, waiting);
    tokio::spawn(actor.run(inputs, notices));
    (notice, catch_up)
}

struct Actor {
    top: Session,
    settings: TabSettings,
    shared: Shared,
    publish: watch::Sender<TabState>,
    input: mpsc::Sender<TabEvent>,
}

impl Actor {
    async fn run(
        self,
        mut inputs: mpsc::Receiver<TabEvent>,
        mut notices: mpsc::Receiver<TabNotice>,
    ) {
        loop {
            let event = tokio::select! {
                Some(event) = inputs.recv() => event,
                notice = notices.recv() => match notice {
                    Some(notice) => TabEvent::Notice(notice),
                    None => return,
                },
            };
            self.handle(event);
            if self.publish.borrow().gone.is_some() {
                return;
            }
        }
    }

    fn handle(&self, event: TabEvent) {
        match event {
            TabEvent::Event(session, event) => self.handle_event(session, event),
            TabEvent::SetUp(session, Ok(frames)) => self.handle_set_up(&session, frames),
            TabEvent::SetUp(session, Err(error)) => {
                tracing::debug!(session = ?session.id(), %error, "a target could not be set up");
            }
            TabEvent::SessionEnded(session) if session.id() == self.top.id() => {
                self.publish
                    .send_modify(|state| state.gone = Some(Gone::Closed));
            }
            TabEvent::SessionEnded(session) => {
                self.shared.added_scripts.leave(&session);
                self.publish.send_modify(|state| {
                    state.frames.remove_session(&session);
                    state.registered.forget_session(&session);
                });
                self.follow_tools();
            }
            TabEvent::Notice(TabNotice::Popup(popup)) => {
                self.publish
                    .send_modify(|state| observe::keep(&mut state.popups, popup));
            }
            TabEvent::Notice(TabNotice::NewTab(tab, url)) => {
                self.publish.send_modify(|state| {
                    let mut requested = state.new_tabs.iter_mut();
                    if let Some(it) = requested.find(|it| !it.told && it.is_at(&url)) {
                        it.told = true;
                        observe::keep(&mut state.popups, tab);
                    }
                });
            }
            TabEvent::Notice(TabNotice::Download(download)) => {
                self.publish.send_modify(|state| {
                    let known = state
                        .downloads
                        .iter_mut()
                        .find(|known| known.guid == download.guid);
                    match known {
                        Some(known) => *known = download,
                        None => observe::keep(&mut state.downloads, download),
                    }
                });
            }
            TabEvent::Notice(TabNotice::Blank) => {
                self.publish.send_modify(|state| {
                    let main = state.frames.main();
                    if main.is_some_and(|main| main.url == "about:blank") && !state.navigating {
                        state.load = Load::Complete;
                    }
                });
            }
            TabEvent::HadLoaded => {
                self.publish.send_modify(|state| {
                    // Another page reports its own load.
                    if state.epoch == 0 && !state.navigating {
                        state.load = Load::Complete;
                    }
                });
            }
            TabEvent::CaughtUp(done) => drop(done.send(())),
            TabEvent::Notice(TabNotice::Gone(gone)) => {
                self.publish.send_modify(|state| state.gone = Some(gone));
            }
        }
    }

    fn handle_event(&self, session: Session, mut event: RawEvent) {
        if let Some((child, events)) = event.child.take() {
            let attached = event.decode::<target::AttachedToTarget>();
            let attached = attached.unwrap_or_default();
            return match attached.target_info.r#type.contains("worker") {
                true => self.wake(child, events),
                false => {
                    let (_, unused) = mpsc::channel(1);
                    self.adopt(child, events, unused, attached.waiting_for_debugger);
                }
            };
        }
        if self.shared.rules.answer(&session, &event) {
            return;
        }
        let is_answer = {
            let state = self.publish.borrow();
            self.shared.invocations.apply(&event, &state.frames)
        };
        if is_answer {
            return;
        }
        let Some(event) = self.shared.streams.offer(&session, event) else {
            return;
        };
        let is_top = session.id() == self.top.id();
        let changed = self
            .publish
            .send_if_modified(|state| observe::apply(state, &session, is_top, &event));
        if event
            .decode::<FrameNavigated>()
            .is_some_and(|event| event.r#type == NavigationType::BACK_FORWARD_CACHE_RESTORE)
        {
            setup::request_tools_again(&session);
        }
        let method = event.method();
        let is_about_tools = ["WebMCP.", "Page.frame", "Runtime.bindingCalled"];
        if changed && is_about_tools.iter().any(|name| method.starts_with(name)) {
            self.follow_tools();
        }
    }

    /// Updates the tools: they change by themselves, and with their frames.
    fn follow_tools(&self) {
        let state = self.publish.borrow();
        let Some(main) = state.frames.main() else {
            return;
        };
        let found = &self.shared.found;
        found.set_document(main.document);
        let (tools, left_out) = state.registered.found(&state.frames);
        found.put(ToolSource::WebMcp, main.document, tools, left_out);
        let mark = state.registered.mark(main, &state.frames);
        found.put_mark(main.document, mark);
        found.put_asking(main.document, state.registered.is_asking());
    }

    fn handle_set_up(&self, session: &Session, frames: Vec<Shown>) {
        let is_top = session.id() == self.top.id();
        self.publish.send_modify(|state| {
            for shown in frames {
                // An event that arrived over this session meanwhile is newer than the tree.
                let known = state.frames.find(&shown.id);
                if known.is_some_and(|frame| frame.is_shown_over(session)) {
                    continue;
                }
                // The session of a cross-site frame does not know its parent; the tab does.
                let parent = shown.parent.or_else(|| known?.parent.clone());
                if is_top || parent.is_some() {
                    state.frames.show(Shown { parent, ..shown }, session);
                }
            }
            state.ready |= is_top;
        });
        self.follow_tools();
    }

    /// Resumes a worker, and applies the rules to its requests as long as it runs.
    fn wake(&self, worker: Session, mut events: Events) {
        self.shared.rules.add_worker(&worker);
        setup::wake(&worker, &self.shared);
        let shared = self.shared.clone();
        tokio::spawn(async move {
            while let Some(event) = events.next().await {
                shared.rules.answer(&worker, &event);
            }
            shared.rules.remove_worker(&worker);
        });
    }

    /// Adds a session: its events are processed while it is being set up.
    fn adopt(
        &self,
        session: Session,
        mut events: Events,
        mut asked: mpsc::Receiver<oneshot::Sender<()>>,
        waiting: bool,
    ) {
        let input = self.input.clone();
        let source = session.clone();
        tokio::spawn(async move {
            loop {
                let event = tokio::select! {
                    // Events first: a caller has seen a response that arrived after them.
                    biased;
                    event = events.next() => match event {
                        Some(event) => TabEvent::Event(source.clone(), event),
                        None => break,
                    },
                    Some(done) = asked.recv() => TabEvent::CaughtUp(done),
                };
                if input.send(event).await.is_err() {
                    return;
                }
            }
            let _ = input.send(TabEvent::SessionEnded(source)).await;
        });
        let input = self.input.clone();
        let is_top = session.id() == self.top.id();
        let settings = if is_top {
            self.settings.clone()
        } else {
            TabSettings {
                viewport: None,
                ..self.settings.clone()
            }
        };
        let shared = self.shared.clone();
        let mut state = self.publish.subscribe();
        tokio::spawn(async move {
            let result = set_up(session.clone(), waiting, settings, &shared).await;
            if !is_top {
                // Only the tab knows which frame it is in, and it may take longer to respond.
                let known = |state: &TabState| state.ready || state.gone.is_some();
                let _ = state.wait_for(known).await;
            }
            let _ = input.send(TabEvent::SetUp(session.clone(), result)).await;
            if is_top && !waiting && has_loaded(&session).await {
                let _ = input.send(TabEvent::HadLoaded).await;
            }
        });
    }
}

/// Whether a page is loaded. A stuck one does not respond.
async fn has_loaded(session: &Session) -> bool {
    let ask = runtime::Evaluate {
        expression: "document.readyState === 'complete'".into(),
        return_by_value: Some(true),
        ..Default::default()
    };
    let told = session.send(ask).await.ok();
    let value = told.and_then(|told| told.result.value);
    value.and_then(|value| value.decode().ok()).unwrap_or(false)
}
