//! Tools that a page has of its own: found in its tab, followed as they come and go, and called there.
//!
//! Whoever finds tools puts them into the tab's [`Findings`], by source; the browser reports what is there,
//! and [`call()`] carries a call to whoever found the tool.

mod call;
mod found;
mod home;
pub(crate) mod model_context;
mod report;
mod tool_text;
pub(crate) mod web_mcp;

pub use call::{PageAnswer, call};
pub(crate) use found::{CallPath, Found};
pub use found::{Findings, FoundTool, Mark, ToolNumber, ToolSource};
pub(crate) use home::Home;
pub(crate) use report::{Report, Reporter};
pub use tool_text::{SaidBy, ToolText, beside};
