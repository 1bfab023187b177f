//! A server for the MCP conformance suite: everything that the suite asks for, behind the gate of `tabmux serve`.
//!
//! `cargo run -p tabmux-http-server --example conformance -- HOST ORIGIN`, for a proxy that passes requests on from
//! this host and origin. It prints its port and a token, and ends with its input.

mod answers;
mod handler;
mod rounds;

use bytes::Bytes;
use handler::Fixture;
use http::Request;
use http_body_util::Full;
use std::time::Duration;
use tabmux_http_server::{Hosts, ServeOptions, Service, TokenFile, serve_with};
use tabmux_mcp::http::{HttpResponse, Principal, Streamable, TokenLimits};
use tokio::io::AsyncReadExt;
use tokio::net::TcpListener;
use tokio_util::sync::CancellationToken;

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), Box<dyn std::error::Error>> {
    let [host, origin] = std::env::args()
        .skip(1)
        .collect::<Vec<_>>()
        .try_into()
        .map_err(|words: Vec<String>| format!("expected HOST ORIGIN, not {words:?}"))?;
    let folder = tempfile::tempdir()?;
    let tokens = TokenFile::at(folder.path().join("tokens.json"));
    let token = tokens.add("conformance".parse()?, None, TokenLimits::default())?;
    let listener = TcpListener::bind("127.0.0.1:0").await?;
    let port = listener.local_addr()?.port();
    let options = ServeOptions {
        hosts: Hosts::new(port, vec![host], vec![origin]),
        tokens,
        idle: Duration::from_secs(600),
        tls: None,
        probe: None,
    };
    let stop = CancellationToken::new();
    let serving = serve_with(
        listener,
        |longest_body, streams| {
            let make = Fixture::factory();
            Suite(Streamable::new(make, longest_body, streams))
        },
        options,
        stop.clone(),
    );
    say(&format!("{port} {token}"));
    let ending = async {
        let _ = tokio::io::stdin().read_to_end(&mut Vec::new()).await;
        stop.cancel();
    };
    tokio::join!(serving, ending);
    Ok(())
}

/// The fixture, where `tabmux serve` has its own server.
struct Suite(Streamable<Fixture>);

impl Service for Suite {
    async fn answer(&self, request: Request<Full<Bytes>>) -> HttpResponse {
        self.0.answer(request).await
    }

    async fn end(&self, id: &str) {
        self.0.end(id).await;
    }

    fn end_unused(&self, _limit: Duration, _may: impl Fn(&Principal) -> bool) {}

    fn metrics(&self) -> String {
        String::new()
    }
}

#[expect(clippy::print_stdout, reason = "the suite's runner reads it")]
fn say(line: &str) {
    println!("{line}");
}
