//! Whether a browser sees the files of this machine. Chrome makes an empty file of a path that it does not have, and
//! reports success.

use crate::error::ToolError;
use crate::files::FileThreads;
use crate::machine::Machine;
use crate::script;
use crate::tab::Tab;
use crate::world::{RemoteObject, World};
use std::path::PathBuf;
use std::time::UNIX_EPOCH;
use tabmux_cdp::types::{dom, runtime};

/// Whether the browser sees these files as they are here. One that may run elsewhere is asked: an input that is in no
/// document gets the files, so the page gets nothing yet.
pub(super) async fn sees(tab: &Tab, world: &World, files: &[String]) -> Result<bool, ToolError> {
    match tab.machine() {
        Machine::This => Ok(true),
        Machine::Other => Ok(false),
        Machine::Perhaps => Ok(there(world, files).await? == here(files).await),
    }
}

/// Length and time of change in milliseconds, as the browser sees them.
async fn there(world: &World, files: &[String]) -> Result<Option<Vec<(u64, u64)>>, ToolError> {
    let make = runtime::Evaluate {
        expression:
            "Object.assign(document.createElement('input'), {type: 'file', multiple: true})".into(),
        context_id: Some(world.context),
        ..Default::default()
    };
    let made = script::in_page(world.session.send(make)).await;
    let made = made.map_err(script::document_gone_or)?;
    let id = made.result.object_id.ok_or(ToolError::DocumentGone)?;
    let input = RemoteObject::new(id, world.session.clone());
    let set = dom::SetFileInputFiles {
        files: files.to_vec(),
        object_id: Some(input.id.clone()),
        ..Default::default()
    };
    world.session.send(set).await?;
    let look = runtime::CallFunctionOn {
        function_declaration:
            "function () { return [...this.files].map((it) => [it.size, it.lastModified]) }".into(),
        return_by_value: Some(true),
        ..Default::default()
    };
    let (seen, _) = input.call(look).await?;
    Ok(seen.value.and_then(|seen| seen.decode().ok()))
}

/// The same, as they are on this machine.
async fn here(files: &[String]) -> Option<Vec<(u64, u64)>> {
    let paths: Vec<_> = files.iter().map(PathBuf::from).collect();
    let look = move || {
        let all = paths.iter().map(|path| {
            let about = std::fs::metadata(path).ok()?;
            let changed = about.modified().ok()?.duration_since(UNIX_EPOCH).ok()?;
            Some((about.len(), u64::try_from(changed.as_millis()).ok()?))
        });
        all.collect()
    };
    FileThreads::new().run(look).await.ok().flatten()
}
