//! The main loop: the one task that owns the core and handles every event.

mod abandoned;
mod browser_events;
mod call_events;
mod confirm;
mod event;
mod limits;
mod look_for_tools;
mod notes;
mod observed_state;
mod open_sessions;
mod page_calls;
mod page_events;
mod panel_events;
mod perform;
mod policy;
mod replies;
mod session_events;
mod step_tools;

pub(crate) use event::{Answer, Event, PagesEvent, PersonEvent};
pub(crate) use open_sessions::OpenSessions;
pub(crate) use page_calls::FoundAnswer;
pub(crate) use step_tools::StepTool;

use crate::audit::Audit;
use crate::browsers::Browsers;
use crate::calls::Calls;
use crate::extension::Extensions;
use crate::loop_costs::{LoopCosts, Worked};
use crate::memory::Memory;
use crate::page_tools::PageTools;
use crate::panel::Panel;
use crate::policy::PolicyFile;
use crate::questions::Asking;
use crate::state::{Publisher, State};
use crate::timed_core::TimedCore;
use crate::{catalogue, work};
use abandoned::close_abandoned;
use notes::NoteSources;
use observed_state::StateSources;
use std::sync::Arc;
use std::time::Duration;
use tabmux_core::{Config, Core, Finish, Input};
use tokio::sync::{mpsc, watch};

/// The state of the main loop: the core, and the data that the core does not need.
pub(crate) struct MainLoop {
    core: TimedCore,
    events: mpsc::Sender<Event>,
    sessions: OpenSessions,
    browsers: Browsers,
    page_tools: PageTools,
    calls: Calls,
    panel: Panel,
    publisher: Publisher,
    memory: Memory,
    costs: LoopCosts,
}

/// The files that the main loop reads and writes, through tasks of their own.
pub(crate) struct LoopFiles {
    pub(crate) audit: Audit,
    pub(crate) memory: Memory,
    pub(crate) policy: PolicyFile,
}

impl MainLoop {
    pub(crate) fn new(
        events: mpsc::Sender<Event>,
        shared: bool,
        LoopFiles {
            audit,
            memory,
            policy,
        }: LoopFiles,
        extensions: Arc<Extensions>,
        asking: Asking,
        state: watch::Sender<Arc<State>>,
    ) -> Self {
        let config = Config {
            page_actions: catalogue::page_actions(),
            tab_tools: catalogue::page_tools(),
            static_tools: catalogue::static_tools(),
            tabs_counted: memory.tabs_counted(),
            remembered: memory.tabs(),
            least_deadline: limits::least_deadline(),
            ..Config::default()
        };
        Self {
            core: TimedCore::start(Core::new(config)),
            sessions: OpenSessions::new(shared),
            browsers: Browsers::new(extensions, events.clone()),
            page_tools: PageTools::default(),
            calls: Calls::new(audit, asking),
            panel: Panel::new(policy, events.clone()),
            events,
            publisher: Publisher::new(state),
            memory,
            costs: LoopCosts::default(),
        }
    }

    /// Handles events until shutdown, then disconnects every browser.
    pub(crate) async fn run(mut self, mut inbox: mpsc::Receiver<Event>) {
        let output = self.sessions.output.clone();
        tokio::spawn(async move { output.sweep().await });
        tokio::spawn(tabmux_browser::release_orphans());
        if let Some(grace) = self.memory.grace() {
            tokio::spawn(work::abandon_later(grace, self.events.clone()));
        }
        let done = loop {
            let mut is_news = true;
            // There is no await between here and the end of the turn, so one thread does all of it.
            let (kind, since) = tokio::select! {
                event = inbox.recv() => match event {
                    None => break None,
                    Some(Event::ShutDown { done }) => break Some(done),
                    Some(event) => {
                        let begun = (event.kind(), Worked::now());
                        self.handle(event);
                        begun
                    }
                },
                () = self.core.alarm() => {
                    let begun = ("alarm", Worked::now());
                    self.core.wake();
                    begun
                }
                () = self.calls.wait_alarm() => {
                    let begun = ("waits", Worked::now());
                    self.tell_waits();
                    is_news = false;
                    begun
                }
                () = self.publisher.alarm() => {
                    let begun = ("publish", Worked::now());
                    self.publish();
                    is_news = false;
                    begun
                }
            };
            // Must come before the replies: a reply waits until the notes about its effects are written.
            self.keep_notes();
            self.panel
                .acknowledge_opened(&self.core, &self.browsers, &self.memory);
            while let Some(output) = self.core.next_output() {
                self.perform(output);
            }
            if is_news {
                self.publisher.note();
            }
            self.costs.spent(kind, since);
        };
        self.calls.cancel_all();
        // Sessions that are still open save their login states.
        let with_state = self.sessions.with_state();
        for session in with_state {
            self.browsers.session_closed(session, &self.core);
        }
        tokio::join!(
            self.browsers.finish_closing(CLOSING_LIMIT),
            self.sessions.finish_removing(CLOSING_LIMIT)
        );
        // Browsers still report their end to this queue, but it is not read any more.
        inbox.close();
        self.browsers.shut_down().await;
        let _ = tokio::time::timeout(CLOSING_LIMIT, self.sessions.output.end()).await;
        self.memory.finish();
        if let Some(done) = done {
            let _ = done.send(());
        }
    }

