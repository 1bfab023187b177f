//! Tools that a page offers: found in its tab, updated as the page adds and removes them, and called there.
//!
//! Each source of tools puts what it finds into the tab's [`Findings`]; the browser reports them, and [`call()`] sends
//! a call to the source of the tool.

mod call;
mod found;
mod location;
pub(crate) mod model_context;
mod report;
mod tool_text;
pub(crate) mod web_mcp;

pub use call::{PageAnswer, call};
pub use found::{BriefText, Findings, FoundTool, Mark, ToolNumber, ToolSource};
pub(crate) use found::{CallPath, Found};
pub(crate) use location::ToolLocation;
pub(crate) use report::{Report, Reporter};
pub use tool_text::{SaidBy, ToolText, run_in_background};
