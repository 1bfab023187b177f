//! Our isolated JavaScript world in a page's document: it sees the DOM, and the page cannot see it.

mod debugger;
mod memory;

pub(crate) use memory::Shown;

use crate::error::ToolError;
use crate::script;
use crate::tab::{DocumentId, Frame, FrameId};
use serde::Serialize;
use serde::de::DeserializeOwned;
use std::sync::{Arc, Mutex};
use tabmux_cdp::Session;
use tabmux_cdp::types::runtime::{ExecutionContextId, RemoteObjectId};
use tabmux_cdp::types::{dom, page, runtime};

/// The isolated world of one document, with our scripts in it. It ends with the document.
#[derive(Clone, Debug)]
pub struct World {
    /// The document it belongs to.
    pub document: DocumentId,
    /// The frame that shows that document.
    pub frame: FrameId,
    /// The CDP session of that frame.
    pub session: Session,
    /// The origin of the document, as the document reports it: a blank one has that of its creator.
    pub(crate) origin: String,
    /// Chrome's id of the world.
    pub context: ExecutionContextId,
    /// What the debugger has told our scripts about the document.
    told: Arc<Mutex<debugger::SentListeners>>,
    /// Snapshots of the page that were taken in this world.
    memory: Arc<Mutex<memory::Memory>>,
}

impl World {
    /// Creates the world and installs our scripts.
    pub(crate) async fn make(frame: &Frame) -> Result<Self, ToolError> {
        let create = page::CreateIsolatedWorld {
            frame_id: frame.id.clone(),
            world_name: Some("tabmux".into()),
            ..Default::default()
        };
        let made = frame.session.send(create).await?;
        let mut world = Self {
            origin: String::new(),
            document: frame.document,
            frame: frame.id.clone(),
            session: frame.session.clone(),
            context: made.execution_context_id,
            told: Arc::default(),
            memory: Arc::default(),
        };
        // The frame may have navigated before Chrome created the world. Chrome processes commands in order, so if it
        // still shows our document now, the world belongs to it.
        let install = runtime::Evaluate {
            expression: format!(
                "{SCRIPTS}\ntabmux.document = {}; self.origin",
                frame.document
            ),
            context_id: Some(world.context),
            ..Default::default()
        };
        let (installed, tree) = tokio::join!(
            frame.session.send(install),
            frame.session.send(page::GetFrameTree::default())
        );
        if !shows(&tree?.frame_tree, frame) {
            return Err(ToolError::DocumentGone);
        }
        let installed = installed?;
        if let Some(exception) = installed.exception_details {
            return Err(ToolError::Internal {
                detail: script::describe(&exception),
            });
        }
        let origin = installed.result.value;
        world.origin = origin.and_then(|it| it.decode().ok()).unwrap_or_default();
        Ok(world)
    }

    /// Calls one of our functions, such as `tabmux.snapshot`, with one argument; waits for promises.
    pub async fn call<T: DeserializeOwned>(
        &self,
        function: &str,
        argument: impl Serialize,
    ) -> Result<T, ToolError> {
        let argument = serde_json::to_string(&argument).map_err(|error| ToolError::Internal {
            detail: error.to_string(),
        })?;
        script::evaluate(
            &self.session,
            self.context,
            &format!("{function}({argument})"),
        )
        .await
    }

    /// Like [`Self::call`], as if the user had just clicked.
    pub(crate) async fn call_as_user<T: DeserializeOwned>(
        &self,
        function: &str,
        argument: impl Serialize,
    ) -> Result<T, ToolError> {
        let argument = serde_json::to_string(&argument).map_err(|error| ToolError::Internal {
            detail: error.to_string(),
        })?;
        let command = runtime::Evaluate {
            expression: format!("{function}({argument})"),
            context_id: Some(self.context),
            user_gesture: Some(true),
            ..Default::default()
        };
        script::value_of(&self.session, command).await
    }

    /// Evaluates an expression of ours without waiting for its result. Later commands find it done.
    pub(crate) fn post(&self, expression: &str) {
        self.session.post(runtime::Evaluate {
            expression: expression.to_owned(),
            context_id: Some(self.context),
            ..Default::default()
        });
    }

    /// The element with number `n` as a remote object, for commands that need one.
    pub async fn object(&self, n: u32) -> Result<RemoteObject, ToolError> {
        let evaluate = runtime::Evaluate {
            expression: format!("tabmux.element({n})"),
            context_id: Some(self.context),
            ..Default::default()
        };
        let answer = script::in_page(self.session.send(evaluate)).await?;
        match answer.result.object_id {
            Some(id) => Ok(RemoteObject::new(id, self.session.clone())),
            None => Err(ToolError::ElementGone {
                uid: format!("{}_{n}", self.document),
            }),
        }
    }

