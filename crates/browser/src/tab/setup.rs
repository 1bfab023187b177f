//! Sets up the session of a tab or of a cross-site frame, so that nothing is missed from then on.

use super::actor::Shared;
use super::frames::Shown;
use super::{TabSettings, Viewport};
use crate::page_tools::model_context;
use crate::script::LONGEST;
use tabmux_cdp::types::{
    Command, emulation, inspector, log, network, page, runtime, target, web_mcp,
};
use tabmux_cdp::{CdpError, Session};

/// Sends all set-up commands, then lets a waiting target run: Chrome takes them in this order.
/// A target that cannot be set up runs all the same; nobody else would wake it.
/// Answers with the frames as they were before that.
pub(super) async fn set_up(
    session: Session,
    waiting: bool,
    settings: TabSettings,
    shared: &Shared,
) -> Result<Vec<Shown>, CdpError> {
    // A page that has crashed answers to nothing else.
    session.post(inspector::Enable::default());
    // Posted first, so a frame that comes later is emulated from its first script.
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
                session.send(viewport.command()).await?;
                session.send(touch).await.map(drop)
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
    let (tree, enabled, _, _, _, _, _, _, _, sized, resumed) = tokio::join!(
        patiently(&session, page::GetFrameTree::default()),
        patiently(&session, page::Enable::default()),
        session.send(runtime::Enable::default()),
        session.send(log::Enable::default()),
        session.send(hear_network()),
        session.send(attach_frames()),
        // A browser that is too old for it says so, and has no such tools.
        session.send(web_mcp::Enable::default()),
        session.send(model_context::binding()),
        session.send(model_context::script(settings.shim)),
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

/// Asks until there is an answer, or nobody to give one. A page that stands still, in a dialog or in somebody's
/// debugger, answers when it goes on, and is of use then.
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

/// Chrome tells of all tools when it is asked to, and of those of a document that it had kept at no other
/// time.
pub(super) fn hear_tools_again(session: &Session) {
    let session = session.clone();
    tokio::spawn(async move {
        let _ = tokio::join!(
            session.send(web_mcp::Disable::default()),
            session.send(web_mcp::Enable::default()),
        );
    });
}

/// A frame and those inside it, parents first.
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

/// Cross-site frames have sessions of their own, attached before they run their first script. So have
/// workers: Chrome holds them back as well, and for ever where nobody may attach and wake them.
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

/// Bodies that are sent are asked for when somebody wants them; small ones come along.
fn hear_network() -> network::Enable {
    network::Enable {
        max_post_data_size: Some(10_000),
        ..Default::default()
    }
}

/// Lets a worker run, under the tab's rules. Nothing else is to be seen of it.
pub(super) fn wake(session: &Session, shared: &Shared) {
    shared.rules.join(session);
    session.post(runtime::RunIfWaitingForDebugger::default());
}

/// A filter that lets one type of target through and no other.
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
