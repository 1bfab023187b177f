//! The tasks that carry out the core's outputs in browsers; each reports to the main loop.

use crate::browsers::Context;
use crate::convert;
use crate::main_loop::{Event, FoundAnswer, PagesEvent};
use serde_json::{Map, Value};
use std::future::Future;
use std::sync::Arc;
use std::time::Duration;
use tabmux_browser::page_tools::{PageAnswer, ToolNumber};
use tabmux_browser::tools::{Prepared, Viewer};
use tabmux_browser::{
    AddressPolicy, Browser, CallContext, ContextId, Files, OutputFolder, StorageSource, ToolError,
};
use tabmux_core::{BrowserId, CallId, TargetId};
use tabmux_protocol::CallReply;
use tokio::sync::{mpsc, oneshot};
use tokio_util::sync::CancellationToken;

/// The inputs of the work for one call.
pub(crate) struct Job {
    pub(crate) call: CallId,
    pub(crate) browser: BrowserId,
    pub(crate) handle: Browser,
    pub(crate) cancel: CancellationToken,
    pub(crate) events: mpsc::Sender<Event>,
    /// Who is told what the call changed on the page, if that is wanted.
    pub(crate) viewer: Option<Viewer>,
}

impl Job {
    /// The context for the work, and the receiver of its progress messages.
    fn context(&self, files: Files, wants_progress: bool) -> (CallContext, mpsc::Receiver<String>) {
        let (progress, messages) = mpsc::channel(16);
        let context = CallContext {
            cancel: self.cancel.clone(),
            files,
            progress: wants_progress.then_some(progress),
            viewer: self.viewer,
        };
        (context, messages)
    }

    /// Tells the main loop that the work has ended; an error says why it failed.
    async fn finish(self, outcome: Result<(), String>) {
        let call = self.call;
        let _ = self.events.send(Event::Finished { call, outcome }).await;
    }

    /// Waits for the work, and forwards its progress messages.
    async fn wait_for<T>(
        &self,
        work: impl Future<Output = T>,
        mut progress: mpsc::Receiver<String>,
    ) -> T {
        tokio::pin!(work);
        loop {
            tokio::select! {
                result = &mut work => return result,
                Some(message) = progress.recv() => {
                    let progressed = Event::Progressed { call: self.call, message };
                    let _ = self.events.send(progressed).await;
                }
            }
        }
    }
}

/// Refreshes the titles of tabs. If the browser does not answer, they stay as they are. Generates tools for the named
/// tabs, so that they can be counted.
pub(crate) async fn refresh(job: Job, tabs: Vec<TargetId>, generate: Option<usize>) {
    let read = tabs.iter().map(async |target| {
        let limit = generate?;
        let target = target_id(target);
        let read = job.handle.read_if_responsive(&target, limit, REFRESH_LIMIT);
        read.await.ok()
    });
    let (refreshed, _) = tokio::join!(
        job.handle.refresh(REFRESH_LIMIT),
        futures_util::future::join_all(read)
    );
    if let Err(error) = refreshed {
        tracing::debug!(%error, "the titles of tabs may be out of date");
    }
    job.finish(Ok(())).await;
}

/// Refreshes the titles of all tabs. When this is done, the main loop has been sent the changes.
pub(crate) async fn refresh_all(browsers: Vec<Browser>, done: oneshot::Sender<()>) {
    let refresh = browsers.iter().map(async |browser| {
        tokio::join!(
            browser.refresh(REFRESH_LIMIT),
            browser.learn_web_mcp(REFRESH_LIMIT)
        )
    });
    futures_util::future::join_all(refresh).await;
    let _ = done.send(());
}

/// The owner of a new tab.
pub(crate) struct TabOwner {
    /// The session's own context, if it has one.
    pub(crate) context: Option<Context>,
    /// The cookies and storage that the context starts with.
    pub(crate) storage: Option<StorageSource>,
    /// The download folder.
    pub(crate) output: Option<OutputFolder>,
}

