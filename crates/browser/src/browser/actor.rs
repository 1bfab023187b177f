//! The actor of one browser: the only task that changes its table of tabs.

use super::actor_requests::ActorRequest;
use super::downloads::{Downloads, Staging};
use super::entry::Entry;
use super::heartbeat::Heartbeat;
use super::private::Privacy;
use super::proxy_login::ProxyLogin;
use super::states::States;
use super::{BrowserEvent, TabFacts, TabOpener};
use super::{crashes, tools};
use crate::acquire::Ownership;
use crate::error::ToolError;
use crate::files::OutputRoot;
use crate::permissions::Grants;
use crate::tab::{Gone, Tab, TabSettings, TargetId};
use std::collections::HashMap;
use std::time::Duration;
use tabmux_cdp::types::{browser, fetch, target};
use tabmux_cdp::{CdpError, Events, RawEvent, Session};
use tabmux_text::one_line;
use tokio::sync::{mpsc, oneshot};
use tokio::time::Instant;

/// The actor's own state.
pub(super) struct Actor<E> {
    pub(super) session: Session,
    pub(super) settings: TabSettings,
    ownership: Ownership,
    pub(super) tabs: HashMap<TargetId, Entry>,
    /// Tabs that crashed, and whether a client is attached to them.
    pub(super) crashed: HashMap<TargetId, bool>,
    /// Tabs being created now, and new ones that are not reported until their opener is known.
    pub(super) making: usize,
    pub(super) unannounced: Vec<TargetId>,
    pub(super) downloads: Downloads,
    /// Where a launched browser puts downloads first.
    pub(super) staging: Option<Staging>,
    output: Option<OutputRoot>,
    tag: u32,
    report: mpsc::Sender<E>,
    pub(super) grants: Grants,
    pub(super) privacy: Privacy,
    pub(super) states: States,
    pub(super) proxy_login: ProxyLogin,
    /// Tabs that are not reported.
    pub(super) hidden: HashMap<TargetId, TabFacts>,
    /// Our own queue, for the tasks that watch tabs.
    requests: mpsc::WeakSender<ActorRequest>,
}

