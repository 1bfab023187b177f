//! Resources: what a session can read by its address, without calling a tool.
//!
//! A read of a tab's resource is a call of a page action in that tab, made for the client. So policy, deadlines, the
//! audit log, the masking of secrets and cancelling hold for it, and it permits nothing that a call does not.
//!
//! - `address`: what an address names.
//! - `kinds`: which resources a tab has, and which call reads each.
//! - `listing`: the lists of resources and templates.
//! - `reading`: the answer to a read.
//! - `watching`: which of them changed.
//! - `without_paths`: answers for clients on other machines.

pub(crate) mod address;
mod kinds;
mod listing;
mod reading;
mod watching;
pub(crate) mod without_paths;

use crate::handle::{Reply, Submitter};
pub(crate) use watching::Watch;

use address::{Address, FileAddress, TabAddress};
use tabmux_browser::OutputFolder;
use tabmux_core::{Mode, ShownTab};
use tabmux_protocol::{CallFailure, CallReply, Content, ResourceQuery, ResourceRequest};
use tokio::sync::oneshot;

/// What of a session its resources depend on.
#[derive(Clone, Debug)]
pub(crate) struct Seen {
    pub(crate) mode: Mode,
    /// Whether its calls name a browser.
    pub(crate) has_several: bool,
    pub(crate) tabs: Vec<ShownTab>,
    /// The tools by which its resources are read, as far as it has them.
    pub(crate) tools: Vec<&'static str>,
    pub(crate) output: OutputFolder,
}

/// The tools by which resources are read.
pub(crate) fn tools() -> impl Iterator<Item = &'static str> {
    kinds::all().iter().map(|kind| kind.tool)
}

/// The reply of a call that read a resource and made this file of it.
pub(crate) fn link(number: u64) -> CallReply {
    CallReply {
        content: vec![Content::ResourceLink(listing::of_file(number, ""))],
        ..CallReply::default()
    }
}

/// Submits a request about resources, and returns a future of its reply.
pub(crate) async fn submit(
    calls: &Submitter,
    request: ResourceRequest,
) -> Result<Reply, CallFailure> {
    match &request.query {
        ResourceQuery::Templates => Ok(at_once(Ok(listing::templates()))),
        ResourceQuery::List => {
            let seen = calls.resources_seen().await?;
            Ok(at_once(Ok(listing::list(&seen))))
        }
        ResourceQuery::Read { uri } => match Address::parse(uri) {
            None => Ok(unknown(uri)),
            Some(Address::File(file)) => read_file(calls, uri.clone(), file).await,
            Some(Address::Tab(tab)) => read_tab(calls, &request, uri.clone(), tab).await,
        },
    }
}

async fn read_file(
    calls: &Submitter,
    uri: String,
    file: FileAddress,
) -> Result<Reply, CallFailure> {
    let seen = calls.resources_seen().await?;
    Ok(later(async move {
        reading::file(&seen.output, &uri, file)
            .await
            .unwrap_or(Err(CallFailure::UnknownResource { uri }))
    }))
}

async fn read_tab(
    calls: &Submitter,
    request: &ResourceRequest,
    uri: String,
    address: TabAddress,
) -> Result<Reply, CallFailure> {
    let seen = calls.resources_seen().await?;
    let mut tabs = seen.tabs.iter();
    let Some(tab) = tabs.find(|tab| tab.row.id.0 == address.tab) else {
        return Ok(unknown(&uri));
    };
    let call = kinds::call(request, &address, tab, &seen);
    let called = match seen.mode {
        Mode::Static => calls.submit_read(call, None).await?,
        // There calls name no tab. The core refuses this one if the session has another focus by then.
        Mode::Progressive => calls.submit_read(call, Some(tab.row.id.into())).await?,
    };
    Ok(later(async move {
        match called.await {
            // Another list, or `--slim`.
            Err(CallFailure::UnknownTool { .. }) => Err(CallFailure::UnknownResource { uri }),
            called => reading::tab(&seen.output, &uri, &address, called?).await,
        }
    }))
}

/// A reply that is known.
fn at_once(outcome: Result<CallReply, CallFailure>) -> Reply {
    let (answer, reply) = oneshot::channel();
    let _ = answer.send(outcome);
    Reply(reply)
}

fn unknown(uri: &str) -> Reply {
    let uri = uri.to_owned();
    at_once(Err(CallFailure::UnknownResource { uri }))
}

/// A reply that takes time. Each step of the work has a deadline of its own.
fn later(work: impl Future<Output = Result<CallReply, CallFailure>> + Send + 'static) -> Reply {
    let (answer, reply) = oneshot::channel();
    tokio::spawn(async move {
        let _ = answer.send(work.await);
    });
    Reply(reply)
}