/// Opens a tab. The core closes it again if the call has ended meanwhile.
pub(crate) async fn open_tab(
    job: Job,
    url: Arc<str>,
    focus: bool,
    limit: Option<Duration>,
    place: TabOwner,
    generate: Option<usize>,
) {
    let open = async {
        // The address was checked when the call came in; `file:` depends on the browser's plan.
        let address = AddressPolicy { allow_files: true }
            .parse(&url)
            .map_err(ToolError::from)?;
        let context = match &place.context {
            Some(own) => Some(
                own.get_or_try_init(|| job.handle.make_context(place.storage.as_ref()))
                    .await?
                    .clone(),
            ),
            None => None,
        };
        job.handle
            .open(
                &address,
                context,
                job.call.0,
                focus,
                limit.unwrap_or(LOAD_LIMIT),
                place.output,
            )
            .await
    };
    let Some(opened) = unless_cancelled(&job.cancel, open).await else {
        return;
    };
    if let (Ok(target), true) = (&opened, focus) {
        let target = TargetId(target.as_str().into());
        follow_page(&job.handle, &target, generate).await;
    }
    await_tab_event(&job, &opened).await;
    let outcome = opened.map(|_| ()).map_err(|error| error.to_string());
    job.finish(outcome).await;
}

/// Waits until a tab that is being focused has loaded. A tab that does not respond is still focused: its tools will
/// report that.
pub(crate) async fn prepare_focus(
    job: Job,
    tab: TargetId,
    to_front: bool,
    generate: Option<usize>,
) {
    let target = target_id(&tab);
    job.handle.apply_policy(&target).await;
    if to_front && let Err(error) = job.handle.bring_to_front(&target).await {
        tracing::debug!(%error, "a tab could not be brought to the front");
    }
    let settle = tokio::time::timeout(LOAD_LIMIT, job.handle.settle(&target, LOAD_LIMIT));
    let Some(settled) = unless_cancelled(&job.cancel, settle).await else {
        return;
    };
    if let Ok(settled) = &settled {
        await_tab_event(&job, settled).await;
    }
    if let Ok(Ok(())) = settled {
        follow_page(&job.handle, &tab, generate).await;
    }
    let outcome = match settled {
        // An extension cannot access the browser's own pages; these are focused, too.
        Ok(Ok(())) | Err(_) | Ok(Err(ToolError::Stuck | ToolError::ForbiddenPage { .. })) => Ok(()),
        Ok(Err(error)) => Err(error.to_string()),
    };
    job.finish(outcome).await;
}

/// Generates tools from a page, now and whenever it changes, if requested.
async fn follow_page(browser: &Browser, target: &TargetId, limit: Option<usize>) {
    generate_tools(browser, target, limit).await;
    if limit.is_some() {
        browser.introspect(&target_id(target), limit).await;
    }
}

/// Generates tools from a page, if requested. A page that cannot be read has none.
async fn generate_tools(browser: &Browser, target: &TargetId, limit: Option<usize>) {
    let Some(limit) = limit else {
        return;
    };
    if let Err(error) = browser.generate_tools(&target_id(target), limit).await {
        tracing::debug!(%error, "a page was not read for tools");
    }
}

/// The same for a list, which does not wait for a page that does not respond.
async fn read_unless_stuck(
    browser: &Browser,
    target: &TargetId,
    limit: Option<usize>,
    patience: Duration,
) {
    let Some(limit) = limit else {
        return;
    };
    let target = target_id(target);
    let read = browser.read_unless_stuck(&target, limit, patience);
    if let Err(error) = read.await {
        tracing::debug!(%error, "a page was not read for tools");
    }
}

/// Closes a tab that its agent named.
pub(crate) async fn close_tab(job: Job, target: TargetId, last: bool) {
    let closed = job.handle.close_tab(&target_id(&target), last).await;
    await_tab_event(&job, &closed).await;
    let outcome = closed.map_err(|error| error.to_string());
    job.finish(outcome).await;
}

/// Runs a page action, and forwards its progress messages.
pub(crate) async fn run(
    job: Job,
    target: TargetId,
    prepared: Prepared,
    files: Files,
    wants_progress: bool,
) {
    let (context, progress) = job.context(files, wants_progress);
    let target = target_id(&target);
    let run = tabmux_browser::run(&job.handle, &target, prepared, context);
    let result = job.wait_for(run, progress).await;
    await_tab_event(&job, &result).await;
    // Reports tools that it added or removed before its reply.
    let _ = job.handle.report_tools(&target).await;
    let ran = Event::Ran {
        call: job.call,
        browser: job.browser,
        result,
    };
    let _ = job.events.send(ran).await;
}

