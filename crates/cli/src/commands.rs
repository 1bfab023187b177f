//! One file per command.

pub(crate) mod mcp;
pub(crate) mod tools_md;