impl<E: From<(u32, BrowserEvent)> + Send + 'static> Actor<E> {
    pub(super) fn new(
        session: Session,
        settings: TabSettings,
        ownership: Ownership,
        tabs: &[TabFacts],
        tag: u32,
        report: mpsc::Sender<E>,
        requests: mpsc::WeakSender<ActorRequest>,
    ) -> Self {
        let tabs = tabs
            .iter()
            .map(|facts| (facts.target.clone(), Entry::new(facts.clone())));
        let configured = settings.permissions.clone();
        let grants = Grants::new(session.clone(), configured, ownership.is_launched());
        Self {
            session,
            settings,
            ownership,
            tabs: tabs.collect(),
            crashed: HashMap::new(),
            making: 0,
            unannounced: Vec::new(),
            downloads: Downloads::default(),
            staging: None,
            output: None,
            tag,
            report,
            grants,
            privacy: Privacy::default(),
            states: States::default(),
            proxy_login: ProxyLogin::default(),
            hidden: HashMap::new(),
            requests,
        }
    }

    /// Sets the folder for downloads.
    pub(super) fn staging(self, staging: Option<(Staging, OutputRoot)>) -> Self {
        let (staging, output) = staging.unzip();
        Self {
            staging,
            output,
            ..self
        }
    }

    pub(super) async fn run(
        mut self,
        mut events: Events,
        mut requests: mpsc::Receiver<ActorRequest>,
        heartbeat: Heartbeat,
    ) {
        let mut shut_down = None;
        // A launched browser that hangs is not given up: its tabs would be lost.
        let attached = !self.ownership.is_launched();
        let mut hangs = std::pin::pin!(heartbeat.stops(self.session.clone()));
        loop {
            tokio::select! {
                // Events first: a request sent after Chrome's response must see all earlier events.
                biased;
                event = events.next() => match event {
                    Some(event) => self.handle_event(event).await,
                    None => break,
                },
                request = requests.recv() => match request {
                    Some(ActorRequest::ShutDown { done }) => {
                        shut_down = Some(done);
                        break;
                    }
                    Some(request) => self.handle_request(request).await,
                    None => break,
                },
                // A child process that survives the browser can keep the pipe open.
                () = self.ownership.ended() => break,
                () = &mut hangs, if attached => {
                    tracing::warn!("the browser does not respond; giving up the connection");
                    break;
                }
            }
        }
        let entries: Vec<_> = self.tabs.drain().collect();
        for tab in entries.into_iter().filter_map(|(_, entry)| entry.tab) {
            tab.note_gone(Gone::Closed);
        }
        self.end(shut_down.is_some()).await;
        if let Some(done) = shut_down {
            let _ = done.send(());
        }
    }

    /// Gives back what belongs to the browser, and reports that it is gone.
    async fn end(self, wanted: bool) {
        let gone = self.ownership.end(wanted, END_GRACE).await;
        if let (Some(staging), Some(output)) = (self.staging, &self.output) {
            staging.remove(output).await;
        }
        self.session.connection().close();
        let gone = E::from((self.tag, BrowserEvent::from(gone)));
        let _ = self.report.send(gone).await;
    }

    async fn handle_event(&mut self, mut event: RawEvent) {
        if let Some((session, events)) = event.child.take() {
            if let Some(attached) = event.decode::<target::AttachedToTarget>() {
                self.handle_attached(&attached, session, events).await;
            }
        } else if let Some(event) = event.decode::<target::TargetCreated>() {
            self.handle_created(&event.target_info).await;
        } else if let Some(event) = event.decode::<target::TargetInfoChanged>() {
            self.handle_changed(&event.target_info).await;
        } else if let Some(event) = event.decode::<target::TargetDestroyed>() {
            self.crashed.remove(&event.target_id);
            self.handle_gone(&event.target_id, Gone::Closed).await;
        } else if self.ownership.is_person()
            && let Some(event) = event.decode::<target::DetachedFromTarget>()
        {
            self.handle_detached(&event.session_id).await;
        } else if let Some(event) = event.decode::<target::TargetCrashed>() {
            self.handle_gone(&event.target_id, Gone::Crashed).await;
        } else if let Some(paused) = event.decode::<fetch::RequestPaused>() {
            self.handle_paused(paused);
        } else if let Some(cut) = event.too_large() {
            self.handle_cut(event.method(), cut);
        } else if let Some(event) = event.decode::<fetch::AuthRequired>() {
            self.handle_auth(event);
        } else if let Some(event) = event.decode::<browser::DownloadWillBegin>() {
            self.handle_download(event);
        } else if let Some(event) = event.decode::<browser::DownloadProgress>() {
            self.handle_download_progress(event);
        }
    }

    async fn handle_request(&mut self, request: ActorRequest) {
        match request {
            ActorRequest::Attach { target, answer } => self.handle_attach(&target, answer),
            ActorRequest::Attached { target, answer } => {
                let entry = self.tabs.get(&target);
                if let Some(tab) = entry.and_then(|entry| entry.tab.clone()) {
                    let _ = answer.send(tab);
                }
            }
            ActorRequest::Unattachable { target, why } => self.handle_unattachable(&target, &why),
            ActorRequest::Crashed { session } => self.handle_crashed(&session).await,
            ActorRequest::AwaitGone { target, done } => {
                if let Some(entry) = self.tabs.get_mut(&target) {
                    entry.awaiting_gone.push(done);
                }
            }
            ActorRequest::BeginMaking { done } => {
                self.making += 1;
                let _ = done.send(());
            }
            ActorRequest::EndMaking { made, done } => {
                self.making = self.making.saturating_sub(1);
                if let Some((target, origin)) = made {
                    self.own(&target);
                    if let Some(entry) = self.tabs.get_mut(&target) {
                        entry.is_stray = false;
                        entry.seeks_opener = false;
                    }
                    self.announce(&target, origin).await;
                    self.recheck_privacy().await;
                }
                if self.making == 0 {
                    for target in std::mem::take(&mut self.unannounced) {
                        self.announce(&target, TabOpener::Browser).await;
                    }
                }
                let _ = done.send(());
            }
            ActorRequest::NavigatingTo { target, url } => {
                if let Some(entry) = self.tabs.get_mut(&target) {
                    entry.destination = Some(url);
                    self.report_change(&target).await;
                }
            }
            ActorRequest::Refresh { tabs, done } => {
                for facts in tabs {
                    self.handle_title(facts).await;
                }
                let _ = done.send(());
            }
            ActorRequest::ReportTools {
                target,
                findings,
                done,
            } => {
                if let Some(entry) = self.tabs.get_mut(&target) {
                    entry.tools = *findings;
                }
                self.report_tools(&target).await;
                if let Some(done) = done {
                    let _ = done.send(());
                }
            }
            ActorRequest::Detach { which, done } => {
                let left = self.detach_all(&which).await;
                let _ = done.send(left);
            }
            ActorRequest::RecheckPrivacy => self.recheck_privacy().await,
            ActorRequest::ShutDown { .. } => {}
        }
    }

    fn handle_attach(
        &mut self,
        target: &TargetId,
        answer: oneshot::Sender<Result<Tab, ToolError>>,
    ) {
        let Some(entry) = self.tabs.get_mut(target) else {
            return;
        };
        entry.wanted_at = Instant::now();
        if let Some(tab) = &entry.tab {
            let _ = answer.send(Ok(tab.clone()));
            return;
        }
        entry.awaiting_tab.push(answer);
        // In a launched browser every tab is attached automatically.
        if !self.ownership.is_launched() && !entry.attaching {
            entry.attaching = true;
            let (target_id, flatten) = (target.clone(), Some(true));
            let attach = target::AttachToTarget { target_id, flatten };
            let (session, actor, target) =
                (self.session.clone(), self.requests.clone(), target.clone());
            tokio::spawn(async move {
                let refused = session.send(attach).await.err();
                if let (Some(why), Some(actor)) = (refused, actor.upgrade()) {
                    let _ = actor.send(ActorRequest::Unattachable { target, why }).await;
                }
            });
        }
    }

    /// Some pages belong to the browser itself, and an extension may not attach to them.
    fn handle_unattachable(&mut self, target: &TargetId, why: &CdpError) {
        let policy = self.settings.policy;
        let Some(entry) = self.tabs.get_mut(target) else {
            return;
        };
        entry.attaching = false;
        let error = match policy.permits(&entry.facts.url) {
            true => ToolError::from(why.clone()),
            false => ToolError::ForbiddenPage {
                url: one_line(&entry.facts.url, 200),
            },
        };
        for answer in entry.awaiting_tab.drain(..) {
            let _ = answer.send(Err(error.clone()));
        }
    }

    async fn handle_created(&mut self, info: &target::TargetInfo) {
        if info.r#type != "page" {
            return;
        }
        self.states.shows(info);
        let facts = TabFacts::from(info);
        let target = facts.target.clone();
        if let Some(entry) = self.tabs.get_mut(&target) {
            entry.is_attached = info.attached;
            return;
        }
        if self.hide(&facts) {
            return;
        }
        let opener = info.opener_id.clone();
        let mut entry = Entry::new(facts);
        entry.is_attached = info.attached;
        entry.is_stray = opener.is_none();
        entry.seeks_opener = opener.is_none();
        entry.opener.clone_from(&opener);
        self.tabs.insert(target.clone(), entry);
        match opener {
            Some(opener) => {
                let origin = TabOpener::Popup {
                    opener: opener.clone(),
                };
                // Report the popup before its opener mentions it.
                self.announce(&target, origin).await;
                if let Some(tab) = self.tabs.get(&opener).and_then(|entry| entry.tab.as_ref()) {
                    tab.note_popup(target);
                }
            }
            None if self.making > 0 => self.unannounced.push(target),
            None => {
                self.announce(&target, TabOpener::Browser).await;
                self.tell_opener(&target);
            }
        }
    }

    async fn handle_attached(
        &mut self,
        event: &target::AttachedToTarget,
        session: Session,
        events: Events,
    ) {
        // Chrome attaches a new tab before it reports its creation.
        self.handle_created(&event.target_info).await;
        let target = event.target_info.target_id.clone();
        // Before its first request: the opener's policy applies to a popup.
        let opener = event.target_info.opener_id.as_ref();
        let opener = opener.and_then(|opener| self.tabs.get(opener)?.tab.as_ref());
        let user = opener.and_then(Tab::user);
        let guard = opener.map(|opener| opener.guard().inherited());
        let Some(entry) = self
            .tabs
            .get_mut(&target)
            .filter(|entry| entry.tab.is_none())
        else {
            // It became private meanwhile, or is attached already.
            return self.session.post(target::DetachFromTarget {
                session_id: Some(event.session_id.clone()),
                target_id: None,
            });
        };
        entry.guard = guard.unwrap_or_else(|| entry.guard.clone());
        let tab = Tab::follow(
            target,
            session,
            events,
            event.waiting_for_debugger,
            self.settings.clone(),
            entry.guard.clone(),
            self.grants.of_tab(entry.context()),
        );
        if let Some(user) = user {
            tab.used_by(user);
        }
        for answer in entry.awaiting_tab.drain(..) {
            let _ = answer.send(Ok(tab.clone()));
        }
        tools::watch(&tab, self.requests.clone());
        crashes::watch(&tab, self.requests.clone());
        entry.tab = Some(tab);
    }

    async fn handle_changed(&mut self, info: &target::TargetInfo) {
        self.states.shows(info);
        let facts = TabFacts::from(info);
        let Some(entry) = self.tabs.get_mut(&facts.target) else {
            // The tab crashed. Unless this event is about something else, it is loaded again.
            return match self.is_still_crashed(info) {
                true => {}
                false => self.handle_created(info).await,
            };
        };
        entry.is_attached = info.attached;
        let target = facts.target.clone();
        if !facts.is_blank() {
            entry.destination = None;
        }
        entry.facts = facts;
        self.report_change(&target).await;
        self.tell_opener(&target);
    }

    /// Stores a title, unless the tab has navigated since it was asked for.
    async fn handle_title(&mut self, facts: TabFacts) {
        let known = self.tabs.get_mut(&facts.target);
        if let Some(entry) = known.filter(|entry| entry.facts.url == facts.url) {
            entry.facts.title = facts.title;
            self.report_change(&facts.target).await;
        }
    }

    /// Reports the tab's state if it changed.
    async fn report_change(&mut self, target: &TargetId) {
        let Some(entry) = self.tabs.get_mut(target) else {
            return;
        };
        let facts = entry
            .facts
            .to_report(entry.tab.as_ref(), entry.destination.as_deref());
        if entry.told == facts || self.unannounced.contains(target) {
            return;
        }
        entry.told = facts.clone();
        self.tell(BrowserEvent::TabChanged(facts)).await;
    }

    pub(super) async fn handle_gone(&mut self, target: &TargetId, gone: Gone) {
        self.hidden.remove(target);
        self.privacy.forget_tab(target);
        let Some(entry) = self.tabs.remove(target) else {
            return;
        };
        if gone == Gone::Crashed {
            self.crashed.insert(target.clone(), entry.is_attached);
        }
        if let Some(tab) = &entry.tab {
            tab.note_gone(gone);
        }
        let announced = self
            .unannounced
            .iter()
            .position(|waiting| waiting == target);
        match announced {
            Some(index) => drop(self.unannounced.remove(index)),
            None => {
                self.tell(BrowserEvent::TabGone {
                    target: target.clone(),
                    gone,
                })
                .await
            }
        }
        for done in entry.awaiting_gone {
            let _ = done.send(());
        }
    }

    /// Reports a new tab and what opened it.
    pub(super) async fn announce(&mut self, target: &TargetId, origin: TabOpener) {
        self.unannounced.retain(|waiting| waiting != target);
        let Some(entry) = self.tabs.get_mut(target) else {
            return;
        };
        entry.told = entry.facts.clone();
        let tab = entry.told.clone();
        self.tell(BrowserEvent::TabAppeared { tab, origin }).await;
        self.report_tools(target).await;
    }

    pub(super) async fn tell(&self, event: BrowserEvent) {
        // The receiver is gone only during shutdown.
        let _ = self.report.send(E::from((self.tag, event))).await;
    }
}

const END_GRACE: Duration = Duration::from_millis(600);