    /// The document as an object of the page's own world.
    pub(crate) async fn document_in_page(&self) -> Result<RemoteObject, ToolError> {
        let evaluate = runtime::Evaluate {
            expression: "document".into(),
            context_id: Some(self.context),
            ..Default::default()
        };
        let document = script::in_page(self.session.send(evaluate)).await;
        let document = document.map_err(script::document_gone_or)?;
        let id = document.result.object_id.ok_or(ToolError::DocumentGone)?;
        let ours = RemoteObject::new(id, self.session.clone());
        ours.in_page_world().await
    }

    /// The element that shows a frame of this document.
    pub(crate) async fn frame_owner(&self, frame: &FrameId) -> Result<RemoteObject, ToolError> {
        let owner = dom::GetFrameOwner {
            frame_id: frame.clone(),
        };
        let owner = self.session.send(owner).await;
        let owner = owner.map_err(script::document_gone_or)?;
        resolve(&self.session, owner.backend_node_id, Some(self.context)).await
    }
}

/// A handle to an object in a page, released on drop.
#[derive(Debug)]
pub struct RemoteObject {
    /// Chrome's id of it.
    pub id: RemoteObjectId,
    session: Session,
}

impl RemoteObject {
    /// Takes ownership of an object from a command's response.
    pub fn new(id: RemoteObjectId, session: Session) -> Self {
        Self { id, session }
    }

    /// Calls a function whose `this` is this object.
    pub(crate) async fn call(
        &self,
        call: runtime::CallFunctionOn,
    ) -> Result<script::Returned, ToolError> {
        let call = runtime::CallFunctionOn {
            object_id: Some(self.id.clone()),
            ..call
        };
        script::call(&self.session, call).await
    }

    /// The node that it is.
    pub(crate) async fn describe(&self) -> Result<dom::Node, ToolError> {
        let describe = dom::DescribeNode {
            object_id: Some(self.id.clone()),
            ..Default::default()
        };
        let described = self.session.send(describe).await;
        Ok(described.map_err(script::document_gone_or)?.node)
    }

    /// The same node, as an object of the page's own world.
    pub(crate) async fn in_page_world(&self) -> Result<Self, ToolError> {
        let node = self.describe().await?.backend_node_id;
        resolve(&self.session, node, None).await
    }
}

/// A node as an object of a world; of the page's own world by default.
async fn resolve(
    session: &Session,
    node: dom::BackendNodeId,
    context: Option<ExecutionContextId>,
) -> Result<RemoteObject, ToolError> {
    let resolve = dom::ResolveNode {
        backend_node_id: Some(node),
        execution_context_id: context,
        ..Default::default()
    };
    let resolved = session.send(resolve).await;
    let resolved = resolved.map_err(script::document_gone_or)?;
    let id = resolved.object.object_id.ok_or(ToolError::DocumentGone)?;
    Ok(RemoteObject::new(id, session.clone()))
}

impl Drop for RemoteObject {
    fn drop(&mut self) {
        self.session.post(runtime::ReleaseObject {
            object_id: self.id.clone(),
        });
    }
}

fn shows(tree: &page::FrameTree, wanted: &Frame) -> bool {
    let mut trees = vec![tree];
    while let Some(tree) = trees.pop() {
        if tree.frame.id == wanted.id {
            return tree.frame.loader_id == wanted.loader;
        }
        trees.extend(tree.child_frames.iter().flatten());
    }
    false
}

const SCRIPTS: &str = concat!(
    include_str!("../js/instances.js"),
    include_str!("../js/world.js"),
    include_str!("../js/names.js"),
    include_str!("../js/guesses.js"),
    include_str!("../js/kinds.js"),
    include_str!("../js/walk.js"),
    include_str!("../js/view.js"),
    include_str!("../js/markdown_text.js"),
    include_str!("../js/markdown.js"),
    include_str!("../js/refs.js"),
    include_str!("../js/targets.js"),
    include_str!("../js/reach.js"),
    include_str!("../js/settle.js"),
    include_str!("../js/messages.js"),
    include_str!("../js/fill.js"),
    include_str!("../js/act.js"),
    include_str!("../js/press.js"),
    include_str!("../js/cover.js"),
    include_str!("../js/shown.js"),
    include_str!("../js/groups.js"),
    include_str!("../js/survey.js"),
);