    /// Passes the notes for a later daemon to their writer, if they may have changed.
    fn keep_notes(&mut self) {
        if self.memory.wants_notes(self.core.persistence_version()) {
            let sources = NoteSources {
                core: &self.core,
                sessions: &self.sessions,
                browsers: &self.browsers,
                labels: &self.panel.labels,
                memory: &self.memory,
            };
            let notes = sources.notes();
            self.memory.keep(notes);
        }
    }

    /// Publishes the state, with the latest rules.
    fn publish(&mut self) {
        // `tabmux policy` may have changed the rules without notice: what is read now is published next time.
        if let Some(policy_reader) = self.panel.rules.file.policy_reader() {
            tokio::spawn(async move { policy_reader.reread().await });
        }
        self.notice_policy();
        let sources = StateSources {
            core: &self.core,
            sessions: &self.sessions,
            browsers: &self.browsers,
            page_tools: &self.page_tools,
            calls: &self.calls,
            panel: &self.panel,
            costs: &self.costs,
        };
        self.publisher.publish(sources.state());
    }

    fn handle(&mut self, event: Event) {
        match event {
            Event::ShutDown { .. } => {} // Ends the loop itself.
            Event::Open {
                session,
                options,
                client,
                notify,
            } => {
                self.open(session, options, client, notify);
            }
            Event::Resume { resume, answer } => drop(answer.send(self.memory.take_up(&resume))),
            Event::Abandon => close_abandoned(
                &self.core,
                &self.sessions,
                &mut self.browsers,
                &mut self.memory,
            ),
            Event::PolicyWritten { rules } => {
                self.notice_policy();
                self.panel.rules_written(rules);
            }
            Event::Pages(event) => self.pages_event(event),
            Event::RefreshTitles { done } => {
                tokio::spawn(work::refresh_all(self.browsers.all(), done));
            }
            Event::Publish { done } => {
                self.publish();
                if let Some(done) = done {
                    let _ = done.send(());
                }
            }
            Event::Roots { session, roots } => self.sessions.client_works_in(session, roots),
            Event::ContinueIn { session, folders } => self.sessions.continue_in(session, folders),
            Event::Close { session } => {
                self.close(session);
            }
            Event::Tools { session, answer } => {
                self.core.list_is_fetched(session);
                drop(answer.send(self.tools_of(session)));
            }
            Event::Resources { session, answer } => {
                self.notice_policy();
                drop(answer.send(self.resources_of(session)));
            }
            Event::StepTools {
                session,
                names,
                tab,
                answer,
            } => drop(answer.send(self.step_tools(session, &names, tab.as_ref()))),
            Event::Call { session, call } => self.call(session, call),
            Event::QuestionAnswered {
                id,
                allowed,
                answer,
            } => drop(answer.send(self.question_answered(&id, allowed))),
            Event::QuestionExpired { id } => self.question_expired(&id),
            Event::Cancel { session, request } => self.cancel(session, &request),
            Event::Browser { browser, event } => self.browser_event(browser, event),
            Event::Connected {
                browser,
                result,
                peer,
            } => {
                let private = self.panel.rules.file.private_windows();
                self.browsers
                    .attempted(browser, result, peer, private, &mut self.core);
            }
            Event::Finished { call, outcome } => {
                let outcome =
                    outcome.map_or_else(|message| Finish::Failed { message }, |()| Finish::Done);
                self.core.input(Input::Finished { call, outcome });
            }
            Event::Ran {
                call,
                browser,
                result,
            } => self.ran(call, browser, result),
            Event::Awaited { browser, message } => self.awaited(browser, &message),
            Event::Progressed { call, message } => self.progressed(call, message),
            Event::Person(event) => self.person_event(event),
            Event::Sweep { browser } => self.browsers.sweep(browser, &self.core),
            Event::Swept { browser, left } => self.browsers.swept(browser, left),
        }
    }
}

/// How long shutdown waits for tabs that are being closed.
const CLOSING_LIMIT: Duration = Duration::from_secs(1);
