//! Test helpers: a fixture web server, a raw MCP client over stdio, a separate Chromium.
//!
//! Everything here panics instead of returning errors, with as much context as possible: a helper
//! that fails is a test that fails. Every wait has a generous deadline and is ended by the event it
//! waits for, never by time.
//!
//! # Layout
//! - [`gate`]: whether tests with a real browser run.
//! - `fixture_server`: pages and programmable routes on loopback.
//! - `mcp_client`: speaks JSON-RPC to a server under test and records every line.
//! - `page_worker`: speaks to the daemon as a worker of the page library.
//! - [`chromium`]: a Chromium with remote debugging, ended with its handle.
//! - `corpus`: the saved inputs of fuzz targets.
//! - `cuttable_proxy`: a proxy whose connections a test can cut.
//! - `panics`: the panics that a log reports.
//! - [`process`]: running processes and their memory.
//! - `shared_daemon`: a complete tabmux, with a daemon that several clients share.
//! - `selenium_grid`: a Selenium Grid, as one process or as a hub with nodes.
//! - `tls_proxy`: TLS in front of a plain port, and a proxy with tunnels.
//! - [`attacks`]: hostile pages, floods and calls as data, and how to run them.
//! - `rerun`: runs the same tests a second time, with other settings.
//! - [`over_extension`]: such a second run, through our extension.

pub mod attacks;
pub mod chromium;
mod corpus;
mod cuttable_proxy;
mod fixture_server;
pub mod gate;
mod mcp_client;
pub mod over_extension;
mod page_worker;
mod panics;
pub mod process;
mod proxy_server;
mod rerun;
mod rng;
mod selenium_grid;
mod shared_daemon;
mod tls_proxy;

pub use chromium::Chromium;
pub use corpus::play_corpus;
pub use cuttable_proxy::CuttableProxy;
pub use fixture_server::{FixtureServer, Gate, Request, Response};
pub use gate::{real_browser, say_skipped};
pub use mcp_client::{McpClient, Message, Pending, RpcError, ToolReply};
pub use over_extension::{ExtendedChromium, OverExtension};
pub use page_worker::PageWorker;
pub use panics::panics_in;
pub use proxy_server::ProxyServer;
use rerun::run_again;
pub use rng::Rng;
pub use selenium_grid::{GridNode, GridSetup, SeleniumGrid};
pub use shared_daemon::SharedDaemon;
pub use tls_proxy::{TlsProxy, TunnelProxy, certificate};

use std::{future::Future, path::PathBuf, time::Duration};

/// How long any wait lasts before it fails the test: long enough for a busy machine.
pub const PATIENCE: Duration = Duration::from_secs(60);

/// The root of this repository.
pub fn workspace_root() -> PathBuf {
    let mut root = PathBuf::from(env!("CARGO_MANIFEST_DIR"));
    root.pop();
    root.pop();
    root
}

/// Waits for `event`; fails the test with `story` if it does not happen within [`PATIENCE`].
pub async fn patiently<T>(event: impl Future<Output = T>, story: impl FnOnce() -> String) -> T {
    match tokio::time::timeout(PATIENCE, event).await {
        Ok(value) => value,
        Err(_) => panic!("timed out after {PATIENCE:?} waiting for {}", story()),
    }
}
