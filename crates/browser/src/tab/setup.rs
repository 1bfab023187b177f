//! Sets up the session of a tab or of a cross-site frame, so that no later event is missed.

use super::actor::Shared;
use super::frames::Shown;
use super::{TabSettings, Viewport};
use crate::page_tools::model_context;
use crate::script::LONGEST;
use tabmux_cdp::types::{
    Command, emulation, inspector, log, network, page, runtime, target, web_mcp,
};
use tabmux_cdp::{CdpError, Session};

/// Sends all setup commands, then resumes a waiting target: Chrome processes them in this order. A target whose setup
/// fails is resumed, too; nothing else would resume it. Returns the frames as they were before that.
pub(super) async fn set_up(
    session: Session,
    waiting: bool,
    settings: TabSettings,
    shared: &Shared,
) -> Result<Vec<Shown>, CdpError> {
    // A crashed page responds to no other command.
    session.post(inspector::Enable::default());
    // Posted first, so that a new frame is emulated from its first script.
    shared.emulation.join(&session);
    shared.rules.join(&session);
    for source in settings.scripts.iter() {
        session.post(page::AddScriptToEvaluateOnNewDocument {
            source: source.clone(),
            ..Default::default()
        });
    }
    let emulated = settings.emulation().viewport;
    let viewport = async {
        match (emulated, settings.viewport) {
            (Some(viewport), _) => {
                let touch = Viewport::touch_command(emulated);
                // Both are sent at once, before the page resumes.
                let (sized, touches) =
                    tokio::join!(session.send(viewport.command()), session.send(touch));
                sized?;
                touches.map(drop)
            }
            (None, Some((width, height))) => {
                session.send(fixed_size(width, height)).await.map(drop)
            }
            (None, None) => Ok(()),
        }
    };
    let resume = async {
        if waiting {
            patiently(&session, runtime::RunIfWaitingForDebugger::default()).await?;
        }
        Ok::<_, CdpError>(())
    };
    let (tree, enabled, _, _, _, _, _, _, _, (), sized, resumed) = tokio::join!(
        patiently(&session, page::GetFrameTree::default()),
        patiently(&session, page::Enable::default()),
        session.send(runtime::Enable::default()),
        session.send(log::Enable::default()),
        session.send(enable_network()),
        session.send(attach_frames()),
        // A browser that is too old for it responds with an error, and has no such tools.
        session.send(web_mcp::Enable::default()),
        session.send(model_context::binding()),
        session.send(model_context::script(settings.shim)),
        shared.added_scripts.join(&session),
        viewport,
        resume,
    );
    resumed?;
    enabled?;
    let frames = shown(&tree?.frame_tree);
    if let Err(error) = sized {
        tracing::debug!(%error, "the viewport could not be set");
    }
    Ok(frames)
}

/// Retries until there is a response, or the target is gone. A page that is paused by a dialog or by another debugger
/// responds when it continues, and is usable then.
async fn patiently<C: Command + Clone>(
    session: &Session,
    command: C,
) -> Result<C::Response, CdpError> {
    loop {
        match session.send_within(command.clone(), LONGEST).await {
            Err(CdpError::TimedOut { .. }) => {}
            answer => return answer,
        }
    }
}

/// Chrome reports all tools when this domain is enabled. Those of a document from the back/forward cache it reports
/// at no other time.
pub(super) fn request_tools_again(session: &Session) {
    let session = session.clone();
    tokio::spawn(async move {
        let _ = tokio::join!(
            session.send(web_mcp::Disable::default()),
            session.send(web_mcp::Enable::default()),
        );
    });
}

/// A frame and its children, parents first.
fn shown(tree: &page::FrameTree) -> Vec<Shown> {
    let mut list = Vec::new();
    let mut trees = vec![tree];
    while let Some(tree) = trees.pop() {
        list.push(Shown::from(&tree.frame));
        trees.extend(tree.child_frames.iter().flatten());
    }
    list
}

impl From<&page::Frame> for Shown {
    fn from(frame: &page::Frame) -> Self {
        Self {
            id: frame.id.clone(),
            parent: frame.parent_id.clone(),
            loader: frame.loader_id.clone(),
            url: format!(
                "{}{}",
                frame.url,
                frame.url_fragment.as_deref().unwrap_or_default()
            ),
            security_origin: frame.security_origin.clone(),
        }
    }
}

/// Cross-site frames have their own sessions, attached before they run their first script. So have workers: Chrome
/// pauses them, too, and forever if no client attaches and resumes them.
fn attach_frames() -> target::SetAutoAttach {
    target::SetAutoAttach {
        auto_attach: true,
        wait_for_debugger_on_start: true,
        flatten: Some(true),
        filter: Some(any_of(&[
            "iframe",
            "worker",
            "service_worker",
            "shared_worker",
        ])),
    }
}

/// Large request bodies are fetched on demand; small ones are included in events.
fn enable_network() -> network::Enable {
    network::Enable {
        max_post_data_size: Some(10_000),
        ..Default::default()
    }
}

/// Resumes a worker, under the tab's rules. Nothing else of it is tracked.
pub(super) fn wake(session: &Session, shared: &Shared) {
    shared.rules.join(session);
    session.post(runtime::RunIfWaitingForDebugger::default());
}

/// A filter that accepts one type of target only.
pub(crate) fn only(kind: &str) -> Vec<target::FilterEntry> {
    any_of(&[kind])
}

fn any_of(kinds: &[&str]) -> Vec<target::FilterEntry> {
    let entry = |kind: Option<&str>, exclude| target::FilterEntry {
        r#type: kind.map(Into::into),
        exclude: Some(exclude),
    };
    let wanted = kinds.iter().map(|kind| entry(Some(kind), false));
    wanted.chain([entry(None, true)]).collect()
}

fn fixed_size(width: u32, height: u32) -> emulation::SetDeviceMetricsOverride {
    emulation::SetDeviceMetricsOverride {
        width: width.into(),
        height: height.into(),
        ..Default::default()
    }
}
