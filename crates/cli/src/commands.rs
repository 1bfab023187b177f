//! One file per command.

pub(crate) mod demo;
pub(crate) mod mcp;
pub(crate) mod tools_md;
