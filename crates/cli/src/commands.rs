//! One file per command.

pub(crate) mod daemon;
pub(crate) mod demo;
pub(crate) mod mcp;
pub(crate) mod status;
pub(crate) mod tools_md;
