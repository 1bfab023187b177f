//! Every type that crosses one of our own process boundaries, and the [`Backend`] trait.
//!
//! These are the only types with compatibility duties: what `core` knows is converted to and from
//! them at the daemon's edge, and `mcp` converts them to and from MCP.
//!
//! # Layout
//! - [`tool`]: what a client is told about a tool.
//! - [`call`]: one call and its one outcome.
//! - [`backend`]: the trait that `mcp` speaks to, whoever is behind it.
//! - [`session`]: what a client wants when it opens a session.
//! - [`wire`]: what passes over the daemon's socket.
//! - [`limits`]: how long things may take at the daemon.
//! - [`extension`]: what passes between the daemon and the extension in somebody's browser.
//! - [`page`]: what passes between the daemon and the page library.
//! - [`overview`]: everything the daemon knows, for people.

pub mod backend;
pub mod call;
pub mod extension;
pub mod limits;
pub mod overview;
pub mod page;
pub mod session;
pub mod tool;
pub mod wire;

pub use backend::{Backend, BackendEvent, ClientFacts};
pub use call::{
    Asking, CallFailure, CallReply, CallRequest, Content, Decision, Progress, Question, RequestId,
};
pub use tool::{ToolHints, ToolInfo};
