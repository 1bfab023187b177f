//! Commands as a person runs them: exit code, output and what is left behind.
#![expect(clippy::unwrap_used, reason = "a test that cannot go on panics")]

mod call;
mod closed_pipe;
mod demo;
mod display;
mod doctor;
mod extension;
mod install;
mod logs;
mod mcp;
mod neighbours;
mod policy;
mod routing;
mod screens;
mod status;