/// Calls a page tool, if its arguments match its schema. Forwards its progress messages.
pub(crate) async fn call_page_tool(
    job: Job,
    target: TargetId,
    tool: ToolNumber,
    arguments: impl Future<Output = Result<Map<String, Value>, String>>,
    files: Files,
    wants_progress: bool,
) {
    let result = match arguments.await {
        Err(why) => Ok(FoundAnswer::Reply(Box::new(CallReply::error(why)))),
        Ok(arguments) => {
            let (context, progress) = job.context(files, wants_progress);
            let target = target_id(&target);
            let call =
                tabmux_browser::page_tools::call(&job.handle, &target, tool, &arguments, context);
            let result = job.wait_for(call, progress).await;
            await_tab_event(&job, &result).await;
            let _ = job.handle.report_tools(&target).await;
            result.map(|answer| match answer {
                PageAnswer::Output(output) => FoundAnswer::Output(Box::new(output)),
                PageAnswer::Value(value) => {
                    FoundAnswer::Reply(Box::new(convert::page_value(value)))
                }
            })
        }
    };
    let called = PagesEvent::Called {
        call: job.call,
        browser: job.browser,
        result,
    };
    let _ = job.events.send(called.into()).await;
}

/// Inspects tabs for page tools. A tab that does not answer in time has none.
pub(crate) async fn look_for_tools(
    tabs: Vec<(Browser, TargetId)>,
    generate: Option<usize>,
    then: PagesEvent,
    events: mpsc::Sender<Event>,
) {
    let look = tabs.iter().map(async |(browser, name)| {
        let target = target_id(name);
        let look = async {
            let _ = browser.look_for_tools(&target).await;
            read_unless_stuck(browser, name, generate, LOOK_LIMIT).await;
        };
        let _ = tokio::time::timeout(LOOK_LIMIT, look).await;
    });
    futures_util::future::join_all(look).await;
    let _ = events.send(then.into()).await;
}

/// If a tab went away during a call, waits for the browser's event: it tells whether only the tab is gone, and the
/// core then answers the call.
async fn await_tab_event<T>(job: &Job, result: &Result<T, ToolError>) {
    if let Err(ToolError::TabGone(_) | ToolError::BrowserGone) = result {
        let _ = tokio::time::timeout(TAB_EVENT_LIMIT, job.cancel.cancelled()).await;
    }
}

/// Closes a tab that no session knows.
pub(crate) async fn discard(browser: Browser, target: TargetId, last: bool) {
    if let Err(error) = browser.close_tab(&target_id(&target), last).await {
        tracing::debug!(%error, "an unused tab could not be closed");
    }
}

/// Closes the context of a closed session.
pub(crate) async fn end_context(browser: Browser, context: ContextId) {
    if let Err(error) = browser.end_context(context).await {
        tracing::debug!(%error, "a context could not be ended");
    }
}

/// Waits while sessions of an earlier daemon may reconnect.
pub(crate) async fn abandon_later(grace: Duration, events: mpsc::Sender<Event>) {
    tokio::time::sleep(grace).await;
    let _ = events.send(Event::Abandon).await;
}

/// A session holds a tab, or releases it.
pub(crate) async fn hold(browser: Browser, target: TargetId, held: bool, generate: Option<usize>) {
    let target = target_id(&target);
    if held {
        browser.apply_policy(&target).await;
    }
    browser.hold(&target, held).await;
    if !held || generate.is_some() {
        browser.introspect(&target, generate.filter(|_| held)).await;
    }
}

async fn unless_cancelled<F: Future>(cancel: &CancellationToken, work: F) -> Option<F::Output> {
    tokio::select! {
        () = cancel.cancelled() => None,
        output = work => Some(output),
    }
}

fn target_id(target: &TargetId) -> tabmux_browser::TargetId {
    tabmux_browser::TargetId::from(&*target.0)
}

/// How long a call on a lost tab waits for the browser's event.
const TAB_EVENT_LIMIT: Duration = Duration::from_secs(3);

/// How long `list_page_tools` waits for tabs that were not attached.
const LOOK_LIMIT: Duration = tabmux_protocol::limits::LOOK_TAKES;

/// How long `list_tabs` waits for new titles.
const REFRESH_LIMIT: Duration = Duration::from_secs(1);

/// How long `open_tab` and `focus_tab` wait for a page.
const LOAD_LIMIT: Duration = Duration::from_secs(10);
