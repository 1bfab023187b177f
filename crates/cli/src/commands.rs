//! One file per command.

mod ask;
pub(crate) mod call;
pub(crate) mod close;
mod common_flags;
pub(crate) mod completions;
pub(crate) mod config;
pub(crate) mod daemon;
pub(crate) mod demo;
pub(crate) mod doctor;
pub(crate) mod extension;
pub(crate) mod install;
pub(crate) mod logs;
pub(crate) mod manual;
pub(crate) mod mcp;
mod other_daemons;
pub(crate) mod policy;
mod program_version;
mod schema_text;
pub(crate) mod serve;
pub(crate) mod skill;
pub(crate) mod state;
pub(crate) mod status;
pub(crate) mod token;
pub(crate) mod tools_md;
