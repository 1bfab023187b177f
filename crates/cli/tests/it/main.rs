//! Commands as a user runs them: exit code, output and leftovers.
#![expect(clippy::unwrap_used, reason = "a test that cannot go on panics")]

mod call;
mod closed_pipe;
mod config;
mod demo;
mod display;
mod doctor;
mod extension;
mod install;
mod local_attacks;
mod logs;
mod mcp;
mod policy;
mod routing;
mod screens;
mod skill;
mod status;
