//! Every type that crosses one of our own process boundaries, and the [`Backend`] trait.
//!
//! Only these types must stay compatible. The daemon converts them to and from the types of `core`, and `mcp`
//! converts them to and from MCP.
//!
//! # Layout
//! - `tool`: one entry of a tool list.
//! - `call`: a call and its outcome.
//! - `resource`: resources, and requests for them.
//! - `backend`: the trait that `mcp` uses.
//! - [`session`]: the options of a session.
//! - [`wire`]: the messages on the daemon's socket.
//! - [`limits`]: time limits of the daemon.
//! - [`extension`]: the messages between the daemon and the extension.
//! - [`page`]: the messages between the daemon and the page library.
//! - [`overview`]: the daemon's state, for people.

mod backend;
mod call;
pub mod extension;
pub mod limits;
pub mod overview;
pub mod page;
mod resource;
pub mod session;
mod tool;
pub mod wire;

pub use backend::{Backend, BackendEvent, ClientFacts};
pub use call::{
    Asking, CallFailure, CallReply, CallRequest, Content, Decision, Progress, Question, RequestId,
};
pub use resource::{ResourceBody, ResourceInfo, ResourceQuery, ResourceRequest};
pub use tool::{ToolHints, ToolInfo, has_fixed_text};
